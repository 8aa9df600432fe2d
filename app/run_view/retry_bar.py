"""The question whether work that was paid for is thrown away, in place: nothing waits for the answer."""

from __future__ import annotations

from PySide6.QtCore import QRectF, Qt, Signal, Slot
from PySide6.QtGui import QAccessible, QKeyEvent, QPaintEvent
from PySide6.QtWidgets import QVBoxLayout, QWidget

from app.accessible import announce
from app.buttons import Button, ButtonLook
from app.flow_layout import FlowLayout
from app.painting import paint_method
from app.reading_text import ReadingText
from app.run_view.bar_paint import paint_bar
from core.events import TurnStatus
from core.progress import RunProgress
from core.progress_words import cost_words
from core.turn_progress import TurnProgress

_ICON = 16


class RetryBar(QWidget):
    """Asks before a running agent that has used tokens is ended and tried again. Escape and Enter say no.

    Signals: `confirmed(str)` with a turn's id.
    """

    accessible_role = QAccessible.Role.AlertMessage

    confirmed = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._turn = ""
        self.text = ReadingText(self, bold=True, most_lines=3)
        self.text.setAccessibleName(self.tr("Question"))
        self.keep_button = _EnterButton(self.tr("Let it work"), ButtonLook.OUTLINED, "", self)
        self.again_button = Button(self.tr("End it and try again"), ButtonLook.OUTLINED, "rotate-ccw", self)
        self.keep_button.clicked.connect(self.dismiss)
        self.again_button.clicked.connect(self._confirm)
        buttons = FlowLayout()
        buttons.addWidget(self.keep_button)
        buttons.addWidget(self.again_button)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(12 + _ICON + 8, 12, 12, 10)
        layout.setSpacing(8)
        layout.addWidget(self.text)
        layout.addLayout(buttons)
        self.hide()

    def ask(self, turn: TurnProgress) -> None:
        """Ask about this turn."""
        self._turn = turn.id
        tokens = self.tr("{0} tokens").format(f"{turn.spent.usage.total_tokens:,}")
        cost = cost_words(turn.spent)
        used = self.tr("{0} ({1})").format(tokens, cost) if cost else tokens
        words = self.tr("Try {0} again? It has used {1}, and begins from the start.").format(turn.title, used)
        self.text.setText(words)
        self.setAccessibleName(self.text.text())
        self.show()
        announce(self, self.text.text(), urgent=True)
        self.keep_button.setFocus(Qt.FocusReason.OtherFocusReason)

    def show_run(self, progress: RunProgress) -> None:
        """Where the turn is at work no more there is nothing to ask."""
        turn = progress.turns.get(self._turn)
        if self._turn and (turn is None or turn.status is not TurnStatus.RUNNING or not progress.running):
            self.dismiss()

    @Slot()
    def dismiss(self) -> None:
        """No."""
        self._turn = ""
        self.hide()

    @Slot()
    def _confirm(self) -> None:
        turn = self._turn
        self.dismiss()
        if turn:
            self.confirmed.emit(turn)

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802
        if event.key() == Qt.Key.Key_Escape:
            self.dismiss()
        else:
            super().keyPressEvent(event)

    @paint_method
    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802
        del event
        paint_bar(self, "rotate-ccw", "accent", QRectF(12, 12, _ICON, _ICON))


class _EnterButton(Button):
    """The answer that Enter gives."""

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.click()
        else:
            super().keyPressEvent(event)
