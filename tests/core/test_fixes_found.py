"""Edits that the check of a workflow offers: of conditions, unknown keys, agents that are not there."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.agent import AgentLibrary
from core.check import check_workflow
from core.fixes import ChangeSetting, Fix, MakeAgent, RemoveAgent, RenameKey, ReplaceAgent
from core.problems import Problem
from core.workflow_file import load_workflow


def problems(folder: Path, text: str) -> list[Problem]:
    agents = folder / "agents"
    agents.mkdir(exist_ok=True)
    (agents / "vera.md").write_text("---\nname: vera\nrole: auditor\n---\nTest.\n", encoding="utf-8")
    path = folder / "w.json"
    path.write_text(text, encoding="utf-8")
    return check_workflow(load_workflow(path), AgentLibrary(agents))


def fixes(folder: Path, text: str) -> list[Fix]:
    return [
        fix for each in problems(folder, text) for fix in (each.fix, *each.other_fixes) if fix is not None
    ]


@pytest.mark.parametrize(
    ("condition", "better", "what"),
    [
        ("is_complet", "is_complete", "is_complete"),
        ("  iteration > 2 and is_complet", "  iteration > 2 and is_complete", "is_complete"),
        ("'ä' == 'ä' and is_complet", "'ä' == 'ä' and is_complete", "is_complete"),
        ("payload.scroe > 3", "payload.get('scroe') > 3", "payload.get('scroe')"),
        ("score > 3", "payload.get('score') > 3", "payload.get('score')"),
        ("lenn([1]) > 3", "len([1]) > 3", "len"),
    ],
)
def test_a_wrong_name_in_a_condition_is_replaced(
    tmp_path: Path, condition: str, better: str, what: str
) -> None:
    text = f'{{"loop_agents": ["vera"], "end_state_condition": "{condition}"}}'
    assert ChangeSetting("end_state_condition", better, what) in fixes(tmp_path, text)


@pytest.mark.parametrize("condition", ["xyzzy(1)", "__import__", "payload.__class__", "1 + (\\n foo)"])
def test_what_is_not_certain_is_not_offered(tmp_path: Path, condition: str) -> None:
    text = f'{{"loop_agents": ["vera"], "end_state_condition": "{condition}"}}'
    found = problems(tmp_path, text)
    assert found
    assert [each.fix for each in found] == [None] * len(found)


@pytest.mark.parametrize(
    ("text", "fix"),
    [
        ('{"loop_agents": ["vera"], "max_loop": 3}', RenameKey("workflow", "max_loop", "max_loops")),
        (
            '{"loop_agents": ["vera"], "budget": {"max_token": 3}}',
            RenameKey("budget", "max_token", "max_tokens"),
        ),
        (
            '{"loop_agents": [{"agents": ["vera"], "mode": "parallel", "max_paralel": 2}]}',
            RenameKey("group", "max_paralel", "max_parallel"),
        ),
        (
            '{"loop_agents": [{"agents": [{"agent": "vera", "timeot": 2}], "mode": "parallel"}]}',
            RenameKey("agent", "timeot", "timeout"),
        ),
    ],
)
def test_an_unknown_key_is_renamed_to_the_one_that_was_meant(tmp_path: Path, text: str, fix: Fix) -> None:
    assert fixes(tmp_path, text) == [fix]


@pytest.mark.parametrize(
    "text",
    [
        '{"loop_agents": ["vera"], "max_loop": "many"}',
        '{"loop_agents": ["vera"], "max_loop": 0}',
        '{"loop_agents": ["vera"], "max_loop": true}',
        '{"loop_agents": ["vera"], "max_loop": 3, "max_loops": 2}',
        '{"loop_agents": ["vera"], "finalization_agent_": ["vera"]}',
    ],
)
def test_a_key_is_not_renamed_where_its_value_could_not_be(tmp_path: Path, text: str) -> None:
    assert problems(tmp_path, text) != []
    assert fixes(tmp_path, text) == []


def test_an_agent_that_is_not_there_is_made_or_removed(tmp_path: Path) -> None:
    assert fixes(tmp_path, '{"loop_agents": ["vera", "nobody"]}') == [
        MakeAgent("nobody"),
        RemoveAgent("loop", 0, 1, "nobody"),
    ]


def test_of_a_mistyped_agent_the_one_that_was_meant_comes_first(tmp_path: Path) -> None:
    assert fixes(tmp_path, '{"loop_agents": ["verra"]}') == [
        ReplaceAgent("loop", 0, 0, "verra", "vera"),
        MakeAgent("verra"),
        RemoveAgent("loop", 0, 0, "verra"),
    ]
