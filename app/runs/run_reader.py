"""Reads the runs of a log folder on a worker, newest first, and tells of them as they are read."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import QObject, QRunnable, QThreadPool, Signal, SignalInstance, Slot

from app.runs.entry import RunEntry, entry_of
from core.journal import JOURNAL_NAME
from core.run_files import WORKFLOW_NAME
from core.run_names import is_run_folder
from core.words import say

BATCH_SECONDS = 0.1
"""Runs that are read within this time are told of together."""

FolderOf = Callable[[], Path]
Find = Callable[[], tuple[Path, list[Path]]]
"""Gives the log folder, and the run folders in it that are to be read."""
ReadRun = Callable[[Path], RunEntry]


def run_folders(log_dir: Path) -> list[Path]:
    """The run folders in a log folder, the newest first; empty where there is no such folder.

    Raises OSError when the folder is there and cannot be read.
    """
    try:
        found = [path for path in log_dir.iterdir() if is_run_folder(path)]
    except (FileNotFoundError, NotADirectoryError):
        return []
    return sorted(found, key=lambda path: path.name, reverse=True)


def read_entry(folder: Path) -> RunEntry:
    """One run for a list; one that cannot be read says why in `problem`. Blocking."""
    # Reading a journal needs more of core than the window's first paint.
    from core.recorded_run import RunUnreadable, read_run

    try:
        return entry_of(read_run(folder))
    except RunUnreadable as error:
        return RunEntry(folder, problem=error.problem.message)
    except OSError as error:
        return RunEntry(
            folder, problem=say("Its folder cannot be read ({error}).", error=error.strerror or error)
        )


@dataclass(frozen=True, slots=True)
class Reading:
    """What was read so far. `folder`: the log folder; `folders`: all its runs; `problem`: why there are none.

    `last`: nothing more comes of this reading.
    """

    number: int
    folder: Path | None = None
    entries: tuple[RunEntry, ...] = ()
    folders: frozenset[Path] | None = None
    problem: str = ""
    last: bool = False


class _Read(QRunnable):
    """One reading on a worker; it only has the bound signal of an object of the window's thread."""

    def __init__(
        self, number: int, find: Find, memory: _Memory, stop: threading.Event, told: SignalInstance
    ) -> None:
        super().__init__()
        self._number = number
        self._find = find
        self._memory = memory
        self._stop = stop
        self._told = told

    def run(self) -> None:
        for reading in self._readings():
            self._told.emit(reading)

    def _readings(self) -> Iterator[Reading]:
        number = self._number
        try:
            log_dir, folders = self._find()
        except OSError as error:
            where = f"{error.filename}: " if error.filename else ""
            yield Reading(number, problem=f"{where}{error.strerror or error}", last=True)
            return
        yield Reading(number, log_dir, folders=frozenset(folders))
        entries: list[RunEntry] = []
        told = time.monotonic()
        for folder in folders:
            if self._stop.is_set():
                return
            entries.append(self._memory.read(folder))
            if time.monotonic() - told > BATCH_SECONDS:
                yield Reading(number, log_dir, tuple(entries))
                entries.clear()
                told = time.monotonic()
        yield Reading(number, log_dir, tuple(entries), last=True)


class _Memory:
    """Entries by folder, so that a list that is opened again reads only what has changed.

    Used by one worker at a time.
    """

    def __init__(self, read: ReadRun) -> None:
        self._read = read
        self._known: dict[Path, tuple[object, RunEntry]] = {}

    def read(self, folder: Path) -> RunEntry:
        stamp = _stamp(folder)
        known = self._known.get(folder)
        # A run that goes on elsewhere may be killed without a trace in its files.
        if known is not None and stamp is not None and known[0] == stamp and not known[1].going_on:
            return known[1]
        entry = self._read(folder)
        self._known[folder] = (stamp, entry)
        return entry


def _stamp(folder: Path) -> object:
    """Changes whenever the run's files do; None where that cannot be told."""
    try:
        return [
            (stat.st_mtime_ns, stat.st_size, stat.st_ino)
            for stat in ((folder / name).stat() for name in (JOURNAL_NAME, WORKFLOW_NAME))
        ]
    except OSError:
        return None


class RunReader(QObject):
    """Reads the runs of a log folder whenever it is asked to.

    Signals: `told(Reading)`, in the window's thread, of the latest reading only.
    """

    told = Signal(object)
    _read_some = Signal(object)

    def __init__(self, parent: QObject | None = None, *, read: ReadRun = read_entry) -> None:
        super().__init__(parent)
        self._memory = _Memory(read)
        self._number = 0
        self._stop = threading.Event()
        self._pool = QThreadPool(self)
        self._pool.setMaxThreadCount(1)
        self._read_some.connect(self._take)

    def read(self, log_dir: FolderOf) -> None:
        """Read the runs there; a reading that goes on is given up. `log_dir` is asked on the worker."""

        def find() -> tuple[Path, list[Path]]:
            folder = log_dir()
            return folder, run_folders(folder)

        self._begin(find)

    def read_run(self, folder: Path) -> None:
        """Read this run only."""
        self._begin(lambda: (folder.parent, [folder]))

    def _begin(self, find: Find) -> None:
        self._stop.set()
        self._stop = threading.Event()
        self._number += 1
        self._pool.start(_Read(self._number, find, self._memory, self._stop, self._read_some))

    def close(self) -> None:
        """Give up what goes on, and wait for the worker."""
        self._number += 1
        self._stop.set()
        self._pool.clear()
        self._pool.waitForDone()

    @Slot(object)
    def _take(self, reading: Reading) -> None:
        if reading.number == self._number:
            self.told.emit(reading)
