"""Questions that block nobody: a dialog opens, the loop goes on, the answer arrives as a call."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QAbstractButton,
    QDialogButtonBox,
    QGridLayout,
    QLabel,
    QMessageBox,
    QSizePolicy,
    QWidget,
)

from app.buttons import Button, ButtonLook
from app.reading_text import harmless
from app.tab_order import ReadingOrder
from app.theme import font

_WIDTH = 420
"""Logical pixels that a sentence has before it breaks."""
_WIDEST_ROW = 560
"""Logical pixels that a row of buttons may have; else they stand below each other."""


@dataclass(frozen=True, slots=True)
class Choice:
    """A button of a question and what it does. `is_default`: Enter presses it; else it says no."""

    text: str
    run: Callable[[], object]
    role: QMessageBox.ButtonRole = QMessageBox.ButtonRole.AcceptRole
    is_default: bool = False


def ask(
    parent: QWidget, text: str, explanation: str, choices: Sequence[Choice], cancel_text: str
) -> QMessageBox:
    """Open a question over the window; Escape and `cancel_text` do nothing. Never `exec`: it would hold up
    every coroutine of a run. The dialog deletes itself."""
    box = _Box(parent)
    box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    box.setWindowModality(Qt.WindowModality.WindowModal)
    # As the window itself looks, not as the style's own message boxes do.
    box.setIcon(QMessageBox.Icon.NoIcon)
    box.setTextFormat(Qt.TextFormat.PlainText)
    box.setText(harmless(text))
    box.setInformativeText(harmless(explanation))
    for label in box.findChildren(QLabel):
        # The explanation has a label of its own, which takes what looks like markup for markup.
        label.setTextFormat(Qt.TextFormat.PlainText)
        label.setFont(font(bold=label.objectName() == "qt_msgbox_label"))
        label.setWordWrap(True)
        label.setMinimumWidth(_WIDTH)
        label.setIndent(0)
        margins = label.contentsMargins()
        label.setContentsMargins(0, margins.top(), 0, margins.bottom())
    by_button: dict[QAbstractButton, Choice] = {}
    default: Button | None = None
    for choice in choices:
        look = ButtonLook.FILLED if choice.is_default else ButtonLook.OUTLINED
        button = Button(choice.text, look, "", box)
        box.addButton(button, choice.role)
        by_button[button] = choice
        if choice.is_default:
            default = button
    cancel = Button(cancel_text, ButtonLook.OUTLINED if default else ButtonLook.FILLED, "", box)
    box.addButton(cancel, QMessageBox.ButtonRole.RejectRole)
    _align_left(box)
    _stack_buttons(box)
    box.setDefaultButton(default or cancel)
    box.setEscapeButton(cancel)

    def finished() -> None:
        chosen = next((choice for button, choice in by_button.items() if button is box.clickedButton()), None)
        if chosen is not None:
            chosen.run()

    box.finished.connect(finished)
    box.open()
    return box


class _Box(ReadingOrder, QMessageBox):
    """Tab goes through its buttons as they stand."""


def _align_left(box: QMessageBox) -> None:
    """Text and buttons begin at one line: without an icon there is nothing to make room for."""
    grid = box.layout()
    if not isinstance(grid, QGridLayout):
        return
    grid.setHorizontalSpacing(0)
    for column in range(grid.columnCount()):
        item = grid.itemAtPosition(0, column)
        spacer = item.spacerItem() if item is not None else None
        if spacer is not None:
            spacer.changeSize(0, 0, QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        elif item is not None:
            grid.setColumnStretch(column, 1)


def _stack_buttons(box: QMessageBox) -> None:
    """Buttons with long words stand below each other, as wide as the box: in a row Qt would cut them off."""
    row = box.findChild(QDialogButtonBox)
    if row is not None and sum(button.sizeHint().width() + 8 for button in row.buttons()) > _WIDEST_ROW:
        row.setOrientation(Qt.Orientation.Vertical)
        # By itself a column is as narrow as its longest words, and stands at the left.
        row.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
