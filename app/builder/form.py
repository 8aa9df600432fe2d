"""Rows of a settings page: a label, a field, and a quiet word at the right about the value that holds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QEvent, QObject, QRect, QRectF, Qt, Signal, Slot
from PySide6.QtGui import (
    QFont,
    QKeyEvent,
    QPainter,
    QPaintEvent,
    QPalette,
    QPen,
    QResizeEvent,
    QStandardItemModel,
    QWheelEvent,
)
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QGridLayout,
    QLabel,
    QLineEdit,
    QScrollArea,
    QStyle,
    QStyleOptionButton,
    QVBoxLayout,
    QWidget,
)

from app.builder.notices import SectionLabel
from app.plain_text import plain_tool_tip
from app.scroll_bar import use_thin_scroll_bars
from app.theme import font, mono_font, theme

LABEL_WIDTH = 150
FIELD_WIDTH = 210
FIELD_HEIGHT = 28
NARROW = 560
"""A page of less than this many pixels has its notes below the fields."""
NARROW_LABEL_WIDTH = 110


class Row(QObject):
    """One setting. `show_value` never emits; `edited(value)` comes with every edit that makes sense, and
    `finished()` when the user leaves the field.
    """

    edited = Signal(object)
    finished = Signal()

    def __init__(self, label: str, control: QWidget, parent: QWidget) -> None:
        super().__init__(parent)
        self.label = QLabel(label, parent)
        self.label.setTextFormat(Qt.TextFormat.PlainText)
        self.label.setForegroundRole(QPalette.ColorRole.PlaceholderText)
        self.label.setBuddy(control)
        self.control = control
        control.setAccessibleName(label)
        control.setMinimumHeight(FIELD_HEIGHT)
        self.note = QLabel(parent)
        self.note.setTextFormat(Qt.TextFormat.PlainText)
        self.note.setFont(_small())
        self.note.setWordWrap(True)
        self.note.setForegroundRole(QPalette.ColorRole.PlaceholderText)
        self.error = ErrorLabel(parent)
        self._about: Callable[[], str] = str

    def explain(self, about: Callable[[], str]) -> Row:
        """What the note says, asked anew at every refresh."""
        self._about = about
        return self

    def refresh_note(self) -> None:
        """Say again what holds."""
        self.note.setText(self._about())
        self.control.setAccessibleDescription(self.error.text() or self.note.text())

    def show_error(self, text: str) -> None:
        """What is wrong with what is in the field; empty: nothing."""
        self.error.setText(text)
        self.error.setVisible(bool(text))
        self.control.setAccessibleDescription(text or self.note.text())

    def show_value(self, value: object) -> None:
        """Show a value without telling that it was edited."""
        raise NotImplementedError


class ErrorLabel(QLabel):
    """A sentence in vermillion under a field."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setFont(_small())
        self.setWordWrap(True)
        self.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        # A role of the palette that is vermillion in both themes.
        self.setForegroundRole(QPalette.ColorRole.BrightText)
        self.hide()


class TextRow(Row):
    """A line of text. `parse` gives the value or raises ValueError with a sentence; `write` undoes it."""

    def __init__(
        self,
        label: str,
        parent: QWidget,
        parse: Callable[[str], object],
        write: Callable[[object], str],
        *,
        steps: bool = False,
        mono: bool = False,
    ) -> None:
        self.field = _StepField(parent) if steps else OutlinedField(parent)
        super().__init__(label, self.field, parent)
        if mono:
            self.field.setFont(mono_font())
        self._parse = parse
        self._write = write
        self._value: object = None
        self._placeholder: Callable[[], str] = str
        self.field.textEdited.connect(self._edit)
        self.field.editingFinished.connect(self._finish)
        if isinstance(self.field, _StepField):
            self.field.stepped.connect(self._step)

    def placeholder(self, text: Callable[[], str]) -> TextRow:
        """What an empty field shows: the value that then holds."""
        self._placeholder = text
        return self

    def refresh_note(self) -> None:
        super().refresh_note()
        self.field.setPlaceholderText(self._placeholder())

    def show_value(self, value: object) -> None:
        same = value == self._value and type(value) is type(self._value)
        self._value = value
        # What is being typed stays as it is typed: "90 s" must not become "1 min 30 s" under the hands.
        if same and (self.error.text() or self.field.hasFocus()):
            return
        text = self._write(value)
        if self._understands(self.field.text(), value) and self.field.hasFocus():
            return
        if text != self.field.text():
            self.field.setText(text)
        self.show_error("")

    def _understands(self, text: str, value: object) -> bool:
        try:
            return self._parse(text) == value
        except ValueError:
            return False

    @Slot(str)
    def _edit(self, text: str) -> None:
        try:
            value = self._parse(text)
        except ValueError as problem:
            self.show_error(str(problem))
            return
        self.show_error("")
        self._value = value
        self.edited.emit(value)

    @Slot()
    def _finish(self) -> None:
        if not self.error.text() and self._write(self._value) != self.field.text():
            self.field.setText(self._write(self._value))
        self.finished.emit()

    @Slot(int)
    def _step(self, by: int) -> None:
        digits = self.field.text().strip() or "".join(filter(str.isdigit, self.field.placeholderText()))
        if digits.isdigit():
            self.field.setText(str(max(0, int(digits) + by)))
            self._edit(self.field.text())


class OutlinedField(QLineEdit):
    """A line of text whose frame can be seen in the dark: Fusion derives it from the ground and loses it."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setTextMargins(4, 0, 4, 0)

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802
        super().paintEvent(event)
        paint_frame(self)


class _StepField(OutlinedField):
    """A number as text, which Up and Down change."""

    stepped = Signal(int)

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802
        steps = {Qt.Key.Key_Up: 1, Qt.Key.Key_Down: -1, Qt.Key.Key_PageUp: 10, Qt.Key.Key_PageDown: -10}
        step = steps.get(Qt.Key(event.key()))
        if step is None:
            super().keyPressEvent(event)
        else:
            self.stepped.emit(step)


@dataclass(frozen=True, slots=True)
class Choice:
    """One choice. `why_not`: it is shown but cannot be chosen, and this is the reason."""

    label: str
    value: object
    why_not: str = ""


class ChoiceRow(Row):
    """One of a few."""

    def __init__(self, label: str, parent: QWidget, choices: Sequence[Choice]) -> None:
        self.box = _CalmComboBox(parent)
        super().__init__(label, self.box, parent)
        self._choices: list[Choice] = []
        self.set_choices(choices)
        self.box.activated.connect(self._choose)

    def set_choices(self, choices: Sequence[Choice]) -> None:
        """Offer other choices."""
        if list(choices) == self._choices:
            return
        value = self.value
        self._choices = list(choices)
        self.box.clear()
        items = self.box.model()
        for choice in choices:
            self.box.addItem(choice.label)
            if choice.why_not and isinstance(items, QStandardItemModel):
                item = items.item(self.box.count() - 1)
                item.setEnabled(False)
                item.setText(f"{choice.label} ({choice.why_not})")
                item.setToolTip(plain_tool_tip(choice.why_not))
        self.show_value(value)

    @property
    def value(self) -> object:
        """The choice that is shown."""
        at = self.box.currentIndex()
        return self._choices[at].value if 0 <= at < len(self._choices) else None

    def show_value(self, value: object) -> None:
        at = next((at for at, choice in enumerate(self._choices) if choice.value == value), -1)
        self.box.setCurrentIndex(at)
        self.box.setToolTip(plain_tool_tip(self.box.currentText()))

    @Slot(int)
    def _choose(self, at: int) -> None:
        self.edited.emit(self._choices[at].value)
        self.finished.emit()


class _CalmComboBox(QComboBox):
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
        paint_frame(self)

    def showPopup(self) -> None:  # noqa: N802
        self.view().setMinimumWidth(self.view().sizeHintForColumn(0) + 24)
        super().showPopup()


class _OutlinedCheckBox(QCheckBox):
    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802
        super().paintEvent(event)
        option = QStyleOptionButton()
        self.initStyleOption(option)
        mark = self.style().subElementRect(QStyle.SubElement.SE_CheckBoxIndicator, option, self)
        paint_frame(self, mark)


class CheckRow(Row):
    """Yes or no."""

    def __init__(self, label: str, parent: QWidget, text: str) -> None:
        self.box = _OutlinedCheckBox(text, parent)
        super().__init__(label, self.box, parent)
        self.box.setAccessibleName(f"{label}: {text}")
        self.box.clicked.connect(self._click)

    def show_value(self, value: object) -> None:
        self.box.setChecked(bool(value))

    @Slot(bool)
    def _click(self, checked: bool) -> None:
        self.edited.emit(checked)
        self.finished.emit()


@dataclass(frozen=True, slots=True)
class _Binding:
    row: Row
    read: Callable[[], object]
    at: int
    """Row of the grid; the error has the next one, and a note below its field the one after."""
    note_below: bool


class FormPage(QScrollArea):
    """A page of rows that show what `read` gives and hand every edit to `write`."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWidgetResizable(True)
        self.setFrameShape(QScrollArea.Shape.NoFrame)
        use_thin_scroll_bars(self, QPalette.ColorRole.Base)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._narrow = False
        self.body = QWidget()
        self.body.setBackgroundRole(QPalette.ColorRole.Base)
        self.body.setAutoFillBackground(True)
        outer = QVBoxLayout(self.body)
        outer.setContentsMargins(20, 16, 20, 16)
        outer.setSpacing(12)
        self.head = QLabel(self.body)
        self.head.setTextFormat(Qt.TextFormat.PlainText)
        self.head.setWordWrap(True)
        self.head.setForegroundRole(QPalette.ColorRole.PlaceholderText)
        self.head.hide()
        outer.addWidget(self.head)
        self._grid = QGridLayout()
        self._grid.setHorizontalSpacing(12)
        self._grid.setVerticalSpacing(0)
        self._grid.setColumnMinimumWidth(0, LABEL_WIDTH)
        self._grid.setColumnStretch(2, 1)
        outer.addLayout(self._grid)
        outer.addStretch(1)
        self.setWidget(self.body)
        self._bindings: list[_Binding] = []

    def section(self, title: str) -> None:
        """A small title over the rows that follow."""
        label = SectionLabel(title, self.body)
        label.setContentsMargins(0, 12 if self._grid.rowCount() > 1 else 0, 0, 8)
        self._grid.addWidget(label, self._grid.rowCount(), 0, 1, 3)

    def add(
        self, row: Row, read: Callable[[], object], write: Callable[[object], object], *, wide: bool = False
    ) -> None:
        """Add a row. `wide`: the field takes the room of the note too, and the note goes below it."""
        at = self._grid.rowCount()
        top = Qt.AlignmentFlag.AlignTop
        row.label.setMinimumHeight(FIELD_HEIGHT)
        row.label.setWordWrap(True)
        row.label.setMaximumWidth(LABEL_WIDTH + 40)
        self._grid.addWidget(row.label, at, 0, top)
        row.error.setContentsMargins(0, 4, 0, 0)
        whole = wide or isinstance(row, CheckRow)
        if not whole:
            row.control.setFixedWidth(FIELD_WIDTH)
        self._grid.addWidget(row.control, at, 1, 1, 2 if whole else 1, top)
        self._grid.addWidget(row.error, at + 1, 1, 1, 2)
        row.note.setHidden(isinstance(row, CheckRow))
        binding = _Binding(row, read, at, wide)
        self._place_note(binding)
        self._grid.setRowMinimumHeight(at + 3, 12)
        row.edited.connect(write)
        self._bindings.append(binding)

    def _place_note(self, binding: _Binding) -> None:
        """Beside its field, or below where the page is too narrow for three columns."""
        note = binding.row.note
        self._grid.removeWidget(note)
        if binding.note_below or self._narrow:
            note.setMinimumHeight(0)
            note.setContentsMargins(0, 4, 0, 0)
            self._grid.addWidget(note, binding.at + 2, 1, 1, 2)
        else:
            note.setMinimumHeight(FIELD_HEIGHT)
            note.setContentsMargins(0, 0, 0, 0)
            note.setAlignment(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft)
            self._grid.addWidget(note, binding.at, 2, Qt.AlignmentFlag.AlignTop)

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        super().resizeEvent(event)
        narrow = self.viewport().width() < NARROW
        if narrow != self._narrow:
            self._narrow = narrow
            self._grid.setColumnMinimumWidth(0, NARROW_LABEL_WIDTH if narrow else LABEL_WIDTH)
            for binding in self._bindings:
                self._place_note(binding)

    def add_widget(self, widget: QWidget) -> None:
        """Something that is not a row, over the whole width."""
        self._grid.addWidget(widget, self._grid.rowCount(), 0, 1, 3)

    def refresh(self) -> None:
        """Show what holds now."""
        for binding in self._bindings:
            binding.row.show_value(binding.read())
            binding.row.refresh_note()

    def rows(self) -> list[Row]:
        """The rows, from top to bottom."""
        return [binding.row for binding in self._bindings]

    def row(self, label: str) -> Row:
        """A row by its label. Raises StopIteration where there is none."""
        return next(row for row in self.rows() if row.label.text() == label)

    def changeEvent(self, event: QEvent) -> None:  # noqa: N802
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange:
            self.viewport().update()


def _small() -> QFont:
    small = font()
    small.setPixelSize(12)
    return small


def paint_frame(widget: QWidget, box: QRect | None = None) -> None:
    """The frame of a field (or of a part of it): the theme's line, or the accent where the focus is."""
    painter = QPainter(widget)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(QPen(theme().color("accent" if widget.hasFocus() else "line"), 1))
    frame = QRectF(widget.rect() if box is None else box)
    painter.drawRoundedRect(frame.adjusted(0.5, 0.5, -0.5, -0.5), 2.5, 2.5)
