"""The prompt with its own small head: how long it is, and finding in it."""

from __future__ import annotations

from PySide6.QtCore import Qt, QTimer, Signal, Slot
from PySide6.QtGui import QPainter, QPaintEvent, QPalette
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from app.agent_editor.find_bar import PromptFindBar
from app.agent_editor.plain_document import PlainDocument
from app.agent_editor.prompt_edit import PromptEdit
from app.buttons import Button, ButtonLook
from app.labels import QuietLabel, SectionLabel
from app.painting import paint_method
from app.theme import TextSize, font, theme

_COUNT_MS = 300


class PromptPane(QWidget):
    """An editor under its head. `whole`: of the whole file, with numbers of lines.

    Signals: those of its editor.
    """

    undo_requested = Signal()
    redo_requested = Signal()

    def __init__(self, title: str, parent: QWidget | None = None, *, whole: bool = False) -> None:
        super().__init__(parent)
        self.edit = PromptEdit(self, whole=whole)
        self.edit.setAccessibleName(title)
        self.edit.setAccessibleDescription(self.tr("Tab indents; Escape leaves the text."))
        self.find_bar = PromptFindBar(self.edit, self)
        self.size_label = QuietLabel(parent=self)
        self.size_label.setFont(font(TextSize.SMALL, tabular=True))
        self.find_button = Button("", ButtonLook.FLAT, "search", self)
        self.find_button.setAccessibleName(self.tr("Find in the text"))
        self.find_button.setToolTip(self.tr("Find"))
        self.find_button.clicked.connect(self.find_bar.open)
        self.edit.find_requested.connect(self.find_bar.open)
        self.edit.undo_requested.connect(self.undo_requested)
        self.edit.redo_requested.connect(self.redo_requested)
        self.edit.left.connect(self._leave)
        head = QHBoxLayout()
        head.setContentsMargins(16, 4, 8, 4)
        head.setSpacing(8)
        head.addWidget(SectionLabel(title, self))
        head.addStretch(1)
        head.addWidget(self.size_label)
        head.addWidget(self.find_button)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addLayout(head)
        layout.addWidget(self.find_bar)
        layout.addWidget(self.edit, 1)
        self._count = QTimer(self)
        self._count.setSingleShot(True)
        self._count.setInterval(_COUNT_MS)
        self._count.timeout.connect(self._show_size)
        self.edit.textChanged.connect(self._count.start)
        self.setBackgroundRole(QPalette.ColorRole.Base)
        self.setAutoFillBackground(True)
        self.setFocusProxy(self.edit)
        self.setMinimumHeight(120)

    def show_document(self, document: PlainDocument | None) -> None:
        """Edit this document; None: none."""
        if self.edit.document() is not document:
            self.find_bar.hide()
            self.edit.show_document(document)
        self._show_size()

    @Slot()
    def _leave(self) -> None:
        """Tab belongs to the text; Escape hands the focus on."""
        if self.find_bar.isVisible():
            self.find_bar.leave()
        else:
            self.find_button.setFocus(Qt.FocusReason.TabFocusReason)

    @Slot()
    def _show_size(self) -> None:
        document = self.edit.document()
        if isinstance(document, PlainDocument):
            text = document.shown()
            lines = document.blockCount() if text else 0
            of_lines = self.tr("{0} line") if lines == 1 else self.tr("{0} lines")
            of_letters = self.tr("{0} character") if len(text) == 1 else self.tr("{0} characters")
            self.size_label.setText(
                self.tr("{0}, {1}").format(of_lines.format(f"{lines:,}"), of_letters.format(f"{len(text):,}"))
            )

    @paint_method
    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802
        super().paintEvent(event)
        with QPainter(self) as painter:
            painter.fillRect(0, 0, self.width(), 1, theme().color("line"))
