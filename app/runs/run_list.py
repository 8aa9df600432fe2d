"""Recorded runs as a model, newest first, with a filter. What shows them is its own affair."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from PySide6.QtCore import (
    QAbstractListModel,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QSortFilterProxyModel,
    Qt,
)

from app.plain_text import plain_tool_tip
from app.reading_text import harmless
from app.runs.entry import RunEntry
from app.runs.words import age_words, fact_words, moment_words, title_words, tr

Index = QModelIndex | QPersistentModelIndex
ENTRY_ROLE = Qt.ItemDataRole.UserRole + 1
"""The `RunEntry` of a row."""
AGE_ROLE = Qt.ItemDataRole.UserRole + 2
"""How long ago it began, in words."""
SEARCH_ROLE = Qt.ItemDataRole.UserRole + 3
_NO_INDEX = QModelIndex()
_TIP = 1000
"""Characters of a line that a tool tip has room for."""


class RunList(QAbstractListModel):
    """Runs by folder name, the newest first: names begin with the time."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._entries: list[RunEntry] = []
        self._folders: set[Path] = set()
        self._now = 0.0

    @property
    def entries(self) -> Sequence[RunEntry]:
        """All runs that are known."""
        return tuple(self._entries)

    def clear(self) -> None:
        """Forget all."""
        self.beginResetModel()
        self._entries.clear()
        self._folders.clear()
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
                self.dataChanged.emit(known, known)
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
        if self._entries:
            self.dataChanged.emit(self.index(0), self.index(len(self._entries) - 1), [AGE_ROLE])

    def entry(self, index: Index) -> RunEntry | None:
        """The run of a row."""
        return self._entries[index.row()] if index.isValid() else None

    def index_of(self, folder: Path) -> QModelIndex:
        """The row of a run; invalid where it is not there."""
        for at, entry in enumerate(self._entries):
            if entry.folder == folder:
                return self.index(at)
        return QModelIndex()

    # --- Qt's side -------------------------------------------------------------------------------------

    def rowCount(self, parent: Index = _NO_INDEX) -> int:  # noqa: N802
        return 0 if parent.isValid() else len(self._entries)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        entry = self.entry(index)
        if entry is None:
            return None
        match role:
            case Qt.ItemDataRole.DisplayRole:
                return harmless(title_words(entry))
            case Qt.ItemDataRole.AccessibleTextRole:
                return self._spoken(entry)
            case Qt.ItemDataRole.ToolTipRole:
                lines = (title_words(entry), moment_words(entry.started), fact_words(entry), entry.message)
                return plain_tool_tip(harmless("\n".join(line[:_TIP] for line in lines if line)))
            case _ if role == ENTRY_ROLE:
                return entry
            case _ if role == AGE_ROLE:
                return age_words(entry.started, self._now)
            case _ if role == SEARCH_ROLE:
                return " ".join(
                    (entry.run_id, title_words(entry), moment_words(entry.started), fact_words(entry))
                )
        return None

    def _spoken(self, entry: RunEntry) -> str:
        words = (title_words(entry), age_words(entry.started, self._now), fact_words(entry))
        state = "" if entry.resumable else tr("cannot be resumed")
        return ", ".join(word for word in (*words, state) if word)


class RunFilter(QSortFilterProxyModel):
    """Runs in which every word of the search stands: `audit budget`."""

    def __init__(self, runs: RunList, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._words: list[str] = []
        self.setSourceModel(runs)

    def search(self, text: str) -> None:
        """Show only what matches."""
        self._words = text.casefold().split()
        self.invalidate()

    def filterAcceptsRow(self, row: int, parent: Index) -> bool:  # noqa: N802
        if not self._words:
            return True
        text = str(self.sourceModel().index(row, 0, parent).data(SEARCH_ROLE)).casefold()
        return all(word in text for word in self._words)
