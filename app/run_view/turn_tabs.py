"""Which turns of a run have a tab, and what their tabs say. Which tab is shown is decided in `tabs`.

When many turns come at once, as with a recorded run, the tabs at the left are made at once and the others
a few at a time, so that the window answers meanwhile.
"""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QObject, QPoint, QTimer, Signal, Slot

from app.run_view.turn_tab_bar import TabDress, TurnTabBar, next_attempt_words
from app.run_view.turn_warnings import TurnWarnings
from core.events import TurnStatus
from core.progress import RunProgress
from core.turn_progress import TurnProgress

MOST_TABS = 200
"""Beyond that the oldest tabs of turns that succeeded close by themselves; "All turns" opens them again."""
_MANY = 8
_AT_ONCE = 32
"""Tabs that are made in one go: more than a window shows, in a few milliseconds."""


@dataclass(frozen=True, slots=True)
class ChangedTurn:
    """A turn that is not as it was. `began`: its status is another."""

    turn: TurnProgress
    began: bool


class TurnTabs(QObject):
    """The tabs in `bar`.

    Signals: `chosen(str)`: the user turned to the tab of this turn; `closed(str, str)`: this turn has none
    any more, and which of its neighbours has one (empty: there is none); `menu_requested(str, QPoint)`: the
    context menu of a tab, in global coordinates.
    """

    chosen = Signal(str)
    closed = Signal(str, str)
    menu_requested = Signal(str, QPoint)

    def __init__(self, bar: TurnTabBar) -> None:
        super().__init__(bar)
        self._bar = bar
        self._progress = RunProgress()
        self._tabs: list[str] = []
        """All of them; the bar may still lack those at the end."""
        self._go_on = QTimer(self)
        self._go_on.setInterval(0)
        self._go_on.timeout.connect(self._make_more)
        self._closed: set[str] = set()
        self._dresses: dict[str, TabDress] = {}
        """How the turns were shown last."""
        self._warnings = TurnWarnings()
        self._moving = False
        bar.currentChanged.connect(self._choose)
        bar.tabBarClicked.connect(self._choose)
        bar.menu_requested.connect(self._ask_menu)
        bar.close_requested.connect(self._close_at)

    @property
    def ids(self) -> list[str]:
        """The turns that have a tab, from left to right."""
        return list(self._tabs)

    @property
    def any_succeeded(self) -> bool:
        """Whether a turn succeeded."""
        return any(dress.status is TurnStatus.SUCCEEDED for dress in self._dresses.values())

    def has(self, turn: str) -> bool:
        """Whether a turn has a tab."""
        return turn in self._tabs

    def begin(self, progress: RunProgress) -> None:
        """Show another run, without tabs."""
        self._progress = progress
        self._go_on.stop()
        self._moving = True
        many = self._bar.count() > _MANY and self._bar.isVisible()
        if many:
            # A visible bar lays out all its tabs again for each that goes.
            self._bar.hide()
        for index in reversed(range(self._bar.count())):
            self._bar.removeTab(index)
        if many:
            self._bar.show()
        self._moving = False
        self._tabs.clear()
        self._closed.clear()
        self._dresses.clear()
        self._warnings = TurnWarnings()

    def refresh(self, page: str) -> list[ChangedTurn]:
        """Bring the tabs in line with the run; cheap where nothing changed. `page`: it keeps its tab."""
        self._warnings.read(self._progress)
        new = self._make_room(
            [
                turn
                for turn in self._progress.turns.values()
                if turn.id not in self._dresses and turn.id not in self._closed
            ],
            page,
        )
        self._tabs += [turn.id for turn in new]
        self._closed.difference_update(self._tabs)
        changed: list[ChangedTurn] = []
        places = {turn: index for index, turn in enumerate(self._tabs)}
        for turn in self._progress.turns.values():
            before = self._dresses.get(turn.id)
            dress = self._dress_of(turn)
            if before == dress:
                continue
            self._dresses[turn.id] = dress
            index = places.get(turn.id)
            if index is not None and index < self._bar.count():
                self._bar.dress(index, turn, dress, self._warnings.of(turn.id))
            changed.append(ChangedTurn(turn, before is None or before.status is not turn.status))
        if new and not self._go_on.isActive():
            self._make_more()
        return changed

    @Slot()
    def _make_more(self) -> None:
        """Make the next tabs that the bar lacks, a few of them."""
        self._make_until(self._bar.count() + _AT_ONCE)
        if self._bar.count() < len(self._tabs):
            self._go_on.start()
        else:
            self._go_on.stop()

    def _make_until(self, count: int) -> None:
        """Have at least so many tabs, or all there are."""
        lacking = self._tabs[self._bar.count() : count]
        # A visible bar lays out all its tabs several times for each new one; hidden it would lose the focus.
        many = bool(lacking) and self._bar.count() + len(lacking) > _MANY
        hides = many and self._bar.isVisible() and not self._bar.hasFocus()
        if hides:
            self._bar.hide()
        for turn in lacking:
            self._make(turn, self._bar.count())
        if hides:
            self._bar.show()

    def _make_room(self, new: list[TurnProgress], page: str) -> list[TurnProgress]:
        """Those of the new turns that get a tab, after the oldest that succeeded have given theirs up."""
        too_many = len(self._tabs) + len(new) - MOST_TABS
        if too_many <= 0:
            return new
        turns = self._progress.turns
        succeeded = [
            turn
            for turn in (*self._tabs, *(turn.id for turn in new))
            if turns[turn].status is TurnStatus.SUCCEEDED and turn != page
        ]
        for turn in succeeded[:too_many]:
            if not self.close(turn):
                self._closed.add(turn)
        return [turn for turn in new if turn.id not in self._closed]

    def _make(self, turn: str, index: int) -> None:
        """Put a tab into the bar."""
        progress = self._progress.turns[turn]
        self._moving = True
        self._bar.insertTab(index, progress.title.replace("&", "&&"))
        self._moving = False
        dress = self._dresses.get(turn) or self._dress_of(progress)
        self._bar.dress(index, progress, dress, self._warnings.of(turn))

    def _dress_of(self, turn: TurnProgress) -> TabDress:
        waits = turn.waits_for_run or (bool(self._progress.paused) and turn.status is TurnStatus.WAITING)
        return TabDress(
            turn.status,
            bool(turn.question),
            waits,
            len(self._warnings.of(turn.id)),
            turn.folder,
            next_attempt_words(turn, self._progress.max_retries),
            waits_for_retry=turn.retry_at is not None,
        )

    def note_late_output(self, turn: str, count: int) -> None:
        """So many bytes came from a turn after it was told to end."""
        self._warnings.add_late_output(turn, count)

    # --- opening and closing ---------------------------------------------------------------------------

    def show(self, turn: str | None) -> None:
        """The tab of this turn is the current one, and there is one; None: none is."""
        self._bar.set_active(turn is not None)
        if turn is None:
            return
        if turn not in self._tabs:
            self._open(turn)
        index = self._tabs.index(turn)
        self._make_until(index + 1)
        self._moving = True
        self._bar.setCurrentIndex(index)
        self._moving = False

    def _open(self, turn: str) -> None:
        """Give a turn a tab, where it stands in the run."""
        order = list(self._progress.turns)
        earlier = [known for known in order[: order.index(turn)] if known in self._tabs]
        index = self._tabs.index(earlier[-1]) + 1 if earlier else 0
        self._make_until(index)
        self._tabs.insert(index, turn)
        self._closed.discard(turn)
        self._make(turn, index)

    def close(self, turn: str) -> bool:
        """Close a finished turn's tab; False where it is not finished."""
        if turn not in self._tabs or not self._progress.turns[turn].is_over:
            return False
        index = self._tabs.index(turn)
        self._tabs.pop(index)
        self._closed.add(turn)
        if index < self._bar.count():
            self._moving = True
            self._bar.removeTab(index)
            self._moving = False
        self.closed.emit(turn, self._tabs[min(index, len(self._tabs) - 1)] if self._tabs else "")
        return True

    def close_succeeded(self) -> None:
        """Close the tabs of all turns that succeeded."""
        for turn in list(self._tabs):
            if self._progress.turns[turn].status is TurnStatus.SUCCEEDED:
                self.close(turn)

    # --- what the user does ----------------------------------------------------------------------------

    @Slot(int)
    def _choose(self, index: int) -> None:
        if not self._moving and 0 <= index < len(self._tabs):
            self.chosen.emit(self._tabs[index])

    @Slot(int, QPoint)
    def _ask_menu(self, index: int, where: QPoint) -> None:
        self.menu_requested.emit(self._tabs[index], where)

    @Slot(int)
    def _close_at(self, index: int) -> None:
        self.close(self._tabs[index])
