"""The look at the computer, on a worker; what it finds arrives in the window's thread."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QRunnable, QThreadPool, Signal, SignalInstance

if TYPE_CHECKING:
    from core.doctor import Checkup

_AT_ONCE = 4
"""A look that was cancelled ends while the next one has begun."""


class _Look(QRunnable):
    """Holds only bound signals of the hub, which outlives it."""

    def __init__(self, number: int, checkup: Checkup, told: SignalInstance, ended: SignalInstance) -> None:
        super().__init__()
        self._number = number
        self._checkup = checkup
        self._told = told
        self._ended = ended

    def run(self) -> None:
        error: BaseException | None = None
        try:
            for news in self._checkup.run():
                self._told.emit(self._number, news)
        except BaseException as trouble:  # noqa: BLE001 - raised again in the window's thread
            error = trouble
        self._ended.emit(self._number, error)


class DoctorWork(QObject):
    """Runs looks, one of which counts.

    Signals: `told(int, Told)` and `ended(int, BaseException | None)` with the number that `start` gave.
    """

    told = Signal(int, object)
    ended = Signal(int, object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._pool = QThreadPool(self)
        self._pool.setMaxThreadCount(_AT_ONCE)
        self._pool.setExpiryTimeout(1_000)
        self._number = 0
        self._checkup: Checkup | None = None

    def start(self, checkup: Checkup) -> int:
        """Begin a look; an earlier one is cancelled."""
        self.cancel()
        self._number += 1
        self._checkup = checkup
        self._pool.start(_Look(self._number, checkup, self.told, self.ended))
        return self._number

    def cancel(self) -> None:
        """Nobody wants to know any more. Does not block; what was asked ends at once."""
        if self._checkup is not None:
            self._checkup.cancel()
            self._checkup = None

    def wait(self) -> None:
        """Block until nothing of it is left. Only after `cancel`."""
        self._pool.waitForDone()
