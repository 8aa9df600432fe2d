"""How a bar of the timeline looks: its attempts by outcome, what it waited, and whether it is emphasised."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QBrush, QPainter, QPainterPath, QPen

from app.buttons import mix
from app.run_view.timeline_plot import HEIGHTS, Spot, TimelinePlot
from app.theme import paint_icon, theme
from core.events import AttemptKind, TurnStatus
from core.run_times import Bar

_BAR = HEIGHTS[TurnStatus.SUCCEEDED]
_RADIUS = 3.0
_SIGN = 10.0
_ROOM_FOR_SIGN = 18.0


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
class BarPainter:
    """Paints single bars of a plot. `left`: where the plot begins in the area, in pixels."""

    plot: TimelinePlot
    left: float = 0.0

    def x(self, moment: float) -> float:
        """Where a time since the epoch is in the area."""
        return self.left + self.plot.scale.x_of(self.plot.clock.seconds(moment))

    def paint(self, painter: QPainter, bar: Bar, middle: float, shown: Shown) -> None:
        """Paint one bar around the middle of its row."""
        left, right = (self.left + self.plot.scale.x_of(each) for each in self.plot.span(bar))
        hovered = shown.hovered is not None and shown.hovered.bar == bar
        self._paint_wait(painter, bar, left, middle)
        if bar.began is None:
            if bar.status is TurnStatus.STOPPED:
                self._paint_part(painter, _Part(right - 2, right, TurnStatus.STOPPED), middle, hovered)
            left = self.x(bar.called)
        else:
            parts = list(self._parts(bar, left, right))
            for before, after in pairwise(parts):
                self._paint_rest(painter, before, after.left, middle)
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
        begun = left if bar.began is not None else self.x(bar.until(self.plot.now))
        called = self.x(bar.called)
        if begun - called > 1:
            painter.setPen(QPen(theme().color("disabled"), 1))
            painter.drawLine(QPointF(called, middle), QPointF(begun, middle))
            painter.drawLine(QPointF(called, middle - 3), QPointF(called, middle + 3))

    def _paint_rest(self, painter: QPainter, before: _Part, right: float, middle: float) -> None:
        """What it waited between two attempts: dotted, and from when on only a slot was missing, thin."""
        due = right if before.due is None else max(before.right, before.due)
        if min(due, right) - before.right > 1:
            painter.setPen(QPen(theme().color("quiet"), 2, Qt.PenStyle.DotLine))
            painter.drawLine(QPointF(before.right, middle), QPointF(min(due, right), middle))
        if right - due > 1:
            painter.setPen(QPen(theme().color("disabled"), 1))
            painter.drawLine(QPointF(due, middle), QPointF(right, middle))
            painter.drawLine(QPointF(due, middle - 3), QPointF(due, middle + 3))

    def _parts(self, bar: Bar, left: float, right: float) -> Iterator[_Part]:
        """The attempts of a bar, the last with its outcome; one without room where it waits for the next."""
        if not bar.attempts:  # the journal lost them
            yield _Part(left, right, bar.status)
        for number, attempt in enumerate(bar.attempts):
            following = bar.attempts[number + 1] if number + 1 < len(bar.attempts) else None
            last = following is None and bar.status is not TurnStatus.RUNNING
            began = left if number == 0 else self.x(attempt.started)
            ended = right if attempt.finished is None else self.x(attempt.finished)
            waited = following is None and bar.worked_until(self.plot.now) < bar.until(self.plot.now)
            if last and not waited:
                ended = right
            due = None
            if attempt.retry_in is not None and attempt.finished is not None:
                due = self.x(attempt.finished + attempt.retry_in)
            status, lacking = bar.status, False
            if attempt.finished is not None and bar.lacks_update(number):
                lacking = True
            elif last or attempt.finished is None:
                pass
            elif attempt.problem or due is not None:
                status = TurnStatus.FAILED
            elif following is not None:
                status = TurnStatus.STOPPED
            yield _Part(began, ended, status, attempt.kind, lacking, due)
            if waited or (following is None and not last and attempt.finished is not None):
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
        color = theme().color("other") if part.lacking else theme().status_color(part.status)
        if hovered:
            color = mix(color, theme().color("text"), 0.25)
        height = _BAR if part.lacking else HEIGHTS[part.status]
        # A hair of room between two bars that meet.
        box = QRectF(part.left, middle - height / 2, max(2.0, part.right - part.left - 1), height)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(color)
        radius = min(_RADIUS, box.width() / 2)
        if part.status is TurnStatus.RUNNING and not part.lacking:
            painter.drawPath(_arrow(box, radius))
        else:
            painter.drawRoundedRect(box, radius, radius)
        if part.status is TurnStatus.STOPPED or part.lacking:
            painter.setBrush(QBrush(theme().color("surface"), Qt.BrushStyle.BDiagPattern))
            painter.drawRoundedRect(box, radius, radius)
        sign = _sign(part)
        if sign and box.width() >= _ROOM_FOR_SIGN:
            # It stays in view while something of the bar does.
            start = min(max(box.left(), self.left) + 4, box.right() - _SIGN - 4)
            where = QRectF(start, middle - _SIGN / 2, _SIGN, _SIGN)
            paint_icon(painter, sign, where, theme().color("on_accent"))


@dataclass(frozen=True, slots=True)
class _Part:
    left: float
    right: float
    status: TurnStatus
    kind: AttemptKind = AttemptKind.FIRST
    lacking: bool = False
    """Its answer was no state update."""
    due: float | None = None
    """Where the retry after it could have begun; None: it waits for no time to pass."""


def _sign(part: _Part) -> str:
    if part.status is TurnStatus.FAILED:
        return "x"
    if part.lacking or part.status is TurnStatus.STOPPED:
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
