"""Going through a log file of any size in a worker, chunk by chunk, again from its end when it grew.

What a subclass finds in a chunk is its own; here is which chunk is where, at which line it begins, and of
which kinds its lines are. The table grows by a few numbers for every chunk of the file, by nothing else.
"""

from __future__ import annotations

import io
import threading
from array import array
from collections.abc import Callable
from pathlib import Path
from typing import Generic, TypeVar

from core.line_kinds import EVERY_KIND, KindState, LineKind, Segment, blank_others, segments
from core.line_needle import TooSlowError, hide

Piece = TypeVar("Piece")
"""What a subclass keeps of a chunk."""


def _none() -> None:
    """Nobody is in a hurry."""


class LineScan(Generic[Piece]):
    """One pass over one file. `structured`: it is a transcript, whose marks are not part of its text.

    `kinds`: only lines of these count. `run` belongs to a worker and may be called again after the file grew;
    everything else is safe meanwhile.
    """

    CHUNK = 128 * 1024
    """Bytes that are looked through in one go: so few that they stay in its caches for several passes."""
    COUNTS_LINES = True
    """Whether it is known of every chunk at which line it begins: a third of the time that a chunk takes."""
    WHOLE_LINES = False
    """Whether a chunk always ends with a line; of a line that is longer only the beginning is looked at."""

    def __init__(self, path: Path, *, structured: bool, kinds: LineKind = EVERY_KIND) -> None:
        self.path = path
        self.too_slow = False
        """Whether the expression took so long that the rest of the file was not looked through."""
        self._structured = structured
        self._kinds = kinds
        self._by_kind = structured and kinds != EVERY_KIND
        self._overlap = 0
        self.courtesy: Callable[[], object] = _none
        """Called between chunks: where the scan waits for somebody who is in a hurry."""
        self._cancelled = threading.Event()
        self._lock = threading.Lock()
        self._scanned = 0
        self._end = 0
        self._finished = False
        self._segments: list[Segment] = []
        """Of the chunk that is being looked at."""
        self._forget()

    def _forget(self) -> None:
        self._starts = array("Q")
        self._totals = array("Q", [0])
        self._lines = array("Q", [0])
        """Lines before each chunk, and in all."""
        self._states = [KindState()]
        self._scanned = 0

    @property
    def count(self) -> int:
        """What was found so far."""
        with self._lock:
            return self._totals[-1]

    @property
    def scanned(self) -> int:
        """Bytes looked through so far."""
        return self._scanned

    @property
    def share(self) -> float:
        """How much of the file was looked through, 0 to 1."""
        return self._scanned / self._end if self._end else 1.0

    @property
    def finished(self) -> bool:
        """Whether the file was looked through to the end that it had when `run` was called."""
        return self._finished

    def cancel(self) -> None:
        """Make `run` return soon, also one whose thread has yet to begin, until `allow`."""
        self._cancelled.set()

    def allow(self) -> None:
        """Let the next `run` look again. Not `run` itself: it may begin after it was cancelled."""
        self._cancelled.clear()

    def run(self, pause: float = 0.0) -> None:
        """Look through the file from where the last call ended. `pause`: seconds to rest after each chunk."""
        self._finished = False
        try:
            with self.path.open("rb", buffering=0) as file:
                self._end = file.seek(0, 2)
                again = self._begin(self._end)
                while self._scanned < self._end and not self._cancelled.is_set():
                    self.courtesy()
                    if not self._step(file, again) or (pause and self._cancelled.wait(pause)):
                        return
                    again = False
        except OSError:
            # The file is gone, or not there yet: what is known stays until it comes back.
            pass
        except TooSlowError:
            self.too_slow = True
        self._finished = not self._cancelled.is_set()

    def _begin(self, end: int) -> bool:
        """Whether the last chunk is looked through again, because its last line may have grown."""
        if end >= self._scanned:
            return bool(self._starts) and end > self._scanned
        with self._lock:
            self._forget()
            self._dropped()
        return False

    def _step(self, file: io.FileIO, again: bool) -> bool:
        """Look through the next chunk, or the last one `again`: what was found there counts until then."""
        before = -2 if again else -1
        position = self._starts[-1] if again else self._scanned
        file.seek(position)
        data = file.read(min(self.CHUNK + self._overlap, self._end - position))
        if not data:
            return False
        length = self._chunk_length(data, last=position + len(data) >= self._end)
        beyond = 0
        if self.WHOLE_LINES and data[length - 1 : length] != b"\n":
            beyond = self._skip_line(file, position + length)
        chunk = data[:length]
        state = KindState()
        self._segments = [Segment(0, length, LineKind.TEXT)]
        if self._by_kind:
            self._segments, state = segments(chunk, self._states[before])
        if beyond and state.cut is not None:
            state = KindState(state.results, state.kind)
        if data[length - 1 : length] == b"\n":
            data = chunk
        if self._by_kind:
            data = blank_others(chunk, self._segments, self._kinds)
        newlines = chunk.count(b"\n") if self.COUNTS_LINES else 0
        looked = self._look(file, position, data, length, newlines)
        if looked is None:
            return False
        found, piece = looked
        newlines += 1 if beyond and position + length + beyond <= self._end else 0
        with self._lock:
            if again:
                for table in (self._starts, self._totals, self._lines, self._states):
                    table.pop()
                self._dropped()
            self._keep(piece)
            self._starts.append(position)
            self._totals.append(self._totals[-1] + found)
            self._lines.append(self._lines[-1] + newlines)
            self._states.append(state)
            self._scanned = position + length + beyond
        return True

    def _look(
        self, file: io.FileIO, position: int, data: bytes, length: int, newlines: int
    ) -> tuple[int, Piece] | None:
        """How much there is in the first `length` bytes of `data`, and what to keep of it; lines of other
        kinds are blank. They are at `position` of the file and have so many `newlines`, where these are
        counted. None: it was cancelled meanwhile."""
        raise NotImplementedError

    def _keep(self, piece: Piece) -> None:
        """Keep what was found in one more chunk. Called with the lock."""
        raise NotImplementedError

    def _dropped(self) -> None:
        """What was found in chunks that are not in the table any more no longer counts. Called with the
        lock."""
        raise NotImplementedError

    def _hide(self, data: bytes) -> bytes:
        return hide(data, structured=self._structured)

    def _chunk_length(self, data: bytes, *, last: bool) -> int:
        """Chunks end with a line, so that no match is cut; inside of an endless line, anywhere."""
        if last and len(data) <= self.CHUNK:
            return len(data)
        newline = data.rfind(b"\n", 0, self.CHUNK)
        return newline + 1 if newline >= 0 else min(len(data), self.CHUNK)

    def _skip_line(self, file: io.FileIO, position: int) -> int:
        """Bytes to the end of the line at `position`, with its newline."""
        skipped = 0
        file.seek(position)
        while not self._cancelled.is_set():
            data = file.read(self.CHUNK)
            newline = data.find(b"\n")
            if newline >= 0 or not data:
                return skipped + newline + 1
            skipped += len(data)
        return skipped

    def _chunk(self, number: int) -> tuple[int, int, bytes]:
        """A chunk that was looked through: where it begins and ends, and its bytes with what a match needs
        beyond them. Raises OSError, also when the file was cut meanwhile, so that there is no such chunk."""
        with self._lock:
            if number >= len(self._starts):
                raise FileNotFoundError(self.path)
            start = self._starts[number]
            end = self._starts[number + 1] if number + 1 < len(self._starts) else self._scanned
            state = self._states[number]
        with self.path.open("rb", buffering=0) as file:
            file.seek(start)
            data = file.read(end - start + self._overlap)
        if self._by_kind:
            chunk = data[: end - start]
            data = blank_others(chunk, segments(chunk, state)[0], self._kinds)
        return start, end, data
