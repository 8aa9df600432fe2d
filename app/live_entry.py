"""Tells the list of runs how the run of this window stands, while somebody looks at the list."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Slot

if TYPE_CHECKING:
    from collections.abc import Sequence

    from app.history import History
    from app.run_session import RunSession
    from app.runs.runs_page import RunsPage
    from core.events import Event
    from core.run_times import RunChart


class LiveEntry(QObject):
    """Follows the run of the window: at each of its ticks, four times a second, and when a page is built."""

    def __init__(self, run: RunSession, history: History) -> None:
        super().__init__(history)
        self._run = run
        self._page: RunsPage | None = None
        self._chart: RunChart | None = None
        """Of the run that is followed: made anew for each tick, that of a long run would take too long."""
        self._changed: set[str] = set()
        """Turns that something happened to since the chart was read last."""
        history.page_built.connect(self._connect)
        run.ticked.connect(self._tick)
        run.told.connect(self._take)
        run.running_changed.connect(self.follow)

    @Slot(object)
    def _connect(self, page: RunsPage) -> None:
        self._page = page
        self.follow()

    @Slot(object)
    def _take(self, events: Sequence[Event]) -> None:
        if self._chart is not None:
            turns = (getattr(event, "turn", None) for event in events)
            self._changed.update(turn for turn in turns if isinstance(turn, str))
            if any(event.type in ("group_started", "run_started") for event in events):
                # Turns of theirs begin again.
                self._chart = None

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
        if progress is None or not going_on:
            self._chart = None
            self._page.show_live(None)
            return
        if self._chart is None or self._chart.progress is not progress:
            from core.run_times import RunChart

            self._chart = RunChart(progress)
        else:
            self._chart.read(self._changed)
        self._changed.clear()
        self._page.show_live(LiveRun.of(progress, self._run.clock(), self._chart))
