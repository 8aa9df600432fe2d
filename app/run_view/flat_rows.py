"""Rows and headers of trees in the theme's own way: no gradients, rows with room."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QModelIndex, QObject, QPersistentModelIndex, QRect, QSize, Qt
from PySide6.QtGui import QFontMetrics, QPainter, QPaintEvent, QPalette
from PySide6.QtWidgets import (
    QHeaderView,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTreeView,
    QWidget,
)

from app.painting import paint_method, saved
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
        if option.state & QStyle.StateFlag.State_Selected:
            # The row says where one is, a line on the tree that the keys go there: no box around one cell.
            option.state &= ~QStyle.StateFlag.State_HasFocus
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

    @paint_method
    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802
        # Its ground and its line go on where there are no columns.
        super().paintEvent(event)
        area = self.viewport().rect()
        area.setLeft(self.length() - self.offset())
        if area.width() > 0:
            with QPainter(self.viewport()) as painter:
                painter.fillRect(area, theme().color("surface"))
                painter.fillRect(QRect(area.left(), area.bottom(), area.width(), 1), theme().color("line"))

    @paint_method
    def paintSection(self, painter: QPainter, rect: QRect, logicalIndex: int) -> None:  # noqa: N802, N803
        colors = theme()
        with saved(painter):
            painter.fillRect(rect, colors.color("surface"))
            painter.fillRect(QRect(rect.left(), rect.bottom(), rect.width(), 1), colors.color("line"))
            painter.setFont(font(TextSize.LABEL))
            painter.setPen(colors.color("quiet"))
            text = str(self.model().headerData(logicalIndex, Qt.Orientation.Horizontal) or "")
            role = Qt.ItemDataRole.TextAlignmentRole
            wished = self.model().headerData(logicalIndex, Qt.Orientation.Horizontal, role)
            right = isinstance(wished, Qt.AlignmentFlag) and bool(wished & Qt.AlignmentFlag.AlignRight)
            side = Qt.AlignmentFlag.AlignRight if right else Qt.AlignmentFlag.AlignLeft
            painter.drawText(
                rect.adjusted(12 if logicalIndex == 0 else 4, 0, -self._cell_margin if right else -4, 0),
                side | Qt.AlignmentFlag.AlignVCenter,
                text,
            )

    @property
    def _cell_margin(self) -> int:
        """What the style leaves between the text of a cell and its edge."""
        return self.style().pixelMetric(QStyle.PixelMetric.PM_FocusFrameHMargin, None, self) + 1


class _CalmSelection(QObject):
    """Keeps a tree's selection soft, whatever theme comes: what is painted on it is read as elsewhere."""

    def __init__(self, tree: QTreeView) -> None:
        super().__init__(tree)
        self._tree = tree
        self._apply()
        tree.installEventFilter(self)

    def _apply(self) -> None:
        palette = self._tree.palette()
        palette.setColor(QPalette.ColorRole.Highlight, theme().color("accent_soft"))
        palette.setColor(QPalette.ColorRole.HighlightedText, theme().color("text"))
        if palette != self._tree.palette():
            self._tree.setPalette(palette)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802
        if event.type() is QEvent.Type.PaletteChange and watched is self._tree:
            self._apply()
        return False


def flatten(tree: QTreeView) -> None:
    """Give a tree these rows, this header and a soft selection."""
    tree.setHeader(FlatHeader(tree))
    tree.setItemDelegate(RoomyRows(tree))
    tree.setFont(font())
    _CalmSelection(tree)
