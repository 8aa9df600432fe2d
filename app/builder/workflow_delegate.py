"""Paints the workflow's rows: phase headers, groups as cards, agents, and what a drag would do."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QModelIndex, QPersistentModelIndex, QPoint, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFont, QFontMetrics, QHelpEvent, QPainter, QPen
from PySide6.QtWidgets import (
    QAbstractItemView,
    QLineEdit,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QToolTip,
    QWidget,
)

from app.builder import words
from app.builder.workflow_model import Kind, WorkflowModel
from app.builder.workflow_rows import LESSON_PADDING, Boxes, Index, RowAnatomy
from app.document_edits import InGroup
from app.painting import paint_method, saved
from app.severity import SIGNS
from app.theme import RADIUS, STATUS_ICONS, TextSize, font, paint_icon, theme
from core.problems import Severity
from core.statuses import TurnStatus

if TYPE_CHECKING:
    from app.outline import GroupNode
    from app.turn_badge import TurnBadge

EDGE = 3
"""Width of the blue edge of a parallel card."""
NUMBER_WIDTH = 26
PADDING = 10
ICON = 14


class WorkflowDelegate(QStyledItemDelegate):
    """Paints with the theme's colours only; `lifted` are the nodes of the present drag."""

    def __init__(self, model: WorkflowModel, anatomy: RowAnatomy, parent: QWidget) -> None:
        super().__init__(parent)
        self._model = model
        self._anatomy = anatomy
        self.lifted: Collection[int] = ()

    def sizeHint(  # noqa: N802
        self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> QSize:
        widget = option.widget
        width = widget.viewport().width() if isinstance(widget, QAbstractItemView) else option.rect.width()
        return QSize(0, self._anatomy.height(index, width))

    @paint_method
    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        boxes = self._anatomy.boxes(index, option.rect)
        with saved(painter):
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            group = self._model.group_node(index)
            if self._model.kind(index) is Kind.PHASE:
                self._paint_phase(painter, option, index, boxes)
            elif group is not None:
                self._paint_card(painter, index, group, boxes)
                if self._model.kind(index) is Kind.GROUP:
                    self._paint_header(painter, option, group, boxes.body)
                else:
                    self._paint_agent(painter, option, index, group, boxes.body)
                self._paint_gap(painter, boxes)
                if not boxes.zone.isEmpty() and not self._model.locked:
                    self._paint_zone(painter, boxes.zone, words.drop_here(), False)

    # --- phases ----------------------------------------------------------------------------------------

    def _paint_phase(
        self, painter: QPainter, option: QStyleOptionViewItem, index: Index, boxes: Boxes
    ) -> None:
        colors = theme()
        phase = self._model.phase(index)
        body = boxes.body
        if _is(option, QStyle.StateFlag.State_Selected):
            ground = QRectF(body.adjusted(-4, 4, 4, -2))
            _fill(painter, ground, colors.color("accent_soft"))
            if _is(option, QStyle.StateFlag.State_HasFocus):
                _focus_ring(painter, ground)
        title = words.phase_title(phase)
        title_font = font(bold=True)
        baseline = body.top() + self._anatomy.title_height - 10
        _text_at(painter, QPoint(body.left(), baseline), title, title_font, colors.color("text"))
        when_font = font(TextSize.SMALL)
        when_metrics = QFontMetrics(when_font)
        if self._anatomy.when_fits(index, body.width()):
            when = words.phase_when(phase, self._model.document.settings_in_force)
            left = body.left() + QFontMetrics(title_font).horizontalAdvance(title) + 8
            _text_at(painter, QPoint(left, baseline), when, when_font, colors.color("quiet"))
        else:
            for line in self._anatomy.when_lines(index, body.width()):
                baseline += when_metrics.height() + 2
                _text_at(painter, QPoint(body.left(), baseline), line, when_font, colors.color("quiet"))
        if boxes.ends_card:
            landing = self._anatomy.landing
            lands = landing is not None and self._model.phase_of_target(landing.target) == phase
            room = boxes.zone.width() - 2 * LESSON_PADDING
            text = landing.fitting(room) if landing is not None and lands else words.phase_lesson(phase)
            self._paint_zone(painter, boxes.zone, text, lands)

    def _paint_zone(self, painter: QPainter, zone: QRect, text: str, active: bool) -> None:
        colors = theme()
        pen = QPen(colors.color("accent" if active else "line"), 1, Qt.PenStyle.CustomDashLine)
        pen.setDashPattern([3, 3])
        painter.setPen(pen)
        painter.setBrush(colors.color("accent_soft") if active else Qt.BrushStyle.NoBrush)
        painter.drawRoundedRect(QRectF(zone).adjusted(0.5, 0.5, -0.5, -0.5), RADIUS, RADIUS)
        painter.setPen(colors.color("accent" if active else "quiet"))
        painter.setFont(font())
        inner = zone.adjusted(LESSON_PADDING, 0, -LESSON_PADDING, 0)
        painter.drawText(inner, Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextWordWrap, text)

    # --- cards -----------------------------------------------------------------------------------------

    def _paint_card(self, painter: QPainter, index: Index, group: GroupNode, boxes: Boxes) -> None:
        """This row's slice of the card: the whole outline drawn longer than the row, clipped to it."""
        colors = theme()
        slice_ = boxes.card
        is_header = self._model.kind(index) is Kind.GROUP
        card = QRectF(slice_).adjusted(0.5, 0.5 if is_header else -20, -0.5, -0.5 if boxes.ends_card else 20)
        with saved(painter):
            painter.setClipRect(slice_)
            painter.setPen(QPen(colors.color("accent" if group.is_parallel else "line"), 1))
            painter.setBrush(colors.color("surface"))
            painter.drawRoundedRect(card, RADIUS, RADIUS)
            if group.is_parallel and not is_header:
                inside = card.adjusted(0.5, 0, 0, -0.5 if boxes.ends_card else 0)
                painter.setClipRect(QRectF(inside.left(), slice_.top(), EDGE, slice_.height()))
                painter.setPen(Qt.PenStyle.NoPen)
                painter.setBrush(colors.color("accent"))
                painter.drawRoundedRect(inside, RADIUS, RADIUS)

    def _paint_header(
        self, painter: QPainter, option: QStyleOptionViewItem, group: GroupNode, body: QRect
    ) -> None:
        colors = theme()
        selected = _is(option, QStyle.StateFlag.State_Selected)
        inner = QRectF(body).adjusted(1, 1, -1, 0)
        if group.is_parallel or selected:
            ground = colors.color("accent_soft")
            with saved(painter):
                painter.setClipRect(inner)
                _fill(painter, inner.adjusted(0, 0, 0, 20 if group.agents else 0), ground, RADIUS - 1)
        if not group.is_parallel and group.agents:
            painter.fillRect(
                QRectF(body.left() + 1, body.bottom(), body.width() - 2, 1), colors.color("line")
            )
        header = words.group_header(group, self._model.document.settings_in_force)
        strong = colors.color("accent") if group.is_parallel else colors.color("quiet")
        if not group.settings.enabled:
            strong = colors.color("quiet")
        bold = font(bold=group.is_parallel)
        x = body.left() + PADDING
        right = body.right() - PADDING
        head = f"{header.sign} {header.title}".strip()
        head = QFontMetrics(bold).elidedText(head, Qt.TextElideMode.ElideRight, right - x)
        _text_in(painter, QRect(x, body.top(), right - x, body.height()), head, bold, strong)
        x += QFontMetrics(bold).horizontalAdvance(head) + 6
        if header.detail and x < right:
            small = font(TextSize.SMALL)
            metrics = QFontMetrics(small)
            forms = [f"· {form}" for form in header.forms if form]
            fitting = (form for form in forms if metrics.horizontalAdvance(form) <= right - x)
            last = forms[-1] if forms else ""
            detail = next(fitting, metrics.elidedText(last, Qt.TextElideMode.ElideRight, right - x))
            color = (
                colors.color("accent")
                if group.is_parallel and group.settings.enabled
                else colors.color("quiet")
            )
            _text_in(painter, QRect(x, body.top(), right - x, body.height()), detail, small, color)
        if selected and (group.is_parallel or _is(option, QStyle.StateFlag.State_HasFocus)):
            # A parallel header has the ground of a selection already: its ring tells.
            _focus_ring(painter, QRectF(body))

    # --- agents ----------------------------------------------------------------------------------------

    def _paint_agent(
        self, painter: QPainter, option: QStyleOptionViewItem, index: Index, group: GroupNode, body: QRect
    ) -> None:
        colors = theme()
        node = self._model.agent_node(index)
        if node is None:
            return
        inner = QRectF(body).adjusted(EDGE + 1 if group.is_parallel else 1, 0, -1, -1)
        partner = self._anatomy.is_partner(node.id)
        selected = _is(option, QStyle.StateFlag.State_Selected)
        if selected or partner:
            _fill(painter, inner, colors.color("accent_soft"), 0 if not partner else 4)
        elif _is(option, QStyle.StateFlag.State_MouseOver):
            _fill(painter, inner, colors.color("raised"), 0)
        if partner or (selected and _is(option, QStyle.StateFlag.State_HasFocus)):
            _focus_ring(painter, inner)
        lifted = node.id in self.lifted
        off = not node.entry.enabled or not group.settings.enabled
        unknown = self._model.is_unknown(node.entry.agent)
        sign_box = QRect(body.left() + 1, body.top(), NUMBER_WIDTH - 2, body.height())
        if group.is_parallel:
            sign, sign_font, sign_color = words.PARALLEL_SIGN, font(bold=True), colors.color("accent")
        else:
            sign, sign_font, sign_color = str(index.row() + 1), font(tabular=True), colors.color("quiet")
        if lifted or off:
            sign_color = colors.color("quiet")
        _text_in(painter, sign_box, sign, sign_font, sign_color, Qt.AlignmentFlag.AlignRight)
        right = self._paint_right_side(painter, index, body, partner, off, unknown)
        name_font = font()
        name_font.setStrikeOut(off)
        color = colors.color("failed" if unknown else "quiet" if off else "text")
        if lifted:
            color = colors.color("disabled")
        x = body.left() + NUMBER_WIDTH + 10
        name = words.agent_label(group, index.row())
        # Names often begin alike and differ at their end.
        name = QFontMetrics(name_font).elidedText(name, Qt.TextElideMode.ElideMiddle, right - x)
        _text_in(painter, QRect(x, body.top(), right - x, body.height()), name, name_font, color)
        x += QFontMetrics(name_font).horizontalAdvance(name) + 8
        if (changed := words.overrides(node.entry)) and right - x > 24:
            small = font(TextSize.SMALL)
            changed = QFontMetrics(small).elidedText(changed, Qt.TextElideMode.ElideRight, right - x)
            _text_in(
                painter, QRect(x, body.top(), right - x, body.height()), changed, small, colors.color("quiet")
            )

    def _paint_right_side(
        self, painter: QPainter, index: Index, body: QRect, partner: bool, off: bool, unknown: bool
    ) -> int:
        """What stands at the right of an agent; gives the x where the room for its name ends."""
        colors = theme()
        right = body.right() - PADDING
        landing = self._anatomy.landing
        if partner and landing is not None:
            text = landing.fitting(body.width() * 6 // 10)
            return _right_text(painter, body, right, text, font(), colors.color("accent")) - 8
        badge = self._model.badge(index)
        if badge is not None:
            return self._paint_badge(painter, body, right, badge) - 8
        small = font(TextSize.SMALL)
        if unknown:
            box = QRectF(right - ICON, body.center().y() - ICON / 2 + 1, ICON, ICON)
            sign, tone = SIGNS[Severity.ERROR]
            paint_icon(painter, sign, box, colors.color(tone))
            right -= ICON + 6
            if body.width() > 280:
                right = _right_text(
                    painter, body, right, words.unknown_agent(), small, colors.color("failed")
                )
            return right - 8
        if off:
            return _right_text(painter, body, right, words.disabled(), small, colors.color("quiet")) - 8
        node = self._model.agent_node(index)
        if node is not None and self._model.plays(node.entry):
            tone = "quiet"
            if self._model.is_borrowed(node.entry):
                box = QRectF(right - ICON, body.center().y() - ICON / 2 + 1, ICON, ICON)
                sign, tone = SIGNS[Severity.ERROR]
                paint_icon(painter, sign, box, colors.color(tone))
                right -= ICON + 6
            if body.width() > 280:
                right = _right_text(painter, body, right, words.demo_agent(), small, colors.color(tone))
            return right - 8
        return right

    def _paint_badge(self, painter: QPainter, body: QRect, right: int, badge: TurnBadge) -> int:
        colors = theme()
        color = colors.color("failed") if badge.needs_you else colors.status_color(badge.status)
        if badge.status is TurnStatus.WAITING:
            waiting = words.status_word(badge.status)
            return _right_text(painter, body, right, waiting, font(TextSize.SMALL), colors.color("quiet"))
        digits = font(TextSize.SMALL, tabular=True)
        text = badge.time_text or words.status_word(badge.status)
        is_loud = badge.needs_you or badge.status is TurnStatus.FAILED
        tone = colors.color("failed") if is_loud else colors.color("quiet")
        left = _right_text(painter, body, right, text, digits, tone)
        box = QRectF(left - ICON - 6, body.center().y() - ICON / 2 + 1, ICON, ICON)
        name = "circle-alert" if badge.needs_you else STATUS_ICONS[badge.status]
        paint_icon(painter, name, box, color)
        return left - ICON - 6

    # --- drag ------------------------------------------------------------------------------------------

    def _paint_gap(self, painter: QPainter, boxes: Boxes) -> None:
        landing = self._anatomy.landing
        gap = boxes.gaps.get(landing.target) if landing is not None else None
        if landing is None or gap is None:
            return
        zone = gap.adjusted(6, 3, -6, -3) if isinstance(landing.target, InGroup) else gap
        if zone.height() >= QFontMetrics(font()).height():
            self._paint_zone(painter, zone, landing.fitting(zone.width() - 2 * LESSON_PADDING), True)

    # --- renaming and tool tips ------------------------------------------------------------------------

    def createEditor(  # noqa: N802
        self, parent: QWidget, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> QWidget:
        del option, index
        editor = QLineEdit(parent)
        editor.setFont(font())
        editor.setFrame(False)
        editor.setPlaceholderText(words.tr("Name of the group"))
        editor.setAccessibleName(words.tr("Name of the group"))
        editor.setAutoFillBackground(True)
        return editor

    def updateEditorGeometry(  # noqa: N802
        self, editor: QWidget, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        body = self._anatomy.boxes(index, option.rect).body
        editor.setGeometry(body.adjusted(6, 3, -6, -2))

    def helpEvent(  # noqa: N802
        self,
        event: QHelpEvent,
        view: QAbstractItemView,
        option: QStyleOptionViewItem,
        index: QModelIndex | QPersistentModelIndex,
    ) -> bool:
        if event.type() != QEvent.Type.ToolTip or not index.isValid():
            return False
        body = self._anatomy.boxes(index, option.rect).body
        tip = index.data(Qt.ItemDataRole.ToolTipRole)
        if not body.contains(event.pos()) or not isinstance(tip, str):
            QToolTip.hideText()
            return True
        QToolTip.showText(event.globalPos(), tip, view.viewport(), body)
        return True


def _is(option: QStyleOptionViewItem, flag: QStyle.StateFlag) -> bool:
    return bool(option.state & flag)


def _fill(painter: QPainter, box: QRectF, color: QColor, radius: float = 4) -> None:
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(color)
    painter.drawRoundedRect(box, radius, radius)


def _focus_ring(painter: QPainter, box: QRectF) -> None:
    painter.setPen(QPen(theme().color("accent"), 1.5))
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.drawRoundedRect(box.adjusted(1, 1, -1, -1), 4, 4)


def _text_at(painter: QPainter, baseline: QPoint, text: str, with_font: QFont, color: QColor) -> None:
    painter.setFont(with_font)
    painter.setPen(color)
    painter.drawText(baseline, text)


def _text_in(
    painter: QPainter,
    box: QRect,
    text: str,
    with_font: QFont,
    color: QColor,
    align: Qt.AlignmentFlag = Qt.AlignmentFlag.AlignLeft,
) -> None:
    painter.setFont(with_font)
    painter.setPen(color)
    painter.drawText(box, align | Qt.AlignmentFlag.AlignVCenter | Qt.TextFlag.TextSingleLine, text)


def _right_text(
    painter: QPainter, body: QRect, right: int, text: str, with_font: QFont, color: QColor
) -> int:
    """Text that ends at `right`, elided to half of the row; gives its left edge."""
    metrics = QFontMetrics(with_font)
    text = metrics.elidedText(text, Qt.TextElideMode.ElideRight, body.width() * 6 // 10)
    left = right - metrics.horizontalAdvance(text)
    _text_in(painter, QRect(left, body.top(), right - left + 1, body.height()), text, with_font, color)
    return left
