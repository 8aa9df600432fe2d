"""The run that the window shows: it is started, stopped and followed here, for every part that shows it."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, Signal, Slot

from app.problem_text import errors_of
from core.state import PHASES
from core.statuses import StopKind

if TYPE_CHECKING:
    from app.document import WorkflowDocument
    from app.run_controller import RunController
    from core.events import Event
    from core.plan import RunPlan
    from core.planning import RunOverrides
    from core.progress import RunProgress
    from core.recorded_run import RecordedRun

TICK_MS = 250
"""Live numbers change at most four times a second."""


class RunSession(QObject):
    """Between the controller and the views.

    Signals: `starting()`: Run or Resume was pressed; `refused(list[Problem])`: it could not begin;
    `began(RunProgress)`: another run, which may have a past; `told(list[Event])` after they were applied to
    `progress`; `ticked()` at most four times a second while a run goes on; `running_changed(bool)`;
    `orphans_asked(list[Orphan])`: see `end_orphans`.
    """

    starting = Signal()
    refused = Signal(object)
    began = Signal(object)
    told = Signal(object)
    ticked = Signal()
    running_changed = Signal(bool)
    orphans_asked = Signal(object)

    def __init__(
        self, controller: RunController, document: WorkflowDocument, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._controller = controller
        self._document = document
        self._wanted = False
        self._next: tuple[RunProgress, RecordedRun | None] | None = None
        """The run that is about to begin."""
        self.past: RecordedRun | None = None
        """What was recorded of the present or last run before it was resumed; None: it is new."""
        self.resuming = False
        """Whether the present or last run went on from where it had ended."""
        self.is_of_document = True
        """Whether it is a run of the open workflow, so that its places are the same places."""
        self.progress: RunProgress | None = None
        """The present or last run; None: there was none. While `preparing`, still the last one."""
        self.preparing = False
        """Whether a run was asked for of which nothing has happened yet; it may ask something first."""
        self.name = ""
        """Name of the workflow of the run that is prepared, or of the present or last one; empty: unknown."""
        self.clock: Callable[[], float] = time.time
        self._tick = QTimer(self)
        self._tick.setInterval(TICK_MS)
        self._tick.timeout.connect(self.ticked)
        controller.events.connect(self._take)
        controller.running_changed.connect(self._change)
        controller.refused.connect(self.refused)
        controller.planned.connect(self._take_plan)
        controller.prepared.connect(self._take_name)
        controller.orphans_asked.connect(self.orphans_asked)

    @property
    def running(self) -> bool:
        """Whether a run is being prepared or goes on."""
        return self._controller.running

    @Slot()
    def start(self) -> None:
        """Run the workflow as it is now, also unsaved; with errors in it, say them instead.

        While the agents are still being read the wish is kept; `agents_read` fulfils it.
        """
        if self._controller.running:
            return
        library = self._document.library
        self._wanted = library is None
        if library is not None:
            # Files with settings are read again for the run, which says it where they are wrong.
            elsewhere = self._document.problems_elsewhere
            errors = [each for each in errors_of(self._document.problems) if each not in elsewhere]
            if errors:
                self.refused.emit(errors)
                return
        self.resuming = False
        self.starting.emit()
        if library is not None:
            document = self._document
            self._controller.start(document.snapshot(), library, document.default_workdir)

    @Slot(object, object)
    def resume(self, folder: Path, overrides: RunOverrides) -> None:
        """Go on with the run in this folder, with its own workflow; the open one stays as it is."""
        if self._controller.running:
            return
        self._wanted = False
        self.resuming = True
        self.starting.emit()
        self._controller.resume(folder, overrides)

    @Slot()
    def agents_read(self) -> None:
        """The document has its agents now."""
        if self._wanted:
            self.start()

    @Slot()
    def stop_after(self) -> None:
        """Stop after the running agents."""
        self._controller.stop(StopKind.AFTER_RUNNING)

    @Slot()
    def stop_now(self) -> None:
        """Stop now."""
        self._controller.stop(StopKind.NOW)

    @property
    def paused(self) -> bool:
        """Whether the run waits as a whole until it is told to proceed."""
        return self.progress is not None and self.progress.running and bool(self.progress.paused)

    @Slot()
    def proceed(self) -> None:
        """Go on with a paused run."""
        self._controller.proceed()

    def end_orphans(self, end: bool) -> None:
        """Answer `orphans_asked`: end the processes of a run's earlier life and go on, or do neither."""
        self._controller.end_orphans(end)

    @Slot(str)
    def _take_name(self, name: str) -> None:
        """A run of this workflow is to begin, if nothing is in its way."""
        self.name = name

    @Slot(bool)
    def _change(self, running: bool) -> None:
        self.preparing = running
        if running:
            self.name = ""
            self._tick.start()
        else:
            self._tick.stop()
        self.running_changed.emit(running)

    @Slot(object, object)
    def _take_plan(self, plan: RunPlan, recorded: RecordedRun | None) -> None:
        """A run is about to begin, or to go on after all that its journal tells of."""
        # Here and below: no run, no events; the window is painted without them.
        from core.progress import RunProgress

        progress = recorded.progress if recorded is not None else RunProgress()
        progress.max_retries = plan.retries
        progress.budget = plan.budget.model_copy()
        progress.max_prompt_bytes = plan.max_prompt_bytes
        self._next = (progress, recorded)
        self.is_of_document = self._is_of_document(plan)

    @Slot(object)
    def _take(self, events: Sequence[Event]) -> None:
        from core.events import QuestionAsked, RunFinished, RunPaused, RunStarted

        if self._next is not None:
            # Also what comes before its start is about this run: the ends of turns that were cut off.
            (self.progress, self.past), self._next = self._next, None
            self.preparing = False
        progress = self.progress
        if progress is None:
            return
        for event in events:
            progress.apply(event)
            if isinstance(event, RunStarted):
                self.name = progress.workflow
                self.began.emit(progress)
        self.told.emit(events)
        if any(isinstance(event, QuestionAsked | RunPaused | RunFinished) for event in events):
            self.ticked.emit()

    def _is_of_document(self, plan: RunPlan) -> bool:
        """Whether a run's workflow is the open one: the same file, with the same steps at the same places."""
        if not self.resuming:
            return True
        of_run = {
            turn.place: (turn.agent.name, group.mode == "parallel")
            for phase in PHASES
            for group in plan.groups(phase)
            for turn in group.turns
        }
        open_here = {
            place: (node.entry.agent, group.is_parallel)
            for place, group, node in self._document.outline.all_agents()
            if group.settings.enabled and node.entry.enabled
        }
        return self._document.path == plan.workflow_path and of_run == open_here

    def close(self) -> None:
        """The window closes."""
        self._tick.stop()
