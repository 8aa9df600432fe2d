"""Where a run goes on that is not of this process: in a terminal, in another window, or nobody knows."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

import psutil

from core.events import Event, RunStarted
from core.processes import start_time

_CLOCK_SLACK = 2.0
"""Seconds by which a process's start and its run's first event may be out of order."""
_COMMANDS = frozenset({"run", "resume"})
"""Commands of the command line that make a run."""


class RunHome(StrEnum):
    """What runs it."""

    TERMINAL = "terminal"
    WINDOW = "window"
    UNKNOWN = "unknown"
    """Its process cannot be looked at: another user's, or of another computer."""


@dataclass(frozen=True, slots=True)
class Whereabouts:
    """What runs a run, and its process id; 0 where that says nothing here."""

    home: RunHome = RunHome.UNKNOWN
    pid: int = 0


def whereabouts(events: Iterable[Event]) -> Whereabouts:
    """What runs the run of these events, of which somebody holds the lock. Looks at the process; blocking."""
    latest = RunStarted()
    for event in events:
        if isinstance(event, RunStarted):
            latest = event
    if latest.pid <= 0:
        return Whereabouts()
    started = start_time(latest.pid)
    if started is None or started > latest.time + _CLOCK_SLACK:
        # The number is another process's by now, or was given by another computer.
        return Whereabouts()
    try:
        words = psutil.Process(latest.pid).cmdline()
    except psutil.Error:
        return Whereabouts(RunHome.UNKNOWN, latest.pid)
    # The first word is the program, or Python.
    home = RunHome.TERMINAL if _COMMANDS.intersection(words[1:]) else RunHome.WINDOW
    return Whereabouts(home, latest.pid)
