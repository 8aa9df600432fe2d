"""The state tab: what the agents share, at any point of the run, what changed there, and who wrote it.

The parts: `point_bar` (which point), `state_find` and `state_finding`, `state_tree` with `state_model` and
`state_rows`, `state_raw`, `state_conflicts`, and `state_work` for what takes long.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from PySide6.QtCore import QModelIndex, Qt, QTimer, Signal, Slot
from PySide6.QtGui import QKeySequence, QShortcut, QShowEvent
from PySide6.QtWidgets import (
    QFrame,
    QPlainTextEdit,
    QScrollArea,
    QSplitter,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from app.buttons import Button, ButtonLook
from app.focus_line import FocusLine
from app.labels import Line, QuietLabel
from app.platform_keys import find_next_keys, find_previous_keys
from app.run_view.conflict_words import change_text
from app.run_view.point_bar import PointBar
from app.run_view.rest_bar import RestBar
from app.run_view.state_conflicts import ConflictTable
from app.run_view.state_find import StateFind
from app.run_view.state_finding import StateFinding
from app.run_view.state_model import Disputes, StateModel
from app.run_view.state_raw import StateRaw
from app.run_view.state_taking import Shown, StateTaking
from app.run_view.state_tree import StateTree
from app.run_view.state_words import is_cut, preview
from app.run_view.state_work import RawJson, StateWork
from app.run_view.tool_row import ToolRow
from app.scroll_bar import use_thin_scroll_bars
from app.theme import mono_font
from app.why_not import tell_why_off
from core.events import Event
from core.json_types import JsonValue
from core.progress import RecordedConflict
from core.recorded_run import RecordedRun
from core.state_history import StateHistory, StateLook
from core.visible_text import visible

_MARGIN = 12
_WAIT_MS = 300
"""After which it is said that something takes time."""
_TREE, _RAW, _UNKNOWN = range(3)


class StateTab(QWidget):
    """Shows the state at a point of the run. Costs next to nothing while it is not visible.

    Signals: `message(str)`: a sentence for the status line; `open_requested(Path)`: a file for the editor.
    """

    message = Signal(str)
    open_requested = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.states_are_told = True
        """Whether states are told, of runs that begin from now on; else they are made from the journal."""
        self._history = StateHistory()
        self._dirty = False
        """The points have changed since they were shown."""
        self._look: StateLook | None = None
        """What is shown."""
        self._run_id = ""
        self._conflict_read: int | None = None
        """Number of the conflict that the pane below the tree shows; None: it shows a value of the state."""
        self.work = StateWork(self)
        self.model = StateModel(self)
        self.tree = StateTree(self.model, self)
        self.value = self._make_value()
        self.rest = RestBar(self.tr("All of the selected value"), self)
        self._pane = self._make_pane()
        self.raw = StateRaw(self)
        self.conflict_part = ConflictTable(self)
        self.conflicts = self.conflict_part.table
        self.points = PointBar(self)
        self.points.add_beside_words(self.conflict_part.button)
        self.finder = StateFind(self)
        self.changes_button = Button(self.tr("Only changes"), ButtonLook.OUTLINED, "diff", self)
        self.changes_button.setCheckable(True)
        self.changes_button.setToolTip(self.tr("Show only what the last merge changed"))
        tell_why_off(self.changes_button, self.tr("No change is known here, or the state is shown as JSON."))
        self.raw_button = Button(self.tr("JSON"), ButtonLook.OUTLINED, "braces", self)
        self.raw_button.setCheckable(True)
        self.raw_button.setToolTip(self.tr("Show the state as JSON text, as agents get it"))
        self.copy_button = Button(self.tr("Copy as JSON"), ButtonLook.OUTLINED, "copy", self)
        self.unknown = self._make_note()
        self._wait = QTimer(self)
        self._wait.setInterval(_WAIT_MS)
        self._wait.setSingleShot(True)
        self._wait.timeout.connect(self._say_wait)
        self.taking = StateTaking(self.work, self)
        self.finding = StateFinding(self.finder, self.tree, self.raw, self.work)
        self._empty = self._make_note()
        self._empty.setText(self.tr("No state yet. It appears when the first agent has answered."))
        self._pages = QStackedWidget(self)
        self._pages.addWidget(self._empty)
        self._pages.addWidget(_scrolling(self._make_page()))
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self._pages)
        self._connect()

    # --- parts -----------------------------------------------------------------------------------------

    def _make_note(self) -> QuietLabel:
        note = QuietLabel("", self)
        note.setAlignment(Qt.AlignmentFlag.AlignCenter)
        note.setWordWrap(True)
        note.setContentsMargins(_MARGIN, _MARGIN, _MARGIN, _MARGIN)
        return note

    def _make_value(self) -> QPlainTextEdit:
        value = QPlainTextEdit(self)
        use_thin_scroll_bars(value)
        FocusLine(value)
        value.setReadOnly(True)
        value.setFrameShape(QFrame.Shape.NoFrame)
        value.setFont(mono_font())
        value.document().setDocumentMargin(_MARGIN)
        value.setAccessibleName(self.tr("Selected value"))
        value.setPlaceholderText(self.tr("Select a key to read its whole value."))
        value.setMinimumHeight(48)
        return value

    def _make_pane(self) -> QWidget:
        pane = QWidget(self)
        column = QVBoxLayout(pane)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.rest)
        column.addWidget(self.value, 1)
        return pane

    def _make_page(self) -> QWidget:
        page = QWidget(self)
        head = QVBoxLayout()
        head.setContentsMargins(_MARGIN, 8, _MARGIN, 8)
        head.setSpacing(8)
        head.addWidget(self.points)
        head.addWidget(ToolRow(self.finder, (self.changes_button, self.raw_button, self.copy_button), page))
        splitter = self._splitter = QSplitter(Qt.Orientation.Vertical, page)
        splitter.setHandleWidth(1)
        splitter.setChildrenCollapsible(False)
        self._views = QStackedWidget(splitter)
        self.tree.setMinimumHeight(64)
        for view in (self.tree, self.raw, self.unknown):
            self._views.addWidget(view)
        splitter.addWidget(self._views)
        splitter.addWidget(self._pane)
        splitter.addWidget(self.conflict_part)
        splitter.setStretchFactor(0, 3)
        splitter.setStretchFactor(1, 1)
        splitter.setSizes([340, 110, 140])
        self._pane.hide()
        column = QVBoxLayout(page)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addLayout(head)
        column.addWidget(Line(page))
        column.addWidget(splitter, 1)
        return page

    def _connect(self) -> None:
        self.work.looked.connect(self._show)
        self.work.unknown.connect(self._say_unknown)
        self.work.written.connect(self._show_raw)
        self.taking.message.connect(self.message)
        self.taking.open_requested.connect(self.open_requested)
        for rest, shown in ((self.raw.rest, self._whole), (self.rest, self._selected)):
            rest.copy_requested.connect(lambda shown=shown: self.taking.copy(shown()))
            rest.save_requested.connect(lambda shown=shown: self.taking.save(shown()))
            rest.open_requested.connect(lambda shown=shown: self.taking.open(shown()))
        self.points.chosen.connect(self._refresh)
        self.finding.going.connect(self._leave_conflict)
        self.finder.left.connect(self.focus_state)
        self.changes_button.toggled.connect(self._turn_changes)
        self.raw_button.toggled.connect(self._turn_view)
        self.copy_button.clicked.connect(self.copy_json)
        self.tree.place_chosen.connect(self._value_chosen)
        self.tree.copy_requested.connect(self.copy_value)
        self.tree.dispute_requested.connect(self._read_conflict)
        self.conflict_part.chosen.connect(self._read_conflict)
        for keys, slot in (
            (find_next_keys(), self.finding.find_down),
            (find_previous_keys(), self.finding.find_up),
            ([QKeySequence("Alt+Left")], self.points.step_back),
            ([QKeySequence("Alt+Right")], self.points.step_on),
            ([QKeySequence("Alt+End")], self.points.choose_latest),
        ):
            shortcut = QShortcut(self)
            shortcut.setKeys(keys)
            shortcut.setContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
            shortcut.activated.connect(slot)

    # --- the run ---------------------------------------------------------------------------------------

    def begin(self, folder: Path | None, past: RecordedRun | None) -> None:
        """Show another run, from its beginning. `past`: what is recorded of it already."""
        self.work.forget()
        self.taking.begin(folder)
        self._run_id = folder.name if folder is not None else ""
        self._wait.stop()
        self._history = StateHistory(folder, past, states_are_told=self.states_are_told)
        self._look = None
        self._conflict_read = None
        self._dirty = past is not None
        self.points.begin()
        self.changes_button.setChecked(False)
        self.conflict_part.show_conflicts(())
        self.value.clear()
        self._pages.setCurrentIndex(0)

    def take(self, events: Iterable[Event]) -> None:
        """This happened."""
        self._dirty |= self._history.take(events)

    def show_conflicts(self, conflicts: Sequence[RecordedConflict]) -> None:
        """The conflicts so far; call it after `take`, however little happened."""
        if self.conflict_part.show_conflicts(conflicts):
            self._dirty = True
        if self._dirty and self.isVisible():
            self._refresh()

    def open_conflicts(self) -> None:
        """Go to the conflicts; where there were none up to the point that is looked at, to the latest."""
        if not self.conflict_part.model.rowCount():
            self.points.choose_latest()
            self.conflict_part.show_all()
        self.conflict_part.open()

    def showEvent(self, event: QShowEvent) -> None:  # noqa: N802
        super().showEvent(event)
        if self._dirty:
            self._refresh()

    @Slot()
    def _refresh(self) -> None:
        """Show the chosen point, as soon as it can be had."""
        if self._dirty:
            self._dirty = False
            self.points.show_points(self._history.points)
        number = self.points.number
        self._pages.setCurrentIndex(1 if number >= 0 else 0)
        if number < 0:
            return
        look = self._history.quick_look(number)
        if look is not None:
            # A worker may still be at another point, or at this one as it was before.
            self.work.look_no_more()
            self._show(look)
        else:
            self.work.look(self._history, number)
            self._wait.start()

    @Slot()
    def _say_wait(self) -> None:
        self.points.say(self.tr("reading…"))

    @Slot(object)
    def _show(self, look: StateLook) -> None:
        """Show the state at a point."""
        if look.number != self.points.number:
            return
        self._wait.stop()
        self.points.say(self._changes_words(look))
        same = self._look is not None and self._look.state is look.state
        self._look = look
        count = look.changes.count
        only = self.changes_button.isChecked()
        self.changes_button.setEnabled((count > 0 or only) and not self.raw_button.isChecked())
        self._views.setCurrentIndex(_RAW if self.raw_button.isChecked() else _TREE)
        self._rebuild()
        if not same and self.raw_button.isChecked():
            self.work.write(look.state)
        self._look_through()

    def _changes_words(self, look: StateLook) -> str:
        if look.point.is_start:
            return ""
        count = look.changes.count
        if not count:
            return self.tr("nothing changed")
        words = self.tr("1 change") if count == 1 else self.tr("{0} changes")
        return words.format(f"{count:,}+" if look.changes.more else f"{count:,}")

    @Slot(str)
    def _say_unknown(self, why: str) -> None:
        self._wait.stop()
        self._look = None
        self.points.say("")
        self.unknown.setText(self.tr("The state at this point cannot be shown. {0}").format(visible(why)))
        self._views.setCurrentIndex(_UNKNOWN)
        self.model.show_state(None)
        self.value.clear()
        self._show_pane(False)
        self._look_through()

    @Slot()
    def _rebuild(self) -> None:
        """Build the tree of what is shown."""
        look = self._look
        if look is None:
            return
        only = self.changes_button.isChecked()
        self.tree.show_state(look.state, look.changes, self._disputes(), only_changes=only)
        if self._conflict_read is not None and not self.conflict_part.shows(self._conflict_read):
            self._conflict_read = None
        if self._conflict_read is None:
            self._show_value(self.tree.currentIndex())

    @Slot()
    def _turn_changes(self) -> None:
        """Between all of the state and what changed of it."""
        self._rebuild()
        self._look_through(go=True)

    def _look_through(self, *, go: bool = False) -> None:
        """Find in what is shown."""
        self.finding.show(
            self._look,
            in_text=self.raw_button.isChecked(),
            only_changes=self.changes_button.isChecked(),
            go=go,
        )

    def _disputes(self) -> Disputes:
        """The conflicts up to the point that is shown."""
        places = {
            (point.phase, point.iteration, point.group)
            for point in self._history.points[: self.points.number + 1]
        }
        latest = self.points.number + 1 >= len(self._history.points)
        return self.conflict_part.disputes(places, latest=latest)

    # --- reading ---------------------------------------------------------------------------------------

    @Slot(QModelIndex)
    def _value_chosen(self, index: QModelIndex) -> None:
        self._conflict_read = None
        self._show_value(index)

    @Slot()
    def _leave_conflict(self) -> None:
        self._conflict_read = None

    def _show_value(self, index: QModelIndex) -> None:
        self._show_pane(index.isValid())
        if not index.isValid():
            self.value.clear()
            self.rest.say("")
            return
        value = self.model.value(index)
        text = preview(value)
        self.rest.say(self._cut_words(value) if is_cut(value, text) else "")
        change, disputes = self.model.change(index), self.model.disputes(index)
        parts = [change_text(text, change, gone=self.model.is_gone(index))]
        if disputes is not None:
            parts += [self.conflict_part.text(number) for number in disputes.here[-1:]]
        self.value.setPlainText(visible("\n\n".join(parts), keeps_lines=True))

    def _cut_words(self, value: JsonValue) -> str:
        if isinstance(value, str):
            return self.tr("Shown in part: {0} characters").format(f"{len(value):,}")
        return self.tr("Shown in part")

    def _show_pane(self, wanted: bool) -> None:
        """The pane below the tree takes room only where there is something to read."""
        self._pane.setVisible(wanted and not self.raw_button.isChecked())

    @Slot(int)
    def _read_conflict(self, number: int) -> None:
        """Show all of a conflict in the pane below the tree."""
        self._conflict_read = number
        self.rest.say("")
        self.raw_button.setChecked(False)
        self._show_pane(True)
        height = self._splitter.height()
        if self.value.height() < height * 0.3:
            # Two values with their writers need room; it is taken from the tree for once.
            self._splitter.setSizes([int(height * part) for part in (0.25, 0.45, 0.3)])
        self.value.setPlainText(self.conflict_part.text(number))

    @Slot()
    def focus_state(self) -> None:
        """Give the focus to the state."""
        shown = self.raw if self.raw_button.isChecked() else self.tree
        shown.setFocus(Qt.FocusReason.OtherFocusReason)

    @Slot()
    def _turn_view(self) -> None:
        """Between tree and text."""
        raw = self.raw_button.isChecked()
        self._show_pane(bool(self.value.toPlainText()))
        self.changes_button.setEnabled(not raw)
        if self._look is None:
            return
        self._views.setCurrentIndex(_RAW if raw else _TREE)
        if raw:
            self.work.write(self._look.state)
        self._look_through(go=True)

    @Slot(object)
    def _show_raw(self, raw: RawJson) -> None:
        if self._look is not None and raw.state is self._look.state:
            self.raw.show_json(raw)
            self.finding.text_shown()

    # --- all of it -------------------------------------------------------------------------------------

    @Slot()
    def copy_json(self) -> None:
        """Copy the whole state that is shown as JSON."""
        self.taking.copy(self._whole())

    @Slot()
    def copy_value(self) -> None:
        """Copy the selected value as JSON; a text as it is."""
        self.taking.copy(self._selected())

    def _whole(self) -> Shown | None:
        """The state that is shown."""
        look = self._look
        if look is None:
            return None
        return Shown(
            look.state, f"{self._run_id}-state-{look.number}", self.tr("The state is copied as JSON.")
        )

    def _selected(self) -> Shown | None:
        """The value that is selected in it."""
        index, whole = self.tree.currentIndex(), self._whole()
        if whole is None or not index.isValid():
            return None
        key = str(index.siblingAtColumn(0).data())[:40]
        return Shown(self.model.value(index), f"{whole.name}-{key}", self.tr("The value is copied."))


def _scrolling(page: QWidget) -> QScrollArea:
    """A page that scrolls where it would be squeezed, in a low window with long words."""
    area = QScrollArea()
    use_thin_scroll_bars(area)
    area.setFrameShape(QFrame.Shape.NoFrame)
    area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
    area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
    area.setWidgetResizable(True)
    area.setWidget(page)
    return area
