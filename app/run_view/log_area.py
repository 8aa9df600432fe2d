"""The painted area of a log view: which part of the file is shown, following its end, folds, zoom.

Only what is visible is read, laid out and painted, so ten million lines are as fast as ten. One timer, at
work only while the area is visible, follows the file. What the user does with mouse and keys: `log_view`.
"""

from __future__ import annotations

import time
from pathlib import Path

from PySide6.QtCore import QEvent, QRect, QRectF, Qt, QTimer, Signal, Slot
from PySide6.QtGui import (
    QAccessible,
    QFocusEvent,
    QHideEvent,
    QPainter,
    QPaintEvent,
    QResizeEvent,
    QShowEvent,
)
from PySide6.QtWidgets import QAbstractScrollArea, QFrame, QWidget

from app.painting import paint_method
from app.run_view import log_accessible
from app.run_view.log_bands import PageBands
from app.run_view.log_marks import MarkedScrollBar
from app.run_view.log_overlays import NO_MARKS, RowMarks
from app.run_view.log_page import LogPage, Place, PlacedRow
from app.run_view.log_painter import MARGIN, LogPainter
from app.run_view.log_pill import FollowPill
from app.run_view.log_selection import LogSelection
from app.run_view.log_source import LogSource
from app.scroll_bar import use_thin_scroll_bars
from app.theme import GRID, font, is_appearance_event, theme
from core.courtesy import COURTESY

_TICK_MS = 33
_SLOW_TICK_MS = 100
"""While others keep the processors from the window: a page that took long is not painted again at once."""
_UNSEEN_MS = 100
"""After this long a part of a page that should have been painted is one that is not seen."""
TOP = 2 * GRID
_RING = 2
"""The line along the top of what has the focus: a frame around a whole page is loud."""
_MUCH, _LITTLE = 32 * 1024 * 1024, 1024 * 1024
"""Bytes that are not known yet: more than can be read in a moment, and next to nothing."""


class LogArea(QAbstractScrollArea):
    """A log file, live, to look at. Signals: `following_changed(bool)`."""

    following_changed = Signal(bool)

    def __init__(self, parent: QWidget | None = None) -> None:
        log_accessible.install()
        super().__init__(parent)
        self._painter = LogPainter()
        self._page = LogPage(self._painter)
        self._selection = LogSelection(self._page)
        self._tail = Place()
        self._pointed: int | None = None
        """The line that keys or a search went to last: it stays in view when the rest of the page moves."""
        self._follow = True
        self._still = False
        self._seen = 0
        self._syncing = False
        self._ring = False
        self._reading = False
        """A big file was opened and its end is not known yet: its beginning is shown until then."""
        self._current_header: int | None = None
        self._bands = PageBands()
        self._painting = 0.0
        """Seconds that the page took so far that is being painted."""
        self._empty_text = self.tr("Nothing printed yet.")
        self.setFrameShape(QFrame.Shape.NoFrame)
        self._scroll_marks = MarkedScrollBar(self)
        use_thin_scroll_bars(self, vertical=self._scroll_marks)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAccessibleName(self.tr("Log"))
        self.viewport().setCursor(Qt.CursorShape.IBeamCursor)
        self.viewport().setMouseTracking(True)
        self.viewport().setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        self.verticalScrollBar().valueChanged.connect(self._bar_moved)
        self.horizontalScrollBar().valueChanged.connect(self._repaint)
        self._pill = FollowPill(self.viewport())
        self._pill.clicked.connect(self.follow)
        self._pill.setCursor(Qt.CursorShape.ArrowCursor)
        self._timer = QTimer(self)
        self._timer.setInterval(_TICK_MS)
        self._timer.timeout.connect(self._tick)
        self._band_timer = QTimer(self)
        self._band_timer.setSingleShot(True)
        self._band_timer.timeout.connect(self._paint_band)

    # --- what is shown ----------------------------------------------------------------------------------

    def set_source(self, path: Path | None, raw: bool = False) -> None:
        """Show a file, which may not exist yet and may grow. `raw`: as it is, else it is a transcript."""
        self._stop_threads()
        self._forget_places()
        self._page.open(LogSource(path, structured=not raw) if path is not None else None)
        self._painter.show_time = not raw
        self._page.forget_layout()
        self._follow = not self._still
        self._reading = self._page.behind > _MUCH
        self.refresh()
        self._sync()
        self._repaint()

    def set_still(self, still: bool) -> None:
        """Show files that do not grow: from their beginning, with nothing to follow. Before `set_source`."""
        self._still = still

    def _forget_places(self) -> None:
        """Another file, or another beginning: places in the old one mean nothing."""
        self._pointed = None
        self._selection.clear()

    def set_overview(self, overview: bool) -> None:
        """Show the column of agents' names."""
        self._painter.show_name = overview
        self._relayout()

    def set_elapsed_from(self, start: float | None) -> None:
        """Show times as elapsed since `start` (epoch seconds); None: as time of day."""
        self._painter.elapsed_from = start
        self._repaint()

    def set_wrap(self, wrap: bool) -> None:
        """Wrap long lines, or scroll sideways."""
        self._painter.wrap = wrap
        self._relayout()

    def set_line_numbers(self, shown: bool) -> None:
        """Number the lines, as in the file, or do not."""
        self._painter.show_numbers = shown
        self._relayout()

    def set_empty_text(self, text: str) -> None:
        """What is said while there is nothing to show."""
        if text != self._empty_text:
            self._empty_text = text
            self._repaint()

    @property
    def empty_text(self) -> str:
        """What is said while there is nothing to show."""
        return self._empty_text

    def words_for_nothing(self) -> str:
        """What stands where no line is."""
        return self._empty_text

    @property
    def following(self) -> bool:
        """Whether the view sticks to the end."""
        return self._follow

    @property
    def line_count(self) -> int:
        """Lines of the file that are known."""
        return self._page.snapshot.lines

    def visible_text(self) -> list[str]:
        """What one can read at present, a string a line."""
        return [placed.laid.row.text for placed in self._rows()]

    def selected_text(self) -> str:
        """The selection as plain text."""
        return self._selection.text()

    # --- following the file -----------------------------------------------------------------------------

    @Slot()
    def _tick(self) -> None:
        # A page is painted to its end first: what came meanwhile is on the next.
        if not self._bands.pending:
            self.refresh()

    @Slot()
    def refresh(self) -> None:
        """Look at the file once; the timer does it while the view is visible."""
        generation = self._page.snapshot.generation
        changed = self._page.poll()
        if self._reading and self._page.behind < _LITTLE:
            self._reading = False
            changed = True
        if changed:
            if self._page.snapshot.generation != generation:
                self._forget_places()
                self._seen = 0
            if self._painter.count_digits(self._page.snapshot.lines):
                self._page.forget_layout()
            self._sync()
            self._repaint_news()

    @Slot()
    def follow(self) -> None:
        """Go to the end and stay there."""
        self._pointed = None
        self._set_follow(True)
        self._sync()
        self._repaint()
        if self._pill.hasFocus():
            self.setFocus(Qt.FocusReason.OtherFocusReason)

    def _set_follow(self, follow: bool) -> None:
        if follow == self._follow:
            return
        self._follow = follow
        self._seen = self._page.snapshot.lines
        self.following_changed.emit(follow)

    def _page_rows(self) -> int:
        return max(1, int((self.viewport().height() - TOP) // self._painter.row_height))

    @property
    def _at_end(self) -> bool:
        """Whether the end is in view, also where it is not followed: a text that does not grow and fits
        stands at its beginning."""
        place = self._page.place
        return place >= self._tail and not self._reading and not (self._still and place == Place())

    def _sync(self, *, at_end: bool = False) -> None:
        """Bring place, scroll bars and pill in line with the file. `at_end`: the end was in view, and stays
        there though rows are of another size now."""
        rows = self._page_rows()
        self._tail = self._page.tail(rows)
        if (self._follow and not self._reading) or self._page.place > self._tail:
            self._page.place = self._tail
        elif at_end:
            line = self._tail.line if self._pointed is None else self._pointed
            self._page.place = Place(line) if line < self._tail.line else self._tail
        shown = self._page.map
        self._syncing = True
        bar = self.verticalScrollBar()
        maximum = shown.shown_of(self._tail.line) + (1 if self._tail.part else 0)
        bar.setRange(0, maximum)
        bar.setPageStep(rows)
        bar.setSingleStep(1)
        at_end = self._page.place >= self._tail
        bar.setValue(maximum if at_end else shown.shown_of(self._page.place.line))
        if self._painter.wrap:
            self.horizontalScrollBar().setRange(0, 0)
        self._syncing = False
        if self._reading and self._follow:
            self._pill.say_reading(self._page.share_known)
            self._pill.show()
            self._place_overlays()
        elif at_end or self._follow or self._still:
            self._pill.hide()
        else:
            self._pill.say(self._page.snapshot.lines - self._seen)
            self._pill.show()
            self._place_overlays()

    def _place_overlays(self) -> None:
        area = self.viewport()
        self._pill.move(
            area.width() - self._pill.width() - MARGIN, area.height() - self._pill.height() - MARGIN
        )

    def scrollContentsBy(self, dx: int, dy: int) -> None:  # noqa: N802
        # Qt would repaint the whole page. Where the file moves the bar, what is new is repainted, and where
        # the user does, that goes through the signals of the bars.
        del dx, dy

    @Slot(int)
    def _bar_moved(self, value: int) -> None:
        if self._syncing:
            return
        bar = self.verticalScrollBar()
        if value >= bar.maximum():
            self._go(self._tail)
        else:
            self._go(Place(self._page.map.line_of(value)))

    def _go(self, place: Place) -> None:
        self._pointed = None
        self._page.place = min(place, self._tail)
        self._set_follow(place >= self._tail)
        self._sync()
        self._repaint()

    def _scroll(self, screen_rows: int) -> None:
        self._go(self._page.moved(self._page.place, screen_rows))

    @Slot()
    def _repaint(self) -> None:
        self.viewport().update()

    def _repaint_news(self) -> None:
        """Repaint because of what came by itself: nothing where no row of the page is another."""
        rows = self._rows()
        if self._bands.is_shown(rows):
            return
        if self._bands.begin(rows, self._page_rows() + 2):
            self._paint_band()
        else:
            self._repaint()

    @Slot()
    def _paint_band(self) -> None:
        if not self._bands.pending:
            # All of it was painted meanwhile.
            return
        band = self._bands.take()
        if band is None:
            self._page_painted()
            return
        first, rows = (part * self._painter.row_height for part in band)
        self.viewport().update(0, first, self.viewport().width(), rows)
        # What is not painted, as somebody else covers it, must not hold up the rest.
        self._band_timer.start(_UNSEEN_MS)

    def _relayout(self) -> None:
        at_end = self._at_end
        self._page.width = float(self.viewport().width())
        self._page.forget_layout()
        self._sync(at_end=at_end)
        self._repaint()

    def showEvent(self, event: QShowEvent) -> None:  # noqa: N802
        super().showEvent(event)
        self.refresh()
        self._timer.start()

    def hideEvent(self, event: QHideEvent) -> None:  # noqa: N802
        self._timer.stop()
        self._stop_threads()
        super().hideEvent(event)

    def _stop_threads(self) -> None:
        if self._page.source is not None:
            self._page.source.close()

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        super().resizeEvent(event)
        at_end = self._at_end
        if self._page.width != float(self.viewport().width()):
            self._page.width = float(self.viewport().width())
            self._page.forget_layout()
        self._sync(at_end=at_end)
        self._place_overlays()

    def changeEvent(self, event: QEvent) -> None:  # noqa: N802
        super().changeEvent(event)
        if is_appearance_event(event) and hasattr(self, "_timer"):
            self._painter.restyle()
            self._relayout()

    # --- painting ---------------------------------------------------------------------------------------

    def _rows(self) -> list[PlacedRow]:
        return self._page.rows(self.viewport().height() - TOP)

    @paint_method
    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802
        begun = time.perf_counter()
        with COURTESY:
            self._paint(event.rect())
        self._painting += time.perf_counter() - begun
        if self._bands.pending:
            self._band_timer.start(0)
        else:
            self._page_painted()

    def _page_painted(self) -> None:
        """See what the page says of itself, and be slower where the processors are with others."""
        rows = self._rows()
        self._measure_width(rows)
        if QAccessible.isActive():
            self._describe(rows)
        took_long, self._painting = self._painting > _TICK_MS / 2000, 0.0
        wanted = _SLOW_TICK_MS if took_long else _TICK_MS
        if wanted != self._timer.interval():
            self._timer.setInterval(wanted)

    def _paint(self, within: QRect) -> None:
        """Paint what is within a part of the viewport."""
        area = self.viewport()
        rows = self._rows()
        with QPainter(area) as painter:
            painter.fillRect(within, theme().color("ground"))
            if not rows:
                painter.setFont(font())
                painter.setPen(theme().color("quiet"))
                box = area.rect().adjusted(MARGIN, TOP, -MARGIN, -TOP)
                painter.drawText(
                    box, Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextWordWrap, self.words_for_nothing()
                )
            left = -float(self.horizontalScrollBar().value())
            painter.setClipRect(QRectF(0, TOP, area.width(), area.height()))
            self._painter.begin(painter)
            marked, width, step = self._has_marks(), area.width(), self._painter.row_height
            for placed in rows:
                top = TOP + placed.top
                if top <= within.bottom() and top + placed.laid.heights * step >= within.top():
                    marks = self._marks_in(placed) if marked else NO_MARKS
                    self._painter.paint(painter, placed.laid, left, top, width, marks)
            painter.setClipping(False)
            if self.hasFocus() and self._ring:
                painter.fillRect(QRectF(0, 0, area.width(), _RING), theme().color("accent"))
        self._bands.note(rows, whole=within.contains(area.rect()))

    def _measure_width(self, rows: list[PlacedRow]) -> None:
        if self._painter.wrap or not rows:
            return
        widest = max(self._painter.natural_width(placed.laid) for placed in rows)
        bar = self.horizontalScrollBar()
        beyond = max(bar.maximum(), int(widest - self.viewport().width()) + 1)
        if beyond > bar.maximum():
            bar.setRange(0, beyond)
            bar.setPageStep(self.viewport().width())
            bar.setSingleStep(20)

    def _describe(self, rows: list[PlacedRow]) -> None:
        text = "\n".join(placed.laid.row.text for placed in rows)
        if text != self.accessibleDescription():
            self.setAccessibleDescription(text)

    def _has_marks(self) -> bool:
        """Whether there may be something special about some row at present."""
        return not self._selection.empty or self._current_header is not None

    def _marks_in(self, placed: PlacedRow) -> RowMarks:
        """What is special about a row at present."""
        row = placed.laid.row
        selected = self._selection.in_row(row.line, len(row.text))
        focused = row.line == self._current_header and self.hasFocus()
        return RowMarks(selected=selected, focused=focused) if selected or focused else NO_MARKS

    def focusInEvent(self, event: QFocusEvent) -> None:  # noqa: N802
        # It helps who walks with keys; after a click it is only noise.
        self._ring = event.reason() is not Qt.FocusReason.MouseFocusReason
        super().focusInEvent(event)
        self._repaint()

    def focusOutEvent(self, event: QFocusEvent) -> None:  # noqa: N802
        super().focusOutEvent(event)
        self._repaint()
