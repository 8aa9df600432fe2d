"""The state's tree: what was open and selected stays so when the next state comes."""

from __future__ import annotations

from collections.abc import Iterable

from PySide6.QtCore import QModelIndex, Qt, Signal, Slot
from PySide6.QtGui import (
    QAction,
    QContextMenuEvent,
    QGuiApplication,
    QKeyEvent,
    QKeySequence,
    QMouseEvent,
    QResizeEvent,
)
from PySide6.QtWidgets import QAbstractItemView, QFrame, QMenu, QTreeView, QWidget

from app.focus_line import FocusLine
from app.run_view.flat_rows import flatten
from app.run_view.state_model import WRITER, Disputes, Place, StateModel
from app.run_view.state_rows import give_state_rows
from app.scroll_bar import use_thin_scroll_bars
from app.theme import icon
from core.state import WorkflowState
from core.state_changes import StateChanges
from core.state_path import format_path

_MOST_EXPANDED = 200
_MOST_BUILT = 5_000
"""Rows beyond which nothing more is opened again."""


class StateTree(QTreeView):
    """Signals: `place_chosen(QModelIndex)`: the user wants to read what is there; `copy_requested()`: the
    selected value, as JSON; `dispute_requested(int)`: the conflict with this number.
    """

    place_chosen = Signal(QModelIndex)
    copy_requested = Signal()
    dispute_requested = Signal(int)

    def __init__(self, model: StateModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._model = model
        self._expanded: set[Place] = {("payload",)}
        self._building = False
        use_thin_scroll_bars(self)
        FocusLine(self)
        self.setModel(model)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setUniformRowHeights(True)
        flatten(self)
        self.rows = give_state_rows(self)
        self.setAccessibleName(self.tr("State"))
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.header().setStretchLastSection(False)
        self.setIndentation(16)
        self.selectionModel().currentChanged.connect(self._chosen)
        self.clicked.connect(self._clicked)
        self.expanded.connect(self._remember_expanded)
        self.collapsed.connect(self._remember_collapsed)
        self._sized = self._sizing = False
        self.header().sectionResized.connect(self.keep_columns)

    # --- what is shown ---------------------------------------------------------------------------------

    def show_state(
        self, state: WorkflowState | None, changes: StateChanges, disputes: Disputes, *, only_changes: bool
    ) -> None:
        """Show another state; what was open, selected and scrolled to stays so where it is still there."""
        current = self._model.place(self.currentIndex())
        place = self.verticalScrollBar().value()
        self._building = True
        self._model.show_state(state, changes, disputes, only_changes=only_changes)
        self._model.fetchMore(QModelIndex())
        wanted: Iterable[Place] = sorted(self._expanded, key=len)
        if only_changes:
            wanted = _ancestors(changes)
        for number, path in enumerate(wanted):
            if number >= _MOST_EXPANDED or self._model.built > _MOST_BUILT:
                break
            index = self._model.index_of(path)
            if index.isValid():
                self.expand(index)
        selected = self._model.index_of(current) if current else QModelIndex()
        if selected.isValid():
            self.setCurrentIndex(selected)
        self._building = False
        self.verticalScrollBar().setValue(place)

    def go_to(self, path: tuple[str, ...]) -> bool:
        """Select what is at a path, and open what is around it; False: it is not shown."""
        index = self._model.index_of(path)
        if not index.isValid():
            return False
        parent = index.parent()
        while parent.isValid():
            self.expand(parent)
            parent = parent.parent()
        self.setCurrentIndex(index)
        self.scrollTo(index, QAbstractItemView.ScrollHint.EnsureVisible)
        return True

    def mark(self, needle: str) -> None:
        """Mark this text where it stands; empty: nothing."""
        self.rows.needle = needle.casefold()
        self.viewport().update()

    @Slot(QModelIndex)
    def _chosen(self, index: QModelIndex) -> None:
        # The tree is built again after every merge; whoever reads something else goes on reading it.
        if index.isValid() and not self._building:
            self.place_chosen.emit(index)

    @Slot(QModelIndex)
    def _clicked(self, index: QModelIndex) -> None:
        self._chosen(index)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:  # noqa: N802
        super().mouseReleaseEvent(event)
        index = self.indexAt(event.position().toPoint())
        if event.button() is not Qt.MouseButton.LeftButton or index.column() != WRITER:
            return
        disputes = self._model.disputes(index)
        on_sign = event.position().x() < self.visualRect(index).left() + 24
        if disputes is not None and disputes.here and on_sign:
            self.dispute_requested.emit(disputes.here[-1])

    @Slot(QModelIndex)
    def _remember_expanded(self, index: QModelIndex) -> None:
        if not self._building:
            self._expanded.add(self._model.place(index))

    @Slot(QModelIndex)
    def _remember_collapsed(self, index: QModelIndex) -> None:
        if not self._building:
            self._expanded.discard(self._model.place(index))

    # --- columns ---------------------------------------------------------------------------------------

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        super().resizeEvent(event)
        box = self.visualRect(self.currentIndex())
        if box.isValid() and 0 <= box.top() < event.oldSize().height():
            # The pane that shows the selected value must not hide which one it is.
            self.scrollTo(self.currentIndex())
        if not self._sized:
            self._size_columns()

    def _size_columns(self) -> None:
        """Key, value and writers share the width, until the user moves an edge between them."""
        width = self.viewport().width()
        header = self.header()
        self._sizing = True
        key, writer = max(120, int(width * 0.34)), max(90, int(width * 0.22))
        header.resizeSection(0, key)
        header.resizeSection(1, max(80, width - key - writer))
        header.resizeSection(2, writer)
        self._sizing = False

    @Slot()
    def keep_columns(self) -> None:
        """The user has set the widths."""
        self._sized = self._sized or not self._sizing

    # --- copying ---------------------------------------------------------------------------------------

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802
        if event.matches(QKeySequence.StandardKey.Copy):
            self.copy_requested.emit()
        else:
            super().keyPressEvent(event)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:  # noqa: N802
        index = self.indexAt(event.pos())
        where = event.globalPos()
        if event.reason() is QContextMenuEvent.Reason.Keyboard:
            index = self.currentIndex()
            where = self.viewport().mapToGlobal(self.visualRect(index).bottomLeft())
        if index.isValid():
            self.setCurrentIndex(index.siblingAtColumn(0))
            self.menu_for(index).popup(where)

    def menu_for(self, index: QModelIndex) -> QMenu:
        """The context menu of a row; it deletes itself when it closes."""
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        path = self._model.path(index)
        menu.addAction(icon("copy", "quiet"), self.tr("Copy value"), self.copy_requested.emit)
        self._copy_text(menu, self.tr("Copy key"), path[-1])
        self._copy_text(menu, self.tr("Copy path"), path_text(path))
        disputes = self._model.disputes(index)
        if disputes is not None and disputes.here:
            menu.addSeparator()
            number = disputes.here[-1]
            show = menu.addAction(icon("triangle-alert", "failed"), self.tr("Show conflict"))
            show.triggered.connect(lambda: self.dispute_requested.emit(number))
        return menu

    @staticmethod
    def _copy_text(menu: QMenu, words: str, text: str) -> QAction:
        return menu.addAction(words, lambda: QGuiApplication.clipboard().setText(text))


def path_text(path: tuple[str, ...]) -> str:
    """A path as rules and conditions have it; places in lists as `[3]`."""
    text = ""
    for key in path:
        if key[:1] == "[" and text:
            text += key
        elif text:
            text += format_path(("-", key))[1:]
        else:
            text = format_path((key,))
    return text


def _ancestors(changes: StateChanges) -> Iterable[Place]:
    """Everything around what changed, outermost first."""
    known: dict[Place, None] = {}
    for path, _ in changes.listed():
        for length in range(1, len(path)):
            known[path[:length]] = None
        if len(known) > _MOST_EXPANDED:
            break
    return sorted(known, key=len)
