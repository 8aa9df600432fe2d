"""A line that says what is being done with runs, how far it is, and lets one end it."""

from __future__ import annotations

from PySide6.QtCore import QRectF, Qt, Signal
from PySide6.QtGui import QAccessible, QPainter, QPaintEvent
from PySide6.QtWidgets import QHBoxLayout, QWidget

from app.buttons import Button, ButtonLook
from app.labels import ElidedLabel
from app.painting import paint_method
from app.theme import theme


class WorkBar(QWidget):
    """Hidden while nothing is done. Signals: `cancelled()`."""

    accessible_role = QAccessible.Role.StatusBar

    cancelled = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._share = 0.0
        self.label = ElidedLabel("", parent=self)
        self.cancel_button = Button(self.tr("Cancel"), ButtonLook.LINK, "", self)
        self.cancel_button.clicked.connect(self.cancelled)
        row = QHBoxLayout(self)
        row.setContentsMargins(12, 4, 12, 6)
        row.setSpacing(8)
        row.addWidget(self.label, 1)
        row.addWidget(self.cancel_button, 0, Qt.AlignmentFlag.AlignRight)
        self.hide()

    def show_work(self, text: str, share: float, *, can_cancel: bool = True) -> None:
        """Say what is done. `share`: how much of it is done, 0 to 1."""
        self._share = min(1.0, max(0.0, share))
        self.label.set_text(text)
        self.setAccessibleName(text)
        self.cancel_button.setVisible(can_cancel)
        self.show()
        self.update()

    @paint_method
    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802
        del event
        with QPainter(self) as painter:
            painter.fillRect(self.rect(), theme().color("accent_soft"))
            done = QRectF(0, self.height() - 2, self.width() * self._share, 2)
            painter.fillRect(done, theme().color("accent"))
