"""All runs of a log folder: a list that is searched, and the one that is selected with what can be done."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QEvent, QModelIndex, QObject, Qt, Signal, Slot
from PySide6.QtGui import (
    QKeyEvent,
    QKeySequence,
    QPainter,
    QPaintEvent,
    QPalette,
    QResizeEvent,
    QShortcut,
)
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHBoxLayout,
    QListView,
    QSplitter,
    QSplitterHandle,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from app.buttons import Button, ButtonLook
from app.fields import FIELD_HEIGHT, OutlinedField
from app.labels import ElidedLabel, QuietLabel
from app.runs.entry import RunEntry
from app.runs.run_delegate import RunDelegate
from app.runs.run_detail import RunDetail
from app.runs.run_list import ENTRY_ROLE, RunFilter, RunList
from app.runs.run_reader import FolderOf, Reading, RunReader
from app.scroll_bar import use_thin_scroll_bars
from app.theme import TextSize, font, theme

_MARGIN = 12
_SIDE_BY_SIDE = 860
"""From this width on the list stands beside the run, not above it."""


class RunsPage(QWidget):
    """The runs of a log folder.

    Signals: `resume_requested(Path, RunOverrides)`: a run shall go on; `closed()`: the user is done here.
    """

    resume_requested = Signal(object, object)
    closed = Signal()

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
        self._chosen = False
        """The user selected one himself."""
        self._reading = False
        self._folder: Path | None = None
        self._log_dir: FolderOf | None = None
        self._problem = ""
        self.reader = reader if reader is not None else RunReader(self)
        self.reader.told.connect(self._take)
        self.runs = RunList(self)
        self.filtered = RunFilter(self.runs, self)
        self.field = OutlinedField(self)
        self.field.setPlaceholderText(self.tr("Search runs, such as “audit budget”"))
        self.field.setAccessibleName(self.tr("Search runs"))
        self.field.setClearButtonEnabled(True)
        self.field.setMinimumHeight(FIELD_HEIGHT)
        self.field.textChanged.connect(self._search)
        self.field.installEventFilter(self)
        self.where = ElidedLabel("", parent=self)
        self.list = self._make_list()
        self.empty = QuietLabel("", self)
        self.empty.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.empty.setWordWrap(True)
        self.empty.setMargin(24)
        self.detail = RunDetail(self)
        self.detail.form.resume_requested.connect(self.resume_requested)
        self._arrange()
        self._show_state()

    def _make_list(self) -> QListView:
        view = QListView(self)
        use_thin_scroll_bars(view)
        view.setFrameShape(QListView.Shape.NoFrame)
        view.setModel(self.filtered)
        view.setItemDelegate(RunDelegate(view))
        view.setUniformItemSizes(True)
        view.setMouseTracking(True)
        view.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        view.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        view.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        view.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        view.setAccessibleName(self.tr("Runs"))
        view.selectionModel().currentChanged.connect(self._show_current)
        view.activated.connect(self._go_to_form)
        view.clicked.connect(self._remember_choice)
        return view

    def _arrange(self) -> None:
        search = QHBoxLayout()
        search.setContentsMargins(_MARGIN, 8, _MARGIN, 8)
        search.setSpacing(8)
        search.addWidget(self.field, 1)
        self.again_button = Button("", ButtonLook.FLAT, "refresh-cw", self)
        self.again_button.setAccessibleName(self.tr("Read the runs again"))
        self.again_button.setToolTip(self.tr("Read the runs again"))
        self.again_button.clicked.connect(self.read_again)
        search.addWidget(self.again_button)
        self._pages = QStackedWidget(self)
        self._pages.addWidget(self.list)
        self._pages.addWidget(self.empty)
        left = QWidget(self)
        column = QVBoxLayout(left)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addLayout(search)
        column.addWidget(self._pages, 1)
        self.where.setFont(font(TextSize.LABEL))
        foot = QHBoxLayout()
        foot.setContentsMargins(_MARGIN, 4, _MARGIN, 6)
        foot.addWidget(self.where)
        foot.addStretch(1)
        column.addLayout(foot)
        left.setMinimumHeight(150)
        self.splitter = _LinedSplitter(Qt.Orientation.Vertical, self)
        self.splitter.setHandleWidth(1)
        self.splitter.setChildrenCollapsible(False)
        self.splitter.addWidget(left)
        self.splitter.addWidget(self.detail)
        self.splitter.setStretchFactor(0, 1)
        self.splitter.setStretchFactor(1, 1)
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
        # One types to search, and the arrows and Enter of the field work on the list.
        self.setFocusProxy(self.field)

    # --- reading ---------------------------------------------------------------------------------------

    def read(self, log_dir: FolderOf, wanted: Path | None = None) -> None:
        """Read the runs of a folder, and select this one, or the first that can go on.

        `log_dir` is asked for the folder on the worker.
        """
        self._log_dir = log_dir
        self._wanted = wanted
        self._chosen = False
        self._reading = True
        self._problem = ""
        self.runs.show_time(self._clock())
        self.reader.read(log_dir)
        self._show_state()

    @Slot()
    def read_again(self) -> None:
        """Read the same folder again."""
        entry = self.current
        if self._log_dir is not None:
            self.read(self._log_dir, entry.folder if entry is not None else None)

    @Slot(object)
    def _take(self, reading: Reading) -> None:
        if reading.folder != self._folder:
            self._folder = reading.folder
            self.runs.clear()
            self.where.set_text(str(reading.folder or ""))
        if reading.folders is not None:
            self.runs.keep_only(set(reading.folders))
        self.runs.put(reading.entries)
        self._reading = not reading.last
        self._problem = reading.problem or self._problem
        self._select()
        self._show_state()

    def _select(self) -> None:
        """What was asked for; else the first run that can go on, unless the user has chosen one."""
        if self._wanted is not None:
            index = self.filtered.mapFromSource(self.runs.index_of(self._wanted))
            if index.isValid():
                self._wanted = None
                self._chosen = True
                self.list.setCurrentIndex(index)
                self.list.scrollTo(index)
        current = self.current
        if not self._chosen and self._wanted is None and (current is None or not current.resumable):
            rows = (self.filtered.index(row, 0) for row in range(self.filtered.rowCount()))
            index = next((row for row in rows if _entry_at(row).resumable), self.filtered.index(0, 0))
            self.list.setCurrentIndex(index)
        self._show_current()

    @property
    def current(self) -> RunEntry | None:
        """The run that is selected."""
        return self.runs.entry(self.filtered.mapToSource(self.list.currentIndex()))

    def set_blocked(self, reason: str) -> None:
        """Why nothing can be resumed at present; empty: it can."""
        self.detail.form.set_blocked(reason)

    def close_reader(self) -> None:
        """The window closes."""
        self.reader.close()

    # --- what is shown ---------------------------------------------------------------------------------

    @Slot()
    def _show_current(self) -> None:
        self.detail.show_run(self.current, self._clock())

    def _show_state(self) -> None:
        """The list, or why there is none."""
        if self.filtered.rowCount():
            self._pages.setCurrentWidget(self.list)
            return
        if self._problem:
            text = self.tr("The log folder cannot be read: {0}").format(self._problem)
        elif self._reading:
            text = self.tr("Reading the runs…")
        elif self.runs.rowCount():
            text = self.tr("No run matches “{0}”.").format(self.field.text().strip())
        else:
            text = self.tr(
                "There are no runs here yet. Every run of a workflow is kept, and those that ended before "
                "they were complete can go on from here."
            )
        self.empty.setText(text)
        self._pages.setCurrentWidget(self.empty)

    @Slot(str)
    def _search(self, text: str) -> None:
        self.filtered.search(text)
        if not self.list.currentIndex().isValid():
            self.list.setCurrentIndex(self.filtered.index(0, 0))
        self._show_state()

    @Slot(QModelIndex)
    def _remember_choice(self) -> None:
        self._chosen = True

    @Slot(QModelIndex)
    def _go_to_form(self) -> None:
        """Enter on a run: to the first field that may be changed. Ctrl+Enter resumes as it is."""
        entry = self.current
        if entry is not None and entry.resumable:
            self.detail.form.first_field.setFocus(Qt.FocusReason.TabFocusReason)

    # --- keys and size ---------------------------------------------------------------------------------

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802
        """Arrows and Enter of the search field work on the list; Escape clears it."""
        if watched is self.field and isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
            if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
                self._go_to_form()
                return True
            if event.key() == Qt.Key.Key_Escape and self.field.text():
                self.field.clear()
                return True
            step = {Qt.Key.Key_Down: 1, Qt.Key.Key_Up: -1}.get(Qt.Key(event.key()))
            if step is not None and self.filtered.rowCount():
                row = min(self.filtered.rowCount() - 1, max(0, self.list.currentIndex().row() + step))
                self._chosen = True
                self.list.setCurrentIndex(self.filtered.index(row, 0))
                return True
        return False

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802
        if event.key() == Qt.Key.Key_Escape:
            self.closed.emit()
        else:
            super().keyPressEvent(event)

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        super().resizeEvent(event)
        beside = self.width() >= _SIDE_BY_SIDE
        orientation = Qt.Orientation.Horizontal if beside else Qt.Orientation.Vertical
        if orientation != self.splitter.orientation():
            self.splitter.setOrientation(orientation)


def _entry_at(index: QModelIndex) -> RunEntry:
    entry = index.data(ENTRY_ROLE)
    assert isinstance(entry, RunEntry)
    return entry


class _Handle(QSplitterHandle):
    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802
        del event
        QPainter(self).fillRect(self.rect(), theme().color("line"))


class _LinedSplitter(QSplitter):
    """A splitter between two parts of one ground: the handle is a line of the theme."""

    def createHandle(self) -> QSplitterHandle:  # noqa: N802
        return _Handle(self.orientation(), self)
