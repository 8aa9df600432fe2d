"""A drag from a view of the builder: what hangs at the pointer, and that it ends when the window closes."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, QPoint, QRectF, QSizeF, Qt
from PySide6.QtGui import QDrag, QFontMetrics, QPainter, QPen, QPixmap
from PySide6.QtWidgets import QWidget

from app.theme import RADIUS, TextSize, font, theme

ASIDE, ABOVE = 12, 20
"""How far right of the pointer, and how far above it the picture ends, in pixels: words about the landing
stand at the pointer's height or in the gap that opens below it."""
_WIDEST = 200


def drag_picture(view: QWidget, name: str, count: int) -> QPixmap:
    """The first of what is dragged, and of several how many they are."""
    colors, usual, small = theme(), font(), font(TextSize.SMALL, bold=True)
    metrics, ratio = QFontMetrics(usual), view.devicePixelRatioF()
    name = metrics.elidedText(name, Qt.TextElideMode.ElideMiddle, _WIDEST)
    height, width = metrics.height() + 10, metrics.horizontalAdvance(name) + 24
    badge = QFontMetrics(small).horizontalAdvance(str(count)) + 12 if count > 1 else 0
    whole = QSizeF(width + (badge + 8 if badge else 0), height)
    picture = QPixmap((whole * ratio).toSize())
    picture.setDevicePixelRatio(ratio)
    picture.fill(Qt.GlobalColor.transparent)
    with QPainter(picture) as painter:
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(colors.color("accent"), 1))
        painter.setBrush(colors.color("surface"))
        painter.drawRoundedRect(QRectF(0.5, 0.5, whole.width() - 1, height - 1), RADIUS, RADIUS)
        painter.setPen(colors.color("text"))
        painter.setFont(usual)
        painter.drawText(QRectF(12, 0, width - 12, height), Qt.AlignmentFlag.AlignVCenter, name)
        if badge:
            box = QRectF(width, 5, badge, height - 10)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(colors.color("accent"))
            painter.drawRoundedRect(box, box.height() / 2, box.height() / 2)
            painter.setPen(colors.color("on_accent"))
            painter.setFont(small)
            painter.drawText(box, Qt.AlignmentFlag.AlignCenter, str(count))
    return picture


def hot_spot(picture: QPixmap) -> QPoint:
    """The point of the picture that is at the pointer: above and beside it."""
    return QPoint(-ASIDE, round(picture.deviceIndependentSize().height()) + ABOVE)


class _UntilClosed(QObject):
    """Cancels the drag that goes on when a window closes: the view it began in must outlive it."""

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802
        if event.type() == QEvent.Type.Close:
            QDrag.cancel()
        return super().eventFilter(watched, event)


def run_drag(drag: QDrag, view: QWidget, action: Qt.DropAction) -> None:
    """Drag until the drop, or until it is given up."""
    drag.setHotSpot(hot_spot(drag.pixmap()))
    window, guard = view.window(), _UntilClosed()
    window.installEventFilter(guard)
    drag.exec(action, action)
    window.removeEventFilter(guard)
