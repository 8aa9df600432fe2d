"""Ending a turn from outside."""

from __future__ import annotations

import threading

from core.runner import Process
from core.turn_outcome import StopCause

STOP_GRACE = 0.5
"""Seconds between asking an agent's processes to end and ending them; Stop now has 2 s in all."""


class TurnControl:
    """Ends one turn from another thread; the first cause stands."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: Process | None = None
        self.cause: StopCause | None = None

    def stop(self, cause: StopCause) -> None:
        """End the turn's processes, and start no more. Does not block."""
        with self._lock:
            if self.cause is None:
                self.cause = cause
            process = self._process
        if process is not None:
            process.request_stop(STOP_GRACE)

    def hold(self, process: Process | None) -> None:
        """The process to end, from now on."""
        with self._lock:
            self._process = process
            stopped = self.cause is not None
        if stopped and process is not None:
            process.request_stop(STOP_GRACE)
