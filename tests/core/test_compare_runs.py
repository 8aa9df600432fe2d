"""Two runs held against each other: every difference is found, none is made up, and no size is a problem."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.compare_runs import MOST, Difference, DifferenceKind, RunComparison, compare_runs, differences
from core.json_types import JsonValue
from core.json_values import same_json
from core.recorded_run import read_run
from core.report_facts import report_of
from tests.core.run_support import FinishedRun, Workshop

FIRST, SECOND, CHANGED = DifferenceKind.ONLY_FIRST, DifferenceKind.ONLY_SECOND, DifferenceKind.CHANGED


def found(first: JsonValue, second: JsonValue) -> list[tuple[str, DifferenceKind]]:
    return [(each.path, each.kind) for each in differences(first, second).items]


@pytest.mark.parametrize(
    ("first", "second", "paths"),
    [
        ({"a": 1}, {"a": 1.0}, []),
        ({"a": True}, {"a": 1}, [("a", CHANGED)]),
        ({"a": None}, {}, [("a", FIRST)]),
        (
            {"a": {"b": 1, "c": 2}},
            {"a": {"c": 3, "d": 4}},
            [("a.b", FIRST), ("a.c", CHANGED), ("a.d", SECOND)],
        ),
        ({"a": {"b": 1}}, {"a": [1]}, [("a", CHANGED)]),
        ({"a.b": 1}, {"a.b": 2}, [('["a.b"]', CHANGED)]),
        ([1], 1, [("", CHANGED)]),
        # One entry more at the front makes none of the others differ.
        ({"f": ["x", "y"]}, {"f": ["new", "x", "y"]}, [("f[0]", SECOND)]),
        ({"f": [{"n": 1}, {"n": 2}]}, {"f": [{"n": 1}, {"n": 3}]}, [("f[1].n", CHANGED)]),
        ({"f": ["x", "gone", "y"]}, {"f": ["x", "y"]}, [("f[1]", FIRST)]),
    ],
)
def test_differences_are_told_at_the_uppermost_place(
    first: JsonValue, second: JsonValue, paths: list[tuple[str, DifferenceKind]]
) -> None:
    assert found(first, second) == paths


JSON: st.SearchStrategy[JsonValue] = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.text("ab", max_size=2),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text("ab.", max_size=2), inner, max_size=4)
    ),
    max_leaves=12,
)


@given(JSON, JSON)
def test_there_are_differences_exactly_where_two_values_differ(first: JsonValue, second: JsonValue) -> None:
    one, other = differences(first, second).items, differences(second, first).items
    assert bool(one) == (not same_json(first, second))
    assert bool(one) == bool(other)
    assert len({each.path for each in one}) <= len(one)


def test_a_deep_and_a_long_value_are_compared_within_bounds() -> None:
    deep: JsonValue = 1
    other: JsonValue = 2
    for _ in range(50_000):
        deep, other = {"a": deep}, {"a": other}
    (difference,) = differences(deep, other).items
    assert difference.path == ".".join(["a"] * 50_000)
    many = differences(list(range(30_000)), [*range(1, 30_000), "x", "y"])
    assert [each.path for each in many.items] == ["[0]", "[29999]", "[30000]"], "the others only moved"
    different = differences([f"a{n}" for n in range(30_000)], [f"b{n}" for n in range(30_000)])
    assert different.cut
    assert len(different.items) == MOST


def test_a_value_that_is_only_in_one_is_told_whole() -> None:
    whole: JsonValue = {"b": {"c": [1, 2]}}
    assert differences({"a": whole}, {}).items == (Difference("a", FIRST, whole, None),)


# --- runs -----------------------------------------------------------------------------------------------


def comparison(first: FinishedRun, second: FinishedRun) -> RunComparison:
    return compare_runs(report_of(read_run(first.folder)), report_of(read_run(second.folder)))


def test_two_real_runs_are_held_against_each_other(tmp_path: Path) -> None:
    shop = Workshop(tmp_path)
    shop.agent("vera", cost_usd=0.25, writes={"score": 10, "same": 1, "old": True})
    shop.agent("linter", cost_usd=0.5, writes={"old": True})
    first = shop.run({"loop_agents": ["vera", "linter"], "max_loops": 1, "end_state_condition": "False"})
    shop.agent("vera", cost_usd=0.75, writes={"score": 20, "same": 1, "new": [1]})
    shop.agent("amala", writes={"new": [1]})
    second = shop.run({"loop_agents": ["vera", "amala"], "max_loops": 2, "end_state_condition": "False"})
    both = comparison(first, second)
    assert (both.first.iterations, both.second.iterations) == (1, 2)
    assert [(pair.agent, pair.first is not None, pair.second is not None) for pair in both.agents] == [
        ("vera", True, True),
        ("linter", True, False),
        ("amala", False, True),
    ]
    vera = both.agents[0]
    assert vera.first is not None
    assert vera.second is not None
    assert vera.first.usage.cost_usd == pytest.approx(0.25)
    assert vera.second.usage.cost_usd == pytest.approx(1.5)
    assert both.state is not None
    assert [(each.path, each.kind) for each in both.state.items] == [
        ("payload.score", CHANGED),
        ("payload.old", FIRST),
        ("payload.new", SECOND),
    ]
    assert both.workflow is not None
    assert [each.path for each in both.workflow.items] == ["loop_agents[0].agents[1].agent", "max_loops"]


def test_what_a_workflow_leaves_out_is_no_difference_to_what_is_usual(tmp_path: Path) -> None:
    shop = Workshop(tmp_path)
    shop.agent("vera")
    first = shop.run({"preparation_agents": ["vera"]})
    written_out = {"agents": ["vera"], "mode": "sequential"}
    second = shop.run({"preparation_agents": [written_out], "max_loops": 10, "retries": 0})
    both = comparison(first, second)
    assert both.workflow is not None
    assert both.workflow.items == ()


def test_what_is_not_known_is_not_compared(tmp_path: Path) -> None:
    shop = Workshop(tmp_path)
    shop.agent("vera")
    first, second = (shop.run({"preparation_agents": ["vera"]}) for _ in range(2))
    (second.folder / "workflow.json").write_text("{")
    both = comparison(first, second)
    assert both.workflow is None
    (second.folder / "workflow.json").write_text(json.dumps({"loop_agents": 7}))
    both = comparison(first, second)
    assert both.workflow is not None, "what cannot be run can still be compared as it stands"
    assert both.workflow.items
