"""What can be done to the selection of the workflow: actions with keys, and the context menus of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QModelIndex, QObject, Qt, Signal, Slot
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QMenu

from app.builder.clipboard_actions import ClipboardActions
from app.builder.workflow_model import Kind, WorkflowModel
from app.document import InGroup, NewStep, Target, WorkflowDocument
from app.platform_keys import delete_keys
from app.theme import icon
from app.why_not import offer

if TYPE_CHECKING:
    from app.builder.workflow_tree import WorkflowTree
    from app.outline import AgentNode, GroupNode
    from core.state import Phase

MANY_AGENTS = 15
"""More than this many agents are offered by folder."""


class WorkflowActions(QObject):
    """The actions belong to the tree, so their keys work while it has the focus.

    Signals: `agent_open_requested(str)` with an agent's name.
    """

    agent_open_requested = Signal(str)

    def __init__(self, document: WorkflowDocument, model: WorkflowModel, tree: WorkflowTree) -> None:
        super().__init__(tree)
        self._document = document
        self._model = model
        self._tree = tree
        self.parallel_with_next = self._action(self.tr("Run in parallel with ne&xt"), "columns-3", "Ctrl+J")
        self.make_group = self._action(self.tr("Make a &group"), "group", "Ctrl+G")
        self.ungroup = self._action(self.tr("Ungr&oup"), "ungroup", "Ctrl+Shift+G")
        self.toggle_mode = self._action(self.tr("Run in para&llel"), "columns-3", "P")
        self.rename = self._action(self.tr("Re&name…"), None, "F2")
        self.move_up = self._action(self.tr("&Move up"), "arrow-up", "Alt+Up")
        self.move_down = self._action(self.tr("Move do&wn"), "arrow-down", "Alt+Down")
        self.toggle_enabled = self._action(self.tr("D&isable"), "power", "Space")
        self.duplicate = self._action(self.tr("&Duplicate"), "copy", "Ctrl+D")
        self.remove = self._action(self.tr("Remo&ve"), "trash-2", None)
        self.remove.setShortcuts(delete_keys())
        self.edit_agent = self._action(self.tr("&Edit agent…"), "external-link", None)
        self.clipboard = ClipboardActions(document, model, tree)
        self.parallel_with_next.triggered.connect(self._parallel_with_next)
        self.make_group.triggered.connect(self._make_group)
        self.ungroup.triggered.connect(self._ungroup)
        self.toggle_mode.triggered.connect(self._toggle_mode)
        self.rename.triggered.connect(self._rename)
        self.move_up.triggered.connect(self._move_up)
        self.move_down.triggered.connect(self._move_down)
        self.toggle_enabled.triggered.connect(self._toggle_enabled)
        self.duplicate.triggered.connect(self._duplicate)
        self.remove.triggered.connect(self._remove)
        self.edit_agent.triggered.connect(self._edit_agent)
        self.update_enabled()

    def _action(
        self, text: str, icon_name: str | None, key: str | QKeySequence.StandardKey | None
    ) -> QAction:
        action = QAction(text, self)
        if icon_name is not None:
            action.setIcon(icon(icon_name, "quiet"))
        if key is not None:
            action.setShortcut(QKeySequence(key))
        action.setShortcutContext(Qt.ShortcutContext.WidgetShortcut)
        self._tree.addAction(action)
        return action

    @property
    def of_menu(self) -> tuple[QAction, ...]:
        """What a menu of the window offers, in its order."""
        return (
            *self.clipboard.all,
            self.duplicate,
            self.remove,
            self.clipboard.select_all,
            self._separator(),
            self.parallel_with_next,
            self.make_group,
            self.ungroup,
            self.toggle_mode,
            self._separator(),
            self.move_up,
            self.move_down,
            self.toggle_enabled,
            self.rename,
            self._separator(),
            self.edit_agent,
        )

    def _separator(self) -> QAction:
        action = QAction(self)
        action.setSeparator(True)
        return action

    # --- the selection ---------------------------------------------------------------------------------

    def selected_agents(self) -> list[AgentNode]:
        """The selected agents; the agents of a selected group count as selected."""
        chosen = set(self._tree.selected_nodes())
        return [
            node
            for _, group, node in self._document.outline.all_agents()
            if node.id in chosen or group.id in chosen
        ]

    def selected_groups(self) -> list[GroupNode]:
        """The groups that are selected or hold a selected agent."""
        chosen = set(self._tree.selected_nodes())
        return [
            group
            for _, _, group in self._document.outline.all_groups()
            if group.id in chosen or any(node.id in chosen for node in group.agents)
        ]

    @Slot()
    def update_enabled(self) -> None:
        """Offer what fits the selection; while a run goes on, only looking."""
        nodes = self._tree.selected_nodes()
        agents, groups = self.selected_agents(), self.selected_groups()
        editable = not self._model.locked
        real_groups = [group for group in groups if not group.is_fan_out]
        one_agent = agents[0] if len(nodes) == 1 and len(agents) == 1 and agents[0].id == nodes[0] else None
        waits = self.tr("Editing waits until the run ends.")
        nothing = self.tr("Nothing is selected in the workflow.")
        why = nothing if editable else waits
        for action in (self.move_up, self.move_down, self.toggle_enabled, self.remove, self.duplicate):
            offer(action, editable and bool(nodes), why)
        self.clipboard.update_enabled()
        self.make_group.setText(
            self.tr("Take out of the &group") if len(agents) == 1 else self.tr("Make a &group")
        )
        one_already = self.tr("What is selected is a group already.") if agents else nothing
        if len(agents) > 1:
            one_already = self.tr("A group is within a phase: select more than one agent of a phase.")
        offer(
            self.make_group,
            editable and bool(agents) and self._would_group(agents),
            one_already if editable else waits,
        )
        apart = self.tr("No group with more than one agent is selected.")
        offer(
            self.ungroup,
            editable and any(len(g.agents) > 1 or g.is_parallel or g.settings.name for g in real_groups),
            apart if editable else waits,
        )
        one_group = self.tr("Select one group.")
        offer(self.rename, editable and len(groups) == 1, one_group if editable else waits)
        no_group = self.tr("No group is selected.")
        offer(self.toggle_mode, editable and bool(real_groups), no_group if editable else waits)
        all_parallel = bool(real_groups) and all(group.is_parallel for group in real_groups)
        self.toggle_mode.setText(self.tr("Run in se&quence") if all_parallel else self.tr("Run in para&llel"))
        self.toggle_mode.setIcon(icon("list-ordered" if all_parallel else "columns-3", "quiet"))
        has_next = one_agent is not None and self._document.next_agent(one_agent.id) is not None
        no_next = self.tr("Select one agent that has another after it.")
        offer(self.parallel_with_next, editable and has_next, no_next if editable else waits)
        offer(self.edit_agent, bool(agents), self.tr("No agent is selected in the workflow."))
        missing = bool(agents) and self._is_missing(agents[0].entry.agent)
        self.edit_agent.setText(self.tr("Make this agent…") if missing else self.tr("&Edit agent…"))
        self.toggle_enabled.setText(self.tr("D&isable") if self._any_enabled(nodes) else self.tr("Ena&ble"))

    def _is_missing(self, name: str) -> bool:
        library = self._document.library
        return library is not None and library.get(name) is None and not library.problems_of(name)

    def _would_group(self, agents: Sequence[AgentNode]) -> bool:
        places = [self._document.outline.group_of(agent.id) for agent in agents]
        phases = [place[0] for place in places if place is not None]
        if len(agents) > 1:
            return any(phases.count(phase) > 1 for phase in phases)
        return places[0] is not None and len(places[0][2].agents) > 1

    def _any_enabled(self, nodes: Sequence[int]) -> bool:
        outline = self._document.outline
        for node_id in nodes:
            agent, group = outline.find_agent(node_id), outline.find_group(node_id)
            if (agent is not None and agent[2].entry.enabled) or (
                group is not None and group[2].settings.enabled
            ):
                return True
        return not nodes

    # --- menus -----------------------------------------------------------------------------------------

    def menu_for(self, index: QModelIndex) -> QMenu:
        """The context menu of a row; the caller shows it and it deletes itself when it closes."""
        menu = QMenu(self._tree)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.update_enabled()
        kind = self._model.kind(index)
        if kind is Kind.PHASE:
            phase = self._model.phase(index)
            self._add_agents_menu(menu, NewStep(phase, self._model.rowCount(index)))
            menu.addAction(self.clipboard.paste)
            return menu
        group = self._model.group_node(index)
        if group is None:
            return menu
        if kind is Kind.GROUP:
            menu.addActions([self.toggle_mode, self.ungroup, self.rename])
            if not group.is_fan_out:
                self._add_agents_menu(menu, InGroup(group.id, len(group.agents)))
        else:
            menu.addActions([self.parallel_with_next, self.make_group])
            if len(group.agents) > 1:
                menu.addActions([self.toggle_mode, self.ungroup])
        menu.addSeparator()
        menu.addActions([self.move_up, self.move_down])
        menu.addSeparator()
        menu.addActions([*self.clipboard.all, self.duplicate, self.remove])
        menu.addSeparator()
        menu.addAction(self.toggle_enabled)
        if kind is Kind.AGENT:
            menu.addAction(self.edit_agent)
        return menu

    def _add_agents_menu(self, menu: QMenu, target: Target) -> None:
        adding = menu.addMenu(icon("plus", "quiet"), self.tr("&Add agent"))
        library = self._document.library
        agents = list(library.agents) if library is not None else []
        adding.setEnabled(bool(agents) and not self._model.locked)
        folders: dict[str, QMenu] = {}
        for agent in agents:
            place = adding
            if len(agents) > MANY_AGENTS and agent.folder:
                if agent.folder not in folders:
                    folders[agent.folder] = adding.addMenu(agent.folder)
                place = folders[agent.folder]
            action = place.addAction(agent.name.replace("&", "&&"))
            action.setData(agent.name)
        adding.triggered.connect(lambda action: self._document.insert_agents([str(action.data())], target))

    # --- what they do ----------------------------------------------------------------------------------

    @Slot()
    def _parallel_with_next(self) -> None:
        for node in self.selected_agents()[:1]:
            self._document.join_next(node.id)

    @Slot()
    def _make_group(self) -> None:
        self._document.make_group([node.id for node in self.selected_agents()])

    @Slot()
    def _ungroup(self) -> None:
        self._document.ungroup([group.id for group in self.selected_groups()])

    @Slot()
    def _toggle_mode(self) -> None:
        groups = [group for group in self.selected_groups() if not group.is_fan_out]
        parallel = all(group.is_parallel for group in groups)
        self._document.set_mode([group.id for group in groups], "sequential" if parallel else "parallel")

    @Slot()
    def _rename(self) -> None:
        for group in self.selected_groups()[:1]:
            index = self._model.index_of(group.id)
            self._tree.setCurrentIndex(index)
            self._tree.edit(index)

    @Slot()
    def _move_up(self) -> None:
        self._document.move_step(self._tree.selected_nodes(), -1)

    @Slot()
    def _move_down(self) -> None:
        self._document.move_step(self._tree.selected_nodes(), 1)

    @Slot()
    def _toggle_enabled(self) -> None:
        nodes = self._tree.selected_nodes()
        self._document.set_enabled(nodes, not self._any_enabled(nodes))

    @Slot()
    def _duplicate(self) -> None:
        self._document.duplicate(self._tree.selected_nodes())

    @Slot()
    def _remove(self) -> None:
        self._document.remove(self._tree.selected_nodes())

    @Slot()
    def _edit_agent(self) -> None:
        for node in self.selected_agents()[:1]:
            self.agent_open_requested.emit(node.entry.agent)

    def add_target(self, phase: Phase | None = None) -> Target:
        """Where an agent of the pool goes: a new step at the end of a phase; without one at the selection."""
        index = self._tree.currentIndex()
        nodes = self._tree.selected_nodes()
        if phase is None and index.isValid() and self._tree.selectionModel().isSelected(index):
            group = self._model.group_node(index)
            if len(nodes) == 1 and group is not None and not group.is_fan_out:
                is_agent = self._model.kind(index) is Kind.AGENT
                return InGroup(group.id, index.row() + 1 if is_agent else len(group.agents))
            phase = self._model.phase(index)
        phase = phase or "loop"
        return NewStep(phase, len(self._document.outline.groups(phase)))
