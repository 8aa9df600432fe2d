"""A row for a folder: typed, or chosen in the system's dialog."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import Qt, Slot
from PySide6.QtWidgets import QFileDialog, QHBoxLayout, QWidget

from app import field_text
from app.buttons import Button, ButtonLook
from app.form_rows import TextRow


class FolderRow(TextRow):
    """A folder; None: nothing is said. A chosen folder below `base` is written relative to it, as files that
    move from one computer to another need it.
    """

    def __init__(self, label: str, parent: QWidget, base: Callable[[], Path]) -> None:
        super().__init__(label, parent, field_text.parse_text, field_text.write_plain)
        self._base = base
        self.place = QWidget(parent)
        self.button = Button("", ButtonLook.FLAT, "folder-open", self.place)
        text = self.tr("Choose a folder")
        self.button.setToolTip(text)
        self.button.setAccessibleName(f"{label}: {text}")
        layout = QHBoxLayout(self.place)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(4)
        layout.addWidget(self.field, 1)
        layout.addWidget(self.button)
        self.button.clicked.connect(self._choose)

    @Slot()
    def _choose(self) -> None:
        start = self._base() / self.field.text().strip()
        dialog = QFileDialog(self.place, self.label.text(), str(start if start.is_dir() else self._base()))
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.setFileMode(QFileDialog.FileMode.Directory)
        dialog.setOption(QFileDialog.Option.ShowDirsOnly)
        dialog.fileSelected.connect(self.take)
        # Not exec: a nested loop would hold up every coroutine of a run.
        dialog.open()

    @Slot(str)
    def take(self, name: str) -> None:
        """Write a chosen folder into the field, as if it was typed."""
        if not name:
            return
        chosen, base = Path(name), self._base().absolute()
        text = str(chosen)
        if chosen == base:
            text = "."
        elif chosen.is_relative_to(base):
            text = chosen.relative_to(base).as_posix()
        self.field.setText(text)
        self.field.textEdited.emit(text)
        self.field.editingFinished.emit()
