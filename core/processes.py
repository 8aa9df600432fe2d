"""Processes as OpenLoop's own side sees them: find a program, know a process again, clean up an accident."""

from __future__ import annotations

import hashlib
import os
import shutil
import sys
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import psutil

from core.process_tree import MARK

_SAME_START = 1.5
"""Seconds by which two readings of one start time may differ (the system's clock may be set between)."""


class ProgramNotFound(Exception):  # noqa: N818 - read as a sentence, like FileNotFoundError's cousin
    """A command names no program that can be run. `found_but`: it exists, but may not be executed."""

    def __init__(self, name: str, found_but: Path | None = None) -> None:
        super().__init__(name)
        self.name = name
        self.found_but = found_but


def find_program(name: str, search_path: str | None, cwd: Path) -> str:
    """The absolute file that a command's first word means, with the agent's PATH and working directory.

    On Windows a real executable is preferred to a `.cmd` shim, wherever each stands in PATH: a shim needs a
    shell, and a shell reads the arguments once more. Raises ProgramNotFound.
    """
    if Path(name).name != name:
        path = Path(cwd, name)
        found = shutil.which(str(path))
        if found is None:
            raise ProgramNotFound(name, path if path.exists() else None)
        return found
    if sys.platform == "win32":
        searched = search_path if search_path is not None else os.environ.get("PATH", "")
        program = windows_program(name, searched, os.environ.get("PATHEXT", ""))
        found = str(program) if program is not None else None
    else:
        found = shutil.which(name, path=search_path)
    if found is None:
        raise ProgramNotFound(name)
    return str(Path(found).absolute())


def windows_program(name: str, search_path: str, endings: str) -> Path | None:
    """The file that a plain name means on Windows: in the folders of PATH alone, executables before shims.

    `shutil.which` looks into the current folder first, as Windows does: a project could bring a program of
    its own under the name of an agent CLI. `endings`: PATHEXT.
    """
    folders = [Path(folder.strip('"')) for folder in search_path.split(";") if folder.strip()]
    known = [ending for ending in endings.lower().split(";") if ending] or [".com", ".exe", ".bat", ".cmd"]
    has_ending = Path(name).suffix.lower() in known
    for tried in ([".exe", ".com"], known):
        names = [name] if has_ending else [name + ending for ending in tried]
        for folder in folders:
            if not folder.is_absolute():
                continue  # the current folder again, by another name
            for candidate in names:
                if (folder / candidate).is_file():
                    return folder / candidate
    return None


def shell_command(text: str) -> tuple[str, ...]:
    """The argv that has the system's shell run a command line of the user's own."""
    if sys.platform == "win32":
        return (os.environ.get("COMSPEC", "cmd.exe"), "/d", "/s", "/c", text)
    return ("/bin/sh", "-c", text)


def start_time(pid: int) -> float | None:
    """When a live process started, in seconds since the epoch.

    None when it is gone, a zombie, or so much another user's that not even this may be known.
    """
    try:
        process = psutil.Process(pid)
        return None if process.status() == psutil.STATUS_ZOMBIE else process.create_time()
    except (psutil.NoSuchProcess, psutil.AccessDenied):
        return None


def is_running(pid: int, started: float) -> bool:
    """Whether the process that had this pid and start time (epoch seconds) still lives."""
    now = start_time(pid)
    return now is not None and abs(now - started) < _SAME_START


# --- what a supervisor that is gone had started ---------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Relative:
    """A live process that a supervisor had started, or one below it.

    `mark` is its own, empty where it has none or may not be read; `parent` is the pid of its parent;
    `is_frozen`: something stopped it (SIGSTOP), and it does nothing until it is continued.
    """

    process: psutil.Process
    started: float
    parent: int
    mark: str
    is_frozen: bool

    @property
    def pid(self) -> int:
        """Its process id."""
        return self.process.pid

    def command(self) -> tuple[str, ...]:
        """Its command line; empty where it cannot be told."""
        try:
            return tuple(self.process.cmdline())
        except (psutil.Error, OSError):
            return ()

    def wait_for_end(self, timeout: float) -> None:
        """Block until it is gone, `timeout` seconds at most."""
        psutil.wait_procs([self.process], timeout=timeout)


def run_token(folder: Path) -> str:
    """What the marks of everything begin with that is started for this run folder."""
    return hashlib.blake2b(os.fsencode(folder.absolute()), digest_size=6).hexdigest() + "-"


def relatives(
    leaders: Mapping[int, float], prefixes: Collection[str], sessions: Collection[int] = ()
) -> list[Relative]:
    """Live processes that are `leaders` (start times by pid), or have a mark with one of these prefixes, or
    are in one of `sessions` or that of a leader, and all below them. Never this process or one above it.

    A process that uses the pid of a leader again is none: it started at another time, or has another mark.
    Looks at every process of the machine.
    """
    snapshot = {entry.pid: entry for entry in _everybody()}
    own_line = {os.getpid(), *(parent.pid for parent in psutil.Process().parents())}
    starts = tuple(prefixes)
    found: dict[int, Relative] = {}
    for entry in snapshot.values():
        is_leader = entry.pid in leaders and abs(entry.started - leaders[entry.pid]) < _SAME_START
        if entry.mark.startswith(starts) if entry.mark and starts else is_leader:
            found[entry.pid] = entry
    wanted = {pid for pid in found if pid in leaders} | set(sessions)
    for entry in snapshot.values():
        if entry.pid not in found and wanted and _session(entry.pid) in wanted:
            found[entry.pid] = entry
    for pid in own_line:
        found.pop(pid, None)
    below: dict[int, list[Relative]] = {}
    for entry in snapshot.values():
        if entry.pid not in own_line:
            below.setdefault(entry.parent, []).append(entry)
    waiting = list(found.values())
    while waiting:
        parent = waiting.pop()
        for child in below.get(parent.pid, ()):
            # Whoever is older than its parent has another one, of the same pid.
            if child.pid not in found and child.started >= parent.started - _SAME_START:
                found[child.pid] = child
                waiting.append(child)
    return list(found.values())


def _everybody() -> Iterator[Relative]:
    # Not process_iter: it gives the process that had a pid when it last looked.
    for pid in psutil.pids():
        try:
            process = psutil.Process(pid)
            with process.oneshot():
                status = process.status()
                if status in (psutil.STATUS_ZOMBIE, psutil.STATUS_DEAD):
                    continue
                started, parent = process.create_time(), process.ppid()
        except (psutil.Error, OSError):
            continue
        try:
            mark = process.environ().get(MARK, "")
        except (psutil.Error, OSError):  # another user's, or one that macOS protects
            mark = ""
        yield Relative(process, started, parent, mark, status == psutil.STATUS_STOPPED)


def _session(pid: int) -> int | None:
    if not hasattr(os, "getsid"):
        return None
    try:
        return os.getsid(pid)
    except OSError:
        return None


def end_without_supervisor(token: str, leaders: Mapping[int, float], patience: float = 10.0) -> list[int]:
    """End what a supervisor that is gone had started: `leaders` by pid and start time, all below them, and
    every process whose mark starts with `token`. Blocks; gives the pids that are still alive after `patience`
    seconds.

    This looks at every process of the machine: only for an accident.
    """
    # The session of a leader that died this moment is still its own.
    sessions = [pid for pid in leaders if start_time(pid) is None]
    return end_relatives(lambda: relatives(leaders, (f"{token}.",), sessions), patience, grace=0.0)


def end_relatives(find: Callable[[], list[Relative]], patience: float, grace: float) -> list[int]:
    """End what `find` gives until it gives nothing more: ask first, and kill what is left after `grace`
    seconds. Blocks; gives the pids that are still alive after `patience` seconds."""
    begun = time.monotonic()
    asked: set[tuple[int, float]] = set()
    while True:
        found = find()
        polite = time.monotonic() - begun < grace
        for entry in found:
            key = (entry.pid, entry.started)
            try:
                # psutil looks at the start time again: a pid that is used anew by now is left alone.
                if not polite:
                    entry.process.kill()
                elif key not in asked:
                    asked.add(key)
                    entry.process.terminate()
                    if entry.is_frozen:
                        entry.process.resume()
            except psutil.Error:
                continue
        psutil.wait_procs([entry.process for entry in found], timeout=0.05 if polite else 0.2)
        alive = [entry.pid for entry in found if is_running(entry.pid, entry.started)]
        if not found or (alive and time.monotonic() - begun > patience):
            return alive
