"""The row of the initial payload: a small editor of JSON that says what is wrong, and where."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, Qt, QTimer, Signal, Slot
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
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPlainTextEdit, QTextEdit, QVBoxLayout, QWidget

from app.builder import words
from app.buttons import Button, ButtonLook
from app.fields import paint_frame
from app.first_paint import after_first_paint
from app.form_rows import Row
from app.outline import Unfinished
from app.scroll_bar import use_thin_scroll_bars
from app.theme import GRID, is_appearance_event, mono_font, theme
from core.payload_text import PayloadText, read_payload, write_payload

if TYPE_CHECKING:
    from core.json_types import JsonObject

AT_ONCE = 20_000
"""Characters of a text that is read with every letter; a longer one is read when nothing more is typed."""
PAUSE_MS = 300
_LEAST_LINES, _MOST_LINES = 3, 14
_LONG_LINE = 20_000
"""Characters of a line that cannot be wrapped at words without seconds of waiting."""
_PADDING = 8
_INDENT = 2


@dataclass(frozen=True, slots=True)
class PayloadState:
    """What the document has: the payload, and a text that is to replace it and cannot be read yet."""

    payload: JsonObject
    unfinished: Unfinished | None = None


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
        is_long = len(text) > _LONG_LINE and any(len(line) > _LONG_LINE for line in text.split("\n"))
        self.setWordWrapMode(modes.WrapAnywhere if is_long else modes.WrapAtWordBoundaryOrAnywhere)

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


class _Framed(QWidget):
    """The text with a frame as fields have it: a scroll area paints only inside of its own."""

    def __init__(self, edit: JsonEdit, parent: QWidget) -> None:
        super().__init__(parent)
        self.setFocusProxy(edit)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(2, 2, 2, 2)
        layout.addWidget(edit)
        edit.focus_changed.connect(self.update)

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802
        del event
        paint_frame(self)


class PayloadRow(Row):
    """A payload as text. `edited(PayloadText)` comes with every edit, also with one that cannot be read: then
    with `payload` None.

    A long text is read after a pause, and when somebody leaves it or begins a command.
    """

    def __init__(self, label: str, parent: QWidget) -> None:
        self.edit = JsonEdit(parent)
        super().__init__(label, self.edit, parent)
        self.place = QWidget(parent)
        self.format_button = Button(self.tr("Format"), ButtonLook.LINK, "", self.place)
        self.format_button.setToolTip(self.tr("Write it with one value a line and even indents"))
        self.format_button.setAccessibleName(self.tr("Format the payload"))
        below = QHBoxLayout()
        below.addWidget(self.format_button)
        below.addStretch(1)
        layout = QVBoxLayout(self.place)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(GRID)
        layout.addWidget(_Framed(self.edit, self.place))
        layout.addLayout(below)
        self._shown: PayloadState | None = None
        """What the text says; None: nothing was shown yet."""
        self._waits = False
        """Something was typed that has not been read."""
        self._is_setting = False
        self._placeholder: Callable[[], str] = str
        self._pause = QTimer(self)
        self._pause.setSingleShot(True)
        self._pause.setInterval(PAUSE_MS)
        self._pause.timeout.connect(self.read_now)
        self.edit.textChanged.connect(self._typed)
        self.edit.left.connect(self._leave)
        self.edit.command_begun.connect(self.read_now)
        self.format_button.clicked.connect(self._format)

    def placeholder(self, text: Callable[[], str]) -> None:
        """What an empty text shows, asked anew at every refresh."""
        self._placeholder = text

    def refresh_note(self) -> None:
        super().refresh_note()
        self.edit.setPlaceholderText(self._placeholder())

    def show_value(self, value: object) -> None:
        if not isinstance(value, PayloadState) or self._waits or self._says(value):
            return
        self._shown = value
        # What writes JSON is not needed for the first paint of the window.
        after_first_paint(self._show)

    def _show(self) -> None:
        value = self._shown
        if value is None:
            return
        unfinished = value.unfinished
        self._set_text(unfinished.text if unfinished is not None else write_payload(value.payload))
        self._tell(read_payload(unfinished.text) if unfinished is not None else None)

    def _says(self, value: PayloadState) -> bool:
        """Whether the text is about that already; then it stays as it was typed."""
        shown = self._shown
        if shown is None or shown.unfinished != value.unfinished:
            return False
        if shown.payload is value.payload or not (shown.payload or value.payload):
            return True
        # Not needed for the first paint of the window.
        from core.merge import same_json

        return same_json(shown.payload, value.payload)

    def _set_text(self, text: str) -> None:
        self._is_setting = True
        self.edit.set_text(text)
        self._is_setting = False

    # --- typing ----------------------------------------------------------------------------------------

    @Slot()
    def _typed(self) -> None:
        if self._is_setting:
            return
        self._waits = True
        if self.edit.document().characterCount() <= AT_ONCE:
            self.read_now()
        else:
            self._pause.start()

    @Slot()
    def read_now(self) -> None:
        """Read what was typed last, where that waits."""
        if self._waits:
            self._pause.stop()
            self._accept(read_payload(self.edit.toPlainText()))

    def _accept(self, read: PayloadText) -> None:
        self._waits = False
        self._tell(read)
        if read.payload is not None:
            self._shown = PayloadState(read.payload)
        elif self._shown is not None:
            self._shown = replace(self._shown, unfinished=Unfinished(read.text, mistake_in_words(read)))
        self.edited.emit(read)

    @Slot()
    def _leave(self) -> None:
        self.read_now()
        self.finished.emit()

    @Slot()
    def _format(self) -> None:
        self.read_now()
        read = read_payload(self.edit.toPlainText())
        if read.payload is not None:
            self._set_text(write_payload(read.payload))

    # --- what is wrong ---------------------------------------------------------------------------------

    def _tell(self, read: PayloadText | None) -> None:
        """Say what is wrong with the text, and mark its place; None: nothing is."""
        line = column = None
        text = ""
        if read is not None and read.payload is None:
            line, column = read.line, read.column
            text = mistake_in_words(read)
        self.show_error(text)
        self.edit.mark(line, column)
        self.format_button.setEnabled(not text)


def mistake_in_words(read: PayloadText) -> str:
    """What is wrong with a payload's text, with its place."""
    if read.line is None:
        return read.mistake
    return words.tr("Line {0}, column {1}: {2}").format(read.line, read.column or 1, read.mistake)


def _is_undo(event: QKeyEvent) -> bool:
    keys = QKeySequence.StandardKey
    return event.matches(keys.Undo) or event.matches(keys.Redo)
