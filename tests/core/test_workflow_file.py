"""Workflow files: what is read, what is refused, and what a file looks like when it is saved again."""

from __future__ import annotations

import json
import os
import stat
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.config import AgentEntry, AgentGroup, FanOutGroup, Workflow, WorkflowFile
from core.json_types import JsonObject, JsonValue
from core.problems import Problem, Severity, UserFileError
from core.workflow_file import (
    dump_workflow,
    inspect_workflow,
    load_workflow,
    parse_workflow,
    save_workflow,
)

EXAMPLE = """{
  "name": "audit",
  "preparation_agents": ["proteus"],
  "loop_agents": [
    { "agents": ["amala"], "mode": "sequential" },
    { "agents": ["vera", "linter", "security_auditor"], "mode": "parallel" }
  ],
  "finalization_agents": ["consolidator"],
  "end_state_condition": "payload.get('score', 0) >= 90",
  "max_loops": 10,
  "max_parallel_agents": 4
}
"""


def parsed(document: JsonValue) -> WorkflowFile:
    return parse_workflow(json.dumps(document))


def dumped(file: WorkflowFile) -> JsonObject:
    document = json.loads(dump_workflow(file))
    assert isinstance(document, dict)
    return document


def names(file: WorkflowFile) -> list[list[str]]:
    """The agents of the loop, by group."""
    return [
        [entry.agent for entry in group.agents]
        for group in file.workflow.loop_agents
        if isinstance(group, AgentGroup)
    ]


def plain(*agents: str) -> AgentGroup:
    return AgentGroup(agents=[AgentEntry(agent=agent) for agent in agents])


def problems_of(text: str) -> list[Problem]:
    with pytest.raises(UserFileError) as raised:
        parse_workflow(text)
    return raised.value.problems


# --- reading ------------------------------------------------------------------------------------------


def test_the_example_of_the_documentation_is_read() -> None:
    file = parse_workflow(EXAMPLE)
    assert names(file) == [["amala"], ["vera", "linter", "security_auditor"]]
    assert [group.mode for group in file.workflow.loop_agents] == ["sequential", "parallel"]
    assert file.workflow.max_loops == 10
    assert file.warnings == []


def test_neighbouring_strings_form_one_group_between_groups() -> None:
    file = parsed({"loop_agents": ["a", "b", {"agents": ["c"], "mode": "parallel"}, "d", "e"]})
    assert names(file) == [["a", "b"], ["c"], ["d", "e"]]


def test_singular_keys_of_the_older_format_are_read() -> None:
    file = parsed({"preparation_agent": "p", "loop_agents": ["a"], "finalization_agent": None})
    assert file.workflow.preparation_agents == [plain("p")]
    assert file.workflow.finalization_agents == []


def test_an_entry_may_have_overrides_of_its_own() -> None:
    file = parsed({"loop_agents": [{"agents": ["a", {"agent": "a", "timeout": 5, "backend": "demo"}]}]})
    (group,) = file.workflow.loop_agents
    assert isinstance(group, AgentGroup)
    assert group.agents[1] == AgentEntry(agent="a", timeout=5, backend="demo")


def test_a_fan_out_group_is_read_and_kept() -> None:
    group = {
        "mode": "fan_out",
        "agent": "w",
        "tasks": ["x", {"id": "t", "prompt": "p", "own": 1}],
        "odd": [1],
    }
    file = parsed({"loop_agents": [group]})
    assert isinstance(file.workflow.loop_agents[0], FanOutGroup)
    file.workflow.max_loops = 3
    assert dumped(file)["loop_agents"] == [group]


def test_all_problems_are_told_in_one_pass_each_with_its_place_and_position() -> None:
    text = """{
  "preparation_agent": ["a"],
  "loop_agents": [
    3,
    { "agents": ["x", { "agent": 3 }], "mode": "paralel", "timeout": -1 },
    { "agent": "b" },
    { "mode": "fan_out", "tasks": [7] }
  ],
  "merge": { "payload.x": "lst" },
  "budget": { "max_tokens": true },
  "max_loops": "many",
  "on_parallel_error": "abrt"
}"""
    found = {(problem.place, problem.line, problem.column) for problem in problems_of(text)}
    assert found == {
        ("preparation_agent", 2, 24),
        ("loop_agents[0]", 4, 5),
        ("loop_agents[1].agents[1].agent", 5, 34),
        ("loop_agents[1].mode", 5, 48),
        ("loop_agents[1].timeout", 5, 70),
        ("loop_agents[2]", 6, 5),
        ("loop_agents[3]", 7, 5),
        ("loop_agents[3].tasks[0]", 7, 36),
        ('merge["payload.x"]', 9, 27),
        ("budget.max_tokens", 10, 29),
        ("max_loops", 11, 16),
        ("on_parallel_error", 12, 24),
    }


@pytest.mark.parametrize(
    ("document", "suggestion"),
    [
        ({"loop_agents": [{"agents": ["a"], "mode": "paralel"}]}, "Did you mean parallel?"),
        ({"on_missing_state": "aks"}, "Did you mean ask?"),
        ({"loop_agents": [{"agent": "a", "timeout": 3}]}, 'Write {"agents": [{"agent": ...}]}.'),
        ({"loop_agents": [{"agent": "a", "tasks": []}]}, 'Add "mode": "fan_out".'),
        ({"loop_agents": "a"}, "Put it into [ ]."),
        ({"preparation_agent": "a", "preparation_agents": ["b"]}, "Keep preparation_agents only."),
    ],
)
def test_a_problem_says_what_to_do(document: JsonValue, suggestion: str) -> None:
    (problem,) = problems_of(json.dumps(document))
    assert problem.suggestion == suggestion


@pytest.mark.parametrize("text", ["[]", '"x"', "null", "{", "{}}"])
def test_what_is_no_workflow_at_all_is_a_problem(text: str) -> None:
    assert len(problems_of(text)) == 1


@pytest.mark.parametrize(
    ("key", "meant"),
    [("max_loop", "max_loops"), ("maxLoops", "max_loops"), ("loop_agent", "loop_agents"), ("qzx", "")],
)
def test_an_unknown_key_is_a_warning_that_offers_the_nearest_known_one(key: str, meant: str) -> None:
    (warning,) = parse_workflow('{\n  "%s": 3 }' % key).warnings  # noqa: UP031 - braces
    assert warning.severity is Severity.WARNING
    assert (warning.place, warning.line, warning.column) == (key, 2, 3)
    assert warning.suggestion == (f"Did you mean {meant}?" if meant else "")


def test_unknown_keys_are_named_at_every_level() -> None:
    file = parsed(
        {
            "$schema": "kept silently",
            "loop_agents": [{"agents": [{"agent": "a", "tmeout": 1}], "max_paralel": 2}],
            "budget": {"max_cost": 1},
            "opencode_defaults": {"modl": "x"},
        }
    )
    assert [(warning.place, warning.suggestion) for warning in file.warnings] == [
        ("loop_agents[0].agents[0].tmeout", "Did you mean timeout?"),
        ("loop_agents[0].max_paralel", "Did you mean max_parallel?"),
        ("budget.max_cost", "Did you mean max_cost_usd?"),
        ("opencode_defaults.modl", "Did you mean model?"),
    ]


def test_a_file_with_comments_is_warned_that_saving_loses_them() -> None:
    (warning,) = parse_workflow("{} // mine").warnings
    assert "comments" in warning.message
    assert parse_workflow("{}").warnings == []


def test_what_can_be_read_of_a_broken_file_is_there_for_further_checks() -> None:
    inspection = inspect_workflow('{"loop_agents": ["a"], "max_loops": "x"}')
    assert inspection.file is not None
    assert names(inspection.file) == [["a"]]
    assert [problem.place for problem in inspection.errors] == ["max_loops"]


# --- writing: the form of the file stays --------------------------------------------------------------


def test_the_example_is_written_as_it_was_read_to_the_letter() -> None:
    assert dump_workflow(parse_workflow(EXAMPLE)) == EXAMPLE


def test_a_file_of_strings_stays_one_until_a_group_is_made() -> None:
    file = parsed({"preparation_agent": "p", "loop_agents": ["a", "b"], "finalization_agents": ["f"]})
    loop = file.workflow.loop_agents[0]
    assert isinstance(loop, AgentGroup)
    loop.agents.append(AgentEntry(agent="c"))
    assert dumped(file) == {
        "preparation_agent": "p",
        "loop_agents": ["a", "b", "c"],
        "finalization_agents": ["f"],
    }
    loop.mode = "parallel"
    assert dumped(file) == {
        "preparation_agent": "p",
        "loop_agents": [{"agents": ["a", "b", "c"], "mode": "parallel"}],
        "finalization_agents": ["f"],
    }


@pytest.mark.parametrize(
    "change",
    [{"name": "x"}, {"timeout": 60.0}, {"enabled": False}, {"merge": {"payload.x": "sum"}}, {"own": 1}],
)
def test_a_group_with_settings_of_its_own_is_written_as_a_group(change: dict[str, JsonValue]) -> None:
    file = parsed({"loop_agents": ["a"]})
    file.workflow.loop_agents = [AgentGroup.model_validate({"agents": [{"agent": "a"}], **change})]
    assert dumped(file)["loop_agents"] == [{"agents": ["a"], "mode": "sequential", **change}]


def test_an_agent_with_overrides_is_no_bare_string_any_more() -> None:
    file = parsed({"loop_agents": ["a", "b"]})
    group = file.workflow.loop_agents[0]
    assert isinstance(group, AgentGroup)
    group.agents[1].timeout = 30
    assert dumped(file)["loop_agents"] == [
        {"agents": ["a", {"agent": "b", "timeout": 30}], "mode": "sequential"}
    ]
    group.agents[1].timeout = None
    assert dumped(file)["loop_agents"] == ["a", "b"]


def test_two_neighbouring_groups_do_not_run_together() -> None:
    file = parsed({"loop_agents": ["a", {"agents": ["x"], "mode": "parallel"}, "b"]})
    del file.workflow.loop_agents[1]
    again = parse_workflow(dump_workflow(file))
    assert names(again) == [["a"], ["b"]]


def test_a_singular_key_becomes_a_list_with_its_second_agent_and_stays_in_its_place() -> None:
    file = parsed({"preparation_agent": "p", "loop_agents": ["a"]})
    file.workflow.preparation_agents = [plain("q")]
    assert next(iter(dumped(file).items())) == ("preparation_agent", "q")
    file.workflow.preparation_agents = [plain("q", "r")]
    assert next(iter(dumped(file).items())) == ("preparation_agents", ["q", "r"])
    file.workflow.preparation_agents = []
    assert list(dumped(file)) == ["loop_agents"]


def test_unknown_keys_keep_their_value_and_place_at_every_level_through_a_change() -> None:
    document: JsonObject = {
        "zeta": [1, {"a": None}],
        "max_loops": 3,
        "loop_agents": [
            {"own": {"x": 1}, "mode": "parallel", "agents": [{"note": "n", "agent": "a"}, "b"], "z": 0}
        ],
        "budget": {"mine": 1, "max_tokens": 5},
        "alpha": True,
    }
    file = parsed(document)
    file.workflow.max_loops = 4
    file.workflow.budget.max_tokens = 6
    group = file.workflow.loop_agents[0]
    assert isinstance(group, AgentGroup)
    group.max_parallel = 2
    group.agents[0].timeout = 9
    written = json.loads(dump_workflow(file), object_pairs_hook=lambda pairs: pairs)
    assert [key for key, _ in written] == list(document)
    pairs = dict(written)
    assert pairs["budget"] == [("mine", 1), ("max_tokens", 6)]
    loop = dict(pairs["loop_agents"][0])
    assert [key for key in loop if key != "max_parallel"] == ["own", "mode", "agents", "z"]
    assert loop["max_parallel"] == 2
    assert loop["agents"] == [[("note", "n"), ("agent", "a"), ("timeout", 9)], "b"]


def test_defaults_are_not_added_and_values_keep_their_form() -> None:
    document: JsonObject = {"agent_timeout": 60, "max_loops": "7", "loop_agents": [], "name": "n"}
    file = parsed(document)
    file.workflow.name = "m"
    assert dumped(file) == {**document, "name": "m"}


def test_a_new_key_stands_where_one_would_look_for_it() -> None:
    file = parsed({"name": "n", "preparation_agents": ["p"], "max_loops": 3})
    file.workflow.loop_agents = [plain("a")]
    assert list(dumped(file)) == ["name", "preparation_agents", "loop_agents", "max_loops"]


def test_a_value_of_a_payload_that_only_changes_its_kind_is_written() -> None:
    file = parsed({"initial_payload": {"flag": 1}})
    file.workflow.initial_payload = {"flag": True}
    assert '"flag": true' in dump_workflow(file)


def test_a_moved_group_takes_its_form_along() -> None:
    group: JsonObject = {"z": 1, "agents": [{"agent": "a"}], "mode": "parallel"}
    file = parsed({"preparation_agents": [group], "loop_agents": ["b"]})
    file.workflow.loop_agents.append(file.workflow.preparation_agents.pop())
    assert json.dumps(dumped(file)) == json.dumps({"preparation_agents": [], "loop_agents": ["b", group]})


def test_a_new_workflow_says_what_it_is() -> None:
    workflow = Workflow(name="new", loop_agents=[plain("a")])
    assert dumped(WorkflowFile(workflow=workflow)) == {
        "name": "new",
        "preparation_agents": [],
        "loop_agents": ["a"],
        "finalization_agents": [],
        "end_state_condition": "is_complete == True",
        "max_loops": 10,
    }


def test_a_large_payload_is_written_whole() -> None:
    payload: JsonObject = {"rows": [{"id": index, "text": "line\nbreak ü"} for index in range(10_000)]}
    file = WorkflowFile(workflow=Workflow(initial_payload=payload))
    assert dumped(file)["initial_payload"] == payload


# --- any file -----------------------------------------------------------------------------------------

WORDS = st.text("abcxyz_ äß", min_size=1, max_size=6)
SCALARS: st.SearchStrategy[JsonValue] = (
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | WORDS
)
ANYTHING: st.SearchStrategy[JsonValue] = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=3),
    max_leaves=6,
)
OWN_KEYS = st.dictionaries(WORDS.map(lambda word: f"own {word}"), ANYTHING, max_size=2)
RULES = st.dictionaries(WORDS, st.sampled_from(["last", "append", "all"]), max_size=2)


def objects(
    required: dict[str, st.SearchStrategy[JsonValue]], optional: dict[str, st.SearchStrategy[JsonValue]]
) -> st.SearchStrategy[JsonObject]:
    """Objects with known keys and unknown ones, in any order."""
    known = st.fixed_dictionaries(required, optional=optional)
    return st.tuples(known, OWN_KEYS).flatmap(
        lambda parts: st.permutations([*parts[0].items(), *parts[1].items()]).map(dict)
    )


TIMEOUTS = st.none() | st.integers(0, 99) | st.floats(0, 99)
POLICIES: dict[str, st.SearchStrategy[JsonValue]] = {
    "name": st.none() | WORDS,
    "timeout": TIMEOUTS,
    "max_parallel": st.none() | st.integers(1, 9),
    "on_parallel_error": st.sampled_from([None, "abort", "continue"]),
    "merge": st.none() | RULES,
    "enabled": st.booleans(),
}
ENTRIES = WORDS | objects({"agent": WORDS}, {"timeout": TIMEOUTS, "model": WORDS, "enabled": st.booleans()})
GROUPS = objects(
    {"agents": st.lists(ENTRIES, max_size=3)},
    {"mode": st.sampled_from(["sequential", "parallel"]), **POLICIES},
)
FAN_OUTS = objects(
    {"mode": st.just("fan_out"), "agent": WORDS},
    {"tasks": st.lists(WORDS | objects({"prompt": WORDS}, {"id": WORDS}), max_size=3), **POLICIES},
)
PHASE = st.lists(WORDS | GROUPS | FAN_OUTS, max_size=5)
WORKFLOWS = objects(
    {},
    {
        "name": WORDS,
        "preparation_agents": PHASE,
        "loop_agents": PHASE,
        "finalization_agent": st.none() | WORDS,
        "max_loops": st.integers(1, 99) | st.integers(1, 99).map(str) | st.integers(1, 9).map(float),
        "agent_timeout": st.integers(0, 99),
        "merge": RULES,
        "budget": objects({}, {"max_cost_usd": st.none() | st.integers(0, 9)}),
        "opencode_defaults": objects({}, {"model": WORDS, "extra_args": st.lists(WORDS, max_size=2)}),
        "initial_payload": st.dictionaries(WORDS, ANYTHING, max_size=3),
    },
)


def same(one: object, other: object) -> bool:
    """Equal as JSON documents, with the order of keys."""
    return json.dumps(one) == json.dumps(other)


@settings(max_examples=100, deadline=None)
@given(WORKFLOWS)
def test_any_file_that_is_loaded_and_saved_unchanged_is_the_same_document(document: JsonObject) -> None:
    assert same(dumped(parsed(document)), document)


@settings(max_examples=70, deadline=None)
@given(WORKFLOWS, WORKFLOWS)
def test_any_workflow_survives_being_saved_in_the_form_of_any_other_file(
    one: JsonObject, other: JsonObject
) -> None:
    """As after any number of edits: nothing but the model and the old text decides what is written."""
    workflow = parsed(one).workflow
    text = dump_workflow(WorkflowFile(workflow=workflow, text=json.dumps(other)))
    read = parse_workflow(text).workflow
    assert read == workflow
    # Also what compares as equal, such as true and 1, and the order of unknown keys.
    assert same(without_order(read.model_dump(mode="json")), without_order(workflow.model_dump(mode="json")))


def without_order(value: object) -> object:
    return json.loads(json.dumps(value, sort_keys=True))


@settings(max_examples=100, deadline=None)
@given(WORKFLOWS, st.integers(100, 200))
def test_a_change_of_one_value_leaves_every_other_value_of_the_file_alone(
    document: JsonObject, loops: int
) -> None:
    file = parsed(document)
    file.workflow.max_loops = loops
    written = dumped(file)
    assert written.pop("max_loops") == loops
    document.pop("max_loops", None)
    assert same(written, document)


@settings(max_examples=120, deadline=None)
@given(st.dictionaries(st.sampled_from(list(Workflow.model_fields)), ANYTHING | PHASE, max_size=5))
def test_no_document_makes_the_reader_fail_and_every_problem_has_a_line(document: JsonObject) -> None:
    inspection = inspect_workflow(json.dumps(document))
    assert all(problem.line is not None and problem.column is not None for problem in inspection.problems)
    if not inspection.errors:
        assert inspection.file is not None
        assert same(dumped(inspection.file), document)


# --- saving -------------------------------------------------------------------------------------------


def test_a_saved_file_is_read_again_as_the_same_workflow(tmp_path: Path) -> None:
    path = tmp_path / "w.json"
    path.write_text(EXAMPLE, encoding="utf-8")
    file = load_workflow(path)
    file.workflow.name = "übung"
    saved = save_workflow(file, path)
    assert load_workflow(path).workflow == file.workflow
    assert saved.text == path.read_text(encoding="utf-8")
    assert [item.name for item in tmp_path.iterdir()] == ["w.json"]


@pytest.mark.skipif(sys.platform == "win32", reason="permissions of this kind are POSIX")
def test_saving_keeps_permissions_and_follows_links(tmp_path: Path) -> None:
    target = tmp_path / "real" / "w.json"
    target.parent.mkdir()
    target.write_text("{}", encoding="utf-8")
    target.chmod(0o640)
    link = tmp_path / "link.json"
    link.symlink_to(target)
    save_workflow(WorkflowFile(workflow=Workflow(name="x")), link)
    assert link.is_symlink()
    assert load_workflow(target).workflow.name == "x"
    assert stat.S_IMODE(target.stat().st_mode) == 0o640


@pytest.mark.skipif(sys.platform == "win32", reason="permissions of this kind are POSIX")
def test_a_new_file_gets_the_permissions_of_any_new_file(tmp_path: Path) -> None:
    (tmp_path / "other").touch()
    save_workflow(WorkflowFile(workflow=Workflow()), tmp_path / "w.json")
    assert (tmp_path / "w.json").stat().st_mode == (tmp_path / "other").stat().st_mode


def test_a_save_that_fails_half_way_leaves_the_old_file_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "w.json"
    path.write_text(EXAMPLE, encoding="utf-8")

    def full_disk(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full_disk)
    with pytest.raises(UserFileError, match="No space left on device") as raised:
        save_workflow(WorkflowFile(workflow=Workflow()), path)
    assert raised.value.problems[0].file == path
    assert path.read_text(encoding="utf-8") == EXAMPLE
    assert [item.name for item in tmp_path.iterdir()] == ["w.json"]


def test_saving_where_nothing_can_be_saved_says_why(tmp_path: Path) -> None:
    with pytest.raises(UserFileError, match="folder does not exist"):
        save_workflow(WorkflowFile(workflow=Workflow()), tmp_path / "no" / "w.json")
    with pytest.raises(UserFileError, match="folder has this name"):
        save_workflow(WorkflowFile(workflow=Workflow()), tmp_path)
