"""The rows of the problems: a sign, a sentence, and links for the edits that would solve it."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import QModelIndex, QObject, QPersistentModelIndex, QPointF, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QPen, QTextCharFormat, QTextLayout, QTextOption
from PySide6.QtWidgets import QAbstractItemView, QStyle, QStyledItemDelegate, QStyleOptionViewItem

from app.builder.words import tr
from app.painting import paint_method, saved
from app.problem_fixes import fix_words
from app.problem_text import problem_line
from app.reading_text import harmless
from app.severity import SIGNS
from app.theme import RADIUS, font, paint_icon, theme
from core.problems import Problem

PROBLEM_ROLE = Qt.ItemDataRole.UserRole + 1
MARGIN = 12
ICON = 14
_ABOVE, _BELOW = 4, 4


@dataclass(frozen=True, slots=True)
class Words:
    """What a row says: a sentence, and the links behind it."""

    sentence: str
    links: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        return " ".join((self.sentence, *([_BETWEEN.join(self.links)] if self.links else ())))

    @property
    def spans(self) -> list[tuple[int, int]]:
        """Where the links stand in the text, each with its first character and the one after its last."""
        spans, at = [], len(self.sentence) + 1
        for link in self.links:
            spans.append((at, at + len(link)))
            at += len(link) + len(_BETWEEN)
        return spans


_BETWEEN = " · "


def words_of(problem: Problem, editable: bool, settings_files: Collection[Path]) -> Words:
    message = harmless(problem.message).replace("\n", " ")
    if problem.file is not None and problem.file in settings_files:
        # Nothing else in the window shows that file.
        message = harmless(problem_line(problem, Path())).replace("\n", " ")
        return Words(message, (harmless(tr("Open {0}").format(problem.file.name)),))
    if problem.fix is None or not editable:
        return Words(f"{message} {harmless(problem.suggestion)}".strip().replace("\n", " "))
    return Words(message, tuple(harmless(fix_words(fix)) for fix in (problem.fix, *problem.other_fixes)))


class RowText:
    """The words of a row, set in lines of a width."""

    def __init__(self, words: Words, width: int, *, underlined: int | None = None) -> None:
        self._words = words
        option = QTextOption()
        # Names of agents and paths have no spaces.
        option.setWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        self.layout = QTextLayout(words.text, font())
        self.layout.setTextOption(option)
        formats = []
        for number, (start, end) in enumerate(words.spans):
            link = QTextLayout.FormatRange()
            link.start, link.length = start, end - start
            form = QTextCharFormat()
            form.setForeground(theme().color("accent"))
            form.setFontUnderline(number == underlined)
            link.format = form
            formats.append(link)
        self.layout.setFormats(formats)
        self.layout.beginLayout()
        height = 0.0
        while (line := self.layout.createLine()).isValid():
            line.setLineWidth(width)
            line.setPosition(QPointF(0, height))
            height += line.height()
        self.layout.endLayout()
        self.height = round(height + 0.5)

    def link_at(self, point: QPointF) -> int | None:
        """The number of the link that stands at a point."""
        for number in range(self.layout.lineCount()):
            line = self.layout.lineAt(number)
            if line.rect().top() <= point.y() < line.rect().bottom():
                if not line.naturalTextRect().contains(point):
                    return None
                at = line.xToCursor(point.x(), line.CursorPosition.CursorOnCharacter)
                spans = enumerate(self._words.spans)
                return next((each for each, (start, end) in spans if start <= at < end), None)
        return None


def text_room(row: QRect) -> QRect:
    """Where the words of a row stand."""
    left = row.left() + MARGIN + ICON + 8
    return QRect(left, row.top() + _ABOVE, max(40, row.right() - MARGIN - left), row.height())


class ProblemDelegate(QStyledItemDelegate):
    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self.editable = True
        self.settings_files: Collection[Path] = ()
        """Files whose problems are opened elsewhere."""
        self.lit: tuple[QPersistentModelIndex, int] | None = None
        """The row and the number of the link that the mouse is over."""

    def words(self, index: QModelIndex | QPersistentModelIndex) -> Words:
        """What a row says at present."""
        problem = index.data(PROBLEM_ROLE)
        return (
            words_of(problem, self.editable, self.settings_files)
            if isinstance(problem, Problem)
            else Words("")
        )

    def sizeHint(  # noqa: N802
        self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> QSize:
        widget = option.widget
        width = widget.viewport().width() if isinstance(widget, QAbstractItemView) else 300
        room = text_room(QRect(0, 0, width, 0))
        height = max(ICON, RowText(self.words(index), room.width()).height)
        return QSize(width, height + _ABOVE + _BELOW)

    @paint_method
    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        problem = index.data(PROBLEM_ROLE)
        if not isinstance(problem, Problem):
            return
        colors = theme()
        with saved(painter):
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            if option.state & (QStyle.StateFlag.State_MouseOver | QStyle.StateFlag.State_Selected):
                painter.fillRect(option.rect, colors.color("raised"))
            if option.state & QStyle.StateFlag.State_HasFocus:
                painter.setPen(QPen(colors.color("accent"), 1.5))
                painter.drawRoundedRect(QRectF(option.rect).adjusted(4, 1, -4, -1), RADIUS, RADIUS)
            name, tone = SIGNS[problem.severity]
            room = text_room(option.rect)
            lit = self.lit[1] if self.lit is not None and self.lit[0] == index else None
            text = RowText(self.words(index), room.width(), underlined=lit)
            top = room.top() + (text.layout.lineAt(0).height() - ICON) / 2 if text.layout.lineCount() else 0
            icon_box = QRectF(option.rect.left() + MARGIN, top, ICON, ICON)
            paint_icon(painter, name, icon_box, colors.color(tone))
            painter.setPen(colors.color("text"))
            text.layout.draw(painter, QPointF(room.topLeft()))
