"""The latest warning of a run in one line, until the user has seen it."""

from __future__ import annotations

from PySide6.QtCore import QRectF, QSize, Qt, Signal, Slot
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QHBoxLayout, QWidget

from app.buttons import Button, ButtonLook
from app.reading_text import ReadingText
from app.theme import paint_icon, theme
from core.progress import Note, RunProgress

_ICON = 16
_LEFT = 12


class NotesBar(QWidget):
    """A warning: near the budget, a quiet agent, late output.

    Signals: `opened(str)` with the turn that it is about; empty: the run.
    """

    opened = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._notes: list[Note] = []
        self._looked = 0
        """So many of the run's notes were looked at."""
        self.text = ReadingText(self, most_lines=3)
        self.text.setAccessibleName(self.tr("Latest warning"))
        self.show_button = Button(self.tr("Show"), ButtonLook.LINK, "", self)
        self.close_button = Button("", ButtonLook.FLAT, "x", self)
        self.close_button.setAccessibleName(self.tr("Dismiss"))
        self.close_button.setToolTip(self.tr("Dismiss"))
        self.show_button.clicked.connect(self._open)
        self.close_button.clicked.connect(self.dismiss)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(_LEFT + _ICON + 8, 4, 8, 5)
        layout.setSpacing(8)
        layout.addWidget(self.text, 1, Qt.AlignmentFlag.AlignVCenter)
        layout.addWidget(self.show_button, 0, Qt.AlignmentFlag.AlignTop)
        layout.addWidget(self.close_button, 0, Qt.AlignmentFlag.AlignTop)
        self.hide()

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
        warnings = [note for note in new if note.warning]
        if not warnings:
            return
        self._notes += warnings
        count = len(self._notes)
        latest = self._notes[-1]
        text = latest.message if count == 1 else self.tr("{0} ({1} warnings)").format(latest.message, count)
        self.text.setText(text)
        self.setAccessibleName(self.tr("Warning: {0}").format(self.text.text()))
        self.show()

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

    def sizeHint(self) -> QSize:  # noqa: N802
        return QSize(300, super().sizeHint().height())

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802
        del event
        colors = theme()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.fillRect(self.rect(), colors.color("raised"))
        painter.fillRect(0, 0, 3, self.height(), colors.color("other"))
        painter.fillRect(0, self.height() - 1, self.width(), 1, colors.color("line"))
        paint_icon(painter, "triangle-alert", QRectF(_LEFT, 10, _ICON, _ICON), colors.color("other"))
