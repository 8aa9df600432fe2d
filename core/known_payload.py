"""What agents wrote, and which files they edited, in earlier runs of a log folder: see `core.earlier_runs`.

It completes payload paths while somebody types, and lets the check of a workflow say which agents of a
parallel group would write over each other.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TypeAlias


class ValueKind(StrEnum):
    """What kind of value stood at a path."""

    TEXT = "text"
    NUMBER = "number"
    TRUTH = "true or false"
    TEXTS = "list of texts or numbers"
    LIST = "list"
    OBJECT = "object"
    NOTHING = "null"


@dataclass(frozen=True, slots=True)
class PathUse:
    """What one agent wrote at one path, such as `payload.findings`."""

    agent: str
    path: str
    kinds: frozenset[ValueKind]
    example: str
    """The beginning of a value, as JSON."""
    run: int = 0
    """Of which run: 0 is the newest that was read."""

    @property
    def is_place(self) -> bool:
        """Whether a value stood here that a merge would replace; objects are merged into each other."""
        return self.kinds != {ValueKind.OBJECT}


@dataclass(frozen=True, slots=True)
class KnownPath:
    """One path of the payload, whoever wrote it."""

    path: str
    kinds: frozenset[ValueKind]
    example: str
    writers: tuple[str, ...]
    """Names of agents, in alphabetical order."""


Pair: TypeAlias = tuple[str, str]
"""Two agents, in alphabetical order; the same twice where one stood in a group twice."""


def pair_of(one: str, other: str) -> Pair:
    """Two agents as a key of `KnownPayload.met`."""
    return (one, other) if one <= other else (other, one)


@dataclass(frozen=True, slots=True)
class KnownPayload:
    """What earlier runs tell. Everything is empty where there were none."""

    uses: Mapping[str, tuple[PathUse, ...]] = field(default_factory=dict)
    """By agent: what it wrote in the newest run in which it answered, in the order in which it wrote it."""
    older: Mapping[str, tuple[PathUse, ...]] = field(default_factory=dict)
    """By agent: what it wrote only in runs before that."""
    met: Mapping[tuple[str, Pair], bool] = field(default_factory=dict)
    """By path and agents that both wrote it in one parallel group: whether their values ever differed."""
    edits: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """By agent: files that it edited in the newest run in which it worked, as `EditedFiles` names them."""
    denying: frozenset[str] = frozenset()
    """Agents that said `is_complete: false` in the newest run in which they answered, and never true."""
    runs: int = 0
    """How many runs there were to read."""

    def answered(self, agent: str) -> bool:
        """Whether it is known what an agent writes: it ended a turn well."""
        return agent in self.uses

    def of_agent(self, agent: str) -> tuple[PathUse, ...]:
        """What an agent wrote, the newest first."""
        return (*self.uses.get(agent, ()), *self.older.get(agent, ()))

    def paths(self) -> tuple[KnownPath, ...]:
        """Every path that anybody wrote, in alphabetical order: for completion."""
        found: dict[str, list[PathUse]] = defaultdict(list)
        for source in (self.uses, self.older):
            for uses in source.values():
                for use in uses:
                    found[use.path].append(use)
        return tuple(
            KnownPath(
                path,
                frozenset(kind for use in uses for kind in use.kinds),
                min(uses, key=lambda use: use.run).example,
                tuple(sorted({use.agent for use in uses})),
            )
            for path, uses in sorted(found.items())
        )
