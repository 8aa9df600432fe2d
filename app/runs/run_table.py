"""The list of runs as one sees it: a table where there is room, else calm rows of two lines."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import (
    QItemSelectionModel,
    QModelIndex,
    QPersistentModelIndex,
    QPoint,
    QRect,
    QSize,
    Qt,
    Signal,
)
from PySide6.QtGui import QFontMetrics, QKeyEvent, QPainter, QPalette, QResizeEvent
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QStyleOptionViewItem, QTreeView, QWidget

from app.focus_line import FocusLine
from app.painting import paint_method, saved
from app.runs.columns import Column, cell, sample, short_sample
from app.runs.entry import RunEntry
from app.runs.run_delegate import ICON_SPACE, ROW_MARGIN, RunDelegate
from app.runs.run_list import RunList
from app.runs.words import ending_words, title_words
from app.scroll_bar import use_thin_scroll_bars
from app.theme import TextSize, font, paint_icon, theme

_SORT_ICON = 12
_DROPPED = (Column.TOKENS, Column.AGENTS)
"""What is left out first where there is little room; the two lines say it."""
_WIDEST_NAME = 280
_GROWTH = (Column.OUTCOME, Column.WORKFLOW, Column.AGENTS)
"""Columns with words, which are cut where there is little room: one after the other gets what its words
need, as far as there is room for it."""
_GROWING = (Column.DURATION, Column.COST)
"""Columns of a run that goes on whose numbers grow longer."""


class RunHeader(QHeaderView):
    """Names of columns in quiet, small text over a hairline; the one that is sorted by has an arrow."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(Qt.Orientation.Horizontal, parent)
        self.setSectionsClickable(True)
        self.setSortIndicatorShown(True)
        self.setHighlightSections(False)
        self.setMinimumSectionSize(40)

    def sizeHint(self) -> QSize:  # noqa: N802
        return QSize(super().sizeHint().width(), max(28, QFontMetrics(font(TextSize.LABEL)).height() + 12))

    @paint_method
    def paintSection(self, painter: QPainter, rect: QRect, logicalIndex: int) -> None:  # noqa: N802, N803
        colors = theme()
        with saved(painter):
            painter.fillRect(rect, colors.color("surface"))
            painter.fillRect(QRect(rect.left(), rect.bottom(), rect.width(), 1), colors.color("line"))
            sorted_by = self.sortIndicatorSection() == logicalIndex
            shown = font(TextSize.LABEL, bold=sorted_by)
            painter.setFont(shown)
            painter.setPen(colors.color("text" if sorted_by else "quiet"))
            model = self.model()
            text = str(model.headerData(logicalIndex, Qt.Orientation.Horizontal) or "")
            alignment = Qt.AlignmentFlag(
                model.headerData(logicalIndex, Qt.Orientation.Horizontal, Qt.ItemDataRole.TextAlignmentRole)
            )
            left = ROW_MARGIN if logicalIndex == 0 else 4
            right = alignment & Qt.AlignmentFlag.AlignRight
            box = rect.adjusted(left, 0, -8, -1)
            metrics = QFontMetrics(shown)
            room = box.width() - (_SORT_ICON + 2 if sorted_by else 0)
            text = metrics.elidedText(text, Qt.TextElideMode.ElideRight, room)
            width = metrics.horizontalAdvance(text)
            at = box.right() - width + 1 if right else box.left()
            painter.drawText(
                QRect(at, box.top(), width + 2, box.height()), Qt.AlignmentFlag.AlignVCenter, text
            )
            if sorted_by:
                up = self.sortIndicatorOrder() is Qt.SortOrder.AscendingOrder
                where = at - _SORT_ICON - 2 if right else at + width + 2
                middle = box.center().y() - _SORT_ICON // 2 + 1
                arrow = QRect(where, middle, _SORT_ICON, _SORT_ICON).toRectF()
                paint_icon(painter, "arrow-up" if up else "arrow-down", arrow, colors.color("quiet"))


class RunTable(QTreeView):
    """Shows a `RunList`.

    Signals: `shape_changed()`: it is a table now, or is none any more; `typed(str)`: a letter was typed,
    which is meant for the search.
    """

    shape_changed = Signal()
    typed = Signal(str)

    def __init__(self, runs: RunList, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        use_thin_scroll_bars(self)
        FocusLine(self)
        self._runs = runs
        self._is_table = False
        self._columns: frozenset[Column] = frozenset()
        self._delegate = RunDelegate(self)
        self._widest = dict.fromkeys(_GROWING, "")
        """What stands in the widest cell; a cost of which not all is known takes more words."""
        self.setFrameShape(QTreeView.Shape.NoFrame)
        # Also beside the header, over the scroll bar.
        self.setBackgroundRole(QPalette.ColorRole.Base)
        self.setAutoFillBackground(True)
        self.setHeader(RunHeader(self))
        self.setModel(runs)
        self.setItemDelegate(self._delegate)
        self.setRootIsDecorated(False)
        self.setItemsExpandable(False)
        self.setUniformRowHeights(True)
        self.setMouseTracking(True)
        self.setSortingEnabled(True)
        self.sortByColumn(Column.STARTED, Qt.SortOrder.DescendingOrder)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setAccessibleName(self.tr("Runs"))
        header = self.header()
        header.setStretchLastSection(False)
        header.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        self._fit()

    @property
    def is_table(self) -> bool:
        """Whether it has columns."""
        return self._is_table

    # --- columns ---------------------------------------------------------------------------------------

    def _widths(self, *, short: bool = False) -> dict[Column, int]:
        """What each column needs, from the fonts and the words of the reader's language. `short`: the least
        with which it is of any use."""
        head = QFontMetrics(font(TextSize.LABEL, bold=True))
        text = QFontMetrics(font(tabular=True))
        widths = {}
        for column in Column:
            title = str(self.model().headerData(column, Qt.Orientation.Horizontal) or "")
            needed = text.horizontalAdvance(short_sample(column) if short else sample(column))
            if column is Column.OUTCOME:
                needed += ICON_SPACE
            elif column in _GROWING:
                needed = max(needed, text.horizontalAdvance(self._widest[column]))
            widths[column] = max(needed, head.horizontalAdvance(title) + _SORT_ICON + 2) + 16
        widths[Column.WORKFLOW] += ROW_MARGIN
        return widths

    def _fit(self) -> None:
        """Show the columns that there is room for; with less than the most important ones, two lines."""
        room = self.viewport().width()
        widths = self._widths(short=True)
        shown = set(Column)
        # Nobody wants tokens more than the whole outcome.
        more = {Column.TOKENS: self._widths()[Column.OUTCOME] - widths[Column.OUTCOME]}
        for column in _DROPPED:
            if sum(widths[each] for each in shown) + more.get(column, 0) > room:
                shown.discard(column)
        is_table = sum(widths[each] for each in shown) <= room
        if not is_table:
            shown = {Column.WORKFLOW}
        header = self.header()
        rest = room - sum(widths[each] for each in shown)
        if not is_table:
            widths[Column.WORKFLOW] = room
        else:
            self._share(widths, [column for column in _GROWTH if column in shown], rest)
        for column in Column:
            self.setColumnHidden(column, column not in shown)
            if column in shown:
                header.resizeSection(column, widths[column])
        header.setVisible(is_table)
        self._columns = frozenset(shown)
        if is_table != self._is_table:
            self._is_table = is_table
            self._delegate.in_two_lines = not is_table
            # Rows are of another height now.
            self.doItemsLayout()
            self.shape_changed.emit()

    def wanted_width(self) -> int:
        """With which all columns but the least important one have room, if some of their words are cut."""
        widths = self._widths(short=True)
        columns = sum(width for column, width in widths.items() if column is not _DROPPED[0])
        return columns + self.verticalScrollBar().sizeHint().width()

    def _share(self, widths: dict[Column, int], columns: Sequence[Column], rest: int) -> None:
        """Give the columns what is left of the room: what they need, one after the other; the rest is for the
        last, whose words have no end."""
        needed = self._widths()
        needed[Column.OUTCOME] = self._outcome_width(needed[Column.OUTCOME])
        needed[Column.WORKFLOW] = self._names_width()
        for column in columns:
            more = min(rest, max(0, needed[column] - widths[column]))
            widths[column] += more
            rest -= more
        last = Column.AGENTS if Column.AGENTS in columns else Column.WORKFLOW
        widths[last] += rest

    def _outcome_width(self, usual: int) -> int:
        """What the outcomes in the list need; not more than usual."""
        words = {ending_words(entry) for entry in self._runs.known}
        if not words:
            return usual
        metrics = QFontMetrics(font(tabular=True))
        return min(usual, max(map(metrics.horizontalAdvance, words)) + ICON_SPACE + 16)

    def _names_width(self) -> int:
        """What the names of the workflows in the list need; not more than `_WIDEST_NAME`."""
        metrics = QFontMetrics(font(tabular=True))
        names = {title_words(entry) for entry in self._runs.known}
        widest = max((metrics.horizontalAdvance(name[:_WIDEST_NAME]) for name in names), default=0)
        return min(_WIDEST_NAME, widest + ROW_MARGIN + 12)

    def fit_words(self) -> None:
        """Other runs are listed, with other words."""
        for column in _GROWING:
            cells = (cell(column, entry, 0.0) for entry in self._runs.known)
            self._widest[column] = max(cells, key=len, default="")
        self._fit()

    def make_room(self, entry: RunEntry) -> None:
        """The numbers of a run that goes on are others now: longer ones get the room that they need."""
        if any(len(cell(column, entry, 0.0)) > len(self._widest[column]) for column in _GROWING):
            self.fit_words()

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        super().resizeEvent(event)
        self._fit()

    def choose(self, index: QModelIndex) -> None:
        """Select this row alone, whatever keys are held down."""
        flags = QItemSelectionModel.SelectionFlag.ClearAndSelect | QItemSelectionModel.SelectionFlag.Rows
        self.selectionModel().setCurrentIndex(index, flags)

    def selected_rows(self) -> list[int]:
        """The rows that are selected, from top to bottom."""
        spans = self.selectionModel().selection()
        return sorted(
            {
                row
                for span in spans  # type: ignore[attr-defined]  # it is a list of ranges
                for row in range(span.top(), span.bottom() + 1)
            }
        )

    # --- keys and rows ---------------------------------------------------------------------------------

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802
        plain = not event.modifiers() & ~Qt.KeyboardModifier.ShiftModifier
        if plain and event.text().isprintable() and event.text().strip():
            self.typed.emit(event.text())
        else:
            super().keyPressEvent(event)

    @paint_method
    def drawRow(  # noqa: N802
        self, painter: QPainter, options: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        self._delegate.paint_ground(painter, options.rect, self._row_state(index))
        super().drawRow(painter, options, index)

    def _row_state(self, index: QModelIndex | QPersistentModelIndex) -> tuple[bool, bool, bool]:
        """Whether a row is selected, is where the keys are, and is under the mouse."""
        selected = self.selectionModel().isRowSelected(index.row())
        current = self.currentIndex().row() == index.row() and self.hasFocus()
        under = self.underMouse() and self.indexAt(self._mouse()).row() == index.row()
        return selected, current, under

    def _mouse(self) -> QPoint:
        return self.viewport().mapFromGlobal(self.cursor().pos())
