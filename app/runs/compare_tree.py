"""The rows of a comparison as one sees them: what differs stands out, and is not cut where it can wrap."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QPointF, QRect, QSize, Qt
from PySide6.QtGui import QFont, QFontMetrics, QPainter, QPalette, QResizeEvent, QTextLayout, QTextOption
from PySide6.QtWidgets import (
    QAbstractItemView,
    QFrame,
    QHeaderView,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTreeView,
    QWidget,
)

from app.focus_line import FocusLine
from app.painting import paint_method, saved
from app.runs.compare_model import CHANGE, FIRST, NAME, ROW_ROLE, SECOND, CompareFilter, Index
from app.runs.compare_rows import CompareRow
from app.scroll_bar import use_thin_scroll_bars
from app.theme import TextSize, font, theme

MARGIN = 12
_INDENT = 16
_LEFT, _RIGHT = 4, 8
"""Between a text and the borders of its cell."""
_PADDING = 6
"""Above and below the text of a row."""
_LOOKED_AT = 200
"""Rows that tell how much room their names and differences need."""
_MOST_LINES = 12
"""Lines of a text that wraps; a tool tip has the rest."""
_NARROWEST = 24


class _Header(QHeaderView):
    """Names of columns in quiet, small text over a hairline."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(Qt.Orientation.Horizontal, parent)
        self.setSectionsClickable(False)

    def sizeHint(self) -> QSize:  # noqa: N802
        return QSize(super().sizeHint().width(), max(26, QFontMetrics(font(TextSize.LABEL)).height() + 10))

    @paint_method
    def paintSection(self, painter: QPainter, rect: QRect, logicalIndex: int) -> None:  # noqa: N802, N803
        colors = theme()
        with saved(painter):
            painter.fillRect(rect, colors.color("surface"))
            painter.fillRect(QRect(rect.left(), rect.bottom(), rect.width(), 1), colors.color("line"))
            painter.setFont(font(TextSize.LABEL, bold=logicalIndex in (FIRST, SECOND)))
            painter.setPen(colors.color("quiet"))
            text = str(self.model().headerData(logicalIndex, Qt.Orientation.Horizontal) or "")
            left = MARGIN if logicalIndex == NAME else _LEFT
            painter.drawText(rect.adjusted(left, 0, -4, 0), Qt.AlignmentFlag.AlignVCenter, text)


class _Rows(QStyledItemDelegate):
    """What is the same is quiet; what differs is not, and says how. The heads of agents' rows are bold."""

    def __init__(self, view: CompareTree) -> None:
        super().__init__(view)
        self._view = view

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:  # noqa: N802
        del option
        height = max(28, QFontMetrics(font()).height() + 10)
        row = index.data(ROW_ROLE)
        if self._view.wraps and isinstance(row, CompareRow):
            room = self._view.columnWidth(index.column()) - _left(row, index.column()) - _RIGHT
            text = _text_of(index)
            if QFontMetrics(_font_of(row, index.column())).horizontalAdvance(text) > room:
                lines = _lines(text, _font_of(row, index.column()), room)
                height = max(height, _height_of(lines) + 2 * _PADDING)
        return QSize(0, height)

    @paint_method
    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        row = index.data(ROW_ROLE)
        if not isinstance(row, CompareRow):
            return
        column = index.column()
        token = "text" if row.differs else "quiet"
        if column == CHANGE and row.differs:
            token = "accent"
        shown = _font_of(row, column)
        metrics = QFontMetrics(shown)
        box = option.rect.adjusted(_left(row, column), 0, -_RIGHT, 0)
        text = _text_of(index)
        with saved(painter):
            painter.setFont(shown)
            painter.setPen(theme().color(token))
            if self._view.wraps and metrics.horizontalAdvance(text) > box.width():
                top = float(box.top() + _PADDING)
                for line in _lines(text, shown, box.width()):
                    painter.drawText(QPointF(box.left(), top + metrics.ascent()), line)
                    top += metrics.lineSpacing()
                return
            if self._view.wraps:
                # Beside a text of several lines it stands at the height of the first of them.
                one = max(28, metrics.height() + 10)
                box.setHeight(min(box.height(), one))
            mode = Qt.TextElideMode.ElideMiddle if column == NAME else Qt.TextElideMode.ElideRight
            text = metrics.elidedText(text, mode, box.width())
            painter.drawText(box, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, text)


def _text_of(index: Index) -> str:
    """What stands in a cell; a number and its sign for percent stay on one line."""
    return str(index.data() or "").replace(" %", "\N{NO-BREAK SPACE}%")


def _left(row: CompareRow, column: int) -> int:
    if column != NAME:
        return _LEFT
    return MARGIN + (_INDENT if row.of else 0)


def _font_of(row: CompareRow, column: int) -> QFont:
    return font(bold=column == NAME and (row.is_head or (row.differs and not row.of)), tabular=True)


def _lines(text: str, shown: QFont, room: int) -> list[str]:
    """The text in lines of this width; of more than there may be the last ends in "…"."""
    layout = QTextLayout(text, shown)
    option = QTextOption()
    option.setWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
    layout.setTextOption(option)
    width = max(_NARROWEST, room)
    lines: list[str] = []
    layout.beginLayout()
    while (line := layout.createLine()).isValid():
        line.setLineWidth(width)
        start, length = line.textStart(), line.textLength()
        if len(lines) + 1 == _MOST_LINES and start + length < len(text):
            rest = text[start : start + 2 * length + 1]
            lines.append(QFontMetrics(shown).elidedText(rest, Qt.TextElideMode.ElideRight, width))
            break
        lines.append(text[start : start + length].rstrip())
    layout.endLayout()
    return lines


def _height_of(lines: Sequence[str]) -> int:
    return len(lines) * QFontMetrics(font(tabular=True)).lineSpacing()


class CompareTree(QTreeView):
    """The rows of a comparison. `wraps`: each is as high as its words need; for some hundred rows."""

    def __init__(
        self, filtered: CompareFilter, name: str, parent: QWidget | None, *, wraps: bool = False
    ) -> None:
        super().__init__(parent)
        self.wraps = wraps
        use_thin_scroll_bars(self)
        FocusLine(self)
        self.setHeader(_Header(self))
        self.setModel(filtered)
        self.setItemDelegate(_Rows(self))
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setUniformRowHeights(not wraps)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
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

    @paint_method
    def drawRow(  # noqa: N802
        self, painter: QPainter, options: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        colors = theme()
        row = index.data(ROW_ROLE)
        if isinstance(row, CompareRow) and row.is_head:
            line = QRect(MARGIN, options.rect.top(), self.viewport().width() - 2 * MARGIN, 1)
            painter.fillRect(line, colors.color("line"))
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
        change = min(room // 4, max(self._width_of(CHANGE), 64))
        name = min(max(room // 3, self._width_of(NAME)), room * 2 // 5, 320)
        if self.wraps:
            # Names of several words wrap: the values are what one has come for.
            name = min(self._width_of(NAME), room * 3 // 10)
        values = (room - change - name) // 2
        widths = ((NAME, name), (FIRST, values), (SECOND, values), (CHANGE, room - name - 2 * values))
        changed = any(self.columnWidth(section) != width for section, width in widths)
        for section, width in widths:
            self.header().resizeSection(section, width)
        if self.wraps and changed:
            # Rows are of another height now.
            self.scheduleDelayedItemsLayout()

    def _width_of(self, column: int) -> int:
        """What a column needs, as far as a look at its first rows tells."""
        model = self.model()
        metrics = QFontMetrics(font(bold=column == NAME, tabular=True))
        texts = [str(model.headerData(column, Qt.Orientation.Horizontal) or "")]
        for number in range(min(_LOOKED_AT, model.rowCount())):
            texts.append(str(model.index(number, column).data() or ""))
        margins = MARGIN + _RIGHT + 4 if column == NAME else _LEFT + _RIGHT + 4
        return max(map(metrics.horizontalAdvance, texts)) + margins
