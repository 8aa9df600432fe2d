"""The whole window without a mouse: every key through the focus, as the system would deliver it."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QModelIndex, Qt
from PySide6.QtGui import QAction, QContextMenuEvent, QKeySequence
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLineEdit, QMenu, QMessageBox, QTreeView, QWidget

from app import platform_keys
from app.command_palette import CommandPalette
from app.run_view.log_view import LogView
from app.run_view.state_tab import StateTab
from app.side import Side
from tests.app.keyboard_audit import name_of
from tests.scenes.fixtures import application  # noqa: F401  it is used by name
from tests.scenes.stage import Stage, stage

pytestmark = pytest.mark.usefixtures("application")
K = Qt.Key
NONE = Qt.KeyboardModifier.NoModifier
CONTROL = Qt.KeyboardModifier.ControlModifier
SHIFT = Qt.KeyboardModifier.ShiftModifier
ALT = Qt.KeyboardModifier.AltModifier


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    with stage(tmp_path) as open_stage:
        open_stage.window.activateWindow()
        open_stage.until(open_stage.window.isActiveWindow, "the window never became active")
        yield Desk(open_stage)
        open_stage.stop_run()


class Desk:
    """Somebody with a keyboard."""

    def __init__(self, open_stage: Stage) -> None:
        self.stage = open_stage
        self.window = open_stage.window

    @property
    def focus(self) -> QWidget:
        """What has the focus; nothing is never the answer."""
        focused = QApplication.focusWidget()
        assert focused is not None, "the focus was lost"
        return focused

    def press(self, key: Qt.Key, modifier: Qt.KeyboardModifier = NONE, times: int = 1) -> None:
        for _ in range(times):
            popup = QApplication.activePopupWidget()
            QTest.keyClick(popup or QApplication.focusWidget() or self.window, key, modifier)
            self.stage.settle()

    def write(self, text: str) -> None:
        QTest.keyClicks(self.focus, text)
        self.stage.settle()

    def is_in(self, widget: QWidget) -> bool:
        focused = QApplication.focusWidget()
        return focused is not None and (focused is widget or widget.isAncestorOf(focused))

    def go_to(self, part: QWidget) -> None:
        """Press F6 until the focus is there."""
        for _ in range(10):
            if self.is_in(part):
                return
            self.press(K.Key_F6)
        pytest.fail(f"F6 never came to {name_of(part)}")

    def tab_to(self, widget: QWidget) -> None:
        """Press Tab until the focus is there."""
        for _ in range(80):
            if self.focus is widget:
                return
            self.press(K.Key_Tab)
        pytest.fail(f"Tab never came to {name_of(widget)}")

    def until(self, condition: object, what: str) -> None:
        assert callable(condition)
        self.stage.until(condition, what)
        self.stage.settle()

    def box(self) -> QMessageBox:
        """The question that is open."""
        self.until(lambda: isinstance(QApplication.activeModalWidget(), QMessageBox), "nothing was asked")
        box = QApplication.activeModalWidget()
        assert isinstance(box, QMessageBox)
        self.until(box.isActiveWindow, "the question never got the keys")
        return box

    def question_goes(self) -> None:
        """The question is gone, and the system gives the window the keys again; offscreen nobody does."""
        self.until(lambda: QApplication.activeModalWidget() is None, "the question stayed")
        self.window.activateWindow()
        self.until(self.window.isActiveWindow, "the window never became active again")

    def saved(self) -> dict[str, object]:
        """The workflow as it is in its file."""
        path = self.window.document.path
        assert path is not None
        content = json.loads(path.read_text("utf-8"))
        assert isinstance(content, dict)
        return content


# --- building -----------------------------------------------------------------------------------------


def test_a_workflow_is_made_and_saved_by_keys_alone(desk: Desk) -> None:
    for name, role in (("author", "author"), ("vera", "auditor"), ("linter", "reviewer")):
        desk.stage.agent(name, role)
    desk.stage.open_new("nightly")
    window = desk.window
    tree = window.workflow_view.tree
    # Agents are found by a part of their name; Enter adds the one that is left.
    for name in ("author", "vera", "linter"):
        desk.go_to(window.pool)
        desk.tab_to(window.pool.filter_field)
        desk.press(K.Key_A, CONTROL)
        desk.write(name)
        desk.press(K.Key_Down)
        assert desk.is_in(window.pool.tree)
        desk.press(K.Key_Return)
    outline = window.document.outline
    assert [node.entry.agent for _, _, node in outline.all_agents()] == ["author", "vera", "linter"]
    # The last two become a parallel group, and go before the author.
    desk.go_to(tree)
    desk.press(K.Key_End)
    while not current_words(tree).startswith("linter"):
        desk.press(K.Key_Up)
    desk.press(K.Key_Up, SHIFT)
    desk.press(K.Key_G, CONTROL)
    groups = window.document.outline.loop
    names = [[node.entry.agent for node in group.agents] for group in groups]
    assert names == [["author"], ["vera", "linter"]]
    assert groups[1].is_parallel
    desk.press(K.Key_P)
    assert not window.document.outline.loop[1].is_parallel
    desk.press(K.Key_P)
    while not current_words(tree).startswith("Parallel"):
        desk.press(K.Key_Up)
    desk.press(K.Key_Up, ALT)
    assert [len(group.agents) for group in window.document.outline.loop] == [2, 1]
    # A name for it: F2 leads to the field, Enter keeps it, Escape goes back.
    desk.press(K.Key_F2)
    assert isinstance(desk.focus, QLineEdit)
    desk.write("both look")
    desk.press(K.Key_Return)
    assert window.document.outline.loop[0].settings.name == "both look"
    # The end condition is on the workflow's own page.
    desk.go_to(window.right)
    desk.tab_to(window.settings_panel.tabs)
    desk.press(K.Key_Right)
    row = window.settings_panel.workflow_page.row("The loop ends when")
    desk.tab_to(row.control)
    desk.press(K.Key_A, CONTROL)
    desk.write("iteration >= 2")
    desk.press(K.Key_Escape)
    desk.press(K.Key_S, CONTROL)
    assert desk.saved()["end_state_condition"] == "iteration >= 2"
    first, second = desk.saved()["loop_agents"]  # type: ignore[misc]
    assert first["agents"] == ["vera", "linter"]
    assert (first["mode"], first["name"]) == ("parallel", "both look")
    assert "author" in json.dumps(second)
    assert not window.document.is_modified
    # Everything can be taken back, and done again.
    desk.press(K.Key_Z, CONTROL, times=3)
    assert window.document.is_modified
    desk.press(K.Key_Z, CONTROL | SHIFT, times=3)
    assert not window.document.is_modified


def current_words(tree: QTreeView) -> str:
    """What a screen reader is told of the current row."""
    return str(tree.currentIndex().data(Qt.ItemDataRole.AccessibleTextRole))


def test_letters_edit_the_workflow_only_while_it_has_the_focus(desk: Desk) -> None:
    desk.stage.agent("author")
    desk.stage.open_new("nightly", loop_agents=["author"])
    desk.stage.select("author")
    window = desk.window
    for part in (window.top_bar.runs_button, window.pool.tree, window.settings_panel.tabs):
        part.setFocus(Qt.FocusReason.TabFocusReason)
        for key in (K.Key_P, K.Key_Delete, K.Key_Backspace):
            desk.press(key)
        assert not window.document.has_edits, name_of(part)
    desk.go_to(window.workflow_view.tree)
    desk.press(K.Key_Space)
    assert window.document.has_edits


# --- a run --------------------------------------------------------------------------------------------


def test_a_run_is_started_answered_looked_at_and_stopped_by_keys_alone(desk: Desk) -> None:
    desk.stage.agent("scribe", demo={"bad_update": "missing", "text": "I have looked at everything."})
    desk.stage.agent("linter", "reviewer", demo={"hang": True, "text": "I read the changed files."})
    desk.stage.open_new("nightly", preparation_agents=["scribe"], loop_agents=["linter"])
    desk.press(K.Key_F5)
    view = desk.stage.run_view
    desk.until(view.questions.isVisible, "nothing was asked")
    # The question is a part of the window; the answer is reached with Tab.
    desk.go_to(view.questions)
    answers = next(iter(view.questions.rows.values())).buttons
    goes_on = next(button for button in answers.values() if button.text() == "Go on without it")
    desk.tab_to(goes_on)
    desk.press(K.Key_Space)
    desk.until(lambda: not view.questions.isVisible(), "the answer was never heard")
    assert desk.focus.isVisible()
    desk.until(lambda: view.strip.pills, "the next agent never began")
    # All tabs, one after the other, and back.
    seen = {view.tabs.pages.currentWidget()}
    for _ in range(6):
        desk.press(K.Key_Tab, CONTROL)
        seen.add(view.tabs.pages.currentWidget())
        assert desk.is_in(window_page(desk))
    assert len(seen) >= 4, "overview, state, cost and two turns"
    # Find in a log, and close it again.
    while not isinstance(view.tabs.pages.currentWidget(), LogView):
        desk.press(K.Key_Tab, CONTROL)
    log = view.tabs.pages.currentWidget()
    desk.press(K.Key_F, CONTROL)
    assert isinstance(desk.focus, QLineEdit)
    desk.write("demo")
    desk.press(K.Key_Escape)
    assert desk.focus is log
    # An earlier point of the state.
    while not isinstance(view.tabs.pages.currentWidget(), StateTab):
        desk.press(K.Key_Tab, CONTROL)
    tab = view.tabs.state_tab
    desk.until(lambda: tab.points.number is not None, "the state never came")
    # One agent from its pill, by its menu; then all.
    desk.go_to(view.strip)
    desk.press(K.Key_F10, SHIFT)
    menu = QApplication.activePopupWidget()
    assert isinstance(menu, QMenu)
    desk.press(K.Key_Escape)
    assert desk.is_in(view.strip)
    desk.press(K.Key_F5, CONTROL | SHIFT)
    desk.until(lambda: not desk.stage.controller.running, "the run never ended")
    desk.until(view.banner.isVisible, "the banner never came")
    assert desk.focus.isVisible(), "where the strip was"
    assert desk.focus.window() is desk.window


def window_page(desk: Desk) -> QWidget:
    """The page of the tab that is shown."""
    page = desk.stage.run_view.tabs.pages.currentWidget()
    assert page is not None
    return page


def remove(folder: Path) -> bool:
    """A trash that keeps nothing."""
    shutil.rmtree(folder)
    return True


def test_the_history_is_read_compared_and_cleared_by_keys_alone(desk: Desk) -> None:
    desk.stage.agent("author", demo={"text": "I wrote the draft."})
    desk.stage.agent("vera", "auditor", demo={"is_complete": True})
    desk.stage.open_new("nightly", loop_agents=["author", "vera"])
    for _ in range(2):
        desk.press(K.Key_F5)
        desk.until(lambda: desk.stage.controller.running, "the run never began")
        desk.until(lambda: not desk.stage.controller.running, "the run never ended")
    desk.press(K.Key_3, CONTROL)
    page = desk.window.history.page
    desk.until(lambda: len(page.runs.known) == 2, "the runs were never read")
    desk.until(lambda: desk.is_in(page.list), "the list never got the keys")
    desk.press(K.Key_Return)
    side = desk.window.history.side
    desk.until(lambda: side.shown_run_view is not None, "the run was never opened")
    assert desk.is_in(side)
    desk.press(K.Key_Escape)
    desk.until(lambda: desk.is_in(page.list), "Escape did not lead back")
    desk.press(K.Key_C, CONTROL | SHIFT)
    desk.until(lambda: side.compared is not None and side.currentWidget() is side.compared, "not compared")
    assert desk.is_in(side)
    desk.press(K.Key_Escape)
    desk.until(lambda: desk.is_in(page.list), "Escape did not lead back")
    # Delete asks; Escape leaves everything as it is, and the focus where it was.
    desk.press(K.Key_Delete)
    desk.box()
    desk.press(K.Key_Escape)
    desk.question_goes()
    assert len(page.runs.known) == 2
    desk.until(lambda: desk.is_in(page.list), "the focus did not come back")
    desk.press(K.Key_A, CONTROL)
    desk.press(K.Key_Delete)
    box = desk.box()
    # Nothing of a test goes to the user's own trash.
    desk.window.history._deleting._trash = remove  # type: ignore[union-attr]
    danger = next(button for button in box.buttons() if button is not box.escapeButton())
    for _ in range(4):
        if danger.hasFocus():
            break
        desk.press(K.Key_Tab)
    assert danger.hasFocus()
    desk.press(K.Key_Space)
    desk.question_goes()
    desk.until(lambda: not page.runs.known, "nothing was deleted")
    desk.until(lambda: QApplication.focusWidget() is not None, "the focus was lost with the last row")
    assert desk.focus.isVisible()
    assert desk.is_in(page)


# --- agents -------------------------------------------------------------------------------------------


def test_an_agent_is_edited_and_saved_by_keys_alone(desk: Desk) -> None:
    desk.stage.agent("author", prompt="You write.")
    desk.stage.open_new("nightly", loop_agents=["author"])
    tree = desk.window.workflow_view.tree
    desk.go_to(tree)
    desk.stage.select("author")
    desk.press(K.Key_Return)
    editing = desk.window.agent_editing
    desk.until(lambda: desk.window.right.side is Side.AGENT, "the editor never came")
    editor = editing.editor
    desk.go_to(editor)
    desk.tab_to(editor.prompt.edit)
    desk.press(K.Key_Home, CONTROL)
    desk.write("Be brief. ")
    desk.press(K.Key_S, CONTROL)
    text = (desk.stage.folder / "agents" / "author.md").read_text("utf-8")
    assert "Be brief. You write." in text
    desk.press(K.Key_W, CONTROL)
    assert desk.window.right.side is not Side.AGENT
    assert desk.focus.isVisible()
    # Escape leaves the text, and then the editor.
    desk.go_to(tree)
    desk.press(K.Key_Return)
    desk.until(lambda: desk.window.right.side is Side.AGENT, "the editor never came again")
    desk.go_to(editor)
    desk.tab_to(editor.prompt.edit)
    desk.press(K.Key_Escape)
    assert desk.window.right.side is Side.AGENT
    assert not desk.is_in(editor.prompt.edit)
    desk.press(K.Key_Escape)
    assert desk.window.right.side is not Side.AGENT
    assert desk.focus.isVisible()


# --- everywhere ---------------------------------------------------------------------------------------


def test_any_action_is_done_by_its_name_and_the_focus_comes_back(desk: Desk) -> None:
    desk.stage.agent("author")
    desk.stage.open_new("nightly", loop_agents=["author"])
    tree = desk.window.workflow_view.tree
    desk.go_to(tree)
    desk.press(K.Key_P, CONTROL | SHIFT)
    (palette,) = desk.window.findChildren(CommandPalette)
    QTest.keyClicks(palette.field, "dark")
    QTest.keyClick(palette.field, K.Key_Escape)
    desk.stage.settle()
    assert not palette.isVisible()
    assert desk.is_in(tree)
    desk.press(K.Key_P, CONTROL | SHIFT)
    QTest.keyClicks(palette.field, "history")
    QTest.keyClick(palette.field, K.Key_Return)
    desk.stage.settle()
    assert desk.window.right.side is Side.RUNS
    assert desk.is_in(desk.window.right)


def test_f6_goes_round_all_parts_and_back_to_where_one_was_in_each(desk: Desk) -> None:
    desk.stage.agent("author")
    desk.stage.open_new("nightly", loop_agents=["author", "nobody"])
    window = desk.window
    desk.go_to(window.pool)
    desk.tab_to(window.pool.filter_field)
    parts = (window.workflow_view.tree, window.workflow_view.problem_list, window.right, window.status)
    for part in (*parts, window.top_bar, window.pool):
        desk.press(K.Key_F6)
        assert desk.is_in(part), (name_of(part), name_of(desk.focus))
    assert desk.focus is window.pool.filter_field
    for part in (window.top_bar, *reversed(parts), window.pool):
        desk.press(K.Key_F6, SHIFT)
        assert desk.is_in(part), (name_of(part), name_of(desk.focus))


@pytest.mark.parametrize("key", [K.Key_Space, K.Key_Escape])
def test_a_notice_that_goes_leaves_the_focus_in_the_window(desk: Desk, key: Qt.Key) -> None:
    desk.stage.open_new("nightly", max_lops=3)
    desk.until(lambda: desk.window.notices.names, "nothing was said")
    desk.go_to(desk.window.notices)
    (name,) = desk.window.notices.names
    bar = desk.window.notices.bar(name)
    assert bar is not None
    desk.tab_to(bar.buttons[""])
    desk.press(key)
    assert desk.window.notices.names == ()
    assert desk.focus.isVisible()


def test_a_tab_that_is_closed_leaves_the_focus_in_the_next(desk: Desk) -> None:
    desk.stage.agent("author", demo={"text": "I wrote the draft."})
    desk.stage.agent("vera", "auditor", demo={"is_complete": True})
    desk.stage.open_new("nightly", loop_agents=["author", "vera"])
    desk.press(K.Key_F5)
    desk.until(lambda: desk.stage.controller.running, "the run never began")
    desk.until(lambda: not desk.stage.controller.running, "the run never ended")
    desk.until(desk.stage.run_view.banner.isVisible, "the banner never came")
    tabs = desk.stage.run_view.tabs
    tabs.show_turn(desk.stage.turn("vera"))
    desk.press(K.Key_2, CONTROL)
    count = tabs.bar.count()
    for left in range(count - 1, -1, -1):
        desk.press(K.Key_W, CONTROL)
        assert tabs.bar.count() == left
        assert desk.is_in(desk.window.right), name_of(desk.focus)


def test_the_menu_of_what_has_the_focus_opens_by_a_key(desk: Desk) -> None:
    desk.stage.agent("author")
    desk.stage.open_new("nightly", loop_agents=["author", "nobody"])
    desk.stage.select("author")
    window = desk.window
    trees = (window.workflow_view.tree, window.pool.tree, window.workflow_view.problem_list.list)
    for tree in trees:
        tree.setFocus(Qt.FocusReason.TabFocusReason)
        if not tree.currentIndex().isValid():
            desk.press(K.Key_Down)
        opens_at_current(desk, tree, tree.currentIndex())


def opens_at_current(desk: Desk, view: QWidget, index: QModelIndex) -> None:
    """Both the Menu key and Shift+F10 open the menu of the current row."""
    assert view.visualRect(index).isValid()  # type: ignore[attr-defined]
    for by_menu_key in (False, True):
        if by_menu_key:
            # As the system tells it; in tests no system does.
            where = view.inputMethodQuery(Qt.InputMethodQuery.ImCursorRectangle).center()
            reason = QContextMenuEvent.Reason.Keyboard
            QApplication.sendEvent(view, QContextMenuEvent(reason, where, view.mapToGlobal(where)))
        else:
            desk.press(K.Key_F10, SHIFT)
        menu = QApplication.activePopupWidget()
        assert isinstance(menu, QMenu), name_of(view)
        assert any(action.isEnabled() for action in menu.actions())
        desk.press(K.Key_Escape)
        assert desk.is_in(view)


# --- menus and keys of each system --------------------------------------------------------------------


def every_menu(menu: QMenu) -> Iterator[QMenu]:
    menu.aboutToShow.emit()
    yield menu
    for action in menu.actions():
        inner = action.menu()
        if isinstance(inner, QMenu):
            yield from every_menu(inner)


def mnemonic(text: str) -> str:
    """The letter behind the mark, in one case; empty: there is none."""
    plain = text.replace("&&", "")
    at = plain.find("&")
    return plain[at + 1].casefold() if 0 <= at < len(plain) - 1 else ""


def test_no_two_entries_of_a_menu_share_their_letter(desk: Desk) -> None:
    desk.stage.agent("author")
    desk.stage.open_new("nightly", loop_agents=["author", "author"])
    desk.stage.select("author")
    bar = desk.window.menuBar()
    for actions in [bar.actions(), *(m.actions() for a in bar.actions() for m in every_menu(a.menu()))]:  # type: ignore[arg-type]
        seen: dict[str, str] = {}
        for action in actions:
            letter = mnemonic(action.text())
            if letter and action.isVisible():
                assert letter not in seen, (action.text(), seen[letter])
                seen[letter] = action.text()


def test_alt_with_a_letter_opens_a_menu_and_does_nothing_else(desk: Desk) -> None:
    letters = {mnemonic(action.text()) for action in desk.window.menuBar().actions()}
    assert len(letters) == len(desk.window.menuBar().actions())
    keys = {keys.toString() for action in desk.window.findChildren(QAction) for keys in action.shortcuts()}
    assert not {f"Alt+{letter.upper()}" for letter in letters} & keys


def test_standard_keys_are_those_of_the_system(desk: Desk) -> None:
    actions, standard = desk.window.actions_of_window, QKeySequence.StandardKey
    for action, key in (
        (actions.new, standard.New),
        (actions.open, standard.Open),
        (actions.save, standard.Save),
        (actions.undo, standard.Undo),
        (actions.find, standard.Find),
        (actions.zoom_in, standard.ZoomIn),
        (actions.zoom_out, standard.ZoomOut),
    ):
        assert action.shortcut() in QKeySequence.keyBindings(key), action.text()
    assert QKeySequence("Ctrl+Y") in actions.redo.shortcuts()
    assert QKeySequence("Ctrl+Shift+Z") in actions.redo.shortcuts()


def test_a_mac_has_its_own_keys_and_its_own_menu(monkeypatch: pytest.MonkeyPatch, desk: Desk) -> None:
    roles = QAction.MenuRole
    named = {action.menuRole() for action in desk.window.findChildren(QAction)} - {roles.TextHeuristicRole}
    assert named == {roles.NoRole, roles.QuitRole, roles.AboutRole}
    assert desk.window.actions_of_window.show_settings.menuRole() is roles.NoRole, "else it leaves its menu"
    monkeypatch.setattr("sys.platform", "darwin")
    names = [keys.toString() for keys in platform_keys.delete_keys()]
    assert names == ["Del", "Backspace"]
    assert platform_keys.next_tab_keys()[0] == QKeySequence("Meta+Tab"), "Command+Tab is the system's"
    assert platform_keys.option_keys("C") == QKeySequence("Ctrl+Alt+C"), "Option+C writes a letter"
    assert QKeySequence("Ctrl+,") in platform_keys.settings_keys()
    monkeypatch.setattr("sys.platform", "linux")
    assert [keys.toString() for keys in platform_keys.delete_keys()] == ["Del"]
    assert platform_keys.option_keys("C") == QKeySequence("Alt+C")
