"""The file behind a log view: small growth is indexed at once, big files by a thread that ends by itself."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable
from pathlib import Path

from core.line_index import SLICE, IndexSnapshot, LineIndex, LogLine
from core.transcript import FOLD_HEADER

_AT_ONCE = 128 * 1024
"""Bytes that the window's thread may index in one go: well under a millisecond."""
_PATIENCE = 0.1
"""Seconds that the window waits for a thread to end; a slow expression or a slow disk takes longer."""
_LINGER = 0.5
"""Seconds for which a thread without work stays."""
_BIG = 64 * 1024 * 1024
_REST = 0.002
"""Seconds between two slices while a file grows fast: the window's thread gets its turn. A big file that
was there before is read without rests."""


class BackgroundJob:
    """At most one thread that does one thing; it is asked to end, and waited for, by `stop`.

    It stays for a moment, so that the next work finds it: the window has to wait for a new thread until that
    has got a processor, and beside agents that keep them all this takes long.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._thread: threading.Thread | None = None
        self._turn = threading.Condition()
        self._work: Callable[[], None] | None = None
        self._busy = self._idle = False
        self.stopping = threading.Event()

    @property
    def running(self) -> bool:
        """Whether the thread is at work."""
        return self._busy

    def start(self, work: Callable[[], None]) -> None:
        """Do `work` in a thread, unless one is at work. `work` looks at `stopping`."""
        with self._turn:
            if self._busy:
                return
            self.stopping.clear()
            self._busy, self._work = True, work
            if self._idle:
                self._idle = False
                self._turn.notify_all()
                return
            self._thread = threading.Thread(target=self._run, name=self._name, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        try:
            while (work := self._next()) is not None:
                work()
                # What it worked for may be gone while it waits for more.
                del work
        finally:
            with self._turn:
                if self._thread is threading.current_thread():
                    self._busy = False

    def _next(self) -> Callable[[], None] | None:
        """What this thread has to do; None: it ends, and the next work needs another."""
        with self._turn:
            if self._work is None:
                self._busy = False
                self._idle = not self.stopping.is_set()
                self._turn.wait_for(self._is_called, _LINGER)
            if self._thread is not threading.current_thread():
                # It was asked to end, and another thread came before it noticed.
                return None
            self._idle = False
            work, self._work = self._work, None
            return work

    def _is_called(self) -> bool:
        return not self._idle

    def ask_to_stop(self) -> None:
        """Ask the thread to end, and do not wait."""
        self.stopping.set()
        with self._turn:
            self._idle = False
            self._turn.notify_all()

    def stop(self) -> None:
        """Ask the thread to end and wait for it, but not long: what takes longer ends by itself."""
        self.ask_to_stop()
        if self._thread is not None:
            self._thread.join(_PATIENCE)
            if not self._thread.is_alive():
                self._thread = None


class LogSource:
    """The lines of one log file, kept up to date by `poll`, which takes the caller under a millisecond.

    `structured`: the file is a transcript; else its bytes are shown as they are.
    """

    def __init__(self, path: Path, *, structured: bool) -> None:
        self.path = path
        self.structured = structured
        pattern: re.Pattern[bytes] | None = FOLD_HEADER if structured else None
        self._index = LineIndex(path, pattern)
        self._job = BackgroundJob("log-index")

    @property
    def behind(self) -> int:
        """Bytes that are not indexed; -1 when what is indexed is no longer there."""
        return self._index.behind()

    def poll(self) -> IndexSnapshot:
        """What is known now; sees to it that more becomes known."""
        behind = self._index.behind()
        if behind and not self._job.running:
            if behind <= _AT_ONCE:
                self._index.advance(_AT_ONCE)
            else:
                self._job.start(self._catch_up)
        return self._index.snapshot()

    def read(self, first: int, count: int) -> list[LogLine]:
        """Some lines of what is known."""
        return self._index.read(first, count)

    def line_at(self, offset: int) -> int:
        """The line that holds a byte of the file."""
        return self._index.line_at(offset)

    def close(self) -> None:
        """End the thread; `poll` starts it again when needed."""
        self._job.stop()

    def _catch_up(self) -> None:
        left = max(0, self._index.behind())
        pause = _REST if left < _BIG else 0.0
        while left >= 0 and not self._job.stopping.is_set() and self._index.advance(2 * SLICE):
            left -= 2 * SLICE
            if pause and self._job.stopping.wait(pause):
                return
