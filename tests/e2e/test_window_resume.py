"""Runs that go on in the window: after their end, from the list of runs, and after a pause. Real agents."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel

import core.orphans
from app.notice_bar import NoticeBar
from app.resuming import SURVIVORS
from app.runs.resume_form import ResumeForm
from app.runs.wishes import Limit
from app.side import Side
from core.events import RunStarted, RunStatus, TurnStarted, TurnStatus
from core.orphans import Orphan
from core.processes import start_time
from tests.e2e.desk import Desk, parallel, payload_rows, texts_in

pytestmark = pytest.mark.qt_log_ignore("This plugin does not support", extend=True)

SUCCEEDED, FAILED, STOPPED = TurnStatus.SUCCEEDED, TurnStatus.FAILED, TurnStatus.STOPPED
ROOT = Path(__file__).parents[2]
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
    page = desk.window.history.page
    desk.until(lambda: page.runs.rowCount() == 2 and page.current is not None, "the runs were never listed")
    assert desk.window.right.side is Side.RUNS
    desk.until(page.list.hasFocus, "the keys go elsewhere")
    desk.until(
        lambda: page.current is not None and page.current.resumable, "no run that can go on was selected"
    )
    assert page.current is not None
    assert str(page.current.folder) == folder
    second = page.runs.entries[0]
    assert (second.workflow, second.obstacle) == ("second", "It is complete.")
    desk.project.open_gate("slow")
    desk.press(Qt.Key.Key_R, CTRL | SHIFT)
    field = page.detail.form.shown_fields()[0]
    assert field.hasFocus(), "the same keys once more lead to what may be changed"
    QTest.keyClick(field, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    desk.until(lambda: len(runs(desk)) == 3, "it never went on")
    desk.until_ended()
    assert desk.window.right.side is Side.RUN
    assert desk.progress.folder == folder
    assert desk.statuses() == {"quick": SUCCEEDED, "slow": SUCCEEDED}
    log = desk.open_tab("quick")
    desk.until_log_says(log, "quick is at work.")
    assert desk.badges() == {"other": None}, "the cards are of another workflow"
    assert "Resumed: work" in desk.run_view.origin.text()
    assert not desk.run_view.banner.again_button.isVisible(), "it would run another workflow"
    assert desk.document.settings.name == "second"
    assert not desk.document.is_modified
    desk.click_tab(desk.run_view.tabs.fixed, 1)
    desk.until(lambda: payload_rows(desk).get("slow") == "through", "the state was never shown")


def test_a_broken_run_folder_is_named_and_hides_no_other(desk: Desk) -> None:
    stop_in_the_middle(desk)
    log_dir = Path(desk.progress.folder).parent
    broken = log_dir / "20200101-000000-abcdef"
    broken.mkdir()
    (broken / "journal.jsonl").write_bytes(b"\xff\x00 not a journal\n")
    (log_dir / "notes").mkdir()
    desk.press(Qt.Key.Key_R, CTRL | SHIFT)
    page = desk.window.history.page
    desk.until(lambda: page.runs.rowCount() == 2, "the runs were never listed")
    good, bad = page.runs.entries
    assert good.resumable
    assert bad.folder == broken
    assert bad.problem
    page.list.choose(page.runs.index_of(broken))
    assert not page.detail.form.resume_button.isEnabled()
    assert bad.problem in texts_in(page.detail)


def test_nothing_is_resumed_while_a_run_goes_on(desk: Desk) -> None:
    """Pain 31: two engines at once."""
    stop_in_the_middle(desk)
    desk.project.gated("worker")
    desk.open_new(name="second", loop_agents=["worker"])
    desk.run()
    assert not desk.window.top_bar.resume_button.isEnabled()
    desk.press(Qt.Key.Key_3, CTRL)
    page = desk.window.history.page
    desk.until(lambda: page.runs.rowCount() == 2, "the runs were never listed")
    resumable = next(entry for entry in page.runs.entries if entry.resumable)
    page.list.choose(page.runs.index_of(resumable.folder))
    desk.until(lambda: page.current is not None and page.current.resumable, "the runs were never listed")
    assert not page.detail.form.resume_button.isEnabled()
    assert "A run goes on in this window" in page.detail.form.why_not.text()
    desk.stop("Stop now")
    desk.until(page.detail.form.resume_button.isEnabled, "it can be resumed now, and never was")


# --- after an accident ----------------------------------------------------------------------------------


def cut_off(desk: Desk) -> Path:
    """The folder of a run whose OpenLoop was killed while one agent of two was at work."""
    desk.project.demo("quick", writes={"quick": 1})
    desk.project.demo("slow", hang=True)
    path = desk.project.workflow(
        "cut", preparation_agents=[parallel("quick", "slow")], loop_agents=[], end_state_condition="True"
    )
    command = [sys.executable, str(ROOT / "main.py"), "run", str(path), "--json"]
    openloop = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def journal() -> str:
        files = list((desk.project.folder / ".openloop").glob("*/journal.jsonl"))
        return files[0].read_text() if files else ""

    desk.until(
        lambda: "turn_finished" in journal() and journal().count("attempt_started") == 2,
        "the agents never started",
    )
    openloop.kill()
    openloop.wait()
    desk.until_nothing_alive()
    (file,) = (desk.project.folder / ".openloop").glob("*/journal.jsonl")
    return file.parent


def test_a_run_that_was_cut_off_is_offered_at_the_start_and_goes_on(desk: Desk) -> None:
    """Pain 23: no checkpoint after 18 h."""
    folder = cut_off(desk)
    desk.window.left_overs.look()
    desk.until(lambda: desk.window.notices.bar("cut off"), "it was never offered")
    bar = desk.window.notices.bar("cut off")
    assert bar is not None
    assert "A run of cut was cut off" in bar.notice.text
    assert "Preparation: slow" in bar.notice.text
    desk.click(bar.buttons["Resume…"])
    page = desk.window.history.page
    desk.until(lambda: page.current is not None and page.current.folder == folder, "it was never shown")
    assert "cut off" in page.detail.facts.text()
    desk.project.demo("slow", writes={"slow": 2})
    button = page.detail.form.resume_button
    desk.until(lambda: page.rect().contains(button.mapTo(page, button.rect().center())), "no room for it")
    desk.click(button)
    desk.until(lambda: runs(desk), "it never went on")
    desk.until_ended()
    assert desk.finished.status is RunStatus.COMPLETED, desk.finished
    assert (started(desk, "quick"), started(desk, "slow")) == (1, 2)
    assert desk.statuses() == {"quick": SUCCEEDED, "slow": SUCCEEDED}
    desk.window.left_overs.look()
    desk.window.left_overs.close()
    assert desk.window.notices.bar("cut off") is None


@pytest.fixture
def survivor(mark: str) -> Iterator[psutil.Process]:
    """A process that nobody ends."""
    # Not of what the desk counts: it is there on purpose.
    others = {name: value for name, value in os.environ.items() if value != mark}
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], env=others)
    yield psutil.Process(child.pid)
    child.kill()
    child.wait()


def orphan_of(process: psutil.Process) -> Orphan:
    started = start_time(process.pid)
    assert started is not None
    return Orphan(process.pid, started, "slow", "sleep", 0, ((process.pid, started),), frozenset())


def test_processes_that_outlived_a_run_are_named_and_ended_only_when_told(
    desk: Desk, survivor: psutil.Process, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Pain 9: orphans and zombies."""
    cut_off(desk)
    monkeypatch.setattr(core.orphans, "find_orphans", lambda _: [orphan_of(survivor)])
    desk.window.left_overs.look()
    desk.until(lambda: desk.window.notices.bar("orphans"), "they were never named")
    bar = desk.window.notices.bar("orphans")
    assert bar is not None
    assert bar.notice.lines == (f"slow: process {survivor.pid} (sleep)",)
    assert survivor.is_running(), "nobody has been asked yet"
    desk.click(bar.buttons["End them"])
    desk.until(lambda: not is_alive(survivor), "it was never ended")
    desk.until(lambda: "They are ended." in desk.window.notices.bar("orphans").label.text(), "nobody said so")


def is_alive(process: psutil.Process) -> bool:
    return process.is_running() and process.status() != psutil.STATUS_ZOMBIE


def until_asked(desk: Desk) -> NoticeBar:
    """Wait for the question about processes of an earlier life."""
    desk.until(lambda: desk.window.notices.bar(SURVIVORS), "nobody was asked")
    bar = desk.window.notices.bar(SURVIVORS)
    assert bar is not None
    return bar


def test_no_run_goes_on_beside_processes_of_its_earlier_life(
    desk: Desk, survivor: psutil.Process, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Pain 10: "stopped" agents go on writing."""
    stop_in_the_middle(desk)
    form = until_offered(desk)
    alive = [orphan_of(survivor)]
    monkeypatch.setattr(core.orphans, "find_orphans", lambda _: alive if is_alive(survivor) else [])
    desk.click(form.resume_button)
    bar = until_asked(desk)
    assert any(f"process {survivor.pid}" in line for line in bar.notice.lines)
    formats = {label.textFormat() for label in bar.findChildren(QLabel) if label.text()}
    assert formats == {Qt.TextFormat.PlainText}, "commands are no markup"
    assert QApplication.activeModalWidget() is None, "it is asked in place"
    desk.click(bar.buttons["Leave them"])
    desk.until(lambda: not desk.controller.running, "it waits for ever")
    assert is_alive(survivor)
    assert len(runs(desk)) == 1, "it went on"

    desk.project.open_gate("slow")
    desk.click(until_offered(desk).resume_button)
    desk.click(until_asked(desk).buttons["End them and go on"])
    desk.until(lambda: len(runs(desk)) == 2, "it never went on")
    assert not is_alive(survivor)
    desk.until_ended()
    assert desk.finished.status is RunStatus.COMPLETED


def test_a_run_that_cannot_go_on_after_all_says_why_and_changes_nothing(desk: Desk) -> None:
    stop_in_the_middle(desk)
    form = until_offered(desk)
    statuses = desk.statuses()
    (Path(desk.progress.folder) / "workflow.json").write_text('{"loop_agents": 7}')
    desk.click(form.resume_button)
    desk.until(lambda: desk.window.notices.bar("run"), "nobody said why")
    bar = desk.window.notices.bar("run")
    assert bar is not None
    assert bar.notice.text == "This run cannot go on:"
    assert bar.notice.lines
    desk.until(lambda: not desk.controller.running, "it hangs")
    assert desk.window.status.light.text == "Stopped"
    assert desk.statuses() == statuses
    assert desk.window.top_bar.run_button.isEnabled()
