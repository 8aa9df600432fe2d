"""What the check says of loops that cannot end and of parallel agents that get into each other's way."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import resources
from core.agent import AgentLibrary
from core.check import check_workflow
from core.condition_outcomes import World, parsed, truths
from core.config import Workflow
from core.earlier_runs import EarlierRuns
from core.fixes import ChangeGroup, ChangeSetting, LetComplete, SetMergeRule
from core.json_types import JsonObject
from core.known_payload import KnownPayload
from core.problems import Problem, Severity
from core.run_folders import library_of
from core.state import MergeRule
from core.workflow_file import load_workflow, parse_workflow
from tests.core.run_support import Workshop


@pytest.fixture
def shop(tmp_path: Path) -> Workshop:
    shop = Workshop(tmp_path)
    shop.agent("amala", writes={"score": 1})
    shop.agent("vera", role="auditor", writes={"score": 2})
    return shop


def check(
    shop: Workshop, document: JsonObject, known: KnownPayload | None = None, in_force: Workflow | None = None
) -> list[Problem]:
    file = parse_workflow(json.dumps(document))
    library = AgentLibrary(shop.folder / "agents")
    return check_workflow(file, library, ("demo", "command"), known=known, in_force=in_force)


def known(shop: Workshop) -> KnownPayload:
    return EarlierRuns().read(shop.folder / ".openloop")


def only(problems: list[Problem]) -> Problem:
    (problem,) = problems
    return problem


def parallel(*agents: str, **settings: object) -> JsonObject:
    group = {"agents": list(agents), "mode": "parallel", **settings}
    return {
        "loop_agents": [group],
        "end_state_condition": "payload.get('ready') == True",
        "initial_payload": {"ready": False},
        "max_loops": 1,
    }


# --- what a condition can come to ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("condition", "possible"),
    [
        ("is_complete", {True, False}),
        ("is_complete == True", {True, False}),
        ("payload.get('score', 0) >= 90", {True, False}),
        ("payload['a'] and not payload.get('b')", {True, False}),
        ("len(payload.get('x', [])) > 3", {True, False}),
        ("'done' in payload", {True, False}),
        ("iteration >= 1", {True}),
        ("iteration >= 10", {True, False}),
        ("iteration > 10", {False}),
        ("10 < iteration", {False}),
        ("iteration == 11", {False}),
        ("iteration == 10", {True, False}),
        ("iteration == 2.5", {False}),
        ("iteration != 11", {True}),
        ("iteration % 2 == 0", {True, False}),
        ("1 <= iteration <= 10", {True}),
        ("1 <= iteration <= 5", {True, False}),
        ("phase == 'loop'", {True}),
        ("phase == 'finalization'", {False}),
        ("phase == 'finalization' or is_complete", {True, False}),
        ("phase == 'finalization' and is_complete", {False}),
        ("not (iteration > 10)", {True}),
        ("False", {False}),
        ("1 == True", {False}),
        ("None", {False}),
        ("'a' == 'a'", {True}),
        ("3 > 2 > 1", {True}),
        ("3 > 2 > 5", {False}),
        ("payload.get('score', None) > 3", {True, False}),
        ("max(payload.get('a', 0), 3) > 2", {True, False}),
    ],
)
def test_a_condition_is_judged_by_what_it_can_become(condition: str, possible: set[bool]) -> None:
    tree = parsed(condition)
    assert tree is not None
    assert truths(tree, World(most_loops=10)) == possible


@pytest.mark.parametrize(
    ("condition", "possible"),
    [
        ("payload.get('score', 0) >= 90", {False}),
        ("payload.get('score', 100) >= 90", {True}),
        ("payload.get('score', -1) >= 0", {False}),
        ("payload['score'] >= 90", {False}),
        ("90 <= payload['score']", {False}),
        ("payload.get('score') >= 90", {False}),
        ("payload.get('score') == None", {True}),
        ("not payload.get('score')", {True}),
        ("payload.get('score', 'no') > 3", {True, False}),
        ("payload.get('score', {}).get('x', 0) > 3", {True, False}),
        ("payload.get('other', 0) >= 90", {True, False}),
        ("payload.get('score') or is_complete", {True, False}),
    ],
)
def test_a_key_that_nobody_writes_counts_as_its_default(condition: str, possible: set[bool]) -> None:
    tree = parsed(condition)
    assert tree is not None
    assert truths(tree, World(missing=frozenset({"score"}))) == possible


# --- loops that cannot end ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "condition", ["False", "phase == 'preparation'", "is_complete and phase == 'finalization'", "1 > 2"]
)
def test_a_condition_that_can_never_hold_is_told(shop: Workshop, condition: str) -> None:
    problem = only(check(shop, {"loop_agents": ["vera"], "end_state_condition": condition}))
    assert problem.place == "end_state_condition"
    assert problem.message == "The end condition can never hold, so the loop runs 10 times."
    assert problem.severity is Severity.WARNING


@pytest.mark.parametrize(
    ("condition", "wanted"), [("iteration >= 20", 20), ("iteration > 20", 21), ("iteration == 12", 12)]
)
def test_a_condition_that_wants_more_iterations_than_there_are_offers_them(
    shop: Workshop, condition: str, wanted: int
) -> None:
    document: JsonObject = {"loop_agents": ["vera"], "end_state_condition": condition, "max_loops": 10}
    problem = only(check(shop, document))
    assert "no further than 10" in problem.message
    assert problem.fix == ChangeSetting("max_loops", wanted)
    assert check(shop, {**document, "max_loops": wanted}) == []


def test_max_loops_of_other_places_count(shop: Workshop) -> None:
    document: JsonObject = {"loop_agents": ["vera"], "end_state_condition": "iteration >= 20"}
    assert check(shop, document, in_force=Workflow(max_loops=30)) == []


@pytest.mark.parametrize("condition", ["is_complete == True", "is_complete and payload.get('score', 0) > 3"])
def test_a_loop_that_nobody_may_end_is_told(shop: Workshop, condition: str) -> None:
    problem = only(check(shop, {"loop_agents": ["amala"], "end_state_condition": condition}))
    assert problem.message == "No agent may end the loop, so it runs 10 times."
    assert check(shop, {"loop_agents": ["amala", "vera"], "end_state_condition": condition}) == []


def test_a_condition_over_what_nobody_ever_wrote_is_a_hint_with_the_key_that_was_meant(
    shop: Workshop,
) -> None:
    condition = "payload.get('scroe', 0) >= 90 or (payload['scroe'] == 1)"
    document: JsonObject = {"loop_agents": ["amala", "vera"], "end_state_condition": condition}
    assert check(shop, document, KnownPayload()) == []
    shop.run({**document, "max_loops": 1})

    problem = only(check(shop, document, known(shop)))

    assert problem.severity is Severity.HINT
    assert "payload.scroe" in problem.message
    assert problem.fix == ChangeSetting(
        "end_state_condition", "payload.get('score', 0) >= 90 or (payload['score'] == 1)"
    )


@pytest.mark.parametrize(
    "change",
    [
        {"end_state_condition": "payload.get('score', 0) >= 90"},
        {"end_state_condition": "not payload.get('failures')"},
        {"end_state_condition": "payload.get('scroe') or is_complete"},
        {"end_state_condition": "payload.get('given')", "initial_payload": {"given": True}},
        {"end_state_condition": "payload.get('scroe')", "loop_agents": ["amala", "vera", "never_ran"]},
    ],
)
def test_a_condition_that_may_still_hold_is_no_hint(shop: Workshop, change: JsonObject) -> None:
    shop.agent("never_ran")
    shop.run({"loop_agents": ["amala", "vera"], "max_loops": 1})

    assert check(shop, {"loop_agents": ["amala", "vera"], **change}, known(shop)) == []


# --- parallel agents: completion ----------------------------------------------------------------------


def test_two_that_may_complete_are_offered_to_have_to_agree(shop: Workshop) -> None:
    shop.agent("judge", role="approver")
    document: JsonObject = {"loop_agents": [{"agents": ["vera", "judge"], "mode": "parallel"}]}

    problem = only(check(shop, document))

    assert problem.fix == SetMergeRule("loop", 0, ("vera", "judge"), "is_complete", MergeRule.ALL)
    assert check(shop, document, in_force=Workflow(merge={"is_complete": MergeRule.ANY})) == []


def test_one_that_may_not_complete_and_always_denies_it_has_the_last_word(shop: Workshop) -> None:
    shop.agent("amala", writes={}, is_complete=False)
    document: JsonObject = {
        "loop_agents": [{"agents": ["vera", "amala"], "mode": "parallel"}],
        "max_loops": 1,
    }
    shop.run(document)

    problem = only(check(shop, document, known(shop)))

    assert problem.fix == SetMergeRule("loop", 0, ("vera", "amala"), "is_complete", MergeRule.ANY)
    behind: JsonObject = {"loop_agents": [{"agents": ["amala", "vera"], "mode": "parallel"}]}
    assert check(shop, behind, known(shop)) == []


# --- parallel agents: the same path -------------------------------------------------------------------


def test_agents_that_wrote_the_same_path_are_told_once_they_are_parallel(shop: Workshop) -> None:
    shop.run({"loop_agents": ["amala", "vera"], "max_loops": 1})

    problem = only(check(shop, parallel("amala", "vera"), known(shop)))

    assert problem.message.startswith("amala and vera write payload.score at the same time")
    assert problem.place == "loop_agents[0]"
    assert problem.fix is None
    sequence: JsonObject = {**parallel(), "loop_agents": ["amala", "vera"]}
    assert check(shop, sequence, known(shop)) == []


@pytest.mark.parametrize(
    ("first", "second", "rule"),
    [
        (["a"], ["b"], MergeRule.UNION),
        ([{"f": 1}], ["b"], MergeRule.APPEND),
        ([{"f": 1}], [{"f": 2}], MergeRule.APPEND),
        ("text", "other", None),
        (["a"], "other", None),
    ],
)
def test_lists_are_offered_to_be_kept_together(
    shop: Workshop, first: object, second: object, rule: MergeRule | None
) -> None:
    shop.agent("amala", writes={"review.found": first})
    shop.agent("vera", writes={"review.found": second})
    shop.run({"loop_agents": ["amala", "vera"], "max_loops": 1})

    problem = only(check(shop, parallel("amala", "vera"), known(shop)))

    wanted = SetMergeRule("loop", 0, ("amala", "vera"), "payload.review.found", rule) if rule else None
    assert problem.fix == wanted


@pytest.mark.parametrize("path", ["payload.score", "payload"])
def test_a_merge_rule_for_the_path_or_around_it_settles_it(shop: Workshop, path: str) -> None:
    shop.run({"loop_agents": ["amala", "vera"], "max_loops": 1})

    assert check(shop, parallel("amala", "vera", merge={path: "last"}), known(shop)) == []
    in_force = Workflow(merge={path: MergeRule.FIRST})
    assert check(shop, parallel("amala", "vera"), known(shop), in_force) == []


def test_agents_that_wrote_the_same_value_side_by_side_are_not_told(shop: Workshop) -> None:
    shop.agent("vera", role="auditor", writes={"score": 1})
    shop.run(parallel("amala", "vera"))

    assert check(shop, parallel("amala", "vera"), known(shop)) == []


def test_agents_that_write_below_one_object_are_not_told(shop: Workshop) -> None:
    shop.agent("amala", writes={"review.amala": 1})
    shop.agent("vera", role="auditor", writes={"review.vera": 2})
    shop.run({"loop_agents": ["amala", "vera"], "max_loops": 1})

    assert check(shop, parallel("amala", "vera"), known(shop)) == []


def test_what_an_agent_wrote_before_it_was_corrected_is_not_told(shop: Workshop) -> None:
    shop.run({"loop_agents": ["amala", "vera"], "max_loops": 1})
    shop.agent("amala", writes={"changes": []})
    shop.run({"loop_agents": ["amala"], "max_loops": 1})

    assert check(shop, parallel("amala", "vera"), known(shop)) == []


def test_one_agent_that_stands_twice_in_a_group_writes_over_itself(shop: Workshop) -> None:
    shop.agent("twin", writes={"score": 1}, text="I edit nothing.")
    shop.run({"loop_agents": ["twin"], "max_loops": 1})

    problem = only(check(shop, parallel("twin", "twin"), known(shop)))

    assert problem.message.startswith("twin and twin 2 write payload.score")


def test_many_paths_are_told_in_one(shop: Workshop) -> None:
    for name in ("amala", "vera"):
        shop.agent(name, writes={f"k{number}": name for number in range(9)})
    shop.run({"loop_agents": ["amala", "vera"], "max_loops": 1})

    found = check(shop, parallel("amala", "vera"), known(shop))

    assert len(found) == 5
    assert found[-1].message == (
        "They write 5 more paths at the same time: payload.k4, payload.k5, payload.k6 and 2 more."
    )


# --- parallel agents: the same file -------------------------------------------------------------------


def test_agents_that_edited_one_file_are_told_once_they_are_parallel(shop: Workshop) -> None:
    # Both play scenes that edit src/orders/pricing.py.
    shop.agent("amala", writes={})
    shop.agent("other", role="author", writes={})
    shop.run({"loop_agents": ["amala", "other"], "max_loops": 1})
    assert known(shop).edits["amala"] == ("src/orders/pricing.py", "src/orders/api.py")

    found = check(shop, parallel("amala", "other"), known(shop))

    problem = only(found)
    assert "amala and other edited src/orders/pricing.py and src/orders/api.py" in problem.message
    assert problem.fix == ChangeGroup("loop", 0, ("amala", "other"), "mode", "sequential")
    assert only(check(shop, parallel("amala", "other", "vera"), known(shop))).fix is None


# --- examples ------------------------------------------------------------------------------


@pytest.mark.parametrize("path", resources.example_workflows(), ids=lambda path: path.stem)
def test_no_example_has_a_problem_after_it_was_run(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from core.backends.registry import backend_names
    from core.planning import plan_run
    from tests.core.run_support import run_plan

    monkeypatch.setenv("OPENLOOP_DEMO_SPEED", "0")
    file = load_workflow(path)
    library = library_of(file, tmp_path)
    run_plan(plan_run(file, library, known_backends=backend_names(), default_workdir=tmp_path))
    found = EarlierRuns().read(tmp_path / ".openloop")

    assert found.paths()
    assert check_workflow(file, library, backend_names(), known=found) == []


# --- who could end it ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("loop", "offered"),
    [
        (["amala"], ["amala"]),
        (["amala", "bo"], ["bo", "amala"]),
        (["amala", "bo", "carl"], []),
        (["amala", "bo", "rita"], ["rita"]),
        (["amala", "never"], ["amala"]),
        (["never"], ["never"]),
    ],
)
def test_one_or_two_agents_are_offered_to_end_a_loop_that_nobody_may(
    shop: Workshop, loop: list[str], offered: list[str]
) -> None:
    shop.agent("bo")
    shop.agent("carl")
    shop.agent("rita", role="Reviewer")
    (shop.folder / "agents" / "never.md").write_text(
        "---\nbackend: demo\ncan_complete: false\n---\nWork.\n", encoding="utf-8"
    )
    problem = only(check(shop, {"loop_agents": [*loop]}))
    assert "No agent may end the loop" in problem.message
    found = [fix for fix in (problem.fix, *problem.other_fixes) if fix is not None]
    assert found == [LetComplete(name) for name in offered]
