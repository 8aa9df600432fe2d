"""A run that waits as a whole: why, and the two ways on."""

from __future__ import annotations

from PySide6.QtCore import QRectF, Qt, Signal, Slot
from PySide6.QtGui import QAccessible, QPaintEvent
from PySide6.QtWidgets import QLabel, QVBoxLayout, QWidget

from app.accessible import announce
from app.buttons import Button, ButtonLook
from app.flow_layout import FlowLayout
from app.labels import QuietLabel
from app.painting import paint_method
from app.plain_text import plain_tool_tip
from app.reading_text import ReadingText
from app.run_view.bar_paint import paint_bar
from app.theme import font
from core.progress import RunProgress

_ICON = 18
_LEFT = 12


class PauseBar(QWidget):
    """Shown while a run is paused.

    Signals: `resume_requested()`, `stop_requested()`.
    """

    accessible_role = QAccessible.Role.AlertMessage

    resume_requested = Signal()
    stop_requested = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._why = ""
        self._read_only = self._where = ""
        self.title = _plain(QLabel(self))
        self.title.setFont(font(bold=True))
        self.why = ReadingText(self, most_lines=4)
        self.why.setAccessibleName(self.tr("Why the run is paused"))
        self.advice = QuietLabel("", self)
        self.advice.setWordWrap(True)
        self.resume_button = Button(self.tr("Resume"), ButtonLook.OUTLINED, "play", self)
        self.stop_button = Button(self.tr("Stop"), ButtonLook.OUTLINED, "square", self)
        self.resume_button.clicked.connect(self._resume)
        self.stop_button.clicked.connect(self._stop)
        buttons = FlowLayout()
        buttons.addWidget(self.resume_button)
        buttons.addWidget(self.stop_button)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(_LEFT + _ICON + 10, 10, 12, 11)
        layout.setSpacing(4)
        layout.addWidget(self.title)
        layout.addWidget(self.why)
        layout.addWidget(self.advice)
        layout.addSpacing(4)
        layout.addLayout(buttons)
        self.set_read_only("")
        self.hide()

    def set_read_only(self, why: str, where: str = "") -> None:
        """Why nothing can be ordered here, as the end of a sentence, and where it can, as a sentence; empty:
        here. For the next run."""
        self._read_only, self._where = why, where
        self._why = ""
        resume = self.tr("Go on: what failed is tried again, and what waits may begin")
        stop = self.tr("End the run; what is finished is kept, and it can go on later")
        if why:
            resume = stop = self.tr("Not here: {0}.").format(why)
        self.resume_button.setToolTip(plain_tool_tip(resume))
        self.stop_button.setToolTip(plain_tool_tip(stop))

    def show_run(self, progress: RunProgress) -> None:
        """Show why the run waits, if it does."""
        if not progress.paused or not progress.running:
            self.hide()
            self._why = ""
            return
        words = self.tr("The run is paused: nothing new starts until you resume it.")
        if self._read_only:
            words = self.tr("The run is paused: nothing new starts until it is resumed there.")
        at_work = len(progress.turns_at_work)
        if at_work:
            words = (
                self.tr("The run is paused: nothing new starts; 1 agent at work may finish.")
                if at_work == 1
                else self.tr("The run is paused: nothing new starts; {0} agents at work may finish.").format(
                    at_work
                )
            )
        self.title.setText(words)
        self.setAccessibleName(words)
        if progress.paused != self._why:
            self._why = progress.paused
            self.why.setText(progress.paused)
            advice = self.tr(
                "Every agent of this provider would fail alike. Put it right (log in, wait, or raise the "
                "limit there), then resume."
            )
            self.advice.setText(f"{advice} {self._where}".strip())
            for button in (self.resume_button, self.stop_button):
                button.setEnabled(not self._read_only)
                # Where it is decided is said in the line above.
                button.setVisible(not self._where)
            announce(self, f"{words} {self.why.text()}", urgent=True)
        if progress.stopping is not None:
            self._switch_off()
        self.show()

    @Slot()
    def _resume(self) -> None:
        self._switch_off()
        self.resume_requested.emit()

    @Slot()
    def _stop(self) -> None:
        self._switch_off()
        self.stop_requested.emit()

    def _switch_off(self) -> None:
        """Heard; the bar goes when the run says so."""
        for button in (self.resume_button, self.stop_button):
            button.setEnabled(False)

    @paint_method
    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802
        del event
        paint_bar(self, "circle-pause", "failed", QRectF(_LEFT, 10, _ICON, _ICON))


def _plain(label: QLabel) -> QLabel:
    label.setTextFormat(Qt.TextFormat.PlainText)
    label.setFont(font())
    label.setWordWrap(True)
    return label
