"""Questions over the window: haste does no harm, and they look like the rest of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

import pytest
from PySide6.QtCore import QPoint, Qt
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


@pytest.mark.parametrize("longer", ["", " und alles, was noch dazugehört"])
def test_buttons_with_long_words_are_a_column_as_wide_as_the_question(qtbot: QtBot, longer: str) -> None:
    window = QWidget()
    qtbot.addWidget(window)
    window.resize(1024, 640)
    window.show()
    words = ("Stop now and quit", "Stop after the running agents and quit", "Keep running in the tray")
    choices = [Choice(text + longer, lambda: None) for text in words]
    box = ask(window, "A run is going on.", "What is finished is kept.", choices, "Cancel" + longer)
    qtbot.waitExposed(box)

    def edges(widget: QWidget) -> tuple[int, int]:
        left = widget.mapTo(box, QPoint(0, 0)).x()
        return left, left + widget.width()

    buttons = [button for button in box.buttons() if isinstance(button, Button)]
    (sides,) = {edges(button) for button in buttons}
    assert sides[0] == box.width() - sides[1], "as much room at the left as at the right"
    assert {edges(label)[0] for label in box.findChildren(QLabel) if label.text()} == {sides[0]}
    assert all(button.width() >= button.sizeHint().width() for button in buttons)
    assert len({button.mapTo(box, QPoint(0, 0)).y() for button in buttons}) == 4
    box.close()


class Before:
    """A run that is about to begin, and the way to close the window."""

    def __init__(self, qtbot: QtBot) -> None:
        self.window = QMainWindow()
        qtbot.addWidget(self.window)
        self.window.show()
        self.preparing = True
        self.stops: list[StopKind] = []
        self.closing = Closing(
            self.window,
            cast(FileActions, SavedFiles()),
            lambda: True,
            self.stops.append,
            cast(RunInTray, NoTray()),
            NoticeArea(self.window),
            lambda: self.preparing,
        )

    def press(self, words: str) -> None:
        assert self.closing.question is not None
        buttons = {button.text(): button for button in self.closing.question.buttons()}
        QTest.mouseClick(buttons[words], Qt.MouseButton.LeftButton)


def test_quitting_before_a_run_has_begun_offers_nothing_of_a_run_that_goes_on(qtbot: QtBot) -> None:
    """A question before its beginning may stand for long, and nothing is at work meanwhile."""
    before = Before(qtbot)
    before.closing.begin()
    question = before.closing.question
    assert question is not None
    assert question.text() == "A run is about to begin."
    assert "finished" not in question.informativeText()
    assert {button.text() for button in question.buttons()} == {"Quit without running", "Do not quit"}
    before.press("Do not quit")
    assert (before.stops, before.closing.question) == ([], None)
    before.closing.begin()
    before.press("Quit without running")
    assert before.stops == [StopKind.NOW]


def test_a_run_that_has_begun_while_that_was_asked_is_asked_about(qtbot: QtBot) -> None:
    before = Before(qtbot)
    before.closing.begin()
    before.preparing = False
    before.press("Quit without running")
    assert before.stops == []
    assert before.closing.question is not None
    assert before.closing.question.text() == "A run is going on."
    before.press("Cancel")
    assert before.closing.question is None
