"""What one turn has come to, folded from its events."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from core.events import (
    AttemptFinished,
    AttemptKind,
    AttemptStarted,
    QuestionAnswered,
    QuestionAsked,
    RetryScheduled,
    SessionKnown,
    TurnActivity,
    TurnFinished,
    TurnStarted,
    TurnStatus,
    UsageReported,
)
from core.plan import Place
from core.usage import Spent
from core.words import say

TurnEvent: TypeAlias = (
    TurnStarted
    | AttemptStarted
    | SessionKnown
    | UsageReported
    | AttemptFinished
    | RetryScheduled
    | TurnFinished
    | TurnActivity
    | QuestionAsked
    | QuestionAnswered
)
"""What happens to one turn."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """One process of a turn. Times are seconds since the epoch."""

    number: int
    """Counted from 1 over retries, corrections and earlier starts of the turn."""
    kind: AttemptKind
    started: float
    finished: float | None = None
    """None: it is at work."""
    reason: str = ""
    """Why it was made; empty for the first."""
    problem: str = ""
    """What was wrong with it; empty: nothing, or not told yet."""
    answered: bool = False
    """It ended by itself and nothing was wrong with it. Whether its answer holds an update is not said."""
    retry_in: float | None = None
    """Seconds that the turn then waits before its next attempt; None: it does not wait for time to pass."""
    spent: Spent = field(default_factory=Spent)
    """What it used, as far as it has told."""


@dataclass(frozen=True, slots=True)
class EarlierStart:
    """A start of a turn that was made again: the run was resumed, or the user asked for it."""

    started: float
    finished: float
    status: TurnStatus
    message: str
    attempts: tuple[Attempt, ...]
    spent: Spent


@dataclass(slots=True)
class TurnProgress:
    """One turn. Times are seconds since the epoch."""

    id: str
    place: Place
    label: str
    agent: str
    folder: str
    """Name of the turn's folder inside `turns/`."""
    iteration: int
    """0 outside of the loop."""
    status: TurnStatus = TurnStatus.WAITING
    attempt: int = 0
    """The current or last attempt, counted from 1 over retries and corrections; 0: none yet."""
    attempt_kind: AttemptKind = AttemptKind.FIRST
    attempt_reason: str = ""
    retries: int = 0
    """Attempts that were retries."""
    corrections: int = 0
    retry_at: float | None = None
    """The turn waits until then before it is tried again."""
    backend: str = ""
    model: str | None = None
    session: str = ""
    started: float | None = None
    finished: float | None = None
    spent: Spent = field(default_factory=Spent)
    spent_before: Spent = field(default_factory=Spent)
    """By an earlier start of this turn, which was cut off and made again."""
    spent_again: Spent = field(default_factory=Spent)
    """Of all that, by attempts after the first: retries, corrections, later starts."""
    message: str = ""
    detail: str = ""
    reason: str = ""
    attempts_made: list[Attempt] = field(default_factory=list)
    """Every attempt of this start of the turn, in time."""
    earlier: list[EarlierStart] = field(default_factory=list)
    """Its starts before this one, in time."""
    steps: int = field(default=0, compare=False)
    output_bytes: int = field(default=0, compare=False)
    last_activity: float | None = field(default=None, compare=False)
    question: str = ""
    """What the turn asks the user at present; empty: nothing."""
    between_attempts: bool = field(default=False, compare=False)
    """An attempt is over and the next one has not begun."""
    waits_for_run: bool = field(default=False, compare=False)
    """It began, and waits for the run to go on, which is paused."""

    @property
    def title(self) -> str:
        """The label, and the iteration where the turn is of the loop: `vera 3`, `vera 2 · 3`."""
        if not self.iteration:
            return self.label
        # "vera 2 1" would be anybody's guess.
        return f"{self.label}{' · ' if self.label[-1:].isdigit() else ' '}{self.iteration}"

    @property
    def is_over(self) -> bool:
        """Whether it came to an end."""
        return self.status not in (TurnStatus.WAITING, TurnStatus.RUNNING)

    @property
    def all_spent(self) -> Spent:
        """What the turn used, earlier starts included."""
        return self.spent_before.plus(self.spent)

    def seconds(self, now: float) -> float | None:
        """How long it has worked so far or worked since it began the last time: its attempts, without what it
        waited for the user, for the run, or for the time of its next attempt. None: it never began."""
        if self.started is None:
            return None
        if not self.attempts_made:  # the first is about to begin, or the journal lost them
            return max(0.0, (now if self.finished is None else self.finished) - self.started)
        return _sum_of(self.attempts_made, now)

    def all_seconds(self, now: float) -> float | None:
        """How long it has worked in all, earlier starts included; None: it never began."""
        if self.started is None and not self.earlier:
            return None
        before = sum(
            _sum_of(start.attempts, now) if start.attempts else max(0.0, start.finished - start.started)
            for start in self.earlier
        )
        return before + (self.seconds(now) or 0.0)

    def quiet_seconds(self, now: float) -> float:
        """For how long nothing came from it; 0 while it is not expected to say anything."""
        since = self.last_activity or self.started
        if self.status is not TurnStatus.RUNNING or self.question or self.retry_at or since is None:
            return 0.0
        return max(0.0, now - since)

    def begin_again(self, now: float) -> None:
        """The turn is made again: the run was resumed, or the user asked for it."""
        if not self.is_over:
            self.cut_off(now, say("It was cut off."))
        if self.started is not None:
            ended = self.started if self.finished is None else self.finished
            attempts = tuple(self.attempts_made)
            self.earlier.append(
                EarlierStart(self.started, ended, self.status, self.message, attempts, self.spent)
            )
        self.attempts_made = []
        self.spent_before = self.all_spent
        self.spent = Spent()
        self.status = TurnStatus.WAITING
        self.attempt = self.retries = self.corrections = self.steps = self.output_bytes = 0
        self.attempt_kind = AttemptKind.FIRST
        self.attempt_reason = self.session = self.message = self.detail = self.reason = self.question = ""
        self.started = self.finished = self.retry_at = self.last_activity = None
        self.between_attempts = self.waits_for_run = False

    # --- applying --------------------------------------------------------------------------------------

    def apply(self, event: TurnEvent) -> None:
        """Take in what happened to it."""
        match event:
            case TurnStarted():
                self.status = TurnStatus.RUNNING
                self.started = event.time
                self.backend = event.backend
                self.model = event.model
            case AttemptStarted():
                self.status = TurnStatus.RUNNING
                self.attempt = event.number
                self.attempt_kind = event.kind
                self.attempt_reason = event.reason
                self.retries += event.kind is AttemptKind.RETRY
                self.corrections += event.kind is AttemptKind.CORRECTION
                self.retry_at = None
                self.between_attempts = False
                self._end_attempt(event.time)
                self.attempts_made.append(Attempt(event.number, event.kind, event.time, reason=event.reason))
            case SessionKnown():
                self.session = event.session
            case UsageReported():
                self.spent.add(event.usage)
                if self.attempt_kind is not AttemptKind.FIRST:
                    self.spent_again.add(event.usage)
                if self.attempts_made:
                    # Attempts follow each other, so what is told is told by the last.
                    latest = self.attempts_made[-1]
                    spent = latest.spent.plus(Spent())
                    spent.add(event.usage)
                    self.attempts_made[-1] = replace(latest, spent=spent)
                self.steps += 1
            case RetryScheduled():
                self.retry_at = event.time + event.seconds
                if self.attempts_made:
                    self.attempts_made[-1] = replace(self.attempts_made[-1], retry_in=event.seconds)
            case TurnActivity():
                self.steps = max(self.steps, event.steps)
                self.output_bytes = event.output_bytes
                self.last_activity = event.time
                # What it printed before it asked may be told later, and is no answer.
                return
            case QuestionAsked():
                self.question = event.message
                return
            case QuestionAnswered():
                self.question = ""
                return
            case TurnFinished():
                self._finish(event)
            case AttemptFinished():
                self.between_attempts = True
                self._end_attempt(event.time, event.problem, answered=not event.problem)
        self.question = ""
        self.last_activity = event.time

    def _end_attempt(self, now: float, problem: str = "", *, answered: bool = False) -> None:
        """The attempt that is at work, if there is one, is over."""
        if self.attempts_made and self.attempts_made[-1].finished is None:
            self.attempts_made[-1] = replace(
                self.attempts_made[-1], finished=now, problem=problem, answered=answered
            )

    def _finish(self, event: TurnFinished) -> None:
        self._end_attempt(event.time)
        self.status = event.status
        self.message = event.message
        self.detail = event.detail
        self.reason = event.reason
        self.finished = event.time
        self.retry_at = None
        # The end tells the sum of all attempts; steps that were lost on the way are in it.
        if event.usage.total_tokens >= self.spent.usage.total_tokens:
            self.spent = Spent(unpriced=self.spent.unpriced)
            self.spent.add(event.usage)
        self.between_attempts = False

    def cut_off(self, now: float, message: str) -> None:
        """The run ended before the turn did."""
        self._end_attempt(now)
        self.status = TurnStatus.STOPPED
        self.message = message
        self.question = ""
        self.retry_at = None
        self.between_attempts = False
        if self.started is not None:
            self.finished = now

    def see_pause(self, paused: bool) -> None:
        """Whether it waits for the run; who asks the user or is in the middle of an attempt does not."""
        self.waits_for_run = (
            paused and self.between_attempts and not self.question and self.status is TurnStatus.RUNNING
        )


def _sum_of(attempts: Iterable[Attempt], now: float) -> float:
    return sum(
        max(0.0, (now if attempt.finished is None else attempt.finished) - attempt.started)
        for attempt in attempts
    )
