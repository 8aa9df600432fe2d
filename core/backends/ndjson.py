"""Splitting the stdout of an agent CLI into JSON objects, one a line, and whatever else was printed."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TypeAlias, TypeVar, cast

import orjson

from core.backends.base import NoiseSeen
from core.json_types import JsonObject

LINE_LIMIT = 8 * 1024 * 1024
"""Bytes of a line that is read. Answers are a thousand times shorter; what a tool printed may be long."""
MOST_VALUES = 250_000
"""Values in a line that is read: a value of two characters takes a hundred bytes and more once it is read."""

MOST_OPEN = 10_000
"""Tool calls or parts of an answer that are remembered at once."""

ValueT = TypeVar("ValueT")


@dataclass(frozen=True, slots=True)
class LongLine(NoiseSeen):
    """A line that is not read because it is too long or holds too many values; perhaps only its beginning.

    An answer may have stood in it, so what an agent said before is not its last word.
    """


LineItem: TypeAlias = "JsonObject | NoiseSeen"

_STRING = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"?', re.DOTALL)
_ESCAPES = re.compile(
    rb"\\\\"
    rb"|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"
    rb"|(\\u[dD][89a-fA-F][0-9a-fA-F]{2})"
)


def keep_newest(entries: dict[str, ValueT], most: int = MOST_OPEN) -> None:
    """Forget the oldest entries beyond `most`: what a CLI announces and never ends must not add up."""
    while len(entries) > most:
        del entries[next(iter(entries))]


class JsonLines:
    """Cuts bytes, which may end anywhere, into lines; a line that is a JSON object is parsed.

    Lines that are none come as `NoiseSeen`, as many as stand together in one, so that a flood of other
    output costs no work per line. A line longer than `limit` bytes comes as a `LongLine` and noise after it
    (the only case in which a `NoiseSeen` does not hold whole lines).
    """

    def __init__(self, limit: int = LINE_LIMIT) -> None:
        self._limit = limit
        self._kept: list[bytes] = []
        self._kept_bytes = 0
        self._in_long_line = False

    def feed(self, data: bytes) -> list[LineItem]:
        """The objects and the noise that these next bytes complete, in order."""
        items: list[LineItem] = []
        if self._in_long_line:
            end = data.find(b"\n") + 1
            if not end:
                return [NoiseSeen(data)] if data else []
            items.append(NoiseSeen(data[:end]))
            data = data[end:]
            self._in_long_line = False
        end = data.rfind(b"\n") + 1
        if end:
            self._kept.append(data[:end])
            items += _split(b"".join(self._kept))
            self._kept, self._kept_bytes = [], 0
            data = data[end:]
        if data:
            self._kept.append(data)
            self._kept_bytes += len(data)
            if self._kept_bytes > self._limit:
                items.append(LongLine(self._take()))
                self._in_long_line = True
        return items

    def finish(self) -> list[LineItem]:
        """What the last line was, when it had no newline."""
        self._in_long_line = False
        rest = self._take()
        return _split(rest) if rest else []

    def _take(self) -> bytes:
        rest = b"".join(self._kept)
        self._kept, self._kept_bytes = [], 0
        return rest


def _split(block: bytes) -> list[LineItem]:
    """Whole lines (the last one perhaps without newline) as objects and stretches of noise."""
    items: list[LineItem] = []
    noise = position = 0
    while position < len(block):
        if not block.startswith(b"{", position):
            # Look for the next line that could be an object, not at each line: a flood has none.
            position = (block.find(b"\n{", position) + 1) or len(block)
            continue
        end = (block.find(b"\n", position) + 1) or len(block)
        found = _parse(block[position:end])
        if found is not None:
            if noise < position:
                items.append(NoiseSeen(block[noise:position]))
            items.append(found)
            noise = end
        position = end
    if noise < len(block):
        items.append(NoiseSeen(block[noise:]))
    return items


def _parse(line: bytes) -> JsonObject | LongLine | None:
    if not line.rstrip().endswith(b"}"):
        return None
    if (
        len(line) > MOST_VALUES
        and _brackets_and_commas(line) > MOST_VALUES
        # Those inside of texts do not count; looking closer is only worth it here.
        and _brackets_and_commas(_STRING.sub(b"", line)) > MOST_VALUES
    ):
        return LongLine(line)
    try:
        value = orjson.loads(line)
    except orjson.JSONDecodeError:
        value = _parse_mended(line)
    return cast("JsonObject", value) if isinstance(value, dict) else None


def _brackets_and_commas(line: bytes) -> int:
    return line.count(b",") + line.count(b"{") + line.count(b"[")


def _parse_mended(line: bytes) -> object:
    """Parses a line whose text was cut inside a character.

    CLIs written in JavaScript shorten tool output at UTF-16 units and print half an emoji as a lone
    `\\ud83d`, which strict parsers refuse; such halves become U+FFFD rather than lose the whole line.
    """
    mended = _ESCAPES.sub(lambda match: rb"\ufffd" if match[1] else match[0], line)
    mended = mended.decode("utf-8", "replace").encode()
    if mended == line:
        return None
    try:
        return cast(object, orjson.loads(mended))
    except orjson.JSONDecodeError:
        return None
