"""The front matter of an agent as a form. Every field says what holds while it is empty."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from pathlib import Path

from PySide6.QtCore import QEvent, QObject, Qt, Signal, Slot
from PySide6.QtGui import QAccessible, QFontMetrics, QKeyEvent, QKeySequence, QPalette, QResizeEvent
from PySide6.QtWidgets import QCompleter, QGridLayout, QLabel, QLineEdit, QScrollArea, QVBoxLayout, QWidget

from app import field_text
from app.agent_editor.draft_edits import RefusedField
from app.buttons import Button, ButtonLook
from app.document import WorkflowDocument
from app.fields import FIELD_HEIGHT
from app.form_rows import Choice, ChoiceRow, Row, TextRow
from app.outline import Unfinished
from app.reading_text import harmless
from app.scroll_bar import use_thin_scroll_bars
from app.theme import TextSize, font, is_appearance_event
from app.why_not import tell_why_off
from core.agent_definition import SUGGESTED_ROLES, AgentDefinition
from core.agent_file import OWN_KEYS
from core.settings_keys import Origin, Setting

_MARGIN, _SPACING = 16, 12
_FIELD_LETTERS = 26
_LEAST_NOTE = 150
"""Pixels for notes beside the fields; where there are less, they stand below."""
_UNBOUNDED = (1 << 24) - 1
_MOST_OTHERS = 8
"""Keys without a field that are named."""
_FLAGGED = ("claude", "codex", "gemini")
"""Backends that take arguments from an agent's file."""


class AgentForm(QScrollArea):
    """One row for each key that OpenLoop knows.

    Signals: `edited(str, object, str)`: a key, its value (None: it goes), and the field in words;
    `refused(str, Unfinished, str)`: a key, a text that cannot be its value, and the field as it is called;
    `finished()`: the user left a field; `undo_requested()`, `redo_requested()`; `others_requested()`: show
    the keys that have no field.
    """

    accessible_role = QAccessible.Role.Grouping

    edited = Signal(str, object, str)
    refused = Signal(str, object, str)
    finished = Signal()
    undo_requested = Signal()
    redo_requested = Signal()
    others_requested = Signal()

    def __init__(self, document: WorkflowDocument, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._document = document
        self._agent: AgentDefinition | None = None
        self._keys: Collection[str] = ()
        self._path = Path()
        self._refused: Mapping[str, Unfinished] = {}
        self._missing: Mapping[str, str] = {}
        self._narrow: bool | None = None
        self._name_note: Callable[[], str] = str
        self._by_control: dict[QObject, Row] = {}
        self.rows: dict[str, Row] = {}
        self._order: list[str] = []
        self.setWidgetResizable(True)
        self.setFrameShape(QScrollArea.Shape.NoFrame)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        use_thin_scroll_bars(self, QPalette.ColorRole.Base)
        self.body = QWidget()
        self.body.setBackgroundRole(QPalette.ColorRole.Base)
        self.body.setAutoFillBackground(True)
        self._grid = QGridLayout()
        self._grid.setHorizontalSpacing(_SPACING)
        self._grid.setVerticalSpacing(0)
        self._grid.setColumnStretch(2, 1)
        self.others = QLabel(self.body)
        self.others.setTextFormat(Qt.TextFormat.PlainText)
        self.others.setFont(font(TextSize.SMALL))
        self.others.setWordWrap(True)
        self.others.setForegroundRole(QPalette.ColorRole.PlaceholderText)
        self.show_others = Button(self.tr("Show them"), ButtonLook.LINK, "", self.body)
        self.show_others.clicked.connect(self.others_requested)
        outer = QVBoxLayout(self.body)
        outer.setContentsMargins(_MARGIN, 12, _MARGIN, 12)
        outer.setSpacing(4)
        outer.addLayout(self._grid)
        outer.addWidget(self.others)
        outer.addWidget(self.show_others, 0, Qt.AlignmentFlag.AlignLeft)
        outer.addStretch(1)
        self.setWidget(self.body)
        self.setAccessibleName(self.tr("Agent"))
        tell_why_off(self.body, self.tr("This agent comes with OpenLoop and is not changed in place."))
        self._make_rows()

    # --- rows ------------------------------------------------------------------------------------------

    def _make_rows(self) -> None:
        text = (field_text.parse_text, _one_line)
        name = TextRow(self.tr("Name"), self.body, *text)
        name.placeholder(lambda: self._path.stem).explain(self._about_name)
        self._add("name", name)
        role = TextRow(self.tr("Role"), self.body, *text)
        role.explain(self._about_role)
        completer = QCompleter(SUGGESTED_ROLES, role.field)
        completer.setCaseSensitivity(Qt.CaseSensitivity.CaseInsensitive)
        completer.activated.connect(role.field.textEdited)
        role.field.setCompleter(completer)
        self._add("role", role)
        about = TextRow(self.tr("Description"), self.body, *text)
        about.placeholder(lambda: self.tr("What it is for, in one sentence"))
        self._add("description", about)
        completes = ChoiceRow(self.tr("Completes"), self.body, [])
        completes.explain(self._about_completing)
        self._add("can_complete", completes)
        backend = ChoiceRow(self.tr("Runs with"), self.body, [])
        backend.explain(self._about_backend)
        self._add("backend", backend)
        model = TextRow(self.tr("Model"), self.body, *text)
        model.placeholder(lambda: self._inherited_of_cli("model"))
        model.explain(lambda: self._about("model", "opencode_defaults.model"))
        self._add("model", model)
        variant = TextRow(self.tr("Variant"), self.body, *text)
        variant.placeholder(lambda: self._inherited_of_cli("variant"))
        variant.explain(lambda: self._about("variant", "opencode_defaults.variant"))
        self._add("variant", variant)
        limit = TextRow(
            self.tr("Time limit"), self.body, field_text.parse_duration, field_text.write_duration
        )
        limit.placeholder(lambda: field_text.write_duration(self._document.settings_in_force.agent_timeout))
        limit.explain(lambda: self._about("timeout", "agent_timeout"))
        self._add("timeout", limit)
        for key, label, note in (
            (
                "command",
                self.tr("Command"),
                self.tr("the program and its arguments; it gets the prompt as input"),
            ),
            ("extra_args", self.tr("Extra arguments"), self.tr("for the CLI, quoted as in a shell")),
        ):
            row = TextRow(label, self.body, _parse_arguments, _write_arguments, mono=True)
            row.explain(lambda note=note: note)  # type: ignore[misc]
            self._add(key, row)

    def _add(self, key: str, row: Row) -> None:
        at = 4 * len(self._order)
        self._order.append(key)
        self.rows[key] = row
        row.label.setMinimumHeight(FIELD_HEIGHT)
        row.label.setWordWrap(True)
        row.error.setContentsMargins(0, 4, 0, 0)
        self._grid.addWidget(row.label, at, 0, Qt.AlignmentFlag.AlignTop)
        self._grid.addWidget(row.error, at + 1, 1, 1, 2)
        label = row.label.text().lower()
        row.edited.connect(lambda value: self.edited.emit(key, value, label))
        if isinstance(row, TextRow):
            name = row.label.text()
            row.keep_refused(lambda typed: self.refused.emit(key, typed, name))
        row.finished.connect(self.finished)
        # Installed last, so it is asked first: the keys of undo are the draft's, not the field's.
        row.control.installEventFilter(self)
        self._by_control[row.control] = row

    def _place(self, at: int, row: Row, *, narrow: bool) -> None:
        self._grid.removeWidget(row.place)
        span = 2 if narrow or row in (self.rows["description"], self.rows["command"]) else 1
        self._grid.addWidget(row.place, at, 1, 1, span, Qt.AlignmentFlag.AlignTop)
        row.place_note(self._grid, at, below=narrow or span == 2, gap=4)
        self._grid.setRowMinimumHeight(at + 3, 8)

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        """Labels get the room that their words need, in whatever language; notes what is left."""
        rows = [self.rows[key] for key in self._order]
        room = self.viewport().width() - 2 * _MARGIN
        metrics = QFontMetrics(rows[0].label.font())
        words = [word for row in rows for word in row.label.text().split()]
        longest = max(metrics.horizontalAdvance(row.label.text()) for row in rows)
        widest_word = max(metrics.horizontalAdvance(word) for word in words)
        labels = max(widest_word, min(longest, room // 3)) + 4
        fields = max(metrics.averageCharWidth() * _FIELD_LETTERS, (room - labels) * 2 // 5)
        fields = max(fields, *(row.place.sizeHint().width() for row in rows if isinstance(row, ChoiceRow)))
        narrow = room - labels - fields - 2 * _SPACING < _LEAST_NOTE
        for row in rows:
            row.label.setFixedWidth(labels)
            whole = narrow or row in (self.rows["description"], self.rows["command"])
            row.place.setMinimumWidth(0 if whole else fields)
            row.place.setMaximumWidth(_UNBOUNDED if whole else fields)
        if narrow is not self._narrow:
            self._narrow = narrow
            for number, row in enumerate(rows):
                self._place(4 * number, row, narrow=narrow)
            self._show_rows()

    # --- what is shown ---------------------------------------------------------------------------------

    def show_agent(
        self,
        agent: AgentDefinition | None,
        keys: Collection[str],
        path: Path,
        name_note: Callable[[], str],
        refused: Iterable[RefusedField] = (),
    ) -> None:
        """Show what the front matter says, which has these keys. None: it cannot be read. `refused`: what
        stands in fields beside it."""
        self._refused = {each.key: Unfinished(each.text, each.mistake) for each in refused}
        self._agent = agent
        self._keys = keys
        self._path = path
        self._name_note = name_note
        self.refresh()

    def show_missing(self, missing: Mapping[str, str]) -> None:
        """Say which backends are not installed."""
        self._missing = missing
        self.refresh()

    @Slot()
    def refresh(self) -> None:
        """Say again what holds."""
        agent = self._agent
        self.body.setEnabled(agent is not None and self.isEnabled())
        if agent is None:
            return
        self._offer_choices(agent)
        extra = agent.model_extra or {}
        for key in self._order:
            # What holds without a word of the file, such as its own name, is not in the field.
            value = getattr(agent, key, extra.get(key)) if key in self._keys else None
            self.rows[key].show_value(self._refused.get(key) or (value if value != "" else None))
            self.rows[key].refresh_note()
            field = self.rows[key].control
            if isinstance(field, QLineEdit) and not field.hasFocus():
                # Of a long text the beginning.
                field.setCursorPosition(0)
        self._show_rows()
        others = [key for key in extra if key not in OWN_KEYS or key in ("demo", "prompt")]
        others += ["prompt"] if agent.prompt else []
        names = ", ".join(_shown_key(key) for key in others[:_MOST_OTHERS])
        if len(others) > _MOST_OTHERS:
            names = self.tr("{0} and {1} more").format(names, len(others) - _MOST_OTHERS)
        self.others.setText(self.tr("Also in the file: {0}").format(harmless(names)))
        for widget in (self.others, self.show_others):
            widget.setVisible(bool(others))

    def _offer_choices(self, agent: AgentDefinition) -> None:
        by_role = agent.model_copy(update={"can_complete": None}).may_complete
        completes = self.rows["can_complete"]
        assert isinstance(completes, ChoiceRow)
        completes.set_choices(
            [
                Choice(self.tr("As its role: yes") if by_role else self.tr("As its role: no"), None),
                Choice(self.tr("May complete the loop"), True),
                Choice(self.tr("May not complete it"), False),
            ]
        )
        backend = self.rows["backend"]
        assert isinstance(backend, ChoiceRow)
        names = list(self._document.known_backends)
        if agent.backend is not None and agent.backend not in names:
            names.append(agent.backend)
        inherited = self._document.settings_in_force.backend or "opencode"
        choices = [Choice(self._with_state(inherited, self.tr("{0} (inherited)").format(inherited)), None)]
        choices += [Choice(self._with_state(name, name), name) for name in names]
        backend.set_choices(choices)
        # A backend that is not there has longer words.
        self._fit()

    def _with_state(self, name: str, label: str) -> str:
        return self.tr("{0} – not installed").format(label) if self._missing.get(name) else label

    def _show_rows(self) -> None:
        """Rows for a backend that it does not run with are only there where the file has their keys, or
        something is typed into them that has to be put right."""
        agent = self._agent
        if agent is None:
            return
        backend = self._backend(agent)
        extra = agent.model_extra or {}
        for key, wanted in (
            ("command", backend == "command" or "command" in extra),
            ("extra_args", backend in _FLAGGED or "extra_args" in extra),
        ):
            wanted = wanted or key in self._refused
            row = self.rows[key]
            for widget in (row.label, row.place, row.note):
                widget.setVisible(wanted and (widget is not row.note or bool(row.note.text())))
            row.error.setVisible(wanted and bool(row.error.text()))
            self._grid.setRowMinimumHeight(4 * self._order.index(key) + 3, 8 if wanted else 0)

    def refuse(self, key: str, mistake: str) -> None:
        """What was put into a field cannot be written into the file: a text stays to be put right, a choice
        goes back."""
        row = self.rows[key]
        if isinstance(row, TextRow):
            typed = Unfinished(row.field.text(), mistake)
            row.show_value(typed)
            self.refused.emit(key, typed, row.label.text())
        else:
            self.refresh()
            row.show_error(mistake)

    def go_to(self, key: str) -> bool:
        """Give a key's field the focus; False: it has none."""
        row = self.rows.get(key)
        if row is None or row.place.isHidden():
            return False
        self._grid.activate()
        self.ensureWidgetVisible(row.place, 0, FIELD_HEIGHT)
        row.take_focus()
        return True

    # --- what holds ------------------------------------------------------------------------------------

    def _about_name(self) -> str:
        return self._name_note()

    def _about_role(self) -> str:
        agent = self._agent
        if agent is None or not agent.role:
            return self.tr("auditor, approver and finalizer may complete the loop")
        return ""

    def _about_completing(self) -> str:
        agent = self._agent
        if agent is None:
            return ""
        if agent.may_complete:
            return self.tr("its “is_complete” ends the loop")
        return self.tr("its “is_complete” does not count")

    def _backend(self, agent: AgentDefinition) -> str:
        return agent.backend or self._document.settings_in_force.backend or "opencode"

    def _about_backend(self) -> str:
        agent = self._agent
        if agent is None:
            return ""
        name = self._backend(agent)
        why_not = self._missing.get(name, "")
        if why_not:
            return why_not
        if name not in self._document.known_backends and self._document.known_backends:
            return self.tr("There is no backend called {0}.").format(name)
        return self._about("backend", "backend")

    def _about(self, key: str, setting: str) -> str:
        agent = self._agent
        if agent is None or getattr(agent, key) is not None:
            return ""
        held = self._document.in_force(setting)
        if self._is_for_another(setting):
            if held.value in (None, ""):
                return ""
            return self.tr("{0} is for agents that run with opencode").format(harmless(str(held.value)))
        # Where nobody says anything the CLI decides, and then the field says that.
        decides = setting.startswith("opencode_defaults.") and held.value in (None, "")
        return "" if decides else self._from(held)

    def _from(self, setting: Setting) -> str:
        if setting.origin is Origin.WORKFLOW:
            return self.tr("from the workflow")
        if setting.origin is Origin.DEFAULT:
            return self.tr("the usual one")
        if setting.origin is Origin.USER:
            return self.tr("from your settings")
        source = Path(setting.source).name if setting.origin is Origin.PROJECT else setting.source
        return self.tr("from {0}").format(source)

    def _is_for_another(self, setting: str) -> bool:
        """Whether the agent runs with a backend for which this setting is not."""
        agent = self._agent
        return (
            setting.startswith("opencode_defaults.")
            and agent is not None
            and self._backend(agent) != "opencode"
        )

    def _inherited_of_cli(self, key: str) -> str:
        setting = f"opencode_defaults.{key}"
        held = "" if self._is_for_another(setting) else self._inherited(setting)
        return held or self.tr("as the backend is set up")

    def _inherited(self, setting: str) -> str:
        return field_text.write_plain(self._document.in_force(setting).value)

    # --- keys ------------------------------------------------------------------------------------------

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802
        row = self._by_control.get(watched)
        if row is not None and isinstance(event, QKeyEvent):
            undo = event.matches(QKeySequence.StandardKey.Undo)
            if undo or event.matches(QKeySequence.StandardKey.Redo):
                if event.type() == QEvent.Type.ShortcutOverride:
                    event.accept()
                    return True
                if event.type() == QEvent.Type.KeyPress:
                    (self.undo_requested if undo else self.redo_requested).emit()
                    return True
        return super().eventFilter(watched, event)

    def changeEvent(self, event: QEvent) -> None:  # noqa: N802
        super().changeEvent(event)
        if is_appearance_event(event):
            self.viewport().update()


def _one_line(value: object) -> str:
    return " ".join(str(value).split()) if value is not None else ""


def _shown_key(key: str) -> str:
    return key if len(key) <= 24 else f"{key[:24]}…"


def _parse_arguments(text: str) -> list[str] | None:
    return field_text.parse_arguments(text) or None


def _write_arguments(value: object) -> str:
    return value if isinstance(value, str) else field_text.write_arguments(value)
