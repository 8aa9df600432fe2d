"""The run that the window shows: it is started, stopped and followed here, for every part that shows it."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, Signal, Slot

from app.document import WorkflowDocument
from app.problem_text import errors_of
from core.events import Event, QuestionAsked, RunFinished, RunStarted, StopKind
from core.progress import RunProgress

if TYPE_CHECKING:
    from app.run_controller import RunController

TICK_MS = 250
"""Live numbers change at most four times a second."""


class RunSession(QObject):
    """Between the controller and the views.

    Signals: `starting()`: Run was pressed; `refused(list[Problem])`: it could not begin;
    `began(RunProgress)`: another run; `told(list[Event])` after they were applied to `progress`; `ticked()`
    at most four times a second while a run goes on; `running_changed(bool)`; `needs_user()`: a question, or
    the end.
    """

    starting = Signal()
    refused = Signal(object)
    began = Signal(object)
    told = Signal(object)
    ticked = Signal()
    running_changed = Signal(bool)
    needs_user = Signal()

    def __init__(
        self, controller: RunController, document: WorkflowDocument, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._controller = controller
        self._document = document
        self._wanted = False
        self.progress: RunProgress | None = None
        """The present or last run; None: there was none."""
        self.clock: Callable[[], float] = time.time
        self._tick = QTimer(self)
        self._tick.setInterval(TICK_MS)
        self._tick.timeout.connect(self.ticked)
        controller.events.connect(self._take)
        controller.running_changed.connect(self._change)
        controller.refused.connect(self.refused)

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
            errors = errors_of(self._document.problems)
            if errors:
                self.refused.emit(errors)
                return
        self.starting.emit()
        if library is not None:
            document = self._document
            self._controller.start(document.snapshot(), library, document.default_workdir)

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

    @Slot(bool)
    def _change(self, running: bool) -> None:
        if running:
            self._tick.start()
        else:
            self._tick.stop()
        self.running_changed.emit(running)

    @Slot(object)
    def _take(self, events: Sequence[Event]) -> None:
        for event in events:
            if isinstance(event, RunStarted) and not self._is_known(event):
                settings = self._document.settings
                self.progress = RunProgress(max_retries=settings.retries, budget=settings.budget.model_copy())
                self.progress.apply(event)
                self.began.emit(self.progress)
            elif self.progress is not None:
                self.progress.apply(event)
        if self.progress is None:
            return
        self.told.emit(events)
        if any(isinstance(event, QuestionAsked | RunFinished) for event in events):
            self.ticked.emit()
            self.needs_user.emit()

    def _is_known(self, event: RunStarted) -> bool:
        """A resumed run starts a second time under its own id."""
        return self.progress is not None and bool(event.run_id) and self.progress.run_id == event.run_id

    def close(self) -> None:
        """The window closes."""
        self._tick.stop()
