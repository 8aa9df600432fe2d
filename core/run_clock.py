"""Seconds of a run: times since the epoch without the time that does not count as the run's."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum


class BreakKind(StrEnum):
    """Why time is left out."""

    RESUMED = "resumed"
    WAITED = "waited"


@dataclass(frozen=True, slots=True)
class Break:
    """Time that is left out, `began` to `ended` (seconds since the epoch)."""

    kind: BreakKind
    began: float
    ended: float


class RunClock:
    """Seconds of a run for times since the epoch, and back. Neither goes backwards."""

    def __init__(self, started: float, ended: float, breaks: Sequence[Break] = ()) -> None:
        self.started = started
        self.ended = max(started, ended)
        self.breaks = tuple(breaks)
        """In time, none in another."""
        self._froms = [cut.began for cut in breaks]
        self._before = [0.0]
        """Seconds left out before each break, and after the last."""
        for cut in breaks:
            self._before.append(self._before[-1] + cut.ended - cut.began)

    @property
    def length(self) -> float:
        """How long the run took, or has taken so far."""
        return self.seconds(self.ended)

    @property
    def waited(self) -> float:
        """How many seconds are left out because nobody worked and all waited for the user."""
        return sum(cut.ended - cut.began for cut in self.breaks if cut.kind is BreakKind.WAITED)

    def seconds(self, time: float) -> float:
        """How far into the run a time is; 0 before it began."""
        after = bisect_right(self._froms, time)
        skipped = 0.0
        if after:
            last = self.breaks[after - 1]
            skipped = self._before[after - 1] + min(time, last.ended) - last.began
        return max(0.0, time - self.started - skipped)

    def time(self, seconds: float) -> float:
        """The time, since the epoch, that is so far into the run; the later one at a break."""
        time = self.started + seconds
        for cut in self.breaks:
            if time < cut.began:
                break
            time += cut.ended - cut.began
        return time
