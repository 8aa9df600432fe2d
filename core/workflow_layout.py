"""How the groups of a phase stand in a workflow file: as strings, as objects, or mixed.

In the model every phase is a list of groups; in a file neighbouring strings form one group, and a phase of
one agent may have a singular key. Reading, writing and naming places all go through what is said here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from core.json_types import JsonObject, JsonValue
from core.jsonc import JsonPath
from core.state import Phase

PHASE_KEYS: Mapping[Phase, str] = {
    "preparation": "preparation_agents",
    "loop": "loop_agents",
    "finalization": "finalization_agents",
}
"""The key of each phase; also the field of the model."""

SINGULAR_KEYS: Mapping[str, str] = {
    "preparation_agents": "preparation_agent",
    "finalization_agents": "finalization_agent",
}
"""Keys of the older format, for a phase of one agent."""


@dataclass(frozen=True, slots=True)
class RawGroup:
    """One group as it stands in a file.

    `value` is the group's object, or the list of strings that form it. `path` leads to the object, or to the
    first of the strings (for a singular key: to its only string).
    """

    value: JsonObject | list[str]
    path: JsonPath

    @property
    def is_strings(self) -> bool:
        """Whether the group stands as bare strings."""
        return isinstance(self.value, list)

    @property
    def entries(self) -> list[JsonValue]:
        """Its agents as they stand; empty where they are no list."""
        if isinstance(self.value, list):
            return list(self.value)
        entries = self.value.get("agents")
        return entries if isinstance(entries, list) else []

    def entry_path(self, index: int) -> JsonPath:
        """Where the agent number `index` stands."""
        if not isinstance(self.value, list):
            return (*self.path, "agents", index)
        last = self.path[-1]
        return (*self.path[:-1], last + index) if isinstance(last, int) else self.path


@dataclass(frozen=True, slots=True)
class RawPhase:
    """One phase as it stands in a file. `misfits`: items that are neither a string nor an object."""

    key: str
    groups: tuple[RawGroup, ...] = ()
    misfits: tuple[JsonPath, ...] = ()


def raw_phase(document: Mapping[str, JsonValue], field: str) -> RawPhase:
    """The groups of a phase (named by its field of the model), with neighbouring strings together."""
    singular = SINGULAR_KEYS.get(field)
    if singular is not None and singular in document and field not in document:
        value = document[singular]
        if value is None or value == "":
            return RawPhase(singular)
        if isinstance(value, str):
            return RawPhase(singular, (RawGroup([value], (singular,)),))
        return RawPhase(singular, misfits=((singular,),))
    value = document.get(field)
    if value is None:
        return RawPhase(field)
    if not isinstance(value, list):
        return RawPhase(field, misfits=((field,),))
    groups: list[RawGroup] = []
    misfits: list[JsonPath] = []
    names: list[str] | None = None
    for index, item in enumerate(value):
        if isinstance(item, str):
            if names is None:
                names = []
                groups.append(RawGroup(names, (field, index)))
            names.append(item)
            continue
        names = None
        if isinstance(item, dict):
            groups.append(RawGroup(item, (field, index)))
        else:
            misfits.append((field, index))
    return RawPhase(field, tuple(groups), tuple(misfits))


def file_path(
    document: Mapping[str, JsonValue], path: JsonPath, phases: dict[str, RawPhase] | None = None
) -> JsonPath:
    """Where the file holds what the model has at `path`, such as `("loop_agents", 0, "agents", 1)`.

    `phases`: what earlier calls for this document found out, for who asks for many paths.
    """
    if len(path) < 2 or path[0] not in PHASE_KEYS.values() or not isinstance(path[1], int):
        if path and path[0] in SINGULAR_KEYS and path[0] not in document:
            return (SINGULAR_KEYS[str(path[0])],)
        return path
    field = str(path[0])
    phase = phases.get(field) if phases is not None else None
    if phase is None:
        phase = raw_phase(document, field)
        if phases is not None:
            phases[field] = phase
    groups = phase.groups
    if path[1] >= len(groups):
        return path
    group = groups[path[1]]
    rest = path[2:]
    if len(rest) >= 2 and rest[0] == "agents" and isinstance(rest[1], int):
        return (*group.entry_path(rest[1]), *rest[2:])
    return (*group.path, *rest)
