"""Values of the state in words: on one line, and as JSON for reading."""

from __future__ import annotations

import itertools
import json

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


def preview(value: JsonValue, limit: int = 50_000) -> str:
    """A value as indented JSON for reading, cut after about `limit` characters whatever its size."""
    if isinstance(value, str):
        return value if len(value) <= limit else f"{value[:limit]}…"
    parts: list[str] = []
    room = limit
    # Work still to do, last first: a value with its depth, or text that is ready.
    waiting: list[tuple[JsonValue, int, str, str] | str] = [(value, 0, "", "")]
    while waiting and room > 0:
        item = waiting.pop()
        if isinstance(item, str):
            parts.append(item)
            room -= len(item)
            continue
        inner, depth, head, tail = item
        pad = "  " * depth
        if isinstance(inner, dict | list) and inner:
            opening, closing = ("{", "}") if isinstance(inner, dict) else ("[", "]")
            parts.append(f"{pad}{head}{opening}\n")
            waiting.append(f"{pad}{closing}{tail}\n")
            shown = min(len(inner), room // 2 + 1)
            children = inner.items() if isinstance(inner, dict) else zip(itertools.repeat(""), inner)
            pairs = list(itertools.islice(children, shown))
            for number, (key, child) in reversed(list(enumerate(pairs))):
                comma = "," if number + 1 < len(inner) else ""
                waiting.append(
                    (
                        child,
                        depth + 1,
                        f"{json.dumps(key, ensure_ascii=False)}: " if isinstance(inner, dict) else "",
                        comma,
                    )
                )
            room -= len(pad) + len(head) + 2
            continue
        text = json.dumps(inner[:room], ensure_ascii=False) if isinstance(inner, str) else value_words(inner)
        line = f"{pad}{head}{text}{tail}\n"
        parts.append(line)
        room -= len(line)
    if waiting:
        parts.append("…\n")
    return "".join(parts).rstrip("\n")
