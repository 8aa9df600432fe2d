"""Places in a log: what is under a point, bringing a line into view, folding results, zoom."""

from __future__ import annotations

from PySide6.QtCore import QPointF

from app.run_view.log_area import TOP, LogArea
from app.run_view.log_page import Place, PlacedRow
from app.run_view.log_selection import Caret


class PlacedLog(LogArea):
    """A log whose places can be pointed at, and whose results of tools can be folded away."""

    def _placed_at(self, y: float) -> PlacedRow | None:
        step = self._painter.row_height
        for placed in self._rows():
            top = TOP + placed.top
            if top <= y < top + placed.laid.heights * step:
                return placed
        return None

    def _top_of(self, placed: PlacedRow) -> float:
        """Where a row begins in the viewport."""
        return TOP + placed.top

    def _caret_at(self, point: QPointF) -> Caret | None:
        rows = self._rows()
        if not rows:
            return None
        placed = self._placed_at(point.y())
        if placed is None:
            if point.y() < TOP:
                return Caret(rows[0].laid.row.line, 0)
            return Caret(rows[-1].laid.row.line, len(rows[-1].laid.row.text))
        x = point.x() + self.horizontalScrollBar().value() - self._painter.text_left
        character = self._painter.character_at(placed.laid, x, point.y() - TOP - placed.top)
        return Caret(placed.laid.row.line, character)

    def _reveal(self, line: int, part: int, margin: int | None = None) -> None:
        """Scroll so that a screen row is visible, with `margin` rows before it (None: a third of a page)."""
        step = self._painter.row_height
        for placed in self._rows():
            if placed.laid.row.line == line:
                y = TOP + placed.top + part * step
                if y >= 0 and y + step <= self.viewport().height():
                    self._set_follow(False)
                    self._pointed = line
                    return
        above = self._page_rows() // 3 if margin is None else margin
        if margin is not None and Place(line, part) > self._page.place:
            above = self._page_rows() - 1 - margin
        self._go(self._page.moved(Place(line, part), -above))
        self._pointed = line

    def _offset_of(self, line: int) -> int:
        source = self._page.source
        read = source.read(line, 1) if source is not None else []
        return read[0].offset if read else 0

    def _toggle(self, line: int) -> None:
        fold = self._page.folds.header(line)
        if fold is not None:
            self._page.folds.toggle(fold)
            self._refold()

    def fold_all(self) -> None:
        """Hide the results of all tool calls."""
        self._page.folds.set_all(folded=True)
        self._refold()

    def unfold_all(self) -> None:
        """Show the results of all tool calls."""
        self._page.folds.set_all(folded=False)
        self._refold()

    def _refold(self) -> None:
        """Folds changed: what is at the top of the page stays there where it can."""
        self._page.forget_layout()
        folds = self._page.folds
        line = folds.line_of(folds.shown_of(self._page.place.line))
        place = self._page.place if line == self._page.place.line else Place(line)
        self._tail = self._page.tail(self._page_rows())
        self._go(place)

    def set_zoom(self, zoom: int) -> None:
        """Text so many pixels larger or smaller than usual."""
        if zoom != self._painter.zoom:
            self._painter.zoom = zoom
            self._painter.restyle()
            self._relayout()
