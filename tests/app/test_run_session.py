"""The run that the window shows: whose workflow it is, and what limits it has."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from app.document import WorkflowDocument
from app.run_session import RunSession
from core.agent import AgentLibrary
from core.events import RunFinished, RunStarted, RunStatus
from core.plan import RunPlan
from core.planning import RunOverrides, plan_run
from core.workflow_file import load_workflow
from tests.app.test_main_window import AUDIT, ScriptedController

AGENTS = ("proteus", "amala", "vera", "linter")


class Resumable(ScriptedController):
    """Goes on with a run of the plan that a test gives."""

    plan: RunPlan

    def resume(self, folder: Path, overrides: RunOverrides) -> None:
        self.running = True
        self.running_changed.emit(True)
        self.planned.emit(self.plan, None)


@pytest.fixture
def library(tmp_path: Path) -> AgentLibrary:
    folder = tmp_path / "agents"
    folder.mkdir()
    for name in AGENTS:
        text = f"---\nname: {name}\nrole: author\nbackend: demo\n---\nTest.\n"
        (folder / f"{name}.md").write_text(text, encoding="utf-8")
    return AgentLibrary(folder)


@pytest.mark.parametrize(
    ("since", "is_same"),
    [
        ({}, True),
        ({"max_loops": 3}, True),
        ({"finalization_agents": ["proteus"]}, False),
        ({"loop_agents": ["amala", {"agents": ["linter", "vera"], "mode": "parallel"}]}, False),
        ({"loop_agents": ["amala", "vera", "linter"]}, False),
        ({"loop_agents": ["amala", {"agents": ["vera", "linter"], "mode": "sequential"}]}, False),
        ({"loop_agents": ["amala", {"agents": ["vera", "linter", "amala"], "mode": "parallel"}]}, False),
    ],
)
def test_a_resumed_run_is_one_of_the_open_workflow_only_where_its_steps_are_the_same(
    qtbot: QtBot, tmp_path: Path, library: AgentLibrary, since: dict[str, object], is_same: bool
) -> None:
    path = tmp_path / "audit.json"
    path.write_text(json.dumps(AUDIT), encoding="utf-8")
    controller, document = Resumable(), WorkflowDocument()
    controller.plan = plan_run(load_workflow(path), library, known_backends=("demo",))
    path.write_text(json.dumps(AUDIT | since), encoding="utf-8")
    document.open(path)
    session = RunSession(controller, document)  # type: ignore[arg-type]
    session.resume(tmp_path, RunOverrides())
    assert session.is_of_document is is_same
    controller.end()
    session.close()


def test_the_limits_that_are_shown_are_those_of_the_plan_not_of_the_document(
    qtbot: QtBot, tmp_path: Path, library: AgentLibrary
) -> None:
    path = tmp_path / "audit.json"
    path.write_text(json.dumps(AUDIT | {"retries": 4, "budget": {"max_cost_usd": 5}}), encoding="utf-8")
    controller, document = Resumable(), WorkflowDocument()
    controller.plan = plan_run(load_workflow(path), library, known_backends=("demo",))
    session = RunSession(controller, document)  # type: ignore[arg-type]
    session.resume(tmp_path, RunOverrides())
    controller.tell()
    assert session.progress is not None
    assert (session.progress.max_retries, session.progress.budget.max_cost_usd) == (4, 5)
    controller.end()
    session.close()


def test_it_knows_whose_run_is_prepared_and_forgets_the_run_before(
    qtbot: QtBot, tmp_path: Path, library: AgentLibrary
) -> None:
    path = tmp_path / "audit.json"
    path.write_text(json.dumps(AUDIT | {"name": "audit"}), encoding="utf-8")
    controller, document = Resumable(), WorkflowDocument()
    controller.plan = plan_run(load_workflow(path), library, known_backends=("demo",))
    session = RunSession(controller, document)  # type: ignore[arg-type]
    session.resume(tmp_path, RunOverrides())
    controller.tell(RunStarted(time=1.0, workflow="audit"))
    assert (session.name, session.preparing) == ("audit", False)
    controller.tell(RunFinished(time=2.0, status=RunStatus.COMPLETED))
    controller.end()
    assert (session.name, session.preparing) == ("audit", False)

    session.resume(tmp_path, RunOverrides())
    assert (session.name, session.preparing) == ("", True)
    controller.prepared.emit("release")
    assert (session.name, session.preparing) == ("release", True)
    controller.end()
    assert session.preparing is False
    session.close()
