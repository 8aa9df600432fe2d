"""The sign of the focus of lists, trees and texts: a line along their top, for who walks with keys.

A frame around half of a window is loud, and a row that is chosen says nothing about where keys go. After a
click there is no line: one knows where one clicked.
"""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QFocusEvent, QGuiApplication, QPainter, QPaintEvent
from PySide6.QtWidgets import QAbstractScrollArea, QWidget

from app.painting import paint_method
from app.theme import theme

HEIGHT = 2
_BY_KEYS = (
    Qt.FocusReason.TabFocusReason,
    Qt.FocusReason.BacktabFocusReason,
    Qt.FocusReason.ShortcutFocusReason,
)


class FocusLine(QWidget):
    """Lies over the top of a scroll area, and follows it by itself."""

    def __init__(self, area: QAbstractScrollArea) -> None:
        super().__init__(area)
        self._area = area
        self._wanted = False
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.hide()
        area.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802
        """The area got or lost the focus, or another size."""
        if watched is not self._area:
            return False
        if isinstance(event, QFocusEvent):
            if event.gotFocus():
                self._wanted = _is_by_keys(event.reason(), self._wanted)
            self._show(event.gotFocus() and self._wanted)
        elif event.type() == QEvent.Type.Resize and self.isVisible():
            self._place()
        return False

    def _show(self, shown: bool) -> None:
        if shown:
            self._place()
            self.raise_()
        self.setVisible(shown)

    def _place(self) -> None:
        self.setGeometry(0, 0, self._area.width(), HEIGHT)

    @paint_method
    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802
        with QPainter(self) as painter:
            painter.fillRect(event.rect(), theme().color("accent"))


def _is_by_keys(reason: Qt.FocusReason, before: bool) -> bool:
    if reason in _BY_KEYS:
        return True
    if reason is Qt.FocusReason.MouseFocusReason:
        return False
    # Given by the program: for keys such as Ctrl+2, or as it was when a menu or a dialog took it.
    held = QGuiApplication.keyboardModifiers() is not Qt.KeyboardModifier.NoModifier
    return before or (held and QGuiApplication.mouseButtons() is Qt.MouseButton.NoButton)
