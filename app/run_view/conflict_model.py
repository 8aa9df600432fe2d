"""Rows of conflicts, made where somebody looks: ten thousand of them cost what is on the screen."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from app.plain_text import plain_tool_tip
from app.run_view.conflict_words import keeper_words, where_words
from app.run_view.state_words import SHORT, value_words
from core.conflict_keepers import conflict_keys, path_key, writes_by_path
from core.json_types import JsonValue
from core.json_values import same_json
from core.progress import RecordedConflict
from core.state import Conflict
from core.visible_text import visible

PATH, FIRST, SECOND, KEPT, RULE, WHERE = range(6)
"""The columns."""
_NO_INDEX = QModelIndex()


@dataclass(frozen=True, slots=True)
class _Kept:
    """Whose value counts, told from so many conflicts of which this is one."""

    count: int
    told: Conflict
    names: tuple[str, ...]

    def holds_for(self, count: int, conflict: Conflict) -> bool:
        """Whether another of these conflicts comes to the same."""
        same = conflict.rule is self.told.rule and same_json(conflict.outcome, self.told.outcome)
        return count == self.count and same


class ConflictModel(QAbstractTableModel):
    """The conflicts of a run so far, or those up to a point of it, one a row. Texts are made when they are
    asked for.
    """

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.entries: list[RecordedConflict] = []
        """All of them, as they are numbered."""
        self._rows: list[int] | None = None
        """The numbers of those that are shown; None: all are."""
        self._paths: list[tuple[str, ...]] = []
        """Where each is in the state, as far as it was asked for."""
        self._same_path: dict[Hashable, list[int]] = {}
        """The conflicts about one path of one merge, as far as it was asked for."""
        self._sorted = 0
        """So many are in there."""
        self._kept: dict[Hashable, _Kept] = {}
        """Whose value counts at a path of one merge, as far as it was asked for."""
        self._headers = (
            self.tr("Path"),
            self.tr("First"),
            self.tr("Second"),
            self.tr("Kept"),
            self.tr("Rule"),
            self.tr("Where"),
        )

    def show(self, conflicts: Sequence[RecordedConflict]) -> bool:
        """Have these; those that were there before stay, and all are shown, unless `show_only` said else.
        Whether anything changed."""
        known = len(self.entries)
        if len(conflicts) < known or (known and conflicts[known - 1] is not self.entries[-1]):
            self.beginResetModel()
            self.entries, self._rows = list(conflicts), None
            self._paths, self._same_path, self._sorted, self._kept = [], {}, 0, {}
            self.endResetModel()
            return True
        if len(conflicts) == known:
            return False
        if self._rows is not None:
            # They came after the point that is looked at.
            self.entries += conflicts[known:]
            return True
        self.beginInsertRows(_NO_INDEX, known, len(conflicts) - 1)
        self.entries += conflicts[known:]
        self.endInsertRows()
        return True

    def show_only(self, numbers: Sequence[int] | None) -> None:
        """Show those with these numbers, in this order; None: all."""
        rows = None if numbers is None or len(numbers) == len(self.entries) else list(numbers)
        if rows != self._rows:
            self.beginResetModel()
            self._rows = rows
            self.endResetModel()

    def number(self, row: int) -> int:
        """The number of the conflict in a row."""
        return row if self._rows is None else self._rows[row]

    def shows(self, number: int) -> bool:
        """Whether this one is in a row."""
        return number < len(self.entries) if self._rows is None else number in self._rows

    def paths(self) -> list[tuple[str, ...]]:
        """Where each is in the state."""
        self._paths += (conflict_keys(entry.conflict.path) for entry in self.entries[len(self._paths) :])
        return self._paths

    def keepers(self, number: int) -> tuple[str, ...]:
        """Whose value counts after a conflict; none: it was made of several."""
        while self._sorted < len(self.entries):
            key = path_key(self.entries[self._sorted])
            self._same_path.setdefault(key, []).append(self._sorted)
            self._sorted += 1
        entry = self.entries[number]
        key = path_key(entry)
        same, told = self._same_path[key], entry.conflict
        kept = self._kept.get(key)
        # Thousands may be about one path: that is gone through once, not for each row on the screen.
        if kept is None or not kept.holds_for(len(same), told):
            writes = writes_by_path([self.entries[each] for each in same])[key]
            kept = self._kept[key] = _Kept(len(same), told, writes.kept_by(told.rule, told.outcome))
        return kept.names

    # --- Qt's side -------------------------------------------------------------------------------------

    def rowCount(self, parent: QModelIndex | QPersistentModelIndex = _NO_INDEX) -> int:  # noqa: N802
        if parent.isValid():
            return 0
        return len(self.entries) if self._rows is None else len(self._rows)

    def columnCount(self, parent: QModelIndex | QPersistentModelIndex = _NO_INDEX) -> int:  # noqa: N802
        return 0 if parent.isValid() else len(self._headers)

    def headerData(  # noqa: N802
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> object:
        if orientation is Qt.Orientation.Horizontal and role == Qt.ItemDataRole.DisplayRole:
            return self._headers[section]
        return None

    def data(
        self, index: QModelIndex | QPersistentModelIndex, role: int = Qt.ItemDataRole.DisplayRole
    ) -> object:
        if not index.isValid():
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return self._text(index.row(), index.column())
        if role == Qt.ItemDataRole.ToolTipRole:
            return plain_tool_tip(self._text(index.row(), index.column()))
        return None

    def _text(self, row: int, column: int) -> str:
        number = self.number(row)
        entry = self.entries[number]
        conflict = entry.conflict
        if column == PATH:
            return _short(conflict.path)
        if column == FIRST:
            return self._written(conflict.first_writer, conflict.first_value)
        if column == SECOND:
            return self._written(conflict.second_writer, conflict.second_value)
        if column == KEPT:
            keepers = visible(keeper_words(self.keepers(number)))
            return self.tr("{0} ({1})").format(_short(conflict.outcome), keepers)
        return conflict.rule.value if column == RULE else where_words(entry)

    def _written(self, writer: str, value: JsonValue) -> str:
        return self.tr("{0}: {1}").format(_short(writer), _short(value))


def _short(value: JsonValue) -> str:
    """A value on one line, cut before it is looked at character by character."""
    return visible(value_words(value, SHORT))
