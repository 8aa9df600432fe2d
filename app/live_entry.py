"""Tells the list of runs how the run of this window stands, while somebody looks at the list."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Slot

if TYPE_CHECKING:
    from app.history import History
    from app.run_session import RunSession
    from app.runs.runs_page import RunsPage


class LiveEntry(QObject):
    """Follows the run of the window: at each of its ticks, four times a second, and when a page is built."""

    def __init__(self, run: RunSession, history: History) -> None:
        super().__init__(history)
        self._run = run
        self._page: RunsPage | None = None
        history.page_built.connect(self._connect)
        run.ticked.connect(self._tick)
        run.running_changed.connect(self.follow)

    @Slot(object)
    def _connect(self, page: RunsPage) -> None:
        self._page = page
        self.follow()

    @Slot()
    def _tick(self) -> None:
        if self._page is not None and self._page.isVisible():
            self.follow()

    @Slot()
    def follow(self) -> None:
        """Show how it stands now."""
        if self._page is None:
            return
        from app.runs.live_run import LiveRun

        progress = self._run.progress
        going_on = progress is not None and progress.running and bool(progress.folder)
        live = LiveRun.of(progress, self._run.clock()) if progress is not None and going_on else None
        self._page.show_live(live)
