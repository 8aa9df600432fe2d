"""The view of a run, fed with what happens and obeyed in what its buttons ask for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal, Slot

if TYPE_CHECKING:
    from app.right_side import RightSide
    from app.run_controller import RunController
    from app.run_session import RunSession
    from app.run_view.run_view import RunView
    from core.events import Event
    from core.progress import RunProgress


class WatchedRun(QObject):
    """Between the run of the window and the view that shows it, which is built for the first run.

    Signals: `run_again_requested()`; `message(str)`: a sentence for the status line.
    """

    run_again_requested = Signal()
    message = Signal(str)

    def __init__(self, right: RightSide, run: RunSession, controller: RunController, parent: QObject) -> None:
        super().__init__(parent)
        self._right = right
        self._run = run
        self._controller = controller
        right.run_view_built.connect(self._connect_view)
        run.began.connect(self._begin)
        run.told.connect(self._take)
        run.ticked.connect(self._tick)

    @Slot(object)
    def _connect_view(self, view: RunView) -> None:
        view.run_again_requested.connect(self.run_again_requested)
        view.stop_turn_requested.connect(self._controller.stop_turn)
        view.retry_turn_requested.connect(self._controller.retry_turn)
        view.proceed_requested.connect(self._run.proceed)
        view.stop_requested.connect(self._run.stop_now)
        view.orders.may_retry = self._controller.can_retry
        view.answered.connect(self._controller.answer)
        view.message.connect(self.message)

    @Slot(object)
    def _begin(self, progress: RunProgress) -> None:
        view = self._right.run_view
        view.set_recorded(False)
        view.begin(progress, self._run.past)

    @Slot(object)
    def _take(self, events: Sequence[Event]) -> None:
        self._right.run_view.take(events, self._run.clock())

    @Slot()
    def _tick(self) -> None:
        progress = self._run.progress
        if progress is not None and progress.running:
            self._right.run_view.tick(self._run.clock())
