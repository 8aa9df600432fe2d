"""Finding text in a log file of any size: counted once in a worker, then stepped through at once.

The worker keeps the number of matches of every chunk, and a few thousand lines to mark beside the scroll
bar; the next and the previous match are then found by looking into one chunk. Matches do not span lines.
"""

from __future__ import annotations

import io
from array import array
from bisect import bisect_left, bisect_right
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path

from core.line_kinds import EVERY_KIND, LineKind
from core.line_needle import Needle, TooSlowError
from core.line_scan import LineScan

_PLACES = 2048
"""Parts of the file in which a match is marked at most once."""


@dataclass(frozen=True, slots=True)
class Match:
    """Where a match is in the file, in bytes, and the how-manieth it is (from 1)."""

    offset: int
    length: int
    ordinal: int


class LineSearch(LineScan[list[int]]):
    """One needle in one file. Raises NeedleError for an expression that is none."""

    COUNTS_LINES = False

    def __init__(
        self, path: Path, needle: Needle | str, *, structured: bool, kinds: LineKind = EVERY_KIND
    ) -> None:
        super().__init__(path, structured=structured, kinds=kinds)
        self.needle = needle if isinstance(needle, Needle) else Needle(needle)
        self._finder = self.needle.finder()
        self._overlap = self._finder.overlap
        self._marked = array("Q")
        self._first = self._counted = (0, 0)
        """Places in the file and how many newlines stand before them: where the last chunk with matches
        begins, and where it ends."""

    def _look(
        self, file: io.FileIO, position: int, data: bytes, length: int, newlines: int
    ) -> tuple[int, list[int]] | None:
        del newlines
        found = self._finder.count(data, length, self._hide)
        if not found:
            return 0, []
        first_line = self._newlines_before(file, position)
        if first_line is None:
            return None
        return found, self._lines_to_mark(position, data, length, first_line)

    def _newlines_before(self, file: io.FileIO, position: int) -> int | None:
        """Lines are counted where there is something to mark, and only then: it takes as long as the search.
        None: it was cancelled, or the file is no longer as long."""
        at, lines = self._counted if self._counted[0] <= position else self._first
        if at < position:
            file.seek(at)
        while at < position:
            self.courtesy()
            data = file.read(min(self.CHUNK, position - at))
            if not data or self._cancelled.is_set():
                return None
            lines += data.count(b"\n")
            at += len(data)
            self._counted = (at, lines)
        return lines

    def _lines_to_mark(self, position: int, data: bytes, length: int, first_line: int) -> list[int]:
        """Lines with matches, no more of them than a scroll bar can show."""
        step = max(1, self._end // _PLACES)
        line, counted = first_line, 0
        lines: list[int] = []
        for start in self._finder.some(data, self._hide, step):
            if start >= length:
                break
            line += data.count(b"\n", counted, start)
            counted = start
            if not lines or lines[-1] != line:
                lines.append(line)
        self._first = (position, first_line)
        self._counted = (position + length, line + data.count(b"\n", counted, length))
        return lines

    def _keep(self, piece: list[int]) -> None:
        self._marked.extend(piece)
        if len(self._marked) > 2 * _PLACES:
            self._marked = self._marked[::2]

    def _dropped(self) -> None:
        if not self._starts:
            self._first = self._counted = (0, 0)
            del self._marked[:]
        elif self._first[0] > self._starts[-1]:
            del self._marked[bisect_left(self._marked, self._first[1]) :]

    def marked_lines(self) -> array[int]:
        """Lines with matches, ascending; of many that are close together, some."""
        with self._lock:
            return self._marked[:]

    # --- stepping ---------------------------------------------------------------------------------------

    def after(self, offset: int) -> Match | None:
        """The first match that begins at `offset` or later, in what was looked through."""
        with self._lock:
            if offset >= self._scanned:
                # The worker goes on meanwhile: who looked for it there would go along to the end of the file.
                return None
            chunk = max(0, bisect_right(self._starts, offset) - 1)
        found = self._with_matches(chunk, 1)
        while found is not None:
            match = next((match for match in self._matches(found) if match.offset >= offset), None)
            if match is not None:
                return match
            found = self._with_matches(found + 1, 1)
        return None

    def before(self, offset: int) -> Match | None:
        """The last match that begins before `offset`."""
        with self._lock:
            chunk = bisect_right(self._starts, offset) - 1
        found = self._with_matches(chunk, -1)
        while found is not None:
            last = deque(takewhile(lambda match: match.offset < offset, self._matches(found)), maxlen=1)
            if last:
                return last[0]
            found = self._with_matches(found - 1, -1)
        return None

    def place_in_line(self, match: Match, line_start: int) -> int:
        """How many matches stand before this one in its line."""
        with self._lock:
            chunk = bisect_right(self._starts, match.offset) - 1
        return sum(1 for other in self._matches(chunk) if line_start <= other.offset < match.offset)

    def _with_matches(self, chunk: int, step: int) -> int | None:
        with self._lock:
            while 0 <= chunk < len(self._starts):
                if self._totals[chunk + 1] > self._totals[chunk]:
                    return chunk
                chunk += step
        return None

    def _matches(self, chunk: int) -> Iterator[Match]:
        """The matches of a chunk, found one after the other: a chunk may hold a hundred thousand."""
        with self._lock:
            if not 0 <= chunk < len(self._starts):
                return
            before = self._totals[chunk]
        try:
            start, end, data = self._chunk(chunk)
            for number, (first, stop) in enumerate(self._finder.spans(data, self._hide), 1):
                if first >= end - start:
                    return
                yield Match(start + first, stop - first, before + number)
        except (OSError, TooSlowError):
            # The file is gone: there is nothing to go to.
            return
