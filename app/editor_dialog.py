"""Choosing what opens the files that logs name: an editor that is there, or a command of one's own."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import QDialog, QHBoxLayout, QLabel, QSizePolicy, QVBoxLayout, QWidget

from app.buttons import Button, ButtonLook
from app.editor import EditorError, Preset, words_of
from app.fields import CalmComboBox, OutlinedField
from app.form_rows import ErrorLabel
from app.labels import QuietLabel
from app.tab_order import ReadingOrder
from app.theme import GRID, TextSize, font, mono_font

_WIDTH = 460
_OWN = "own"


class EditorDialog(ReadingOrder, QDialog):
    """Chosen from `found` (editors that are there, with their programs), or written as a command.

    `command`: the one in force, empty where the user chose none. `automatic`: what then opens files, in
    words, and its command, empty where it has none.
    Signals: `chosen(str)`: the command to be kept, empty for automatic.
    """

    chosen = Signal(str)

    def __init__(
        self,
        command: str,
        found: Sequence[tuple[Preset, str]],
        automatic: tuple[str, str],
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._automatic = automatic[1]
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(self.tr("Editor for files"))
        self._about = QLabel(self.tr("What opens a file when you Ctrl+click its name in a log?"), self)
        self._about.setFont(font(TextSize.TEXT, bold=True))
        self.box = CalmComboBox(self)
        self.box.setAccessibleName(self.tr("Editor"))
        self.box.setMinimumHeight(28)
        self.box.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.box.addItem(self.tr("Automatic: {editor}").format(editor=automatic[0]), "")
        for preset, program in found:
            self.box.addItem(preset.name, preset.command(program))
        self.box.addItem(self.tr("A command of your own"), _OWN)
        self.field = OutlinedField(self)
        self.field.setFont(mono_font())
        self.field.setMinimumHeight(28)
        self.field.setAccessibleName(self.tr("Command"))
        self.field.setPlaceholderText("code --goto {file}:{line}")
        self.note = QuietLabel(
            self.tr(
                "{0} stands for the file, {1} and {2} for the place in it. The command starts the editor "
                "itself and not a shell; quotation marks keep words together."
            ).format("{file}", "{line}", "{column}"),
            self,
        )
        self.error = ErrorLabel(self)
        self.field.setAccessibleDescription(self.note.text())
        for label in (self._about, self.note):
            label.setTextFormat(Qt.TextFormat.PlainText)
            label.setWordWrap(True)
        self.use_button = Button(self.tr("Use this"), ButtonLook.FILLED, "", self)
        self.use_button.setDefault(True)
        self.cancel_button = Button(self.tr("Cancel"), ButtonLook.OUTLINED, "", self)
        self._arrange()
        self.box.activated.connect(self._show_choice)
        self.field.textEdited.connect(self._check)
        self.use_button.clicked.connect(self._use)
        self.cancel_button.clicked.connect(self.reject)
        at = self.box.findData(command)
        self.box.setCurrentIndex(at if at >= 0 else self.box.count() - 1)
        self._own = command if at < 0 else ""
        self.field.setText(self._own)
        self._show_choice()

    def _arrange(self) -> None:
        buttons = QHBoxLayout()
        buttons.setSpacing(2 * GRID)
        buttons.addStretch(1)
        buttons.addWidget(self.cancel_button)
        buttons.addWidget(self.use_button)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(4 * GRID, 4 * GRID, 4 * GRID, 4 * GRID)
        layout.setSpacing(2 * GRID)
        for widget in (self._about, self.box, self.field, self.error, self.note):
            layout.addWidget(widget)
        layout.addSpacing(2 * GRID)
        layout.addLayout(buttons)
        layout.addStretch(1)
        self.setMinimumWidth(_WIDTH)

    @property
    def command(self) -> str:
        """What would be kept; empty for automatic."""
        return self.field.text().strip() if self._is_own else str(self.box.currentData())

    @property
    def _is_own(self) -> bool:
        return bool(self.box.currentData() == _OWN)

    @Slot()
    def _show_choice(self) -> None:
        """The command of what is chosen can be read; one's own can be written."""
        own = self._is_own
        if self.field.isEnabled() and not own:
            self._own = self.field.text()
        self.field.setText(self._own if own else self.command or self._automatic)
        self.field.setEnabled(own)
        self._check()
        if own and self.isVisible():
            self.field.setFocus(Qt.FocusReason.OtherFocusReason)

    @Slot()
    def _check(self) -> None:
        problem = ""
        if self._is_own and self.field.text().strip():
            try:
                words_of(self.field.text())
            except EditorError as error:
                problem = str(error)
        self.error.setText(problem)
        self.error.setVisible(bool(problem))
        self.field.setAccessibleDescription(problem or self.note.text())
        self.use_button.setEnabled(not problem and bool(not self._is_own or self.field.text().strip()))

    @Slot()
    def _use(self) -> None:
        self.chosen.emit(self.command)
        self.accept()
