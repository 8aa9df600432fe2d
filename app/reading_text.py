"""Text that others wrote, in a few lines of a panel: all of it can be seen, none of it can do anything."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QPalette, QResizeEvent, QTextOption
from PySide6.QtWidgets import QFrame, QPlainTextEdit, QSizePolicy, QWidget

from app.scroll_bar import use_thin_scroll_bars
from app.theme import font, mono_font
from core.visible_text import visible

_MOST = 20_000
"""Characters that are shown; the run folder has all of them."""


def harmless(text: str) -> str:
    """The text with everything in words that would steer, turn or hide it; cut where it has no end."""
    cut = text if len(text) <= _MOST else f"{text[:_MOST]}…"
    return visible(cut, keeps_lines=True)


class ReadingText(QPlainTextEdit):
    """As high as its text, up to `most_lines`; what is longer scrolls. Can be selected and copied.

    `setText` and `text` as of a label: `text` gives what is shown.
    """

    def __init__(
        self, parent: QWidget | None = None, *, bold: bool = False, mono: bool = False, most_lines: int = 5
    ) -> None:
        super().__init__(parent)
        self._most_lines = most_lines
        use_thin_scroll_bars(self, QPalette.ColorRole.Base)
        bar = self.verticalScrollBar()
        # It stands on whatever the text stands on.
        bar.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent, False)
        colors = bar.palette()
        colors.setColor(QPalette.ColorRole.Base, Qt.GlobalColor.transparent)
        bar.setPalette(colors)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setReadOnly(True)
        self.setTabChangesFocus(True)
        self.setFont(mono_font() if mono else font(bold=bold))
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.viewport().setAutoFillBackground(False)
        self.document().setDocumentMargin(0)
        option = self.document().defaultTextOption()
        option.setTextDirection(Qt.LayoutDirection.LeftToRight)
        self.document().setDefaultTextOption(option)
        # A word of a thousand letters must not make the window wider.
        self.setWordWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self._fit()

    def text(self) -> str:
        """What is shown."""
        return self.toPlainText()

    def setText(self, text: str) -> None:  # noqa: N802
        """Show this text, made harmless."""
        shown = harmless(text)
        if shown != self.toPlainText():
            self.setPlainText(shown)
            self._fit()

    @property
    def scrolls(self) -> bool:
        """Whether there is more than fits."""
        return self.verticalScrollBarPolicy() is Qt.ScrollBarPolicy.ScrollBarAlwaysOn

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            self._fit()

    def _fit(self) -> None:
        line = self.fontMetrics().lineSpacing()
        limit = self._most_lines * line + 1
        layout = self.document().documentLayout()
        height, block = 0.0, self.document().firstBlock()
        while block.isValid() and height <= limit:
            height += layout.blockBoundingRect(block).height()
            block = block.next()
        scrolls = height > limit
        # A scroll bar is there for good or not at all: one that comes and goes wraps the text anew each time.
        self.setVerticalScrollBarPolicy(
            Qt.ScrollBarPolicy.ScrollBarAlwaysOn if scrolls else Qt.ScrollBarPolicy.ScrollBarAlwaysOff
        )
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus if scrolls else Qt.FocusPolicy.ClickFocus)
        self.setFixedHeight(max(line, min(limit, int(height + 0.999))) + 2)
