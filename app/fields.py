"""Fields whose frame can be seen in the dark: Fusion derives it from the ground and loses it."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QAction,
    QFontMetrics,
    QKeyEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QResizeEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QLineEdit,
    QStyle,
    QStyleOptionButton,
    QToolButton,
    QWidget,
)

from app.painting import paint_method
from app.plain_text import plain_tool_tip
from app.theme import icon, paint_icon, theme

FIELD_HEIGHT = 28
_RADIUS = 5
_PADDING = 10
_MARK_ROOM = 28
"""At the right of a box, for the mark that it opens."""


class OutlinedField(QLineEdit):
    """A line of text."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setTextMargins(6, 0, 6, 0)
        # The style's own frame has other corners than ours.
        self.setFrame(False)

    @paint_method
    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802
        super().paintEvent(event)
        paint_frame(self)

    def setPlaceholderText(self, text: str) -> None:  # noqa: N802
        """What stands there while it is empty; where it is cut off, the tool tip says all of it."""
        super().setPlaceholderText(text)
        self._tell_all()

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        super().resizeEvent(event)
        self._tell_all()

    def _tell_all(self) -> None:
        text, margins = self.placeholderText(), self.textMargins()
        room = self.contentsRect().width() - margins.left() - margins.right() - 4
        tip = plain_tool_tip(text)
        if QFontMetrics(self.font()).horizontalAdvance(text) > room:
            self.setToolTip(self.toolTip() or tip)
        elif self.toolTip() == tip:
            self.setToolTip("")

    def setClearButtonEnabled(self, enable: bool) -> None:  # noqa: N802
        """Offer to empty the field; Qt leaves its button without a name, and gives it an icon of its own."""
        super().setClearButtonEnabled(enable)
        for action in self.findChildren(QAction):
            if action.objectName() == "_q_qlineeditclearaction":
                action.setIcon(icon("x", "quiet"))
        for button in self.findChildren(QToolButton):
            button.setAccessibleName(self.tr("Empty the field"))


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
    """The wheel scrolls the page, not the value, unless the box has the focus.

    Painted flat; a text without enough room ends in an ellipsis, and is whole in the list and the tool tip.
    """

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)

    def wheelEvent(self, event: QWheelEvent) -> None:  # noqa: N802
        if self.hasFocus():
            super().wheelEvent(event)
        else:
            event.ignore()

    def sizeHint(self) -> QSize:  # noqa: N802
        metrics = QFontMetrics(self.font())
        # What cannot be chosen need not fit: it is only read in the list.
        model = self.model()
        chosen = [at for at in range(self.count()) if _can_be_chosen(model.index(at, 0))]
        texts = [self.placeholderText(), *(self.itemText(at) for at in chosen)]
        widest = max(metrics.horizontalAdvance(text) for text in texts)
        # Two pixels more: the advance is rounded, and a text that is cut by half a pixel loses three letters.
        return QSize(_PADDING + widest + 2 + _MARK_ROOM, max(FIELD_HEIGHT, metrics.height() + 10))

    def minimumSizeHint(self) -> QSize:  # noqa: N802
        return QSize(80, self.sizeHint().height())

    def fitting(self, text: str) -> str:
        """A text as the box shows it in its present width."""
        room = self.width() - _PADDING - _MARK_ROOM
        return QFontMetrics(self.font()).elidedText(text, Qt.TextElideMode.ElideRight, room)

    @paint_method
    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802
        del event
        colors = theme()
        with QPainter(self) as painter:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            over = self.underMouse() and self.isEnabled()
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(colors.color("raised" if over else "surface"))
            painter.drawRoundedRect(QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5), _RADIUS, _RADIUS)
            chosen = self.currentIndex() >= 0
            text = self.currentText() if chosen else self.placeholderText()
            room = self.rect().adjusted(_PADDING, 0, -_MARK_ROOM, 0)
            elided = self.fitting(text)
            quiet = colors.color("quiet" if self.isEnabled() else "disabled")
            painter.setFont(self.font())
            painter.setPen(colors.color("text") if chosen and self.isEnabled() else quiet)
            painter.drawText(room, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, elided)
            mark = QRectF(self.width() - _MARK_ROOM + 6, self.height() / 2 - 6, 12, 12)
            paint_icon(painter, "chevron-down", mark, quiet)
        paint_frame(self)

    def showPopup(self) -> None:  # noqa: N802
        self.view().setMinimumWidth(self.view().sizeHintForColumn(0) + 24)
        super().showPopup()


class OutlinedCheckBox(QCheckBox):
    """Yes or no, with words that go on in the next line where there is no room."""

    def __init__(self, text: str = "", parent: QWidget | None = None) -> None:
        super().__init__(text, parent)
        self._words = text

    def set_words(self, text: str) -> None:
        """Say something else."""
        if text != self._words:
            self._words = text
            self._wrap()

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        super().resizeEvent(event)
        self._wrap()

    def minimumSizeHint(self) -> QSize:  # noqa: N802
        return QSize(60, self.sizeHint().height())

    def _wrap(self) -> None:
        option = QStyleOptionButton()
        self.initStyleOption(option)
        label = self.style().subElementRect(QStyle.SubElement.SE_CheckBoxContents, option, self)
        metrics, lines = self.fontMetrics(), [""]
        for word in self._words.split(" "):
            longer = f"{lines[-1]} {word}" if lines[-1] else word
            if lines[-1] and metrics.horizontalAdvance(longer) > max(60, self.width() - label.left()):
                lines.append(word)
            else:
                lines[-1] = longer
        text = "\n".join(lines)
        if text != self.text():
            self.setText(text)
            self.updateGeometry()

    @paint_method
    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802
        super().paintEvent(event)
        option = QStyleOptionButton()
        self.initStyleOption(option)
        mark = self.style().subElementRect(QStyle.SubElement.SE_CheckBoxIndicator, option, self)
        paint_frame(self, mark)


def _can_be_chosen(index: QModelIndex) -> bool:
    return bool(index.flags() & Qt.ItemFlag.ItemIsEnabled)


def paint_frame(widget: QWidget, box: QRect | None = None) -> None:
    """The frame of a field (or of a part of it): the theme's line, or the accent where the focus is."""
    with QPainter(widget) as painter:
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        # The edge of a part is strong without the focus, too: with it, it is thicker.
        width = 1.0 if not widget.hasFocus() else 1.5 if box is None else 2.5
        # Of a part of a widget, such as the box of a check box, its frame is all that is seen of it.
        idle = "line" if box is None else "edge" if widget.isEnabled() else "disabled"
        painter.setPen(QPen(theme().color("accent" if widget.hasFocus() else idle), width))
        frame = QRectF(widget.rect() if box is None else box)
        radius = _RADIUS if box is None else 2.5
        inset = 0.25 + width / 2 if box is not None and widget.hasFocus() else 0.75
        painter.drawRoundedRect(frame.adjusted(inset, inset, -inset, -inset), radius, radius)
