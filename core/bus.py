"""How events travel: from any thread into the journal at once, and in batches into the loop's thread."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Callable, Sequence

from core.events import Event
from core.journal import Journal

BATCH_SECONDS = 0.016
"""Events that come within one frame are delivered together."""


class EventBus:
    """The events of one run.

    `publish` may be called from any thread; the event is in the journal when it returns (JournalError when
    not). Listeners are called in the loop's thread, in the order of publishing.
    """

    def __init__(self, journal: Journal, listener: Callable[[Sequence[Event]], None]) -> None:
        self._journal = journal
        self._listener = listener
        self._loop = asyncio.get_running_loop()
        self._lock = threading.Lock()
        self._pending: list[Event] = []
        self._scheduled = False

    def publish(self, event: Event) -> None:
        """Journal an event and pass it on."""
        with self._lock:
            # In one step, so that who watches sees the journal's order.
            if event.journaled:
                self._journal.append(event)
            self._pending.append(event)
        self._schedule()

    def pass_on(self, event: Event) -> None:
        """Tell who watches of an event that the journal could not take."""
        with self._lock:
            self._pending.append(event)
        self._schedule()

    def _schedule(self) -> None:
        with self._lock:
            if self._scheduled:
                return
            self._scheduled = True
        with contextlib.suppress(RuntimeError):  # the loop is closed: nobody is watching any more
            self._loop.call_soon_threadsafe(self._loop.call_later, BATCH_SECONDS, self.deliver)

    def sync(self) -> None:
        """Return when everything published so far is on disk. Blocks."""
        self._journal.sync()

    def deliver(self) -> None:
        """Call the listener with what is waiting. In the loop's thread only."""
        with self._lock:
            batch, self._pending = self._pending, []
            self._scheduled = False
        if batch:
            self._listener(batch)
