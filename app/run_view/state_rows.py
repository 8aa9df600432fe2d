"""Rows of the state's tree: signs of what changed, what it was before, who wrote it, what is looked for."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QPointF, QRect, QRectF, Qt
from PySide6.QtGui import QColor, QFontMetrics, QPainter, QPen
from PySide6.QtWidgets import QStyle, QStyleOptionViewItem, QTreeView, QWidget

from app.painting import paint_method, saved
from app.run_view.flat_rows import RoomyRows
from app.run_view.state_model import KEY, VALUE, StateModel
from app.run_view.state_words import value_words
from app.theme import font, paint_icon, theme
from core.state_changes import Change, ChangeKind
from core.visible_text import visible

_SIGN = 14
_GAP = 6
_WAS = 80
"""Characters of what a value was before."""

TOKENS = {ChangeKind.ADDED: "succeeded", ChangeKind.CHANGED: "other", ChangeKind.REMOVED: "failed"}


def paint_sign(painter: QPainter, kind: ChangeKind, box: QRectF, color: QColor) -> None:
    """A plus, a minus, or a dot for what is still there and another value."""
    middle = box.center()
    arm = min(box.width(), box.height()) / 2 - 3
    with saved(painter):
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(color, 1.8, Qt.PenStyle.SolidLine, Qt.PenCapStyle.RoundCap))
        if kind is ChangeKind.CHANGED:
            painter.setBrush(color)
            painter.drawEllipse(middle, 2.2, 2.2)
        else:
            painter.drawLine(middle - QPointF(arm, 0), middle + QPointF(arm, 0))
            if kind is ChangeKind.ADDED:
                painter.drawLine(middle - QPointF(0, arm), middle + QPointF(0, arm))


class StateRows(RoomyRows):
    """Paints the rows of a `StateModel`."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.needle = ""
        """What is looked for, in small letters; it is marked where it stands."""

    @paint_method
    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        model = index.model()
        if not isinstance(model, StateModel):
            super().paint(painter, option, index)
            return
        self.initStyleOption(option, index)
        text, option.text = option.text, ""
        style = option.widget.style()
        style.drawControl(QStyle.ControlElement.CE_ItemViewItem, option, painter, option.widget)
        with saved(painter):
            painter.setClipRect(option.rect)
            box = option.rect.adjusted(4, 0, -4, 0)
            change, gone = model.change(index), model.is_gone(index)
            if index.column() == KEY:
                self._paint_key(painter, option, box, text, change, gone)
            elif index.column() == VALUE:
                self._paint_value(painter, option, box, text, change, gone)
            else:
                disputes = model.disputes(index)
                if disputes is not None and disputes.total:
                    here = bool(disputes.here)
                    where = QRectF(box.left(), box.center().y() - 6, 13, 13)
                    paint_icon(painter, "triangle-alert", where, theme().color("failed" if here else "quiet"))
                    box = box.adjusted(13 + _GAP, 0, 0, 0)
                self._text(painter, option, box, text, "quiet")

    def _paint_key(
        self,
        painter: QPainter,
        option: QStyleOptionViewItem,
        box: QRect,
        text: str,
        change: Change | None,
        gone: bool,
    ) -> None:
        kind = change.kind if change is not None else None
        if kind is not None:
            where = QRectF(box.left(), box.center().y() - _SIGN / 2 + 1, _SIGN, _SIGN)
            paint_sign(painter, kind, where, theme().color(TOKENS[kind]))
        box = box.adjusted(_SIGN + 2, 0, 0, 0)
        self._text(painter, option, box, text, "quiet" if gone else "text", struck=gone)

    def _paint_value(
        self,
        painter: QPainter,
        option: QStyleOptionViewItem,
        box: QRect,
        text: str,
        change: Change | None,
        gone: bool,
    ) -> None:
        used = self._text(painter, option, box, text, "quiet" if gone else "text", struck=gone)
        if change is not None and change.kind is ChangeKind.CHANGED:
            was = self.tr("was {0}").format(visible(value_words(change.before, _WAS)))
            rest = box.adjusted(used + 12, 0, 0, 0)
            if rest.width() > 24:
                self._text(painter, option, rest, was, "quiet")

    def _text(
        self,
        painter: QPainter,
        option: QStyleOptionViewItem,
        box: QRect,
        text: str,
        token: str,
        *,
        struck: bool = False,
    ) -> int:
        """Paint a text, with what is looked for on a ground of its own. Gives the width that it took."""
        shape = font()
        shape.setStrikeOut(struck)
        metrics = QFontMetrics(shape)
        shown = metrics.elidedText(text, Qt.TextElideMode.ElideRight, max(0, box.width()))
        painter.setFont(shape)
        place = shown.casefold().find(self.needle) if self.needle else -1
        if place >= 0:
            left = box.left() + metrics.horizontalAdvance(shown[:place])
            width = metrics.horizontalAdvance(shown[place : place + len(self.needle)])
            mark = QRectF(left - 1, box.center().y() - metrics.height() / 2 + 1, width + 2, metrics.height())
            selected = bool(option.state & QStyle.StateFlag.State_Selected)
            painter.setPen(QPen(theme().color("accent"), 1))
            painter.setBrush(theme().color("surface" if selected else "accent_soft"))
            painter.drawRoundedRect(mark, 2, 2)
        painter.setPen(theme().color(token))
        painter.drawText(box, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, shown)
        return metrics.horizontalAdvance(shown)


def give_state_rows(tree: QTreeView) -> StateRows:
    """Have a tree paint its rows like this."""
    rows = StateRows(tree)
    tree.setItemDelegate(rows)
    return rows
