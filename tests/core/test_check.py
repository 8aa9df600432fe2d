"""What is found in a workflow before anything of it runs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from core.agent import AgentLibrary
from core.check import check_path, check_workflow
from core.config import AgentEntry, AgentGroup
from core.json_types import JsonObject
from core.problems import Problem, Severity
from core.workflow_file import parse_workflow

BACKENDS = ("demo", "opencode")


@pytest.fixture
def library(tmp_path: Path) -> AgentLibrary:
    folder = tmp_path / "agents"
    folder.mkdir()
    for name, matter in {
        "vera": "role: auditor",
        "judge": "can_complete: true",
        "amala": "role: author",
        "odd": "backend: opencod",
    }.items():
        (folder / f"{name}.md").write_text(f"---\n{matter}\n---\nWork.", encoding="utf-8")
    (folder / "empty.md").write_text("", encoding="utf-8")
    (folder / "broken.md").write_text("---\na: b: c\n---\n", encoding="utf-8")
    return AgentLibrary(folder)


def check(library: AgentLibrary, document: JsonObject) -> list[Problem]:
    return check_workflow(parse_workflow(json.dumps(document)), library, BACKENDS)


def only(problems: list[Problem]) -> Problem:
    (problem,) = problems
    return problem


def test_a_sound_workflow_has_no_problems(library: AgentLibrary) -> None:
    assert check(library, {"loop_agents": ["amala", "vera"]}) == []


def test_an_init_script_is_nothing_to_warn_of(library: AgentLibrary) -> None:
    assert check(library, {"loop_agents": ["vera"], "init_script": "make"}) == []


def test_an_unknown_agent_is_found_with_its_line_and_a_suggestion(library: AgentLibrary) -> None:
    text = '{\n  "loop_agents": ["amala",\n    "verra",\n    { "agents": ["vera", {"agent": "nobody"}] }]\n}'
    first, second = check_workflow(parse_workflow(text, Path("w.json")), library, BACKENDS)
    assert (first.place, first.line, first.column) == ("loop_agents[0].agents[1]", 3, 5)
    assert first.text().endswith("There is no agent called verra. Did you mean vera?")
    assert (second.place, second.line, second.column) == ("loop_agents[1].agents[1]", 4, 26)


def test_lines_are_not_told_once_the_workflow_is_not_the_text_any_more(library: AgentLibrary) -> None:
    file = parse_workflow('{"loop_agents": ["vera"]}')
    file.workflow.loop_agents.insert(0, AgentGroup(agents=[AgentEntry(agent="nobody")]))
    problem = only(check_workflow(file, library, BACKENDS))
    assert (problem.place, problem.line) == ("loop_agents[0].agents[0]", None)


@pytest.mark.parametrize(
    ("change", "place", "words"),
    [
        ({"end_state_condition": "payload.get("}, "end_state_condition", "end condition"),
        ({"end_state_condition": "scor > 3"}, "end_state_condition", "scor"),
        ({"isolation": "worktree"}, "isolation", "cannot"),
        ({"merge_strategy": "git-merge"}, "merge_strategy", "cannot"),
        ({"merge": {"score": "sum"}}, "merge.score", "payload.score"),
        ({"merge": {"is_complete": "append"}}, "merge.is_complete", "does not fit"),
        ({"backend": "opncode"}, "backend", "Did you mean opencode?"),
        ({"budget": {"max_tokens": 0}}, "budget.max_tokens", "before its first agent"),
        ({"workdir": "/nowhere/at/all"}, "workdir", "does not exist"),
        ({"init_script": "a\0b"}, "init_script", "NUL"),
        ({"log_dir": "a\0b"}, "log_dir", "NUL"),
        ({"opencode_defaults": {"extra_args": ["a", "b\0"]}}, "opencode_defaults.extra_args", "NUL"),
        ({"opencode_defaults": {"model": "p/m\0"}}, "opencode_defaults.model", "NUL"),
        ({"initial_payload": {"n": 10**30}}, "initial_payload", "cannot be given"),
        (
            {"loop_agents": [{"agents": ["vera"], "isolation": "worktree"}]},
            "loop_agents[0].isolation",
            "cannot",
        ),
        (
            {"loop_agents": [{"agents": ["vera", {"agent": "vera", "backend": "dmo"}]}]},
            "loop_agents[0].agents[1].backend",
            "Did you mean demo?",
        ),
        (
            {"loop_agents": [{"agents": ["vera"], "merge": {"x": "last"}}]},
            "loop_agents[0].merge.x",
            "payload.x",
        ),
    ],
)
def test_what_cannot_run_is_an_error_at_its_place(
    library: AgentLibrary, change: JsonObject, place: str, words: str
) -> None:
    problem = only(check(library, {"loop_agents": ["vera"], **change}))
    assert (problem.place, problem.severity) == (place, Severity.ERROR)
    assert words in problem.text()
    assert problem.line == 1


@pytest.mark.parametrize(
    ("change", "place", "words"),
    [
        ({"retries": 50}, "retries", "hours"),
        ({"max_prompt_bytes": 10}, "max_prompt_bytes", "prompt"),
        (
            {"budget": {"max_cost_usd": 1, "max_cost_usd_per_group": 2}},
            "budget.max_cost_usd_per_group",
            "never reached",
        ),
        ({"loop_agents": ["vera", {"agents": []}]}, "loop_agents[1]", "skipped"),
        ({"loop_agents": ["amala"]}, "end_state_condition", "runs 10 times"),
        (
            {"loop_agents": [{"agents": ["vera", "judge"], "mode": "parallel"}]},
            "loop_agents[0]",
            "vera and judge",
        ),
        (
            {"loop_agents": [{"agents": [{"agent": "vera", "timeout": 60}], "timeout": 30}]},
            "loop_agents[0].agents[0].timeout",
            "60 s",
        ),
    ],
)
def test_what_runs_but_was_hardly_meant_is_a_warning(
    library: AgentLibrary, change: JsonObject, place: str, words: str
) -> None:
    problem = only(check(library, {"loop_agents": ["vera"], **change}))
    assert (problem.place, problem.severity) == (place, Severity.WARNING)
    assert words in problem.text()


@pytest.mark.parametrize(
    "change",
    [
        {"end_state_condition": "payload.get('score', 0) > 3", "loop_agents": ["amala"]},
        {"end_state_condition": "is_complete or iteration > 3", "loop_agents": ["amala"]},
        {"loop_agents": ["amala"], "preparation_agents": ["vera"]},
        {"loop_agents": [{"agents": ["vera", "judge"], "mode": "parallel", "merge": {"is_complete": "all"}}]},
        {"loop_agents": ["vera", {"agents": ["nobody"], "enabled": False}]},
        {"loop_agents": ["vera", {"agents": [{"agent": "nobody", "enabled": False}]}]},
        {"loop_agents": ["vera", {"mode": "fan_out", "agent": "nobody", "enabled": False}]},
    ],
)
def test_what_is_meant_so_is_not_warned_about(library: AgentLibrary, change: JsonObject) -> None:
    assert check(library, change) == []


def test_an_empty_workflow_and_one_with_everything_disabled_cannot_run(library: AgentLibrary) -> None:
    for phase in ([], [{"agents": ["vera"], "enabled": False}]):
        problem = only(check(library, {"loop_agents": phase}))
        assert problem.message == "The workflow has no agents."


def test_a_fan_out_group_is_an_error_that_says_it_is_kept(library: AgentLibrary) -> None:
    tasks = ["x", {"id": "a", "prompt": "p", "depends_on": ["aa"]}, {"id": "a", "prompt": "q"}]
    found = check(library, {"loop_agents": [{"mode": "fan_out", "agent": "vera", "tasks": tasks}]})
    assert [problem.place for problem in found] == [
        "loop_agents[0]",
        "loop_agents[0].tasks[1].id",
        "loop_agents[0].tasks[1].depends_on[0]",
        "loop_agents[0].tasks[2].id",
    ]
    assert "kept" in found[0].message
    assert found[2].suggestion == "Did you mean a?"


def test_problems_in_the_files_of_agents_that_are_used_name_those_files(library: AgentLibrary) -> None:
    found = check(library, {"loop_agents": ["vera", "odd", "empty", "broken", "broken"]})
    by_file = {problem.file.name: problem for problem in found if problem.file is not None}
    assert set(by_file) == {"odd.md", "empty.md", "broken.md"}
    assert by_file["odd.md"].suggestion == "Did you mean opencode?"
    assert by_file["empty.md"].severity is Severity.WARNING
    assert [problem.place for problem in found if problem.file is None] == [
        "loop_agents[0].agents[3]",
        "loop_agents[0].agents[4]",
    ]


def test_an_override_of_the_backend_makes_the_agents_own_irrelevant(library: AgentLibrary) -> None:
    group: JsonObject = {"agents": ["vera", {"agent": "odd", "backend": "demo"}]}
    assert check(library, {"loop_agents": [group]}) == []


def test_a_broken_condition_is_marked_where_it_breaks(library: AgentLibrary) -> None:
    text = '{"loop_agents": ["vera"],\n "end_state_condition": "iteration > scor"}'
    problem = only(check_workflow(parse_workflow(text), library, BACKENDS))
    assert problem.line == 2
    assert problem.column is not None
    assert text.split("\n")[1][problem.column - 1 :].startswith("scor")


def test_a_file_is_checked_in_one_pass_also_where_parts_of_it_cannot_be_read(
    tmp_path: Path, library: AgentLibrary
) -> None:
    path = tmp_path / "w.json"
    path.write_text(
        '{"max_loops": "many", "loop_agents": ["verra"], "max_loop": 3, "workdir": "nope"}', encoding="utf-8"
    )
    found = check_path(path, BACKENDS)
    assert [problem.place for problem in found] == [
        "max_loops",
        "max_loop",
        "workdir",
        "loop_agents[0].agents[0]",
    ]
    assert all(problem.file == path and problem.line == 1 for problem in found)


def test_checking_a_file_that_is_not_there_is_a_problem_too(tmp_path: Path) -> None:
    assert "no such file" in only(check_path(tmp_path / "no.json", BACKENDS)).message
    (tmp_path / "w.json").write_text("{", encoding="utf-8")
    assert only(check_path(tmp_path / "w.json", BACKENDS)).line == 1


def test_a_problem_in_an_agents_file_names_the_agent(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / f"{name}.md").write_text("---\nfoo_unknown: 1\n---\nWork.\n", encoding="utf-8")
    file = parse_workflow('{"preparation_agents": ["one", "two"]}')
    found = [problem.message for problem in check_workflow(file, AgentLibrary(tmp_path))]
    assert [words.split(":")[0] for words in found] == ["Agent one", "Agent two"]
    assert all("The key foo_unknown is not known" in words for words in found)
