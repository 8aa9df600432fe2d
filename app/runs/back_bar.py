"""The line above a run that was opened from the history: back to all runs, and which run it is."""

from __future__ import annotations

from PySide6.QtCore import QRectF, QSize, Qt, Signal
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QHBoxLayout, QSizePolicy, QWidget

from app.buttons import Button, ButtonLook
from app.labels import ElidedLabel
from app.painting import paint_method
from app.theme import paint_icon, theme

_ICON = 16


class IconMark(QWidget):
    """A small icon, for what has a word beside it."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._icon: tuple[str, str] | None = None
        self.setFixedSize(_ICON, _ICON)

    def show_icon(self, icon: tuple[str, str] | None) -> None:
        """Name and colour; None: nothing."""
        self._icon = icon
        self.update()

    def sizeHint(self) -> QSize:  # noqa: N802
        return QSize(_ICON, _ICON)

    @paint_method
    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802
        del event
        if self._icon is not None:
            name, token = self._icon
            with QPainter(self) as painter:
                paint_icon(painter, name, QRectF(self.rect()), theme().color(token))


class BackBar(QWidget):
    """Signals: `back_requested()`."""

    back_requested = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.back_button = Button(self.tr("All runs"), ButtonLook.FLAT, "arrow-left", self)
        self.back_button.setToolTip(self.tr("Back to all runs (Escape)"))
        self.back_button.clicked.connect(self.back_requested)
        self.icon = IconMark(self)
        self.title = ElidedLabel("", parent=self)
        self.title.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        row = self.row = QHBoxLayout(self)
        row.setContentsMargins(8, 6, 8, 6)
        row.setSpacing(8)
        row.addWidget(self.back_button)
        row.addWidget(self.icon, 0, Qt.AlignmentFlag.AlignVCenter)
        row.addWidget(self.title, 1)
        self.show_run("", None)

    def show_run(self, title: str, icon: tuple[str, str] | None) -> None:
        """Say which run it is."""
        self.title.set_text(title)
        self.icon.show_icon(icon)
        self.icon.setVisible(icon is not None)

    @paint_method
    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802
        del event
        with QPainter(self) as painter:
            painter.fillRect(self.rect(), theme().color("surface"))
            painter.fillRect(0, self.height() - 1, self.width(), 1, theme().color("line"))
