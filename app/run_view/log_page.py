"""What part of a log is on the screen: places in the file, rows laid out, moving by screen rows.

A place is a line of the file and a screen row inside of it, because a long line wraps. Nothing here depends
on how long the file is: only the lines that are shown are read, and a few hundred laid out rows are kept.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from app.run_view.log_folds import FoldMap
from app.run_view.log_painter import LaidRow, LogPainter
from app.run_view.log_rows import Row, row_of
from app.run_view.log_source import LogSource
from core.line_index import IndexSnapshot, LogLine, Marks

_KEPT = 400
EMPTY = IndexSnapshot(-1, 0, 0, Marks(), 0)


@dataclass(frozen=True, slots=True)
class PlacedRow:
    """A row on the screen; `top` in logical pixels from the first row of the page, negative when cut off."""

    laid: LaidRow
    top: float


class LineMap(Protocol):
    """Between lines of the file and lines that are shown, both counted from 0."""

    @property
    def shown(self) -> int:
        """How many lines are shown."""

    def line_of(self, shown: int) -> int:
        """The file's line that is shown as the `shown`-th."""

    def shown_of(self, line: int) -> int:
        """Where a line is shown; one that is not, where a neighbour is that stands for it."""

    def after(self, line: int) -> int:
        """The next line of the file that is shown; beyond the end there is no more."""


@dataclass(frozen=True, order=True, slots=True)
class Place:
    """A screen row: of which line of the file, and the how-manieth of it."""

    line: int = 0
    part: int = 0


def runs(lines: list[int]) -> list[tuple[int, int]]:
    """Ascending numbers as runs of neighbours: first and count of each."""
    result: list[tuple[int, int]] = []
    for line in lines:
        if result and line == sum(result[-1]):
            result[-1] = (result[-1][0], result[-1][1] + 1)
        else:
            result.append((line, 1))
    return result


class LogPage:
    """A window onto a log; `place` is its first screen row, `width` that of the view in logical pixels."""

    def __init__(self, painter: LogPainter) -> None:
        self.painter = painter
        self.source: LogSource | None = None
        self.folds = FoldMap()
        self.sieve: LineMap | None = None
        """Which lines are shown where not all of them are; then nothing is folded."""
        self.snapshot = EMPTY
        self.place = Place()
        self.width = 400.0
        self._kept: dict[int, LaidRow] = {}

    def open(self, source: LogSource | None) -> None:
        """Show another file from its beginning."""
        self.source = source
        self.folds = FoldMap()
        self.sieve = None
        self.snapshot = EMPTY
        self.place = Place()
        self._kept.clear()

    def poll(self) -> bool:
        """Follow the file. Whether anything changed."""
        if self.source is None:
            return False
        snapshot = self.source.poll()
        before = self.snapshot
        if (snapshot.generation, snapshot.size) == (before.generation, before.size):
            return False
        if snapshot.generation != before.generation:
            self.place = Place()
            self._kept.clear()
        else:
            self._kept.pop(before.lines - 1, None)
        self.snapshot = snapshot
        self.folds.extend(snapshot)
        return True

    @property
    def map(self) -> LineMap:
        """Which lines are shown."""
        return self.folds if self.sieve is None else self.sieve

    def sift(self, sieve: LineMap | None) -> None:
        """Show only some lines; None: all but the folded ones."""
        self.sieve = sieve
        self._kept.clear()

    def nearest(self, line: int) -> int:
        """The line itself where it is shown, else a neighbour that is."""
        return self.map.line_of(max(0, min(self.map.shown_of(line), self.map.shown - 1)))

    @property
    def behind(self) -> int:
        """Bytes of the file that are not known yet."""
        return max(0, self.source.behind) if self.source is not None else 0

    @property
    def share_known(self) -> float:
        """How much of the file is known, 0 to 1."""
        size = self.snapshot.size
        return size / (size + self.behind) if size else 0.0

    def forget_layout(self) -> None:
        """Width, font or colours changed."""
        self._kept.clear()

    # --- rows -------------------------------------------------------------------------------------------

    def laid(self, line: int) -> LaidRow | None:
        """A line of the file, laid out; None when it is not there (any more)."""
        found = self._kept.get(line)
        return found if found is not None else self._load([line]).get(line)

    def _load(self, lines: list[int]) -> dict[int, LaidRow]:
        """Lay out these ascending lines, reading neighbours together."""
        if len(self._kept) > _KEPT:
            self._kept.clear()
        for first, count in runs([line for line in lines if line not in self._kept]):
            self._load_run(first, count)
        return self._kept

    def _load_run(self, first: int, count: int) -> None:
        if self.source is not None:
            room = self.painter.room(self.width)
            for line in self.source.read(first, count):
                self._kept[line.number] = LaidRow(self.painter, self.row(line), self.width, room)

    def row(self, line: LogLine) -> Row:
        """What a line looks like at present."""
        structured = self.source is not None and self.source.structured
        fold = self.folds.header(line.number) if structured else None
        return row_of(
            line,
            structured=structured,
            is_result=structured and fold is None and self.folds.owner(line.number) is not None,
            folded=None if fold is None or self.sieve is not None else self.folds.is_folded(fold),
            counts=fold is not None and self.sieve is not None,
        )

    def lines_from(self, line: int, count: int) -> list[int]:
        """The next `count` lines that are shown, from this one on."""
        result: list[int] = []
        shown = self.map
        line = shown.line_of(shown.shown_of(line)) if shown.shown else self.snapshot.lines
        while len(result) < count and line < self.snapshot.lines:
            result.append(line)
            line = shown.after(line)
        return result

    def rows(self, height: float) -> list[PlacedRow]:
        """What is on a page of this height."""
        step = self.painter.row_height
        lines = self.lines_from(self.place.line, int(height / step) + 2)
        loaded = self._load(lines)
        top = -float(self.place.part * step)
        result: list[PlacedRow] = []
        for line in lines:
            laid = loaded.get(line)
            if laid is None or top >= height:
                break
            result.append(PlacedRow(laid, top))
            top += laid.heights * step
        return result

    # --- moving -----------------------------------------------------------------------------------------

    def tail(self, screen_rows: int) -> Place:
        """The place from which the last `screen_rows` fill the page."""
        shown = self.map.shown
        room = max(1, screen_rows)
        first = max(0, shown - room)
        if shown == 0:
            return Place()
        lines = self.lines_from(self.map.line_of(first), room)
        loaded = self._load(lines)
        for line in reversed(lines):
            laid = loaded.get(line)
            heights = laid.heights if laid is not None else 1
            if heights >= room:
                return Place(line, heights - room)
            room -= heights
        return Place(lines[0] if lines else 0)

    def moved(self, place: Place, screen_rows: int) -> Place:
        """The place so many screen rows further down, or up."""
        line, part = place.line, place.part + screen_rows
        while part < 0:
            shown = self.map.shown_of(line)
            if shown <= 0:
                return Place()
            line = self.map.line_of(shown - 1)
            part += self._heights(line)
        while part >= (heights := self._heights(line)):
            following = self.map.after(line)
            if following >= self.snapshot.lines:
                return Place(line, heights - 1)
            line, part = following, part - heights
        return Place(line, part)

    def _heights(self, line: int) -> int:
        laid = self.laid(line)
        return laid.heights if laid is not None else 1
