"""Two runs side by side: what they came to, and where their states and workflows differ."""

from __future__ import annotations

import json
from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtGui import QPalette
from PySide6.QtWidgets import (
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QPlainTextEdit,
    QSizePolicy,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from app.fields import FIELD_HEIGHT, OutlinedCheckBox, OutlinedField
from app.focus_line import FocusLine
from app.labels import ElidedLabel, Line, QuietLabel
from app.reading_text import harmless
from app.runs.back_bar import BackBar, IconMark
from app.runs.compare_model import CompareFilter, CompareModel
from app.runs.compare_rows import (
    RESULT,
    STATE,
    WORKFLOW,
    ShownComparison,
    items_of,
    money_words,
    outcome_of,
)
from app.runs.compare_tree import MARGIN as _MARGIN
from app.runs.compare_tree import CompareTree
from app.runs.lined_splitter import LinedSplitter
from app.runs.run_delegate import OUTCOME_ICONS
from app.runs.words import moment_words, outcome_words
from app.scroll_bar import use_thin_scroll_bars
from app.tab_bar import FlatTabBar
from app.theme import TextSize, font, mono_font
from core.compare_runs import Difference, DifferenceKind, Differences
from core.json_types import JsonValue
from core.report_model import RunReport
from core.run_duration import RunDuration, run_duration_words

_MOST_SHOWN = 20_000
"""Characters of a value that are shown."""


def whole_value(value: JsonValue) -> str:
    """A value for reading: text as it is, else indented JSON; cut where it has no end."""
    if isinstance(value, str):
        return harmless(value)
    parts: list[str] = []
    room = _MOST_SHOWN
    try:
        for part in json.JSONEncoder(indent=2, ensure_ascii=False).iterencode(value):
            parts.append(part[:room])
            room -= len(part)
            if room <= 0:
                parts.append("…")
                break
    except RecursionError:
        parts.append("…")
    return harmless("".join(parts))


class RunCard(QWidget):
    """Which run stands on one side."""

    def __init__(self, letter: str, parent: QWidget) -> None:
        super().__init__(parent)
        self.letter = QLabel(letter, self)
        self.letter.setFont(font(TextSize.TITLE, bold=True))
        self.icon = IconMark(self)
        self.title = ElidedLabel("", parent=self)
        self.title.setFont(font(bold=True))
        self.title.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.facts = QuietLabel("", self)
        self.facts.setFont(font(TextSize.SMALL, tabular=True))
        self.facts.setWordWrap(True)
        grid = QGridLayout(self)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setHorizontalSpacing(8)
        grid.setVerticalSpacing(2)
        grid.addWidget(self.letter, 0, 0)
        grid.addWidget(self.icon, 0, 1, Qt.AlignmentFlag.AlignVCenter)
        grid.addWidget(self.title, 0, 2)
        grid.addWidget(self.facts, 1, 1, 1, 2)
        # Beside a run with more words the other begins at the same height.
        grid.setRowStretch(2, 1)
        grid.setColumnStretch(2, 1)

    def show_run(self, report: RunReport) -> None:
        """Show this run."""
        outcome = outcome_of(report)
        self.icon.show_icon(OUTCOME_ICONS[outcome])
        self.title.set_text(harmless(report.workflow))
        parts = (
            moment_words(report.started),
            outcome_words(outcome),
            run_duration_words(RunDuration(report.times.wall_seconds, report.times.waited_seconds)),
            money_words(report.usage),
        )
        self.facts.setText(" · ".join(part for part in parts if part))


class ComparePage(QWidget):
    """Shows a `ShownComparison`.

    Signals: `closed()`: back to all runs.
    """

    closed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._differences: list[Sequence[Difference]] = [(), (), ()]
        self._notes = ("", "", "")
        self.bar = BackBar(self)
        self.bar.back_requested.connect(self.closed)
        self.first, self.second = RunCard("A", self), RunCard("B", self)
        self.tabs = FlatTabBar(self)
        self.tabs.setAccessibleName(self.tr("What is compared"))
        for _ in range(3):
            self.tabs.addTab("")
        self.field = OutlinedField(self)
        self.field.setPlaceholderText(self.tr("Search"))
        self.field.setAccessibleName(self.tr("Search the comparison"))
        self.field.setClearButtonEnabled(True)
        self.field.setMinimumHeight(FIELD_HEIGHT)
        self.field.textChanged.connect(self._search)
        self.only = OutlinedCheckBox(self.tr("Only what differs"), self)
        self.only.toggled.connect(self._show_only)
        names = (self.tr("What the runs came to"), self.tr("States"), self.tr("Workflows"))
        headings = (self.tr("Difference"), self.tr("How"), self.tr("How"))
        self.models = [CompareModel(heading, self) for heading in headings]
        self.filters = [CompareFilter(model, self) for model in self.models]
        self.trees = [
            CompareTree(found, name, self, wraps=which == RESULT)
            for which, (found, name) in enumerate(zip(self.filters, names, strict=True))
        ]
        self.note = QuietLabel("", self)
        self.note.setWordWrap(True)
        self.note.setContentsMargins(_MARGIN, 6, _MARGIN, 6)
        self.values = [self._make_value(self.tr("Value in A")), self._make_value(self.tr("Value in B"))]
        self._arrange()
        self.tabs.currentChanged.connect(self._show_tab)
        for tree in self.trees:
            tree.selectionModel().currentChanged.connect(self._show_values)
        self.setFocusProxy(self.field)

    def _make_value(self, name: str) -> QPlainTextEdit:
        text = QPlainTextEdit(self)
        use_thin_scroll_bars(text)
        FocusLine(text)
        text.setReadOnly(True)
        text.setFrameShape(QFrame.Shape.NoFrame)
        text.setFont(mono_font())
        text.document().setDocumentMargin(0)
        text.setTabChangesFocus(True)
        text.setAccessibleName(name)
        return text

    def _arrange(self) -> None:
        cards = QHBoxLayout()
        cards.setContentsMargins(_MARGIN, 10, _MARGIN, 10)
        cards.setSpacing(16)
        cards.addWidget(self.first, 1)
        cards.addWidget(self.second, 1)
        find = QHBoxLayout()
        find.setContentsMargins(_MARGIN, 8, _MARGIN, 8)
        find.setSpacing(12)
        find.addWidget(self.field, 1)
        find.addWidget(self.only)
        tabs = QHBoxLayout()
        tabs.setContentsMargins(_MARGIN - 4, 0, _MARGIN, 0)
        tabs.addWidget(self.tabs, 1)
        self.pages = QStackedWidget(self)
        for tree in self.trees:
            self.pages.addWidget(tree)
        self.both = LinedSplitter(Qt.Orientation.Horizontal, self)
        for letter, value in zip("AB", self.values, strict=True):
            self.both.addWidget(_captioned(letter, value))
        self.splitter = LinedSplitter(Qt.Orientation.Vertical, self)
        self.splitter.addWidget(self.pages)
        self.splitter.addWidget(self.both)
        self.splitter.setStretchFactor(0, 3)
        self.splitter.setStretchFactor(1, 1)
        self.both.setMinimumHeight(90)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self.bar)
        layout.addLayout(cards)
        layout.addLayout(tabs)
        layout.addWidget(Line(self))
        layout.addLayout(find)
        layout.addWidget(self.note)
        layout.addWidget(self.splitter, 1)
        self.setBackgroundRole(QPalette.ColorRole.Base)
        self.setAutoFillBackground(True)

    # --- what is shown ---------------------------------------------------------------------------------

    def show_comparison(self, shown: ShownComparison) -> None:
        """Show these two runs."""
        both = shown.both
        self.bar.show_run(self.tr("Two runs compared"), None)
        self.first.show_run(both.first)
        self.second.show_run(both.second)
        self._differences = [(), items_of(both.state), items_of(both.workflow)]
        for model, rows in zip(self.models, shown.rows, strict=True):
            model.show_rows(rows)
        self._notes = ("", self._note(both.state, STATE), self._note(both.workflow, WORKFLOW))
        names = (
            self.tr("Results"),
            self._name(self.tr("State"), both.state),
            self._name(self.tr("Workflow"), both.workflow),
        )
        for tab, name in enumerate(names):
            self.tabs.setTabText(tab, name)
        self.field.clear()
        self.tabs.setCurrentIndex(RESULT)
        self._show_tab()
        for tree in self.trees:
            tree.fit()
            tree.setCurrentIndex(tree.model().index(0, 0))

    def _name(self, name: str, found: Differences | None) -> str:
        if found is None:
            return name
        more = "+" if found.cut else ""
        return self.tr("{0} ({1})").format(name, f"{len(found.items):,}{more}")

    def _note(self, found: Differences | None, which: int) -> str:
        if found is None:
            if which == STATE:
                return self.tr(
                    "One of the runs has left no state that can be read, so there is nothing to compare."
                )
            return self.tr("The workflow of one of the runs cannot be read, so there is nothing to compare.")
        if not found.items:
            if which == STATE:
                return self.tr("Both runs ended with the same state.")
            return self.tr("Both runs had the same workflow.")
        if found.cut:
            return self.tr("There are more differences than the first {0}, which are listed here.").format(
                f"{len(found.items):,}"
            )
        return ""

    @Slot()
    def _show_tab(self) -> None:
        which = max(0, self.tabs.currentIndex())
        self.pages.setCurrentIndex(which)
        self.only.setVisible(which == RESULT)
        listed = which == RESULT or bool(self._differences[which])
        self.field.setEnabled(listed)
        self.both.setVisible(which != RESULT and listed)
        note = self._notes[which]
        self.note.setText(note)
        self.note.setVisible(bool(note))
        self._search(self.field.text())
        self._show_values()

    @Slot(str)
    def _search(self, text: str) -> None:
        which = max(0, self.tabs.currentIndex())
        self.filters[which].search(text)

    @Slot(bool)
    def _show_only(self, only: bool) -> None:
        self.filters[RESULT].show_only_different(only)

    @Slot()
    def _show_values(self) -> None:
        """Both values of the selected row, in full."""
        which = self.tabs.currentIndex()
        if which <= RESULT:
            return
        index = self.filters[which].mapToSource(self.trees[which].currentIndex())
        found = self._differences[which]
        if not 0 <= index.row() < len(found):
            for value in self.values:
                value.setPlainText("")
            return
        difference = found[index.row()]
        absent = self.tr("(not there)")
        first = absent if difference.kind is DifferenceKind.ONLY_SECOND else whole_value(difference.first)
        second = absent if difference.kind is DifferenceKind.ONLY_FIRST else whole_value(difference.second)
        self.values[0].setPlainText(first)
        self.values[1].setPlainText(second)


def _captioned(letter: str, value: QWidget) -> QWidget:
    """A value below the letter of its run."""
    part = QWidget()
    caption = QLabel(letter, part)
    caption.setFont(font(TextSize.LABEL, bold=True))
    caption.setForegroundRole(QPalette.ColorRole.PlaceholderText)
    column = QVBoxLayout(part)
    column.setContentsMargins(_MARGIN, 8, 4, 4)
    column.setSpacing(4)
    column.addWidget(caption)
    column.addWidget(value, 1)
    return part
