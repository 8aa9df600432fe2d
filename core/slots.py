"""How many turns of a group may be at work at once."""

from __future__ import annotations

import asyncio
from collections import deque

from core.run_context import LiveTurn


class Slots:
    """Slots of a group. Who waits is served in order; who is not wanted any more waits no longer.

    Not `asyncio.Semaphore`: to give up waiting for that takes two more tasks for each turn, and of a thousand
    turns nearly all wait.
    """

    def __init__(self, count: int) -> None:
        self._free = count
        self._waiting: deque[asyncio.Future[bool]] = deque()

    async def acquire(self, live: LiveTurn) -> bool:
        """Wait for a slot; False when the turn is let go before there is one."""
        if live.no_more.is_set():
            return False
        if self._free:
            self._free -= 1
            return True
        served: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        self._waiting.append(served)
        live.slot = served
        try:
            return await served
        except asyncio.CancelledError:
            if served.done() and not served.cancelled() and served.result():
                self.release()
            raise
        finally:
            live.slot = None

    def release(self) -> None:
        """Give a slot back."""
        while self._waiting:
            served = self._waiting.popleft()
            if not served.done():
                served.set_result(True)
                return
        self._free += 1
