"""All of the state, or of one value in it, for elsewhere: the clipboard, a file, the user's editor."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import QObject, Signal, Slot
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QFileDialog, QWidget

from app.run_view.state_work import Matter, StateWork
from core.plain_name import plain_name
from core.platform_paths import state_folder

SHOWN_NAME = "shown"
"""Folder of the files that were written for an editor, inside `state_folder()`."""
_KEPT_SECONDS = 24 * 3600
"""After which such a file is old."""


@dataclass(frozen=True, slots=True)
class Shown:
    """What can be taken now. `name`: of a file of it, without an ending; `copied`: what is said when it is
    copied."""

    matter: Matter
    name: str
    copied: str


class StateTaking(QObject):
    """Has a worker write it, and tells when it is done. Where nothing is shown, nothing is taken.

    Signals: `message(str)`: a sentence for the status line; `open_requested(Path)`: a file for the editor.
    """

    message = Signal(str)
    open_requested = Signal(object)

    def __init__(self, work: StateWork, parent: QWidget) -> None:
        super().__init__(parent)
        self._parent = parent
        self._work = work
        self._copying = ""
        """What is said when it is copied."""
        self._matter: Matter | None = None
        """What is to be saved."""
        self._to_open: Path | None = None
        """The file that is written for the editor."""
        self._folder = Path()
        self.dialog: QFileDialog | None = None
        work.copied.connect(self._copied)
        work.not_copied.connect(self.message)
        work.saved.connect(self._saved)
        work.not_saved.connect(self.message)

    def begin(self, folder: Path | None) -> None:
        """Another run, whose files are here."""
        self._folder = folder.parent.parent if folder is not None else Path()
        self._to_open = None
        if self.dialog is not None:
            self.dialog.reject()

    def copy(self, shown: Shown | None) -> None:
        """Copy all of it."""
        if shown is not None:
            self._copying = shown.copied
            self._work.copy(shown.matter)

    def save(self, shown: Shown | None) -> None:
        """Ask for a file, and write all of it there."""
        if shown is None or self.dialog is not None:
            return
        self._matter = shown.matter
        name = _file_name(shown)
        dialog = QFileDialog(self._parent, self.tr("Save all of it"), str(self._folder / name))
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        dialog.setFileMode(QFileDialog.FileMode.AnyFile)
        dialog.setDefaultSuffix(name.rpartition(".")[2])
        dialog.fileSelected.connect(self._save)
        dialog.finished.connect(self._closed)
        self.dialog = dialog
        dialog.open()

    def open(self, shown: Shown | None) -> None:
        """Write all of it to a file of OpenLoop's own, and have the editor open that."""
        if shown is not None:
            self._to_open = state_folder() / SHOWN_NAME / _file_name(shown)
            self.message.emit(self.tr("Writing {0} for the editor…").format(self._to_open.name))
            self._work.save(shown.matter, self._to_open, older=_KEPT_SECONDS)

    @Slot(str)
    def _save(self, name: str) -> None:
        if name and self._matter is not None:
            self._to_open = None
            self._work.save(self._matter, Path(name))

    @Slot()
    def _closed(self) -> None:
        self._matter = None
        if self.dialog is not None:
            self.dialog.deleteLater()
            self.dialog = None

    @Slot(str)
    def _copied(self, text: str) -> None:
        QGuiApplication.clipboard().setText(text)
        self.message.emit(self._copying)

    @Slot(object)
    def _saved(self, path: Path) -> None:
        if path == self._to_open:
            self._to_open = None
            self.message.emit("")
            self.open_requested.emit(path)
        else:
            self.message.emit(self.tr("All of it is saved in {0}.").format(path))


def _file_name(shown: Shown) -> str:
    ending = "txt" if isinstance(shown.matter, str) else "json"
    return f"{plain_name(shown.name) or 'state'}.{ending}"
