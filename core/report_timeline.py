"""The timeline of a report: rows, bars and ticks in parts of its width."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from core.events import AttemptKind
from core.progress_words import duration_words, phase_title
from core.run_clock import BreakKind, RunClock
from core.run_times import Bar, RunChart
from core.state import Phase
from core.words import say

_STEPS = (0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 28800, 86400)
_MOST_TICKS = 10
_SHORTEST_WAIT = 0.25
"""Seconds; a process takes that long to begin."""
_SIGNS = {AttemptKind.RETRY: "↻", AttemptKind.CORRECTION: "✎"}


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a bar: an attempt, or what is before and between attempts. In percent of the width."""

    left: float
    width: float
    kind: str
    """`succeeded`, `failed`, `lacking` (an answer without a state update), `stopped`, `running`, `waiting` or
    `wait`."""
    sign: str = ""
    """What marks it at its beginning: `↻` a retry, `✎` a correction."""


@dataclass(frozen=True, slots=True)
class DrawnBar:
    """One start of a turn."""

    bar: Bar
    seconds: float
    waited: float
    """Seconds of it in which it waited for its user."""
    pieces: tuple[Piece, ...]


@dataclass(frozen=True, slots=True)
class DrawnRow:
    """All turns with one label in one phase. `first`: the phase begins with it."""

    label: str
    parallel: bool
    first: bool
    bars: tuple[DrawnBar, ...]


@dataclass(frozen=True, slots=True)
class Mark:
    """A moment, or a stretch of time, with a name; in percent of the width."""

    left: float
    text: str
    width: float = 0.0
    number: int = 0
    """Which pass of the loop it is; 0: none."""


@dataclass(frozen=True, slots=True)
class Timeline:
    """Everything to draw."""

    rows: tuple[DrawnRow, ...]
    ticks: tuple[Mark, ...]
    passes: tuple[Mark, ...]
    """Phases and passes of the loop."""
    breaks: tuple[Mark, ...]
    """Where time is left out, and why."""


class _Scale:
    def __init__(self, clock: RunClock) -> None:
        self._clock = clock
        self.seconds = max(clock.length, 0.001)

    def __call__(self, moment: float) -> float:
        """Where a moment (seconds since the epoch) stands."""
        return min(100.0, 100 * self._clock.seconds(moment) / self.seconds)


def timeline_of(chart: RunChart, clock: RunClock, now: float) -> Timeline:
    """The timeline of a run up to `now` (seconds since the epoch)."""
    scale = _Scale(clock)
    rows: list[DrawnRow] = []
    phase = ""
    for row in chart.rows:
        bars = tuple(
            DrawnBar(
                bar, bar.until(now) - bar.first, bar.waited_for_user(now), tuple(_pieces(bar, scale, now))
            )
            for bar in row.bars
        )
        if not bars:
            continue
        rows.append(DrawnRow(row.label, row.bars[-1].parallel, row.phase != phase, bars))
        phase = row.phase
    passes = []
    for band in chart.bands(now):
        left = scale(band.began)
        words = pass_words(band.phase, band.iteration)
        passes.append(Mark(left, words, scale(band.ended) - left, band.iteration))
    breaks = [Mark(scale(cut.began), _break_words(cut.kind)) for cut in clock.breaks]
    return Timeline(tuple(rows), tuple(_ticks(scale.seconds)), tuple(passes), tuple(breaks))


def pass_words(phase: Phase, iteration: int) -> str:
    """A phase, or a pass of the loop, by its name."""
    return say("Iteration {number}", number=iteration) if iteration else phase_title(phase)


def _pieces(bar: Bar, scale: _Scale, now: float) -> Iterator[Piece]:
    ended = bar.until(now)
    began = ended if bar.began is None else bar.began
    # It waited for a slot.
    yield from _wait(bar.called, began, scale)
    if bar.began is None:
        return
    if not bar.attempts:
        yield Piece(scale(began), scale(ended) - scale(began), "lacking" if bar.went_without else bar.status)
        return
    end = bar.attempts[0].started
    for number, attempt in enumerate(bar.attempts):
        yield from _wait(end, attempt.started, scale)
        end = max(attempt.started, ended if attempt.finished is None else attempt.finished)
        left = scale(attempt.started)
        yield Piece(left, scale(end) - left, _kind(bar, number), _SIGNS.get(attempt.kind, ""))
    if bar.worked_until(now) < ended:
        # It asked its user, or waited for its next attempt.
        yield from _wait(end, ended, scale)


def _wait(began: float, ended: float, scale: _Scale) -> Iterator[Piece]:
    """A line for what is longer than it takes by itself to begin."""
    if ended - began >= _SHORTEST_WAIT:
        yield Piece(scale(began), scale(ended) - scale(began), "wait")


def _kind(bar: Bar, number: int) -> str:
    if bar.lacks_update(number):
        return "lacking"
    if number + 1 == len(bar.attempts):
        return bar.status
    return "failed" if bar.attempts[number].problem else "stopped"


def _ticks(seconds: float) -> Iterator[Mark]:
    step = next((step for step in _STEPS if seconds / step <= _MOST_TICKS), 0.0)
    if not step:
        step = _STEPS[-1] * (seconds // (_STEPS[-1] * _MOST_TICKS) + 1)
    # The last one would stand over the edge.
    for number in range(int(seconds * 0.97 / step) + 1):
        moment = number * step
        text = f"{moment:.1f} s" if step < 1 else duration_words(moment)
        yield Mark(100 * moment / seconds, text)


def _break_words(kind: BreakKind) -> str:
    match kind:
        case BreakKind.RESUMED:
            return say("The run was resumed here")
        case BreakKind.WAITED:
            return say("The run waited here for its user")
