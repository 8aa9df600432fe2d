"""A page of rows: labels, fields and notes in three columns, or two where there is little room."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QPalette, QResizeEvent
from PySide6.QtWidgets import QGridLayout, QLabel, QScrollArea, QVBoxLayout, QWidget

from app.fields import FIELD_HEIGHT
from app.form_rows import CheckRow, Row
from app.labels import SectionLabel
from app.scroll_bar import use_thin_scroll_bars

FIELD_WIDTH = 210
LABEL_WIDTH = 150
NARROW_LABEL_WIDTH = 110
NARROW = 560
"""A page of less than this many pixels has its notes below the fields."""


@dataclass(frozen=True, slots=True)
class _Binding:
    row: Row
    read: Callable[[], object]
    at: int
    """Row of the grid; the error has the next one, and a note below its field the one after."""
    note_below: bool


class FormPage(QScrollArea):
    """A page of rows that show what `read` gives and hand every edit to `write`."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWidgetResizable(True)
        self.setFrameShape(QScrollArea.Shape.NoFrame)
        use_thin_scroll_bars(self, QPalette.ColorRole.Base)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._narrow = False
        self.body = QWidget()
        self.body.setBackgroundRole(QPalette.ColorRole.Base)
        self.body.setAutoFillBackground(True)
        outer = QVBoxLayout(self.body)
        outer.setContentsMargins(20, 16, 20, 16)
        outer.setSpacing(12)
        self.head = QLabel(self.body)
        self.head.setTextFormat(Qt.TextFormat.PlainText)
        self.head.setWordWrap(True)
        self.head.setForegroundRole(QPalette.ColorRole.PlaceholderText)
        self.head.hide()
        outer.addWidget(self.head)
        self._grid = QGridLayout()
        self._grid.setHorizontalSpacing(12)
        self._grid.setVerticalSpacing(0)
        self._grid.setColumnMinimumWidth(0, LABEL_WIDTH)
        self._grid.setColumnStretch(2, 1)
        outer.addLayout(self._grid)
        outer.addStretch(1)
        self.setWidget(self.body)
        self._bindings: list[_Binding] = []

    def section(self, title: str) -> None:
        """A small title over the rows that follow."""
        label = SectionLabel(title, self.body)
        label.setContentsMargins(0, 12 if self._grid.rowCount() > 1 else 0, 0, 8)
        self._grid.addWidget(label, self._grid.rowCount(), 0, 1, 3)

    def add(
        self, row: Row, read: Callable[[], object], write: Callable[[object], object], *, wide: bool = False
    ) -> None:
        """Add a row. `wide`: the field takes the room of the note too, and the note goes below it."""
        at = self._grid.rowCount()
        top = Qt.AlignmentFlag.AlignTop
        row.label.setMinimumHeight(FIELD_HEIGHT)
        row.label.setWordWrap(True)
        row.label.setMaximumWidth(LABEL_WIDTH + 40)
        self._grid.addWidget(row.label, at, 0, top)
        row.error.setContentsMargins(0, 4, 0, 0)
        whole = wide or isinstance(row, CheckRow)
        if not whole:
            row.control.setFixedWidth(FIELD_WIDTH)
        self._grid.addWidget(row.control, at, 1, 1, 2 if whole else 1, top)
        self._grid.addWidget(row.error, at + 1, 1, 1, 2)
        row.note.setHidden(isinstance(row, CheckRow))
        binding = _Binding(row, read, at, wide)
        self._place_note(binding)
        self._grid.setRowMinimumHeight(at + 3, 12)
        row.edited.connect(write)
        self._bindings.append(binding)

    def _place_note(self, binding: _Binding) -> None:
        """Beside its field, or below where the page is too narrow for three columns."""
        binding.row.place_note(self._grid, binding.at, below=binding.note_below or self._narrow, gap=4)

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        super().resizeEvent(event)
        narrow = self.viewport().width() < NARROW
        if narrow != self._narrow:
            self._narrow = narrow
            self._grid.setColumnMinimumWidth(0, NARROW_LABEL_WIDTH if narrow else LABEL_WIDTH)
            for binding in self._bindings:
                self._place_note(binding)

    def add_widget(self, widget: QWidget) -> None:
        """Something that is not a row, over the whole width."""
        self._grid.addWidget(widget, self._grid.rowCount(), 0, 1, 3)

    def refresh(self) -> None:
        """Show what holds now."""
        for binding in self._bindings:
            binding.row.show_value(binding.read())
            binding.row.refresh_note()

    def rows(self) -> list[Row]:
        """The rows, from top to bottom."""
        return [binding.row for binding in self._bindings]

    def row(self, label: str) -> Row:
        """A row by its label. Raises StopIteration where there is none."""
        return next(row for row in self.rows() if row.label.text() == label)

    def changeEvent(self, event: QEvent) -> None:  # noqa: N802
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange:
            self.viewport().update()
