"""The item view of the workflow: selection that survives edits, and what can be dragged and dropped."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import (
    QEvent,
    QItemSelection,
    QItemSelectionModel,
    QMimeData,
    QModelIndex,
    QPersistentModelIndex,
    QPoint,
    QRect,
    QSize,
    Qt,
    Signal,
    Slot,
)
from PySide6.QtGui import (
    QContextMenuEvent,
    QDrag,
    QDragEnterEvent,
    QDragLeaveEvent,
    QDragMoveEvent,
    QDropEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPalette,
    QResizeEvent,
)
from PySide6.QtWidgets import QAbstractItemView, QFrame, QStyle, QStyleOptionViewItem, QTreeView, QWidget

from app.builder import mime
from app.builder.drop_gap import DropGap
from app.builder.selection_band import SelectionBand
from app.builder.workflow_delegate import WorkflowDelegate
from app.builder.workflow_rows import RowAnatomy
from app.builder.workflow_selection import KeptSelection
from app.first_paint import after_first_paint
from app.focus_line import FocusLine
from app.painting import paint_method
from app.scroll_bar import use_thin_scroll_bars
from app.theme import is_appearance_event

if TYPE_CHECKING:
    from app.builder.workflow_model import WorkflowModel

_CONTROL, _SHIFT = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier


class WorkflowTree(QTreeView):
    """Phases, groups and agents, always expanded.

    Signals: `nodes_selected()` when the selection or the current row changed; `menu_requested(index, point)`
    with a global point; `index_opened(index)` on Enter or a double click.
    """

    nodes_selected = Signal()
    menu_requested = Signal(QModelIndex, QPoint)
    index_opened = Signal(QModelIndex)

    def __init__(self, model: WorkflowModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._model = model
        self.anatomy = RowAnatomy(model)
        self._delegate = WorkflowDelegate(model, self.anatomy, self)
        self.setItemDelegate(self._delegate)
        # Before there are rows, which it would measure.
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setModel(model)
        self.setHeaderHidden(True)
        self.setRootIsDecorated(False)
        self.setIndentation(0)
        self.setItemsExpandable(False)
        self.setExpandsOnDoubleClick(False)
        self.setUniformRowHeights(False)
        self.setFrameShape(QFrame.Shape.NoFrame)
        use_thin_scroll_bars(self, QPalette.ColorRole.Window)
        FocusLine(self)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setDragEnabled(True)
        self.setAcceptDrops(True)
        self.setDropIndicatorShown(False)
        self.setDragDropMode(QAbstractItemView.DragDropMode.DragDrop)
        self.setMouseTracking(True)
        self.viewport().setBackgroundRole(self.backgroundRole())
        self.setAccessibleName(self.tr("Workflow"))
        self._kept = KeptSelection()
        self._generation = model.document.generation
        self._band = SelectionBand(self)
        self._carried: QMimeData | None = None
        """What a drag over the tree carries, if it is something for it."""
        self._pointer = QPoint()
        self.gap = DropGap(self, model, self.anatomy)
        self.gap.scrolled.connect(self._reconsider)
        model.modelAboutToBeReset.connect(self._keep_selection)
        model.modelReset.connect(self._restore_selection)
        model.dataChanged.connect(self._relayout)
        self.selectionModel().selectionChanged.connect(self.nodes_selected)
        self.selectionModel().currentChanged.connect(self.nodes_selected)
        self.activated.connect(self.index_opened)
        # At the start of the application a file is opened before it, and has its rows shown.
        after_first_paint(self.expandAll)

    # --- selection -------------------------------------------------------------------------------------

    def selected_nodes(self) -> list[int]:
        """Ids of the selected groups and agents, in the file's order; no agent of a selected group."""
        chosen = {
            node_id for index in self.selectedIndexes() if (node_id := self._model.node_id(index)) is not None
        }
        ids: list[int] = []
        for _, _, group in self._model.outline.all_groups():
            if group.id in chosen:
                ids.append(group.id)
            else:
                ids.extend(node.id for node in group.agents if node.id in chosen)
        return ids

    def select_nodes(self, node_ids: list[int], current: int | None = None) -> None:
        """Select nodes; the current row becomes `current`, else the first of them."""
        selection = QItemSelection()
        for node_id in node_ids:
            index = self._model.index_of(node_id)
            if index.isValid():
                selection.select(index, index)
        first = (
            self._model.index_of(current if current is not None else node_ids[0])
            if node_ids
            else QModelIndex()
        )
        flags = QItemSelectionModel.SelectionFlag
        if first.isValid():
            self.selectionModel().setCurrentIndex(first, flags.NoUpdate)
        self.selectionModel().select(selection, flags.ClearAndSelect)

    def setSelection(  # noqa: N802
        self, rect: QRect, command: QItemSelectionModel.SelectionFlag
    ) -> None:
        """A range takes rows of one kind: agents without the headers between them, or whole groups."""
        first, last = self.indexAt(rect.topLeft()), self.indexAt(rect.bottomRight())
        if not first.isValid() or not last.isValid() or first == last:
            super().setSelection(rect, command)
            return
        if self.visualRect(first).top() > self.visualRect(last).top():
            index, end = last, first
        else:
            index, end = first, last
        kind = self._model.kind(first)
        selection = QItemSelection()
        while index.isValid():
            if self._model.kind(index) is kind:
                selection.select(index, index)
            if index == end:
                break
            index = self.indexBelow(index)
        self.selectionModel().select(selection, command)

    @Slot()
    def _keep_selection(self) -> None:
        selected = [self._model.node_id(index) for index in self.selectedIndexes()]
        self._kept = KeptSelection(
            order=self._order(),
            selected=[node_id for node_id in selected if node_id is not None],
            current=self._model.node_id(self.currentIndex()) if self.currentIndex().isValid() else None,
            scroll=self.verticalScrollBar().value(),
            generation=self._generation,
        )

    @Slot()
    def _restore_selection(self) -> None:
        self.expandAll()
        self._generation = self._model.document.generation
        if self._kept.generation == self._generation:
            agents = {node.id for _, _, node in self._model.outline.all_agents()}
            chosen = self._kept.after_edit(self._order(), agents)
            if chosen:
                self.select_nodes(chosen, self._kept.current if self._kept.current in chosen else None)
            self.verticalScrollBar().setValue(self._kept.scroll)
            if self.currentIndex().isValid():
                self.scrollTo(self.currentIndex())
        self.nodes_selected.emit()

    def _order(self) -> list[int]:
        """Ids of all groups and agents from top to bottom."""
        return [
            node_id
            for _, _, group in self._model.outline.all_groups()
            for node_id in (group.id, *(node.id for node in group.agents))
        ]

    # --- painting --------------------------------------------------------------------------------------

    @paint_method
    def drawRow(  # noqa: N802
        self,
        painter: QPainter,
        options: QStyleOptionViewItem,
        index: QModelIndex | QPersistentModelIndex,
    ) -> None:
        """Everything is the delegate's: the style would paint its own selection under the cards."""
        option = QStyleOptionViewItem(options)
        flags = QStyle.StateFlag
        option.state = flags.State_Enabled
        here = index.sibling(index.row(), 0)
        if self.selectionModel().isSelected(here):
            option.state |= flags.State_Selected
        if self.hasFocus() and self.currentIndex() == here:
            option.state |= flags.State_HasFocus
        if not self.gap.dragging and self.viewport().underMouse():
            at = self.viewport().mapFromGlobal(self.cursor().pos())
            if self.anatomy.boxes(here, option.rect).body.contains(at):
                option.state |= flags.State_MouseOver
        self._delegate.paint(painter, option, here)

    @paint_method
    def drawBranches(  # noqa: N802
        self, painter: QPainter, rect: QRect, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        """No branches: groups are cards."""

    def sizeHint(self) -> QSize:  # noqa: N802
        return QSize(372, 480)

    def changeEvent(self, event: QEvent) -> None:  # noqa: N802
        super().changeEvent(event)
        if is_appearance_event(event):
            self._relayout()
            self.viewport().update()

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        super().resizeEvent(event)
        self._relayout()

    @Slot()
    def _relayout(self) -> None:
        """Row heights depend on width, fonts and the drag; the tree keeps them until told."""
        self.scheduleDelayedItemsLayout()

    # --- mouse and keys --------------------------------------------------------------------------------

    def body_at(self, point: QPoint) -> QModelIndex:
        """The row whose body is at a point of the viewport; invalid beside and between the cards."""
        index = self.indexAt(point)
        if index.isValid() and self.anatomy.boxes(index, self.visualRect(index)).body.contains(point):
            return index
        return QModelIndex()

    def mousePressEvent(self, event: QMouseEvent) -> None:  # noqa: N802
        point = event.position().toPoint()
        if not self.body_at(point).isValid():
            adds = bool(event.modifiers() & (_CONTROL | _SHIFT))
            if not adds:
                self.clearSelection()
            if event.button() is Qt.MouseButton.LeftButton:
                self._band.begin(point, self.selected_nodes() if adds else [])
            self.setFocus(Qt.FocusReason.MouseFocusReason)
            event.accept()
            return
        super().mousePressEvent(event)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:  # noqa: N802
        if self._band.stretched_to(event.position().toPoint()):
            return
        super().mouseMoveEvent(event)
        self.viewport().update()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:  # noqa: N802
        self._band.end()
        super().mouseReleaseEvent(event)

    def leaveEvent(self, event: QEvent) -> None:  # noqa: N802
        super().leaveEvent(event)
        self.viewport().update()

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802
        key = event.key()
        if self.state() is QAbstractItemView.State.EditingState:
            # What the editor of a name lets through, such as Return, is not for the rows.
            event.ignore()
            return
        if key in (Qt.Key.Key_Minus, Qt.Key.Key_Plus, Qt.Key.Key_Asterisk):
            event.ignore()
            return
        if key in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self.currentIndex().isValid():
            self.index_opened.emit(self.currentIndex())
            return
        super().keyPressEvent(event)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:  # noqa: N802
        if event.reason() == QContextMenuEvent.Reason.Keyboard:
            index = self.currentIndex()
            point = (
                self.anatomy.boxes(index, self.visualRect(index)).body.center()
                if index.isValid()
                else QPoint()
            )
            where = self.viewport().mapToGlobal(point)
        else:
            index = self.body_at(event.pos())
            where = event.globalPos()
        if index.isValid():
            if not self.selectionModel().isSelected(index):
                # Whatever keys are held: the menu is about this row.
                flags = QItemSelectionModel.SelectionFlag
                self.selectionModel().setCurrentIndex(index, flags.ClearAndSelect)
            self.menu_requested.emit(index, where)
        event.accept()

    def agents_in(self, area: QRect) -> list[int]:
        """The agents whose rows an area of the viewport touches."""
        found: list[int] = []
        for _, _, node in self._model.outline.all_agents():
            index = self._model.index_of(node.id)
            if self.anatomy.boxes(index, self.visualRect(index)).body.intersects(area):
                found.append(node.id)
        return found

    # --- dragging --------------------------------------------------------------------------------------

    def startDrag(self, supportedActions: Qt.DropAction) -> None:  # noqa: N802, N803
        """Our own: the base class would delete the rows after a move that the document has made already."""
        del supportedActions
        ids = self.selected_nodes()
        groups = {group.id for _, _, group in self._model.outline.all_groups()}
        if not ids or self._model.locked:
            return
        if any(node_id in groups for node_id in ids):
            ids = [node_id for node_id in ids if node_id in groups]
        indexes = [self._model.index_of(node_id) for node_id in ids]
        # Not needed for the first paint of the window.
        from app.builder.drag_picture import drag_picture, run_drag

        drag = QDrag(self)
        drag.setMimeData(self._model.mimeData(indexes))
        drag.setPixmap(drag_picture(self, self._model.name_of(indexes[0]), len(indexes)))
        self._delegate.lifted = {*ids}
        self.viewport().update()
        try:
            run_drag(drag, self, Qt.DropAction.MoveAction)
        finally:
            self._delegate.lifted = ()
            self._end_drag()

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:  # noqa: N802
        self._carried = mime.copy_of(event.mimeData(), self._model.token)
        self._consider(event)

    def dragMoveEvent(self, event: QDragMoveEvent) -> None:  # noqa: N802
        self._consider(event)

    def dragLeaveEvent(self, event: QDragLeaveEvent) -> None:  # noqa: N802
        event.accept()
        self._end_drag()

    def dropEvent(self, event: QDropEvent) -> None:  # noqa: N802
        place = self._drop_place(event.position().toPoint())
        carried = self._carried
        self._end_drag()
        if place is None or carried is None:
            event.ignore()
            return
        row, parent = place
        if self._model.dropMimeData(carried, event.proposedAction(), row, 0, parent):
            event.setDropAction(self._action(carried))
            event.accept()
            self.setFocus(Qt.FocusReason.OtherFocusReason)
        else:
            event.ignore()

    def _end_drag(self) -> None:
        self._carried = None
        self.gap.end()

    def _action(self, data: QMimeData) -> Qt.DropAction:
        own = bool(mime.nodes_in(data, self._model.token))
        return Qt.DropAction.MoveAction if own else Qt.DropAction.CopyAction

    def _consider(self, event: QDropEvent) -> None:
        """Open the gap where a drop would land and say what it would do; or do not react at all."""
        if self._carried is None or self._model.locked:
            event.ignore()
            return
        self._pointer = event.position().toPoint()
        self.gap.follow(self._pointer.y())
        # Accepted as a drag in any case, so that it goes on telling where it is.
        event.setDropAction(self._action(self._carried) if self._reconsider() else Qt.DropAction.IgnoreAction)
        event.accept()

    @Slot()
    def _reconsider(self) -> bool:
        """Show where the drag would land now; False: nowhere."""
        place = self._drop_place(self._pointer)
        dragged = mime.nodes_in(self._carried, self._model.token)
        self.gap.land(self._model.target(*place) if place is not None else None, dragged)
        return place is not None

    def _drop_place(self, point: QPoint) -> tuple[int, QModelIndex] | None:
        """The (row, parent) that the model is to be asked for; None where a drop does nothing."""
        data = self._carried
        if data is None:
            return None
        place = self._place_at(point, self._carries_groups(data))
        action = self._action(data)
        if place is None or not self._model.canDropMimeData(data, action, place[0], 0, place[1]):
            return None
        return place

    def _carries_groups(self, data: QMimeData) -> bool:
        outline = self._model.outline
        return any(outline.find_group(node_id) for node_id in mime.nodes_in(data, self._model.token))

    def _place_at(self, point: QPoint, whole_groups: bool) -> tuple[int, QModelIndex] | None:
        found = self.gap.row_at(point.y())
        if found is None:
            last = self._model.index(self._model.rowCount() - 1, 0)
            return (self._model.rowCount(last), last) if point.y() > 0 else None
        index, row = found
        return self.anatomy.drop_at(index, row, point.y(), whole_groups)
