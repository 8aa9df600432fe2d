"""Notices above each other: what a second click does where another notice was."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from app.notice_bar import Notice, NoticeAction, NoticeArea

pytestmark = pytest.mark.qt_log_ignore("This plugin does not support")


def test_the_second_half_of_a_double_click_is_not_for_the_notice_that_slides_up(qtbot: QtBot) -> None:
    window = QWidget()
    qtbot.addWidget(window)
    notices = NoticeArea(window)
    layout = QVBoxLayout(window)
    layout.addWidget(notices)
    layout.addStretch(1)
    window.resize(600, 300)
    window.show()
    qtbot.waitExposed(window)
    done: list[str] = []
    for name in ("first", "second"):
        notices.tell(
            name, Notice("The same words.", actions=(NoticeAction("Go", lambda n=name: done.append(n)),))
        )
    QApplication.processEvents()
    place = notices.bar("first").buttons["Go"].mapTo(window, QPoint(5, 5))  # type: ignore[union-attr]

    def click() -> None:
        target = window.childAt(place)
        assert target is not None
        QTest.mouseClick(target, Qt.MouseButton.LeftButton, pos=target.mapFrom(window, place))

    click()
    assert done == ["first"]
    QApplication.processEvents()
    second = notices.bar("second")
    assert second is not None
    assert second.buttons["Go"].mapTo(window, QPoint(5, 5)) == place, (
        "it did not slide to where the first was"
    )
    click()
    assert done == ["first"]

    def clicked() -> bool:
        if done == ["first"]:
            click()
        return done == ["first", "second"]

    qtbot.waitUntil(clicked)
