"""A card of the start page: one example, its shape, and what can be done with it."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent, QPainter, QPaintEvent, QPalette, QPen
from PySide6.QtWidgets import QAbstractButton, QHBoxLayout, QLabel, QSizePolicy, QVBoxLayout, QWidget

from app.buttons import Button, ButtonLook
from app.flow_layout import FlowLayout
from app.painting import paint_method
from app.start_page.examples import Example
from app.start_page.shape import Shape, paint_shape, shape_in_words, shape_size
from app.theme import RADIUS, TextSize, font, theme

_PAD = 16
_LARGER = 1.35
"""How much larger than its strokes were thought a shape is drawn."""


class _Drawing(QWidget):
    """The shape, as large as it is, or smaller where there is no room."""

    def __init__(self, shape: Shape, height: float, parent: QWidget) -> None:
        super().__init__(parent)
        self._shape = shape
        self.setFixedHeight(round(height * _LARGER))
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)

    def sizeHint(self) -> QSize:  # noqa: N802
        return QSize(round(shape_size(self._shape).width() * _LARGER) + 2, self.height())

    @paint_method
    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802
        del event
        size = shape_size(self._shape)
        with QPainter(self) as painter:
            scale = min(_LARGER, (self.width() - 2) / max(1.0, size.width()))
            painter.translate(1, self.height() / 2)
            painter.scale(scale, scale)
            paint_shape(painter, self._shape, QPointF(0, -size.height() / 2))


class ExampleCard(QAbstractButton):
    """Opens its example when it is clicked, or with Enter or Space.

    Signals: `run_requested()` for "Open and run", also by Ctrl+Enter; `clicked()`: only open;
    `step_requested(int)`: the arrow keys, -1 to the card before and 1 to the one after.
    """

    run_requested = Signal()
    step_requested = Signal(int)

    def __init__(self, example: Example, drawing_height: float, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.example = example
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setText(example.title)
        self.setAccessibleName(self.tr("Example: {0}").format(example.title))
        self.setAccessibleDescription(
            self.tr("{0} {1}. Enter opens it, Ctrl+Enter runs it, too.").format(
                example.text, shape_in_words(example.shape).capitalize()
            )
        )
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Preferred)
        self._title = _label(example.title, self)
        self._title.setFont(font(TextSize.TITLE, bold=True))
        self._text = _label(example.text, self)
        self._text.setForegroundRole(QPalette.ColorRole.PlaceholderText)
        self.open_button = Button(self.tr("Open"), ButtonLook.OUTLINED, "", self)
        self.open_button.setAccessibleName(self.tr("Open {0}").format(example.title))
        self.open_button.clicked.connect(self.click)
        self.run_button = Button(self.tr("Open and run"), ButtonLook.OUTLINED, "play", self)
        self.run_button.setAccessibleName(self.tr("Open and run {0}").format(example.title))
        self.run_button.clicked.connect(self.run_requested)
        buttons = QWidget(self)
        flow = FlowLayout(buttons)
        for button in (self.run_button, self.open_button):
            flow.addWidget(button)
        drawing = QHBoxLayout()
        drawing.addWidget(_Drawing(example.shape, drawing_height, self))
        layout = QVBoxLayout(self)
        layout.setContentsMargins(_PAD, _PAD, _PAD, _PAD)
        layout.setSpacing(8)
        layout.addLayout(drawing)
        layout.addSpacing(4)
        layout.addWidget(self._title)
        layout.addWidget(self._text, 1)
        layout.addSpacing(4)
        layout.addWidget(buttons)

    def sizeHint(self) -> QSize:  # noqa: N802
        layout = self.layout()
        return layout.sizeHint() if layout is not None else QSize(280, 240)

    def hasHeightForWidth(self) -> bool:  # noqa: N802
        return True

    def heightForWidth(self, width: int) -> int:  # noqa: N802
        layout = self.layout()
        return layout.totalHeightForWidth(width) if layout is not None else 240

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802
        enter = event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter)
        if enter and event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            self.run_requested.emit()
        elif enter:
            self.click()
        elif event.key() in (Qt.Key.Key_Right, Qt.Key.Key_Down):
            self.step_requested.emit(1)
        elif event.key() in (Qt.Key.Key_Left, Qt.Key.Key_Up):
            self.step_requested.emit(-1)
        else:
            super().keyPressEvent(event)

    @paint_method
    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802
        del event
        colors = theme()
        with QPainter(self) as painter:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            focused = self.hasFocus()
            painter.setPen(QPen(colors.color("accent" if focused else "line"), 2 if focused else 1))
            painter.setBrush(colors.color("raised" if self.isDown() or self.underMouse() else "surface"))
            painter.drawRoundedRect(QRectF(self.rect()).adjusted(1, 1, -1, -1), RADIUS, RADIUS)


def _label(text: str, parent: QWidget) -> QLabel:
    label = QLabel(text, parent)
    label.setTextFormat(Qt.TextFormat.PlainText)
    label.setWordWrap(True)
    label.setFont(font())
    label.setAlignment(Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignLeft)
    # A click on the words is a click on the card.
    label.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
    return label
