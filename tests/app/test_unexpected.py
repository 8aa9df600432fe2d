"""What nobody caught: told once, kept, and ending nothing."""

from __future__ import annotations

import asyncio
import sys
import threading
import weakref
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType

import pytest
from PySide6.QtCore import (
    QAbstractListModel,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QRunnable,
    Qt,
    QThreadPool,
    QTimer,
)
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLineEdit, QListView
from pytestqt.qtbot import QtBot

from app.document import WorkflowDocument
from app.main_window import MainWindow
from app.notice_bar import NoticeArea
from app.run_controller import RunController
from app.settings_store import SettingsStore
from app.unexpected import NOTICE, Unexpected


class Desk:
    """Notices, and what listens for failures that are told there."""

    def __init__(self, folder: Path) -> None:
        self.notices = NoticeArea()
        self.unexpected = Unexpected(self.notices, self.notices, folder / "new" / "errors.log")
        self.printed: list[str] = []

    def hear(self, kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        """Stands for the terminal."""
        del kind, trace
        self.printed.append(str(error))

    @property
    def words(self) -> str:
        bar = self.notices.bar(NOTICE)
        return bar.notice.text if bar is not None else ""

    @property
    def kept(self) -> str:
        return self.unexpected.file.read_text(encoding="utf-8")

    def press(self, name: str) -> None:
        bar = self.notices.bar(NOTICE)
        assert bar is not None
        QTest.mouseClick(bar.buttons[name], Qt.MouseButton.LeftButton)


@pytest.fixture
def desk(qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Desk]:
    desk = Desk(tmp_path)
    qtbot.addWidget(desk.notices)
    monkeypatch.setattr(sys, "excepthook", desk.hear)
    with desk.unexpected.heard():
        yield desk


class Failing(QObject):
    """Fails wherever Qt comes by."""

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self.times = 0

    def fail(self) -> None:
        self.times += 1
        raise ValueError(f"bad {self.times}")


def test_what_fails_at_each_tick_is_told_printed_and_kept_once(desk: Desk, qtbot: QtBot) -> None:
    failing, timer = Failing(desk.notices), QTimer(desk.notices)
    timer.timeout.connect(failing.fail)
    timer.start(0)
    qtbot.waitUntil(lambda: failing.times > 30 and NOTICE in desk.notices.names)
    timer.stop()
    assert "(ValueError: bad 1)" in desk.words
    assert desk.printed == ["bad 1"]
    assert desk.kept.count("Traceback") == 1
    assert "in fail" in desk.kept


def test_a_failure_that_was_read_comes_back_only_from_another_place(desk: Desk, qtbot: QtBot) -> None:
    failing = Failing(desk.notices)
    QTimer.singleShot(0, failing.fail)
    qtbot.waitUntil(lambda: "bad 1" in desk.words)
    desk.press("")
    assert desk.notices.names == ()

    def fail_elsewhere() -> None:
        raise LookupError("somewhere else")

    QTimer.singleShot(0, failing.fail)
    QTimer.singleShot(0, fail_elsewhere)
    qtbot.waitUntil(lambda: "somewhere else" in desk.words)
    assert failing.times == 2
    desk.press("Copy details")
    copied = QGuiApplication.clipboard().text()
    assert copied.count("Traceback") == 2
    assert "bad 1" in copied
    assert "somewhere else" in copied


class Work(QRunnable):
    """Fails on a worker."""

    def run(self) -> None:
        raise OSError("on a worker")


def test_what_fails_on_a_worker_of_qt_is_told(desk: Desk, qtbot: QtBot) -> None:
    pool = QThreadPool(desk.notices)
    pool.start(Work())
    qtbot.waitUntil(lambda: "on a worker" in desk.words)
    assert pool.waitForDone()


def test_what_fails_on_a_thread_of_python_is_told(desk: Desk, qtbot: QtBot) -> None:
    def fail() -> None:
        raise OSError("on a thread")

    thread = threading.Thread(target=fail)
    thread.start()
    qtbot.waitUntil(lambda: "on a thread" in desk.words)
    thread.join()


def test_what_fails_in_the_loop_of_runs_is_told(desk: Desk, qtbot: QtBot) -> None:
    def fail() -> None:
        raise OSError("in the loop")

    async def work() -> None:
        asyncio.get_running_loop().call_soon(fail)
        await asyncio.sleep(0)

    loop = asyncio.new_event_loop()
    loop.set_exception_handler(desk.unexpected.hear_loop)
    loop.run_until_complete(work())
    loop.close()
    qtbot.waitUntil(lambda: "in the loop" in desk.words)


class BrokenModel(QAbstractListModel):
    """Has rows of which nothing can be told."""

    def rowCount(self, parent: QModelIndex | QPersistentModelIndex | None = None) -> int:  # noqa: N802
        del parent
        return 3

    def data(self, index: QModelIndex | QPersistentModelIndex, role: int = 0) -> object:
        raise KeyError(index.row(), role)


def test_a_model_that_fails_is_told_and_the_view_stays(desk: Desk, qtbot: QtBot) -> None:
    view = QListView()
    qtbot.addWidget(view)
    view.setModel(BrokenModel(view))
    QTimer.singleShot(0, view.show)
    qtbot.waitUntil(lambda: "KeyError" in desk.words)
    qtbot.waitExposed(view)
    assert desk.kept.count("Traceback") == 1


def test_a_failure_keeps_nothing_alive(desk: Desk, qtbot: QtBot) -> None:
    # The traceback knows who called: a widget that it kept would die with the next failure, anywhere.
    def call() -> weakref.ref[QObject]:
        mine = QObject()
        timer = QTimer(desk.notices)
        timer.setSingleShot(True)
        timer.timeout.connect(Failing(desk.notices).fail)
        timer.start(0)
        qtbot.waitUntil(lambda: "bad 1" in desk.words)
        return weakref.ref(mine)

    assert call()() is None


class BrokenField(QLineEdit):
    """Fails at each event of the keyboard."""

    def keyPressEvent(self, event: object) -> None:  # noqa: N802
        raise TypeError(f"no key: {type(event).__name__}")


def test_a_field_that_fails_at_a_key_is_told(desk: Desk, qtbot: QtBot) -> None:
    field = BrokenField()
    qtbot.addWidget(field)
    field.show()
    for _ in range(3):
        QTimer.singleShot(0, lambda: QTest.keyClick(field, Qt.Key.Key_A))
    qtbot.waitUntil(lambda: "no key" in desk.words)
    assert desk.kept.count("Traceback") == 1


def test_where_the_disk_refuses_the_details_can_still_be_copied(desk: Desk, qtbot: QtBot) -> None:
    desk.unexpected.file.parent.write_text("a file, not a folder", encoding="utf-8")
    QTimer.singleShot(0, Failing(desk.notices).fail)
    qtbot.waitUntil(lambda: "bad 1" in desk.words)
    bar = desk.notices.bar(NOTICE)
    assert bar is not None
    assert "Open details" not in bar.buttons
    desk.press("Copy details")
    assert "bad 1" in QGuiApplication.clipboard().text()


def test_the_details_open_where_files_open(desk: Desk, qtbot: QtBot) -> None:
    QTimer.singleShot(0, Failing(desk.notices).fail)
    qtbot.waitUntil(lambda: "bad 1" in desk.words)
    with qtbot.waitSignal(desk.unexpected.file_requested) as asked:
        desk.press("Open details")
    assert asked.args is not None
    assert asked.args[0].path == desk.unexpected.file


def test_a_file_that_grew_long_begins_anew(desk: Desk, qtbot: QtBot) -> None:
    desk.unexpected.file.parent.mkdir()
    desk.unexpected.file.write_text("x" * 1_000_001, encoding="utf-8")
    QTimer.singleShot(0, Failing(desk.notices).fail)
    qtbot.waitUntil(lambda: "bad 1" in desk.words)
    assert len(desk.kept) < 10_000


def test_an_endless_and_hostile_text_is_cut_and_made_harmless(desk: Desk, qtbot: QtBot) -> None:
    def fail() -> None:
        raise ValueError("<b>\u202e" + "x" * 100_000)

    QTimer.singleShot(0, fail)
    qtbot.waitUntil(lambda: NOTICE in desk.notices.names)
    assert len(desk.words) < 700
    assert "\u202e" not in desk.words


def test_an_interruption_is_no_failure(desk: Desk, qtbot: QtBot) -> None:
    sys.excepthook(KeyboardInterrupt, KeyboardInterrupt("Ctrl+C"), None)
    QTimer.singleShot(0, Failing(desk.notices).fail)
    qtbot.waitUntil(lambda: NOTICE in desk.notices.names)
    assert desk.printed == ["Ctrl+C", "bad 1"]
    assert "Ctrl+C" not in desk.kept


def test_afterwards_python_tells_whom_it_told_before(
    qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk = Desk(tmp_path)
    qtbot.addWidget(desk.notices)
    monkeypatch.setattr(sys, "excepthook", desk.hear)
    of_threads = threading.excepthook
    with desk.unexpected.heard():
        assert sys.excepthook != desk.hear
    assert sys.excepthook == desk.hear
    assert threading.excepthook is of_threads


# --- the end of the window ---------------------------------------------------------------------------------


@pytest.fixture
def window(qtbot: QtBot, tmp_path: Path) -> MainWindow:
    """A window on the screen, with nothing unsaved."""
    controller, document = RunController(), WorkflowDocument()
    window = MainWindow(controller, document, store=SettingsStore(tmp_path / "window.ini"))
    controller.setParent(window)
    document.setParent(window)
    qtbot.addWidget(window)
    window.show()
    return window


@pytest.mark.qt_log_ignore("This plugin does not support")
def test_a_window_that_fails_to_remember_closes_for_good(
    desk: Desk, qtbot: QtBot, window: MainWindow, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail() -> None:
        raise OSError("nothing is remembered")

    monkeypatch.setattr(window.memory, "keep", fail)
    with qtbot.waitSignal(window.closed):
        window.close()
    assert not window.isVisible()
    assert desk.printed == ["nothing is remembered"]


@pytest.mark.qt_log_ignore("This plugin does not support")
def test_a_window_that_cannot_ask_what_it_has_to_stays(
    desk: Desk, window: MainWindow, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail() -> None:
        raise OSError("nothing can be asked")

    with monkeypatch.context() as broken:
        broken.setattr(window.closing, "begin", fail)
        window.close()
    assert window.isVisible(), "what is unsaved or at work would be lost to the user"
    assert desk.printed == ["nothing can be asked"]
    window.close()
    assert not window.isVisible()
