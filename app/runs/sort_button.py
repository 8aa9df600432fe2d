"""In which order the runs stand, for where there is no header to click."""

from __future__ import annotations

from PySide6.QtCore import Qt, Slot
from PySide6.QtGui import QAction, QActionGroup
from PySide6.QtWidgets import QMenu, QWidget

from app.buttons import Button, ButtonLook
from app.runs.columns import NUMBERS, Column, heading
from app.runs.run_table import RunTable


class SortButton(Button):
    """Says the order of a table, and has a menu of all orders."""

    def __init__(self, table: RunTable, parent: QWidget) -> None:
        super().__init__("", ButtonLook.FLAT, "arrow-up-down", parent)
        self._table = table
        self._group = QActionGroup(self)
        menu = QMenu(self)
        for column in (Column.STARTED, *(each for each in Column if each is not Column.STARTED)):
            action = menu.addAction(heading(column))
            action.setCheckable(True)
            action.setData(int(column))
            self._group.addAction(action)
        self._group.triggered.connect(self._sort_by)
        self.set_drop_down(menu)
        self.setToolTip(self.tr("In which order the runs stand"))
        table.header().sortIndicatorChanged.connect(self._show_order)
        self._show_order()

    @Slot()
    def _show_order(self) -> None:
        header = self._table.header()
        column = Column(header.sortIndicatorSection())
        for action in self._group.actions():
            action.setChecked(action.data() == int(column))
        words = heading(column)
        if column is Column.STARTED:
            down = header.sortIndicatorOrder() is Qt.SortOrder.DescendingOrder
            words = self.tr("Newest first") if down else self.tr("Oldest first")
        self.setText(words)
        self.updateGeometry()

    @Slot(QAction)
    def _sort_by(self, action: QAction) -> None:
        """By this; by the same once more: the other way round. Numbers begin with the greatest."""
        table = self._table
        column, header = Column(int(action.data())), table.header()
        down = column in NUMBERS or column in (Column.STARTED, Column.AGENTS)
        if header.sortIndicatorSection() == column:
            down = header.sortIndicatorOrder() is Qt.SortOrder.AscendingOrder
        table.sortByColumn(column, Qt.SortOrder.DescendingOrder if down else Qt.SortOrder.AscendingOrder)
        table.scrollTo(table.currentIndex())
