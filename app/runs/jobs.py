"""Work of the history on a worker: one thing after another, and each can be given up."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from PySide6.QtCore import QObject, QRunnable, QThreadPool, Signal, SignalInstance, Slot

Tell: TypeAlias = "Callable[[object], None]"
"""Sends something to the window's thread: see `Jobs.told`."""
Work: TypeAlias = "Callable[[Tell, Callable[[], bool]], None]"
"""Does it. The second argument tells whether it is to be given up. Raises nothing: it tells."""


@dataclass(frozen=True, slots=True)
class _Told:
    number: int
    what: object


class _Job(QRunnable):
    """One piece of work; it only has the bound signal of an object of the window's thread."""

    def __init__(self, number: int, work: Work, stop: threading.Event, told: SignalInstance) -> None:
        super().__init__()
        self._number = number
        self._work = work
        self._stop = stop
        self._told = told

    def run(self) -> None:
        if not self._stop.is_set():
            self._work(lambda what: self._told.emit(_Told(self._number, what)), self._stop.is_set)


class Jobs(QObject):
    """One worker. Starting something new gives up what goes on, and nothing more is heard of it.

    Signals: `told(object)`: what the latest piece of work sends, in the window's thread.
    """

    told = Signal(object)
    _told_there = Signal(object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._number = 0
        self._stop = threading.Event()
        self._pool = QThreadPool(self)
        self._pool.setMaxThreadCount(1)
        self._pool.setExpiryTimeout(5_000)
        self._told_there.connect(self._take)

    def start(self, work: Work) -> None:
        """Do this, and give up what goes on."""
        self.give_up()
        self._pool.start(_Job(self._number, work, self._stop, self._told_there))

    def give_up(self) -> None:
        """Hear no more of what goes on."""
        self._stop.set()
        self._stop = threading.Event()
        self._number += 1

    def stop(self) -> None:
        """Let what goes on end early; it still tells how far it came."""
        self._stop.set()

    def close(self) -> None:
        """The window closes: give up what goes on, and wait for the worker."""
        self.give_up()
        self._pool.clear()
        self._pool.waitForDone()

    @Slot(object)
    def _take(self, told: _Told) -> None:
        if told.number == self._number:
            self.told.emit(told.what)
