"""Thin, flat scroll bars, painted from the theme: Fusion's own frames are too loud for calm panels."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, QRectF, QSize, Qt
from PySide6.QtGui import QEnterEvent, QPainter, QPaintEvent, QPalette
from PySide6.QtWidgets import (
    QAbstractItemView,
    QAbstractScrollArea,
    QScrollArea,
    QScrollBar,
    QStyle,
    QStyleOptionSlider,
    QWidget,
)
from shiboken6 import isValid

from app.painting import paint_method
from app.theme import theme

WIDTH = 12
_MARGIN = 3
_SHORTEST = 24


class ThinScrollBar(QScrollBar):
    """A scroll bar without arrows and frames; the handle is clearer while the mouse is over it."""

    def __init__(self, orientation: Qt.Orientation, parent: QWidget | None = None) -> None:
        super().__init__(orientation, parent)
        self._hovered = False

    def sizeHint(self) -> QSize:  # noqa: N802
        return QSize(WIDTH, 40) if self.orientation() is Qt.Orientation.Vertical else QSize(40, WIDTH)

    def enterEvent(self, event: QEnterEvent) -> None:  # noqa: N802
        self._hovered = True
        self.update()
        super().enterEvent(event)

    def leaveEvent(self, event: QEvent) -> None:  # noqa: N802
        self._hovered = False
        self.update()
        super().leaveEvent(event)

    @paint_method
    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802
        del event
        with QPainter(self) as painter:
            painter.fillRect(self.rect(), self.palette().color(self.backgroundRole()))
            if self.maximum() <= self.minimum():
                return
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setPen(Qt.PenStyle.NoPen)
            colors = theme()
            painter.setBrush(colors.color("quiet" if self._hovered or self.isSliderDown() else "line"))
            radius = (WIDTH - 2 * _MARGIN) / 2
            painter.drawRoundedRect(self._handle(), radius, radius)

    def _handle(self) -> QRectF:
        """Where the style thinks that the handle is, so that the mouse finds it where it is painted."""
        option = QStyleOptionSlider()
        self.initStyleOption(option)
        control, part = QStyle.ComplexControl.CC_ScrollBar, QStyle.SubControl.SC_ScrollBarSlider
        handle = QRectF(self.style().subControlRect(control, option, part, self))
        if self.orientation() is Qt.Orientation.Vertical:
            return QRectF(_MARGIN, handle.y(), self.width() - 2 * _MARGIN, max(handle.height(), _SHORTEST))
        return QRectF(handle.x(), _MARGIN, max(handle.width(), _SHORTEST), self.height() - 2 * _MARGIN)


class _Corner(QWidget):
    """Where two scroll bars meet: their ground goes on. Fusion paints a framed square there.

    Qt places it while there is a bar; without one it would lie wherever it was left.
    """

    def __init__(self, area: QAbstractScrollArea) -> None:
        super().__init__(area)
        self.resize(0, 0)
        self._area = area
        for bar in (area.verticalScrollBar(), area.horizontalScrollBar()):
            bar.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802
        del watched
        if event.type() in (QEvent.Type.Show, QEvent.Type.Hide, QEvent.Type.HideToParent):
            self._follow_bars()
        return False

    def _follow_bars(self) -> None:
        area = self._area
        if not isValid(area):
            return  # It is being destroyed, and hides its bars.
        # Asked for now: an area may have been given others, and then these are destroyed.
        if not any(bar.isVisibleTo(area) for bar in (area.verticalScrollBar(), area.horizontalScrollBar())):
            self.resize(0, 0)

    @paint_method
    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802
        del event
        with QPainter(self) as painter:
            painter.fillRect(self.rect(), self.palette().color(self.backgroundRole()))


def use_thin_scroll_bars(
    area: QAbstractScrollArea,
    ground: QPalette.ColorRole | None = None,
    vertical: ThinScrollBar | None = None,
) -> None:
    """Give a scroll area thin scroll bars on `ground` (None: its viewport's). Before anything connects.

    `vertical`: the one that it shall have; None: one as any other.
    """
    if isinstance(area, QAbstractItemView | QScrollArea):
        _use_own_viewport(area)
    role = ground if ground is not None else area.viewport().backgroundRole()
    horizontal = ThinScrollBar(Qt.Orientation.Horizontal, area)
    for bar, setter in (
        (vertical or ThinScrollBar(Qt.Orientation.Vertical, area), area.setVerticalScrollBar),
        (horizontal, area.setHorizontalScrollBar),
    ):
        bar.setBackgroundRole(role)
        setter(bar)
    corner = _Corner(area)
    corner.setBackgroundRole(role)
    area.setCornerWidget(corner)


def _use_own_viewport(area: QAbstractItemView | QScrollArea) -> None:
    """Give a scroll area a viewport like the one that Qt made for it, but made here.

    The first widget that Qt made and Python is given costs 20 ms of a start: to find out what it is, classes
    of all kinds of widgets are made. (Views of texts need the viewport that they have.)
    """
    viewport = QWidget(area)
    viewport.setObjectName("qt_scrollarea_viewport")
    role = QPalette.ColorRole.NoRole if isinstance(area, QScrollArea) else QPalette.ColorRole.Base
    viewport.setBackgroundRole(role)
    viewport.setAutoFillBackground(True)
    viewport.setAttribute(Qt.WidgetAttribute.WA_AcceptTouchEvents)
    area.setViewport(viewport)
