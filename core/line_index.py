"""Lines of a file that grows, without holding the file: any window of lines in microseconds.

The index keeps one number for every 16 KiB of file (the newlines before it), so ten million lines cost a
few hundred kilobytes. It follows a file that does not exist yet, grows, is truncated or replaced. Indexing
is done in slices, by whichever thread calls `advance`; reading is safe from another thread meanwhile.
"""

from __future__ import annotations

import io
import os
import re
import threading
from array import array
from bisect import bisect_left
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from core.carried_looks import OVERLAP, LooksTable, begins_plain, carried_looks

STRIDE = 16 * 1024
SLICE = 256 * 1024
CLIP = 4096
"""Bytes that are read of a long line."""
_WINDOW = 64 * 1024
_LINE_GUESS = 160
"""Bytes of a line that a first read expects."""
_MARK_ROOM = 256
"""A line's mark is within this many bytes of its start."""


@dataclass(slots=True)
class Marks:
    """Lines that a pattern marked: `lines[i]` is the line, `values[i]` the number in the pattern's group 1,
    `totals[i]` the sum of the values before it."""

    lines: array[int] = field(default_factory=lambda: array("Q"))
    values: array[int] = field(default_factory=lambda: array("I"))
    totals: array[int] = field(default_factory=lambda: array("Q"))

    def append(self, line: int, value: int) -> None:
        """Add a mark; `lines` grows last, so a reader that saw it finds the rest.

        A mark among the lines that the one before it counts is none.
        """
        if self.lines and line <= self.lines[-1] + self.values[-1]:
            return
        total = self.totals[-1] + self.values[-1] if self.totals else 0
        self.totals.append(total)
        self.values.append(value)
        self.lines.append(line)


@dataclass(frozen=True, slots=True)
class IndexSnapshot:
    """What is known of the file at one moment. Another `generation`: earlier lines are no longer valid."""

    generation: int
    lines: int
    size: int
    """Bytes indexed."""
    marks: Marks
    mark_count: int


class LogLine(NamedTuple):
    """One line as bytes, without its newline. `clipped`: how many bytes more the line has; `looks`: what is
    on at its beginning (see `carried_looks`)."""

    number: int
    offset: int
    data: bytes
    clipped: int = 0
    looks: bytes = b""


_new_tuple = tuple.__new__
"""Makes a `LogLine` of its fields in half of the time."""


class LineIndex:
    """The lines of `path`. `mark`: a pattern, found at the start of lines only, whose group 1 is a number."""

    def __init__(self, path: Path, mark: re.Pattern[bytes] | None = None) -> None:
        self.path = path
        self._name = str(path)
        self._mark = mark
        self._advancing = threading.Lock()
        self._lock = threading.Lock()
        self._generation = 0
        self._forget()

    def _forget(self) -> None:
        self._counts = array("Q", [0])
        self._newlines = 0
        self._size = 0
        self._last_start = 0
        self._tail = b""
        self._identity: tuple[int, int] | None = None
        self._marks = Marks()
        self._looks = LooksTable(structured=self._mark is not None)
        self._generation += 1

    # --- indexing ---------------------------------------------------------------------------------------

    def behind(self) -> int:
        """Bytes of the file that are not indexed; -1 when what is indexed is no longer there. Cheap."""
        try:
            status = self.path.stat()
        except OSError:
            return -1 if self._size else 0
        if status.st_size < self._size or self._identity not in (None, (status.st_dev, status.st_ino)):
            return -1
        return status.st_size - self._size

    def advance(self, max_bytes: int = SLICE) -> bool:
        """Index up to `max_bytes` more. Whether more is left. Returns at once when a thread is at it."""
        if not self._advancing.acquire(blocking=False):
            return True
        try:
            return self._advance(max_bytes)
        finally:
            self._advancing.release()

    def _advance(self, max_bytes: int) -> bool:
        try:
            file = self.path.open("rb", buffering=0)
        except OSError:
            if self._size:
                with self._lock:
                    self._forget()
            return False
        with file:
            status = os.fstat(file.fileno())
            identity = (status.st_dev, status.st_ino)
            if self._size and not self._continues(file, identity, status.st_size):
                with self._lock:
                    self._forget()
            self._identity = identity
            limit = min(status.st_size, self._size + max_bytes)
            while self._size < limit:
                file.seek(self._size)
                data = file.read(min(SLICE, limit - self._size))
                if not data:
                    return False
                held = self._held_back(data)
                if held == len(data):
                    if self._size + held >= status.st_size:
                        return False
                    data += file.read(_MARK_ROOM)
                    held = 0
                self._take(data[: len(data) - held] if held else data)
            return self._size < status.st_size

    def _continues(self, file: io.FileIO, identity: tuple[int, int], size: int) -> bool:
        """Whether the file is the one that was indexed, as far as that can be seen cheaply."""
        if size < self._size or self._identity != identity:
            return False
        file.seek(self._size - len(self._tail))
        return file.read(len(self._tail)) == self._tail

    def _held_back(self, data: bytes) -> int:
        """Bytes at the end of `data` that may be half a mark and must be seen together with what follows."""
        if self._mark is None:
            return 0
        start = data.rfind(b"\x1e", max(0, len(data) - _MARK_ROOM))
        if start < 0 or data.find(b"\n", start) >= 0:
            return 0
        return len(data) - start

    def _take(self, data: bytes) -> None:
        """Count the newlines of the next bytes of the file."""
        start, end = self._size, self._size + len(data)
        counts: list[int] = []
        newlines, position = self._newlines, start
        looks = self._looks
        looks.any = looks.any or b"\x1b" in data
        seen = self._tail + data if looks.any else b""
        shift = len(self._tail) - start
        while position < end:
            stop = min(end, (position // STRIDE + 1) * STRIDE)
            newlines += data.count(b"\n", position - start, stop - start)
            if looks.any:
                looks.take(seen[max(0, position + shift - OVERLAP) : stop + shift])
            position = stop
            if stop % STRIDE == 0:
                counts.append(newlines)
                looks.keep(stop // STRIDE)
        marks = self._marks_of(data) if self._mark is not None and b"\x1e" in data else []
        last = data.rfind(b"\n")
        with self._lock:
            self._counts.extend(counts)
            for line, value in marks:
                self._marks.append(line, value)
            self._newlines = newlines
            if last >= 0:
                self._last_start = start + last + 1
            self._tail = (self._tail + data[-OVERLAP:])[-OVERLAP:]
            self._size = end

    def _marks_of(self, data: bytes) -> list[tuple[int, int]]:
        assert self._mark is not None
        found: list[tuple[int, int]] = []
        line, position = self._newlines, 0
        for match in self._mark.finditer(data):
            line += data.count(b"\n", position, match.start())
            position = match.start()
            value = int(match[1][:9])
            if value:
                found.append((line, value))
        return found

    # --- reading ----------------------------------------------------------------------------------------

    def snapshot(self) -> IndexSnapshot:
        """What is known now."""
        with self._lock:
            return IndexSnapshot(
                self._generation, self._line_count, self._size, self._marks, len(self._marks.lines)
            )

    @property
    def _line_count(self) -> int:
        return self._newlines + (1 if self._size > self._last_start else 0)

    def read(self, first: int, count: int, clip: int = CLIP) -> list[LogLine]:
        """Lines `first` to `first + count` of what is indexed, fewer at the end; [] when the file is gone.

        Of a line longer than `clip` bytes its beginning is read; of a progress bar (carriage returns) what is
        after the last of them.
        """
        with self._lock:
            size = self._size
            last = min(first + count, self._line_count)
        if first < 0 or first >= last:
            return []
        try:
            with io.FileIO(self._name) as file:
                return self._read(file, first, last, size, clip)
        except OSError:
            return []

    def _read(self, file: io.FileIO, first: int, last: int, size: int, clip: int) -> list[LogLine]:
        many = last - first
        with self._lock:
            stride = bisect_left(self._counts, first) - 1 if first else 0
            wanted, known = self._within(stride, first)
        begin = max(0, stride * STRIDE - OVERLAP)
        guess = max(2 * clip, min(_WINDOW, many * _LINE_GUESS))
        data = _read_at(file, begin, min(OVERLAP + STRIDE + guess, size - begin))
        at = _nth_newline(data, wanted, known, stride * STRIDE - begin) + 1 if wanted else 0
        lines = data[at:].split(b"\n", many)
        if len(lines) <= many and begin + len(data) < size:
            # Less than was hoped for is here: lines are long.
            found = self._read_one_by_one(file, data[at:], begin + at, first, last, size, clip)
        else:
            del lines[many:]
            found = _numbered(lines, first, begin + at)
            if sum(map(len, lines)) > clip and max(map(len, lines)) > clip:
                found = [_clipped(file, line, len(line.data), clip) for line in found]
        return self._with_looks(file, found, stride, data[:at]) if self._looks.any else found

    def _read_one_by_one(
        self, file: io.FileIO, buffer: bytes, base: int, first: int, last: int, size: int, clip: int
    ) -> list[LogLine]:
        """Lines of which some do not fit into what is read at once, from `base` on."""
        result: list[LogLine] = []
        position, number = 0, first
        while number < last:
            end = buffer.find(b"\n", position)
            start = base + position
            if end < 0 and base + len(buffer) < size:
                if position:
                    base, position = start, 0
                    buffer = _read_at(file, base, min(_WINDOW, size - base))
                    if not buffer:
                        break
                    continue
                stop = self._line_start(file, number + 1) - 1 if number + 1 <= self._newlines else size
                result.append(_clipped(file, LogLine(number, start, buffer), stop - start, clip))
                base = stop + 1
                buffer = _read_at(file, base, min(_WINDOW, max(0, size - base)))
            else:
                end = len(buffer) if end < 0 else end
                line = LogLine(number, start, buffer[position:end])
                result.append(_clipped(file, line, end - position, clip))
                position = end + 1
            number += 1
        return result

    def _with_looks(self, file: io.FileIO, lines: list[LogLine], stride: int, before: bytes) -> list[LogLine]:
        """The lines with what is on where they begin; `before`: what stands before the first from its stride
        on, and a little more."""
        structured, looks = self._mark is not None, self._looks
        on = carried_looks(looks.at(stride), before, structured=structured)
        expected = lines[0].offset if lines else 0
        result: list[LogLine] = []
        for line in lines:
            if line.offset != expected:
                # What is left out of a long line may change it.
                stride = line.offset // STRIDE
                start = max(0, stride * STRIDE - OVERLAP)
                before = _read_at(file, start, line.offset - start)
                on = carried_looks(looks.at(stride), before, structured=structured)
            if structured and begins_plain(line.data):
                on = b""
            result.append(line._replace(looks=on) if on else line)
            if b"\x1b" in line.data:
                on = carried_looks(on, line.data, structured=False)
            expected = line.offset + len(line.data) + 1
        return result

    def line_at(self, offset: int) -> int:
        """The number of the line that holds the byte at `offset`."""
        with self._lock:
            stride = min(offset // STRIDE, len(self._counts) - 1)
            before = self._counts[stride]
        try:
            with self.path.open("rb", buffering=0) as file:
                return before + _read_at(file, stride * STRIDE, offset - stride * STRIDE).count(b"\n")
        except OSError:
            return before

    def _line_start(self, file: io.FileIO, line: int) -> int:
        if line == 0:
            return 0
        with self._lock:
            stride = bisect_left(self._counts, line) - 1
            wanted, known = self._within(stride, line)
        data = _read_at(file, stride * STRIDE, STRIDE)
        return stride * STRIDE + _nth_newline(data, wanted, known) + 1

    def _within(self, stride: int, line: int) -> tuple[int, int]:
        """The how-manieth newline of a stride a line begins after, and how many there are. With the lock."""
        before = self._counts[stride]
        end = self._counts[stride + 1] if stride + 1 < len(self._counts) else self._newlines
        return line - before, end - before


def _read_at(file: io.FileIO, offset: int, length: int) -> bytes:
    file.seek(offset)
    return file.read(length)


def _nth_newline(data: bytes, wanted: int, known: int, low: int = 0) -> int:
    """Where the `wanted`-th newline (from 1) of `data`, from `low` on, is; its end when there are fewer.

    `known`: how many there are within the stride, which tells about where to look.
    """
    high = min(len(data), low + STRIDE)
    guess = True
    while high - low > 512:
        # Lines are mostly alike; where they are not, halves find it, too.
        middle = low + (high - low) * wanted // max(known, 1) if guess else (low + high) // 2
        middle = max(low + 128, min(high - 128, middle))
        guess = not guess
        here = data.count(b"\n", low, middle)
        if here < wanted:
            wanted, known = wanted - here, known - here
            low = middle
        else:
            known = here
            high = middle
    position = low - 1
    for _ in range(wanted):
        position = data.find(b"\n", position + 1)
        if position < 0:
            return len(data)
    return position


def _numbered(lines: list[bytes], first: int, offset: int) -> list[LogLine]:
    """Neighbouring lines with their numbers and offsets, from `first` at `offset` on."""
    found: list[LogLine] = []
    for number, line in enumerate(lines, first):
        found.append(_new_tuple(LogLine, (number, offset, line, 0, b"")))
        offset += len(line) + 1
    return found


def _clipped(file: io.FileIO, line: LogLine, length: int, clip: int) -> LogLine:
    """A line of `length` bytes, which `line` is the beginning of, without what is too much of it."""
    length = max(0, length)
    if length <= clip:
        return line
    tail = _read_at(file, line.offset + length - clip, clip)
    shown = tail.rstrip(b"\r").rpartition(b"\r")
    if shown[1]:
        head = line.data
        mark = head[: head.find(b"\t", 0, _MARK_ROOM) + 1] if head.startswith(b"\x1e") else b""
        return LogLine(line.number, line.offset, mark + shown[2])
    return LogLine(line.number, line.offset, line.data[:clip], length - clip)
