"""A page of rows: labels, fields and notes in three columns, or two where there is little room."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from PySide6.QtCore import QEvent, Qt, QTimer, Slot
from PySide6.QtGui import QFontMetrics, QPalette, QResizeEvent
from PySide6.QtWidgets import QGridLayout, QLabel, QScrollArea, QSizePolicy, QVBoxLayout, QWidget

from app.fields import FIELD_HEIGHT
from app.form_rows import CheckRow, ChoiceRow, Row, TextRow
from app.labels import SectionLabel
from app.scroll_bar import use_thin_scroll_bars
from app.theme import is_appearance_event

_FIELD_LETTERS = 24
"""Of a usual text that a field has room for."""
_FIELD_PADDING = 28
_LEAST_NOTE = 150
"""Pixels for notes beside the fields; where there are less, they stand below."""
_MOST_OF_LABELS = 0.34
"""Of a page's width, as long as no word is longer."""
_MARGIN, _SPACING = 20, 12
_UNBOUNDED = (1 << 24) - 1
"""Qt's QWIDGETSIZE_MAX."""


@dataclass(frozen=True, slots=True)
class _Binding:
    row: Row
    read: Callable[[], object]
    at: int
    """Row of the grid; the error has the next one, and a note below its field the one after."""
    note_below: bool
    """Also where the page is wide."""


class FormPage(QScrollArea):
    """A page of rows that show what `read` gives and hand every edit to `write`."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWidgetResizable(True)
        self.setFrameShape(QScrollArea.Shape.NoFrame)
        use_thin_scroll_bars(self, QPalette.ColorRole.Base)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._has_size = False
        """Before it is shown, Qt's 100 pixels say nothing about its width."""
        self._narrow = False
        """Too narrow for notes beside the fields."""
        self._stacked = False
        """Too narrow for labels beside them, too."""
        self.body = QWidget()
        self.body.setBackgroundRole(QPalette.ColorRole.Base)
        self.body.setAutoFillBackground(True)
        # As wide as what is seen of it, never as its rows want: their least width depends on the width that
        # they have, and Qt would go from one to the other without end.
        self.body.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        outer = QVBoxLayout(self.body)
        outer.setContentsMargins(_MARGIN, 16, _MARGIN, 16)
        outer.setSpacing(_SPACING)
        self.head = QLabel(self.body)
        self.head.setTextFormat(Qt.TextFormat.PlainText)
        self.head.setWordWrap(True)
        self.head.setForegroundRole(QPalette.ColorRole.PlaceholderText)
        self.head.hide()
        outer.addWidget(self.head)
        self._grid = QGridLayout()
        self._grid.setHorizontalSpacing(_SPACING)
        self._grid.setVerticalSpacing(0)
        self._grid.setColumnStretch(2, 1)
        outer.addLayout(self._grid)
        outer.addStretch(1)
        self.setWidget(self.body)
        self._bindings: list[_Binding] = []
        self._refused_row: Row | None = None
        self._reveal_timer = QTimer(self)
        """The sentence that says what is wrong has its place only when the rows were laid out with it."""
        self._reveal_timer.setSingleShot(True)
        self._reveal_timer.setInterval(0)
        self._reveal_timer.timeout.connect(self._reveal_refused)

    def section(self, title: str) -> SectionLabel:
        """A small title over the rows that follow."""
        label = SectionLabel(title, self.body)
        label.setWordWrap(True)
        label.setContentsMargins(0, 12 if self._grid.rowCount() > 1 else 0, 0, 8)
        self._grid.addWidget(label, self._grid.rowCount(), 0, 1, 3)
        return label

    def add(
        self, row: Row, read: Callable[[], object], write: Callable[[object], object], *, wide: bool = False
    ) -> None:
        """Add a row. `wide`: the field takes the room of the note too, and the note goes below it."""
        at = self._grid.rowCount()
        row.label.setWordWrap(True)
        row.error.setContentsMargins(0, 4, 0, 0)
        row.note.hide()
        # The first row of the grid is for a label above its field.
        binding = _Binding(row, read, at + 1, wide)
        self._place(binding)
        self._grid.setRowMinimumHeight(at + 4, 12)
        row.edited.connect(write)
        row.refused.connect(lambda: self._reveal_later(row))
        self._bindings.append(binding)

    def _place(self, binding: _Binding) -> None:
        """The label beside its field or above it, the note beside it or below."""
        row, at, top = binding.row, binding.at, Qt.AlignmentFlag.AlignTop
        below = self._narrow or binding.note_below
        whole = below or isinstance(row, CheckRow)
        first = 0 if self._stacked else 1
        for widget in (row.label, row.place, row.error):
            self._grid.removeWidget(widget)
        if self._stacked:
            self._grid.addWidget(row.label, at - 1, 0, 1, 3, Qt.AlignmentFlag.AlignBottom)
        else:
            self._grid.addWidget(row.label, at, 0, top)
        self._grid.addWidget(row.place, at, first, 1, (3 if self._stacked else 2) if whole else 1, top)
        self._grid.addWidget(row.error, at + 1, first, 1, 3 - first)
        row.place_note(self._grid, at, below=below, gap=4, first=first)

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        super().resizeEvent(event)
        self._has_size = True
        self._fit()
        if self._refused_row is not None and self._refused_row.control.hasFocus():
            # A notice above, such as why nothing runs, takes some of the height.
            self._reveal_timer.start()

    def _fit(self) -> None:
        """Give labels and fields the room that their words need, in whatever language, and notes the rest."""
        rows = self.rows()
        if not rows or not self._has_size:
            return
        room = self.viewport().width() - 2 * _MARGIN
        metrics = [QFontMetrics(row.label.font()) for row in rows]
        texts = [row.label.text() for row in rows]
        longest = max(each.horizontalAdvance(text) for each, text in zip(metrics, texts, strict=True))
        word = max(
            each.horizontalAdvance(part)
            for each, text in zip(metrics, texts, strict=True)
            for part in text.split() or [""]
        )
        labels = max(word, min(longest, round(room * _MOST_OF_LABELS))) + 4
        fields = max(self._wanted(row) for row in rows)
        narrow = room - labels - fields - 2 * _SPACING < _LEAST_NOTE
        stacked = narrow and room - labels - _SPACING < fields
        self._grid.setColumnMinimumWidth(0, 0 if stacked else labels)
        for row in rows:
            row.label.setMinimumWidth(0 if stacked else labels)
            row.label.setMaximumWidth(_UNBOUNDED if stacked else labels)
            row.label.setMinimumHeight(0 if stacked else FIELD_HEIGHT)
            row.label.setContentsMargins(0, 0, 0, 4 if stacked else 0)
        for binding in self._bindings:
            control = binding.row.place
            if narrow or binding.note_below or isinstance(binding.row, CheckRow):
                control.setMinimumWidth(0)
                control.setMaximumWidth(_UNBOUNDED)
            else:
                control.setFixedWidth(fields)
        if (narrow, stacked) != (self._narrow, self._stacked):
            self._narrow, self._stacked = narrow, stacked
            for binding in self._bindings:
                self._place(binding)

    def _wanted(self, row: Row) -> int:
        """How wide a field should be: for all choices, and for what an empty one says where that is short."""
        metrics = QFontMetrics(self.body.font())
        usual = metrics.horizontalAdvance("0") * _FIELD_LETTERS
        if isinstance(row, ChoiceRow):
            return max(usual, row.place.sizeHint().width())
        if isinstance(row, TextRow):
            says = metrics.horizontalAdvance(row.field.placeholderText()) + _FIELD_PADDING
            return max(usual, min(says, round(usual * 1.5)))
        return usual

    def reveal(self, row: Row) -> None:
        """Bring a row into view, with the sentence below it that says what is wrong."""
        layout = self.body.layout()
        if layout is not None:
            layout.activate()
        self.ensureWidgetVisible(row.place, 0, 3 * FIELD_HEIGHT)
        if not row.error.isHidden():
            self.ensureWidgetVisible(row.error, 0, 8)

    def _reveal_later(self, row: Row) -> None:
        self._refused_row = row
        self._reveal_timer.start()

    @Slot()
    def _reveal_refused(self) -> None:
        row = self._refused_row
        if row is not None and not row.error.isHidden():
            self.reveal(row)

    def add_widget(self, widget: QWidget) -> None:
        """Something that is not a row, over the whole width."""
        self._grid.addWidget(widget, self._grid.rowCount(), 0, 1, 3)

    def refresh(self) -> None:
        """Show what holds now."""
        for binding in self._bindings:
            binding.row.show_value(binding.read())
            binding.row.refresh_note()
        self._fit()

    def refresh_row(self, row: Row) -> None:
        """Show what holds now in one row."""
        for binding in self._bindings:
            if binding.row is row:
                row.show_value(binding.read())
                row.refresh_note()

    def rows(self) -> list[Row]:
        """The rows, from top to bottom."""
        return [binding.row for binding in self._bindings]

    def row(self, label: str) -> Row:
        """A row by its label. Raises StopIteration where there is none."""
        return next(row for row in self.rows() if row.label.text() == label)

    def changeEvent(self, event: QEvent) -> None:  # noqa: N802
        super().changeEvent(event)
        if is_appearance_event(event) and hasattr(self, "_bindings"):
            self._fit()
            self.viewport().update()
