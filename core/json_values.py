"""JSON values compared and weighed, to any depth: nothing here uses recursion."""

from __future__ import annotations

from core.json_types import JsonValue


def same_json(first: JsonValue, second: JsonValue) -> bool:
    """Whether two JSON values are equal, to any depth. 1 equals 1.0; true does not equal 1."""
    pairs: list[tuple[JsonValue, JsonValue]] = [(first, second)]
    while pairs:
        one, other = pairs.pop()
        if one is other:
            continue
        if isinstance(one, dict):
            if not isinstance(other, dict) or one.keys() != other.keys():
                return False
            pairs.extend((value, other[key]) for key, value in one.items())
        elif isinstance(one, list):
            if not isinstance(other, list) or len(one) != len(other):
                return False
            pairs.extend(zip(one, other, strict=True))
        elif isinstance(one, bool) is not isinstance(other, bool) or one != other:
            return False
    return True


def is_heavier(value: JsonValue, limit: int) -> bool:
    """Whether a value is longer than so many characters, about; stops when it is, whatever its size."""
    waiting: list[JsonValue] = [value]
    while waiting and limit >= 0:
        inner = waiting.pop()
        limit -= 8
        if isinstance(inner, str):
            limit -= len(inner)
        elif isinstance(inner, dict):
            limit -= sum(map(len, inner))
            waiting.extend(inner.values())
        elif isinstance(inner, list):
            limit -= 8 * len(inner)
            waiting.extend(inner if limit >= 0 else ())
    return limit < 0
