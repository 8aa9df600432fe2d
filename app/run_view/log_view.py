"""The view of one log file: what the user does with it by mouse, keys and menu.

The parts: `log_area` (what is seen of the file, following its end), on it `log_places`, `log_finding` and
`log_linking`; `log_source` (the file), `log_folds`, `log_rows` and `log_ansi` (looks), `log_page` (what is
on the screen), `log_painter`, `log_selection`.
"""

from __future__ import annotations

from collections.abc import Callable
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

from app.platform_keys import find_next_keys, find_previous_keys, option_keys
from app.run_view.log_host import LogHost
from app.run_view.log_keys import keys_move
from app.run_view.log_linking import LinkedLog
from app.run_view.log_page import Place
from app.run_view.log_painter import MARGIN
from app.run_view.log_selection import AT_ONCE, Caret, Copied, word_at
from app.run_view.log_source import BackgroundJob

_SHIFT = Qt.KeyboardModifier.ShiftModifier
_CONTROL = Qt.KeyboardModifier.ControlModifier


class LogView(LinkedLog):
    """A log file, live. `host`: what all logs of a window share.

    Signals: `raw_file_requested()` from the context menu; `name_activated(str)` when an agent's name is
    clicked; `message(str)`: a sentence for the status line, such as what a copy left out; and those of
    `LogArea`.
    """

    raw_file_requested = Signal()
    name_activated = Signal(str)
    message = Signal(str)

    def __init__(self, parent: QWidget | None = None, host: LogHost | None = None) -> None:
        super().__init__(host, parent)
        self._wheel = 0.0
        self._pressed: Caret | None = None
        self._drag_point: QPoint | None = None
        self._copying = BackgroundJob("log-copy")
        self._copied: list[Copied] = []
        self._scroller = QTimer(self)
        self._scroller.setInterval(50)
        self._scroller.timeout.connect(self._drag_on)
        self._make_actions()
        self.host.changed.connect(self._show_as)
        self._show_as()

    def set_source(self, path: Path | None, raw: bool = False) -> None:
        """Show a file, which may not exist yet and may grow. `raw`: as it is, else it is a transcript."""
        self._copying.stop()
        super().set_source(path, raw)

    def set_wrap(self, wrap: bool) -> None:
        """Wrap long lines, or scroll sideways."""
        self._wrap_action.setChecked(wrap)
        super().set_wrap(wrap)

    def set_line_numbers(self, shown: bool) -> None:
        """Number the lines, as in the file, or do not."""
        self._number_action.setChecked(shown)
        super().set_line_numbers(shown)

    @Slot()
    def _show_as(self) -> None:
        """As all logs of the window are shown."""
        if self._painter.wrap != self.host.wrap:
            self.set_wrap(self.host.wrap)
        if self._painter.show_numbers != self.host.line_numbers:
            self.set_line_numbers(self.host.line_numbers)
        self.set_zoom(self.host.zoom)

    @Slot()
    def refresh(self) -> None:
        """Look at file, search and copy once; the timer does it while the view is visible."""
        super().refresh()
        if self._copied and not self._copying.running:
            self._take_copy(self._copied.pop())

    def hideEvent(self, event: QHideEvent) -> None:  # noqa: N802
        self._scroller.stop()
        self._copying.stop()
        super().hideEvent(event)

    # --- mouse ------------------------------------------------------------------------------------------

    def mousePressEvent(self, event: QMouseEvent) -> None:  # noqa: N802
        super().mousePressEvent(event)
        if event.button() is not Qt.MouseButton.LeftButton or self._armed is not None:
            return
        caret = self._caret_at(event.position())
        if caret is None:
            return
        if event.modifiers() & _SHIFT and self._selection.anchor is not None:
            self._selection.set(self._selection.anchor, caret)
        else:
            self._pressed = caret if self._selection.empty else None
            self._selection.set(caret, caret)
        self._repaint()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:  # noqa: N802
        if not event.buttons() & Qt.MouseButton.LeftButton:
            self._show_cursor(event.position())
            return
        if self._armed is not None:
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
        super().mouseReleaseEvent(event)
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
            self._current_header, self._chosen = row.line, None
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
        left = MARGIN + self._painter.number_width + self._painter.time_width
        left -= self.horizontalScrollBar().value()
        return self._painter.show_name and left <= point.x() < left + self._painter.name_width

    def _points_at_row(self, point: QPointF) -> bool:
        placed = self._placed_at(point.y())
        row = placed.laid.row if placed is not None else None
        return row is not None and (row.folded is not None or bool(row.name and self._in_names(point)))

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
        if event.modifiers() & _CONTROL:
            step = 1 if turned > 0 else -1 if turned < 0 else 0
            self.host.show_as(zoom=self.host.zoom + step)
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

    # --- menu -------------------------------------------------------------------------------------------

    def _make_actions(self) -> None:
        keys = QKeySequence.StandardKey
        make = self._action
        self._copy_action = make(self.tr("Copy"), QKeySequence(keys.Copy), self.copy)
        self._all_action = make(self.tr("Select all"), QKeySequence(keys.SelectAll), self.select_all)
        self._find_action = make(self.tr("Find…"), QKeySequence(keys.Find), self.open_find)
        self._filter_action = make(self.tr("Filter lines…"), QKeySequence("Ctrl+Shift+F"), self.open_filter)
        self._context_action = make(self.tr("Show among all lines"), QKeySequence(), self.close_find)
        make(self.tr("Next match"), QKeySequence(), self._find_down).setShortcuts(find_next_keys())
        before = make(self.tr("Previous match"), QKeySequence(), self._find_up)
        before.setShortcuts(find_previous_keys())
        for what, key, text in (
            ("case", "C", self.tr("Find: match case")),
            ("word", "W", self.tr("Find: whole words")),
            ("expression", "X", self.tr("Find: regular expression")),
        ):
            action = make(text, option_keys(key), self._toggle_option)
            action.setData(what)
        make(self.tr("Next link"), QKeySequence("Alt+Down"), self._next_link)
        make(self.tr("Previous link"), QKeySequence("Alt+Up"), self._previous_link)
        self._fold_action = make(self.tr("Fold all"), QKeySequence("Ctrl+Shift+Left"), self.fold_all)
        self._unfold_action = make(self.tr("Unfold all"), QKeySequence("Ctrl+Shift+Right"), self.unfold_all)
        self._wrap_action = make(self.tr("Wrap lines"), option_keys("Z"), self._toggle_wrap)
        self._number_action = make(self.tr("Line numbers"), option_keys("L"), self._toggle_numbers)
        for action, on in ((self._wrap_action, True), (self._number_action, False)):
            action.setCheckable(True)
            action.setChecked(on)
        self._raw_action = make(self.tr("Open raw file"), QKeySequence(), self.raw_file_requested.emit)
        self._editor_action = make(
            self.tr("Editor for files…"), QKeySequence(), self.host.editor_requested.emit
        )

    def _action(self, text: str, keys: QKeySequence, slot: Callable[[], object]) -> QAction:
        action = QAction(text, self)
        action.setShortcut(keys)
        action.setShortcutContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
        action.triggered.connect(slot)
        self.addAction(action)
        return action

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:  # noqa: N802
        if event.reason() is QContextMenuEvent.Reason.Mouse:
            point = QPointF(self.viewport().mapFromGlobal(event.globalPos()))
            self.make_menu(point).popup(event.globalPos())
        else:
            self.make_menu().popup(self.viewport().mapToGlobal(QPoint(MARGIN, MARGIN)))

    def make_menu(self, point: QPointF | None = None) -> QMenu:
        """The context menu, for a point of the viewport or (None) for where the keys are; it deletes itself
        when it is closed."""
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._add_link_actions(menu, self._spot_at(point) if point is not None else self._chosen)
        self._copy_action.setEnabled(not self._selection.empty)
        menu.addActions([self._copy_action, self._all_action])
        menu.addSeparator()
        menu.addActions([self._find_action, self._filter_action])
        if self._sieve is not None:
            menu.addAction(self._context_action)
            placed = self._placed_at(point.y()) if point is not None else None
            if placed is not None and self._selection.empty:
                at = Caret(placed.laid.row.line, 0)
                self._selection.set(at, at)
        menu.addSeparator()
        menu.addActions([self._fold_action, self._unfold_action])
        menu.addSeparator()
        menu.addActions([self._wrap_action, self._number_action])
        menu.addSeparator()
        menu.addActions([self._raw_action, self._editor_action])
        menu.aboutToHide.connect(self._enable_copy)
        return menu

    @Slot()
    def _enable_copy(self) -> None:
        self._copy_action.setEnabled(True)

    @Slot()
    def _toggle_option(self) -> None:
        action = self.sender()
        if isinstance(action, QAction):
            if not self._bar.isVisible():
                self.open_find()
            self._bar.toggle(str(action.data()))

    @Slot()
    def _toggle_wrap(self) -> None:
        self.host.show_as(wrap=not self._painter.wrap)

    @Slot()
    def _toggle_numbers(self) -> None:
        self.host.show_as(line_numbers=not self._painter.show_numbers)

    # --- keys -------------------------------------------------------------------------------------------

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802
        key = event.key()
        control = bool(event.modifiers() & _CONTROL)
        if event.modifiers() & _SHIFT and self._extend(event):
            return
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
            self._go(Place(self._page.map.line_of(0)) if self._page.map.shown else Place())
        elif key == Qt.Key.Key_End:
            self.follow()
        elif key in (Qt.Key.Key_Left, Qt.Key.Key_Right) and not control:
            bar = self.horizontalScrollBar()
            bar.setValue(bar.value() + (40 if key == Qt.Key.Key_Right else -40))
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space):
            if not self._open_chosen():
                self._toggle_current()
        elif key == Qt.Key.Key_Escape and self._bar.isVisible():
            self.close_find()
        elif key == Qt.Key.Key_Escape and not self._selection.empty:
            self._selection.clear()
            self._repaint()
        else:
            if key == Qt.Key.Key_Control and self._hovers_link:
                self._set_cursor(hand=True)
            super().keyPressEvent(event)

    def _extend(self, event: QKeyEvent) -> bool:
        """Select with Shift and the keys that move. Whether this was such a key."""
        rows = self._rows()
        if not rows:
            return False
        start = self._selection.caret or Caret(rows[0].laid.row.line, 0)
        moved = keys_move(self._page, start, event, self._page_rows())
        if moved is None:
            return False
        self._selection.set(self._selection.anchor or start, moved)
        laid = self._page.laid(moved.line)
        if laid is not None:
            part = self._painter.screen_row_of(laid, min(moved.character, len(laid.row.text)))
            self._reveal(moved.line, part, margin=0)
        self._repaint()
        return True

    def _to_header(self, step: int) -> None:
        """Make the next tool call with a result the current one."""
        rows = self._rows()
        if not rows or self._sieve is not None:
            return
        shown = [placed.laid.row.line for placed in rows]
        start = self._current_header
        if start is None or not shown[0] <= start <= shown[-1]:
            start = shown[0] - 1 if step > 0 else shown[-1] + 1
        found = self._page.folds.neighbour(start, step)
        if found is not None:
            self._current_header, self._chosen = found, None
            self._reveal(found, 0)
            self._repaint()

    def _toggle_current(self) -> None:
        headers = [placed.laid.row.line for placed in self._rows() if placed.laid.row.folded is not None]
        if self._current_header not in headers:
            self._current_header = headers[0] if headers else None
        if self._current_header is not None:
            self._toggle(self._current_header)

    def say_no_link(self) -> None:
        """There is no link on the screen."""
        self.message.emit(self.tr("Nothing on this page names a file that is there, or an address."))

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
        if lines > AT_ONCE:
            self._copying.start(self._copy_all)
        elif lines and not self._selection.empty:
            self._take_copy(self._selection.copied())

    def _copy_all(self) -> None:
        self._copied.append(self._selection.copied(self._copying))

    def _take_copy(self, copied: Copied) -> None:
        QGuiApplication.clipboard().setText(copied.text)
        if not copied.complete:
            self.message.emit(
                self.tr(
                    "Copied the first {limit} of {lines} lines. Open the raw file to have all of it."
                ).format(limit=f"{copied.lines:,}", lines=f"{self._selection.lines():,}")
            )
