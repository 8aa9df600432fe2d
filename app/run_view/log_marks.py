"""The vertical scroll bar of a log, with a mark wherever there is a match."""

from __future__ import annotations

from collections.abc import Iterable

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget

from app.painting import paint_method
from app.scroll_bar import ThinScrollBar
from app.theme import theme

_HEIGHT = 2


class MarkedScrollBar(ThinScrollBar):
    """Marks are places between 0 (the top) and 1 (the end)."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(Qt.Orientation.Vertical, parent)
        self._places: list[float] = []
        self._current: float | None = None

    @property
    def marks(self) -> list[float]:
        """Where marks are."""
        return list(self._places)

    def show_marks(self, places: Iterable[float], current: float | None = None) -> None:
        """Mark these places, and one of them (or another) as the current one."""
        new = list(places)
        if (new, current) != (self._places, self._current):
            self._places, self._current = new, current
            self.update()

    @paint_method
    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802
        super().paintEvent(event)
        if not self._places and self._current is None:
            return
        with QPainter(self) as painter:
            room = self.height() - _HEIGHT
            color = theme().color("accent")
            # Several matches within a pixel are one mark.
            for y in sorted({round(place * room) for place in self._places}):
                painter.fillRect(QRectF(self.width() / 2, y, self.width() / 2 - 1, _HEIGHT), color)
            if self._current is not None:
                y = round(self._current * room)
                painter.fillRect(QRectF(1, y - 1, self.width() - 2, _HEIGHT + 2), theme().color("text"))
