"""The table of what agents did not agree about."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import QFrame, QHeaderView, QTreeWidget, QTreeWidgetItem, QVBoxLayout, QWidget

from app.buttons import Button, ButtonLook
from app.labels import Line
from app.plain_text import plain_tool_tip
from app.run_view.conflict_words import conflict_text, keeper_words, where_words
from app.run_view.flat_rows import flatten
from app.run_view.state_words import value_words
from app.scroll_bar import use_thin_scroll_bars
from core.conflict_keepers import conflict_keys, path_key, writes_by_path
from core.progress import RecordedConflict
from core.visible_text import visible


class ConflictTable(QWidget):
    """All conflicts of a run so far. `button` says how many there are and shows and hides the table; where it
    stands is the owner's.

    Signals: `chosen(int)`: the user wants to read this one, counted from 0.
    """

    chosen = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._told: list[tuple[RecordedConflict, tuple[str, ...]]] = []
        """The conflicts as the table has them, with whose value counts."""
        self.paths: list[tuple[str, ...]] = []
        """Where each is in the state."""
        self.button = Button("", ButtonLook.FLAT, "triangle-alert", self.parentWidget())
        self.button.setCheckable(True)
        self.button.setToolTip(self.tr("List what agents did not agree about"))
        self.button.toggled.connect(self.setVisible)
        self.button.hide()
        self.table = self._make_table()
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(Line(self))
        column.addWidget(self.table)
        self.hide()

    def _make_table(self) -> QTreeWidget:
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
        table.currentItemChanged.connect(self._choose)
        table.itemClicked.connect(self._choose)
        return table

    @property
    def entries(self) -> list[RecordedConflict]:
        """The conflicts, as they are numbered."""
        return [entry for entry, _ in self._told]

    def show_conflicts(self, conflicts: Sequence[RecordedConflict]) -> bool:
        """Show these; those that were shown before stay. Whether anything changed."""
        before = len(self._told)
        if len(conflicts) < before or (before and conflicts[before - 1] is not self._told[-1][0]):
            self._told.clear()
            self.paths.clear()
            self.table.clear()
            before = 0
            changed = True
        else:
            changed = len(conflicts) > before
        new = conflicts[before:]
        writes = writes_by_path(new)
        for entry in new:
            keepers = writes[path_key(entry)].kept_by(entry.conflict.rule, entry.conflict.outcome)
            self._told.append((entry, keepers))
            self.paths.append(conflict_keys(entry.conflict.path))
            self.table.addTopLevelItem(self._item(entry, keepers))
        count = len(conflicts)
        words = self.tr("{0} conflict") if count == 1 else self.tr("{0} conflicts")
        self.button.setText(words.format(f"{count:,}"))
        self.button.setVisible(count > 0)
        if not count:
            self.button.setChecked(False)
        return changed

    def _item(self, entry: RecordedConflict, keepers: Sequence[str]) -> QTreeWidgetItem:
        conflict = entry.conflict
        kept = self.tr("{0} ({1})").format(value_words(conflict.outcome), keeper_words(keepers))
        first = self.tr("{0}: {1}").format(conflict.first_writer, value_words(conflict.first_value))
        second = self.tr("{0}: {1}").format(conflict.second_writer, value_words(conflict.second_value))
        texts = (conflict.path, first, second, kept, conflict.rule.value, where_words(entry))
        item = QTreeWidgetItem([visible(text) for text in texts])
        for column in range(6):
            item.setToolTip(column, plain_tool_tip(item.text(column)))
        return item

    def text(self, number: int) -> str:
        """All of a conflict, for reading."""
        return visible(conflict_text(*self._told[number]), keeps_lines=True)

    def open(self) -> None:
        """Go to the conflict that was read last, else to the first."""
        self.button.setChecked(True)
        item = self.table.currentItem() or self.table.topLevelItem(0)
        if item is not None:
            self.table.setCurrentItem(item)
            self.table.setFocus(Qt.FocusReason.OtherFocusReason)
            self._choose()

    @Slot()
    def _choose(self) -> None:
        item = self.table.currentItem()
        row = self.table.indexOfTopLevelItem(item) if item is not None else -1
        if 0 <= row < len(self._told):
            self.chosen.emit(row)
