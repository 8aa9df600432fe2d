"""Paints rows of a log: columns, text with its colours, selection, matches, fold focus."""

from __future__ import annotations

from datetime import datetime
from zlib import crc32

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import (
    QColor,
    QFont,
    QFontMetricsF,
    QPainter,
    QPen,
    QTextCharFormat,
    QTextLayout,
    QTextLine,
    QTextOption,
)

from app.painting import saved
from app.run_view.log_ansi import Look
from app.run_view.log_colors import behind, readable, wished
from app.run_view.log_overlays import NO_MARKS, Overlay, RowMarks, pieces
from app.run_view.log_rows import Row
from app.theme import GRID, mono_font, theme

MARGIN = 3 * GRID
_OWN_LEFT, _OWN_WIDTH = 4, 3
"""The mark beside what OpenLoop itself says, in the margin."""
_NAME_CHARACTERS = 12
_LEAST_DIGITS = 3
_MOST_COLORS = 2_000
_NAME_TOKENS = ("accent", "other", "succeeded", "text", "quiet")


def utf16_length(text: str, end: int) -> int:
    """How many UTF-16 units the first `end` characters are: what Qt counts in."""
    if text.isascii():
        return min(end, len(text))
    return len(text[:end].encode("utf-16-le", "surrogatepass")) // 2


def characters_in(text: str, units: int) -> int:
    """How many characters the first `units` UTF-16 units are."""
    if text.isascii():
        return min(units, len(text))
    return len(text.encode("utf-16-le", "surrogatepass")[: units * 2].decode("utf-16-le", "ignore"))


class LaidRow:
    """A row laid out for the width of the view. `heights`: how many screen rows it takes.

    A `simple` row fits in one screen row of equal characters; it is painted without a text layout, which
    costs ten times less, and gets one only when somebody points at it.
    """

    __slots__ = ("_layout", "_painter", "heights", "row", "simple", "width")

    def __init__(self, painter: LogPainter, row: Row, width: float, room: float) -> None:
        self.row = row
        self.width = width
        self.simple = painter.is_simple(row, room)
        self.heights = 1
        self._painter = painter
        self._layout: QTextLayout | None = None
        if not self.simple:
            self.heights = max(1, self.layout.lineCount())

    @property
    def layout(self) -> QTextLayout:
        """The text with its lines and colours."""
        if self._layout is None:
            self._layout = self._painter.text_layout(self.row, self.width)
        return self._layout


class LogPainter:
    """The measures and colours of one view. Call `restyle` when font, theme or zoom changed."""

    def __init__(self) -> None:
        self.zoom = 0
        self.wrap = True
        self.show_time = True
        self.show_name = False
        self.show_numbers = False
        self.sifted = False
        """Not all lines are shown: then their numbers are, too."""
        self.digits = _LEAST_DIGITS
        self.elapsed_from: float | None = None
        self.restyle()

    def restyle(self) -> None:
        """Take font and colours from the theme anew."""
        self._font = mono_font(self.zoom)
        # Equal characters look the same without, and take a quarter less time.
        self._quick_font = QFont(self._font)
        self._quick_font.setStyleStrategy(QFont.StyleStrategy.PreferNoShaping)
        metrics = QFontMetricsF(self._font)
        self._metrics = metrics
        self.row_height = max(8, round(metrics.height()) + 2)
        self._character = metrics.horizontalAdvance("0")
        self._fixed = all(metrics.horizontalAdvance(sign) == self._character for sign in "iW. ")
        self._text_left = 0.0
        """Where the text of the rows begins that are being painted."""
        self._ascent = (self.row_height - metrics.height()) / 2 + metrics.ascent()
        self._colors: dict[str, QColor] = {}
        self._inks: dict[tuple[int, int | None], QColor] = {}

    def color(self, token: str) -> QColor:
        """A colour of the theme, kept."""
        found = self._colors.get(token)
        if found is None:
            found = self._colors[token] = theme().color(token)
        return found

    def ink(self, look: Look) -> QColor:
        """The colour of text in this look, readable on what is behind it."""
        if look.ink is None and look.ground is None:
            return self.color(look.token)
        key = (-3 - list(type(look.token)).index(look.token) if look.ink is None else look.ink, look.ground)
        found = self._inks.get(key)
        if found is None:
            if len(self._inks) > _MOST_COLORS:
                self._inks.clear()
            asked = self.color(look.token) if look.ink is None else wished(look.ink, theme())
            if look.ground is None:
                found = readable(asked, self.color("ground"), self.color("accent_soft"))
            else:
                found = readable(asked, behind(look.ground, theme()))
            self._inks[key] = found
        return found

    def count_digits(self, lines: int) -> bool:
        """Make room for the numbers of so many lines. Whether the layout changed."""
        digits = max(_LEAST_DIGITS, len(str(lines)))
        changed = digits != self.digits and self.numbered
        self.digits = digits
        return changed

    @property
    def numbered(self) -> bool:
        """Whether the lines have their numbers beside them."""
        return self.show_numbers or self.sifted

    @property
    def number_width(self) -> float:
        """Width of the column of line numbers with its gap; 0 when it is not shown."""
        return self._character * self.digits + 10 if self.numbered else 0.0

    @property
    def time_width(self) -> float:
        """Width of the time column with its gap; 0 when it is not shown."""
        return self._character * 8 + 10 if self.show_time else 0.0

    @property
    def name_width(self) -> float:
        """Width of the column of names with its gap; 0 when it is not shown."""
        return self._character * _NAME_CHARACTERS + 10 if self.show_name else 0.0

    @property
    def text_left(self) -> float:
        """Where the text begins."""
        return MARGIN + self.number_width + self.time_width + self.name_width

    def lay_out(self, row: Row, width: float) -> LaidRow:
        """Lay a row out for a view of this width, in logical pixels."""
        return LaidRow(self, row, width, self.room(width))

    def room(self, width: float) -> float:
        """How wide the text of a row may be in a view of this width."""
        return max(self._character * 12, width - self.text_left - MARGIN)

    def is_simple(self, row: Row, room: float) -> bool:
        """Whether a row is one line of characters of one width, where there is so much room."""
        text = row.text
        if not (self._fixed and text.isascii()) or "\t" in text:
            return False
        if self.wrap and len(text) * self._character > room:
            return False
        return all(span.look.is_plain for span in row.spans)

    def text_layout(self, row: Row, width: float) -> QTextLayout:
        """The text of a row in lines, with its colours."""
        layout = QTextLayout(row.text, self._font)
        option = QTextOption()
        option.setWrapMode(
            QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere if self.wrap else QTextOption.WrapMode.NoWrap
        )
        option.setTabStopDistance(self._character * 8)
        option.setTextDirection(Qt.LayoutDirection.LeftToRight)
        layout.setTextOption(option)
        layout.setFormats([self._span_format(row.text, *self._look(row, i)) for i in range(len(row.spans))])
        room = self.room(width)
        hanging = min(row.hanging * self._character, room / 3)
        layout.beginLayout()
        heights = 0
        while True:
            line = layout.createLine()
            if not line.isValid():
                break
            indent = hanging if heights else 0.0
            line.setLineWidth(room - indent if self.wrap else 1e7)
            line.setPosition(QPointF(indent, heights * self.row_height + self._ascent - line.ascent()))
            heights += 1
        layout.endLayout()
        return layout

    def _look(self, row: Row, number: int) -> tuple[int, int, QTextCharFormat]:
        span = row.spans[number]
        look = QTextCharFormat()
        look.setForeground(self.ink(span.look))
        if span.look.ground is not None:
            look.setBackground(behind(span.look.ground, theme()))
        if span.look.bold:
            look.setFontWeight(QFont.Weight.Bold)
        look.setFontItalic(span.look.italic)
        look.setFontUnderline(span.look.underline)
        look.setFontStrikeOut(span.look.struck)
        return span.start, span.end, look

    def _span_format(self, text: str, start: int, end: int, look: QTextCharFormat) -> QTextLayout.FormatRange:
        result = QTextLayout.FormatRange()
        first = utf16_length(text, start)
        last = utf16_length(text, end)
        result.start, result.length, result.format = first, last - first, look
        return result

    # --- painting ---------------------------------------------------------------------------------------

    def begin(self, painter: QPainter) -> None:
        """Rows are painted now, one after the other."""
        painter.setFont(self._quick_font)
        self._text_left = self.text_left

    def paint(
        self, painter: QPainter, laid: LaidRow, left: float, top: float, width: float, marks: RowMarks
    ) -> None:
        """Paint one row, after `begin`. `left`: minus the horizontal scroll offset; `top`: where its first
        screen row is."""
        row = laid.row
        plain = laid.simple and marks is NO_MARKS and row.name.isascii()
        if plain and row.own_token is None and not row.separator:
            # Nearly every row of a flood: thousands of them a second.
            baseline = top + self._ascent
            if self.numbered or row.time_ms is not None or row.name:
                self._paint_columns(painter, row, left, baseline)
            x = left + self._text_left
            for span in row.spans:
                painter.setPen(self.ink(span.look))
                where = QPointF(x + span.start * self._character, baseline)
                painter.drawText(where, row.text[span.start : span.end])
            return
        if row.text.isascii() and row.name.isascii():
            self._paint_row(painter, laid, left, top, width, marks)
            return
        # Marks can be stacked on a letter as high as one likes; they stay within their row.
        with saved(painter):
            box = QRectF(0, top, width, laid.heights * self.row_height)
            painter.setClipRect(box, Qt.ClipOperation.IntersectClip)
            self._paint_row(painter, laid, left, top, width, marks)

    def _paint_row(
        self, painter: QPainter, laid: LaidRow, left: float, top: float, width: float, marks: RowMarks
    ) -> None:
        row = laid.row
        if row.own_token is not None:
            # No text can paint there: what an agent prints never passes for what OpenLoop says.
            height = laid.heights * self.row_height
            painter.fillRect(QRectF(_OWN_LEFT, top + 2, _OWN_WIDTH, height - 4), self.color(row.own_token))
        x = left + self.text_left
        if row.separator:
            painter.setPen(QPen(self.color("line"), 1))
            painter.drawLine(QPointF(MARGIN, top + 0.5), QPointF(width - MARGIN, top + 0.5))
        self._paint_columns(painter, row, left, top + self._ascent)
        overlays = self._overlays(row, marks)
        if marks.selected is not None and marks.selected[1] > len(row.text):
            self._paint_line_end(painter, laid, x, top)
        if laid.simple:
            self._paint_simple(painter, row, x, top, overlays)
        else:
            painter.setPen(self.color("text"))
            formats = [self._span_format(row.text, over.start, over.end, over.format()) for over in overlays]
            laid.layout.draw(painter, QPointF(x, top), formats)
        if marks.focused:
            painter.setPen(QPen(self.color("accent"), 1))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            box = QRectF(x - 4, top, width - x - MARGIN + 8, laid.heights * self.row_height)
            painter.drawRoundedRect(box.adjusted(0.5, 0.5, -0.5, -0.5), 3, 3)

    def _paint_columns(self, painter: QPainter, row: Row, left: float, baseline: float) -> None:
        """Line number, time and name."""
        x = left + MARGIN
        if self.numbered:
            painter.setPen(self.color("quiet"))
            painter.drawText(QPointF(x, baseline), f"{row.line + 1:>{self.digits}}")
            x += self.number_width
        if self.show_time and row.time_ms is not None:
            painter.setPen(self.color("quiet"))
            painter.drawText(QPointF(x, baseline), self._time(row.time_ms))
        if self.show_name and row.name:
            painter.setPen(self.name_color(row.name))
            room = self.name_width - 10
            name = row.name
            if self._metrics.horizontalAdvance(name) > room:
                name = self._metrics.elidedText(name, Qt.TextElideMode.ElideRight, room)
            painter.drawText(QPointF(x + self.time_width, baseline), name)

    def _paint_simple(
        self, painter: QPainter, row: Row, x: float, top: float, overlays: list[Overlay]
    ) -> None:
        """Text of equal characters needs no layout: each piece stands where it must."""
        step = self._character
        for over in overlays:
            if over.ground is not None:
                left = x + over.start * step
                painter.fillRect(
                    QRectF(left, top, (over.end - over.start) * step, self.row_height), over.ground
                )
        for start, end, ink, underline in pieces(row, overlays):
            painter.setPen(self.ink(row.spans[ink].look) if isinstance(ink, int) else ink)
            left = x + start * step
            painter.drawText(QPointF(left, top + self._ascent), row.text[start:end])
            if underline:
                y = top + self._ascent + 1.5
                painter.drawLine(QPointF(left, y), QPointF(left + (end - start) * step, y))

    def _overlays(self, row: Row, marks: RowMarks) -> list[Overlay]:
        """What is put over the looks of the text: link, matches, selection, from the bottom up."""
        overlays: list[Overlay] = []
        soft, text = self.color("accent_soft"), self.color("text")
        if marks.link is not None:
            ground = soft if marks.link_focused else None
            overlays.append(Overlay(*marks.link, self.color("accent"), ground, underline=True))
        for mark in marks.found:
            if mark.current:
                ink, ground = self.color("on_accent"), self.color("accent")
                overlays.append(Overlay(mark.start, mark.end, ink, ground))
            else:
                overlays.append(Overlay(mark.start, mark.end, text, soft, underline=True))
        if marks.selected is not None:
            start, end = marks.selected[0], min(marks.selected[1], len(row.text))
            overlays.append(Overlay(start, end, None, soft))
            for span in row.spans:
                first, last = max(start, span.start), min(end, span.end)
                if span.look.ground is not None and first < last:
                    # Its ink was chosen for a ground of its own.
                    overlays.append(Overlay(first, last, text, soft))
        return overlays

    def _paint_line_end(self, painter: QPainter, laid: LaidRow, x: float, top: float) -> None:
        """A selected line break shows as half a character behind the text."""
        line = laid.layout.lineAt(laid.heights - 1)
        right = x + line.naturalTextRect().right() if line.isValid() else x
        row_top = top + (laid.heights - 1) * self.row_height
        painter.fillRect(
            QRectF(right, row_top, self._character / 2, self.row_height), self.color("accent_soft")
        )

    def name_color(self, name: str) -> QColor:
        """A quiet colour that an agent keeps."""
        token = self.color(_NAME_TOKENS[crc32(name.encode("utf-8", "replace")) % len(_NAME_TOKENS)])
        quiet = self.color("quiet")
        return QColor(
            (token.red() + quiet.red()) // 2,
            (token.green() + quiet.green()) // 2,
            (token.blue() + quiet.blue()) // 2,
        )

    def _time(self, time_ms: int) -> str:
        if self.elapsed_from is not None:
            seconds = max(0, int(time_ms / 1000 - self.elapsed_from))
            return f"{seconds // 3600:>2}:{seconds // 60 % 60:02}:{seconds % 60:02}"
        try:
            return datetime.fromtimestamp(time_ms / 1000).strftime("%H:%M:%S")
        except (OverflowError, OSError, ValueError):
            return "--:--:--"

    def character_at(self, laid: LaidRow, x: float, y: float) -> int:
        """The character of a row nearest to a point, relative to the row's text."""
        number = min(max(0, int(y // self.row_height)), laid.heights - 1)
        line = laid.layout.lineAt(number)
        if not line.isValid():
            return 0
        return characters_in(laid.row.text, line.xToCursor(x))

    def character_under(self, laid: LaidRow, x: float, y: float) -> int | None:
        """The character of a row that covers a point; None beside the text."""
        number = min(max(0, int(y // self.row_height)), laid.heights - 1)
        line = laid.layout.lineAt(number)
        if not line.isValid() or not line.naturalTextRect().left() <= x < line.naturalTextRect().right():
            return None
        units = line.xToCursor(x, QTextLine.CursorPosition.CursorOnCharacter)
        return characters_in(laid.row.text, units)

    def screen_row_of(self, laid: LaidRow, character: int) -> int:
        """In which screen row of a wrapped row a character is."""
        line = laid.layout.lineForTextPosition(utf16_length(laid.row.text, character))
        return line.lineNumber() if line.isValid() else 0

    def natural_width(self, laid: LaidRow) -> float:
        """How wide the view would have to be to show the row without scrolling."""
        if laid.simple:
            return self.text_left + len(laid.row.text) * self._character + MARGIN
        line = laid.layout.lineAt(0)
        return self.text_left + (line.naturalTextWidth() if line.isValid() else 0.0) + MARGIN
