"""An icon with a small warning at its corner."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRect, QRectF
from PySide6.QtGui import QIcon, QIconEngine, QPainter, QPen, QPolygonF

from app.painting import paint_method
from app.theme import SvgIconEngine, paint_icon, theme

_SHARE = 0.6
"""The size of the mark, of the icon's."""


class _MarkedIcon(SvgIconEngine):
    """Paints an icon of the theme in its colour, and over its corner the triangle of warnings."""

    @paint_method
    def paint(self, painter: QPainter, rect: QRect, mode: QIcon.Mode, state: QIcon.State) -> None:
        del mode, state
        colors = theme()
        box = QRectF(rect)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        small = QRectF(box.topLeft(), box.size() * 0.85)
        paint_icon(painter, self._name, small, colors.color(self._token))
        size = box.width() * _SHARE
        left, top = box.right() - size + 0.5, box.bottom() - size + 0.5
        triangle = QPolygonF(
            [QPointF(left + size / 2, top), QPointF(left + size, top + size), QPointF(left, top + size)]
        )
        # A solid shape, with a rim of the ground: a drawing in lines is mush at this size.
        painter.setPen(QPen(colors.color("surface"), 1.5))
        painter.setBrush(colors.color("other"))
        painter.drawPolygon(triangle)

    def clone(self) -> QIconEngine:
        return _MarkedIcon(self._name, self._token)


def marked_icon(name: str, token: str) -> QIcon:
    """An icon of `resources/icons` in a colour of the theme, with a warning at its corner."""
    return QIcon(_MarkedIcon(name, token))
