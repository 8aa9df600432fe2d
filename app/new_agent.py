"""A new agent: what it is called, where its file goes, and which template it begins with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication, Qt, Signal, Slot
from PySide6.QtGui import QFontMetrics
from PySide6.QtWidgets import QCompleter, QDialog, QGridLayout, QVBoxLayout, QWidget

import resources
from app import field_text
from app.buttons import Button, ButtonLook
from app.fields import FIELD_HEIGHT
from app.flow_layout import FlowLayout
from app.form_rows import Choice, ChoiceRow, ErrorLabel, Row, TextRow
from app.labels import ElidedLabel
from app.tab_order import ReadingOrder
from app.theme import GRID
from core.agent_definition import COMPLETING_ROLES, SUGGESTED_ROLES
from core.agent_renaming import LONGEST_NAME, file_name
from core.agent_writing import AgentText, FieldValue

if TYPE_CHECKING:
    from core.agent import AgentLibrary

TEMPLATES = ("auditor", "author", "tester", "finalizer", "empty")
_WIDTH = 480
_NOT_IN_NAMES = '/\\:*?"<>|'
"""Signs that a file's name cannot have on every system."""


@dataclass(frozen=True, slots=True)
class Place:
    """A folder that an agent can be made in, and what it is called."""

    folder: Path
    label: str


@dataclass(frozen=True, slots=True)
class NewAgent:
    """What the user decided: the file to be made and its text."""

    path: Path
    text: str


def template_text(template: str, name: str, role: str | None, backend: str | None) -> str:
    """The text of a new agent."""
    text = resources.agent_template(template).replace("{name}", "\0")
    changes: dict[str, FieldValue] = {"name": name, "backend": backend}
    if role is not None:
        changes["role"] = role
    return AgentText.parse(text.replace("\0", "agent", 1)).with_fields(changes).text.replace("\0", name)


def tr(text: str) -> str:
    """A text of this module in the user's language."""
    return QCoreApplication.translate("new_agent", text)


def name_problem(name: str) -> str:
    """Why no agent can be called so, as a sentence; empty: it can."""
    if len(name) > LONGEST_NAME:
        return tr("A name has at most {0} characters.").format(LONGEST_NAME)
    if any(not character.isprintable() for character in name):
        return tr("There is a character in it that cannot be seen.")
    if name.startswith(".") or any(sign in name for sign in _NOT_IN_NAMES):
        return tr("A name has none of {0} in it and does not begin with a dot.").format(
            " ".join(_NOT_IN_NAMES)
        )
    return ""


class NewAgentDialog(ReadingOrder, QDialog):
    """Asks for name, role, template, folder and backend. `copy_of`: the text of an agent that it begins as.

    Signals: `decided(NewAgent)`. It deletes itself.
    """

    decided = Signal(object)

    def __init__(
        self,
        places: Sequence[Place],
        library: AgentLibrary | None,
        backends: Sequence[str],
        parent: QWidget,
        *,
        copy_of: str | None = None,
        name: str = "",
    ) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowModality(Qt.WindowModality.WindowModal)
        self.setWindowTitle(self.tr("New agent") if copy_of is None else self.tr("Copy an agent"))
        self._library = library
        self._copy_of = copy_of
        self._values: dict[str, object] = {"name": name or None}
        self._role_is_own = self._has_problem = False
        self._grid = QGridLayout()
        self._grid.setHorizontalSpacing(3 * GRID)
        self._grid.setVerticalSpacing(0)
        self._grid.setColumnStretch(1, 1)
        self.rows: dict[str, Row] = {}
        self._make_rows(places, backends)
        self.target = ElidedLabel(parent=self)
        self.error = ErrorLabel(self)
        make = self.tr("Make the agent") if copy_of is None else self.tr("Make the copy")
        self.make_button = Button(make, ButtonLook.FILLED, "", self)
        self.make_button.setDefault(True)
        self.cancel_button = Button(self.tr("Cancel"), ButtonLook.OUTLINED, "", self)
        self.make_button.clicked.connect(self._decide)
        self.cancel_button.clicked.connect(self.reject)
        self._arrange(parent)
        self._check()

    def _make_rows(self, places: Sequence[Place], backends: Sequence[str]) -> None:
        name = TextRow(self.tr("Name"), self, field_text.parse_text, field_text.write_plain)
        name.placeholder(lambda: self.tr("such as security_auditor"))
        name.explain(self._about_name)
        self._add("name", name)
        if self._copy_of is None:
            template = ChoiceRow(self.tr("Begins as"), self, self._template_choices())
            self._add("template", template, TEMPLATES[0])
            role = TextRow(self.tr("Role"), self, field_text.parse_text, field_text.write_plain)
            completer = QCompleter(SUGGESTED_ROLES, role.field)
            completer.setCaseSensitivity(Qt.CaseSensitivity.CaseInsensitive)
            completer.activated.connect(role.field.textEdited)
            role.field.setCompleter(completer)
            role.explain(self._about_role)
            self._add("role", role, TEMPLATES[0])
        folders = [Choice(place.label, place.folder) for place in places]
        self._add("folder", ChoiceRow(self.tr("Folder"), self, folders), places[0].folder if places else None)
        if self._copy_of is None:
            choices = [Choice(self.tr("as the workflow says"), None)]
            choices += [Choice(backend, backend) for backend in backends]
            self._add("backend", ChoiceRow(self.tr("Runs with"), self, choices))

    def _template_choices(self) -> list[Choice]:
        words = {
            "auditor": self.tr("Auditor: judges and scores"),
            "author": self.tr("Author: makes the changes"),
            "tester": self.tr("Tester: runs and writes tests"),
            "finalizer": self.tr("Finalizer: ends the work"),
            "empty": self.tr("Empty file"),
        }
        return [Choice(words[template], template) for template in TEMPLATES]

    def _add(self, key: str, row: Row, value: object = None) -> None:
        at = 4 * len(self.rows)
        self.rows[key] = row
        self._values.setdefault(key, value)
        row.label.setMinimumHeight(FIELD_HEIGHT)
        self._grid.addWidget(row.label, at, 0, Qt.AlignmentFlag.AlignTop)
        self._grid.addWidget(row.place, at, 1, 1, 2)
        self._grid.addWidget(row.error, at + 1, 1, 1, 2)
        row.place_note(self._grid, at, below=True, gap=4)
        self._grid.setRowMinimumHeight(at + 3, 2 * GRID)
        row.show_value(self._values[key])
        row.refresh_note()
        row.edited.connect(lambda value: self._take(key, value))

    def _arrange(self, parent: QWidget) -> None:
        buttons = FlowLayout()
        buttons.addWidget(self.make_button)
        buttons.addWidget(self.cancel_button)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(4 * GRID, 4 * GRID, 4 * GRID, 4 * GRID)
        layout.setSpacing(2 * GRID)
        layout.addLayout(self._grid)
        layout.addWidget(self.target)
        layout.addWidget(self.error)
        layout.addStretch(1)
        layout.addLayout(buttons)
        letters = QFontMetrics(self.font()).averageCharWidth()
        self.setMinimumWidth(min(max(_WIDTH, 60 * letters), parent.window().width() - 40))

    # --- what is decided -------------------------------------------------------------------------------

    def _take(self, key: str, value: object) -> None:
        self._values[key] = value
        if key == "role":
            self._role_is_own = True
        elif key == "template" and not self._role_is_own:
            self._values["role"] = None if value == "empty" else value
            self.rows["role"].show_value(self._values["role"])
        self._check()

    def _about_name(self) -> str:
        name = self._values.get("name")
        if self._has_problem or not isinstance(name, str) or self._library is None:
            return ""
        if self._library.get(name) is not None:
            return self.tr("An installed agent has this name; the new one is used instead of it.")
        return ""

    def _about_role(self) -> str:
        role = self._values.get("role")
        if isinstance(role, str) and role.strip().lower() in COMPLETING_ROLES:
            return self.tr("may complete the loop")
        return self.tr("cannot complete the loop")

    @property
    def path(self) -> Path | None:
        """The file that would be made; None: there is no name or folder yet."""
        name, folder = self._values.get("name"), self._values.get("folder")
        if not isinstance(name, str) or not isinstance(folder, Path):
            return None
        return folder / file_name(name)

    def _check(self) -> None:
        """Say at once what is wrong with the name, and where the file would be."""
        if "role" in self.rows:
            self.rows["role"].refresh_note()
        name, path = self._values.get("name"), self.path
        problem = self._problem(name, path) if isinstance(name, str) and path is not None else ""
        self._has_problem = bool(problem)
        self.rows["name"].refresh_note()
        self.rows["name"].show_error(problem)
        will_be = path is not None and not problem
        self.target.set_text(self.tr("File: {0}").format(path) if will_be else "")
        self.make_button.setEnabled(path is not None and not problem)
        self.error.hide()
        self._grow()

    def _grow(self) -> None:
        """A dialog does not ask its layout again when words in it come to need another line."""
        layout = self.layout()
        if layout is not None and layout.hasHeightForWidth():
            self.resize(self.width(), max(self.height(), layout.totalHeightForWidth(self.width())))

    def _problem(self, name: str, path: Path) -> str:
        if problem := name_problem(name):
            return problem
        other = self._library.get(name) if self._library is not None else None
        if other is not None and other.path is not None and not _is_shipped(other.path):
            return self.tr("There is already an agent called {0}.").format(name)
        if path.exists():
            return self.tr("There is already a file {0} in this folder.").format(path.name)
        return ""

    @Slot()
    def _decide(self) -> None:
        path, name = self.path, self._values.get("name")
        if path is None or not isinstance(name, str) or not self.make_button.isEnabled():
            return
        if self._copy_of is not None:
            text = AgentText.parse(self._copy_of).with_fields({"name": name}).text
        else:
            role, backend = self._values.get("role"), self._values.get("backend")
            text = template_text(
                str(self._values["template"]),
                name,
                role if isinstance(role, str) else None,
                backend if isinstance(backend, str) else None,
            )
        self.decided.emit(NewAgent(path, text))

    def say_error(self, text: str) -> None:
        """It could not be made; the dialog stays."""
        self.error.setText(text)
        self.error.show()


def _is_shipped(path: Path) -> bool:
    return path.is_relative_to(resources.folder().absolute())
