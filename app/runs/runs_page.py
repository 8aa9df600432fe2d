"""All runs of a log folder: a list that is searched, and what is selected with what can be done with it."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QPoint, Qt, Signal, Slot
from PySide6.QtGui import (
    QKeyEvent,
    QKeySequence,
    QPalette,
    QResizeEvent,
    QShortcut,
)
from PySide6.QtWidgets import (
    QHBoxLayout,
    QMenu,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from app.buttons import Button, ButtonLook
from app.fields import FIELD_HEIGHT
from app.labels import ElidedLabel, Line, QuietLabel
from app.runs.empty_list import EmptyList
from app.runs.entry import RunEntry
from app.runs.lined_splitter import LinedSplitter
from app.runs.live_run import LiveRun
from app.runs.outcome_chips import OutcomeChips
from app.runs.run_actions import RunActions
from app.runs.run_detail import RunDetail
from app.runs.run_list import RunList
from app.runs.run_reader import FolderOf, Reading, RunReader
from app.runs.run_table import RunTable
from app.runs.search_keys import SearchField, SearchKeys
from app.runs.sort_button import SortButton
from app.runs.words import runs_words
from app.runs.work_bar import WorkBar
from app.theme import TextSize, font

_MARGIN = 12
_SIDE_BY_SIDE = 1000
"""From this width on the list stands beside the run, not above it."""
_SHORT = 620


class RunsPage(QWidget):
    """The runs of a log folder.

    Signals: `resume_requested(Path, RunOverrides)`: a run shall go on; `closed()`: the user is done here;
    `blocked_changed(str)`: why nothing can be resumed now; empty: it can.
    What else can be done with runs are the signals of `actions`.
    """

    resume_requested = Signal(object, object)
    closed = Signal()
    blocked_changed = Signal(str)

    def __init__(
        self,
        parent: QWidget | None = None,
        *,
        reader: RunReader | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        super().__init__(parent)
        self._clock = clock
        self._wanted: Path | None = None
        """The run to be selected as soon as it is read."""
        self.blocked = ""
        """Why nothing can be resumed at present; empty: it can."""
        self._chosen = False
        """The user selected one himself."""
        self._resumable_first = False
        self._reading = False
        self._folder: Path | None = None
        self._log_dir: FolderOf | None = None
        self._problem = ""
        self._menu: QMenu | None = None
        self.reader = reader if reader is not None else RunReader(self)
        self.reader.told.connect(self._take)
        self.runs = RunList(self)
        self.field = SearchField(self)
        self.field.setAccessibleName(self.tr("Search runs"))
        self.field.setClearButtonEnabled(True)
        self.field.setMinimumHeight(FIELD_HEIGHT)
        self.field.textChanged.connect(self._search)
        self.chips = OutcomeChips(self)
        self.chips.chosen.connect(self._show_outcomes)
        self.where = ElidedLabel("", parent=self)
        self.where.setForegroundRole(QPalette.ColorRole.PlaceholderText)
        self.count = QuietLabel("", self)
        self.list = RunTable(self.runs, self)
        self.actions_of_runs = RunActions(self.list, self)
        self.actions_of_runs.resume_requested.connect(self.go_to_form)
        self.work = WorkBar(self)
        self.no_runs = EmptyList(self)
        self.no_runs.all_requested.connect(self._go_to_all)
        self.empty = self.no_runs.words
        self.detail = RunDetail(self.actions_of_runs, self)
        self.detail.form.resume_requested.connect(self.resume_requested)
        self.sort_button = SortButton(self.list, self)
        self._connect_list()
        self._arrange()
        self._show_shape()
        self._show_state()

    def _connect_list(self) -> None:
        view = self.list
        view.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        view.customContextMenuRequested.connect(self._show_menu)
        view.selectionModel().selectionChanged.connect(self._show_current)
        view.doubleClicked.connect(self.actions_of_runs.open.trigger)
        view.clicked.connect(self._remember_choice)
        view.shape_changed.connect(self._show_shape)
        view.typed.connect(self._type)
        keys = SearchKeys(self.field, view, self.actions_of_runs, self)
        keys.chose.connect(self._remember_choice)

    def _arrange(self) -> None:
        search = QHBoxLayout()
        search.setContentsMargins(_MARGIN, 8, _MARGIN, 8)
        search.setSpacing(8)
        search.addWidget(self.field, 1)
        search.addWidget(self.sort_button)
        self.again_button = Button("", ButtonLook.FLAT, "refresh-cw", self)
        self.again_button.setAccessibleName(self.tr("Read the runs again"))
        self.again_button.setToolTip(self.tr("Read the runs again"))
        self.again_button.clicked.connect(self.read_again)
        search.addWidget(self.again_button)
        self._pages = QStackedWidget(self)
        self._pages.addWidget(self.list)
        self._pages.addWidget(self.no_runs)
        left = QWidget(self)
        column = QVBoxLayout(left)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addLayout(search)
        chips = QHBoxLayout()
        chips.setContentsMargins(_MARGIN, 0, _MARGIN, 8)
        chips.addWidget(self.chips, 1)
        column.addLayout(chips)
        column.addWidget(self._pages, 1)
        column.addWidget(self.work)
        column.addWidget(Line(self))
        for label in (self.where, self.count):
            label.setFont(font(TextSize.LABEL, tabular=True))
        foot = QHBoxLayout()
        foot.setContentsMargins(_MARGIN, 5, _MARGIN, 6)
        foot.setSpacing(12)
        foot.addWidget(self.where, 1)
        foot.addStretch(0)
        foot.addWidget(self.count)
        column.addLayout(foot)
        left.setMinimumHeight(180)
        self.splitter = LinedSplitter(Qt.Orientation.Vertical, self)
        self.splitter.addWidget(left)
        self.splitter.addWidget(self.detail)
        self.splitter.setStretchFactor(0, 3)
        self.splitter.setStretchFactor(1, 2)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self.splitter)
        self.setMinimumWidth(280)
        self.setBackgroundRole(QPalette.ColorRole.Base)
        self.setAutoFillBackground(True)
        for keys in ("Ctrl+Return", "Ctrl+Enter"):
            shortcut = QShortcut(QKeySequence(keys), self)
            shortcut.setContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
            shortcut.activated.connect(self.detail.form.resume)
        # Letters that are typed there go to the search.
        self.setFocusProxy(self.list)

    # --- reading ---------------------------------------------------------------------------------------

    def read(self, log_dir: FolderOf, wanted: Path | None = None, *, resumable_first: bool = False) -> None:
        """Read the runs of a folder, and select this one; else the newest, or the first that can go on.

        `log_dir` is asked for the folder on the worker.
        """
        self._log_dir = log_dir
        self._wanted = wanted
        self._chosen = self._chosen and not resumable_first
        self._resumable_first = resumable_first
        self._reading = True
        self._problem = ""
        self.runs.show_time(self._clock())
        self.reader.read(log_dir)
        self._show_state()

    @Slot()
    def read_again(self) -> None:
        """Read the same folder again; what is selected stays so."""
        if self._log_dir is not None:
            self.read(self._log_dir)

    @Slot(object)
    def _take(self, reading: Reading) -> None:
        if reading.folder != self._folder:
            self._folder = reading.folder
            self._chosen = False
            self.runs.clear()
            self.where.set_text(str(reading.folder or ""))
        gone = self._first_gone(reading)
        if reading.folders is not None:
            self.runs.keep_only(set(reading.folders))
        self.runs.put(reading.entries)
        if gone is not None and self.runs.rowCount():
            # Who deletes one run after the other goes on where he is, and never hits the newest.
            self.list.choose(self.runs.index(min(gone, self.runs.rowCount() - 1), 0))
            self._chosen = True
        self._reading = not reading.last
        self._problem = reading.problem or self._problem
        self.list.fit_words()
        self._select()
        self._show_current()
        self._show_state()

    def _first_gone(self, reading: Reading) -> int | None:
        """The row of the first run that is selected, where none of those that are is there any more."""
        rows = self.list.selected_rows()
        if reading.folders is None or not rows:
            return None
        stays = set(reading.folders)
        return None if any(self.runs.entries[row].folder in stays for row in rows) else rows[0]

    def _select(self) -> None:
        """What was asked for; else the newest or the first that can go on, unless the user has chosen."""
        if self._wanted is not None and self.runs.known_run(self._wanted) is not None:
            if not self.runs.index_of(self._wanted).isValid():
                self._show_all()
            index = self.runs.index_of(self._wanted)
            self._wanted = None
            self._chosen = True
            self.list.choose(index)
            self.list.scrollTo(index)
        if self._wanted is not None or (self._chosen and self.selected):
            return
        row = 0
        if self._resumable_first:
            if _is_resumable(self.current):
                return
            row = next((at for at, entry in enumerate(self.runs.entries) if entry.resumable), 0)
        entries = self.runs.entries
        if entries and entries[row] != self.current:
            self.list.choose(self.runs.index(row, 0))

    def _show_all(self) -> None:
        """Take away whatever hides runs."""
        self.field.clear()
        self.chips.all.click()

    @Slot()
    def _go_to_all(self) -> None:
        self._show_all()
        self.list.setFocus(Qt.FocusReason.OtherFocusReason)

    @property
    def current(self) -> RunEntry | None:
        """The run that is selected; None where none is, or several are."""
        selected = self.selected
        return selected[0] if len(selected) == 1 else None

    @property
    def selected(self) -> tuple[RunEntry, ...]:
        """All runs that are selected, from top to bottom."""
        return tuple(self.runs.entries[row] for row in self.list.selected_rows())

    @property
    def log_dir(self) -> Path | None:
        """The folder whose runs are listed, as soon as it is known."""
        return self._folder

    def set_blocked(self, reason: str) -> None:
        """Why nothing can be resumed at present; empty: it can."""
        self.blocked = reason
        self.blocked_changed.emit(reason)
        self.detail.form.set_blocked(reason)

    def close_reader(self) -> None:
        """The window closes."""
        self.reader.close()

    def show_live(self, live: LiveRun | None) -> None:
        """How the run of this window stands now; None: there is none."""
        before, all_before = self.current, self.selected
        self.runs.follow(live)
        now = self.current
        if len(all_before) > 1 and self.selected != all_before:
            self.detail.show_sum(self.selected)
        known = self.runs.known_run(live.folder) if live is not None else None
        if known is not None:
            self.list.make_room(known)
        if now is None or now == before:
            return
        if before is None or (now.waits, now.here) != (before.waits, before.here):
            self._show_current()
            self._show_state()
        else:
            # Nothing else: who selects text of it keeps that.
            self.detail.show_facts(now, self._clock())

    # --- what is shown ---------------------------------------------------------------------------------

    @Slot()
    def _show_current(self) -> None:
        selected = self.selected
        now = self._clock()
        if len(selected) > 1:
            self.detail.show_several(selected)
        else:
            self.detail.show_run(selected[0] if selected else None, now)
        earlier = self._earlier(selected[0]) if len(selected) == 1 else None
        self.actions_of_runs.show_selection(selected, earlier, now)
        self._show_count()

    def _earlier(self, entry: RunEntry) -> RunEntry | None:
        """The run of the same workflow before this one."""
        older = (
            known
            for known in self.runs.known
            if known.workflow == entry.workflow and not known.problem and known.run_id < entry.run_id
        )
        return max(older, key=lambda known: known.run_id, default=None)

    def _show_count(self) -> None:
        shown, known = self.runs.rowCount(), len(self.runs.known)
        words = runs_words(known)
        if shown != known:
            words = self.tr("{0} of {1}").format(f"{shown:,}", words)
        selected = len(self.list.selected_rows())
        if selected > 1:
            words = self.tr("{0} · {1} selected").format(words, f"{selected:,}")
        if self._reading:
            words = self.tr("{0}, reading…").format(words)
        self.count.setText(words if known else "")

    def _show_state(self) -> None:
        """The list, or why there is none."""
        self.chips.show_counts(self.runs.counts())
        self.chips.setVisible(bool(self.runs.known))
        self.detail.setVisible(bool(self.runs.known))
        self.detail.offer_choice(self.runs.rowCount() > 0)
        self._show_shape()
        self._show_count()
        if self.runs.rowCount():
            waited = self._pages.currentWidget() is self.no_runs and self.field.hasFocus()
            self._pages.setCurrentWidget(self.list)
            self.setFocusProxy(self.list)
            if waited and not self.field.text():
                self.list.setFocus(Qt.FocusReason.OtherFocusReason)
            return
        words = self.field.text().strip()
        if self._problem:
            text = self.tr("The log folder cannot be read: {0}").format(self._problem)
        elif self._reading and not self.runs.known:
            text = self.tr("Reading the runs…")
        elif words:
            text = self.tr("No run matches “{0}”.").format(words)
        elif self.runs.known:
            text = self.tr("There is no such run.")
        else:
            text = self.tr(
                "There are no runs here yet. Every run of a workflow is kept: here one looks at it again, "
                "compares it with others, and goes on with those that ended before they were complete."
            )
        self.no_runs.say(text, hidden=0 if self._problem else len(self.runs.known))
        self._pages.setCurrentWidget(self.no_runs)
        self.setFocusProxy(self.field)

    @Slot(str)
    def _search(self, text: str) -> None:
        self.runs.search(text)
        self._keep_selection()

    @Slot(object)
    def _show_outcomes(self, outcomes: frozenset[object]) -> None:
        del outcomes
        self.runs.show_outcomes(self.chips.outcomes)
        self._keep_selection()

    def _keep_selection(self) -> None:
        """Something is selected wherever there is something."""
        if not self.selected:
            self.list.choose(self.runs.index(0, 0))
        self._show_current()
        self._show_state()

    @Slot()
    def _show_shape(self) -> None:
        """A table is sorted by its header; two lines have a button for it."""
        self.sort_button.setVisible(not self.list.is_table and len(self.runs.known) > 1)

    @Slot()
    def _remember_choice(self) -> None:
        self._chosen = True

    @Slot()
    def go_to_form(self) -> None:
        """To the first field that may be changed when the run goes on."""
        entry = self.current
        if entry is not None and entry.resumable:
            self.detail.go_to_form()

    @Slot()
    def focus_search(self) -> None:
        """To the search."""
        self.field.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.field.selectAll()

    @Slot(str)
    def _type(self, text: str) -> None:
        """A letter in the list: it is looked for."""
        self.field.setFocus(Qt.FocusReason.OtherFocusReason)
        self.field.end(False)
        self.field.insert(text)

    @Slot(QPoint)
    def _show_menu(self, point: QPoint) -> None:
        if not self.selected:
            return
        if self._menu is not None:
            self._menu.deleteLater()
        self._menu = self.actions_of_runs.menu(self)
        at = self.list.viewport().mapToGlobal(point)
        if not self.list.viewport().rect().contains(point) or not self.list.indexAt(point).isValid():
            # Asked for with a key, while the pointer is anywhere.
            row = self.list.visualRect(self.list.currentIndex())
            at = self.list.viewport().mapToGlobal(QPoint(row.left() + 40, row.bottom()))
        self._menu.popup(at)

    # --- keys and size ---------------------------------------------------------------------------------

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802
        if event.key() == Qt.Key.Key_Escape:
            self.closed.emit()
        else:
            super().keyPressEvent(event)

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        super().resizeEvent(event)
        self.chips.set_low(self.height() < _SHORT)
        beside = self.width() >= _SIDE_BY_SIDE
        orientation = Qt.Orientation.Horizontal if beside else Qt.Orientation.Vertical
        if orientation != self.splitter.orientation():
            self.splitter.setOrientation(orientation)
            self._share()
        elif event.oldSize().height() <= 0:
            self._share()

    def _share(self) -> None:
        """More for the list, unless little room is left for what is selected then."""
        beside = self.splitter.orientation() is Qt.Orientation.Horizontal
        whole = self.width() if beside else self.height()
        listed = whole // 2 if not beside and whole < _SHORT else whole * 3 // 5
        if beside:
            # With a little more of the page the list has room for the agents, too.
            listed = max(listed, min(self.list.wanted_width(), whole * 2 // 3))
        elif whole >= _SHORT:
            # What is said of a run needs no more room in a higher window.
            listed = max(listed, whole - self.detail.sizeHint().height())
        self.splitter.setSizes([listed, whole - listed])


def _is_resumable(entry: RunEntry | None) -> bool:
    return entry is not None and entry.resumable
