"""Which lines of a log file of any size match, found by a worker, as a map between them and all lines.

A bit for every line of a chunk that has some but not all, packed, and one number for every other chunk: ten
million lines take a megabyte at most. The map answers from that alone, without a look into the file.
"""

from __future__ import annotations

import io
import zlib
from array import array
from bisect import bisect_left, bisect_right
from collections import OrderedDict
from pathlib import Path

from core.line_kinds import EVERY_KIND, LineKind
from core.line_needle import Needle
from core.line_scan import LineScan

_KEPT = 8
"""Chunks whose lines are kept unpacked: those on the screen and their neighbours."""
_ALL, _NUMBERS, _BITS = b"a", b"n", b"b"


class LineFilter(LineScan[bytes]):
    """The lines of one file that have a needle in them (None: all lines) and are of some kinds.

    Lines that match are counted from 0, in the order of the file. Raises NeedleError.
    """

    WHOLE_LINES = True

    def __init__(
        self, path: Path, needle: Needle | None, *, structured: bool, kinds: LineKind = EVERY_KIND
    ) -> None:
        super().__init__(path, structured=structured, kinds=kinds)
        self.needle = needle
        self._finder = needle.finder() if needle is not None else None
        self._found: list[bytes] = []
        self._unpacked: OrderedDict[int, array[int]] = OrderedDict()

    def _look(
        self, file: io.FileIO, position: int, data: bytes, length: int, newlines: int
    ) -> tuple[int, bytes]:
        del file, position
        data = data[:length]
        lines = self._matching(data)
        in_all = newlines + (0 if data.endswith(b"\n") else 1)
        return len(lines), _pack(lines, in_all)

    def _keep(self, piece: bytes) -> None:
        self._found.append(piece)

    def _matching(self, data: bytes) -> list[int]:
        """The lines of a chunk that match, from 0."""
        if self._finder is None:
            lines: list[int] = []
            first = 0
            for segment in self._segments:
                end = first + _line_count(data, segment.start, segment.end)
                if segment.kind & self._kinds:
                    lines.extend(range(first, end))
                first = end
            return lines
        return self._finder.lines(data, self._hide)

    def _dropped(self) -> None:
        del self._found[len(self._starts) :]
        for chunk in [kept for kept in self._unpacked if kept >= len(self._starts)]:
            del self._unpacked[chunk]

    @property
    def line_count(self) -> int:
        """Lines that end in what was looked through."""
        with self._lock:
            return self._lines[-1]

    # --- the map ----------------------------------------------------------------------------------------

    def line_of(self, number: int) -> int:
        """The line of the file that matches as the `number`-th; beyond the last: the first line after all."""
        with self._lock:
            if not 0 <= number < self._totals[-1]:
                return self._lines[-1]
            chunk = bisect_right(self._totals, number) - 1
            return self._lines[chunk] + self._lines_in(chunk)[number - self._totals[chunk]]

    def number_of(self, line: int) -> int:
        """How many lines that match stand before this one."""
        with self._lock:
            chunk = bisect_right(self._lines, line, 0, len(self._starts)) - 1
            if chunk < 0:
                return 0
            lines = self._lines_in(chunk)
            return self._totals[chunk] + bisect_left(lines, line - self._lines[chunk])

    def _lines_in(self, chunk: int) -> array[int]:
        known = self._unpacked.get(chunk)
        if known is None:
            known = _unpack(self._found[chunk], self._totals[chunk + 1] - self._totals[chunk])
            self._unpacked[chunk] = known
            if len(self._unpacked) > _KEPT:
                self._unpacked.popitem(last=False)
        else:
            self._unpacked.move_to_end(chunk)
        return known


def _line_count(data: bytes, start: int, end: int) -> int:
    return data.count(b"\n", start, end) + (0 if data[end - 1 : end] == b"\n" else 1)


def _pack(lines: list[int], in_all: int) -> bytes:
    if len(lines) in (0, in_all):
        return _ALL
    if len(lines) * 32 < in_all:
        return _NUMBERS + array("I", lines).tobytes()
    bits = bytearray((in_all + 7) // 8)
    for line in lines:
        bits[line >> 3] |= 1 << (line & 7)
    return _BITS + zlib.compress(bits, 1)


def _unpack(packed: bytes, count: int) -> array[int]:
    if packed == _ALL:
        return array("I", range(count))
    if packed.startswith(_NUMBERS):
        return array("I", packed[1:])
    bits = zlib.decompress(packed[1:])
    return array("I", [8 * at + bit for at, byte in enumerate(bits) if byte for bit in _SET[byte]])


_SET = tuple(tuple(bit for bit in range(8) if byte >> bit & 1) for byte in range(256))
