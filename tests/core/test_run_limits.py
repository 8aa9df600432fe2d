"""Money, silence, lost providers, one agent tried again: what keeps a long run from going wrong quietly."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from core import run_context, turn_loop
from core.engine import Engine
from core.events import (
    AttemptFinished,
    AttemptKind,
    AttemptStarted,
    Event,
    Noted,
    RetryScheduled,
    RunContinued,
    RunPaused,
    StopKind,
    TurnFinished,
    TurnStarted,
    TurnStatus,
    UsageReported,
)
from core.json_types import JsonObject
from core.planning import RunOverrides
from core.problems import UserFileError
from core.progress_words import with_keys
from tests.core.run_support import FinishedRun, Workshop, alive_agents, resume, run_plan


@pytest.fixture
def shop(tmp_path: Path) -> Workshop:
    return Workshop(tmp_path)


@pytest.fixture
def quick_backoff(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turn_loop, "BACKOFF_FIRST", 0.02)


@pytest.fixture
def short_grace(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_context, "BUDGET_GRACE", 0.1)


def warnings(run: FinishedRun) -> list[str]:
    return [note.message for note in run.of(Noted) if note.warning]


def on(kind: type[Event], do: Callable[[Engine, Event], None]) -> Callable[[Engine, Event], None]:
    """Do something at the first event of a kind."""
    seen: list[Event] = []

    def watch(engine: Engine, event: Event) -> None:
        if isinstance(event, kind) and not seen:
            seen.append(event)
            do(engine, event)

    return watch


def stop_now(engine: Engine, _: Event) -> None:
    engine.stop(StopKind.NOW)


GATED = """
import pathlib, time
while not pathlib.Path("gate").exists():
    print("waiting", flush=True)
    time.sleep(0.05)
print('<state_update>{"payload": {"slow": 1}}</state_update>')
"""


def gated(shop: Workshop, name: str) -> Callable[[], object]:
    """Make an agent that ends only when the gate is opened; gives what opens it."""
    shop.command(name, sys.executable, "-c", GATED)
    return lambda: (shop.folder / "gate").write_text("", encoding="utf-8")


OVERLOADED: JsonObject = {"exit_code": 1, "error": "The model is overloaded.", "transient": True, "first": 1}

# --- budget -------------------------------------------------------------------------------------------


def test_an_agent_that_spends_without_end_is_stopped_at_the_cap(shop: Workshop, short_grace: None) -> None:
    """Pain 24: the cap is heard as costs arrive, not when the turn is over."""
    shop.agent("dear", spend={"cost_usd": 0.1, "seconds": 0.02})
    run = shop.run({"preparation_agents": ["dear"], "budget": {"max_cost_usd": 0.5}})
    assert run.reason == "budget_exceeded:max_cost_usd"
    assert run.turn("dear").status is TurnStatus.STOPPED
    assert "budget" in run.turn("dear").message
    assert alive_agents(shop.folder) == []


def test_a_warning_comes_before_the_cap(shop: Workshop, short_grace: None) -> None:
    shop.agent("dear", spend={"cost_usd": 0.02, "seconds": 0.02})
    run = shop.run({"preparation_agents": ["dear"], "budget": {"max_cost_usd": 1}})
    said = warnings(run)
    assert len(said) == 2
    assert "of the $1.00 that “Budget” allows" in said[0]
    assert "Nothing new starts" in said[1]
    assert run.finished.message.endswith("Resume the run with a higher “Budget” to go further.")


@pytest.mark.parametrize(
    ("budget", "field", "key"),
    [
        ({"max_cost_usd": 1}, "“Budget”", "max_cost_usd"),
        ({"max_cost_usd_per_group": 1}, "“Budget of a group”", "max_cost_usd_per_group"),
        ({"max_tokens": 50}, "“Tokens, at most”", "max_tokens"),
    ],
)
def test_a_cap_is_called_as_its_field_and_on_the_command_line_as_its_key(
    shop: Workshop, budget: JsonObject, field: str, key: str
) -> None:
    shop.agent("dear", cost_usd=1.5)
    run = shop.run({"preparation_agents": ["dear", "dear"], "budget": budget})
    assert run.reason == f"budget_exceeded:{key}"
    assert f"a higher {field} to" in run.finished.message
    assert f"a higher {key} to" in with_keys(run.finished.message)
    with pytest.raises(UserFileError) as caught:
        resume(run.folder)
    assert caught.value.problems[0].suggestion == f"Resume it with a higher {field}."


def test_agents_at_work_may_finish_where_the_budget_says_so(shop: Workshop, short_grace: None) -> None:
    shop.agent("dear", writes={"x": 1}, spend={"steps": 6, "cost_usd": 0.1, "seconds": 0.05})
    run = shop.run(
        {"preparation_agents": ["dear", "dear"], "budget": {"max_cost_usd": 0.2, "when_reached": "finish"}}
    )
    assert run.reason == "budget_exceeded:max_cost_usd"
    assert run.payload == {"x": 1}
    assert len(run.of(TurnStarted)) == 1
    again = resume(run.folder, overrides=RunOverrides(max_cost_usd=99))
    assert again.reason == "completed"
    assert len(again.of(TurnStarted)) == 1


def test_a_turn_that_hands_in_its_last_step_is_not_cut_off(shop: Workshop) -> None:
    """Pain 15: what was paid for is taken, also when its last step reached the cap."""
    shop.agent("dear", writes={"x": 1}, cost_usd=0.5)
    run = shop.run({"preparation_agents": ["dear"], "budget": {"max_cost_usd": 0.5}})
    assert run.reason == "completed"
    assert run.payload == {"x": 1}


def test_failed_attempts_count(shop: Workshop, quick_backoff: None) -> None:
    """Pain 24."""
    shop.agent(
        "dear",
        spend={"steps": 2, "cost_usd": 0.2, "seconds": 0},
        fail={
            "exit_code": 1,
            "error": "The model is overloaded.",
            "transient": True,
            "after_steps": 2,
            "first": 1,
        },
    )
    run = shop.run({"preparation_agents": ["dear"], "retries": 1})
    reported = [event.usage.cost_usd or 0 for event in run.of(UsageReported)]
    assert run.finished.usage.cost_usd == pytest.approx(sum(reported))
    assert sum(reported) >= 0.8
    assert run.turn("dear").usage.cost_usd == pytest.approx(sum(reported))


def test_no_correction_is_asked_for_beyond_the_cap(shop: Workshop, short_grace: None) -> None:
    shop.agent("dear", bad_update="missing", cost_usd=0.5)
    run = shop.run({"preparation_agents": ["dear"], "budget": {"max_cost_usd": 0.5}})
    assert run.reason == "budget_exceeded:max_cost_usd"
    assert [event.kind for event in run.of(AttemptStarted)] == [AttemptKind.FIRST]


def test_tokens_without_a_price_are_told_as_such(shop: Workshop) -> None:
    """Pain 24: unknown is not nothing."""
    shop.agent("dear", no_price=True)
    run = shop.run({"preparation_agents": ["dear", "dear"], "budget": {"max_cost_usd": 1}})
    assert run.reason == "completed"
    assert len([words for words in warnings(run) if "no known price" in words]) == 1


def test_a_group_that_is_resumed_counts_what_it_cost_before(shop: Workshop) -> None:
    shop.agent("dear", writes={"x": 1}, cost_usd=0.5)
    group: JsonObject = {"mode": "parallel", "agents": ["dear", "dear", "dear"], "max_parallel": 1}
    run = shop.run({"preparation_agents": [group], "budget": {"max_cost_usd_per_group": 0.5}})
    assert run.reason == "budget_exceeded:max_cost_usd_per_group"
    again = resume(run.folder, overrides=RunOverrides(max_cost_usd_per_group=0.9))
    assert again.reason == "budget_exceeded:max_cost_usd_per_group"
    assert len(again.of(TurnStarted)) == 1


def test_many_small_costs_that_make_up_a_cap_reach_it(shop: Workshop) -> None:
    """Pain 24: eight times ten cents are eighty, also in floating point."""
    shop.agent("dime", cost_usd=0.1)
    run = shop.run({"preparation_agents": ["dime"] * 10, "budget": {"max_cost_usd": 0.8}})
    assert len(run.of(TurnStarted)) == 8


# --- a provider that is lost ----------------------------------------------------------------------------

LOST: JsonObject = {"provider_wide": True, "error": "The usage limit is reached until 03:00."}


def test_a_lost_provider_pauses_the_run_and_no_agent_tries_it_again(
    shop: Workshop, quick_backoff: None
) -> None:
    """Pain 22: with one slot, four agents wait, and none of them is started to fail alike."""
    shop.agent("first", writes={"a": 1}, fail={**LOST, "first": 1})
    shop.agent("other", writes={"b": 1})
    group: JsonObject = {
        "mode": "parallel",
        "agents": ["first", "other", "other", "other"],
        "max_parallel": 1,
        "on_parallel_error": "continue",
    }
    seen: list[int] = []

    def look_and_proceed(engine: Engine, event: Event) -> None:
        seen.append(len(alive_agents(shop.folder)))
        engine.proceed()

    run = shop.run({"preparation_agents": [group], "retries": 5}, on(RunPaused, look_and_proceed))
    assert run.reason == "completed"
    assert seen == [0]
    assert run.payload == {"a": 1, "b": 1}
    (paused,) = run.of(RunPaused)
    assert "usage limit" in paused.message
    assert len(run.of(RunContinued)) == 1
    assert run.of(RetryScheduled) == []
    started = [event for event in run.events if isinstance(event, RunPaused | RunContinued | AttemptStarted)]
    assert [type(event) for event in started[:3]] == [AttemptStarted, RunPaused, RunContinued]


def test_who_is_at_work_when_the_run_pauses_goes_on_to_its_end(shop: Workshop) -> None:
    shop.agent("first", writes={"a": 1}, fail={**LOST, "first": 1})
    open_gate = gated(shop, "slow")
    group: JsonObject = {"mode": "parallel", "agents": ["first", "slow"], "max_parallel": 2}

    def watch(engine: Engine, event: Event) -> None:
        if isinstance(event, RunPaused):
            open_gate()
        elif isinstance(event, TurnFinished) and event.turn.endswith("/1"):
            engine.proceed()

    run = shop.run({"preparation_agents": [group]}, watch)
    assert run.reason == "completed"
    assert run.payload == {"a": 1, "slow": 1}
    assert len(run.of(AttemptStarted)) == 3


def test_the_time_of_a_group_stands_still_while_the_run_is_paused(shop: Workshop) -> None:
    """Pain 22: whoever sleeps while a limit is used up finds a paused run, not one that timed out."""
    shop.agent("first", writes={"a": 1}, fail={**LOST, "first": 1})
    group: JsonObject = {"mode": "parallel", "agents": ["first"], "timeout": 1}
    over: list[bool] = []

    def wait_longer_than_the_group_may_take(engine: Engine, event: Event) -> None:
        if isinstance(event, RunPaused):
            loop = asyncio.get_running_loop()
            loop.call_later(1.5, lambda: (over.append(True), engine.proceed()))

    run = shop.run({"preparation_agents": [group]}, wait_longer_than_the_group_may_take)
    assert over == [True]
    assert run.reason == "completed"


def test_a_paused_run_can_be_stopped_and_resumed(shop: Workshop) -> None:
    shop.agent("first", writes={"a": 1}, fail={**LOST, "first": 1})
    run = shop.run({"preparation_agents": ["first"]}, on(RunPaused, stop_now))
    assert run.reason == "stopped"
    assert resume(run.folder).payload == {"a": 1}


def test_without_a_window_a_lost_provider_ends_the_run_whatever_the_policy(shop: Workshop) -> None:
    """Pain 22."""
    shop.agent("first", writes={"a": 1}, fail={**LOST, "first": 1})
    shop.agent("other", writes={"b": 1})
    group: JsonObject = {
        "mode": "parallel",
        "agents": ["first", *["other"] * 9],
        "max_parallel": 1,
        "on_parallel_error": "continue",
    }
    plan = shop.plan({"preparation_agents": [group]})
    run = run_plan(replace(plan, pause_on_provider_failure=False))
    assert run.reason == "agent_error:first"
    assert "usage limit" in run.finished.message
    assert len(run.of(TurnStarted)) == 1
    again = resume(run.folder)
    assert again.reason == "completed"


def test_without_a_window_a_lost_provider_lets_those_at_work_finish(shop: Workshop) -> None:
    """Pains 15, 22: also where the group's policy is to abort."""
    shop.agent("first", writes={"a": 1}, fail={**LOST, "first": 1})
    open_gate = gated(shop, "slow")
    group: JsonObject = {"mode": "parallel", "agents": ["first", "slow"], "max_parallel": 2}

    def watch(_: Engine, event: Event) -> None:
        if isinstance(event, TurnFinished):
            open_gate()

    plan = shop.plan({"preparation_agents": [group]})
    run = run_plan(replace(plan, pause_on_provider_failure=False), watch)
    assert run.reason == "agent_error:first"
    assert run.turn("slow").status is TurnStatus.SUCCEEDED


# --- silence ---------------------------------------------------------------------------------------------


def test_silence_is_told_and_ends_nothing(shop: Workshop) -> None:
    """Pains 3, 14: a quiet agent is left alone where the user set no limit."""
    shop.agent("quiet", hang_silent=True)
    run = shop.run(
        {"preparation_agents": ["quiet"], "agent_idle_warning": 0.2},
        lambda engine, event: (
            engine.stop(StopKind.NOW) if isinstance(event, Noted) and event.warning else None
        ),
    )
    assert run.reason == "stopped"
    (words,) = warnings(run)
    assert words.startswith("quiet has printed nothing for 0.2 s. It is left alone")
    assert words in (run.turn_folder("quiet") / "transcript.log").read_text(encoding="utf-8")


def test_the_clock_of_silence_does_not_run_in_the_queue(shop: Workshop) -> None:
    """Pain 14."""
    shop.agent("one", spend={"steps": 12, "seconds": 0.05})
    group: JsonObject = {"mode": "parallel", "agents": ["one", "one"], "max_parallel": 1}
    run = shop.run({"preparation_agents": [group], "agent_idle_warning": 30, "agent_idle_timeout": 30})
    assert run.reason == "completed"
    starts = {event.turn: event.time for event in run.of(TurnStarted)}
    first_end = next(event for event in run.of(TurnFinished)).time
    assert max(starts.values()) >= first_end


# --- what comes after a stop -------------------------------------------------------------------------------

LATE = """
import json, signal, sys, time
def last(*_):
    print('<state_update>{"payload": {"late": true}}</state_update>', flush=True)
    sys.exit(0)
signal.signal(signal.SIGTERM, last)
print("ready", flush=True)
while True:
    time.sleep(0.01)
"""


def test_an_answer_that_comes_after_the_stop_is_kept_marked_and_not_merged(shop: Workshop) -> None:
    """Pain 10."""
    shop.command("late", sys.executable, "-c", LATE)
    run = shop.run(
        {"preparation_agents": ["late"]},
        lambda engine, event: (
            engine.stop(StopKind.NOW) if event.type == "turn_activity" and event.output_bytes else None
        ),
    )
    assert run.reason == "stopped"
    assert run.payload == {}
    assert run.turn("late").update is None
    assert '"late": true' in (run.turn_folder("late") / "stdout.log").read_text(encoding="utf-8")
    transcript = (run.turn_folder("late") / "transcript.log").read_text(encoding="utf-8")
    assert transcript.index("does not count") > transcript.index("ready")
    (ended,) = run.of(AttemptFinished)
    assert ended.late_bytes > 0


# --- one agent again ----------------------------------------------------------------------------------


def test_an_agent_at_work_is_ended_before_it_is_tried_again(shop: Workshop) -> None:
    """Pain 10."""
    shop.agent("stuck", hang=True, ignore_sigterm=True)
    ends: list[bool] = []

    def watch(engine: Engine, event: Event) -> None:
        if isinstance(event, AttemptStarted):
            if event.kind is AttemptKind.FIRST:
                shop.agent("stuck")
                engine.retry_turn(event.turn)
            else:
                ends.append(len(alive_agents(shop.folder)) <= 1)
                engine.stop(StopKind.NOW)

    run = shop.run({"preparation_agents": ["stuck"]}, watch)
    assert [event.kind for event in run.of(AttemptStarted)] == [AttemptKind.FIRST, AttemptKind.RETRY]
    assert ends == [True]
    assert run.of(AttemptStarted)[1].reason == "You asked for another attempt."


def test_a_failed_agent_is_made_again_while_its_group_waits_for_others(shop: Workshop) -> None:
    shop.agent("bad", writes={"bad": 1}, fail={"exit_code": 1, "error": "No.", "first": 1})
    open_gate = gated(shop, "slow")
    group: JsonObject = {"mode": "parallel", "agents": ["bad", "slow"], "on_parallel_error": "continue"}
    ends: list[TurnFinished] = []
    asked: list[bool] = []

    def watch(engine: Engine, event: Event) -> None:
        if isinstance(event, TurnFinished):
            ends.append(event)
        if len(ends) == 1 and not asked and engine.can_retry(ends[0].turn):
            asked.append(True)
            engine.retry_turn(ends[0].turn)
        elif len(ends) == 2:
            open_gate()

    run = shop.run({"preparation_agents": [group], "max_parallel_agents": 2}, watch)
    assert run.reason == "completed"
    assert run.payload == {"bad": 1, "slow": 1}
    assert [turn.status for turn in run.progress.turns.values()] == [TurnStatus.SUCCEEDED] * 2
    attempts = [(event.number, event.kind) for event in run.of(AttemptStarted) if event.turn.endswith("/0")]
    assert attempts == [(1, AttemptKind.FIRST), (2, AttemptKind.RETRY)]
    assert "You asked for another attempt." in (run.turn_folder("bad") / "transcript.log").read_text("utf-8")


def test_a_wait_before_a_retry_can_be_cut_short(shop: Workshop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turn_loop, "BACKOFF_FIRST", 50.0)
    shop.agent(
        "flaky", fail={"exit_code": 1, "error": "The model is overloaded.", "transient": True, "first": 1}
    )
    run = shop.run(
        {"preparation_agents": ["flaky"], "retries": 1},
        on(RetryScheduled, lambda engine, event: engine.retry_turn(event.turn)),
    )
    assert run.reason == "completed"


def test_an_ended_run_cannot_be_steered(shop: Workshop) -> None:
    shop.agent("a")
    run = shop.run({"preparation_agents": ["a"]}, lambda engine, _: engine.retry_turn("nobody"))
    assert run.reason == "completed"
