"""The table of what agents did not agree about."""

from __future__ import annotations

from collections.abc import Sequence, Set
from typing import TypeAlias

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import QFrame, QHeaderView, QTreeView, QVBoxLayout, QWidget

from app.buttons import Button, ButtonLook
from app.focus_line import FocusLine
from app.labels import Line, QuietLabel
from app.run_view.conflict_model import ConflictModel
from app.run_view.conflict_words import conflict_text
from app.run_view.flat_rows import flatten
from app.run_view.state_model import NO_DISPUTES, Disputes
from app.scroll_bar import use_thin_scroll_bars
from core.progress import RecordedConflict
from core.state import Phase
from core.visible_text import visible

GroupPlace: TypeAlias = tuple[Phase, int, int]
"""Phase, iteration and number of a group."""


class ConflictTable(QWidget):
    """The conflicts of a run up to the point that is looked at. `button` says how many those are, and of how
    many, and shows and hides the table; where it stands is the owner's.

    Signals: `chosen(int)`: the user wants to read this one, counted from 0.
    """

    chosen = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.model = ConflictModel(self)
        self._up_to: int | None = None
        """How many of them there were at the point that is looked at; None: it is the latest."""
        self._known_disputes: tuple[object, Disputes] = (None, NO_DISPUTES)
        """The disputes that were sorted last, and what they follow from."""
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
        self.none = QuietLabel(self.tr("Up to this point the agents agreed."), self)
        self.none.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.none.setWordWrap(True)
        self.none.setMargin(12)
        self.none.hide()
        column.addWidget(self.none, 1)
        column.addWidget(self.table, 1)
        self.hide()

    def _make_table(self) -> QTreeView:
        table = QTreeView(self)
        table.setModel(self.model)
        use_thin_scroll_bars(table)
        FocusLine(table)
        table.setFrameShape(QFrame.Shape.NoFrame)
        table.setRootIsDecorated(False)
        table.setUniformRowHeights(True)
        flatten(table)
        table.setAccessibleName(self.tr("Conflicts"))
        table.header().setSectionResizeMode(QHeaderView.ResizeMode.Interactive)
        for section, width in enumerate((130, 120, 120, 110, 56)):
            table.header().resizeSection(section, width)
        table.selectionModel().currentChanged.connect(self._choose)
        table.clicked.connect(self._choose)
        return table

    @property
    def entries(self) -> list[RecordedConflict]:
        """The conflicts, as they are numbered."""
        return self.model.entries

    def show_conflicts(self, conflicts: Sequence[RecordedConflict]) -> bool:
        """Have these; those that were there before stay. Whether anything changed. Cheap however many."""
        if not self.model.show(conflicts):
            return False
        count = len(conflicts)
        self._say_count()
        self.button.setVisible(count > 0)
        if not count:
            self.button.setChecked(False)
            self._show_up_to(None)
        return True

    def disputes(self, places: Set[GroupPlace], *, latest: bool) -> Disputes:
        """Show the conflicts of these merges, which are all up to the point that is looked at; gives them by
        where they are in the state. `latest`: it is the last point, so that all of them count."""
        entries = self.entries
        key = (len(entries), entries[-1] if entries else None, places)
        if self._known_disputes[0] != key:
            paths = self.model.paths()
            numbers = [
                number
                for number, entry in enumerate(entries)
                if (entry.phase, entry.iteration, entry.group) in places
            ]
            self._known_disputes = (key, Disputes.of((number, paths[number]) for number in numbers))
            self._show_up_to(None if latest else numbers)
        return self._known_disputes[1]

    def show_all(self) -> None:
        """Show them all, until `disputes` is asked for those of other places."""
        self._known_disputes = (None, NO_DISPUTES)
        self._show_up_to(None)

    def shows(self, number: int) -> bool:
        """Whether the conflict of this number is in the table."""
        return self.model.shows(number)

    def _show_up_to(self, numbers: Sequence[int] | None) -> None:
        self._up_to = None if numbers is None else len(numbers)
        self.model.show_only(numbers)
        some = self.model.rowCount() > 0
        self.table.setVisible(some)
        self.none.setVisible(not some)
        self._say_count()

    def _say_count(self) -> None:
        count, up_to = len(self.entries), self._up_to
        words = self.tr("{0} conflict") if count == 1 else self.tr("{0} conflicts")
        number = f"{count:,}"
        if up_to is not None and up_to != count:
            number = self.tr("{0} of {1}").format(f"{up_to:,}", number)
        self.button.setText(words.format(number))

    def text(self, number: int) -> str:
        """All of a conflict, for reading."""
        return visible(conflict_text(self.entries[number], self.model.keepers(number)), keeps_lines=True)

    def open(self) -> None:
        """Go to the conflict that was read last, else to the first."""
        self.button.setChecked(True)
        index = self.table.currentIndex()
        if not index.isValid():
            index = self.model.index(0, 0)
        if index.isValid():
            self.table.setCurrentIndex(index)
            self.table.setFocus(Qt.FocusReason.OtherFocusReason)
            self._choose()

    @Slot()
    def _choose(self) -> None:
        index = self.table.currentIndex()
        if index.isValid():
            self.chosen.emit(self.model.number(index.row()))
