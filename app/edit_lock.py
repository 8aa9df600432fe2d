"""While a run is prepared or goes on the workflow cannot be edited: says so, and why it waits."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Slot

if TYPE_CHECKING:
    from app.builder.workflow_view import WorkflowView
    from app.run_controller import RunController
    from app.run_session import RunSession


class EditLock(QObject):
    """Keeps the workflow locked in line with the run."""

    def __init__(
        self, view: WorkflowView, run: RunSession, controller: RunController, parent: QObject
    ) -> None:
        super().__init__(parent)
        self._view = view
        self._run = run
        self._asking = False
        self._began = False
        run.running_changed.connect(self._running_changed)
        run.began.connect(self._begin)
        run.told.connect(self._show)
        run.orphans_asked.connect(self._ask)
        controller.trust_asked.connect(self._ask)
        controller.trust_answered.connect(self._answered)
        self._show()

    @Slot()
    def _running_changed(self) -> None:
        self._asking = self._began = False
        self._show()

    @Slot()
    def _begin(self) -> None:
        self._asking, self._began = False, True
        self._show()

    @Slot()
    def _ask(self) -> None:
        self._asking = True
        self._show()

    @Slot()
    def _answered(self) -> None:
        self._asking = False
        self._show()

    @Slot()
    def _show(self) -> None:
        if not self._run.running:
            self._view.set_locked("")
        elif self._asking:
            text = self.tr("A question waits for your answer before the run begins. Editing waits, too.")
            self._view.set_locked(text)
        elif not self._began:
            self._view.set_locked(self.tr("Starting. Editing waits until the run has ended."))
        elif self._run.paused:
            text = self.tr("Paused. Editing waits until the run is resumed and ends, or is stopped.")
            self._view.set_locked(text)
        else:
            self._view.set_locked(self.tr("Running. Editing waits until it ends."))
