"""The strip of running agents: one pill each, with what one wants to know at a glance."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal, Slot
from PySide6.QtGui import (
    QAccessible,
    QContextMenuEvent,
    QFontMetrics,
    QHelpEvent,
    QKeyEvent,
    QKeySequence,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QResizeEvent,
)
from PySide6.QtWidgets import QAbstractButton, QMenu, QSizePolicy, QToolTip, QWidget

from app.buttons import Button, ButtonLook
from app.painting import paint_method
from app.plain_text import plain_tool_tip
from app.platform_keys import delete_keys
from app.reading_text import harmless
from app.run_view.agent_orders import AgentOrders
from app.theme import STATUS_ICONS, font, icon, paint_icon, theme
from core.events import TurnStatus
from core.progress_words import activity_words, duration_words
from core.turn_progress import TurnProgress

_HEIGHT = 26
_GAP = 8
_MARGIN = 12
_TOP = 8
_ICON = 14
_PADDING = 10
_STOP_ROOM = 28
"""The part at the end that stops the agent, behind a line of its own."""
_ROWS = 2
_NAME_ROOM = 220


class TurnPill(QAbstractButton):
    """One running agent: a click opens its tab.

    Signals: `stop_requested()` from the square behind the line at its end, or the Delete key.
    """

    stop_requested = Signal()

    def __init__(self, orders: AgentOrders, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._orders = orders
        self._name = ""
        self._facts = ""
        self._asks = False
        self._held_up = False
        self._waits_for_retry = False
        self._over_stop = False
        self._pressed_stop = False
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setMouseTracking(True)

    @property
    def facts(self) -> str:
        """What it says behind the name."""
        return self._facts

    def show_turn(self, turn: TurnProgress, now: float, max_retries: int | None) -> bool:
        """Show how the turn is; gives whether the pill needs other room."""
        held_up = turn.waits_for_run or turn.retry_at is not None
        retry = turn.retry_at is not None
        activity = (
            [self.tr("waits for the run")] if turn.waits_for_run else activity_words(turn, now, max_retries)
        )
        facts = " · ".join((duration_words(turn.seconds(now) or 0), *activity))
        shown = (turn.label, facts, bool(turn.question), held_up)
        if shown == (self._name, self._facts, self._asks, self._held_up):
            return False
        before = self.sizeHint()
        self._held_up = held_up
        self._waits_for_retry = retry
        self._name, self._facts, self._asks = turn.label, facts, bool(turn.question)
        words = self.tr("{0}, waiting, {1}") if held_up else self.tr("{0}, running, {1}")
        self.setAccessibleName(words.format(turn.label, facts))
        tip = self.tr("{0} · {1}\nClick to watch it. Delete stops it, F7 tries it again.").format(
            turn.title, facts
        )
        self.setToolTip(plain_tool_tip(harmless(tip)))
        self.update()
        return self.sizeHint() != before

    def sizeHint(self) -> QSize:  # noqa: N802
        width = _PADDING + _ICON + 8 + self._name_width() + 8
        width += QFontMetrics(font(tabular=True)).horizontalAdvance(self._facts) + 8 + _STOP_ROOM
        return QSize(width, max(_HEIGHT, QFontMetrics(font()).height() + 8))

    def _name_width(self) -> int:
        return min(_NAME_ROOM, QFontMetrics(font(bold=True)).horizontalAdvance(self._name) + 1)

    def _stop_box(self) -> QRectF:
        return QRectF(self.width() - _STOP_ROOM + 7, (self.height() - 12) / 2, 12, 12)

    @paint_method
    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802
        del event
        colors = theme()
        tone = colors.color("failed" if self._asks else "quiet" if self._held_up else "accent")
        with QPainter(self) as painter:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            box = QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5)
            width = 3 if self.hasFocus() else 1
            painter.setPen(QPen(tone, width))
            lit = self.underMouse() or self.hasFocus()
            painter.setBrush(colors.color("accent_soft" if lit else "surface"))
            inset, radius = width / 2, box.height() / 2
            painter.drawRoundedRect(box.adjusted(inset, inset, -inset, -inset), radius, radius)
            middle = self.height() / 2
            name = STATUS_ICONS[TurnStatus.RUNNING]
            if self._asks or self._held_up:
                name = "clock" if self._waits_for_retry else "circle-pause"
                name = "circle-alert" if self._asks else name
            paint_icon(painter, name, QRectF(_PADDING, middle - _ICON / 2, _ICON, _ICON), tone)
            left = _PADDING + _ICON + 8
            flags = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft
            painter.setFont(font(bold=True))
            painter.setPen(colors.color("text"))
            width = self._name_width()
            shown = QFontMetrics(font(bold=True)).elidedText(self._name, Qt.TextElideMode.ElideMiddle, width)
            painter.drawText(QRectF(left, 0, width, self.height()), flags, shown)
            left += width + 8
            painter.setFont(font(tabular=True))
            painter.setPen(tone if self._asks else colors.color("quiet"))
            painter.drawText(
                QRectF(left, 0, self.width() - left - _STOP_ROOM, self.height()), flags, self._facts
            )
            edge = self.width() - _STOP_ROOM
            painter.setPen(QPen(colors.color("line"), 1))
            painter.drawLine(QPointF(edge + 0.5, 5), QPointF(edge + 0.5, self.height() - 5))
            token = "failed" if self._over_stop else "quiet"
            if self._orders.why_none:
                token = "disabled"
            paint_icon(painter, "square", self._stop_box(), colors.color(token))

    # --- stopping it -----------------------------------------------------------------------------------

    def _on_stop(self, where: QPointF) -> bool:
        return where.x() >= self.width() - _STOP_ROOM and QRectF(self.rect()).contains(where)

    def event(self, event: QEvent) -> bool:
        """The two parts have a tool tip each."""
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip:
            QToolTip.showText(event.globalPos(), self.tip_at(QPointF(event.pos())), self)
            return True
        if event.type() == QEvent.Type.Leave and self._over_stop:
            self._over_stop = False
            self.update()
        return super().event(event)

    def tip_at(self, where: QPointF) -> str:
        """What the tool tip at a point of it says."""
        if not self._on_stop(where):
            return self.toolTip()
        words = self.tr("Stop {0}. {1}").format(self._name, self._orders.after_stop(self.objectName()))
        if self._orders.why_none:
            words = self.tr("{0} cannot be stopped here: {1}.").format(self._name, self._orders.why_none)
        return plain_tool_tip(harmless(words))

    def mouseMoveEvent(self, event: QMouseEvent) -> None:  # noqa: N802
        over = self._on_stop(event.position())
        if over != self._over_stop:
            self._over_stop = over
            self.update()
        super().mouseMoveEvent(event)

    def mousePressEvent(self, event: QMouseEvent) -> None:  # noqa: N802
        self._pressed_stop = self._on_stop(event.position())
        super().mousePressEvent(event)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:  # noqa: N802
        if not self._pressed_stop and not self._on_stop(event.position()):
            super().mouseReleaseEvent(event)
            return
        # One part is meant only by who presses and lets go there.
        means_stop = self.isDown() and self._pressed_stop and self._on_stop(event.position())
        self._pressed_stop = False
        self.setDown(False)
        event.accept()
        if means_stop:
            self.stop_requested.emit()

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802
        if QKeySequence(event.keyCombination()) in delete_keys():
            self.stop_requested.emit()
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.click()
        else:
            super().keyPressEvent(event)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:  # noqa: N802
        # Not exec: a nested loop would hold up every coroutine of a run.
        self.menu().popup(event.globalPos())

    def menu(self) -> QMenu:
        """What can be done with it; the caller shows the menu and it deletes itself when it closes."""
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.addAction(icon("eye", "quiet"), self.tr("Watch it")).triggered.connect(self.click)
        self._orders.add_to(menu, self.objectName())
        return menu


class AgentStrip(QWidget):
    """Pills of all running agents in two rows at most; the rest is behind "+3 more".

    Signals: `opened(str)` and `stop_requested(str)` with a turn's id; `more_requested()`.
    """

    accessible_role = QAccessible.Role.Grouping

    opened = Signal(str)
    stop_requested = Signal(str)
    more_requested = Signal()

    def __init__(self, orders: AgentOrders, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._orders = orders
        self.pills: dict[str, TurnPill] = {}
        self._more = Button("", ButtonLook.LINK, "", self)
        self._more.clicked.connect(self.more_requested)
        self._more.hide()
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self.setAccessibleName(self.tr("Running agents"))
        self.hide()

    def show_turns(self, turns: Sequence[TurnProgress], now: float, max_retries: int | None) -> None:
        """Show these running turns; pills of others go."""
        current = {turn.id for turn in turns}
        changed = list(self.pills) != [turn.id for turn in turns]
        for gone in [turn for turn in self.pills if turn not in current]:
            pill = self.pills.pop(gone)
            pill.hide()
            pill.deleteLater()
        for turn in turns:
            pill = self._pill(turn.id)
            changed |= pill.show_turn(turn, now, max_retries)
        if changed:
            self.pills = {turn.id: self.pills[turn.id] for turn in turns}
            self._arrange()
        self.setVisible(bool(turns))

    def _pill(self, turn: str) -> TurnPill:
        pill = self.pills.get(turn)
        if pill is None:
            pill = self.pills[turn] = TurnPill(self._orders, self)
            pill.setObjectName(turn)
            pill.clicked.connect(self._open)
            pill.stop_requested.connect(self._stop)
        return pill

    @property
    def focused_turn(self) -> str | None:
        """The turn whose pill has the focus."""
        return next((turn for turn, pill in self.pills.items() if pill.hasFocus()), None)

    @Slot()
    def _open(self) -> None:
        self.opened.emit(self.sender().objectName())

    @Slot()
    def _stop(self) -> None:
        self.stop_requested.emit(self.sender().objectName())

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        super().resizeEvent(event)
        self._arrange()

    def _arrange(self) -> None:
        """Pills from left to right; what does not fit into the last row is counted."""
        right = max(200, self.width()) - _MARGIN
        x, y, row = _MARGIN, _TOP, 1
        step = 0
        pills = list(self.pills.values())
        hidden = 0
        for number, pill in enumerate(pills):
            size = pill.sizeHint()
            size.setWidth(min(size.width(), right - _MARGIN))
            step = size.height() + _GAP
            left_over = len(pills) - number - 1
            reserve = 80 if row == _ROWS and left_over else 0
            if x > _MARGIN and x + size.width() + reserve > right:
                if row == _ROWS:
                    hidden = len(pills) - number
                    break
                row, x, y = row + 1, _MARGIN, y + step
            pill.setGeometry(x, y, size.width(), size.height())
            pill.show()
            x += size.width() + _GAP
        for pill in pills[len(pills) - hidden :] if hidden else []:
            pill.hide()
        self._more.setVisible(hidden > 0)
        if hidden:
            self._more.setText(self.tr("+{0} more").format(hidden))
            self._more.adjustSize()
            self._more.move(x, y)
        self.setFixedHeight(y + step if pills else 0)

    @paint_method
    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802
        del event
        with QPainter(self) as painter:
            painter.fillRect(self.rect(), theme().color("surface"))
            painter.fillRect(0, self.height() - 1, self.width(), 1, theme().color("line"))
