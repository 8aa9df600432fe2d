"""Where only the beginning of a text is shown: says so, and gives the ways to all of it."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QSizePolicy, QWidget

from app.buttons import Button, ButtonLook
from app.flow_layout import FlowLayout
from app.labels import QuietLabel
from app.theme import GRID

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
        self.copy_button = Button(self.tr("Copy all"), ButtonLook.LINK, "", self)
        self.save_button = Button(self.tr("Save all…"), ButtonLook.LINK, "", self)
        self.open_button = Button(self.tr("Open in the editor"), ButtonLook.LINK, "", self)
        flow = FlowLayout(self, gap=GRID * 2)
        flow.setContentsMargins(_MARGIN, 4, _MARGIN, 4)
        flow.addWidget(self.words)
        for button, signal in (
            (self.open_button, self.open_requested),
            (self.copy_button, self.copy_requested),
            (self.save_button, self.save_requested),
        ):
            button.setAccessibleDescription(what)
            button.clicked.connect(signal)
            flow.addWidget(button)
        policy = QSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Maximum)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)
        self.hide()

    def say(self, words: str) -> None:
        """Say what is not shown; empty: all is."""
        self.words.setText(words)
        self.setVisible(bool(words))
