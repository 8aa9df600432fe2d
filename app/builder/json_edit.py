"""Some lines of JSON in a form: as high as they need, with the place of a mistake marked."""

from __future__ import annotations

from PySide6.QtCore import QEvent, Qt, Signal, Slot
from PySide6.QtGui import (
    QFocusEvent,
    QKeyEvent,
    QKeySequence,
    QPaintEvent,
    QPalette,
    QResizeEvent,
    QTextCharFormat,
    QTextCursor,
    QTextOption,
    QWheelEvent,
)
from PySide6.QtWidgets import QFrame, QPlainTextEdit, QTextEdit, QVBoxLayout, QWidget

from app.fields import paint_frame
from app.painting import paint_method
from app.scroll_bar import use_thin_scroll_bars
from app.theme import is_appearance_event, mono_font, theme

LONG_LINE = 20_000
"""Characters of a line that cannot be wrapped at words without seconds of waiting."""
_LEAST_LINES, _MOST_LINES = 2, 14
_PADDING = 8
_INDENT = 2


class JsonEdit(QPlainTextEdit):
    """Some lines of JSON, as high as they need. Undo and redo are the window's; Tab leaves.

    Signals: `focus_changed()`; `left()` when the focus goes elsewhere; `command_begun()` before a key with
    Ctrl is anybody's.
    """

    focus_changed = Signal()
    left = Signal()
    command_begun = Signal()

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._marked: tuple[int | None, int | None] = (None, None)
        self.setUndoRedoEnabled(False)
        self.setTabChangesFocus(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        use_thin_scroll_bars(self, QPalette.ColorRole.Base)
        self.setFont(mono_font())
        self.document().setDocumentMargin(0)
        self.setViewportMargins(_PADDING, 4, 4, 4)
        self.setCursorWidth(2)
        self.blockCountChanged.connect(self.fit)
        self.fit()

    @property
    def text(self) -> str:
        """The text. Not `toPlainText`, which makes usual spaces of those that do not break."""
        return self.document().toRawText().replace("\u2029", "\n")

    def set_text(self, text: str) -> None:
        """Have another text, with the cursor and the view where they were as far as that can be."""
        at, scrolled = self.textCursor().position(), self.verticalScrollBar().value()
        self._wrap(text)
        self.setPlainText(text)
        cursor = self.textCursor()
        cursor.setPosition(min(at, self.document().characterCount() - 1))
        self.setTextCursor(cursor)
        self.verticalScrollBar().setValue(scrolled)
        self.fit()

    def _wrap(self, text: str) -> None:
        modes = QTextOption.WrapMode
        self.setWordWrapMode(
            modes.WrapAnywhere if has_long_line(text) else modes.WrapAtWordBoundaryOrAnywhere
        )

    def mark(self, line: int | None, column: int | None) -> None:
        """Underline the place of a mistake; None: there is none."""
        self._marked = (line, column)
        marks = []
        block = self.document().findBlockByNumber(line - 1) if line is not None else None
        if block is not None and block.isValid():
            mark = QTextEdit.ExtraSelection()
            mark.cursor = QTextCursor(block)
            at = min((column or 1) - 1, max(0, block.length() - 2))
            mark.cursor.setPosition(block.position() + at)
            mark.cursor.movePosition(QTextCursor.MoveOperation.Right, QTextCursor.MoveMode.KeepAnchor)
            form = QTextCharFormat()
            form.setUnderlineStyle(QTextCharFormat.UnderlineStyle.WaveUnderline)
            form.setUnderlineColor(theme().color("failed"))
            mark.format = form
            marks.append(mark)
        self.setExtraSelections(marks)

    @Slot()
    def fit(self) -> None:
        """As high as its lines, within limits; wrapped lines count."""
        most, height = _MOST_LINES, 0
        block = self.document().firstBlock()
        while block.isValid() and height < most:
            height += max(1, block.layout().lineCount())
            block = block.next()
        lines = max(_LEAST_LINES, min(height, most))
        self.setFixedHeight(lines * self.fontMetrics().lineSpacing() + 10)

    def event(self, event: QEvent) -> bool:
        """Undo and redo are asked for elsewhere; what was typed last is told before keys with Ctrl."""
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.ShortcutOverride:
            if event.modifiers() & Qt.KeyboardModifier.ControlModifier:
                self.command_begun.emit()
            if _is_undo(event):
                event.ignore()
                return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802
        if _is_undo(event):
            event.ignore()
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and not self.isReadOnly():
            self._new_line()
        else:
            super().keyPressEvent(event)

    def _new_line(self) -> None:
        """Go on below the line, further in behind a bracket."""
        cursor = self.textCursor()
        before = cursor.block().text()[: cursor.positionInBlock()]
        indent = len(before) - len(before.lstrip(" "))
        if before.rstrip().endswith(("{", "[")):
            indent += _INDENT
        cursor.insertText("\n" + " " * indent)
        self.setTextCursor(cursor)
        self.ensureCursorVisible()

    def wheelEvent(self, event: QWheelEvent) -> None:  # noqa: N802
        """The wheel scrolls the page, unless the text has the focus and more than is seen; it never zooms."""
        bar = self.verticalScrollBar()
        if self.hasFocus() and bar.maximum() > bar.minimum() and not event.modifiers():
            super().wheelEvent(event)
        else:
            event.ignore()

    def focusInEvent(self, event: QFocusEvent) -> None:  # noqa: N802
        super().focusInEvent(event)
        self.focus_changed.emit()

    def focusOutEvent(self, event: QFocusEvent) -> None:  # noqa: N802
        super().focusOutEvent(event)
        self.focus_changed.emit()
        if event.reason() is not Qt.FocusReason.PopupFocusReason:
            self.left.emit()

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            self.fit()

    def changeEvent(self, event: QEvent) -> None:  # noqa: N802
        super().changeEvent(event)
        if is_appearance_event(event) and hasattr(self, "_marked"):
            self.mark(*self._marked)
            self.fit()


class FramedEdit(QWidget):
    """The text with a frame as fields have it: a scroll area paints only inside of its own."""

    def __init__(self, edit: JsonEdit, parent: QWidget) -> None:
        super().__init__(parent)
        self.setFocusProxy(edit)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(2, 2, 2, 2)
        layout.addWidget(edit)
        edit.focus_changed.connect(self.update)

    @paint_method
    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802
        del event
        paint_frame(self)


def has_long_line(text: str) -> bool:
    """Whether a line is too long to be wrapped at words without seconds of waiting."""
    return len(text) > LONG_LINE and max(map(len, text.split("\n"))) > LONG_LINE


def _is_undo(event: QKeyEvent) -> bool:
    keys = QKeySequence.StandardKey
    return event.matches(keys.Undo) or event.matches(keys.Redo)
