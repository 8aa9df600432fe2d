"""What is selected in a log, by line of the file and character, and its text."""

from __future__ import annotations

import re
from dataclasses import dataclass

from app.run_view.log_page import LogPage, runs
from app.run_view.log_source import BackgroundJob

AT_ONCE = 2_000
"""Lines that are copied in the window's thread."""
LIMIT = 200_000
"""Lines that are copied at most; who wants more has the raw file."""
SIZE_LIMIT = 50_000_000
"""Characters that are copied at most: what a clipboard can take without holding everybody up."""
_BATCH = 500
_WORD = re.compile(r"\w+|\s+|[^\w\s]+")


@dataclass(frozen=True, order=True, slots=True)
class Caret:
    """A place between characters."""

    line: int
    character: int


@dataclass(frozen=True, slots=True)
class Copied:
    """What is copied, how many lines of it there are, and whether that is all that was selected."""

    text: str
    lines: int
    complete: bool


def word_at(text: str, character: int) -> tuple[int, int]:
    """The word, the blank or the run of signs at a character."""
    for match in _WORD.finditer(text):
        if match.start() <= character < match.end():
            return match.span()
    return len(text), len(text)


class LogSelection:
    """The selection of one view; `anchor` is where it began, `caret` where it ends."""

    def __init__(self, page: LogPage) -> None:
        self._page = page
        self.anchor: Caret | None = None
        self.caret: Caret | None = None

    def clear(self) -> None:
        """Select nothing."""
        self.anchor = self.caret = None

    def set(self, anchor: Caret, caret: Caret) -> None:
        """Select what is between the two."""
        self.anchor, self.caret = anchor, caret

    @property
    def empty(self) -> bool:
        """Whether nothing is selected."""
        return self.anchor == self.caret

    def ends(self) -> tuple[Caret, Caret] | None:
        """Start and end, in the order of the text; None when nothing is selected."""
        if self.anchor is None or self.caret is None or self.empty:
            return None
        return min(self.anchor, self.caret), max(self.anchor, self.caret)

    def in_row(self, line: int, length: int) -> tuple[int, int] | None:
        """Which characters of a row are selected. An end of `length + 1` takes the line break along."""
        ends = self.ends()
        if ends is None or not ends[0].line <= line <= ends[1].line:
            return None
        start = ends[0].character if ends[0].line == line else 0
        end = ends[1].character if ends[1].line == line else length + 1
        return (start, end) if start < end else None

    def lines(self) -> int:
        """How many lines a copy would have."""
        ends = self.ends()
        if ends is None:
            return 0
        shown = self._page.map
        return min(shown.shown, shown.shown_of(ends[1].line) - shown.shown_of(ends[0].line) + 1)

    def text(self) -> str:
        """The selected text; see `copied`."""
        return self.copied().text

    def copied(self, stop: BackgroundJob | None = None) -> Copied:
        """The selected text as it is shown, without what only draws (triangles, indents of results), up to
        the limits. `stop`: the job whose end ends this."""
        ends = self.ends()
        source = self._page.source
        if ends is None or source is None:
            return Copied("", 0, complete=True)
        first, last = ends
        parts: list[str] = []
        size = 0
        line = first.line
        while line <= last.line and not (stop and stop.stopping.is_set()):
            wanted = [at for at in self._page.lines_from(line, _BATCH) if first.line <= at <= last.line]
            if not wanted:
                break
            for start, count in runs(wanted):
                for read in source.read(start, count):
                    row = self._page.row(read)
                    begin = first.character if read.number == first.line else 0
                    end = last.character if read.number == last.line else len(row.text)
                    parts.append(row.text[max(begin, row.decoration) : end])
                    size += len(parts[-1]) + 1
                    if len(parts) >= LIMIT or size >= SIZE_LIMIT:
                        complete = read.number >= last.line and size < SIZE_LIMIT
                        return Copied("\n".join(parts)[:SIZE_LIMIT], len(parts), complete)
            line = self._page.map.after(wanted[-1])
        return Copied("\n".join(parts), len(parts), complete=True)
