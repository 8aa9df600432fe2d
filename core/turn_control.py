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
        self._winding_down: StopCause | None = None

    @property
    def refusal(self) -> StopCause | None:
        """Why no further process of the turn may start; None: one may."""
        return self.cause or self._winding_down

    def wind_down(self, cause: StopCause) -> None:
        """Start no more processes; the one at work goes on to its end."""
        self._winding_down = self._winding_down or cause

    def start_over(self) -> bool:
        """Forget that a retry was asked for, so that it can be made; False: something else ends the turn."""
        with self._lock:
            if self.cause is not StopCause.RETRY:
                return False
            self.cause = None
            return True

    def stop(self, cause: StopCause) -> None:
        """End the turn's processes, and start no more. Does not block."""
        with self._lock:
            if self.cause in (None, StopCause.RETRY):
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
