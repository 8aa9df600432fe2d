"""The painted area of the timeline: zoom, panning, hovering, the current bar, and what screen readers get."""

from __future__ import annotations

from collections.abc import Iterable

from PySide6.QtCore import QEvent, QPoint, QPointF, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QAccessible,
    QAccessibleAnnouncementEvent,
    QFocusEvent,
    QHelpEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QResizeEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import (
    QAbstractScrollArea,
    QApplication,
    QFrame,
    QToolTip,
    QWidget,
)

from app.painting import paint_method
from app.plain_text import plain_tool_tip
from app.reading_text import harmless
from app.run_view import timeline_accessible
from app.run_view.timeline_bars import Shown
from app.run_view.timeline_painter import MARGIN, TimelinePainter
from app.run_view.timeline_plot import Spot, TimelinePlot
from app.run_view.timeline_words import band_lines, bar_lines, bar_sentence, break_words, row_lines
from app.scroll_bar import use_thin_scroll_bars
from app.theme import font, is_appearance_event, theme
from core.progress import RunProgress
from core.run_times import RunChart

_REACH = 4.0
"""Pixels beside a bar that still mean it: some are narrower than a pixel."""
_ZOOM_STEP = 1.25
_NARROWEST_NAMES = 40.0
_NOTCH = 120
"""What a wheel tells of one notch."""


class TimelineArea(QAbstractScrollArea):
    """A run's timeline, to look at and to walk through.

    Keys: arrows go from bar to bar, Home and End to the first and last, Enter opens; + and - zoom, 0 shows
    all; Ctrl with left and right pans. Signals: `turn_requested(str)` with a turn's id; `fitted(bool)`:
    whether the whole run is shown.
    """

    turn_requested = Signal(str)
    fitted = Signal(bool)

    def __init__(self, parent: QWidget | None = None) -> None:
        timeline_accessible.install()
        super().__init__(parent)
        self.plot = TimelinePlot()
        self.painter = TimelinePainter(self.plot, self.tr)
        self._shown = Shown()
        self._syncing = False
        self._fitted = True
        self._follows_rows = True
        """The row at work is scrolled into view."""
        self._revealing = False
        self._names_wanted: float | None = None
        self._press: QPointF | None = None
        self._pressed: Spot | None = None
        self._pan_from: QPointF | None = None
        self._resizing_names = False
        self.setFrameShape(QFrame.Shape.NoFrame)
        use_thin_scroll_bars(self)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAccessibleName(self.tr("Timeline"))
        self.setAccessibleDescription(
            self.tr("Arrow keys go from turn to turn and tell of each; Enter opens its tab.")
        )
        self.viewport().setMouseTracking(True)
        self.viewport().setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        self.horizontalScrollBar().valueChanged.connect(self._bar_moved)
        self.verticalScrollBar().valueChanged.connect(self._repaint)
        self.verticalScrollBar().valueChanged.connect(self._rows_moved)

    # --- the run ---------------------------------------------------------------------------------------

    def begin(self, progress: RunProgress, chart: RunChart | None = None) -> None:
        """Show another run. `chart`: that of a run that is over, where it is known."""
        self.plot.begin(progress, chart)
        self._shown = Shown(focused=self.hasFocus())
        self._follows_rows = True
        self._sync()

    def refresh(self, turns: Iterable[str] | None, now: float) -> None:
        """Time went on to `now` (seconds since the epoch), and these turns changed; None: any may have."""
        self.plot.refresh(turns, now)
        for name in ("current", "hovered"):
            spot: Spot | None = getattr(self._shown, name)
            if spot is not None:
                # It may have come to its end, or to another row.
                setattr(self._shown, name, self.plot.spot_of(spot.bar.turn, spot.bar.start_number))
        self._sync()
        self._reveal_work()

    def _reveal_work(self) -> None:
        """Scroll to who is at work, last to the turn that is shown, unless one looks at something else."""
        down = self.verticalScrollBar()
        if not self._follows_rows or not down.maximum() or not self.plot.live or self._pan_from is not None:
            return
        working = [
            (row.bars[-1].turn == self._shown.turn, row.bars[-1].first, number)
            for number, row in enumerate(self.plot.rows)
            if row.bars and row.bars[-1].ended is None and row.bars[-1].began is not None
        ]
        turn = self.plot.progress.turns.get(self._shown.turn)
        if turn is None or not turn.is_over:
            self._revealing = True
            for _, _, number in sorted(working):
                self._reveal_row(number)
            self._revealing = False

    def _rows_moved(self) -> None:
        """The user scrolls rows himself: from now on he does, until all is shown again."""
        if not self._revealing and not self._syncing:
            self._follows_rows = False

    def show_turn(self, turn: str) -> None:
        """Mark the turn whose tab is shown; empty: none."""
        if turn != self._shown.turn:
            self._shown.turn = turn
            spot = self.plot.spot_of(turn)
            if spot is not None and self._pan_from is None:
                self._revealing = True
                self._reveal_row(spot.row)
                self._revealing = False
            self._repaint()

    @property
    def current(self) -> Spot | None:
        """The bar that keys are about; None: none yet."""
        return self._shown.current

    # --- what is visible -------------------------------------------------------------------------------

    def sizeHint(self) -> QSize:  # noqa: N802
        return QSize(300, int(self.painter.top + self.painter.bottom + 5 * self.painter.row_height) + 2)

    def minimumSizeHint(self) -> QSize:  # noqa: N802
        return QSize(120, int(self.painter.top + self.painter.bottom + self.painter.row_height))

    def _sync(self) -> None:
        """Bring names, scale and scroll bars in line with the run and the room there is."""
        view, painter, scale = self.viewport(), self.painter, self.plot.scale
        most = max(_NARROWEST_NAMES, view.width() * 0.35)
        wanted = painter.widest_name() if self._names_wanted is None else self._names_wanted
        painter.names_width = min(max(wanted, _NARROWEST_NAMES), most)
        scale.resize(view.width() - painter.plot_left - MARGIN)
        self._syncing = True
        across = self.horizontalScrollBar()
        hidden = max(0.0, (scale.span - scale.shown) * scale.scale)
        across.setRange(0, int(hidden + 0.5))
        across.setPageStep(int(scale.width))
        across.setSingleStep(40)
        across.setValue(int(scale.left * scale.scale + 0.5))
        down = self.verticalScrollBar()
        room = view.height() - painter.top - painter.bottom
        down.setRange(0, max(0, int(len(self.plot.rows) * painter.row_height - room + 0.999)))
        down.setPageStep(max(1, int(room)))
        down.setSingleStep(int(painter.row_height))
        self._syncing = False
        if scale.fits != self._fitted:
            self._fitted = scale.fits
            self.fitted.emit(scale.fits)
        self._repaint()

    def _repaint(self) -> None:
        self.viewport().update()

    def _bar_moved(self, value: int) -> None:
        if not self._syncing:
            self.plot.scale.go(value / self.plot.scale.scale)
            self._sync()

    def zoom(self, factor: float, x: float | None = None) -> None:
        """Show so many times more of detail around `x` of the area; None: the current bar, or the middle."""
        scale = self.plot.scale
        if x is None:
            spot = self._shown.current if self.hasFocus() else None
            middle = scale.x_of(sum(self.plot.span(spot.bar)) / 2) if spot is not None else -1.0
            at = middle if 0 <= middle <= scale.width else scale.width / 2
        else:
            at = min(max(0.0, x - self.painter.plot_left), scale.width)
        scale.zoom(factor, at)
        self._sync()

    def fit(self) -> None:
        """Show the whole run, and follow it."""
        self.plot.scale.fit()
        self._follows_rows = True
        self._sync()
        self._reveal_work()

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        super().resizeEvent(event)
        self._sync()

    def changeEvent(self, event: QEvent) -> None:  # noqa: N802
        super().changeEvent(event)
        if is_appearance_event(event) and hasattr(self, "painter"):
            self.painter.restyle()
            self.updateGeometry()
            self._sync()

    @paint_method
    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802
        del event
        area = self.viewport()
        with QPainter(area) as painter:
            if not self.plot.rows:
                painter.fillRect(area.rect(), theme().color("surface"))
                painter.setFont(font())
                painter.setPen(theme().color("quiet"))
                flags = Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextWordWrap
                box = area.rect().adjusted(MARGIN, 0, -MARGIN, 0)
                painter.drawText(box, flags, self.tr("Bars appear here when agents begin."))
            else:
                scrolled = self.verticalScrollBar().value()
                self.painter.paint(painter, area.width(), area.height(), scrolled, self._shown)
            if self.hasFocus():
                painter.setPen(QPen(theme().color("accent"), 1))
                painter.setBrush(Qt.BrushStyle.NoBrush)
                painter.drawRect(QRectF(area.rect()).adjusted(0.5, 0.5, -0.5, -0.5))

    # --- the mouse -------------------------------------------------------------------------------------

    def spot_at(self, point: QPointF) -> Spot | None:
        """The bar at a place of the area."""
        painter = self.painter
        rows_end = self.viewport().height() - painter.bottom
        if point.x() < painter.plot_left - _REACH or not painter.top <= point.y() < rows_end:
            return None
        row = painter.row_at(point.y(), self.verticalScrollBar().value())
        return self.plot.spot_at(row, point.x() - painter.plot_left, _REACH)

    def rect_of(self, spot: Spot) -> QRect:
        """Where a bar is in the area; it may be out of view."""
        began, ended = (self.painter.plot_left + self.plot.scale.x_of(x) for x in self.plot.span(spot.bar))
        middle = self.painter.row_middle(spot.row, self.verticalScrollBar().value())
        height = self.painter.row_height
        return QRectF(began, middle - height / 2, max(1.0, ended - began), height).toAlignedRect()

    def _on_divider(self, point: QPointF) -> bool:
        return abs(point.x() - self.painter.plot_left + 1) <= 3 and bool(self.plot.rows)

    def mousePressEvent(self, event: QMouseEvent) -> None:  # noqa: N802
        if event.button() is not Qt.MouseButton.LeftButton:
            super().mousePressEvent(event)
            return
        if self._on_divider(event.position()):
            self._resizing_names = True
            return
        self._press = event.position()
        self._pressed = self.spot_at(event.position())

    def mouseMoveEvent(self, event: QMouseEvent) -> None:  # noqa: N802
        point = event.position()
        if self._resizing_names:
            self._names_wanted = max(_NARROWEST_NAMES, point.x() - 2 * MARGIN)
            self._sync()
            return
        far = QApplication.startDragDistance()
        if self._press is not None and (point - self._press).manhattanLength() >= far:
            self._pan_from = self._pan_from or self._press
            self.viewport().setCursor(Qt.CursorShape.ClosedHandCursor)
            QToolTip.hideText()
        if self._pan_from is not None:
            moved = self._pan_from - point
            self._pan_from = point
            self.plot.scale.pan(moved.x())
            down = self.verticalScrollBar()
            down.setValue(down.value() + round(moved.y()))
            self._sync()
            return
        self._hover(self.spot_at(point), divider=self._on_divider(point))

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:  # noqa: N802
        panned, pressed = self._pan_from is not None, self._pressed
        self._press = self._pressed = self._pan_from = None
        self._resizing_names = False
        if event.button() is Qt.MouseButton.LeftButton:
            spot = self.spot_at(event.position())
            if spot is not None and pressed is not None and not panned and spot.bar.turn == pressed.bar.turn:
                self._make_current(spot)
                self.turn_requested.emit(spot.bar.turn)
        self._hover(self.spot_at(event.position()), divider=self._on_divider(event.position()))

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:  # noqa: N802
        if self._on_divider(event.position()):
            self._names_wanted = None
            self._sync()
        elif self.spot_at(event.position()) is None and event.position().x() > self.painter.plot_left:
            self.fit()

    def leaveEvent(self, event: QEvent) -> None:  # noqa: N802
        super().leaveEvent(event)
        self._hover(None)

    def _hover(self, spot: Spot | None, *, divider: bool = False) -> None:
        shape = Qt.CursorShape.PointingHandCursor if spot is not None else Qt.CursorShape.ArrowCursor
        self.viewport().setCursor(Qt.CursorShape.SplitHCursor if divider else shape)
        if spot != self._shown.hovered:
            self._shown.hovered = spot
            self._repaint()

    def wheelEvent(self, event: QWheelEvent) -> None:  # noqa: N802
        pixels, notches = event.pixelDelta(), event.angleDelta()
        if event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            self.zoom(_ZOOM_STEP ** (notches.y() / _NOTCH), event.position().x())
            event.accept()
            return
        delta = QPointF(pixels) if not pixels.isNull() else QPointF(notches) * (60 / _NOTCH)
        down = self.verticalScrollBar()
        # A wheel has one direction: rows where there are more of them, else time.
        sideways = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier) or down.maximum() == 0
        across = delta.x() + (delta.y() if sideways else 0.0)
        before = (self.plot.scale.left, down.value())
        self.plot.scale.pan(-across)
        if not sideways:
            down.setValue(down.value() - round(delta.y()))
        self._sync()
        # What does not move here may move what is around it.
        event.setAccepted((self.plot.scale.left, down.value()) != before)

    # --- keys ------------------------------------------------------------------------------------------

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802
        key, modifiers = event.key(), event.modifiers()
        keys = Qt.Key
        by = {keys.Key_Left: (-1, 0), keys.Key_Right: (1, 0), keys.Key_Up: (0, -1), keys.Key_Down: (0, 1)}
        control = bool(modifiers & Qt.KeyboardModifier.ControlModifier)
        if control and key in (keys.Key_Left, keys.Key_Right):
            self.plot.scale.pan(self.plot.scale.width / 4 * (1 if key == keys.Key_Right else -1))
            self._sync()
        elif control:
            super().keyPressEvent(event)
        elif key in by:
            self._step(*by[keys(key)])
        elif key in (keys.Key_Home, keys.Key_End):
            self._go_to(self.plot.first_spot() if key == keys.Key_Home else self.plot.last_spot())
        elif key in (keys.Key_Return, keys.Key_Enter, keys.Key_Space):
            if self._shown.current is not None:
                self.turn_requested.emit(self._shown.current.bar.turn)
        elif key in (keys.Key_Plus, keys.Key_Equal):
            self.zoom(_ZOOM_STEP**2)
        elif key in (keys.Key_Minus, keys.Key_Underscore):
            self.zoom(_ZOOM_STEP**-2)
        elif key == keys.Key_0:
            self.fit()
        else:
            super().keyPressEvent(event)

    def _step(self, across: int, down: int) -> None:
        current = self._shown.current
        if current is None:
            self._go_to(self._entry())
            return
        self._go_to(self.plot.beside(current, across) if across else self.plot.across(current, down))

    def _entry(self) -> Spot | None:
        """Where keys begin: the turn of the shown tab, else the latest."""
        return self.plot.spot_of(self._shown.turn) or self.plot.last_spot()

    def _go_to(self, spot: Spot | None) -> None:
        if spot is None:
            return
        self._make_current(spot)
        self.plot.scale.reveal(*self.plot.span(spot.bar))
        self._reveal_row(spot.row)
        self._shown.focused = self.hasFocus()  # who walks with keys wants to see where, also after a click
        self._sync()

    def _reveal_row(self, row: int) -> None:
        down = self.verticalScrollBar()
        height, room = self.painter.row_height, down.pageStep()
        down.setValue(min(int(row * height), max(down.value(), int((row + 1) * height - room + 1))))

    def _make_current(self, spot: Spot) -> None:
        self._shown.current = spot
        text = harmless(bar_sentence(spot.bar, self.plot.now, self.tr))
        self.setAccessibleDescription(text)
        if QAccessible.isActive():
            QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(self, text))
        self._repaint()

    def focusInEvent(self, event: QFocusEvent) -> None:  # noqa: N802
        super().focusInEvent(event)
        self._shown.focused = event.reason() is not Qt.FocusReason.MouseFocusReason
        if self._shown.current is None and self._shown.focused:
            entry = self._entry()
            if entry is not None:
                self._make_current(entry)
        self._repaint()

    def focusOutEvent(self, event: QFocusEvent) -> None:  # noqa: N802
        super().focusOutEvent(event)
        self._shown.focused = False
        self._repaint()

    # --- tool tips -------------------------------------------------------------------------------------

    def viewportEvent(self, event: QEvent) -> bool:  # noqa: N802
        if isinstance(event, QHelpEvent) and event.type() is QEvent.Type.ToolTip:
            text, where = self.tip_at(QPointF(event.pos()))
            if text:
                QToolTip.showText(event.globalPos(), plain_tool_tip(harmless(text)), self.viewport(), where)
            else:
                QToolTip.hideText()
            return True
        return super().viewportEvent(event)

    def tip_at(self, point: QPointF) -> tuple[str, QRect]:
        """What is said about a place of the area, as plain text, and for which part of it that holds."""
        around = QRect(point.toPoint() - QPoint(4, 4), QSize(9, 9))
        spot = self.spot_at(point)
        if spot is not None:
            lines = [*bar_lines(spot.bar, self.plot.now, self.tr), self.tr("Click to open its tab.")]
            return "\n".join(lines), self.rect_of(spot).united(around)
        row = self.painter.row_at(point.y(), self.verticalScrollBar().value())
        in_rows = self.painter.top <= point.y() < self.viewport().height() - self.painter.bottom
        if point.x() < self.painter.plot_left and in_rows and row < len(self.plot.rows):
            return "\n".join(row_lines(self.plot.rows[row], self.plot.now, self.tr)), around
        clock, scale = self.plot.clock, self.plot.scale
        if point.y() < self.painter.top:
            moment = clock.time(max(0.0, scale.seconds_at(point.x() - self.painter.plot_left)))
            for band in reversed(self.plot.bands):
                if band.began <= moment <= band.ended:
                    return "\n".join(band_lines(band, clock, self.tr)), around
        for cut in clock.breaks:
            if abs(self.painter.plot_left + scale.x_of(clock.seconds(cut.began)) - point.x()) <= _REACH + 1:
                return break_words(cut, self.tr), around
        return "", around
