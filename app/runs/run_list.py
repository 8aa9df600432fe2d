"""Recorded runs as a model: those that match a search, in an order. What shows them is its own affair.

Filtered and sorted here, not by a proxy: that would call back into Python ten thousand times for a thousand
runs, each time something changes.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import lru_cache
from pathlib import Path

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from app.plain_text import plain_tool_tip
from app.reading_text import harmless
from app.runs.columns import NUMBERS, Column, SortKey, cell, heading, sort_key
from app.runs.entry import Outcome, RunEntry
from app.runs.live_run import LiveRun
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
_COLUMNS = len(Column)
_TIP = 1000
"""Characters of a line that a tool tip has room for."""
_TIP_NAMES = 40
"""Agents that a tool tip has room for."""


class RunList(QAbstractTableModel):
    """The known runs that match; at first all, the newest first. A column for each `Column`."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._known: dict[Path, RunEntry] = {}
        self._rows: list[RunEntry] = []
        self._row_of: dict[Path, int] = {}
        self._now = 0.0
        self._words: list[str] = []
        self._outcomes: frozenset[Outcome] = frozenset()
        self._column, self._down = Column.STARTED, True
        self._live: LiveRun | None = None
        self._texts: dict[Path, str] = {}
        """By folder: what may be searched for; written down once, as every key that is typed asks."""
        self._keys: dict[Path, SortKey] = {}
        """By folder: what the runs are sorted by at present."""

    # --- the runs --------------------------------------------------------------------------------------

    @property
    def known(self) -> Collection[RunEntry]:
        """All runs, also those that do not match."""
        return self._known.values()

    def known_run(self, folder: Path) -> RunEntry | None:
        """The run of a folder, also one that does not match; None: there is none."""
        return self._known.get(folder)

    @property
    def entries(self) -> Sequence[RunEntry]:
        """The runs that match, in their order."""
        return self._rows

    def clear(self) -> None:
        """Forget all."""
        self.beginResetModel()
        self._known.clear()
        self._texts.clear()
        self._keys.clear()
        self._set_rows([])
        self.endResetModel()

    def put(self, entries: Iterable[RunEntry]) -> None:
        """Add runs, or show them as they are now."""
        changed: list[int] = []
        for entry in entries:
            if self._live is not None and self._live.folder == entry.folder:
                entry = self._live.shown_in(entry)
            if self._known.get(entry.folder) == entry:
                continue
            self._known[entry.folder] = entry
            self._forget_words(entry.folder)
            row = self._row_of.get(entry.folder)
            if row is not None:
                self._rows[row] = entry
                changed.append(row)
        for row in changed:
            self.dataChanged.emit(self.index(row, 0), self.index(row, Column.AGENTS))
        self._refresh()

    def follow(self, live: LiveRun | None) -> None:
        """Show the run of this window as it is now; None: there is none, what was read last counts again."""
        self._live = live
        known = self._known.get(live.folder) if live is not None else None
        if known is not None:
            self.put([known])

    def keep_only(self, folders: set[Path]) -> None:
        """Forget the runs whose folders are not there any more."""
        for folder in self._known.keys() - folders:
            del self._known[folder]
            self._forget_words(folder)
        self._refresh()

    def _forget_words(self, folder: Path) -> None:
        self._texts.pop(folder, None)
        self._keys.pop(folder, None)

    def show_time(self, now: float) -> None:
        """Tell ages and days from this point of time."""
        self._now = now
        if self._rows:
            last = self.index(len(self._rows) - 1, Column.AGENTS)
            self.dataChanged.emit(self.index(0, 0), last, [AGE_ROLE, DAY_ROLE, Qt.ItemDataRole.DisplayRole])

    def entry(self, index: Index) -> RunEntry | None:
        """The run of a row; None for an index of none."""
        return self._rows[index.row()] if index.isValid() else None

    def index_of(self, folder: Path) -> QModelIndex:
        """The row of a run; invalid where it is not there or does not match."""
        row = self._row_of.get(folder)
        return self.index(row, 0) if row is not None else QModelIndex()

    # --- search and order ------------------------------------------------------------------------------

    @property
    def outcomes(self) -> frozenset[Outcome]:
        """Which are shown; empty: all."""
        return self._outcomes

    def search(self, text: str) -> None:
        """Show only runs in which every word stands: `audit budget`."""
        self._words = text.casefold().split()
        self._refresh()

    def show_outcomes(self, outcomes: Iterable[Outcome]) -> None:
        """Show only runs that stand like this; none of them: all runs."""
        self._outcomes = frozenset(outcomes)
        self._refresh()

    def counts(self) -> Counter[Outcome]:
        """How many runs that match the search there are of every outcome, whichever are shown."""
        return Counter(entry.outcome for entry in self._known.values() if self._has_words(entry))

    def sort(self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder) -> None:
        self._column, self._down = Column(column), order is Qt.SortOrder.DescendingOrder
        self._keys.clear()
        self._refresh()

    def _key(self, entry: RunEntry) -> SortKey:
        key = self._keys.get(entry.folder)
        if key is None:
            key = self._keys[entry.folder] = sort_key(self._column, entry)
        return key

    def _has_words(self, entry: RunEntry) -> bool:
        if not self._words:
            return True
        text = self._texts.get(entry.folder)
        if text is None:
            text = self._texts[entry.folder] = _search_text(entry)
        day = self._relative_day(entry)
        return all(word in text or word in day for word in self._words)

    def _relative_day(self, entry: RunEntry) -> str:
        if entry.started is None or self._now - entry.started > 3 * 86400:
            return ""
        return day_words(entry.started, self._now).casefold()

    # --- bringing the rows in line ---------------------------------------------------------------------

    def _refresh(self) -> None:
        """Show what matches, in its order. Whoever holds an index of a run that is still shown keeps it."""
        wanted = [
            entry
            for entry in self._known.values()
            if (not self._outcomes or entry.outcome in self._outcomes) and self._has_words(entry)
        ]
        wanted.sort(key=self._key, reverse=self._down)
        if wanted == self._rows:
            return
        stays = {entry.folder for entry in wanted}
        self._remove([row for row, entry in enumerate(self._rows) if entry.folder not in stays])
        self._reorder([entry for entry in wanted if entry.folder in self._row_of])
        self._insert(wanted)

    def _set_rows(self, rows: list[RunEntry]) -> None:
        self._rows = rows
        self._row_of = {entry.folder: row for row, entry in enumerate(rows)}

    def _remove(self, rows: Sequence[int]) -> None:
        for first, last in reversed(list(_spans(rows))):
            self.beginRemoveRows(_NO_INDEX, first, last)
            self._set_rows(self._rows[:first] + self._rows[last + 1 :])
            self.endRemoveRows()

    def _reorder(self, rows: list[RunEntry]) -> None:
        if rows == self._rows:
            return
        self.layoutAboutToBeChanged.emit()
        before = self.persistentIndexList()
        folders = [self._rows[index.row()].folder for index in before]
        self._set_rows(rows)
        after = [
            self.index(self._row_of[folder], index.column())
            for folder, index in zip(folders, before, strict=True)
        ]
        self.changePersistentIndexList(before, after)
        self.layoutChanged.emit()

    def _insert(self, wanted: list[RunEntry]) -> None:
        new = [row for row, entry in enumerate(wanted) if entry.folder not in self._row_of]
        for first, last in _spans(new):
            self.beginInsertRows(_NO_INDEX, first, last)
            self._set_rows(self._rows[:first] + wanted[first : last + 1] + self._rows[first:])
            self.endInsertRows()

    # --- Qt's side -------------------------------------------------------------------------------------

    def rowCount(self, parent: Index = _NO_INDEX) -> int:  # noqa: N802
        return 0 if parent.isValid() else len(self._rows)

    def columnCount(self, parent: Index = _NO_INDEX) -> int:  # noqa: N802
        return 0 if parent.isValid() else _COLUMNS

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
                return harmless(cell(column, entry, self._now)[:_TIP])
            case Qt.ItemDataRole.TextAlignmentRole:
                return _alignment(column)
            case Qt.ItemDataRole.AccessibleTextRole:
                if column is Column.WORKFLOW:
                    return self._spoken(entry)
                return f"{heading(column)}: {cell(column, entry, self._now)}"
            case Qt.ItemDataRole.ToolTipRole if column is Column.AGENTS and entry.agents:
                return plain_tool_tip(harmless("\n".join(name[:_TIP] for name in entry.agents[:_TIP_NAMES])))
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


def _spans(rows: Sequence[int]) -> Iterator[tuple[int, int]]:
    """First and last of every row of neighbours."""
    first = last = -2
    for row in rows:
        if row != last + 1:
            if last >= 0:
                yield first, last
            first = row
        last = row
    if last >= 0:
        yield first, last


def _search_text(entry: RunEntry) -> str:
    """What a search looks through, in one case."""
    when = ""
    if entry.started is not None:
        at = time.localtime(entry.started)
        when = f"{_day_text(at.tm_year, at.tm_mon, at.tm_mday)} {at.tm_hour:02}:{at.tm_min:02}"
    parts = (
        entry.run_id,
        title_words(entry),
        outcome_words(entry.outcome),
        when,
        fact_words(entry),
        *entry.agents,
    )
    return " ".join(parts).casefold()


@lru_cache(maxsize=1000)
def _day_text(year: int, month: int, day: int) -> str:
    """How one may write a day; many runs share one."""
    return date_words(time.mktime((year, month, day, 12, 0, 0, 0, 0, -1)))


def _alignment(column: Column) -> Qt.AlignmentFlag:
    side = Qt.AlignmentFlag.AlignRight if column in NUMBERS else Qt.AlignmentFlag.AlignLeft
    return side | Qt.AlignmentFlag.AlignVCenter
