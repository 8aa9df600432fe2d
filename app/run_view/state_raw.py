"""The state as JSON text, as agents get it; of a very large one its beginning."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QTextCursor, QTextDocument
from PySide6.QtWidgets import QFrame, QPlainTextEdit, QVBoxLayout, QWidget

from app.focus_line import FocusLine
from app.run_view.rest_bar import RestBar
from app.run_view.state_work import RawJson
from app.scroll_bar import use_thin_scroll_bars
from app.theme import mono_font
from core.words import say

_MARGIN = 12


class StateRaw(QWidget):
    """Read-only text; what it finds it selects."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.rest = RestBar(self.tr("All of the state as JSON"), self)
        self.text = QPlainTextEdit(self)
        use_thin_scroll_bars(self.text)
        FocusLine(self.text)
        self.text.setReadOnly(True)
        self.text.setFrameShape(QFrame.Shape.NoFrame)
        self.text.setFont(mono_font())
        self.text.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self.text.document().setDocumentMargin(_MARGIN)
        self.text.setAccessibleName(self.tr("State as JSON"))
        self.text.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        self.setFocusProxy(self.text)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.rest)
        column.addWidget(self.text, 1)

    def show_json(self, raw: RawJson) -> None:
        """Show this text, at the place where the last one was looked at."""
        place = self.text.verticalScrollBar().value()
        text = _short_lines(raw.text)
        self.text.setPlainText(text)
        self.text.verticalScrollBar().setValue(place)
        words = self.tr("Shown in part: {0}")
        if not raw.cut:
            words = self.tr("Long lines are cut: {0}") if text is not raw.text else ""
        self.rest.say(words.format(size_words(raw.size)))

    def find_text(self, needle: str, step: int) -> tuple[int | None, int]:
        """Select the next match (1), the previous (-1) or that at or after the cursor (0).

        Gives which one it is, counted from 0, and how many there are.
        """
        text = self.text.toPlainText().casefold()
        count = text.count(needle.casefold()) if needle else 0
        if not count:
            return None, 0
        cursor = self.text.textCursor()
        if step == 0:
            cursor.setPosition(cursor.selectionStart())
            self.text.setTextCursor(cursor)
        flags = QTextDocument.FindFlag.FindBackward if step < 0 else QTextDocument.FindFlag(0)
        if not self.text.find(needle, flags):
            end = QTextCursor.MoveOperation.End if step < 0 else QTextCursor.MoveOperation.Start
            cursor.movePosition(end)
            self.text.setTextCursor(cursor)
            if not self.text.find(needle, flags):
                return None, count
        start = self.text.textCursor().selectionStart()
        return text.count(needle.casefold(), 0, start), count


_LONGEST_LINE = 20_000
"""Characters; a longer line takes the text layout seconds."""


def _short_lines(text: str) -> str:
    if max(map(len, text.split("\n")), default=0) <= _LONGEST_LINE:
        return text
    return "\n".join(
        line if len(line) <= _LONGEST_LINE else f"{line[:_LONGEST_LINE]}…" for line in text.split("\n")
    )


def size_words(size: int) -> str:
    """Bytes for a reader: `812 bytes`, `12.3 kB`, `10.4 MB`."""
    if size < 1_000:
        return say("{count} bytes", count=size)
    return f"{size / 1e3:,.1f} kB" if size < 1e6 else f"{size / 1e6:,.1f} MB"
