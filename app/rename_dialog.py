"""Asks what an agent is to be called, and says what that changes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication, Qt, Signal, Slot
from PySide6.QtGui import QFontMetrics, QPalette
from PySide6.QtWidgets import QDialog, QGridLayout, QLabel, QVBoxLayout, QWidget

from app import field_text
from app.buttons import Button, ButtonLook
from app.fields import FIELD_HEIGHT
from app.flow_layout import FlowLayout
from app.form_rows import ErrorLabel, TextRow
from app.new_agent import name_problem
from app.reading_text import harmless
from app.tab_order import ReadingOrder
from app.theme import GRID
from core.agent_renaming import renamed_path

if TYPE_CHECKING:
    from core.agent import AgentLibrary

_WIDTH = 440


class RenameDialog(ReadingOrder, QDialog):
    """The name of one agent. `uses`: at how many places the open workflow, called `title`, has it.

    Signals: `decided(str)` with the new name. It deletes itself.
    """

    decided = Signal(str)

    def __init__(
        self, name: str, path: Path, library: AgentLibrary | None, uses: int, title: str, parent: QWidget
    ) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowModality(Qt.WindowModality.WindowModal)
        self.setWindowTitle(self.tr("Rename an agent"))
        self._old, self._path, self._library = name, path, library
        self._uses, self._title = uses, title
        self._others: Sequence[Path] = ()
        self.name = name
        """What stands in the field."""
        self.row = TextRow(self.tr("New name"), self, lambda text: text.strip(), field_text.write_plain)
        self.row.show_value(name)
        self.row.edited.connect(self._take)
        self.about = QLabel(self)
        self.about.setTextFormat(Qt.TextFormat.PlainText)
        self.about.setWordWrap(True)
        self.about.setForegroundRole(QPalette.ColorRole.PlaceholderText)
        self.error = ErrorLabel(self)
        self.rename_button = Button(self.tr("Rename"), ButtonLook.FILLED, "", self)
        self.rename_button.setDefault(True)
        self.cancel_button = Button(self.tr("Cancel"), ButtonLook.OUTLINED, "", self)
        self.rename_button.clicked.connect(self._decide)
        self.cancel_button.clicked.connect(self.reject)
        self._arrange(parent)
        self._check()
        self.row.take_focus()

    def _arrange(self, parent: QWidget) -> None:
        grid = QGridLayout()
        grid.setHorizontalSpacing(3 * GRID)
        grid.setVerticalSpacing(0)
        grid.setColumnStretch(1, 1)
        self.row.label.setMinimumHeight(FIELD_HEIGHT)
        grid.addWidget(self.row.label, 0, 0, Qt.AlignmentFlag.AlignTop)
        grid.addWidget(self.row.place, 0, 1)
        grid.addWidget(self.row.error, 1, 1)
        self.row.note.hide()
        buttons = FlowLayout()
        buttons.addWidget(self.rename_button)
        buttons.addWidget(self.cancel_button)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(4 * GRID, 4 * GRID, 4 * GRID, 4 * GRID)
        layout.setSpacing(2 * GRID)
        layout.addLayout(grid)
        layout.addWidget(self.about)
        layout.addWidget(self.error)
        layout.addStretch(1)
        layout.addLayout(buttons)
        letters = QFontMetrics(self.font()).averageCharWidth()
        self.setMinimumWidth(min(max(_WIDTH, 56 * letters), parent.window().width() - 40))

    def tell_others(self, others: Sequence[Path]) -> None:
        """Other workflows use the agent, too."""
        self._others = others
        self._check()

    @Slot(object)
    def _take(self, value: object) -> None:
        self.name = str(value)
        self._check()

    def _check(self) -> None:
        """Say at once what is wrong with the name, and what it changes."""
        changed = bool(self.name) and self.name != self._old
        problem = self._problem() if changed else ""
        self.row.show_error(problem)
        self.about.setText(self._consequences(changed and not problem))
        self.rename_button.setEnabled(changed and not problem)
        self.error.hide()
        self._grow()

    def _problem(self) -> str:
        if problem := name_problem(self.name):
            return problem
        other = self._library.get(self.name) if self._library is not None else None
        if other is not None and other.path != self._path:
            return self.tr("There is already an agent called {0}.").format(self.name)
        target = renamed_path(self._path, self._old, self.name)
        if target != self._path and target.exists() and not target.samefile(self._path):
            return self.tr("There is already a file {0} in this folder.").format(target.name)
        return ""

    def _consequences(self, named: bool) -> str:
        lines: list[str] = []
        if named:
            target = renamed_path(self._path, self._old, self.name)
            if target == self._path:
                lines.append(self.tr("Its file stays {0}.").format(target.name))
            else:
                lines.append(self.tr("Its file becomes {0}.").format(target.name))
        if self._uses == 1:
            lines.append(self.tr("{0} follows at the place where it uses it.").format(self._title))
        elif self._uses:
            text = self.tr("{0} follows at the {1} places where it uses it.")
            lines.append(text.format(self._title, self._uses))
        if others := names_of(self._others):
            lines.append(others_in_words(others))
        return harmless("\n".join(lines))

    def _grow(self) -> None:
        """A dialog does not ask its layout again when words in it come to need another line."""
        layout = self.layout()
        if layout is not None and layout.hasHeightForWidth():
            self.resize(self.width(), max(self.height(), layout.totalHeightForWidth(self.width())))

    @Slot()
    def _decide(self) -> None:
        if self.rename_button.isEnabled():
            self.decided.emit(self.name)

    def say_error(self, text: str) -> None:
        """It could not be renamed; the dialog stays."""
        self.error.setText(text)
        self.error.show()
        self._grow()


def tr(text: str) -> str:
    """A text of this module in the user's language."""
    return QCoreApplication.translate("rename_agent", text)


def names_of(files: Sequence[Path]) -> str:
    """The names of files, three at most and how many more there are."""
    names = ", ".join(file.name for file in files[:3])
    more = len(files) - 3
    return tr("{0} and {1} more").format(names, more) if more > 0 else names


def others_in_words(names: str) -> str:
    """What becomes of other workflows that use an agent."""
    return tr("Not changed, though this agent is used there, too: {0}.").format(names)
