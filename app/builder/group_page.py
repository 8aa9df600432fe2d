"""The page of one group's settings."""

from __future__ import annotations

from PySide6.QtCore import Slot
from PySide6.QtWidgets import QWidget

from app import field_text
from app.builder import words
from app.builder.choices import isolation_choices
from app.builder.form_page import FormPage
from app.builder.merge_rules import MergeRules
from app.document import WorkflowDocument
from app.form_rows import CheckRow, Choice, ChoiceRow, Row, TextRow
from app.outline import GroupNode
from core.config import FanOutGroup
from core.settings_keys import Origin
from core.state import MergeRule


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
            TextRow(
                self.tr("At once"), self.body, field_text.parse_count, field_text.write_plain, steps=True
            ),
            "max_parallel",
        )
        at_once.explain(lambda: self._inherited("max_parallel"))
        if isinstance(at_once, TextRow):
            at_once.placeholder(lambda: str(self._document.settings_in_force.parallel_cap))
        on_error = ChoiceRow(self.tr("When one fails"), self.body, [])
        on_error.explain(self._on_error_note)
        self._on_error = on_error
        self._row(on_error, "on_parallel_error")
        timeout = TextRow(
            self.tr("Group timeout"), self.body, field_text.parse_duration, field_text.write_duration
        )
        timeout.placeholder(lambda: self.tr("none")).explain(
            lambda: self.tr("for all agents of the group together")
        )
        self._row(timeout, "timeout")
        name = TextRow(self.tr("Name"), self.body, field_text.parse_text, field_text.write_plain)
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

        row.setObjectName(key)
        row.finished.connect(self._document.end_merging)
        self.add(row, lambda: self._value(key), write)
        return row

    def _set_mode(self, value: object) -> None:
        if self._group_id is not None and value in ("sequential", "parallel"):
            self._document.set_mode([self._group_id], "parallel" if value == "parallel" else "sequential")

    def _inherited(self, key: str) -> str:
        if self._value(key) is not None:
            return self.tr("for this group only")
        of_workflow = "max_parallel_agents" if key == "max_parallel" else key
        return words.inherited_from(self._document.in_force(of_workflow))

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
        setting = self._document.in_force("on_parallel_error")
        place = self.tr("from the workflow")
        if setting.origin is not Origin.WORKFLOW:
            place = words.where_from(setting)
        if setting.value == "abort":
            return self.tr("{0}: stop the others; finished results are kept").format(place)
        return self.tr("{0}: let the others finish").format(place)

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
