"""Where turns run in the desktop application: a QThreadPool, and the hub that brings results back.

A runnable holds only the hub's bound signal; the hub lives in the window's thread and dies last, so no result
is lost when a runnable is gone before its signal is delivered.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from PySide6.QtCore import QObject, QRunnable, QThreadPool, Signal, SignalInstance, Slot

if TYPE_CHECKING:
    import asyncio

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class _Done:
    """What a piece of work came to; `error` None: it returned `value`."""

    future: asyncio.Future[object]
    value: object = None
    error: BaseException | None = None


class _Work(QRunnable):
    def __init__(
        self, work: Callable[[], object], future: asyncio.Future[object], done: SignalInstance
    ) -> None:
        super().__init__()
        self._work = work
        self._future = future
        self._done = done

    def run(self) -> None:
        try:
            result = _Done(self._future, self._work())
        except BaseException as error:  # noqa: BLE001 - raised again where the work is awaited
            result = _Done(self._future, error=error)
        self._done.emit(result)


class QtExecutor(QObject):
    """Runs work of a run on a pool of its own (the global one has only as many threads as cores).

    Signals: `_done(object)`, from workers to the window's thread.
    """

    _done = Signal(object)

    def __init__(self, threads: int, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._pool = QThreadPool(self)
        self._pool.setMaxThreadCount(threads)
        self._pool.setExpiryTimeout(5_000)
        self._done.connect(self._finish)

    def ensure_threads(self, threads: int) -> None:
        """Have at least this many threads."""
        self._pool.setMaxThreadCount(max(threads, self._pool.maxThreadCount()))

    async def call(self, work: Callable[[], T]) -> T:
        """Run `work` on a worker and give what it returns or raises. In the window's thread."""
        # Not above: the window is painted before there is a loop.
        import asyncio

        future: asyncio.Future[object] = asyncio.get_running_loop().create_future()
        self._pool.start(_Work(work, future, self._done))
        return await future  # type: ignore[return-value]  # what `work` returned

    def wait(self) -> None:
        """Block until all work is done. Only when nothing can hang any more."""
        self._pool.waitForDone()

    @Slot(object)
    def _finish(self, done: _Done) -> None:
        if done.future.done():
            return
        if done.error is not None:
            done.future.set_exception(done.error)
        else:
            done.future.set_result(done.value)
