"""Processes as OpenLoop's own side sees them: find a program, know a process again, clean up an accident."""

from __future__ import annotations

import os
import shutil
import sys
import time
from collections.abc import Mapping
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
    # `which` puts the endings of PATHEXT behind a name; asked for `.exe` first, it skips every shim.
    names = (f"{name}.exe", f"{name}.com", name) if sys.platform == "win32" else (name,)
    for candidate in names:
        found = shutil.which(candidate, path=search_path)
        if found is not None:
            return str(Path(found).absolute())
    raise ProgramNotFound(name)


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


def end_without_supervisor(token: str, leaders: Mapping[int, float], patience: float = 10.0) -> list[int]:
    """End what a supervisor that is gone had started: `leaders` by pid and start time, all below them, and
    every process whose mark starts with `token`. Blocks; gives the pids that are still alive after `patience`
    seconds.

    This looks at every process of the machine: only for an accident.
    """
    prefix = f"{token}."
    deadline = time.monotonic() + patience
    sessions = {
        pid for pid, started in leaders.items() if start_time(pid) is None or is_running(pid, started)
    }
    while True:
        found: dict[int, psutil.Process] = {}
        for process in psutil.process_iter():
            try:
                if process.pid == os.getpid() or process.status() == psutil.STATUS_ZOMBIE:
                    continue
                ours = (
                    process.pid in leaders and abs(process.create_time() - leaders[process.pid]) < _SAME_START
                )
                if not ours and hasattr(os, "getsid"):
                    ours = os.getsid(process.pid) in sessions
                if not ours:
                    ours = process.environ().get(MARK, "").startswith(prefix)
                if ours:
                    found[process.pid] = process
                    for child in process.children(recursive=True):
                        found[child.pid] = child
            except (psutil.Error, OSError):
                continue
        for process in found.values():
            try:
                process.kill()
            except psutil.Error:
                continue
        psutil.wait_procs(list(found.values()), timeout=0.2)
        alive = [process.pid for process in found.values() if start_time(process.pid) is not None]
        if not found or (alive and time.monotonic() > deadline):
            return alive
