"""What is looked for in a log: words or a regular expression, and how it is found in bytes and in text.

Words are found in the bytes of a file, at the speed of memory. Regular expressions are found in its text, by
the package `regex`: it lets other threads run meanwhile, and it gives up after a time instead of taking for
ever over an expression that has too many ways to match.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import compress, count, repeat
from operator import contains
from typing import TYPE_CHECKING, Protocol

from core.transcript import HEADER
from core.words import say

if TYPE_CHECKING:
    import regex

SHOWN = 4096
"""Bytes of a line in which a regular expression is looked for: those that a view shows."""
_PATIENCE = 1.0
"""Seconds that an expression may take for one chunk."""
_GLANCE = 0.02
"""Seconds that it may take for one line that is being painted."""
_ESCAPE = re.compile(rb"\x1b\[[0-9;:?]*[@-~]")
_OVERPRINTED = re.compile(rb"(?m)^[^\n]*\r(?![\r\n]|\Z)")
_LINE_END = re.compile(rb"\r+(?=\n|\Z)")
_LONG = re.compile(rb"(?m)^([^\n]{%d})[^\n]+" % SHOWN)
_HIDDEN = re.compile(rb"\x00+")


class NeedleError(ValueError):
    """What is looked for makes no sense; the message is a sentence for the user."""


class TooSlowError(Exception):
    """The expression takes too long."""


@dataclass(frozen=True, slots=True)
class Needle:
    """What is looked for. `case`: upper and lower case differ. `word`: whole words only.

    `expression`: the text is a regular expression. Nothing is found across lines.
    """

    text: str
    case: bool = False
    word: bool = False
    expression: bool = False

    def finder(self) -> Finder:
        """What finds it. Raises NeedleError for an expression that is none."""
        return _Expression(self) if self.expression else _Plain(self)


class Finder(Protocol):
    """Finds one needle. `overlap`: bytes of the next chunk that a match may need."""

    overlap: int

    def count(self, data: bytes, length: int, shown: Shown) -> int:
        """How many matches begin in the first `length` bytes. Raises TooSlowError."""

    def spans(self, data: bytes, shown: Shown) -> Iterator[tuple[int, int]]:
        """Where matches are, in bytes. Raises TooSlowError."""

    def lines(self, data: bytes, shown: Shown) -> list[int]:
        """The lines that have matches, from 0. Raises TooSlowError."""

    def some(self, data: bytes, shown: Shown, apart: int) -> Iterator[int]:
        """Where matches begin, in bytes, but for those that are closer together. Raises TooSlowError."""

    def in_text(self, text: str) -> list[tuple[int, int]]:
        """Where matches are in one line that is painted, in characters; none where that takes too long."""


class Shown(Protocol):
    """Blanks out, with NUL, what a reader does not see of a chunk; offsets and newlines stay."""

    def __call__(self, data: bytes, /) -> bytes: ...


def hide(data: bytes, *, structured: bool) -> bytes:
    """Bytes of a log with marks, colours and overprinted text blanked out, at the same offsets."""
    if structured and b"\x1e" in data:
        data = HEADER.sub(_blank, data)
    if b"\x1b" in data:
        data = _ESCAPE.sub(_blank, data)
    if b"\r" in data:
        data = _OVERPRINTED.sub(_blank, data)
    return data


def _blank(match: re.Match[bytes]) -> bytes:
    return b"\x00" * len(match[0])


class _Plain:
    def __init__(self, needle: Needle) -> None:
        text = needle.text
        self._case = needle.case
        self._word = needle.word
        self._simple = text.encode() if needle.case and text.isprintable() else None
        if self._simple is None and text.isascii():
            self._simple = text.lower().encode()
        self._bytes = re.compile(b"".join(_either_bytes(sign, needle.case) for sign in text))
        words = "".join(_either(sign, needle.case) for sign in text)
        self._text = re.compile(rf"(?<!\w)(?:{words})(?!\w)" if needle.word else words)
        self.overlap = max(0, *(len(form.encode("utf-8", "replace")) - 1 for form in _forms(text)))
        if needle.word:
            # The character behind it.
            self.overlap += 4

    def count(self, data: bytes, length: int, shown: Shown) -> int:
        data = data[: length + self.overlap]
        if self._simple is not None:
            looked = data if self._case else data.lower()
            if self._simple not in looked:
                return 0
            if not self._word:
                visible = shown(data)
                if visible is not data:
                    looked = visible if self._case else visible.lower()
                return looked.count(self._simple, 0, length + len(self._simple) - 1)
        return sum(1 for start, _ in self.spans(data, shown) if start < length)

    def spans(self, data: bytes, shown: Shown) -> Iterator[tuple[int, int]]:
        if self._bytes.search(data) is not None:
            data = shown(data)
            match = self._search(data, 0)
            while match is not None:
                yield match.span()
                match = self._search(data, match.end())

    def _search(self, data: bytes, start: int) -> re.Match[bytes] | None:
        match = self._bytes.search(data, start)
        while match is not None and self._word and not _stands_alone(data, *match.span()):
            match = self._bytes.search(data, match.start() + 1)
        return match

    def lines(self, data: bytes, shown: Shown) -> list[int]:
        if self._bytes.search(data) is None:
            return []
        data = shown(data)
        if self._simple is not None and not self._word:
            looked, simple = (data if self._case else data.lower()), self._simple
            if looked.count(simple) * 8 > data.count(b"\n"):
                # No step of Python for each line: ten million may match. (In strings, whatever
                # they hold, text is found in a tenth of the time that bytes take.)
                lines = looked.decode("latin-1").split("\n")
                return list(compress(count(), map(contains, lines, repeat(simple.decode("latin-1")))))
        found: list[int] = []
        line, counted = 0, 0
        match = self._search(data, 0)
        while match is not None:
            line += data.count(b"\n", counted, match.start())
            found.append(line)
            counted = match.start()
            end = data.find(b"\n", counted)
            match = self._search(data, end) if end >= 0 else None
        return found

    def some(self, data: bytes, shown: Shown, apart: int) -> Iterator[int]:
        data = shown(data)
        match = self._search(data, 0)
        while match is not None:
            yield match.start()
            match = self._search(data, match.start() + apart)

    def in_text(self, text: str) -> list[tuple[int, int]]:
        return [match.span() for match in self._text.finditer(text)]


_WORD = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")
_LETTER = re.compile(r"\w")


def _stands_alone(data: bytes, start: int, end: int) -> bool:
    """Whether neither the character before nor the one behind belongs to the same word."""
    if start:
        before = data[start - 1]
        if before in _WORD:
            return False
        if before > 127:
            near = data[max(0, start - 4) : start].decode("utf-8", "ignore")
            if near and _LETTER.match(near[-1]):
                return False
    if end < len(data):
        behind = data[end]
        if behind in _WORD:
            return False
        if behind > 127:
            near = data[end : end + 4].decode("utf-8", "ignore")
            if near and _LETTER.match(near[0]):
                return False
    return True


def _forms(text: str) -> tuple[str, str, str]:
    return text, text.lower(), text.upper()


def _cases(character: str, case: bool) -> list[str]:
    return [character] if case else sorted({character, character.lower(), character.upper()})


def _either_bytes(character: str, case: bool) -> bytes:
    cases = (re.escape(form.encode("utf-8", "replace")) for form in _cases(character, case))
    return b"(?:" + b"|".join(cases) + b")"


def _either(character: str, case: bool) -> str:
    return "(?:" + "|".join(re.escape(form) for form in _cases(character, case)) + ")"


class _Expression:
    overlap = 0

    def __init__(self, needle: Needle) -> None:
        # 30 ms that nobody waits for who looks for plain words.
        import regex

        text = needle.text
        if needle.word:
            text = rf"(?<!\w)(?:{text})(?!\w)"
        flags = regex.MULTILINE | (0 if needle.case else regex.IGNORECASE)
        try:
            self._pattern: regex.Pattern[str] = regex.compile(text, flags)
        except regex.error as error:
            raise NeedleError(say("This is no regular expression: {error}.", error=error)) from error

    def count(self, data: bytes, length: int, shown: Shown) -> int:
        return sum(1 for start, _ in self.spans(data[:length], shown) if start < length)

    def spans(self, data: bytes, shown: Shown) -> Iterator[tuple[int, int]]:
        text = _Decoded(shown(data))
        for start, end in self._in_chunk(text.text):
            yield text.offset(start), text.offset(end)

    def lines(self, data: bytes, shown: Shown) -> list[int]:
        text = _Decoded(shown(data)).text
        found: list[int] = []
        line, counted, position = 0, 0, 0
        search = self._pattern.search
        try:
            match = search(text, concurrent=True, timeout=_PATIENCE)
            while match is not None:
                start, end = match.span()
                position = text.find("\n", start)
                if end == start or 0 <= position < end:
                    return self._lines_one_by_one(text)
                line += text.count("\n", counted, start)
                counted = start
                found.append(line)
                match = search(text, position, concurrent=True, timeout=_PATIENCE) if position >= 0 else None
        except TimeoutError as error:
            raise TooSlowError from error
        return found

    def _lines_one_by_one(self, text: str) -> list[int]:
        found: list[int] = []
        line, counted = 0, 0
        for start, _ in self._in_chunk(text):
            line += text.count("\n", counted, start)
            counted = start
            if not found or found[-1] != line:
                found.append(line)
        return found

    def some(self, data: bytes, shown: Shown, apart: int) -> Iterator[int]:
        following = 0
        for start, _ in self.spans(data, shown):
            if start >= following:
                yield start
                following = start + apart

    def _in_chunk(self, text: str) -> Iterator[tuple[int, int]]:
        """Matches in the lines of a text. One that goes beyond its line is looked for in each of them."""
        done = 0
        try:
            for match in self._pattern.finditer(text, concurrent=True, timeout=_PATIENCE):
                start, end = match.span()
                if start < done or start == end:
                    continue
                if text.find("\n", start, end) < 0:
                    yield start, end
                    continue
                first = text.rfind("\n", 0, start) + 1
                while first <= end and first < len(text):
                    last = text.find("\n", first)
                    last = len(text) if last < 0 else last
                    for begin, stop in self._in_line(text[first:last], _PATIENCE):
                        if first + begin >= max(start, done):
                            yield first + begin, first + stop
                    done = first = last + 1
        except TimeoutError as error:
            raise TooSlowError from error

    def _in_line(self, line: str, patience: float) -> list[tuple[int, int]]:
        found = (match.span() for match in self._pattern.finditer(line, timeout=patience))
        return [(start, end) for start, end in found if end > start]

    def in_text(self, text: str) -> list[tuple[int, int]]:
        try:
            return self._in_line(text[:SHOWN], _GLANCE)
        except TimeoutError:
            return []


class _Decoded:
    """The visible text of a chunk; tells which byte a character is. Asked in ascending order it is fast."""

    def __init__(self, data: bytes) -> None:
        if b"\r" in data:
            data = _LINE_END.sub(_blank, data)
        data = _LONG.sub(lambda found: found[1] + b"\x00" * (len(found[0]) - SHOWN), data)
        self._starts = [0]
        self._hidden = [0]
        if b"\x00" in data:
            hidden = 0
            for match in _HIDDEN.finditer(data):
                hidden += match.end() - match.start()
                self._starts.append(match.end() - hidden)
                self._hidden.append(hidden)
            data = data.replace(b"\x00", b"")
        self.text = data.decode("utf-8", "surrogateescape")
        self._ascii = self.text.isascii()
        self._last = (0, 0)

    def offset(self, character: int) -> int:
        """The byte of the chunk at which a character begins."""
        at = character
        if not self._ascii:
            known, at = self._last if self._last[0] <= character else (0, 0)
            at += len(self.text[known:character].encode("utf-8", "surrogateescape"))
            self._last = (character, at)
        return at + self._hidden[bisect_right(self._starts, at) - 1]
