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
        return await asyncio.get_running_loop().run_in_executor(self._pool, work)

    def close(self) -> None:
        """Wait for all work to end."""
        self._pool.shutdown(wait=True)
