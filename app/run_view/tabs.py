"""The tabs of a run: overview, state, and one for every turn.

Which tab is shown: as long as the user has not chosen one himself, the tabs follow the run: when a turn
starts and the one that is shown is not at work, the started one is shown. A choice of his own (a tab, a pill,
the list, a key, scrolling up in a log) ends that until he switches "Follow" on again or another run begins.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import QPoint, QSize, Qt, Signal, Slot
from PySide6.QtWidgets import QMenu, QVBoxLayout, QWidget

from app.editor import FilePlace
from app.run_view.agent_orders import AgentOrders
from app.run_view.cost_tab import CostTab
from app.run_view.log_host import LogHost
from app.run_view.log_view import LogView
from app.run_view.pages import Pages
from app.run_view.state_tab import StateTab
from app.run_view.tab_menus import OUTPUT_NAME, TabMenus, open_path
from app.run_view.tab_row import TabRow
from app.run_view.turn_bar import Part, TurnBar
from app.run_view.turn_list import TurnList
from app.run_view.turn_tabs import TurnTabs
from app.run_view.turn_views import TurnViews
from app.theme import icon
from core.events import Event, RunStatus, TurnStatus
from core.progress import RunProgress
from core.recorded_run import RecordedRun
from core.run_files import TURNS_NAME

OVERVIEW, STATE, COST = "overview", "state", "cost"
"""The pages that are always there; every other page is named by its turn's id."""
_FIXED = (OVERVIEW, STATE, COST)


class RunTabs(QWidget):
    """Tabs over one run's folder.

    Signals: `message(str)`: a sentence for the status line; `page_changed(str)`: this `page` is shown.
    """

    message = Signal(str)
    page_changed = Signal(str)

    def __init__(self, orders: AgentOrders, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._menus = TabMenus(orders, self)
        self._menus.copy_requested.connect(self._copy_output)
        self._menus.close_requested.connect(self.close_turn)
        self._menus.close_succeeded_requested.connect(self.close_succeeded)
        self._progress = RunProgress()
        self._recorded = False
        self._now = 0.0
        self._moving = False
        self._page = OVERVIEW
        self._row = TabRow(self)
        self.fixed, self.bar = self._row.fixed, self._row.turns
        self.follow_button = self._row.follow_button
        self.fixed.customContextMenuRequested.connect(self._show_fixed_menu)
        self.fixed.currentChanged.connect(self._fixed_chosen)
        self.fixed.tabBarClicked.connect(self._fixed_chosen)
        self._turns = TurnTabs(self.bar)
        self._turns.chosen.connect(self._choose)
        self._turns.closed.connect(self._turn_closed)
        self._turns.menu_requested.connect(self._show_menu)
        self.follow_button.toggled.connect(self._follow_toggled)
        self._row.list_button.clicked.connect(self.open_list)
        self._list: TurnList | None = None
        self.host = LogHost(self)
        self.overview = LogView(self, self.host)
        self.overview.set_overview(True)
        self.overview.set_empty_text(self.tr("Nothing happened yet."))
        self.overview.setAccessibleName(self.tr("Overview"))
        self.overview.name_activated.connect(self._open_label)
        self.overview.raw_file_requested.connect(self._open_overview_file)
        self.overview.message.connect(self.message)
        self.state_tab = StateTab(self)
        self.state_tab.message.connect(self.message)
        self.state_tab.open_requested.connect(self._open_file)
        self.cost_tab = CostTab(self)
        self.cost_tab.turn_requested.connect(self.show_turn)
        self._parts: dict[str, Part] = {}
        """What the user wants to see of a turn, where it is not the output."""
        self.turn_bar = TurnBar(self)
        self.turn_bar.part_chosen.connect(self.show_part)
        self.turn_bar.prompt_chosen.connect(self._show_prompt)
        self.turn_bar.copy_requested.connect(self._copy_current)
        self.turn_bar.hide()
        self.pages = Pages(self)
        for page in (self.overview, self.state_tab, self.cost_tab):
            self.pages.addWidget(page)
        self._views = TurnViews(self.pages, self.host)
        self._views.raw_file_requested.connect(self._open_current_file)
        self._views.scrolled_away.connect(self._stop_following)
        self._views.message.connect(self.message)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self._row)
        layout.addWidget(self.turn_bar)
        layout.addWidget(self.pages, 1)

    def minimumSizeHint(self) -> QSize:  # noqa: N802
        """The same with and without the row above a turn, so that what is below does not move."""
        least = super().minimumSizeHint()
        return (
            least if self.turn_bar.isVisibleTo(self) else least + QSize(0, self.turn_bar.sizeHint().height())
        )

    # --- the run ---------------------------------------------------------------------------------------

    def set_recorded(self, recorded: bool) -> None:
        """Whether the runs that begin from now on are over: they are not followed, and take no orders."""
        self._recorded = recorded

    def begin(self, progress: RunProgress, past: RecordedRun | None = None) -> None:
        """Show another run, from its beginning. `past`: what is recorded of it already."""
        self._progress = progress
        self._page = OVERVIEW
        self._views.clear()
        self._parts.clear()
        self._turns.begin(progress)
        self._row.list_button.hide()
        self.follow_button.setChecked(True)
        self._find_files()
        self.overview.set_source(Path(progress.folder) / "overview.log" if progress.folder else None)
        self.state_tab.begin(Path(progress.folder) if progress.folder else None, past)
        self.cost_tab.begin(progress)
        self._show(OVERVIEW)

    def take(self, events: Sequence[Event]) -> None:
        """This happened; `refresh` shows it."""
        self.state_tab.take(events)

    def refresh(self, now: float) -> None:
        """Bring tabs in line with the run; cheap where nothing changed."""
        self._now = now
        self._find_files()
        started = ""
        for changed in self._turns.refresh(self._page):
            turn = changed.turn
            self._views.tell(turn)
            if turn.status is TurnStatus.RUNNING and changed.began and not started:
                started = turn.id
            outdated = self._views.is_outdated(turn)
            if outdated:
                self._views.drop(turn.id)
            if self._page == turn.id:
                if outdated:
                    self._show(turn.id)
                self._show_turn_bar()
        self._row.list_button.setVisible(bool(self._progress.turns))
        self.follow_button.setVisible(self._progress.status is None and not self._recorded)
        self.state_tab.show_conflicts(self._progress.conflicts)
        self.cost_tab.refresh()
        if started and self.follow_button.isChecked():
            shown = self._progress.turns.get(self._page)
            if shown is None or shown.status is not TurnStatus.RUNNING:
                self._show(started)

    def _find_files(self) -> None:
        """Files that logs name are looked for in the work folder of the run, once it is known."""
        folder = Path(self._progress.workdir) if self._progress.workdir else None
        if folder != self.host.files.folder:
            self.host.files.set_folder(folder)

    def note_late_output(self, turn: str, count: int) -> None:
        """So many bytes came from a turn after it was told to end."""
        self._turns.note_late_output(turn, count)

    # --- which tab -------------------------------------------------------------------------------------

    @property
    def page(self) -> str:
        """What is shown: OVERVIEW, STATE, COST or a turn's id."""
        return self._page

    @property
    def current_turn(self) -> str | None:
        """The turn whose tab is shown; None: one of the fixed pages."""
        return None if self._page in _FIXED else self._page

    @property
    def open_turns(self) -> list[str]:
        """The turns that have a tab, from left to right."""
        return self._turns.ids

    @property
    def built_views(self) -> int:
        """Log views of turns that are alive."""
        return len(self._views)

    @Slot(str)
    def show_turn(self, turn: str) -> None:
        """The user wants to see this turn; a closed tab opens again."""
        if turn in self._progress.turns:
            self._choose(turn)

    def show_page(self, page: str) -> None:
        """Show a page as `page` names it; a name that nothing has changes nothing."""
        if page in _FIXED or page in self._progress.turns:
            self._choose(page)

    @Slot()
    def show_overview(self) -> None:
        """The user wants to see the overview."""
        self._choose(OVERVIEW)

    @Slot()
    def show_state(self) -> None:
        """The user wants to see the state."""
        self._choose(STATE)

    @Slot()
    def show_conflicts(self) -> None:
        """The user wants to see what the agents did not agree about."""
        self._choose(STATE)
        self.state_tab.open_conflicts()

    def follow_to_the_end(self) -> None:
        """The run is over: whoever followed it sees the agent that it failed by."""
        failed = self._progress.failed_turns
        if self.follow_button.isChecked() and self._progress.status is RunStatus.FAILED and failed:
            self._show(failed[-1].id)

    def step(self, by: int) -> None:
        """The next tab (1) or the previous (-1), around the ends."""
        pages = [*_FIXED, *self._turns.ids]
        self._choose(pages[(pages.index(self._page) + by) % len(pages)])

    @Slot(int)
    def _fixed_chosen(self, index: int) -> None:
        if not self._moving and index >= 0:
            self._choose(_FIXED[index])

    @Slot(str)
    def _choose(self, page: str) -> None:
        self.follow_button.setChecked(False)
        self._show(page)

    @Slot(bool)
    def _follow_toggled(self, follow: bool) -> None:
        running = self._progress.running_turns
        shown = self._progress.turns.get(self._page)
        if follow and running and (shown is None or shown.status is not TurnStatus.RUNNING):
            self._show(running[0].id)

    def _show(self, page: str) -> None:
        self._page = page
        fixed = page in _FIXED
        self.fixed.set_active(fixed)
        self._turns.show(None if fixed else page)
        if fixed:
            self._moving = True
            self.fixed.setCurrentIndex(_FIXED.index(page))
            self._moving = False
            self.pages.setCurrentIndex(_FIXED.index(page))
        else:
            self.pages.setCurrentWidget(self._view(page))
            self._show_turn_bar()
        self.turn_bar.setVisible(not fixed)
        self.page_changed.emit(page)

    # --- the views of turns ----------------------------------------------------------------------------

    def _view(self, turn: str, part: Part | None = None) -> LogView:
        shown = self._parts.get(turn, Part.OUTPUT) if part is None else part
        return self._views.view(self._progress.turns[turn], self._turn_folder(turn), shown)

    @property
    def part(self) -> Part:
        """What of the current turn is shown."""
        return self._parts.get(self._page, Part.OUTPUT)

    @Slot(object)
    def show_part(self, part: Part) -> None:
        """The user wants to see this of the current turn."""
        if self.current_turn is not None:
            self._parts[self._page] = part
            self._choose(self._page)

    @Slot(object)
    def _show_prompt(self, file: Path) -> None:
        self._views.show_prompt(self._page, file)
        self._show_turn_bar()

    def _show_turn_bar(self) -> None:
        file = self._views.file(self._page, self.part)
        folder = self._turn_folder(self._page)
        self.turn_bar.show_part(self.part, folder, file, self._progress.max_prompt_bytes)

    @Slot()
    def _copy_current(self) -> None:
        if self.current_turn is not None:
            self._copy_all(self._view(self._page))

    @Slot()
    def find_text(self) -> None:
        """Find in what is shown; where nothing can be found, in the overview."""
        if self._page == STATE:
            self.state_tab.finder.open()
            return
        if self._page == COST:
            self.show_overview()
        shown = self.pages.currentWidget()
        if isinstance(shown, LogView):
            shown.open_find()

    @Slot()
    def _stop_following(self) -> None:
        self.follow_button.setChecked(False)

    # --- menus and files -------------------------------------------------------------------------------

    def _turn_folder(self, turn: str) -> Path:
        return Path(self._progress.folder) / TURNS_NAME / self._progress.turns[turn].folder

    def menu_for(self, index: int) -> QMenu:
        """The context menu of a turn's tab; the caller shows it and it deletes itself when it closes."""
        return self._menu_of(self._turns.ids[index])

    def _menu_of(self, turn: str) -> QMenu:
        return self._menus.of_turn(
            self._progress.turns[turn],
            self._turn_folder(turn),
            live=self._progress.running and not self._recorded,
            any_succeeded=self._turns.any_succeeded,
        )

    @Slot(str, QPoint)
    def _show_menu(self, turn: str, where: QPoint) -> None:
        self._menu_of(turn).popup(where)

    @Slot(QPoint)
    def _show_fixed_menu(self, where: QPoint) -> None:
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        tab = self.fixed.tabAt(where)
        if tab == _FIXED.index(STATE):
            menu.addAction(icon("copy", "quiet"), self.tr("Copy as JSON"), self.state_tab.copy_json)
        elif tab == _FIXED.index(COST):
            menu.addAction(icon("copy", "quiet"), self.tr("Copy as table"), self.cost_tab.copy_table)
        else:
            menu.addAction(icon("file-text", "quiet"), self.tr("Open log file"), self._open_overview_file)
        menu.popup(self.fixed.mapToGlobal(where))

    @Slot(str)
    def close_turn(self, turn: str) -> bool:
        """Close a finished turn's tab; False where it is not finished. "All turns" opens it again."""
        return self._turns.close(turn)

    @Slot(str, str)
    def _turn_closed(self, turn: str, neighbour: str) -> None:
        self._views.drop(turn)
        if self._page == turn:
            self._show(neighbour or OVERVIEW)

    @Slot()
    def close_current(self) -> None:
        """Close the shown tab, if it may be closed."""
        if self.current_turn is not None:
            self.close_turn(self.current_turn)

    @Slot()
    def close_succeeded(self) -> None:
        """Close the tabs of all turns that succeeded."""
        self._turns.close_succeeded()

    @Slot(str)
    def _copy_output(self, turn: str) -> None:
        self._parts.pop(turn, None)
        self._choose(turn)
        self._copy_all(self._view(turn))

    @staticmethod
    def _copy_all(view: LogView) -> None:
        view.select_all()
        view.copy()

    @Slot(object)
    def _open_file(self, path: Path) -> None:
        self.host.open_file(FilePlace(path))

    @Slot()
    def _open_current_file(self) -> None:
        if self.current_turn is not None:
            file = self._views.file(self._page, self.part)
            if self.part is Part.OUTPUT or file is None:
                file = self._turn_folder(self._page) / OUTPUT_NAME
            open_path(file)

    @Slot()
    def _open_overview_file(self) -> None:
        open_path(Path(self._progress.folder) / "overview.log")

    @Slot(str)
    def _open_label(self, label: str) -> None:
        """An agent's name in the overview was clicked: its latest turn."""
        turns = [turn.id for turn in self._progress.turns.values() if turn.label == label]
        if turns:
            self.show_turn(turns[-1])

    # --- all turns -------------------------------------------------------------------------------------

    @Slot()
    def open_list(self) -> None:
        """Let the user search all turns, also those whose tabs are closed."""
        if not self._progress.turns:
            return
        if self._list is None:
            self._list = TurnList(self)
            self._list.chosen.connect(self.show_turn)
        corner = self._row.mapToGlobal(self._row.rect().bottomRight())
        self._list.open_at(
            corner - QPoint(8, 0), self._progress.turns.values(), self.current_turn or "", self._now
        )

    @property
    def turn_list(self) -> TurnList | None:
        """The list of all turns; None until it was opened."""
        return self._list
