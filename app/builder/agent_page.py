"""The page of agents at their places: what one is, and what is different here."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QWidget

from app import field_text
from app.builder import words
from app.builder.bound_field import bind_field
from app.builder.choices import backend_choices, known_models
from app.builder.form_page import FormPage
from app.builder.payload_words import of_list
from app.completion import FieldCompletion, Suggestions
from app.form_rows import VARIOUS, CheckRow, ChoiceRow, Row, TextRow

if TYPE_CHECKING:
    from app.document import WorkflowDocument
    from app.outline import AgentNode
    from core.agent import AgentDefinition


class AgentPage(FormPage):
    """One agent at its place, or what several have in common: an edit is for all of them."""

    def __init__(self, document: WorkflowDocument, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._document = document
        self._node_ids: tuple[int, ...] = ()
        self.head.show()
        self.backend = ChoiceRow(self.tr("Runs with"), self.body, [])
        self.backend.explain(lambda: self._from_where("backend", "backend"))
        self._row(self.backend, "backend")
        model = TextRow(self.tr("Model"), self.body, field_text.parse_text, field_text.write_plain)
        model.placeholder(self._inherited_model).explain(
            lambda: self._from_where("model", "opencode_defaults.model")
        )
        self.models = FieldCompletion(model.field, self._suggest_model, free=True)
        self._row(model, "model")
        timeout = TextRow(
            self.tr("Time limit"), self.body, field_text.parse_duration, field_text.write_duration
        )
        timeout.placeholder(self._inherited_timeout).explain(
            lambda: self._from_where("timeout", "agent_timeout")
        )
        self._row(timeout, "timeout")
        self._row(CheckRow(self.tr("Enabled"), self.body, self.tr("this agent is part of a run")), "enabled")

    def show_agents(self, node_ids: Sequence[int]) -> None:
        """Show these places."""
        self._node_ids = tuple(node_ids)
        self.refresh()

    # --- what the places have --------------------------------------------------------------------------

    def _nodes(self) -> list[AgentNode]:
        chosen = set(self._node_ids)
        return [node for _, _, node in self._document.outline.all_agents() if node.id in chosen]

    def _common(self, read: Callable[[AgentNode], object]) -> object:
        values = [read(node) for node in self._nodes()]
        if not values:
            return None
        return values[0] if all(value == values[0] for value in values) else VARIOUS

    def _row(self, row: Row, key: str) -> None:
        label = row.label.text().lower()
        bind_field(
            self,
            row,
            self._document,
            key,
            lambda: self._node_ids,
            lambda: self._common(lambda node: getattr(node.entry, key)),
            lambda value: self._document.update_agents(self._node_ids, label, **{key: value}),
        )

    def _definition(self, node: AgentNode) -> AgentDefinition | None:
        library = self._document.library
        return library.get(node.entry.agent) if library is not None else None

    def _own(self, key: str) -> object:
        """What the agents' own files say; VARIOUS where they differ."""
        return self._common(lambda node: getattr(self._definition(node), key, None))

    # --- what holds where nothing is said --------------------------------------------------------------

    def _from_where(self, key: str, of_workflow: str) -> str:
        here, own = self._common(lambda node: getattr(node.entry, key)), self._own(key)
        if here is VARIOUS or (here is None and own is VARIOUS):
            return self.tr("not the same for all of them")
        if here is not None:
            return self.tr("for this place only") if len(self._node_ids) == 1 else self.tr("for these places")
        if own is not None:
            return (
                self.tr("from the agent’s file") if len(self._node_ids) == 1 else self.tr("from their files")
            )
        if key == "model":
            return self._model_note()
        return words.inherited_from(self._document.in_force(of_workflow))

    def _inherited_model(self) -> str:
        own = self._own("model")
        if own is VARIOUS:
            return self.tr("various")
        held = own or self._document.settings_in_force.opencode_defaults.model
        if held and not own and not all(self._run_with_opencode()):
            # The workflow's model is for opencode; another backend would not know its name.
            held = None
            if any(self._run_with_opencode()):
                return self.tr("various")
        return str(held) if held else self.tr("as the backend is set up")

    def _model_note(self) -> str:
        """Where the model comes from that holds where neither the place nor the agent's file has one."""
        setting = self._document.in_force("opencode_defaults.model")
        if setting.value and not all(self._run_with_opencode()):
            return self.tr("{0} is for agents that run with opencode").format(setting.value)
        return words.inherited_from(setting)

    def _run_with_opencode(self) -> list[bool]:
        of_workflow = self._document.settings_in_force.backend or "opencode"
        backends: list[str] = []
        for node in self._nodes():
            definition = self._definition(node)
            own = definition.backend if definition is not None else None
            backends.append(node.entry.backend or own or of_workflow)
        return [backend == "opencode" for backend in backends]

    def _inherited_timeout(self) -> str:
        own = self._own("timeout")
        if own is VARIOUS:
            return self.tr("various")
        return field_text.write_duration(
            own if own is not None else self._document.settings_in_force.agent_timeout
        )

    def _inherited_backend(self) -> str:
        own = self._own("backend")
        if own is VARIOUS:
            return self.tr("various (their files)")
        if own is not None:
            return self.tr("{0} (its file)").format(own)
        setting = self._document.in_force("backend")
        return self.tr("{0} ({1})").format(setting.value or "opencode", words.place_in_short(setting))

    def _suggest_model(self, text: str, caret: int, asked: bool) -> Suggestions:
        del caret
        return Suggestions(0, len(text), of_list(known_models(self._document), text, asked))

    def refresh(self) -> None:
        nodes = self._nodes()
        if not nodes:
            return
        chosen = {node.entry.backend for node in nodes if node.entry.backend is not None}
        self.backend.set_choices(backend_choices(self._document, self._inherited_backend(), chosen))
        if len(nodes) == 1:
            self.head.setText(self._summary(nodes[0]))
        else:
            names = words.names_in_short(list(dict.fromkeys(node.entry.agent for node in nodes)))
            self.head.setText(
                self.tr("{0}. What is changed here is changed for all {1} places.").format(names, len(nodes))
            )
        super().refresh()

    def _summary(self, node: AgentNode) -> str:
        definition = self._definition(node)
        if definition is None:
            return words.agent_tool_tip(node.entry, None, self._document.library is not None)
        powers = (
            self.tr("may complete the loop")
            if definition.may_complete
            else self.tr("cannot complete the loop")
        )
        facts = " · ".join(part for part in (definition.role, powers) if part)
        return f"{facts}\n{definition.description}".strip()
