"""What the window begins with: a file, the workflow that was open last, or the start page."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QRunnable, Qt, QThreadPool, Signal, SignalInstance, Slot
from PySide6.QtWidgets import QStackedWidget, QWidget

from app.user_guide import user_guide

if TYPE_CHECKING:
    from app.agent_actions import AgentActions
    from app.document import WorkflowDocument
    from app.file_actions import FileActions
    from app.recent_files import RecentFiles
    from app.run_session import RunSession
    from app.start_page.recent_list import RecentFile
    from app.start_page.start_page import StartPage
    from app.window_actions import WindowActions


class _Look(QRunnable):
    """Looks at files on a worker; it only has the bound signal of an object of the window's thread."""

    def __init__(self, paths: list[Path], done: SignalInstance) -> None:
        super().__init__()
        self._paths = paths
        self._done = done

    def run(self) -> None:
        from app.start_page.recent_list import look_at

        self._done.emit([look_at(path) for path in self._paths])


class Starting(QObject):
    """Shows the start page in place of the builder until something is opened.

    `pages` holds the builder; the start page is added to it when it is first wanted. `bars` stand around the
    builder and mean nothing without an open workflow.

    Signals: `check_requested()` when the user wants the computer checked; `_looked(list)` from the worker.
    """

    check_requested = Signal()
    _looked = Signal(object)

    def __init__(
        self,
        pages: QStackedWidget,
        bars: Sequence[QWidget],
        document: WorkflowDocument,
        files: FileActions,
        recent: RecentFiles,
        run: RunSession,
        agents: AgentActions,
        actions: WindowActions,
        parent: QObject,
    ) -> None:
        super().__init__(parent)
        self._pages = pages
        self._bars = bars
        self._document = document
        self._files = files
        self._recent = recent
        self._run = run
        self._agents = agents
        self._actions = actions
        builder = pages.currentWidget()
        assert builder is not None
        self._builder: QWidget = builder
        self._page: StartPage | None = None
        self._runs_when_read = False
        self._pool = QThreadPool(self)
        self._pool.setMaxThreadCount(1)
        self._looked.connect(self._show_recent)
        document.path_changed.connect(self._opened)
        run.starting.connect(self.leave)
        run.running_changed.connect(self._show_enabled)
        agents.library_read.connect(self._agents_read)
        actions.start_page.triggered.connect(self.show_page)
        for action in (actions.show_settings, actions.show_run, actions.show_runs):
            action.triggered.connect(self.leave)

    # --- the beginning ---------------------------------------------------------------------------------

    def begin(self, workflow: Path | None) -> None:
        """Open this file, else the workflow that was open last; where there is none, show the start page."""
        wanted = workflow.absolute() if workflow is not None else next(iter(self._recent.paths), None)
        if wanted is None or not self._files.load(wanted):
            self.show_page()

    # --- the page --------------------------------------------------------------------------------------

    @property
    def page(self) -> StartPage:
        """The start page; it is made now where it is not there yet."""
        if self._page is None:
            from app.start_page.start_page import StartPage

            page = StartPage(self._pages, has_guide=user_guide() is not None)
            page.example_chosen.connect(self._open_example)
            page.file_chosen.connect(self._files.open)
            page.forget_requested.connect(self._forget)
            page.new_requested.connect(self._files.new)
            page.open_requested.connect(self._files.open_dialog)
            page.guide_requested.connect(self._actions.guide.trigger)
            page.check_requested.connect(self.check_requested)
            page.left.connect(self.leave)
            self._page = page
            self._pages.addWidget(page)
        return self._page

    @property
    def shows_page(self) -> bool:
        """Whether the start page is shown."""
        return self._page is not None and self._pages.currentWidget() is self._page

    @Slot()
    def show_page(self) -> None:
        """Show the start page; the open workflow stays open behind it."""
        if self._run.running:
            return
        page = self.page
        self._look()
        has_work = self._document.path is not None or self._document.has_edits
        page.show_way_back(self._document.title if has_work else "")
        self._pages.setCurrentWidget(page)
        self._show_bars(False)
        page.scroll_to_top()
        page.focus_first()

    @Slot()
    def _opened(self) -> None:
        # Whatever was to be run is not what is open now.
        self._runs_when_read = False
        self.leave()

    @Slot()
    def leave(self) -> None:
        """Show the builder."""
        if self.shows_page:
            self._pages.setCurrentWidget(self._builder)
            self._show_bars(True)
            self._builder.setFocus(Qt.FocusReason.OtherFocusReason)

    def _show_bars(self, shown: bool) -> None:
        for bar in self._bars:
            bar.setVisible(shown)

    @Slot(bool)
    def _show_enabled(self, running: bool) -> None:
        self._actions.start_page.setEnabled(not running)

    # --- recent files ----------------------------------------------------------------------------------

    def _look(self) -> None:
        """Show the list at once, and what the disk says when it has said it."""
        from app.start_page.recent_list import RecentFile

        paths = self._recent.paths
        known = {file.path: file for file in self.page.recent.files()}
        self.page.show_recent([known.get(path, RecentFile(path)) for path in paths])
        if paths:
            self._pool.start(_Look(paths, self._looked))

    @Slot(object)
    def _show_recent(self, files: list[RecentFile]) -> None:
        if self._page is not None and [file.path for file in files] == self._recent.paths:
            self._page.show_recent(files)

    @Slot(object)
    def _forget(self, path: Path) -> None:
        self._recent.forget(path)
        self._look()

    # --- examples --------------------------------------------------------------------------------------

    @Slot(object, bool)
    def _open_example(self, path: Path, run: bool) -> None:
        self._files.when_saved(self._load_and_run(path) if run else lambda: self._files.load(path))

    def _load_and_run(self, path: Path) -> Callable[[], None]:
        def do() -> None:
            before = self._agents.source.folders
            if not self._files.load(path):
                return
            if self._agents.source.folders == before and self._document.library is not None:
                self._run.start()
            else:
                # With the agents of another workflow it might be refused for agents that are not there.
                self._runs_when_read = True

        return do

    @Slot()
    def _agents_read(self) -> None:
        if self._runs_when_read:
            self._runs_when_read = False
            self._run.start()

    @Slot()
    def close(self) -> None:
        """Wait for the worker."""
        self._pool.waitForDone()
