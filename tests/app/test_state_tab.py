"""The state tab: any point of a run, what changed there, who wrote it, and finding in it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QModelIndex, QPoint, Qt
from PySide6.QtGui import QAccessible, QGuiApplication
from PySide6.QtTest import QAbstractItemModelTester, QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.run_view.conflict_model import WHERE
from app.run_view.run_view import RunView
from app.run_view.state_model import KEY, VALUE, WRITER, StateModel
from app.run_view.state_tab import StateTab
from app.run_view.state_work import RAW_SHOWN, raw_json
from app.theme import theme
from core import visible_text
from core.events import Event, GroupStarted, Merged, RunStarted, StateChanged, TurnFinished, TurnRef
from core.json_types import JsonObject
from core.merge import merge_updates
from core.plan import Place
from core.progress import RecordedConflict, RunProgress
from core.recorded_run import read_run
from core.state import Conflict, Contribution, MergeRule, StateUpdate, WorkflowState
from core.state_changes import find_changes
from core.state_search import MOST_MATCHES, StateSearch
from tests.core.run_support import FinishedRun, Workshop

pytestmark = pytest.mark.qt_log_ignore("This plugin does not support")


class Running:
    """A state tab and a run that goes on in it: merges as the engine tells them."""

    def __init__(self, tab: StateTab) -> None:
        self.tab = tab
        self.state = WorkflowState("loop")
        self.iteration = 0
        tab.begin(None, None)
        self.tell(RunStarted(time=1.0), StateChanged(time=1.0, state=self.state))

    def tell(self, *events: Event) -> None:
        self.tab.take(events)
        self.tab.show_conflicts(self.tab.conflict_part.entries)

    def merge(self, *updates: tuple[str, JsonObject]) -> None:
        """One group whose agents answer with these payloads."""
        self.iteration += 1
        refs = tuple(
            TurnRef(f"loop/{self.iteration}/0/{n}", Place("loop", 0, n), name, name, name)
            for n, (name, _) in enumerate(updates)
        )
        given = [Contribution(name, StateUpdate(payload=payload)) for name, payload in updates]
        result = merge_updates(WorkflowState("loop", self.iteration, payload=self.state.payload), given, {})
        self.state = result.state
        self.tell(
            GroupStarted(time=2.0, phase="loop", iteration=self.iteration, turns=refs),
            *(
                TurnFinished(time=3.0, turn=ref.turn, update=each.update)
                for ref, each in zip(refs, given, strict=True)
            ),
            Merged(
                time=4.0,
                phase="loop",
                iteration=self.iteration,
                writers=tuple(each.writer for each in given),
                conflicts=result.conflicts,
            ),
            StateChanged(time=4.0, state=self.state),
        )


@pytest.fixture
def tab(qtbot: QtBot) -> Iterator[StateTab]:
    tab = StateTab()
    qtbot.addWidget(tab)
    tab.resize(684, 560)
    tab.show()
    yield tab
    tab.work.close()


def text(tab: StateTab, path: tuple[str, ...], column: int = VALUE) -> str:
    index = tab.model.index_of(path)
    assert index.isValid(), path
    return str(index.siblingAtColumn(column).data())


def payload_keys(tab: StateTab) -> list[str]:
    payload = tab.model.index_of(("payload",))
    while tab.model.canFetchMore(payload):
        tab.model.fetchMore(payload)
    return [str(tab.model.index(row, KEY, payload).data()) for row in range(tab.model.rowCount(payload))]


# --- what changed -------------------------------------------------------------------------------------


def test_a_merge_is_marked_with_what_changed_and_who_wrote_it(tab: StateTab) -> None:
    run = Running(tab)
    run.merge(("amala", {"score": 62, "text": {"by": "amala"}, "list": ["a", "b", "c"]}))
    run.merge(("vera", {"score": 86, "list": ["a", "c"]}), ("linter", {"text": {"style": "ok"}}))
    model = tab.model
    assert tab.points.words.text().endswith(" · 3 changes")
    score = model.index_of(("payload", "score"))
    assert text(tab, ("payload", "score"), WRITER) == "vera"
    assert score.data(Qt.ItemDataRole.AccessibleTextRole) == "score, changed by vera"
    added = model.index_of(("payload", "text", "style"))
    assert added.data(Qt.ItemDataRole.AccessibleTextRole) == "style, added by linter"
    assert text(tab, ("payload", "text"), WRITER) == "1 change"
    gone = model.index_of(("payload", "list", "[2]"))
    assert gone.data(Qt.ItemDataRole.AccessibleTextRole) == "[2], removed by vera"
    assert model.is_gone(gone)
    assert model.value(gone) == "b", "what was removed can be read"
    assert text(tab, ("payload", "text", "by"), WRITER) == ""


def test_only_what_changed_is_shown_when_it_is_wanted(tab: StateTab) -> None:
    run = Running(tab)
    run.merge(("amala", {"a": 1, "b": {"deep": {"x": 1, "y": 2}}, "c": 3}))
    run.merge(("vera", {"b": {"deep": {"y": 5}}}))
    assert payload_keys(tab) == ["a", "b", "c"]
    QTest.mouseClick(tab.changes_button, Qt.MouseButton.LeftButton)
    assert payload_keys(tab) == ["b"]
    assert tab.tree.isExpanded(tab.model.index_of(("payload", "b", "deep")))
    assert not tab.model.index_of(("payload", "b", "deep", "x")).isValid()
    assert text(tab, ("payload", "b", "deep", "y")) == "5"
    QTest.mouseClick(tab.changes_button, Qt.MouseButton.LeftButton)
    assert payload_keys(tab) == ["a", "b", "c"]


def test_a_changed_value_is_read_with_what_it_was(tab: StateTab) -> None:
    run = Running(tab)
    run.merge(("amala", {"score": 62}))
    run.merge(("vera", {"score": 86}))
    tab.tree.setCurrentIndex(tab.model.index_of(("payload", "score")))
    assert tab.value.toPlainText() == "86\n\nChanged by vera. Before:\n62"
    assert tab.value.isVisible()


def test_the_marks_differ_by_shape_and_not_by_colour_alone(tab: StateTab) -> None:
    run = Running(tab)
    run.merge(("amala", {"a": 1, "b": [1, 2]}))
    run.merge(("vera", {"a": 2, "b": [1], "c": 3}))
    tab.tree.expand(tab.model.index_of(("payload", "b")))
    QApplication.processEvents()
    shapes = set()
    for path in (("payload", "a"), ("payload", "c"), ("payload", "b", "[1]")):
        box = tab.tree.visualRect(tab.model.index_of(path))
        image = tab.tree.viewport().grab(box.adjusted(4, 0, 18 - box.width(), 0)).toImage()
        ground = image.pixelColor(0, 0)
        shapes.add(
            tuple(
                image.pixelColor(x, y) != ground for y in range(image.height()) for x in range(image.width())
            )
        )
    assert len(shapes) == 3


# --- conflicts ----------------------------------------------------------------------------------------


def test_a_conflict_is_marked_where_it_is_and_both_values_are_one_click_away(
    qtbot: QtBot, tmp_path: Path
) -> None:
    view = shown_run(qtbot, tmp_path)
    tab = view.tabs.state_tab
    index = tab.model.index_of(("payload", "score"))
    assert "agents did not agree" in str(index.data(Qt.ItemDataRole.AccessibleTextRole))
    box = tab.tree.visualRect(index.siblingAtColumn(WRITER))
    QTest.mouseClick(
        tab.tree.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(box.left() + 8, box.center().y())
    )
    read = tab.value.toPlainText()
    assert "vera wrote:\n86" in read
    assert "linter wrote:\n71" in read
    assert "Kept (linter):\n71" in read


def test_at_an_earlier_point_only_the_conflicts_up_to_there_are_listed(tab: StateTab, qtbot: QtBot) -> None:
    run = Running(tab)
    conflicts: list[RecordedConflict] = []
    for score in range(3):
        run.merge(("vera", {"score": score}), ("linter", {"score": score + 10}))
        conflict = Conflict("payload.score", MergeRule.LAST, "vera", score, "linter", score + 10, score + 10)
        conflicts.append(RecordedConflict(conflict, "loop", score + 1, 0))
        tab.show_conflicts(conflicts)
    button, model = tab.conflict_part.button, tab.conflict_part.model

    def listed() -> list[str]:
        return [str(model.index(row, WHERE).data()) for row in range(model.rowCount())]

    assert button.text() == "3 conflicts"
    tab.open_conflicts()
    QTest.keyClick(tab.conflicts, Qt.Key.Key_End)
    assert "linter wrote:\n12" in tab.value.toPlainText()
    tab.points.step_back()
    tab.points.step_back()
    qtbot.waitUntil(lambda: button.text() == "1 of 3 conflicts")
    assert listed() == ["Loop · iteration 1"]
    assert "linter wrote:\n12" not in tab.value.toPlainText(), "it is not known there yet"
    conflict = Conflict("payload.score", MergeRule.LAST, "vera", 3, "linter", 13, 13)
    tab.show_conflicts([*conflicts, RecordedConflict(conflict, "loop", 4, 0)])
    assert button.text() == "1 of 4 conflicts"
    assert listed() == ["Loop · iteration 1"], "what comes later stays out"

    tab.points.step_back()
    qtbot.waitUntil(lambda: button.text() == "0 of 4 conflicts")
    assert tab.conflict_part.none.isVisible()
    tab.open_conflicts()
    assert len(listed()) == 4, "whoever wants to see conflicts is led to where there are some"
    assert tab.points.follows
    qtbot.waitUntil(lambda: button.text() == "4 conflicts")
    assert "linter wrote:\n10" in tab.value.toPlainText()


def test_thousands_of_conflicts_are_spelled_out_only_where_one_looks(
    qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spelled: list[int] = []

    def spell(text: str, keeps_lines: bool) -> str:
        spelled.append(len(text))
        return str(real(text, keeps_lines))

    real = visible_text._spelled
    monkeypatch.setattr(visible_text, "_spelled", spell)
    view = RunView()
    qtbot.addWidget(view)
    view.resize(900, 700)
    view.show()
    progress = RunProgress()
    begin = RunStarted(time=1.0, run_id="r", folder=str(tmp_path))
    progress.apply(begin)
    view.begin(progress)
    merged = Merged(
        time=2.0,
        phase="loop",
        iteration=1,
        conflicts=tuple(
            Conflict(f"payload.k{n}.v", MergeRule.LAST, "one", f"a\x1b{n}" * 90, "two", f"b\x1b{n}" * 90, 1)
            for n in range(7_000)
        ),
    )
    events = [begin, StateChanged(time=1.0, state=WorkflowState("loop")), merged]
    progress.apply(merged)
    view.take(events, 2.0)
    assert not spelled, "the overview is shown, and nobody looks at conflicts"
    view.tabs.show_conflicts()
    QApplication.processEvents()
    table = view.tabs.state_tab.conflicts
    assert view.tabs.state_tab.conflict_part.button.text() == "7,000 conflicts"
    assert 0 < len(spelled) < 500, "rows that are seen, and the one that is read"
    QTest.keyClick(table, Qt.Key.Key_End)
    QApplication.processEvents()
    assert table.currentIndex().row() == 6_999
    assert "payload.k6999.v" in view.tabs.state_tab.value.toPlainText()
    assert len(spelled) < 1_000


def test_the_rows_of_conflicts_keep_the_rules_of_models(tab: StateTab) -> None:
    model = tab.conflict_part.model
    QAbstractItemModelTester(model, QAbstractItemModelTester.FailureReportingMode.Warning)
    conflict = Conflict("payload.n", MergeRule.LAST, "one", 1, "two", 2, 2)
    known = [RecordedConflict(conflict, "loop", number, 0) for number in range(1_200)]
    model.show(known[:1])
    model.show(known)
    assert model.rowCount() == 1_200
    assert model.index(1_199, 3).data() == "2 (two)"
    model.show_only([7, 9])
    assert (model.rowCount(), model.number(1), model.shows(8)) == (2, 9, False)
    model.show_only(None)
    assert model.rowCount() == 1_200
    model.show_only([7])
    model.show(known[5:9])
    assert [model.index(row, 5).data() for row in range(model.rowCount())] == [
        f"Loop · iteration {number}" for number in (5, 6, 7, 8)
    ]


def shown_run(qtbot: QtBot, folder: Path, at: int | None = None) -> RunView:
    """A real run that is over, at its state."""
    view = RunView()
    qtbot.addWidget(view)
    view.resize(684, 700)
    view.set_recorded(True)
    run = read_run(real_run(folder).folder)
    view.begin(run.progress, run)
    view.show()
    view.tabs.show_state()
    tab = view.tabs.state_tab
    if at is not None:
        tab.points.choose(at)
    qtbot.waitUntil(lambda: not tab.work.busy)
    return view


def real_run(folder: Path) -> FinishedRun:
    shop = Workshop(folder)
    shop.agent("amala", writes={"score": 62, "list": [1]})
    shop.agent("vera", writes={"score": 86})
    shop.agent("linter", writes={"score": 71})
    audits: JsonObject = {"mode": "parallel", "agents": ["vera", "linter"]}
    return shop.run({"preparation_agents": ["amala"], "loop_agents": [audits], "max_loops": 2})


# --- earlier points -----------------------------------------------------------------------------------


def test_any_point_of_a_run_that_is_over_can_be_chosen(qtbot: QtBot, tmp_path: Path) -> None:
    view = shown_run(qtbot, tmp_path)
    tab = view.tabs.state_tab
    assert tab.points.slider.maximum() == 3
    assert "Loop · iteration 2 · after vera, linter · " in tab.points.words.text()
    assert text(tab, ("payload", "score")) == "71"
    tab.points.slider.setFocus()
    QTest.keyClick(tab.points.slider, Qt.Key.Key_Home)
    qtbot.waitUntil(lambda: not tab.work.busy)
    assert tab.points.words.text().startswith("Start of the run · ")
    assert payload_keys(tab) == []
    QTest.mouseClick(tab.points.later, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: not tab.work.busy)
    assert text(tab, ("payload", "score")) == "62"
    assert "Preparation · after amala · " in tab.points.words.text()
    QTest.mouseClick(tab.points.latest, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: not tab.work.busy)
    assert text(tab, ("payload", "score")) == "71"
    assert not tab.points.latest.isEnabled()


def test_keys_walk_through_the_points_from_anywhere_in_the_tab(qtbot: QtBot, tmp_path: Path) -> None:
    view = shown_run(qtbot, tmp_path)
    tab = view.tabs.state_tab
    view.activateWindow()
    tab.tree.setFocus()
    qtbot.waitUntil(tab.tree.hasFocus)
    QTest.keyClick(tab.tree, Qt.Key.Key_Left, Qt.KeyboardModifier.AltModifier)
    assert tab.points.number == 2
    QTest.keyClick(tab.tree, Qt.Key.Key_Left, Qt.KeyboardModifier.AltModifier)
    QTest.keyClick(tab.tree, Qt.Key.Key_Right, Qt.KeyboardModifier.AltModifier)
    assert tab.points.number == 2
    QTest.keyClick(tab.tree, Qt.Key.Key_End, Qt.KeyboardModifier.AltModifier)
    assert tab.points.follows
    qtbot.waitUntil(lambda: not tab.work.busy)


def test_the_slider_is_dragged(qtbot: QtBot, tmp_path: Path) -> None:
    view = shown_run(qtbot, tmp_path)
    tab = view.tabs.state_tab
    slider = tab.points.slider
    middle = slider.height() // 2
    QTest.mousePress(slider, Qt.MouseButton.LeftButton, pos=QPoint(slider.width() - 8, middle))
    QTest.mouseMove(slider, QPoint(slider.width() // 3, middle))
    QTest.mouseRelease(slider, Qt.MouseButton.LeftButton, pos=QPoint(slider.width() // 3, middle))
    assert tab.points.number == 1
    qtbot.waitUntil(lambda: not tab.work.busy)
    assert text(tab, ("payload", "score")) == "62"


def test_the_end_is_followed_until_the_user_looks_elsewhere(tab: StateTab, qtbot: QtBot) -> None:
    run = Running(tab)
    run.merge(("amala", {"n": 1}))
    run.merge(("amala", {"n": 2}))
    assert text(tab, ("payload", "n")) == "2"
    QTest.mouseClick(tab.points.earlier, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: not tab.work.busy)
    assert text(tab, ("payload", "n")) == "1"
    run.merge(("amala", {"n": 3}))
    qtbot.waitUntil(lambda: not tab.work.busy)
    assert text(tab, ("payload", "n")) == "1", "who reads an earlier state goes on reading it"
    assert tab.points.slider.maximum() == 3
    QTest.mouseClick(tab.points.latest, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: not tab.work.busy)
    assert text(tab, ("payload", "n")) == "3"
    run.merge(("amala", {"n": 4}))
    assert text(tab, ("payload", "n")) == "4"


def test_a_state_that_cannot_be_had_says_why(qtbot: QtBot, tmp_path: Path) -> None:
    run = real_run(tmp_path)
    (run.folder / "workflow.json").unlink()
    recorded = read_run(run.folder)
    view = RunView()
    qtbot.addWidget(view)
    view.set_recorded(True)
    view.begin(recorded.progress, recorded)
    view.show()
    view.tabs.show_state()
    tab = view.tabs.state_tab
    qtbot.waitUntil(lambda: tab.unknown.isVisible())
    assert "workflow.json" in tab.unknown.text()


def test_no_state_yet_is_said(tab: StateTab) -> None:
    tab.begin(None, None)
    assert tab._pages.currentIndex() == 0
    assert not tab.tree.isVisible()


# --- finding ------------------------------------------------------------------------------------------


def find(tab: StateTab, qtbot: QtBot, needle: str) -> None:
    QTest.keyClicks(tab.finder.field, needle)
    QTest.keyClick(tab.finder.field, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: not tab.work.busy, timeout=60_000)


def test_keys_and_values_are_found_counted_and_gone_to(tab: StateTab, qtbot: QtBot) -> None:
    run = Running(tab)
    run.merge(("amala", {"Password": {"empty": [0, "no PASSWORD at all"]}, "n": 12, "ok": True}))
    find(tab, qtbot, "password")
    assert tab.finder.count.text() == "1 of 2"
    assert tab.model.path(tab.tree.currentIndex()) == ("payload", "Password")
    QTest.keyClick(tab.finder.field, Qt.Key.Key_Return)
    assert tab.finder.count.text() == "2 of 2"
    assert tab.model.path(tab.tree.currentIndex()) == ("payload", "Password", "empty", "[1]")
    QTest.mouseClick(tab.finder.next, Qt.MouseButton.LeftButton)
    assert tab.finder.count.text() == "1 of 2", "round the end"
    QTest.mouseClick(tab.finder.previous, Qt.MouseButton.LeftButton)
    assert tab.finder.count.text() == "2 of 2"
    tab.finder.field.clear()
    find(tab, qtbot, "true")
    assert tab.model.path(tab.tree.currentIndex()) == ("payload", "ok")
    tab.finder.field.clear()
    find(tab, qtbot, "nowhere")
    assert tab.finder.count.text() == "no match"
    QTest.keyClick(tab.finder.field, Qt.Key.Key_Escape)
    assert tab.finder.needle == ""
    assert tab.finder.count.text() == ""


def test_among_the_changes_only_they_are_found(tab: StateTab, qtbot: QtBot) -> None:
    run = Running(tab)
    run.merge(("amala", {"one": "find me", "two": "x"}))
    run.merge(("vera", {"two": "find me too", "new": {"find": "me"}}))
    tab.changes_button.click()
    find(tab, qtbot, "find")
    assert tab.finder.count.text() == "1 of 2"
    assert tab.model.path(tab.tree.currentIndex()) == ("payload", "two")


def test_a_merge_does_not_take_away_what_one_reads_while_something_is_looked_for(
    tab: StateTab, qtbot: QtBot
) -> None:
    run = Running(tab)
    run.merge(("amala", {"a": "x", "b": "x", "c": 1}))
    find(tab, qtbot, "x")
    tab.tree.setCurrentIndex(tab.model.index_of(("payload", "c")))
    run.merge(("amala", {"c": 2}))
    qtbot.waitUntil(lambda: not tab.work.busy)
    assert tab.model.path(tab.tree.currentIndex()) == ("payload", "c")
    assert tab.finder.count.text() == "2 found"


def test_a_search_of_a_huge_payload_is_bounded_and_can_be_given_up(tab: StateTab, qtbot: QtBot) -> None:
    rows = [{"n": n, "text": "the same"} for n in range(100_000)]
    search = StateSearch({"payload": {"rows": rows}}, "same")  # type: ignore[dict-item]
    tab.work.search(search)
    qtbot.waitUntil(lambda: search.done)
    assert search.count == MOST_MATCHES
    assert search.more
    assert search.path(1_000) == ("payload", "rows", "[1000]", "text")
    second = StateSearch({"payload": {"rows": rows}}, "nowhere")  # type: ignore[dict-item]
    tab.work.search(second)
    tab.work.forget()
    qtbot.waitUntil(lambda: not tab.work.busy)


# --- text and clipboard -------------------------------------------------------------------------------


def test_the_state_is_shown_as_the_json_that_agents_get(tab: StateTab, qtbot: QtBot) -> None:
    run = Running(tab)
    run.merge(("amala", {"text": "Größe", "list": [1, {"a": None}]}))
    QTest.mouseClick(tab.raw_button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: bool(tab.raw.text.toPlainText()))
    assert tab.raw.text.toPlainText().encode() == run.state.to_json()
    assert not tab.raw.rest.isVisible()
    find(tab, qtbot, "list")
    assert tab.raw.text.textCursor().selectedText() == "list"
    assert tab.finder.count.text() == "1 of 1"
    run.merge(("amala", {"text": "new"}))
    qtbot.waitUntil(lambda: "new" in tab.raw.text.toPlainText())


def test_a_huge_state_is_shown_in_part_and_copied_whole(tab: StateTab, qtbot: QtBot) -> None:
    run = Running(tab)
    rows: JsonObject = {"rows": [{"n": n, "text": "x" * 80} for n in range(100_000)]}
    run.merge(("amala", rows))
    qtbot.waitUntil(lambda: not tab.work.busy)
    tab.raw_button.click()
    qtbot.waitUntil(lambda: bool(tab.raw.text.toPlainText()))
    assert len(tab.raw.text.toPlainText()) <= RAW_SHOWN
    assert tab.raw.rest.isVisible()
    assert "MB" in tab.raw.rest.words.text()
    tab.copy_button.click()
    qtbot.waitUntil(lambda: len(QGuiApplication.clipboard().text()) > RAW_SHOWN)
    assert json.loads(QGuiApplication.clipboard().text())["payload"] == rows
    QGuiApplication.clipboard().clear()


def test_all_of_a_huge_state_is_saved_and_opened_from_where_it_is_cut(
    tab: StateTab, qtbot: QtBot, tmp_path: Path
) -> None:
    run = Running(tab)
    run.merge(("amala", {"rows": ["x" * 80] * 20_000}))
    qtbot.waitUntil(lambda: not tab.work.busy)
    tab.raw_button.click()
    qtbot.waitUntil(tab.raw.rest.isVisible)
    opened: list[Path] = []
    tab.open_requested.connect(opened.append)
    QTest.mouseClick(tab.raw.rest.open_button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: bool(opened))
    assert opened[0].suffix == ".json"
    assert opened[0].read_bytes() == run.state.to_json()

    said: list[str] = []
    tab.message.connect(said.append)
    QTest.mouseClick(tab.raw.rest.save_button, Qt.MouseButton.LeftButton)
    dialog = tab.taking.dialog
    assert dialog is not None
    target = tmp_path / "all.json"
    dialog.fileSelected.emit(str(target))
    dialog.reject()
    qtbot.waitUntil(target.exists)
    assert target.read_bytes() == run.state.to_json()
    qtbot.waitUntil(lambda: bool(said))
    assert said[-1] == f"All of it is saved in {target}."
    assert len(opened) == 1


def test_a_state_that_cannot_be_saved_is_said(tab: StateTab, qtbot: QtBot, tmp_path: Path) -> None:
    run = Running(tab)
    run.merge(("amala", {"a": 1}))
    said: list[str] = []
    tab.message.connect(said.append)
    tab.taking.save(tab._whole())
    dialog = tab.taking.dialog
    assert dialog is not None
    dialog.fileSelected.emit(str(tmp_path / "nowhere" / "all.json"))
    dialog.reject()
    qtbot.waitUntil(lambda: bool(said))
    assert said[-1].startswith("The file cannot be read or written: No such file")


def test_the_rest_of_a_long_value_is_offered_where_it_is_cut(tab: StateTab, qtbot: QtBot) -> None:
    run = Running(tab)
    run.merge(("amala", {"long": "x" * 50_000, "rows": list(range(50_000)), "short": "x…"}))
    qtbot.waitUntil(lambda: tab._look is not None and tab._look.state is run.state)
    tab.tree.go_to(("payload", "short"))
    assert not tab.rest.isVisible()
    tab.tree.go_to(("payload", "rows"))
    assert tab.rest.words.text() == "Shown in part"
    tab.tree.go_to(("payload", "long"))
    assert tab.rest.words.text() == "Shown in part: 50,000 characters"
    opened: list[Path] = []
    tab.open_requested.connect(opened.append)
    QTest.mouseClick(tab.rest.open_button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: bool(opened))
    assert opened[0].suffix == ".txt"
    assert opened[0].read_text() == "x" * 50_000
    QTest.mouseClick(tab.rest.copy_button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: len(QGuiApplication.clipboard().text()) == 50_000)
    QGuiApplication.clipboard().clear()


def test_a_row_that_is_chosen_with_keys_is_one_calm_row(tab: StateTab, qtbot: QtBot) -> None:
    run = Running(tab)
    run.merge(("amala", {"a": 1, "b": 2}))
    tab.tree.setFocus()
    qtbot.waitUntil(tab.tree.hasFocus)
    QTest.keyClick(tab.tree, Qt.Key.Key_Down)
    index = tab.tree.currentIndex()
    row = tab.tree.visualRect(index)
    ground = tab.tree.viewport().grab(row).toImage()
    edge = {ground.pixelColor(x, 1).name() for x in range(2, ground.width() - 2)}
    assert edge == {theme().color("accent_soft").name()}, "there is no box around a cell of it"


def test_what_hides_or_turns_text_is_seen_and_means_the_same(tab: StateTab) -> None:
    state = WorkflowState(payload={"a\u202eb": "c\u200bd"})
    raw = raw_json(state)
    assert "\u202e" not in raw.text
    assert json.loads(raw.text)["payload"] == state.payload
    run = Running(tab)
    run.merge(("amala", {"a\u202eb": "c\u200bd"}))
    assert payload_keys(tab) == ["a⟨U+202E⟩b"]


def test_a_value_its_key_and_its_path_are_copied(tab: StateTab, qtbot: QtBot) -> None:
    run = Running(tab)
    run.merge(("amala", {"a.b": [{"deep": "a text"}, 2]}))
    path = ("payload", "a.b", "[0]", "deep")
    tab.tree.go_to(path)
    QTest.keyClick(tab.tree, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    qtbot.waitUntil(lambda: QGuiApplication.clipboard().text() == "a text")
    menu = tab.tree.menu_for(tab.tree.currentIndex())
    for action in menu.actions():
        if action.text() == "Copy path":
            action.trigger()
    assert QGuiApplication.clipboard().text() == 'payload["a.b"][0].deep'
    menu.close()
    tab.tree.go_to(path[:2])
    tab.copy_value()
    qtbot.waitUntil(
        lambda: "deep" in QGuiApplication.clipboard().text() and QGuiApplication.clipboard().text()[0] == "["
    )
    assert json.loads(QGuiApplication.clipboard().text()) == [{"deep": "a text"}, 2]


# --- the model ----------------------------------------------------------------------------------------


def test_the_tree_is_built_only_where_one_looks_with_marks_too(qtbot: QtBot) -> None:
    before = WorkflowState(payload={"rows": [{"n": n} for n in range(50_000)]})
    rows = [*before.payload["rows"][1:], {"n": 1}]  # type: ignore[index]
    update = StateUpdate(payload={"rows": rows, "new": {"a": 1}})
    after = merge_updates(before, [Contribution("vera", update)], {}).state
    changes = find_changes(before, after, {"vera": update})
    model = StateModel()
    tester = QAbstractItemModelTester(model, QAbstractItemModelTester.FailureReportingMode.Fatal)
    tester.setUseFetchMore(False)
    for only in (False, True):
        model.show_state(after, changes, only_changes=only)
        model.fetchMore(QModelIndex())
        assert len(model._nodes) < 20
        new = model.index_of(("payload", "new"))
        assert new.isValid()
        model.fetchMore(new)
        assert model.index_of(("payload", "new", "a")).isValid()


def test_a_payload_of_ten_megabytes_is_looked_at_without_building_it(tab: StateTab, qtbot: QtBot) -> None:
    run = Running(tab)
    rows: JsonObject = {f"row {n}": {"n": n, "text": "x" * 80} for n in range(100_000)}
    run.merge(("amala", rows))
    qtbot.waitUntil(lambda: not tab.work.busy, timeout=60_000)
    run.merge(("vera", {"row 99999": {"n": -1}}))
    qtbot.waitUntil(lambda: not tab.work.busy, timeout=60_000)
    assert len(tab.model._nodes) < 5_000
    assert "1 change" in tab.points.words.text()
    tab.changes_button.click()
    assert payload_keys(tab) == ["row 99999"]
    tab.changes_button.click()
    find(tab, qtbot, "row 77777")
    assert tab.model.path(tab.tree.currentIndex()) == ("payload", "row 77777")
    assert tab.tree.visualRect(tab.tree.currentIndex()).intersects(tab.tree.viewport().rect())


def test_every_control_has_a_name(tab: StateTab) -> None:
    Running(tab).merge(("amala", {"a": 1}))
    for widget in (
        tab.tree,
        tab.points.slider,
        tab.points.earlier,
        tab.points.later,
        tab.points.latest,
        tab.finder.field,
        tab.finder.next,
        tab.finder.previous,
        tab.changes_button,
        tab.raw_button,
        tab.copy_button,
        tab.conflict_part.table,
        tab.value,
        tab.raw.text,
    ):
        interface = QAccessible.queryAccessibleInterface(widget)
        assert interface.text(QAccessible.Text.Name), widget


@pytest.mark.parametrize("width", [404, 684, 1400])
def test_no_control_is_cut_off(tab: StateTab, width: int) -> None:
    Running(tab).merge(("amala", {"a": 1}))
    tab.resize(width, 500)
    QApplication.processEvents()
    for button in (tab.changes_button, tab.raw_button, tab.copy_button, tab.finder.next):
        right = button.mapTo(tab, QPoint(button.width(), 0)).x()
        assert right <= tab.width(), button.accessibleName()
        assert button.width() >= button.sizeHint().width()


def test_a_theme_that_changes_reaches_the_selection(tab: StateTab) -> None:
    Running(tab).merge(("amala", {"a": 1}))
    assert tab.tree.palette().highlight().color() == theme().color("accent_soft")
