"""Finding text in a log file of any size: counted once in a worker, then stepped through at once.

The worker keeps the number of matches of every megabyte, nothing else; the next and the previous match
are then found by looking into one megabyte. Case does not matter. Matches do not span lines.
"""

from __future__ import annotations

import re
import threading
from array import array
from bisect import bisect_right
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path

from core.transcript import HEADER

_CHUNK = 1024 * 1024
_ESCAPE = re.compile(rb"\x1b\[[0-9;:?]*[@-~]")
_OVERPRINTED = re.compile(rb"(?m)^[^\n]*\r(?![\r\n]|\Z)")


@dataclass(frozen=True, slots=True)
class Match:
    """Where a match is in the file, in bytes, and the how-manieth it is (from 1)."""

    offset: int
    length: int
    ordinal: int


class LineSearch:
    """One needle in one file. `structured`: the file is a transcript, whose marks are not part of its text.

    `run` belongs to a worker and may be called again after the file grew; everything else is safe meanwhile.
    """

    def __init__(self, path: Path, needle: str, *, structured: bool) -> None:
        self.path = path
        self.needle = needle
        self._structured = structured
        self._pattern = _bytes_pattern(needle)
        self._plain = needle.lower().encode() if needle.isascii() else None
        self._overlap = max(0, max(len(needle.lower().encode()), len(needle.upper().encode())) - 1)
        self._cancelled = threading.Event()
        self._lock = threading.Lock()
        self._starts = array("Q")
        self._totals = array("Q", [0])
        self._scanned = 0
        self._finished = False

    @property
    def count(self) -> int:
        """Matches found so far."""
        with self._lock:
            return self._totals[-1]

    @property
    def scanned(self) -> int:
        """Bytes looked through so far."""
        return self._scanned

    @property
    def finished(self) -> bool:
        """Whether the file was looked through to the end that it had when `run` was called."""
        return self._finished

    def cancel(self) -> None:
        """Make `run` return soon."""
        self._cancelled.set()

    def run(self, pause: float = 0.0) -> None:
        """Look through the file from where the last call ended. `pause`: seconds to rest after each chunk."""
        self._finished = False
        self._cancelled.clear()
        try:
            with self.path.open("rb", buffering=0) as file:
                end = file.seek(0, 2)
                self._drop_unfinished_line(end)
                position = self._scanned
                while position < end and not self._cancelled.is_set():
                    file.seek(position)
                    data = file.read(min(_CHUNK + self._overlap, end - position))
                    if not data:
                        break
                    length = self._chunk_length(data, last=position + len(data) >= end)
                    found = self._count_in(data, length)
                    with self._lock:
                        self._starts.append(position)
                        self._totals.append(self._totals[-1] + found)
                        position += length
                        self._scanned = position
                    if pause and self._cancelled.wait(pause):
                        return
        except OSError:
            pass
        self._finished = not self._cancelled.is_set()

    def _drop_unfinished_line(self, end: int) -> None:
        """The last chunk is looked through again when the file grew: its last line may have grown."""
        with self._lock:
            if end < self._scanned:
                self._starts, self._totals, self._scanned = array("Q"), array("Q", [0]), 0
            elif self._starts and end > self._scanned:
                self._scanned = self._starts.pop()
                self._totals.pop()

    def _chunk_length(self, data: bytes, *, last: bool) -> int:
        """Chunks end with a line, so that no match is cut; inside of an endless line, anywhere."""
        if last and len(data) <= _CHUNK:
            return len(data)
        newline = data.rfind(b"\n", 0, _CHUNK)
        return newline + 1 if newline >= 0 else min(len(data), _CHUNK)

    def _count_in(self, data: bytes, length: int) -> int:
        """Matches that begin in the first `length` bytes."""
        if data[length - 1 : length] == b"\n":
            data = data[:length]
        if self._plain is not None:
            data = data[: length + self._overlap]
            lowered = data.lower()
            if self._plain not in lowered:
                return 0
            if not self._hides(data):
                return lowered.count(self._plain)
            return self._visible(data).lower().count(self._plain)
        if self._pattern.search(data) is None:
            return 0
        return sum(1 for match in self._pattern.finditer(self._visible(data)) if match.start() < length)

    def _hides(self, data: bytes) -> bool:
        return b"\x1b" in data or b"\r" in data or (self._structured and b"\x1e" in data)

    def _visible(self, data: bytes) -> bytes:
        """The bytes with what is not shown blanked out, at the same offsets."""
        if self._structured and b"\x1e" in data:
            data = HEADER.sub(_blank, data)
        if b"\x1b" in data:
            data = _ESCAPE.sub(_blank, data)
        if b"\r" in data:
            data = _OVERPRINTED.sub(_blank, data)
        return data

    # --- stepping ---------------------------------------------------------------------------------------

    def after(self, offset: int) -> Match | None:
        """The first match that begins at `offset` or later, in what was looked through."""
        with self._lock:
            chunk = max(0, bisect_right(self._starts, offset) - 1)
        found = self._with_matches(chunk, 1)
        while found is not None:
            match = next((match for match in self._matches(found) if match.offset >= offset), None)
            if match is not None:
                return match
            found = self._with_matches(found + 1, 1)
        return None

    def before(self, offset: int) -> Match | None:
        """The last match that begins before `offset`."""
        with self._lock:
            chunk = bisect_right(self._starts, offset) - 1
        found = self._with_matches(chunk, -1)
        while found is not None:
            last = deque(takewhile(lambda match: match.offset < offset, self._matches(found)), maxlen=1)
            if last:
                return last[0]
            found = self._with_matches(found - 1, -1)
        return None

    def place_in_line(self, match: Match, line_start: int) -> int:
        """How many matches stand before this one in its line."""
        with self._lock:
            chunk = bisect_right(self._starts, match.offset) - 1
        return sum(1 for other in self._matches(chunk) if line_start <= other.offset < match.offset)

    def _with_matches(self, chunk: int, step: int) -> int | None:
        with self._lock:
            while 0 <= chunk < len(self._starts):
                if self._totals[chunk + 1] > self._totals[chunk]:
                    return chunk
                chunk += step
        return None

    def _matches(self, chunk: int) -> Iterator[Match]:
        """The matches of a chunk, found one after the other: a megabyte may hold a million."""
        with self._lock:
            if not 0 <= chunk < len(self._starts):
                return
            start, before = self._starts[chunk], self._totals[chunk]
            end = self._starts[chunk + 1] if chunk + 1 < len(self._starts) else self._scanned
        try:
            with self.path.open("rb", buffering=0) as file:
                file.seek(start)
                data = self._visible(file.read(end - start + self._overlap))
        except OSError:
            return
        for number, found in enumerate(self._pattern.finditer(data), 1):
            first, stop = found.span()
            if first >= end - start:
                return
            yield Match(start + first, stop - first, before + number)


def _blank(match: re.Match[bytes]) -> bytes:
    return b"\x00" * len(match[0])


def _bytes_pattern(needle: str) -> re.Pattern[bytes]:
    """The needle in either case, as a pattern over UTF-8 bytes."""
    parts: list[bytes] = []
    for character in needle:
        cases = {character, character.lower(), character.upper()}
        parts.append(
            b"(?:" + b"|".join(re.escape(case.encode("utf-8", "replace")) for case in sorted(cases)) + b")"
        )
    return re.compile(b"".join(parts))


def text_pattern(needle: str) -> re.Pattern[str]:
    """The same needle over text, for highlighting what `LineSearch` finds."""
    parts: list[str] = []
    for character in needle:
        cases = {character, character.lower(), character.upper()}
        parts.append("(?:" + "|".join(re.escape(case) for case in sorted(cases)) + ")")
    return re.compile("".join(parts))
