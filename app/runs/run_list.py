"""Recorded runs as a model, newest first, with a filter and an order. What shows them is its own affair."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

from PySide6.QtCore import (
    QAbstractTableModel,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QSortFilterProxyModel,
    Qt,
)

from app.plain_text import plain_tool_tip
from app.reading_text import harmless
from app.runs.columns import NUMBERS, Column, cell, heading, sort_key
from app.runs.entry import Outcome, RunEntry
from app.runs.words import (
    age_words,
    date_words,
    day_words,
    fact_words,
    moment_words,
    outcome_words,
    title_words,
    tr,
)

Index = QModelIndex | QPersistentModelIndex
ENTRY_ROLE = Qt.ItemDataRole.UserRole + 1
"""The `RunEntry` of a row."""
AGE_ROLE = Qt.ItemDataRole.UserRole + 2
"""How long ago it began, in words."""
DAY_ROLE = Qt.ItemDataRole.UserRole + 3
"""When it began, in short."""
_NO_INDEX = QModelIndex()
_TIP = 1000
"""Characters of a line that a tool tip has room for."""


class RunList(QAbstractTableModel):
    """Runs by folder name, the newest first: names begin with the time. A column for each `Column`."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._entries: list[RunEntry] = []
        self._folders: set[Path] = set()
        self._now = 0.0
        self._searched: dict[Path, str] = {}
        """By folder: all that may be searched for; written down once, as every key that is typed asks."""

    @property
    def entries(self) -> Sequence[RunEntry]:
        """All runs that are known."""
        return self._entries

    def clear(self) -> None:
        """Forget all."""
        self.beginResetModel()
        self._entries.clear()
        self._folders.clear()
        self._searched.clear()
        self.endResetModel()

    def put(self, entries: Iterable[RunEntry]) -> None:
        """Add runs, or show them as they are now."""
        new: dict[Path, RunEntry] = {}
        for entry in entries:
            if entry.folder not in self._folders:
                new[entry.folder] = entry
                continue
            known = self.index_of(entry.folder)
            if self._entries[known.row()] != entry:
                self._entries[known.row()] = entry
                self._searched.pop(entry.folder, None)
                self.dataChanged.emit(known, known.siblingAtColumn(Column.AGENTS))
        ordered = sorted(new.values(), key=lambda entry: entry.run_id, reverse=True)
        if ordered and self._place(ordered[0]) == self._place(ordered[-1]):
            # As nearly always: they are read newest first, so the next ones belong below all others.
            self._insert(ordered)
        else:
            for entry in ordered:
                self._insert([entry])

    def _place(self, entry: RunEntry) -> int:
        at = len(self._entries)
        while at and self._entries[at - 1].run_id < entry.run_id:
            at -= 1
        return at

    def _insert(self, entries: Sequence[RunEntry]) -> None:
        """Runs that belong to one place, in their order."""
        at = self._place(entries[0])
        self.beginInsertRows(_NO_INDEX, at, at + len(entries) - 1)
        self._entries[at:at] = entries
        self._folders.update(entry.folder for entry in entries)
        self.endInsertRows()

    def keep_only(self, folders: set[Path]) -> None:
        """Forget the runs whose folders are not there any more."""
        for at in reversed(range(len(self._entries))):
            if self._entries[at].folder not in folders:
                self.beginRemoveRows(_NO_INDEX, at, at)
                self._folders.discard(self._entries.pop(at).folder)
                self.endRemoveRows()

    def show_time(self, now: float) -> None:
        """Tell ages from this point of time."""
        self._now = now
        self._searched.clear()
        if self._entries:
            last = self.index(len(self._entries) - 1, Column.AGENTS)
            self.dataChanged.emit(self.index(0, 0), last, [AGE_ROLE, Qt.ItemDataRole.DisplayRole])

    def entry(self, index: Index) -> RunEntry | None:
        """The run of a row."""
        return self._entries[index.row()] if index.isValid() else None

    def index_of(self, folder: Path) -> QModelIndex:
        """The row of a run; invalid where it is not there."""
        for at, entry in enumerate(self._entries):
            if entry.folder == folder:
                return self.index(at, 0)
        return QModelIndex()

    def search_text(self, row: int) -> str:
        """What a search looks through, in one case."""
        entry = self._entries[row]
        text = self._searched.get(entry.folder)
        if text is None:
            parts = (
                entry.run_id,
                title_words(entry),
                outcome_words(entry.outcome),
                moment_words(entry.started),
                day_words(entry.started, self._now),
                date_words(entry.started),
                fact_words(entry),
                *entry.agents,
            )
            text = self._searched[entry.folder] = " ".join(parts).casefold()
        return text

    # --- Qt's side -------------------------------------------------------------------------------------

    def rowCount(self, parent: Index = _NO_INDEX) -> int:  # noqa: N802
        return 0 if parent.isValid() else len(self._entries)

    def columnCount(self, parent: Index = _NO_INDEX) -> int:  # noqa: N802
        return 0 if parent.isValid() else len(Column)

    def headerData(  # noqa: N802
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> object:
        if orientation is not Qt.Orientation.Horizontal or not 0 <= section < len(Column):
            return None
        column = Column(section)
        match role:
            case Qt.ItemDataRole.DisplayRole:
                return heading(column)
            case Qt.ItemDataRole.ToolTipRole:
                return plain_tool_tip(tr("Sort by this: {0}").format(heading(column)))
            case Qt.ItemDataRole.TextAlignmentRole:
                return _alignment(column)
        return None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        entry = self.entry(index)
        if entry is None:
            return None
        column = Column(index.column())
        match role:
            case Qt.ItemDataRole.DisplayRole:
                return harmless(cell(column, entry, self._now))
            case Qt.ItemDataRole.TextAlignmentRole:
                return _alignment(column)
            case Qt.ItemDataRole.AccessibleTextRole:
                if column is Column.WORKFLOW:
                    return self._spoken(entry)
                return f"{heading(column)}: {cell(column, entry, self._now)}"
            case Qt.ItemDataRole.ToolTipRole:
                lines = (title_words(entry), moment_words(entry.started), fact_words(entry), entry.message)
                return plain_tool_tip(harmless("\n".join(line[:_TIP] for line in lines if line)))
            case _ if role == ENTRY_ROLE:
                return entry
            case _ if role == AGE_ROLE:
                return age_words(entry.started, self._now)
            case _ if role == DAY_ROLE:
                return day_words(entry.started, self._now)
        return None

    def _spoken(self, entry: RunEntry) -> str:
        words = (title_words(entry), age_words(entry.started, self._now), fact_words(entry))
        resumed = entry.resumable or entry.outcome is Outcome.COMPLETED
        state = "" if resumed else tr("cannot be resumed")
        return ", ".join(word for word in (*words, state) if word)


def _alignment(column: Column) -> Qt.AlignmentFlag:
    side = Qt.AlignmentFlag.AlignRight if column in NUMBERS else Qt.AlignmentFlag.AlignLeft
    return side | Qt.AlignmentFlag.AlignVCenter


class RunFilter(QSortFilterProxyModel):
    """Runs with one of the wanted outcomes, in which every word of the search stands: `audit budget`."""

    def __init__(self, runs: RunList, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._runs = runs
        self._words: list[str] = []
        self._outcomes: frozenset[Outcome] = frozenset()
        self.setSourceModel(runs)
        self.sort(Column.STARTED, Qt.SortOrder.DescendingOrder)

    @property
    def outcomes(self) -> frozenset[Outcome]:
        """Which are shown; empty: all."""
        return self._outcomes

    def search(self, text: str) -> None:
        """Show only what matches."""
        words = text.casefold().split()
        if words != self._words:
            self._words = words
            self.invalidate()

    def show_outcomes(self, outcomes: Iterable[Outcome]) -> None:
        """Show only runs that stand like this; none of them: all runs."""
        wanted = frozenset(outcomes)
        if wanted != self._outcomes:
            self._outcomes = wanted
            self.invalidate()

    def counts(self) -> Counter[Outcome]:
        """How many runs that match the search there are of every outcome, whichever are shown."""
        return Counter(entry.outcome for row, entry in enumerate(self._runs.entries) if self._matches(row))

    def _matches(self, row: int) -> bool:
        if not self._words:
            return True
        text = self._runs.search_text(row)
        return all(word in text for word in self._words)

    def entry(self, index: Index) -> RunEntry | None:
        """The run of a row; None for an index of none."""
        return self._runs.entry(self.mapToSource(index))

    def filterAcceptsRow(self, row: int, parent: Index) -> bool:  # noqa: N802
        del parent
        if self._outcomes and self._runs.entries[row].outcome not in self._outcomes:
            return False
        return self._matches(row)

    def lessThan(self, left: Index, right: Index) -> bool:  # noqa: N802
        one, other = self._runs.entry(left), self._runs.entry(right)
        if one is None or other is None:
            return False
        column = Column(left.column())
        return sort_key(column, one) < sort_key(column, other)
