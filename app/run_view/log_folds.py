"""Which lines of a log are folded away: a map between lines of the file and lines that are shown.

Only headers are known to it, so it costs nothing for the lines themselves. Everything is folded at first, or
nothing; what the user toggled is kept as the exception to that.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from itertools import accumulate

from core.line_index import IndexSnapshot, Marks


class FoldMap:
    """Folds of one log. Shown lines are counted without the folded ones, from 0."""

    def __init__(self, *, folded: bool = True) -> None:
        self._folded = folded
        self._exceptions: list[int] = []
        self._sums: list[int] = [0]
        self._marks = Marks()
        self._count = 0
        self._lines = 0

    def extend(self, snapshot: IndexSnapshot) -> None:
        """Follow the file."""
        if snapshot.marks is not self._marks:
            self._marks = snapshot.marks
            self._exceptions, self._sums = [], [0]
        self._count = snapshot.mark_count
        self._lines = snapshot.lines

    @property
    def shown(self) -> int:
        """How many lines are shown."""
        return self._lines - self._hidden_before(self._count)

    def header(self, line: int) -> int | None:
        """The fold whose header this line is."""
        fold = bisect_left(self._marks.lines, line, 0, self._count)
        return fold if fold < self._count and self._marks.lines[fold] == line else None

    def owner(self, line: int) -> int | None:
        """The fold whose result this line is part of."""
        fold = bisect_left(self._marks.lines, line, 0, self._count) - 1
        if fold < 0 or line > self._marks.lines[fold] + self._marks.values[fold]:
            return None
        return fold

    def is_folded(self, fold: int) -> bool:
        """Whether the result of this fold is hidden."""
        at = bisect_left(self._exceptions, fold)
        excepted = at < len(self._exceptions) and self._exceptions[at] == fold
        return self._folded is not excepted

    def header_line(self, fold: int) -> int:
        """The header's line."""
        return self._marks.lines[fold]

    def neighbour(self, line: int, step: int) -> int | None:
        """The line of the next header below (`step` 1) or above (-1) this line."""
        if step > 0:
            fold = bisect_right(self._marks.lines, line, 0, self._count)
        else:
            fold = bisect_left(self._marks.lines, line, 0, self._count) - 1
        return self._marks.lines[fold] if 0 <= fold < self._count else None

    def toggle(self, fold: int) -> None:
        """Fold or unfold."""
        at = bisect_left(self._exceptions, fold)
        if at < len(self._exceptions) and self._exceptions[at] == fold:
            del self._exceptions[at]
        else:
            insort(self._exceptions, fold)
        self._sums = [0, *accumulate(self._marks.values[known] for known in self._exceptions)]

    def set_all(self, *, folded: bool) -> None:
        """Fold or unfold everything that is there and that will come."""
        self._folded = folded
        self._exceptions, self._sums = [], [0]

    def line_of(self, shown: int) -> int:
        """The file's line that is shown as the `shown`-th."""
        low, high = 0, self._count
        while low < high:
            middle = (low + high) // 2
            if self._marks.lines[middle] - self._hidden_before(middle) < shown:
                low = middle + 1
            else:
                high = middle
        return shown + self._hidden_before(low)

    def shown_of(self, line: int) -> int:
        """Where a line is shown; its header's place when it is folded away."""
        owner = self.owner(line)
        if owner is not None and self.is_folded(owner):
            line = self._marks.lines[owner]
        fold = bisect_left(self._marks.lines, line, 0, self._count)
        return line - self._hidden_before(fold)

    def after(self, line: int) -> int:
        """The next line of the file that is shown."""
        fold = self.header(line)
        if fold is not None and self.is_folded(fold):
            return line + 1 + self._marks.values[fold]
        return line + 1

    def _hidden_before(self, fold: int) -> int:
        """Lines hidden by the folds before this one. Only the last can be cut off by the file's end."""
        if fold <= 0:
            return 0
        excepted = self._sums[bisect_left(self._exceptions, fold)]
        if self._folded:
            total = self._marks.totals[fold - 1] + self._marks.values[fold - 1] - excepted
        else:
            total = excepted
        if fold == self._count and self.is_folded(fold - 1):
            end = self._marks.lines[fold - 1] + self._marks.values[fold - 1]
            total -= max(0, end + 1 - self._lines)
        return total
