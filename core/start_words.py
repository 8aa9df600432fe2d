"""Why a process could not be started, or was lost, in a user's words: what happened, then what to do."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from core.processes import ProgramNotFound
from core.words import say

if TYPE_CHECKING:
    from core.supervisor_messages import StartFailedReply


def closed_words() -> str:
    """Somebody starts something in a run that is over."""
    return say("The run has been closed; nothing more can be started in it.")


def no_supervisor_words(error: OSError) -> str:
    """Not even the supervisor could be started."""
    return say(
        "OpenLoop could not start its own helper with “{program}” ({error}). Run fewer programs "
        "at once, or repair the Python installation.",
        program=sys.executable,
        error=error.strerror,
    )


def not_found_words(error: ProgramNotFound, cwd: Path) -> str:
    """A command names nothing that can be run."""
    if error.found_but is not None:
        return say(
            "“{file}” exists, but may not be run. Make it executable, or name another program for "
            "this agent.",
            file=error.found_but,
        )
    if not cwd.is_dir():
        return _no_folder_words(str(cwd))
    return say(
        "The program “{name}” was not found. Install it, add its folder to PATH, or choose another "
        "backend for this agent.",
        name=error.name,
    )


def _no_folder_words(path: str) -> str:
    return say(
        "The working directory “{path}” does not exist or is no folder. Create it or choose another one.",
        path=path,
    )


def start_failure_words(reply: StartFailedReply, argv: Sequence[str]) -> str:
    """The system refused to start a command."""
    _, _, stage, code, path = reply
    reason = os.strerror(code)
    if stage == "cwd":
        if code in (errno.ENOENT, errno.ENOTDIR):
            return _no_folder_words(path)
        return say(
            "The working directory “{path}” cannot be entered ({reason}). Check its permissions.",
            path=path,
            reason=reason,
        )
    if stage == "files":
        return say(
            "The file “{path}” of the run folder cannot be opened ({reason}). Check the log folder.",
            path=path,
            reason=reason,
        )
    if code == errno.E2BIG:
        size = sum(len(os.fsencode(word)) for word in argv)
        return say(
            "The command line or the environment is too long for this system ({count} bytes of "
            "arguments). Shorten the extra arguments; prompts belong on standard input.",
            count=size,
        )
    if code == errno.EACCES:
        return say(
            "“{path}” may not be run ({reason}). Make it executable and check the folder's permissions.",
            path=path,
            reason=reason,
        )
    if code == errno.ENOEXEC:
        return say(
            "“{path}” is not a program that this system can run. Check that it is the right file.", path=path
        )
    if code == errno.ENOENT:
        return say(
            "“{path}” could not be started: the interpreter that it names is missing. Install it, or "
            "repair the program.",
            path=path,
        )
    if code in (errno.EAGAIN, errno.ENOMEM, errno.EMFILE, errno.ENFILE):
        return say(
            "“{path}” could not be started: the system is out of resources ({reason}). Run fewer "
            "agents at once, or close other programs.",
            path=path,
            reason=reason,
        )
    return say("“{path}” could not be started ({reason}).", path=path, reason=reason)


def loss_words(code: int, trouble: str, alive: Sequence[int]) -> str:
    """The supervisor is gone: its exit code, the fault it reported if any, and who may still live."""
    signal = -code if code < 0 else code - 128  # the guard says it the second way
    words = (
        say("The process that looks after the agents ended unexpectedly (by signal {signal}).", signal=signal)
        if signal > 0
        else say("The process that looks after the agents ended unexpectedly (with code {code}).", code=code)
    )
    if trouble:
        words += " " + say("It reported: {error}.", error=trouble.strip().splitlines()[-1])
    if alive:
        pids = ", ".join(str(pid) for pid in alive)
        rest = say(
            "These processes may still be running: {pids}. End them before you resume the run.", pids=pids
        )
    else:
        rest = say("Its agents were ended too. Resume the run: finished turns are kept.")
    return f"{words} {rest}"
