"""Notices that another program changed or removed a file, also by replacing it."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import QFileSystemWatcher, QObject, QTimer, Signal, Slot

from core.jsonc import MOST_BYTES

SETTLE_MS = 80
"""Editors replace a file in several steps; one look after them is enough."""
_UNSETTLED_NS = 2_500_000_000
"""A file that was changed so recently may change again within one tick of its file system's clock, which
takes two seconds in the worst case: its stamp does not tell that."""


@dataclass(frozen=True, slots=True)
class _Stamp:
    inode: int
    size: int
    modified_ns: int


class FileWatch(QObject):
    """Watches one file and its folder (a replaced file is a new one, which only the folder tells).

    Signals: `changed()` once for each state of the file that is not the one last followed.
    """

    changed = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._path: Path | None = None
        self._stamp: _Stamp | None = None
        self._content = b""
        self._settled = False
        """Whether another content would have another stamp."""
        self._watcher = QFileSystemWatcher(self)
        self._settle = QTimer(self)
        self._settle.setSingleShot(True)
        self._settle.setInterval(SETTLE_MS)
        self._settle.timeout.connect(self.look)
        self._watcher.fileChanged.connect(self._look_soon)
        self._watcher.directoryChanged.connect(self._look_soon)

    def follow(self, path: Path | None) -> None:
        """Watch this file from its present state on; None: watch nothing."""
        self._settle.stop()
        watched = [*self._watcher.files(), *self._watcher.directories()]
        if watched:
            self._watcher.removePaths(watched)
        self._path = path
        # First: a change meanwhile is then told of, at worst for nothing.
        self._watch_again()
        self._stamp, self._content = self._read()

    @property
    def content(self) -> bytes:
        """What the file held when it was last looked at; empty: nothing, or there was none."""
        return self._content

    @contextmanager
    def paused(self) -> Iterator[None]:
        """While OpenLoop itself writes the file; `follow` inside takes the new state as known."""
        self._watcher.blockSignals(True)
        try:
            yield
        finally:
            self._watcher.blockSignals(False)

    def _watch_again(self) -> None:
        if self._path is None:
            return
        wanted = [str(path) for path in (self._path, self._path.parent) if path.exists()]
        missing = [
            path for path in wanted if path not in (*self._watcher.files(), *self._watcher.directories())
        ]
        if missing:
            self._watcher.addPaths(missing)

    def _read(self) -> tuple[_Stamp | None, bytes]:
        if self._path is None:
            return None, b""
        try:
            status = self._path.stat()
            stamp = _Stamp(status.st_ino, status.st_size, status.st_mtime_ns)
            if stamp == self._stamp and self._settled:
                return stamp, self._content
            self._settled = time.time_ns() - status.st_mtime_ns > _UNSETTLED_NS
            # What is too large to be opened is not read here either: with another stamp it counts as changed.
            return stamp, self._path.read_bytes() if status.st_size <= MOST_BYTES else repr(stamp).encode()
        except OSError:
            return None, b""

    @Slot()
    def _look_soon(self) -> None:
        self._settle.start()

    @Slot()
    def look(self) -> None:
        """Look at the file now, before it is written over: the system may be about to tell of a change."""
        self._settle.stop()
        self._watch_again()
        stamp, content = self._read()
        if stamp == self._stamp and content == self._content:
            return
        same = stamp is not None and self._stamp is not None and content == self._content
        self._stamp, self._content = stamp, content
        if not same:
            self.changed.emit()
