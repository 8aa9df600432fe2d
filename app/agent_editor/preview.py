"""A prompt as people read it, rendered from Markdown."""

from __future__ import annotations

import re

from PySide6.QtCore import QUrl, Signal, Slot
from PySide6.QtGui import (
    QFont,
    QTextBlock,
    QTextBlockFormat,
    QTextCharFormat,
    QTextCursor,
    QTextDocument,
    QTextFormat,
    QTextOption,
)
from PySide6.QtWidgets import QWidget

from app.sealed_browser import SealedBrowser
from app.theme import font, mono_font, theme

LONGEST = 50_000
"""Characters that are rendered."""
_ENDLESS_WORD = re.compile(r"\S{2000}")
"""To find where to break one at all takes time that grows with its square."""
_LARGER = {1: 4, 2: 2, 3: 1}
"""Pixels that headings are larger than text, by their level."""


class PromptPreview(SealedBrowser):
    """Renders a prompt. It loads nothing.

    Signals: `web_link_clicked(str)`: a link to the web; others do nothing.
    """

    web_link_clicked = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAccessibleName(self.tr("Preview of the prompt"))
        self.document().setDocumentMargin(16)
        self.anchorClicked.connect(self._clicked)
        self._source: str | None = None

    def show_text(self, text: str) -> None:
        """Render a text, its beginning where it is long; where it was scrolled to stays."""
        if text == self._source:
            return
        self._source = text
        bar = self.verticalScrollBar()
        at = bar.value()
        shown = text
        if len(text) > LONGEST:
            end = self.tr("The preview ends here, after {0} characters.").format(f"{LONGEST:,}")
            shown = f"{text[:LONGEST]}…\n\n---\n\n*{end}*"
        modes = QTextOption.WrapMode
        endless = _ENDLESS_WORD.search(shown) is not None
        self.setWordWrapMode(modes.WrapAnywhere if endless else modes.WrapAtWordBoundaryOrAnywhere)
        document = self.document()
        document.setDefaultFont(font())
        # Without HTML: raw tags of a prompt are shown as they are written.
        document.setMarkdown(
            shown,
            QTextDocument.MarkdownFeature.MarkdownNoHTML
            | QTextDocument.MarkdownFeature.MarkdownDialectGitHub,
        )
        self._set_type()
        bar.setValue(at)

    def _set_type(self) -> None:
        """Calm headings, air between paragraphs, and code that looks like code."""
        colors = theme()
        cursor = QTextCursor(self.document())
        cursor.beginEditBlock()
        cursor.select(QTextCursor.SelectionType.Document)
        cursor.mergeBlockFormat(_margins(0, 6))
        block = self.document().begin()
        while block.isValid():
            form = block.blockFormat()
            if form.headingLevel():
                self._set_heading(block, form.headingLevel())
            elif form.hasProperty(QTextFormat.Property.BlockCodeFence):
                goes_on = block.next().blockFormat().hasProperty(QTextFormat.Property.BlockCodeFence)
                code = _margins(0, 0 if goes_on else 6)
                code.setBackground(colors.color("raised"))
                code.setLeftMargin(8)
                cursor.setPosition(block.position())
                cursor.mergeBlockFormat(code)
            block = block.next()
        self._set_code_type(cursor)
        cursor.endEditBlock()

    def _set_heading(self, block: QTextBlock, level: int) -> None:
        cursor = QTextCursor(block)
        cursor.mergeBlockFormat(_margins(10, 6))
        cursor.movePosition(QTextCursor.MoveOperation.EndOfBlock, QTextCursor.MoveMode.KeepAnchor)
        heading = QTextCharFormat()
        heading.setProperty(QTextFormat.Property.FontSizeAdjustment, 0)
        heading.setFontWeight(QFont.Weight.DemiBold)
        size = font(bold=True).pixelSize() + _LARGER.get(level, 0)
        heading.setProperty(QTextFormat.Property.FontPixelSize, size)
        cursor.mergeCharFormat(heading)

    def _set_code_type(self, cursor: QTextCursor) -> None:
        code = QTextCharFormat()
        code.setFontFamilies(mono_font().families())
        code.setProperty(QTextFormat.Property.FontPixelSize, mono_font().pixelSize())
        places: list[tuple[int, int]] = []
        block = self.document().begin()
        while block.isValid():
            fragments = block.begin()
            while not fragments.atEnd():
                fragment = fragments.fragment()
                if fragment.charFormat().fontFixedPitch():
                    places.append((fragment.position(), fragment.length()))
                fragments += 1
            block = block.next()
        for start, length in places:
            cursor.setPosition(start)
            cursor.setPosition(start + length, QTextCursor.MoveMode.KeepAnchor)
            cursor.mergeCharFormat(code)

    def follow_theme(self) -> None:
        """The colours are other ones now."""
        source, self._source = self._source, None
        if source is not None:
            self.show_text(source)

    @Slot(QUrl)
    def _clicked(self, url: QUrl) -> None:
        if url.scheme().lower() in ("http", "https"):
            self.web_link_clicked.emit(url.toDisplayString())


def _margins(top: int, bottom: int) -> QTextBlockFormat:
    form = QTextBlockFormat()
    form.setTopMargin(top)
    form.setBottomMargin(bottom)
    return form
