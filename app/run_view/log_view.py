"""The view of one log file: what the user does with it by mouse, keys, menu and find bar.

The parts: `log_area` (what is seen of the file, following its end), `log_source` (the file), `log_folds`,
`log_rows` (looks), `log_page` (what is on the screen), `log_painter`, `log_selection`, `log_find`.
"""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QPoint, QPointF, Qt, QTimer, Signal, Slot
from PySide6.QtGui import (
    QAction,
    QContextMenuEvent,
    QGuiApplication,
    QHideEvent,
    QKeyEvent,
    QKeySequence,
    QMouseEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import QMenu, QWidget

from app.run_view.log_area import LogArea
from app.run_view.log_find import LogFinder
from app.run_view.log_page import Place
from app.run_view.log_painter import MARGIN
from app.run_view.log_selection import AT_ONCE, LIMIT, Caret, word_at
from app.run_view.log_source import BackgroundJob
from core.line_needle import Needle


class LogView(LogArea):
    """A log file, live.

    Signals: `raw_file_requested()` from the context menu; `name_activated(str)` when an agent's name is
    clicked; `message(str)`: a sentence for the status line, such as what a copy left out; and those of
    `LogArea`.
    """

    raw_file_requested = Signal()
    name_activated = Signal(str)
    message = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._wheel = 0.0
        self._pressed: Caret | None = None
        self._drag_point: QPoint | None = None
        self._copying = BackgroundJob("log-copy")
        self._copied: list[str] = []
        self._bar.needle_changed.connect(self._find)
        self._bar.step_requested.connect(self.find_next)
        self._bar.closed.connect(self.close_find)
        self._scroller = QTimer(self)
        self._scroller.setInterval(50)
        self._scroller.timeout.connect(self._drag_on)
        self._make_actions()

    def set_source(self, path: Path | None, raw: bool = False) -> None:
        """Show a file, which may not exist yet and may grow. `raw`: as it is, else it is a transcript."""
        self._copying.stop()
        super().set_source(path, raw)
        if self._bar.isVisible():
            self._find(self._bar.needle)

    def set_wrap(self, wrap: bool) -> None:
        """Wrap long lines, or scroll sideways."""
        self._wrap_action.setChecked(wrap)
        super().set_wrap(wrap)

    @Slot()
    def refresh(self) -> None:
        """Look at file, search and copy once; the timer does it while the view is visible."""
        super().refresh()
        self._poll_find()
        if self._copied and not self._copying.running:
            QGuiApplication.clipboard().setText(self._copied.pop())

    def hideEvent(self, event: QHideEvent) -> None:  # noqa: N802
        self._scroller.stop()
        self._copying.stop()
        super().hideEvent(event)

    # --- mouse ------------------------------------------------------------------------------------------

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

    # --- keys and menu ----------------------------------------------------------------------------------

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

    @Slot()
    def _toggle_wrap(self) -> None:
        self.set_wrap(not self._painter.wrap)

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
            self._finder = LogFinder(self._page.source, Needle(needle))
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
            spans = finder.in_row(laid.row)
            if number < len(spans):
                part = self._painter.screen_row_of(laid, spans[number][0])
        self._reveal(line, part)
        self._repaint()
