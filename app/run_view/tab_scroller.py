"""A row of tabs that may be wider than its room: it scrolls, with calm arrows only where there is more."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, QSize, Qt, Slot
from PySide6.QtGui import QResizeEvent, QWheelEvent
from PySide6.QtWidgets import QHBoxLayout, QSizePolicy, QTabBar, QWidget

from app.buttons import Button, ButtonLook

_ARROW = 24
_ARROWS_FROM = 10 * _ARROW
"""Logical pixels from which on a row has room for arrows beside its tabs."""


class _Window(QWidget):
    """The part of the bar that is seen."""

    def __init__(self, bar: QTabBar, parent: QWidget) -> None:
        super().__init__(parent)
        bar.setParent(self)
        self._bar = bar

    def sizeHint(self) -> QSize:  # noqa: N802
        return self._bar.sizeHint()

    def minimumSizeHint(self) -> QSize:  # noqa: N802
        return QSize(0, self._bar.sizeHint().height())


class TabScroller(QWidget):
    """Shows as much of `bar` as there is room for, and always its current tab."""

    def __init__(self, bar: QTabBar, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._bar = bar
        bar.setUsesScrollButtons(False)
        self._keeps_current = True
        """The user has not scrolled away from the current tab."""
        self.earlier = self._arrow("chevron-left", self.tr("Tabs before these"))
        self.later = self._arrow("chevron-right", self.tr("Tabs after these"))
        self._window = _Window(bar, self)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(0)
        row.addWidget(self.earlier)
        row.addWidget(self._window, 1)
        row.addWidget(self.later)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        bar.installEventFilter(self)
        bar.currentChanged.connect(self.show_current)
        self._window.installEventFilter(self)
        self.earlier.clicked.connect(self._back)
        self.later.clicked.connect(self._on)

    def _arrow(self, symbol: str, words: str) -> Button:
        button = Button("", ButtonLook.FLAT, symbol, self)
        button.setAccessibleName(words)
        button.setToolTip(words)
        button.setFixedWidth(_ARROW)
        # The keys of the bar itself go through all tabs.
        button.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        button.hide()
        return button

    # --- where it stands -------------------------------------------------------------------------------

    @property
    def offset(self) -> int:
        """Pixels of the bar that are left of what is seen."""
        return -self._bar.x()

    @property
    def _most(self) -> int:
        return max(0, self._bar.width() - self._window.width())

    def _scroll_to(self, offset: int) -> None:
        self._bar.move(-min(max(0, offset), self._most), 0)
        self._show_arrows()

    def _show_arrows(self) -> None:
        # Where there is next to no room it is for tabs: the wheel, keys and a list lead to the others, too.
        more = self._bar.width() > self.width() >= _ARROWS_FROM
        self.earlier.setVisible(more)
        self.later.setVisible(more)
        self.earlier.setEnabled(self.offset > 0)
        self.later.setEnabled(self.offset < self._most)

    @Slot()
    def show_current(self) -> None:
        """Bring the current tab into view, and keep it there until the user scrolls."""
        self._keeps_current = True
        box = self._bar.tabRect(self._bar.currentIndex())
        if not box.isValid():
            return
        if box.left() < self.offset or box.width() > self._window.width():
            self._scroll_to(box.left())
        elif box.right() >= self.offset + self._window.width():
            self._scroll_to(box.right() + 1 - self._window.width())

    def fit(self) -> None:
        """The bar has another size."""
        size = self._bar.sizeHint()
        width = max(size.width(), 1)
        if (self._bar.width(), self._bar.height()) != (width, size.height()):
            self._bar.resize(width, size.height())
        self._scroll_to(self.offset)
        if self._keeps_current:
            self.show_current()
        self._window.updateGeometry()

    def _scroll_away(self, by: float) -> None:
        self._keeps_current = False
        self._scroll_to(int(self.offset + by))

    @Slot()
    def _back(self) -> None:
        self._scroll_away(-self._window.width() * 2 / 3)

    @Slot()
    def _on(self) -> None:
        self._scroll_away(self._window.width() * 2 / 3)

    # --- events ----------------------------------------------------------------------------------------

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802
        kind = event.type()
        # A widget without a layout asks its parent for another size.
        asked = watched is self._window and kind is QEvent.Type.LayoutRequest
        if asked or (watched is self._bar and kind in (QEvent.Type.LayoutRequest, QEvent.Type.Show)):
            self.fit()
        elif watched is self._bar and isinstance(event, QWheelEvent):
            # Without this the wheel would choose tab after tab.
            turned = event.angleDelta()
            self._scroll_away(-(turned.x() or turned.y()))
            event.accept()
            return True
        elif watched is self._window and kind is QEvent.Type.Resize:
            self._scroll_to(self.offset)
            if self._keeps_current:
                self.show_current()
        return False

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        super().resizeEvent(event)
        self._show_arrows()
