"""The shape of a workflow in a few strokes: phases from left to right, what is parallel one below another."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce

from PySide6.QtCore import QCoreApplication, QPointF, QRectF, QSizeF, Qt
from PySide6.QtGui import QPainter, QPainterPath, QPen

from app.painting import saved
from app.theme import theme
from core.config import AgentGroup, Workflow
from core.state import PHASES, Phase

_BOX = QSizeF(20, 11)
_GAP, _ROW_GAP = 6, 5
_ARROW = 14
_LOOP_PAD = 9
_BACK = 8
"""Height of the arrow that leads back to the loop's beginning."""


@dataclass(frozen=True, slots=True)
class Step:
    """A step of a phase: how many agents, and whether they work at the same time."""

    count: int
    parallel: bool


Shape = tuple[tuple[Phase, tuple[Step, ...]], ...]
"""The phases that have agents, with their steps."""


def shape_of(workflow: Workflow) -> Shape:
    """The shape of a workflow; what is disabled is not part of it."""
    phases: list[tuple[Phase, tuple[Step, ...]]] = []
    for phase in PHASES:
        steps: list[Step] = []
        for group in workflow.groups(phase):
            if not group.enabled:
                continue
            agents = (
                [entry for entry in group.agents if entry.enabled] if isinstance(group, AgentGroup) else [1]
            )
            parallel = group.mode != "sequential" and len(agents) > 1
            if parallel:
                steps.append(Step(len(agents), True))
            else:
                steps += [Step(1, False)] * len(agents)
        if steps:
            phases.append((phase, tuple(steps)))
    return tuple(phases)


def shape_in_words(shape: Shape) -> str:
    """The same for those who hear it."""
    names = {
        "preparation": _tr("preparation"),
        "loop": _tr("loop"),
        "finalization": _tr("finalization"),
    }
    parts = []
    for phase, steps in shape:
        told = [
            _tr("{0} agents in parallel").format(step.count) if step.parallel else _tr("one agent")
            for step in steps
        ]
        in_order = reduce(lambda first, then: _tr("{0}, then {1}").format(first, then), told)
        parts.append(f"{names[phase]}: {in_order}")
    return "; ".join(parts)


def _tr(text: str) -> str:
    return QCoreApplication.translate("start_page", text)


def shape_size(shape: Shape) -> QSizeF:
    """How much room the drawing takes, in logical pixels."""
    width = 0.0
    rows = 1
    for number, (phase, steps) in enumerate(shape):
        width += _ARROW if number else 0
        width += len(steps) * _BOX.width() + (len(steps) - 1) * _GAP
        width += 2 * _LOOP_PAD if phase == "loop" else 0
        rows = max(rows, *(step.count if step.parallel else 1 for step in steps))
    return QSizeF(width, _height(rows) + 2 * (_LOOP_PAD + _BACK))


def _height(rows: int) -> float:
    return rows * _BOX.height() + (rows - 1) * _ROW_GAP


def paint_shape(painter: QPainter, shape: Shape, at: QPointF) -> None:
    """Draw it with its left top corner there, in the colours of the theme in force."""
    colors = theme()
    size = shape_size(shape)
    middle = at.y() + size.height() / 2
    x = at.x()
    with saved(painter):
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        for number, (phase, steps) in enumerate(shape):
            if number:
                _arrow(painter, QPointF(x + 2, middle), QPointF(x + _ARROW - 2, middle))
                x += _ARROW
            left = x
            x += _LOOP_PAD if phase == "loop" else 0
            rows = max(step.count if step.parallel else 1 for step in steps)
            for place, step in enumerate(steps):
                if place:
                    painter.setPen(QPen(colors.color("quiet"), 1.2))
                    painter.drawLine(QPointF(x, middle), QPointF(x + _GAP, middle))
                    x += _GAP
                _step(painter, step, QPointF(x, middle))
                x += _BOX.width()
            if phase == "loop":
                x += _LOOP_PAD
                height = _height(rows) + 2 * _LOOP_PAD
                _loop(painter, QRectF(left, middle - height / 2, x - left, height))


def _step(painter: QPainter, step: Step, at: QPointF) -> None:
    """One step around the point in the middle of its left edge."""
    colors = theme()
    top = at.y() - _height(step.count) / 2
    for row in range(step.count):
        box = QRectF(QPointF(at.x(), top + row * (_BOX.height() + _ROW_GAP)), _BOX)
        tone = colors.color("accent" if step.parallel else "quiet")
        painter.setPen(QPen(tone, 1.2))
        painter.setBrush(colors.color("accent_soft" if step.parallel else "raised"))
        painter.drawRoundedRect(box, 3, 3)
        if step.parallel:
            painter.fillRect(QRectF(box.left() + 3, box.top() + 3, 1.4, box.height() - 6), tone)
            painter.fillRect(QRectF(box.left() + 6, box.top() + 3, 1.4, box.height() - 6), tone)


def _loop(painter: QPainter, frame: QRectF) -> None:
    """A frame that leads back from its end to its beginning."""
    tone = theme().color("quiet")
    pen = QPen(tone, 1.2, Qt.PenStyle.DashLine)
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.setPen(pen)
    painter.drawRoundedRect(frame, 8, 8)
    # The way back, on the upper edge.
    head = QPointF(frame.center().x() - 4, frame.top())
    path = QPainterPath(head + QPointF(6, -3.5))
    path.lineTo(head)
    path.lineTo(head + QPointF(6, 3.5))
    painter.setPen(QPen(tone, 1.4))
    painter.drawPath(path)


def _arrow(painter: QPainter, start: QPointF, end: QPointF) -> None:
    painter.setPen(QPen(theme().color("quiet"), 1.2))
    painter.setBrush(Qt.BrushStyle.NoBrush)
    path = QPainterPath(start)
    path.lineTo(end)
    path.moveTo(end + QPointF(-4, -3))
    path.lineTo(end)
    path.lineTo(end + QPointF(-4, 3))
    painter.drawPath(path)
