"""Rows of the cost table: shares as small bars, the whole run in bold."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRectF, QSize, Qt
from PySide6.QtGui import QFontMetrics, QPainter
from PySide6.QtWidgets import QStyleOptionViewItem

from app.painting import paint_method, saved
from app.run_view.cost_model import NAME, SHARE, CostModel
from app.run_view.flat_rows import RoomyRows
from app.theme import font, theme
from core.costs import CostKind

_BAR = 48
_GAP = 8


def paint_share(painter: QPainter, box: QRectF, share: float, token: str) -> None:
    """A bar of which this part is full (1 and more: all of it)."""
    with saved(painter):
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        radius = box.height() / 2
        painter.setBrush(theme().color("line"))
        painter.drawRoundedRect(box, radius, radius)
        if share > 0:
            width = max(box.height(), box.width() * min(1.0, share))
            painter.setBrush(theme().color(token))
            painter.drawRoundedRect(QRectF(box.left(), box.top(), width, box.height()), radius, radius)


class CostRows(RoomyRows):
    """Paints the rows of a `CostModel`."""

    def initStyleOption(  # noqa: N802
        self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        super().initStyleOption(option, index)
        model = index.model()
        whole = isinstance(model, CostModel) and model.line(index).kind is CostKind.RUN
        option.font = font(bold=whole, tabular=index.column() != NAME)

    def sizeHint(  # noqa: N802
        self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> QSize:
        size = super().sizeHint(option, index)
        return QSize(size.width() + 8 + (_BAR + _GAP if index.column() == SHARE else 0), size.height())

    @paint_method
    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        model = index.model()
        if not isinstance(model, CostModel) or index.column() != SHARE:
            super().paint(painter, option, index)
            return
        # The style paints the number where it paints those of the other columns.
        super().paint(painter, option, index)
        self.initStyleOption(option, index)
        metrics = QFontMetrics(font(bold=True, tabular=True))
        box = option.rect.adjusted(4, 0, -4, 0)
        # Room for three digits: the bars stand below each other.
        right = box.right() - metrics.horizontalAdvance("100 %") - _GAP
        left = max(box.left(), right - _BAR)
        if right - left > 8:
            place = QRectF(left, box.center().y() - 2, right - left, 5)
            paint_share(painter, place, model.share(index), "quiet")
