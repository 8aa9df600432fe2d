"""Conflicts of merges in words: who wrote what, by which rule, and whose value counts."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QCoreApplication

from app.run_view.state_words import preview
from core.progress import RecordedConflict
from core.progress_words import phase_title
from core.state_changes import Change, ChangeKind


def keeper_words(keepers: Sequence[str]) -> str:
    """Whose value counts: `linter`, `vera and linter`, `made of several`."""
    if not keepers:
        return _tr("made of several")
    if len(keepers) == 1:
        return keepers[0]
    return _tr("{0} and {1}").format(", ".join(keepers[:-1]), keepers[-1])


def where_words(entry: RecordedConflict) -> str:
    """In which part of the run it was."""
    where = phase_title(entry.phase)
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


def change_text(value: str, change: Change | None, *, gone: bool) -> str:
    """A value for reading, with what the last merge did to it. `value`: as it is, or was before it went."""
    if change is None or change.kind is None:
        return value
    writers = keeper_words(change.writers)
    if change.kind is ChangeKind.REMOVED or gone:
        return _tr("Removed by {0}. Before:\n{1}").format(writers, value)
    if change.kind is ChangeKind.ADDED:
        return _tr("{0}\n\nAdded by {1}.").format(value, writers)
    return _tr("{0}\n\nChanged by {1}. Before:\n{2}").format(value, writers, preview(change.before))


def _tr(text: str) -> str:
    return QCoreApplication.translate("conflicts", text)
