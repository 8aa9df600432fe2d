"""How a timeline looks: names at the left, bars by outcome, the run's time below, its passes above."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QBrush, QColor, QFont, QFontMetricsF, QPainter, QPainterPath, QPen

from app.buttons import mix
from app.run_view.timeline_plot import HEIGHTS, Spot, TimelinePlot
from app.run_view.timeline_words import band_words
from app.theme import GRID, TextSize, font, paint_icon, theme
from core.events import AttemptKind, TurnStatus
from core.run_clock import BreakKind
from core.run_times import Bar

MARGIN = 3 * GRID
_GAP = 2 * GRID
"""Between names and plot."""
_BAR = HEIGHTS[TurnStatus.SUCCEEDED]
_RADIUS = 3.0
_NARROWEST_BAND = 5.0
_MOST_IN_DETAIL = 300
"""Bars; more of them are painted as plain rectangles, many at once."""
_SIGN = 10.0
_ROOM_FOR_SIGN = 18.0
_ALIGNED = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft


@dataclass(slots=True)
class Shown:
    """What is to be emphasised."""

    current: Spot | None = None
    """The bar that keys are about."""
    focused: bool = False
    hovered: Spot | None = None
    turn: str = ""
    """The turn whose tab is shown."""


@dataclass(slots=True)
class TimelinePainter:
    """Paints a plot into an area. All measures in logical pixels."""

    plot: TimelinePlot
    tr: Callable[[str], str]
    names_width: float = 100.0
    """Of the column of names, without its margins."""
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
        return max((metrics.horizontalAdvance(name[:200]) for name in longest), default=0.0) + 2

    def row_at(self, y: float, scrolled: float) -> int:
        """The number of the row at a height of the area; may be one that there is not."""
        return int((y - self.top + scrolled) // self.row_height)

    def row_middle(self, row: int, scrolled: float) -> float:
        """The height of a row's middle."""
        return self.top + (row + 0.5) * self.row_height - scrolled

    # --- painting --------------------------------------------------------------------------------------

    def paint(self, painter: QPainter, width: float, height: float, scrolled: float, shown: Shown) -> None:
        """Paint everything. `scrolled`: pixels of rows above what is seen."""
        colors = theme()
        painter.fillRect(QRectF(0, 0, width, height), colors.color("surface"))
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
        for number, band in enumerate(bands):
            left = self._x(band.began)
            following = bands[number + 1].began if number + 1 < len(bands) else band.ended
            right = self._x(max(following, band.began))
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
            painter.drawText(QRectF(seen + GRID, 0, room + GRID, self.top), _ALIGNED, name)

    def _paint_groups(self, painter: QPainter, plot: QRectF, visible: range, scrolled: float) -> None:
        """A ground behind the bars of each parallel group: what began together, and where it was merged."""
        ground = mix(theme().color("surface"), theme().color("accent_soft"), 0.7)
        above = self.top - scrolled
        for key, (began, ended) in self.plot.groups.items():
            left, right = self._x(began), self._x(ended)
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
            x = round(self._x(cut.began)) + 0.5
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
                    self._paint_bar(painter, bars[number], middle, shown)
            return
        for row, _ in found:
            self._paint_dense(painter, row, began, ended, scrolled, shown)

    def _paint_dense(
        self, painter: QPainter, row: int, began: float, ended: float, scrolled: float, shown: Shown
    ) -> None:
        """The bars of a row as plain rectangles: the pixels are for the painter, not for Python, to find."""
        shapes = self.plot.shapes(self.plot.rows[row])
        middle = self.row_middle(row, scrolled)
        painter.save()
        painter.translate(self.plot_left - self.plot.scale.left * self.plot.scale.scale, middle)
        painter.scale(self.plot.scale.scale, 1)
        for status, rects in shapes.dense(began, ended):
            color = _color(status)
            # However short it was, what failed is seen.
            rare = status is not TurnStatus.SUCCEEDED
            pen = QPen(color, 1)
            pen.setCosmetic(True)
            painter.setPen(pen if rare else Qt.PenStyle.NoPen)
            painter.setBrush(color)
            painter.drawRects(rects)
        painter.restore()
        for number in reversed(range(len(shapes.bars))):
            bar = shapes.bars[number]
            if bar.ended is not None:
                break
            self._paint_bar(painter, bar, middle, shown)
        for spot in (shown.current if shown.focused else None, shown.hovered):
            if spot is not None and spot.row == row:
                self._paint_bar(painter, spot.bar, middle, shown)
        for bar in self.plot.chart.bars_of(shown.turn):
            if (bar.phase, bar.label) == self.plot.rows[row].key:
                self._paint_bar(painter, bar, middle, shown)

    def _paint_bar(self, painter: QPainter, bar: Bar, middle: float, shown: Shown) -> None:
        left, right = (self.plot_left + self.plot.scale.x_of(each) for each in self.plot.span(bar))
        hovered = shown.hovered is not None and shown.hovered.bar == bar
        self._paint_wait(painter, bar, left, middle)
        if bar.began is None:
            if bar.status is TurnStatus.STOPPED:
                self._paint_part(painter, _Part(right - 2, right, TurnStatus.STOPPED), middle, hovered)
            left = self.plot_left + self.plot.scale.x_of(self.plot.clock.seconds(bar.called))
        else:
            parts = list(self._parts(bar, left, right))
            for before, after in pairwise(parts):
                # What it waited between two attempts.
                if after.left - before.right > 1:
                    painter.setPen(QPen(theme().color("quiet"), 2, Qt.PenStyle.DotLine))
                    painter.drawLine(QPointF(before.right, middle), QPointF(after.left, middle))
            for part in parts:
                self._paint_part(painter, part, middle, hovered)
            self._paint_reason(painter, bar, right, middle)
        self._paint_emphasis(painter, bar, QRectF(left, middle - _BAR / 2, right - left, _BAR), shown)

    def _paint_emphasis(self, painter: QPainter, bar: Bar, box: QRectF, shown: Shown) -> None:
        current = shown.focused and shown.current is not None and shown.current.bar == bar
        if not current and bar.turn != shown.turn:
            return
        box = box.adjusted(-1.5, -1.5, max(0.0, 3.0 - box.width()) + 1.5, 1.5)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        if current:
            painter.setPen(QPen(theme().color("surface"), 4))
            painter.drawRoundedRect(box, _RADIUS + 1, _RADIUS + 1)
        painter.setPen(QPen(theme().color("text"), 2 if current else 1.25))
        painter.drawRoundedRect(box, _RADIUS + 1, _RADIUS + 1)

    def _paint_wait(self, painter: QPainter, bar: Bar, left: float, middle: float) -> None:
        """What it waited for a slot, as a thin line."""
        begun = left if bar.began is not None else self._x(bar.until(self.plot.now))
        called = self._x(bar.called)
        if begun - called > 1:
            painter.setPen(QPen(theme().color("disabled"), 1))
            painter.drawLine(QPointF(called, middle), QPointF(begun, middle))
            painter.drawLine(QPointF(called, middle - 3), QPointF(called, middle + 3))

    def _parts(self, bar: Bar, left: float, right: float) -> Iterator[_Part]:
        """The attempts of a bar, the last with its outcome; one without room where it waits for the next."""
        if not bar.attempts:  # the journal lost them
            yield _Part(left, right, bar.status)
        for number, attempt in enumerate(bar.attempts):
            following = bar.attempts[number + 1] if number + 1 < len(bar.attempts) else None
            last = following is None and bar.status is not TurnStatus.RUNNING
            began = left if number == 0 else self._x(attempt.started)
            ended = right if last or attempt.finished is None else self._x(attempt.finished)
            corrected = following is not None and following.kind is AttemptKind.CORRECTION
            if last or attempt.finished is None:
                yield _Part(began, ended, bar.status, attempt.kind)
            elif attempt.problem or attempt.retry_in is not None:
                yield _Part(began, ended, TurnStatus.FAILED, attempt.kind)
            elif corrected or following is None:
                yield _Part(began, ended, bar.status, attempt.kind, corrected=True)
            else:
                yield _Part(began, ended, TurnStatus.STOPPED, attempt.kind)
            if following is None and not last and attempt.finished is not None:
                yield _Part(right, right, TurnStatus.WAITING)

    def _paint_reason(self, painter: QPainter, bar: Bar, right: float, middle: float) -> None:
        """Why a running turn is not at work, beside its bar."""
        turn = self.plot.progress.turns.get(bar.turn)
        if bar.status is not TurnStatus.RUNNING or turn is None or not self.plot.live:
            return
        name, token = "", "quiet"
        if turn.question:
            name, token = "circle-alert", "failed"
        elif turn.waits_for_run:
            name = "circle-pause"
        elif turn.retry_at is not None:
            name = "clock"
        if name:
            where = QRectF(right + 4, middle - _BAR / 2, _BAR, _BAR)
            paint_icon(painter, name, where, theme().color(token))

    def _paint_part(self, painter: QPainter, part: _Part, middle: float, hovered: bool) -> None:
        if part.status is TurnStatus.WAITING:
            return
        color = theme().color("other") if part.corrected else _color(part.status)
        if hovered:
            color = mix(color, theme().color("text"), 0.25)
        height = _BAR if part.corrected else HEIGHTS[part.status]
        # A hair of room between two bars that meet.
        box = QRectF(part.left, middle - height / 2, max(2.0, part.right - part.left - 1), height)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(color)
        radius = min(_RADIUS, box.width() / 2)
        if part.status is TurnStatus.RUNNING and not part.corrected:
            painter.drawPath(_arrow(box, radius))
        else:
            painter.drawRoundedRect(box, radius, radius)
        if part.status is TurnStatus.STOPPED or part.corrected:
            painter.setBrush(QBrush(theme().color("surface"), Qt.BrushStyle.BDiagPattern))
            painter.drawRoundedRect(box, radius, radius)
        sign = _sign(part)
        if sign and box.width() >= _ROOM_FOR_SIGN:
            # It stays in view while something of the bar does.
            start = min(max(box.left(), self.plot_left) + 4, box.right() - _SIGN - 4)
            where = QRectF(start, middle - _SIGN / 2, _SIGN, _SIGN)
            paint_icon(painter, sign, where, theme().color("on_accent"))

    def _paint_now(self, painter: QPainter, plot: QRectF, rows: QRectF) -> None:
        x = round(self._x(self.plot.clock.ended))
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
            name = metrics.elidedText(row.label[:1000], Qt.TextElideMode.ElideMiddle, self.names_width)
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
            x = self._x(cut.began)
            if plot.left() <= x <= plot.right():
                where = QRectF(x - 5, rows.bottom() - 5, 10, 10)
                painter.fillRect(where, colors.color("surface"))
                name = "play" if cut.kind is BreakKind.RESUMED else "circle-pause"
                paint_icon(painter, name, where, colors.color("quiet"))

    def _x(self, moment: float) -> float:
        """Where a time since the epoch is in the area."""
        return self.plot_left + self.plot.scale.x_of(self.plot.clock.seconds(moment))


@dataclass(frozen=True, slots=True)
class _Part:
    left: float
    right: float
    status: TurnStatus
    kind: AttemptKind = AttemptKind.FIRST
    corrected: bool = False
    """Its answer was no update, and the next part is the correction."""


def _color(status: TurnStatus) -> QColor:
    return theme().status_color(status)


def _sign(part: _Part) -> str:
    if part.status is TurnStatus.FAILED:
        return "x"
    if part.corrected or part.status is TurnStatus.STOPPED:
        return ""
    signs = {AttemptKind.RETRY: "refresh-cw", AttemptKind.CORRECTION: "pencil"}
    return signs.get(part.kind, "")


def _arrow(box: QRectF, radius: float) -> QPainterPath:
    """A bar that goes on: it points to where time goes."""
    point = min(5.0, box.width() / 2)
    path = QPainterPath(QPointF(box.left() + radius, box.top()))
    path.lineTo(box.right() - point, box.top())
    path.lineTo(box.right() + 1, box.center().y())
    path.lineTo(box.right() - point, box.bottom())
    path.lineTo(box.left() + radius, box.bottom())
    path.quadTo(box.bottomLeft(), QPointF(box.left(), box.bottom() - radius))
    path.lineTo(box.left(), box.top() + radius)
    path.quadTo(box.topLeft(), QPointF(box.left() + radius, box.top()))
    return path
