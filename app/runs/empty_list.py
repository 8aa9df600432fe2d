"""What stands where runs would be listed: why there are none, and the way to those that are hidden."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from app.buttons import Button, ButtonLook
from app.labels import QuietLabel
from app.runs.words import runs_words


class EmptyList(QWidget):
    """A sentence in the middle; where a search or a filter hides all runs, a button that shows them.

    Signals: `all_requested()`: search and filters shall go.
    """

    all_requested = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.words = QuietLabel("", self)
        self.words.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.words.setWordWrap(True)
        self.all_button = Button("", ButtonLook.OUTLINED, "", self)
        self.all_button.clicked.connect(self.all_requested)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(40, 16, 40, 16)
        layout.setSpacing(12)
        layout.addStretch(1)
        layout.addWidget(self.words)
        layout.addWidget(self.all_button, 0, Qt.AlignmentFlag.AlignHCenter)
        layout.addStretch(1)

    def say(self, text: str, hidden: int) -> None:
        """Say this. `hidden`: how many runs there are all the same."""
        self.words.setText(text)
        words = self.tr("Show it") if hidden == 1 else self.tr("Show all {0}").format(runs_words(hidden))
        self.all_button.setText(words)
        self.all_button.setVisible(hidden > 0)
