"""The run that the window showed last is there again at the next start, with the tabs it had."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal, Slot

from app.side import Side

if TYPE_CHECKING:
    from app.right_side import RightSide
    from app.run_session import RunSession
    from app.runs.jobs import Jobs, Tell
    from app.settings_store import SettingsStore
    from core.events import RunStarted
    from core.progress import RunProgress
    from core.recorded_run import RecordedRun


_LONGEST = 65_536
"""Bytes of a journal's first line, which has names and folders."""


class LastRun(QObject):
    """Reads the last run from its folder when the user first turns to it, and not before.

    Signals: `offered()`: there is one to turn to; `told(str)`: whose and when it is, in lines; `shown()`: it
    was read and is shown; `message(str)`: a sentence for the status line.
    """

    offered = Signal()
    told = Signal(str)
    shown = Signal()
    message = Signal(str)

    def __init__(self, right: RightSide, run: RunSession, store: SettingsStore, parent: QObject) -> None:
        super().__init__(parent)
        self._right = right
        self._run = run
        self._store = store
        self._jobs: Jobs | None = None
        self._folder: Path | None = None
        """A run of an earlier start that is not shown yet."""
        self.read: RunProgress | None = None
        """The run of an earlier start that was read to be shown; None: it was not yet."""
        run.began.connect(self._remember)

    def look(self) -> None:
        """Offer the last run of an earlier start, if its folder is still there."""
        # Not needed for the first paint of the window, before which nobody looks.
        from core.journal import JOURNAL_NAME

        folder = self._store.last_run
        if folder is not None and not self._right.has_run_view and (folder / JOURNAL_NAME).is_file():
            self._folder = folder
            self.offered.emit()
            begun = _beginning(folder / JOURNAL_NAME)
            if begun is not None:
                self._tell(begun.workflow, begun.time, begun.workflow_path)

    def _tell(self, workflow: str, began: float, path: str | None) -> None:
        """Say whose run it is: it may be of another workflow than the one that is open."""
        when = time.strftime("%d %b, %H:%M", time.localtime(began))
        text = self.tr("Last run: {0}, begun on {1}").format(workflow, when)
        self.told.emit("\n".join(part for part in (text, path or "") if part))

    @Slot(object)
    def turn_to(self, side: Side) -> None:
        """The user turns to a side of the window: the last run is read if it is that."""
        if side is Side.RUN and not self._right.has_run_view and self._folder is not None:
            self._read(self._folder)
        else:
            self._right.turn_to(side)

    @Slot()
    def show(self) -> None:
        """Turn to the run."""
        self.turn_to(Side.RUN)

    @Slot(object)
    def _remember(self, progress: RunProgress) -> None:
        self._folder = None
        if progress.folder:
            self._store.last_run = Path(progress.folder)
        self._tell(progress.workflow, progress.started or time.time(), progress.workflow_path)

    def keep_tabs(self) -> None:
        """The window closes: remember which tabs there are."""
        if self._right.has_run_view:
            tabs = self._right.run_view.tabs
            self._store.last_page = tabs.page
            self._store.last_tabs = tabs.open_turns

    def _read(self, folder: Path) -> None:
        # Not needed before there is something to read.
        from app.runs.jobs import Jobs

        if self._jobs is None:
            self._jobs = Jobs(self)
            self._jobs.told.connect(self._take)
        self.message.emit(self.tr("Opening the last run…"))

        def work(tell: Tell, stopped: Callable[[], bool]) -> None:
            from core.recorded_run import RunUnreadable, read_run

            del stopped
            try:
                tell(read_run(folder))
            except RunUnreadable as error:
                tell(error.problem.message)

        self._jobs.start(work)

    @Slot(object)
    def _take(self, told: RecordedRun | str) -> None:
        if isinstance(told, str):
            self.message.emit(told)
            return
        if self._folder is None or self._run.running:
            # Another run began meanwhile: that is the last one now.
            return
        self._folder = None
        view = self._right.run_view
        view.set_recorded(True)
        view.begin(told.progress, told)
        self.read = told.progress
        view.tick(time.time())
        self._restore_tabs()
        self.message.emit("")
        self.shown.emit()
        self._right.turn_to(Side.RUN)

    def _restore_tabs(self) -> None:
        tabs = self._right.run_view.tabs
        kept = self._store.last_tabs
        if kept is not None:
            for turn in tabs.open_turns:
                if turn not in kept:
                    tabs.close_turn(turn)
        tabs.show_page(self._store.last_page)

    def close(self) -> None:
        """The window closes: wait for what is being read."""
        if self._jobs is not None:
            self._jobs.close()


def _beginning(journal: Path) -> RunStarted | None:
    """The first event of a journal; None: it cannot be read, which is told when the run is opened."""
    from pydantic import TypeAdapter

    from core.events import RunStarted

    try:
        with journal.open("rb") as file:
            return TypeAdapter(RunStarted).validate_json(file.readline(_LONGEST))
    except (OSError, ValueError):
        return None
