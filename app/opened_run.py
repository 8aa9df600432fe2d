"""A run that was opened from the history: the live view, fed from its folder, below a way back."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QVBoxLayout, QWidget

from core.progress import RunProgress
from core.run_files import TURNS_NAME
from core.run_whereabouts import RunHome, Whereabouts

if TYPE_CHECKING:
    from app.run_view.run_view import RunView
    from app.runs.entry import RunEntry
    from core.events import Event
    from core.recorded_run import RecordedRun


class OpenedRun(QWidget):
    """A recorded run, whose banner offers to go on with it; or one that goes on in another process, which is
    followed: everything is shown as it happens there, and nothing can be ordered from here.

    Signals: `ended()`: what was followed is over or was cut off, and is to be read again.
    """

    ended = Signal()

    def __init__(self, parent: QWidget | None = None, *, clock: Callable[[], float] = time.time) -> None:
        super().__init__(parent)
        # Not before a run is opened.
        from app.resume_offer import ResumeOffer
        from app.run_view.run_view import RunView
        from app.runs.back_bar import BackBar
        from app.runs.following import Following

        self._clock = clock
        self._progress = RunProgress()
        self.bar = BackBar(self)
        self.view: RunView = RunView(self)
        self.offer = ResumeOffer(self.view)
        self.following = Following(self._turns_at_work, self)
        self.following.told.connect(self._take)
        self.following.ended.connect(self.ended)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self.bar)
        layout.addWidget(self.view, 1)
        self.folder: Path | None = None
        """The run that is shown."""
        self._entry: RunEntry | None = None
        """It, as the list knows it, and as it stands now."""

    def show_run(self, entry: RunEntry, run: RecordedRun, where: Whereabouts | None = None) -> None:
        """Show this run. `where`: of one that goes on, what runs it."""
        from app.runs.entry import waits_of

        page = self.view.tabs.page if self.folder == entry.folder else ""
        self.following.stop()
        self.folder, self._progress = entry.folder, run.progress
        now = self._clock()
        # It may have been asked something since it was listed.
        self._entry = replace(entry, waits=waits_of(run.progress)) if run.going_on else entry
        self._show_title(now)
        self.view.set_recorded(not run.going_on)
        self.view.banner.offer_again(False)
        if run.going_on:
            self.view.set_read_only(self._why_read_only(where), self._answer_words(where))
        else:
            self.view.set_read_only("")
        self.view.begin(run.progress, run)
        self.view.show_origin(self._where_words(where) if run.going_on else "")
        if run.going_on:
            self.view.take((), now)
            self.following.follow(entry.folder, run.events)
        else:
            self.offer.show_run(entry)
        if page:
            # It was followed until now: whoever reads something in it goes on reading.
            self.view.tabs.show_page(page)

    def _show_title(self, now: float) -> None:
        """Which run it is, when it began, and how it stands."""
        from app.runs.run_delegate import icon_of
        from app.runs.words import day_words, ending_words

        entry = self._entry
        if entry is None:
            return
        parts = (entry.workflow, day_words(entry.started, now), ending_words(entry))
        self.bar.show_run(" · ".join(part for part in parts if part), icon_of(entry))

    def _turns_at_work(self) -> dict[str, Path]:
        """By turn id: their folders."""
        turns = Path(self._progress.folder) / TURNS_NAME
        return {turn.id: turns / turn.folder for turn in self._progress.running_turns}

    def _where_words(self, where: Whereabouts | None) -> str:
        home = where.home if where is not None else RunHome.UNKNOWN
        words = {
            RunHome.TERMINAL: self.tr(
                "This run goes on in a terminal (process {0}). Here you see what happens there; stop and "
                "answer it in the terminal."
            ),
            RunHome.WINDOW: self.tr(
                "This run goes on in another OpenLoop window (process {0}). Here you see what happens there; "
                "stop and answer it in that window."
            ),
            RunHome.UNKNOWN: self.tr(
                "This run goes on elsewhere: as another user, or on another computer. Here you see what "
                "happens there; stop and answer it where it was started."
            ),
        }[home]
        return words.format(where.pid if where is not None else "")

    def _answer_words(self, where: Whereabouts | None) -> str:
        """Where a person is asked, as a sentence."""
        home = where.home if where is not None else RunHome.UNKNOWN
        words = {
            RunHome.TERMINAL: self.tr("This is decided in its terminal (process {0}), not here."),
            RunHome.WINDOW: self.tr("This is decided in the other OpenLoop window (process {0}), not here."),
            RunHome.UNKNOWN: self.tr("This is decided where the run was started, not here."),
        }[home]
        return words.format(where.pid if where is not None else "")

    def _why_read_only(self, where: Whereabouts | None) -> str:
        """Why nothing can be ordered, as the end of a sentence."""
        if where is not None and where.home is RunHome.TERMINAL:
            return self.tr("its run goes on in a terminal, and is stopped there")
        if where is not None and where.home is RunHome.WINDOW:
            return self.tr("its run goes on in another window, and is stopped there")
        return self.tr("its run goes on elsewhere, and is stopped there")

    @Slot(object)
    def _take(self, events: Sequence[Event]) -> None:
        """This happened where it runs; or only time went on."""
        if events:
            self._progress.apply_all(events)
            self._follow_waits()
            self.view.take(events, self._clock())
        elif self._progress.running:
            self.view.tick(self._clock())

    def _follow_waits(self) -> None:
        """It may wait for somebody now, or not any more."""
        from app.runs.entry import waits_of

        waits = waits_of(self._progress)
        if self._entry is not None and self._entry.waits is not waits:
            self._entry = replace(self._entry, waits=waits)
            self._show_title(self._clock())

    def let_go(self) -> None:
        """Show nothing, and hold no file of the run open."""
        self.following.stop()
        self.folder, self._entry, self._progress = None, None, RunProgress()
        self.view.show_origin("")
        self.view.set_read_only("")
        self.view.begin(self._progress)

    def close_following(self) -> None:
        """The window closes: wait for the worker."""
        self.following.close()
