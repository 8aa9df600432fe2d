"""What differs between two states that follow each other, and who wrote it.

States share what did not change (see `core.merge`), so that a comparison costs what was written, not what the
state weighs; an object of many keys costs one look at each. No depth of JSON can exhaust the stack.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from core.conflict_keepers import conflict_keys, keepers_by_path
from core.group_failures import OPENLOOP
from core.json_types import JsonObject, JsonValue
from core.json_values import same_json
from core.state import Conflict, StateUpdate, WorkflowState

MOST_CHANGES = 20_000
"""Changes that are told one by one."""


class ChangeKind(StrEnum):
    """What happened to a value."""

    ADDED = "added"
    CHANGED = "changed"
    REMOVED = "removed"


@dataclass(slots=True)
class Change:
    """What happened at one path and below it. `kind` None: only something below it changed.

    `before`: the value that was there, of one that was changed or removed. What is inside of a value that
    was added or removed as a whole is not told again.
    """

    kind: ChangeKind | None = None
    writers: tuple[str, ...] = ()
    before: JsonValue = None
    inside: dict[str, Change] = field(default_factory=dict)
    """By key; places of a list as `[3]`."""
    count: int = 0
    """Changes here and below."""


@dataclass(frozen=True, slots=True)
class StateChanges:
    """All changes of one merge, as a tree that starts at the state itself. `more`: there are further ones."""

    root: Change
    more: bool = False

    @property
    def count(self) -> int:
        """How many there are."""
        return self.root.count

    def at(self, path: Sequence[str]) -> Change | None:
        """What happened at a path (see `Change.inside`) or below it."""
        change: Change | None = self.root
        for key in path:
            change = change.inside.get(key) if change is not None else None
        return change

    def listed(self) -> Iterator[tuple[tuple[str, ...], Change]]:
        """Every change with its path, in the order of the state; what was removed comes last."""
        waiting: list[tuple[tuple[str, ...], Change]] = [((), self.root)]
        while waiting:
            path, change = waiting.pop()
            if change.kind is not None:
                yield path, change
            waiting.extend(reversed([((*path, key), inner) for key, inner in change.inside.items()]))


NOTHING = StateChanges(Change())


@dataclass(slots=True)
class _Keepers:
    """The paths with a conflict, as a tree."""

    names: tuple[str, ...] | None = None
    below: dict[str, _Keepers] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Write:
    """What one update holds at a place. `whole`: it set something above it to this, all at once."""

    writer: str
    value: JsonValue
    whole: bool = False


@dataclass(frozen=True, slots=True)
class _Pair:
    """Two values at one place that are still to be compared."""

    before: JsonValue
    after: JsonValue
    change: Change
    key: str
    parent: Change
    writes: Sequence[_Write]
    keepers: _Keepers | None


def find_changes(
    before: WorkflowState,
    after: WorkflowState,
    updates: Mapping[str, StateUpdate],
    conflicts: Sequence[Conflict] = (),
) -> StateChanges:
    """What a merge changed. `updates`: by writer. Phase, iteration and meta are not looked at."""
    return _Comparison(updates, conflicts).run(before, after)


class _Comparison:
    def __init__(self, updates: Mapping[str, StateUpdate], conflicts: Sequence[Conflict]) -> None:
        self._updates = updates
        self._keepers = _keepers_tree(conflicts)
        self._waiting: list[_Pair] = []
        self._made: list[tuple[Change, Change, str]] = []
        """Changes with their parents, parents first."""
        self._count = 0

    def run(self, before: WorkflowState, after: WorkflowState) -> StateChanges:
        root = Change()
        for name, old, new in (
            ("is_complete", before.is_complete, after.is_complete),
            ("termination_reason", before.termination_reason, after.termination_reason),
            ("payload", before.payload, after.payload),
        ):
            writes = [
                _Write(writer, value)
                for writer, update in self._updates.items()
                if (value := getattr(update, name)) is not None
            ]
            self._compare(old, new, root, name, writes, self._keepers.below.get(name))
        while self._waiting and self._count < MOST_CHANGES:
            pair = self._waiting.pop()
            if isinstance(pair.after, dict):
                assert isinstance(pair.before, dict)
                self._objects(pair, pair.before, pair.after)
            else:
                assert isinstance(pair.before, list)
                assert isinstance(pair.after, list)
                self._lists(pair, pair.before, pair.after)
        # What was looked into and turned out to be the same is no change; the others count upwards.
        for change, parent, key in reversed(self._made):
            if change.count or change.kind is not None:
                change.count += change.kind is not None
                parent.count += change.count
            else:
                del parent.inside[key]
        return StateChanges(root, more=bool(self._waiting))

    def _compare(
        self,
        before: JsonValue,
        after: JsonValue,
        parent: Change,
        key: str,
        writes: Sequence[_Write],
        keepers: _Keepers | None,
    ) -> None:
        """Two values at the same place: the same, something to look into, or a change."""
        if before is after:
            return
        both = (isinstance(before, dict) and isinstance(after, dict)) or (
            isinstance(before, list) and isinstance(after, list)
        )
        if both:
            change = self._note(parent, key, None, ())
            self._waiting.append(_Pair(before, after, change, key, parent, writes, keepers))
        elif not same_json(before, after):
            self._note(parent, key, ChangeKind.CHANGED, _names(writes, keepers), before)

    def _note(
        self,
        parent: Change,
        key: str,
        kind: ChangeKind | None,
        writers: tuple[str, ...],
        before: JsonValue = None,
    ) -> Change:
        change = parent.inside[key] = Change(kind, writers, before)
        self._made.append((change, parent, key))
        self._count += kind is not None
        return change

    def _objects(self, pair: _Pair, before: JsonObject, after: JsonObject) -> None:
        added = 0
        writes = pair.writes
        if pair.keepers is not None and pair.keepers.names:
            writes = [write for write in writes if write.writer in pair.keepers.names]
        for key, new in after.items():
            keepers = pair.keepers.below.get(key) if pair.keepers is not None else None
            if key in before:
                old = before[key]
                if old is not new:
                    self._compare(old, new, pair.change, key, _below(writes, key), keepers)
            else:
                names = _names(_below(writes, key), keepers)
                self._note(pair.change, key, ChangeKind.ADDED, names)
                added += 1
            if self._count >= MOST_CHANGES:
                self._waiting.append(pair)
                return
        if len(before) + added > len(after):
            for key, old in before.items():
                if key not in after:
                    self._note(pair.change, key, ChangeKind.REMOVED, _names(pair.writes, pair.keepers), old)

    def _lists(self, pair: _Pair, before: list[JsonValue], after: list[JsonValue]) -> None:
        """What was put in or taken out somewhere leaves the rest as it is; places are those after it."""
        shorter = min(len(before), len(after))
        head = 0
        while head < shorter and same_json(before[head], after[head]):
            head += 1
        tail = 0
        while tail < shorter - head and same_json(before[-1 - tail], after[-1 - tail]):
            tail += 1
        names = _names(pair.writes, pair.keepers)
        whole = [_Write(name, None, whole=True) for name in names]
        old, new = before[head : len(before) - tail], after[head : len(after) - tail]
        for number, (one, other) in enumerate(zip(old, new, strict=False)):
            if self._count >= MOST_CHANGES:
                self._waiting.append(pair)
                return
            self._compare(one, other, pair.change, f"[{head + number}]", whole, None)
        for number in range(len(old), len(new)):
            if self._count >= MOST_CHANGES:
                self._waiting.append(pair)
                return
            self._note(pair.change, f"[{head + number}]", ChangeKind.ADDED, names)
        for number in range(len(new), len(old)):
            # Behind the places of the list as it is now: no two changes have one key.
            key = f"[{len(after) + number - len(new)}]"
            self._note(pair.change, key, ChangeKind.REMOVED, names, old[number])


def _below(writes: Sequence[_Write], key: str) -> list[_Write]:
    """What of the updates reaches to a key of an object."""
    found: list[_Write] = []
    for write in writes:
        if write.whole or not isinstance(write.value, dict):
            found.append(_Write(write.writer, None, whole=True))
        elif key in write.value:
            found.append(_Write(write.writer, write.value[key]))
    return found


def _names(writes: Sequence[_Write], keepers: _Keepers | None) -> tuple[str, ...]:
    """Who wrote a value: where several did and did not agree, whose value was kept."""
    if keepers is not None and keepers.names:
        return keepers.names
    return tuple(dict.fromkeys(write.writer for write in writes)) or (OPENLOOP,)


def _keepers_tree(conflicts: Sequence[Conflict]) -> _Keepers:
    root = _Keepers()
    for path, names in keepers_by_path(conflicts).items():
        node = root
        for key in conflict_keys(path):
            node = node.below.setdefault(key, _Keepers())
        node.names = names
    return root
