"""What `abort` and `continue` do when agents of a parallel group fail: early, late, at once, all together."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from core.engine import Engine
from core.events import AttemptStarted, Event, Merged, RunStatus, TurnFinished, TurnStarted, TurnStatus
from core.json_types import JsonObject
from tests.core.run_support import FinishedRun, Workshop, alive_agents, resume

SUCCEEDED, FAILED, STOPPED = TurnStatus.SUCCEEDED, TurnStatus.FAILED, TurnStatus.STOPPED
EARLY: JsonObject = {"exit_code": 1, "error": "No.", "silent": True}
LATE: JsonObject = {"exit_code": 1, "error": "No.", "after_steps": 1}
AFTER = """
import pathlib, sys, time
while not pathlib.Path("done").exists():
    time.sleep(0.02)
sys.exit(7)
"""
"""Fails only when the agent that leaves the file has ended."""


@pytest.fixture
def shop(tmp_path: Path) -> Workshop:
    return Workshop(tmp_path)


def run_group(shop: Workshop, policy: str, *agents: str, **group: object) -> FinishedRun:
    parallel: JsonObject = {"mode": "parallel", "agents": list(agents), "max_parallel": len(agents)}
    parallel.update(group)  # type: ignore[arg-type]
    return shop.run({"preparation_agents": [parallel, "next"], "on_parallel_error": policy})


def statuses(run: FinishedRun) -> dict[str, TurnStatus]:
    return {turn.label: turn.status for turn in run.progress.turns.values()}


@pytest.fixture(autouse=True)
def _agents(shop: Workshop) -> None:
    shop.agent("next", writes={"next": 1})
    shop.agent("good", writes={"good": 1}, cost_usd=0.5)
    shop.agent("hangs", hang=True, ignore_sigterm=True)
    shop.agent("early", fail=EARLY)
    shop.agent("late", fail=LATE)
    shop.command(
        "leaves", "sh", "-c", 'echo \'<state_update>{"payload": {"left": 1}}</state_update>\'; touch done'
    )
    shop.command("after", sys.executable, "-c", AFTER)


# --- abort ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("bad", ["early", "late"])
def test_abort_stops_the_others_at_once_and_starts_nothing_more(shop: Workshop, bad: str) -> None:
    run = run_group(shop, "abort", bad, "hangs", "hangs")
    assert (run.finished.status, run.reason) == (RunStatus.FAILED, f"agent_error:{bad}")
    assert statuses(run) == {bad: FAILED, "hangs": STOPPED, "hangs 2": STOPPED}
    assert run.of(Merged) == []
    assert alive_agents(shop.folder) == []
    assert "another agent of its group failed" in run.turn("hangs").message


def test_abort_keeps_what_was_finished_before_the_failure(shop: Workshop) -> None:
    """Pain 15: in the journal at once, and counted on resume."""
    run = run_group(shop, "abort", "leaves", "after")
    assert run.reason == "agent_error:after"
    assert statuses(run) == {"leaves": SUCCEEDED, "after": FAILED}
    ends = {event.turn[-1]: event.update for event in run.journal if isinstance(event, TurnFinished)}
    assert ends["0"] is not None
    assert ends["0"].payload == {"left": 1}
    shop.agent("after", writes={"after": 1})
    again = resume(run.folder)
    assert again.payload == {"left": 1, "after": 1, "next": 1}
    assert len(again.of(TurnStarted)) == 2


def test_abort_with_a_queue_starts_nobody_of_it(shop: Workshop) -> None:
    """Also in the moment between the failure and its journal entry, nobody else begins to cost."""
    run = run_group(shop, "abort", "early", "good", "good", max_parallel=1)
    assert run.reason == "agent_error:early"
    assert len(run.of(TurnStarted)) == 1


@pytest.mark.parametrize("policy", ["abort", "continue"])
@pytest.mark.parametrize("bad", ["early", "late"])
def test_a_group_whose_agents_all_fail_at_once_failed_whatever_the_policy(
    shop: Workshop, policy: str, bad: str
) -> None:
    run = run_group(shop, policy, bad, bad, bad)
    assert run.finished.status is RunStatus.FAILED
    assert run.reason in {f"agent_error:{label}" for label in (bad, f"{bad} 2", f"{bad} 3")}
    assert run.of(Merged) == []
    assert "next" not in statuses(run)


def test_an_agent_that_the_user_stops_leaves_the_others_alone(shop: Workshop) -> None:
    """Pain 15: the run ends after them, and goes on with the one that was stopped."""
    answer = "print('<state_update>{}</state_update>')"
    shop.command("waits", sys.executable, "-c", AFTER.replace("sys.exit(7)", answer))

    def stop_one(engine: Engine, event: Event) -> None:
        if isinstance(event, AttemptStarted) and event.turn.endswith("/0"):
            engine.stop_turn(event.turn)
        elif isinstance(event, TurnFinished) and event.turn.endswith("/0"):
            (shop.folder / "done").touch()

    group: JsonObject = {"mode": "parallel", "agents": ["hangs", "waits"], "max_parallel": 2}
    run = shop.run({"preparation_agents": [group]}, stop_one)
    assert statuses(run) == {"hangs": STOPPED, "waits": SUCCEEDED}
    assert run.reason == "agent_error:hangs"
    assert "You stopped hangs" in run.finished.message


# --- continue -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("bad", ["early", "late"])
def test_continue_waits_merges_what_succeeded_and_goes_on(shop: Workshop, bad: str) -> None:
    run = run_group(shop, "continue", bad, "good", "leaves")
    assert run.reason == "completed"
    assert run.payload["good"] == run.payload["left"] == run.payload["next"] == 1
    failures = run.payload["_failures"]
    assert isinstance(failures, list)
    assert [isinstance(failure, dict) and failure["agent"] for failure in failures] == [bad]
    assert statuses(run) == {bad: FAILED, "good": SUCCEEDED, "leaves": SUCCEEDED, "next": SUCCEEDED}


def test_continue_lists_every_failure_in_the_order_of_the_group(shop: Workshop) -> None:
    run = run_group(shop, "continue", "after", "leaves", "early")
    failures = run.payload["_failures"]
    assert isinstance(failures, list)
    assert [isinstance(failure, dict) and failure["agent"] for failure in failures] == ["after", "early"]


def test_a_group_overrides_the_policy_of_the_workflow(shop: Workshop) -> None:
    assert run_group(shop, "abort", "early", "good", on_parallel_error="continue").reason == "completed"
    assert (
        run_group(shop, "continue", "early", "hangs", on_parallel_error="abort").reason == "agent_error:early"
    )


def test_a_timeout_of_one_agent_is_a_failure_like_any_other(shop: Workshop) -> None:
    shop.agent("hangs", hang=True, timeout=0.3)
    run = run_group(shop, "continue", "hangs", "good")
    assert run.reason == "completed"
    failures = run.payload["_failures"]
    assert isinstance(failures, list)
    assert isinstance(failures[0], dict)
    assert failures[0]["reason"] == "timeout:hangs:0.3"
    assert run_group(shop, "abort", "hangs", "good").reason == "timeout:hangs:0.3"


@pytest.mark.parametrize(
    ("policy", "reason"), [("abort", "group_timeout:preparation 1:2"), ("continue", "completed")]
)
def test_a_timeout_of_the_group_follows_the_policy_and_keeps_what_is_done(
    shop: Workshop, policy: str, reason: str
) -> None:
    run = run_group(shop, policy, "leaves", "hangs", timeout=2)
    assert run.reason == reason
    assert statuses(run)["leaves"] is SUCCEEDED
    assert statuses(run)["hangs"] is STOPPED
    assert alive_agents(shop.folder) == []
    if policy == "continue":
        assert run.payload["left"] == 1
