"""Where things are inside a row of the workflow: its body, the gap that a drag opens, the card's end.

A row of the tree is more than what it shows: the last agent of a group also carries the end of the card
and the room after it. All measures come from the fonts, in steps of 4 pixels.
"""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRect, Qt
from PySide6.QtGui import QFontMetrics

from app.builder import words
from app.builder.workflow_model import Kind, WorkflowModel
from app.document_edits import InGroup, NewStep, OnAgent, Target
from app.theme import TextSize, font

Index = QModelIndex | QPersistentModelIndex

MARGIN = 12
"""Between the edge of the region and the cards."""
CARD_SPACING = 6
PHASE_SPACING = 0
LESSON_PADDING = 12


@dataclass(frozen=True, slots=True)
class Landing:
    """Where a drag would land, and what that means in words."""

    target: Target
    words: str


@dataclass(frozen=True, slots=True)
class Boxes:
    """The parts of one row, in the view's coordinates; an absent part is an empty rectangle.

    From top to bottom: a gap for a new step before the card, a gap inside the card before the body, the
    body, a gap inside the card after it, a gap for a new step after the card, and the drop zone.
    """

    step_gap_before: QRect
    gap_before: QRect
    body: QRect
    gap_after: QRect
    step_gap_after: QRect
    zone: QRect
    ends_card: bool

    @property
    def gap(self) -> QRect:
        """The gap that is open in this row, if any."""
        gaps = (self.step_gap_before, self.gap_before, self.gap_after, self.step_gap_after)
        return next((gap for gap in gaps if not gap.isEmpty()), QRect())


class RowAnatomy:
    """Measures rows. `landing` is where the present drag would land; its gap opens there."""

    def __init__(self, model: WorkflowModel) -> None:
        self._model = model
        self.landing: Landing | None = None
        self.gap_target: Target | None = None
        """Where the gap is open. It stays where it is while the drag is over an agent, or the rows would
        jump away under the pointer."""
        self.gap_share = 1.0
        """How far the gap is open, 0 to 1."""

    @property
    def row_height(self) -> int:
        """An agent's row."""
        return max(30, QFontMetrics(font()).height() + 12)

    @property
    def header_height(self) -> int:
        """A group's header."""
        return max(26, QFontMetrics(font(TextSize.TEXT)).height() + 10)

    def lesson_height(self, index: Index, width: int) -> int:
        """The card of an empty phase."""
        room = QRect(0, 0, max(40, width - 2 * MARGIN - 2 * LESSON_PADDING), 10_000)
        text = words.phase_lesson(self._model.phase(index))
        flags = Qt.TextFlag.TextWordWrap | Qt.AlignmentFlag.AlignHCenter
        return QFontMetrics(font()).boundingRect(room, flags, text).height() + 2 * LESSON_PADDING

    def height(self, index: Index, width: int) -> int:
        """The whole row."""
        boxes = self.boxes(index, QRect(0, 0, width, 0))
        last = max(
            (
                box.bottom() + 1
                for box in (boxes.body, boxes.gap_after, boxes.step_gap_after, boxes.zone)
                if box.height() > 0
            ),
            default=0,
        )
        if boxes.ends_card:
            last += PHASE_SPACING if self._ends_phase(index) else CARD_SPACING
        return last

    def boxes(self, index: Index, row: QRect) -> Boxes:
        """The parts of a row that stands at `row` (only its left, top and width count)."""
        left, width = row.left() + MARGIN, row.width() - 2 * MARGIN
        y = row.top()
        none = QRect()
        kind = self._model.kind(index)
        if kind is Kind.PHASE:
            return self._phase_boxes(index, row)
        gap = round((self.row_height + CARD_SPACING) * self.gap_share)
        target = self.gap_target
        step_before = gap_before = gap_after = step_after = zone = none
        group = self._model.group_node(index)
        at = index.row() if kind is Kind.GROUP else index.parent().row()
        phase = self._model.phase(index)
        ends_card = self._ends_card(index)
        if kind is Kind.GROUP and isinstance(target, NewStep) and target == NewStep(phase, at):
            step_before = QRect(left, y, width, max(1, gap - CARD_SPACING))
            y += gap
        if kind is Kind.AGENT and group is not None and target == InGroup(group.id, index.row()):
            gap_before = QRect(left, y, width, gap)
            y += gap
        body = QRect(left, y, width, self.row_height if kind is Kind.AGENT else self.header_height)
        y += body.height()
        if ends_card and group is not None and target == InGroup(group.id, len(group.agents)):
            gap_after = QRect(left, y, width, gap)
            y += gap
        if ends_card and self._ends_phase(index):
            if target == NewStep(phase, at + 1):
                step_after = QRect(left, y + CARD_SPACING, width, max(1, gap - CARD_SPACING))
                y += gap
            if phase == "loop":
                zone = QRect(left, y + CARD_SPACING, width, max(28, QFontMetrics(font()).height() + 10))
        return Boxes(step_before, gap_before, body, gap_after, step_after, zone, ends_card)

    def _phase_boxes(self, index: Index, row: QRect) -> Boxes:
        none = QRect()
        title = max(34, QFontMetrics(font(TextSize.TITLE, bold=True)).height() + 16)
        body = QRect(row.left() + MARGIN, row.top(), row.width() - 2 * MARGIN, title)
        if self._model.rowCount(index):
            return Boxes(none, none, body, none, none, none, False)
        lesson = QRect(body.left(), body.bottom() + 1, body.width(), self.lesson_height(index, row.width()))
        return Boxes(none, none, body, none, none, lesson, True)

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

    def drop_at(self, index: Index, row: QRect, y: int, whole_groups: bool) -> tuple[int, QModelIndex] | None:
        """The (row, parent) of a drop at height `y` of this row; None: it is in the open gap."""
        boxes = self.boxes(index, row)
        if boxes.gap.isValid() and boxes.gap.top() <= y <= boxes.gap.bottom():
            return None
        kind = self._model.kind(index)
        here = index.sibling(index.row(), 0)
        if kind is Kind.PHASE:
            return 0, here
        group = here if kind is Kind.GROUP else here.parent()
        phase = group.parent()
        if y > boxes.body.bottom() and boxes.ends_card:
            below_card = y > boxes.body.bottom() + max(0, boxes.gap_after.height()) + CARD_SPACING // 2
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

    def is_partner(self, node_id: int | None) -> bool:
        """Whether a drag would put its agents in parallel with this one."""
        return self.landing is not None and self.landing.target == OnAgent(
            node_id if node_id is not None else -1
        )
