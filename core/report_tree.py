"""A state as a tree for a page: as much of it as one can look at, the upper levels first."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection
from dataclasses import dataclass, field

from core.json_types import JsonValue
from core.report_text import json_bytes, kind_words, shown
from core.state_path import format_path
from core.words import say

MOST_NODES = 5_000
MOST_BELOW = 200
"""Entries of one list or object."""
MOST_DEEP = 40
"""Levels; browsers stop at 512 elements, and eyes long before."""
MOST_TEXT = 600_000
"""Characters of all values together."""
_LONGEST_TEXT, _SHORTEST_TEXT = 4_000, 60
_LONGEST_KEY = 200
_OPEN_DEEP, _OPEN_BELOW = 2, 30
"""Up to this depth, what has no more than so much below it is unfolded."""


@dataclass(slots=True)
class Node:
    """One key or entry. `kind`: `string`, `number`, `word` (true, false, null), `object` or `list`."""

    key: str
    kind: str
    text: str
    """The value; of an object or a list how much is in it."""
    below: list[Node] = field(default_factory=list)
    left_out: int = 0
    """Entries that are not among `below`."""
    depth: int = 0
    conflict: bool = False
    """Two agents wrote different values to it."""

    @property
    def foldable(self) -> bool:
        """Whether there is something below it."""
        return bool(self.below or self.left_out)

    @property
    def unfolded(self) -> bool:
        """Whether it is unfolded at first."""
        return self.depth <= _OPEN_DEEP and len(self.below) <= _OPEN_BELOW


def state_tree(value: JsonValue, conflicts: Collection[str] = ()) -> Node:
    """The tree of a value. `conflicts`: paths to be marked, as `core.state_path.format_path` writes them."""
    root = Node("", *_kind(value), depth=0)
    waiting: deque[tuple[Node, JsonValue, tuple[str, ...]]] = deque([(root, value, ())])
    nodes, text = 1, 0
    while waiting:
        node, value, path = waiting.popleft()
        if not isinstance(value, (dict, list)):
            longest = _LONGEST_TEXT if text < MOST_TEXT else _SHORTEST_TEXT
            node.text = _leaf(value, longest)
            text += len(node.text)
            continue
        if node.depth >= MOST_DEEP:
            node.left_out = len(value)
            continue
        pairs = value.items() if isinstance(value, dict) else enumerate(value)
        room = max(0, min(MOST_BELOW, MOST_NODES - nodes))
        for key, below in pairs:
            if len(node.below) >= room:
                break
            own = (*path, str(key))
            child = Node(shown(str(key), _LONGEST_KEY), *_kind(below), depth=node.depth + 1)
            child.conflict = bool(conflicts) and isinstance(key, str) and format_path(own) in conflicts
            node.below.append(child)
            waiting.append((child, below, own))
        nodes += len(node.below)
        node.left_out = len(value) - len(node.below)
    return root


def _kind(value: JsonValue) -> tuple[str, str]:
    match value:
        case dict():
            return "object", kind_words(value)
        case list():
            return "list", kind_words(value)
        case str():
            return "string", ""
        case bool() | None:
            return "word", ""
        case _:
            return "number", ""


def _leaf(value: JsonValue, longest: int) -> str:
    if isinstance(value, str):
        return shown(value, longest)
    if isinstance(value, int) and value.bit_length() > 4_000:
        return say("a number too long to be shown")
    return json_bytes(value).decode()
