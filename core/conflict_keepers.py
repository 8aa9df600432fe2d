"""Whose value counts after a conflict: told from what a merge recorded."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field

from core.json_types import JsonValue
from core.json_values import same_json
from core.progress import RecordedConflict
from core.state import Conflict, MergeRule
from core.state_path import parse_path


@dataclass(slots=True)
class Writes:
    """Who wrote what to one path in one merge, in the order of the group."""

    values: list[tuple[str, JsonValue]] = field(default_factory=list)

    def add(self, conflict: Conflict) -> None:
        """Take in one conflict: two neighbouring writers."""
        for write in (
            (conflict.first_writer, conflict.first_value),
            (conflict.second_writer, conflict.second_value),
        ):
            if not any(name == write[0] and same_json(value, write[1]) for name, value in self.values[-1:]):
                self.values.append(write)

    def kept_by(self, rule: MergeRule, outcome: JsonValue) -> tuple[str, ...]:
        """Whose value the outcome is; empty: it was made of several."""
        names = [name for name, value in self.values if same_json(value, outcome)]
        if rule in (MergeRule.LAST, MergeRule.ERROR):
            names = names[-1:]
        elif rule is MergeRule.FIRST:
            names = names[:1]
        return tuple(dict.fromkeys(names))


def writes_by_path(entries: Sequence[RecordedConflict]) -> dict[Hashable, Writes]:
    """The writes of some conflicts, by `path_key`. All conflicts of a merge have to be among them."""
    found: dict[Hashable, Writes] = {}
    for entry in entries:
        found.setdefault(path_key(entry), Writes()).add(entry.conflict)
    return found


def keepers_by_path(conflicts: Sequence[Conflict]) -> dict[str, tuple[str, ...]]:
    """Whose value counts at each path of one merge; empty: it was made of several."""
    writes: dict[str, Writes] = {}
    for conflict in conflicts:
        writes.setdefault(conflict.path, Writes()).add(conflict)
    # All conflicts about one path tell its rule and what came out; once a path is enough, as thousands may be
    # about one.
    latest = {conflict.path: conflict for conflict in conflicts}
    return {path: writes[path].kept_by(told.rule, told.outcome) for path, told in latest.items()}


def path_key(entry: RecordedConflict) -> Hashable:
    """One path in one merge."""
    return entry.phase, entry.iteration, entry.group, entry.conflict.path


def conflict_keys(path: str) -> tuple[str, ...]:
    """The keys of a conflict's path; none where it cannot be read: a journal may say anything."""
    try:
        return parse_path(path)
    except ValueError:
        return ()
