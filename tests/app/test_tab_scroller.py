"""A row of tabs that is wider than its room."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from app.run_view.tab_scroller import TabScroller
from app.run_view.turn_tab_bar import TurnTabBar

pytestmark = pytest.mark.qt_log_ignore("This plugin does not support")


class Row:
    """A scroller in a window that is shown before there is any tab, as in a run that begins."""

    def __init__(self, qtbot: QtBot) -> None:
        self.window = QWidget()
        qtbot.addWidget(self.window)
        self.bar = TurnTabBar()
        self.scroller = TabScroller(self.bar, self.window)
        QVBoxLayout(self.window).addWidget(self.scroller)
        self.window.resize(400, 100)
        self.window.show()
        qtbot.waitExposed(self.window)

    def add(self, count: int) -> None:
        for number in range(self.bar.count(), self.bar.count() + count):
            self.bar.addTab(f"security_auditor {number}")
        QApplication.processEvents()

    def choose(self, index: int) -> None:
        self.bar.setCurrentIndex(index)
        QApplication.processEvents()

    def seen(self, index: int) -> bool:
        """Whether a tab is wholly in view."""
        box = self.bar.tabRect(index).translated(self.bar.mapTo(self.scroller, QPoint(0, 0)))
        room = self.scroller.rect()
        if self.scroller.later.isVisible():
            room.setRight(self.scroller.later.x())
            room.setLeft(self.scroller.earlier.geometry().right())
        return bool(box.isValid() and room.contains(box))


@pytest.fixture
def row(qtbot: QtBot) -> Row:
    return Row(qtbot)


def test_tabs_that_come_while_the_window_is_open_are_seen(row: Row, qtbot: QtBot) -> None:
    row.add(1)
    qtbot.waitUntil(lambda: row.seen(0))
    assert not row.scroller.later.isVisible()


def test_the_current_tab_is_kept_in_view_when_more_come(row: Row) -> None:
    row.add(8)
    row.choose(7)
    assert row.seen(7)
    row.bar.addTab("amala 9")
    row.choose(8)
    row.bar.setTabText(8, "amala 9 · attempt 2 of 3")
    QApplication.processEvents()
    assert row.seen(8)


def test_arrows_and_wheel_scroll_and_what_comes_then_does_not_scroll_back(row: Row) -> None:
    row.add(8)
    row.choose(0)
    QTest.mouseClick(row.scroller.later, Qt.MouseButton.LeftButton)
    assert not row.seen(0)
    row.add(1)
    assert not row.seen(0)
    before = row.scroller.offset
    point = QPointF(row.bar.rect().center())
    wheel = QWheelEvent(
        point,
        QPointF(row.bar.mapToGlobal(point.toPoint())),
        QPoint(),
        QPoint(0, 120),
        Qt.MouseButton.NoButton,
        Qt.KeyboardModifier.NoModifier,
        Qt.ScrollPhase.NoScrollPhase,
        False,
    )
    QApplication.sendEvent(row.bar, wheel)
    assert row.scroller.offset < before
    assert row.bar.currentIndex() == 0
    row.choose(8)
    assert row.seen(8)
