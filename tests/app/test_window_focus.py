"""Where keys go in the window: to the page that was clicked; letters edit the workflow from nowhere else."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QMenu, QTabBar, QWidget
from pytestqt.qtbot import QtBot

from app.document import WorkflowDocument
from app.focus_return import FocusReturn
from app.settings_store import SettingsStore
from tests.app.test_main_window import TURN, Opened, ScriptedController, make_window, write_workflow

pytestmark = pytest.mark.qt_log_ignore("This plugin does not support")


@pytest.fixture
def opened(qtbot: QtBot, tmp_path: Path) -> Iterator[Opened]:
    """A window whose run has ended and is shown, while the workflow had the focus all the time."""
    agents = tmp_path / "agents"
    agents.mkdir()
    for name in ("proteus", "amala", "vera", "linter"):
        text = f"---\nname: {name}\nrole: author\nbackend: demo\n---\nTest.\n"
        (agents / f"{name}.md").write_text(text, encoding="utf-8")
    write_workflow(tmp_path / "audit.json")
    controller, document = ScriptedController(), WorkflowDocument()
    window = make_window(qtbot, controller, document, SettingsStore(tmp_path / "window.ini"))
    opened = Opened(qtbot, tmp_path, controller, document, window)
    window.files.load(opened.path)
    window.show()
    window.activateWindow()
    qtbot.waitUntil(lambda: document.library is not None and document.library.get("vera") is not None)
    qtbot.waitUntil(window.isActiveWindow)
    group = document.outline.loop[1]
    window.workflow_view.tree.select_nodes([group.id])
    window.workflow_view.setFocus()
    opened.run()
    opened.finish()
    yield opened
    window.closing.may_close = True
    window.close()


def click_tab(bar: QTabBar, index: int) -> None:
    QTest.mouseClick(bar, Qt.MouseButton.LeftButton, pos=bar.tabRect(index).center())


def type_letters(opened: Opened) -> None:
    """What somebody types who believes the focus is where they clicked."""
    for key in (Qt.Key.Key_P, Qt.Key.Key_Space, Qt.Key.Key_Delete):
        focused = QApplication.focusWidget() or opened.window
        QTest.keyClick(focused, key)


def has_focus(widget: QWidget) -> bool:
    focused = QApplication.focusWidget()
    return focused is not None and (focused is widget or widget.isAncestorOf(focused))


def test_a_run_that_is_shown_takes_the_focus_from_the_workflow(opened: Opened) -> None:
    assert has_focus(opened.window.run_view.tabs.pages)
    type_letters(opened)
    assert not opened.document.has_edits


def test_a_click_on_a_tab_gives_its_page_the_focus_and_letters_edit_nothing(opened: Opened) -> None:
    tabs = opened.window.run_view.tabs
    for bar, index in ((tabs.fixed, 0), (tabs.fixed, 1), (tabs.bar, 0)):
        opened.window.workflow_view.setFocus()
        click_tab(bar, index)
        assert not has_focus(opened.window.workflow_view), (bar.accessibleName(), index)
        assert has_focus(opened.window.right)
        type_letters(opened)
        assert not opened.document.has_edits
    assert has_focus(tabs.pages.currentWidget())


@pytest.mark.parametrize("key", [Qt.Key.Key_Tab, Qt.Key.Key_Backtab])
def test_stepping_through_the_tabs_by_keys_does_so_too(opened: Opened, key: Qt.Key) -> None:
    window = opened.window
    window.workflow_view.setFocus()
    (
        window.actions_of_window.next_tab if key is Qt.Key.Key_Tab else window.actions_of_window.previous_tab
    ).trigger()
    assert has_focus(window.right)


def test_a_click_on_empty_room_of_the_right_takes_the_focus_from_the_workflow(opened: Opened) -> None:
    window = opened.window
    window.actions_of_window.show_settings.trigger()
    window.workflow_view.setFocus()
    body = window.settings_panel.workflow_page.body
    QTest.mouseClick(body, Qt.MouseButton.LeftButton, pos=QPoint(body.width() - 6, 6))
    assert not has_focus(window.workflow_view)
    type_letters(opened)
    assert not opened.document.has_edits


@pytest.mark.parametrize("part", ["status", "top_bar"])
def test_a_click_on_the_edges_of_the_window_does_so_too(opened: Opened, part: str) -> None:
    window = opened.window
    window.workflow_view.setFocus()
    edge: QWidget = getattr(window, part)
    QTest.mouseClick(edge, Qt.MouseButton.LeftButton, pos=QPoint(3, 3))
    assert not has_focus(window.workflow_view)
    type_letters(opened)
    assert not opened.document.has_edits


@pytest.mark.parametrize("where", ["workflow", "pool", "log", "state"])
def test_ctrl_f_finds_in_the_page_of_the_run_from_anywhere(opened: Opened, where: str) -> None:
    window = opened.window
    tabs = window.run_view.tabs
    tabs.show_turn(TURN)
    log = tabs.pages.currentWidget()
    if where == "state":
        tabs.show_state()
        log = tabs.state_tab
    {
        "workflow": window.workflow_view,
        "pool": window.pool,
        "log": tabs.pages.currentWidget(),
        "state": tabs.state_tab,
    }[where].setFocus()
    focused = QApplication.focusWidget() or window
    QTest.keyClick(focused, Qt.Key.Key_F, Qt.KeyboardModifier.ControlModifier)
    assert tabs.pages.currentWidget() is log
    assert has_focus(log)
    QTest.keyClicks(QApplication.focusWidget() or window, "pass")
    assert not opened.document.has_edits


def test_the_workflow_is_edited_by_letters_again_once_it_was_clicked(opened: Opened) -> None:
    window = opened.window
    tree = window.workflow_view.tree
    index = window.workflow_view.model.index_of(opened.document.outline.loop[1].id)
    QTest.mouseClick(tree.viewport(), Qt.MouseButton.LeftButton, pos=tree.visualRect(index).center())
    QTest.keyClick(QApplication.focusWidget() or window, Qt.Key.Key_P)
    assert opened.document.has_edits


def test_while_a_run_goes_on_no_key_of_the_workflow_is_armed(opened: Opened) -> None:
    opened.run()
    tree = opened.window.workflow_view.tree
    tree.setFocus()
    armed = [
        action.text() for action in tree.actions() if action.isEnabled() and action.shortcut().toString()
    ]
    clipboard = opened.window.workflow_view.commands.clipboard
    assert set(armed) <= {clipboard.copy.text(), clipboard.select_all.text()}, "these change nothing"
    type_letters(opened)
    assert not opened.document.has_edits
    opened.finish()


def test_a_menu_that_opens_as_the_focus_is_given_back_leaves_it_where_it_was(
    opened: Opened, qtbot: QtBot
) -> None:
    """One menu is gone, and the window is about to be given the focus, when the next one opens."""
    window, tree = opened.window, opened.window.pool.tree
    returning = window.findChild(FocusReturn)
    assert returning is not None
    tree.setFocus()

    def opened_menu() -> QMenu:
        menu = QMenu(window)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.addAction("Do it")
        menu.popup(window.mapToGlobal(window.rect().center()))
        return menu

    menu = opened_menu()
    qtbot.waitUntil(lambda: QGuiApplication.focusWindow() is menu.windowHandle())
    QTest.keyClick(menu, Qt.Key.Key_Escape)
    qtbot.waitUntil(lambda: QGuiApplication.focusWindow() is None)
    menu = opened_menu()
    returning.give_back()
    qtbot.waitUntil(lambda: QGuiApplication.focusWindow() is menu.windowHandle())
    QTest.keyClick(menu, Qt.Key.Key_Escape)
    qtbot.waitUntil(window.isActiveWindow)
    assert has_focus(tree)
