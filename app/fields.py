"""Fields whose frame can be seen in the dark: Fusion derives it from the ground and loses it."""

from __future__ import annotations

from PySide6.QtCore import QRect, QRectF, Qt, Signal
from PySide6.QtGui import QKeyEvent, QPainter, QPaintEvent, QPen, QWheelEvent
from PySide6.QtWidgets import QCheckBox, QComboBox, QLineEdit, QStyle, QStyleOptionButton, QWidget

from app.theme import theme

FIELD_HEIGHT = 28


class OutlinedField(QLineEdit):
    """A line of text."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setTextMargins(4, 0, 4, 0)

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802
        super().paintEvent(event)
        _paint_frame(self)


class StepField(OutlinedField):
    """A number as text, which Up and Down change."""

    stepped = Signal(int)

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802
        steps = {Qt.Key.Key_Up: 1, Qt.Key.Key_Down: -1, Qt.Key.Key_PageUp: 10, Qt.Key.Key_PageDown: -10}
        step = steps.get(Qt.Key(event.key()))
        if step is None:
            super().keyPressEvent(event)
        else:
            self.stepped.emit(step)


class CalmComboBox(QComboBox):
    """The wheel scrolls the page, not the value, unless the box has the focus."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)

    def wheelEvent(self, event: QWheelEvent) -> None:  # noqa: N802
        if self.hasFocus():
            super().wheelEvent(event)
        else:
            event.ignore()

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802
        super().paintEvent(event)
        _paint_frame(self)

    def showPopup(self) -> None:  # noqa: N802
        self.view().setMinimumWidth(self.view().sizeHintForColumn(0) + 24)
        super().showPopup()


class OutlinedCheckBox(QCheckBox):
    """Yes or no, with words."""

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802
        super().paintEvent(event)
        option = QStyleOptionButton()
        self.initStyleOption(option)
        mark = self.style().subElementRect(QStyle.SubElement.SE_CheckBoxIndicator, option, self)
        _paint_frame(self, mark)


def _paint_frame(widget: QWidget, box: QRect | None = None) -> None:
    """The frame of a field (or of a part of it): the theme's line, or the accent where the focus is."""
    painter = QPainter(widget)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(QPen(theme().color("accent" if widget.hasFocus() else "line"), 1))
    frame = QRectF(widget.rect() if box is None else box)
    painter.drawRoundedRect(frame.adjusted(0.5, 0.5, -0.5, -0.5), 2.5, 2.5)
