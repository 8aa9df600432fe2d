"""The row of tabs over a run: those that are always there, one for each turn, and the buttons at its end."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeySequence, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QWidget

from app.buttons import Button, ButtonLook
from app.painting import paint_method
from app.platform_keys import native_keys
from app.run_view.tab_scroller import TabScroller
from app.run_view.turn_tab_bar import TurnTabBar
from app.tab_bar import FlatTabBar
from app.theme import theme

_NARROW = 480
"""Logical pixels of a row in which every one of them is for another tab."""


class TabRow(QWidget):
    """The parts, `fixed`, `turns`, `follow_button` and `list_button`; what they do is the owner's."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.fixed = FlatTabBar(self)
        self.fixed.setUsesScrollButtons(False)
        self.fixed.setAccessibleName(self.tr("Run"))
        self.fixed.addTab(self.tr("Overview"))
        self.fixed.addTab(self.tr("State"))
        self.fixed.addTab(self.tr("Cost"))
        self.fixed.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.turns = TurnTabBar(self)
        self.turns.setAccessibleName(self.tr("Turns"))
        self.turns.set_active(False)
        self.scroller = TabScroller(self.turns, self)
        self.follow_button = Button("", ButtonLook.FLAT, "eye", self)
        self.follow_button.setCheckable(True)
        self.follow_button.setChecked(True)
        self.follow_button.setAccessibleName(self.tr("Follow the running agent"))
        self.follow_button.setToolTip(self.tr("Follow: show the agent that starts next"))
        self.list_button = Button("", ButtonLook.FLAT, "chevron-down", self)
        self.list_button.setAccessibleName(self.tr("All turns"))
        keys = native_keys(QKeySequence("Ctrl+Shift+T"))
        self.list_button.setToolTip(self.tr("All turns ({0})").format(keys))
        self.list_button.hide()
        row = QHBoxLayout(self)
        row.setContentsMargins(8, 4, 8, 0)
        row.setSpacing(0)
        row.addWidget(self.fixed)
        row.addSpacing(6)
        row.addWidget(self.scroller, 1)
        row.addSpacing(4)
        row.addWidget(self.follow_button)
        row.addWidget(self.list_button)

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        super().resizeEvent(event)
        for bar in (self.fixed, self.turns):
            bar.set_tight(self.width() < _NARROW)

    @paint_method
    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802
        del event
        with QPainter(self) as painter:
            painter.fillRect(self.rect(), theme().color("surface"))
            painter.fillRect(0, self.height() - 1, self.width(), 1, theme().color("line"))
            if self.turns.count():
                # Tabs of turns scroll away under this line; the fixed ones stay.
                edge = self.scroller.x() - 3
                painter.fillRect(edge, 12, 1, self.height() - 20, theme().color("line"))
