"""How updates become the next state."""

from __future__ import annotations

import copy
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.json_types import JsonObject, JsonValue
from core.json_values import same_json
from core.merge import merge_updates
from core.merge_rules import merge_rule_problem
from core.state import Contribution, MergeResult, MergeRule, StateUpdate, WorkflowState
from core.state_path import format_path, parse_path

# --- shorthand ----------------------------------------------------------------------------------------


def merge(
    *payloads: JsonObject, old: JsonObject | None = None, rules: dict[str, MergeRule] | None = None
) -> MergeResult:
    """Merge payloads of the writers a, b, c …"""
    contributions = [
        Contribution(chr(ord("a") + index), StateUpdate(payload=payload))
        for index, payload in enumerate(payloads)
    ]
    return merge_updates(WorkflowState(payload=old or {}), contributions, rules or {})


def outcome(*values: JsonValue, rule: str, old: JsonValue = None) -> JsonValue:
    """What a rule on `payload.x` makes of the values."""
    result = merge(
        *({"x": value} for value in values),
        old={} if old is None else {"x": old},
        rules={"payload.x": MergeRule(rule)},
    )
    return result.state.payload["x"]


# --- the default --------------------------------------------------------------------------------------


def test_objects_are_merged_deeply_and_everything_else_is_replaced_by_the_last() -> None:
    result = merge(
        {"review": {"vera": {"score": 3}}, "list": [1, 2]},
        {"review": {"vera": {"notes": "ok"}, "linter": {}}, "list": [3]},
        old={"review": {"vera": {"since": 1}}, "untouched": True},
    )
    assert result.state.payload == {
        "review": {"vera": {"since": 1, "score": 3, "notes": "ok"}, "linter": {}},
        "untouched": True,
        "list": [3],
    }
    assert [conflict.path for conflict in result.conflicts] == ["payload.list"]


def test_a_conflict_names_both_writers_both_values_the_rule_and_the_outcome() -> None:
    (conflict,) = merge({"score": 70}, {"score": 90}).conflicts
    assert (conflict.path, conflict.rule, conflict.outcome) == ("payload.score", MergeRule.LAST, 90)
    assert (conflict.first_writer, conflict.first_value) == ("a", 70)
    assert (conflict.second_writer, conflict.second_value) == ("b", 90)


def test_equal_values_and_writing_over_the_old_state_are_no_conflicts() -> None:
    """Pain 16: only updates of one group can conflict with each other."""
    result = merge({"x": 1, "y": [1, {"z": None}]}, {"x": 1.0, "y": [1, {"z": None}]}, old={"x": 5, "y": 6})
    assert result.conflicts == ()
    assert result.state.payload["x"] == 1


def test_true_and_one_are_different_values() -> None:
    assert len(merge({"x": True}, {"x": 1}).conflicts) == 1
    assert len(merge({"x": [{"y": 0}]}, {"x": [{"y": False}]}).conflicts) == 1


def test_an_object_against_something_else_is_a_conflict_that_the_last_wins() -> None:
    result = merge({"x": {"lost": 1}}, {"x": 5}, {"x": {"kept": 2}}, old={"x": {"old": 0}})
    assert result.state.payload == {"x": {"kept": 2}}
    assert [(c.path, c.first_writer, c.second_writer) for c in result.conflicts] == [
        ("payload.x", "a", "b"),
        ("payload.x", "b", "c"),
    ]
    assert all(conflict.outcome == {"kept": 2} for conflict in result.conflicts)


def test_every_writer_who_disagrees_is_named() -> None:
    result = merge({"x": 1}, {"x": 2}, {"x": 2}, {"x": 3})
    assert [(c.first_writer, c.second_writer) for c in result.conflicts] == [("a", "b"), ("c", "d")]


def test_what_an_agent_cannot_write_stays() -> None:
    state = WorkflowState("loop", 4, True, "why", {"a": 1}, {"run": "r1"})
    result = merge_updates(state, [Contribution("a", StateUpdate(payload={"meta": {"run": "x"}}))], {})
    assert result.state == WorkflowState(
        "loop", 4, True, "why", {"a": 1, "meta": {"run": "x"}}, {"run": "r1"}
    )


def test_completion_and_reason_follow_the_last_who_said_something() -> None:
    said = [StateUpdate(True, "good"), StateUpdate(None, None), StateUpdate(False, None)]
    result = merge_updates(WorkflowState(), [Contribution(str(i), u) for i, u in enumerate(said)], {})
    assert (result.state.is_complete, result.state.termination_reason) == (False, "good")
    assert [c.path for c in result.conflicts] == ["is_complete"]


def test_no_updates_change_nothing() -> None:
    state = WorkflowState(payload={"a": 1})
    assert merge_updates(state, [], {"payload.a": MergeRule.SUM}) == MergeResult(state)


# --- rules --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rule", "values", "old", "expected"),
    [
        ("first", [1, 2, 3], 0, 1),
        ("last", [1, 2, 3], 0, 3),
        ("append", [[1], [2, 2]], [0], [0, 1, 2, 2]),
        ("append", [[1]], [0], [0, 1]),
        ("append", [{"file": "a"}, None, "b"], "old", ["old", {"file": "a"}, "b"]),
        (
            "union",
            [[2, 1], [1.0, True, {"a": 1, "b": 2}]],
            [1, {"b": 2, "a": 1}],
            [1, {"b": 2, "a": 1}, 2, True],
        ),
        ("sum", [1, 2.5], 100, 3.5),
        ("sum", [2**62, 2**62, 2**62], None, float(3 * 2**62)),
        ("max", [1, 7, 3], 100, 7),
        ("min", [4, 7, 3], 1, 3),
        ("all", [True, False], True, False),
        ("all", [True, True], False, True),
        ("any", [False, True], False, True),
        ("any", [False, False], True, False),
        ("error", [1, 2], 0, 2),
    ],
)
def test_a_rule_decides_its_path(
    rule: str, values: list[JsonValue], old: JsonValue, expected: JsonValue
) -> None:
    assert same_json(outcome(*values, rule=rule, old=old), expected)


@pytest.mark.parametrize(
    ("rule", "values"),
    [
        ("sum", [1, "two"]),
        ("sum", [1, True]),
        ("max", [True, 5]),
        ("min", [[1], 2]),
        ("all", [True, 1]),
        ("sum", [1.7e308, 1.6e308, -1]),
    ],
)
def test_a_rule_that_does_not_fit_leaves_it_to_the_last_and_says_so(
    rule: str, values: list[JsonValue]
) -> None:
    result = merge(*({"x": value} for value in values), rules={"payload.x": MergeRule(rule)})
    assert same_json(result.state.payload["x"], values[-1])
    assert [conflict.path for conflict in result.conflicts] == ["payload.x"] * (len(values) - 1)


def test_conflicts_are_recorded_whatever_the_rule() -> None:
    for rule in MergeRule:
        result = merge({"x": [1]}, {"x": [2]}, rules={"payload.x": rule})
        assert [(c.path, c.rule) for c in result.conflicts] == [("payload.x", rule)]
        assert result.conflicts[0].outcome == result.state.payload["x"]


def test_completion_by_all_needs_everybody_who_said_something() -> None:
    rules = {"is_complete": MergeRule.ALL}

    def complete(*said: bool | None) -> bool:
        contributions = [Contribution(str(i), StateUpdate(is_complete=s)) for i, s in enumerate(said)]
        return merge_updates(WorkflowState(), contributions, rules).state.is_complete

    assert complete(True, None, True)
    assert not complete(True, False, True)
    assert not complete(None, None)


def test_the_rule_error_names_the_path_that_ends_the_run() -> None:
    rules = {"payload.plan": MergeRule.ERROR, "payload.plan.notes": MergeRule.LAST}
    assert merge({"plan": {"a": 1}}, {"plan": {"b": 2}}, rules=rules).error_path is None
    assert merge({"plan": {"notes": 1}}, {"plan": {"notes": 2}}, rules=rules).error_path is None
    assert (
        merge({"plan": {"a": {"b": 1}}}, {"plan": {"a": {"b": 2}}}, rules=rules).error_path
        == "payload.plan.a.b"
    )
    assert merge({"plan": {"a": 1}}, {"plan": 2}, rules=rules).error_path == "payload.plan"


def test_first_holds_for_everything_below_its_path() -> None:
    result = merge({"plan": {"a": 1}}, {"plan": {"a": 2, "b": 2}}, rules={"payload.plan": MergeRule.FIRST})
    assert result.state.payload == {"plan": {"a": 1, "b": 2}}


def test_a_rule_reaches_a_path_of_any_depth_and_a_key_with_a_dot() -> None:
    rules = {'payload.by_file["src/a.py"].issues': MergeRule.APPEND}
    result = merge(
        {"by_file": {"src/a.py": {"issues": [1]}}}, {"by_file": {"src/a.py": {"issues": [2]}}}, rules=rules
    )
    assert result.state.payload == {"by_file": {"src/a.py": {"issues": [1, 2]}}}
    assert result.conflicts[0].path == 'payload.by_file["src/a.py"].issues'


def test_the_payload_stays_an_object_whatever_the_rules() -> None:
    rules = {"payload": MergeRule.APPEND, "is_complete": MergeRule.SUM, "termination_reason": MergeRule.UNION}
    updates = [Contribution(w, StateUpdate(True, "r", {"x": 1})) for w in "ab"]
    state = merge_updates(WorkflowState(), updates, rules).state
    assert state == WorkflowState(is_complete=True, termination_reason="r", payload={"x": 1})


# --- paths --------------------------------------------------------------------------------------------


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"])), min_size=1))
def test_every_path_can_be_written_and_read_back(keys: list[str]) -> None:
    assert parse_path(format_path(keys)) == tuple(keys)


@given(st.text())
def test_reading_a_path_gives_keys_or_words(text: str) -> None:
    try:
        keys = parse_path(text)
    except ValueError:
        return
    assert parse_path(format_path(keys)) == keys


@pytest.mark.parametrize(
    ("path", "rule", "words"),
    [
        ("score", "sum", "payload.score"),
        ("is_compleet", "all", "“is_complete”"),
        ("payload.", "sum", "no name"),
        ("", "sum", "empty"),
        ("meta.x", "sum", "cannot write"),
        ("is_complete.x", "all", "nothing below"),
        ("is_complete", "append", "all, any"),
        ("payload", "sum", "does not fit"),
    ],
)
def test_a_rule_without_effect_is_explained(path: str, rule: str, words: str) -> None:
    problem = merge_rule_problem(path, MergeRule(rule))
    assert problem is not None
    assert words in problem


def test_a_rule_that_works_has_no_problem() -> None:
    assert merge_rule_problem("is_complete", MergeRule.ALL) is None
    assert merge_rule_problem("payload.findings", MergeRule.APPEND) is None


# --- properties ---------------------------------------------------------------------------------------

keys = st.sampled_from(["a", "b", "c", "a.b", ""])
values = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.floats(-2, 2) | st.sampled_from(["", "x"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=3),
    max_leaves=12,
)
payloads = st.dictionaries(keys, values, max_size=4)
updates = st.builds(
    StateUpdate, st.none() | st.booleans(), st.none() | st.text(max_size=2), st.none() | payloads
)
rule_paths = st.lists(keys, min_size=1, max_size=3).map(lambda path: format_path(["payload", *path]))
rule_sets = st.dictionaries(rule_paths, st.sampled_from(MergeRule), max_size=4)
groups = st.lists(updates, max_size=4).map(
    lambda said: [Contribution(f"w{index}", update) for index, update in enumerate(said)]
)


def leaves(value: JsonValue, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], JsonValue]]:
    """Every path at which a value writes something that is no object with content."""
    if isinstance(value, dict) and value:
        for key, inner in value.items():
            yield from leaves(inner, (*path, key))
    else:
        yield path, value


@given(payloads, groups, rule_sets)
@settings(max_examples=100)
def test_merging_is_deterministic_and_never_changes_its_inputs(
    old: JsonObject, group: list[Contribution], rules: dict[str, MergeRule]
) -> None:
    state = WorkflowState(payload=old)
    before = copy.deepcopy((state, group, rules))
    result = merge_updates(state, group, rules)
    assert (state, group, rules) == before
    assert merge_updates(*copy.deepcopy(before)) == result
    result.state.to_json()


@given(payloads, groups)
@settings(max_examples=100)
def test_a_write_that_nobody_contradicts_is_never_lost_at_any_depth(
    old: JsonObject, group: list[Contribution]
) -> None:
    """Pain 16."""
    result = merge_updates(WorkflowState(payload=old), group, {})
    written = [list(leaves(c.update.payload)) for c in group if c.update.payload]
    for index, mine in enumerate(written):
        others = [leaf for number, theirs in enumerate(written) if number != index for leaf in theirs]
        for path, value in mine:
            contradicted = any(
                (path[: len(other)] == other or other[: len(path)] == path)
                and not (other == path and same_json(value, theirs))
                for other, theirs in others
            )
            if contradicted or value == {}:
                continue
            place: JsonValue = result.state.payload
            for key in path:
                assert isinstance(place, dict)
                place = place[key]
            assert same_json(place, value)


@given(payloads, groups)
@settings(max_examples=80)
def test_merging_a_group_is_merging_its_updates_one_by_one(
    old: JsonObject, group: list[Contribution]
) -> None:
    state = WorkflowState(payload=old)
    together = merge_updates(state, group, {}).state
    for contribution in group:
        state = merge_updates(state, [contribution], {}).state
    assert together == state


# --- size ---------------------------------------------------------------------------------------------


def test_only_the_written_paths_are_copied() -> None:
    old: JsonObject = {"big": {"rows": list(range(10))}, "small": {"x": 1}}
    update: JsonObject = {"small": {"y": {"z": [1]}}}
    payload = merge(update, old=old).state.payload
    assert payload["big"] is old["big"]
    assert payload["small"] == {"x": 1, "y": {"z": [1]}}
    assert old["small"] == {"x": 1}


def deep(depth: int, leaf: JsonValue) -> JsonObject:
    value: JsonValue = leaf
    for _ in range(depth):
        value = {"d": value}
    return {"d": value}


def test_an_object_of_any_depth_is_merged() -> None:
    old, one, two = deep(50_000, "old"), deep(50_000, {"one": 1}), deep(50_000, {"one": 2, "two": 2})
    result = merge(one, two, old=old, rules={"payload.d.d": MergeRule.LAST})
    place: JsonValue = result.state.payload
    while isinstance(place, dict) and "d" in place:
        place = place["d"]
    assert place == {"one": 2, "two": 2}
    (conflict,) = result.conflicts
    assert conflict.path.endswith(".d.one")


def test_lists_of_any_depth_are_compared_and_united() -> None:
    nested: JsonValue = []
    for _ in range(50_000):
        nested = [nested]
    also: JsonValue = []
    for _ in range(50_000):
        also = [also]
    result = merge({"x": [nested]}, {"x": [also]}, rules={"payload.x": MergeRule.UNION})
    united = result.state.payload["x"]
    assert isinstance(united, list)
    assert len(united) == 1
    assert result.conflicts == ()
