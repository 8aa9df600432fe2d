"""A small painted notice over the workflow: that it is locked."""

from __future__ import annotations

from PySide6.QtCore import QRect, QRectF, QSize, Qt
from PySide6.QtGui import QAccessible, QFontMetrics, QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget

from app.painting import paint_method
from app.theme import font, paint_icon, theme

MARGIN = 12
ICON = 14


class LockedNotice(QWidget):
    """One sentence: the workflow cannot be changed at present, and why."""

    accessible_role = QAccessible.Role.StaticText

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.text = ""

    def say(self, text: str) -> None:
        """Show another sentence."""
        if text != self.text:
            self.text = text
            self.setAccessibleName(text)
            self.updateGeometry()
            self.update()

    def sizeHint(self) -> QSize:  # noqa: N802
        return QSize(200, self.heightForWidth(self.width()))

    def hasHeightForWidth(self) -> bool:  # noqa: N802
        return True

    def heightForWidth(self, width: int) -> int:  # noqa: N802
        return self._text_box(width).height() + 16

    def _text_box(self, width: int) -> QRect:
        room = QRect(MARGIN + ICON + 8, 8, max(40, width - 2 * MARGIN - ICON - 8), 1000)
        return QFontMetrics(font()).boundingRect(room, Qt.TextFlag.TextWordWrap, self.text)

    @paint_method
    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802
        del event
        colors = theme()
        with QPainter(self) as painter:
            painter.fillRect(self.rect(), colors.color("accent_soft"))
            paint_icon(painter, "info", QRectF(MARGIN, 9, ICON, ICON), colors.color("accent"))
            painter.setFont(font())
            painter.setPen(colors.color("text"))
            painter.drawText(
                self._text_box(self.width()).adjusted(0, 0, 4, 0), Qt.TextFlag.TextWordWrap, self.text
            )
