"""Rows and headers of trees in the theme's own way: no gradients, rows with room."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRect, QSize, Qt
from PySide6.QtGui import QFontMetrics, QPainter
from PySide6.QtWidgets import QHeaderView, QStyledItemDelegate, QStyleOptionViewItem, QTreeView, QWidget

from app.theme import TextSize, font, theme

_MARGIN = 8


class RoomyRows(QStyledItemDelegate):
    """Rows as high as the rest of the window has them."""

    def sizeHint(  # noqa: N802
        self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> QSize:
        size = super().sizeHint(option, index)
        return QSize(size.width() + _MARGIN, max(26, QFontMetrics(option.font).height() + 10))

    def initStyleOption(  # noqa: N802
        self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        super().initStyleOption(option, index)
        tree = option.widget
        if isinstance(tree, QTreeView) and not tree.rootIsDecorated() and index.column() == 0:
            option.rect.setLeft(option.rect.left() + _MARGIN)


class FlatHeader(QHeaderView):
    """Column names in quiet, small text over a hairline."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(Qt.Orientation.Horizontal, parent)
        self.setSectionsClickable(False)
        self.setStretchLastSection(True)
        self.setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)

    def sizeHint(self) -> QSize:  # noqa: N802
        return QSize(super().sizeHint().width(), 24)

    def paintSection(self, painter: QPainter, rect: QRect, logicalIndex: int) -> None:  # noqa: N802, N803
        colors = theme()
        painter.save()
        painter.fillRect(rect, colors.color("surface"))
        painter.fillRect(QRect(rect.left(), rect.bottom(), rect.width(), 1), colors.color("line"))
        painter.setFont(font(TextSize.LABEL))
        painter.setPen(colors.color("quiet"))
        text = str(self.model().headerData(logicalIndex, Qt.Orientation.Horizontal) or "")
        painter.drawText(
            rect.adjusted(12 if logicalIndex == 0 else 4, 0, -4, 0), self.defaultAlignment(), text
        )
        painter.restore()


def flatten(tree: QTreeView) -> None:
    """Give a tree these rows and this header."""
    tree.setHeader(FlatHeader(tree))
    tree.setItemDelegate(RoomyRows(tree))
    tree.setFont(font())
