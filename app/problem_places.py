"""Goes to the place of a problem: a group, an agent, a field of the settings, an agent's file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt, Signal, Slot

from app.problem_text import place_of
from app.side import Side

if TYPE_CHECKING:
    from app.agent_actions import AgentActions
    from app.builder.settings_panel import SettingsPanel
    from app.builder.workflow_view import WorkflowView
    from app.document import WorkflowDocument
    from app.right_side import RightSide
    from core.problems import Problem


class ProblemPlaces(QObject):
    """Between what names problems and what shows their places.

    Signals: `file_requested(FilePlace)` for a problem in a file that the window does not edit.
    """

    file_requested = Signal(object)

    def __init__(
        self,
        document: WorkflowDocument,
        view: WorkflowView,
        settings: SettingsPanel,
        right: RightSide,
        agents: AgentActions,
        parent: QObject,
    ) -> None:
        super().__init__(parent)
        self._document = document
        self._view = view
        self._settings = settings
        self._right = right
        self._agents = agents
        view.problem_opened.connect(self.show_problem)
        view.agent_fix_wanted.connect(agents.fix)

    @Slot(object)
    def show_problem(self, problem: Problem) -> None:
        """Go to the place of a problem."""
        name = self._agent_of(problem)
        if name is not None:
            self._agents.open_agent(name)
            return
        if problem.file is not None and problem.file.absolute() != self._document.path:
            # Not needed for the first paint of the window.
            from app.editor import FilePlace

            self.file_requested.emit(FilePlace(problem.file, problem.line, problem.column))
            return
        self._right.show_side(Side.SETTINGS)
        field = place_of(problem).field
        if not self._view.select_problem(problem):
            self._settings.show_workflow()
        if field:
            self._settings.show_field(field)

    def _agent_of(self, problem: Problem) -> str | None:
        """The agent whose file a problem is in; None: it is in the workflow."""
        library, file = self._document.library, problem.file
        if library is None or file is None or file == self._document.path:
            return None
        return next((agent.name for agent in library.agents if agent.path == file), None)

    @Slot()
    def show_list(self) -> None:
        """Turn to the list of problems."""
        if self._view.problem_list.isVisible():
            self._view.problem_list.setFocus(Qt.FocusReason.OtherFocusReason)
        else:
            self._view.setFocus(Qt.FocusReason.OtherFocusReason)
