"""The rendered text of one agent. It may come from anywhere, so it can load nothing and open nothing."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QFont, QPainter, QPaintEvent, QPalette
from PySide6.QtWidgets import QLabel, QVBoxLayout, QWidget

from app.field_text import duration
from app.first_paint import after_first_paint
from app.painting import paint_method
from app.theme import TextSize, font, theme
from core.problems import Problem

if TYPE_CHECKING:
    from core.agent import AgentDefinition

LONGEST = 20_000
"""Characters of a prompt that are rendered; the whole is in the editor."""


def _breakable(text: str) -> str:
    """Text that a narrow label can break anywhere sensible: long names have no spaces."""
    return re.sub(r"(\S{14}|[_/.-](?=\S))(?=\S)", "\\1\u200b", text) if len(text) > _SURELY_FITS else text


_SURELY_FITS = 22
"""Characters that fit the narrowest preview."""


class AgentPreview(QWidget):
    """Name, role and powers of an agent, and its prompt below."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.title = QLabel(self)
        self.title.setTextFormat(Qt.TextFormat.PlainText)
        self.title.setFont(font(bold=True))
        self.title.setWordWrap(True)
        self.title.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.summary = QLabel(self)
        self.summary.setTextFormat(Qt.TextFormat.PlainText)
        self.summary.setWordWrap(True)
        self.summary.setFont(font(TextSize.SMALL))
        self.summary.setForegroundRole(QPalette.ColorRole.PlaceholderText)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(12, 12, 8, 8)
        layout.setSpacing(4)
        layout.addWidget(self.title)
        layout.addWidget(self.summary)
        self.setAutoFillBackground(True)
        self.setBackgroundRole(QPalette.ColorRole.Base)
        # The first paint has no agent to show.
        after_first_paint(self._add_text)

    def _add_text(self) -> None:
        from app.sealed_browser import SealedBrowser

        self.text = SealedBrowser(self)
        self.text.setAccessibleName(self.tr("What the agent is told"))
        layout = self.layout()
        assert isinstance(layout, QVBoxLayout)
        layout.addWidget(self.text, 1)
        self.show_agent(None)

    def sizeHint(self) -> QSize:  # noqa: N802
        return QSize(224, 196)

    def show_agent(self, shown: AgentDefinition | Problem | None) -> None:
        """Show an agent, what is wrong with a file, or nothing."""
        if shown is None:
            self.title.setText("")
            self.summary.setText(self.tr("Choose an agent to see what it is told."))
            self.text.clear()
            return
        if isinstance(shown, Problem):
            self.title.setText(shown.file.name if shown.file else "")
            self.summary.setText(shown.message)
            # What the summary does not say yet.
            where = Problem("", shown.place, "", file=shown.file, line=shown.line, column=shown.column)
            rest = (shown.suggestion, where.text())
            self.text.setPlainText("\n\n".join(part for part in rest if part))
            return
        self.title.setText(_breakable(shown.name))
        powers = (
            self.tr("may complete the loop") if shown.may_complete else self.tr("cannot complete the loop")
        )
        parts = [shown.role, shown.backend or "", shown.model or "", powers]
        if shown.timeout:
            parts.append(duration(shown.timeout))
        self.summary.setText(_breakable(" · ".join(part for part in parts if part)))
        source = shown.prompt[:LONGEST]
        if shown.description:
            source = f"{shown.description}\n\n{source}"
        # Qt's classes of texts take a while to come, and the first paint has no agent to show.
        from PySide6.QtGui import QTextDocument

        document = self.text.document()
        document.setDefaultFont(font(TextSize.SMALL))
        # Without HTML: raw tags of an agent's file are shown as they are written.
        document.setMarkdown(
            source,
            QTextDocument.MarkdownFeature.MarkdownNoHTML
            | QTextDocument.MarkdownFeature.MarkdownDialectGitHub,
        )
        self._calm_headings()

    def _calm_headings(self) -> None:
        """Headings as bold text: in a narrow column, levels as large letters only cost room."""
        from PySide6.QtGui import QTextBlockFormat, QTextCharFormat, QTextCursor, QTextFormat

        block = self.text.document().begin()
        cursor = QTextCursor(self.text.document())
        while block.isValid():
            if block.blockFormat().headingLevel() > 0:
                cursor.setPosition(block.position())
                cursor.movePosition(QTextCursor.MoveOperation.EndOfBlock, QTextCursor.MoveMode.KeepAnchor)
                heading = QTextCharFormat()
                heading.setProperty(QTextFormat.Property.FontSizeAdjustment, 0)
                heading.setFontWeight(QFont.Weight.DemiBold)
                cursor.mergeCharFormat(heading)
            space = QTextBlockFormat()
            space.setBottomMargin(4)
            cursor.setPosition(block.position())
            cursor.mergeBlockFormat(space)
            block = block.next()
        self.text.moveCursor(QTextCursor.MoveOperation.Start)

    @paint_method
    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802
        super().paintEvent(event)
        with QPainter(self) as painter:
            painter.fillRect(0, 0, self.width(), 1, theme().color("line"))
