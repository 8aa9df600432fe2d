"""The button that brings one back to the end of a log."""

from __future__ import annotations

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QToolButton, QWidget

from app.painting import paint_method
from app.theme import GRID, font, theme


class FollowPill(QToolButton):
    """The button that brings one back to the end of a log."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setFont(font())
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.hide()

    def say(self, lines: int) -> None:
        """Show how many lines came since one scrolled up."""
        if not lines:
            self._show(self.tr("↓ Follow"))
        elif lines == 1:
            self._show(self.tr("↓ Follow · 1 new line"))
        else:
            self._show(self.tr("↓ Follow · {lines} new lines").format(lines=f"{lines:,}"))

    def say_reading(self, share: float) -> None:
        """Show how much of a big file was read, 0 to 1; its end is shown then."""
        self._show(self.tr("Reading… {percent} %").format(percent=int(share * 100)))

    def _show(self, text: str) -> None:
        if text != self.text():
            self.setText(text)
            self.setAccessibleName(text.removeprefix("↓ "))
            self.resize(self.sizeHint())

    def sizeHint(self) -> QSize:  # noqa: N802
        metrics = self.fontMetrics()
        return QSize(metrics.horizontalAdvance(self.text()) + 7 * GRID, metrics.height() + 3 * GRID)

    @paint_method
    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802
        del event
        with QPainter(self) as painter:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            colors = theme()
            painter.setBrush(colors.color("accent_soft" if self.underMouse() or self.isDown() else "surface"))
            painter.setPen(QPen(colors.color("accent"), 2 if self.hasFocus() else 1))
            box = QRectF(self.rect()).adjusted(1, 1, -1, -1)
            painter.drawRoundedRect(box, box.height() / 2, box.height() / 2)
            painter.setFont(self.font())
            painter.setPen(colors.color("accent"))
            painter.drawText(box, Qt.AlignmentFlag.AlignCenter, self.text())
