"""The head of the agent editor: whose file it is, whether it is saved, and what can be done with it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtGui import QAccessible, QAction, QKeySequence, QPainter, QPaintEvent, QPalette
from PySide6.QtWidgets import QHBoxLayout, QLabel, QMenu, QVBoxLayout, QWidget

from app.buttons import Button, ButtonLook
from app.labels import ElidedLabel
from app.painting import paint_method
from app.plain_text import plain_tool_tip
from app.theme import TextSize, font, icon, theme
from app.why_not import tell_why_off


class AgentHead(QWidget):
    """Name, file and state, with the buttons.

    Signals: `save_requested()`, `revert_requested()`, `close_requested()`; `other_chosen(Path)`: another
    agent with unsaved changes. The actions of the menu are connected by who owns the editor.
    """

    accessible_role = QAccessible.Role.Grouping

    save_requested = Signal()
    revert_requested = Signal()
    close_requested = Signal()
    other_chosen = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.name = ElidedLabel(bold=True, parent=self)
        self.state = QLabel(self)
        self.state.setTextFormat(Qt.TextFormat.PlainText)
        self.path = _QuietPath(parent=self)
        self.others_menu = QMenu(self)
        self.others_menu.triggered.connect(self._choose_other)
        self.others = Button("", ButtonLook.FLAT, "", self)
        self.others.set_drop_down(self.others_menu)
        self.others.hide()
        self.save_button = Button(self.tr("Save"), ButtonLook.OUTLINED, "", self)
        self.revert_button = Button(self.tr("Revert"), ButtonLook.OUTLINED, "", self)
        self.revert_button.setToolTip(self.tr("Go back to the saved file; undo brings your changes back"))
        tell_why_off(self.revert_button, self.tr("Nothing has changed since it was saved"))
        self.menu = self._make_menu()
        self.menu_button = Button("", ButtonLook.FLAT, "ellipsis", self)
        self.menu_button.setAccessibleName(self.tr("More about this agent"))
        self.menu_button.setToolTip(self.tr("More"))
        self.menu_button.opens(self.menu)
        self.close_button = Button("", ButtonLook.FLAT, "x", self)
        self.close_button.setAccessibleName(self.tr("Close the agent"))
        self.close_button.setToolTip(self.tr("Close; what is unsaved is kept until you save or quit"))
        self.save_button.clicked.connect(self.save_requested)
        self.revert_button.clicked.connect(self.revert_requested)
        self.close_button.clicked.connect(self.close_requested)
        self._arrange()
        self.setBackgroundRole(QPalette.ColorRole.Base)
        self.setAutoFillBackground(True)
        self.setAccessibleName(self.tr("Agent"))

    def _arrange(self) -> None:
        first = QHBoxLayout()
        first.setSpacing(8)
        first.addWidget(self.name)
        first.addWidget(self.state)
        first.addStretch(1)
        first.addWidget(self.others)
        first.addWidget(self.save_button)
        first.addWidget(self.revert_button)
        buttons = QHBoxLayout()
        buttons.setSpacing(0)
        buttons.addWidget(self.menu_button)
        buttons.addWidget(self.close_button)
        first.addLayout(buttons)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(16, 8, 8, 8)
        layout.setSpacing(0)
        layout.addLayout(first)
        layout.addWidget(self.path)

    def _make_menu(self) -> QMenu:
        menu = QMenu(self)
        key = QKeySequence.StandardKey

        def add(text: str, icon_name: str = "", shortcut: QKeySequence.StandardKey | None = None) -> QAction:
            action = menu.addAction(text)
            if icon_name:
                action.setIcon(icon(icon_name, "quiet"))
            if shortcut is not None:
                # Only said here: the keys are the editor's own while it has the focus.
                native = QKeySequence.SequenceFormat.NativeText
                action.setText(f"{text}\t{QKeySequence(shortcut).toString(native)}")
            return action

        self.undo = add(self.tr("&Undo"), "undo-2", key.Undo)
        self.redo = add(self.tr("&Redo"), "redo-2", key.Redo)
        self.find_action = add(self.tr("&Find…"), "search", key.Find)
        menu.addSeparator()
        self.open_elsewhere = add(self.tr("&Open in another editor"), "external-link")
        self.show_folder = add(self.tr("&Show its folder"), "folder-open")
        menu.addSeparator()
        self.duplicate = add(self.tr("&Duplicate…"), "copy")
        self.delete = add(self.tr("De&lete…"), "trash-2")
        return menu

    def show_agent(self, name: str, path: Path) -> None:
        """Say whose file it is."""
        self.name.set_text(name)
        self.path.set_text(str(path))
        self.path.setAccessibleName(self.tr("File: {0}").format(path))

    def show_state(
        self, *, modified: bool, can_save: bool, is_example: bool, waits: bool = False, refused: str = ""
    ) -> None:
        """Say whether it is saved, and offer what can be done. `waits`: it was changed on disk, too, and the
        user has to decide first. `refused`: fields that have something which cannot be saved."""
        if is_example:
            self.state.setText(self.tr("read-only"))
        else:
            self.state.setText(self.tr("• unsaved") if modified else self.tr("saved"))
        self.state.setFont(font(bold=modified))
        role = QPalette.ColorRole.Text if modified else QPalette.ColorRole.PlaceholderText
        self.state.setForegroundRole(role)
        self.save_button.setEnabled(modified and can_save)
        if waits:
            tip = self.tr("Another program changed the file: decide above which of both is kept")
        elif not modified:
            tip = self.tr("Nothing has changed since it was saved")
        elif refused:
            tip = self.tr("Put {0} right first: what stands there cannot be saved").format(refused)
        else:
            key = QKeySequence(QKeySequence.StandardKey.Save)
            native = key.toString(QKeySequence.SequenceFormat.NativeText)
            tip = self.tr("Save this agent ({0} while you are in here)").format(native)
        self.save_button.setToolTip(plain_tool_tip(tip))
        self.save_button.setAccessibleDescription(tip)
        self.save_button.set_look(ButtonLook.FILLED if modified and can_save else ButtonLook.OUTLINED)
        self.revert_button.setEnabled(modified)
        self.save_button.setVisible(not is_example)
        self.revert_button.setVisible(not is_example)

    def show_others(self, others: Sequence[tuple[str, Path]]) -> None:
        """Offer the other agents that are unsaved, by name and file."""
        self.others_menu.clear()
        for name, path in others:
            action = self.others_menu.addAction(name.replace("&", "&&"))
            action.setData(str(path))
        self.others.setText(self.tr("{0} more unsaved").format(len(others)))
        self.others.setVisible(bool(others))

    @Slot(QAction)
    def _choose_other(self, action: QAction) -> None:
        self.other_chosen.emit(Path(str(action.data())))


class _QuietPath(ElidedLabel):
    """A path below a title."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent=parent)
        self.setFont(font(TextSize.SMALL))

    @paint_method
    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802
        del event
        with QPainter(self) as painter:
            painter.setPen(theme().color("quiet"))
            text = self.fontMetrics().elidedText(self.text, Qt.TextElideMode.ElideMiddle, self.width())
            painter.drawText(self.rect(), Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, text)
