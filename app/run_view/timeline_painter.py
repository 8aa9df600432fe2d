"""How a timeline looks: names at the left, bars by outcome, the run's time below, its passes above."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QFont, QFontMetricsF, QPainter, QPen

from app.buttons import mix
from app.painting import saved
from app.run_view.timeline_bars import BarPainter, Shown
from app.run_view.timeline_plot import HEIGHTS, TimelinePlot
from app.run_view.timeline_words import band_words
from app.theme import GRID, TextSize, font, paint_icon, theme
from core.events import TurnStatus
from core.run_clock import BreakKind
from core.visible_text import visible

MARGIN = 3 * GRID
_GAP = 2 * GRID
"""Between names and plot."""
_BAR = HEIGHTS[TurnStatus.SUCCEEDED]
_RADIUS = 3.0
_STEPS = (5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000)
"""Of passes that are too narrow for their numbers, every how-manieth has it."""
_NARROWEST_BAND = 5.0
_MOST_IN_DETAIL = 300
"""Bars; more of them are painted as plain rectangles, many at once."""
_SIGN = 10.0
_ROOM_FOR_SIGN = 18.0
_ALIGNED = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft


@dataclass(slots=True)
class TimelinePainter:
    """Paints a plot into an area. All measures in logical pixels."""

    plot: TimelinePlot
    tr: Callable[[str], str]
    names_width: float = 100.0
    """Of the column of names, without its margins."""
    bars: BarPainter = field(init=False)
    row_height: float = 0.0
    """Of a row of bars."""
    top: float = 0.0
    """Above the rows: the names of phases and iterations."""
    bottom: float = 0.0
    """Below the rows: the axis."""
    _narrowest_name: float = 0.0
    _edges: list[int] = field(default_factory=list)
    """Where bands begin that are seen."""
    _fonts: dict[str, QFont] = field(default_factory=dict)
    _metrics: dict[str, QFontMetricsF] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.bars = BarPainter(self.plot)
        self.restyle()

    def restyle(self) -> None:
        """Fonts or colours changed."""
        self._fonts = {
            "name": font(TextSize.SMALL),
            "label": font(TextSize.LABEL),
            "number": font(TextSize.LABEL, tabular=True),
        }
        self._metrics = {name: QFontMetricsF(each) for name, each in self._fonts.items()}
        self._narrowest_name = self._metrics["label"].horizontalAdvance("1")
        heights = {name: float(round(metrics.height())) for name, metrics in self._metrics.items()}
        self.row_height = max(_BAR + 6.0, heights["name"] + 4.0)
        self.top = heights["label"] + 6.0
        self.bottom = heights["number"] + 8.0

    # --- measures --------------------------------------------------------------------------------------

    @property
    def plot_left(self) -> float:
        """Where the bars begin."""
        return round(MARGIN + self.names_width + _GAP)

    @property
    def tick_room(self) -> float:
        """Pixels between two marks of the axis at least."""
        return self._metrics["number"].horizontalAdvance("0:00:00") + 5 * GRID

    def widest_name(self) -> float:
        """The room that the longest name needs."""
        metrics = self._metrics["name"]
        longest = sorted((row.label for row in self.plot.rows), key=len)[-8:]
        return max((metrics.horizontalAdvance(_name(label)) for label in longest), default=0.0) + 2

    def row_at(self, y: float, scrolled: float) -> int:
        """The number of the row at a height of the area; may be one that there is not."""
        return int((y - self.top + scrolled) // self.row_height)

    def row_middle(self, row: int, scrolled: float) -> float:
        """The height of a row's middle."""
        return self.top + (row + 0.5) * self.row_height - scrolled

    # --- painting --------------------------------------------------------------------------------------

    def paint(self, painter: QPainter, width: float, height: float, scrolled: float, shown: Shown) -> None:
        """Paint everything. `scrolled`: pixels of rows above what is seen."""
        self.bars.left = self.plot_left
        painter.fillRect(QRectF(0, 0, width, height), theme().color("surface"))
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        plot = QRectF(self.plot_left, 0, max(0.0, width - self.plot_left), height)
        rows = QRectF(0, self.top, width, max(0.0, height - self.top - self.bottom))
        first = max(0, self.row_at(self.top, scrolled))
        visible = range(first, min(len(self.plot.rows), self.row_at(rows.bottom(), scrolled) + 1))
        painter.setClipRect(plot)
        self._paint_bands(painter, plot, rows)
        painter.setClipRect(plot.intersected(rows))
        self._paint_groups(painter, plot, visible, scrolled)
        self._paint_breaks(painter, plot, rows)
        self._paint_rows(painter, plot, visible, scrolled, shown)
        self._paint_now(painter, plot, rows)
        painter.setClipRect(rows)
        self._paint_names(painter, visible, scrolled, shown)
        painter.setClipping(False)
        self._paint_axis(painter, plot, rows)

    def _paint_bands(self, painter: QPainter, plot: QRectF, rows: QRectF) -> None:
        metrics = self._metrics["label"]
        painter.setFont(self._fonts["label"])
        tint, line, quiet = (theme().color(name) for name in ("raised", "line", "quiet"))
        painter.setPen(quiet)
        self._edges.clear()
        bands = self.plot.bands
        down = int(rows.bottom())
        named: list[int] = []
        short: dict[int, tuple[QRectF, str]] = {}
        for number, band in enumerate(bands):
            left = self.bars.x(band.began)
            following = bands[number + 1].began if number + 1 < len(bands) else band.ended
            right = self.bars.x(max(following, band.began))
            if right - left < _NARROWEST_BAND or right < plot.left() or left > plot.right():
                continue
            start, end = round(max(left, plot.left() - 1)), round(min(right, plot.right() + 1))
            if number % 2:
                painter.fillRect(start, 0, end - start, down, tint)
            if number and left >= plot.left():
                self._edges.append(round(left))
                painter.fillRect(round(left), 0, 1, down, line)
            # The name stays in view while something of the band does.
            seen = max(left, plot.left())
            room = min(right, plot.right()) - seen - 2 * GRID
            if room < self._narrowest_name:
                continue
            names = band_words(band, self.tr)
            name = next((name for name in names if metrics.horizontalAdvance(name) <= room), "")
            box = QRectF(seen + GRID, 0, room + GRID, self.top)
            if name and name != names[0]:
                short[number] = (box, name)
            else:
                painter.drawText(box, _ALIGNED, name)
                if name:
                    named.append(number)
        self._paint_numbers(painter, plot, named, short)

    def _paint_numbers(
        self, painter: QPainter, plot: QRectF, named: list[int], short: dict[int, tuple[QRectF, str]]
    ) -> None:
        """Numbers of passes that are too narrow for their names: of all where all have room, else of every
        fifth, tenth and so on.

        By index of the band: `named` have their names already, `short` have room for their numbers.
        """
        bands = self.plot.bands
        seen = [
            (number, self.bars.x(band.began))
            for number, band in enumerate(bands)
            if band.iteration and plot.left() <= self.bars.x(band.began) <= plot.right()
        ]
        if len(seen) < 2 or len(named) + len(short) >= len(seen):
            for box, name in short.values():
                painter.drawText(box, _ALIGNED, name)
            return
        metrics = self._metrics["label"]
        widest = metrics.horizontalAdvance(str(bands[seen[-1][0]].iteration))
        each = (seen[-1][1] - seen[0][1]) / (len(seen) - 1)
        step = next((step for step in _STEPS if each * step >= widest + 4 * GRID), 0)
        after = 0.0
        taken = [self.bars.x(bands[number].began) for number in named]
        for number, left in seen:
            text = str(bands[number].iteration)
            end = left + metrics.horizontalAdvance(text) + 2 * GRID
            if not step or bands[number].iteration % step or end > plot.right():
                continue
            if left < after or any(left - 16 * GRID < other < end for other in taken):
                continue
            after = end
            painter.drawText(QRectF(left + GRID, 0, end - left, self.top), _ALIGNED, text)

    def _paint_groups(self, painter: QPainter, plot: QRectF, visible: range, scrolled: float) -> None:
        """A ground behind the bars of each parallel group: what began together, and where it was merged."""
        ground = mix(theme().color("surface"), theme().color("accent_soft"), 0.7)
        above = self.top - scrolled
        for key, (began, ended) in self.plot.groups.items():
            left, right = self.bars.x(began), self.bars.x(ended)
            if right - left < 4 or right < plot.left() or left > plot.right():
                continue
            for first, last in self.plot.rows_of(key):
                if last >= visible.start and first < visible.stop:
                    top, height = above + first * self.row_height, (last - first + 1) * self.row_height
                    # Whole pixels within the plot: a tenth of the time of what is smoothed at its edges.
                    start, end = max(left - 1, plot.left() - 1), min(right + 1, plot.right() + 1)
                    painter.fillRect(round(start), round(top), round(end - start), round(height), ground)
        line = theme().color("line")
        for edge in self._edges:
            painter.fillRect(edge, round(self.top), 1, round(plot.height()), line)

    def _paint_breaks(self, painter: QPainter, plot: QRectF, rows: QRectF) -> None:
        pen = QPen(theme().color("quiet"), 1, Qt.PenStyle.DashLine)
        painter.setPen(pen)
        for cut in self.plot.clock.breaks:
            x = round(self.bars.x(cut.began)) + 0.5
            if plot.left() <= x <= plot.right():
                painter.drawLine(QPointF(x, rows.top()), QPointF(x, rows.bottom()))

    def _paint_rows(
        self, painter: QPainter, plot: QRectF, visible: range, scrolled: float, shown: Shown
    ) -> None:
        scale = self.plot.scale
        began, ended = scale.left, scale.left + scale.shown
        rows = self.plot.rows
        found = [(row, self.plot.shapes(rows[row]).between(began, ended)) for row in visible]
        if sum(len(numbers) for _, numbers in found) <= _MOST_IN_DETAIL:
            for row, numbers in found:
                middle = self.row_middle(row, scrolled)
                bars = self.plot.shapes(rows[row]).bars
                for number in numbers:
                    self.bars.paint(painter, bars[number], middle, shown)
            return
        for row, _ in found:
            self._paint_dense(painter, row, began, ended, scrolled, shown)

    def _paint_dense(
        self, painter: QPainter, row: int, began: float, ended: float, scrolled: float, shown: Shown
    ) -> None:
        """The bars of a row as plain rectangles: the pixels are for the painter, not for Python, to find."""
        shapes = self.plot.shapes(self.plot.rows[row])
        middle = self.row_middle(row, scrolled)
        with saved(painter):
            painter.translate(self.plot_left - self.plot.scale.left * self.plot.scale.scale, middle)
            painter.scale(self.plot.scale.scale, 1)
            for status, without, rects in shapes.dense(began, ended):
                color = theme().color("other") if without else theme().status_color(status)
                # However short it was, what failed is seen.
                rare = without or status is not TurnStatus.SUCCEEDED
                pen = QPen(color, 1)
                pen.setCosmetic(True)
                painter.setPen(pen if rare else Qt.PenStyle.NoPen)
                painter.setBrush(color)
                painter.drawRects(rects)
        for number in reversed(range(len(shapes.bars))):
            bar = shapes.bars[number]
            if bar.ended is not None:
                break
            self.bars.paint(painter, bar, middle, shown)
        for spot in (shown.current if shown.focused else None, shown.hovered):
            if spot is not None and spot.row == row:
                self.bars.paint(painter, spot.bar, middle, shown)
        for bar in self.plot.chart.bars_of(shown.turn):
            if (bar.phase, bar.label) == self.plot.rows[row].key:
                self.bars.paint(painter, bar, middle, shown)

    def _paint_now(self, painter: QPainter, plot: QRectF, rows: QRectF) -> None:
        x = round(self.bars.x(self.plot.clock.ended))
        if self.plot.live and plot.left() < x < plot.right():
            painter.fillRect(QRectF(x, rows.top(), 1, rows.height()), theme().color("accent"))

    def _paint_names(self, painter: QPainter, visible: range, scrolled: float, shown: Shown) -> None:
        colors = theme()
        metrics = self._metrics["name"]
        painter.setFont(self._fonts["name"])
        turn = self.plot.progress.turns.get(shown.turn)
        marked = (turn.place.phase, turn.label) if turn is not None else None
        rows = self.plot.rows
        for number in visible:
            row = rows[number]
            middle = self.row_middle(number, scrolled)
            painter.setPen(colors.color("text" if row.key == marked else "quiet"))
            name = metrics.elidedText(_name(row.label), Qt.TextElideMode.ElideMiddle, self.names_width)
            box = QRectF(MARGIN, middle - self.row_height / 2, self.names_width + 1, self.row_height)
            painter.drawText(box, _ALIGNED, name)
            if number and rows[number - 1].phase != row.phase:
                y = round(middle - self.row_height / 2)
                painter.fillRect(QRectF(0, y, 1e5, 1), colors.color("line"))

    def _paint_axis(self, painter: QPainter, plot: QRectF, rows: QRectF) -> None:
        colors = theme()
        line = colors.color("line")
        painter.fillRect(QRectF(plot.left() - 1, rows.top(), 1, rows.height()), line)
        painter.fillRect(QRectF(plot.left() - 1, rows.bottom(), plot.width() + 1, 1), line)
        painter.setFont(self._fonts["number"])
        metrics = self._metrics["number"]
        for tick in self.plot.scale.ticks(self.tick_room):
            x = plot.left() + tick.x
            if not plot.left() - 1 <= x <= plot.right():
                continue
            painter.fillRect(QRectF(round(x), rows.bottom(), 1, 4), colors.color("quiet"))
            width = metrics.horizontalAdvance(tick.words)
            left = min(max(x - width / 2, plot.left() - MARGIN / 2), plot.right() - width - 2)
            painter.setPen(colors.color("quiet"))
            box = QRectF(left, rows.bottom() + 4, width + 2, self.bottom - 4)
            painter.drawText(box, _ALIGNED, tick.words)
        for cut in self.plot.clock.breaks:
            x = self.bars.x(cut.began)
            if plot.left() <= x <= plot.right():
                where = QRectF(x - 5, rows.bottom() - 5, 10, 10)
                painter.fillRect(where, colors.color("surface"))
                name = "play" if cut.kind is BreakKind.RESUMED else "circle-pause"
                paint_icon(painter, name, where, colors.color("quiet"))


@lru_cache(maxsize=1024)
def _name(label: str) -> str:
    """A name as it may be painted: whatever it came from, it does not turn or hide what stands beside it."""
    return visible(label[:300])
