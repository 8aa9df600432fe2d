"""Bars of a run's timeline: one for each start of a turn, with its attempts, and the rows that they share."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TypeAlias

from core.events import AttemptKind, TurnStatus
from core.state import Phase
from core.time_spans import Span
from core.turn_progress import Attempt
from core.usage import Spent

GroupKey: TypeAlias = tuple[Phase, int, int]
"""Phase, iteration (0 outside of the loop) and index of a group at one time of a run."""
RowKey: TypeAlias = tuple[Phase, str]
"""Phase and label: what shares a row of the timeline."""

_AT_ONCE = 1.0
"""Seconds between two attempts that pass by themselves; what is longer waits for somebody."""


@dataclass(frozen=True, slots=True)
class Bar:
    """One start of a turn. Times are seconds since the epoch; `ended` None: it goes on, or waits."""

    turn: str
    """The id of its turn."""
    title: str
    label: str
    agent: str
    phase: Phase
    iteration: int
    group: int
    """Index of the group in its phase."""
    parallel: bool
    """Whether it is one of a parallel group."""
    status: TurnStatus
    """Of this start: one that was cut off and made again later is STOPPED."""
    called: float
    """When its group, or it in its group, could have begun; before `began` it waited for a slot."""
    began: float | None
    """None: it never began."""
    ended: float | None
    attempts: tuple[Attempt, ...]
    message: str
    spent: Spent
    start_number: int = 1
    """Which start of the turn it is; the last one is the one that counts."""
    starts: int = 1

    @property
    def key(self) -> GroupKey:
        """Its group at its time of the run."""
        return self.phase, self.iteration, self.group

    @property
    def first(self) -> float:
        """Where it is on the timeline: its begin; while it waits for a slot, that of the wait."""
        return self.called if self.began is None else self.began

    @property
    def went_without(self) -> bool:
        """Whether the run went on without a state update of it. Its status is SUCCEEDED all the same."""
        return self.status is TurnStatus.SUCCEEDED and bool(self.message)

    def lacks_update(self, number: int) -> bool:
        """Whether its attempt of this index (from 0) ended by itself, but its answer was no state update.

        The last attempt of a turn that failed because of that has failed.
        """
        following = self.attempts[number + 1] if number + 1 < len(self.attempts) else None
        if following is not None and following.kind is AttemptKind.CORRECTION:
            return True
        if not self.attempts[number].answered:
            return False
        if following is not None or self.went_without:
            return True
        return self.status not in (TurnStatus.SUCCEEDED, TurnStatus.FAILED)

    def rest_after(self, number: int, now: float) -> tuple[float, float]:
        """Seconds between an attempt (index from 0) that failed and what came next: those until its retry
        was due, and those in which it then waited for a slot. Zeros where no retry was planned."""
        attempt = self.attempts[number]
        if attempt.retry_in is None or attempt.finished is None:
            return 0.0, 0.0
        last = number + 1 >= len(self.attempts)
        gap = max(0.0, (self.until(now) if last else self.attempts[number + 1].started) - attempt.finished)
        planned = min(gap, attempt.retry_in)
        return planned, gap - planned

    def until(self, now: float) -> float:
        """Its end, which is `now` for one that goes on."""
        return max(self.first, now if self.ended is None else self.ended)

    def worked(self, now: float) -> Iterator[Span]:
        """From when to when a process of it was at work."""
        if self.began is None:
            return
        if not self.attempts:  # the journal lost them
            yield self.began, self.until(now)
        for attempt in self.attempts:
            yield attempt.started, max(attempt.started, now if attempt.finished is None else attempt.finished)

    def rested(self, now: float) -> Iterator[Span]:
        """From when to when it waited for the time of its next attempt after one that failed."""
        if all(attempt.retry_in is None for attempt in self.attempts):
            return
        for attempt, end, _ in _gaps(self, now):
            if attempt.retry_in is not None and attempt.finished is not None:
                yield attempt.finished, max(attempt.finished, min(end, attempt.finished + attempt.retry_in))

    def worked_until(self, now: float) -> float:
        """When it was at work last; after that it waited, for its user or for time to pass."""
        until = self.until(now)
        last = self.attempts[-1].finished if self.attempts else None
        # What comes after an attempt passes by itself within a moment.
        return until if last is None or until - last <= _AT_ONCE else last

    def waited_for_user(self, now: float) -> float:
        """Seconds in which it asked its user, or the run was paused before its next attempt."""
        waits = (ended - began for began, ended in waits_for_user(self, now))
        return sum(wait + _AT_ONCE for wait in waits if wait > 0)

    def seconds(self, now: float) -> float:
        """How long it worked: its attempts. Not counted is what it waited for a slot, for the user, or for
        the time of its next attempt."""
        return sum(ended - began for began, ended in self.worked(now))


@dataclass(slots=True)
class Row:
    """What shares a row: all starts of the turns with one label in one phase, in time."""

    phase: Phase
    label: str
    agent: str
    place: tuple[int, int]
    """Of its first turn: index of the group in the phase, and of the entry in the group."""
    bars: list[Bar] = field(default_factory=list)

    @property
    def key(self) -> RowKey:
        """What tells it from other rows."""
        return self.phase, self.label


def _gaps(bar: Bar, now: float) -> Iterator[tuple[Attempt, float, Attempt | None]]:
    """An attempt that is over, when its gap ends, and the attempt after it."""
    for number, attempt in enumerate(bar.attempts):
        following = bar.attempts[number + 1] if number + 1 < len(bar.attempts) else None
        if attempt.finished is not None:
            yield attempt, bar.until(now) if following is None else following.started, following


def waits_for_user(bar: Bar, now: float) -> Iterator[Span]:
    """When it asked its user, as far as the attempts tell: questions are not in the journal."""
    if len(bar.attempts) == 1 and bar.attempts[0].finished in (None, bar.ended):
        return
    for attempt, end, following in _gaps(bar, now):
        corrected = following is not None and following.kind is AttemptKind.CORRECTION
        if attempt.retry_in is None and not corrected and attempt.finished is not None:
            yield attempt.finished + _AT_ONCE, end
