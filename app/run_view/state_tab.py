"""The state tab: what the agents share at present, and what they did not agree about."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QModelIndex, QObject, QRunnable, Qt, QThreadPool, Signal, Slot
from PySide6.QtGui import QGuiApplication, QShowEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QFrame,
    QHBoxLayout,
    QHeaderView,
    QPlainTextEdit,
    QSplitter,
    QStackedWidget,
    QTreeView,
    QTreeWidget,
    QTreeWidgetItem,
    QVBoxLayout,
    QWidget,
)

from app.buttons import Button, ButtonLook
from app.labels import Line, QuietLabel, SectionLabel
from app.plain_text import plain_tool_tip
from app.run_view.conflict_words import conflict_text, keeper_words, where_words
from app.run_view.flat_rows import flatten
from app.run_view.state_model import StateModel, preview, value_words
from app.scroll_bar import use_thin_scroll_bars
from app.theme import mono_font
from core.conflict_keepers import path_key, writes_by_path
from core.progress import RecordedConflict
from core.progress_words import PHASE_WORDS
from core.state import WorkflowState
from core.visible_text import visible

_MOST_EXPANDED = 200
_MARGIN = 12


class _Written(QObject):
    """Lives in the window's thread and takes what a worker wrote.

    Signals: `text(str)`.
    """

    text = Signal(str)


class _WriteJson(QRunnable):
    """Writes a state as JSON on a worker: a large one takes longer than a frame."""

    def __init__(self, state: WorkflowState, written: _Written) -> None:
        super().__init__()
        self._state = state
        self._written = written

    def run(self) -> None:
        self._written.text.emit(self._state.to_json().decode("utf-8"))


class StateTab(QWidget):
    """Shows the state after the last merge. Costs nothing while it is not visible.

    Signals: `message(str)`: a sentence for the status line.
    """

    message = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._state: WorkflowState | None = None
        self._shown: WorkflowState | None = None
        self._expanded: set[tuple[str, ...]] = {("payload",)}
        self._conflicts_shown = 0
        self._told: list[tuple[RecordedConflict, tuple[str, ...]]] = []
        """The conflicts as the table has them, with whose value counts."""
        self._building = False
        self._reads_conflict = False
        """The pane below the tree shows a conflict, not a value of the state."""
        self._written = _Written(self)
        self._written.text.connect(self._copied)
        self._pool = QThreadPool(self)
        self._pool.setMaxThreadCount(1)
        self.model = StateModel(self)
        self.tree = self._make_tree()
        self.value = QPlainTextEdit(self)
        use_thin_scroll_bars(self.value)
        self.value.setReadOnly(True)
        self.value.setFrameShape(QFrame.Shape.NoFrame)
        self.value.setFont(mono_font())
        self.value.document().setDocumentMargin(_MARGIN)
        self.value.setAccessibleName(self.tr("Selected value"))
        self.value.setPlaceholderText(self.tr("Select a key to read its whole value."))
        self.conflicts = self._make_conflicts()
        self.conflicts_label = SectionLabel("", self)
        self.copy_button = Button(self.tr("Copy as JSON"), ButtonLook.OUTLINED, "copy", self)
        self.copy_button.clicked.connect(self.copy_json)
        self._head = QuietLabel("", self)
        self._empty = QuietLabel(self.tr("No state yet. It appears when the first agent has answered."), self)
        self._empty.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._empty.setWordWrap(True)
        self._pages = QStackedWidget(self)
        self._pages.addWidget(self._empty)
        self._pages.addWidget(self._make_page())
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self._pages)

    # --- parts -----------------------------------------------------------------------------------------

    def _make_tree(self) -> QTreeView:
        tree = QTreeView(self)
        use_thin_scroll_bars(tree)
        tree.setModel(self.model)
        tree.setFrameShape(QFrame.Shape.NoFrame)
        tree.setUniformRowHeights(True)
        flatten(tree)
        tree.setAccessibleName(self.tr("State"))
        tree.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        tree.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        tree.header().setStretchLastSection(True)
        tree.header().resizeSection(0, 240)
        tree.setIndentation(18)
        tree.selectionModel().currentChanged.connect(self._value_chosen)
        tree.clicked.connect(self._value_chosen)
        tree.expanded.connect(self._remember_expanded)
        tree.collapsed.connect(self._remember_collapsed)
        return tree

    def _make_conflicts(self) -> QTreeWidget:
        table = QTreeWidget(self)
        use_thin_scroll_bars(table)
        table.setFrameShape(QFrame.Shape.NoFrame)
        table.setRootIsDecorated(False)
        table.setUniformRowHeights(True)
        flatten(table)
        table.setAccessibleName(self.tr("Conflicts"))
        table.setHeaderLabels(
            [
                self.tr("Path"),
                self.tr("First"),
                self.tr("Second"),
                self.tr("Kept"),
                self.tr("Rule"),
                self.tr("Where"),
            ]
        )
        table.header().setSectionResizeMode(QHeaderView.ResizeMode.Interactive)
        for section, width in enumerate((130, 120, 120, 110, 56)):
            table.header().resizeSection(section, width)
        table.currentItemChanged.connect(self._conflict_chosen)
        table.itemClicked.connect(self._conflict_chosen)
        return table

    def _make_page(self) -> QWidget:
        top = QWidget(self)
        column = QVBoxLayout(top)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        row = QHBoxLayout()
        row.setContentsMargins(_MARGIN, 8, _MARGIN, 8)
        row.addWidget(self._head, 1)
        row.addWidget(self.copy_button)
        column.addLayout(row)
        column.addWidget(self.tree, 1)
        column.addWidget(Line(top))
        self._conflict_part = QWidget(self)
        below = QVBoxLayout(self._conflict_part)
        below.setContentsMargins(0, 8, 0, 0)
        below.setSpacing(4)
        self.conflicts_label.setContentsMargins(_MARGIN, 0, 0, 0)
        below.addWidget(self.conflicts_label)
        below.addWidget(self.conflicts)
        self._conflict_part.hide()
        splitter = self._splitter = QSplitter(Qt.Orientation.Vertical, self)
        splitter.setHandleWidth(1)
        splitter.setChildrenCollapsible(False)
        for widget in (top, self.value, self._conflict_part):
            splitter.addWidget(widget)
        splitter.setStretchFactor(0, 3)
        splitter.setStretchFactor(1, 1)
        splitter.setSizes([340, 120, 140])
        self.value.setMinimumHeight(48)
        return splitter

    # --- what is shown ---------------------------------------------------------------------------------

    def show_state(self, state: WorkflowState | None, conflicts: Sequence[RecordedConflict]) -> None:
        """Show this state, and the conflicts so far."""
        self._state = state
        if len(conflicts) < self._conflicts_shown:
            self._reads_conflict = False
            self._told.clear()
            self.conflicts.clear()
            self._conflicts_shown = 0
        new = conflicts[self._conflicts_shown :]
        writes = writes_by_path(new)
        for entry in new:
            keepers = writes[path_key(entry)].kept_by(entry.conflict.rule, entry.conflict.outcome)
            self._told.append((entry, keepers))
            self.conflicts.addTopLevelItem(self._conflict_item(entry, keepers))
        self._conflicts_shown = len(conflicts)
        count = len(conflicts)
        words = self.tr("{0} conflict") if count == 1 else self.tr("{0} conflicts")
        self.conflicts_label.setText(words.format(count).upper())
        self._conflict_part.setVisible(count > 0)
        self._pages.setCurrentIndex(1 if state is not None or count else 0)
        if self.isVisible():
            self._refresh()

    def _conflict_item(self, entry: RecordedConflict, keepers: Sequence[str]) -> QTreeWidgetItem:
        conflict = entry.conflict
        kept = self.tr("{0} ({1})").format(value_words(conflict.outcome), keeper_words(keepers))
        first = self.tr("{0}: {1}").format(conflict.first_writer, value_words(conflict.first_value))
        second = self.tr("{0}: {1}").format(conflict.second_writer, value_words(conflict.second_value))
        texts = (conflict.path, first, second, kept, conflict.rule.value, where_words(entry))
        item = QTreeWidgetItem([visible(text) for text in texts])
        for column in range(6):
            item.setToolTip(column, plain_tool_tip(item.text(column)))
        return item

    def show_conflicts(self) -> None:
        """Go to the conflicts: to the one that was read last, else to the first."""
        item = self.conflicts.currentItem() or self.conflicts.topLevelItem(0)
        if item is not None:
            self.conflicts.setCurrentItem(item)
            self.conflicts.setFocus(Qt.FocusReason.OtherFocusReason)
            self._conflict_chosen()

    @Slot()
    def _conflict_chosen(self) -> None:
        """Show all of the selected conflict in the pane below the tree."""
        item = self.conflicts.currentItem()
        row = self.conflicts.indexOfTopLevelItem(item) if item is not None else -1
        if 0 <= row < len(self._told):
            self._reads_conflict = True
            height = self._splitter.height()
            if self.value.height() < height * 0.3:
                # Two values with their writers need room; it is taken from the tree for once.
                self._splitter.setSizes([int(height * part) for part in (0.25, 0.45, 0.3)])
            self.value.setPlainText(visible(conflict_text(*self._told[row]), keeps_lines=True))

    def showEvent(self, event: QShowEvent) -> None:  # noqa: N802
        super().showEvent(event)
        self._refresh()

    def _refresh(self) -> None:
        state = self._state
        if state is self._shown:
            return
        self._shown = state
        current = self.model.path(self.tree.currentIndex())
        place = self.tree.verticalScrollBar().value()
        expanded = sorted(self._expanded, key=len)
        self._building = True
        self.model.show_state(state)
        self.model.fetchMore(QModelIndex())
        for path in expanded[:_MOST_EXPANDED]:
            index = self.model.index_of(path)
            if index.isValid():
                self.tree.expand(index)
        selected = self.model.index_of(current) if current else QModelIndex()
        if selected.isValid():
            self.tree.setCurrentIndex(selected)
        self._building = False
        self.tree.verticalScrollBar().setValue(place)
        if state is not None:
            after = PHASE_WORDS[state.current_phase]
            if state.current_phase == "loop" and state.iteration:
                after = self.tr("{0} · iteration {1}").format(after, state.iteration)
            self._head.setText(self.tr("After the last merge: {0}").format(after))
        if not self._reads_conflict:
            self._show_value(self.tree.currentIndex())

    @Slot(QModelIndex)
    def _value_chosen(self, index: QModelIndex) -> None:
        # The tree is built again after every merge; whoever reads a conflict goes on reading it.
        if index.isValid() and not self._building:
            self._reads_conflict = False
            self._show_value(index)

    def _show_value(self, index: QModelIndex) -> None:
        text = preview(self.model.value(index)) if index.isValid() else ""
        self.value.setPlainText(visible(text, keeps_lines=True))

    @Slot(QModelIndex)
    def _remember_expanded(self, index: QModelIndex) -> None:
        self._expanded.add(self.model.path(index))

    @Slot(QModelIndex)
    def _remember_collapsed(self, index: QModelIndex) -> None:
        self._expanded.discard(self.model.path(index))

    # --- copying ---------------------------------------------------------------------------------------

    @Slot()
    def copy_json(self) -> None:
        """Copy the whole state as JSON."""
        if self._state is not None:
            self._pool.start(_WriteJson(self._state, self._written))

    @Slot(str)
    def _copied(self, text: str) -> None:
        QGuiApplication.clipboard().setText(text)
        self.message.emit(self.tr("The state is copied as JSON."))
