"""Agents that ship play what they do: they never stand in unasked for an agent that is missing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import resources
from core.agent import AgentLibrary, agent_folders
from core.agent_folders import user_agents_folder
from core.check import check_path, check_workflow
from core.config import WorkflowFile
from core.fixes import MakeAgent, ReplaceBackend
from core.planning import RunOverrides, plan_run
from core.problems import Problem, Severity, UserFileError
from core.recorded_run import read_run
from core.resuming import prepare_resume
from core.run_folders import library_of
from core.workflow_file import load_workflow, parse_workflow
from tests.core.run_support import Workshop, run_plan

BACKENDS = ("demo", "opencode", "claude")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with a builder of its own; OpenLoop ships a builder and a reviewer."""
    agents = tmp_path / "agents"
    agents.mkdir()
    (agents / "builder.md").write_text("---\nbackend: opencode\n---\nBuild.\n", encoding="utf-8")
    return tmp_path


def written(project: Path, reviewer: object = "reviewer", **settings: object) -> WorkflowFile:
    path = project / "w.json"
    workflow = {"loop_agents": [{"agents": ["builder", reviewer], "mode": "sequential"}], **settings}
    path.write_text(json.dumps(workflow), encoding="utf-8")
    return load_workflow(path)


def about_reviewer(file: WorkflowFile, project: Path) -> list[Problem]:
    found = check_workflow(file, library_of(file, project), BACKENDS, project)
    return [problem for problem in found if "reviewer" in problem.message]


def test_a_missing_agent_is_not_replaced_by_a_demonstration(project: Path) -> None:
    file = written(project)
    (problem,) = about_reviewer(file, project)
    assert problem.severity is Severity.ERROR
    assert "reviewer is a demonstration agent of OpenLoop: it does no work" in problem.message
    assert problem.place == "loop_agents[0].agents[1]"
    assert problem.fix == MakeAgent("reviewer")
    assert problem.other_fixes == (ReplaceBackend("loop", 0, 1, "reviewer", None, "demo"),)
    with pytest.raises(UserFileError, match="does no work"):
        plan_run(file, library_of(file, project), known_backends=BACKENDS)


def test_the_check_of_a_file_tells_it_too(project: Path) -> None:
    path = written(project).path
    assert path is not None
    assert [each.severity for each in check_path(path, BACKENDS) if "reviewer" in each.message] == [
        Severity.ERROR
    ]


@pytest.mark.parametrize("at", ["slot", "workflow", "settings"])
def test_who_asks_for_the_demonstration_gets_it_with_a_warning(project: Path, at: str) -> None:
    file = written(
        project,
        {"agent": "reviewer", "backend": "demo"} if at == "slot" else "reviewer",
        **({"backend": "demo"} if at == "workflow" else {}),
    )
    library = library_of(file, project)
    in_force = file.workflow.model_copy(update={"backend": "demo"}) if at == "settings" else None
    found = check_workflow(file, library, BACKENDS, project, in_force=in_force)
    (problem,) = [problem for problem in found if "reviewer" in problem.message]
    assert problem.severity is Severity.WARNING
    assert "does no work" in problem.message
    assert problem.fix == MakeAgent("reviewer")


def test_an_agent_that_ships_and_does_real_work_is_named_as_borrowed(project: Path) -> None:
    file = written(project, {"agent": "reviewer", "backend": "claude"})
    (problem,) = about_reviewer(file, project)
    assert problem.severity is Severity.WARNING
    assert "comes with OpenLoop" in problem.message
    assert problem.fix == MakeAgent("reviewer")


def test_an_agent_of_ones_own_that_plays_is_nobody_elses_business(project: Path) -> None:
    reviewer = project / "agents" / "reviewer.md"
    reviewer.write_text("---\nbackend: demo\nrole: auditor\n---\nReview.\n", encoding="utf-8")
    assert about_reviewer(written(project), project) == []


def test_a_file_that_cannot_be_read_is_not_replaced_by_a_demonstration(project: Path) -> None:
    broken = project / "agents" / "reviewer.md"
    broken.write_text("---\na: b: c\n---\n", encoding="utf-8")
    file = written(project)
    found = check_workflow(file, library_of(file, project), BACKENDS, project)
    errors = [problem for problem in found if problem.severity is Severity.ERROR]
    assert "The file of the agent reviewer cannot be read." in [error.message for error in errors]
    assert broken in [error.file for error in errors]


def test_a_disabled_agent_is_not_missed(project: Path) -> None:
    assert about_reviewer(written(project, {"agent": "reviewer", "enabled": False}), project) == []


def test_a_new_workflow_is_told_too() -> None:
    file = parse_workflow('{"loop_agents": ["vera"]}')
    library = AgentLibrary(agent_folders(None, None, Path("nowhere")))
    severities = {p.severity for p in check_workflow(file, library, BACKENDS) if "vera" in p.message}
    assert severities == {Severity.ERROR}


# --- the examples -------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", resources.example_workflows(), ids=lambda path: path.stem)
def test_an_example_plays_with_its_own_agents_whatever_the_work_folder_has(
    tmp_path: Path, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENLOOP_HOME", str(tmp_path / "home"))
    file = load_workflow(path)
    for folder in (tmp_path / "agents", user_agents_folder()):
        folder.mkdir(parents=True)
        for agent in AgentLibrary(resources.agents_folder()).agents:
            text = f"---\nname: {agent.name}\nbackend: opencode\n---\nSpend money.\n"
            (folder / f"{agent.name}.md").write_text(text, encoding="utf-8")
    plan = plan_run(file, library_of(file, tmp_path), known_backends=BACKENDS, default_workdir=tmp_path)
    groups = (*plan.preparation, *plan.loop, *plan.finalization)
    assert {turn.backend for group in groups for turn in group.turns} == {"demo"}
    assert check_workflow(file, library_of(file, tmp_path), BACKENDS, tmp_path) == []


def test_an_example_that_is_edited_can_use_other_agents_too(project: Path) -> None:
    (project / "agents" / "mine.md").write_text("Work.\n", encoding="utf-8")
    library = library_of(load_workflow(resources.example_workflow()), project)
    assert library.get("mine") is not None


def test_an_example_that_goes_on_plays_with_its_own_agents_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENLOOP_DEMO_SPEED", "0")
    file = load_workflow(resources.example_workflow("author_and_auditor"))
    once = RunOverrides(max_loops=1)
    plan = plan_run(file, library_of(file, tmp_path), once, default_workdir=tmp_path)
    first = run_plan(plan)
    assert first.reason == "max_loops_reached"
    (tmp_path / "agents").mkdir()
    (tmp_path / "agents" / "author.md").write_text("---\nbackend: opencode\n---\nSpend.\n", encoding="utf-8")
    again = prepare_resume(read_run(first.folder), RunOverrides(max_loops=2), known_backends=BACKENDS)
    assert [turn.backend for group in again.plan.loop for turn in group.turns] == ["demo", "demo"]
    assert again.warnings == ()


def test_an_agent_that_is_gone_goes_on_as_it_was_and_not_as_a_demonstration(tmp_path: Path) -> None:
    shop = Workshop(tmp_path)
    shop.agent("reviewer", writes={"mine": True})
    first = shop.run({"loop_agents": ["reviewer"], "max_loops": 1})
    (tmp_path / "agents" / "reviewer.md").unlink()
    again = prepare_resume(read_run(first.folder), RunOverrides(max_loops=2), known_backends=BACKENDS)
    (turn,) = again.plan.loop[0].turns
    assert "You are reviewer." in turn.agent.prompt
    assert ["is gone" in warning.message for warning in again.warnings] == [True]
