"""The way from the menu to the dialog: one at a time, for the workflow that is open now."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Slot
from PySide6.QtWidgets import QWidget

from app.doctor.work import DoctorWork

if TYPE_CHECKING:
    from app.doctor.dialog import DoctorDialog
    from app.document import WorkflowDocument
    from core.doctor import Checkup


class Doctor(QObject):
    """Opens the dialog over a window. `close` when the window has gone."""

    def __init__(self, document: WorkflowDocument, window: QWidget) -> None:
        super().__init__(window)
        self._document = document
        self._window = window
        self._work = DoctorWork(self)
        self.dialog: DoctorDialog | None = None

    @Slot()
    def open(self) -> None:
        """Look at the computer; a dialog that is open comes to the front instead."""
        # Not needed for the first paint of the window.
        from app.doctor.dialog import DoctorDialog

        if self.dialog is None:
            self.dialog = DoctorDialog(self._work, self._checkup, self._about(), self._window)
            self.dialog.finished.connect(self._forget)
            self.dialog.show()
        self.dialog.raise_()
        self.dialog.activateWindow()

    @Slot()
    def close(self) -> None:
        """Close the dialog; blocks until nothing of a look is left, which is soon."""
        if self.dialog is not None:
            self.dialog.close()
        self._work.cancel()
        self._work.wait()

    @Slot()
    def _forget(self) -> None:
        self.dialog = None

    def _has_agents(self) -> bool:
        workflow = self._document.workflow
        phases = (workflow.preparation_agents, workflow.loop_agents, workflow.finalization_agents)
        return any(phases)

    def _checkup(self) -> Checkup:
        from core.doctor import Checkup

        document = self._document
        return Checkup(
            document.snapshot() if self._has_agents() else None,
            default_workdir=document.default_workdir,
        )

    def _about(self) -> str:
        if self._has_agents():
            return self.tr("What runs of {0} need").format(self._document.title)
        return self.tr("What runs of workflows need")
