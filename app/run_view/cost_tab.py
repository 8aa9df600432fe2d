"""The cost tab: tokens and money by agent, group and iteration, live, and what is left of the budget."""

from __future__ import annotations

from PySide6.QtCore import QElapsedTimer, QModelIndex, Qt, QTimer, Signal, Slot
from PySide6.QtGui import QGuiApplication, QKeyEvent, QKeySequence, QResizeEvent, QShowEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QFrame,
    QHeaderView,
    QStackedWidget,
    QTreeView,
    QVBoxLayout,
    QWidget,
)

from app.focus_line import FocusLine
from app.labels import Line, QuietLabel
from app.run_view.budget_rows import BudgetRows
from app.run_view.cost_model import AGAIN, COLUMNS, LEFT_OUT_FIRST, NAME, TURNS, CostModel
from app.run_view.cost_rows import CostRows
from app.run_view.flat_rows import flatten
from app.scroll_bar import use_thin_scroll_bars
from app.segments import Segments
from core.costs import CostLine, CostOrder, budget_uses, cost_lines
from core.progress import RunProgress

_MARGIN = 12
_REST_MS = 250
"""Numbers change at most four times a second."""
_LOOKED_AT = 40
"""Rows by which columns are fitted."""
_NARROWEST_NAME = 140
_LOW = 300
"""Pixels of height below which not all of it has room."""


class CostTab(QWidget):
    """Shows what a run used. Costs nothing while it is not visible.

    Signals: `turn_requested(str)`: the user wants to see this turn.
    """

    turn_requested = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._progress = RunProgress()
        self._shown_at = QElapsedTimer()
        self._rest = QTimer(self)
        self._rest.setSingleShot(True)
        self._rest.setInterval(_REST_MS)
        self._rest.timeout.connect(self._show_now)
        self.budget = BudgetRows(self)
        words = (self.tr("By agent"), self.tr("By group"), self.tr("By iteration"))
        self.order = Segments(words, self)
        self.order.setAccessibleName(self.tr("What the costs are told by"))
        self.order.chosen.connect(self._turn_order)
        self.model = CostModel(self)
        self.tree = _CostTree(self.model, self)
        self.tree.activated.connect(self._open)
        self.note = QuietLabel("", self)
        self.note.setWordWrap(True)
        self.note.setContentsMargins(_MARGIN, 8, _MARGIN, 8)
        self._empty = QuietLabel(self.tr("Nothing was used yet."), self)
        self._empty.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._empty.setWordWrap(True)
        page = QWidget(self)
        head = QVBoxLayout()
        head.setContentsMargins(_MARGIN, 12, _MARGIN, 8)
        head.setSpacing(8)
        head.addWidget(self.budget)
        head.addWidget(self.order)
        column = QVBoxLayout(page)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addLayout(head)
        column.addWidget(Line(page))
        column.addWidget(self.tree, 1)
        column.addWidget(self.note)
        self._pages = QStackedWidget(self)
        self._pages.addWidget(self._empty)
        self._pages.addWidget(page)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self._pages)

    def begin(self, progress: RunProgress) -> None:
        """Show another run."""
        self._progress = progress
        self._shown_at.invalidate()
        self.refresh()

    def refresh(self) -> None:
        """Something may have been used."""
        if not self.isVisible() or self._rest.isActive():
            return
        if self._shown_at.isValid() and self._shown_at.elapsed() < _REST_MS:
            self._rest.start()
        else:
            self._show_now()

    def showEvent(self, event: QShowEvent) -> None:  # noqa: N802
        super().showEvent(event)
        self._show_now()

    @Slot()
    def _show_now(self) -> None:
        self._shown_at.start()
        run = cost_lines(self._progress, CostOrder(self.order.current))
        self._pages.setCurrentIndex(1 if run.turns else 0)
        self.budget.show_uses(budget_uses(self._progress))
        if self.model.show_lines(run):
            self.tree.fit_columns()
        self._show_note(run)

    def _show_note(self, run: CostLine) -> None:
        parts: list[str] = []
        if run.spent.unpriced:
            parts.append(
                self.tr("Some of the tokens have no known price: the run costs more than is shown.")
                if run.spent.usage.cost_usd
                else self.tr("No price is known for these tokens; that does not mean that they are free.")
            )
        if run.spent.usage.cost_usd is not None:
            parts.append(
                self.tr(
                    "Costs are what the agents' programs reported. What your provider bills may differ, "
                    "and a subscription may cover it."
                )
            )
        self.note.setText(" ".join(parts))
        self._make_room()

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        super().resizeEvent(event)
        self._make_room()

    def _make_room(self) -> None:
        """In a low window the numbers come first."""
        self.budget.show_only_nearest(self.height() < _LOW)
        self.note.setVisible(bool(self.note.text()) and self.height() >= _LOW)

    @Slot()
    def _turn_order(self) -> None:
        self._show_now()

    @Slot(QModelIndex)
    def _open(self, index: QModelIndex) -> None:
        turn = self.model.line(index).turn
        if turn:
            self.turn_requested.emit(turn)

    @Slot()
    def copy_table(self) -> None:
        """Copy all lines as text, with tabs between the columns."""
        self._show_now()
        lines = ["\t".join(self.model.heads())]
        waiting = [(QModelIndex(), 0)]
        while waiting:
            parent, depth = waiting.pop()
            if parent.isValid():
                line = self.model.line(parent)
                texts = [self.model.text(line, column) for column in range(COLUMNS)]
                lines.append("\t".join(("  " * (depth - 1) + texts[0], *texts[1:])))
            count = self.model.rowCount(parent)
            waiting += [(self.model.index(row, 0, parent), depth + 1) for row in reversed(range(count))]
        QGuiApplication.clipboard().setText("\n".join(lines))


class _CostTree(QTreeView):
    def __init__(self, model: CostModel, parent: CostTab) -> None:
        super().__init__(parent)
        self._tab = parent
        use_thin_scroll_bars(self)
        FocusLine(self)
        self.setModel(model)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setUniformRowHeights(True)
        flatten(self)
        self.setItemDelegate(CostRows(self))
        self.setAccessibleName(self.tr("Costs"))
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setIndentation(16)
        self._natural: dict[int, int] = {}
        """How wide each column has to be."""
        self.expanded.connect(self._fit_name)
        self.header().setStretchLastSection(False)
        self.header().setSectionResizeMode(QHeaderView.ResizeMode.Interactive)
        # Sums come first, and nothing below them is wider.
        self.header().setResizeContentsPrecision(_LOOKED_AT)

    def fit_columns(self) -> None:
        """Make every column as wide as what stands in it, and show those that have room."""
        for column in range(COLUMNS):
            self.setColumnHidden(column, False)
            self.resizeColumnToContents(column)
        self._natural = {column: self.columnWidth(column) for column in range(COLUMNS)}
        self._fit_name()

    def _fit_room(self) -> None:
        """Leave out what matters least where there is no room for all; tool tips tell it."""
        if not self._natural:
            return
        wanted = sum(self._natural.values()) - self._natural[NAME] + self.columnWidth(NAME)
        left_out: set[int] = set()
        for column in LEFT_OUT_FIRST:
            # The name may become narrower before what was tried again has no column.
            spare = self.columnWidth(NAME) - _NARROWEST_NAME if column in (AGAIN, TURNS) else 0
            if wanted - spare <= self.viewport().width():
                break
            left_out.add(column)
            wanted -= self._natural[column]
        for column in LEFT_OUT_FIRST:
            if self.isColumnHidden(column) != (column in left_out):
                self.setColumnHidden(column, column in left_out)
        if wanted > self.viewport().width():
            name = self.columnWidth(NAME) - (wanted - self.viewport().width())
            self.header().resizeSection(NAME, max(_NARROWEST_NAME, name))

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        super().resizeEvent(event)
        self._fit_room()

    @Slot()
    def _fit_name(self) -> None:
        wanted = self.sizeHintForColumn(NAME) + 8
        self.header().resizeSection(NAME, min(280, max(_NARROWEST_NAME, wanted, self.columnWidth(NAME))))
        self._fit_room()

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802
        if event.matches(QKeySequence.StandardKey.Copy):
            self._tab.copy_table()
        else:
            super().keyPressEvent(event)
