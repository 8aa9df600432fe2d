"""Keeps an agent library up to date: reads it on a worker, and again when files change."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import (
    QFileSystemWatcher,
    QObject,
    QRunnable,
    QThreadPool,
    QTimer,
    Signal,
    SignalInstance,
    Slot,
)

from app.first_paint import after_first_paint

if TYPE_CHECKING:
    from core.agent import AgentLibrary

_SETTLE_MS = 150
_MOST_WATCHED = 1000


@dataclass(frozen=True, slots=True)
class _Reading:
    library: AgentLibrary
    changed: bool
    watch: tuple[str, ...]


class _Read(QRunnable):
    """Reads the folders on a worker; it only has the bound signal of an object of the window's thread."""

    def __init__(self, folders: tuple[Path, ...], library: AgentLibrary | None, done: SignalInstance) -> None:
        super().__init__()
        self._folders = folders
        self._library = library
        self._done = done

    def run(self) -> None:
        # Here and not in the window's thread, which checks the workflow as soon as it has its agents.
        import core.check  # noqa: F401
        from core.agent import AgentLibrary

        library = self._library
        if library is None:
            library, changed = AgentLibrary(self._folders), True
        else:
            changed = library.refresh()
        self._done.emit(_Reading(library, changed, _to_watch(library)))


def _to_watch(library: AgentLibrary) -> tuple[str, ...]:
    """Folders (new files) and files (changed ones)."""
    files = {agent.path for agent in library.agents if agent.path is not None}
    files |= {problem.file for problem in library.problems if problem.file is not None}
    folders = {folder for folder in library.folders if folder.is_dir()}
    folders |= {path.parent for path in files}
    return tuple(sorted(str(path) for path in folders | files))[:_MOST_WATCHED]


class AgentSource(QObject):
    """Reads the agents of some folders.

    Signals: `library_read(AgentLibrary)` after the first reading of the folders and after every change;
    `looked()` when all that was asked for is read, whether it was another than before or not.
    """

    library_read = Signal(object)
    looked = Signal()
    _done = Signal(object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._folders: tuple[Path, ...] = ()
        self._library: AgentLibrary | None = None
        self._reading = False
        self._again = False
        self._unwatchable: set[str] = set()
        """Paths that the system does not watch, such as of some network drives."""
        self._pool = QThreadPool(self)
        self._pool.setMaxThreadCount(1)
        self._done.connect(self._take)
        self._watcher = QFileSystemWatcher(self)
        self._settle = QTimer(self)
        self._settle.setSingleShot(True)
        self._settle.setInterval(_SETTLE_MS)
        self._settle.timeout.connect(self.refresh)
        self._watcher.fileChanged.connect(self._look_soon)
        self._watcher.directoryChanged.connect(self._look_soon)

    @property
    def folders(self) -> tuple[Path, ...]:
        """Where agents are looked for, the most important folder first."""
        return self._folders

    def follow(self, folders: Sequence[Path]) -> None:
        """Read these folders from now on."""
        if tuple(folders) != self._folders:
            self._folders = tuple(folders)
            self._library = None
            self.refresh()

    @Slot()
    def refresh(self) -> None:
        """Look for changes."""
        if not self._folders:
            return
        if self._reading:
            self._again = True
            return
        self._reading = True
        after_first_paint(self._begin)

    def _begin(self) -> None:
        self._again = False
        self._pool.start(_Read(self._folders, self._library, self._done))

    @Slot()
    def _look_soon(self) -> None:
        self._settle.start()

    @Slot(object)
    def _take(self, reading: _Reading) -> None:
        self._reading = False
        if reading.library.folders == self._folders:
            self._library = reading.library
            self._watch(reading.watch)
            if reading.changed:
                self.library_read.emit(reading.library)
        if self._again or reading.library.folders != self._folders:
            self._again = False
            self.refresh()
        if not self._reading:
            self.looked.emit()

    def _watch(self, paths: tuple[str, ...]) -> None:
        watched = {*self._watcher.files(), *self._watcher.directories()}
        gone, new = watched.difference(paths), set(paths) - watched
        if gone:
            self._watcher.removePaths(sorted(gone))
        new -= self._unwatchable
        if new:
            self._unwatchable |= set(self._watcher.addPaths(sorted(new)))
            # What changed between the reading and now told nobody.
            self._look_soon()

    def close(self) -> None:
        """Wait for the worker, and read nothing any more."""
        # A reading that still waits to be taken would else begin another one.
        self._folders = ()
        self._settle.stop()
        self._pool.waitForDone()
