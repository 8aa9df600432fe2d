"""A view of rendered text that may come from anywhere: it loads nothing and opens nothing by itself."""

from __future__ import annotations

from PySide6.QtCore import QUrl
from PySide6.QtGui import QPalette
from PySide6.QtWidgets import QFrame, QTextBrowser, QWidget

from app.focus_line import FocusLine
from app.scroll_bar import use_thin_scroll_bars


class SealedBrowser(QTextBrowser):
    """Rendered Markdown that loads no image, style or file, whatever the text asks for."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setOpenLinks(False)
        self.setOpenExternalLinks(False)
        self.setFrameShape(QFrame.Shape.NoFrame)
        use_thin_scroll_bars(self, QPalette.ColorRole.Base)
        FocusLine(self)
        self.document().setDocumentMargin(0)

    def loadResource(self, type: int, name: QUrl | str) -> object:  # noqa: N802
        """Nothing, always."""
        del type, name
        return ""
