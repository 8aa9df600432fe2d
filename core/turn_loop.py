"""One turn as the engine sees it: wait for a slot, try, retry, ask. A coroutine; the tries run elsewhere."""

from __future__ import annotations

import asyncio
import random
import shutil
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from core.answer import Answer
from core.backends.base import Failure, TurnOrder
from core.events import (
    AttemptKind,
    QuestionAnswered,
    QuestionAsked,
    RetryScheduled,
    RunStatus,
    TurnFinished,
    TurnRef,
    TurnStarted,
    TurnStatus,
)
from core.journal import JournalError
from core.plain_name import plain_name
from core.plan import PlannedGroup, PlannedTurn
from core.run_context import LiveTurn, RunContext, RunEnds, TurnResult, first_of
from core.run_files import TURNS_NAME
from core.slots import Slots
from core.state import StateUpdate
from core.transcript import Kind
from core.turn import FREE_RESTARTS, Turn
from core.turn_outcome import Answered, Failed, NoState, Outcome, StopCause, Stopped
from core.words import say, say_number

BACKOFF_FIRST, BACKOFF_MOST = 2.0, 60.0
"""Seconds before the first retry (doubled each time, up to a quarter more at random), and at most."""
LITTLE_ROOM = 1_000_000
"""Bytes; with less on the disk an agent's failure is most likely the disk's."""
RESTART_PAUSE = 0.5
"""Seconds before a start that died before its first request is made again."""


def turn_refs(context: RunContext, group: PlannedGroup, iteration: int) -> tuple[TurnRef, ...]:
    """Ids and folders of the turns that a group is going to make; the same place gives the same id."""
    refs: list[TurnRef] = []
    for planned in group.turns:
        turn = turn_id(group, iteration, planned)
        folder = context.recorded.folders.get(turn) if context.recorded is not None else None
        if folder is None:
            context.turn_number += 1
            folder = f"{context.turn_number:03}-{plain_name(planned.label) or 'agent'}"
        refs.append(
            TurnRef(
                turn=turn,
                place=planned.place,
                label=planned.label,
                agent=planned.agent.name,
                folder=folder,
            )
        )
    return tuple(refs)


def turn_id(group: PlannedGroup, iteration: int, planned: PlannedTurn) -> str:
    """The name of a turn, the same whenever the same run comes to the same place."""
    return f"{group.phase}/{iteration}/{group.index}/{planned.place.entry}"


@dataclass
class TurnLoop:
    """Makes one turn. `slots`: how many turns of the group may be at work at once."""

    context: RunContext
    ref: TurnRef
    planned: PlannedTurn
    state_json: bytes
    beside: Sequence[str] = ()
    slots: Slots = field(default_factory=lambda: Slots(1))
    on_failure: Callable[[LiveTurn], None] | None = None
    """Called as soon as it is certain that the turn fails, while it still holds its slot."""
    kind: AttemptKind = AttemptKind.FIRST
    reason: str = ""
    """Why it is made, where it was begun before."""
    attempts: int = 0
    """Attempts that were made of it before."""
    _retries: int = 0
    _restarts: int = 0
    _started: float = 0.0

    def anew(self) -> TurnLoop:
        """The same turn once more, because the user asks for it; its attempts are counted on."""
        return TurnLoop(
            self.context,
            self.ref,
            self.planned,
            self.state_json,
            self.beside,
            self.slots,
            self.on_failure,
            kind=AttemptKind.RETRY,
            reason=say("You asked for another attempt."),
            attempts=self.attempts,
        )

    def announce(self) -> LiveTurn:
        """From now on the turn can be stopped; called before the group waits for anything."""
        live = LiveTurn()
        self.context.live[self.ref.turn] = live
        return live

    async def run(self, live: LiveTurn) -> TurnResult:
        """Make the turn; a turn that never got its slot leaves no trace in the journal.

        A turn whose update is recorded already is not made again.
        """
        context = self.context
        self._remember_attempts()
        recorded = context.answer_of(self.ref.turn)
        if recorded is not None:
            context.live.pop(self.ref.turn, None)
            return TurnResult(self.ref, TurnStatus.SUCCEEDED, recorded)
        try:
            return await self._run(live)
        finally:
            context.live.pop(self.ref.turn, None)

    def _remember_attempts(self) -> None:
        """An earlier life of the run may have begun this turn."""
        before = self.context.recorded.attempts.get(self.ref.turn, 0) if self.context.recorded else 0
        if before and not self.attempts:
            self.attempts = before
            self.kind, self.reason = AttemptKind.RETRY, say("The run was resumed.")

    async def _run(self, live: LiveTurn) -> TurnResult:
        context = self.context
        turn = Turn(
            ref=self.ref,
            planned=self.planned,
            backend=context.backend_of(self.planned.backend),
            order=TurnOrder(
                agent=self.planned.agent,
                title=f"{context.plan.workflow_name}: {self.ref.label}",
                workdir=context.plan.workdir,
                turn_folder=context.record.folder / TURNS_NAME / self.ref.folder,
                model=self.planned.model,
                defaults=context.plan.opencode_defaults,
            ),
            services=context.record.services,
            state_json=self.state_json,
            beside=self.beside,
            control=live.control,
            attempts_before=self.attempts,
        )
        try:
            return await self._try_and_ask(turn, live)
        finally:
            turn.close()

    async def _try_and_ask(self, turn: Turn, live: LiveTurn) -> TurnResult:
        context = self.context
        kind, reason = self.kind, self.reason
        while True:
            outcome = await self._in_slot(turn, live, kind, reason)
            self.attempts = turn.number
            if outcome is None:
                return TurnResult(self.ref, TurnStatus.WAITING)
            if isinstance(outcome, Failed) and (wait := self._wait_before_retry(outcome.failure)) is not None:
                context.publish(
                    RetryScheduled(
                        time=time.time(), turn=self.ref.turn, seconds=wait, reason=outcome.failure.message
                    )
                )
                turn.note(
                    say(
                        "{message} Next attempt in {seconds:.0f} s.",
                        message=outcome.failure.message,
                        seconds=wait,
                    ),
                    Kind.WARNING,
                )
                # The slot is free meanwhile; a stop is heard at once.
                await self._rest(live, wait)
                if not live.no_more.is_set():
                    kind, reason = AttemptKind.RETRY, outcome.failure.message
                    continue
                outcome = Stopped(live.control.cause or StopCause.RUN)
            if isinstance(outcome, Failed) and outcome.failure.provider_wide and context.may_go_on:
                # Every other agent would fail alike: nobody else is to pay for finding that out.
                if context.plan.pause_on_provider_failure:
                    turn.note(
                        say("{message} The run is paused.", message=outcome.failure.message), Kind.WARNING
                    )
                    context.pause(self.ref.turn, f"{self.ref.label}: {outcome.failure.message}")
                    await context.gate(live)
                    if not live.no_more.is_set():
                        kind, reason = AttemptKind.RETRY, outcome.failure.message
                        continue
                    outcome = Stopped(live.control.cause or StopCause.RUN)
                else:
                    words = say(
                        "{agent} failed: {message}", agent=self.ref.label, message=outcome.failure.message
                    )
                    context.end_soon(RunEnds(RunStatus.FAILED, f"agent_error:{self.ref.label}", words))
            if outcome == Stopped(StopCause.RETRY) and live.control.start_over():
                kind, reason = AttemptKind.RETRY, say("You asked for another attempt.")
                turn.note(reason)
                continue
            if isinstance(outcome, NoState) and context.plan.on_missing_state == "ask":
                answer = await self._ask(live, outcome)
                if answer is Answer.RETRY:
                    kind, reason = AttemptKind.RETRY, outcome.problem.message
                    continue
                if answer is Answer.ABORT and not live.no_more.is_set():
                    # Said by the user. One that is let go gets this answer, too, and ends nothing else.
                    context.end_now(self._ended_by_user(outcome), keep=live)
                    return await self._end(turn, outcome, answer)
                if live.control.cause is not None:
                    return await self._end(turn, Stopped(live.control.cause), None)
                return await self._end(turn, outcome, answer)
            return await self._end(turn, outcome, None)

    async def _in_slot(self, turn: Turn, live: LiveTurn, kind: AttemptKind, reason: str) -> Outcome | None:
        """One try while a slot is held; None: the turn is not wanted any more and never began."""
        if not await self._slot(live):
            return self._given_up(live)
        try:
            context = self.context
            if live.no_more.is_set():
                return self._given_up(live)
            if self._started == 0.0:
                if not context.may_begin():
                    return None
                outcome = await context.executor.call(partial(self._begin, turn, kind, reason))
            elif context.over_budget() is not None:
                return Stopped(StopCause.BUDGET)
            else:
                outcome = await context.executor.call(partial(turn.work, kind, reason))
            if self.on_failure is not None and self._is_lost(outcome):
                # Before the slot is free: nobody else of the group is to begin, and cost, for nothing.
                self.on_failure(live)
            return outcome
        finally:
            self.slots.release()

    def _begin(self, turn: Turn, kind: AttemptKind, reason: str) -> Outcome:
        """The first try, with what comes before it. On a worker."""
        prompt_bytes = turn.open()
        self._started = time.time()
        self.context.publish(
            TurnStarted(
                time=self._started,
                turn=self.ref.turn,
                backend=self.planned.backend,
                model=self.planned.model,
                prompt_bytes=prompt_bytes,
            )
        )
        return turn.work(kind, reason)

    def _is_lost(self, outcome: Outcome) -> bool:
        """Whether the turn ends without an update, whatever comes now."""
        match outcome:
            case Failed(failure=failure):
                # A lost provider lets those at work finish, whatever the group says.
                return not failure.provider_wide and not self._may_retry(failure)
            case NoState():
                return self.context.plan.on_missing_state == "abort"
            case Stopped() | Answered():
                # Whom the user stops alone leaves the others alone.
                return False

    async def _slot(self, live: LiveTurn) -> bool:
        """Wait for a slot while the run is not paused; False: the turn is not wanted any more."""
        while True:
            await self.context.gate(live)
            if not await self.slots.acquire(live):
                return False
            if not self.context.paused:
                return True
            self.slots.release()

    def _given_up(self, live: LiveTurn) -> Outcome | None:
        """What a turn comes to that was told to wait no longer."""
        cause = live.control.cause
        if self._started == 0.0 and cause is not StopCause.TURN:
            return None
        return Stopped(cause or StopCause.RUN)

    async def _rest(self, live: LiveTurn, seconds: float) -> None:
        """Wait before the next attempt; the user may end the wait."""
        live.hurry = asyncio.Event()
        try:
            await first_of(live.no_more, live.hurry, within=seconds)
        finally:
            live.hurry = None

    def _may_retry(self, failure: Failure) -> bool:
        if not self.context.may_go_on or failure.provider_wide:
            return False
        free = failure.before_work and self._restarts < FREE_RESTARTS
        return free or (failure.transient and self._retries < self.context.plan.retries)

    def _wait_before_retry(self, failure: Failure) -> float | None:
        """Seconds until the next attempt, which counts from now on; None: there is none."""
        if not self._may_retry(failure):
            return None
        if failure.before_work and self._restarts < FREE_RESTARTS:
            self._restarts += 1
            return RESTART_PAUSE * self._restarts
        self._retries += 1
        backoff = min(BACKOFF_MOST, BACKOFF_FIRST * 2 ** (self._retries - 1))
        return float(backoff * (1 + random.random() / 4))

    async def _ask(self, live: LiveTurn, outcome: NoState) -> Answer:
        if live.no_more.is_set():
            return Answer.ABORT
        live.answer = asyncio.get_running_loop().create_future()
        words = missing_state_words(self.ref.label, outcome)
        try:
            self.context.publish(QuestionAsked(time=time.time(), turn=self.ref.turn, message=words))
            answer = await live.answer
        finally:
            live.answer = None
        said = None if live.no_more.is_set() else answer
        self.context.publish(QuestionAnswered(time=time.time(), turn=self.ref.turn, answer=said))
        return answer

    def _ended_by_user(self, outcome: NoState) -> RunEnds:
        """How the run ends when its user does not want it to go on without this turn's update."""
        label = self.ref.label
        words = say(
            "You ended the run. {problem} What was finished is kept.",
            problem=missing_state_words(label, outcome),
        )
        return RunEnds(RunStatus.STOPPED, f"missing_state:{label}", words)

    async def _end(self, turn: Turn, outcome: Outcome, answer: Answer | None) -> TurnResult:
        live = self.context.live.get(self.ref.turn)
        if live is not None:
            live.ends = True
        result, detail = self._result(outcome, answer)
        if result.status is TurnStatus.FAILED:
            result = replace(result, message=result.message + folder_trouble(turn.order.turn_folder))
        now = time.time()
        finished = TurnFinished(
            time=now,
            turn=self.ref.turn,
            status=result.status,
            update=result.update,
            message=result.message,
            detail=detail,
            reason=result.reason,
            seconds=now - (self._started or now),
            usage=turn.usage,
            edited=turn.edited,
        )

        def record() -> None:
            if isinstance(outcome, NoState):
                turn.note(outcome.problem.message, Kind.WARNING)
            if result.message:
                kind = Kind.ERROR if result.status is TurnStatus.FAILED else Kind.WARNING
                turn.note(result.message, kind)
            turn.close()
            self.context.record.publish(finished)
            turn.services.sync()

        await self.context.executor.call(record)
        return result

    def _result(self, outcome: Outcome, answer: Answer | None) -> tuple[TurnResult, str]:
        ref = self.ref
        if isinstance(outcome, Answered):
            return TurnResult(ref, TurnStatus.SUCCEEDED, outcome.update), ""
        if isinstance(outcome, Failed):
            failure = outcome.failure
            return TurnResult(ref, TurnStatus.FAILED, None, failure.message, outcome.reason), failure.detail
        if isinstance(outcome, Stopped):
            return self._stopped(outcome.cause), ""
        words = missing_state_words(ref.label, outcome)
        policy = self.context.plan.on_missing_state
        if answer is Answer.CONTINUE or (answer is None and policy == "continue"):
            return TurnResult(
                ref, TurnStatus.SUCCEEDED, StateUpdate(), f"{words} {say('The run went on.')}"
            ), outcome.problem.message
        if self.context.stop is not None:
            return self._stopped(StopCause.RUN), ""
        reason = f"missing_state:{ref.label}"
        return TurnResult(ref, TurnStatus.FAILED, None, words, reason), outcome.problem.message

    def _stopped(self, cause: StopCause) -> TurnResult:
        label = self.ref.label
        messages = {
            StopCause.RUN: say("{agent} was stopped with the run.", agent=label),
            StopCause.TURN: say("You stopped {agent}.", agent=label),
            StopCause.SIBLING: say(
                "{agent} was stopped because another agent of its group failed.", agent=label
            ),
            StopCause.GROUP_TIMEOUT: say(
                "{agent} was stopped because its group ran out of time.", agent=label
            ),
            StopCause.BUDGET: say("{agent} was stopped because the budget is used up.", agent=label),
            StopCause.RETRY: say("{agent} was stopped.", agent=label),
        }
        # No agent is to blame for what ended it from outside.
        over = self.context.over_budget() if cause is StopCause.BUDGET else None
        reason = "group_timeout" if cause is StopCause.GROUP_TIMEOUT else over.reason if over else "stopped"
        by_user = cause is StopCause.TURN
        return TurnResult(self.ref, TurnStatus.STOPPED, None, messages[cause], reason, by_user)


def folder_trouble(folder: Path) -> str:
    """What the disk may have to do with a failure: a sentence, or nothing.

    Raises JournalError when the run folder is gone: then nothing of the run can be kept any more.
    """
    if not folder.is_dir():
        raise JournalError(
            say(
                "The run folder was removed while the run went on: {folder}. Run the workflow again.",
                folder=folder.parent.parent,
            )
        )
    free = shutil.disk_usage(folder).free
    return f" {say('There is no room left on the disk of the run folder.')}" if free < LITTLE_ROOM else ""


def missing_state_words(label: str, outcome: NoState) -> str:
    """What a user is told when no update came."""
    if not outcome.corrections:
        return say("{agent} did not answer with a state update.", agent=label)
    return say_number(
        outcome.corrections,
        "{agent} did not answer with a state update; 1 correction was tried.",
        "{agent} did not answer with a state update; {count} corrections were tried.",
        agent=label,
    )
