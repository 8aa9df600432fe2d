"""Finding in the state that is shown, in its tree and in its text: what is looked for, and where one is."""

from __future__ import annotations

from PySide6.QtCore import QObject, QTimer, Signal, Slot

from app.run_view.state_find import StateFind
from app.run_view.state_model import state_object
from app.run_view.state_raw import StateRaw
from app.run_view.state_tree import StateTree
from app.run_view.state_work import StateWork
from core.state_history import StateLook
from core.state_search import StateSearch

_LOOK_MS = 100
"""Between two looks at how far a search has come."""


class StateFinding(QObject):
    """Between the field, the views and the worker.

    Signals: `going()` before it goes to a match in the tree.
    """

    going = Signal()

    def __init__(self, field: StateFind, tree: StateTree, raw: StateRaw, work: StateWork) -> None:
        super().__init__(field)
        self._field, self._tree, self._raw, self._work = field, tree, raw, work
        self._look: StateLook | None = None
        self._in_text = self._only_changes = False
        self._search: StateSearch | None = None
        self.match: int | None = None
        """The match that one is at, counted from 0."""
        self._goes = False
        """The first match is gone to when it is there."""
        self._poll = QTimer(self)
        self._poll.setInterval(_LOOK_MS)
        self._poll.timeout.connect(self._follow)
        work.searched.connect(self._follow)
        field.needle_changed.connect(self._find)
        field.step_requested.connect(self.find_next)

    def show(self, look: StateLook | None, *, in_text: bool, only_changes: bool, go: bool = False) -> None:
        """This is shown now, and looked through. `go`: to the first match; else one stays where one is."""
        same = look is self._look and (in_text, only_changes) == (self._in_text, self._only_changes)
        self._look, self._in_text, self._only_changes = look, in_text, only_changes
        if not same:
            self._begin(go=go)

    def text_shown(self) -> None:
        """The text has been put into its view."""
        if self._in_text and self._field.needle:
            self._find_in_text(0)

    @Slot(str)
    def _find(self) -> None:
        self._begin(go=True)

    def _begin(self, *, go: bool) -> None:
        self._search, self.match = None, None
        self._goes = go
        self._poll.stop()
        self._work.stop_search()
        needle = self._field.needle
        self._tree.mark(needle)
        if not needle or self._look is None:
            self._field.show_count(None, 0, searching=False)
        elif self._in_text:
            self._find_in_text(0)
        else:
            within = self._look.changes.root if self._only_changes else None
            self._search = StateSearch(state_object(self._look.state), needle, within)
            self._work.search(self._search)
            self._poll.start()

    @Slot()
    def _follow(self) -> None:
        """Say how far the search has come; go to the first match when it is there."""
        search = self._search
        if search is None or search.done:
            self._poll.stop()
        if search is None:
            return
        if self._goes and search.count:
            self._goes = False
            self._go_to(0)
        self._show_count()

    def _show_count(self) -> None:
        search = self._search
        if search is not None:
            # First: what is found meanwhile is not in the count.
            searching = not search.done
            self._field.show_count(self.match, search.count, searching=searching, more=search.more)

    def _go_to(self, number: int) -> None:
        assert self._search is not None  # a match is one of a search
        self.match = number
        self.going.emit()
        self._tree.go_to(self._search.path(number))

    @Slot(int)
    def find_next(self, step: int) -> None:
        """Go to the next match (1) or the previous (-1), round the end."""
        if self._in_text:
            self._find_in_text(step)
            return
        search = self._search
        if search is None or not search.count:
            self._field.open()
            return
        here = self.match if self.match is not None else -min(step, 0) - 1
        self._go_to((here + step) % search.count)
        self._show_count()

    def _find_in_text(self, step: int) -> None:
        ordinal, count = self._raw.find_text(self._field.needle, step)
        self._field.show_count(ordinal, count, searching=False)

    @Slot()
    def find_down(self) -> None:
        """The next match."""
        self.find_next(1)

    @Slot()
    def find_up(self) -> None:
        """The match before."""
        self.find_next(-1)
