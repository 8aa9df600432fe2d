"""What is different between the text here and the file that another program wrote."""

from __future__ import annotations

import difflib
from collections.abc import Callable

from PySide6.QtCore import Qt
from PySide6.QtGui import QTextCharFormat, QTextCursor, QTextOption
from PySide6.QtWidgets import QDialog, QLabel, QPlainTextEdit, QVBoxLayout, QWidget

from app.buttons import Button, ButtonLook
from app.flow_layout import FlowLayout
from app.focus_line import FocusLine
from app.reading_text import harmless
from app.scroll_bar import use_thin_scroll_bars
from app.tab_order import ReadingOrder
from app.theme import font, mono_font, theme

_MOST_LINES = 4_000
"""Lines on either side that are compared; more would take seconds."""


def difference_lines(mine: str, theirs: str) -> list[str]:
    """What turns theirs into mine, as lines that begin with `+`, `-`, a space or `@`."""
    before, after = theirs.splitlines(), mine.splitlines()
    first = 0
    while first < min(len(before), len(after)) and before[first] == after[first]:
        first += 1
    last = 0
    while last < min(len(before), len(after)) - first and before[-1 - last] == after[-1 - last]:
        last += 1
    # Three lines around, as people know it; what is the same elsewhere costs no time.
    start = max(0, first - 3)
    one = before[start : len(before) - max(0, last - 3)]
    other = after[start : len(after) - max(0, last - 3)]
    if max(len(one), len(other)) > _MOST_LINES:
        return [*(f"-{line}" for line in one[:_MOST_LINES]), *(f"+{line}" for line in other[:_MOST_LINES])]
    found = list(difflib.unified_diff(one, other, n=3, lineterm=""))[2:]
    return [_moved(line, start) if line.startswith("@@") else line for line in found]


def _moved(head: str, by: int) -> str:
    """A head of a hunk with the numbers of the whole texts."""
    if not by:
        return head
    _, old, new, _ = head.split(" ")
    numbers = []
    for part in (old, new):
        at, comma, length = part[1:].partition(",")
        numbers.append(f"{part[0]}{int(at) + by}{comma}{length}")
    return f"@@ {' '.join(numbers)} @@"


class DifferenceDialog(ReadingOrder, QDialog):
    """Shows it, and lets the user decide. Deletes itself."""

    def __init__(
        self,
        name: str,
        mine: str,
        theirs: str,
        keep_mine: Callable[[], object],
        take_theirs: Callable[[], object],
        parent: QWidget,
    ) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowModality(Qt.WindowModality.WindowModal)
        self.setWindowTitle(self.tr("What is different in {0}").format(name))
        intro = QLabel(self.tr("− is in the file on disk, + is here."), self)
        intro.setWordWrap(True)
        intro.setFont(font())
        self.view = QPlainTextEdit(self)
        self.view.setReadOnly(True)
        self.view.setTabChangesFocus(True)
        self.view.setFont(mono_font())
        self.view.setWordWrapMode(QTextOption.WrapMode.WrapAnywhere)
        self.view.setAccessibleName(self.windowTitle())
        use_thin_scroll_bars(self.view)
        FocusLine(self.view)
        self._fill(difference_lines(mine, theirs))
        self.keep_button = Button(self.tr("Keep mine"), ButtonLook.OUTLINED, "", self)
        self.take_button = Button(self.tr("Take theirs"), ButtonLook.OUTLINED, "", self)
        self.close_button = Button(self.tr("Decide later"), ButtonLook.FILLED, "", self)
        for button, do in ((self.keep_button, keep_mine), (self.take_button, take_theirs)):
            button.clicked.connect(self.accept)
            button.clicked.connect(do)
        self.close_button.clicked.connect(self.reject)
        self.close_button.setDefault(True)
        row = FlowLayout()
        for button in (self.keep_button, self.take_button, self.close_button):
            row.addWidget(button)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(16, 16, 16, 16)
        layout.setSpacing(12)
        layout.addWidget(intro)
        layout.addWidget(self.view, 1)
        layout.addLayout(row)
        size = parent.window().size()
        self.resize(min(760, size.width() - 80), min(560, size.height() - 80))

    def _fill(self, lines: list[str]) -> None:
        if not lines:
            self.view.setPlainText(
                self.tr("Only the ends of lines are different, or nothing that can be seen.")
            )
            return
        colors = theme()
        cursor = QTextCursor(self.view.document())
        cursor.beginEditBlock()
        names = {"+": "succeeded", "-": "failed", "@": "quiet"}
        for number, line in enumerate(lines):
            form = QTextCharFormat()
            form.setForeground(colors.color(names.get(line[:1], "text")))
            sign = "−" if line.startswith("-") else line[:1]
            shown = line if sign == "@" else f"{sign} {harmless(line[1:])}"
            cursor.insertText(f"{chr(10) if number else ''}{shown}", form)
        cursor.endEditBlock()
        self.view.moveCursor(QTextCursor.MoveOperation.Start)
