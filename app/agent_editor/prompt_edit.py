"""The editor of a prompt: plain text that knows Markdown's lists, with undo that is the draft's."""

from __future__ import annotations

import re
from collections.abc import Sequence

from PySide6.QtCore import QEvent, QMimeData, QRect, Qt, Signal, Slot
from PySide6.QtGui import (
    QColor,
    QContextMenuEvent,
    QFocusEvent,
    QFont,
    QKeyEvent,
    QKeySequence,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPalette,
    QResizeEvent,
    QTextCharFormat,
    QTextCursor,
    QTextOption,
    QWheelEvent,
)
from PySide6.QtWidgets import QFrame, QMenu, QPlainTextEdit, QTextEdit, QWidget

from app.agent_editor.highlighter import AgentHighlighter
from app.agent_editor.plain_document import LONG_LINE, PlainDocument
from app.focus_line import FocusLine
from app.painting import paint_method
from app.scroll_bar import use_thin_scroll_bars
from app.theme import font, is_appearance_event, mono_font, theme

_LIST = re.compile(r"(\s*)(?:([-*+])|(\d{1,9})([.)]))(\s+)(\[[ xX]\]\s+)?")
_INDENT = 2
_LEFT = 8
"""Pixels at the left of a text without numbers of lines."""
_MODIFIERS = (Qt.Key.Key_Shift, Qt.Key.Key_Control, Qt.Key.Key_Alt, Qt.Key.Key_Meta)


class PromptEdit(QPlainTextEdit):
    """Edits a `PlainDocument`, wrapped. Escape leaves it, as Tab indents.

    Signals: `undo_requested()`, `redo_requested()`: its document must not do it alone; `find_requested()`;
    `left()`: Escape was pressed, and Tab is to go on from here.
    """

    undo_requested = Signal()
    redo_requested = Signal()
    find_requested = Signal()
    left = Signal()

    def __init__(self, parent: QWidget | None = None, *, whole: bool = False) -> None:
        super().__init__(parent)
        self._whole = whole
        self._highlighter: AgentHighlighter | None = None
        self._nothing = PlainDocument(self)
        self._found: Sequence[QTextCursor] = ()
        self._problem_lines: Sequence[int] = ()
        use_thin_scroll_bars(self, QPalette.ColorRole.Base)
        FocusLine(self)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setCursorWidth(2)
        self._gutter = _Gutter(self) if whole else None
        self.textChanged.connect(self._color_view)
        self.updateRequest.connect(self._came_into_view)
        self.cursorPositionChanged.connect(self._show_marks)
        self._use_fonts()

    def _use_fonts(self) -> None:
        self.setFont(mono_font(1))
        self.setTabStopDistance(4 * self.fontMetrics().horizontalAdvance(" "))
        self._fit_gutter()

    def show_document(self, document: PlainDocument | None) -> None:
        """Edit this document from now on; None: none, as before one dies that is shown."""
        old = self.document()
        if isinstance(old, PlainDocument) and old is not self._nothing:
            old.blockCountChanged.disconnect(self._fit_gutter)
            old.contentsChange.disconnect(self._look_for_long_lines)
        if self._highlighter is not None:
            self._highlighter.deleteLater()
            self._highlighter = None
        self._found = ()
        # Neither the old nor the new text may be laid out in the other's way.
        self.setDocument(self._nothing)
        if document is not None:
            modes = QTextOption.WrapMode
            long = document.has_long_line()
            self.setWordWrapMode(modes.WrapAnywhere if long else modes.WrapAtWordBoundaryOrAnywhere)
            self.setDocument(document)
            self._highlighter = AgentHighlighter(document, has_matter=self._whole)
            document.blockCountChanged.connect(self._fit_gutter)
            document.contentsChange.connect(self._look_for_long_lines)
        self._show_marks()
        self._fit_gutter()

    @Slot(int, int, int)
    def _look_for_long_lines(self, at: int, removed: int, added: int) -> None:
        """A pasted line that is too long to be wrapped at words must not stop the window for seconds."""
        del removed
        if added > LONG_LINE and self.wordWrapMode() is not QTextOption.WrapMode.WrapAnywhere:
            block = self.document().findBlock(at)
            while block.isValid() and block.position() <= at + added:
                if block.length() > LONG_LINE:
                    self.setWordWrapMode(QTextOption.WrapMode.WrapAnywhere)
                    return
                block = block.next()

    # --- keys ------------------------------------------------------------------------------------------

    def event(self, event: QEvent) -> bool:
        """Undo, redo and find are asked for elsewhere, whoever else has these keys."""
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.ShortcutOverride:
            keys = QKeySequence.StandardKey
            if any(event.matches(key) for key in (keys.Undo, keys.Redo, keys.Find)):
                event.accept()
                return True
        return super().event(event)

    def focusInEvent(self, event: QFocusEvent) -> None:  # noqa: N802
        super().focusInEvent(event)
        reasons = Qt.FocusReason
        # Who only passes by must not be held: Tab is the text's once anything else was pressed.
        self.setTabChangesFocus(event.reason() in (reasons.TabFocusReason, reasons.BacktabFocusReason))

    def mousePressEvent(self, event: QMouseEvent) -> None:  # noqa: N802
        self.setTabChangesFocus(False)
        super().mousePressEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802
        if event.key() not in _MODIFIERS:
            self.setTabChangesFocus(False)
        keys = QKeySequence.StandardKey
        if event.matches(keys.Undo):
            self.undo_requested.emit()
        elif event.matches(keys.Redo):
            self.redo_requested.emit()
        elif event.matches(keys.Find):
            self.find_requested.emit()
        elif event.key() == Qt.Key.Key_Escape:
            self.left.emit()
        elif self.isReadOnly():
            super().keyPressEvent(event)
        elif event.key() == Qt.Key.Key_Tab and event.modifiers() == Qt.KeyboardModifier.NoModifier:
            self._indent(1)
        elif event.key() == Qt.Key.Key_Backtab:
            self._indent(-1)
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and not event.modifiers():
            self._new_line()
        elif event.matches(keys.InsertLineSeparator):
            # A sign of its own that looks like a new line and is none for anybody else.
            self.textCursor().insertBlock()
        else:
            super().keyPressEvent(event)

    def _indent(self, direction: int) -> None:
        """Tab in a selection or list moves whole lines; elsewhere it puts spaces in."""
        cursor = self.textCursor()
        in_list = _LIST.match(cursor.block().text()) is not None
        if direction > 0 and not cursor.hasSelection() and not in_list:
            cursor.insertText(" " * (_INDENT - cursor.positionInBlock() % _INDENT))
            return
        first, last = cursor.selectionStart(), cursor.selectionEnd()
        document = self.document()
        block = document.findBlock(first)
        edit = QTextCursor(document)
        edit.beginEditBlock()
        while block.isValid() and block.position() <= last:
            if block.position() == last and last > first:
                break
            edit.setPosition(block.position())
            if direction > 0:
                if block.text().strip() or first == last:
                    edit.insertText(" " * _INDENT)
            else:
                text = block.text()
                width = min(_INDENT, len(text) - len(text.lstrip(" "))) or int(text.startswith("\t"))
                edit.movePosition(QTextCursor.MoveOperation.Right, QTextCursor.MoveMode.KeepAnchor, width)
                edit.removeSelectedText()
            block = block.next()
        edit.endEditBlock()

    def _new_line(self) -> None:
        """Enter goes on with a list; in an item without text it ends the list."""
        cursor = self.textCursor()
        line = cursor.block().text()
        before = line[: cursor.positionInBlock()]
        item = _LIST.match(line)
        cursor.beginEditBlock()
        if item is None or cursor.hasSelection() or len(before) < item.end():
            indent = before[: len(before) - len(before.lstrip(" "))]
            cursor.insertText(f"\n{indent}")
        elif not line[item.end() :].strip():
            cursor.movePosition(QTextCursor.MoveOperation.StartOfBlock)
            cursor.movePosition(QTextCursor.MoveOperation.EndOfBlock, QTextCursor.MoveMode.KeepAnchor)
            cursor.removeSelectedText()
        else:
            mark = item[2] or f"{int(item[3]) + 1}{item[4]}"
            cursor.insertText(f"\n{item[1]}{mark}{item[5]}{'[ ] ' if item[6] else ''}")
        cursor.endEditBlock()
        self.setTextCursor(cursor)
        self.ensureCursorVisible()

    def insertFromMimeData(self, source: QMimeData) -> None:  # noqa: N802
        """Only text, as plain text."""
        if source.hasText():
            self.textCursor().insertText(source.text())
            self.ensureCursorVisible()

    def createMimeDataFromSelection(self) -> QMimeData:  # noqa: N802
        """The selected text with its own spaces: Qt would make usual ones of those that do not break."""
        data = QMimeData()
        data.setText(self.textCursor().selectedText().replace("\u2029", "\n"))
        return data

    def wheelEvent(self, event: QWheelEvent) -> None:  # noqa: N802
        """Never zooms: its text has the size of all texts."""
        if event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            event.ignore()
        else:
            super().wheelEvent(event)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:  # noqa: N802
        menu = self.createStandardContextMenu()
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._redirect_undo(menu)
        menu.popup(event.globalPos())

    def _redirect_undo(self, menu: QMenu) -> None:
        """Those of Qt's own menu would undo behind the draft's back."""
        signals = {"edit-undo": self.undo_requested, "edit-redo": self.redo_requested}
        for action in menu.actions():
            if action.objectName() in signals:
                action.triggered.disconnect()
                action.triggered.connect(signals[action.objectName()])
                action.setEnabled(not self.isReadOnly())

    # --- what is marked --------------------------------------------------------------------------------

    def set_found(self, found: Sequence[QTextCursor]) -> None:
        """Mark what was looked for."""
        self._found = found
        self._show_marks()

    def set_problem_lines(self, lines: Sequence[int]) -> None:
        """Mark lines with problems; they count from 1."""
        if lines != self._problem_lines:
            self._problem_lines = lines
            self._show_marks()

    @Slot()
    def _show_marks(self) -> None:
        colors = theme()
        marks = []
        for line in self._problem_lines:
            block = self.document().findBlockByNumber(line - 1)
            if block.isValid():
                marks.append(_underlined(QTextCursor(block), colors.color("failed")))
        current = self.textCursor()
        for cursor in self._found:
            mark = QTextEdit.ExtraSelection()
            mark.cursor = cursor
            form = QTextCharFormat()
            form.setBackground(colors.color("accent_soft"))
            if cursor.selectionStart() == current.selectionStart() and current.hasSelection():
                form.setFontUnderline(True)
            mark.format = form
            marks.append(mark)
        self.setExtraSelections(marks)

    def go_to(self, line: int, column: int | None = None) -> None:
        """Put the cursor at a place, in the middle of the view; both count from 1."""
        block = self.document().findBlockByNumber(max(0, min(line, self.blockCount()) - 1))
        cursor = QTextCursor(block)
        if column is not None:
            cursor.setPosition(block.position() + min(column - 1, block.length() - 1))
        self.setTextCursor(cursor)
        self.centerCursor()
        self.setFocus(Qt.FocusReason.OtherFocusReason)

    # --- colours ---------------------------------------------------------------------------------------

    @Slot(QRect, int)
    def _came_into_view(self, area: QRect, by: int) -> None:
        self._color_view()
        if self._gutter is not None:
            if by:
                self._gutter.scroll(0, by)
            else:
                self._gutter.update(0, area.y(), self._gutter.width(), area.height())

    def _color_view(self) -> None:
        if self._highlighter is not None:
            first = self.firstVisibleBlock()
            last, bottom = first, self.viewport().height()
            top = self.blockBoundingGeometry(first).translated(self.contentOffset()).top()
            while last.isValid() and top < bottom:
                top += self.blockBoundingRect(last).height()
                if not last.next().isValid():
                    break
                last = last.next()
            self._highlighter.color_lines(first.blockNumber(), last.blockNumber())

    def changeEvent(self, event: QEvent) -> None:  # noqa: N802
        super().changeEvent(event)
        if is_appearance_event(event) and hasattr(self, "_found") and self._highlighter is not None:
            self._highlighter.follow_theme()
            self._color_view()
            self._show_marks()

    # --- numbers of lines ------------------------------------------------------------------------------

    @Slot()
    def _fit_gutter(self) -> None:
        left = _LEFT if self._gutter is None else self._gutter.needed_width()
        self.setViewportMargins(left, 0, 0, 0)
        self._place_gutter()

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        super().resizeEvent(event)
        self._place_gutter()

    def _place_gutter(self) -> None:
        if self._gutter is not None:
            area = self.contentsRect()
            self._gutter.setGeometry(area.left(), area.top(), self._gutter.needed_width(), area.height())

    def paint_gutter(self, painter: QPainter, area: QRect, width: int) -> None:
        """Paint the numbers of the lines in this area."""
        colors = theme()
        painter.fillRect(area, colors.color("surface"))
        painter.setFont(self._number_font())
        painter.setPen(colors.color("quiet"))
        block = self.firstVisibleBlock()
        top = self.blockBoundingGeometry(block).translated(self.contentOffset()).top()
        while block.isValid() and top <= area.bottom():
            height = self.blockBoundingRect(block).height()
            if top + height >= area.top():
                line = self.fontMetrics().height()
                box = QRect(0, round(top), width - 8, line)
                number = block.blockNumber() + 1
                broken = number in self._problem_lines
                painter.setPen(colors.color("failed" if broken else "quiet"))
                painter.drawText(
                    box, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, str(number)
                )
            top += height
            block = block.next()

    def _number_font(self) -> QFont:
        return font(tabular=True)


def _underlined(cursor: QTextCursor, color: QColor) -> QTextEdit.ExtraSelection:
    cursor.movePosition(QTextCursor.MoveOperation.EndOfBlock, QTextCursor.MoveMode.KeepAnchor)
    mark = QTextEdit.ExtraSelection()
    form = QTextCharFormat()
    form.setUnderlineStyle(QTextCharFormat.UnderlineStyle.WaveUnderline)
    form.setUnderlineColor(color)
    mark.cursor = cursor
    mark.format = form
    return mark


class _Gutter(QWidget):
    """The numbers of the lines, at the left of the text."""

    def __init__(self, edit: PromptEdit) -> None:
        super().__init__(edit)
        self._edit = edit

    def needed_width(self) -> int:
        digits = max(2, len(str(self._edit.blockCount())))
        return 12 + self._edit.fontMetrics().horizontalAdvance("9") * digits + 8

    @paint_method
    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802
        with QPainter(self) as painter:
            self._edit.paint_gutter(painter, event.rect(), self.width())
