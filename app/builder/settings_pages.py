"""The pages of settings: the workflow's, a group's, and an agent's at its place."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Slot
from PySide6.QtWidgets import QWidget

from app.builder import values, words
from app.builder.form import CheckRow, Choice, ChoiceRow, FormPage, Row, TextRow
from app.builder.merge_rules import MergeRules
from app.document import WorkflowDocument
from app.outline import AgentNode, GroupNode
from core.condition import NAMES, ConditionError, compile_condition, condition_in_words
from core.config import FanOutGroup
from core.state import MergeRule


class WorkflowPage(FormPage):
    """The workflow's own settings."""

    def __init__(self, document: WorkflowDocument, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._document = document
        self.merge_rules = MergeRules(self.body)
        self.merge_rules.changed_to.connect(self._set_merge)
        self._add_end()
        self._add_turns()
        self._add_places()
        self._add_opencode()
        self.section(self.tr("When two agents write the same"))
        self.add_widget(self.merge_rules)
        self.refresh()

    # --- rows ------------------------------------------------------------------------------------------

    def _text(
        self,
        label: str,
        key: str,
        parse: Callable[[str], object] = values.parse_text,
        write: Callable[[object], str] = values.write_plain,
        *,
        hint: str = "",
        note: Callable[[], str] = str,
        steps: bool = False,
        mono: bool = False,
        wide: bool = False,
    ) -> TextRow:
        row = TextRow(label, self.body, parse, write, steps=steps, mono=mono)
        row.placeholder(lambda: hint).explain(note)
        self._bind(row, key, wide=wide)
        return row

    def _choice(self, label: str, key: str, choices: list[Choice], note: Callable[[], str] = str) -> None:
        row = ChoiceRow(label, self.body, choices)
        row.explain(note)
        self._bind(row, key)

    def _bind(self, row: Row, key: str, *, wide: bool = False) -> None:
        def read() -> object:
            value: object = self._document.settings
            for part in key.split("."):
                value = getattr(value, part)
            return value

        label = row.label.text().lower()
        row.finished.connect(self._document.end_merging)
        self.add(row, read, lambda value: self._document.update_settings(label, {key: value}), wide=wide)

    def _add_end(self) -> None:
        self._text(
            self.tr("Name"),
            "name",
            lambda text: text.strip() or "workflow",
        )
        self._text(
            self.tr("Loops, at most"), "max_loops", values.parse_required_count, steps=True,
            note=lambda: self.tr("one pass over all steps of the loop is one"),
        )  # fmt: skip
        self.condition = self._text(
            self.tr("The loop ends when"),
            "end_state_condition",
            lambda text: text,
            mono=True,
            wide=True,
            note=self._condition_note,
        )
        self.condition.edited.connect(self._check_condition)
        row = CheckRow(self.tr("Finalization"), self.body, self.tr("also when the loop did not complete"))
        self._bind(row, "finalize_on_abort")

    def _add_turns(self) -> None:
        self.section(self.tr("Agents at work"))
        row = self._text(
            self.tr("At once"), "max_parallel_agents", values.parse_count, steps=True,
            note=lambda: self.tr("agents of the whole run that may work at the same time"),
        )  # fmt: skip
        row.placeholder(lambda: self.tr("{0} (processors)").format(self._processors()))
        self._text(
            self.tr("Time for an agent"),
            "agent_timeout",
            lambda text: values.parse_duration(text) or 0.0,
            values.write_duration,
            hint=self.tr("none"),
            note=lambda: self.tr("then it is stopped; “none” lets it work as long as it takes"),
        )
        self._choice(
            self.tr("When one fails"),
            "on_parallel_error",
            [
                Choice(self.tr("Stop the others"), "abort"),
                Choice(self.tr("Let the others finish"), "continue"),
            ],
            lambda: self.tr("in parallel groups; finished results are kept either way"),
        )
        self._text(
            self.tr("Try again"), "retries", values.parse_number, values.write_plain, steps=True,
            note=lambda: self.tr("times, after an overload or a broken connection"),
        )  # fmt: skip
        self._choice(
            self.tr("No state update"),
            "on_missing_state",
            [
                Choice(self.tr("Ask me"), "ask"),
                Choice(self.tr("Go on without it"), "continue"),
                Choice(self.tr("End the run"), "abort"),
            ],
            lambda: self.tr("when an agent does not answer with one after two corrections"),
        )
        self._text(
            self.tr("Budget"), "budget.max_cost_usd", values.parse_money, values.write_money,
            hint=self.tr("none"), note=lambda: self.tr("US dollars for a run"),
        )  # fmt: skip
        self._text(
            self.tr("Budget of a group"), "budget.max_cost_usd_per_group", values.parse_money,
            values.write_money, hint=self.tr("none"), note=lambda: self.tr("US dollars for one pass"),
        )  # fmt: skip
        self._text(
            self.tr("Tokens, at most"), "budget.max_tokens", values.parse_optional_number,
            hint=self.tr("none"), note=lambda: self.tr("of all agents together, for a run"),
        )  # fmt: skip

    def _add_places(self) -> None:
        self.section(self.tr("Where"))
        self._text(
            self.tr("Work folder"), "workdir", hint=self.tr("the workflow’s folder"),
            note=lambda: self.tr("where agents read and write files"),
        )  # fmt: skip
        self._choice(self.tr("Each agent works in"), "isolation", isolation_choices())
        self._text(
            self.tr("Log folder"), "log_dir", hint=".openloop",
            note=lambda: self.tr("in the work folder, where nothing else is said"),
        )  # fmt: skip
        self._text(
            self.tr("Agents folder"), "agents_dir", hint=self.tr("the usual one"),
            note=lambda: self.tr("where this workflow’s agents are found"),
        )  # fmt: skip
        self.backend = ChoiceRow(self.tr("Agents run with"), self.body, [])
        self.backend.explain(lambda: self.tr("where an agent does not say otherwise"))
        self._bind(self.backend, "backend")

    def _add_opencode(self) -> None:
        self.section(self.tr("opencode"))
        hint = self.tr("as opencode is set up")
        self._text(self.tr("Model"), "opencode_defaults.model", hint=hint)
        self._text(self.tr("Agent"), "opencode_defaults.agent", hint=hint)
        self._text(self.tr("Variant"), "opencode_defaults.variant", hint=hint)
        self._choice(
            self.tr("Plug-ins"),
            "opencode_defaults.pure",
            [
                Choice(hint, None),
                Choice(self.tr("Without plug-ins (pure)"), True),
                Choice(self.tr("With plug-ins"), False),
            ],
        )
        self._choice(
            self.tr("Its own log"),
            "opencode_defaults.log_level",
            [Choice(hint, None), *(Choice(level, level) for level in ("DEBUG", "INFO", "WARN", "ERROR"))],
        )
        self._text(
            self.tr("More arguments"), "opencode_defaults.extra_args", values.parse_arguments,
            values.write_arguments, mono=True,
        )  # fmt: skip

    def _processors(self) -> int:
        return self._document.settings.model_copy(update={"max_parallel_agents": None}).parallel_cap

    # --- the condition ---------------------------------------------------------------------------------

    def _condition_note(self) -> str:
        if condition_error(self._document.settings.end_state_condition):
            return self.tr("It may use: {0}.").format(", ".join(NAMES))
        in_words = condition_in_words(self._document.settings.end_state_condition)
        return self.tr("Ends when {0}. It may use: {1}.").format(in_words, ", ".join(NAMES))

    @Slot(object)
    def _check_condition(self, text: object) -> None:
        self.condition.show_error(condition_error(str(text)))
        self.condition.refresh_note()

    @Slot(object)
    def _set_merge(self, rules: object) -> None:
        self._document.update_settings(self.tr("merge rules"), {"merge": rules})
        self._document.end_merging()

    def refresh(self) -> None:
        self.backend.set_choices(
            backend_choices(
                self._document, self.tr("opencode (the usual one)"), self._document.settings.backend
            )
        )
        self.merge_rules.show_rules(self._document.settings.merge)
        super().refresh()
        self._check_condition(self._document.settings.end_state_condition)


class GroupPage(FormPage):
    """The settings of one group; an empty field means that the workflow's value holds."""

    def __init__(self, document: WorkflowDocument, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._document = document
        self._group_id: int | None = None
        mode = ChoiceRow(
            self.tr("Mode"),
            self.body,
            [
                Choice(self.tr("In sequence"), "sequential"),
                Choice(f"{words.PARALLEL_SIGN} " + self.tr("Parallel"), "parallel"),
            ],
        )
        mode.explain(self._mode_note)
        self._mode = mode
        self.add(mode, lambda: self._value("mode"), self._set_mode)
        at_once = self._row(
            TextRow(self.tr("At once"), self.body, values.parse_count, values.write_plain, steps=True),
            "max_parallel",
        )
        at_once.explain(lambda: self._inherited("max_parallel"))
        if isinstance(at_once, TextRow):
            at_once.placeholder(lambda: str(self._document.settings.parallel_cap))
        on_error = ChoiceRow(self.tr("When one fails"), self.body, [])
        on_error.explain(self._on_error_note)
        self._on_error = on_error
        self._row(on_error, "on_parallel_error")
        timeout = TextRow(self.tr("Group timeout"), self.body, values.parse_duration, values.write_duration)
        timeout.placeholder(lambda: self.tr("none")).explain(
            lambda: self.tr("for all agents of the group together")
        )
        self._row(timeout, "timeout")
        name = TextRow(self.tr("Name"), self.body, values.parse_text, values.write_plain)
        name.placeholder(lambda: self.tr("none")).explain(lambda: self.tr("shown on the card and in the log"))
        self._row(name, "name")
        isolation = ChoiceRow(
            self.tr("Work folder"),
            self.body,
            [Choice(self.tr("As the workflow says"), None), *isolation_choices()],
        )
        isolation.explain(lambda: self._inherited("isolation"))
        self._row(isolation, "isolation")
        complete = ChoiceRow(
            self.tr("Complete when"),
            self.body,
            [
                Choice(self.tr("As the workflow says"), None),
                Choice(self.tr("The last listed says so"), MergeRule.LAST),
                Choice(self.tr("All agree"), MergeRule.ALL),
                Choice(self.tr("Any says so"), MergeRule.ANY),
            ],
        )
        complete.explain(self._complete_note)
        self.add(complete, self._complete_rule, self._set_complete_rule)
        enabled = CheckRow(self.tr("Enabled"), self.body, self.tr("this step is part of a run"))
        self._row(enabled, "enabled")
        self.section(self.tr("When two agents write the same"))
        self.merge_rules = MergeRules(self.body)
        self.merge_rules.changed_to.connect(self._set_merge)
        self.add_widget(self.merge_rules)

    def show_group(self, group_id: int) -> None:
        """Show this group's settings."""
        self._group_id = group_id
        self.refresh()

    def _group(self) -> GroupNode | None:
        found = self._document.outline.find_group(self._group_id) if self._group_id is not None else None
        return found[2] if found else None

    def _value(self, key: str) -> object:
        group = self._group()
        return getattr(group.settings, key, None) if group else None

    def _row(self, row: Row, key: str) -> Row:
        label = row.label.text().lower()

        def write(value: object) -> None:
            if self._group_id is not None:
                self._document.update_group(self._group_id, label, **{key: value})

        row.finished.connect(self._document.end_merging)
        self.add(row, lambda: self._value(key), write)
        return row

    def _set_mode(self, value: object) -> None:
        if self._group_id is not None and value in ("sequential", "parallel"):
            self._document.set_mode([self._group_id], "parallel" if value == "parallel" else "sequential")

    def _inherited(self, key: str) -> str:
        return self.tr("from the workflow") if self._value(key) is None else self.tr("for this group only")

    def _mode_note(self) -> str:
        group = self._group()
        if group is None:
            return ""
        if group.is_fan_out:
            return self.tr("fan-out: kept as it is, cannot run yet")
        return (
            self.tr("all get the same state and work at the same time")
            if group.is_parallel
            else self.tr("each gets the state that the one before it left")
        )

    def _on_error_note(self) -> str:
        if self._value("on_parallel_error") is not None:
            return self.tr("finished results are kept either way")
        if self._document.settings.on_parallel_error == "abort":
            return self.tr("from the workflow: stop the others; finished results are kept")
        return self.tr("from the workflow: let the others finish")

    def _complete_rule(self) -> object:
        group = self._group()
        return (group.settings.merge or {}).get("is_complete") if group else None

    def _set_complete_rule(self, value: object) -> None:
        group = self._group()
        if group is None:
            return
        rules = dict(group.settings.merge or {})
        rules.pop("is_complete", None)
        if isinstance(value, MergeRule):
            rules["is_complete"] = value
        self._document.update_group(group.id, self.tr("complete when"), merge=rules or None)
        self._document.end_merging()

    def _complete_note(self) -> str:
        group, library = self._group(), self._document.library
        if group is None or library is None:
            return ""
        able = []
        for node in group.agents:
            definition = library.get(node.entry.agent)
            if definition is not None and definition.may_complete and definition.name not in able:
                able.append(definition.name)
        if not able:
            return self.tr("no agent here may complete the loop")
        if len(able) == 1:
            return self.tr("{0} is the only one that may").format(able[0])
        return self.tr("{0} may").format(words.names_in_short(able))

    @Slot(object)
    def _set_merge(self, rules: object) -> None:
        group = self._group()
        if group is not None:
            self._document.update_group(group.id, self.tr("merge rules"), merge=rules or None)
            self._document.end_merging()

    def refresh(self) -> None:
        group = self._group()
        if group is None:
            return
        self._on_error.set_choices(
            [
                Choice(self.tr("As the workflow says"), None),
                Choice(self.tr("Stop the others"), "abort"),
                Choice(self.tr("Let the others finish"), "continue"),
            ]
        )
        self._mode.control.setEnabled(not group.is_fan_out)
        if isinstance(group.settings, FanOutGroup):
            self.head.setText(
                self.tr(
                    "A fan-out group gives one agent many tasks. It is kept as it is in the file, "
                    "but cannot run yet."
                )
            )
        self.head.setVisible(group.is_fan_out)
        self.merge_rules.show_rules(group.settings.merge or {})
        super().refresh()


class AgentPage(FormPage):
    """One agent at its place: what it is, and what is different here."""

    def __init__(self, document: WorkflowDocument, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._document = document
        self._node_id: int | None = None
        self.head.show()
        self.backend = ChoiceRow(self.tr("Runs with"), self.body, [])
        self.backend.explain(lambda: self._from_where("backend", self._document.settings.backend))
        self._row(self.backend, "backend")
        model = TextRow(self.tr("Model"), self.body, values.parse_text, values.write_plain)
        model.placeholder(self._inherited_model).explain(
            lambda: self._from_where("model", self._document.settings.opencode_defaults.model)
        )
        self._row(model, "model")
        timeout = TextRow(self.tr("Time limit"), self.body, values.parse_duration, values.write_duration)
        timeout.placeholder(self._inherited_timeout).explain(
            lambda: self._from_where("timeout", self._document.settings.agent_timeout)
        )
        self._row(timeout, "timeout")
        self._row(CheckRow(self.tr("Enabled"), self.body, self.tr("this agent is part of a run")), "enabled")

    def show_agent(self, node_id: int) -> None:
        """Show this place."""
        self._node_id = node_id
        self.refresh()

    def _node(self) -> AgentNode | None:
        found = self._document.outline.find_agent(self._node_id) if self._node_id is not None else None
        return found[2] if found else None

    def _row(self, row: Row, key: str) -> None:
        label = row.label.text().lower()

        def read() -> object:
            node = self._node()
            return getattr(node.entry, key) if node else None

        def write(value: object) -> None:
            if self._node_id is not None:
                self._document.update_agent(self._node_id, label, **{key: value})

        row.finished.connect(self._document.end_merging)
        self.add(row, read, write)

    def _own(self, key: str) -> object:
        """What the agent's own file says."""
        node, library = self._node(), self._document.library
        definition = library.get(node.entry.agent) if node is not None and library is not None else None
        return getattr(definition, key) if definition is not None else None

    def _from_where(self, key: str, workflow_value: object) -> str:
        node = self._node()
        if node is not None and getattr(node.entry, key) is not None:
            return self.tr("for this place only")
        if self._own(key) is not None:
            return self.tr("from the agent’s file")
        return self.tr("from the workflow") if workflow_value is not None else self.tr("the usual one")

    def _inherited_model(self) -> str:
        own = self._own("model") or self._document.settings.opencode_defaults.model
        return str(own) if own else self.tr("as the backend is set up")

    def _inherited_timeout(self) -> str:
        own = self._own("timeout")
        return values.write_duration(own if own is not None else self._document.settings.agent_timeout)

    def refresh(self) -> None:
        node = self._node()
        if node is None:
            return
        inherited = self._own("backend") or self._document.settings.backend or "opencode"
        self.backend.set_choices(
            backend_choices(self._document, self.tr("{0} (inherited)").format(inherited), node.entry.backend)
        )
        self.head.setText(self._summary(node))
        super().refresh()

    def _summary(self, node: AgentNode) -> str:
        library = self._document.library
        definition = library.get(node.entry.agent) if library is not None else None
        if definition is None:
            return words.agent_tool_tip(node.entry, None, library is not None)
        powers = (
            self.tr("may complete the loop")
            if definition.may_complete
            else self.tr("cannot complete the loop")
        )
        facts = " · ".join(part for part in (definition.role, powers) if part)
        return f"{facts}\n{definition.description}".strip()


def condition_error(source: str) -> str:
    """What is wrong with an end condition, in a sentence with its column; empty: nothing."""
    try:
        compile_condition(source)
    except ConditionError as error:
        if error.column is None:
            return str(error)
        return words.tr("Column {0}: {1}").format(error.column, error)
    return ""


def isolation_choices() -> list[Choice]:
    """Where agents work; not all of it runs yet."""
    return [
        Choice(words.tr("The shared work folder"), "shared"),
        Choice(words.tr("A git worktree of its own"), "worktree", words.tr("cannot run yet")),
    ]


def backend_choices(document: WorkflowDocument, inherited: str, chosen: str | None) -> list[Choice]:
    """The backends there are; also one that a file names and that is unknown."""
    names = list(document.known_backends)
    if chosen is not None and chosen not in names:
        names.append(chosen)
    return [Choice(inherited, None), *(Choice(name, name) for name in names)]
