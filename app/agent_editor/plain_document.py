"""A text document of plain text that gives back what it was given, and changes only where texts differ."""

from __future__ import annotations

from PySide6.QtCore import QObject, Qt
from PySide6.QtGui import QTextCursor, QTextDocument, QTextOption
from PySide6.QtWidgets import QPlainTextDocumentLayout

from app.theme import mono_font

LONG_LINE = 20_000
"""Characters of a line that cannot be wrapped at words without seconds of waiting."""

_MARGIN = 8


class _LineLayout(QPlainTextDocumentLayout):
    """Lays out the lines that changed. Qt's own takes a change for as long as what was there before and what
    is there now together, and so lays out the next lines as well, of which one may be endless."""

    def documentChanged(self, start: int, removed: int, added: int) -> None:  # noqa: N802
        super().documentChanged(start, 0 if added else min(removed, 1), added)


class PlainDocument(QTextDocument):
    """For a QPlainTextEdit. Its text has plain line feeds."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._layout = _LineLayout(self)
        self.setDocumentLayout(self._layout)
        # Now, while there is nothing to lay out; later the margin would be a step of undo, too.
        self.setDocumentMargin(_MARGIN)
        self.setDefaultFont(mono_font(1))
        option = self.defaultTextOption()
        option.setTextDirection(Qt.LayoutDirection.LeftToRight)
        option.setWrapMode(QTextOption.WrapMode.WrapAnywhere)
        self.setDefaultTextOption(option)
        self._shown: tuple[int, str] | None = None

    def shown(self) -> str:
        """The text. Not `toPlainText`, which makes usual spaces of those that do not break."""
        revision = self.revision()
        if self._shown is None or self._shown[0] != revision:
            self._shown = (revision, self.toRawText().replace("\u2029", "\n"))
        return self._shown[1]

    def become(self, text: str) -> None:
        """Have another text, as one edit of what is between the first and the last difference."""
        before = self.shown()
        if text == before:
            return
        first = _common(before, text)
        last = _common(before[first:][::-1], text[first:][::-1])
        cursor = QTextCursor(self)
        cursor.beginEditBlock()
        cursor.setPosition(_units(before[:first]))
        cursor.setPosition(_units(before[: len(before) - last]), QTextCursor.MoveMode.KeepAnchor)
        cursor.insertText(text[first : len(text) - last])
        cursor.endEditBlock()

    def position_of_line(self, line: int) -> int:
        """Where a line begins; lines count from 1, and the nearest there is is meant."""
        return self.findBlockByNumber(max(0, min(line, self.blockCount()) - 1)).position()

    def has_long_line(self) -> bool:
        """Whether a line is too long to be wrapped at words."""
        return any(len(line) > LONG_LINE for line in self.shown().split("\n"))


def _common(one: str, other: str) -> int:
    """How many characters two texts have in common at their beginning."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _units(text: str) -> int:
    """The length of a text as Qt counts: a character beyond the first 65,536 is two."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2
