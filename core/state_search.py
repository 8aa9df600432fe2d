"""Finding keys and values of a state, whatever its size: on a worker, in the order of the state."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

from core.json_types import JsonObject, JsonValue
from core.state_changes import Change

MOST_MATCHES = 50_000
"""Further ones are not looked for."""
_SLICE = 2_000
"""Values between two looks at whether the search is still wanted."""


@dataclass(frozen=True, slots=True)
class _Link:
    """A place as a chain to its parent: cheap to make, spelled out only where somebody goes."""

    key: str | int
    parent: _Link | None


_Level: TypeAlias = tuple[_Link | None, Iterator[tuple[str | int, JsonValue]], Change | None]
"""An object or list that is being looked at: where it is, what is left of it, what of it counts."""


def scalar_text(value: JsonValue) -> str:
    """A single value as it is written in JSON, a text without its quotes; empty for lists and objects."""
    if isinstance(value, str):
        return value
    if isinstance(value, dict | list):
        return ""
    if value is None:
        return "null"
    return str(value).lower() if isinstance(value, bool) else str(value)


class StateSearch:
    """One search for a text in keys and values, upper and lower case alike. `within`: only in what this
    tree of changes tells of.

    `run` is called once, on a worker; the rest may be read meanwhile from another thread.
    """

    def __init__(self, root: JsonObject, needle: str, within: Change | None = None) -> None:
        self._within = within
        self.needle = needle.casefold()
        self._root = root
        self._found: list[_Link] = []
        self.done = False
        """Whether all was looked at, or as many were found as are looked for."""

    @property
    def count(self) -> int:
        """Matches so far."""
        return len(self._found)

    @property
    def more(self) -> bool:
        """Whether there may be further ones that are not looked for."""
        return len(self._found) >= MOST_MATCHES

    def path(self, number: int) -> tuple[str, ...]:
        """Where a match is, counted from 0; places in lists as `[3]`."""
        keys: list[str] = []
        link: _Link | None = self._found[number]
        while link is not None:
            keys.append(link.key if isinstance(link.key, str) else f"[{link.key}]")
            link = link.parent
        return tuple(reversed(keys))

    def run(self, stopping: threading.Event) -> None:
        """Look at everything, or until told to stop."""
        needle, found = self.needle, self._found
        if not needle:
            self.done = True
            return
        waiting: list[_Level] = [(None, iter(self._root.items()), self._within)]
        looked = 0
        while waiting:
            parent, entries, within = waiting[-1]
            entry = next(entries, None)
            if entry is None:
                waiting.pop()
                continue
            looked += 1
            if looked % _SLICE == 0 and stopping.is_set():
                return
            key, value = entry
            if within is not None:
                within = within.inside.get(key if isinstance(key, str) else f"[{key}]")
                if within is None:
                    continue
                if within.kind is not None:
                    # All of what was added or changed as a whole.
                    within = None
            link = _Link(key, parent)
            if (isinstance(key, str) and needle in key.casefold()) or needle in scalar_text(value).casefold():
                found.append(link)
                if len(found) >= MOST_MATCHES:
                    break
            if isinstance(value, dict):
                waiting.append((link, iter(value.items()), within))
            elif isinstance(value, list):
                waiting.append((link, enumerate(value), within))
        self.done = True
