"""The view of one log file, painted line by line: as fast with ten million lines as with ten.

Only what is visible is read, laid out and painted. One timer, at work only while the view is visible,
follows the file. The parts: `log_source` (the file), `log_folds`, `log_rows` (looks), `log_page` (what is on
the screen), `log_painter`, `log_selection`, `log_find`.
"""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QEvent, QPoint, QPointF, QRectF, Qt, QTimer, Signal, Slot
from PySide6.QtGui import (
    QAccessible,
    QAction,
    QContextMenuEvent,
    QFocusEvent,
    QGuiApplication,
    QHideEvent,
    QKeyEvent,
    QKeySequence,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QResizeEvent,
    QShowEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import QAbstractScrollArea, QFrame, QMenu, QWidget

from app.run_view.log_find import FindBar, FollowPill, LogFinder
from app.run_view.log_page import LogPage, Place, PlacedRow
from app.run_view.log_painter import MARGIN, LogPainter, Marked, matches_in
from app.run_view.log_selection import AT_ONCE, LIMIT, Caret, LogSelection, word_at
from app.run_view.log_source import BackgroundJob, LogSource
from app.theme import GRID, font, is_appearance_event, theme

_TICK_MS = 33
_TOP = 2 * GRID
_ZOOMS = (-4, 24)


class LogView(QAbstractScrollArea):
    """A log file, live.

    Signals: `raw_file_requested()` from the context menu; `name_activated(str)` when an agent's name is
    clicked; `following_changed(bool)`; `message(str)`: a sentence for the status line, such as what a copy
    left out.
    """

    raw_file_requested = Signal()
    name_activated = Signal(str)
    following_changed = Signal(bool)
    message = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._painter = LogPainter()
        self._page = LogPage(self._painter)
        self._selection = LogSelection(self._page)
        self._tail = Place()
        self._follow = True
        self._seen = 0
        self._syncing = False
        self._wheel = 0.0
        self._pressed: Caret | None = None
        self._drag_point: QPoint | None = None
        self._current_header: int | None = None
        self._finder: LogFinder | None = None
        self._found: tuple[int, int] | None = None
        self._copying = BackgroundJob("log-copy")
        self._copied: list[str] = []
        self._empty_text = self.tr("Nothing printed yet.")

        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAccessibleName(self.tr("Log"))
        self.viewport().setCursor(Qt.CursorShape.IBeamCursor)
        self.viewport().setMouseTracking(True)
        self.viewport().setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAsNeeded)
        self.verticalScrollBar().valueChanged.connect(self._bar_moved)
        self.horizontalScrollBar().valueChanged.connect(self._repaint)
        self._bar = FindBar(self.viewport())
        self._bar.needle_changed.connect(self._find)
        self._bar.step_requested.connect(self.find_next)
        self._bar.closed.connect(self.close_find)
        self._pill = FollowPill(self.viewport())
        self._pill.clicked.connect(self.follow)
        for child in (self._bar, self._pill):
            child.setCursor(Qt.CursorShape.ArrowCursor)
        self._timer = QTimer(self)
        self._timer.setInterval(_TICK_MS)
        self._timer.timeout.connect(self.refresh)
        self._scroller = QTimer(self)
        self._scroller.setInterval(50)
        self._scroller.timeout.connect(self._drag_on)
        self._make_actions()

    # --- what is shown ----------------------------------------------------------------------------------

    def set_source(self, path: Path | None, raw: bool = False) -> None:
        """Show a file, which may not exist yet and may grow. `raw`: as it is, else it is a transcript."""
        self._stop_threads()
        self._selection.clear()
        self._found = None
        self._finder = None
        self._page.open(LogSource(path, structured=not raw) if path is not None else None)
        self._painter.show_time = not raw
        self._page.forget_layout()
        self._follow = True
        self.refresh()
        self._sync()
        if self._bar.isVisible():
            self._find(self._bar.needle)

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
        self._wrap_action.setChecked(wrap)
        self._relayout()

    def set_empty_text(self, text: str) -> None:
        """What is said while there is nothing to show."""
        self._empty_text = text
        self._repaint()

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
    def refresh(self) -> None:
        """Look at the file once; the timer does it while the view is visible."""
        generation = self._page.snapshot.generation
        changed = self._page.poll()
        if changed:
            if self._page.snapshot.generation != generation:
                self._selection.clear()
                self._found = None
                self._seen = 0
            self._sync()
            self._repaint()
        self._poll_find()
        if self._copied and not self._copying.running:
            QGuiApplication.clipboard().setText(self._copied.pop())

    @Slot()
    def follow(self) -> None:
        """Go to the end and stay there."""
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
        return max(1, int((self.viewport().height() - _TOP) // self._painter.row_height))

    def _sync(self) -> None:
        """Bring place, scroll bars and pill in line with the file."""
        rows = self._page_rows()
        self._tail = self._page.tail(rows)
        if self._follow or self._page.place > self._tail:
            self._page.place = self._tail
        folds = self._page.folds
        self._syncing = True
        bar = self.verticalScrollBar()
        maximum = folds.shown_of(self._tail.line) + (1 if self._tail.part else 0)
        bar.setRange(0, maximum)
        bar.setPageStep(rows)
        bar.setSingleStep(1)
        at_end = self._page.place >= self._tail
        bar.setValue(maximum if at_end else folds.shown_of(self._page.place.line))
        if self._painter.wrap:
            self.horizontalScrollBar().setRange(0, 0)
        self._syncing = False
        if at_end or self._follow:
            self._pill.hide()
        else:
            self._pill.say(self._page.snapshot.lines - self._seen)
            self._pill.show()
            self._place_overlays()

    def _place_overlays(self) -> None:
        area = self.viewport()
        self._bar.adjustSize()
        self._bar.move(area.width() - self._bar.width() - MARGIN, _TOP)
        self._pill.move(
            area.width() - self._pill.width() - MARGIN, area.height() - self._pill.height() - MARGIN
        )

    @Slot(int)
    def _bar_moved(self, value: int) -> None:
        if self._syncing:
            return
        bar = self.verticalScrollBar()
        if value >= bar.maximum():
            self._go(self._tail)
        else:
            self._go(Place(self._page.folds.line_of(value)))

    def _go(self, place: Place) -> None:
        self._page.place = min(place, self._tail)
        self._set_follow(place >= self._tail)
        self._sync()
        self._repaint()

    def _scroll(self, screen_rows: int) -> None:
        self._go(self._page.moved(self._page.place, screen_rows))

    @Slot()
    def _repaint(self) -> None:
        self.viewport().update()

    def _relayout(self) -> None:
        self._page.width = float(self.viewport().width())
        self._page.forget_layout()
        self._sync()
        self._repaint()

    def showEvent(self, event: QShowEvent) -> None:  # noqa: N802
        super().showEvent(event)
        self.refresh()
        self._timer.start()

    def hideEvent(self, event: QHideEvent) -> None:  # noqa: N802
        self._timer.stop()
        self._scroller.stop()
        self._stop_threads()
        super().hideEvent(event)

    def _stop_threads(self) -> None:
        if self._finder is not None:
            self._finder.pause()
        if self._page.source is not None:
            self._page.source.close()
        self._copying.stop()

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        super().resizeEvent(event)
        if self._page.width != float(self.viewport().width()):
            self._page.width = float(self.viewport().width())
            self._page.forget_layout()
        self._sync()
        self._place_overlays()

    def changeEvent(self, event: QEvent) -> None:  # noqa: N802
        super().changeEvent(event)
        if is_appearance_event(event) and hasattr(self, "_timer"):
            self._painter.restyle()
            self._relayout()

    # --- painting ---------------------------------------------------------------------------------------

    def _rows(self) -> list[PlacedRow]:
        return self._page.rows(self.viewport().height() - _TOP)

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802
        del event
        area = self.viewport()
        painter = QPainter(area)
        painter.fillRect(area.rect(), theme().color("ground"))
        rows = self._rows()
        if not rows:
            painter.setFont(font())
            painter.setPen(theme().color("quiet"))
            box = area.rect().adjusted(MARGIN, _TOP, -MARGIN, -_TOP)
            painter.drawText(box, Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextWordWrap, self._empty_text)
        left = -float(self.horizontalScrollBar().value())
        painter.setClipRect(
            QRectF(0, min(_TOP, self._page.place.part * 1e6 + _TOP), area.width(), area.height())
        )
        for placed in rows:
            row = placed.laid.row
            self._painter.paint(
                painter,
                placed.laid,
                left,
                _TOP + placed.top,
                area.width(),
                selected=self._selection.in_row(row.line, len(row.text)),
                marked=self._marks_of(placed),
                focused=self.hasFocus() and row.line == self._current_header,
            )
        painter.setClipping(False)
        if self.hasFocus():
            painter.setPen(QPen(theme().color("accent"), 1))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRect(QRectF(area.rect()).adjusted(0.5, 0.5, -0.5, -0.5))
        painter.end()
        self._measure_width(rows)
        if QAccessible.isActive():
            self._describe(rows)

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

    def _marks_of(self, placed: PlacedRow) -> list[Marked]:
        if self._finder is None:
            return []
        row = placed.laid.row
        return [
            Marked(start, end, current=self._found == (row.line, number))
            for number, (start, end) in enumerate(matches_in(row, self._finder.pattern))
        ]

    # --- mouse ------------------------------------------------------------------------------------------

    def _placed_at(self, y: float) -> PlacedRow | None:
        step = self._painter.row_height
        for placed in self._rows():
            top = _TOP + placed.top
            if top <= y < top + placed.laid.heights * step:
                return placed
        return None

    def _caret_at(self, point: QPointF) -> Caret | None:
        rows = self._rows()
        if not rows:
            return None
        placed = self._placed_at(point.y())
        if placed is None:
            if point.y() < _TOP:
                return Caret(rows[0].laid.row.line, 0)
            return Caret(rows[-1].laid.row.line, len(rows[-1].laid.row.text))
        x = point.x() + self.horizontalScrollBar().value() - self._painter.text_left
        character = self._painter.character_at(placed.laid, x, point.y() - _TOP - placed.top)
        return Caret(placed.laid.row.line, character)

    def mousePressEvent(self, event: QMouseEvent) -> None:  # noqa: N802
        if event.button() is not Qt.MouseButton.LeftButton:
            return
        caret = self._caret_at(event.position())
        if caret is None:
            return
        if event.modifiers() & Qt.KeyboardModifier.ShiftModifier and self._selection.anchor is not None:
            self._selection.set(self._selection.anchor, caret)
        else:
            self._pressed = caret if self._selection.empty else None
            self._selection.set(caret, caret)
        self._repaint()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:  # noqa: N802
        if not event.buttons() & Qt.MouseButton.LeftButton:
            self._show_cursor(event.position())
            return
        caret = self._caret_at(event.position())
        if caret is not None and self._selection.anchor is not None:
            self._selection.set(self._selection.anchor, caret)
            self._repaint()
        self._drag_point = event.position().toPoint()
        outside = not self.viewport().rect().contains(self._drag_point)
        if outside and not self._scroller.isActive():
            self._scroller.start()
        elif not outside:
            self._scroller.stop()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:  # noqa: N802
        self._scroller.stop()
        pressed, self._pressed = self._pressed, None
        if event.button() is not Qt.MouseButton.LeftButton or pressed is None or not self._selection.empty:
            return
        placed = self._placed_at(event.position().y())
        if placed is None or placed.laid.row.line != pressed.line:
            return
        row = placed.laid.row
        if row.name and self._in_names(event.position()):
            self.name_activated.emit(row.name)
        elif row.folded is not None:
            self._current_header = row.line
            self._toggle(row.line)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:  # noqa: N802
        caret = self._caret_at(event.position())
        placed = self._placed_at(event.position().y())
        if caret is None or placed is None or placed.laid.row.folded is not None:
            self.mousePressEvent(event)
            return
        start, end = word_at(placed.laid.row.text, caret.character)
        self._selection.set(Caret(caret.line, start), Caret(caret.line, end))
        self._repaint()

    def _in_names(self, point: QPointF) -> bool:
        left = MARGIN + self._painter.time_width - self.horizontalScrollBar().value()
        return self._painter.show_name and left <= point.x() < left + self._painter.name_width

    def _show_cursor(self, point: QPointF) -> None:
        placed = self._placed_at(point.y())
        row = placed.laid.row if placed is not None else None
        clickable = row is not None and (row.folded is not None or (row.name and self._in_names(point)))
        shape = Qt.CursorShape.PointingHandCursor if clickable else Qt.CursorShape.IBeamCursor
        if self.viewport().cursor().shape() is not shape:
            self.viewport().setCursor(shape)

    @Slot()
    def _drag_on(self) -> None:
        """Scroll while a selection is dragged beyond the view."""
        if self._drag_point is None:
            return
        y, height = self._drag_point.y(), self.viewport().height()
        if y < 0:
            self._scroll(-1 + y // 20)
        elif y >= height:
            self._scroll(1 + (y - height) // 20)
        caret = self._caret_at(QPointF(self._drag_point))
        if caret is not None and self._selection.anchor is not None:
            self._selection.set(self._selection.anchor, caret)

    def wheelEvent(self, event: QWheelEvent) -> None:  # noqa: N802
        turned = event.angleDelta().y()
        if event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            self.zoom(1 if turned > 0 else -1 if turned < 0 else 0)
        elif not turned:
            super().wheelEvent(event)
            return
        else:
            pixels = event.pixelDelta().y()
            self._wheel += pixels / self._painter.row_height if pixels else turned / 40
            rows = int(self._wheel)
            self._wheel -= rows
            if rows:
                self._scroll(-rows)
        event.accept()

    def zoom(self, step: int) -> None:
        """Larger (1), smaller (-1) or the normal size again (0)."""
        zoom = min(_ZOOMS[1], max(_ZOOMS[0], self._painter.zoom + step)) if step else 0
        if zoom != self._painter.zoom:
            self._painter.zoom = zoom
            self._painter.restyle()
            self._relayout()

    # --- keys, menu, folds ------------------------------------------------------------------------------

    def _make_actions(self) -> None:
        keys = QKeySequence.StandardKey
        self._copy_action = self._action(self.tr("Copy"), QKeySequence(keys.Copy), self.copy)
        self._all_action = self._action(self.tr("Select all"), QKeySequence(keys.SelectAll), self.select_all)
        self._find_action = self._action(self.tr("Find…"), QKeySequence(keys.Find), self.open_find)
        self._action(self.tr("Next match"), QKeySequence("F3"), self._find_down)
        self._action(self.tr("Previous match"), QKeySequence("Shift+F3"), self._find_up)
        self._fold_action = self._action(self.tr("Fold all"), QKeySequence("Ctrl+Shift+Left"), self.fold_all)
        self._unfold_action = self._action(
            self.tr("Unfold all"), QKeySequence("Ctrl+Shift+Right"), self.unfold_all
        )
        self._wrap_action = self._action(self.tr("Wrap lines"), QKeySequence("Alt+Z"), self._toggle_wrap)
        self._wrap_action.setCheckable(True)
        self._wrap_action.setChecked(True)
        self._raw_action = self._action(
            self.tr("Open raw file"), QKeySequence(), self.raw_file_requested.emit
        )

    def _action(self, text: str, keys: QKeySequence, slot: object) -> QAction:
        action = QAction(text, self)
        action.setShortcut(keys)
        action.setShortcutContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
        action.triggered.connect(slot)
        self.addAction(action)
        return action

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:  # noqa: N802
        self.make_menu().popup(event.globalPos())

    def make_menu(self) -> QMenu:
        """The context menu; it deletes itself when it is closed."""
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._copy_action.setEnabled(not self._selection.empty)
        menu.addActions([self._copy_action, self._all_action])
        menu.addSeparator()
        menu.addAction(self._find_action)
        menu.addSeparator()
        menu.addActions([self._fold_action, self._unfold_action, self._wrap_action])
        menu.addSeparator()
        menu.addAction(self._raw_action)
        menu.aboutToHide.connect(self._enable_copy)
        return menu

    @Slot()
    def _enable_copy(self) -> None:
        self._copy_action.setEnabled(True)

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802
        key = event.key()
        control = bool(event.modifiers() & Qt.KeyboardModifier.ControlModifier)
        rows = self._page_rows()
        if key in (Qt.Key.Key_Up, Qt.Key.Key_Down):
            step = 1 if key == Qt.Key.Key_Down else -1
            if control:
                self._to_header(step)
            else:
                self._scroll(step)
        elif key in (Qt.Key.Key_PageUp, Qt.Key.Key_PageDown):
            self._scroll((rows - 1) * (1 if key == Qt.Key.Key_PageDown else -1))
        elif key == Qt.Key.Key_Home:
            self._go(Place())
        elif key == Qt.Key.Key_End:
            self.follow()
        elif key in (Qt.Key.Key_Left, Qt.Key.Key_Right) and not control:
            bar = self.horizontalScrollBar()
            bar.setValue(bar.value() + (40 if key == Qt.Key.Key_Right else -40))
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space):
            self._toggle_current()
        elif control and key in (Qt.Key.Key_Plus, Qt.Key.Key_Equal):
            self.zoom(1)
        elif control and key == Qt.Key.Key_Minus:
            self.zoom(-1)
        elif control and key == Qt.Key.Key_0:
            self.zoom(0)
        elif key == Qt.Key.Key_Escape and self._bar.isVisible():
            self.close_find()
        else:
            super().keyPressEvent(event)

    def _to_header(self, step: int) -> None:
        """Make the next tool call with a result the current one."""
        rows = self._rows()
        if not rows:
            return
        shown = [placed.laid.row.line for placed in rows]
        start = self._current_header
        if start is None or not shown[0] <= start <= shown[-1]:
            start = shown[0] - 1 if step > 0 else shown[-1] + 1
        found = self._page.folds.neighbour(start, step)
        if found is not None:
            self._current_header = found
            self._reveal(found, 0)
            self._repaint()

    def _toggle_current(self) -> None:
        headers = [placed.laid.row.line for placed in self._rows() if placed.laid.row.folded is not None]
        if self._current_header not in headers:
            self._current_header = headers[0] if headers else None
        if self._current_header is not None:
            self._toggle(self._current_header)

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

    @Slot()
    def _toggle_wrap(self) -> None:
        self.set_wrap(not self._painter.wrap)

    def focusInEvent(self, event: QFocusEvent) -> None:  # noqa: N802
        super().focusInEvent(event)
        self._repaint()

    def focusOutEvent(self, event: QFocusEvent) -> None:  # noqa: N802
        super().focusOutEvent(event)
        self._repaint()

    # --- selection --------------------------------------------------------------------------------------

    @Slot()
    def select_all(self) -> None:
        """Select the whole log."""
        if self._page.snapshot.lines:
            self._selection.set(Caret(0, 0), Caret(self._page.snapshot.lines - 1, 1 << 30))
            self._repaint()

    @Slot()
    def copy(self) -> None:
        """Copy the selection as plain text. A very large one is copied by a thread, and clipped."""
        lines = self._selection.lines()
        if lines == 0:
            return
        if lines <= AT_ONCE:
            QGuiApplication.clipboard().setText(self._selection.text())
            return
        if lines > LIMIT:
            self.message.emit(
                self.tr(
                    "Copied the first {limit} of {lines} lines. Open the raw file to have all of it."
                ).format(limit=f"{LIMIT:,}", lines=f"{lines:,}")
            )
        self._copying.start(self._copy_all)

    def _copy_all(self) -> None:
        self._copied.append(self._selection.text(self._copying))

    # --- find -------------------------------------------------------------------------------------------

    @Slot()
    def open_find(self) -> None:
        """Show the find bar, with the selected word."""
        selected = self._selection.text() if self._selection.lines() == 1 else ""
        self._bar.open_with(selected[:200])
        self._place_overlays()
        if self._finder is None and self._bar.needle:
            self._find(self._bar.needle)

    @Slot()
    def close_find(self) -> None:
        """Hide the find bar and its highlights."""
        self._bar.hide()
        self._drop_finder()
        self.setFocus(Qt.FocusReason.OtherFocusReason)
        self._repaint()

    def _drop_finder(self) -> None:
        if self._finder is not None:
            self._finder.close()
        self._finder, self._found = None, None

    @Slot(str)
    def _find(self, needle: str) -> None:
        start = self._offset_of(self._found[0] if self._found else self._page.place.line)
        self._drop_finder()
        if needle and self._page.source is not None:
            self._finder = LogFinder(self._page.source, needle)
            if self._finder.step(start, 1):
                self._show_found()
        self._show_count()
        self._repaint()

    @Slot(int)
    def find_next(self, step: int) -> None:
        """Go to the next match (1) or the previous (-1)."""
        if self._finder is None:
            self.open_find()
            return
        current = self._finder.current
        if current is None:
            offset = self._offset_of(self._page.place.line)
        else:
            offset = current.offset + 1 if step > 0 else current.offset
        if self._finder.step(offset, step):
            self._show_found()
        self._show_count()

    @Slot()
    def _find_down(self) -> None:
        self.find_next(1)

    @Slot()
    def _find_up(self) -> None:
        self.find_next(-1)

    def _poll_find(self) -> None:
        if self._finder is not None:
            if self._finder.poll(self._page.snapshot.size):
                self._show_found()
            self._show_count()

    def _show_count(self) -> None:
        if self._finder is not None:
            current = self._finder.current
            self._bar.show_count(
                current.ordinal if current else None, self._finder.count, searching=self._finder.searching
            )
        else:
            self._bar.show_count(None, 0, searching=False)

    def _offset_of(self, line: int) -> int:
        source = self._page.source
        read = source.read(line, 1) if source is not None else []
        return read[0].offset if read else 0

    def _show_found(self) -> None:
        """Bring the current match into view."""
        finder, source = self._finder, self._page.source
        if finder is None or source is None or finder.current is None:
            return
        line = source.line_at(finder.current.offset)
        number = finder.place_in_line(self._offset_of(line))
        self._found = (line, number)
        owner = self._page.folds.owner(line)
        if owner is not None and self._page.folds.is_folded(owner):
            self._page.folds.toggle(owner)
            self._page.forget_layout()
            self._sync()
        laid = self._page.laid(line)
        part = 0
        if laid is not None:
            spans = matches_in(laid.row, finder.pattern)
            if number < len(spans):
                part = self._painter.screen_row_of(laid, spans[number][0])
        self._reveal(line, part)
        self._repaint()

    def _reveal(self, line: int, part: int) -> None:
        """Scroll so that a screen row is visible and not below the find bar."""
        step = self._painter.row_height
        for placed in self._rows():
            if placed.laid.row.line == line:
                y = _TOP + placed.top + part * step
                highest = self._bar.geometry().bottom() if self._bar.isVisible() else 0
                if highest <= y and y + step <= self.viewport().height():
                    self._set_follow(False)
                    return
        self._go(self._page.moved(Place(line, part), -(self._page_rows() // 3)))
