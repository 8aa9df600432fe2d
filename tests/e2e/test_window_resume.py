"""Runs that go on in the window: after their end, from the list of runs, and after a pause. Real agents."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QContextMenuEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from app.runs.resume_form import ResumeForm
from app.runs.wishes import Limit
from app.side import Side
from core.events import RunContinued, RunPaused, RunStarted, RunStatus, TurnStarted, TurnStatus
from tests.e2e.desk import Desk, parallel, payload_rows, texts_in

pytestmark = pytest.mark.qt_log_ignore("This plugin does not support", extend=True)

SUCCEEDED, FAILED, STOPPED = TurnStatus.SUCCEEDED, TurnStatus.FAILED, TurnStatus.STOPPED
CTRL, SHIFT = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier


def until_offered(desk: Desk) -> ResumeForm:
    """The form in the banner, as soon as the journal of the run was read back."""
    form = desk.window.run_view.findChild(ResumeForm)
    assert isinstance(form, ResumeForm)
    desk.until(form.isVisible, "the banner never offered to resume")
    return form


def started(desk: Desk, label: str) -> int:
    """How often an agent was started, over all lives of the run."""
    return sum(
        isinstance(event, TurnStarted) and desk.progress.turns[event.turn].label == label
        for event in desk.journal()
    )


def type_into(desk: Desk, form: ResumeForm, limit: Limit, text: str) -> None:
    field = form.rows[limit].control
    field.setFocus()
    QTest.keyClick(field, Qt.Key.Key_A, CTRL)
    QTest.keyClicks(field, text)


def stop_in_the_middle(desk: Desk) -> None:
    """A run that ended with one agent of two done."""
    desk.project.demo("quick", writes={"quick": 1})
    desk.project.gated("slow")
    desk.open_new(preparation_agents=[parallel("quick", "slow")])
    desk.run()
    desk.until(lambda: desk.statuses().get("quick") is SUCCEEDED, "quick never ended")
    desk.until_log_says(desk.open_tab("slow"), "slow waits at its gate.")
    desk.stop("Stop now")
    desk.until_ended()


# --- where a run has ended ------------------------------------------------------------------------------


def test_a_stopped_run_goes_on_from_its_banner_and_pays_for_nothing_twice(desk: Desk) -> None:
    """Pain 23: resuming pays for finished work again."""
    stop_in_the_middle(desk)
    form = until_offered(desk)
    assert "slow" in form.why_not.text()
    desk.project.open_gate("slow")
    folder = desk.progress.folder
    desk.click(form.resume_button)
    desk.until(lambda: desk.events[-1].type == "run_finished" and len(runs(desk)) == 2, "it never went on")
    desk.until_ended()
    assert desk.finished.status is RunStatus.COMPLETED
    assert desk.progress.folder == folder
    assert (started(desk, "quick"), started(desk, "slow")) == (1, 2)
    assert desk.statuses() == {"quick": SUCCEEDED, "slow": SUCCEEDED}
    assert len(desk.tabs()) == 2
    assert not form.isVisible()
    assert desk.progress.state is not None
    assert desk.progress.state.payload == {"quick": 1, "slow": "through"}
    assert desk.badges() == {"quick": SUCCEEDED, "slow": SUCCEEDED}


def runs(desk: Desk) -> list[RunStarted]:
    return [event for event in desk.events if isinstance(event, RunStarted)]


def test_more_loops_are_proposed_where_all_are_used_up(desk: Desk) -> None:
    desk.project.demo("vera", "auditor", writes={"score": 10})
    desk.open_new(loop_agents=["vera"], max_loops=1, end_state_condition="iteration >= 2")
    assert desk.run_to_end().termination_reason == "max_loops_reached"
    form = until_offered(desk)
    assert [limit for limit, row in form.rows.items() if row.control.isVisible()] == [Limit.MAX_LOOPS]
    type_into(desk, form, Limit.MAX_LOOPS, "1")
    assert not form.resume_button.isEnabled()
    assert "used up" in form.why_not.text()
    type_into(desk, form, Limit.MAX_LOOPS, "3")
    desk.click(form.resume_button)
    desk.until(lambda: len(runs(desk)) == 2, "it never went on")
    desk.until_ended()
    assert desk.finished.status is RunStatus.COMPLETED
    assert list(desk.statuses()) == ["vera 1", "vera 2"]
    assert desk.document.settings.max_loops == 1, "the open workflow stays as it is"


def test_a_run_out_of_budget_goes_on_only_when_the_cap_is_raised(desk: Desk) -> None:
    """Pain 24: no cap on spending."""
    desk.project.demo("payer", cost_usd=0.75)
    desk.project.demo("after")
    desk.open_new(preparation_agents=["payer", "after"], budget={"max_cost_usd": 0.5})
    assert desk.run_to_end().termination_reason == "budget_exceeded:max_cost_usd"
    form = until_offered(desk)
    assert not form.resume_button.isEnabled()
    assert "$0.75" in form.why_not.text()
    type_into(desk, form, Limit.MAX_COST, "0.6")
    assert not form.resume_button.isEnabled(), "0.60 are spent already"
    type_into(desk, form, Limit.MAX_COST, "2")
    desk.click(form.resume_button)
    desk.until(lambda: len(runs(desk)) == 2, "it never went on")
    desk.until_ended()
    assert desk.finished.status is RunStatus.COMPLETED
    assert started(desk, "payer") == 1
    assert desk.window.status.cost.text().endswith(" of $2.00")


# --- the list of runs -----------------------------------------------------------------------------------


def test_a_run_of_another_workflow_is_resumed_with_its_past_and_the_open_one_stays(desk: Desk) -> None:
    stop_in_the_middle(desk)
    folder = desk.progress.folder
    desk.project.demo("other")
    desk.open_new(name="second", loop_agents=["other"], end_state_condition="iteration >= 1")
    desk.run_to_end()
    assert desk.finished.status is RunStatus.COMPLETED

    desk.press(Qt.Key.Key_R, CTRL | SHIFT)
    page = desk.window.right.runs_page
    desk.until(lambda: page.runs.rowCount() == 2 and page.current is not None, "the runs were never listed")
    assert desk.window.right.side is Side.RUNS
    assert page.field.hasFocus()
    desk.until(
        lambda: page.current is not None and page.current.resumable, "no run that can go on was selected"
    )
    assert page.current is not None
    assert str(page.current.folder) == folder
    second = page.runs.entries[0]
    assert (second.workflow, second.obstacle) == ("second", "It is complete.")
    desk.project.open_gate("slow")
    QTest.keyClick(page.field, Qt.Key.Key_Return)
    assert page.detail.form.resume_button.hasFocus()
    QTest.keyClick(page.detail.form.resume_button, Qt.Key.Key_Space)
    desk.until(lambda: len(runs(desk)) == 3, "it never went on")
    desk.until_ended()
    assert desk.window.right.side is Side.RUN
    assert desk.progress.folder == folder
    assert desk.statuses() == {"quick": SUCCEEDED, "slow": SUCCEEDED}
    log = desk.open_tab("quick")
    desk.until_log_says(log, "quick is at work.")
    assert desk.badges() == {"other": None}, "the cards are of another workflow"
    assert desk.document.settings.name == "second"
    assert not desk.document.is_modified
    desk.click_tab(desk.run_view.tabs.fixed, 1)
    assert payload_rows(desk)["slow"] == "through"


def test_a_broken_run_folder_is_named_and_hides_no_other(desk: Desk) -> None:
    stop_in_the_middle(desk)
    log_dir = Path(desk.progress.folder).parent
    broken = log_dir / "20200101-000000-abcdef"
    broken.mkdir()
    (broken / "journal.jsonl").write_bytes(b"\xff\x00 not a journal\n")
    (log_dir / "notes").mkdir()
    desk.press(Qt.Key.Key_R, CTRL | SHIFT)
    page = desk.window.right.runs_page
    desk.until(lambda: page.runs.rowCount() == 2, "the runs were never listed")
    good, bad = page.runs.entries
    assert good.resumable
    assert bad.folder == broken
    assert bad.problem
    page.list.setCurrentIndex(page.filtered.mapFromSource(page.runs.index_of(broken)))
    assert not page.detail.form.resume_button.isEnabled()
    assert bad.problem in texts_in(page.detail)


def test_nothing_is_resumed_while_a_run_goes_on(desk: Desk) -> None:
    """Pain 31: two engines at once."""
    stop_in_the_middle(desk)
    desk.project.gated("worker")
    desk.open_new(name="second", loop_agents=["worker"])
    desk.run()
    assert not desk.window.top_bar.resume_button.isEnabled()
    desk.click(desk.window.top_bar.runs_button)
    page = desk.window.right.runs_page
    desk.until(lambda: page.current is not None and page.current.resumable, "the runs were never listed")
    assert not page.detail.form.resume_button.isEnabled()
    assert "A run goes on in this window" in page.detail.form.why_not.text()
    desk.stop("Stop now")
    desk.until(page.detail.form.resume_button.isEnabled, "it can be resumed now, and never was")


# --- a run that waits -----------------------------------------------------------------------------------


def test_a_lost_provider_pauses_the_run_which_says_so_and_goes_on_when_told(desk: Desk) -> None:
    """Pain 22: the quota is gone and the run marches on."""
    lost = {"error": "The usage limit is reached.", "provider_wide": True, "first": 1}
    desk.project.demo("asker", fail=lost)
    desk.project.gated("worker")
    desk.project.demo("queued")
    desk.open_new(preparation_agents=[parallel("worker", "asker", "queued", max_parallel=2)])
    calls: list[bool] = []
    desk.window.run.needs_user.connect(lambda: calls.append(desk.controller.running))
    desk.run()
    pause = desk.run_view.pause
    desk.until(pause.isVisible, "it never paused")
    assert any(isinstance(event, RunPaused) for event in desk.events)
    assert "The usage limit is reached." in pause.why.text()
    desk.until(lambda: desk.window.status.light.text == "Paused", "the status line never said so")
    assert desk.window.windowTitle().startswith("Paused:")
    assert calls == [True]
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
    until_offered(desk)


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
    desk.press(Qt.Key.Key_F6)
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
    desk.press(Qt.Key.Key_F6)
    assert "it succeeded" in desk.window.status.said.text()
    desk.open_tab("worker")
    desk.press(Qt.Key.Key_F6, SHIFT)
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
