"""Why a process could not be started, or was lost, in a user's words: what happened, then what to do."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from core.processes import ProgramNotFound

if TYPE_CHECKING:
    from core.supervisor_messages import StartFailedReply

CLOSED_WORDS = "The run has been closed; nothing more can be started in it."


def no_supervisor_words(error: OSError) -> str:
    """Not even the supervisor could be started."""
    return (
        f"OpenLoop could not start its own helper with “{sys.executable}” ({error.strerror}). "
        "Run fewer programs at once, or repair the Python installation."
    )


def not_found_words(error: ProgramNotFound, cwd: Path) -> str:
    """A command names nothing that can be run."""
    if error.found_but is not None:
        return (
            f"“{error.found_but}” exists, but may not be run. "
            "Make it executable, or name another program for this agent."
        )
    if not cwd.is_dir():
        return _no_folder_words(str(cwd))
    return (
        f"The program “{error.name}” was not found. "
        "Install it, add its folder to PATH, or choose another backend for this agent."
    )


def _no_folder_words(path: str) -> str:
    return f"The working directory “{path}” does not exist or is no folder. Create it or choose another one."


def start_failure_words(reply: StartFailedReply, argv: Sequence[str]) -> str:
    """The system refused to start a command."""
    _, _, stage, code, path = reply
    reason = os.strerror(code)
    if stage == "cwd":
        if code in (errno.ENOENT, errno.ENOTDIR):
            return _no_folder_words(path)
        return f"The working directory “{path}” cannot be entered ({reason}). Check its permissions."
    if stage == "files":
        return f"The file “{path}” of the run folder cannot be opened ({reason}). Check the log folder."
    if code == errno.E2BIG:
        size = sum(len(os.fsencode(word)) for word in argv)
        return (
            f"The command line or the environment is too long for this system ({size} bytes of arguments). "
            "Shorten the extra arguments; prompts belong on standard input."
        )
    if code == errno.EACCES:
        return f"“{path}” may not be run ({reason}). Make it executable and check the folder's permissions."
    if code == errno.ENOEXEC:
        return f"“{path}” is not a program that this system can run. Check that it is the right file."
    if code == errno.ENOENT:
        return (
            f"“{path}” could not be started: the interpreter that it names is missing. "
            "Install it, or repair the program."
        )
    if code in (errno.EAGAIN, errno.ENOMEM, errno.EMFILE, errno.ENFILE):
        return (
            f"“{path}” could not be started: the system is out of resources ({reason}). "
            "Run fewer agents at once, or close other programs."
        )
    return f"“{path}” could not be started ({reason})."


def loss_words(code: int, trouble: str, alive: Sequence[int]) -> str:
    """The supervisor is gone: its exit code, the fault it reported if any, and who may still live."""
    signal = -code if code < 0 else code - 128  # the guard says it the second way
    how = f"by signal {signal}" if signal > 0 else f"with code {code}"
    words = f"The process that looks after the agents ended unexpectedly ({how}). "
    if trouble:
        words += f"It reported: {trouble.strip().splitlines()[-1]}. "
    if alive:
        pids = ", ".join(str(pid) for pid in alive)
        return f"{words}These processes may still be running: {pids}. End them before you resume the run."
    return f"{words}Its agents were ended too. Resume the run: finished turns are kept."
