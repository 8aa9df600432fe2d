"""The main window: agents, workflow, and what is looked at, around one document and one run at a time."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, Qt, Signal, Slot
from PySide6.QtGui import QAction, QCloseEvent
from PySide6.QtWidgets import QApplication, QSplitter, QStackedWidget, QVBoxLayout, QWidget

from app.agent_actions import AgentActions
from app.agent_editing import AgentEditing
from app.attention import Attention
from app.builder.agent_pool import AgentPool
from app.builder.settings_panel import SettingsPanel
from app.builder.workflow_view import WorkflowView
from app.builder_side import BuilderSide
from app.closing import Closing
from app.doctor.opening import Doctor
from app.document import NewStep, WorkflowDocument
from app.earlier_runs import EarlierRunsSource
from app.edit_lock import EditLock
from app.file_actions import FileActions
from app.file_drop import FileDropWindow
from app.file_opening import FileOpening
from app.history import History
from app.last_run import LastRun
from app.left_overs import LeftOvers
from app.log_display import LogDisplay
from app.notice_bar import NoticeArea
from app.other_settings import SettingsSource
from app.problem_places import ProblemPlaces
from app.recent_files import RecentFiles
from app.regions import Regions
from app.resuming import Resuming
from app.right_side import RightSide
from app.run_badges import RunBadges
from app.run_display import RunDisplay
from app.run_in_tray import RunInTray
from app.run_notices import RunNotices
from app.run_origin import RunOrigin
from app.run_session import RunSession
from app.run_view.status_line import StatusLine
from app.settings_store import SettingsStore
from app.starting import Starting
from app.theme import Appearance, Scheme, is_appearance_event
from app.top_bar import TopBar
from app.tray_icon import TrayIcon
from app.trust_question import TrustQuestion
from app.unexpected import do_each
from app.user_guide import GuideOpening
from app.view_memory import ViewMemory
from app.waiting_run import WaitingRun
from app.watched_run import WatchedRun
from app.window_actions import WindowActions
from app.window_memory import WindowMemory
from core.state import PHASES

if TYPE_CHECKING:
    from app.command_palette import CommandPalette
    from app.run_controller import RunController
    from app.run_view.run_view import RunView
    from core.agent import AgentLibrary
    from core.progress import RunProgress


class MainWindow(FileDropWindow):
    """Signals: `closed()` when the window has gone for good and nothing of a run is alive."""

    closed = Signal()

    def __init__(
        self,
        controller: RunController,
        document: WorkflowDocument,
        *,
        store: SettingsStore | None = None,
        appearance: Appearance | None = None,
        known_backends: Collection[str] = (),
        backend_text: str = "",
    ) -> None:
        super().__init__()
        self._controller = controller
        self.document = document
        self._store = store if store is not None else SettingsStore()
        self._appearance = appearance
        self._command_palette: CommandPalette | None = None

        self.actions_of_window = WindowActions(self)
        self.notices = NoticeArea(self)
        self.recent = RecentFiles(self.tr("Open &recent"), self._store, self)
        self.files = FileActions(document, self.notices, self.recent, self)
        self.top_bar = TopBar(self.actions_of_window, self)
        self.agents = AgentActions(document, self.notices, known_backends, self)
        self.pool = AgentPool(self)
        self.workflow_view = WorkflowView(document, self)
        self.settings_panel = SettingsPanel(document, self)
        self.settings_source = SettingsSource(document, self)
        self.right = RightSide(self.settings_panel, self)
        self.view_memory = ViewMemory(self.right, self._store, self)
        self.run = RunSession(controller, document, self)
        # First the view of a run, then what shows that it is there.
        self.watched = WatchedRun(self.right, self.run, controller, self)
        self.badges = RunBadges(self.workflow_view, self.run, document, self)
        self.edit_lock = EditLock(self.workflow_view, self.run, controller, self)
        self.run_notices = RunNotices(self.notices, self.run, controller, document, self)
        self.last_run = LastRun(self.right, self.run, self._store, self)
        RunOrigin(self.right, self.run, document, self.last_run, self)
        self.history = History(self.right, self.run, document, self.notices, self)
        self.resuming = Resuming(self.right, self.run, self.history, self.notices, self)
        self.left_overs = LeftOvers(self.notices, self.resuming.open_run, self)
        self.trust = TrustQuestion(controller, self.right, self.notices, self)
        self.problem_places = ProblemPlaces(
            document, self.workflow_view, self.settings_panel, self.right, self.agents, self
        )
        self.earlier = EarlierRunsSource(document, self.run, self)
        self.closed.connect(self.earlier.close)
        self.doctor = Doctor(document, self)
        LogDisplay(self.right, self.actions_of_window, self._store, self)
        self.file_opening = FileOpening(self.right, self.actions_of_window, self._store, self)
        tray = TrayIcon(self)
        self.attention = Attention(self, self.run, controller, self._store, tray)
        self.in_tray = RunInTray(self, self.run, tray, self.attention.come_to_front, self._quit)
        self.waiting_run = WaitingRun(self.right, self.run, self.notices, self.top_bar, self)
        self.closing = Closing(
            self, self.files, lambda: controller.running, controller.stop, self.in_tray, self.notices,
            lambda: self.run.preparing,
        )  # fmt: skip
        self.agent_editing = AgentEditing(self)
        self.regions = Regions(self)
        self.closed.connect(self.doctor.close)
        self.closed.connect(self.file_opening.close)
        self.status = StatusLine(self)
        self.status.show_backend(backend_text)
        self.run_display = RunDisplay(self, self.run)
        BuilderSide(
            document,
            self.workflow_view,
            self.settings_panel,
            self.right,
            self.run,
            self.last_run,
            self.status,
        )
        self._arrange()
        self.starting = Starting(
            self.pages, (self.top_bar, self.status), document, self.files, self.recent, self.run, self.agents,
            self.actions_of_window, self,
        )  # fmt: skip
        self.starting.check_requested.connect(self.doctor.open)
        self.closed.connect(self.starting.close)
        self._connect_parts()
        self._connect_actions()
        self._restore()
        self._show_title()
        self._show_problem_count()
        self.agents.follow()
        self.workflow_view.setFocus(Qt.FocusReason.OtherFocusReason)
        if controller.running:
            self.run_display.show_running(True)

    # --- building --------------------------------------------------------------------------------------

    def _arrange(self) -> None:
        self.splitter = QSplitter(Qt.Orientation.Horizontal, self)
        for number, widget in enumerate((self.pool, self.workflow_view, self.right)):
            self.splitter.addWidget(widget)
            self.splitter.setStretchFactor(number, 1 if widget is self.right else 0)
        central = QWidget(self)
        layout = QVBoxLayout(central)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self.top_bar)
        layout.addWidget(self.notices)
        self.pages = QStackedWidget(self)
        self.pages.addWidget(self.splitter)
        layout.addWidget(self.pages, 1)
        layout.addWidget(self.status)
        # A click beside everything takes the focus from the workflow, too, which letters edit.
        central.setFocusPolicy(Qt.FocusPolicy.ClickFocus)
        self.setCentralWidget(central)
        self.setMinimumSize(720, 420)
        self.actions_of_window.make_menus(self.recent, self.workflow_view.commands.of_menu)

    def _connect_parts(self) -> None:
        document, run = self.document, self.run
        run.starting.connect(self.status.show_starting)
        run.starting.connect(self.left_overs.run_begins)
        self.run_display.paused_changed.connect(self._show_title)
        self._controller.trust_asked.connect(self.status.show_asking)
        self._controller.trust_answered.connect(self.status.show_starting)
        run.orphans_asked.connect(self.status.show_asking)
        self._controller.running_changed.connect(self.settings_source.run_goes_on)
        self._controller.settings_taken.connect(self.settings_source.take_from_run)
        self.run_notices.place_requested.connect(self.problem_places.show_problem)
        self.run_notices.message.connect(self.status.say)
        self.watched.run_again_requested.connect(self.start_run)
        self.watched.message.connect(self.status.say)
        self.file_opening.message.connect(self.status.say)
        self.problem_places.file_requested.connect(self.file_opening.open_file)
        self.files.editor_requested.connect(self.file_opening.open_file)
        self.history.message.connect(self.status.say)
        self.history.run_shown.connect(self.actions_of_window.show_history)
        self.file_dropped.connect(self.files.open)
        document.path_changed.connect(self._show_title)
        document.modified_changed.connect(self._show_title)
        document.changed.connect(self._show_title)
        document.problems_changed.connect(self._show_problem_count)
        self.agents.library_read.connect(self._take_library)
        self.workflow_view.selection_changed.connect(self._selection_changed)
        self.workflow_view.agent_open_requested.connect(self.agents.open_agent)
        self.settings_panel.agent_open_requested.connect(self.agents.open_agent)
        self.pool.agent_open_requested.connect(self.agents.open_agent)
        self.pool.add_requested.connect(self._add_agents)
        self.pool.new_agent_requested.connect(self.agents.new_agent)
        self.pool.folder_open_requested.connect(self.agents.open_folder)
        self.agents.message.connect(self.status.say)
        self.top_bar.side_chosen.connect(self.last_run.turn_to)
        self.last_run.offered.connect(self.run_display.offer_run)
        self.last_run.shown.connect(self.run_display.show_there_is_a_run)
        self.last_run.message.connect(self.status.say)
        self.right.log_focused.connect(self.actions_of_window.leave_find_to_log)
        self.right.side_changed.connect(self.top_bar.show_side)
        self.status.problems_requested.connect(self.problem_places.show_list)

    def _connect_actions(self) -> None:
        actions = self.actions_of_window
        actions.follow_undo(self.document.undo_stack)
        actions.new.triggered.connect(self.files.new)
        actions.open.triggered.connect(self.files.open_dialog)
        actions.save.triggered.connect(self.files.save)
        actions.save_as.triggered.connect(self.files.save_as)
        actions.examples.triggered.connect(self._open_example)
        actions.quit.triggered.connect(self.close)
        actions.guide.triggered.connect(GuideOpening(self.notices, self).open)
        actions.run.triggered.connect(self.start_run)
        actions.stop_after.triggered.connect(self.run.stop_after)
        actions.stop_now.triggered.connect(self.run.stop_now)
        actions.resume_run.triggered.connect(self.resuming.resume)
        for action, do in (
            (actions.open_run_folder, self.right.open_run_folder),
            (actions.show_settings, self.right.show_settings),
            (actions.show_run, self.last_run.show),
            (actions.show_runs, self.right.show_runs),
            (actions.retry_agent, self.right.retry_agent),
            (actions.stop_agent, self.right.stop_agent),
            (actions.all_turns, self.right.list_turns),
            (actions.next_tab, self.right.next_tab),
            (actions.previous_tab, self.right.previous_tab),
            (actions.close_tab, self.right.close_tab),
            (actions.find, self.right.find_in_log),
        ):
            action.triggered.connect(do)
        actions.schemes.triggered.connect(self._choose_scheme)
        actions.notices.setChecked(self._store.notices)
        actions.notices.triggered.connect(self._choose_notices)
        actions.check_computer.triggered.connect(self.doctor.open)
        actions.about.triggered.connect(self._about)
        actions.palette.triggered.connect(self._search_actions)

    def _restore(self) -> None:
        store = self._store
        self.memory = WindowMemory(self, self.splitter, store, self.notices)
        self.actions_of_window.show_scheme(store.scheme)

    # --- title, problems, selection --------------------------------------------------------------------

    @Slot()
    def _show_title(self) -> None:
        title, modified = self.document.title, self.document.is_modified
        text = self.tr("Paused: {0} — OpenLoop") if self.run.paused else self.tr("{0} — OpenLoop")
        self.setWindowTitle(text.format(f"{title}[*]"))
        self.setWindowModified(modified)
        self.setWindowFilePath(str(self.document.path or ""))
        self.top_bar.show_file(title, modified=modified)

    @Slot()
    def _show_problem_count(self) -> None:
        self.status.show_problems(self.document.problems)

    @Slot()
    def _selection_changed(self) -> None:
        self.settings_panel.show_selection(self.workflow_view.selected_nodes())

    # --- agents ----------------------------------------------------------------------------------------

    @Slot(object)
    def _take_library(self, library: AgentLibrary) -> None:
        self.pool.set_library(library)
        self.run.agents_read()

    @Slot(object, str)
    def _add_agents(self, names: Sequence[str], phase: str) -> None:
        if self._controller.running:
            return
        target = self.workflow_view.commands.add_target()
        for known in PHASES:
            if phase == known:
                target = NewStep(known, len(self.document.outline.groups(known)))
        self.document.insert_agents(names, target)

    # --- a run -----------------------------------------------------------------------------------------

    @property
    def progress(self) -> RunProgress | None:
        """The present or last run; None: there was none."""
        return self.run.progress

    @property
    def run_view(self) -> RunView:
        """What shows runs."""
        return self.right.run_view

    @Slot()
    def start_run(self) -> None:
        """Run the workflow as it is now, also unsaved; with errors in it, say them instead."""
        self._commit_edits()
        self.agent_editing.before_run(self.run.start)

    def _commit_edits(self) -> None:
        """What is being typed into a field counts."""
        focused = QApplication.focusWidget()
        if focused is not None and self.settings_panel.isAncestorOf(focused):
            focused.clearFocus()
            focused.setFocus(Qt.FocusReason.OtherFocusReason)

    # --- view ------------------------------------------------------------------------------------------

    @Slot(QAction)
    def _choose_scheme(self, action: QAction) -> None:
        scheme = Scheme(action.data())
        self._store.scheme = scheme
        if self._appearance is not None:
            self._appearance.choose(scheme)

    @Slot(bool)
    def _choose_notices(self, wanted: bool) -> None:
        self._store.notices = wanted

    def changeEvent(self, event: QEvent) -> None:  # noqa: N802
        super().changeEvent(event)
        if is_appearance_event(event):
            self.update()
        elif event.type() is QEvent.Type.ActivationChange and self.isActiveWindow():
            # Where a file system does not tell changes, coming back to the window finds them.
            self.agents.source.refresh()
            self.settings_source.refresh()

    @Slot()
    def _about(self) -> None:
        from app.about import show_about

        show_about(self)

    @Slot()
    def _search_actions(self) -> None:
        if self._command_palette is None:
            # Not needed for the first paint of the window.
            from app.command_palette import CommandPalette

            self._command_palette = CommandPalette(self)
        self._command_palette.open()

    # --- files -----------------------------------------------------------------------------------------

    @Slot(QAction)
    def _open_example(self, action: QAction) -> None:
        self.files.open(Path(str(action.data())))

    @Slot()
    def _quit(self) -> None:
        """As closing does, also from the tray: what is to be asked needs the window."""
        self.attention.come_to_front()
        self.close()

    def quit_at_once(self) -> None:
        """Stop the run now and close without a question, such as for a signal of the system."""
        self._commit_edits()
        self.closing.at_once()

    def closeEvent(self, event: QCloseEvent) -> None:  # noqa: N802
        """Closes only when nothing is unsaved and no run is alive; until then it asks and waits."""
        # Where something fails the window stays, or all the rest is done: never a process without a window.
        event.ignore()
        if not self.closing.may_close:
            do_each(self.closing.begin)
        if not self.closing.may_close:
            return
        event.accept()
        do_each(
            self.memory.keep, self.last_run.keep_tabs, self._store.write, self.run.close, self.last_run.close,
            self.history.close, self.resuming.close, self.left_overs.close, self.agents.source.close,
            self.settings_source.close, self.closed.emit,
        )  # fmt: skip
