"""One recorded run: what it was, how it ended, and with what it may go on."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QSize, Qt, QUrl, Slot
from PySide6.QtGui import QDesktopServices, QPalette
from PySide6.QtWidgets import QLabel, QScrollArea, QVBoxLayout, QWidget

from app.buttons import Button, ButtonLook
from app.labels import Line
from app.reading_text import ReadingText, harmless
from app.runs.entry import RunEntry
from app.runs.resume_form import ResumeForm
from app.runs.words import age_words, came_to_words, moment_words, title_words
from app.scroll_bar import use_thin_scroll_bars
from app.theme import TextSize, font


class RunDetail(QWidget):
    """One run: what it was, how it ended, and with what it may go on. The button never scrolls away."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._folder: Path | None = None
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
        self.folder_button = Button(self.tr("Open run folder"), ButtonLook.LINK, "", body)
        self.folder_button.clicked.connect(self._open_folder)
        self.form = ResumeForm(body)
        column = QVBoxLayout(body)
        column.setContentsMargins(20, 14, 20, 12)
        column.setSpacing(6)
        column.addWidget(self.title)
        column.addWidget(self.facts)
        column.addWidget(self.message)
        column.addSpacing(6)
        column.addWidget(self.form)
        column.addWidget(self.about)
        column.addWidget(self.folder_button, 0, Qt.AlignmentFlag.AlignLeft)
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
        layout.addWidget(Line(self))
        layout.addWidget(foot)
        self.show_run(None, 0.0)

    def sizeHint(self) -> QSize:  # noqa: N802
        return QSize(440, 380)

    def show_run(self, entry: RunEntry | None, now: float) -> None:
        """Show this run; None: nothing."""
        self._folder = entry.folder if entry is not None else None
        self._body.setVisible(entry is not None)
        self._foot.setVisible(entry is not None)
        self.form.show_run(entry)
        if entry is None:
            return
        self.title.setText(harmless(title_words(entry)))
        began = self.tr("began {0}").format(moment_words(entry.started)) if entry.started else ""
        facts = (began, age_words(entry.started, now), came_to_words(entry))
        self.facts.setText(harmless(" · ".join(fact for fact in facts if fact)))
        self.facts.setVisible(not entry.problem)
        message = entry.message or entry.problem
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

    @Slot()
    def _open_folder(self) -> None:
        if self._folder is not None:
            QDesktopServices.openUrl(QUrl.fromLocalFile(str(self._folder)))


def _text(parent: QWidget, *, bold: bool = False) -> QLabel:
    """Text that others may have written: never markup, and it can be copied."""
    label = QLabel(parent)
    label.setTextFormat(Qt.TextFormat.PlainText)
    label.setFont(font(TextSize.TITLE, bold=True) if bold else font(tabular=True))
    label.setWordWrap(True)
    label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
    return label
