"""What the parts of a running engine share: the plan, the state, the slots, the wish to stop."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Protocol

import orjson

from core.answer import Answer
from core.backends.base import Backend
from core.condition import Condition, ConditionError
from core.events import (
    ConditionChecked,
    Event,
    IterationStarted,
    Merged,
    Noted,
    PhaseStarted,
    RunContinued,
    RunPaused,
    RunStatus,
    StateChanged,
    StopKind,
    StopRequested,
    TurnFinished,
    TurnRef,
    TurnStatus,
)
from core.executor import Executor
from core.journal import JournalError
from core.json_types import JsonValue
from core.merge import merge_updates
from core.plan import PlannedGroup, RunPlan
from core.progress_words import cap_field
from core.recorded_run import RecordedRun
from core.run_record import RunRecord
from core.spending import Spending
from core.state import Conflict, Contribution, MergeResult, Phase, StateUpdate, WorkflowState
from core.transcript import Kind
from core.turn_control import TurnControl
from core.turn_outcome import StopCause
from core.usage import Usage
from core.words import say

BUDGET_GRACE = 3.0
"""Seconds between reaching a cap and stopping the agents at work, where the budget says so."""


class RunEnds(Exception):  # noqa: N818 - not an error: the run ends here
    """The run ends, how and why; `message` is a sentence for a user."""

    def __init__(self, status: RunStatus, reason: str, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.reason = reason
        self.message = message


@dataclass(frozen=True, slots=True)
class TurnResult:
    """What a turn came to, for its group. `reason`: the termination reason if the run ends by it."""

    ref: TurnRef
    status: TurnStatus
    update: StateUpdate | None = None
    message: str = ""
    reason: str = ""
    by_user: bool = False
    """The user stopped this one turn."""


@dataclass(slots=True)
class LiveTurn:
    """A turn that waits for its slot or is at work; `answer` while it asks the user.

    `no_more` is set when no further process of it may be started.
    """

    control: TurnControl = field(default_factory=TurnControl)
    no_more: asyncio.Event = field(default_factory=asyncio.Event)
    slot: asyncio.Future[bool] | None = None
    """While it waits for a slot: whether it got one."""
    hurry: asyncio.Event | None = None
    """While it waits before its next attempt: set to end that."""
    answer: asyncio.Future[Answer] | None = None
    ends: bool = False
    """Its end is being written: nothing can be done with it any more."""

    def stop(self, cause: StopCause) -> None:
        """End it, whatever it is doing."""
        self.control.stop(cause)
        self.let_go()

    def let_go(self) -> None:
        """Have it wait for nothing any more: no slot, no next attempt, no answer. What works goes on."""
        self.no_more.set()
        if self.slot is not None and not self.slot.done():
            self.slot.set_result(False)
        self.reply(Answer.ABORT)

    def retry(self) -> None:
        """Try it again now: what works is ended first, what waits waits no longer."""
        if self.answer is not None:
            self.reply(Answer.RETRY)
        elif self.hurry is not None:
            self.hurry.set()
        elif not self.no_more.is_set():
            self.control.stop(StopCause.RETRY)

    def reply(self, answer: Answer) -> None:
        """Answer its question, if it asks one."""
        if self.answer is not None and not self.answer.done():
            self.answer.set_result(answer)


class Clock(Protocol):
    """Time that runs while a group does."""

    def stand_still(self) -> None:
        """The run is paused."""

    def go_on(self) -> None:
        """The run goes on."""


@dataclass
class RunContext:
    """One run while it goes on. Everything here belongs to the loop's thread."""

    plan: RunPlan
    executor: Executor
    record: RunRecord
    backend_of: Callable[[str], Backend]
    condition: Condition
    state: WorkflowState
    spending: Spending
    stop: StopKind | None = None
    live: dict[str, LiveTurn] = field(default_factory=dict)
    turn_number: int = 0
    recorded: RecordedRun | None = None
    """What an earlier life of this run left; None: it begins."""
    replaying: bool = False
    """The run goes through what is recorded already; nothing of that is told a second time."""
    ends: RunEnds | None = None
    """How the run has to end as soon as what is at work is done; nothing new starts."""
    again: dict[str, Callable[[], None]] = field(default_factory=dict)
    """By turn id: makes a failed turn once more while its group still waits for others."""
    clock: Clock | None = None
    """That of the present group."""
    _open_gate: asyncio.Event | None = None
    """Set while no turn may begin an attempt: the run is paused."""
    _over: set[str] = field(default_factory=set)

    def publish(self, event: Event) -> None:
        """Journal a small event and pass it on."""
        if not self.replaying:
            self.record.publish(event)

    def warn(self, message: str, turn: str | None = None) -> None:
        """Tell the user something that does not end the run."""
        self.publish(Noted(time=time.time(), turn=turn, message=message, warning=True))
        self.note(message)

    def note(self, message: str) -> None:
        """A warning in the overview alone."""
        if not self.replaying:
            self.record.note(message, Kind.WARNING)

    def stop_live(self, cause: StopCause) -> None:
        """End every turn that is at work or waiting."""
        for live in list(self.live.values()):
            live.stop(cause)

    def let_go(self) -> None:
        """End every turn that only waits; those at work go on to their end."""
        for live in list(self.live.values()):
            live.let_go()

    # --- a run that goes on ------------------------------------------------------------------------------

    def answer_of(self, turn: str) -> StateUpdate | None:
        """The update of a turn that an earlier life of the run finished; it never runs again."""
        return self.recorded.answers.get(turn) if self.recorded is not None else None

    def failure_of(self, turn: str) -> TurnFinished | None:
        """How a turn without an update ended in an earlier life of the run."""
        return self.recorded.failures.get(turn) if self.recorded is not None else None

    def was_merged(self, group: PlannedGroup, iteration: int) -> bool:
        """Whether an earlier life of the run merged this group."""
        key = (group.phase, iteration, group.index)
        return self.recorded is not None and key in self.recorded.merged

    def spent_before(self, turns: Iterable[str]) -> Usage:
        """What these turns used in an earlier life of the run."""
        return self.recorded.spent_of(turns) if self.recorded is not None else Usage()

    def go_live(self, phase: Phase, iteration: int) -> None:
        """What comes now was not there before: say where the run stands, and tell everything from here."""
        if not self.replaying:
            return
        self.replaying = False
        now = time.time()
        self.publish(StateChanged(time=now, state=self.state))
        self.publish(PhaseStarted(time=now, phase=phase))
        if phase == "loop":
            self.publish(IterationStarted(time=now, iteration=iteration))

    # --- a run that waits --------------------------------------------------------------------------------

    @property
    def paused(self) -> bool:
        """Whether nothing may begin until `proceed`."""
        return self._open_gate is not None

    def pause(self, turn: str, message: str) -> None:
        """Begin nothing until `proceed`; what is at work goes on to its end."""
        if self._open_gate is None and self.stop is None:
            self._open_gate = asyncio.Event()
            if self.clock is not None:
                self.clock.stand_still()
            self.publish(RunPaused(time=time.time(), turn=turn, message=message))
            self.note(say("The run is paused. {message}", message=message))

    def proceed(self) -> None:
        """Let a paused run go on."""
        gate, self._open_gate = self._open_gate, None
        if gate is not None:
            gate.set()
            if self.clock is not None:
                self.clock.go_on()
            self.publish(RunContinued(time=time.time()))

    async def gate(self, live: LiveTurn) -> None:
        """Wait while the run is paused, unless the turn is not wanted any more."""
        while self._open_gate is not None and not live.no_more.is_set():
            await first_of(self._open_gate, live.no_more)

    # --- a run that ends ---------------------------------------------------------------------------------

    def end_soon(self, ending: RunEnds) -> None:
        """Begin nothing more, and end like this when what is at work is done; the first wish stands."""
        if self.ends is None:
            self.ends = ending
        self.let_go()

    def end_now(self, ending: RunEnds, keep: LiveTurn) -> None:
        """End like this, as a stop does: what is at work is ended, but for `keep`, which ends by itself."""
        if self.ends is None:
            self.ends = ending
        for live in list(self.live.values()):
            if live is not keep:
                live.stop(StopCause.RUN)
        # A disk that refuses this line must not keep the run from ending; the run meets it by itself.
        with contextlib.suppress(JournalError):
            self.publish(StopRequested(time=time.time(), kind=StopKind.NOW))

    def end_if_needed(self) -> None:
        """Raise RunEnds when the run is to end before anything else begins."""
        self.end_if_stopped()
        if self.ends is not None:
            raise self.ends
        over = self.over_budget()
        if over is not None:
            raise over

    def end_if_stopped(self) -> None:
        """Raise RunEnds when the user wants the run to stop."""
        if self.stop is not None:
            raise RunEnds(
                RunStatus.STOPPED, "stopped", say("The run was stopped. What was finished is kept.")
            )

    @property
    def may_go_on(self) -> bool:
        """Whether nothing is known that ends the run, but for its budget."""
        return self.stop is None and self.ends is None

    def may_begin(self) -> bool:
        """Whether a turn may begin now."""
        return self.may_go_on and self.over_budget() is None

    def over_budget(self) -> RunEnds | None:
        """How the run has to end when a cap is reached; None: there is something left."""
        cap = self.spending.reached()
        if cap is None:
            return None
        return RunEnds(
            RunStatus.ENDED,
            f"budget_exceeded:{cap.name}",
            say(
                "{spent}; the budget allows {limit}. Resume the run with a higher {field} to go further.",
                spent=cap.spent_words,
                limit=cap.limit_words,
                field=cap_field(cap.name),
            ),
        )

    def mind_budget(self) -> None:
        """Something was spent: warn near a cap, and at a cap see to it that the spending ends."""
        for words in self.spending.warnings():
            self.warn(words)
        cap = self.spending.reached()
        if cap is None or cap.name in self._over:
            return
        self._over.add(cap.name)
        stops = self.plan.budget.when_reached == "stop"
        spent, limit = cap.spent_words, cap.limit_words
        self.warn(
            say(
                "{spent}; the budget allows {limit}. Nothing new starts, and agents at work are stopped.",
                spent=spent,
                limit=limit,
            )
            if stops
            else say(
                "{spent}; the budget allows {limit}. Nothing new starts, and agents at work may finish.",
                spent=spent,
                limit=limit,
            )
        )
        for live in list(self.live.values()):
            live.control.wind_down(StopCause.BUDGET)
        if stops:
            # Who has just made the last step is about to hand in what was paid for.
            asyncio.get_running_loop().call_later(BUDGET_GRACE, self._stop_spending)

    def _stop_spending(self) -> None:
        if self.over_budget() is not None:
            self.stop_live(StopCause.BUDGET)

    async def merge(self, group: PlannedGroup, iteration: int, contributions: list[Contribution]) -> None:
        """Make the next state of a group's updates. Raises RunEnds when a rule `error` was broken."""
        rules = group.merge_rules
        result: MergeResult = await self.executor.call(
            partial(merge_updates, self.state, contributions, rules)
        )
        self.state = result.state
        await self.executor.call(
            partial(
                self.publish,
                Merged(
                    time=time.time(),
                    phase=group.phase,
                    iteration=iteration,
                    group=group.index,
                    writers=tuple(contribution.writer for contribution in contributions),
                    conflicts=result.conflicts,
                ),
            )
        )
        for conflict in result.conflicts[:_MOST_CONFLICT_LINES]:
            self.note(conflict_words(conflict))
        more = len(result.conflicts) - _MOST_CONFLICT_LINES
        if more > 0:
            self.note(
                say(
                    "{count:,} more conflicts of this merge are in the state tab and in the journal.",
                    count=more,
                )
            )
        self.publish(StateChanged(time=time.time(), state=self.state))
        if result.error_path is not None:
            raise RunEnds(
                RunStatus.FAILED,
                f"merge_conflict:{result.error_path}",
                say(
                    "{conflict} The workflow says that this is an error. Resume the run with another merge "
                    "rule for this path.",
                    conflict=_error_words(result),
                ),
            )

    def enter(self, phase: Phase, iteration: int) -> None:
        """The state that the next agents get stands in this phase and iteration."""
        self.state = replace(self.state, current_phase=phase, iteration=iteration)

    def end_condition_holds(self, iteration: int) -> bool:
        """Whether the loop is done. A condition that cannot be evaluated does not hold, and says so."""
        try:
            holds = self.condition.holds(self.state)
        except ConditionError as error:
            self.warn(
                say(
                    "The end condition could not be checked: {message} {suggestion}",
                    message=error.message,
                    suggestion=error.suggestion,
                ).strip()
            )
            holds = False
        self.publish(ConditionChecked(time=time.time(), iteration=iteration, holds=holds))
        return holds


_MOST_CONFLICT_LINES = 50
"""Conflicts of one merge that the log tells one by one."""
_LONGEST_VALUE = 200
"""Characters of a value that a line of the log shows; the state tab and the journal have all of it."""


def conflict_words(conflict: Conflict) -> str:
    """Who wrote what, by which rule, and what came of it, in a line."""
    first, second, kept = (
        _value_words(value) for value in (conflict.first_value, conflict.second_value, conflict.outcome)
    )
    return say(
        "{first_writer} wrote {first} and {second_writer} wrote {second} to {path}; by the rule "
        "“{rule}” it is {kept}.",
        first_writer=conflict.first_writer,
        first=first,
        second_writer=conflict.second_writer,
        second=second,
        path=conflict.path,
        rule=conflict.rule,
        kept=kept,
    )


def _value_words(value: JsonValue) -> str:
    try:
        text = orjson.dumps(value).decode()
    except TypeError:  # numbers beyond 64 bits
        text = str(value)
    return text if len(text) <= _LONGEST_VALUE else f"{text[:_LONGEST_VALUE]}…"


def _error_words(result: MergeResult) -> str:
    conflict = next(each for each in result.conflicts if each.path == result.error_path)
    first, second = _value_words(conflict.first_value), _value_words(conflict.second_value)
    one, other = conflict.first_writer, conflict.second_writer
    return say(
        "{one} wrote {first} to {path}, and {other} wrote {second}.",
        one=one,
        first=first,
        path=conflict.path,
        other=other,
        second=second,
    )


async def first_of(*events: asyncio.Event, within: float | None = None) -> bool:
    """Wait for the first of some events; False when `within` seconds pass before."""
    waiting = [asyncio.ensure_future(event.wait()) for event in events]
    try:
        done, _ = await asyncio.wait(waiting, timeout=within, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for one in waiting:
            one.cancel()
    return bool(done)
