"""Threads that work in Python let the window's thread go first while it shows what they wrote."""

from __future__ import annotations

import threading
import time

_PATIENCE = 0.1
"""Seconds that a thread waits at most: the window may need longer, and the work has to go on."""


class Courtesy:
    """Threads that work in Python wait here, between two pieces of work, while the window paints.

    Each call of Qt gives the interpreter's lock away and has to wait for it again; with two busy threads a
    page of text takes a quarter of a second instead of ten milliseconds. Entered by the window's thread only;
    where there is no window, nobody waits.
    """

    def __init__(self) -> None:
        self._free = threading.Event()
        self._free.set()
        self._depth = 0

    def __enter__(self) -> None:
        self._depth += 1
        self._free.clear()

    def __exit__(self, *problem: object) -> None:
        self._depth -= 1
        if not self._depth:
            self._free.set()

    def wait(self) -> None:
        """Let the window go first."""
        time.sleep(0)
        self._free.wait(_PATIENCE)


COURTESY = Courtesy()
