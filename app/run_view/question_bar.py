"""Questions of a run, in place: the turn waits for the answer, nothing else does."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QRectF, Qt, Signal
from PySide6.QtGui import QAccessible, QFocusEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QVBoxLayout, QWidget

from app.accessible import announce
from app.buttons import Button, ButtonLook
from app.flow_layout import FlowLayout
from app.labels import QuietLabel
from app.painting import paint_method
from app.plain_text import plain_tool_tip
from app.reading_text import ReadingText, harmless
from app.run_view.bar_paint import paint_bar
from app.settling import Settling
from app.theme import theme
from core.answer import Answer
from core.turn_progress import TurnProgress

_ICON = 16


class QuestionRow(QWidget):
    """What one turn asks, with the answers as buttons; of a run that is only watched here, with a sentence
    that says where it is answered."""

    accessible_role = QAccessible.Role.AlertMessage

    def __init__(self, turn: TurnProgress, parent: QuestionBar, elsewhere: str = "") -> None:
        super().__init__(parent)
        self.text = turn.question
        layout = QVBoxLayout(self)
        layout.setContentsMargins(12 + _ICON + 8, 12, 12, 10)
        layout.setSpacing(8)
        self.question = ReadingText(self, bold=True, most_lines=3)
        self.question.setText(turn.question)
        self.question.setAccessibleName(self.tr("Question"))
        self.setAccessibleName(self.question.text())
        layout.addWidget(self.question)
        self.buttons: dict[Answer, Button] = {}
        self.elsewhere = QuietLabel(elsewhere, self)
        self.elsewhere.setWordWrap(True)
        self.elsewhere.setVisible(bool(elsewhere))
        if elsewhere:
            layout.setSpacing(4)
            layout.addWidget(self.elsewhere)
        else:
            layout.addLayout(self._make_buttons(turn, parent))
        self._settling = Settling((self, parent), tuple(self.buttons.values()))

    def _make_buttons(self, turn: TurnProgress, parent: QuestionBar) -> FlowLayout:
        row = FlowLayout()
        for answer, text, tip in (
            (Answer.RETRY, self.tr("Try again"), self.tr("Start {0} again from the beginning.")),
            (Answer.CONTINUE, self.tr("Go on without it"), self.tr("The run goes on as if {0} had no news.")),
            (Answer.ABORT, self.tr("End the run"), self.tr("Everything that is finished is kept.")),
        ):
            button = Button(text, ButtonLook.OUTLINED, "", self)
            button.setToolTip(plain_tool_tip(harmless(tip.format(turn.label))))
            button.clicked.connect(lambda _=False, answer=answer: parent.answer(turn.id, answer))
            row.addWidget(button)
            self.buttons[answer] = button
        return row

    @property
    def takes_answers(self) -> bool:
        """Whether it has stood at its place long enough for a click to be meant for it."""
        return self._settling.settled

    @property
    def has_keys(self) -> bool:
        """Whether it or something in it has the focus."""
        focused = self.window().focusWidget()
        return focused is self or self.isAncestorOf(focused)

    def focusInEvent(self, event: QFocusEvent) -> None:  # noqa: N802
        super().focusInEvent(event)
        self.update()

    def focusOutEvent(self, event: QFocusEvent) -> None:  # noqa: N802
        super().focusOutEvent(event)
        self.update()

    @paint_method
    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802
        del event
        paint_bar(self, "circle-alert", "failed", QRectF(12, 12, _ICON, _ICON))
        if self.hasFocus():
            with QPainter(self) as painter:
                painter.setPen(QPen(theme().color("accent"), 2))
                painter.drawRect(self.rect().adjusted(1, 1, -1, -2))


class QuestionBar(QWidget):
    """All open questions, one row each.

    Signals: `answered(str, Answer)` with a turn's id.
    """

    answered = Signal(str, object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.rows: dict[str, QuestionRow] = {}
        self._elsewhere = ""
        self._layout = QVBoxLayout(self)
        self._layout.setContentsMargins(0, 0, 0, 0)
        self._layout.setSpacing(0)
        self.hide()

    def set_read_only(self, where: str) -> None:
        """Where questions are answered, as a sentence; empty: here. For the next run."""
        self._elsewhere = where

    def show_questions(self, turns: Sequence[TurnProgress]) -> None:
        """Show the questions of these turns; others were answered."""
        asked = {turn.id: turn for turn in turns}
        for turn_id, row in list(self.rows.items()):
            if turn_id not in asked or asked[turn_id].question != row.text:
                self._drop(turn_id)
        for turn_id, turn in asked.items():
            if turn_id not in self.rows:
                row = self.rows[turn_id] = QuestionRow(turn, self, self._elsewhere)
                self._layout.addWidget(row)
                row.show()
                announce(row, row.question.text(), urgent=True)
        self.setVisible(bool(self.rows))

    def answer(self, turn: str, answer: Answer) -> None:
        """The user decided. The row stays, switched off, until the run says that it goes on."""
        row = self.rows.get(turn)
        if row is not None:
            self._pass_keys_on(row)
            row.setEnabled(False)
            self.answered.emit(turn, answer)

    def _pass_keys_on(self, row: QuestionRow) -> None:
        """Have the next question get the focus of this one, and not an answer to it, as Qt would have it."""
        if not row.has_keys:
            return
        rows = list(self.rows.values())
        at = rows.index(row)
        following = next((each for each in rows[at + 1 :] + rows[:at] if each.isEnabled()), None)
        if following is not None:
            following.setFocus(Qt.FocusReason.OtherFocusReason)

    def _drop(self, turn: str) -> None:
        self._pass_keys_on(self.rows[turn])
        row = self.rows.pop(turn)
        self._layout.removeWidget(row)
        row.hide()
        row.deleteLater()
