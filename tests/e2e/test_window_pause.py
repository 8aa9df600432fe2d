"""A run that waits, one agent of a run, and what a run warns of, in the window. Real agents."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QContextMenuEvent
from PySide6.QtWidgets import QApplication

from core.events import RunContinued, RunPaused, RunStatus, TurnStatus
from tests.e2e.desk import Desk, parallel, texts_in

pytestmark = pytest.mark.qt_log_ignore("This plugin does not support", extend=True)

SUCCEEDED, FAILED, STOPPED = TurnStatus.SUCCEEDED, TurnStatus.FAILED, TurnStatus.STOPPED
SHIFT = Qt.KeyboardModifier.ShiftModifier


# --- a run that waits -----------------------------------------------------------------------------------


def test_a_lost_provider_pauses_the_run_which_says_so_and_goes_on_when_told(desk: Desk) -> None:
    """Pain 22: the quota is gone and the run marches on."""
    lost = {"error": "The usage limit is reached.", "provider_wide": True, "first": 1}
    desk.project.demo("asker", fail=lost)
    desk.project.gated("worker")
    desk.project.demo("queued")
    desk.open_new(preparation_agents=[parallel("worker", "asker", "queued", max_parallel=2)])
    desk.run()
    pause = desk.run_view.pause
    desk.until(pause.isVisible, "it never paused")
    assert any(isinstance(event, RunPaused) for event in desk.events)
    assert "The usage limit is reached." in pause.why.text()
    desk.until(lambda: desk.window.status.light.text == "Paused", "the status line never said so")
    assert desk.window.windowTitle().startswith("Paused:")
    desk.until(lambda: "1 agent at work may finish" in pause.title.text(), "who is at work is not told")
    assert desk.tabs() == [
        "worker, running",
        "asker, waits for the run, which is paused",
        "queued, waits for the run, which is paused",
    ]
    desk.project.open_gate("worker")
    desk.until(lambda: desk.statuses()["worker"] is SUCCEEDED, "who is at work goes on")
    assert desk.statuses()["queued"] is TurnStatus.WAITING, "nothing new starts"
    desk.click(pause.resume_button)
    desk.until_ended()
    assert any(isinstance(event, RunContinued) for event in desk.events)
    assert desk.finished.status is RunStatus.COMPLETED
    assert not pause.isVisible()
    assert not desk.window.windowTitle().startswith("Paused:")


def test_a_paused_run_can_be_stopped(desk: Desk) -> None:
    desk.project.demo("asker", fail={"error": "Logged out.", "provider_wide": True})
    desk.open_new(preparation_agents=["asker"])
    desk.run()
    desk.until(desk.run_view.pause.isVisible, "it never paused")
    desk.click(desk.run_view.pause.stop_button)
    desk.until_ended()
    assert desk.finished.status is RunStatus.STOPPED
    assert not desk.run_view.pause.isVisible()
    desk.until(lambda: "Goes on at" in " ".join(texts_in(desk.run_view.banner)), "it cannot be resumed")


# --- one agent ------------------------------------------------------------------------------------------


def open_tab_menu(desk: Desk, label: str) -> None:
    tabs = desk.run_view.tabs
    index = tabs.open_turns.index(desk.turn(label))
    point = tabs.bar.tabRect(index).center()
    event = QContextMenuEvent(QContextMenuEvent.Reason.Mouse, point, tabs.bar.mapToGlobal(point))
    QApplication.sendEvent(tabs.bar, event)


def entries(desk: Desk) -> dict[str, bool]:
    menu = QApplication.activePopupWidget()
    assert menu is not None
    found = {action.text(): action.isEnabled() for action in menu.actions()}
    menu.close()
    return found


def test_a_failed_agent_is_tried_again_while_its_group_goes_on(desk: Desk) -> None:
    desk.project.demo("shaky", fail={"exit_code": 3, "first": 1})
    desk.project.gated("worker")
    desk.open_new(preparation_agents=[parallel("shaky", "worker", on_parallel_error="continue")])
    desk.run()
    desk.until(lambda: desk.statuses().get("shaky") is FAILED, "shaky never failed")
    turn = desk.turn("shaky")
    # The end is told before it is on the disk; only then the group takes it in.
    desk.until(lambda: desk.controller.can_retry(turn), "it could never be tried again")
    desk.open_tab("shaky")
    open_tab_menu(desk, "shaky")
    desk.choose("Try again")
    desk.until(lambda: desk.statuses()["shaky"] is SUCCEEDED, "it never worked")
    open_tab_menu(desk, "shaky")
    assert entries(desk)["Try again (it succeeded, and its result counts)"] is False
    desk.project.open_gate("worker")
    desk.until_ended()
    assert desk.finished.status is RunStatus.COMPLETED


def test_a_running_agent_is_ended_and_tried_again_by_a_key(desk: Desk) -> None:
    """Pain 10: "stopped" agents go on writing: the first is gone before the second begins."""
    desk.project.gated("worker")
    desk.open_new(preparation_agents=["worker"])
    desk.run()
    desk.until_log_says(desk.open_tab("worker"), "worker waits at its gate.")
    first = len(desk.alive())
    desk.press(Qt.Key.Key_F7)
    desk.until(lambda: desk.progress.turns[desk.turn("worker")].attempt == 2, "it never began again")
    assert len(desk.alive()) <= first
    desk.project.open_gate("worker")
    desk.until_ended()
    assert desk.finished.status is RunStatus.COMPLETED
    assert desk.statuses() == {"worker": SUCCEEDED}


def test_an_agent_is_stopped_by_a_key_and_a_refused_key_says_why(desk: Desk) -> None:
    desk.project.gated("worker")
    desk.project.demo("done")
    desk.open_new(preparation_agents=[parallel("done", "worker", on_parallel_error="continue")])
    desk.run()
    desk.until(lambda: desk.statuses().get("done") is SUCCEEDED, "done never ended")
    desk.open_tab("done")
    desk.press(Qt.Key.Key_F7)
    assert "it succeeded" in desk.window.status.said.text()
    desk.open_tab("worker")
    desk.press(Qt.Key.Key_F7, SHIFT)
    desk.until_ended()
    assert desk.statuses() == {"done": SUCCEEDED, "worker": STOPPED}


# --- warnings -------------------------------------------------------------------------------------------


def test_a_silent_agent_is_named_in_a_warning_and_its_tab_is_marked(desk: Desk) -> None:
    """Pain 14: a quiet but working agent is killed as stalled: silence is only shown."""
    desk.project.gated("worker")
    desk.open_new(preparation_agents=["worker"], agent_idle_warning=0.2)
    desk.run()
    notes = desk.run_view.notes
    desk.until(notes.isVisible, "no warning came")
    assert "worker" in notes.text.text()
    desk.until(lambda: desk.tabs() == ["worker, running, 1 warning"], f"the tab is not marked: {desk.tabs()}")
    desk.click(notes.show_button)
    assert not notes.isVisible()
    assert desk.run_view.tabs.current_turn == desk.turn("worker")
    desk.project.open_gate("worker")
    desk.until_ended()
    assert desk.finished.status is RunStatus.COMPLETED
    assert "1 warning" in desk.run_view.banner.facts.text()


def test_most_of_the_budget_used_is_a_warning_and_a_sign(desk: Desk) -> None:
    desk.project.demo("payer", cost_usd=0.45)
    desk.project.gated("worker")
    desk.open_new(preparation_agents=["payer", "worker"], budget={"max_cost_usd": 0.5})
    desk.run()
    desk.until(desk.run_view.notes.isVisible, "no warning came")
    assert "$0.45" in desk.run_view.notes.text.text()
    desk.until(lambda: desk.window.status.budget.warns, "the status line does not warn")
    assert desk.window.status.cost.text() == "$0.45 of $0.50"
    desk.project.open_gate("worker")
    desk.until_ended()
