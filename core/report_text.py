"""Text and JSON of others on their way into a report: all of it can be seen, none of it has no end."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

import orjson

from core.json_types import JsonValue
from core.visible_text import visible
from core.words import say, say_number

_PLAIN = re.compile(r"(?!.* {20})[\x20-\x7e]*")
"""One line that needs nothing said in words."""


def shown(text: str, most: int) -> str:
    """The text with what cannot be seen in words (`core.visible_text`); of a longer one `most` characters."""
    cut = text if len(text) <= most else f"{text[:most]}…"
    return cut if _PLAIN.fullmatch(cut) else visible(cut, keeps_lines=True)


def json_bytes(value: object, *, indented: bool = True) -> bytes:
    """Any value of JSON, and dataclasses of such, as UTF-8.

    What orjson refuses (numbers beyond 64 bits, halves of characters, 255 levels) is written by Python.
    """
    try:
        return orjson.dumps(value, option=orjson.OPT_INDENT_2 if indented else 0)
    except TypeError:
        return json.dumps(value, indent=2 if indented else None, default=vars).encode("ascii")


def json_shown(text: bytes, most: int) -> tuple[str, int]:
    """The first `most` bytes of a JSON text with everything escaped that cannot be seen, and how many bytes
    were left out. Uncut it is still JSON, and still means the same."""
    part = text[:most].decode("utf-8", "ignore")
    lines = (line if line.isprintable() else "".join(map(_escaped, line)) for line in part.split("\n"))
    return "\n".join(lines), max(0, len(text) - most)


def _escaped(character: str) -> str:
    return character if character.isprintable() else json.dumps(character)[1:-1]


def fair_share(sizes: Sequence[int], budget: int) -> int:
    """The largest size to which each may be cut so that all of them together fit; small ones stay whole."""
    left, share = budget, budget
    for place, size in enumerate(sorted(sizes)):
        share = left // (len(sizes) - place)
        if size > share:
            return share
        left -= size
    return max(share, max(sizes, default=0))


def size_words(size: int) -> str:
    """A number of bytes as `812 bytes`, `4.2 kB` or `10.0 MB`."""
    if size < 1000:
        return f"{size} {'byte' if size == 1 else 'bytes'}"
    return f"{size / 1000:,.1f} kB" if size < 1_000_000 else f"{size / 1_000_000:,.1f} MB"


def kind_words(value: JsonValue) -> str:
    """What a list or an object is: `3 keys`, `12 entries`, `empty`."""
    count = len(value) if isinstance(value, (dict, list)) else 0
    if not count:
        return say("empty")
    if isinstance(value, dict):
        return say_number(count, "1 key", "{count:,} keys")
    return say_number(count, "1 entry", "{count:,} entries")


def digest(value: JsonValue, most: int = 160) -> str:
    """A payload in a line: `score 84 · feedback 2 entries`."""
    if not isinstance(value, dict):
        return _leaf_words(value)
    words: list[str] = []
    length = 0
    for key, below in value.items():
        words.append(f"{key[:40]} {_leaf_words(below)}")
        length += len(words[-1]) + 3
        if length > most:
            words[-1] = "…"
            break
    return " · ".join(words)


def _leaf_words(value: JsonValue) -> str:
    match value:
        case dict() | list():
            return kind_words(value)
        case str():
            line = " ".join(value[:200].split())
            return f"“{line[:60]}…”" if len(line) > 60 else f"“{line}”"
        case bool() | None:
            return {True: "true", False: "false", None: "null"}[value]
        case int():
            # Python refuses to write down numbers of more than 4,300 digits.
            return f"{value}" if value.bit_length() < 128 else say("a very large number")
        case _:
            return f"{value}"
