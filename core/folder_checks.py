"""Whether OpenLoop can write where it must: the log folder, the working folder, the user's own folders."""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import shutil
from collections.abc import Iterator
from pathlib import Path

import psutil
from filelock import FileLock, Timeout

from core.health import Finding, FindingStatus
from core.platform_paths import config_folder, state_folder
from core.words import say

LITTLE_ROOM = 1 << 30
"""Bytes; a run with long logs and worktrees may need as much."""
NO_ROOM = 100 << 20
"""Bytes; with less, runs end with a full disk sooner or later."""

_REMOTE = ("nfs", "nfs4", "cifs", "smb", "smbfs", "smb3", "afpfs", "9p", "fuse.sshfs", "davfs", "webdav")
"""Types of file systems on another machine, where locks and syncs depend on that machine."""


def check_log_folder(folder: Path) -> list[Finding]:
    """Can it be made, written, locked, synced; how much room is there. Leaves no trace of itself."""
    subject = say("log folder")
    advice = say("Choose another one with `log_dir` or --log-dir, or correct its permissions.")
    try:
        with _made(folder):
            _write_as_runs_do(folder)
            remote = _remote_type(folder)
            free = shutil.disk_usage(folder).free
    except Timeout:
        message = say(
            "Files in {folder} cannot be locked, so two runs could write into one folder.", folder=folder
        )
        return [Finding(subject, FindingStatus.ERROR, message, say("Choose a folder on a local disk."))]
    except OSError as error:
        return [Finding(subject, FindingStatus.ERROR, _refusal(folder, error), _advice_for(error, advice))]
    room = room_finding(subject, folder, free)
    if remote and room.status is FindingStatus.OK:
        message = say(
            "{folder} can be written, {size} free, but on another machine ({place}): what a run wrote last "
            "may be lost.",
            folder=folder,
            size=size_words(free),
            place=remote,
        )
        return [
            Finding(subject, FindingStatus.WARNING, message, say("A log folder on a local disk is safer."))
        ]
    return [room]


def room_finding(subject: str, folder: Path, free: int) -> Finding:
    """What `free` bytes mean for a folder that can be written."""
    size = size_words(free)
    if free < NO_ROOM:
        message = say(
            "There are only {size} left on the disk of {folder}; a run would soon fill it.",
            size=size,
            folder=folder,
        )
        return Finding(
            subject, FindingStatus.ERROR, message, say("Make room, or choose a log_dir elsewhere.")
        )
    if free < LITTLE_ROOM:
        message = say(
            "{folder} can be written, but has only {size} left; long runs may need more.",
            folder=folder,
            size=size,
        )
        return Finding(
            subject, FindingStatus.WARNING, message, say("Make room, or choose a log_dir elsewhere.")
        )
    return Finding(
        subject, FindingStatus.OK, say("{folder} can be written, {size} free.", folder=folder, size=size)
    )


def check_user_folders() -> list[Finding]:
    """The folders for settings and what is remembered: each that cannot be written, else one good word.

    A warning only: runs go on without, but something is lost.
    """
    subject = say("own folders")
    findings = []
    for folder, loss in (
        (
            state_folder(),
            say("What is remembered between starts is lost, such as commands that you allowed."),
        ),
        (config_folder(), say("Settings of your own cannot be kept there.")),
    ):
        try:
            with _made(folder):
                _write_once(folder)
        except OSError as error:
            message = f"{_refusal(folder, error)} {loss}"
            advice = say("Correct its permissions, or name another place in the variable OPENLOOP_HOME.")
            findings.append(Finding(subject, FindingStatus.WARNING, message, advice))
    message = say(
        "Settings in {settings} and what is remembered in {state} can be written.",
        settings=config_folder(),
        state=state_folder(),
    )
    return findings or [Finding(subject, FindingStatus.OK, message)]


def check_agents_can_write(folder: Path) -> Finding | None:
    """A finding where files cannot be made in the folder that the agents work in; None: they can."""
    try:
        _write_once(folder)
    except OSError as error:
        # Agents that only read do not mind.
        return Finding(
            say("work folder"),
            FindingStatus.WARNING,
            f"{_refusal(folder, error)} {say('Agents that change files will fail.')}",
            say("Correct its permissions, or name another workdir."),
        )
    return None


def size_words(count: int) -> str:
    """A number of bytes for a person: `3.4 GiB`."""
    size = float(count)
    for unit in ("bytes", "KiB", "MiB", "GiB"):
        if size < 1024:
            return f"{size:.0f} {unit}" if unit == "bytes" or size >= 100 else f"{size:.1f} {unit}"
        size /= 1024
    return f"{size:.1f} TiB"


# --- writing without a trace --------------------------------------------------------------------------


@contextlib.contextmanager
def _made(folder: Path) -> Iterator[None]:
    """The folder exists meanwhile; what had to be made for it goes again. Raises OSError."""
    missing = []
    for parent in (folder, *folder.parents):
        if parent.exists():
            break
        missing.append(parent)
    made: list[Path] = []
    try:
        for part in reversed(missing):
            part.mkdir(exist_ok=True)
            made.append(part)
        if not folder.is_dir():
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(folder))
        yield
    finally:
        for part in reversed(made):
            # Somebody else may use it by now.
            with contextlib.suppress(OSError):
                part.rmdir()


def _write_once(folder: Path) -> None:
    file = _new_name(folder)
    try:
        file.write_bytes(b"OpenLoop looks whether it can write here.\n")
    finally:
        file.unlink(missing_ok=True)


def _write_as_runs_do(folder: Path) -> None:
    """A folder with a file that is locked, appended to, synced and renamed. Raises OSError, Timeout."""
    trial = _new_name(folder)
    trial.mkdir()
    try:
        with FileLock(trial / "lock", timeout=0):
            descriptor = os.open(trial / "one", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o666)
            try:
                os.write(descriptor, b"OpenLoop looks whether it can write here.\n")
                os.fsync(descriptor)
            finally:
                os.close(descriptor)
            (trial / "one").replace(trial / "two")
    finally:
        shutil.rmtree(trial, ignore_errors=True)


def _new_name(folder: Path) -> Path:
    return folder / f".openloop-check-{secrets.token_hex(6)}"


# --- words --------------------------------------------------------------------------------------------


def _refusal(folder: Path, error: OSError) -> str:
    # The file that was refused may be a parent: that one has to be mended.
    named = Path(str(error.filename)) if error.filename else folder
    at = "" if named == folder or named.parent == folder or folder in named.parents else f" ({named})"
    return say(
        "{folder} cannot be written: {error}{at}.", folder=folder, error=error.strerror or error, at=at
    )


def _advice_for(error: OSError, advice: str) -> str:
    if error.errno in (errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC)):
        return say("Make room on that disk, or choose a log_dir elsewhere.")
    return advice


def _remote_type(folder: Path) -> str:
    """The type of the file system, if it is on another machine; else empty."""
    try:
        partitions = psutil.disk_partitions(all=True)
    except (OSError, psutil.Error):
        return ""
    real = folder.resolve()
    holding = [part for part in partitions if real.is_relative_to(part.mountpoint)]
    nearest = max(holding, key=lambda part: len(part.mountpoint), default=None)
    kind = nearest.fstype.lower() if nearest is not None else ""
    return kind if kind in _REMOTE else ""
