"""The bar above a prompt: what is looked for, where it stands, and what takes its place."""

from __future__ import annotations

from PySide6.QtCore import Qt, QTimer, Signal, Slot
from PySide6.QtGui import QAccessible, QKeyEvent, QPainter, QPaintEvent, QPalette, QTextCursor
from PySide6.QtWidgets import QHBoxLayout, QLabel, QWidget

from app.agent_editor.prompt_edit import PromptEdit
from app.buttons import Button, ButtonLook
from app.fields import OutlinedField
from app.painting import paint_method
from app.theme import TextSize, font, theme

MOST_MARKED = 500
"""Matches that are marked in the text; all are counted."""
_SETTLE_MS = 120


class _Needle(OutlinedField):
    """Enter and F3 step, with Shift backwards; Escape leaves."""

    stepped = Signal(int)
    left = Signal()

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802
        back = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_F3):
            self.stepped.emit(-1 if back else 1)
        elif event.key() == Qt.Key.Key_Escape:
            self.left.emit()
        else:
            super().keyPressEvent(event)


class PromptFindBar(QWidget):
    """Finds in one editor; case counts only where the needle has capitals."""

    accessible_role = QAccessible.Role.Grouping

    def __init__(self, edit: PromptEdit, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._edit = edit
        self.setAccessibleName(self.tr("Find in the prompt"))
        self.field = _Needle(self)
        self.field.setPlaceholderText(self.tr("Find"))
        self.field.setAccessibleName(self.tr("Text to find"))
        self.field.setMinimumHeight(28)
        self.count = QLabel(self)
        self.count.setTextFormat(Qt.TextFormat.PlainText)
        self.count.setFont(font(TextSize.SMALL, tabular=True))
        self.count.setForegroundRole(QPalette.ColorRole.PlaceholderText)
        self.previous = self._button("arrow-up", self.tr("Previous match"))
        self.next = self._button("arrow-down", self.tr("Next match"))
        self.close_button = self._button("x", self.tr("Close"))
        layout = QHBoxLayout(self)
        layout.setContentsMargins(12, 4, 8, 5)
        layout.setSpacing(4)
        layout.addWidget(self.field, 1)
        layout.addWidget(self.count)
        for button in (self.previous, self.next, self.close_button):
            layout.addWidget(button)
        self._settle = QTimer(self)
        self._settle.setSingleShot(True)
        self._settle.setInterval(_SETTLE_MS)
        self._settle.timeout.connect(self._mark)
        self.field.textChanged.connect(self._look)
        self.field.stepped.connect(self.step)
        self.field.left.connect(self.leave)
        self.previous.clicked.connect(lambda: self.step(-1))
        self.next.clicked.connect(lambda: self.step(1))
        self.close_button.clicked.connect(self.leave)
        edit.textChanged.connect(self._text_changed)
        self.hide()

    def _button(self, icon_name: str, name: str) -> Button:
        button = Button("", ButtonLook.FLAT, icon_name, self)
        button.setAccessibleName(name)
        button.setToolTip(name)
        return button

    @Slot()
    def open(self) -> None:
        """Look for what is selected, or for what was looked for last."""
        selected = self._edit.textCursor().selectedText()
        self.show()
        if selected and "\u2029" not in selected:
            self.field.setText(selected)
        self.field.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.field.selectAll()
        self._mark()

    @Slot()
    def leave(self) -> None:
        """Close, and go on in the text."""
        self.hide()
        self._settle.stop()
        self._edit.set_found(())
        self._edit.setFocus(Qt.FocusReason.OtherFocusReason)

    @Slot()
    def _look(self) -> None:
        places = self._places()
        if places:
            at = self._edit.textCursor().selectionStart()
            self._select(next((place for place in places if place >= at), places[0]))
        self._mark()

    @Slot(int)
    def step(self, direction: int) -> None:
        """Go to the next match (1) or the one before (-1), around the end."""
        places = self._places()
        if not places:
            return
        at = self._edit.textCursor().selectionStart()
        if direction > 0:
            place = next((place for place in places if place > at), places[0])
        else:
            place = next((place for place in reversed(places) if place < at), places[-1])
        self._select(place)
        self._mark()

    def _select(self, place: int) -> None:
        cursor = self._cursor(place)
        self._edit.setTextCursor(cursor)
        self._edit.ensureCursorVisible()

    def _cursor(self, place: int) -> QTextCursor:
        cursor = QTextCursor(self._edit.document())
        cursor.setPosition(place)
        cursor.setPosition(place + _units(self.field.text()), QTextCursor.MoveMode.KeepAnchor)
        return cursor

    def _places(self) -> list[int]:
        """Where the needle stands, in the document's own count."""
        needle, text = self.field.text(), self._edit.document().toRawText()
        if not needle:
            return []
        if needle.islower():
            # Some capitals have two letters in lower case: then their place would be lost.
            lower = text.lower()
            text = lower if len(lower) == len(text) else text
        places: list[int] = []
        at, units, counted = text.find(needle), 0, 0
        while at >= 0:
            units += _units(text[counted:at])
            counted = at
            places.append(units)
            at = text.find(needle, at + len(needle))
        return places

    @Slot()
    def _text_changed(self) -> None:
        if self.isVisible():
            self._settle.start()

    @Slot()
    def _mark(self) -> None:
        places = self._places()
        self._edit.set_found([self._cursor(place) for place in places[:MOST_MARKED]])
        if not self.field.text():
            self.count.clear()
        elif not places:
            self.count.setText(self.tr("nothing found"))
        else:
            at = self._edit.textCursor().selectionStart()
            number = places.index(at) + 1 if at in places else 0
            of = self.tr("{0} of {1}").format(f"{number:,}", f"{len(places):,}")
            self.count.setText(of if number else self.tr("{0} found").format(f"{len(places):,}"))
        for button in (self.previous, self.next):
            button.setEnabled(bool(places))

    @paint_method
    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802
        del event
        with QPainter(self) as painter:
            painter.fillRect(self.rect(), theme().color("raised"))
            painter.fillRect(0, self.height() - 1, self.width(), 1, theme().color("line"))


def _units(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2
