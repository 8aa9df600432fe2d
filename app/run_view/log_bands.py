"""A page of a log that is wholly new is painted in bands, so that the event loop comes round meanwhile.

No eye follows a page on which hardly a line stays, and who presses a key or moves the mouse need not wait for
all of it: beside agents that keep the processors, a page at a time took a tenth of a second.
"""

from __future__ import annotations

from app.run_view.log_page import PlacedRow

ROWS = 12
"""Screen rows of a band, more or less."""


class PageBands:
    """What of a page is on the screen, and which bands of it are still to be painted."""

    def __init__(self) -> None:
        self._painted: list[PlacedRow] = []
        """What is on the screen; [] where that is not sure."""
        self._coming: list[PlacedRow] = []
        """What is on the screen after the last band."""
        self._left = 0
        self._rows = ROWS

    @property
    def pending(self) -> bool:
        """Whether some of the page is still to be painted."""
        return bool(self._coming)

    def is_shown(self, rows: list[PlacedRow]) -> bool:
        """Whether just these rows are on the screen."""
        return bool(rows) and rows == self._painted

    def begin(self, rows: list[PlacedRow], height: int) -> bool:
        """These rows are to be painted, on a page of `height` screen rows. Whether in bands: where they are
        many, and hardly one was there."""
        if len(rows) <= ROWS or not self._painted:
            return False
        stayed = {placed.laid.row.line for placed in self._painted}
        stayed.intersection_update(placed.laid.row.line for placed in rows)
        if len(stayed) * 4 > len(rows):
            return False
        self._painted, self._coming = [], rows
        self._left = max(1, round(height / ROWS))
        self._rows = -(-height // self._left)
        return True

    def take(self) -> tuple[int, int] | None:
        """The next band, from the last upwards: its first screen row, and how many it has; None: all are
        painted."""
        if self._left:
            self._left -= 1
            return self._left * self._rows, self._rows
        if self._coming:
            self._painted, self._coming = self._coming, []
        return None

    def note(self, rows: list[PlacedRow], *, whole: bool) -> None:
        """These rows were painted, on the `whole` page or a part of it."""
        if whole:
            self._painted, self._coming, self._left = rows, [], 0
        elif not self._coming and rows != self._painted:
            self._painted = []
