"""The slider over all points of a run at which its state changed."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from PySide6.QtCore import QPointF, QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QSlider, QWidget

from app.painting import paint_method
from app.theme import theme
from core.state_history import StatePoint

_HANDLE = 7.0
"""Half of the handle's width, in logical pixels."""
_ROOM = 7
"""Ticks stand at least so many pixels apart; where they would not, only iterations have some."""


class PointSlider(QSlider):
    """A value for each point. Ticks mark the points, longer ones where an iteration begins, and triangles
    where agents did not agree.

    Signals: those of QSlider, and `moved_by_user(int)`.
    """

    moved_by_user = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(Qt.Orientation.Horizontal, parent)
        self._starts: list[int] = []
        self._disputed: list[int] = []
        self.setRange(0, 0)
        self.setPageStep(5)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.actionTriggered.connect(self._act)

    def show_points(self, points: Sequence[StatePoint]) -> None:
        """The points that there are; the value stays where it can."""
        self._starts = [
            number
            for number, (before, point) in enumerate(pairwise(points), 1)
            if (before.phase, before.iteration) != (point.phase, point.iteration)
        ]
        self._disputed = [number for number, point in enumerate(points) if point.conflicts]
        self.blockSignals(True)
        self.setRange(0, max(0, len(points) - 1))
        self.blockSignals(False)
        self.update()

    def _act(self) -> None:
        # Keys, wheel and clicks beside the handle; the position is not yet the value.
        self.moved_by_user.emit(self.sliderPosition())

    # --- mouse: the handle goes where one presses ------------------------------------------------------

    def mousePressEvent(self, event: QMouseEvent) -> None:  # noqa: N802
        if event.button() is Qt.MouseButton.LeftButton:
            self.setSliderDown(True)
            self._go(event.position())
            event.accept()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:  # noqa: N802
        if self.isSliderDown():
            self._go(event.position())

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:  # noqa: N802
        del event
        self.setSliderDown(False)
        self.update()

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802
        super().keyPressEvent(event)
        self.update()

    def _go(self, place: QPointF) -> None:
        span = max(1.0, self.width() - 2 * _HANDLE)
        part = min(1.0, max(0.0, (place.x() - _HANDLE) / span))
        number = round(part * self.maximum())
        if number != self.value():
            self.setValue(number)
            self.moved_by_user.emit(number)
        self.update()

    # --- painting --------------------------------------------------------------------------------------

    def sizeHint(self) -> QSize:  # noqa: N802
        return QSize(120, 28)

    def minimumSizeHint(self) -> QSize:  # noqa: N802
        return QSize(60, 28)

    def _x(self, number: int) -> float:
        span = self.width() - 2 * _HANDLE
        return _HANDLE + (span * number / self.maximum() if self.maximum() else span)

    @paint_method
    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802
        del event
        colors = theme()
        with QPainter(self) as painter:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            middle = self.height() / 2
            painter.setPen(QPen(colors.color("line"), 2, Qt.PenStyle.SolidLine, Qt.PenCapStyle.RoundCap))
            painter.drawLine(QPointF(_HANDLE, middle), QPointF(self.width() - _HANDLE, middle))
            here = self._x(self.sliderPosition())
            painter.setPen(QPen(colors.color("quiet"), 2, Qt.PenStyle.SolidLine, Qt.PenCapStyle.RoundCap))
            painter.drawLine(QPointF(_HANDLE, middle), QPointF(here, middle))
            self._paint_ticks(painter, middle)
            enabled = self.isEnabled() and self.maximum() > 0
            painter.setPen(QPen(colors.color("accent" if self.hasFocus() else "surface"), 2))
            painter.setBrush(colors.color("accent" if enabled else "disabled"))
            painter.drawEllipse(QPointF(here, middle), 6.0, 6.0)
            if self.hasFocus():
                painter.setBrush(Qt.BrushStyle.NoBrush)
                painter.drawEllipse(QPointF(here, middle), 9.0, 9.0)

    def _paint_ticks(self, painter: QPainter, middle: float) -> None:
        colors = theme()
        span = self.width() - 2 * _HANDLE
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(colors.color("quiet"))
        if self.maximum() and span / self.maximum() >= _ROOM:
            for number in range(self.maximum() + 1):
                painter.drawEllipse(QPointF(self._x(number), middle), 1.6, 1.6)
        painter.setPen(QPen(colors.color("quiet"), 1))
        last = -_ROOM
        for number in self._starts:
            x = self._x(number)
            if x - last >= _ROOM:
                painter.drawLine(QPointF(x, middle - 6), QPointF(x, middle + 6))
                last = int(x)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(colors.color("failed"))
        last = -_ROOM
        for number in self._disputed:
            x = self._x(number)
            if x - last >= 4:
                painter.drawPolygon([QPointF(x - 3, 3), QPointF(x + 3, 3), QPointF(x, 8)])
                last = int(x)
