"""The page of groups: one, or what several have in common."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import Slot
from PySide6.QtWidgets import QWidget

from app import field_text
from app.builder import words
from app.builder.bound_field import bind_field
from app.builder.choices import isolation_choices, merge_strategy_choices
from app.builder.form_page import FormPage
from app.builder.merge_rules import Elsewhere, MergeRules
from app.builder.payload_words import known_words
from app.form_rows import VARIOUS, CheckRow, Choice, ChoiceRow, Row, TextRow
from core.config import FanOutGroup
from core.state import MergeRule

if TYPE_CHECKING:
    from app.document import WorkflowDocument
    from app.outline import GroupNode


class GroupPage(FormPage):
    """The settings of groups; an empty field means that the workflow's value holds."""

    def __init__(self, document: WorkflowDocument, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._document = document
        self._group_ids: tuple[int, ...] = ()
        self._inheriting: list[tuple[ChoiceRow, Callable[[], list[Choice]]]] = []
        """Rows whose first choice says what holds without one, and their choices at present."""
        self._mode = ChoiceRow(
            self.tr("Mode"),
            self.body,
            [
                Choice(self.tr("In sequence"), "sequential"),
                Choice(f"{words.PARALLEL_SIGN} " + self.tr("Parallel"), "parallel"),
            ],
        )
        self._mode.explain(self._mode_note)
        self._mode.setObjectName("mode")
        self.add(self._mode, lambda: self._value("mode"), self._set_mode)
        at_once = TextRow(
            self.tr("At once"), self.body, field_text.parse_count, field_text.write_plain, steps=True
        )
        at_once.placeholder(lambda: str(self._document.settings_in_force.parallel_cap))
        at_once.explain(lambda: self._inherited("max_parallel", "max_parallel_agents"))
        self._row(at_once, "max_parallel")
        self._choice(
            self.tr("When one fails"),
            "on_parallel_error",
            [
                Choice(self.tr("Stop the others"), "abort"),
                Choice(self.tr("Let the others finish"), "continue"),
            ],
            lambda: self.tr("finished results are kept either way"),
        )
        timeout = TextRow(
            self.tr("Group timeout"), self.body, field_text.parse_duration, field_text.write_duration
        )
        timeout.placeholder(lambda: self.tr("none (usual)")).explain(
            lambda: self.tr("for all agents of the group together")
        )
        self._row(timeout, "timeout")
        self._name = TextRow(self.tr("Name"), self.body, field_text.parse_text, field_text.write_plain)
        self._name.placeholder(lambda: self.tr("none"))
        self._name.explain(lambda: self.tr("shown on the card and in the log"))
        self._row(self._name, "name")
        self._choice(
            self.tr("Work folder"),
            "isolation",
            isolation_choices(),
            lambda: self._inherited("isolation", "isolation"),
        )
        self._choice(
            self.tr("Work is merged"),
            "merge_strategy",
            merge_strategy_choices(),
            lambda: self._inherited("merge_strategy", "merge_strategy"),
        )
        complete = ChoiceRow(self.tr("Complete when"), self.body, [])
        complete.explain(self._complete_note)
        self._inheriting.append((complete, self._complete_choices))
        self.add(complete, lambda: self._common(_complete_rule), self._set_complete_rule)
        self._row(CheckRow(self.tr("Enabled"), self.body, self.tr("this step is part of a run")), "enabled")
        self._rules_title = self.section(self.tr("When two agents write the same"))
        self.merge_rules = MergeRules(lambda: known_words(document), self.body)
        self.merge_rules.changed_to.connect(self._set_merge)
        self.add_widget(self.merge_rules)

    def show_groups(self, group_ids: Sequence[int]) -> None:
        """Show what these groups have in common; an edit is for all of them."""
        self._group_ids = tuple(group_ids)
        self.refresh()

    # --- what the groups have --------------------------------------------------------------------------

    def _groups(self) -> list[GroupNode]:
        chosen = set(self._group_ids)
        return [group for _, _, group in self._document.outline.all_groups() if group.id in chosen]

    def _common(self, read: Callable[[GroupNode], object]) -> object:
        values = [read(group) for group in self._groups()]
        if not values:
            return None
        return values[0] if all(value == values[0] for value in values) else VARIOUS

    def _value(self, key: str) -> object:
        return self._common(lambda group: getattr(group.settings, key, None))

    def _row(self, row: Row, key: str) -> None:
        label = row.label.text().lower()
        bind_field(
            self,
            row,
            self._document,
            key,
            lambda: self._group_ids,
            lambda: self._value(key),
            lambda value: self._document.update_groups(self._group_ids, label, **{key: value}),
        )

    def _choice(self, label: str, key: str, choices: list[Choice], note: Callable[[], str]) -> None:
        """A choice whose first entry says what holds without one, and where that comes from."""
        row = ChoiceRow(label, self.body, [])
        row.explain(note)
        named = {choice.value: choice.label for choice in choices}

        def inherited() -> Choice:
            setting = self._document.in_force(key)
            text = named.get(setting.value, str(setting.value))
            return Choice(self.tr("{0} ({1})").format(text, words.place_in_short(setting)), None)

        self._inheriting.append((row, lambda: [inherited(), *choices]))
        self._row(row, key)

    def _set_mode(self, value: object) -> None:
        self._document.set_mode(self._group_ids, "parallel" if value == "parallel" else "sequential")

    # --- notes -----------------------------------------------------------------------------------------

    def _inherited(self, key: str, of_workflow: str) -> str:
        value = self._value(key)
        if value is VARIOUS:
            return self.tr("not the same for all of them")
        if value is not None:
            return (
                self.tr("for this group only") if len(self._group_ids) == 1 else self.tr("for these groups")
            )
        return words.inherited_from(self._document.in_force(of_workflow))

    def _mode_note(self) -> str:
        groups = self._groups()
        if any(group.is_fan_out for group in groups):
            return self.tr("fan-out: kept as it is, cannot run yet")
        mode = self._value("mode")
        if mode is VARIOUS:
            return self.tr("not the same for all of them")
        return (
            self.tr("all get the same state and work at the same time")
            if mode == "parallel"
            else self.tr("each gets the state that the one before it left")
        )

    def _complete_choices(self) -> list[Choice]:
        named = {
            MergeRule.LAST: self.tr("The last listed says so"),
            MergeRule.ALL: self.tr("All agree"),
            MergeRule.ANY: self.tr("Any says so"),
        }
        own = self._document.settings.merge.get("is_complete")
        other = self._document.rules_elsewhere().get("is_complete")
        rule, place = own or MergeRule.LAST, self.tr("workflow") if own else words.tr("usual")
        if other is not None:
            rule, place = MergeRule(str(other.value)), words.where_from(other)
        held = self.tr("{0} ({1})").format(named.get(rule, rule.value), place)
        return [Choice(held, None), *(Choice(label, value) for value, label in named.items())]

    def _set_complete_rule(self, value: object) -> None:
        rule = value if isinstance(value, MergeRule) else None
        self._document.set_group_rule(self._group_ids, self.tr("complete when"), "is_complete", rule)

    def _complete_note(self) -> str:
        library = self._document.library
        if library is None:
            return ""
        able = []
        for group in self._groups():
            for node in group.agents:
                definition = library.get(node.entry.agent)
                if definition is not None and definition.may_complete and definition.name not in able:
                    able.append(definition.name)
        if not able:
            return self.tr("no agent here may complete the loop")
        if len(able) == 1:
            return self.tr("{0} is the only one that may").format(able[0])
        return self.tr("{0} may").format(words.names_in_short(able))

    # --- merge rules -----------------------------------------------------------------------------------

    @Slot(object)
    def _set_merge(self, rules: object) -> None:
        if len(self._group_ids) == 1:
            self._document.update_groups(self._group_ids, self.tr("merge rules"), merge=rules or None)
            self._document.end_merging()

    def _inherited_rules(self, own: dict[str, MergeRule]) -> Elsewhere:
        """The rules that hold for the group, too: the workflow's, and those of other places."""
        rules = {
            path: (rule, self.tr("from the workflow")) for path, rule in self._document.settings.merge.items()
        }
        for path, setting in self._document.rules_elsewhere().items():
            rules[path] = (MergeRule(str(setting.value)), words.inherited_from(setting))
        return {path: rule for path, rule in rules.items() if path not in own}

    def refresh(self) -> None:
        groups = self._groups()
        if not groups:
            return
        for row, choices in self._inheriting:
            row.set_choices(choices())
        fan_out = any(group.is_fan_out for group in groups)
        self._mode.control.setEnabled(not fan_out)
        self._name.control.setEnabled(len(groups) == 1)
        if isinstance(groups[0].settings, FanOutGroup):
            self.head.setText(
                self.tr(
                    "A fan-out group gives one agent many tasks. It is kept as it is in the file, "
                    "but cannot run yet."
                )
            )
        elif len(groups) > 1:
            self.head.setText(
                self.tr("What is changed here is changed for all {0} groups.").format(len(groups))
            )
        self.head.setVisible(fan_out or len(groups) > 1)
        for widget in (self._rules_title, self.merge_rules):
            widget.setVisible(len(groups) == 1)
        own = dict(groups[0].settings.merge or {})
        self.merge_rules.show_rules(own, self._inherited_rules(own))
        super().refresh()


def _complete_rule(group: GroupNode) -> MergeRule | None:
    return (group.settings.merge or {}).get("is_complete")
