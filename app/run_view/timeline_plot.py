"""What a timeline shows, ready to be found and painted: rows and bars by their seconds of the run.

Only what changed is read again, and only the rows that are looked at are laid out.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from PySide6.QtCore import QRectF

from app.run_view.timeline_scale import TimelineScale
from core.events import TurnStatus
from core.progress import RunProgress
from core.run_clock import RunClock
from core.run_times import Band, Bar, GroupKey, Row, RowKey, RunChart, Savings
from core.time_spans import Span

HEIGHTS: dict[TurnStatus, int] = {
    TurnStatus.WAITING: 2,
    TurnStatus.RUNNING: 14,
    TurnStatus.SUCCEEDED: 14,
    TurnStatus.FAILED: 18,
    TurnStatus.STOPPED: 8,
}
"""Pixels: no outcome is told by colour alone, however narrow a bar is."""


class RowShapes:
    """The bars of a row in seconds of the run."""

    def __init__(self, row: Row, clock: RunClock) -> None:
        self.bars = list(row.bars)
        self.firsts: list[float] = []
        self.lasts: list[float] = []
        """Where each ends, or one before it if that ends later; infinite for one that goes on."""
        self._dense: dict[tuple[TurnStatus, bool], tuple[list[float], list[QRectF]]] = {}
        latest = 0.0
        for bar in self.bars:
            first = clock.seconds(bar.first)
            last = math.inf if bar.ended is None else clock.seconds(bar.ended)
            latest = max(latest, last)
            self.firsts.append(first)
            self.lasts.append(latest)
            if bar.ended is not None:
                height = HEIGHTS[bar.status]
                firsts, rects = self._dense.setdefault((bar.status, bar.went_without), ([], []))
                firsts.append(first)
                worked = clock.seconds(bar.worked_until(bar.ended))
                rects.append(QRectF(first, -height / 2, worked - first, height))

    def between(self, began: float, ended: float) -> range:
        """The numbers of the bars of which something is between these times."""
        return range(bisect_left(self.lasts, began), bisect_right(self.firsts, ended))

    def dense(self, began: float, ended: float) -> Iterator[tuple[TurnStatus, bool, list[QRectF]]]:
        """The bars that are over, as rectangles around the middle of the row: x in seconds.

        By outcome, and whether the run went on without a state update of them.
        """
        for status, without in (
            (TurnStatus.SUCCEEDED, False),
            (TurnStatus.SUCCEEDED, True),
            (TurnStatus.STOPPED, False),
            (TurnStatus.FAILED, False),
        ):
            firsts, rects = self._dense.get((status, without), ([], []))
            # The one before the first may reach into what is seen.
            start = max(0, bisect_left(firsts, began) - 1)
            if rects:
                yield status, without, rects[start : bisect_right(firsts, ended)]


@dataclass(frozen=True, slots=True)
class Spot:
    """A bar and where it is: the number of its row, and its own in the row."""

    row: int
    number: int
    bar: Bar


class TimelinePlot:
    """The timeline of one run."""

    def __init__(self) -> None:
        self.scale = TimelineScale()
        self.begin(RunProgress())

    def begin(self, progress: RunProgress, chart: RunChart | None = None) -> None:
        """Show another run; `refresh` has to follow. `chart`: of a run that is over, where it is known."""
        self.progress = progress
        self.chart = RunChart(progress) if chart is None else chart
        self.now = progress.last_event or 0.0
        self.clock = RunClock(self.now, self.now)
        self.bands: list[Band] = []
        self.groups: dict[GroupKey, Span] = {}
        self.savings = Savings()
        self._shapes: dict[RowKey, RowShapes] = {}
        self._group_rows: dict[GroupKey, list[tuple[int, int]]] = {}
        self.scale.fit()
        self.refresh((), self.now)

    @property
    def live(self) -> bool:
        """Whether the run goes on."""
        return self.progress.running and (not self.progress.lived or self.progress.lived[-1].ended is None)

    @property
    def rows(self) -> list[Row]:
        """From top to bottom."""
        return self.chart.rows

    def refresh(self, turns: Iterable[str] | None, now: float) -> None:
        """Time went on to `now`, and these turns changed; None: any may have."""
        self.now = max(self.now, now)
        breaks = len(self.clock.breaks)
        rows = len(self.rows)
        changed = self.chart.read(turns)
        for key in changed:
            self._shapes.pop(key, None)
        if len(self.rows) != rows or turns is None:
            self._group_rows.clear()
            self._shapes.clear()
        self.clock = self.chart.clock(self.now)
        if len(self.clock.breaks) != breaks:
            self._shapes.clear()
        self.bands = self.chart.bands(self.now)
        self.groups = self.chart.group_spans(self.now)
        self.savings = self.chart.savings(self.now, self.clock)
        self.scale.grow(self.clock.length, live=self.live)

    def shapes(self, row: Row) -> RowShapes:
        """The bars of a row as they are to be painted."""
        shapes = self._shapes.get(row.key)
        if shapes is None:
            shapes = self._shapes[row.key] = RowShapes(row, self.clock)
        return shapes

    def rows_of(self, key: GroupKey) -> list[tuple[int, int]]:
        """The rows of a parallel group, each stretch of neighbours by its first and last; [] for others."""
        known = self._group_rows.get(key)
        if known is None:
            group = self.progress.groups.get(key)
            turns = group.turns if group is not None and group.mode == "parallel" else ()
            keys = {
                (key[0], self.progress.turns[turn].label) for turn in turns if turn in self.progress.turns
            }
            known = self._group_rows[key] = []
            for number in [number for number, row in enumerate(self.rows) if row.key in keys]:
                if known and known[-1][1] == number - 1:
                    known[-1] = known[-1][0], number
                else:
                    known.append((number, number))
        return known

    def span(self, bar: Bar) -> Span:
        """From where to where a bar goes, in seconds of the run."""
        return self.clock.seconds(bar.first), self.clock.seconds(bar.until(self.now))

    # --- finding ---------------------------------------------------------------------------------------

    def spot_at(self, row: int, x: float, reach: float) -> Spot | None:
        """The bar at a place of the plot, or the nearest that is not further than `reach` pixels away."""
        if not 0 <= row < len(self.rows):
            return None
        shapes = self.shapes(self.rows[row])
        best: tuple[float, int] | None = None
        seconds = self.scale.seconds_at
        for number in shapes.between(seconds(x - reach), seconds(x + reach)):
            began, ended = (self.scale.x_of(each) for each in self.span(shapes.bars[number]))
            away = max(began - x, x - ended, 0.0)
            if best is None or (away, -number) <= (best[0], -best[1]):
                best = away, number
        return Spot(row, best[1], shapes.bars[best[1]]) if best is not None else None

    def spot_of(self, turn: str, start_number: int | None = None) -> Spot | None:
        """Where a turn's bar is: that of one of its starts, or None: of the last."""
        bars = self.chart.bars_of(turn)
        wanted = [bar for bar in bars if start_number in (None, bar.start_number)]
        if not wanted:
            return None
        bar = wanted[-1]
        for number, row in enumerate(self.rows):
            if row.key == (bar.phase, bar.label):
                return Spot(number, row.bars.index(bar), bar)
        return None

    def beside(self, spot: Spot, by: int) -> Spot | None:
        """The next bar of the row (1) or the one before (-1)."""
        bars = self.rows[spot.row].bars
        number = spot.number + by
        return Spot(spot.row, number, bars[number]) if 0 <= number < len(bars) else None

    def across(self, spot: Spot, by: int) -> Spot | None:
        """The bar below (1) or above (-1) that is at the same time, or next to it."""
        middle = sum(self.span(spot.bar)) / 2
        row = spot.row + by
        while 0 <= row < len(self.rows):
            bars = self.rows[row].bars
            if bars:
                number = min(range(len(bars)), key=lambda each: self._away(bars[each], middle))
                return Spot(row, number, bars[number])
            row += by
        return None

    def _away(self, bar: Bar, seconds: float) -> float:
        began, ended = self.span(bar)
        return max(began - seconds, seconds - ended, 0.0)

    def first_spot(self) -> Spot | None:
        """The earliest bar."""
        spots = [Spot(number, 0, row.bars[0]) for number, row in enumerate(self.rows) if row.bars]
        return min(spots, key=lambda spot: spot.bar.first, default=None)

    def last_spot(self) -> Spot | None:
        """The bar that began last."""
        spots = [
            Spot(number, len(row.bars) - 1, row.bars[-1]) for number, row in enumerate(self.rows) if row.bars
        ]
        return max(spots, key=lambda spot: spot.bar.first, default=None)
