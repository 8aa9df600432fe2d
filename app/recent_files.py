"""The files that were open lately, as a menu."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QMenu, QWidget

from app.plain_text import plain_tool_tip
from app.why_not import offer

if TYPE_CHECKING:
    from app.settings_store import SettingsStore

MOST = 10


class RecentFiles(QMenu):
    """A menu of recent files, the latest first; it asks the disk only when it opens.

    Signals: `chosen(Path)`.
    """

    chosen = Signal(object)

    def __init__(self, title: str, store: SettingsStore, parent: QWidget | None = None) -> None:
        super().__init__(title, parent)
        self._store = store
        self.aboutToShow.connect(self.fill)
        self._show_enabled()

    @property
    def paths(self) -> list[Path]:
        """The files, the latest first."""
        return self._store.recent[:MOST]

    def remember(self, path: Path) -> None:
        """This file was opened or saved."""
        path = path.absolute()
        self._store.recent = [path, *(known for known in self.paths if known != path)][:MOST]
        self._show_enabled()

    def forget(self, path: Path) -> None:
        """This file is not there any more."""
        self._store.recent = [known for known in self.paths if known != path.absolute()]
        self._show_enabled()

    @Slot()
    def clear_all(self) -> None:
        """Forget all files."""
        self._store.recent = []
        self._show_enabled()

    def _show_enabled(self) -> None:
        self.menuAction().setEnabled(bool(self.paths))

    @Slot()
    def fill(self) -> None:
        """Make the entries: names, with the folder where two have the same name."""
        self.clear()
        paths = self.paths
        names = [path.name for path in paths]
        for number, path in enumerate(paths, start=1):
            text = path.name if names.count(path.name) == 1 else f"{path.name} — {_folder_words(path)}"
            label = text.replace("&", "&&")
            action = self.addAction(f"&{number} {label}" if number < 10 else label)
            action.setToolTip(plain_tool_tip(str(path)))
            action.triggered.connect(lambda _=False, path=path: self.chosen.emit(path))
            offer(action, path.exists(), self.tr("{0} is not there any more.").format(path))
        self.addSeparator()
        self.addAction(self.tr("Clear recent files"), self.clear_all)


def _folder_words(path: Path) -> str:
    home = Path.home()
    folder = path.parent
    return f"~{os.sep}{folder.relative_to(home)}" if folder.is_relative_to(home) else str(folder)
