"""What a turn was sent, what it answered, and the row of tabs above."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QGuiApplication, QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from app.run_view.log_view import LogView
from app.run_view.run_view import RunView
from app.run_view.tabs import COST, OVERVIEW, STATE
from app.run_view.turn_bar import Part
from core.recorded_run import read_run
from core.run_files import UPDATE_NAME
from tests.core.run_support import Workshop

pytestmark = pytest.mark.qt_log_ignore("This plugin does not support")


@pytest.fixture
def view(qtbot: QtBot, tmp_path: Path) -> RunView:
    """A run that is over: `vera` needed a correction, `linter` failed."""
    shop = Workshop(tmp_path)
    shop.agent("amala", writes={"text": "Größe"})
    shop.agent("vera", writes={"score": 86}, bad_update={"kind": "missing", "first": 1})
    shop.agent("linter", fail={"exit_code": 1, "error": "No."})
    run = read_run(shop.run({"preparation_agents": ["amala", "vera", "linter"]}).folder)
    view = RunView()
    qtbot.addWidget(view)
    view.resize(684, 640)
    view.set_recorded(True)
    view.begin(run.progress, run)
    view.show()
    return view


def turn_of(view: RunView, label: str) -> str:
    return next(turn.id for turn in view._progress.turns.values() if turn.label == label)


def folder_of(view: RunView, label: str) -> Path:
    turn = view._progress.turns[turn_of(view, label)]
    return Path(view._progress.folder) / "turns" / turn.folder


def shown_log(view: RunView) -> LogView:
    page = view.tabs.pages.currentWidget()
    assert isinstance(page, LogView)
    return page


def turn_to(view: RunView, label: str, part: Part) -> LogView:
    view.tabs.show_turn(turn_of(view, label))
    QTest.mouseClick(view.tabs.turn_bar.switch.button(part), Qt.MouseButton.LeftButton)
    return shown_log(view)


def test_a_turn_shows_its_output_first(view: RunView) -> None:
    view.tabs.show_turn(turn_of(view, "vera"))
    assert view.tabs.turn_bar.isVisible()
    assert view.tabs.part is Part.OUTPUT
    assert view.tabs.turn_bar.facts.text == ""
    view.tabs.show_overview()
    assert not view.tabs.turn_bar.isVisible()


def test_the_prompt_is_shown_byte_for_byte_with_its_size(view: RunView, qtbot: QtBot) -> None:
    log = turn_to(view, "vera", Part.PROMPT)
    sent = (folder_of(view, "vera") / "prompt.md").read_bytes()
    qtbot.waitUntil(lambda: log.line_count > 1)
    log.select_all()
    assert log.selected_text().rstrip("\n") == sent.decode().rstrip("\n")
    facts = view.tabs.turn_bar.facts
    assert facts.text.startswith(f"{len(sent):,} bytes · roughly ")
    assert not facts.warns
    assert log.visible_text()[0] == "You are vera.", "a prompt is read from its beginning"
    assert "Größe" in log.selected_text()


def test_a_prompt_that_is_nearly_too_large_warns(view: RunView) -> None:
    size = (folder_of(view, "vera") / "prompt.md").stat().st_size
    for limit, warns in ((10 * size, False), (size + 10, True), (size - 10, True)):
        view._progress.max_prompt_bytes = limit
        turn_to(view, "vera", Part.PROMPT)
        facts = view.tabs.turn_bar.facts
        assert facts.warns is warns
        assert f"{100 * size // limit} % of max_prompt_bytes ({limit:,})" in facts.text


def test_the_limit_of_a_run_that_is_over_is_that_of_its_workflow(qtbot: QtBot, tmp_path: Path) -> None:
    shop = Workshop(tmp_path)
    shop.agent("amala", writes={"a": 1})
    run = read_run(shop.run({"preparation_agents": ["amala"], "max_prompt_bytes": 5000}).folder)
    view = RunView()
    qtbot.addWidget(view)
    view.set_recorded(True)
    view.begin(run.progress, run)
    view.show()
    turn_to(view, "amala", Part.PROMPT)
    assert "of max_prompt_bytes (5,000)" in view.tabs.turn_bar.facts.text


def test_prompts_of_earlier_starts_are_chosen_by_their_attempts(view: RunView, qtbot: QtBot) -> None:
    folder = folder_of(view, "vera")
    # As a turn leaves it that began again, with attempt 3, and was sent something else.
    (folder / "prompt-2.md").write_text("What it was sent first.\n")
    log = turn_to(view, "vera", Part.PROMPT)
    menu = view.tabs.turn_bar.menu
    texts = [action.text() for action in menu.actions()]
    assert texts == ["Prompt of attempts 1 to 2", "Correction 1", "Prompt from attempt 3 on"]
    assert view.tabs.turn_bar.which.text() == "Prompt from attempt 3 on", "the latest is shown first"
    menu.actions()[0].trigger()
    qtbot.waitUntil(lambda: log.visible_text()[:1] == ["What it was sent first."])
    assert view.tabs.turn_bar.which.text() == "Prompt of attempts 1 to 2"


def test_corrections_are_chosen_beside_the_prompt(view: RunView, qtbot: QtBot) -> None:
    log = turn_to(view, "vera", Part.PROMPT)
    bar = view.tabs.turn_bar
    assert bar.which.isVisible()
    actions = bar.menu.actions()
    assert [action.text() for action in actions] == ["Prompt", "Correction 1"]
    assert actions[0].isChecked()
    actions[1].trigger()
    qtbot.waitUntil(lambda: any("could not use your answer" in line for line in log.visible_text()))
    assert bar.which.text() == "Correction 1"
    turn_to(view, "amala", Part.PROMPT)
    assert not bar.which.isVisible(), "there is nothing to choose"


def test_the_answer_is_the_update_and_where_there_is_none_that_is_said(view: RunView, qtbot: QtBot) -> None:
    log = turn_to(view, "vera", Part.ANSWER)
    qtbot.waitUntil(lambda: log.line_count > 1)
    written = (folder_of(view, "vera") / UPDATE_NAME).read_text("utf-8")
    assert [line.rstrip() for line in log.visible_text()] == written.rstrip("\n").split("\n")
    failed = turn_to(view, "linter", Part.ANSWER)
    assert failed.empty_text.startswith("It gave no state update.")
    assert not view.tabs.turn_bar.copy_button.isVisible()


def test_each_turn_keeps_what_was_chosen_for_it(view: RunView) -> None:
    turn_to(view, "vera", Part.PROMPT)
    view.tabs.show_turn(turn_of(view, "amala"))
    assert view.tabs.part is Part.OUTPUT
    view.tabs.show_turn(turn_of(view, "vera"))
    assert view.tabs.part is Part.PROMPT
    assert view.tabs.turn_bar.switch.current == Part.PROMPT


def test_arrow_keys_go_from_part_to_part(view: RunView) -> None:
    view.tabs.show_turn(turn_of(view, "vera"))
    view.activateWindow()
    switch = view.tabs.turn_bar.switch
    switch.button(0).setFocus()
    QTest.keyClick(switch.button(0), Qt.Key.Key_Right)
    assert view.tabs.part is Part.PROMPT


def test_all_of_what_is_shown_is_copied(view: RunView, qtbot: QtBot) -> None:
    log = turn_to(view, "vera", Part.PROMPT)
    qtbot.waitUntil(lambda: log.line_count > 1)
    QTest.mouseClick(view.tabs.turn_bar.copy_button, Qt.MouseButton.LeftButton)
    sent = (folder_of(view, "vera") / "prompt.md").read_text("utf-8")
    qtbot.waitUntil(lambda: QGuiApplication.clipboard().text().strip() == sent.strip())


def test_finding_works_in_the_prompt(view: RunView, qtbot: QtBot) -> None:
    log = turn_to(view, "vera", Part.PROMPT)
    qtbot.waitUntil(lambda: log.line_count > 1)
    view.tabs.find_text()
    QTest.keyClicks(QApplication.focusWidget(), "workflow_state")
    qtbot.waitUntil(lambda: " of " in log._bar.count_text)


# --- the row of tabs ----------------------------------------------------------------------------------


def test_overview_state_and_cost_are_always_there(view: RunView) -> None:
    tabs = view.tabs
    assert [tabs.fixed.tabText(index) for index in range(3)] == ["Overview", "State", "Cost"]
    for index, page in enumerate((OVERVIEW, STATE, COST)):
        QTest.mouseClick(tabs.fixed, Qt.MouseButton.LeftButton, pos=tabs.fixed.tabRect(index).center())
        assert tabs.page == page


def turn_wheel(bar: QWidget, by: int) -> None:
    place = QPointF(10, 10)
    event = QWheelEvent(
        place,
        bar.mapToGlobal(place),
        QPoint(),
        QPoint(0, by),
        Qt.MouseButton.NoButton,
        Qt.KeyboardModifier.NoModifier,
        Qt.ScrollPhase.NoScrollPhase,
        False,
    )
    QApplication.sendEvent(bar, event)


def test_a_row_that_is_too_narrow_scrolls_and_always_shows_the_current_tab(
    view: RunView, qtbot: QtBot
) -> None:
    tabs = view.tabs
    row = tabs._row
    scroller = row.scroller
    assert not scroller.earlier.isVisible(), "there is room for all"
    view.resize(380, 640)
    qtbot.waitUntil(lambda: tabs.bar.width() > scroller.width())
    assert not scroller.later.isVisible(), "so little room is for tabs alone"
    last = turn_of(view, "linter")
    tabs.show_turn(last)
    box = tabs.bar.tabRect(tabs.bar.currentIndex())
    left = tabs.bar.mapTo(scroller, box.topLeft()).x()
    right = tabs.bar.mapTo(scroller, box.bottomRight()).x()
    assert left >= 0
    assert right <= scroller.width()
    assert scroller.offset > 0
    turn_wheel(tabs.bar, 1_200)
    assert scroller.offset == 0
    assert tabs.page == last, "scrolling chooses nothing"


def test_the_wheel_scrolls_the_row_and_chooses_nothing(view: RunView, qtbot: QtBot) -> None:
    tabs = view.tabs
    scroller = tabs._row.scroller
    view.resize(380, 640)
    qtbot.waitUntil(lambda: tabs.bar.width() > scroller.width())
    before = tabs.page
    turn_wheel(tabs.bar, -120)
    assert scroller.offset > 0
    assert tabs.page == before
