"""The page of one agent at its place: what it is, and what is different here."""

from __future__ import annotations

from PySide6.QtWidgets import QWidget

from app import field_text
from app.builder import words
from app.builder.choices import backend_choices
from app.builder.form_page import FormPage
from app.document import WorkflowDocument
from app.form_rows import CheckRow, ChoiceRow, Row, TextRow
from app.outline import AgentNode


class AgentPage(FormPage):
    """One agent at its place: what it is, and what is different here."""

    def __init__(self, document: WorkflowDocument, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._document = document
        self._node_id: int | None = None
        self.head.show()
        self.backend = ChoiceRow(self.tr("Runs with"), self.body, [])
        self.backend.explain(lambda: self._from_where("backend", "backend"))
        self._row(self.backend, "backend")
        model = TextRow(self.tr("Model"), self.body, field_text.parse_text, field_text.write_plain)
        model.placeholder(self._inherited_model).explain(
            lambda: self._from_where("model", "opencode_defaults.model")
        )
        self._row(model, "model")
        timeout = TextRow(
            self.tr("Time limit"), self.body, field_text.parse_duration, field_text.write_duration
        )
        timeout.placeholder(self._inherited_timeout).explain(
            lambda: self._from_where("timeout", "agent_timeout")
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

        row.setObjectName(key)
        row.finished.connect(self._document.end_merging)
        self.add(row, read, write)

    def _own(self, key: str) -> object:
        """What the agent's own file says."""
        node, library = self._node(), self._document.library
        definition = library.get(node.entry.agent) if node is not None and library is not None else None
        return getattr(definition, key) if definition is not None else None

    def _from_where(self, key: str, of_workflow: str) -> str:
        node = self._node()
        if node is not None and getattr(node.entry, key) is not None:
            return self.tr("for this place only")
        if self._own(key) is not None:
            return self.tr("from the agent’s file")
        return words.inherited_from(self._document.in_force(of_workflow))

    def _inherited_model(self) -> str:
        own = self._own("model") or self._document.settings_in_force.opencode_defaults.model
        return str(own) if own else self.tr("as the backend is set up")

    def _inherited_timeout(self) -> str:
        own = self._own("timeout")
        return field_text.write_duration(
            own if own is not None else self._document.settings_in_force.agent_timeout
        )

    def refresh(self) -> None:
        node = self._node()
        if node is None:
            return
        inherited = self._own("backend") or self._document.settings_in_force.backend or "opencode"
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
