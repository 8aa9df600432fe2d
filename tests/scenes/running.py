"""Scenes of runs that go on: tabs, timeline, log, state, cost, questions, failures."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QContextMenuEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

import resources
from app.run_view.log_view import LogView
from app.run_view.turn_bar import Part
from app.side import Side
from core.json_types import JsonValue
from tests.scenes.building import open_audit
from tests.scenes.catalogue import scene
from tests.scenes.stage import Stage

IN_THIRD_ITERATION = 261.0
"""Seconds after which the audit has three agents at work in its third iteration."""


def audit_goes_on(stage: Stage) -> None:
    """The audit in its third iteration, told again from a run that was made before."""
    open_audit(stage)
    stage.replay("audit", IN_THIRD_ITERATION)
    stage.window.right.show_run()
    stage.settle()


def log_of(stage: Stage, label: str) -> LogView:
    """Open an agent's latest tab, and wait until its log shows something."""
    tabs = stage.window.right.shown_run_view.tabs  # type: ignore[union-attr]
    tabs.show_turn(stage.turn(label))
    view = tabs.pages.currentWidget()
    assert isinstance(view, LogView)
    stage.until(view.visible_text, "the log stayed empty")
    stage.settle()
    return view


# --- a run that goes on -------------------------------------------------------------------------------


@scene(needs_runs=True)
def running(stage: Stage) -> None:
    """A run with three agents at work: strip, tabs, a log, the timeline, the cards."""
    audit_goes_on(stage)
    log_of(stage, "vera")


@scene(needs_runs=True)
def overview(stage: Stage) -> None:
    """The log of all agents."""
    audit_goes_on(stage)
    view = stage.run_view
    view.tabs.show_overview()
    stage.until(view.tabs.overview.visible_text, "the overview stayed empty")
    stage.settle()


@scene(needs_runs=True)
def finding_in_a_log(stage: Stage) -> None:
    """Find in a log, with its count, and line numbers."""
    audit_goes_on(stage)
    view = log_of(stage, "vera")
    view.set_line_numbers(True)
    view.open_find()
    QTest.keyClicks(QApplication.focusWidget(), "test")
    QTest.qWait(120)
    stage.settle()


@scene(needs_runs=True)
def filtered_log(stage: Stage) -> None:
    """Only those lines of a log that match."""
    audit_goes_on(stage)
    stage.run_view.tabs.show_overview()
    view = stage.run_view.tabs.overview
    stage.until(view.visible_text, "the overview stayed empty")
    view.open_filter()
    QTest.keyClicks(QApplication.focusWidget(), "pytest")
    QTest.qWait(200)
    stage.settle()


@scene(needs_runs=True)
def log_menu(stage: Stage) -> None:
    """The context menu of a log."""
    audit_goes_on(stage)
    view = log_of(stage, "vera")
    point = view.viewport().rect().center()
    event = QContextMenuEvent(QContextMenuEvent.Reason.Mouse, point, view.viewport().mapToGlobal(point))
    QApplication.sendEvent(view.viewport(), event)
    stage.settle()


@scene(needs_runs=True)
def all_turns(stage: Stage) -> None:
    """All turns of a run, to be searched."""
    audit_goes_on(stage)
    stage.run_view.tabs.open_list()
    stage.settle()


@scene(needs_runs=True)
def prompt(stage: Stage) -> None:
    """Exactly what an agent was sent, and its size."""
    audit_goes_on(stage)
    log_of(stage, "linter")
    stage.run_view.tabs.show_part(Part.PROMPT)
    page = stage.run_view.tabs.pages.currentWidget()
    assert isinstance(page, LogView)
    stage.until(page.visible_text, "the prompt stayed empty")
    stage.settle()


@scene(needs_runs=True)
def state(stage: Stage) -> None:
    """The state as a tree, with what the last merge changed."""
    audit_goes_on(stage)
    tab = stage.run_view.tabs.state_tab
    stage.run_view.tabs.show_state()
    stage.until(lambda: tab.model.rowCount() > 0, "the state never came")
    stage.settle()


@scene(needs_runs=True)
def earlier_state(stage: Stage) -> None:
    """The state of an earlier point of the run, only what changed there, and one value read."""
    audit_goes_on(stage)
    tab = stage.run_view.tabs.state_tab
    stage.run_view.tabs.show_state()
    stage.until(lambda: tab.model.rowCount() > 0, "the state never came")
    number = tab.points.number
    tab.points.step_back()
    tab.points.step_back()
    stage.until(lambda: tab.points.number == number - 2, "the point was never shown")
    tab.changes_button.setChecked(True)
    stage.settle()
    tab.tree.setFocus()
    stage.press(Qt.Key.Key_Down)
    stage.press(Qt.Key.Key_Down)
    QTest.qWait(50)
    stage.settle()


@scene(needs_runs=True)
def state_as_json(stage: Stage) -> None:
    """The state as the JSON that agents get."""
    audit_goes_on(stage)
    tab = stage.run_view.tabs.state_tab
    stage.run_view.tabs.show_state()
    stage.until(lambda: tab.model.rowCount() > 0, "the state never came")
    tab.raw_button.setChecked(True)
    QTest.qWait(100)
    stage.settle()


@scene(needs_runs=True)
def cost(stage: Stage) -> None:
    """Cost and tokens, with the budget as a bar."""
    stage.open(resources.example_workflow("pipeline"))
    stage.replay("pipeline", 200.0)
    stage.window.right.show_run()
    stage.run_view.tabs.show_page("cost")
    stage.settle()


@scene(needs_runs=True)
def folded_timeline(stage: Stage) -> None:
    """A run whose timeline is hidden but for its title."""
    audit_goes_on(stage)
    log_of(stage, "security_auditor")
    stage.run_view.timeline.set_collapsed(True)
    stage.settle()


# --- what needs a person ------------------------------------------------------------------------------


@scene()
def question(stage: Stage) -> None:
    """An agent gave no state update; the question stands in the run, while another one is at work."""
    stage.agent("scribe", demo={"bad_update": "missing", "text": "I have looked at everything."})
    stage.agent("linter", "reviewer", demo={"hang": True, "text": "I read the changed files."})
    stage.open_new(
        "nightly", loop_agents=[{"agents": ["scribe", "linter"], "mode": "parallel"}], on_missing_state="ask"
    )
    stage.run()
    stage.until(stage.run_view.questions.isVisible, "nothing was asked")
    # It is brought up to date four times a second.
    stage.until(lambda: stage.run_view.timeline.area.plot.savings.work > 0, "the timeline never told of work")
    log_of(stage, "scribe")


@scene()
def paused(stage: Stage) -> None:
    """A provider refuses everybody: the run waits as a whole."""
    lost = {"error": "Your usage limit is reached; it resets at 17:00.", "provider_wide": True}
    stage.agent("author", demo={"fail": lost, "steps": 1})
    stage.agent("linter", "reviewer", demo={"hang": True, "text": "I read the changed files."})
    stage.open_new(
        "nightly", preparation_agents=[{"agents": ["author", "linter"], "mode": "parallel"}, "author"]
    )
    stage.run()
    stage.until(stage.run_view.pause.isVisible, "it never paused")
    log_of(stage, "author")


@scene()
def retry(stage: Stage) -> None:
    """An agent waits before it is tried again."""
    failure: dict[str, JsonValue] = {"error": "The model is overloaded (529).", "transient": True}
    stage.agent("author", demo={"fail": failure})
    stage.agent("linter", "reviewer", demo={"hang": True, "text": "I read the changed files."})
    stage.open_new("nightly", loop_agents=[{"agents": ["author", "linter"], "mode": "parallel"}], retries=9)
    stage.run()
    progress = stage.window.progress
    assert progress is not None
    turn = stage.turn("author")
    stage.until(lambda: progress.turns[turn].attempt >= 2, "it was never tried again")
    log_of(stage, "author")


@scene()
def failed(stage: Stage) -> None:
    """A run that failed: who, why, and what can be done."""
    failure: dict[str, JsonValue] = {"exit_code": 3, "error": "The key was refused.", "after_steps": 2}
    stage.agent("author", demo={"fail": failure, "stderr": ["at line 7 of the tool"]})
    stage.agent("linter", "reviewer")
    stage.open_new("nightly", preparation_agents=["linter"], loop_agents=["author"])
    stage.run_to_end()
    log_of(stage, "author")


@scene()
def conflicts(stage: Stage) -> None:
    """Two agents wrote different values to one place of the state."""
    stage.agent("vera", "auditor", demo={"writes": {"score": 86, "verdict": "good"}, "is_complete": True})
    stage.agent("lint", "auditor", demo={"writes": {"score": 40, "verdict": "not yet"}, "is_complete": True})
    stage.open_new("nightly", loop_agents=[{"agents": ["vera", "lint"], "mode": "parallel"}], max_loops=1)
    stage.run_to_end()
    tab = stage.run_view.tabs.state_tab
    stage.run_view.tabs.show_conflicts()
    stage.until(lambda: tab.model.rowCount() > 0, "the state never came")
    QTest.qWait(50)
    stage.settle()


@scene()
def completed(stage: Stage) -> None:
    """A run that reached its end, with its banner."""
    stage.agent("author", demo={"text": "I wrote the draft."})
    stage.agent("vera", "auditor", demo={"text": "Nothing is missing.", "is_complete": True})
    stage.open_new("nightly", loop_agents=["author", "vera"])
    stage.run_to_end()
    log_of(stage, "vera")


@scene()
def many_agents(stage: Stage) -> None:
    """Forty agents of one group, with long names, of which eight are at work."""
    names = [
        stage.agent(f"auditor_of_the_module_number_{number}", demo={"hang": True, "text": "I read."})
        for number in range(40)
    ]
    group: JsonValue = {"agents": list(names), "mode": "parallel", "max_parallel": 4}
    stage.open_new("everything that we have, looked at by everybody", loop_agents=[group])
    stage.run()
    stage.until(lambda: len(stage.run_view.strip.pills) >= 4, "they never ran")
    log_of(stage, names[0])


# --- before a run -------------------------------------------------------------------------------------


@scene()
def trust_question(stage: Stage) -> None:
    """A run brings commands: they are shown, and nothing starts before they are allowed."""
    stage.agent("linter", "reviewer", backend="command", command=["ruff", "check", "--fix", "src"])
    stage.open_new("nightly", loop_agents=["linter"], init_script="npm ci && npm run build")
    stage.click(stage.window.top_bar.run_button)
    stage.until(lambda: stage.window.right.side is Side.TRUST, "nothing was asked")
    stage.settle()


@scene()
def refused(stage: Stage) -> None:
    """A run that cannot begin, and why."""
    stage.agent("author")
    stage.open_new("nightly", loop_agents=["author", "nobody"], end_state_condition="score >")
    stage.click(stage.window.top_bar.run_button)
    stage.until(lambda: stage.window.notices.names, "nothing was said")
    stage.settle()


@scene(needs_runs=True)
def closing(stage: Stage) -> None:
    """The question when the window is closed while a run goes on."""
    audit_goes_on(stage)
    log_of(stage, "vera")
    stage.window.close()
    stage.until(lambda: stage.window.closing.question is not None, "nothing was asked")
    stage.settle()
