"""Conflicts of merges in words: who wrote what, by which rule, and whose value counts."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field

from PySide6.QtCore import QCoreApplication

from app.run_view.state_model import preview
from core.json_types import JsonValue
from core.merge import same_json
from core.progress import RecordedConflict
from core.progress_words import PHASE_WORDS
from core.state import MergeRule


@dataclass(slots=True)
class Writes:
    """Who wrote what to one path in one merge, in the order of the group."""

    values: list[tuple[str, JsonValue]] = field(default_factory=list)

    def add(self, entry: RecordedConflict) -> None:
        """Take in one conflict: two neighbouring writers."""
        conflict = entry.conflict
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
        found.setdefault(path_key(entry), Writes()).add(entry)
    return found


def path_key(entry: RecordedConflict) -> Hashable:
    """One path in one merge."""
    return entry.phase, entry.iteration, entry.group, entry.conflict.path


def keeper_words(keepers: Sequence[str]) -> str:
    """Whose value counts: `linter`, `vera and linter`, `made of several`."""
    if not keepers:
        return _tr("made of several")
    if len(keepers) == 1:
        return keepers[0]
    return _tr("{0} and {1}").format(", ".join(keepers[:-1]), keepers[-1])


def where_words(entry: RecordedConflict) -> str:
    """In which part of the run it was."""
    where = PHASE_WORDS[entry.phase]
    if entry.phase == "loop":
        where = _tr("{0} · iteration {1}").format(where, entry.iteration)
    return where


def conflict_text(entry: RecordedConflict, keepers: Sequence[str]) -> str:
    """All of a conflict for reading: path, rule, both whole values with their writers, and the outcome."""
    conflict = entry.conflict
    parts = [
        _tr("{0}\nRule: {1}\n{2}").format(conflict.path, conflict.rule.value, where_words(entry)),
        _tr("{0} wrote:\n{1}").format(conflict.first_writer, preview(conflict.first_value)),
        _tr("{0} wrote:\n{1}").format(conflict.second_writer, preview(conflict.second_value)),
        _tr("Kept ({0}):\n{1}").format(keeper_words(keepers), preview(conflict.outcome)),
    ]
    return "\n\n".join(parts)


def _tr(text: str) -> str:
    return QCoreApplication.translate("conflicts", text)
