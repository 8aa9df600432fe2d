"""What the window remembers at once, and its start where nothing can be read or remembered."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.document import WorkflowDocument
from app.main_window import MainWindow
from app.notice_bar import NoticeArea
from app.run_view.log_view import LogView
from app.settings_store import SettingsStore
from tests.app.test_main_window import (
    Opened,
    ScriptedController,
    folder,
    make_window,
    open_window,
    opened,
    store,
)

__all__ = ["folder", "open_window", "opened", "store"]

pytestmark = pytest.mark.qt_log_ignore("This plugin does not support")


def told(notices: NoticeArea, key: str) -> str:
    bar = notices.bar(key)
    return bar.notice.text if bar is not None else ""


def window_with(qtbot: QtBot, store: SettingsStore) -> MainWindow:
    window = make_window(qtbot, ScriptedController(), WorkflowDocument(), store)
    window.show()
    qtbot.waitExposed(window)
    return window


def test_a_border_of_the_window_is_on_disk_when_it_was_dragged_and_not_only_at_the_end(
    tmp_path: Path, qtbot: QtBot
) -> None:
    path = tmp_path / "window.ini"
    window = window_with(qtbot, SettingsStore(path))
    handle = window.splitter.handle(1)
    centre = handle.rect().center()
    QTest.mousePress(handle, Qt.MouseButton.LeftButton, pos=centre)
    QTest.mouseMove(handle, centre + QPoint(60, 0))
    QTest.mouseRelease(handle, Qt.MouseButton.LeftButton, pos=centre + QPoint(60, 0))
    sizes = window.splitter.sizes()

    # What a process that is killed now leaves behind.
    qtbot.waitUntil(lambda: path.is_file() and "splitter" in path.read_text("utf-8"))

    left = tmp_path / "left behind.ini"
    left.write_bytes(path.read_bytes())
    window.close()
    again = window_with(qtbot, SettingsStore(left))
    assert again.splitter.sizes()[:2] == sizes[:2]
    again.close()


def test_the_size_of_the_window_is_on_disk_soon_after_it_was_changed(tmp_path: Path, qtbot: QtBot) -> None:
    path = tmp_path / "window.ini"
    window = window_with(qtbot, SettingsStore(path))
    window.resize(1100, 700)
    qtbot.waitUntil(lambda: path.is_file() and "geometry" in path.read_text("utf-8"))
    window.close()


def test_a_folder_in_the_place_of_the_settings_is_set_aside_and_said(tmp_path: Path, qtbot: QtBot) -> None:
    path = tmp_path / "state" / "window.ini"
    (path / "inside").mkdir(parents=True)
    store = SettingsStore(path)
    assert store.set_aside is not None
    assert (store.set_aside / "inside").is_dir()
    window = window_with(qtbot, store)
    assert str(store.set_aside) in told(window.notices, "settings")
    assert not told(window.notices, "memory")
    window.close()
    assert path.is_file()


def test_where_nothing_can_be_remembered_the_window_opens_and_says_so(tmp_path: Path, qtbot: QtBot) -> None:
    path = tmp_path / "state" / "window.ini"
    path.parent.write_text("a file, where a folder should be", encoding="utf-8")
    store = SettingsStore(path)
    assert store.refusal
    window = window_with(qtbot, store)
    assert window.isVisible()
    assert f"{path.parent} cannot be written" in told(window.notices, "memory")
    assert "OPENLOOP_HOME" in told(window.notices, "memory")
    store.log_zoom = 3
    assert store.log_zoom == 3, "it holds until the end"
    window.close()
    assert not window.isVisible()


# --- the size of the text of logs ---------------------------------------------------------------------


def wheel(view: LogView, notches: int) -> None:
    middle = QPointF(view.viewport().rect().center())
    event = QWheelEvent(
        middle,
        QPointF(view.viewport().mapToGlobal(middle.toPoint())),
        QPoint(),
        QPoint(0, 120 * notches),
        Qt.MouseButton.NoButton,
        Qt.KeyboardModifier.ControlModifier,
        Qt.ScrollPhase.NoScrollPhase,
        False,
    )
    QApplication.sendEvent(view.viewport(), event)


def test_the_size_of_logs_is_one_whether_by_key_menu_or_wheel_and_is_remembered(
    opened: Opened,
) -> None:
    opened.run()
    window, kept = opened.window, opened.window._store
    view = window.right.run_view.tabs.overview

    QTest.keyClick(window, Qt.Key.Key_Equal, Qt.KeyboardModifier.ControlModifier)
    QTest.keyClick(window, Qt.Key.Key_Equal, Qt.KeyboardModifier.ControlModifier)
    assert kept.log_zoom == 2
    wheel(view, 1)
    assert kept.log_zoom == 3
    window.actions_of_window.zoom_in.trigger()
    assert kept.log_zoom == 4
    assert view.host.zoom == 4
    wheel(view, -1)
    window.actions_of_window.zoom_out.trigger()
    assert kept.log_zoom == 2
    window.actions_of_window.zoom_normal.trigger()
    assert (kept.log_zoom, view.host.zoom) == (0, 0)


def test_a_larger_text_makes_larger_rows_in_every_log(opened: Opened) -> None:
    opened.run()
    tabs = opened.window.right.run_view.tabs
    views = opened.window.right.run_view.findChildren(LogView)
    assert len(views) >= 2
    before = [view._painter.row_height for view in views]
    wheel(tabs.overview, 3)
    after = [view._painter.row_height for view in views]
    assert all(new > old for old, new in zip(before, after, strict=True))
