"""How and why a run ended, in words a person understands."""

from __future__ import annotations

from PySide6.QtCore import QRectF, Qt, Signal, Slot
from PySide6.QtGui import QAccessible, QPainter, QPaintEvent
from PySide6.QtWidgets import QHBoxLayout, QSizePolicy, QVBoxLayout, QWidget

from app.buttons import Button, ButtonLook
from app.flow_layout import FlowLayout
from app.labels import ElidedLabel, QuietLabel
from app.painting import paint_method
from app.plain_text import plain_tool_tip
from app.reading_text import ReadingText, harmless
from app.theme import font, paint_icon, theme
from core.events import RunStatus
from core.progress import RunProgress
from core.progress_words import cost_words
from core.run_duration import RunDuration, run_duration, run_duration_words
from core.turn_progress import TurnProgress

_ICON = 18
_LEFT = 12

_ICONS = {
    RunStatus.COMPLETED: "circle-check",
    RunStatus.ENDED: "circle-pause",
    RunStatus.STOPPED: "circle-stop",
    RunStatus.FAILED: "circle-alert",
}
_COLORS = {
    RunStatus.COMPLETED: "succeeded",
    RunStatus.ENDED: "other",
    RunStatus.STOPPED: "quiet",
    RunStatus.FAILED: "failed",
}


class RunBanner(QWidget):
    """The end of a run, and what to do next.

    Signals: `folder_requested()`; `failed_turn_requested(str)` with a turn's id; `run_again_requested()`;
    `conflicts_requested()`: the user wants to read what the agents did not agree about.
    """

    accessible_role = QAccessible.Role.AlertMessage

    folder_requested = Signal()
    failed_turn_requested = Signal(str)
    run_again_requested = Signal()
    conflicts_requested = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._status = RunStatus.COMPLETED
        self._failed = ""
        self._form: QWidget | None = None
        self._wish: bool | None = None
        """Whether the user wants it folded; None: nobody said so yet."""
        self._is_low = self._is_past = False
        self.title = ReadingText(self, bold=True, most_lines=4)
        self.title.setAccessibleName(self.tr("How the run ended"))
        self.short_title = ElidedLabel("", cut=Qt.TextElideMode.ElideRight, parent=self)
        self.short_title.setFont(font(bold=True))
        self.short_title.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self.fold_button = Button("", ButtonLook.FLAT, "chevron-down", self)
        self.fold_button.clicked.connect(self._turn_fold)
        self._body = QWidget(self)
        self.facts = QuietLabel("", self)
        self.facts.setFont(font(tabular=True))
        self.facts.setWordWrap(True)
        self.failed_button = Button(self.tr("Show failed agent"), ButtonLook.OUTLINED, "", self)
        self.again_button = Button(self.tr("Run again"), ButtonLook.OUTLINED, "rotate-ccw", self)
        self.folder_button = Button(self.tr("Open run folder"), ButtonLook.OUTLINED, "folder-open", self)
        self.conflicts_button = Button("", ButtonLook.LINK, "", self)
        self.details_button = Button(self.tr("Details"), ButtonLook.LINK, "", self)
        self.details_button.setCheckable(True)
        self.details = ReadingText(self, mono=True, most_lines=6)
        self.details.setAccessibleName(self.tr("Details of what failed"))
        self.details.hide()
        self._arrange()
        self._show_fold()
        self.failed_button.clicked.connect(self._show_failed)
        self.again_button.clicked.connect(self.run_again_requested)
        self.folder_button.clicked.connect(self.folder_requested)
        self.conflicts_button.clicked.connect(self.conflicts_requested)
        self.details_button.toggled.connect(self.details.setVisible)
        self.hide()

    def set_resume_form(self, form: QWidget) -> None:
        """What resumes the run, to be shown by `offer_resume`. The banner knows no more of it."""
        self._form = form
        form.hide()
        self._form_place.addWidget(form)
        # It was made later than the buttons below it; Tab comes to it first all the same.
        before: QWidget = self.fold_button
        for widget in form.findChildren(QWidget):
            # The list of a combo box is a window of its own.
            if widget.focusPolicy() != Qt.FocusPolicy.NoFocus and widget.window() is self.window():
                QWidget.setTabOrder(before, widget)
                before = widget

    def offer_resume(self, offered: bool) -> None:
        """Show or hide what resumes the run."""
        if self._form is not None:
            self._form.setVisible(offered)

    def offer_again(self, offered: bool) -> None:
        """Whether "Run again" would run the same workflow."""
        self.again_button.setVisible(offered)

    def _arrange(self) -> None:
        self._form_place = QVBoxLayout()
        buttons = FlowLayout()
        for button in (
            self.failed_button,
            self.again_button,
            self.folder_button,
            self.conflicts_button,
            self.details_button,
        ):
            buttons.addWidget(button)
        body = QVBoxLayout(self._body)
        body.setContentsMargins(0, 8, 0, 0)
        body.setSpacing(4)
        body.addLayout(self._form_place)
        body.addLayout(buttons)
        body.addWidget(self.details)
        words = QVBoxLayout()
        words.setSpacing(4)
        words.addWidget(self.title)
        words.addWidget(self.short_title)
        words.addWidget(self.facts)
        head = QHBoxLayout()
        head.setSpacing(8)
        head.addLayout(words, 1)
        head.addWidget(self.fold_button, 0, Qt.AlignmentFlag.AlignTop)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(_LEFT + _ICON + 10, 10, 12, 11)
        layout.setSpacing(0)
        layout.addLayout(head)
        layout.addWidget(self._body)

    # --- room ------------------------------------------------------------------------------------------

    @property
    def folded(self) -> bool:
        """Whether it shows in two lines how the run ended, and nothing else.

        So it begins for a run of the past where there is little room: one opens it to read in it. The end of
        a run that one has watched is shown in full. From then on as the user wants it.
        """
        return self._wish if self._wish is not None else self._is_low and self._is_past

    def set_low(self, is_low: bool) -> None:
        """Whether there is little room for what stands below it."""
        if is_low != self._is_low:
            self._is_low = is_low
            self._show_fold()

    @Slot()
    def _turn_fold(self) -> None:
        self._wish = not self.folded
        self._show_fold()

    def _show_fold(self) -> None:
        folded = self.folded
        self.title.setVisible(not folded)
        self.short_title.setVisible(folded)
        self._body.setVisible(not folded)
        self.fold_button.set_icon_name("chevron-right" if folded else "chevron-down")
        words = (
            self.tr("Show what can be done with this run") if folded else self.tr("Show only how it ended")
        )
        self.fold_button.setAccessibleName(words)
        self.fold_button.setToolTip(words)

    def show_end(
        self,
        progress: RunProgress,
        no_end: str = "",
        duration: RunDuration | None = None,
        *,
        is_past: bool = False,
    ) -> None:
        """Say how the run ended; hidden while it has not. `no_end`: why it has no end and none will come.
        `duration`: how long it took, where somebody knows. `is_past`: nobody has watched it here."""
        self._is_past = is_past
        self.offer_resume(False)
        if progress.status is None and not no_end:
            self.hide()
            return
        self._status = progress.status or RunStatus.STOPPED
        message = progress.message or no_end or self._default_message(self._status)
        self.title.setText(message)
        self.short_title.set_text(self.title.text().replace("\n", " "))
        self.setAccessibleName(self.title.text())
        self._show_fold()
        self.facts.setText(" · ".join(self._facts(progress, duration)))
        failed = progress.failed_turns
        self._failed = failed[-1].id if failed else ""
        self.failed_button.setVisible(bool(failed))
        if failed:
            self.failed_button.setToolTip(plain_tool_tip(harmless(failed[-1].title)))
        self._show_conflicts(len(progress.conflicts))
        details = _details(progress, failed)
        self.details.setText(details)
        self.details_button.setVisible(bool(details))
        self.details_button.setChecked(False)
        self.show()
        self.update()

    def _facts(self, progress: RunProgress, duration: RunDuration | None) -> list[str]:
        if duration is None:
            duration = run_duration(progress, progress.finished or progress.last_event or 0.0)
        facts = [run_duration_words(duration)]
        if progress.iteration:
            words = self.tr("{0} iteration") if progress.iteration == 1 else self.tr("{0} iterations")
            facts.append(words.format(f"{progress.iteration:,}"))
        failed = len(progress.failed_turns)
        if failed and progress.status is not RunStatus.FAILED:
            # The run came to its end all the same; that this went wrong would be read nowhere else.
            words = (
                self.tr("{0} agent failed on the way")
                if failed == 1
                else self.tr("{0} agents failed on the way")
            )
            facts.append(words.format(failed))
        spent = progress.spent
        if spent.usage.total_tokens:
            facts.append(self.tr("{0} tokens").format(f"{spent.usage.total_tokens:,}"))
        if cost_words(spent):
            facts.append(cost_words(spent))
        warnings = sum(note.warning for note in progress.notes)
        if warnings:
            words = self.tr("{0} warning") if warnings == 1 else self.tr("{0} warnings")
            facts.append(words.format(warnings))
        if progress.conflicts:
            count = len(progress.conflicts)
            words = self.tr("{0} conflict") if count == 1 else self.tr("{0} conflicts")
            facts.append(words.format(count))
        return facts

    def _show_conflicts(self, count: int) -> None:
        words = self.tr("Show the conflict") if count == 1 else self.tr("Show the conflicts")
        self.conflicts_button.setText(words)
        self.conflicts_button.setVisible(count > 0)

    def _default_message(self, status: RunStatus) -> str:
        return {
            RunStatus.COMPLETED: self.tr("The run is complete."),
            RunStatus.ENDED: self.tr("The run ended before it was complete."),
            RunStatus.STOPPED: self.tr("You stopped the run."),
            RunStatus.FAILED: self.tr("The run failed."),
        }[status]

    @Slot()
    def _show_failed(self) -> None:
        if self._failed:
            self.failed_turn_requested.emit(self._failed)

    @paint_method
    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802
        del event
        colors = theme()
        with QPainter(self) as painter:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.fillRect(self.rect(), colors.color("surface"))
            tone = colors.color(_COLORS[self._status])
            painter.fillRect(0, 0, 3, self.height(), tone)
            painter.fillRect(0, self.height() - 1, self.width(), 1, colors.color("line"))
            paint_icon(painter, _ICONS[self._status], QRectF(_LEFT, 10, _ICON, _ICON), tone)


def _details(progress: RunProgress, failed: list[TurnProgress]) -> str:
    """What is one click away: codes and raw messages."""
    parts: list[str] = []
    for turn in reversed(failed):
        lines = [f"{turn.title}: {turn.message}", *(text for text in (turn.reason, turn.detail) if text)]
        parts.append("\n".join(lines))
    warnings = [note.message for note in progress.notes if note.warning]
    if warnings:
        parts.append("\n".join(warnings))
    if parts and progress.termination_reason:
        parts.insert(0, progress.termination_reason)
    return "\n\n".join(parts)
