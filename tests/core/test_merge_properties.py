"""What holds for the merge of any updates: nothing is lost or changed, every conflict recorded."""

from __future__ import annotations

import copy
import itertools
import random
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.events import GroupStarted, Merged, RunStatus, TurnFinished
from core.json_types import JsonObject, JsonValue
from core.json_values import same_json
from core.merge import MOST_TOLD, merge_updates
from core.state import Conflict, Contribution, MergeResult, MergeRule, StateUpdate, WorkflowState
from core.state_path import format_path, parse_path
from tests.core.run_support import Workshop
from tests.fuzz.fuzzing import fuzzed

Path_ = tuple[str, ...]

# --- any updates --------------------------------------------------------------------------------------

KEYS = st.sampled_from(["a", "b", "c", "a.b", "", "é", '"', "x" * 40])
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.sampled_from([0, 1, 1.0, "", "x"])
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=15,
)
PAYLOADS = st.dictionaries(KEYS, VALUES, max_size=4)
UPDATES = st.builds(
    StateUpdate, st.none() | st.booleans(), st.none() | st.text(max_size=2), st.none() | PAYLOADS
)
RULES = st.dictionaries(
    st.lists(KEYS, min_size=0, max_size=4).map(lambda keys: format_path(["payload", *keys])),
    st.sampled_from(MergeRule),
    max_size=5,
)
GROUPS = st.lists(UPDATES, max_size=5).map(
    lambda said: [Contribution(f"w{index}", update) for index, update in enumerate(said)]
)
STATES = st.builds(WorkflowState, is_complete=st.booleans(), payload=PAYLOADS)


def leaves(value: JsonValue, path: Path_ = ()) -> Iterator[tuple[Path_, JsonValue]]:
    """Every path at which a value says something that is no object with content."""
    if isinstance(value, dict) and value:
        for key, inner in value.items():
            yield from leaves(inner, (*path, key))
    else:
        yield path, value


def at(value: JsonValue, path: Path_) -> JsonValue:
    for key in path:
        assert isinstance(value, dict)
        value = value[key]
    return value


def is_below(path: Path_, other: Path_) -> bool:
    return path[: len(other)] == other


# --- properties ---------------------------------------------------------------------------------------


@fuzzed()
@given(STATES, GROUPS, RULES)
def test_the_same_updates_give_the_same_state_and_conflicts(
    state: WorkflowState, group: list[Contribution], rules: dict[str, MergeRule]
) -> None:
    """Also from equal copies, and whatever the order of the rules: byte for byte."""
    result = merge_updates(state, group, rules)
    shuffled = dict(reversed(rules.items()))
    again = merge_updates(*copy.deepcopy((state, group, shuffled)))
    assert orjson.dumps(again) == orjson.dumps(result)


@fuzzed()
@given(STATES, GROUPS, RULES)
def test_merging_never_changes_its_inputs(
    state: WorkflowState, group: list[Contribution], rules: dict[str, MergeRule]
) -> None:
    before = copy.deepcopy((state, group, rules))
    merge_updates(state, group, rules)
    assert orjson.dumps([state, group, rules]) == orjson.dumps([*before])


@fuzzed()
@given(STATES, GROUPS, RULES)
def test_what_nobody_writes_to_stays_the_very_same_object(
    state: WorkflowState, group: list[Contribution], rules: dict[str, MergeRule]
) -> None:
    """A merge costs what the updates weigh, not what the state weighs."""
    said = [c.update.payload for c in group if c.update.payload is not None]
    written = [path for payload in said for path, _ in leaves(payload)]
    result = merge_updates(state, group, rules).state.payload

    def check(old: JsonValue, path: Path_) -> None:
        if not any(is_below(place, path) or is_below(path, place) for place in written):
            assert at(result, path) is old
        elif isinstance(old, dict) and not any(is_below(path, place) for place in written):
            for key, inner in old.items():
                check(inner, (*path, key))

    check(state.payload, ())


@fuzzed()
@given(STATES, GROUPS, RULES)
def test_a_write_that_nobody_contradicts_is_never_lost_at_any_depth(
    state: WorkflowState, group: list[Contribution], rules: dict[str, MergeRule]
) -> None:
    """Pain 16. With rules that combine, what was written is part of what stays."""
    result = merge_updates(state, group, rules).state.payload
    written = [list(leaves(c.update.payload)) if c.update.payload else [] for c in group]
    combining = [path for path, rule in _by_keys(rules).items() if rule not in _WHOLE]
    for index, mine in enumerate(written):
        others = [leaf for number, theirs in enumerate(written) if number != index for leaf in theirs]
        for path, value in mine:
            if value == {} or any(is_below(path, place) or is_below(place, path) for place in combining):
                continue
            if any(is_below(path, place) or is_below(place, path) for place, _ in others):
                continue
            assert same_json(at(result, path), value)


@fuzzed()
@given(STATES, GROUPS)
def test_with_rules_that_append_nothing_at_all_is_lost(
    state: WorkflowState, group: list[Contribution]
) -> None:
    """`append` and `union` keep every item of every agent, in the order in which the group lists them."""
    lists = [
        Contribution(c.writer, StateUpdate(payload={"log": [c.update.payload, index, "same"]}))
        for index, c in enumerate(group)
    ]
    appended = merge_updates(state, lists, {"payload.log": MergeRule.APPEND}).state.payload.get("log", [])
    united = merge_updates(state, lists, {"payload.log": MergeRule.UNION}).state.payload.get("log", [])
    assert isinstance(appended, list)
    assert isinstance(united, list)
    for kept in (appended, united):
        numbers = [item for item in kept if type(item) is int]
        assert numbers == list(range(len(group)))
    for c in lists:
        assert c.update.payload is not None
        for item in c.update.payload["log"]:  # type: ignore[union-attr]
            assert any(same_json(item, other) for other in united)
    assert len(appended) >= 3 * len(group)


_WHOLE = frozenset({MergeRule.LAST, MergeRule.FIRST, MergeRule.ERROR})


def _by_keys(rules: Mapping[str, MergeRule]) -> dict[Path_, MergeRule]:
    return {parse_path(path)[1:]: rule for path, rule in rules.items()}


@fuzzed()
@given(STATES, st.permutations(range(4)), st.lists(UPDATES, min_size=4, max_size=4), RULES)
def test_the_order_of_the_list_decides_never_who_was_first(
    state: WorkflowState, order: list[int], said: list[StateUpdate], rules: dict[str, MergeRule]
) -> None:
    """However the answers come in, they are merged in the order of the group."""
    answers: dict[int, Contribution] = {}
    for place in order:
        answers[place] = Contribution(f"w{place}", said[place])
    listed = [answers[place] for place in sorted(answers)]
    expected = [Contribution(f"w{place}", said[place]) for place in range(4)]
    assert merge_updates(state, listed, rules) == merge_updates(state, expected, rules)


# --- conflicts ----------------------------------------------------------------------------------------


@fuzzed()
@given(STATES, GROUPS, RULES)
def test_every_conflict_is_recorded_with_what_its_writers_wrote(
    state: WorkflowState, group: list[Contribution], rules: dict[str, MergeRule]
) -> None:
    """Path, both values, both writers and the outcome are true, for any rules at any depth."""
    result = merge_updates(state, group, rules)
    by_path = {format_path(["payload", *path]): path for c in group for path in _places(c.update.payload)}
    written = {c.writer: c.update for c in group}
    order = [c.writer for c in group]
    for conflict in result.conflicts:
        assert order.index(conflict.first_writer) < order.index(conflict.second_writer)
        assert not same_json(conflict.first_value, conflict.second_value)
        if conflict.path in ("is_complete", "termination_reason"):
            assert getattr(written[conflict.first_writer], conflict.path) == conflict.first_value
            assert getattr(written[conflict.second_writer], conflict.path) == conflict.second_value
            continue
        path = by_path[conflict.path]
        assert same_json(at(written[conflict.first_writer].payload, path), conflict.first_value)
        assert same_json(at(written[conflict.second_writer].payload, path), conflict.second_value)
        if _still_there(result, path):
            assert same_json(at(result.state.payload, path), conflict.outcome)
    first = next((c.path for c in result.conflicts if c.rule is MergeRule.ERROR), None)
    assert result.error_path == first


def _places(payload: JsonObject | None) -> Iterator[Path_]:
    waiting: list[tuple[Path_, JsonValue]] = [((), payload or {})]
    while waiting:
        path, value = waiting.pop()
        yield path
        if isinstance(value, dict):
            waiting.extend(((*path, key), inner) for key, inner in value.items())


def _still_there(result: MergeResult, path: Path_) -> bool:
    """Whether the object that held a conflict was not replaced by something else later on."""
    whole = {c.path for c in result.conflicts}
    return not any(format_path(["payload", *path[:length]]) in whole for length in range(len(path)))


DEPTHS = [1, 2, 7, 60]
PAIRS: dict[MergeRule, tuple[JsonValue, JsonValue, JsonValue]] = {
    MergeRule.LAST: (1, 2, 2),
    MergeRule.FIRST: (1, 2, 1),
    MergeRule.APPEND: ([1], [2], [1, 2]),
    MergeRule.UNION: ([1, 2], [2, 3], [1, 2, 3]),
    MergeRule.SUM: (1, 2, 3),
    MergeRule.MAX: (2, 1, 2),
    MergeRule.MIN: (2, 1, 1),
    MergeRule.ALL: (True, False, False),
    MergeRule.ANY: (True, False, True),
    MergeRule.ERROR: (1, 2, 2),
}


@pytest.mark.parametrize("depth", DEPTHS)
@pytest.mark.parametrize("rule", MergeRule)
def test_a_conflict_has_everything_whatever_the_rule_at_any_depth(rule: MergeRule, depth: int) -> None:
    first, second, outcome = PAIRS[rule]
    keys = ["a.b", *(f"k{level}" for level in range(depth - 1))]
    path = format_path(["payload", *keys])

    def update(value: JsonValue, other: JsonValue) -> StateUpdate:
        payload: JsonValue = {"value": value}
        for key in reversed(keys):
            payload = {key: value, "other": other} if key == keys[-1] else {key: payload}
        assert isinstance(payload, dict)
        return StateUpdate(payload=payload)

    result = merge_updates(
        WorkflowState(),
        [Contribution("vera", update(first, "same")), Contribution("linter", update(second, "same"))],
        {path: rule},
    )
    assert result.conflicts == (Conflict(path, rule, "vera", first, "linter", second, outcome),)
    assert same_json(at(result.state.payload, tuple(keys)), outcome)
    assert result.error_path == (path if rule is MergeRule.ERROR else None)


@pytest.mark.parametrize("rule", MergeRule)
def test_every_neighbouring_pair_of_many_writers_is_recorded(rule: MergeRule) -> None:
    values = [random.Random(rule).choice([[1], [2], [3]]) for _ in range(30)]
    group = [Contribution(f"w{n}", StateUpdate(payload={"x": value})) for n, value in enumerate(values)]
    result = merge_updates(WorkflowState(), group, {"payload.x": rule})
    disagreeing = [
        (f"w{n}", f"w{n + 1}") for n, (one, two) in enumerate(itertools.pairwise(values)) if one != two
    ]
    assert [(c.first_writer, c.second_writer) for c in result.conflicts] == disagreeing


def test_what_many_agents_append_is_not_repeated_for_each_of_them() -> None:
    """A hundred agents with long lists once made a journal line of a hundred times all of them."""
    group = [
        Contribution(
            f"w{n}", StateUpdate(payload={"log": [f"{n}: {line} {'x' * 90}" for line in range(200)]})
        )
        for n in range(100)
    ]
    result = merge_updates(WorkflowState(), group, {"payload.log": MergeRule.APPEND})
    log = result.state.payload["log"]
    assert isinstance(log, list)
    assert len(log) == 20_000
    assert len(result.conflicts) == 99
    assert result.conflicts[0].outcome == "[a list of 20,000 items]"
    assert isinstance(result.conflicts[0].first_value, list)
    assert len(orjson.dumps(result.conflicts)) < 3 * len(orjson.dumps(log))


@pytest.mark.parametrize(
    ("value", "told"),
    [
        ("y" * (MOST_TOLD + 1), "y" * 1_000 + "… [65,537 characters]"),
        (["y" * 1000] * 100, "[a list of 100 items]"),
        ({str(n): "y" * 1000 for n in range(100)}, "[an object of 100 keys]"),
        ({"y" * (MOST_TOLD + 1): 1}, "[an object of 1 keys]"),
        ("y" * MOST_TOLD, "y" * MOST_TOLD),
    ],
)
def test_a_large_value_is_recorded_by_its_kind_and_is_whole_in_the_state(value: JsonValue, told: str) -> None:
    group = [
        Contribution("a", StateUpdate(payload={"x": 1})),
        Contribution("b", StateUpdate(payload={"x": value})),
    ]
    result = merge_updates(WorkflowState(), group, {})
    assert result.state.payload["x"] == value
    assert [(c.second_value, c.outcome) for c in result.conflicts] == [(told, told)]


# --- in a real run ------------------------------------------------------------------------------------


def test_the_rule_error_ends_the_run_before_the_next_group_and_keeps_every_answer(tmp_path: Path) -> None:
    """Pain 16: nobody works on with a state in which somebody's answer is lost."""
    shop = Workshop(tmp_path)
    shop.agent("vera", writes={"plan.steps": 3, "plan.vera": "v"})
    shop.agent("linter", writes={"plan.steps": 4, "plan.linter": "l"})
    shop.agent("third", writes={"other": 1})
    shop.agent("next", writes={"next": 1})
    run = shop.run(
        {
            "preparation_agents": [
                {
                    "agents": ["vera", "linter", "third"],
                    "mode": "parallel",
                    "merge": {"payload.plan": "error"},
                },
                {"agents": ["next"]},
            ]
        }
    )
    assert run.reason == "merge_conflict:payload.plan.steps"
    assert run.finished.status is RunStatus.FAILED
    assert "payload.plan.steps" in run.finished.message
    assert [[ref.label for ref in event.turns] for event in run.of(GroupStarted)] == [
        ["vera", "linter", "third"]
    ]
    (merged,) = [event for event in run.journal if isinstance(event, Merged)]
    assert merged.conflicts == (Conflict("payload.plan.steps", MergeRule.ERROR, "vera", 3, "linter", 4, 4),)
    # The raw updates, by agent: in each turn's folder and in the journal.
    expected = {
        "vera": {"plan": {"steps": 3, "vera": "v"}},
        "linter": {"plan": {"steps": 4, "linter": "l"}},
        "third": {"other": 1},
    }
    turns = {turn.id: turn.label for turn in run.progress.turns.values()}
    journal = {
        turns[event.turn]: event.update.payload
        for event in run.journal
        if isinstance(event, TurnFinished) and event.update is not None
    }
    assert journal == expected
    for name, payload in expected.items():
        written = orjson.loads((run.turn_folder(name) / "update.json").read_bytes())
        assert written["payload"] == payload
    assert run.payload["plan"] == {"steps": 4, "vera": "v", "linter": "l"}


def test_who_finishes_first_makes_no_difference_in_a_real_run(tmp_path: Path) -> None:
    """The same answers in two orders of time give the same payload and the same conflicts."""

    def go(folder: Path, waits: Sequence[str]) -> tuple[JsonObject, tuple[Conflict, ...]]:
        shop = Workshop(folder)
        names = ["a", "b", "c"]
        for name, waited_for in zip(names, waits, strict=True):
            mark, other = folder / f"{name}.done", folder / f"{waited_for}.done"
            program = (
                "import pathlib, sys, time\n"
                f"other = pathlib.Path({str(other)!r})\n"
                f"while {bool(waited_for)} and not other.exists(): time.sleep(0.01)\n"
                f'print(\'<state_update>{{"payload": {{"x": "{name}", "own": {{"{name}": 1}}}}}}'
                "</state_update>', flush=True)\n"
                f"pathlib.Path({str(mark)!r}).touch()\n"
            )
            script = folder / f"{name}.py"
            script.write_text(program)
            shop.command(name, sys.executable, "-S", str(script))
        run = shop.run({"preparation_agents": [{"agents": names, "mode": "parallel", "max_parallel": 3}]})
        assert run.reason == "completed"
        return run.payload, run.of(Merged)[0].conflicts

    forward = go(tmp_path / "forward", ["", "a", "b"])
    backward = go(tmp_path / "backward", ["b", "c", ""])
    assert forward == backward
    assert forward[0] == {"x": "c", "own": {"a": 1, "b": 1, "c": 1}}
