"""Going on with runs in the window: the page of all runs, and the offer where a run has just ended."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Slot

from app.notice_bar import Notice, NoticeAction, NoticeArea, Tone
from core.statuses import RunStatus

SURVIVORS = "survivors"
"""Name of the notice that asks about processes of a run's earlier life."""

if TYPE_CHECKING:
    from app.history import History
    from app.resume_offer import ResumeOffer
    from app.right_side import RightSide
    from app.run_session import RunSession
    from app.run_view.run_view import RunView
    from app.runs.run_reader import Reading, RunReader
    from app.runs.runs_page import RunsPage
    from core.orphans import Orphan


class Resuming(QObject):
    """Connects runs that are recorded with the run of the window.

    The workflow that is open says in which folder runs are looked for; a run goes on with its own workflow.
    """

    def __init__(
        self,
        right: RightSide,
        run: RunSession,
        history: History,
        notices: NoticeArea,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._right = right
        self._run = run
        self._history = history
        self._notices = notices
        self._offered: ResumeOffer | None = None
        """What the banner offers."""
        self._page: RunsPage | None = None
        self._reader: RunReader | None = None
        """Reads the run that has just ended."""
        right.run_view_built.connect(self._connect_view)
        history.page_built.connect(self._connect_page)
        run.running_changed.connect(self._running_changed)
        run.orphans_asked.connect(self._ask_about_orphans)

    # --- the page of all runs --------------------------------------------------------------------------

    @Slot()
    def resume(self) -> None:
        """Go on with the run that is paused; where none is, show all runs, with the first that can go on.

        Once more, and the form has the focus.
        """
        page = self._page
        if self._run.paused:
            self._run.proceed()
        elif page is not None and page.isVisible() and page.current is not None and page.current.resumable:
            page.go_to_form()
        else:
            self._history.show_list(resumable_first=True)

    def open_run(self, folder: Path) -> None:
        """Show all runs, with this one selected."""
        self._history.show_list(folder)

    @Slot(object)
    def _connect_page(self, page: RunsPage) -> None:
        self._page = page
        page.resume_requested.connect(self._run.resume)
        page.set_blocked(self._blocked())

    @Slot(bool)
    def _running_changed(self, running: bool) -> None:
        if self._page is not None:
            self._page.set_blocked(self._blocked())
        if self._offered is not None:
            self._offered.form.set_blocked(self._blocked())
        if not running:
            self._notices.dismiss(SURVIVORS)
            self._read_ended()

    def _blocked(self) -> str:
        return self.tr("A run goes on in this window. It has to end first.") if self._run.running else ""

    @Slot(object)
    def _ask_about_orphans(self, orphans: Sequence[Orphan]) -> None:
        """Processes of the run's earlier life are alive: nothing goes on beside them, none is just ended."""
        end = NoticeAction(self.tr("End them and go on"), lambda: self._run.end_orphans(True))
        leave = NoticeAction(self.tr("Leave them"), lambda: self._run.end_orphans(False))
        text = self.tr(
            "Processes of this run’s earlier life are still alive, so it cannot go on beside them:"
        )
        from core.orphans import orphan_line

        lines = tuple(orphan_line(orphan) for orphan in orphans)
        notice = Notice(text, Tone.WARNING, lines, (end, leave), dismissible=False)
        self._notices.tell(SURVIVORS, notice)

    # --- the run that has just ended -------------------------------------------------------------------

    @Slot(object)
    def _connect_view(self, view: RunView) -> None:
        from app.resume_offer import ResumeOffer
        from app.runs.run_reader import RunReader

        self._reader = RunReader(self)
        self._reader.told.connect(self._offer)
        self._offered = ResumeOffer(view)
        self._offered.form.resume_requested.connect(self._run.resume)

    def _read_ended(self) -> None:
        """Read the journal of the run that is over: its folder is let go of now."""
        progress = self._run.progress
        if progress is None or progress.status in (None, RunStatus.COMPLETED) or self._reader is None:
            return
        self._reader.read_run(Path(progress.folder))

    @Slot(object)
    def _offer(self, reading: Reading) -> None:
        """The journal of the run that ended was read back: offer what it says can be done."""
        progress, offered = self._run.progress, self._offered
        if progress is None or offered is None:
            return
        for entry in reading.entries:
            if entry.folder == Path(progress.folder) and progress.status is not None:
                offered.show_run(entry)

    def close(self) -> None:
        """The window closes: wait for what is being read."""
        if self._reader is not None:
            self._reader.close()
