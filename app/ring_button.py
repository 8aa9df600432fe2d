"""A button that paints itself and can be on: what switches and filters have in common."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QFocusEvent, QFont
from PySide6.QtWidgets import QAbstractButton, QWidget


class RingButton(QAbstractButton):
    """Whoever inherits says how large it is (`sizeHint`) and paints it; it is never narrower. Its focus is
    shown where keys brought it there, as `has_ring` tells."""

    def __init__(self, text: str, own_font: QFont, parent: QWidget) -> None:
        super().__init__(parent)
        self.setText(text)
        self.setAccessibleName(text)
        self.setCheckable(True)
        self.setFont(own_font)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self._by_keys = False

    @property
    def has_ring(self) -> bool:
        """Whether its focus is to be seen: a click needs no ring."""
        return self.hasFocus() and self._by_keys

    def minimumSizeHint(self) -> QSize:  # noqa: N802
        return self.sizeHint()

    def focusInEvent(self, event: QFocusEvent) -> None:  # noqa: N802
        self._by_keys = event.reason() is not Qt.FocusReason.MouseFocusReason
        super().focusInEvent(event)
