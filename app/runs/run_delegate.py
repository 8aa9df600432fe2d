"""How a run looks in a list: a row of a table, or two lines."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, QObject, QPersistentModelIndex, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QFontMetrics, QPainter
from PySide6.QtWidgets import QStyledItemDelegate, QStyleOptionViewItem

from app.painting import paint_method, saved
from app.reading_text import harmless
from app.runs.columns import NUMBERS, Column
from app.runs.entry import Outcome, RunEntry
from app.runs.run_list import DAY_ROLE, ENTRY_ROLE
from app.runs.words import fact_words, title_words
from app.theme import TextSize, font, paint_icon, theme

_ICON = 16
_GAP = 8
_PADDING = 7
ROW_MARGIN = 12
ICON_SPACE = _ICON + _GAP
"""What an icon before a text takes."""

OUTCOME_ICONS = {
    Outcome.GOING_ON: ("loader-circle", "accent"),
    Outcome.COMPLETED: ("circle-check", "succeeded"),
    Outcome.LIMIT: ("circle-pause", "other"),
    Outcome.FAILED: ("circle-alert", "failed"),
    Outcome.STOPPED: ("circle-stop", "quiet"),
    Outcome.CUT_OFF: ("circle-slash", "other"),
    Outcome.UNREADABLE: ("circle-x", "failed"),
}
"""Name of an icon, and of its colour in the theme: a shape of its own for every outcome."""

_FACTS = 500
"""Characters of a row's second line; no window is wider."""


def icon_of(entry: RunEntry) -> tuple[str, str]:
    """Name of the icon for how a run stands, and of its colour in the theme."""
    if entry.going_on and entry.waits:
        return "triangle-alert", "failed"
    return OUTCOME_ICONS[entry.outcome]


class RunDelegate(QStyledItemDelegate):
    """A cell of a table; or two lines: name and moment, then the ending and where the run would go on."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.in_two_lines = True

    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:  # noqa: N802
        del index
        first = QFontMetrics(font(bold=True)).height()
        if not self.in_two_lines:
            return QSize(option.rect.width(), max(30, first + 12))
        second = QFontMetrics(font(TextSize.SMALL, tabular=True)).height()
        return QSize(option.rect.width(), first + second + 2 + 2 * _PADDING)

    def paint_ground(self, painter: QPainter, row: QRect, state: tuple[bool, bool, bool]) -> None:
        """What is below a whole row. `state`: selected, where the keys are, under the mouse."""
        selected, current, under = state
        colors = theme()
        if selected:
            painter.fillRect(row, colors.color("accent_soft"))
        elif under:
            painter.fillRect(row, colors.color("raised"))
        if current:
            painter.fillRect(row.x(), row.y(), 3, row.height(), colors.color("accent"))
        elif not self.in_two_lines:
            painter.fillRect(row.x() + ROW_MARGIN, row.bottom(), row.width(), 1, colors.color("raised"))

    @paint_method
    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        entry = index.data(ENTRY_ROLE)
        if not isinstance(entry, RunEntry):
            return
        with saved(painter):
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            if self.in_two_lines:
                self._paint_lines(painter, option, index, entry)
            else:
                self._paint_cell(painter, option, index, entry)

    def _paint_cell(
        self,
        painter: QPainter,
        option: QStyleOptionViewItem,
        index: QModelIndex | QPersistentModelIndex,
        entry: RunEntry,
    ) -> None:
        colors = theme()
        column = Column(index.column())
        name = column is Column.WORKFLOW
        box = option.rect.adjusted(ROW_MARGIN if name else 4, 0, -8, 0)
        if column is Column.OUTCOME:
            icon, token = icon_of(entry)
            middle = box.center().y() - _ICON / 2 + 0.5
            paint_icon(painter, icon, QRectF(box.left(), middle, _ICON, _ICON), colors.color(token))
            box.setLeft(box.left() + ICON_SPACE)
        shown = font(tabular=True)
        painter.setFont(shown)
        painter.setPen(colors.color("text" if name or column is Column.OUTCOME else "quiet"))
        text = str(index.data() or "").replace("\n", " ")[:_FACTS]
        mode = Qt.TextElideMode.ElideMiddle if name else Qt.TextElideMode.ElideRight
        side = Qt.AlignmentFlag.AlignRight if column in NUMBERS else Qt.AlignmentFlag.AlignLeft
        painter.drawText(
            box,
            side | Qt.AlignmentFlag.AlignVCenter,
            QFontMetrics(shown).elidedText(text, mode, box.width()),
        )

    def _paint_lines(
        self,
        painter: QPainter,
        option: QStyleOptionViewItem,
        index: QModelIndex | QPersistentModelIndex,
        entry: RunEntry,
    ) -> None:
        colors = theme()
        box = QRectF(option.rect).adjusted(ROW_MARGIN, _PADDING, -ROW_MARGIN, -_PADDING)
        name, token = icon_of(entry)
        bold, small = font(bold=True), font(TextSize.SMALL, tabular=True)
        first = QFontMetrics(font(bold=True)).height()
        icon = QRectF(box.left(), box.top() + (first - _ICON) / 2, _ICON, _ICON)
        paint_icon(painter, name, icon, colors.color(token))
        left = box.left() + ICON_SPACE
        line = QRectF(left, box.top(), box.right() - left, first)
        vertical = Qt.AlignmentFlag.AlignVCenter
        day = str(index.data(DAY_ROLE) or "")
        painter.setFont(font(tabular=True))
        painter.setPen(colors.color("quiet"))
        painter.drawText(line, vertical | Qt.AlignmentFlag.AlignRight, day)
        room = line.width() - QFontMetrics(font(tabular=True)).horizontalAdvance(day) - _GAP
        title = harmless(title_words(entry)).replace("\n", " ")
        painter.setFont(bold)
        painter.setPen(colors.color("text"))
        shown = QFontMetrics(bold).elidedText(title, Qt.TextElideMode.ElideMiddle, int(room))
        painter.drawText(line, vertical | Qt.AlignmentFlag.AlignLeft, shown)
        painter.setFont(small)
        painter.setPen(colors.color("quiet"))
        below = QRectF(left, box.top() + first + 2, box.right() - left, box.height() - first - 2)
        facts = QFontMetrics(small).elidedText(
            harmless(fact_words(entry)[:_FACTS].replace("\n", " ")),
            Qt.TextElideMode.ElideRight,
            int(below.width()),
        )
        painter.drawText(below, vertical | Qt.AlignmentFlag.AlignLeft, facts)
