"""What is selected in the history: one run with all that can be done with it, or several in sum."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QSize, Qt, Slot
from PySide6.QtGui import QAction, QPalette
from PySide6.QtWidgets import QLabel, QScrollArea, QVBoxLayout, QWidget

from app.buttons import Button, ButtonLook
from app.flow_layout import FlowLayout
from app.labels import Line, QuietLabel
from app.reading_text import ReadingText, harmless
from app.runs.entry import Outcome, RunEntry
from app.runs.possible_list import PossibleList
from app.runs.resume_form import ResumeForm
from app.runs.run_actions import RunActions
from app.runs.words import (
    age_words,
    all_agents_words,
    came_to_words,
    moment_words,
    runs_words,
    sum_words,
    title_words,
)
from app.scroll_bar import use_thin_scroll_bars
from app.theme import TextSize, font


class ActionButton(Button):
    """A button for an action: its tool tip, and whether it can be pressed, are the action's. `text`: its own
    words; empty: only an icon.
    """

    def __init__(self, action: QAction, text: str, icon_name: str, parent: QWidget) -> None:
        super().__init__(text, ButtonLook.OUTLINED, icon_name, parent)
        self._action = action
        action.changed.connect(self._follow)
        self._follow()

    @Slot()
    def _follow(self) -> None:
        self.setEnabled(self._action.isEnabled())
        self.setToolTip(self._action.toolTip())
        self.setAccessibleName(self._action.text().replace("&", ""))
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
        self.form.set_compact(True)
        self.more_button = Button("", ButtonLook.LINK, "", body)
        self.more_button.clicked.connect(self._toggle_limits)
        self._all_limits = False
        self.buttons = QWidget(body)
        flow = FlowLayout(self.buttons)
        self.open_button = ActionButton(actions.open, self.tr("Open"), "", self.buttons)
        self.compare_button = ActionButton(actions.compare, self.tr("Compare"), "git-compare", self.buttons)
        self.export_button = ActionButton(actions.export_html, self.tr("Export"), "file-down", self.buttons)
        self.folder_button = ActionButton(actions.folder, "", "folder-open", self.buttons)
        self.delete_button = ActionButton(actions.delete, "", "trash-2", self.buttons)
        self.export_button.set_drop_down(actions.export_menu(self))
        for pressed, action in (
            (self.open_button, actions.open),
            (self.compare_button, actions.compare),
            (self.folder_button, actions.folder),
            (self.delete_button, actions.delete),
        ):
            pressed.clicked.connect(action.trigger)
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
        column.setContentsMargins(12, 12, 12, 12)
        column.setSpacing(6)
        column.addWidget(self.title)
        column.addWidget(self.facts)
        column.addWidget(self.message)
        column.addSpacing(4)
        column.addWidget(self.buttons)
        self.possible = PossibleList(actions, body)
        column.addWidget(self.possible)
        column.addSpacing(8)
        column.addWidget(self.form)
        column.addWidget(self.more_button, 0, Qt.AlignmentFlag.AlignLeft)
        column.addWidget(self.about)
        column.addStretch(1)
        self._scroll.setWidget(body)
        self.nothing = QuietLabel("", self)
        self.nothing.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.nothing.setWordWrap(True)
        self.nothing.setMargin(24)
        foot = self._foot = QWidget(self)
        row = QVBoxLayout(foot)
        row.setContentsMargins(12, 8, 12, 8)
        row.addWidget(self.form.bottom)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self._scroll, 1)
        layout.addWidget(self.nothing, 1)
        self._line = Line(self)
        layout.addWidget(self._line)
        layout.addWidget(foot)
        self.show_run(None, 0.0)

    def sizeHint(self) -> QSize:  # noqa: N802
        return QSize(440, 240)

    def show_run(self, entry: RunEntry | None, now: float) -> None:
        """Show this run; None: nothing."""
        self._show_body(entry is not None)
        self.possible.hide()
        self.form.show_run(entry)
        resumable = entry is not None and entry.resumable
        self._foot.setVisible(resumable)
        self._line.setVisible(resumable)
        if entry is None:
            return
        self.title.setText(harmless(title_words(entry)))
        self.open_button.setText(self.tr("Go to the run") if entry.here else self.tr("Open"))
        self.show_facts(entry, now)
        self.facts.setVisible(not entry.problem)
        message = entry.message or entry.problem
        # Of a run that is complete there is nothing left to do: no obstacle to speak of.
        if entry.obstacle and entry.outcome is not Outcome.COMPLETED and entry.obstacle not in message:
            message = f"{message}\n{entry.obstacle}"
        self.message.setText(message)
        self.message.setVisible(bool(message))
        self.form.setVisible(entry.resumable)
        self.about.setText(
            self.tr(
                "The run goes on with the workflow as it was then (workflow.json in its folder). "
                "The workflow that is open here stays as it is."
            )
        )
        self.more_button.setVisible(entry.resumable)
        self._show_limits()
        self.open_button.set_look(ButtonLook.OUTLINED if entry.resumable else ButtonLook.FILLED)

    def offer_choice(self, possible: bool) -> None:
        """Whether there is a run to select: else nothing is asked for."""
        words = self.tr("Select a run to see what it came to and what can be done with it.")
        self.nothing.setText(words if possible else "")

    def _show_body(self, shown: bool) -> None:
        """What there is to say about runs, or that none is selected."""
        self._body.setVisible(shown)
        self._scroll.setVisible(shown)
        self.nothing.setVisible(not shown)

    def show_facts(self, entry: RunEntry, now: float) -> None:
        """What changes of a run while it goes on."""
        began = self.tr("began {0}").format(moment_words(entry.started)) if entry.started else ""
        lines = (
            (came_to_words(entry),),
            (began, age_words(entry.started, now)),
            (all_agents_words(entry),),
        )
        texts = (" · ".join(fact for fact in line if fact) for line in lines)
        self.facts.setText(harmless("\n".join(text for text in texts if text)))

    # --- what may be changed ---------------------------------------------------------------------------

    @Slot()
    def _toggle_limits(self) -> None:
        self._all_limits = not self._all_limits
        self.form.set_compact(not self._all_limits)
        self._show_limits()

    def _show_limits(self) -> None:
        more = self.tr("Change more limits") if self.form.shown_fields() else self.tr("Change its limits")
        self.more_button.setText(self.tr("Fewer limits") if self._all_limits else more)
        self.more_button.updateGeometry()
        self.about.setVisible(self.form.isVisibleTo(self._body) and self._all_limits)

    def go_to_form(self) -> None:
        """To the first field that may be changed; all are offered where none has to be."""
        if not self.form.shown_fields():
            self._toggle_limits()
        self.form.first_field.setFocus(Qt.FocusReason.TabFocusReason)
        self._scroll.ensureWidgetVisible(self.form.first_field)

    def show_several(self, entries: Sequence[RunEntry]) -> None:
        """Show what several runs come to."""
        self.show_run(None, 0.0)
        self._show_body(True)
        self.title.setText(self.tr("{0} selected").format(runs_words(len(entries))))
        self.show_sum(entries)
        self.facts.show()
        for part in (self.message, self.form, self.more_button, self.about):
            part.hide()
        self.open_button.set_look(ButtonLook.OUTLINED)
        self.possible.show()

    def show_sum(self, entries: Sequence[RunEntry]) -> None:
        """What changes of several runs while one of them goes on."""
        self.facts.setText(harmless(sum_words(entries)))


def _text(parent: QWidget, *, bold: bool = False) -> QLabel:
    """Text that others may have written: never markup, and it can be copied."""
    label = QLabel(parent)
    label.setTextFormat(Qt.TextFormat.PlainText)
    label.setFont(font(TextSize.TITLE, bold=True) if bold else font(tabular=True))
    label.setWordWrap(True)
    label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
    return label
