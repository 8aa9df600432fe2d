"""How a workflow, its agents and the command line become a plan."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from core.agent import AgentLibrary
from core.json_types import JsonObject
from core.plan import Place, RunPlan
from core.planning import RunOverrides, plan_run
from core.problems import UserFileError
from core.run_folders import library_of
from core.state import MergeRule
from core.workflow_file import load_workflow, parse_workflow


@pytest.fixture
def library(tmp_path: Path) -> AgentLibrary:
    folder = tmp_path / "agents"
    folder.mkdir()
    for name, matter in {
        "vera": "role: auditor",
        "own": "backend: demo\nmodel: m-agent\ntimeout: 20",
        "vera 2": "role: author",
    }.items():
        (folder / f"{name}.md").write_text(f"---\n{matter}\n---\nWork.", encoding="utf-8")
    return AgentLibrary(folder)


def plan(library: AgentLibrary, document: JsonObject, overrides: RunOverrides | None = None) -> RunPlan:
    return plan_run(parse_workflow(json.dumps(document)), library, overrides)


def test_a_place_beats_the_agents_front_matter_which_beats_the_workflow(library: AgentLibrary) -> None:
    overridden: JsonObject = {"agent": "own", "backend": "opencode", "model": "m-place", "timeout": 0}
    planned = plan(
        library,
        {
            "loop_agents": [{"agents": [overridden, "own", "vera"]}],
            "backend": "claude",
            "agent_timeout": 99,
            "opencode_defaults": {"model": "m-default"},
        },
    )
    assert [(turn.backend, turn.model, turn.timeout) for turn in planned.turns] == [
        ("opencode", "m-place", 0),
        ("demo", "m-agent", 20),
        ("claude", None, 99),
    ]


def test_opencode_is_the_backend_and_its_default_model_the_model_where_nobody_says(
    library: AgentLibrary,
) -> None:
    (turn,) = plan(library, {"loop_agents": ["vera"], "opencode_defaults": {"model": "m"}}).turns
    assert (turn.backend, turn.model, turn.timeout) == ("opencode", "m", 1800)


def test_group_values_override_the_workflows(library: AgentLibrary) -> None:
    planned = plan(
        library,
        {
            "loop_agents": [
                {
                    "agents": ["vera", "own"],
                    "mode": "parallel",
                    "name": "check",
                    "max_parallel": 7,
                    "timeout": 30,
                    "on_parallel_error": "continue",
                    "merge": {"payload.a": "sum"},
                },
                {"agents": ["vera"], "timeout": 0},
            ],
            "max_parallel_agents": 3,
            "merge": {"payload.a": "max", "payload.b": "min"},
        },
    )
    first, second = planned.loop
    assert (first.name, first.mode, first.max_parallel, first.timeout) == ("check", "parallel", 7, 30)
    assert first.on_error == "continue"
    assert first.merge_rules == {"payload.a": MergeRule.SUM, "payload.b": MergeRule.MIN}
    assert (second.name, second.max_parallel, second.timeout) == ("loop 2", 3, None)
    assert second.on_error == "abort"


def test_the_command_line_beats_everything(tmp_path: Path, library: AgentLibrary) -> None:
    planned = plan(
        library,
        {
            "loop_agents": [{"agents": ["vera", "own"], "mode": "parallel", "max_parallel": 9}],
            "max_loops": 5,
            "workdir": "/nowhere",
        },
        RunOverrides(workdir=tmp_path, log_dir=tmp_path / "logs", max_loops=2, max_parallel=1),
    )
    assert (planned.max_loops, planned.max_parallel, planned.loop[0].max_parallel) == (2, 1, 1)
    assert (planned.workdir, planned.log_dir) == (tmp_path, tmp_path / "logs")


def test_a_number_that_cannot_be_is_refused(library: AgentLibrary) -> None:
    with pytest.raises(UserFileError, match="max_loops must be at least 1"):
        plan(library, {"loop_agents": ["vera"]}, RunOverrides(max_loops=0))


def test_every_turn_of_a_group_has_a_label_of_its_own(library: AgentLibrary) -> None:
    planned = plan(
        library, {"loop_agents": ["vera", "vera", "vera 2", "vera"], "preparation_agents": ["vera"]}
    )
    assert [turn.label for turn in planned.loop[0].turns] == ["vera", "vera 2", "vera 2 2", "vera 3"]
    assert [turn.label for turn in planned.preparation[0].turns] == ["vera"]


def test_what_is_disabled_or_empty_is_left_out_and_places_stay_those_of_the_file(
    library: AgentLibrary,
) -> None:
    planned = plan(
        library,
        {
            "loop_agents": [
                {"agents": ["nobody"], "enabled": False},
                {"agents": [{"agent": "nobody", "enabled": False}]},
                {"agents": []},
                {"mode": "fan_out", "agent": "nobody", "enabled": False},
                {"agents": [{"agent": "own", "enabled": False}, "vera"]},
            ]
        },
    )
    (group,) = planned.loop
    assert group.index == 4
    assert [turn.place for turn in group.turns] == [Place("loop", 4, 1)]


def test_relative_folders_are_relative_to_the_workflow_file_and_logs_to_the_working_folder(
    tmp_path: Path, library: AgentLibrary
) -> None:
    (tmp_path / "project").mkdir()
    flows = tmp_path / "flows"
    flows.mkdir()
    path = flows / "w.json"
    path.write_text('{"loop_agents": ["vera"], "workdir": "../project", "log_dir": "logs"}', encoding="utf-8")
    planned = plan_run(load_workflow(path), library)
    assert planned.workdir == (tmp_path / "project").resolve()
    assert planned.log_dir == planned.workdir / "logs"


def test_without_a_working_folder_it_is_the_callers_or_the_current_one(
    tmp_path: Path, library: AgentLibrary, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = parse_workflow('{"loop_agents": ["vera"]}')
    assert plan_run(file, library, default_workdir=tmp_path).workdir == tmp_path
    monkeypatch.chdir(tmp_path)
    planned = plan_run(file, library)
    assert planned.workdir == Path.cwd()
    assert planned.log_dir == planned.workdir / ".openloop"


def test_every_error_of_the_workflow_is_raised_at_once_and_warnings_are_not(library: AgentLibrary) -> None:
    with pytest.raises(UserFileError) as raised:
        plan(library, {"loop_agents": ["verra"], "isolation": "worktree", "retries": 90, "max_loop": 1})
    assert [problem.place for problem in raised.value.problems] == ["isolation", "loop_agents[0].agents[0]"]


def test_the_workflow_as_run_gives_the_same_plan_wherever_it_lies(tmp_path: Path) -> None:
    project, elsewhere = tmp_path / "project", tmp_path / "elsewhere"
    for folder in (project / "agents", elsewhere):
        folder.mkdir(parents=True)
    (project / "agents" / "mine.md").write_text("Work.", encoding="utf-8")
    path = project / "w.json"
    path.write_text('{"loop_agents": ["mine"], "own": 1, "max_loops": 9}', encoding="utf-8")
    file = load_workflow(path)
    planned = plan_run(
        file, library_of(file, project), RunOverrides(max_loops=2, max_parallel=3), default_workdir=project
    )
    copy = elsewhere / "workflow.json"
    copy.write_bytes(planned.workflow_json)
    assert json.loads(planned.workflow_json)["own"] == 1
    again_file = load_workflow(copy)
    again = plan_run(again_file, library_of(again_file, elsewhere))
    assert (again.workdir, again.log_dir) == (planned.workdir, planned.log_dir)
    assert (again.max_loops, again.max_parallel) == (2, 3)
    assert again.loop == planned.loop


def test_later_edits_of_the_workflow_do_not_reach_the_plan(library: AgentLibrary) -> None:
    file = parse_workflow(
        '{"loop_agents": ["vera"], "initial_payload": {"a": [1]}, "budget": {"max_tokens": 5}}'
    )
    planned = plan_run(file, library)
    file.workflow.budget.max_tokens = 9
    file.workflow.initial_payload["a"] = 2
    assert planned.budget.max_tokens == 5
    assert planned.initial_payload == {"a": [1]}


def test_the_number_of_processors_caps_agents_where_nobody_says(library: AgentLibrary) -> None:
    assert plan(library, {"loop_agents": ["vera"]}).max_parallel == (os.cpu_count() or 1)
