"""The window from the first drop to the end of a run, through real events to real widgets and real agents."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from core.events import (
    AttemptFinished,
    AttemptStarted,
    ConditionChecked,
    Event,
    GroupStarted,
    IterationStarted,
    Merged,
    PhaseStarted,
    RunFinished,
    RunStarted,
    RunStatus,
    TurnFinished,
    TurnStarted,
    TurnStatus,
)
from core.workflow_file import load_workflow
from tests.e2e.desk import Desk, parallel, payload_rows

pytestmark = pytest.mark.qt_log_ignore("This plugin does not support", extend=True)

WAITING, RUNNING = TurnStatus.WAITING, TurnStatus.RUNNING
SUCCEEDED, FAILED, STOPPED = TurnStatus.SUCCEEDED, TurnStatus.FAILED, TurnStatus.STOPPED


# --- from an empty workflow to a finished run ---------------------------------------------------------


def test_a_workflow_is_built_by_dropping_run_watched_saved_and_read_again(desk: Desk, tmp_path: Path) -> None:
    for name in ("amala", "linter", "scribe"):
        desk.project.demo(name, writes={name: f"{name} was here"})
    desk.project.demo("vera", "auditor", writes={"score": 95}, is_complete=True)
    desk.open_new(name="built")

    desk.drag_from_pool("scribe", desk.phase_row("preparation"))
    desk.drag_from_pool("amala", desk.phase_row("loop"))
    desk.drag_from_pool("linter", desk.row("amala", 0.95))
    desk.drag_from_pool("vera", desk.row("linter", 0.95))
    assert desk.shape("preparation") == ["seq(scribe)"]
    assert desk.shape("loop") == ["seq(amala linter vera)"]
    desk.context_menu("amala")
    desk.choose("Run in parallel")
    assert desk.shape("loop") == ["par(amala linter vera)"]
    assert desk.window.isWindowModified()

    finished = desk.run_to_end()
    assert finished.status is RunStatus.COMPLETED
    assert set(desk.statuses().values()) == {SUCCEEDED}
    assert desk.badges() == dict.fromkeys(("scribe", "amala", "linter", "vera"), SUCCEEDED)
    assert desk.tabs() == [f"{turn.title}, succeeded" for turn in desk.progress.turns.values()]
    for name in ("scribe", "amala", "linter", "vera"):
        desk.until_log_says(desk.open_tab(name), f"{name} is at work.")
    assert desk.window.status.light.text == "Completed"
    assert desk.window.status.place.text() == "1 iteration"
    assert "tokens" in desk.window.status.tokens.text()
    assert desk.run_view.banner.title.text() == finished.message
    assert "reached its end condition in the first iteration" in finished.message

    path = tmp_path / "saved" / "built.json"
    path.parent.mkdir()
    desk.save_as(path)
    assert not desk.window.isWindowModified()
    built = desk.document.workflow
    desk.window.files.new()
    assert desk.shape("loop") == []
    assert desk.window.files.load(path)
    assert desk.document.workflow == built
    assert load_workflow(path).workflow == built


def test_the_overview_has_every_agents_lines_under_its_name(desk: Desk) -> None:
    desk.project.demo("amala")
    desk.project.demo("vera", "auditor", is_complete=True)
    desk.open_new(loop_agents=["amala", "vera"])
    desk.run_to_end()
    tabs = desk.run_view.tabs
    desk.click_tab(tabs.fixed, 0)
    assert tabs.page == "overview"
    desk.until_log_says(tabs.overview, "amala is at work.")
    desk.until_log_says(tabs.overview, "vera is at work.")
    log = (Path(desk.progress.folder) / "overview.log").read_text("utf-8")
    for name in ("amala", "vera"):
        line = next(line for line in log.splitlines() if f"{name} is at work." in line)
        assert f"\x1f{name}\t" in line


def test_strip_slots_tabs_and_status_line_tell_what_is_at_work(desk: Desk) -> None:
    first, second = desk.project.gated("first"), desk.project.gated("second")
    desk.project.demo("vera", "auditor", is_complete=True)
    desk.open_new(loop_agents=[parallel(first, second), "vera"], max_loops=3)
    desk.run()
    desk.until(lambda: len(desk.run_view.strip.pills) == 2, "the strip never showed both")
    assert desk.badges() == {"first": RUNNING, "second": RUNNING, "vera": WAITING}
    desk.until(lambda: desk.window.status.running.text() == "2 running", "it never said that two run")
    assert desk.window.status.light.text == "Running"
    assert "1" in desk.window.status.place.text()
    assert desk.window.top_bar.stop_button.isEnabled()
    assert not desk.window.top_bar.run_button.isEnabled()
    desk.until_log_says(desk.open_tab("second"), "second waits at its gate.")
    pill = desk.run_view.strip.pills[desk.turn("first")]
    desk.click(pill)
    assert desk.run_view.tabs.current_turn == desk.turn("first")

    desk.project.open_gate("first")
    desk.until(lambda: desk.badges()["first"] is SUCCEEDED, "first never succeeded")
    assert desk.badges()["second"] is RUNNING
    assert list(desk.run_view.strip.pills) == [desk.turn("second")]
    # The parallel group waits for all before the next one begins.
    assert "vera" not in {turn.label for turn in desk.progress.turns.values()}
    desk.project.open_gate("second")
    desk.until_ended()
    assert desk.finished.status is RunStatus.COMPLETED
    assert not desk.run_view.strip.isVisible()
    assert desk.window.top_bar.run_button.isEnabled()
    assert not desk.window.top_bar.stop_button.isEnabled()


def test_the_workflow_cannot_be_edited_while_it_runs_and_can_afterwards(desk: Desk) -> None:
    desk.project.gated("slow")
    desk.open_new(preparation_agents=["slow"])
    desk.window.workflow_view.tree.select_nodes([desk.node("slow")])
    desk.run()
    desk.window.workflow_view.setFocus()
    desk.press(Qt.Key.Key_Delete)
    assert desk.shape("preparation") == ["seq(slow)"]
    desk.project.open_gate("slow")
    desk.until_ended()
    desk.window.workflow_view.setFocus()
    desk.press(Qt.Key.Key_Delete)
    assert desk.shape("preparation") == []
    desk.press(Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    assert desk.shape("preparation") == ["seq(slow)"]


# --- the order of what happens ------------------------------------------------------------------------


def of_turn(events: list[Event], turn: str) -> list[str]:
    kinds = (TurnStarted, AttemptStarted, AttemptFinished, TurnFinished)
    return [event.type for event in events if isinstance(event, kinds) and event.turn == turn]


def test_events_come_in_order_and_the_journal_has_the_same(desk: Desk) -> None:
    desk.project.demo("scribe")
    desk.project.demo("amala")
    desk.project.demo("linter")
    desk.project.demo("vera", "auditor", is_complete=True)
    desk.open_new(preparation_agents=["scribe"], loop_agents=[parallel("amala", "linter"), "vera"])
    desk.run_to_end()
    events = desk.events
    assert isinstance(events[0], RunStarted)
    assert isinstance(events[-1], RunFinished)
    outline = [
        event.type
        for event in events
        if isinstance(event, PhaseStarted | IterationStarted | GroupStarted | Merged | ConditionChecked)
    ]
    assert outline == [
        *("phase_started", "group_started", "merged"),
        *("phase_started", "iteration_started"),
        *("group_started", "merged", "condition_checked"),
        *("group_started", "merged", "condition_checked"),
    ]
    for turn in desk.progress.turns:
        assert of_turn(events, turn) == [
            *("turn_started", "attempt_started", "attempt_finished", "turn_finished")
        ]
    merged = [event for event in events if isinstance(event, Merged)]
    assert [event.writers for event in merged] == [("scribe",), ("amala", "linter"), ("vera",)]
    group = events.index(merged[1])
    done = {event.turn for event in events[:group] if isinstance(event, TurnFinished)}
    assert {desk.turn("amala"), desk.turn("linter")} <= done
    assert desk.journal() == [event for event in events if event.journaled]


# --- state --------------------------------------------------------------------------------------------


def test_the_state_tab_shows_the_final_payload_and_every_conflict(desk: Desk) -> None:
    desk.project.demo("amala", writes={"plan": "A", "amala.done": True})
    desk.project.demo("linter", writes={"plan": "B", "findings": [1, 2, 3]})
    desk.open_new(preparation_agents=[parallel("amala", "linter")])
    desk.run_to_end()
    tabs = desk.run_view.tabs
    desk.click_tab(tabs.fixed, 1)
    assert tabs.page == "state"
    assert payload_rows(desk) == {"plan": "B", "amala": "{ 1 key }", "findings": "[ 3 items ]"}
    table = tabs.state_tab.conflicts
    assert not table.isVisible()
    QTest.mouseClick(tabs.state_tab.conflict_part.button, Qt.MouseButton.LeftButton)
    assert table.isVisible()
    model = table.model()
    assert model.rowCount() == 1
    row = [str(model.index(0, column).data()) for column in range(6)]
    assert row == ["payload.plan", "amala: A", "linter: B", "B (linter)", "last", row[5]]
    assert "1 conflict" in desk.run_view.banner.facts.text()
    state = json.loads((Path(desk.progress.folder) / "state.json").read_text("utf-8"))
    assert state["payload"] == {"plan": "B", "amala": {"done": True}, "findings": [1, 2, 3]}


# --- files of the older format ------------------------------------------------------------------------

OLD = """{
  // The way it was written before there were groups.
  "preparation_agent": "scribe",
  "loop_agents": ["amala", "vera"],
  "finalization_agent": "closer",
  "max_loops": 2,
}
"""


def test_a_file_of_the_older_format_opens_runs_and_is_saved_in_that_format(desk: Desk) -> None:
    for name in ("scribe", "amala", "closer"):
        desk.project.demo(name)
    desk.project.demo("vera", "auditor", is_complete=True)
    path = desk.project.folder / "old.jsonc"
    path.write_text(OLD, encoding="utf-8")
    desk.open(path)
    finished = desk.run_to_end()
    assert finished.status is RunStatus.COMPLETED
    assert [turn.label for turn in desk.progress.turns.values()] == ["scribe", "amala", "vera", "closer"]

    desk.window.workflow_view.tree.select_nodes([desk.node("amala")])
    desk.window.workflow_view.setFocus()
    desk.press(Qt.Key.Key_Down, Qt.KeyboardModifier.AltModifier)
    target = desk.project.folder / "older.json"
    desk.save_as(target)
    saved = json.loads(target.read_text("utf-8"))
    assert saved["loop_agents"] == ["vera", "amala"]
    assert saved["preparation_agent"] == "scribe"
    assert saved["finalization_agent"] == "closer"

    desk.context_menu("amala")
    desk.choose("Run in parallel")
    desk.press(Qt.Key.Key_S, Qt.KeyboardModifier.ControlModifier)
    saved = json.loads(target.read_text("utf-8"))
    assert saved["loop_agents"] == [{"agents": ["vera", "amala"], "mode": "parallel"}]
