"""Placeholder until the real one is there: the lock of a run folder, and marks of runs that go on."""

from __future__ import annotations

from pathlib import Path

from filelock import FileLock, Timeout


class RunIsHeld(Exception):  # noqa: N818
    """Another process runs this run."""


class RunLock:
    """The lock of a run folder."""

    def __init__(self, folder: Path) -> None:
        self._lock = FileLock(folder / "run.lock", thread_local=False)

    def acquire(self) -> None:
        """Take it, or raise RunIsHeld."""
        try:
            self._lock.acquire(timeout=0)
        except Timeout as error:
            raise RunIsHeld("This run is going on already.") from error

    def release(self) -> None:
        """Let it go."""
        self._lock.release()


def is_held(folder: Path) -> bool:
    """Whether somebody runs it."""
    lock = RunLock(folder)
    try:
        lock.acquire()
    except RunIsHeld:
        return True
    lock.release()
    return False


def mark_open(run_id: str, folder: Path) -> None:
    """It goes on."""


def mark_closed(run_id: str) -> None:
    """It has ended."""


def cut_off_runs() -> list[Path]:
    """Marked runs that nobody holds."""
    return []
