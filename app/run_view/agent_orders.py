"""What a user can order for one agent of a run, and why not where it makes no sense."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, Signal, Slot
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMenu

from app.theme import icon
from core.events import TurnStatus
from core.progress import RunProgress
from core.turn_progress import TurnProgress


class AgentOrders(QObject):
    """Judges and passes on what is ordered, wherever the user does it.

    `may_retry` knows better than the progress whether the engine would do it, and is asked last.

    Signals: `stop_requested(str)`, `retry_requested(str)` with a turn's id; `refused(str)`: why not.
    """

    stop_requested = Signal(str)
    retry_requested = Signal(str)
    refused = Signal(str)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._progress = RunProgress()
        self.may_retry: Callable[[str], bool] = lambda _: True

    def begin(self, progress: RunProgress) -> None:
        """Judge by another run."""
        self._progress = progress

    # --- what makes sense ------------------------------------------------------------------------------

    def why_no_stop(self, turn: str) -> str:
        """Why an agent cannot be stopped; empty: it can."""
        known = self._progress.turns.get(turn)
        if known is None or not self._progress.running:
            return self.tr("the run is over")
        if known.status is TurnStatus.WAITING:
            return self.tr("it has not begun")
        return self.tr("it is done") if known.is_over else ""

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
        if progress.paused:
            return self.tr("the run is paused; resume the run")
        if known.is_over and not self._group_goes_on(known):
            return self.tr("its group is done")
        return "" if self.may_retry(turn) else self.tr("the run is about to end")

    def _group_goes_on(self, turn: TurnProgress) -> bool:
        """Whether others of its group are still waited for."""
        progress = self._progress
        group = progress.groups.get((turn.place.phase, turn.iteration, turn.place.group))
        if group is None or group.mode != "parallel" or group.merged is not None:
            return False
        return any(not progress.turns[other].is_over for other in group.turns if other in progress.turns)

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
        else:
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
        action.triggered.connect(lambda: do(turn))
        return action
