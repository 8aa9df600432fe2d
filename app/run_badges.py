"""What the slots of the builder show about a run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Slot

from app.turn_badge import TurnBadge
from core.progress_words import whole_seconds
from core.statuses import TurnStatus

if TYPE_CHECKING:
    from app.builder.workflow_view import WorkflowView
    from app.document import WorkflowDocument
    from app.outline import Outline
    from app.run_session import RunSession
    from core.place import Place
    from core.progress import RunProgress


def turn_badges(progress: RunProgress, outline: Outline, now: float) -> dict[Place, TurnBadge]:
    """A badge for every place: of its latest turn, else that it waits as long as the run goes on.

    Seconds are whole, so that equal badges mean that nothing needs painting.
    """
    badges: dict[Place, TurnBadge] = {}
    if progress.running:
        for place, group, node in outline.all_agents():
            if node.entry.enabled and group.settings.enabled:
                badges[place] = TurnBadge(TurnStatus.WAITING)
    for place, turn_id in progress.latest.items():
        turn = progress.turns[turn_id]
        seconds = turn.seconds(now)
        status = TurnStatus.WAITING if turn.waits_for_run else turn.status
        badges[place] = TurnBadge(
            status, None if seconds is None else float(whole_seconds(seconds)), bool(turn.question)
        )
    return badges


class RunBadges(QObject):
    """Keeps the badges of the workflow in line with the run, as long as its places are the same places."""

    def __init__(
        self, view: WorkflowView, run: RunSession, document: WorkflowDocument, parent: QObject
    ) -> None:
        super().__init__(parent)
        self._view = view
        self._run = run
        self._document = document
        self._shown: dict[Place, TurnBadge] = {}
        run.told.connect(self._refresh)
        run.ticked.connect(self._refresh)
        run.running_changed.connect(self._refresh)
        document.changed.connect(self._document_changed)

    @Slot()
    def _refresh(self) -> None:
        run = self._run
        if not run.is_of_document or run.preparing:
            # What the run before came to says nothing about the one that is to begin.
            self._show({})
        elif run.progress is not None and (run.running or self._shown):
            self._show(turn_badges(run.progress, self._document.outline, run.clock()))

    @Slot()
    def _document_changed(self) -> None:
        if not self._run.running:
            # The places of the last run may not be the same places any more.
            self._show({})

    def _show(self, badges: dict[Place, TurnBadge]) -> None:
        if badges != self._shown:
            self._shown = badges
            self._view.set_turn_badges(badges)
