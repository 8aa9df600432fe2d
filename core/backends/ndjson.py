"""Splitting the stdout of an agent CLI into JSON objects, one a line, and whatever else was printed."""

from __future__ import annotations

import re
from typing import TypeAlias, cast

import orjson

from core.backends.base import NoiseSeen
from core.json_types import JsonObject

LINE_LIMIT = 64 * 1024 * 1024
"""Bytes of one line that are kept while its end has not come."""

LineItem: TypeAlias = "JsonObject | NoiseSeen"

_ESCAPES = re.compile(
    rb"\\\\"
    rb"|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"
    rb"|(\\u[dD][89a-fA-F][0-9a-fA-F]{2})"
)


class JsonLines:
    """Cuts bytes, which may end anywhere, into lines; a line that is a JSON object is parsed.

    Lines that are none come as `NoiseSeen`, as many as stand together in one, so that a flood of other
    output costs no work per line. A line longer than `limit` bytes is noise, passed on in pieces (the only
    case in which a `NoiseSeen` does not hold whole lines).
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
                items.append(NoiseSeen(self._take()))
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


def _parse(line: bytes) -> JsonObject | None:
    if not line.rstrip().endswith(b"}"):
        return None
    try:
        value = orjson.loads(line)
    except orjson.JSONDecodeError:
        value = _parse_mended(line)
    return cast("JsonObject", value) if isinstance(value, dict) else None


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
