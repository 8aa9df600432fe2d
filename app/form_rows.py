"""Rows of a form: a label, a field, and a quiet word about the value that holds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QEvent, QObject, Qt, Signal, Slot
from PySide6.QtGui import QKeyEvent, QKeySequence, QPalette, QStandardItemModel
from PySide6.QtWidgets import QGridLayout, QLabel, QWidget

from app.fields import FIELD_HEIGHT, CalmComboBox, OutlinedCheckBox, OutlinedField, StepField
from app.outline import Unfinished
from app.plain_text import plain_tool_tip
from app.theme import TextSize, font, mono_font


class Various:
    """The value of a field that stands for several places which have different ones."""


VARIOUS = Various()


class Row(QObject):
    """One setting. `show_value` never emits; `edited(value)` comes with every edit that makes sense,
    `refused(Unfinished)` with one that does not, and `finished()` when the user leaves the field.
    """

    edited = Signal(object)
    refused = Signal(object)
    finished = Signal()

    def __init__(self, label: str, control: QWidget, parent: QWidget) -> None:
        super().__init__(parent)
        self.label = QLabel(label, parent)
        self.label.setTextFormat(Qt.TextFormat.PlainText)
        self.label.setForegroundRole(QPalette.ColorRole.PlaceholderText)
        self.label.setBuddy(control)
        self.control = control
        self.place = control
        """What stands in the form: the control, or something around it."""
        control.setAccessibleName(label)
        control.setMinimumHeight(FIELD_HEIGHT)
        self.note = QLabel(parent)
        self.note.setTextFormat(Qt.TextFormat.PlainText)
        self.note.setFont(font(TextSize.SMALL))
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
        about = self._about()
        self.note.setText(about)
        self.note.setVisible(bool(about))
        self.control.setAccessibleDescription(self.error.text() or self.note.text())

    def place_note(self, grid: QGridLayout, at: int, *, below: bool, gap: int, first: int = 1) -> None:
        """Put the note beside the field in row `at` of a grid, or `gap` pixels below the error, which has the
        row after the field's; there it begins in column `first`."""
        grid.removeWidget(self.note)
        if below:
            self.note.setMinimumHeight(0)
            self.note.setContentsMargins(0, gap, 0, 0)
            grid.addWidget(self.note, at + 2, first, 1, 3 - first)
        else:
            self.note.setMinimumHeight(FIELD_HEIGHT)
            self.note.setContentsMargins(0, 0, 0, 0)
            self.note.setAlignment(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft)
            grid.addWidget(self.note, at, 2, Qt.AlignmentFlag.AlignTop)

    def show_error(self, text: str) -> None:
        """What is wrong with what is in the field; empty: nothing."""
        self.error.setText(text)
        self.error.setVisible(bool(text))
        self.control.setAccessibleDescription(text or self.note.text())

    def show_value(self, value: object) -> None:
        """Show a value without telling that it was edited; VARIOUS: that there are several."""
        raise NotImplementedError

    def take_focus(self) -> None:
        """Give the field the focus, with what is in it selected."""
        self.control.setFocus(Qt.FocusReason.OtherFocusReason)


class ErrorLabel(QLabel):
    """A sentence in vermillion under a field."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setFont(font(TextSize.SMALL))
        self.setWordWrap(True)
        self.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        # A role of the palette that is vermillion in both themes.
        self.setForegroundRole(QPalette.ColorRole.BrightText)
        self.hide()


class TextRow(Row):
    """A line of text. `parse` gives the value or raises ValueError with a sentence; `write` undoes it.

    Undo and redo are the window's also while the field has the focus: what is typed is on its stack. Only a
    text that could not be taken is not, and undo takes that back.
    """

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
        self.field = StepField(parent) if steps else OutlinedField(parent)
        super().__init__(label, self.field, parent)
        if mono:
            self.field.setFont(mono_font())
        self._parse = parse
        self._write = write
        self._value: object = None
        self._refused = False
        self._is_kept = False
        """Somebody keeps refused texts, and undo: `show_value` then gets them."""
        self._placeholder: Callable[[], str] = str
        self.field.installEventFilter(self)
        self.field.textEdited.connect(self._edit)
        self.field.editingFinished.connect(self._finish)
        if isinstance(self.field, StepField):
            self.field.stepped.connect(self._step)

    def placeholder(self, text: Callable[[], str]) -> TextRow:
        """What an empty field shows: the value that then holds."""
        self._placeholder = text
        return self

    def keep_refused(self, keep: Callable[[Unfinished], object]) -> None:
        """Hand texts that cannot be the value to somebody who has them shown until they are put right."""
        self._is_kept = True
        self.refused.connect(keep)

    def refresh_note(self) -> None:
        super().refresh_note()
        various = self._value is VARIOUS
        self.field.setPlaceholderText(self.tr("various") if various else self._placeholder())

    def take_focus(self) -> None:
        super().take_focus()
        self.field.selectAll()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802
        if watched is self.field and isinstance(event, QKeyEvent):
            undo = event.matches(QKeySequence.StandardKey.Undo)
            if undo or event.matches(QKeySequence.StandardKey.Redo):
                if event.type() == QEvent.Type.ShortcutOverride:
                    event.setAccepted(undo and self._refused and not self._is_kept)
                elif event.type() == QEvent.Type.KeyPress and undo and self._refused and not self._is_kept:
                    self._refused = False
                    self.field.setText(self._shown(self._value))
                    self.show_error("")
                return True
        return super().eventFilter(watched, event)

    def _shown(self, value: object) -> str:
        return "" if value is VARIOUS else self._write(value)

    def show_value(self, value: object) -> None:
        if isinstance(value, Unfinished):
            self._value = value
            self._refused = True
            if self.field.text() != value.text:
                self.field.setText(value.text)
            if self.error.text() != value.mistake:
                self.show_error(value.mistake)
            return
        same = value == self._value and type(value) is type(self._value)
        self._value = value
        # What is being typed stays as it is typed: "90 s" must not become "1 min 30 s" under the hands.
        if same and (self._refused or self.field.hasFocus()):
            return
        text = self._shown(value)
        if self._understands(self.field.text(), value) and self.field.hasFocus():
            return
        if text != self.field.text():
            self.field.setText(text)
        self._refused = False
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
            self._refused = True
            self.show_error(str(problem))
            self.refused.emit(Unfinished(text, str(problem)))
            return
        self._refused = False
        self.show_error("")
        self._value = value
        self.edited.emit(value)

    @Slot()
    def _finish(self) -> None:
        if not self._refused and self._shown(self._value) != self.field.text():
            self.field.setText(self._shown(self._value))
        self.finished.emit()

    @Slot(int)
    def _step(self, by: int) -> None:
        # "4 (openloop.json)": the value is the first word.
        digits = self.field.text().strip() or self.field.placeholderText().partition(" ")[0]
        if digits.isdigit():
            self.field.setText(str(max(0, int(digits) + by)))
            self._edit(self.field.text())


@dataclass(frozen=True, slots=True)
class Choice:
    """One choice. `why_not`: it is shown but cannot be chosen, and this is the reason."""

    label: str
    value: object
    why_not: str = ""


class ChoiceRow(Row):
    """One of a few."""

    def __init__(self, label: str, parent: QWidget, choices: Sequence[Choice]) -> None:
        self.box = CalmComboBox(parent)
        super().__init__(label, self.box, parent)
        self._various = False
        self._choices: list[Choice] = []
        self.set_choices(choices)
        self.box.activated.connect(self._choose)

    def set_choices(self, choices: Sequence[Choice]) -> None:
        """Offer other choices."""
        if list(choices) == self._choices:
            return
        value = VARIOUS if self._various else self.value
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
        self.box.updateGeometry()
        self.show_value(value)

    @property
    def value(self) -> object:
        """The choice that is shown."""
        at = self.box.currentIndex()
        return self._choices[at].value if 0 <= at < len(self._choices) else None

    def show_value(self, value: object) -> None:
        self._various = value is VARIOUS
        self.box.setPlaceholderText(self.tr("various") if self._various else "")
        at = next((at for at, choice in enumerate(self._choices) if choice.value == value), -1)
        self.box.setCurrentIndex(at)
        self.box.setToolTip(plain_tool_tip(self.box.currentText()))

    @Slot(int)
    def _choose(self, at: int) -> None:
        self.edited.emit(self._choices[at].value)
        self.finished.emit()


class CheckRow(Row):
    """Yes or no."""

    def __init__(self, label: str, parent: QWidget, text: str) -> None:
        self.box = OutlinedCheckBox(text, parent)
        super().__init__(label, self.box, parent)
        self.box.setAccessibleName(f"{label}: {text}")
        self.box.clicked.connect(self._click)

    def show_value(self, value: object) -> None:
        # A third state only where there is one: a click never leads into it.
        self.box.setTristate(value is VARIOUS)
        if value is VARIOUS:
            self.box.setCheckState(Qt.CheckState.PartiallyChecked)
        else:
            self.box.setChecked(bool(value))

    @Slot(bool)
    def _click(self, checked: bool) -> None:
        self.box.setTristate(False)
        self.edited.emit(checked)
        self.finished.emit()
