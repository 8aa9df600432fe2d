"""What all logs of a run share: wrap and line numbers, the work folder, and who opens what they name."""

from __future__ import annotations

import contextlib
import os
import stat
import threading
import time
from collections import OrderedDict, deque
from pathlib import Path

from PySide6.QtCore import QObject, Signal, Slot

from app.editor import FilePlace
from app.run_view.log_links import candidates

_KEPT = 2_000
_FRESH = 3.0
"""Seconds for which an answer holds."""
ZOOMS = range(-4, 25)
"""Pixels that the text of logs may be larger or smaller than usual."""
_WAITING = 200
"""Files that are asked for and not looked at yet; older questions are dropped."""


class FileLookup(QObject):
    """Which files that logs name are there. A thread asks the disk, which may be slow, and ends by itself.

    Signals: `learned()`: something that was asked for is known now.
    """

    learned = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._folder: Path | None = None
        self._known: OrderedDict[str, tuple[Path | None, float]] = OrderedDict()
        self._asked: deque[tuple[Path, str]] = deque(maxlen=_WAITING)
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None

    @property
    def folder(self) -> Path | None:
        """Where relative names begin; None: nothing is looked for."""
        return self._folder

    def set_folder(self, folder: Path | None) -> None:
        """Look for relative names in another folder."""
        self._folder = folder
        with self._lock:
            self._known.clear()
            self._asked.clear()

    def is_known(self, target: str) -> bool:
        """Whether `find` has the answer."""
        with self._lock:
            return target in self._known

    def find(self, target: str) -> Path | None:
        """The regular file that a text names; None where there is none, or while it is being looked for."""
        folder = self._folder
        if folder is None:
            return None
        with self._lock:
            found, at = self._known.get(target, (None, -_FRESH))
            if time.monotonic() - at < _FRESH:
                self._known.move_to_end(target)
                return found
            # Files come and go while agents work; until it is known anew, the old answer holds.
            if (folder, target) not in self._asked:
                self._asked.append((folder, target))
            if self._thread is None:
                self._thread = threading.Thread(target=self._look, name="log-files", daemon=True)
                self._thread.start()
        return found

    def _look(self) -> None:
        while True:
            with self._lock:
                if not self._asked:
                    self._thread = None
                    break
                folder, target = self._asked.popleft()
            found = next((path for path in candidates(target, folder) if is_regular(path)), None)
            with self._lock:
                if folder == self._folder:
                    shown = Path(os.path.normpath(found)) if found is not None else None
                    self._known[target] = (shown, time.monotonic())
                    if len(self._known) > _KEPT:
                        self._known.popitem(last=False)
        with contextlib.suppress(RuntimeError):
            # The window may have gone while the disk was slow: then nobody wants to know.
            self.learned.emit()


def is_regular(path: Path) -> bool:
    """Whether a path is that of a file with contents: no folder, pipe or device."""
    try:
        return stat.S_ISREG(path.stat().st_mode)
    except (OSError, ValueError):
        return False


class LogHost(QObject):
    """Shared by the logs of a window.

    Signals: `changed()`: wrap, line numbers or zoom; `file_requested(FilePlace)` and
    `address_requested(str)`: the user wants to open it; `editor_requested()`: he wants to choose what opens
    files.
    """

    changed = Signal()
    file_requested = Signal(object)
    address_requested = Signal(str)
    editor_requested = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._wrap = True
        self._numbers = False
        self._zoom = 0
        self.files = FileLookup(self)

    @property
    def wrap(self) -> bool:
        """Whether long lines wrap."""
        return self._wrap

    @property
    def line_numbers(self) -> bool:
        """Whether lines are numbered."""
        return self._numbers

    @property
    def zoom(self) -> int:
        """Pixels that their text is larger or smaller than usual."""
        return self._zoom

    def show_as(
        self, *, wrap: bool | None = None, line_numbers: bool | None = None, zoom: int | None = None
    ) -> None:
        """Show all logs in another way; None: as it is. A zoom beyond `ZOOMS` is the last within."""
        new = (
            self._wrap if wrap is None else wrap,
            self._numbers if line_numbers is None else line_numbers,
            self._zoom if zoom is None else min(ZOOMS[-1], max(ZOOMS[0], zoom)),
        )
        if new != (self._wrap, self._numbers, self._zoom):
            self._wrap, self._numbers, self._zoom = new
            self.changed.emit()

    @Slot(object)
    def open_file(self, place: FilePlace) -> None:
        """Ask for a file to be opened."""
        self.file_requested.emit(place)
