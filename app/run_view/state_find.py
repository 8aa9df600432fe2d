"""The field that finds keys and values in the state, and says where one is."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt, QTimer, Signal, Slot
from PySide6.QtGui import QAccessible, QAction, QKeyEvent
from PySide6.QtWidgets import QHBoxLayout, QSizePolicy, QWidget

from app.buttons import Button, ButtonLook
from app.fields import FIELD_HEIGHT, OutlinedField
from app.labels import QuietLabel
from app.theme import font, icon
from app.why_not import tell_why_off

_PAUSE_MS = 150
"""After the last key, before the search begins."""


class _Field(OutlinedField):
    """Enter and Shift+Enter step, Escape empties it and leaves."""

    stepped = Signal(int)
    left = Signal()

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802
        key = event.key()
        if key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            back = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
            self.stepped.emit(-1 if back else 1)
        elif key in (Qt.Key.Key_Down, Qt.Key.Key_Up):
            self.stepped.emit(1 if key == Qt.Key.Key_Down else -1)
        elif key == Qt.Key.Key_Escape and self.text():
            self.clear()
            self.left.emit()
        else:
            super().keyPressEvent(event)


class StateFind(QWidget):
    """Signals: `needle_changed(str)` a moment after the last key; `step_requested(int)` with 1 or -1;
    `left()`.
    """

    accessible_role = QAccessible.Role.Grouping

    needle_changed = Signal(str)
    step_requested = Signal(int)
    left = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._told = ""
        self.field = _Field(self)
        self.field.setFont(font())
        self.field.setPlaceholderText(self.tr("Find keys and values"))
        self.field.setAccessibleName(self.tr("Find keys and values"))
        self.field.setToolTip(self.tr("Find keys and values (Ctrl+F)"))
        self.field.setClearButtonEnabled(False)
        self.field.setMinimumHeight(FIELD_HEIGHT)
        self.field.addAction(
            QAction(icon("search", "quiet"), self.tr("Find"), self), _Field.ActionPosition.LeadingPosition
        )
        self.field.setMinimumWidth(self.field.fontMetrics().horizontalAdvance("m" * 10))
        self.field.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.count = QuietLabel("", self)
        self.count.setFont(font(tabular=True))
        self.count.hide()
        self.previous = Button("", ButtonLook.FLAT, "arrow-up", self)
        self.previous.setAccessibleName(self.tr("Previous match"))
        self.previous.setToolTip(self.tr("Previous match (Shift+F3)"))
        self.next = Button("", ButtonLook.FLAT, "arrow-down", self)
        self.next.setAccessibleName(self.tr("Next match"))
        self.next.setToolTip(self.tr("Next match (F3)"))
        for button in (self.previous, self.next):
            tell_why_off(button, self.tr("Nothing is found: first write what is to be found."))
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(4)
        row.addWidget(self.field, 1)
        row.addWidget(self.count)
        row.addWidget(self.previous)
        row.addWidget(self.next)
        self._pause = QTimer(self)
        self._pause.setSingleShot(True)
        self._pause.setInterval(_PAUSE_MS)
        self._pause.timeout.connect(self._tell)
        self.field.textChanged.connect(self._typed)
        self.field.stepped.connect(self._step)
        self.field.left.connect(self.left)
        self.previous.clicked.connect(self._step_back)
        self.next.clicked.connect(self._step_on)
        self.show_count(None, 0, searching=False)

    def sizeHint(self) -> QSize:  # noqa: N802
        hint = super().sizeHint()
        return QSize(max(hint.width(), 260), hint.height())

    @property
    def needle(self) -> str:
        """What is looked for."""
        return self.field.text()

    def open(self) -> None:
        """Be ready to type."""
        self.field.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.field.selectAll()

    @Slot()
    def _typed(self) -> None:
        if self.needle:
            self._pause.start()
        else:
            self._tell()

    @Slot()
    def _tell(self) -> None:
        self._pause.stop()
        if self.needle != self._told:
            self._told = self.needle
            self.needle_changed.emit(self.needle)

    @Slot(int)
    def _step(self, step: int) -> None:
        if self.needle != self._told:
            self._tell()
        else:
            self.step_requested.emit(step)

    @Slot()
    def _step_back(self) -> None:
        self._step(-1)

    @Slot()
    def _step_on(self) -> None:
        self._step(1)

    def show_count(self, ordinal: int | None, count: int, *, searching: bool, more: bool = False) -> None:
        """Say where one is. `ordinal` from 0; `more`: further ones are not looked for."""
        number = f"{count:,}+" if more else f"{count:,}"
        if not self.needle:
            text = ""
        elif searching:
            text = self.tr("{0} so far").format(number)
        elif not count:
            text = self.tr("no match")
        elif ordinal is None:
            text = self.tr("{0} found").format(number)
        else:
            text = self.tr("{0} of {1}").format(f"{ordinal + 1:,}", number)
        if text != self.count.text():
            self.count.setText(text)
            self.count.setVisible(bool(text))
        self.previous.setEnabled(count > 0)
        self.next.setEnabled(count > 0)
