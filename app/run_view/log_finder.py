"""What a thread finds in a log: matches to step through, and lines that match to show alone."""

from __future__ import annotations

from array import array

from app.run_view.log_rows import Row
from app.run_view.log_source import BackgroundJob, LogSource
from core.courtesy import COURTESY
from core.line_filter import LineFilter
from core.line_kinds import EVERY_KIND, LineKind
from core.line_needle import Needle
from core.line_search import LineSearch, Match

_BEYOND = 1 << 62
"""A line that no file has."""


class LogFinder:
    """One search in one log. The thread runs again by `poll` when the file grew."""

    def __init__(self, source: LogSource, needle: Needle, kinds: LineKind = EVERY_KIND) -> None:
        self.current: Match | None = None
        self._finder = needle.finder()
        self._source = source
        self._search = LineSearch(source.path, needle, structured=source.structured, kinds=kinds)
        self._search.courtesy = COURTESY.wait
        self._job = BackgroundJob("log-find")
        self._wanted: tuple[int, int] | None = None
        self._look()

    def _look(self) -> None:
        self._search.allow()
        self._job.start(self._search.run)

    def in_row(self, row: Row) -> list[tuple[int, int]]:
        """Where matches are in what a row shows of the file."""
        start, end = row.searchable
        found = self._finder.in_text(row.text[start:end])
        return [(start + first, start + last) for first, last in found]

    @property
    def too_slow(self) -> bool:
        """Whether the expression took so long that it was given up."""
        return self._search.too_slow

    @property
    def marked_lines(self) -> array[int]:
        """Lines with matches, for the scroll bar."""
        return self._search.marked_lines()

    @property
    def share(self) -> float:
        """How much of the file was looked through, 0 to 1."""
        return self._search.share

    @property
    def count(self) -> int:
        """Matches so far."""
        return self._search.count

    @property
    def searching(self) -> bool:
        """Whether the thread is still looking."""
        return self._job.running

    def poll(self, size: int) -> bool:
        """Look at what the thread found; `size`: bytes of the file. Whether `current` changed."""
        moved = False
        if self._wanted is not None:
            # Before the file is looked at anew: what comes later is nothing that one waits to be taken to.
            offset, step = self._wanted
            moved = self.step(offset, step)
        if not self._job.running and size != self._search.scanned and not self.too_slow:
            self._look()
        return moved

    def step(self, offset: int, step: int) -> bool:
        """Go to the next match at or behind `offset` (`step` 1) or the last before it (-1), round the end.

        Whether there is one. What the thread has not reached yet is gone to by a later `poll`.
        """
        self._wanted = None
        # Both asked first: what the thread finds meanwhile, also as its last, is not in the answer.
        running, scanned = self._job.running, self._search.scanned
        match = self._search.after(offset) if step > 0 else self._search.before(offset)
        if running and (match is None or (step < 0 and scanned < offset)):
            self._wanted = (offset, step)
            return False
        if match is None:
            match = self._search.after(0) if step > 0 else self._search.before(1 << 62)
        self.current = match
        return match is not None

    def place_in_line(self, line_start: int) -> int:
        """How many matches stand before the current one in its line."""
        return self._search.place_in_line(self.current, line_start) if self.current else 0

    def pause(self) -> None:
        """End the thread; `poll` starts it again where it was."""
        self._search.cancel()
        self._job.stop()

    def give_up(self) -> None:
        """Let the thread end, and do not wait: whoever types on must not."""
        self._search.cancel()
        self._job.ask_to_stop()


class LogSieve:
    """The lines of one log that match, as a `LineMap`. The thread runs again by `poll` when the file grew.

    `needle` None: every line of the kinds. Raises NeedleError.
    """

    def __init__(self, source: LogSource, needle: Needle | None, kinds: LineKind) -> None:
        self._filter = LineFilter(source.path, needle, structured=source.structured, kinds=kinds)
        self._filter.courtesy = COURTESY.wait
        self._job = BackgroundJob("log-filter")
        self._known = (0, 0)
        self._lines = 0
        self._passed = (0, 0)
        """Lines and bytes that were surely looked through when the map was asked."""
        self._going_on = True
        """Whether the thread may have found more since then."""
        self._look()

    def _look(self) -> None:
        self._filter.allow()
        self._job.start(self._filter.run)

    def poll(self, size: int, lines: int) -> bool:
        """Look at what the thread found; `size` and `lines` of the file as it is known. Whether more is
        shown."""
        if not self._job.running and size != self._filter.scanned and not self.too_slow:
            self._look()
        before = self._known
        # First: the thread goes on meanwhile, and what it finds then is not in the map that is shown.
        self._going_on = self._job.running
        self._passed = (self._filter.line_count, self._filter.scanned)
        # What the thread has read may be ahead of the lines that the view knows.
        self._lines = lines
        self._known = (self._filter.number_of(lines), self._filter.scanned)
        return self._known != before

    @property
    def searching(self) -> bool:
        """Whether the thread is still looking."""
        return self._job.running

    @property
    def too_slow(self) -> bool:
        """Whether the expression took so long that it was given up."""
        return self._filter.too_slow

    def is_whole(self, size: int) -> bool:
        """Whether the map knows, since the last `poll`, all lines that match of a file of `size` bytes."""
        return not self._going_on and self._passed[1] >= size

    def has_passed(self, line: int, size: int) -> bool:
        """Whether the map knows, since the last `poll`, which lines up to this one of a file of `size` bytes
        match."""
        lines, scanned = self._passed
        return lines > line or scanned >= size or self.too_slow

    @property
    def shown(self) -> int:
        return self._known[0]

    def line_of(self, shown: int) -> int:
        return self._filter.line_of(shown) if 0 <= shown < self._known[0] else _BEYOND

    def shown_of(self, line: int) -> int:
        return min(self._known[0], self._filter.number_of(line))

    def after(self, line: int) -> int:
        return self.line_of(self.shown_of(line + 1))

    def pause(self) -> None:
        """End the thread; `poll` starts it again where it was."""
        self._filter.cancel()
        self._job.stop()

    def give_up(self) -> None:
        """Let the thread end, and do not wait: whoever types on must not."""
        self._filter.cancel()
        self._job.ask_to_stop()
