"""Between the builder and the rest of the window: what it says, what it leads to, where undo leads."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Slot

from app.side import Side

if TYPE_CHECKING:
    from app.builder.settings_panel import SettingsPanel
    from app.builder.workflow_view import WorkflowView
    from app.document import EditPlace, WorkflowDocument
    from app.last_run import LastRun
    from app.right_side import RightSide
    from app.run_session import RunSession
    from app.run_view.status_line import StatusLine


class BuilderSide(QObject):
    """Connects the parts; a step of undo in a setting turns the right side to the settings."""

    def __init__(
        self,
        document: WorkflowDocument,
        view: WorkflowView,
        settings: SettingsPanel,
        right: RightSide,
        run: RunSession,
        last_run: LastRun,
        status: StatusLine,
    ) -> None:
        super().__init__(view)
        self._right = right
        view.message.connect(status.say)
        document.stepped.connect(self._show_step)
        last_run.offered.connect(settings.offer_last_run)
        last_run.told.connect(settings.tell_last_run)
        run.began.connect(settings.offer_last_run)
        settings.last_run_requested.connect(last_run.show)

    @Slot(object)
    def _show_step(self, place: EditPlace) -> None:
        if place.fields and self._right.side is not Side.SETTINGS:
            self._right.show_side(Side.SETTINGS)
