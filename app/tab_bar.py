"""A flat tab bar in the theme's colours."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QFontMetrics, QIcon, QPainter, QPainterPath, QPaintEvent, QPen
from PySide6.QtWidgets import QTabBar, QWidget

from app.painting import paint_method
from app.theme import RADIUS, font, theme

_ICON = 14
_PADDING, _TIGHT = 12, 6
_HEIGHT = 30
_WIDEST = 240


class FlatTabBar(QTabBar):
    """Tabs without frames: the current one opens into the page below, which has the colour `ground`."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setFont(font())
        self.setExpanding(False)
        self.setDrawBase(False)
        self.setUsesScrollButtons(True)
        self.setElideMode(Qt.TextElideMode.ElideMiddle)
        self.setDocumentMode(True)
        self.setIconSize(QSize(_ICON, _ICON))
        self.setMouseTracking(True)
        self._active = True
        self._padding = _PADDING
        self._page = "ground"
        self._widths: dict[str, int] = {}
        """By text: a bar of many tabs asks for all of them whenever one changes."""
        self._height = 0
        """Of a tab; 0: not measured yet."""

    def set_page_color(self, token: str) -> None:
        """The page below has this colour of the theme, not `ground`."""
        self._page = token

    def set_tight(self, tight: bool) -> None:
        """Whether tabs have little room beside their words: more of them are seen in a narrow row."""
        padding = _TIGHT if tight else _PADDING
        if padding != self._padding:
            self._padding = padding
            self._widths.clear()
            # Of all that one may say to a bar this has it measure its tabs anew.
            self.setIconSize(self.iconSize())

    @property
    def is_active(self) -> bool:
        """Whether its current tab is the one that is shown; not so when a neighbouring bar's is."""
        return self._active

    def set_active(self, active: bool) -> None:
        """Say whether the current tab is the one that is shown."""
        if active != self._active:
            self._active = active
            self.update()

    def tabSizeHint(self, index: int) -> QSize:  # noqa: N802
        text = self.tabText(index)
        width = self._widths.get(text)
        if width is None:
            width = QFontMetrics(self.font()).horizontalAdvance(_shown(text)) + 2 * self._padding + 2
            self._widths[text] = width
        if not self.tabIcon(index).isNull():
            width += _ICON + 6
        if not self._height:
            self._height = max(_HEIGHT, self.fontMetrics().height() + 12)
        return QSize(min(_WIDEST, width), self._height)

    def inputMethodQuery(self, query: Qt.InputMethodQuery) -> object:  # noqa: N802
        """The current tab is where the Menu key opens a menu: Qt would take the middle of the bar."""
        if query is Qt.InputMethodQuery.ImCursorRectangle:
            return self.tabRect(self.currentIndex()) & self.rect()
        return super().inputMethodQuery(query)

    def changeEvent(self, event: QEvent) -> None:  # noqa: N802
        if event.type() is QEvent.Type.FontChange and hasattr(self, "_widths"):
            self._widths.clear()
            self._height = 0
        super().changeEvent(event)

    def minimumTabSizeHint(self, index: int) -> QSize:  # noqa: N802
        return self.tabSizeHint(index)

    @paint_method
    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802
        with QPainter(self) as painter:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setFont(self.font())
            for index in range(self.count()):
                box = self.tabRect(index)
                if self.isTabVisible(index) and box.intersects(event.rect()):
                    self._paint_tab(painter, index, box)

    def _paint_tab(self, painter: QPainter, index: int, box: QRect) -> None:
        colors = theme()
        current = self._active and index == self.currentIndex()
        over = box.contains(self.mapFromGlobal(self.cursor().pos())) and self.underMouse()
        if current:
            path = QPainterPath()
            shape = QRectF(box).adjusted(0.5, 1.5, -0.5, RADIUS + 1)
            path.addRoundedRect(shape, RADIUS, RADIUS)
            painter.setClipRect(box)
            painter.setPen(QPen(colors.color("line"), 1))
            painter.setBrush(colors.color(self._page))
            painter.drawPath(path)
            painter.setClipping(False)
        if self.hasFocus() and index == self.currentIndex():
            line = QRect(box.left() + self._padding, box.bottom() - 2, box.width() - 2 * self._padding, 2)
            painter.fillRect(line, colors.color("accent"))
        left = box.left() + self._padding
        icon = self.tabIcon(index)
        if not icon.isNull():
            where = QRect(left, box.center().y() - _ICON // 2 + 1, _ICON, _ICON)
            icon.paint(painter, where, Qt.AlignmentFlag.AlignCenter, QIcon.Mode.Normal)
            left += _ICON + 6
        room = QRect(left, box.top(), box.right() - self._padding - left + 2, box.height())
        metrics = QFontMetrics(self.font())
        text = metrics.elidedText(_shown(self.tabText(index)), Qt.TextElideMode.ElideMiddle, room.width())
        painter.setPen(colors.color("text" if current or over else "quiet"))
        painter.drawText(room, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, text)


def _shown(text: str) -> str:
    return text.replace("&&", "&")
