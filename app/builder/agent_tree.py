"""The tree of the agents there are, by folder, as it is painted and dragged from."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRect, QRectF, QSize, Qt, Slot
from PySide6.QtGui import QDrag, QFontMetrics, QPainter
from PySide6.QtWidgets import (
    QAbstractItemView,
    QFrame,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTreeView,
    QWidget,
)

from app.builder.agent_pool_model import PROBLEM_ROLE, agent_at
from app.focus_line import FocusLine
from app.painting import paint_method, saved
from app.scroll_bar import use_thin_scroll_bars
from app.severity import SIGNS
from app.theme import TextSize, font, paint_icon, theme
from core.problems import Problem

if TYPE_CHECKING:
    from core.agent import AgentDefinition

MARGIN = 12
ICON = 14
Index = QModelIndex | QPersistentModelIndex


class _AgentDelegate(QStyledItemDelegate):
    """Folders quiet with a triangle; agents with their role in quiet text, and ✓ where they may complete."""

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:  # noqa: N802
        del option, index
        return QSize(0, max(28, QFontMetrics(font()).height() + 10))

    @paint_method
    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        colors = theme()
        with saved(painter):
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            row = option.rect
            selected = bool(option.state & QStyle.StateFlag.State_Selected)
            if selected:
                painter.fillRect(row, colors.color("accent_soft"))
            elif option.state & QStyle.StateFlag.State_MouseOver:
                painter.fillRect(row, colors.color("raised"))
            if option.state & QStyle.StateFlag.State_HasFocus:
                painter.fillRect(QRect(row.left(), row.top(), 3, row.height()), colors.color("accent"))
            agent, problem = agent_at(index), index.data(PROBLEM_ROLE)
            if agent is None and not isinstance(problem, Problem):
                self._paint_folder(painter, option, index)
            else:
                self._paint_agent(painter, row, str(index.data()), agent, problem)

    def _paint_folder(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        colors = theme()
        row = option.rect
        is_open = bool(option.state & QStyle.StateFlag.State_Open)
        box = QRectF(row.left() + MARGIN - 2, row.center().y() - 5, 12, 12)
        paint_icon(painter, "chevron-down" if is_open else "chevron-right", box, colors.color("quiet"))
        painter.setFont(font(TextSize.SMALL))
        painter.setPen(colors.color("quiet"))
        left = row.left() + MARGIN + 12
        text = QFontMetrics(font(TextSize.SMALL)).elidedText(
            str(index.data()), Qt.TextElideMode.ElideMiddle, row.right() - left - 8
        )
        painter.drawText(QRect(left, row.top(), row.right() - left, row.height()), _LEFT, text)

    def _paint_agent(
        self, painter: QPainter, row: QRect, name: str, agent: AgentDefinition | None, problem: object
    ) -> None:
        colors = theme()
        right = row.right() - 8
        if isinstance(problem, Problem):
            box = QRectF(right - ICON, row.center().y() - ICON / 2 + 1, ICON, ICON)
            sign_of, tone = SIGNS[problem.severity]
            paint_icon(painter, sign_of, box, colors.color(tone))
            right -= ICON + 6
        left = row.left() + MARGIN
        sign = " ✓" if agent is not None and agent.may_complete else ""
        role = agent.role if agent is not None else ""
        name_metrics, role_metrics = QFontMetrics(font()), QFontMetrics(font(TextSize.SMALL))
        room = right - left
        beside = role_metrics.horizontalAdvance(role + sign)
        wide = name_metrics.horizontalAdvance(name)
        if beside:
            # A long name leaves its role at least a part of the row, and the sign in any case.
            beside = min(beside, max(round(room * _ROLE_SHARE), room - wide - 8))
        text = name_metrics.elidedText(
            name, Qt.TextElideMode.ElideMiddle, room - (beside + 8 if beside else 0)
        )
        painter.setFont(font())
        painter.setPen(colors.color("failed" if agent is None else "text"))
        painter.drawText(QRect(left, row.top(), room, row.height()), _LEFT, text)
        if beside:
            left += name_metrics.horizontalAdvance(text) + 8
            room = right - left - role_metrics.horizontalAdvance(sign)
            role = role_metrics.elidedText(role, Qt.TextElideMode.ElideRight, room)
            painter.setFont(font(TextSize.SMALL))
            painter.setPen(colors.color("quiet"))
            painter.drawText(QRect(left, row.top(), right - left, row.height()), _LEFT, role + sign)


_ROLE_SHARE = 0.35
"""Of a row, for the role beside a long name."""
_LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter | Qt.TextFlag.TextSingleLine


class AgentTree(QTreeView):
    """The tree of agents; a source of drags only."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setHeaderHidden(True)
        self.setRootIsDecorated(False)
        self.setIndentation(0)
        self.setFrameShape(QFrame.Shape.NoFrame)
        use_thin_scroll_bars(self)
        FocusLine(self)
        self.setItemDelegate(_AgentDelegate(self))
        self.setUniformRowHeights(True)
        self.setMouseTracking(True)
        self.setExpandsOnDoubleClick(False)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.setDragEnabled(True)
        self.setDragDropMode(QAbstractItemView.DragDropMode.DragOnly)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setAccessibleName(self.tr("Agents"))
        self.clicked.connect(self._toggle_folder)

    @paint_method
    def drawRow(self, painter: QPainter, options: QStyleOptionViewItem, index: Index) -> None:  # noqa: N802
        option = QStyleOptionViewItem(options)
        here = index.sibling(index.row(), 0)
        flags = QStyle.StateFlag
        option.state = flags.State_Enabled
        if self.selectionModel().isSelected(here):
            option.state |= flags.State_Selected
        if self.hasFocus() and self.currentIndex() == here:
            option.state |= flags.State_HasFocus
        if self.isExpanded(here):
            option.state |= flags.State_Open
        at = self.viewport().mapFromGlobal(self.cursor().pos())
        if self.viewport().underMouse() and option.rect.contains(at):
            option.state |= flags.State_MouseOver
        self.itemDelegate().paint(painter, option, here)

    @paint_method
    def drawBranches(self, painter: QPainter, rect: QRect, index: Index) -> None:  # noqa: N802
        """The delegate paints the triangle."""

    def startDrag(self, supportedActions: Qt.DropAction) -> None:  # noqa: N802, N803
        del supportedActions
        indexes = [index for index in self.selectedIndexes() if agent_at(index) is not None]
        if not indexes:
            return
        # Not needed for the first paint of the window.
        from app.builder.drag_picture import drag_picture, run_drag

        drag = QDrag(self)
        drag.setMimeData(self.model().mimeData(indexes))
        drag.setPixmap(drag_picture(self, str(indexes[0].data()), len(indexes)))
        run_drag(drag, self, Qt.DropAction.CopyAction)

    @Slot(QModelIndex)
    def _toggle_folder(self, index: QModelIndex) -> None:
        if self.model().hasChildren(index):
            self.setExpanded(index, not self.isExpanded(index))
