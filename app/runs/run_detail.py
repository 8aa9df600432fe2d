"""What is selected in the history: one run with all that can be done with it, or several in sum."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QSize, Qt, Slot
from PySide6.QtGui import QAction, QPalette
from PySide6.QtWidgets import QLabel, QScrollArea, QVBoxLayout, QWidget

from app.buttons import Button, ButtonLook
from app.flow_layout import FlowLayout
from app.labels import Line
from app.reading_text import ReadingText, harmless
from app.runs.entry import RunEntry
from app.runs.resume_form import ResumeForm
from app.runs.run_actions import RunActions
from app.runs.words import (
    age_words,
    agents_words,
    came_to_words,
    moment_words,
    runs_words,
    sum_words,
    title_words,
)
from app.scroll_bar import use_thin_scroll_bars
from app.theme import TextSize, font

COMPLETE = "It is complete."
"""What `core.recorded_run` says of a run that has nothing left to do: no obstacle to speak of."""


class ActionButton(Button):
    """A button for an action: its words, its tool tip, and whether it can be pressed, are the action's."""

    def __init__(self, action: QAction, icon_name: str, parent: QWidget) -> None:
        super().__init__("", ButtonLook.OUTLINED, icon_name, parent)
        self._action = action
        action.changed.connect(self._follow)
        self.clicked.connect(action.trigger)
        self._follow()

    @Slot()
    def _follow(self) -> None:
        words = self._action.text()
        if words != self.text():
            self.setText(words)
            self.updateGeometry()
        self.setEnabled(self._action.isEnabled())
        self.setToolTip(self._action.toolTip())
        self.setAccessibleDescription(self._action.statusTip())


class RunDetail(QWidget):
    """One run: what it was, how it ended, and with what it may go on. The button never scrolls away."""

    def __init__(self, actions: RunActions, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._scroll = QScrollArea(self)
        self._scroll.setWidgetResizable(True)
        self._scroll.setFrameShape(QScrollArea.Shape.NoFrame)
        self._scroll.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        use_thin_scroll_bars(self._scroll, QPalette.ColorRole.Base)
        body = self._body = QWidget()
        body.setBackgroundRole(QPalette.ColorRole.Base)
        body.setAutoFillBackground(True)
        self.title = _text(body, bold=True)
        self.facts = _text(body)
        self.facts.setForegroundRole(QPalette.ColorRole.PlaceholderText)
        self.message = ReadingText(body, most_lines=8)
        self.message.setAccessibleName(self.tr("How it ended"))
        self.about = _text(body)
        self.about.setForegroundRole(QPalette.ColorRole.PlaceholderText)
        self.form = ResumeForm(body)
        self.buttons = QWidget(body)
        flow = FlowLayout(self.buttons)
        self.open_button = ActionButton(actions.open, "", self.buttons)
        self.compare_button = ActionButton(actions.compare, "git-compare", self.buttons)
        self.export_button = ActionButton(actions.export_html, "file-down", self.buttons)
        self.folder_button = ActionButton(actions.folder, "folder-open", self.buttons)
        self.delete_button = ActionButton(actions.delete, "trash-2", self.buttons)
        for button in (
            self.open_button,
            self.compare_button,
            self.export_button,
            self.folder_button,
            self.delete_button,
        ):
            flow.addWidget(button)
        policy = self.buttons.sizePolicy()
        policy.setHeightForWidth(True)
        self.buttons.setSizePolicy(policy)
        column = QVBoxLayout(body)
        column.setContentsMargins(20, 14, 20, 12)
        column.setSpacing(6)
        column.addWidget(self.title)
        column.addWidget(self.facts)
        column.addWidget(self.message)
        column.addSpacing(4)
        column.addWidget(self.buttons)
        column.addSpacing(8)
        column.addWidget(self.form)
        column.addWidget(self.about)
        column.addStretch(1)
        self._scroll.setWidget(body)
        foot = self._foot = QWidget(self)
        row = QVBoxLayout(foot)
        row.setContentsMargins(20, 8, 20, 10)
        row.addWidget(self.form.bottom)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self._scroll, 1)
        self._line = Line(self)
        layout.addWidget(self._line)
        layout.addWidget(foot)
        self.show_run(None, 0.0)

    def sizeHint(self) -> QSize:  # noqa: N802
        return QSize(440, 380)

    def show_run(self, entry: RunEntry | None, now: float) -> None:
        """Show this run; None: nothing."""
        self._body.setVisible(entry is not None)
        self.form.show_run(entry)
        resumable = entry is not None and entry.resumable
        self._foot.setVisible(resumable)
        self._line.setVisible(resumable)
        if entry is None:
            return
        self.title.setText(harmless(title_words(entry)))
        began = self.tr("began {0}").format(moment_words(entry.started)) if entry.started else ""
        facts = (began, age_words(entry.started, now), came_to_words(entry), agents_words(entry))
        self.facts.setText(harmless(" · ".join(fact for fact in facts if fact)))
        self.facts.setVisible(not entry.problem)
        message = entry.message or entry.problem
        if entry.obstacle and entry.obstacle != COMPLETE:
            message = f"{message}\n{entry.obstacle}" if message != entry.obstacle else message
        self.message.setText(message)
        self.message.setVisible(bool(message))
        self.form.setVisible(entry.resumable)
        self.about.setText(
            self.tr(
                "The run goes on with the workflow as it was then (workflow.json in its folder). "
                "The workflow that is open here stays as it is."
            )
        )
        self.about.setVisible(entry.resumable)
        self.open_button.set_look(ButtonLook.OUTLINED if entry.resumable else ButtonLook.FILLED)

    def show_several(self, entries: Sequence[RunEntry]) -> None:
        """Show what several runs come to."""
        self.show_run(None, 0.0)
        self._body.show()
        self.title.setText(self.tr("{0} selected").format(runs_words(len(entries))))
        self.facts.setText(harmless(sum_words(entries)))
        self.facts.show()
        for part in (self.message, self.form, self.about):
            part.hide()
        self.open_button.set_look(ButtonLook.OUTLINED)


def _text(parent: QWidget, *, bold: bool = False) -> QLabel:
    """Text that others may have written: never markup, and it can be copied."""
    label = QLabel(parent)
    label.setTextFormat(Qt.TextFormat.PlainText)
    label.setFont(font(TextSize.TITLE, bold=True) if bold else font(tabular=True))
    label.setWordWrap(True)
    label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
    return label
