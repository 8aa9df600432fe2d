"""Following a journal that another process writes: what was appended since the last look."""

from __future__ import annotations

from pathlib import Path

from core.events import Event
from core.journal import event_of

_AT_ONCE = 4 * 1024 * 1024
"""Bytes that one look reads at most; the rest comes with the next one."""


class JournalReplaced(Exception):  # noqa: N818 - says what is so
    """The journal is shorter than it was: it is not the one that was followed any more."""


class JournalTail:
    """Reads only what is new. `known`: the first so many events are known and are passed over.

    A line counts when its end is there, so that none is read half. Used by one thread at a time.
    """

    def __init__(self, path: Path, known: int = 0) -> None:
        self._path = path
        self._known = known
        self._at = 0
        self._rest = b""
        """The beginning of a line whose end is not there yet."""

    def read(self) -> list[Event]:
        """The events since the last call, in order; [] where there are none yet. Blocking.

        Raises OSError, and JournalReplaced.
        """
        found: list[Event] = []
        while True:
            data = self._more()
            if not data:
                return found
            lines = (self._rest + data).split(b"\n")
            self._rest = lines.pop()
            for line in lines:
                event = event_of(line)
                if event is None:
                    continue
                if self._known:
                    self._known -= 1
                else:
                    found.append(event)
            if found:
                return found

    def _more(self) -> bytes:
        size = self._path.stat().st_size
        if size < self._at:
            raise JournalReplaced
        if size == self._at:
            return b""
        with self._path.open("rb") as file:
            file.seek(self._at)
            data = file.read(_AT_ONCE)
        self._at += len(data)
        return data
