"""Two runs side by side: what they came to, and where their states and workflows differ."""

from __future__ import annotations

import json
from collections.abc import Sequence

from PySide6.QtCore import QRect, QSize, Qt, Signal, Slot
from PySide6.QtGui import QFontMetrics, QPainter, QPalette, QResizeEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QHeaderView,
    QLabel,
    QPlainTextEdit,
    QSizePolicy,
    QStackedWidget,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTreeView,
    QVBoxLayout,
    QWidget,
)

from app.fields import FIELD_HEIGHT, OutlinedCheckBox, OutlinedField
from app.focus_line import FocusLine
from app.labels import ElidedLabel, Line, QuietLabel
from app.reading_text import harmless
from app.runs.back_bar import BackBar, IconMark
from app.runs.compare_model import CHANGE, FIRST, NAME, ROW_ROLE, SECOND, CompareFilter, CompareModel, Index
from app.runs.compare_rows import (
    RESULT,
    STATE,
    WORKFLOW,
    CompareRow,
    ShownComparison,
    items_of,
    money_words,
    outcome_of,
)
from app.runs.lined_splitter import LinedSplitter
from app.runs.run_delegate import OUTCOME_ICONS
from app.runs.words import moment_words, outcome_words
from app.scroll_bar import use_thin_scroll_bars
from app.tab_bar import FlatTabBar
from app.theme import TextSize, font, mono_font, theme
from core.compare_runs import Difference, DifferenceKind, Differences
from core.json_types import JsonValue
from core.report_model import RunReport
from core.run_duration import RunDuration, run_duration_words

_MARGIN = 12
_INDENT = 16
_LOOKED_AT = 200
"""Names of rows that tell how much room names need."""
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


class _Header(QHeaderView):
    """Names of columns in quiet, small text over a hairline."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(Qt.Orientation.Horizontal, parent)
        self.setSectionsClickable(False)

    def sizeHint(self) -> QSize:  # noqa: N802
        return QSize(super().sizeHint().width(), max(26, QFontMetrics(font(TextSize.LABEL)).height() + 10))

    def paintSection(self, painter: QPainter, rect: QRect, logicalIndex: int) -> None:  # noqa: N802, N803
        colors = theme()
        painter.save()
        painter.fillRect(rect, colors.color("surface"))
        painter.fillRect(QRect(rect.left(), rect.bottom(), rect.width(), 1), colors.color("line"))
        painter.setFont(font(TextSize.LABEL, bold=logicalIndex in (FIRST, SECOND)))
        painter.setPen(colors.color("quiet"))
        text = str(self.model().headerData(logicalIndex, Qt.Orientation.Horizontal) or "")
        left = _MARGIN if logicalIndex == NAME else 4
        painter.drawText(rect.adjusted(left, 0, -4, 0), Qt.AlignmentFlag.AlignVCenter, text)
        painter.restore()


class _Rows(QStyledItemDelegate):
    """What is the same is quiet; what differs is not, and says how."""

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:  # noqa: N802
        return QSize(super().sizeHint(option, index).width(), max(28, QFontMetrics(font()).height() + 10))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        row = index.data(ROW_ROLE)
        if not isinstance(row, CompareRow):
            return
        colors = theme()
        painter.save()
        painter.setFont(font(bold=row.differs and not row.of and index.column() == NAME, tabular=True))
        token = "text" if row.differs else "quiet"
        if index.column() == CHANGE and row.differs:
            token = "accent"
        painter.setPen(colors.color(token))
        metrics = QFontMetrics(painter.font())
        left = 4
        if index.column() == NAME:
            left = _MARGIN + (_INDENT if row.of else 0)
        box = option.rect.adjusted(left, 0, -8, 0)
        mode = Qt.TextElideMode.ElideMiddle if index.column() == NAME else Qt.TextElideMode.ElideRight
        text = metrics.elidedText(str(index.data() or ""), mode, box.width())
        painter.drawText(box, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, text)
        painter.restore()


class CompareTree(QTreeView):
    """The rows of a comparison."""

    def __init__(self, filtered: CompareFilter, name: str, parent: QWidget) -> None:
        super().__init__(parent)
        use_thin_scroll_bars(self)
        FocusLine(self)
        self.setHeader(_Header(self))
        self.setModel(filtered)
        self.setItemDelegate(_Rows(self))
        self.setFrameShape(QTreeView.Shape.NoFrame)
        self.setUniformRowHeights(True)
        self.setRootIsDecorated(False)
        self.setItemsExpandable(False)
        self.setBackgroundRole(QPalette.ColorRole.Base)
        self.setAutoFillBackground(True)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setAccessibleName(name)
        self.header().setStretchLastSection(False)
        self.header().setMinimumSectionSize(40)

    def drawRow(self, painter: QPainter, options: QStyleOptionViewItem, index: Index) -> None:  # noqa: N802
        colors = theme()
        if self.selectionModel().isRowSelected(index.row()):
            painter.fillRect(options.rect, colors.color("accent_soft"))
            if self.hasFocus():
                painter.fillRect(
                    options.rect.x(), options.rect.y(), 3, options.rect.height(), colors.color("accent")
                )
        super().drawRow(painter, options, index)

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        super().resizeEvent(event)
        self._share()

    def fit(self) -> None:
        """Other rows are shown: their names may need more room, or less."""
        self._share()

    def _share(self) -> None:
        """The names are short and say what a row is about: they are not cut before the values are."""
        room = self.viewport().width()
        change = min(room // 4, QFontMetrics(font(tabular=True)).horizontalAdvance("+1:00:00 (+100 %)") + 16)
        name = min(max(room // 3, self._names_width()), room * 2 // 5, 320)
        values = (room - change - name) // 2
        for section, width in (
            (NAME, name),
            (FIRST, values),
            (SECOND, values),
            (CHANGE, room - name - 2 * values),
        ):
            self.header().resizeSection(section, width)

    def _names_width(self) -> int:
        """What the names need, as far as a look at the first of them tells."""
        model = self.model()
        metrics = QFontMetrics(font(bold=True))
        names = (str(model.index(row, NAME).data() or "") for row in range(min(_LOOKED_AT, model.rowCount())))
        return max(map(metrics.horizontalAdvance, names), default=0) + 24


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
        self.trees = [CompareTree(found, name, self) for found, name in zip(self.filters, names, strict=True)]
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
