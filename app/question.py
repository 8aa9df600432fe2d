"""Questions that block nobody: a dialog opens, the loop goes on, the answer arrives as a call."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QMessageBox, QWidget


@dataclass(frozen=True, slots=True)
class Choice:
    """A button of a question and what it does. `is_default`: Enter presses it."""

    text: str
    run: Callable[[], object]
    role: QMessageBox.ButtonRole = QMessageBox.ButtonRole.AcceptRole
    is_default: bool = False


def ask(
    parent: QWidget, text: str, explanation: str, choices: Sequence[Choice], cancel_text: str
) -> QMessageBox:
    """Open a question over the window; Escape and `cancel_text` do nothing. Never `exec`: it would hold up
    every coroutine of a run. The dialog deletes itself."""
    box = QMessageBox(parent)
    box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    box.setWindowModality(Qt.WindowModality.WindowModal)
    box.setIcon(QMessageBox.Icon.Question)
    box.setTextFormat(Qt.TextFormat.PlainText)
    box.setText(text)
    box.setInformativeText(explanation)
    for label in box.findChildren(QLabel):
        # The explanation has a label of its own, which takes what looks like markup for markup.
        label.setTextFormat(Qt.TextFormat.PlainText)
    by_button = {}
    for choice in choices:
        button = box.addButton(choice.text, choice.role)
        by_button[button] = choice
        if choice.is_default:
            box.setDefaultButton(button)
    cancel = box.addButton(cancel_text, QMessageBox.ButtonRole.RejectRole)
    box.setEscapeButton(cancel)

    def finished() -> None:
        chosen = next((choice for button, choice in by_button.items() if button is box.clickedButton()), None)
        if chosen is not None:
            chosen.run()

    box.finished.connect(finished)
    box.open()
    return box
