"""Values of the state in words: on one line, and as JSON for reading."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from dataclasses import dataclass

from core.json_types import JsonValue
from core.state_search import scalar_text

SHORT = 200
"""Characters of a value on one line."""


def value_words(value: JsonValue, limit: int = SHORT) -> str:
    """A value on one line: text as it is (cut), how much is in it for the rest."""
    if isinstance(value, dict):
        return "{ }" if not value else f"{{ {len(value):,} {'key' if len(value) == 1 else 'keys'} }}"
    if isinstance(value, list):
        return "[ ]" if not value else f"[ {len(value):,} {'item' if len(value) == 1 else 'items'} ]"
    if isinstance(value, str):
        text = " ".join(value[: limit + 1].split("\n"))
        return text if len(value) <= limit else f"{text[:limit]}…"
    return scalar_text(value)


PREVIEW = 20_000
"""Characters of a value that are shown for reading."""


def preview(value: JsonValue, limit: int = PREVIEW) -> str:
    """A value as indented JSON for reading, cut after about `limit` characters whatever its size."""
    if isinstance(value, str):
        return value if len(value) <= limit else f"{value[:limit]}…"
    parts: list[str] = []
    room = limit
    # What is still to be written: a value with its depth and the comma behind it, or the end of one.
    waiting: list[Iterator[_Piece]] = [iter([_Piece(value, 0, "", "")])]
    while waiting and room > 0:
        piece = next(waiting[-1], None)
        if piece is None:
            waiting.pop()
            continue
        pad, inner = "  " * piece.depth, piece.value
        if isinstance(inner, dict | list) and inner and not piece.is_end:
            line = f"{pad}{piece.head}{'{' if isinstance(inner, dict) else '['}\n"
            end = _Piece("}" if isinstance(inner, dict) else "]", piece.depth, "", piece.tail, is_end=True)
            waiting.append(itertools.chain(_children(inner, piece.depth + 1), (end,)))
        else:
            text = str(inner) if piece.is_end else _scalar_json(inner, room)
            line = f"{pad}{piece.head}{text}{piece.tail}\n"
        parts.append(line)
        room -= len(line)
    if any(next(pieces, None) is not None for pieces in waiting):
        parts.append("…\n")
    return "".join(parts).rstrip("\n")


def is_cut(value: JsonValue, shown: str, limit: int = PREVIEW) -> bool:
    """Whether `preview` showed only the beginning of a value."""
    return len(value) > limit if isinstance(value, str) else shown.endswith("\n…")


@dataclass(frozen=True, slots=True)
class _Piece:
    value: JsonValue
    depth: int
    head: str
    """The key before it."""
    tail: str
    is_end: bool = False
    """The bracket that closes an object or a list."""


def _children(value: JsonValue, depth: int) -> Iterator[_Piece]:
    assert isinstance(value, dict | list)  # nothing else has any
    last = len(value) - 1
    if isinstance(value, dict):
        for number, (key, child) in enumerate(value.items()):
            head = f"{json.dumps(key, ensure_ascii=False)}: "
            yield _Piece(child, depth, head, "," if number < last else "")
    else:
        for number, child in enumerate(value):
            yield _Piece(child, depth, "", "," if number < last else "")


def _scalar_json(value: JsonValue, room: int) -> str:
    return json.dumps(value[:room], ensure_ascii=False) if isinstance(value, str) else value_words(value)
