"""A field with buttons behind it, which show their signs alone where there is no room for their words."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QSize
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QWidget

from app.buttons import Button

_GAP = 8


class ToolRow(QWidget):
    """`field` takes the room that the buttons leave. Every button has a sign and a tool tip."""

    def __init__(self, field: QWidget, buttons: Sequence[Button], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._field = field
        self._buttons = [(button, button.text()) for button in buttons]
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(_GAP)
        row.addWidget(field, 1)
        for button, words in self._buttons:
            button.setAccessibleName(words)
            row.addWidget(button)

    def _wide(self) -> int:
        """The width that is needed with all words."""
        width = self._field.sizeHint().width()
        for button, words in self._buttons:
            shown = button.text()
            button.setText(words)
            width += _GAP + button.sizeHint().width()
            button.setText(shown)
        return width

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        super().resizeEvent(event)
        self._fit()

    def changeEvent(self, event: QEvent) -> None:  # noqa: N802
        super().changeEvent(event)
        if event.type() is QEvent.Type.FontChange:
            self._fit()

    def _fit(self) -> None:
        has_room = self.width() >= self._wide()
        for button, words in self._buttons:
            button.setText(words if has_room else "")

    def minimumSizeHint(self) -> QSize:  # noqa: N802
        size = super().minimumSizeHint()
        words = sum(button.minimumSizeHint().width() for button, _ in self._buttons)
        signs = sum(button.minimumSizeHint().height() + 10 for button, _ in self._buttons)
        return QSize(min(size.width(), size.width() - words + signs), size.height())
