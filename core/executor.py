"""Where blocking work of a run is done: the engine awaits it and never blocks itself."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Protocol, TypeVar

T = TypeVar("T")


class Executor(Protocol):
    """Runs work on other threads (a thread pool, a QThreadPool, a cluster)."""

    async def call(self, work: Callable[[], T]) -> T:
        """Run `work` elsewhere and give what it returns or raises. Must not be cancelled."""


class ThreadExecutor:
    """A plain pool of threads, for headless runs. `threads`: how many pieces of work run at once."""

    def __init__(self, threads: int) -> None:
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="turn")

    async def call(self, work: Callable[[], T]) -> T:
        # Not `run_in_executor`: between two futures, each with callbacks into the other, it spends as much as
        # the rest of the call.
        loop = asyncio.get_running_loop()
        done: asyncio.Future[T] = loop.create_future()
        self._pool.submit(_work_and_tell, work, done, loop)
        return await done

    def close(self) -> None:
        """Wait for all work to end."""
        self._pool.shutdown(wait=True)


def _work_and_tell(work: Callable[[], T], done: asyncio.Future[T], loop: asyncio.AbstractEventLoop) -> None:
    try:
        result = work()
    except BaseException as error:  # noqa: BLE001 - raised again where the work is awaited
        loop.call_soon_threadsafe(_fail, done, error)
    else:
        loop.call_soon_threadsafe(_succeed, done, result)


def _succeed(done: asyncio.Future[T], result: T) -> None:
    if not done.done():
        done.set_result(result)


def _fail(done: asyncio.Future[T], error: BaseException) -> None:
    if not done.done():
        done.set_exception(error)
