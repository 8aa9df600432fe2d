"""The history: all runs of the work folder, one of them opened again, two of them compared.

The list and the live view know nothing of each other; here they come together.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt, QUrl, Signal, Slot
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QWidget

from app.built_ahead import BuiltAhead
from app.live_entry import LiveEntry
from app.notice_bar import Notice, NoticeArea, Tone
from app.side import Side

if TYPE_CHECKING:
    from app.document import WorkflowDocument
    from app.history_side import HistorySide
    from app.opened_run import OpenedRun
    from app.right_side import RightSide
    from app.run_session import RunSession
    from app.runs.compare_rows import ShownComparison
    from app.runs.deleting import Deleted, Deleting
    from app.runs.entry import RunEntry
    from app.runs.exporting import Exporting
    from app.runs.jobs import Jobs, Work
    from app.runs.runs_page import RunsPage

_MODULES_OF_A_RUN = (
    "core.run_times",
    "app.run_view.log_view",
    "app.run_view.state_tab",
    "app.run_view.cost_tab",
    "app.run_view.tabs",
    "app.run_view.run_view",
    "app.runs.run_delegate",
)
"""What the page of an opened run is made of, in parts that take some ten milliseconds each."""
NOTICE = "history"
"""Name of the notice."""


class History(QObject):
    """Fills the side of the history, and does there what is asked for.

    Signals: `page_built(RunsPage)` once, before it shows anything; `run_shown(bool)`: whether a run is open
    in the history, also once when it is built; `message(str)`: a sentence for the status line.
    """

    page_built = Signal(object)
    run_shown = Signal(bool)
    message = Signal(str)

    def __init__(
        self,
        right: RightSide,
        run: RunSession,
        document: WorkflowDocument,
        notices: NoticeArea,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._right = right
        self._run = run
        self._document = document
        self._notices = notices
        self._side: HistorySide | None = None
        self._jobs: Jobs | None = None
        self._exporting: Exporting | None = None
        self._deleting: Deleting | None = None
        self._wanted: Path | None = None
        self._resumable_first = False
        right.provide(Side.RUNS, self._build, lambda: self.side.open_find())
        right.side_changed.connect(self._side_changed)
        self._ahead = BuiltAhead(_MODULES_OF_A_RUN, self._opened_run, self)
        self.live_entry = LiveEntry(run, self)
        run.running_changed.connect(self._running_changed)

    # --- the side --------------------------------------------------------------------------------------

    @property
    def side(self) -> HistorySide:
        """The pages; they are built when they are first wanted."""
        from app.history_side import HistorySide

        page = self._right.page(Side.RUNS)
        assert isinstance(page, HistorySide)
        return page

    @property
    def page(self) -> RunsPage:
        """The list of runs."""
        return self.side.list_page

    @property
    def is_built(self) -> bool:
        """Whether somebody looked at it."""
        return self._side is not None

    def _build(self) -> QWidget:
        from app.history_side import HistorySide
        from app.runs.deleting import Deleting
        from app.runs.export_work import ExportKind
        from app.runs.exporting import Exporting
        from app.runs.jobs import Jobs
        from app.runs.runs_page import RunsPage

        page = RunsPage(clock=lambda: self._run.clock())
        side = self._side = HistorySide(page, self._right)
        side.left.connect(self._left)
        page.closed.connect(self._leave)
        self._jobs = Jobs(self)
        self._jobs.told.connect(self._take)
        self._exporting = exporting = Exporting(page, page.work, self._notices)
        exporting.message.connect(self.message)
        self._deleting = Deleting(page, page.work)
        self._deleting.message.connect(self.message)
        self._deleting.deleted.connect(self._deleted)
        actions = page.actions_of_runs
        actions.open_requested.connect(self._open)
        actions.compare_requested.connect(self._compare)
        actions.html_requested.connect(lambda entries: exporting.ask(entries, ExportKind.HTML))
        actions.json_requested.connect(lambda entries: exporting.ask(entries, ExportKind.JSON))
        actions.folder_requested.connect(self._open_folder)
        actions.delete_requested.connect(self._delete)
        side.currentChanged.connect(self._page_changed)
        self.page_built.emit(page)
        self.run_shown.emit(False)
        return side

    @Slot()
    def _page_changed(self) -> None:
        self.run_shown.emit(self.side.shown_run_view is not None)

    def show_list(self, wanted: Path | None = None, *, resumable_first: bool = False) -> None:
        """Turn to the list, with this run selected; else the newest, or the first that can go on."""
        self._wanted, self._resumable_first = wanted, resumable_first
        self.side.show_page(self.page)
        self._right.show_side(Side.RUNS)
        self._wanted, self._resumable_first = None, False
        self.page.setFocus(Qt.FocusReason.ShortcutFocusReason)

    @Slot(object)
    def _side_changed(self, side: Side) -> None:
        if side is Side.RUNS:
            self.live_entry.follow()
            self._ahead.begin()
            # Another workflow may be open by now, and runs may have ended; what is known is not read twice.
            from app.runs.log_dir import LogDir

            log_dir = LogDir(self._document.snapshot(), self._document.default_workdir, self._wanted)
            self.page.read(log_dir, self._wanted, resumable_first=self._resumable_first)

    @Slot(bool)
    def _running_changed(self, running: bool) -> None:
        if self._side is not None and not running and self._right.side is Side.RUNS:
            self.page.read_again()

    @Slot()
    def _leave(self) -> None:
        self._right.show_side(Side.RUN if self._right.has_run_view else Side.SETTINGS)
        self._right.focus_page()

    @Slot()
    def _left(self) -> None:
        """Back at the list, which may be out of date; no file of the run is held any more."""
        if self._side is not None and self._side.opened is not None:
            self._side.opened.let_go()
        if self._jobs is not None:
            self._jobs.give_up()
        self.page.read_again()

    # --- opening and comparing -------------------------------------------------------------------------

    @Slot(object)
    def _open(self, entry: RunEntry) -> None:
        progress = self._run.progress
        if progress is not None and progress.running and Path(progress.folder) == entry.folder:
            # It is the run of this window: live is better.
            self._right.turn_to(Side.RUN)
            return
        self._read(entry)

    def _read(self, entry: RunEntry) -> None:
        from app.history_work import open_work

        self._start(open_work(entry), self.tr("Opening the run…"))

    @Slot(object, object)
    def _compare(self, first: RunEntry, second: RunEntry) -> None:
        from app.history_work import compare_work

        self._start(compare_work(first, second), self.tr("Comparing the runs…"))

    def _start(self, work: Work, words: str) -> None:
        if self._jobs is not None:
            self._notices.dismiss(NOTICE)
            self.message.emit(words)
            self._jobs.start(work)

    @Slot(object)
    def _take(self, told: object) -> None:
        # It comes from a worker that has imported it.
        from app.history_work import Compared, Opened

        if isinstance(told, Opened) and told.run is not None:
            opened = self._opened_run()
            opened.show_run(told.entry, told.run, told.where)
            self.side.show_page(opened)
            self.message.emit("")
        elif isinstance(told, Compared) and told.shown is not None:
            self._show_comparison(told.shown)
        elif isinstance(told, Opened | Compared):
            words = self.tr("The run cannot be shown: {0}")
            if isinstance(told, Compared):
                words = self.tr("The runs cannot be compared: {0}")
            self._notices.tell(NOTICE, Notice(words.format(told.problem), Tone.ERROR))

    def _opened_run(self) -> OpenedRun:
        """The page of an opened run; built when it is first wanted."""
        from app.opened_run import OpenedRun

        side = self.side
        if side.opened is None:
            side.opened = OpenedRun(side, clock=lambda: self._run.clock())
            side.opened.bar.back_requested.connect(side.back)
            side.opened.ended.connect(self._read_ended)
            form = side.opened.offer.form
            form.resume_requested.connect(self.page.resume_requested)
            form.set_blocked(self.page.blocked)
            self.page.blocked_changed.connect(form.set_blocked)
            side.opened.view.message.connect(self.message)
            self._right.adopt(side.opened.view)
            side.addWidget(side.opened)
        return side.opened

    @Slot()
    def _read_ended(self) -> None:
        """What is shown was followed, and is over now: what its folder tells is final."""
        opened = self.side.opened
        if opened is not None and opened.folder is not None and self.side.shown_run_view is not None:
            entry = self.page.runs.known_run(opened.folder)
            if entry is not None:
                self._read(entry)

    def _show_comparison(self, shown: ShownComparison) -> None:
        from app.runs.compare_page import ComparePage

        side = self.side
        if side.compared is None:
            side.compared = ComparePage(side)
            side.compared.closed.connect(side.back)
            side.addWidget(side.compared)
        side.compared.show_comparison(shown)
        side.show_page(side.compared)
        self.message.emit("")

    # --- the rest --------------------------------------------------------------------------------------

    @Slot(object)
    def _open_folder(self, entry: RunEntry) -> None:
        QDesktopServices.openUrl(QUrl.fromLocalFile(str(entry.folder)))

    @Slot(object)
    def _delete(self, entries: tuple[RunEntry, ...]) -> None:
        log_dir = self.page.log_dir
        if self._deleting is not None and log_dir is not None:
            self._deleting.ask(entries, log_dir)

    @Slot(object)
    def _deleted(self, result: Deleted) -> None:
        from app.runs.words import title_words

        self.page.read_again()
        asks_again = result.stayed and not result.for_good and not result.given_up
        lines = [f"{title_words(entry)} · {entry.run_id}: {why}" for entry, why in result.stayed]
        if result.given_up:
            lines.append(self.tr("{0} not tried, because you cancelled.").format(len(result.given_up)))
        if not lines or (asks_again and not result.gone):
            return
        text = self.tr("Not everything was deleted:")
        self._notices.tell(NOTICE, Notice(text, Tone.WARNING, tuple(lines)))

    def close(self) -> None:
        """The window closes: wait for what is being done."""
        if self._side is not None:
            self.page.close_reader()
        for worker in (self._jobs, self._exporting, self._deleting):
            if worker is not None:
                worker.close()
        if self._side is not None and self._side.opened is not None:
            self._side.opened.close_following()
