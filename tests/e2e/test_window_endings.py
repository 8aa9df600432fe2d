"""How runs end, well and badly, and what the window does about it: real events, real agents."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import Qt, QTimer
from PySide6.QtWidgets import QApplication

from core.engine import Answer
from core.events import (
    AttemptKind,
    AttemptStarted,
    RunStatus,
    StopKind,
    StopRequested,
    TurnStarted,
    TurnStatus,
)
from core.workflow_file import load_workflow
from tests.e2e.desk import Desk, parallel, texts_in

pytestmark = pytest.mark.qt_log_ignore("This plugin does not support", extend=True)

WAITING, RUNNING = TurnStatus.WAITING, TurnStatus.RUNNING
SUCCEEDED, FAILED, STOPPED = TurnStatus.SUCCEEDED, TurnStatus.FAILED, TurnStatus.STOPPED


# --- stopping -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["plain", "setsid", "double_fork"])
def test_stop_now_ends_agents_that_hang_and_everything_they_started(desk: Desk, kind: str) -> None:
    desk.project.demo("mother", hang=True, ignore_sigterm=True, leave_child={"kind": kind})
    desk.project.demo("hanger", hang_silent=True)
    desk.open_new(loop_agents=[parallel("mother", "hanger")])
    desk.run()
    child = desk.turn_folder("mother") / "demo_child.pid"
    desk.until(child.exists, "the child never ran")
    desk.until(lambda: desk.progress.turns[desk.turn("mother")].steps, "the agent never printed")
    assert len(desk.alive()) >= 4, "supervisor, two agents, one child"

    desk.stop("Stop now")
    desk.until_ended()
    assert desk.alive() == []
    assert desk.finished.status is RunStatus.STOPPED
    assert desk.finished.termination_reason == "stopped"
    assert set(desk.statuses().values()) == {STOPPED}
    assert desk.badges() == {"mother": STOPPED, "hanger": STOPPED}
    assert all(name.endswith(", stopped") for name in desk.tabs())
    assert "stopped" in desk.run_view.banner.title.text()
    assert desk.window.status.light.text == "Stopped"


def test_stop_after_the_running_agents_lets_them_finish_and_starts_no_more(desk: Desk) -> None:
    desk.project.gated("first")
    desk.project.demo("second")
    desk.open_new(loop_agents=["first", "second"])
    desk.run()
    desk.until_log_says(desk.open_tab("first"), "first waits at its gate.")
    desk.stop("Stop after the running agents")
    desk.until(
        lambda: desk.window.status.light.text == "Stopping after the running agents", "it never said so"
    )
    assert not desk.window.actions_of_window.stop_after.isEnabled()
    assert desk.controller.running
    desk.project.open_gate("first")
    desk.until_ended()
    assert desk.finished.status is RunStatus.STOPPED
    statuses = {turn.label: turn.status for turn in desk.progress.turns.values()}
    assert statuses == {"first": SUCCEEDED, "second": STOPPED}
    assert not any(
        event.turn == desk.turn("second") for event in desk.events if isinstance(event, TurnStarted)
    )
    assert desk.progress.state is not None
    assert desk.progress.state.payload == {"first": "through"}
    assert desk.alive() == []


def test_stop_now_still_works_after_stop_after_the_running_agents(desk: Desk) -> None:
    desk.project.demo("hanger", hang=True)
    desk.open_new(loop_agents=["hanger"])
    desk.run()
    desk.until(lambda: desk.progress.turns[desk.turn("hanger")].steps, "the agent never printed")
    desk.stop("Stop after the running agents")
    desk.until(lambda: any(isinstance(event, StopRequested) for event in desk.events), "it was not heard")
    desk.stop("Stop now")
    desk.until_ended()
    wishes = [event.kind for event in desk.events if isinstance(event, StopRequested)]
    assert wishes == [StopKind.AFTER_RUNNING, StopKind.NOW]
    assert desk.alive() == []


def test_one_agent_is_stopped_alone_and_the_others_go_on(desk: Desk) -> None:
    desk.project.demo("hanger", hang=True)
    desk.project.gated("worker")
    desk.open_new(preparation_agents=[parallel("hanger", "worker", on_parallel_error="continue")])
    desk.run()
    desk.until(lambda: len(desk.run_view.strip.pills) == 2, "the strip never showed both")
    pill = desk.run_view.strip.pills[desk.turn("hanger")]
    pill.setFocus()
    desk.press(Qt.Key.Key_Delete)
    desk.until(lambda: desk.badges()["hanger"] is STOPPED, "it was never stopped")
    assert desk.badges()["worker"] is RUNNING
    desk.project.open_gate("worker")
    desk.until_ended()
    assert desk.finished.status is RunStatus.COMPLETED
    assert desk.badges() == {"hanger": STOPPED, "worker": SUCCEEDED}


# --- what goes wrong ----------------------------------------------------------------------------------


def test_an_agent_that_fails_is_named_shown_and_explained(desk: Desk) -> None:
    desk.project.demo(
        "broken", fail={"exit_code": 3, "error": "The key was refused."}, stderr=["at line 7 of the tool"]
    )
    desk.project.demo("never")
    desk.open_new(loop_agents=["broken", "never"])
    desk.run_to_end()
    banner = desk.run_view.banner
    assert desk.finished.status is RunStatus.FAILED
    assert desk.finished.termination_reason == "agent_error:broken"
    assert "broken" in banner.title.text()
    assert desk.badges()["broken"] is FAILED
    assert desk.tabs()[0].endswith(", failed")
    assert desk.window.status.light.text == "Failed"
    assert not banner.details.isVisible()
    desk.click(banner.details_button)
    assert banner.details.isVisible()
    details = banner.details.toPlainText()
    assert "The key was refused." in details
    assert "agent_error:broken" in details
    assert "at line 7 of the tool" in details
    desk.click_tab(desk.run_view.tabs.fixed, 0)
    desk.click(banner.failed_button)
    assert desk.run_view.tabs.current_turn == desk.turn("broken")
    view = desk.run_view.tabs.pages.currentWidget()
    desk.until_log_says(view, "The key was refused.")
    desk.until_log_says(view, "at line 7 of the tool")


def test_a_failure_in_a_parallel_group_ends_the_others_at_once(desk: Desk) -> None:
    desk.project.demo("broken", fail=3)
    desk.project.demo("hanger", hang=True, ignore_sigterm=True)
    desk.open_new(loop_agents=[parallel("broken", "hanger")])
    desk.run_to_end()
    assert desk.finished.termination_reason == "agent_error:broken"
    assert desk.badges() == {"broken": FAILED, "hanger": STOPPED}
    assert desk.alive() == []


@pytest.mark.parametrize(
    ("answer", "ends"),
    [
        (Answer.RETRY, RunStatus.COMPLETED),
        (Answer.CONTINUE, RunStatus.COMPLETED),
        (Answer.ABORT, RunStatus.STOPPED),
    ],
)
def test_a_missing_state_is_asked_about_in_place(desk: Desk, answer: Answer, ends: RunStatus) -> None:
    # The first answer and both corrections are bad; another try is good.
    desk.project.demo("mute", bad_update={"kind": "missing", "first": 3}, writes={"said": "at last"})
    desk.project.demo("next")
    desk.open_new(preparation_agents=["mute", "next"], on_missing_state="ask")
    desk.run()
    bar = desk.run_view.questions
    desk.until(lambda: bar.rows, "nothing was asked")
    turn = desk.turn("mute")
    row = bar.rows[turn]
    assert "mute did not answer with a state update; 2 corrections were tried." in texts_in(row)
    assert desk.window.status.light.text == "Needs your answer"
    attempts = [event for event in desk.events if isinstance(event, AttemptStarted)]
    kinds = [AttemptKind.FIRST, AttemptKind.CORRECTION, AttemptKind.CORRECTION]
    assert [event.kind for event in attempts] == kinds
    assert QApplication.activeModalWidget() is None

    desk.until(lambda: row.takes_answers, "it never took an answer")
    desk.click(row.buttons[answer])
    desk.until_ended()
    assert not bar.isVisible()
    assert desk.finished.status is ends
    statuses = {turn.label: turn.status for turn in desk.progress.turns.values()}
    if answer is Answer.ABORT:
        assert desk.finished.termination_reason == "missing_state:mute"
        assert statuses["mute"] is FAILED
    else:
        assert statuses == {"mute": SUCCEEDED, "next": SUCCEEDED}
        assert desk.progress.state is not None
        assert ("said" in desk.progress.state.payload) == (answer is Answer.RETRY)


def test_an_unknown_agent_keeps_the_run_from_starting_and_its_place_is_named(desk: Desk) -> None:
    desk.project.demo("amala")
    desk.open_new(loop_agents=["amala", parallel("amala", "amale")])
    desk.click(desk.window.top_bar.run_button)
    desk.until(lambda: desk.window.notices.bar("run") is not None, "nothing was said")
    bar = desk.window.notices.bar("run")
    assert bar is not None
    said = "\n".join(texts_in(bar))
    assert "amale" in said
    assert "loop_agents[1].agents[1]" in said
    assert "amala?" in said
    assert not desk.controller.running
    assert desk.events == []
    assert not (desk.project.folder / ".openloop").exists()
    show = next(
        button
        for button in bar.findChildren(type(desk.run_view.banner.again_button))
        if button.text() == "Show"
    )
    desk.click(show)
    assert desk.window.workflow_view.selected_nodes() == [desk.node("amale")]


def test_a_broken_order_to_an_agent_is_told_before_anything_is_started(desk: Desk) -> None:
    desk.project.agent("odd", demo={"hangs": True})
    desk.open_new(loop_agents=["odd"])
    desk.click(desk.window.top_bar.run_button)
    desk.until(lambda: desk.window.notices.bar("run") is not None, "nothing was said")
    bar = desk.window.notices.bar("run")
    assert bar is not None
    assert "The demo agent knows no key hangs." in "\n".join(texts_in(bar))
    assert not desk.controller.running
    assert desk.alive() == []


# --- floods -------------------------------------------------------------------------------------------

FLOOD = 4_000_000
EIGHT = tuple(f"flooder{number}" for number in range(1, 9))


def test_eight_agents_that_print_as_fast_as_they_can_neither_stop_the_window_nor_lose_a_byte(
    desk: Desk,
) -> None:
    for name in EIGHT:
        desk.project.demo(name, flood=FLOOD, hang=True)
    desk.open_new(loop_agents=[parallel(*EIGHT)], max_parallel_agents=8)
    ticks = 0

    def tick() -> None:
        nonlocal ticks
        ticks += 1

    timer = QTimer(desk.window)
    timer.setInterval(10)
    timer.timeout.connect(tick)
    desk.run()
    timer.start()

    transcripts = [desk.turn_folder(name) / "transcript.log" for name in EIGHT]

    # In the middle of it, a user goes through the tabs and reads.
    for name in EIGHT:
        desk.until_log_says(desk.open_tab(name), "compiling module")
    desk.until(lambda: all(path.stat().st_size >= FLOOD for path in transcripts), "not everything was read")
    desk.until(lambda: ticks >= 20, "the window's loop does not go on")
    timer.stop()
    desk.stop("Stop now")
    desk.until_ended()
    assert desk.alive() == []
    for name in EIGHT:
        folder = desk.turn_folder(name)
        lines = (folder / "stdout.log").read_bytes().splitlines()
        noise = [line for line in lines if line.startswith(b"[")]
        assert sum(len(line) + 1 for line in noise) == FLOOD
        shown = (folder / "transcript.log").read_bytes()
        assert shown.count(b" compiling module ") == sum(b" compiling module " in line for line in noise)


# --- one run after another, and the end ---------------------------------------------------------------


def test_a_run_is_run_again_from_its_banner(desk: Desk) -> None:
    desk.project.demo("amala")
    desk.open_new(preparation_agents=["amala"])
    desk.run_to_end()
    first = Path(desk.progress.folder)
    desk.click(desk.run_view.banner.again_button)
    desk.until(lambda: Path(desk.progress.folder) != first, "no other run began")
    desk.until_ended()
    second = Path(desk.progress.folder)
    assert len(desk.tabs()) == 1
    assert desk.badges() == {"amala": SUCCEEDED}
    for folder in (first, second):
        assert (folder / "state.json").exists()
    desk.until_log_says(desk.open_tab("amala"), "amala is at work.")


def test_an_unsaved_workflow_runs_as_it_is_in_the_window(desk: Desk) -> None:
    desk.project.demo("amala")
    desk.project.demo("linter")
    path = desk.open_new(preparation_agents=["amala"])
    before = path.read_bytes()
    desk.drag_from_pool("linter", desk.row("amala", 0.95))
    desk.run_to_end()
    assert [turn.label for turn in desk.progress.turns.values()] == ["amala", "linter"]
    assert path.read_bytes() == before


@pytest.mark.parametrize("words", ["Stop now and quit", "Stop after the running agents and quit"])
def test_closing_while_a_run_goes_on_asks_and_leaves_nothing_alive(desk: Desk, words: str) -> None:
    desk.project.gated("slow")
    desk.project.demo("next")
    desk.open_new(preparation_agents=["slow", "next"])
    desk.run()
    desk.until_log_says(desk.open_tab("slow"), "slow waits at its gate.")
    desk.window.close()
    assert "A run is going on." in desk.question().text()
    desk.answer("Cancel")
    assert desk.controller.running
    assert desk.window.isVisible()

    desk.window.close()
    desk.answer(words)
    if "after" in words:
        assert desk.window.isVisible()
        desk.project.open_gate("slow")
    desk.until(lambda: desk.was_closed, "the window never closed")
    assert desk.was_closed == [[]], "something was alive when the window went"
    assert not desk.window.isVisible()
    assert desk.finished.status is RunStatus.STOPPED


def test_the_window_asks_before_unsaved_changes_are_lost(desk: Desk) -> None:
    desk.project.demo("amala")
    desk.project.demo("linter")
    path = desk.open_new(loop_agents=["amala"])
    before = path.read_bytes()
    desk.drag_from_pool("linter", desk.row("amala", 0.95))
    desk.window.close()
    assert "Save the changes to work.json?" in desk.question().text()
    desk.answer("Cancel")
    assert desk.window.isVisible()
    assert path.read_bytes() == before
    desk.window.close()
    desk.answer("Save")
    desk.until(lambda: desk.was_closed, "the window never closed")
    assert load_workflow(path).workflow == desk.document.workflow
    assert "linter" in path.read_text("utf-8")


def test_changes_that_are_not_wanted_go_with_the_window(desk: Desk) -> None:
    desk.project.demo("amala")
    path = desk.open_new(loop_agents=["amala"])
    before = path.read_bytes()
    desk.window.workflow_view.tree.select_nodes([desk.node("amala")])
    desk.window.workflow_view.setFocus()
    desk.press(Qt.Key.Key_D, Qt.KeyboardModifier.ControlModifier)
    assert desk.window.isWindowModified()
    desk.window.close()
    desk.answer("Don’t save")
    desk.until(lambda: desk.was_closed, "the window never closed")
    assert path.read_bytes() == before
