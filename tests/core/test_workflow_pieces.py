"""What is copied comes back as it was; what is pasted from anywhere is read, or refused with a sentence."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.config import AgentEntry, AgentGroup, FanOutGroup
from core.workflow_pieces import MOST_AGENTS, MOST_CHARACTERS, PieceError, Pieces, read_pieces, write_pieces
from core.workflow_reading import read_document

WHOLE = """{
  // an older file
  "name": "audit",
  "preparation_agent": "proteus",
  "loop_agents": ["amala", {"agents": ["vera", "linter"], "mode": "parallel"}],
  "budget": {"max_tokens": "no number"},
}"""


def test_agents_with_overrides_and_unknown_keys_come_back() -> None:
    text = '["vera", {"agent": "linter", "model": "opus", "timeout": 60, "note of ours": [1]}]'
    pieces = read_pieces(text)
    assert [entry.agent for entry in pieces.agents] == ["vera", "linter"]
    assert pieces.agents[1].model == "opus"
    assert json.loads(write_pieces(pieces)) == json.loads(text)


def test_groups_with_settings_and_unknown_keys_come_back() -> None:
    group = {"agents": ["vera"], "mode": "parallel", "merge": {"payload.x": "append"}, "colour": "red"}
    fan_out = {"mode": "fan_out", "agent": "worker", "tasks": ["a", {"prompt": "b", "id": "2"}], "mine": {}}
    pieces = read_pieces(json.dumps([group, fan_out]))
    assert len(pieces.groups) == 2
    assert json.loads(write_pieces(pieces)) == [group, fan_out]


def test_of_a_whole_file_the_groups_are_read_by_phase_and_the_rest_is_left_out() -> None:
    pieces = read_pieces(WHOLE)
    assert {phase: len(groups) for phase, groups in pieces.phases.items()} == {"preparation": 1, "loop": 2}
    assert pieces.names == ["proteus", "amala", "vera", "linter"]


@pytest.mark.parametrize(
    ("cut_out", "names"),
    [
        ('"vera"', ["vera"]),
        ('"vera", "linter",\n', ["vera", "linter"]),
        ('{ "agents": ["vera"], "mode": "parallel" },', ["vera"]),
        ('"loop_agents": ["amala", {"agents": ["vera"]}], // the end', ["amala", "vera"]),
        ('"agents": ["vera", "linter"]', ["vera", "linter"]),
        ('{"agent": "vera", "model": "opus"}', ["vera"]),
        ('["amala", {"agents": ["vera"]}, {"agent": "linter"}]', ["amala", "vera", "linter"]),
    ],
)
def test_what_somebody_cut_out_of_a_file_is_read(cut_out: str, names: list[str]) -> None:
    assert read_pieces(cut_out).names == names


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "no agents"),
        ("Dear all, the audit is done.", "no piece of a workflow"),
        ("[1, 2]", "not the name of an agent"),
        ('{"agents": 3}', "agents must be a list"),
        ('{"agents": ["a"], "mode": "paralel"}', "mode must be one of"),
        ('{"max_loops": 3}', "no piece of a workflow"),
        ('["vera", ""]', "no name"),
        ('{"loop_agents": []}', "no agents and no groups"),
        ('{"loop_agents": 7}', "not a list"),
        ('{"loop_agents": [', "looks like a workflow"),
        ("[" * 50_000, "looks like a workflow"),
        ('"a",' * (MOST_AGENTS + 1), "at most 1,000"),
        ('"' + "a" * MOST_CHARACTERS + '"', "too much"),
    ],
)
def test_anything_else_is_refused_with_a_sentence(text: str, words: str) -> None:
    with pytest.raises(PieceError, match=words) as refused:
        read_pieces(text)
    assert len(str(refused.value)) < 200
    assert str(refused.value).endswith((".", "?"))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(["agents", "agent", "mode", "loop_agents", "tasks", "preparation_agent", "x"]),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@given(JSON)
def test_whatever_is_read_can_be_copied_and_pasted_again(value: object) -> None:
    try:
        pieces = read_pieces(json.dumps(value))
    except PieceError:
        return
    assert read_pieces(write_pieces(pieces)).names == pieces.names
    assert read_pieces(write_pieces(pieces)).all_groups == pieces.all_groups


def test_what_is_copied_can_be_pasted_into_a_file() -> None:
    pieces = Pieces(
        groups=(
            AgentGroup(agents=[AgentEntry(agent="vera", model="opus")], mode="parallel"),
            FanOutGroup(mode="fan_out", agent="worker", tasks_from="payload.tasks"),
        )
    )
    workflow, findings = read_document({"loop_agents": json.loads(write_pieces(pieces))})
    assert not findings
    assert workflow is not None
    assert tuple(workflow.loop_agents) == pieces.groups
