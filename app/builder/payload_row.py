"""The row of the initial payload: a small editor of JSON that says what is wrong, and where."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, QTimer, Slot
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from app.builder import words
from app.builder.json_edit import FramedEdit, JsonEdit, has_long_line
from app.buttons import Button, ButtonLook
from app.first_paint import after_first_paint
from app.form_rows import Row
from app.outline import Unfinished
from app.theme import GRID

if TYPE_CHECKING:
    from core.json_types import JsonObject
    from core.payload_text import PayloadText

AT_ONCE = 20_000
"""Characters of a text that is read with every letter; a longer one is read when nothing more is typed."""
PAUSE_MS = 300
LARGE = 200_000
"""Characters of a payload of which only the beginning is shown: to lay out all of it would take too long.
So it is with one that has a long line."""
_SHOWN_LINES, _SHOWN_LETTERS = 100, 500
"""Of a large payload."""


@dataclass(frozen=True, slots=True)
class PayloadState:
    """What the document has: the payload, and a text that is to replace it and cannot be read yet."""

    payload: JsonObject
    unfinished: Unfinished | None = None


class PayloadRow(Row):
    """A payload as text. `edited(PayloadText)` comes with every edit, also with one that cannot be read: then
    with `payload` None.

    A long text is read after a pause, and when somebody leaves it or begins a command.
    """

    def __init__(self, label: str, parent: QWidget) -> None:
        self.edit = JsonEdit(parent)
        super().__init__(label, self.edit, parent)
        self.place = QWidget(parent)
        self.format_button = Button(self.tr("Format"), ButtonLook.LINK, "", self.place)
        self.format_button.setToolTip(self.tr("Write it with one value a line and even indents"))
        self.format_button.setAccessibleName(self.tr("Format the payload"))
        self.clear_button = Button(self.tr("Take it out"), ButtonLook.LINK, "", self.place)
        self.clear_button.setAccessibleName(self.tr("Take the payload out"))
        for button in (self.format_button, self.clear_button):
            button.hide()
        below = QHBoxLayout()
        below.addWidget(self.format_button)
        below.addWidget(self.clear_button)
        below.addStretch(1)
        layout = QVBoxLayout(self.place)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(GRID)
        layout.addWidget(FramedEdit(self.edit, self.place))
        layout.addLayout(below)
        self._shown: PayloadState | None = None
        """What the text says; None: nothing was shown yet."""
        self._waits = False
        """Something was typed that has not been read."""
        self._is_setting = False
        self._is_cut = False
        """Only the beginning is shown."""
        self._placeholder: Callable[[], str] = str
        self._pause = QTimer(self)
        self._pause.setSingleShot(True)
        self._pause.setInterval(PAUSE_MS)
        self._pause.timeout.connect(self.read_now)
        self.edit.textChanged.connect(self._typed)
        self.edit.left.connect(self._leave)
        self.edit.command_begun.connect(self.read_now)
        self.format_button.clicked.connect(self._format)
        self.clear_button.clicked.connect(self._clear)

    def placeholder(self, text: Callable[[], str]) -> None:
        """What an empty text shows, asked anew at every refresh."""
        self._placeholder = text

    def refresh_note(self) -> None:
        super().refresh_note()
        if self._is_cut:
            self.note.setText(
                self.tr("This is its beginning. It is too large to be edited here; edit it in the file.")
            )
            self.control.setAccessibleDescription(self.note.text())
        self.edit.setPlaceholderText(self._placeholder())

    def show_value(self, value: object) -> None:
        if not isinstance(value, PayloadState) or self._waits or self._says(value):
            return
        self._shown = value
        # What writes JSON is not needed for the first paint of the window.
        after_first_paint(self._show)

    def _show(self) -> None:
        value = self._shown
        if value is None or not (value.payload or value.unfinished or self.edit.text):
            return
        from core.payload_text import read_payload, write_payload

        unfinished = value.unfinished
        text = unfinished.text if unfinished is not None else write_payload(value.payload)
        self._is_cut = unfinished is None and _is_large(text)
        self._set_text(_beginning(text) if self._is_cut else text)
        self.edit.setReadOnly(self._is_cut)
        self.refresh_note()
        self._tell(read_payload(unfinished.text) if unfinished is not None else None)

    def _says(self, value: PayloadState) -> bool:
        """Whether the text is about that already; then it stays as it was typed."""
        shown = self._shown
        if shown is None or shown.unfinished != value.unfinished:
            return False
        if shown.payload is value.payload or not (shown.payload or value.payload):
            return True
        # Not needed for the first paint of the window.
        from core.json_values import same_json

        return same_json(shown.payload, value.payload)

    def _set_text(self, text: str) -> None:
        self._is_setting = True
        self.edit.set_text(text)
        self._is_setting = False

    # --- typing ----------------------------------------------------------------------------------------

    @Slot()
    def _typed(self) -> None:
        if self._is_setting:
            return
        self._waits = True
        if self.edit.document().characterCount() <= AT_ONCE:
            self.read_now()
        else:
            self._pause.start()

    @Slot()
    def read_now(self) -> None:
        """Read what was typed last, where that waits."""
        from core.payload_text import read_payload

        if self._waits:
            self._pause.stop()
            self._accept(read_payload(self.edit.text))

    def _accept(self, read: PayloadText) -> None:
        self._waits = False
        self._tell(read)
        if read.payload is not None:
            self._shown = PayloadState(read.payload)
        elif self._shown is not None:
            self._shown = replace(self._shown, unfinished=Unfinished(read.text, mistake_in_words(read)))
        self.edited.emit(read)

    @Slot()
    def _leave(self) -> None:
        self.read_now()
        has_payload = self._shown is not None and self._shown.unfinished is None
        if has_payload and not self._is_cut and _is_large(self.edit.text):
            # It was pasted, and is not laid out again with every new width.
            self._show()
        self.finished.emit()

    @Slot()
    def _format(self) -> None:
        from core.payload_text import read_payload, write_payload

        self.read_now()
        read = read_payload(self.edit.text)
        if read.payload is not None:
            self._set_text(write_payload(read.payload))

    @Slot()
    def _clear(self) -> None:
        # From here on the text is all there is: nothing of the large one is shown or said any more.
        self._is_cut = False
        self.edit.setReadOnly(False)
        self.edit.set_text("")
        self.refresh_note()
        self.edit.setFocus(Qt.FocusReason.OtherFocusReason)
        self._show()

    # --- what is wrong ---------------------------------------------------------------------------------

    def _tell(self, read: PayloadText | None) -> None:
        """Say what is wrong with the text, and mark its place; None: nothing is."""
        line = column = None
        text = ""
        if read is not None and read.payload is None:
            line, column = read.line, read.column
            text = mistake_in_words(read)
        self.show_error(text)
        self.edit.mark(line, column)
        # What is wrong stands in its place; an empty text has nothing to format.
        self.format_button.setVisible(not text and not self._is_cut and not self.edit.document().isEmpty())
        self.clear_button.setVisible(self._is_cut)


def mistake_in_words(read: PayloadText) -> str:
    """What is wrong with a payload's text, with its place."""
    if read.line is None:
        return read.mistake
    return words.tr("Line {0}, column {1}: {2}").format(read.line, read.column or 1, read.mistake)


def _is_large(text: str) -> bool:
    return len(text) > LARGE or has_long_line(text)


def _beginning(text: str) -> str:
    lines = [line[:_SHOWN_LETTERS] for line in text.split("\n", _SHOWN_LINES)[:_SHOWN_LINES]]
    return "\n".join([*lines, "…"])
