"""Which runs go on now, and which were cut off: the lock of a run folder, and marks of open runs.

The lock tells whether a process runs this run; the system takes it back when that process dies, however it
dies. The marks tell where the folders of open runs are, so that a run that was cut off is found again
wherever it worked: one small file for each in the user's own folder, there from its start to its end.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import re
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TypeAlias

from filelock import FileLock, Timeout

from core.durable_files import replace_file
from core.journal import JOURNAL_NAME
from core.plain_name import plain_name
from core.platform_paths import state_folder
from core.processes import start_time
from core.words import say

LOCK_NAME = "run.lock"
"""The lock's file in a run folder; what is in it says nothing."""
MARKS_NAME = "open-runs"
"""Folder of the marks, inside `state_folder()`."""
_PATIENCE, _PATIENCE_TO_LOOK = 0.5, 0.03
"""Seconds to wait for a lock: somebody who only looks holds it for less than a millisecond."""
_NO_LOCKS = frozenset({errno.ENOSYS, errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOTSUP})
"""What file systems say that know no locks."""
_CLOCK_SLACK = 2.0
"""Seconds by which a process's start time and the time of its first event may be out of order."""
_TAIL = 64 * 1024
_Facts: TypeAlias = tuple[Path, int, float]
"""What a mark says: the run's folder, the process that runs it, when it was made."""
_STARTED = re.compile(rb'^\{"type": ?"run_started"')


def held_words() -> str:
    """That another process runs a run, and what to do."""
    return say(
        "This run is going on already, in another window or terminal. Stop it there, or wait for its end."
    )


class RunIsHeld(Exception):  # noqa: N818 - read as a sentence
    """Another process runs this run; the message says so to a user."""

    def __init__(self) -> None:
        super().__init__(held_words())


class RunLock:
    """The right to run the run of a folder. The system takes it back when this process dies.

    Where the file system knows no locks, a run counts as held while the process that its journal names lives.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lock = _file_lock(folder)

    def acquire(self) -> None:
        """Take it. Raises RunIsHeld, and OSError where the folder is gone or cannot be written."""
        if not self._folder.is_dir():  # the library would make one
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(self._folder))
        try:
            self._lock.acquire(timeout=_PATIENCE, poll_interval=0.01)
        except Timeout as error:
            raise RunIsHeld from error
        except (OSError, NotImplementedError) as error:
            if not _knows_no_locks(error):
                raise
            _held_without_lock.take(self._folder)

    def release(self) -> None:
        """Let it go. May be called twice."""
        self._lock.release()
        _held_without_lock.give_back(self._folder)


def is_held(folder: Path) -> bool:
    """Whether some process, this one included, runs the run of this folder. Leaves the folder as it is."""
    with _looking(folder) as free:
        return not free


@contextlib.contextmanager
def _looking(folder: Path) -> Iterator[bool]:
    """Whether nobody runs the run of this folder. While this lasts nobody begins to, but waits a little
    (where the file system knows locks, and the folder may be written)."""
    if not (folder / LOCK_NAME).exists():
        yield True
        return
    lock = _file_lock(folder)
    try:
        lock.acquire(timeout=_PATIENCE_TO_LOOK, poll_interval=0.005)
    except Timeout:
        yield False
        return
    except (OSError, NotImplementedError):
        # No locks here, or the folder may only be read: the journal says who it was.
        yield not (_held_without_lock.has(folder) or _writer_lives(folder))
        return
    try:
        yield True
    finally:
        lock.release()


# --- marks ----------------------------------------------------------------------------------------------


def mark_open(run_id: str, folder: Path) -> None:
    """Note that this process runs a run, and where.

    Raises OSError. A run must not be refused for it: only the offer to go on after an accident is lost.
    """
    mark = _mark(run_id)
    mark.parent.mkdir(parents=True, exist_ok=True)
    facts = {"run_id": run_id, "folder": str(folder.absolute()), "pid": os.getpid(), "time": time.time()}
    replace_file(mark, json.dumps(facts).encode("ascii"))


def mark_closed(run_id: str) -> None:
    """The run has ended. Raises OSError where the mark cannot be removed; nothing where there is none."""
    mark = _mark(run_id)
    facts = _read_mark(mark)
    # Of two copies of one run, the end of the one is not the end of the other.
    if facts is None or facts[1] == os.getpid():
        mark.unlink(missing_ok=True)


def forget(folder: Path) -> None:
    """The user wants to hear no more of this cut-off run; it stays in the list of runs. Raises OSError."""
    _mark(folder.name).unlink(missing_ok=True)


def cut_off_runs() -> list[Path]:
    """The folders of runs that began here, have not ended, and that nobody runs any more; the latest first.

    Removes the marks of runs that are gone or have ended; a folder of marks that cannot be read holds none.
    """
    found: list[tuple[float, Path]] = []
    try:
        marks = sorted((state_folder() / MARKS_NAME).glob("*.json"))
    except OSError:
        return []
    for mark in marks:
        facts = _read_mark(mark)
        if facts is None:
            continue
        folder, _, marked = facts
        try:
            if not (folder / JOURNAL_NAME).is_file():
                # It may be about to be made: whoever marks holds the lock already.
                _remove(mark, facts)
            elif not is_held(folder):
                never_began = (folder / JOURNAL_NAME).stat().st_size == 0
                if never_began or _has_ended(folder):
                    _remove(mark, facts)
                else:
                    found.append((marked, folder))
        except OSError:
            # One folder that cannot be looked at, or one mark that cannot be removed, hides no other.
            continue
    return [folder for _, folder in sorted(found, key=lambda each: each[0], reverse=True)]


def _remove(mark: Path, facts: _Facts) -> None:
    """Remove a mark that says no more than these facts, unless somebody runs its run again since it was read:
    whoever marks holds the lock. Raises OSError."""
    with _looking(facts[0]) as free:
        if free and _read_mark(mark) == facts:
            mark.unlink(missing_ok=True)


def _mark(run_id: str) -> Path:
    # The id comes from a journal, and a journal may come from anywhere.
    return state_folder() / MARKS_NAME / f"{plain_name(run_id) or 'run'}.json"


def _read_mark(mark: Path) -> _Facts | None:
    """Folder, pid and time of a mark; None where it is gone or tells nothing that we understand."""
    try:
        facts = json.loads(mark.read_bytes())
    except (OSError, ValueError):
        return None
    if not isinstance(facts, dict):
        return None
    folder, pid, marked = facts.get("folder"), facts.get("pid"), facts.get("time")
    if not isinstance(folder, str) or not isinstance(pid, int) or not isinstance(marked, (int, float)):
        return None
    return Path(folder), pid, float(marked)


# --- what the journal tells without being read as a whole --------------------------------------------------


def _has_ended(folder: Path) -> bool:
    """Whether the last line says that the run is over: the process died between that and its mark."""
    with (folder / JOURNAL_NAME).open("rb") as file:
        file.seek(max(0, file.seek(0, os.SEEK_END) - _TAIL))
        last = file.read().rstrip(b"\n").rpartition(b"\n")[2]
    with contextlib.suppress(ValueError):
        event = json.loads(last)
        return isinstance(event, dict) and event.get("type") == "run_finished"
    return False


def _writer_lives(folder: Path) -> bool:
    """Whether the process that began the run's latest life still lives: its pid, and not a later process."""
    pid, began = 0, 0.0
    try:
        with (folder / JOURNAL_NAME).open("rb") as file:
            for line in file:
                if _STARTED.match(line):
                    with contextlib.suppress(ValueError, KeyError, TypeError):
                        event = json.loads(line)
                        pid, began = int(event["pid"]), float(event["time"])
        # Whoever ended it in order wrote so; our own process is known better than by its pid.
        if pid <= 0 or pid == os.getpid() or _has_ended(folder):
            return False
    except OSError:
        return False
    started = start_time(pid)
    return started is not None and started <= began + _CLOCK_SLACK


# --- locks ------------------------------------------------------------------------------------------------


class _HeldWithoutLock:
    """The folders that this process runs where the file system knows no locks."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._folders: set[Path] = set()

    def take(self, folder: Path) -> None:
        """Hold it. Raises RunIsHeld."""
        with self._guard:
            if folder.absolute() in self._folders or _writer_lives(folder):
                raise RunIsHeld
            self._folders.add(folder.absolute())

    def give_back(self, folder: Path) -> None:
        """Hold it no longer."""
        with self._guard:
            self._folders.discard(folder.absolute())

    def has(self, folder: Path) -> bool:
        """Whether this process holds it."""
        with self._guard:
            return folder.absolute() in self._folders


_held_without_lock = _HeldWithoutLock()


def _file_lock(folder: Path) -> FileLock:
    # Taken by one worker thread and given back by another.
    return FileLock(folder / LOCK_NAME, thread_local=False)


def _knows_no_locks(error: OSError | NotImplementedError) -> bool:
    return isinstance(error, NotImplementedError) or error.errno in _NO_LOCKS
