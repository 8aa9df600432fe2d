"""The rows of a comparison as a model, and the filter over them."""

from __future__ import annotations

from collections.abc import Sequence

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
from app.runs.compare_rows import CompareRow
from app.runs.words import tr

Index = QModelIndex | QPersistentModelIndex
NO_INDEX = QModelIndex()
ROW_ROLE = Qt.ItemDataRole.UserRole + 1
"""The `CompareRow`."""
_TIP, _CELL = 600, 300
"""Characters that a tool tip and a cell have room for."""
NAME, FIRST, SECOND, CHANGE = range(4)


class CompareModel(QAbstractTableModel):
    """Columns: what it is, A, B, and the difference."""

    def __init__(self, change: str, parent: QObject | None = None) -> None:
        """`change`: the heading of the last column."""
        super().__init__(parent)
        self._rows: Sequence[CompareRow] = ()
        self._headings = ("", "A", "B", change)

    def show_rows(self, rows: Sequence[CompareRow]) -> None:
        """Show other rows."""
        self.beginResetModel()
        self._rows = rows
        self.endResetModel()

    def row_at(self, row: int) -> CompareRow:
        """One of the rows."""
        return self._rows[row]

    # --- Qt's side -------------------------------------------------------------------------------------

    def rowCount(self, parent: Index = NO_INDEX) -> int:  # noqa: N802
        return 0 if parent.isValid() else len(self._rows)

    def columnCount(self, parent: Index = NO_INDEX) -> int:  # noqa: N802
        return 0 if parent.isValid() else 4

    def headerData(  # noqa: N802
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> object:
        if orientation is Qt.Orientation.Horizontal and role == Qt.ItemDataRole.DisplayRole:
            return self._headings[section]
        return None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        if not index.isValid():
            return None
        row = self._rows[index.row()]
        texts = (row.name, row.first, row.second, row.change)
        match role:
            case Qt.ItemDataRole.DisplayRole:
                return harmless(texts[index.column()][:_CELL]).replace("\n", " ")
            case Qt.ItemDataRole.ToolTipRole:
                return plain_tool_tip(harmless(texts[index.column()][:_TIP]))
            case Qt.ItemDataRole.AccessibleTextRole if index.column() == NAME:
                change = f", {row.change}" if row.change else ""
                name = f"{row.of}, {row.name}" if row.of else row.name
                sides = (row.first[:_CELL], row.second[:_CELL])
                if not any(sides):
                    return harmless(name + change)
                return harmless(tr("{0}: A {1}, B {2}").format(name, *sides) + change)
            case _ if role == ROW_ROLE:
                return row
        return None


class CompareFilter(QSortFilterProxyModel):
    """Rows with every word of the search in them, and, where wanted, only those that differ."""

    def __init__(self, model: CompareModel, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._model = model
        self._words: list[str] = []
        self._only_different = False
        self.setSourceModel(model)

    def search(self, text: str) -> None:
        """Show only what matches."""
        self._words = text.casefold().split()
        self.invalidate()

    def show_only_different(self, only: bool) -> None:
        """Leave out what is the same in both."""
        self._only_different = only
        self.invalidate()

    def filterAcceptsRow(self, row: int, parent: Index) -> bool:  # noqa: N802
        del parent
        if not (self._words or self._only_different):
            return True
        found = self._model.row_at(row)
        if self._only_different and not found.differs:
            return False
        if not self._words:
            return True
        text = f"{found.of} {found.name} {found.first} {found.second} {found.change}".casefold()
        return all(word in text for word in self._words)
