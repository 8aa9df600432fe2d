"""What a user can order for one agent of a run, and why not where it makes no sense."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QObject, Signal, Slot
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMenu

from app.plain_text import plain_tool_tip
from app.theme import icon
from core.config import Workflow
from core.events import TurnStatus
from core.problems import UserFileError
from core.progress import RunProgress
from core.run_files import WORKFLOW_NAME
from core.turn_progress import TurnProgress


class AgentOrders(QObject):
    """Judges and passes on what is ordered, wherever the user does it.

    `may_retry` knows better than the progress whether the engine would do it, and is asked last.

    Signals: `stop_requested(str)`, `retry_requested(str)` with a turn's id; `refused(str)`: why not;
    `doubted(TurnProgress)`: the order would throw away what was paid for, so ask, and `confirm_retry`.
    """

    stop_requested = Signal(str)
    retry_requested = Signal(str)
    refused = Signal(str)
    doubted = Signal(object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._progress = RunProgress()
        self.may_retry: Callable[[str], bool] = lambda _: True
        self.why_none = ""
        """Why nothing can be ordered of this run here, as the end of a sentence; empty: it can."""
        self._workflow: Workflow | None = None
        """As the run has it, once somebody asked."""

    def begin(self, progress: RunProgress) -> None:
        """Judge by another run."""
        self._progress = progress
        self._workflow = None

    # --- what makes sense ------------------------------------------------------------------------------

    def why_no_stop(self, turn: str) -> str:
        """Why an agent cannot be stopped; empty: it can."""
        known = self._progress.turns.get(turn)
        if known is None or not self._progress.running:
            return self.tr("the run is over")
        if known.status is TurnStatus.WAITING:
            return self.tr("it has not begun")
        return self.tr("it is done") if known.is_over else self.why_none

    def why_no_retry(self, turn: str) -> str:
        """Why an agent cannot be tried again; empty: it can."""
        progress = self._progress
        known = progress.turns.get(turn)
        if known is None or not progress.running:
            return self.tr("the run is over")
        if known.status is TurnStatus.SUCCEEDED:
            return self.tr("it succeeded, and its result counts")
        if known.status is TurnStatus.WAITING:
            return self.tr("it has not begun")
        if progress.stopping is not None:
            return self.tr("the run is being stopped")
        if progress.paused and not self.why_none:
            return self.tr("the run is paused; resume the run")
        if known.is_over and not self._group_goes_on(known):
            return self.tr("its group is done")
        if self.why_none:
            return self.why_none
        return "" if self.may_retry(turn) else self.tr("the run is about to end")

    def _group_goes_on(self, turn: TurnProgress) -> bool:
        """Whether others of its group are still waited for."""
        progress = self._progress
        group = progress.groups.get((turn.place.phase, turn.iteration, turn.place.group))
        if group is None or group.mode != "parallel" or group.merged is not None:
            return False
        return any(not progress.turns[other].is_over for other in group.turns if other in progress.turns)

    def after_stop(self, turn: str) -> str:
        """What follows when an agent is stopped, in a sentence."""
        known = self._progress.turns.get(turn)
        group = None
        if known is not None:
            group = self._progress.groups.get((known.place.phase, known.iteration, known.place.group))
        if known is None or group is None or group.mode != "parallel":
            return self.tr("The run ends after it; what is done is kept.")
        if self._on_error(known) == "continue":
            return self.tr("The group goes on without it.")
        return self.tr("The others go on; the run ends after them.")

    def _on_error(self, turn: TurnProgress) -> str:
        """The policy of its group."""
        # Not before somebody points at an agent.
        from core.workflow_file import load_workflow

        if self._workflow is None:
            try:
                self._workflow = load_workflow(Path(self._progress.folder) / WORKFLOW_NAME).workflow
            except (OSError, UserFileError):
                # The engine has its own; here the usual policy is the better guess.
                self._workflow = Workflow()
        workflow = self._workflow
        groups = workflow.groups(turn.place.phase)
        own = groups[turn.place.group].on_parallel_error if turn.place.group < len(groups) else None
        return own or workflow.on_parallel_error

    # --- doing it --------------------------------------------------------------------------------------

    @Slot(str)
    def stop(self, turn: str) -> None:
        """Stop an agent, or say why not."""
        why = self.why_no_stop(turn)
        if why:
            self.refused.emit(self.tr("{0} cannot be stopped: {1}.").format(self._name(turn), why))
        else:
            self.stop_requested.emit(turn)

    @Slot(str)
    def retry(self, turn: str) -> None:
        """Try an agent again, or say why not."""
        why = self.why_no_retry(turn)
        if why:
            self.refused.emit(self.tr("{0} cannot be tried again: {1}.").format(self._name(turn), why))
            return
        known = self._progress.turns[turn]
        if known.status is TurnStatus.RUNNING and known.spent.usage.total_tokens and not known.question:
            self.doubted.emit(known)
        else:
            self.retry_requested.emit(turn)

    @Slot(str)
    def confirm_retry(self, turn: str) -> None:
        """The user means it, whatever was paid; it may be over by now."""
        if not self.why_no_retry(turn):
            self.retry_requested.emit(turn)

    def _name(self, turn: str) -> str:
        known = self._progress.turns.get(turn)
        return known.title if known is not None else self.tr("This agent")

    def add_to(self, menu: QMenu, turn: str) -> tuple[QAction, QAction]:
        """Both orders as entries of a menu; one that makes no sense is off and says why."""
        known = self._progress.turns.get(turn)
        at_work = known is not None and known.status is TurnStatus.RUNNING
        again = self.tr("End it and try again") if at_work else self.tr("Try again")
        return (
            self._entry(
                menu, "circle-stop", self.tr("Stop this agent"), self.why_no_stop(turn), self.stop, turn
            ),
            self._entry(menu, "rotate-ccw", again, self.why_no_retry(turn), self.retry, turn),
        )

    def _entry(
        self, menu: QMenu, symbol: str, text: str, why_not: str, do: Callable[[str], None], turn: str
    ) -> QAction:
        words = self.tr("{0} ({1})").format(text, why_not) if why_not else text
        action = menu.addAction(icon(symbol, "quiet"), words)
        action.setEnabled(not why_not)
        if do == self.stop and not why_not:
            action.setToolTip(plain_tool_tip(self.after_stop(turn)))
        action.triggered.connect(lambda: do(turn))
        return action
