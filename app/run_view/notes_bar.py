"""The latest warning of a run in one line, until the user has seen it."""

from __future__ import annotations

from PySide6.QtCore import QRectF, QSize, Qt, Signal, Slot
from PySide6.QtGui import QAccessible, QPaintEvent
from PySide6.QtWidgets import QHBoxLayout, QWidget

from app.accessible import announce
from app.buttons import Button, ButtonLook
from app.painting import paint_method
from app.plain_text import plain_tool_tip
from app.reading_text import ReadingText
from app.run_view.bar_paint import paint_bar
from app.run_view.silence import is_about_silence, is_settled, note_words
from core.progress import Note, RunProgress

_ICON = 16
_LEFT = 12


class NotesBar(QWidget):
    """A warning: near the budget, a quiet agent, late output.

    Signals: `opened(str)` with the turn that it is about; empty: the run. `stop_requested(str)` and
    `retry_requested(str)` with the turn that has been quiet for long.
    """

    accessible_role = QAccessible.Role.AlertMessage

    opened = Signal(str)
    stop_requested = Signal(str)
    retry_requested = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._notes: list[Note] = []
        self._looked = 0
        """So many of the run's notes were looked at."""
        self.text = ReadingText(self, most_lines=3)
        self.text.setAccessibleName(self.tr("Latest warning"))
        self.show_button = Button(self.tr("Show"), ButtonLook.LINK, "", self)
        self.stop_button = Button(self.tr("Stop"), ButtonLook.LINK, "", self)
        self.retry_button = Button(self.tr("Try again"), ButtonLook.LINK, "", self)
        self.stop_button.clicked.connect(self._stop)
        self.retry_button.clicked.connect(self._retry)
        self.close_button = Button("", ButtonLook.FLAT, "x", self)
        self.close_button.setAccessibleName(self.tr("Dismiss"))
        self.close_button.setToolTip(self.tr("Dismiss"))
        self.show_button.clicked.connect(self._open)
        self.close_button.clicked.connect(self.dismiss)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(_LEFT + _ICON + 8, 4, 8, 5)
        layout.setSpacing(8)
        layout.addWidget(self.text, 1, Qt.AlignmentFlag.AlignVCenter)
        for button in (self.show_button, self.stop_button, self.retry_button, self.close_button):
            layout.addWidget(button, 0, Qt.AlignmentFlag.AlignTop)
        self.set_read_only("")
        self.hide()

    def set_read_only(self, why: str) -> None:
        """Why nothing can be ordered here, as the end of a sentence; empty: it can."""
        stop, retry = self.tr("Stop this agent"), self.tr("End this agent and try it again")
        if why:
            stop = retry = self.tr("Not here: {0}.").format(why)
        for button, words in ((self.stop_button, stop), (self.retry_button, retry)):
            button.setEnabled(not why)
            button.setToolTip(plain_tool_tip(words))

    def begin(self, progress: RunProgress) -> None:
        """Another run; what its past tells is not news."""
        self._notes.clear()
        self._looked = len(progress.notes)
        self.hide()

    def show_notes(self, progress: RunProgress) -> None:
        """Show what is new; call it whenever something happened."""
        if not progress.running:
            # The banner has them all.
            self.hide()
            return
        new = progress.notes[self._looked :]
        self._looked = len(progress.notes)
        before = len(self._notes)
        # An agent that prints again is quiet no more: nobody has to read that it was.
        self._notes = [note for note in self._notes if not is_settled(note, progress)]
        settled = len(self._notes) < before
        warnings = [note for note in new if note.warning and not is_settled(note, progress)]
        self._notes += warnings
        if not self._notes:
            self.hide()
        elif warnings or settled:
            self._show_latest()

    def _show_latest(self) -> None:
        count = len(self._notes)
        latest = self._notes[-1]
        words = note_words(latest)
        self.text.setText(words if count == 1 else self.tr("{0} ({1} warnings)").format(words, count))
        self.setAccessibleName(self.tr("Warning: {0}").format(self.text.text()))
        quiet = count == 1 and is_about_silence(latest)
        self.stop_button.setVisible(quiet)
        self.retry_button.setVisible(quiet)
        self.show()
        announce(self, self.accessibleName())

    @property
    def count(self) -> int:
        """Warnings that were not dismissed."""
        return len(self._notes)

    @Slot()
    def dismiss(self) -> None:
        """The user has read it."""
        self._notes.clear()
        self.hide()

    @Slot()
    def _open(self) -> None:
        latest = self._notes[-1]
        # Several are in the overview, one after the other.
        self.opened.emit((latest.turn or "") if len(self._notes) == 1 else "")
        self.dismiss()

    @Slot()
    def _stop(self) -> None:
        self.stop_requested.emit(self._notes[-1].turn)

    @Slot()
    def _retry(self) -> None:
        self.retry_requested.emit(self._notes[-1].turn)

    def sizeHint(self) -> QSize:  # noqa: N802
        return QSize(300, super().sizeHint().height())

    @paint_method
    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802
        del event
        paint_bar(self, "triangle-alert", "other", QRectF(_LEFT, 10, _ICON, _ICON))
