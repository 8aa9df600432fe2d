"""Deleting recorded runs: how much room they take, what may be deleted, and doing it without harm.

A run that goes on is never deleted, nor anything that is not a run's own folder in its log folder; a symbolic
link is never followed. Blocking: for a worker.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
import stat
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from core.journal import JOURNAL_NAME
from core.open_runs import RunIsHeld, RunLock
from core.run_files import LOCK_NAME, WORKFLOW_NAME
from core.run_names import REMAINS, is_run_folder
from core.words import say


@dataclass(frozen=True, slots=True)
class RunSize:
    """What a run folder holds. `whole` False: part of it could not be looked at, or looking was given up."""

    files: int = 0
    bytes: int = 0
    whole: bool = True


def size_of_run(folder: Path, stopped: Callable[[], bool] = lambda: False) -> RunSize:
    """How many files a folder holds, and how many bytes; symbolic links count as themselves."""
    files = total = 0
    whole = True
    waiting = [os.fspath(folder)]
    while waiting:
        if stopped():
            return RunSize(files, total, whole=False)
        try:
            with os.scandir(waiting.pop()) as entries:
                for entry in entries:
                    try:
                        if entry.is_dir(follow_symlinks=False):
                            waiting.append(entry.path)
                        else:
                            files += 1
                            total += entry.stat(follow_symlinks=False).st_size
                    except OSError:
                        whole = False
        except OSError:
            whole = False
    return RunSize(files, total, whole)


class NotDeleted(Exception):  # noqa: N818 - read as a sentence
    """A run is still there, all or part of it; the message says why, for a user."""


def deletion_obstacle(folder: Path, log_dir: Path) -> str:
    """Why this must not be deleted as a run of this log folder, in a sentence; empty: it may.

    Whether the run goes on is seen when it is deleted.
    """
    if folder.name in ("", ".", "..") or folder.parent.absolute() != log_dir.absolute():
        return say("It does not lie in the folder of the runs.")
    try:
        mode = folder.lstat().st_mode
    except FileNotFoundError:
        return say("It is gone already.")
    except OSError as error:
        return say("It cannot be looked at ({error}).", error=error.strerror or error)
    if stat.S_ISLNK(mode) or _is_junction(folder):
        return say("It is only a link to another folder. Remove the link with the system’s own means.")
    if not stat.S_ISDIR(mode) or not is_run_folder(folder):
        return say("It is not the folder of a run.")
    if os.path.ismount(folder):
        return say("Another disk is mounted there.")
    return ""


def delete_run(folder: Path, log_dir: Path, move_to_trash: Callable[[Path], bool] | None = None) -> None:
    """Delete a run: by `move_to_trash`, which tells whether it could; None: for good.

    Raises NotDeleted. Where the trash refuses, the run is as it was. What cannot be deleted for good is left
    in a folder that the message names, and is no run any more.
    """
    obstacle = deletion_obstacle(folder, log_dir)
    if obstacle:
        raise NotDeleted(obstacle)
    lock = RunLock(folder)
    had_lock_file = (folder / LOCK_NAME).exists()
    try:
        lock.acquire()
    except RunIsHeld as error:
        raise NotDeleted(str(error)) from error
    except OSError as error:
        raise NotDeleted(_words(error)) from error
    try:
        if os.name == "nt":
            # There a folder cannot be moved while a file in it is open.
            lock.release()
        if move_to_trash is not None:
            if not move_to_trash(folder):
                if not had_lock_file:
                    with contextlib.suppress(OSError):
                        (folder / LOCK_NAME).unlink()
                raise NotDeleted(say("The system did not take it into its trash."))
        else:
            remains = folder.with_name(f"{REMAINS}{secrets.token_hex(4)}-{folder.name}")
            try:
                folder.rename(remains)
            except OSError as error:
                raise NotDeleted(_words(error)) from error
            _remove(remains)
    finally:
        lock.release()


def _remove(remains: Path) -> None:
    """Remove a folder that is nobody's any more. Raises NotDeleted."""
    for name in (JOURNAL_NAME, WORKFLOW_NAME):
        # First of all: what is left after an accident must not look like a run.
        with contextlib.suppress(OSError):
            (remains / name).unlink()
    problems = _remove_tree(remains)
    if problems:
        # An agent may have left folders and files that cannot be written.
        _make_writable(remains)
        problems = _remove_tree(remains)
    if remains.exists():
        why = _words(problems[0]) if problems else say("Something is written there again.")
        raise NotDeleted(say("Part of it is left in {remains}. {why}", remains=remains, why=why))


def _remove_tree(folder: Path) -> list[OSError]:
    """Remove what can be removed; gives what went wrong."""
    problems: list[OSError] = []

    def note(do: object, path: str, found: tuple[type[BaseException], BaseException, object]) -> None:
        del do, path
        if isinstance(found[1], OSError):
            problems.append(found[1])

    shutil.rmtree(folder, onerror=note)
    return problems


def _make_writable(folder: Path) -> None:
    """Give its owner every right to what is in a folder; links are left alone."""
    waiting = [os.fspath(folder)]
    while waiting:
        path = waiting.pop()
        with contextlib.suppress(OSError):
            Path(path).chmod(stat.S_IRWXU)
            with os.scandir(path) as entries:
                for entry in entries:
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(entry.path)
                    elif not entry.is_symlink():
                        Path(entry.path).chmod(stat.S_IRUSR | stat.S_IWUSR)


def _is_junction(folder: Path) -> bool:
    """Windows has a second kind of link, which `is_symlink` does not tell of."""
    tag = getattr(folder.lstat(), "st_reparse_tag", 0)
    return tag == getattr(stat, "IO_REPARSE_TAG_MOUNT_POINT", -1)


def _words(error: OSError) -> str:
    if isinstance(error, PermissionError):
        return say("You may not change it, or another program holds it open.")
    return say("The system says: {error}.", error=error.strerror or error)
