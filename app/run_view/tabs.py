"""The tabs of a run: overview, state, and one for every turn.

Which tab is shown: as long as the user has not chosen one himself, the tabs follow the run: when a turn
starts and the one that is shown is not at work, the started one is shown. A choice of his own (a tab, a pill,
the list, a key, scrolling up in a log) ends that until he switches "Follow" on again or another run begins.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import QPoint, Qt, QUrl, Signal, Slot
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QMenu, QVBoxLayout, QWidget

from app.run_view.agent_orders import AgentOrders
from app.run_view.log_host import LogHost
from app.run_view.log_view import LogView
from app.run_view.pages import Pages
from app.run_view.state_tab import StateTab
from app.run_view.tab_row import TabRow
from app.run_view.turn_list import TurnList
from app.run_view.turn_tab_bar import TabDress, next_attempt_words
from app.run_view.turn_views import TurnViews, apply_zoom
from app.run_view.turn_warnings import TurnWarnings
from app.theme import icon
from core.events import Event, RunStatus, TurnStatus
from core.progress import RunProgress
from core.recorded_run import RecordedRun
from core.turn_progress import TurnProgress

OVERVIEW, STATE = "overview", "state"
"""The pages that are always there; every other page is named by its turn's id."""
_FIXED = (OVERVIEW, STATE)
MOST_TABS = 200
"""Beyond that the oldest tabs of turns that succeeded close by themselves; "All turns" opens them again."""
_MANY = 8


class RunTabs(QWidget):
    """Tabs over one run's folder.

    Signals: `message(str)`: a sentence for the status line; `page_changed(str)`: this `page` is shown.
    """

    message = Signal(str)
    page_changed = Signal(str)

    def __init__(self, orders: AgentOrders, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._orders = orders
        self._progress = RunProgress()
        self._recorded = False
        self._tabs: list[str] = []
        self._closed: set[str] = set()
        self._dresses: dict[str, TabDress] = {}
        """How the turns were shown last."""
        self._warnings = TurnWarnings()
        self._now = 0.0
        self._moving = False
        self._page = OVERVIEW
        self._row = TabRow(self)
        self.fixed, self.bar = self._row.fixed, self._row.turns
        self.follow_button = self._row.follow_button
        self.fixed.customContextMenuRequested.connect(self._show_fixed_menu)
        for bar, chosen in ((self.fixed, self._fixed_chosen), (self.bar, self._turn_chosen)):
            bar.currentChanged.connect(chosen)
            bar.tabBarClicked.connect(chosen)
        self.bar.menu_requested.connect(self._show_menu)
        self.bar.close_requested.connect(self._close_tab)
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
        self.pages = Pages(self)
        self.pages.addWidget(self.overview)
        self.pages.addWidget(self.state_tab)
        self._views = TurnViews(self.pages, self.host)
        self._views.raw_file_requested.connect(self._open_current_file)
        self._views.scrolled_away.connect(self._stop_following)
        self._views.message.connect(self.message)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self._row)
        layout.addWidget(self.pages, 1)

    # --- the run ---------------------------------------------------------------------------------------

    def set_recorded(self, recorded: bool) -> None:
        """Whether the runs that begin from now on are over: they are not followed, and take no orders."""
        self._recorded = recorded

    def begin(self, progress: RunProgress, past: RecordedRun | None = None) -> None:
        """Show another run, from its beginning. `past`: what is recorded of it already."""
        self._progress = progress
        self._page = OVERVIEW
        self._moving = True
        many = self.bar.count() > _MANY and self.bar.isVisible()
        if many:
            # A visible bar lays out all its tabs again for each that goes.
            self.bar.hide()
        for index in reversed(range(self.bar.count())):
            self.bar.removeTab(index)
        if many:
            self.bar.show()
        self._moving = False
        self._views.clear()
        self._tabs.clear()
        self._closed.clear()
        self._dresses.clear()
        self._warnings = TurnWarnings()
        self.follow_button.setChecked(True)
        self._find_files()
        self.overview.set_source(Path(progress.folder) / "overview.log" if progress.folder else None)
        self.state_tab.begin(Path(progress.folder) if progress.folder else None, past)
        self._show(OVERVIEW)

    def take(self, events: Sequence[Event]) -> None:
        """This happened; `refresh` shows it."""
        self.state_tab.take(events)

    def refresh(self, now: float) -> None:
        """Bring tabs in line with the run; cheap where nothing changed."""
        self._now = now
        self._find_files()
        self._warnings.read(self._progress)
        new = [
            turn
            for turn in self._progress.turns.values()
            if turn.id not in self._dresses and turn.id not in self._closed
        ]
        new = self._make_room(new)
        many = len(new) > _MANY and self.bar.isVisible()
        if many:
            # A visible bar lays out all its tabs again for each new one.
            self.bar.hide()
        started: TurnProgress | None = None
        for turn in new:
            self._insert_tab(turn, len(self._tabs))
        for turn in self._progress.turns.values():
            before = self._dresses.get(turn.id)
            dress = self._dress_of(turn)
            if before == dress:
                continue
            self._dresses[turn.id] = dress
            self._dress(turn)
            self._views.tell(turn)
            began = before is None or before.status is not turn.status
            if turn.status is TurnStatus.RUNNING and began and started is None:
                started = turn
            if self._views.is_outdated(turn):
                self._views.drop(turn.id)
                if self._page == turn.id:
                    self._show(turn.id)
        if many:
            self.bar.show()
        self._row.list_button.setVisible(bool(self._progress.turns))
        self.follow_button.setVisible(self._progress.status is None and not self._recorded)
        self.state_tab.show_conflicts(self._progress.conflicts)
        if started is not None and self.follow_button.isChecked():
            shown = self._progress.turns.get(self._page)
            if shown is None or shown.status is not TurnStatus.RUNNING:
                self._show(started.id)

    def _find_files(self) -> None:
        """Files that logs name are looked for in the work folder of the run, once it is known."""
        folder = Path(self._progress.workdir) if self._progress.workdir else None
        if folder != self.host.files.folder:
            self.host.files.set_folder(folder)

    def _make_room(self, new: list[TurnProgress]) -> list[TurnProgress]:
        """Those of the new turns that get a tab, after the oldest that succeeded have given theirs up."""
        too_many = len(self._tabs) + len(new) - MOST_TABS
        if too_many <= 0:
            return new
        turns = self._progress.turns
        succeeded = [
            turn
            for turn in (*self._tabs, *(turn.id for turn in new))
            if turns[turn].status is TurnStatus.SUCCEEDED and turn != self._page
        ]
        for turn in succeeded[:too_many]:
            if not self.close_turn(turn):
                self._closed.add(turn)
        return [turn for turn in new if turn.id not in self._closed]

    def _add_tab(self, turn: TurnProgress, at: int | None = None) -> None:
        self._insert_tab(turn, len(self._tabs) if at is None else at)
        self._dress(turn)

    def _insert_tab(self, turn: TurnProgress, index: int) -> None:
        self._tabs.insert(index, turn.id)
        self._closed.discard(turn.id)
        self._moving = True
        self.bar.insertTab(index, turn.title.replace("&", "&&"))
        self._moving = False

    def _dress_of(self, turn: TurnProgress) -> TabDress:
        waits = turn.waits_for_run or (bool(self._progress.paused) and turn.status is TurnStatus.WAITING)
        warnings = len(self._warnings.of(turn.id))
        attempt = next_attempt_words(turn, self._progress.max_retries)
        return TabDress(
            turn.status,
            bool(turn.question),
            waits,
            warnings,
            turn.folder,
            attempt,
            waits_for_retry=turn.retry_at is not None,
        )

    def _dress(self, turn: TurnProgress) -> None:
        """Icon and words of a tab."""
        if turn.id not in self._tabs:
            return
        dress = self._dresses.get(turn.id) or self._dress_of(turn)
        self.bar.dress(self._tabs.index(turn.id), turn, dress, self._warnings.of(turn.id))

    def note_late_output(self, turn: str, count: int) -> None:
        """So many bytes came from a turn after it was told to end."""
        self._warnings.add_late_output(turn, count)

    # --- which tab -------------------------------------------------------------------------------------

    @property
    def page(self) -> str:
        """What is shown: OVERVIEW, STATE or a turn's id."""
        return self._page

    @property
    def current_turn(self) -> str | None:
        """The turn whose tab is shown; None: the overview or the state."""
        return None if self._page in _FIXED else self._page

    @property
    def open_turns(self) -> list[str]:
        """The turns that have a tab, from left to right."""
        return list(self._tabs)

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
        pages = [*_FIXED, *self._tabs]
        self._choose(pages[(pages.index(self._page) + by) % len(pages)])

    @Slot(int)
    def _fixed_chosen(self, index: int) -> None:
        if not self._moving and index >= 0:
            self._choose(_FIXED[index])

    @Slot(int)
    def _turn_chosen(self, index: int) -> None:
        if not self._moving and 0 <= index < len(self._tabs):
            self._choose(self._tabs[index])

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
        if page not in _FIXED and page not in self._tabs:
            order = list(self._progress.turns)
            earlier = [known for known in order[: order.index(page)] if known in self._tabs]
            self._add_tab(self._progress.turns[page], self._tabs.index(earlier[-1]) + 1 if earlier else 0)
        self._page = page
        self._moving = True
        self.fixed.set_active(page in _FIXED)
        self.bar.set_active(page not in _FIXED)
        if page in _FIXED:
            self.fixed.setCurrentIndex(_FIXED.index(page))
            self.pages.setCurrentWidget(self.state_tab if page == STATE else self.overview)
        else:
            self.bar.setCurrentIndex(self._tabs.index(page))
            self.pages.setCurrentWidget(self._view(page))
        self._moving = False
        self.page_changed.emit(page)

    # --- the views of turns ----------------------------------------------------------------------------

    def _view(self, turn: str) -> LogView:
        return self._views.view(self._progress.turns[turn], self._turn_folder(turn))

    @Slot()
    def _stop_following(self) -> None:
        self.follow_button.setChecked(False)

    def set_zoom(self, zoom: int) -> None:
        """Text of all logs so many pixels larger (or smaller) than usual."""
        apply_zoom(self.overview, zoom)
        self._views.set_zoom(zoom)

    # --- menus and files -------------------------------------------------------------------------------

    def _turn_folder(self, turn: str) -> Path:
        return Path(self._progress.folder) / "turns" / self._progress.turns[turn].folder

    def menu_for(self, index: int) -> QMenu:
        """The context menu of a turn's tab; the caller shows it and it deletes itself when it closes."""
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        turn = self._tabs[index]
        progress = self._progress.turns[turn]
        folder = self._turn_folder(turn)
        menu.addAction(
            icon("file-text", "quiet"), self.tr("Open raw file"), lambda: _open(folder / "stdout.log")
        )
        menu.addAction(icon("folder-open", "quiet"), self.tr("Open folder"), lambda: _open(folder))
        menu.addAction(icon("copy", "quiet"), self.tr("Copy all"), lambda: self._copy_all(turn))
        menu.addSeparator()
        if self._progress.running and not self._recorded:
            self._orders.add_to(menu, turn)
            menu.addSeparator()
        close = menu.addAction(icon("x", "quiet"), self.tr("Close"), lambda: self.close_turn(turn))
        close.setEnabled(progress.is_over)
        others = menu.addAction(self.tr("Close all that succeeded"), self.close_succeeded)
        others.setEnabled(any(dress.status is TurnStatus.SUCCEEDED for dress in self._dresses.values()))
        return menu

    @Slot(int, QPoint)
    def _show_menu(self, index: int, where: QPoint) -> None:
        # Not exec: a nested loop would hold up every coroutine of a run.
        self.menu_for(index).popup(where)

    @Slot(QPoint)
    def _show_fixed_menu(self, where: QPoint) -> None:
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        if self.fixed.tabAt(where) == _FIXED.index(STATE):
            menu.addAction(icon("copy", "quiet"), self.tr("Copy as JSON"), self.state_tab.copy_json)
        else:
            menu.addAction(icon("file-text", "quiet"), self.tr("Open log file"), self._open_overview_file)
        menu.popup(self.fixed.mapToGlobal(where))

    @Slot(int)
    def _close_tab(self, index: int) -> None:
        self.close_turn(self._tabs[index])

    def close_turn(self, turn: str) -> bool:
        """Close a finished turn's tab; False where it is not finished. "All turns" opens it again."""
        if turn not in self._tabs or not self._progress.turns[turn].is_over:
            return False
        index = self._tabs.index(turn)
        self._tabs.pop(index)
        self._closed.add(turn)
        self._moving = True
        self.bar.removeTab(index)
        self._moving = False
        self._views.drop(turn)
        if self._page == turn:
            self._show(self._tabs[min(index, len(self._tabs) - 1)] if self._tabs else OVERVIEW)
        return True

    @Slot()
    def close_current(self) -> None:
        """Close the shown tab, if it may be closed."""
        if self.current_turn is not None:
            self.close_turn(self.current_turn)

    @Slot()
    def close_succeeded(self) -> None:
        """Close the tabs of all turns that succeeded."""
        for turn in list(self._tabs):
            if self._progress.turns[turn].status is TurnStatus.SUCCEEDED:
                self.close_turn(turn)

    def _copy_all(self, turn: str) -> None:
        self._choose(turn)
        view = self._view(turn)
        view.select_all()
        view.copy()

    @Slot()
    def _open_current_file(self) -> None:
        if self.current_turn is not None:
            _open(self._turn_folder(self.current_turn) / "stdout.log")

    @Slot()
    def _open_overview_file(self) -> None:
        _open(Path(self._progress.folder) / "overview.log")

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


def _open(path: Path) -> None:
    QDesktopServices.openUrl(QUrl.fromLocalFile(str(path)))
