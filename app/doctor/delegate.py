"""Paints what was found: an icon that says how it stands, what it is about, what was found, what to do."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TypeAlias

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QPointF, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFontMetrics, QPainter, QTextCharFormat, QTextLayout, QTextOption
from PySide6.QtWidgets import QListView, QStyle, QStyledItemDelegate, QStyleOptionViewItem

from app.doctor.model import ENTRY_ROLE, Awaited, Entry, Found, Heading, is_merely_absent
from app.labels import section_font
from app.painting import paint_method, saved
from app.theme import RADIUS, font, mono_font, paint_icon, theme
from core.doctor import agents_subject, topic_words
from core.health import Finding, FindingStatus

MARGIN = 16
_ICON = 16
_GAP = 8
_PADDING = 6
_BETWEEN = 2
_LONGEST_TOPICS = ("machine", "processes", "settings", "own folders", "log folder", "work folder", "workflow")
_NARROWEST_TEXT = 120
_HEADING_ABOVE = 16

_ICONS = {
    FindingStatus.OK: "circle-check",
    FindingStatus.WARNING: "triangle-alert",
    FindingStatus.ERROR: "circle-alert",
}
_COLORS = {FindingStatus.OK: "succeeded", FindingStatus.WARNING: "other", FindingStatus.ERROR: "failed"}
_COMMAND = re.compile(r"`([^`]+)`")
_Index: TypeAlias = QModelIndex | QPersistentModelIndex


@dataclass(frozen=True, slots=True)
class _Text:
    """A text laid out in the column of findings, `top` below the row's top."""

    layout: QTextLayout
    top: float
    token: str


def status_icon(finding: Finding) -> tuple[str, str]:
    """Icon and colour token of a finding; every status has a shape of its own."""
    if is_merely_absent(finding):
        return "circle-dashed", "quiet"
    return _ICONS[finding.status], _COLORS[finding.status]


class FindingDelegate(QStyledItemDelegate):
    """Rows are as high as their wrapped text at the width of the view."""

    def __init__(self, view: QListView) -> None:
        super().__init__(view)
        self._view = view

    def sizeHint(self, option: QStyleOptionViewItem, index: _Index) -> QSize:  # noqa: N802
        del option
        entry: Entry = index.data(ENTRY_ROLE)
        width = self._view.viewport().width()
        if isinstance(entry, Heading):
            above = _HEADING_ABOVE if index.row() else 8
            return QSize(width, above + QFontMetrics(section_font()).height() + 4)
        texts = self._texts(entry, width)
        last = texts[-1]
        return QSize(width, int(last.top + last.layout.boundingRect().height()) + _PADDING + 1)

    @paint_method
    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: _Index) -> None:
        entry: Entry = index.data(ENTRY_ROLE)
        rect: QRect = option.rect
        state: QStyle.StateFlag = option.state
        with saved(painter):
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            if isinstance(entry, Heading):
                painter.setFont(section_font())
                painter.setPen(theme().color("quiet"))
                box = rect.adjusted(MARGIN, 0, -MARGIN, -4)
                painter.drawText(box, Qt.AlignmentFlag.AlignBottom, entry.text.upper())
            else:
                self._paint_row(painter, rect, state, entry)

    def _paint_row(
        self, painter: QPainter, rect: QRect, state: QStyle.StateFlag, entry: Awaited | Found
    ) -> None:
        colors = theme()
        if state & QStyle.StateFlag.State_Selected:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(colors.color("accent_soft"))
            painter.drawRoundedRect(QRectF(rect).adjusted(6, 0, -6, 0), RADIUS, RADIUS)
        finding = entry.finding if isinstance(entry, Found) else None
        name, token = status_icon(finding) if finding is not None else ("loader-circle", "accent")
        line = QFontMetrics(font()).height()
        box = QRectF(rect.left() + MARGIN, rect.top() + _PADDING + (line - _ICON) / 2, _ICON, _ICON)
        paint_icon(painter, name, box, colors.color(token))
        quiet = finding is None or is_merely_absent(finding)
        subject_font = font(bold=not quiet)
        painter.setFont(subject_font)
        painter.setPen(colors.color("quiet" if quiet else "text"))
        subject = finding.subject if finding is not None else topic_words(entry.topic)
        room = QRect(rect.left() + MARGIN + _ICON + _GAP, rect.top() + _PADDING, _subject_width(), line)
        shown = QFontMetrics(subject_font).elidedText(subject, Qt.TextElideMode.ElideRight, room.width())
        painter.drawText(room, Qt.AlignmentFlag.AlignVCenter, shown)
        left = rect.left() + _text_left()
        for text in self._texts(entry, rect.width()):
            painter.setPen(QColor(colors.color(text.token)))
            text.layout.draw(painter, QPointF(left, rect.top() + text.top))

    def _texts(self, entry: Awaited | Found, width: int) -> list[_Text]:
        if isinstance(entry, Awaited):
            return [_laid_out(self.tr("Looking…"), width, _PADDING, "quiet")]
        finding = entry.finding
        quiet = is_merely_absent(finding)
        texts = [_laid_out(finding.message, width, _PADDING, "quiet" if quiet else "text")]
        if finding.advice:
            top = texts[0].top + texts[0].layout.boundingRect().height() + _BETWEEN
            texts.append(_laid_out(finding.advice, width, top, "quiet"))
        return texts


def _text_left() -> int:
    return MARGIN + _ICON + _GAP + _subject_width() + 2 * _GAP


def _subject_width() -> int:
    metrics = QFontMetrics(font(bold=True))
    subjects = (agents_subject("opencode"), *map(topic_words, _LONGEST_TOPICS))
    return max(map(metrics.horizontalAdvance, subjects))


def _laid_out(text: str, width: int, top: float, token: str) -> _Text:
    """The text in lines of this width of a row; what has no spaces, such as a path, is broken anywhere.

    What stands in backquotes is a command: it is set as one, without them.
    """
    plain, formats = "", []
    for number, part in enumerate(_COMMAND.split(text)):
        if number % 2:
            span = QTextLayout.FormatRange()
            span.start, span.length = len(plain), len(part)
            span.format = _command_format()
            formats.append(span)
        plain += part
    layout = QTextLayout(plain, font())
    layout.setFormats(formats)
    option = QTextOption()
    option.setWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
    layout.setTextOption(option)
    room = max(_NARROWEST_TEXT, width - _text_left() - MARGIN)
    layout.beginLayout()
    height = 0.0
    while (line := layout.createLine()).isValid():
        line.setLineWidth(room)
        line.setPosition(QPointF(0, height))
        height += line.height()
    layout.endLayout()
    return _Text(layout, top, token)


def _command_format() -> QTextCharFormat:
    result = QTextCharFormat()
    result.setFont(mono_font())
    result.setForeground(theme().color("text"))
    return result
