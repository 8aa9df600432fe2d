"""The middle of the window: the workflow's phases, and its problems below them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QModelIndex, QPoint, QSize, Qt, Signal, Slot
from PySide6.QtWidgets import QMenu, QVBoxLayout, QWidget

from app.builder.notices import LockedNotice
from app.builder.problem_list import ProblemList
from app.builder.workflow_actions import WorkflowActions
from app.builder.workflow_model import Kind, WorkflowModel
from app.builder.workflow_tree import WorkflowTree
from app.problem_text import place_of
from core.fixes import LetComplete, MakeAgent
from core.state import PHASES

if TYPE_CHECKING:
    from app.document import EditPlace, WorkflowDocument
    from app.turn_badge import TurnBadge
    from core.place import Place
    from core.problems import Problem

WIDTH = 372


class WorkflowView(QWidget):
    """Shows and edits the open workflow.

    Signals: `selection_changed()`; `agent_open_requested(str)` with an agent's name; `message(str)`: a
    sentence for the status line; `problem_opened(Problem)` when the user wants to see its place;
    `agent_fix_wanted(MakeAgent | LetComplete)`: a fix that is no edit of the workflow.
    """

    selection_changed = Signal()
    message = Signal(str)
    agent_open_requested = Signal(str)
    problem_opened = Signal(object)
    agent_fix_wanted = Signal(object)

    def __init__(self, document: WorkflowDocument, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._document = document
        self.model = WorkflowModel(document, self)
        self.tree = WorkflowTree(self.model, self)
        self.commands = WorkflowActions(document, self.model, self.tree)
        self._locked = LockedNotice(self)
        self._locked.hide()
        self.problem_list = ProblemList(self)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self._locked)
        layout.addWidget(self.tree, 1)
        layout.addWidget(self.problem_list)
        self.setMinimumWidth(240)
        self.setFocusProxy(self.tree)
        self.tree.nodes_selected.connect(self.commands.update_enabled)
        self.tree.nodes_selected.connect(self.selection_changed)
        self.tree.menu_requested.connect(self._show_menu)
        self.tree.index_opened.connect(self._open_index)
        self.commands.agent_open_requested.connect(self.agent_open_requested)
        self.commands.clipboard.message.connect(self.message)
        document.stepped.connect(self._show_step)
        self.problem_list.opened.connect(self._open_problem)
        self.problem_list.fix_wanted.connect(self._fix_problem)
        document.problems_changed.connect(self._show_problems)
        document.changed.connect(self.commands.update_enabled)
        self._show_problems()

    def sizeHint(self) -> QSize:  # noqa: N802
        return QSize(WIDTH, 600)

    def selected_nodes(self) -> list[int]:
        """Ids of the selected groups and agents."""
        return self.tree.selected_nodes()

    def add_agents(self, names: Sequence[str], phase: str = "") -> bool:
        """Add agents of the pool to the end of a phase; without one, at the selection (else to the loop)."""
        if self.model.locked:
            return False
        known = next((each for each in PHASES if each == phase), None)
        return self._document.insert_agents(names, self.commands.add_target(known))

    def select_place(self, place: Place) -> None:
        """Select the agent at a place of a run."""
        node_id = self._document.node_at(place)
        if node_id is not None:
            self.tree.select_nodes([node_id])
            self.tree.scrollTo(self.model.index_of(node_id))

    def set_turn_badges(self, badges: Mapping[Place, TurnBadge]) -> None:
        """Show a run on the slots; an empty mapping: no run."""
        self.model.set_badges(badges)

    def locked_text(self) -> str:
        """Why the workflow cannot be edited at present; empty: it can."""
        return self._locked.text if self.model.locked else ""

    def set_locked(self, why: str) -> None:
        """While a run goes on: looking yes, editing no, with a sentence that says so. Empty: editing, too."""
        locked = bool(why)
        if why:
            self._locked.say(why)
        if locked == self.model.locked:
            return
        self.model.locked = locked
        self._locked.setVisible(locked)
        self.problem_list.set_editable(not locked)
        self.tree.setDragEnabled(not locked)
        self.tree.viewport().update()
        self.commands.update_enabled()

    @Slot(QModelIndex, QPoint)
    def _show_menu(self, index: QModelIndex, where: QPoint) -> None:
        menu: QMenu = self.commands.menu_for(index)
        # Not exec: a nested loop would hold up every coroutine of a run.
        menu.popup(where)

    @Slot(QModelIndex)
    def _open_index(self, index: QModelIndex) -> None:
        kind = self.model.kind(index)
        node = self.model.agent_node(index)
        if kind is Kind.AGENT and node is not None:
            self.agent_open_requested.emit(node.entry.agent)
        elif kind is Kind.GROUP and self.commands.rename.isEnabled():
            self.commands.rename.trigger()
        elif kind is Kind.PHASE:
            centre = self.tree.visualRect(index).center()
            self._show_menu(index, self.tree.viewport().mapToGlobal(centre))

    @Slot(object)
    def _show_step(self, place: EditPlace) -> None:
        """After undo and redo: select what the edit was about, where it is there."""
        nodes = [node_id for node_id in place.nodes if self.model.index_of(node_id).isValid()]
        if nodes:
            self.tree.select_nodes(nodes)
            self.tree.scrollTo(self.model.index_of(nodes[0]))

    @Slot()
    def _show_problems(self) -> None:
        self.problem_list.show_problems(self._document.problems, self._document.settings_files)

    @Slot(object)
    def _open_problem(self, problem: Problem) -> None:
        self.select_problem(problem)
        self.problem_opened.emit(problem)

    @Slot(object)
    def _fix_problem(self, problem: Problem) -> None:
        if isinstance(problem.fix, (MakeAgent, LetComplete)):
            self.agent_fix_wanted.emit(problem.fix)
        elif problem.fix is not None and not self.model.locked:
            self._document.apply_fix(problem.fix)

    def select_problem(self, problem: Problem) -> bool:
        """Select the group or agent that a problem's place names, such as `loop_agents[1].agents[0]`.

        False where it names neither: then the workflow's own settings are meant.
        """
        place = place_of(problem)
        index = self.model.phase_index(place.phase) if place.phase is not None else QModelIndex()
        for row in (place.group, place.entry):
            child = self.model.index(row, 0, index) if row is not None else QModelIndex()
            index = child if child.isValid() else index
        if index.isValid():
            self.tree.setCurrentIndex(index)
            self.tree.setFocus(Qt.FocusReason.OtherFocusReason)
        return index.isValid()
