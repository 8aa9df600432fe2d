"""The history: runs opened again, compared, exported and deleted. Real runs, real files, real events."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from PySide6.QtCore import QItemSelectionModel, QPoint, Qt, QUrl
from PySide6.QtGui import QDesktopServices, QFontMetrics, QKeySequence
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QAbstractButton,
    QApplication,
    QDialogButtonBox,
    QFileDialog,
    QLineEdit,
    QMenu,
    QPushButton,
    QVBoxLayout,
    QWidget,
)
from pytestqt.qtbot import QtBot

import app.history
from app.document import WorkflowDocument
from app.history import History
from app.notice_bar import NoticeArea
from app.right_side import RightSide
from app.run_controller import RunController
from app.run_session import RunSession
from app.runs.columns import Column
from app.runs.compare_page import RESULT, STATE, WORKFLOW
from app.runs.entry import Outcome
from app.runs.runs_page import RunsPage
from app.side import Side
from app.theme import font
from core.answer import Answer
from core.engine import Engine
from core.events import Event, QuestionAsked, RunPaused, RunStarted
from core.journal import Journal
from core.open_runs import RunLock
from core.progress import RunProgress
from tests.core.run_support import FinishedRun, Workshop

pytestmark = pytest.mark.qt_log_ignore("This plugin does not support")

CTRL, SHIFT = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier


class Room(QWidget):
    """The right of a window, with what the history needs around it, and a user before it."""

    def __init__(self, qtbot: QtBot, folder: Path) -> None:
        super().__init__()
        self.qtbot = qtbot
        self.controller = RunController(self)
        self.document = WorkflowDocument(self)
        self.document.update_settings("test", {"workdir": str(folder)})
        self.notices = NoticeArea(self)
        self.run = RunSession(self.controller, self.document, self)
        self.right = RightSide(QWidget(), self)
        self.history = History(self.right, self.run, self.document, self.notices, self)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self.notices)
        layout.addWidget(self.right, 1)
        self.resize(700, 760)

    @property
    def page(self) -> RunsPage:
        return self.history.page

    def until(self, holds: Callable[[], object]) -> None:
        self.qtbot.waitUntil(lambda: bool(holds()))

    def list_runs(self, count: int) -> None:
        self.history.show_list()
        self.until(lambda: self.page.runs.rowCount() == count and self.page.current is not None)
        self.activateWindow()
        self.page.list.setFocus()

    def select(self, *runs: FinishedRun) -> None:
        model = self.page.list.selectionModel()
        model.clear()
        flags = QItemSelectionModel.SelectionFlag.Select | QItemSelectionModel.SelectionFlag.Rows
        for run in runs:
            index = self.page.runs.index_of(run.folder)
            model.select(index, flags)
            model.setCurrentIndex(index, QItemSelectionModel.SelectionFlag.NoUpdate)

    def key(self, key: Qt.Key, modifier: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier) -> None:
        QTest.keyClick(QApplication.focusWidget() or self, key, modifier)

    def question(self) -> dict[str, QPushButton]:
        """The buttons of the question that is open."""
        assert self.history._deleting is not None
        box = self.history._deleting.question
        assert box is not None, "nothing is asked"
        return {button.text(): button for button in box.findChildren(QPushButton) if button.isVisible()}

    def asked(self) -> str:
        assert self.history._deleting is not None
        box = self.history._deleting.question
        return f"{box.text()}\n{box.informativeText()}" if box is not None else ""


@pytest.fixture
def shop(tmp_path: Path) -> Workshop:
    return Workshop(tmp_path)


@pytest.fixture
def room(qtbot: QtBot, tmp_path: Path) -> Iterator[Room]:
    room = Room(qtbot, tmp_path)
    qtbot.addWidget(room)
    room.show()
    yield room
    room.history.close()
    room.run.close()


def two_runs(shop: Workshop) -> tuple[FinishedRun, FinishedRun]:
    shop.agent("vera", cost_usd=0.25, text="Hello from vera.", writes={"score": 10, "old": {"a": 1}})
    first = shop.run(
        {"name": "audit", "loop_agents": ["vera"], "max_loops": 1, "end_state_condition": "False"}
    )
    shop.agent("vera", cost_usd=0.5, writes={"score": 20, "new": "all\nof it"})
    second = shop.run({"name": "audit", "preparation_agents": ["vera"]})
    return first, second


# --- the list -------------------------------------------------------------------------------------------


def test_runs_are_found_by_agent_outcome_and_date(room: Room, shop: Workshop) -> None:
    two_runs(shop)
    shop.agent("linter")
    shop.agent("broken", crash=True)
    shop.run({"name": "migrate", "preparation_agents": ["linter", "broken"]})
    room.list_runs(3)
    field, filtered = room.page.field, room.page.runs
    room.right.find_in_log()
    assert field.hasFocus()
    for words, names in (
        ("linter", ["migrate"]),
        ("vera audit", ["audit", "audit"]),
        ("failed", ["migrate"]),
        ("limit", ["audit"]),
        ("today", ["migrate", "audit", "audit"]),
        ("nobody", []),
    ):
        field.setFocus()
        QTest.keyClick(field, Qt.Key.Key_A, CTRL)
        QTest.keyClicks(field, words)
        assert [filtered.index(row, 0).data() for row in range(filtered.rowCount())] == names, words
    QTest.keyClick(field, Qt.Key.Key_Escape)
    assert filtered.rowCount() == 3

    chips = room.page.chips
    assert chips.all.accessibleName() == "All: 3"
    shown = {outcome for outcome, chip in chips.chips.items() if chip.isVisible()}
    assert shown == {Outcome.COMPLETED, Outcome.LIMIT, Outcome.FAILED}
    for outcome in (Outcome.FAILED, Outcome.LIMIT):
        QTest.mouseClick(chips.chips[outcome], Qt.MouseButton.LeftButton)
    assert filtered.rowCount() == 2
    QTest.keyClicks(field, "migrate")
    assert filtered.rowCount() == 1
    assert chips.chips[Outcome.LIMIT].accessibleName() == "limit reached: 0"
    assert chips.chips[Outcome.LIMIT].isVisible(), "what hides runs can be switched off again"
    QTest.mouseClick(chips.all, Qt.MouseButton.LeftButton)
    field.clear()
    assert filtered.rowCount() == 3


def test_the_table_is_sorted_by_its_header_and_the_two_lines_by_a_menu(room: Room, shop: Workshop) -> None:
    first, second = two_runs(shop)
    room.list_runs(2)
    table, filtered = room.page.list, room.page.runs
    assert table.is_table
    assert not room.page.sort_button.isVisible()

    def order() -> list[Path]:
        return [entry.folder for row in range(2) if (entry := filtered.entry(filtered.index(row, 0)))]

    assert order() == [second.folder, first.folder]
    header = table.header()
    at = header.sectionViewportPosition(Column.COST) + header.sectionSize(Column.COST) // 2
    QTest.mouseClick(header.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(at, 8))
    assert order() == [first.folder, second.folder]
    QTest.mouseClick(header.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(at, 8))
    assert order() == [second.folder, first.folder]

    room.resize(420, 700)
    room.until(lambda: not table.is_table)
    assert room.page.sort_button.isVisible()
    assert room.page.sort_button.text() == "Cost"
    QTest.mouseClick(room.page.sort_button, Qt.MouseButton.LeftButton)
    menu = QApplication.activePopupWidget()
    assert isinstance(menu, QMenu)
    started = next(action for action in menu.actions() if action.text() == "Started")
    QTest.mouseClick(menu, Qt.MouseButton.LeftButton, pos=menu.actionGeometry(started).center())
    assert room.page.sort_button.text() == "Newest first"
    assert order() == [second.folder, first.folder]


def test_what_can_be_done_follows_the_selection(room: Room, shop: Workshop) -> None:
    first, second = two_runs(shop)
    broken = first.folder.parent / "20200101-000000-abcdef"
    broken.mkdir()
    room.list_runs(3)
    actions = room.page.actions_of_runs

    def enabled() -> set[str]:
        return {action.text().replace("&", "") for action in actions.all if action.isEnabled()}

    room.select(first)
    one = {"Open", "Resume…", "Export as HTML…", "Export as JSON…", "Open run folder", "Delete…"}
    assert enabled() == one, "there is none before it"
    room.select(second)
    assert enabled() == (one - {"Resume…"}) | {"Compare with the one before"}
    room.select(first, second)
    several = {"Export as HTML…", "Export as JSON…", "Delete…"}
    assert enabled() == several | {"Compare"}
    assert room.page.detail.title.text() == "2 runs selected"
    assert "$0.75" in room.page.detail.facts.text()
    QTest.keyClick(room.page.list, Qt.Key.Key_A, CTRL)
    assert enabled() == several
    room.page.list.choose(room.page.runs.index_of(broken))
    assert enabled() == {"Open run folder", "Delete…"}


# --- opening --------------------------------------------------------------------------------------------


def test_a_run_is_opened_in_the_live_view_and_one_comes_back(room: Room, shop: Workshop) -> None:
    first, _ = two_runs(shop)
    room.list_runs(2)
    room.select(first)
    room.key(Qt.Key.Key_Return)
    side = room.history.side
    room.until(lambda: not side.shows_list)
    assert side.opened is not None
    view = side.opened.view
    assert "audit · today" in side.opened.bar.title.text
    assert "all loops used up" in side.opened.bar.title.text
    assert view.banner.isVisible()
    assert not view.banner.again_button.isVisible(), "it is not the run of this window"
    assert view.tabs.bar.count() == 1
    room.until(lambda: any("Hello from vera." in line for line in view.tabs.overview.visible_text()))
    assert room.right.side is Side.RUNS
    assert side.isAncestorOf(QApplication.focusWidget())
    room.right.next_tab()
    assert view.tabs.pages.currentWidget() is not view.tabs.overview, "keys of tabs work here, too"
    room.right.previous_tab()
    room.right.find_in_log()
    room.until(lambda: isinstance(QApplication.focusWidget(), QLineEdit))
    room.key(Qt.Key.Key_Escape)
    assert not side.shows_list, "it closed the search"
    room.key(Qt.Key.Key_Escape)
    assert side.shows_list
    assert room.page.current is not None
    assert room.page.current.folder == first.folder, "one is where one was"
    room.until(room.page.list.hasFocus)


def test_an_opened_run_that_is_not_complete_can_be_resumed_where_it_says_how_it_ended(
    room: Room, shop: Workshop, qtbot: QtBot
) -> None:
    ended, _ = two_runs(shop)
    room.list_runs(2)
    room.select(ended)
    room.key(Qt.Key.Key_Return)
    room.until(lambda: room.history.side.opened is not None and not room.history.side.shows_list)
    opened = room.history.side.opened
    assert opened is not None
    button = opened.offer.form.resume_button
    assert button.isVisible()
    room.page.set_blocked("Another one goes on.")
    assert not button.isEnabled()
    room.page.set_blocked("")
    with qtbot.waitSignal(room.page.resume_requested) as resumed:
        QTest.mouseClick(button, Qt.MouseButton.LeftButton)
    assert resumed.args is not None
    assert resumed.args[0] == ended.folder


def test_a_run_that_is_gone_or_broken_meanwhile_is_said(room: Room, shop: Workshop) -> None:
    first, _ = two_runs(shop)
    room.list_runs(2)
    room.select(first)
    (first.folder / "journal.jsonl").write_text("")
    room.key(Qt.Key.Key_Return)
    room.until(lambda: room.notices.bar(app.history.NOTICE))
    bar = room.notices.bar(app.history.NOTICE)
    assert bar is not None
    assert bar.notice.text.startswith("The run cannot be shown: ")
    assert room.history.side.shows_list


def test_the_run_of_this_window_is_shown_live(room: Room, shop: Workshop) -> None:
    first, _ = two_runs(shop)
    room.list_runs(2)
    assert room.right.run_view is not None
    progress = RunProgress()
    progress.apply(RunStarted(time=1.0, run_id=first.folder.name))
    progress.folder = str(first.folder)
    assert progress.running
    room.run.progress = progress
    room.select(first)
    room.key(Qt.Key.Key_Return)
    assert room.right.side is Side.RUN


def test_the_run_of_this_window_is_told_apart_and_followed(room: Room, shop: Workshop) -> None:
    first, second = two_runs(shop)
    assert room.right.run_view is not None
    now = 1000.0
    room.run.clock = lambda: now
    progress = RunProgress()
    progress.apply(RunStarted(time=now, run_id=first.folder.name))
    progress.folder = str(first.folder)
    room.run.progress = progress
    room.list_runs(2)
    room.select(first)
    entry = room.page.current
    assert entry is not None
    assert entry.outcome is Outcome.GOING_ON
    assert room.page.detail.message.text() == "It is going on in this window."
    assert room.page.detail.open_button.text() == "Go to the run"
    assert "0:00" in room.page.runs.index_of(first.folder).siblingAtColumn(Column.DURATION).data()
    now = 1065.0
    progress.apply(RunPaused(time=1005.0, message="The quota is used up."))
    room.run.ticked.emit()
    row = room.page.runs.index_of(first.folder)
    assert row.siblingAtColumn(Column.DURATION).data() == "1:05"
    assert row.siblingAtColumn(Column.OUTCOME).data() == "paused, waits for you"
    assert "1:05, of it 1:00 waiting for you" in room.page.detail.facts.text()
    assert "It is paused and waits for you." in room.page.detail.message.text()
    room.select(first, second)
    before = room.page.detail.facts.text()
    now = 1185.0
    room.run.ticked.emit()
    assert room.page.detail.facts.text() != before, "what they come to in all grows, too"
    assert "3:0" in room.page.detail.facts.text()
    room.select(first)
    QTest.mouseClick(room.page.detail.open_button, Qt.MouseButton.LeftButton)
    assert room.right.side is Side.RUN


@dataclass
class Elsewhere:
    """A run that another process goes on with: its lock is held, and its journal grows."""

    folder: Path
    rest: list[str]
    lock: RunLock

    def write(self, until: str = "") -> None:
        """The next lines, up to the first event of this type; else all."""
        with (self.folder / "journal.jsonl").open("a") as file:
            while self.rest:
                line = self.rest.pop(0)
                file.write(line)
                if until and f'"type":"{until}"' in line:
                    return

    def let_go(self) -> None:
        self.lock.release()


@pytest.fixture
def elsewhere(shop: Workshop) -> Iterator[Callable[[FinishedRun, str], Elsewhere]]:
    """Puts a run back to the first event of a type, as if it went on from there in another process."""
    made: list[Elsewhere] = []

    def put_back(run: FinishedRun, until: str) -> Elsewhere:
        journal = run.folder / "journal.jsonl"
        lines = journal.read_text().splitlines(keepends=True)
        journal.write_text("")
        lock = RunLock(run.folder)
        lock.acquire()
        made.append(Elsewhere(run.folder, lines, lock))
        made[-1].write(until)
        return made[-1]

    yield put_back
    for each in made:
        each.let_go()


def test_a_run_that_goes_on_elsewhere_is_followed_live(
    room: Room, shop: Workshop, elsewhere: Callable[[FinishedRun, str], Elsewhere]
) -> None:
    shop.agent("amala", text="Hello from amala.", writes={"score": 3})
    shop.agent("vera", text="Hello from vera.", writes={"score": 90})
    run = shop.run(
        {"name": "audit", "loop_agents": ["amala", "vera"], "end_state_condition": "False", "max_loops": 1}
    )
    there = elsewhere(run, "turn_started")
    room.list_runs(1)
    assert room.page.current is not None
    assert room.page.current.outcome is Outcome.GOING_ON
    assert not room.page.actions_of_runs.delete.isEnabled()
    room.key(Qt.Key.Key_Return)
    side = room.history.side
    room.until(lambda: not side.shows_list)
    assert side.opened is not None
    view = side.opened.view
    assert "goes on in another OpenLoop window" in view.origin.text()
    assert str(os.getpid()) in view.origin.text()
    room.until(lambda: len(view.strip.pills) == 1)
    pill = next(iter(view.strip.pills.values()))
    assert "amala" in pill.accessibleName()
    said: list[str] = []
    view.message.connect(said.append)
    QTest.mouseClick(pill, Qt.MouseButton.LeftButton, pos=QPoint(pill.width() - 6, pill.height() // 2))
    assert "cannot be stopped: its run goes on in another window" in said[-1]
    orders = [action for action in pill.menu().actions() if "another window" in action.text()]
    assert [action.isEnabled() for action in orders] == [False, False]

    view.tabs.show_state()
    there.write("merged")
    room.until(lambda: view.tabs.state_tab.points.number == 1)
    state = view.tabs.state_tab
    room.until(lambda: state._look is not None and state._look.state.payload.get("score") == 3)
    there.write("turn_started")
    room.until(lambda: ["vera" in each.accessibleName() for each in view.strip.pills.values()] == [True])
    assert not view.banner.isVisible()
    there.write()
    room.until(view.banner.isVisible)
    there.let_go()
    room.until(lambda: not view.origin.isVisible())
    assert view.tabs.page == "state", "whoever reads something in it goes on reading"
    assert "all loops used up" in side.opened.bar.title.text
    assert side.opened.offer.form.isVisible()
    assert side.opened.following.folder is None


def test_a_question_of_a_run_elsewhere_is_seen_with_where_it_is_answered(
    room: Room, shop: Workshop, elsewhere: Callable[[FinishedRun, str], Elsewhere]
) -> None:
    shop.agent("vera", text="I have seen nothing.", bad_update="missing")

    def watch(engine: Engine, event: Event) -> None:
        if isinstance(event, QuestionAsked):
            engine.answer(event.turn, Answer.CONTINUE)

    run = shop.run({"name": "audit", "preparation_agents": ["vera"], "on_missing_state": "ask"}, watch)
    there = elsewhere(run, "question_asked")
    room.list_runs(1)
    row = room.page.runs.index_of(run.folder)
    assert row.siblingAtColumn(Column.OUTCOME).data() == "waits for your answer"
    assert room.page.detail.message.text().startswith("It is going on. vera waits for an answer there.")
    room.key(Qt.Key.Key_Return)
    side = room.history.side
    room.until(lambda: side.opened is not None and side.opened.view.questions.isVisible())
    assert side.opened is not None
    bar = side.opened.view.questions
    (question,) = bar.rows.values()
    assert "vera did not answer with a state update" in question.question.text()
    assert "decided in the other OpenLoop window" in question.elsewhere.text()
    assert str(os.getpid()) in question.elsewhere.text()
    assert not question.buttons, "it cannot be answered here"
    title = side.opened.bar.title
    assert "waits for your answer" in title.text
    there.write("question_answered")
    room.until(lambda: not bar.isVisible())
    assert "goes on" in title.text
    there.write()
    there.let_go()
    room.until(lambda: not side.opened.view.origin.isVisible())


def test_an_agent_that_prints_elsewhere_is_not_called_quiet(
    room: Room, shop: Workshop, elsewhere: Callable[[FinishedRun, str], Elsewhere]
) -> None:
    """The journal does not tell that an agent prints; its files do."""
    shop.agent("vera")
    run = shop.run({"name": "audit", "preparation_agents": ["vera"]})
    elsewhere(run, "attempt_started")
    now = time.time() + 3600
    room.run.clock = lambda: now
    room.list_runs(1)
    room.key(Qt.Key.Key_Return)
    side = room.history.side
    room.until(lambda: not side.shows_list)
    assert side.opened is not None
    pills = side.opened.view.strip.pills
    room.until(lambda: any("quiet" in pill.accessibleName() for pill in pills.values()))
    output = run.turn_folder("vera") / "stdout.log"
    with output.open("ab") as file:
        file.write(b"There is more.\n")
    os.utime(output, (now, now))
    pills = side.opened.view.strip.pills
    room.until(lambda: not any("quiet" in pill.accessibleName() for pill in pills.values()))


def test_a_run_that_is_followed_and_cut_off_says_so(
    room: Room, shop: Workshop, elsewhere: Callable[[FinishedRun, str], Elsewhere]
) -> None:
    shop.agent("vera")
    there = elsewhere(shop.run({"name": "audit", "preparation_agents": ["vera"]}), "turn_started")
    room.list_runs(1)
    room.key(Qt.Key.Key_Return)
    side = room.history.side
    room.until(lambda: not side.shows_list)
    assert side.opened is not None
    assert side.opened.view.origin.isVisible()
    there.let_go()
    room.until(side.opened.view.banner.isVisible)
    assert "cut off" in side.opened.view.banner.title.text()
    assert not side.opened.view.origin.isVisible()


def test_a_run_that_is_paused_elsewhere_is_resumed_there(
    room: Room, shop: Workshop, elsewhere: Callable[[FinishedRun, str], Elsewhere]
) -> None:
    shop.agent("vera")
    there = elsewhere(shop.run({"name": "audit", "preparation_agents": ["vera"]}), "turn_started")
    room.list_runs(1)
    room.key(Qt.Key.Key_Return)
    side = room.history.side
    room.until(lambda: not side.shows_list)
    assert side.opened is not None
    pause = side.opened.view.pause
    journal = Journal(there.folder / "journal.jsonl")
    journal.append(RunPaused(time=time.time(), message="The quota is used up."))
    journal.close()
    room.until(pause.isVisible)
    assert not pause.resume_button.isEnabled()
    assert not pause.stop_button.isEnabled()
    assert "another window" in pause.resume_button.toolTip()
    assert not pause.resume_button.isVisible()
    assert "decided in the other OpenLoop window" in pause.advice.text()


def test_nothing_is_followed_any_more_when_one_goes_back(
    room: Room, shop: Workshop, elsewhere: Callable[[FinishedRun, str], Elsewhere]
) -> None:
    shop.agent("vera")
    elsewhere(shop.run({"name": "audit", "preparation_agents": ["vera"]}), "turn_started")
    room.list_runs(1)
    room.key(Qt.Key.Key_Return)
    side = room.history.side
    room.until(lambda: not side.shows_list)
    assert side.opened is not None
    assert side.opened.following.folder is not None
    room.key(Qt.Key.Key_Escape)
    assert side.shows_list
    assert side.opened.following.folder is None


# --- comparing ------------------------------------------------------------------------------------------


def test_two_runs_are_compared_side_by_side(room: Room, shop: Workshop) -> None:
    first, second = two_runs(shop)
    room.resize(420, 760)
    room.list_runs(2)
    room.select(second, first)
    room.key(Qt.Key.Key_C, CTRL | SHIFT)
    side = room.history.side
    room.until(lambda: side.compared is not None and not side.shows_list)
    page = side.compared
    assert page is not None

    def rows(which: int) -> dict[str, tuple[str, str, str]]:
        model = page.filters[which]
        texts = [
            [str(model.index(row, column).data()) for column in range(4)] for row in range(model.rowCount())
        ]
        return {name: (one, other, change) for name, one, other, change in reversed(texts)}

    result = rows(RESULT)
    assert result["Outcome"][:2] == ("limit reached", "completed"), "the older one is A"
    assert result["Cost"] == ("$0.25", "$0.50", "+$0.25 (+100 %)")
    assert result["Iterations"] == ("1", "0", "−1")
    tree = page.trees[RESULT]
    metrics = QFontMetrics(font(bold=True))
    for row in range(tree.model().rowCount()):
        cells = [tree.model().index(row, column) for column in range(4)]
        high = tree.visualRect(cells[0]).height()
        for index in cells:
            lacks = metrics.horizontalAdvance(str(index.data())) - tree.columnWidth(index.column())
            assert lacks <= -20 or high > 2 * metrics.lineSpacing(), f"{index.data()} is cut"
    QTest.mouseClick(page.only, Qt.MouseButton.LeftButton, pos=QPoint(8, 10))
    assert page.only.isChecked()
    assert "Workflow" not in rows(RESULT)
    assert "Cost" in rows(RESULT)

    assert page.tabs.tabText(STATE).startswith("State (")
    QTest.mouseClick(page.tabs, Qt.MouseButton.LeftButton, pos=page.tabs.tabRect(STATE).center())
    state = rows(STATE)
    assert state["payload.score"] == ("10", "20", "differs")
    assert state["payload.old"] == ("{ a }", "", "only in A")
    assert state["payload.new"][2] == "only in B"
    page.field.setFocus()
    QTest.keyClicks(page.field, "only new")
    assert list(rows(STATE)) == ["payload.new"]
    page.trees[STATE].setCurrentIndex(page.filters[STATE].index(0, 0))
    assert [value.toPlainText() for value in page.values] == ["(not there)", "all\nof it"]

    QTest.mouseClick(page.tabs, Qt.MouseButton.LeftButton, pos=page.tabs.tabRect(WORKFLOW).center())
    page.field.clear()
    assert rows(WORKFLOW)["max_loops"] == ("1", "10", "differs")
    room.key(Qt.Key.Key_Escape)
    assert side.shows_list


def test_a_comparison_says_when_there_is_nothing_to_compare(room: Room, shop: Workshop) -> None:
    shop.agent("vera")
    runs = [shop.run({"name": "audit", "preparation_agents": ["vera"]}) for _ in range(2)]
    room.list_runs(2)
    room.select(*runs)
    (runs[0].folder / "workflow.json").unlink()
    room.page.actions_of_runs.compare.trigger()
    side = room.history.side
    room.until(lambda: side.compared is not None and not side.shows_list)
    page = side.compared
    assert page is not None
    page.tabs.setCurrentIndex(STATE)
    assert page.note.text() == "Both runs ended with the same state."
    page.tabs.setCurrentIndex(WORKFLOW)
    assert "cannot be read" in page.note.text()
    assert not page.field.isEnabled()


# --- deleting -------------------------------------------------------------------------------------------


@pytest.fixture
def trash(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A trash of one's own, on the same disk as the runs."""
    if sys.platform != "linux":
        pytest.skip("only there is the trash a folder that can be put elsewhere")
    data = tmp_path / "data"
    data.mkdir()
    monkeypatch.setenv("XDG_DATA_HOME", str(data))
    return data / "Trash" / "files"


def test_runs_are_moved_to_the_trash_after_a_question_with_their_sizes(
    room: Room, shop: Workshop, trash: Path
) -> None:
    first, second = two_runs(shop)
    room.list_runs(2)
    room.select(first, second)
    room.key(Qt.Key.Key_Delete)
    room.until(lambda: "Together: " in room.asked() and "measuring" not in room.asked())
    assert "Move 2 runs to the trash?" in room.asked()
    assert "kB" in room.asked()
    QTest.mouseClick(room.question()["Keep"], Qt.MouseButton.LeftButton)
    assert room.asked() == ""
    assert first.folder.is_dir()

    room.activateWindow()
    room.page.list.setFocus()
    room.until(room.page.list.hasFocus)
    room.select(first)
    room.key(Qt.Key.Key_Delete)
    QTest.mouseClick(room.question()["Move to the trash"], Qt.MouseButton.LeftButton)
    room.until(lambda: room.page.runs.rowCount() == 1)
    assert not first.folder.exists()
    assert second.folder.is_dir()
    assert (trash / first.folder.name / "journal.jsonl").is_file()


def test_escape_keeps_the_runs(room: Room, shop: Workshop) -> None:
    first, _ = two_runs(shop)
    room.list_runs(2)
    room.select(first)
    room.key(Qt.Key.Key_Delete)
    assert room.history._deleting is not None
    QTest.keyClick(room.history._deleting.question, Qt.Key.Key_Escape)
    assert room.asked() == ""
    assert first.folder.is_dir()


def test_nothing_is_deleted_for_good_without_a_second_word(room: Room, shop: Workshop) -> None:
    first, second = two_runs(shop)
    room.list_runs(2)
    deleting = room.history._deleting
    assert deleting is not None
    deleting._trash = lambda _folder: False
    room.select(first, second)
    room.key(Qt.Key.Key_Delete)
    QTest.mouseClick(room.question()["Move to the trash"], Qt.MouseButton.LeftButton)
    room.until(lambda: "Delete for good" in room.question() if room.asked() else False)
    assert "2 runs could not be moved to the trash" in room.asked()
    assert first.folder.is_dir()
    QTest.mouseClick(room.question()["Delete for good"], Qt.MouseButton.LeftButton)
    room.until(lambda: room.page.runs.rowCount() == 0)
    assert not first.folder.exists()
    assert not second.folder.exists()
    assert "no runs here yet" in room.page.empty.text()


def test_a_run_that_began_again_meanwhile_stays_and_it_is_said(
    room: Room, shop: Workshop, trash: Path
) -> None:
    first, second = two_runs(shop)
    room.list_runs(2)
    room.select(first, second)
    lock = RunLock(first.folder)
    lock.acquire()
    try:
        room.key(Qt.Key.Key_Delete)
        QTest.mouseClick(room.question()["Move to the trash"], Qt.MouseButton.LeftButton)
        room.until(lambda: room.notices.bar(app.history.NOTICE))
    finally:
        lock.release()
    bar = room.notices.bar(app.history.NOTICE)
    assert bar is not None
    assert "going on already" in bar.notice.lines[0]
    assert first.folder.is_dir()
    assert not second.folder.exists()


# --- exporting ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("ending", ["html", "json"])
def test_a_run_is_exported_and_the_report_can_be_opened(
    room: Room, shop: Workshop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ending: str
) -> None:
    first, _ = two_runs(shop)
    room.list_runs(2)
    room.select(first)
    room.key(Qt.Key.Key_E, CTRL if ending == "html" else CTRL | SHIFT)
    exporting = room.history._exporting
    assert exporting is not None
    dialog = exporting.dialog
    assert dialog is not None
    target = tmp_path / f"report.{ending}"

    def filled_in() -> bool:
        # It reads the folder in the background and then fills in the name of the present file again.
        dialog.selectFile(str(target))
        return dialog.selectedFiles() == [str(target)]

    room.until(filled_in)
    box = dialog.findChild(QDialogButtonBox, "buttonBox")
    assert isinstance(box, QDialogButtonBox)
    QTest.mouseClick(box.button(QDialogButtonBox.StandardButton.Save), Qt.MouseButton.LeftButton)
    room.until(lambda: room.notices.bar("export"))
    bar = room.notices.bar("export")
    assert bar is not None
    assert str(target) in bar.notice.text
    text = target.read_text(encoding="utf-8")
    if ending == "json":
        assert json.loads(text)["run_id"] == first.folder.name
    else:
        assert "audit" in text
    opened: list[QUrl] = []
    monkeypatch.setattr(QDesktopServices, "openUrl", lambda url: opened.append(url) or True)
    QTest.mouseClick(bar.buttons["Open"], Qt.MouseButton.LeftButton)
    assert [url.toLocalFile() for url in opened] == [str(target)]
    assert not room.page.work.isVisible()


def choose_folder(room: Room, folder: Path) -> None:
    """Answer the question for a folder, as a click on "Export here" does."""
    exporting = room.history._exporting
    assert exporting is not None
    dialog = exporting.dialog
    assert dialog is not None
    assert dialog.fileMode() is QFileDialog.FileMode.Directory
    dialog.setDirectory(str(folder))
    room.until(lambda: Path(dialog.directory().absolutePath()) == folder)
    box = dialog.findChild(QDialogButtonBox, "buttonBox")
    assert isinstance(box, QDialogButtonBox)
    button = next(each for each in box.buttons() if each.text() == "Export here")
    field = dialog.findChild(QLineEdit)
    assert field is not None
    field.setText(str(folder))
    QTest.mouseClick(button, Qt.MouseButton.LeftButton)


@pytest.mark.parametrize("ending", ["html", "json"])
def test_several_runs_are_exported_into_a_new_folder(
    room: Room, shop: Workshop, tmp_path: Path, ending: str
) -> None:
    first, second = two_runs(shop)
    broken = first.folder.parent / "20200101-000000-abcdef"
    broken.mkdir()
    target = tmp_path / "out"
    target.mkdir()
    room.list_runs(3)
    room.page.list.selectAll()
    room.key(Qt.Key.Key_E, CTRL if ending == "html" else CTRL | SHIFT)
    choose_folder(room, target)
    room.until(lambda: room.notices.bar("export"))
    bar = room.notices.bar("export")
    assert bar is not None
    made = [*target.iterdir()]
    assert len(made) == 1, "nothing that was there is written over"
    assert bar.notice.text == f"2 runs are exported to {made[0]}."
    written = sorted(path.name for path in made[0].iterdir())
    assert written == sorted(f"audit-{run.folder.name}.{ending}" for run in (first, second))
    assert "Open folder" in bar.buttons


def test_runs_that_cannot_be_exported_are_named(room: Room, shop: Workshop, tmp_path: Path) -> None:
    first, second = two_runs(shop)
    room.list_runs(2)
    room.select(first, second)
    (first.folder / "journal.jsonl").unlink()
    room.page.actions_of_runs.export_json.trigger()
    choose_folder(room, tmp_path)
    room.until(lambda: room.notices.bar("export"))
    bar = room.notices.bar("export")
    assert bar is not None
    assert bar.notice.text.startswith("1 run is exported to ")
    assert len(bar.notice.lines) == 1
    assert first.folder.name in bar.notice.lines[0]


def test_what_can_be_done_with_several_is_said_in_a_table(
    room: Room, shop: Workshop, elsewhere: Callable[[FinishedRun, str], Elsewhere]
) -> None:
    first, second = two_runs(shop)
    third = shop.run({"name": "audit", "preparation_agents": ["vera"]})
    elsewhere(third, "turn_started")
    broken = first.folder.parent / "20200101-000000-abcdef"
    broken.mkdir()
    room.list_runs(4)
    table = room.page.detail.possible
    room.select(first)
    assert not table.isVisible()

    def rows() -> dict[str, str]:
        return {name.text(): words.accessibleName().partition(": ")[2] for _, name, words in table.rows}

    room.select(first, second)
    assert table.isVisible()
    assert rows()["Compare"] == "possible. Side by side, the older one first."
    assert rows()["Export as HTML"] == "possible. 2 reports in a new folder."
    assert rows()["Open"] == "not possible. One run at a time."
    room.page.list.selectAll()
    assert rows()["Compare"] == "not possible. Select exactly two; 4 are selected."
    assert rows()["Export as JSON"] == "possible. 3 reports in a new folder. 1 cannot be read."
    assert rows()["Delete"] == "possible. 1 goes on, and stays."
    assert room.page.actions_of_runs.delete.isEnabled()


def test_the_keys_of_the_list_work_while_the_search_has_the_focus(room: Room, shop: Workshop) -> None:
    two_runs(shop)
    room.list_runs(2)
    actions = room.page.actions_of_runs
    asked: list[str] = []
    for action in actions.all:
        action.triggered.disconnect()
    actions.export_html.triggered.connect(lambda: asked.append("html"))
    actions.export_json.triggered.connect(lambda: asked.append("json"))
    actions.compare.triggered.connect(lambda: asked.append("compare"))
    actions.delete.triggered.connect(lambda: asked.append("delete"))
    # Fields take Ctrl+E for their own on some desktops, Ctrl+A everywhere.
    actions.export_html.setShortcuts([QKeySequence("Ctrl+E"), QKeySequence("Ctrl+A")])
    field = room.page.field
    field.setFocus()
    room.until(field.hasFocus)
    room.key(Qt.Key.Key_E, CTRL)
    room.key(Qt.Key.Key_E, CTRL | SHIFT)
    room.key(Qt.Key.Key_C, CTRL | SHIFT)
    assert asked == ["html", "json", "compare"]
    room.key(Qt.Key.Key_A, CTRL)
    assert asked.pop() == "html"
    QTest.keyClicks(field, "ab")
    field.setCursorPosition(0)
    room.key(Qt.Key.Key_Delete)
    assert field.text() == "b", "there it edits the text"
    assert asked == ["html", "json", "compare"]


def test_a_report_that_cannot_be_written_is_said(room: Room, shop: Workshop, tmp_path: Path) -> None:
    first, _ = two_runs(shop)
    room.list_runs(2)
    room.select(first)
    room.page.actions_of_runs.export_html.trigger()
    exporting = room.history._exporting
    assert exporting is not None
    assert exporting.dialog is not None
    exporting.dialog.fileSelected.emit(str(tmp_path / "nowhere" / "report.html"))
    exporting.dialog.reject()
    room.until(lambda: room.notices.bar("export"))
    bar = room.notices.bar("export")
    assert bar is not None
    assert "could not be exported" in bar.notice.text


# --- for everybody --------------------------------------------------------------------------------------


def test_everything_has_a_name_and_the_menu_has_everything(room: Room, shop: Workshop) -> None:
    first, second = two_runs(shop)
    room.list_runs(2)
    room.select(first, second)
    room.page.actions_of_runs.compare.trigger()
    side = room.history.side
    room.until(lambda: side.compared is not None and not side.shows_list)
    assert side.compared is not None
    for page in (room.page, side.compared):
        for widget in page.findChildren(QWidget):
            if widget.focusPolicy() & Qt.FocusPolicy.TabFocus and widget.isVisibleTo(page):
                named = widget.accessibleName() or (isinstance(widget, QAbstractButton) and widget.text())
                inner = widget.objectName().startswith("qt_") or type(widget).__name__ in {
                    "QLineEditIconButton",
                    "QToolButton",
                }
                assert named or inner, f"{widget} has no name"
    side.back()
    room.page.list.setFocus()
    room.page.list.customContextMenuRequested.emit(
        room.page.list.visualRect(room.page.list.currentIndex()).center()
    )
    menu = QApplication.activePopupWidget()
    assert isinstance(menu, QMenu)
    shown = [action for action in menu.actions() if not action.isSeparator()]
    assert set(shown) == set(room.page.actions_of_runs.all)
    menu.close()


def test_agents_and_workflows_are_no_markup(room: Room, shop: Workshop) -> None:
    shop.agent("vera")
    shop.run({"name": "<b>bold</b>", "preparation_agents": ["vera"]})
    room.list_runs(1)
    detail = room.page.detail
    assert detail.title.text() == "<b>bold</b>"
    assert detail.title.textFormat() is Qt.TextFormat.PlainText
    room.key(Qt.Key.Key_Delete)
    assert room.history._deleting is not None
    box = room.history._deleting.question
    assert box is not None
    assert box.textFormat() is Qt.TextFormat.PlainText
    box.reject()
