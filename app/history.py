"""The history: all runs of the work folder, one of them opened again, two of them compared.

The list and the live view know nothing of each other; here they come together.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt, QUrl, Signal, Slot
from PySide6.QtGui import QDesktopServices, QKeyEvent, QKeySequence, QShortcut
from PySide6.QtWidgets import QStackedWidget, QVBoxLayout, QWidget

from app.built_ahead import BuiltAhead
from app.live_entry import LiveEntry
from app.notice_bar import Notice, NoticeArea, Tone
from app.side import Side
from core.problems import UserFileError
from core.run_folders import log_dir_of, workdir_of

if TYPE_CHECKING:
    from app.document import WorkflowDocument
    from app.right_side import RightSide
    from app.run_session import RunSession
    from app.run_view.run_view import RunView
    from app.runs.compare_page import ComparePage
    from app.runs.compare_rows import ShownComparison
    from app.runs.deleting import Deleted, Deleting
    from app.runs.entry import RunEntry
    from app.runs.exporting import Exporting
    from app.runs.jobs import Jobs, Tell, Work
    from app.runs.runs_page import RunsPage
    from core.config import WorkflowFile
    from core.recorded_run import RecordedRun

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


@dataclass(frozen=True, slots=True)
class _Opened:
    """A run that was read, or why it could not be."""

    entry: RunEntry
    run: RecordedRun | None = None
    problem: str = ""


@dataclass(frozen=True, slots=True)
class _Compared:
    """Two runs that were compared, or why they could not be."""

    shown: ShownComparison | None = None
    problem: str = ""


def _open(entry: RunEntry) -> Work:
    def work(tell: Tell, stopped: Callable[[], bool]) -> None:
        from core.recorded_run import RunUnreadable, read_run

        del stopped
        try:
            run = read_run(entry.folder)
            # What the view asks for first takes a while of a long run: not in the window's thread.
            run.measure()
            tell(_Opened(entry, run))
        except RunUnreadable as error:
            tell(_Opened(entry, problem=error.problem.message))

    return work


def _compare(first: RunEntry, second: RunEntry) -> Work:
    def work(tell: Tell, stopped: Callable[[], bool]) -> None:
        from app.runs.compare_rows import shown
        from core.compare_runs import compare_runs
        from core.recorded_run import RunUnreadable, read_run
        from core.report_facts import report_of

        try:
            one = report_of(read_run(first.folder))
            if stopped():
                return
            other = report_of(read_run(second.folder))
            tell(_Compared(shown(compare_runs(one, other))))
        except RunUnreadable as error:
            tell(_Compared(problem=error.problem.message))

    return work


class OpenedRun(QWidget):
    """A recorded run in the live view, below a line that leads back; its banner offers to go on with it."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        # Not before a run is opened.
        from app.run_view.run_view import RunView
        from app.runs.back_bar import BackBar
        from app.runs.resume_form import ResumeForm

        self.bar = BackBar(self)
        self.view: RunView = RunView(self)
        self.view.set_recorded(True)
        self.form = ResumeForm(self.view, compact=True)
        self.view.banner.set_resume_form(self.form)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self.bar)
        layout.addWidget(self.view, 1)
        self.folder: Path | None = None
        """The run that is shown."""

    def show_run(self, entry: RunEntry, run: RecordedRun, now: float) -> None:
        """Show this run."""
        from app.runs.run_delegate import icon_of
        from app.runs.words import day_words, ending_words

        self.folder = entry.folder
        parts = (run.workflow, day_words(run.started, now), ending_words(entry))
        title = " · ".join(part for part in parts if part)
        self.bar.show_run(title, icon_of(entry), goes_on=run.going_on)
        self.view.begin(run.progress, run)
        self.form.show_run(entry)
        self.view.banner.offer_resume(entry.resumable)

    def let_go(self) -> None:
        """Show nothing, and hold no file of the run open."""
        from core.progress import RunProgress

        self.folder = None
        self.view.begin(RunProgress())


class HistorySide(QStackedWidget):
    """The pages of the history: the list, an opened run, a comparison. The last two are built when wanted.

    Signals: `left()`: the user is done with the page on top, and is back at the list.
    """

    left = Signal()

    def __init__(self, page: RunsPage, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.list_page = page
        self.opened: OpenedRun | None = None
        self.compared: ComparePage | None = None
        self.addWidget(page)
        self.setFocusProxy(page)
        back = QShortcut(QKeySequence(QKeySequence.StandardKey.Back), self)
        back.setContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
        back.activated.connect(self.back)

    @property
    def shows_list(self) -> bool:
        """Whether the list is shown."""
        return self.currentWidget() is self.list_page

    @property
    def shown_run_view(self) -> RunView | None:
        """The view of the run that is opened here; None: another page is shown."""
        if self.opened is not None and self.currentWidget() is self.opened:
            return self.opened.view
        return None

    def show_page(self, page: QWidget) -> None:
        """Show one of the pages, and give it the focus where the history has it."""
        had_focus = self.isVisible() and self.isAncestorOf(self.window().focusWidget())
        self.setCurrentWidget(page)
        view = self.shown_run_view
        target = (view.tabs.pages.currentWidget() if view is not None else None) or page
        self.setFocusProxy(target)
        if had_focus:
            target.setFocus(Qt.FocusReason.OtherFocusReason)

    def open_find(self) -> None:
        """To the search of the page that is shown."""
        if self.shows_list:
            self.list_page.focus_search()
        elif self.compared is not None and self.currentWidget() is self.compared:
            self.compared.field.setFocus(Qt.FocusReason.ShortcutFocusReason)

    @Slot()
    def back(self) -> None:
        """Back to the list."""
        if not self.shows_list:
            self.show_page(self.list_page)
            self.left.emit()

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802
        if event.key() == Qt.Key.Key_Escape and not self.shows_list:
            self.back()
        else:
            super().keyPressEvent(event)


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
        from app.runs.deleting import Deleting
        from app.runs.exporting import Exporting, ExportKind
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
        actions.html_requested.connect(lambda entry: exporting.ask(entry, ExportKind.HTML))
        actions.json_requested.connect(lambda entry: exporting.ask(entry, ExportKind.JSON))
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
        self._start(_open(entry), self.tr("Opening the run…"))

    @Slot(object, object)
    def _compare(self, first: RunEntry, second: RunEntry) -> None:
        self._start(_compare(first, second), self.tr("Comparing the runs…"))

    def _start(self, work: Work, words: str) -> None:
        if self._jobs is not None:
            self._notices.dismiss(NOTICE)
            self.message.emit(words)
            self._jobs.start(work)

    @Slot(object)
    def _take(self, told: object) -> None:
        if isinstance(told, _Opened) and told.run is not None:
            self._show_run(told.entry, told.run)
        elif isinstance(told, _Compared) and told.shown is not None:
            self._show_comparison(told.shown)
        elif isinstance(told, _Opened | _Compared):
            words = self.tr("The run cannot be shown: {0}")
            if isinstance(told, _Compared):
                words = self.tr("The runs cannot be compared: {0}")
            self._notices.tell(NOTICE, Notice(words.format(told.problem), Tone.ERROR))

    def _opened_run(self) -> OpenedRun:
        """The page of an opened run; built when it is first wanted."""
        side = self.side
        if side.opened is None:
            side.opened = OpenedRun(side)
            side.opened.bar.back_requested.connect(side.back)
            side.opened.bar.again_requested.connect(self._open_again)
            side.opened.form.resume_requested.connect(self.page.resume_requested)
            side.opened.form.set_blocked(self.page.blocked)
            self.page.blocked_changed.connect(side.opened.form.set_blocked)
            side.opened.view.message.connect(self.message)
            self._right.adopt(side.opened.view)
            side.addWidget(side.opened)
        return side.opened

    def _show_run(self, entry: RunEntry, run: RecordedRun) -> None:
        opened = self._opened_run()
        opened.show_run(entry, run, self._run.clock())
        self.side.show_page(opened)
        self.message.emit("")

    @Slot()
    def _open_again(self) -> None:
        """What is shown goes on elsewhere: read what has happened since."""
        opened = self.side.opened
        if opened is not None and opened.folder is not None:
            entry = self.page.runs.known_run(opened.folder)
            if entry is not None:
                self._start(_open(entry), self.tr("Opening the run…"))

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


class LogDir:
    """Finds the folder of the runs, on a worker: settings files may have a say."""

    def __init__(self, file: WorkflowFile, default_workdir: Path | None, wanted: Path | None) -> None:
        self._file = file
        self._default_workdir = default_workdir
        self._wanted = wanted

    def __call__(self) -> Path:
        if self._wanted is not None:
            return self._wanted.parent
        from core.settings import effective_workflow

        file = self._file
        project = workdir_of(file, self._default_workdir)
        try:
            file = effective_workflow(file, project, environ=os.environ).file
        except (UserFileError, OSError):
            # What is wrong with the settings is said where a run is to begin; here the workflow's own count.
            file = self._file
        return log_dir_of(file, workdir_of(file, self._default_workdir))
