"""The bar with a tab for each turn: what a tab says about its turn, by sign and in words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from PySide6.QtCore import QPoint, Qt, Signal
from PySide6.QtGui import QContextMenuEvent, QMouseEvent

from app.plain_text import plain_tool_tip
from app.reading_text import harmless
from app.run_view.marked_icon import marked_icon
from app.run_view.turn_list import STATUS_TOKENS, status_words
from app.tab_bar import FlatTabBar
from app.theme import STATUS_ICONS, icon
from core.events import AttemptKind, TurnStatus
from core.progress_words import attempt_words
from core.turn_progress import TurnProgress

_MOST_NOTES = 4
"""Warnings that a tool tip has room for."""
_TIP = 600
"""Characters of each of them."""


@dataclass(frozen=True, slots=True)
class TabDress:
    """Everything that a tab's looks depend on."""

    status: TurnStatus
    asks: bool
    """It waits for the user's answer."""
    waits_for_run: bool
    """The run is paused."""
    warnings: int
    folder: str
    attempt: str = ""
    """`attempt 2 of 3`; empty for the first."""
    waits_for_retry: bool = False


def next_attempt_words(turn: TurnProgress, max_retries: int | None) -> str:
    """Which attempt it is at, or waits for: `attempt 2 of 3`; empty for the first."""
    if turn.retry_at is None:
        return attempt_words(turn, max_retries)
    upcoming = replace(turn, retries=turn.retries + 1, attempt_kind=AttemptKind.RETRY)
    return attempt_words(upcoming, max_retries)


class TurnTabBar(FlatTabBar):
    """Signals: `menu_requested(int, QPoint)`: a tab's context menu; `close_requested(int)`: middle click."""

    menu_requested = Signal(int, QPoint)
    close_requested = Signal(int)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:  # noqa: N802
        if event.reason() == QContextMenuEvent.Reason.Keyboard:
            index = self.currentIndex()
            where = self.mapToGlobal(self.tabRect(index).center())
        else:
            index, where = self.tabAt(event.pos()), event.globalPos()
        if index >= 0:
            self.menu_requested.emit(index, where)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:  # noqa: N802
        if event.button() is Qt.MouseButton.MiddleButton:
            index = self.tabAt(event.position().toPoint())
            if index >= 0:
                self.close_requested.emit(index)
        super().mouseReleaseEvent(event)

    def dress(self, index: int, turn: TurnProgress, dress: TabDress, noted: Sequence[str]) -> None:
        """Show how a turn is. `noted`: the warnings about it."""
        state = status_words(turn.status, self)
        shape, token = STATUS_ICONS[turn.status], STATUS_TOKENS[turn.status]
        if dress.asks:
            shape, token, state = "circle-alert", "failed", self.tr("needs your answer")
        elif dress.waits_for_run:
            shape, token, state = "circle-pause", "quiet", self.tr("waits for the run, which is paused")
        elif dress.waits_for_retry:
            shape, token, state = "clock", "quiet", self.tr("waits to be tried again")
        self.setTabIcon(index, marked_icon(shape, token) if noted else icon(shape, token))
        words = self.tr("{0}, {1}").format(turn.title, state)
        shown = turn.title
        if dress.attempt:
            words = self.tr("{0}, {1}").format(words, dress.attempt)
            if not turn.is_over:
                shown = self.tr("{0} · {1}").format(turn.title, dress.attempt)
        shown = shown.replace("&", "&&")
        if shown != self.tabText(index):
            self.setTabText(index, shown)
        lines = (words, turn.message, *noted[-_MOST_NOTES:])
        tip = "\n".join(line[:_TIP] for line in lines if line)
        self.setTabToolTip(index, plain_tool_tip(harmless(tip)))
        if noted:
            many = self.tr("1 warning") if len(noted) == 1 else self.tr("{0} warnings").format(len(noted))
            words = self.tr("{0}, {1}").format(words, many)
        self.setAccessibleTabName(index, words)
