"""Where only the beginning of a text is shown: says so, and gives the ways to all of it."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QSizePolicy, QVBoxLayout, QWidget

from app.buttons import Button, ButtonLook
from app.flow_layout import FlowLayout
from app.labels import QuietLabel

_MARGIN = 12


class RestBar(QWidget):
    """Hidden while everything is shown.

    Signals: `copy_requested()`, `save_requested()`, `open_requested()`: all of the text.
    """

    copy_requested = Signal()
    save_requested = Signal()
    open_requested = Signal()

    def __init__(self, what: str, parent: QWidget | None = None) -> None:
        """`what`: of what there is more, for names that are read aloud."""
        super().__init__(parent)
        self.words = QuietLabel("", self)
        self.words.setTextFormat(Qt.TextFormat.PlainText)
        self.words.setWordWrap(True)
        self.copy_button = Button(self.tr("Copy all"), ButtonLook.LINK, "", self)
        self.save_button = Button(self.tr("Save all…"), ButtonLook.LINK, "", self)
        self.open_button = Button(self.tr("Open in the editor"), ButtonLook.LINK, "", self)
        flow = FlowLayout()
        for button, signal in (
            (self.open_button, self.open_requested),
            (self.copy_button, self.copy_requested),
            (self.save_button, self.save_requested),
        ):
            button.setAccessibleDescription(what)
            button.clicked.connect(signal)
            flow.addWidget(button)
        column = QVBoxLayout(self)
        column.setContentsMargins(_MARGIN, 4, _MARGIN, 4)
        column.setSpacing(4)
        column.addWidget(self.words)
        column.addLayout(flow)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Maximum)
        self.hide()

    def say(self, words: str) -> None:
        """Say what is not shown; empty: all is."""
        self.words.setText(words)
        self.setVisible(bool(words))
