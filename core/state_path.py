"""A *path* names a place in the state: `is_complete`, `termination_reason`, `payload.findings`.

A key that contains one of `.` `[` `]` `"`, or is empty, stands in brackets as a JSON string:
`payload["a.b"].c`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TypeAlias

import orjson

from core.words import say

Path: TypeAlias = tuple[str, ...]

MAX_PATH = 1_000
"""Characters of a path that a workflow may name."""

_PLAIN_KEY = re.compile(r'[^.\[\]"]+')
_QUOTED_KEY = re.compile(r'\[("(?:[^"\\]|\\.)*")\]')


def format_path(keys: Iterable[str]) -> str:
    """The path as text: `("payload", "a.b", "c")` is `payload["a.b"].c`."""
    text = ""
    for key in keys:
        if _PLAIN_KEY.fullmatch(key):
            text += f".{key}" if text else key
        else:
            text += f"[{_quoted(key)}]"
    return text


def _quoted(key: str) -> str:
    return orjson.dumps(key.encode("utf-8", "replace").decode()).decode()


def parse_path(text: str) -> Path:
    """The keys of a path; the reverse of `format_path`. Raises ValueError with words for the user."""
    keys: list[str] = []
    position = 0
    while position < len(text):
        quoted = _QUOTED_KEY.match(text, position)
        if quoted:
            try:
                keys.append(orjson.loads(quoted[1]))
            except orjson.JSONDecodeError:
                raise ValueError(
                    say(
                        "The key {key} in the path {path!r} is not a JSON string.",
                        key=quoted[1],
                        path=text,
                    )
                ) from None
            position = quoted.end()
            continue
        if keys:
            if text[position] != ".":
                raise ValueError(
                    say(
                        "The path {path!r} needs a dot or a bracket at character {position}.",
                        path=text,
                        position=position + 1,
                    )
                )
            position += 1
        plain = _PLAIN_KEY.match(text, position)
        if not plain:
            raise ValueError(
                say(
                    "The path {path!r} has no name at character {position}. Keys with dots or brackets are "
                    'written as ["a.b"].',
                    path=text,
                    position=position + 1,
                )
            )
        keys.append(plain[0])
        position = plain.end()
    if not keys:
        raise ValueError(say("The path is empty."))
    return tuple(keys)
