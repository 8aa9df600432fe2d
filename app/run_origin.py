"""The line above a run that is not plainly the open workflow's own: whose it is, and when it began."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Slot

if TYPE_CHECKING:
    from app.document import WorkflowDocument
    from app.last_run import LastRun
    from app.right_side import RightSide
    from app.run_session import RunSession
    from core.progress import RunProgress


class RunOrigin(QObject):
    """Says it in the view of the window's run, and lets only a run of the open workflow be run again."""

    def __init__(
        self,
        right: RightSide,
        run: RunSession,
        document: WorkflowDocument,
        last_run: LastRun,
        parent: QObject,
    ) -> None:
        super().__init__(parent)
        self._right = right
        self._run = run
        self._document = document
        self._last_run = last_run
        run.began.connect(self._show)
        last_run.shown.connect(self._show)
        document.path_changed.connect(self._show)

    @Slot()
    def _show(self) -> None:
        # A run that began has made the last one of an earlier start a thing of the past.
        earlier = self._last_run.read if self._run.progress is None else None
        progress = self._run.progress or earlier
        if progress is None or not self._right.has_run_view:
            return
        view = self._right.run_view
        view.show_origin(self._words(progress, is_earlier=earlier is not None))
        if earlier is None:
            view.banner.offer_again(self._is_open(progress))

    def _words(self, progress: RunProgress, *, is_earlier: bool) -> str:
        """Whose run it is; empty: it began in this window, of the workflow that is open."""
        is_open = self._is_open(progress)
        if not is_earlier and self._run.resuming:
            # With its own workflow, whatever is open.
            resumed = self.tr("Resumed: {0}, as its run has it (workflow.json in the run folder).")
            other = self.tr(
                "Resumed: {0}, as its run has it (workflow.json in the run folder). "
                "It is not the workflow that is open on the left, which stays as it is."
            )
            return (resumed if is_open else other).format(progress.workflow)
        if is_open and not is_earlier:
            return ""
        # Not needed for the first paint of the window.
        from app.runs.words import day_words

        words = self.tr("A run of {0}, begun {1}.")
        if not is_open:
            words = self.tr("A run of {0}, begun {1}. It is not the workflow that is open on the left.")
        return words.format(progress.workflow, day_words(progress.started, time.time()))

    def _is_open(self, progress: RunProgress) -> bool:
        """Whether the run is one of the open workflow."""
        document = self._document
        if self._run.resuming and progress is self._run.progress and not self._run.is_of_document:
            # The steps may be others by now.
            return False
        if progress.workflow_path is not None:
            return Path(progress.workflow_path) == document.path
        # It was run before it had a file.
        return progress.workflow in ("", document.settings.name)
