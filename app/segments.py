"""A switch between a few views of one thing: words beside each other, one of them chosen."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QAccessible, QFontMetrics, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QAbstractButton, QButtonGroup, QHBoxLayout, QSizePolicy, QWidget

from app.painting import paint_method
from app.ring_button import RingButton
from app.theme import GRID, RADIUS, font, theme


class _Segment(RingButton):
    def sizeHint(self) -> QSize:  # noqa: N802
        metrics = QFontMetrics(font(bold=True))
        return QSize(metrics.horizontalAdvance(self.text()) + 5 * GRID, max(24, metrics.height() + 6))

    @paint_method
    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802
        del event
        colors = theme()
        with QPainter(self) as painter:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            box = QRectF(self.rect()).adjusted(2.5, 2.5, -2.5, -2.5)
            if self.isChecked():
                painter.setPen(QPen(colors.color("line"), 1))
                painter.setBrush(colors.color("surface"))
                painter.drawRoundedRect(box, RADIUS - 2, RADIUS - 2)
            if self.has_ring:
                painter.setPen(QPen(colors.color("accent"), 2))
                painter.setBrush(Qt.BrushStyle.NoBrush)
                painter.drawRoundedRect(box, RADIUS - 2, RADIUS - 2)
            lit = self.isChecked() or self.underMouse()
            painter.setFont(self.font())
            token = "text" if lit else "quiet"
            painter.setPen(colors.color(token if self.isEnabled() else "disabled"))
            painter.drawText(self.rect(), Qt.AlignmentFlag.AlignCenter, self.text())


class Segments(QWidget):
    """Arrow keys go from one to the next.

    Signals: `chosen(int)` when the user turned to another one.
    """

    accessible_role = QAccessible.Role.Grouping

    chosen = Signal(int)

    def __init__(self, words: Sequence[str], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.group = QButtonGroup(self)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(0)
        for number, text in enumerate(words):
            button = _Segment(text, font(), self)
            self.group.addButton(button, number)
            row.addWidget(button)
        self.group.buttons()[0].setChecked(True)
        self.group.idClicked.connect(self.chosen)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)

    @property
    def current(self) -> int:
        """The one that is chosen, counted from 0."""
        return self.group.checkedId()

    def choose(self, number: int) -> None:
        """Turn to this one, without telling."""
        button = self.group.button(number)
        if button is not None:
            button.setChecked(True)

    def button(self, number: int) -> QAbstractButton:
        """One of them, for tool tips and the like."""
        return self.group.button(number)

    @paint_method
    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802
        del event
        with QPainter(self) as painter:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setPen(QPen(theme().color("line"), 1))
            painter.setBrush(theme().color("raised"))
            painter.drawRoundedRect(QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5), RADIUS, RADIUS)

    def changeEvent(self, event: QEvent) -> None:  # noqa: N802
        super().changeEvent(event)
        if event.type() is QEvent.Type.PaletteChange:
            self.update()
