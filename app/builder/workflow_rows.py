"""Where things are inside a row of the workflow: its body, the gap that a drag opens, the card's end.

A row of the tree is more than what it shows: the last agent of a group also carries the end of the card
and the room after it. All measures come from the fonts, in steps of 4 pixels.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRect, Qt
from PySide6.QtGui import QFontMetrics

from app.builder import words
from app.builder.fitted_words import fitted
from app.builder.workflow_model import Kind, WorkflowModel
from app.document_edits import InGroup, NewStep, OnAgent, Target
from app.theme import TextSize, font

Index = QModelIndex | QPersistentModelIndex

MARGIN = 12
"""Between the edge of the region and the cards."""
CARD_SPACING = 6
LESSON_PADDING = 12


@dataclass(frozen=True, slots=True)
class Landing:
    """Where a drag would land, and what that means in words. `names`: those of agents and groups in them."""

    target: Target
    words: str
    names: tuple[str, ...] = ()

    def fitting(self, room: int) -> str:
        """The words in `room` pixels of the usual font."""
        return fitted(self.words, self.names, QFontMetrics(font()), room)


@dataclass(frozen=True, slots=True)
class Boxes:
    """The parts of one row, in the view's coordinates; an absent part is an empty rectangle.

    From top to bottom: a gap for a new step before the card, a gap inside the card before the body, the
    body, a gap inside the card after it, a gap for a new step after the card, and the drop zone.
    """

    body: QRect
    card: QRect
    """The row's part of its card: the body with the gaps beside it that are inside."""
    zone: QRect
    ends_card: bool
    bottom: int
    """The first pixel below the row's last part."""
    gaps: Mapping[Target, QRect] = field(default_factory=dict)


class RowAnatomy:
    """Measures rows. `landing` is where the present drag would land."""

    def __init__(self, model: WorkflowModel) -> None:
        self._model = model
        self.landing: Landing | None = None
        self.gaps: dict[Target, float] = {}
        """The gaps there are, each with how far it is open, 0 to 1."""

    @property
    def row_height(self) -> int:
        """An agent's row."""
        return max(30, QFontMetrics(font()).height() + 12)

    @property
    def header_height(self) -> int:
        """A group's header."""
        return max(26, QFontMetrics(font(TextSize.TEXT)).height() + 10)

    @property
    def title_height(self) -> int:
        """A phase's title, and when it runs beside it."""
        return max(34, QFontMetrics(font(TextSize.TITLE, bold=True)).height() + 16)

    def when_fits(self, index: Index, width: int) -> bool:
        """Whether the words about when a phase runs have room beside its title."""
        phase = self._model.phase(index)
        title = QFontMetrics(font(bold=True)).horizontalAdvance(words.phase_title(phase))
        when = words.phase_when(phase, self._model.document.settings_in_force)
        return title + 8 + QFontMetrics(font(TextSize.SMALL)).horizontalAdvance(when) <= width

    def when_lines(self, index: Index, width: int) -> list[str]:
        """Those words as they stand below the title: two lines at most, the second perhaps cut short."""
        when = words.phase_when(self._model.phase(index), self._model.document.settings_in_force)
        metrics = QFontMetrics(font(TextSize.SMALL))
        first, _, rest = when.partition(" ")
        while rest:
            word, _, behind = rest.partition(" ")
            if metrics.horizontalAdvance(f"{first} {word}") > width:
                break
            first, rest = f"{first} {word}", behind
        lines = [first, rest] if rest else [first]
        return [metrics.elidedText(line, Qt.TextElideMode.ElideRight, width) for line in lines]

    def lesson_height(self, index: Index, width: int) -> int:
        """The card of an empty phase."""
        text = words.phase_lesson(self._model.phase(index))
        return _text_height(text, width - 2 * MARGIN) + 2 * LESSON_PADDING

    def height(self, index: Index, width: int, *, resting: bool = False) -> int:
        """The whole row. `resting`: as it is without a drag."""
        boxes = self.boxes(index, QRect(0, 0, width, 0), resting=resting)
        return boxes.bottom + (CARD_SPACING if boxes.ends_card and not self._ends_phase(index) else 0)

    def boxes(self, index: Index, row: QRect, *, resting: bool = False) -> Boxes:
        """The parts of a row that stands at `row` (only its left, top and width count)."""
        kind = self._model.kind(index)
        if kind is Kind.PHASE:
            return self._phase_boxes(index, row)
        left, width, y = row.left() + MARGIN, row.width() - 2 * MARGIN, row.top()
        open_gaps = {} if resting else self.gaps
        group = self._model.group_node(index)
        group_id = group.id if group is not None else -1
        agents = len(group.agents) if group is not None else 0
        at = index.row() if kind is Kind.GROUP else index.parent().row()
        phase = self._model.phase(index)
        ends_card = self._ends_card(index)
        gaps: dict[Target, QRect] = {}

        def gap(target: Target, *, margin: int = 0) -> int:
            """The height of a gap at `y`, which is remembered; `margin`: so much of it stays free below."""
            height = round((self.row_height + CARD_SPACING) * open_gaps.get(target, 0.0))
            if height:
                gaps[target] = QRect(left, y, width, max(1, height - margin))
            return height

        if kind is Kind.GROUP:
            y += gap(NewStep(phase, at), margin=CARD_SPACING)
        top = y
        if kind is Kind.AGENT:
            y += gap(InGroup(group_id, index.row()))
        body = QRect(left, y, width, self.row_height if kind is Kind.AGENT else self.header_height)
        y += body.height()
        if ends_card:
            y += gap(InGroup(group_id, agents))
        card = QRect(left, top, width, y - top)
        zone = QRect()
        if ends_card and self._ends_phase(index):
            y += CARD_SPACING
            opened = gap(NewStep(phase, at + 1), margin=CARD_SPACING)
            y += opened
            if phase == "loop":
                zone = QRect(left, y, width, max(28, _text_height(words.drop_here(), width) + 10))
                y += zone.height()
            else:
                y -= CARD_SPACING
        return Boxes(body, card, zone, ends_card, y, gaps)

    def _phase_boxes(self, index: Index, row: QRect) -> Boxes:
        title = self.title_height
        width = row.width() - 2 * MARGIN
        if not self.when_fits(index, width):
            title += len(self.when_lines(index, width)) * (QFontMetrics(font(TextSize.SMALL)).height() + 2)
        body = QRect(row.left() + MARGIN, row.top(), row.width() - 2 * MARGIN, title)
        if self._model.rowCount(index):
            return Boxes(body, QRect(), QRect(), False, body.bottom() + 1)
        lesson = QRect(body.left(), body.bottom() + 1, body.width(), self.lesson_height(index, row.width()))
        return Boxes(body, QRect(), lesson, True, lesson.bottom() + 1)

    def _ends_card(self, index: Index) -> bool:
        if self._model.kind(index) is Kind.GROUP:
            return self._model.rowCount(index) == 0
        return index.row() + 1 == self._model.rowCount(index.parent())

    def _ends_phase(self, index: Index) -> bool:
        if self._model.kind(index) is Kind.PHASE:
            return True
        group = index if self._model.kind(index) is Kind.GROUP else index.parent()
        return group.row() + 1 == self._model.rowCount(group.parent())

    # --- hit test --------------------------------------------------------------------------------------

    def drop_at(self, index: Index, row: QRect, y: int, whole_groups: bool) -> tuple[int, QModelIndex]:
        """The (row, parent) of a drop at height `y` of this row, which stands at `row` without a drag.

        Gaps do not count: a target stays where it is while a drag moves over the rows.
        """
        boxes = self.boxes(index, row, resting=True)
        kind = self._model.kind(index)
        here = index.sibling(index.row(), 0)
        if kind is Kind.PHASE:
            return self._drop_at_title(here, boxes, y)
        group = here if kind is Kind.GROUP else here.parent()
        phase = group.parent()
        if y > boxes.body.bottom() and boxes.ends_card:
            below_card = y > boxes.body.bottom() + CARD_SPACING // 2
            return (
                (group.row() + 1, phase)
                if below_card or whole_groups
                else (self._model.rowCount(group), group)
            )
        upper_half = y < boxes.body.center().y()
        node = self._model.group_node(group)
        if whole_groups or (node is not None and node.is_fan_out):
            agents = self._model.rowCount(group)
            position = 0 if kind is Kind.GROUP else here.row() + 1
            before = 2 * position < agents + 1 if agents else upper_half
            return (group.row() if before else group.row() + 1), phase
        if kind is Kind.GROUP:
            return (group.row(), phase) if upper_half else (0, group)
        edge = boxes.body.height() // 4
        if y < boxes.body.top() + edge:
            return here.row(), group
        if y > boxes.body.bottom() - edge:
            return here.row() + 1, group
        return -1, here

    def _drop_at_title(self, phase: QModelIndex, boxes: Boxes, y: int) -> tuple[int, QModelIndex]:
        """The room over a phase's words is the end of the phase before it."""
        if phase.row() > 0 and y < boxes.body.top() + self.title_height // 3:
            before = phase.sibling(phase.row() - 1, 0)
            return self._model.rowCount(before), before
        return 0, phase

    def is_partner(self, node_id: int | None) -> bool:
        """Whether a drag would put its agents in parallel with this one."""
        return self.landing is not None and self.landing.target == OnAgent(
            node_id if node_id is not None else -1
        )


def _text_height(text: str, width: int) -> int:
    """Of a text that wraps inside a box of this width, without the room above and below it."""
    room = QRect(0, 0, max(40, width - 2 * LESSON_PADDING), 10_000)
    flags = Qt.TextFlag.TextWordWrap | Qt.AlignmentFlag.AlignHCenter
    return QFontMetrics(font()).boundingRect(room, flags, text).height()
