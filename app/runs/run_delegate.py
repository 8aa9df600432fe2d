"""How a run looks in a list: what it was and when, and below what came of it."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRectF, QSize, Qt
from PySide6.QtGui import QFontMetrics, QPainter
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem

from app.reading_text import harmless
from app.runs.entry import RunEntry
from app.runs.run_list import AGE_ROLE, ENTRY_ROLE
from app.runs.words import fact_words, moment_words, title_words
from app.theme import TextSize, font, paint_icon, theme
from core.events import RunStatus

_ICON = 16
_LEFT = 12
_GAP = 8
_PADDING = 7

_ICONS = {
    RunStatus.COMPLETED: ("circle-check", "succeeded"),
    RunStatus.ENDED: ("circle-pause", "other"),
    RunStatus.STOPPED: ("circle-stop", "quiet"),
    RunStatus.FAILED: ("circle-alert", "failed"),
}

_FACTS = 500
"""Characters of a row's second line; no window is wider."""


def icon_of(entry: RunEntry) -> tuple[str, str]:
    """Name of an icon, and of its colour in the theme: a shape of its own for every ending."""
    if entry.problem:
        return "circle-x", "failed"
    if entry.going_on:
        return "loader-circle", "accent"
    if entry.status is None:
        return "circle-slash", "other"
    return _ICONS[entry.status]


class RunDelegate(QStyledItemDelegate):
    """Two lines: name, moment and age; then the ending and where the run would go on."""

    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:  # noqa: N802
        del index
        first = QFontMetrics(font(bold=True)).height()
        second = QFontMetrics(font(TextSize.SMALL, tabular=True)).height()
        return QSize(option.rect.width(), first + second + 2 + 2 * _PADDING)

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        entry = index.data(ENTRY_ROLE)
        if not isinstance(entry, RunEntry):
            return
        colors = theme()
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        state = option.state
        if state & QStyle.StateFlag.State_Selected:
            painter.fillRect(option.rect, colors.color("accent_soft"))
            if state & QStyle.StateFlag.State_HasFocus:
                painter.fillRect(
                    option.rect.x(), option.rect.y(), 3, option.rect.height(), colors.color("accent")
                )
        elif state & QStyle.StateFlag.State_MouseOver:
            painter.fillRect(option.rect, colors.color("raised"))
        box = QRectF(option.rect).adjusted(_LEFT, _PADDING, -_LEFT, -_PADDING)
        name, token = icon_of(entry)
        # Greyed as a whole where nothing can be done with it, but for what has to be read.
        live = entry.resumable or entry.going_on
        bold, small = font(bold=live), font(TextSize.SMALL, tabular=True)
        first = QFontMetrics(font(bold=True)).height()
        paint_icon(
            painter,
            name,
            QRectF(box.left(), box.top() + (first - _ICON) / 2, _ICON, _ICON),
            colors.color(token if live or entry.problem else "disabled"),
        )
        left = box.left() + _ICON + _GAP
        painter.setFont(font(tabular=True))
        painter.setPen(colors.color("quiet"))
        age = str(index.data(AGE_ROLE) or "")
        age_width = QFontMetrics(font(tabular=True)).horizontalAdvance(age)
        line = QRectF(left, box.top(), box.right() - left, first)
        painter.drawText(line, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight, age)
        room = line.width() - age_width - _GAP
        moment = moment_words(entry.started)
        moment_width = QFontMetrics(font(tabular=True)).horizontalAdvance(moment) + _GAP
        metrics = QFontMetrics(bold)
        title = harmless(title_words(entry))
        if metrics.horizontalAdvance(title) + moment_width > room:
            moment, moment_width = "", 0
        shown = metrics.elidedText(title, Qt.TextElideMode.ElideMiddle, int(room - moment_width))
        vertical = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft
        painter.setFont(bold)
        painter.setPen(colors.color("text" if live else "quiet"))
        painter.drawText(line, vertical, shown)
        if moment:
            painter.setFont(font(tabular=True))
            painter.setPen(colors.color("quiet"))
            after = line.adjusted(metrics.horizontalAdvance(shown) + _GAP, 0, 0, 0)
            painter.drawText(after, vertical, moment)
        painter.setFont(small)
        painter.setPen(colors.color("quiet"))
        below = QRectF(left, box.top() + first + 2, box.right() - left, box.height() - first - 2)
        facts = QFontMetrics(small).elidedText(
            harmless(fact_words(entry)[:_FACTS].replace("\n", " ")),
            Qt.TextElideMode.ElideRight,
            int(below.width()),
        )
        painter.drawText(below, vertical, facts)
        painter.restore()
