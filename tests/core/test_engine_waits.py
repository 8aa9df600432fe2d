"""Turns that wait for a slot, for their next attempt or for an answer, when something happens meanwhile."""

from __future__ import annotations

import asyncio
import errno
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

import pytest

from core import journal, turn_loop
from core.backends.base import Command, TurnOrder
from core.backends.demo import DemoBackend
from core.backends.registry import backend
from core.engine import Answer, Engine, RunRefused
from core.events import (
    AttemptStarted,
    Event,
    IterationStarted,
    QuestionAnswered,
    QuestionAsked,
    RetryScheduled,
    RunFinished,
    RunStarted,
    RunStatus,
    StopKind,
    TurnFinished,
    TurnStatus,
)
from core.executor import ThreadExecutor
from core.journal import JOURNAL_NAME, read_journal
from core.plan import RunPlan
from core.progress import RunProgress
from core.turn_outcome import Failed, NoState
from tests.core.run_support import Workshop, alive_agents

T = TypeVar("T")
OVERLOADED = {"exit_code": 1, "error": "The model is overloaded.", "transient": True}


@pytest.fixture
def shop(tmp_path: Path) -> Workshop:
    return Workshop(tmp_path)


def parallel(*agents: str, **keys: object) -> dict[str, object]:
    return {"mode": "parallel", "agents": list(agents), **keys}


class Interfering(ThreadExecutor):
    """Lets something happen between the end of a piece of work and the moment when the engine hears of it."""

    def __init__(self, threads: int) -> None:
        super().__init__(threads)
        self.interfere: Callable[[object], None] = lambda result: None
        self.slow_states = 0.0
        """Seconds that writing the state takes, from its second time on."""
        self._states = 0

    async def call(self, work: Callable[[], T]) -> T:
        result = await super().call(work)
        if isinstance(result, bytes):
            self._states += 1
            if self._states > 1:
                await asyncio.sleep(self.slow_states)
        self.interfere(result)
        return result


async def run_with(
    executor: ThreadExecutor, engine_of: Callable[[ThreadExecutor], Engine]
) -> tuple[Engine, RunFinished]:
    engine = engine_of(executor)
    try:
        return engine, await asyncio.wait_for(engine.run(), 30)
    finally:
        executor.close()


# --- a slot ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("policy", "reason"), [("abort", "agent_error:queued"), ("continue", "completed")])
def test_an_agent_that_still_queues_can_be_stopped_alone_at_once(
    shop: Workshop, policy: str, reason: str
) -> None:
    # The one at work ends only when the other one's end has been told: nobody waits for a free slot.
    told = shop.folder / "told"
    script = f"until [ -e '{told}' ]; do sleep 0.01; done; echo '<state_update>{{}}</state_update>'"
    shop.command("works", "sh", "-c", script)
    shop.agent("queued")

    def watch(engine: Engine, event: Event) -> None:
        if isinstance(event, AttemptStarted):
            engine.stop_turn("preparation/0/0/1")
        elif isinstance(event, TurnFinished):
            told.touch()

    group = parallel("works", "queued", max_parallel=1, on_parallel_error=policy)
    run = shop.run({"preparation_agents": [group]}, watch)
    assert run.reason == reason
    assert run.turn("queued").status is TurnStatus.STOPPED
    assert run.turn("queued").seconds == 0.0
    assert [event.turn for event in run.of(AttemptStarted)] == ["preparation/0/0/0"]
    replayed = RunProgress()
    replayed.apply_all(run.journal)
    assert replayed == run.progress
    if policy == "continue":
        assert [failure["agent"] for failure in run.payload["_failures"]] == ["queued"]  # type: ignore[union-attr,index,call-overload]


# --- the next attempt -----------------------------------------------------------------------------------


def test_an_agent_that_waits_for_its_retry_is_not_running(
    shop: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Stop after the running agents: there is none."""
    monkeypatch.setattr(turn_loop, "BACKOFF_FIRST", 600.0)
    shop.agent("flaky", fail=OVERLOADED)

    def watch(engine: Engine, event: Event) -> None:
        if isinstance(event, RetryScheduled):
            engine.stop(StopKind.AFTER_RUNNING)

    run = shop.run({"preparation_agents": ["flaky"], "retries": 3}, watch)
    assert run.reason == "stopped"
    assert run.turn("flaky").status is TurnStatus.STOPPED


def test_nothing_is_tried_again_after_the_wish_to_stop(shop: Workshop) -> None:
    shop.agent("flaky", fail=OVERLOADED)
    plan = shop.plan({"preparation_agents": ["flaky"], "retries": 3})
    events: list[Event] = []
    executor = Interfering(4)
    engine = Engine(plan, executor, backend, events.extend)

    def interfere(result: object) -> None:
        if isinstance(result, Failed):
            engine.stop(StopKind.AFTER_RUNNING)

    executor.interfere = interfere
    _, finished = asyncio.run(run_with(executor, lambda where: engine))
    assert finished.termination_reason == "stopped"
    assert not any(isinstance(event, RetryScheduled) for event in events)
    (end,) = (event for event in events if isinstance(event, TurnFinished))
    assert end.status is TurnStatus.FAILED


def test_one_agent_that_waits_for_its_retry_can_be_stopped_alone(
    shop: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(turn_loop, "BACKOFF_FIRST", 600.0)
    shop.agent("flaky", fail=OVERLOADED)
    shop.agent("good", writes={"x": 1})

    def watch(engine: Engine, event: Event) -> None:
        if isinstance(event, RetryScheduled):
            engine.stop_turn(event.turn)

    group = parallel("flaky", "good", on_parallel_error="continue")
    run = shop.run({"preparation_agents": [group], "retries": 3}, watch)
    assert run.reason == "completed"
    assert run.turn("flaky").status is TurnStatus.STOPPED


def test_a_failed_sibling_ends_the_wait_for_a_retry(shop: Workshop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turn_loop, "BACKOFF_FIRST", 600.0)
    shop.agent("flaky", fail=OVERLOADED)
    shop.command("bad", "sh", "-c", f"until [ -e '{shop.folder}/go' ]; do sleep 0.01; done; exit 3")

    def watch(engine: Engine, event: Event) -> None:
        del engine
        if isinstance(event, RetryScheduled):
            (shop.folder / "go").touch()

    run = shop.run({"preparation_agents": [parallel("flaky", "bad", max_parallel=2)], "retries": 3}, watch)
    assert run.reason == "agent_error:bad"
    assert run.turn("flaky").status is TurnStatus.STOPPED


def test_nothing_is_tried_again_once_the_budget_is_used_up(
    shop: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The one slot goes to the dear agent while the other one waits for its retry."""
    monkeypatch.setattr(turn_loop, "BACKOFF_FIRST", 0.01)
    shop.agent("flaky", fail={**OVERLOADED, "first": 1})
    shop.agent("dear", cost_usd=2.0)
    group = parallel("flaky", "dear", max_parallel=1, on_parallel_error="continue")
    run = shop.run({"preparation_agents": [group], "retries": 1, "budget": {"max_cost_usd": 1.0}})
    assert run.reason == "budget_exceeded:max_cost_usd"
    assert [event.turn for event in run.of(AttemptStarted)] == ["preparation/0/0/0", "preparation/0/0/1"]
    assert "budget is used up" in run.turn("flaky").message


# --- an answer ------------------------------------------------------------------------------------------


def test_an_agent_that_is_stopped_just_before_it_would_ask_does_not_ask(shop: Workshop) -> None:
    """Otherwise the run would wait for an answer that nobody is asked for any more."""
    shop.agent("never", bad_update="missing")
    plan = shop.plan({"preparation_agents": ["never"], "on_missing_state": "ask"})
    events: list[Event] = []
    executor = Interfering(4)

    def engine_of(executor: ThreadExecutor) -> Engine:
        engine = Engine(plan, executor, backend, events.extend)

        def interfere(result: object) -> None:
            if isinstance(result, NoState):
                engine.stop_turn("preparation/0/0/0")

        assert isinstance(executor, Interfering)
        executor.interfere = interfere
        return engine

    _, finished = asyncio.run(run_with(executor, engine_of))
    assert finished.termination_reason == "agent_error:never"
    assert not any(isinstance(event, QuestionAsked) for event in events)
    (end,) = (event for event in events if isinstance(event, TurnFinished))
    assert end.status is TurnStatus.STOPPED


def test_a_group_that_runs_out_of_time_ends_its_questions(shop: Workshop) -> None:
    shop.agent("never", bad_update="missing")
    group = parallel("never", timeout=1.5, name="audit")
    run = shop.run({"preparation_agents": [group], "on_missing_state": "ask"})
    assert run.reason == "group_timeout:audit:1.5"
    assert len(run.of(QuestionAsked)) == 1
    assert [event.answer for event in run.of(QuestionAnswered)] == [None], "nobody answered"


def test_only_the_first_answer_is_heard(shop: Workshop) -> None:
    shop.agent("never", bad_update="missing")

    def watch(engine: Engine, event: Event) -> None:
        if isinstance(event, QuestionAsked):
            engine.answer(event.turn, Answer.CONTINUE)
            engine.answer(event.turn, Answer.ABORT)
            engine.answer("loop/9/9/9", Answer.ABORT)

    run = shop.run({"preparation_agents": ["never"], "on_missing_state": "ask"}, watch)
    assert run.reason == "completed"


def test_many_questions_hold_neither_threads_nor_slots(shop: Workshop) -> None:
    """All nine ask before the first is answered, with one slot."""
    shop.agent("never", bad_update="missing")
    asked: list[str] = []

    def watch(engine: Engine, event: Event) -> None:
        if isinstance(event, QuestionAsked):
            asked.append(event.turn)
            if len(asked) == 9:
                for turn in asked:
                    engine.answer(turn, Answer.CONTINUE)

    group = parallel(*["never"] * 9, max_parallel=1)
    assert shop.run({"preparation_agents": [group], "on_missing_state": "ask"}, watch).reason == "completed"


# --- the time of a group --------------------------------------------------------------------------------


def test_a_group_whose_time_ends_between_two_agents_starts_no_more(shop: Workshop) -> None:
    shop.agent("quick", writes={"x": 1})
    shop.agent("hangs", hang=True)
    group = {"mode": "sequential", "agents": ["quick", "hangs"], "timeout": 1, "name": "pair"}
    plan = shop.plan({"preparation_agents": [group]})
    executor = Interfering(4)
    executor.slow_states = 1.2
    events: list[Event] = []
    _, finished = asyncio.run(run_with(executor, lambda where: Engine(plan, where, backend, events.extend)))
    assert finished.termination_reason == "group_timeout:pair:1"
    assert len([event for event in events if isinstance(event, AttemptStarted)]) == 1


# --- before the run, after it, and between ----------------------------------------------------------------


def test_a_pass_that_never_began_is_not_counted(shop: Workshop) -> None:
    shop.agent("a")

    def watch(engine: Engine, event: Event) -> None:
        if isinstance(event, AttemptStarted):
            engine.stop(StopKind.AFTER_RUNNING)

    run = shop.run({"loop_agents": ["a"], "max_loops": 5}, watch)
    assert run.reason == "stopped"
    assert run.finished.iterations == 1
    assert [event.iteration for event in run.of(IterationStarted)] == [1]


def test_a_run_that_is_over_can_be_told_to_stop(shop: Workshop) -> None:
    shop.agent("a")
    plan = shop.plan({"preparation_agents": ["a"]})
    engine, finished = asyncio.run(
        run_with(ThreadExecutor(4), lambda where: Engine(plan, where, backend, lambda events: None))
    )
    for kind in StopKind:
        engine.stop(kind)
    engine.stop_turn("preparation/0/0/0")
    engine.answer("preparation/0/0/0", Answer.ABORT)
    assert engine.folder is not None
    assert read_journal(engine.folder / JOURNAL_NAME)[-1] == finished


def test_who_watches_and_fails_ends_the_run_in_order(shop: Workshop) -> None:
    shop.agent("hangs", hang=True)
    plan = shop.plan({"preparation_agents": ["hangs"]})
    engines: list[Engine] = []

    def watch(events: Sequence[Event]) -> None:
        if any(isinstance(event, AttemptStarted) for event in events):
            raise BrokenPipeError(errno.EPIPE, "nobody reads this")

    def engine_of(executor: ThreadExecutor) -> Engine:
        engines.append(Engine(plan, executor, backend, watch))
        return engines[0]

    with pytest.raises(BrokenPipeError):
        asyncio.run(run_with(ThreadExecutor(4), engine_of))
    assert alive_agents(shop.folder) == []
    assert engines[0].folder is not None
    last = read_journal(engines[0].folder / JOURNAL_NAME)[-1]
    assert isinstance(last, RunFinished)
    assert last.termination_reason == "stopped"


def refusal_of(plan: RunPlan) -> str:
    with pytest.raises(RunRefused) as refused:
        asyncio.run(
            run_with(ThreadExecutor(4), lambda where: Engine(plan, where, backend, lambda events: None))
        )
    return str(refused.value)


def test_a_log_folder_that_cannot_be_made_refuses_the_run(shop: Workshop) -> None:
    shop.agent("a")
    (shop.folder / "taken").write_text("a file")
    words = refusal_of(shop.plan({"preparation_agents": ["a"], "log_dir": "taken"}))
    assert "The log folder cannot be written" in words
    assert "Choose another log_dir" in words


def test_a_supervisor_that_cannot_start_refuses_the_run(
    shop: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    shop.agent("a")
    plan = shop.plan({"preparation_agents": ["a"]})
    monkeypatch.setattr(sys, "executable", "/no/such/python")
    assert "OpenLoop could not start its own helper" in refusal_of(plan)
    assert not (shop.folder / ".openloop").exists()


class FullDisk(DemoBackend):
    """Something of a turn cannot be written."""

    def command(self, order: TurnOrder) -> Command:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_a_full_disk_is_told_with_the_folder_that_is_full(shop: Workshop) -> None:
    shop.agent("a")
    run = shop.run({"preparation_agents": ["a"]}, backend_of=lambda name: FullDisk())
    assert run.reason == "agent_error:OpenLoop"
    assert f"(No space left on device: {run.folder})" in run.finished.message


def test_a_disk_that_fails_while_it_is_synced_ends_the_run_and_is_told_once(
    shop: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    shop.agent("a")

    def refuse(descriptor: int) -> None:
        del descriptor
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    def break_the_disk(_: Engine, event: Event) -> None:
        if isinstance(event, RunStarted):
            monkeypatch.setattr(journal.os, "fsync", refuse)

    run = shop.run({"preparation_agents": ["a", "a"]}, break_the_disk)
    assert run.finished.status is RunStatus.FAILED
    assert "The run folder cannot be written" in run.finished.message
    assert len(run.of(RunFinished)) == 1
    assert len(run.of(AttemptStarted)) == 1


def test_a_run_folder_that_is_removed_meanwhile_ends_the_run_in_words(shop: Workshop) -> None:
    shop.command("gone", "sh", "-c", "rm -rf .openloop; exit 1")
    run = shop.run({"preparation_agents": ["gone"]})
    assert run.reason == "agent_error:OpenLoop"
    assert "The run folder was removed" in run.finished.message
