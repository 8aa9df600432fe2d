"""How bars over the tabs look: raised, with a coloured edge and a sign."""

from __future__ import annotations

from PySide6.QtCore import QRectF
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QWidget

from app.theme import paint_icon, theme


def paint_bar(bar: QWidget, symbol: str, token: str, sign: QRectF) -> None:
    """Paint the ground of a bar. `symbol`: an icon of `resources/icons`, `token`: a colour of the theme,
    `sign`: where the icon goes."""
    colors = theme()
    with QPainter(bar) as painter:
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.fillRect(bar.rect(), colors.color("raised"))
        painter.fillRect(0, 0, 3, bar.height(), colors.color(token))
        painter.fillRect(0, bar.height() - 1, bar.width(), 1, colors.color("line"))
        paint_icon(painter, symbol, sign, colors.color(token))
