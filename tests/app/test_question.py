"""Questions over the window: haste does no harm, and they look like the rest of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel, QMainWindow, QWidget
from pytestqt.qtbot import QtBot

from app.buttons import Button, ButtonLook
from app.closing import Closing
from app.file_actions import FileActions
from app.notice_bar import NoticeArea
from app.question import Choice, ask
from app.run_in_tray import RunInTray
from core.events import StopKind

pytestmark = pytest.mark.qt_log_ignore("This plugin does not support")


class SavedFiles:
    """A document without unsaved changes."""

    question = None

    def when_saved(self, then: Callable[[], None]) -> None:
        then()


class NoTray:
    """A system without a tray."""

    possible = False

    def hide_window(self) -> None:
        raise AssertionError("nobody chose it")


@pytest.mark.parametrize("key", [Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Escape])
def test_quitting_in_haste_leaves_the_run_alone(qtbot: QtBot, key: Qt.Key) -> None:
    window = QMainWindow()
    qtbot.addWidget(window)
    window.show()
    stops: list[StopKind] = []
    files, tray = cast(FileActions, SavedFiles()), cast(RunInTray, NoTray())
    closing = Closing(window, files, lambda: True, stops.append, tray, NoticeArea(window))
    closing.begin()
    question = closing.question
    assert question is not None
    qtbot.waitExposed(question)
    QTest.keyClick(question, key)
    assert closing.question is None
    assert stops == []
    assert not closing.may_close


@pytest.mark.parametrize("safe", [True, False])
def test_the_button_that_enter_presses_is_the_filled_one(qtbot: QtBot, safe: bool) -> None:
    window = QWidget()
    qtbot.addWidget(window)
    window.show()
    done: list[str] = []
    choice = Choice("Save", lambda: done.append("saved"), is_default=safe)
    box = ask(window, "Save it?", "evil \u202etxt", [choice], "Cancel")
    qtbot.waitExposed(box)
    looks = {button.text(): button.look for button in box.buttons() if isinstance(button, Button)}
    assert looks == {
        "Save": ButtonLook.FILLED if safe else ButtonLook.OUTLINED,
        "Cancel": ButtonLook.OUTLINED if safe else ButtonLook.FILLED,
    }
    assert box.informativeText() == "evil ⟨U+202E⟩txt"
    bold = [label.text() for label in box.findChildren(QLabel) if label.font().bold()]
    assert bold == ["Save it?"]
    QTest.keyClick(box, Qt.Key.Key_Return)
    assert done == (["saved"] if safe else [])
