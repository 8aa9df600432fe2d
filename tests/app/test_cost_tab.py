"""The cost tab: live, by agent, group and iteration, with what is left of the budget."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtCore import QModelIndex, Qt
from PySide6.QtGui import QAccessible, QGuiApplication, QImage
from PySide6.QtTest import QAbstractItemModelTester, QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.run_view.cost_model import AGAIN, COLUMNS, COST, NAME, SHARE, TOKENS, TURNS, CostModel
from app.run_view.cost_tab import CostTab
from core.config import Budget
from core.costs import CostOrder, cost_lines
from core.events import (
    AttemptKind,
    AttemptStarted,
    Event,
    GroupStarted,
    RunStarted,
    TurnRef,
    TurnStarted,
    UsageReported,
)
from core.plan import Place
from core.progress import RunProgress
from core.usage import Usage

pytestmark = pytest.mark.qt_log_ignore("This plugin does not support")


class Running:
    """A run that goes on, and the tab that shows it."""

    def __init__(self, tab: CostTab) -> None:
        self.tab = tab
        self.progress = RunProgress(budget=Budget(max_cost_usd=2.0))
        self.tell(RunStarted(time=1.0, run_id="r"))
        tab.begin(self.progress)

    def tell(self, *events: Event) -> None:
        self.progress.apply_all(events)
        self.tab.refresh()

    def settle(self) -> None:
        """As if a quarter of a second had passed."""
        self.tab._show_now()

    def group(self, iteration: int, *labels: str) -> None:
        refs = tuple(
            TurnRef(f"loop/{iteration}/0/{n}", Place("loop", 0, n), label, label, label)
            for n, label in enumerate(labels)
        )
        self.tell(GroupStarted(phase="loop", iteration=iteration, name="audits", turns=refs))

    def use(
        self,
        turn: str,
        cost: float | None,
        tokens: int = 100,
        kind: AttemptKind = AttemptKind.FIRST,
    ) -> None:
        self.tell(
            TurnStarted(time=1.0, turn=turn),
            AttemptStarted(time=1.0, turn=turn, kind=kind),
            UsageReported(time=2.0, turn=turn, usage=Usage(output_tokens=tokens, cost_usd=cost)),
        )


@pytest.fixture
def tab(qtbot: QtBot) -> Iterator[CostTab]:
    tab = CostTab()
    qtbot.addWidget(tab)
    tab.resize(684, 480)
    tab.show()
    yield tab
    tab._rest.stop()


def rows(tab: CostTab, *columns: int, below: QModelIndex | None = None) -> list[tuple[str, ...]]:
    parent = below if below is not None else QModelIndex()
    model = tab.model
    return [
        tuple(str(model.index(row, column, parent).data()) for column in columns)
        for row in range(model.rowCount(parent))
    ]


def test_the_lines_grow_while_the_run_goes_on(tab: CostTab, qtbot: QtBot) -> None:
    run = Running(tab)
    assert tab._pages.currentIndex() == 0, "nothing was used yet"
    run.group(1, "vera", "linter")
    run.use("loop/1/0/0", 0.30)
    qtbot.waitUntil(lambda: rows(tab, NAME, COST) == [("Whole run", "$0.30"), ("vera", "$0.30")])
    tab.tree.expand(tab.model.index(1, 0))
    tab.tree.setCurrentIndex(tab.model.index(1, 0))
    run.use("loop/1/0/1", 0.10)
    qtbot.waitUntil(lambda: len(rows(tab, NAME)) == 3)
    assert rows(tab, NAME, COST, SHARE, TOKENS) == [
        ("Whole run", "$0.40", "100 %", "200"),
        ("vera", "$0.30", "75 %", "100"),
        ("linter", "$0.10", "25 %", "100"),
    ]
    assert tab.tree.isExpanded(tab.model.index(1, 0)), "what is open stays open"
    assert tab.tree.currentIndex() == tab.model.index(1, 0)


def test_by_group_and_by_iteration(tab: CostTab) -> None:
    run = Running(tab)
    run.group(1, "vera")
    run.use("loop/1/0/0", 0.30)
    run.group(2, "vera")
    run.use("loop/2/0/0", 0.20)
    QTest.mouseClick(tab.order.button(1), Qt.MouseButton.LeftButton)
    assert rows(tab, NAME, COST) == [("Whole run", "$0.50"), ("Loop · audits", "$0.50")]
    assert rows(tab, NAME, below=tab.model.index(1, 0)) == [("vera 1",), ("vera 2",)]
    QTest.mouseClick(tab.order.button(2), Qt.MouseButton.LeftButton)
    assert rows(tab, NAME, COST)[1:] == [("Iteration 1", "$0.30"), ("Iteration 2", "$0.20")]
    assert rows(tab, NAME, below=tab.model.index(1, 0)) == [("audits",)]


def test_an_unknown_price_is_said_and_never_nothing(tab: CostTab, qtbot: QtBot) -> None:
    run = Running(tab)
    run.group(1, "vera", "linter")
    run.use("loop/1/0/0", None)
    qtbot.waitUntil(lambda: rows(tab, COST) == [("price unknown",)] * 2)
    assert tab.budget.rows[0].share is None
    assert "price unknown" in tab.budget.rows[0].words
    assert "does not mean that they are free" in tab.note.text()
    run.use("loop/1/0/1", 0.5)
    qtbot.waitUntil(lambda: rows(tab, COST)[0] == ("$0.50 + unknown",))
    assert "more than is shown" in tab.note.text()
    heads = tab.model.heads()
    assert heads[SHARE] == "Share of tokens", "shares of a cost that nobody knows would be made up"
    assert "more than 25 %" in tab.budget.rows[0].words


def test_what_was_tried_again_is_counted_and_priced(tab: CostTab) -> None:
    run = Running(tab)
    run.group(1, "vera")
    run.use("loop/1/0/0", 0.30)
    run.use("loop/1/0/0", 0.20, kind=AttemptKind.RETRY)
    run.use("loop/1/0/0", 0.05, kind=AttemptKind.CORRECTION)
    run.settle()
    assert rows(tab, AGAIN)[1] == ("1 retry, 1 correction: $0.25",)


def test_the_budget_warns_by_sign_and_words(tab: CostTab) -> None:
    run = Running(tab)
    run.progress.budget = Budget(max_cost_usd=2.0, max_cost_usd_per_group=5.0, max_tokens=1_000)
    run.group(1, "vera")
    run.use("loop/1/0/0", 1.7, tokens=100)
    run.settle()
    cost, group, tokens = tab.budget.rows
    assert (cost.warns, group.warns, tokens.warns) == (True, False, False)
    assert cost.accessibleName() == "Cost: $1.70 of $2.00 · 85 %"
    assert group.accessibleName() == "Cost of audits, iteration 1: $1.70 of $5.00 · 34 %"
    assert tokens.accessibleName() == "Tokens: 100 of 1,000 tokens · 10 %"


def test_in_a_low_window_the_numbers_have_the_room(tab: CostTab) -> None:
    run = Running(tab)
    run.progress.budget = Budget(max_cost_usd=2.0, max_tokens=1_000)
    run.group(1, "vera")
    run.use("loop/1/0/0", 0.2, tokens=900)
    tab._show_now()
    assert [row.isVisible() for row in tab.budget.rows] == [True, True]
    tab.resize(684, 220)
    QApplication.processEvents()
    shown = [row for row in tab.budget.rows if row.isVisible()]
    assert [row.title for row in shown] == ["Tokens"], "the cap that is nearest to its end"
    assert not tab.note.isVisible()


def test_a_turn_is_opened_from_its_line(tab: CostTab, qtbot: QtBot) -> None:
    run = Running(tab)
    run.group(1, "vera")
    run.use("loop/1/0/0", 0.30)
    run.settle()
    agent = tab.model.index(1, 0)
    tab.tree.expand(agent)
    tab.tree.setCurrentIndex(tab.model.index(0, 0, agent))
    with qtbot.waitSignal(tab.turn_requested) as asked:
        QTest.keyClick(tab.tree, Qt.Key.Key_Return)
    assert asked.args == ["loop/1/0/0"]


def test_the_table_is_copied_with_tabs(tab: CostTab) -> None:
    run = Running(tab)
    run.group(1, "vera")
    run.use("loop/1/0/0", 0.30)
    tab.tree.setFocus()
    QTest.keyClick(tab.tree, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    lines = [line.split("\t") for line in QGuiApplication.clipboard().text().splitlines()]
    assert [line[0] for line in lines] == ["", "Whole run", "vera", "  vera 1"]
    assert [line[1] for line in lines] == ["Cost", "$0.30", "$0.30", "$0.30"]


def test_the_model_keeps_its_promises_while_it_grows(qtbot: QtBot) -> None:
    del qtbot
    progress = RunProgress()
    progress.apply(RunStarted(time=1.0))
    model = CostModel()
    tester = QAbstractItemModelTester(model, QAbstractItemModelTester.FailureReportingMode.Fatal)
    assert tester.model() is model
    resets: list[bool] = []
    for iteration in range(1, 6):
        refs = tuple(
            TurnRef(f"loop/{iteration}/0/{n}", Place("loop", 0, n), name, name, name)
            for n, name in enumerate(("vera", "linter"))
        )
        progress.apply(GroupStarted(phase="loop", iteration=iteration, turns=refs))
        for ref in refs:
            progress.apply(TurnStarted(time=1.0, turn=ref.turn))
            resets.append(model.show_lines(cost_lines(progress, CostOrder.ITERATION)))
    assert resets == [True] + [False] * 9
    assert model.rowCount() == 6


@pytest.mark.parametrize("width", [480, 684, 1400])
def test_no_column_is_cut_off_and_what_has_no_room_is_in_tool_tips(tab: CostTab, width: int) -> None:
    run = Running(tab)
    run.group(1, "vera", "a writer with quite a long name")
    usage = Usage(123_456, 23_456, 3_456, 1_234_567, 234_567, 12.34)
    for turn in ("loop/1/0/0", "loop/1/0/1"):
        run.tell(
            TurnStarted(time=1.0, turn=turn),
            AttemptStarted(time=1.0, turn=turn),
            UsageReported(time=2.0, turn=turn, usage=usage),
        )
    run.settle()
    tab.resize(width, 480)
    QApplication.processEvents()
    tree = tab.tree
    assert tree.horizontalScrollBar().maximum() == 0
    shown = [column for column in range(COLUMNS) if not tree.isColumnHidden(column)]
    assert {NAME, COST, SHARE, TOKENS} <= set(shown)
    assert (len(shown) == COLUMNS) == (width == 1400)
    tip = str(tab.model.index(0, TOKENS).data(Qt.ItemDataRole.ToolTipRole))
    assert "Cache read: 2,469,134" in tip
    assert tab.model.index(0, TURNS).data(Qt.ItemDataRole.ToolTipRole) == "Attempts: 2"


def test_a_share_stands_on_the_line_of_the_other_numbers(tab: CostTab) -> None:
    run = Running(tab)
    run.group(1, "vera", "linter")
    run.use("loop/1/0/0", 1.11, 111)
    run.settle()
    QApplication.processEvents()
    tree = tab.tree
    picture = tree.viewport().grab().toImage()
    bottoms = []
    for column in (SHARE, TOKENS):
        box = tree.visualRect(tab.model.index(1, column))
        ground = picture.pixel(box.right() - 1, box.top() + 1)
        ink = [
            y
            for y in range(box.top(), box.bottom())
            if any(picture.pixel(x, y) != ground for x in range(box.right() - 24, box.right() - 1))
        ]
        bottoms.append(ink[-1])
    assert bottoms[0] == bottoms[1]


def test_a_heading_ends_where_the_numbers_below_it_end(tab: CostTab) -> None:
    run = Running(tab)
    run.group(1, "vera", "linter")
    run.use("loop/1/0/0", 1.11, 111)
    run.settle()
    QApplication.processEvents()
    tree = tab.tree
    head, body = tree.header().viewport().grab().toImage(), tree.viewport().grab().toImage()
    column = tree.header().sectionViewportPosition(TOKENS)
    columns = range(column + 4, column + tree.columnWidth(TOKENS))
    box = tree.visualRect(tab.model.index(0, TOKENS))

    def last_ink(picture: QImage, top: int, bottom: int) -> int:
        ground = picture.pixel(columns[-1], top)
        return max(x for x in columns if any(picture.pixel(x, y) != ground for y in range(top, bottom)))

    heading = last_ink(head, 2, tree.header().height() - 2)
    number = last_ink(body, box.top() + 2, box.bottom() - 2)
    assert abs(heading - number) <= 1


def test_every_part_has_a_name(tab: CostTab) -> None:
    run = Running(tab)
    run.group(1, "vera")
    run.use("loop/1/0/0", 0.30)
    run.settle()
    for widget in (tab.tree, tab.order, tab.order.button(0), tab.budget.rows[0]):
        interface = QAccessible.queryAccessibleInterface(widget)
        assert interface.text(QAccessible.Text.Name), widget
