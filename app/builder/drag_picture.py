"""What hangs at the pointer while several things are dragged."""

from __future__ import annotations

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QFontMetrics, QPainter, QPixmap

from app.theme import TextSize, font, theme


def paint_count(picture: QPixmap, count: int) -> None:
    """Paint how many there are onto the right end of the picture of the first."""
    colors = theme()
    small = font(TextSize.SMALL, bold=True)
    metrics = QFontMetrics(small)
    size = picture.deviceIndependentSize()
    height = min(size.height() - 4, metrics.height() + 4)
    width = max(height, metrics.horizontalAdvance(str(count)) + 12)
    painter = QPainter(picture)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    box = QRectF(size.width() - width - 8, (size.height() - height) / 2, width, height)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(colors.color("accent"))
    painter.drawRoundedRect(box, height / 2, height / 2)
    painter.setPen(colors.color("on_accent"))
    painter.setFont(small)
    painter.drawText(box, Qt.AlignmentFlag.AlignCenter, str(count))
    painter.end()
