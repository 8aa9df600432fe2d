"""What the window around a run shows of it: toolbar, actions, status line, and what waits meanwhile."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal, Slot

from app.side import Side
from app.why_not import offer
from core.statuses import StopKind

if TYPE_CHECKING:
    from app.main_window import MainWindow
    from app.run_session import RunSession
    from core.events import Event


class RunDisplay(QObject):
    """Keeps the parts of a window in line with its run.

    Signals: `paused_changed()`: the run began to wait as a whole, or goes on.
    """

    paused_changed = Signal()

    def __init__(self, window: MainWindow, run: RunSession) -> None:
        super().__init__(window)
        self._window = window
        self._run = run
        run.refused.connect(self._show_resting)
        run.began.connect(self._begin)
        run.told.connect(self._take)
        run.ticked.connect(self._show_time)
        run.running_changed.connect(self.show_running)
        window.last_run.told.connect(window.top_bar.tell_run)

    @Slot(bool)
    def show_running(self, running: bool) -> None:
        """Whether a run is prepared or goes on: then it can be stopped, and the workflow stays as it is."""
        window = self._window
        window.top_bar.show_running(running)
        window.actions_of_window.show_running(running)
        window.top_bar.show_paused(False)
        window.settings_panel.set_locked(running)
        window.files.locked = running
        window.takes_files = not running
        for action in (window.recent.menuAction(), window.actions_of_window.examples.menuAction()):
            offer(action, not running, self.tr("A run goes on: first stop it, or wait for its end."))
        if not running:
            self._show_resting()
            window.closing.run_ended()

    @Slot()
    def offer_run(self) -> None:
        """There is a run that one can turn to."""
        self._window.top_bar.offer_run(True)
        self._window.actions_of_window.show_run.setEnabled(True)

    @Slot()
    def show_there_is_a_run(self) -> None:
        """A run is there to look at, with tabs and a folder."""
        self._window.top_bar.offer_run(True)
        self._window.actions_of_window.show_has_run(True)

    @Slot()
    def _begin(self) -> None:
        window = self._window
        self.show_there_is_a_run()
        focused = window.focusWidget()
        window.right.show_side(Side.RUN)
        if not any(part.isAncestorOf(focused) for part in (window.pool, window.top_bar)):
            # Left in the workflow, letters would edit it when the run is over.
            window.right.focus_page()

    @Slot(object)
    def _take(self, events: Sequence[Event]) -> None:
        # No run, no events: the window is painted without them.
        from core.events import RunContinued, RunFinished, RunPaused

        if any(isinstance(event, RunPaused | RunContinued | RunFinished) for event in events):
            self.paused_changed.emit()
            self._window.actions_of_window.show_paused(self._run.paused)
            self._window.top_bar.show_paused(self._run.paused)

    @Slot()
    def _show_time(self) -> None:
        """Everything that changes only because time goes on."""
        progress = self._run.progress
        if progress is None or not progress.running:
            return
        self._window.status.show_progress(progress, self._run.clock())
        actions = self._window.actions_of_window
        actions.stop_after.setEnabled(progress.stopping is None)
        actions.stop_now.setEnabled(progress.stopping is not StopKind.NOW)

    @Slot()
    def _show_resting(self) -> None:
        self._window.status.show_idle(self._run.progress, self._run.clock())
