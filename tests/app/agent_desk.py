"""A window on a workflow with two agents, for tests of the agent editor.

A module that uses its fixtures names them: `folder, open_desk, desk = agent_desk.FIXTURES`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QContextMenuEvent, QKeySequence
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QApplication, QLineEdit, QMenu, QMessageBox
from pytestqt.qtbot import QtBot

from app.agent_editing import AgentEditing
from app.agent_editor.draft import AgentDraft, Disk
from app.agent_editor.editor import AgentEditor
from app.document import WorkflowDocument
from app.main_window import MainWindow
from app.settings_store import SettingsStore
from app.side import Side
from tests.app.test_main_window import ScriptedController, make_window

VERA = (
    "---\n# who judges\nname: vera   # the name\nrole: 'auditor'\nbackend: demo\ntools: {bash: false}\n---\n"
    "\n# Vera\n\n- look at payload.changes\n- `score` it\n"
)


class Desk:
    """A window on a workflow with two agents."""

    def __init__(
        self, qtbot: QtBot, folder: Path, window: MainWindow, controller: ScriptedController
    ) -> None:
        self.qtbot = qtbot
        self.folder = folder
        self.window = window
        self.controller = controller
        self.closed = False
        window.closed.connect(self._close)

    def _close(self) -> None:
        self.closed = True

    @property
    def editing(self) -> AgentEditing:
        return self.window.agent_editing

    @property
    def editor(self) -> AgentEditor:
        return self.editing.editor

    @property
    def draft(self) -> AgentDraft:
        assert self.editor.draft is not None
        return self.editor.draft

    def file(self, name: str) -> Path:
        return self.folder / "agents" / f"{name}.md"

    def text(self, name: str) -> str:
        return self.file(name).read_bytes().decode()

    def open(self, name: str) -> AgentEditor:
        self.window.agents.open_agent(name)
        assert self.window.right.side is Side.AGENT
        return self.editor

    def field(self, key: str) -> QLineEdit:
        control = self.editor.form.rows[key].control
        assert isinstance(control, QLineEdit)
        return control

    def retype(self, key: str, text: str) -> None:
        """Type into a field of the form, as a person does."""
        field = self.field(key)
        field.setFocus()
        QTest.keySequence(field, QKeySequence(QKeySequence.StandardKey.SelectAll))
        QTest.keyClicks(field, text) if text else QTest.keyClick(field, Qt.Key.Key_Delete)

    def type(self, text: str) -> None:
        """Type at the end of the prompt."""
        edit = self.editor.prompt.edit
        edit.setFocus()
        QTest.keySequence(edit, QKeySequence(QKeySequence.StandardKey.MoveToEndOfDocument))
        QTest.keyClicks(edit, text)

    def press(self, key: QKeySequence.StandardKey) -> None:
        """Press keys where the focus is."""
        focused = QApplication.focusWidget()
        assert focused is not None
        QTest.keySequence(focused, QKeySequence(key))

    def notice(self, name: str) -> str:
        bar = self.editor.notices.bar(name)
        return "\n".join((bar.notice.text, *bar.notice.lines)) if bar is not None else ""

    def click_notice(self, name: str, button: str) -> None:
        bar = self.editor.notices.bar(name)
        assert bar is not None
        QTest.mouseClick(bar.buttons[button], Qt.MouseButton.LeftButton)

    def others_write(self, name: str, text: str) -> None:
        """Another program replaces a file, and the window has noticed."""
        draft = self.editing.drafts.find(self.file(name))
        assert draft is not None
        self.file(name).write_bytes(text.encode())
        self.qtbot.waitUntil(lambda: draft.disk is Disk.CHANGED or draft.text == text)

    def answer(self, text: str) -> None:
        """Press a button of the question that is open."""

        def box() -> QMessageBox | None:
            widget = QApplication.activeModalWidget()
            return widget if isinstance(widget, QMessageBox) else None

        self.qtbot.waitUntil(lambda: box() is not None)
        found = box()
        assert found is not None
        button: QAbstractButton = next(each for each in found.buttons() if each.text() == text)
        QTest.mouseClick(button, Qt.MouseButton.LeftButton)
        self.qtbot.waitUntil(lambda: box() is not found)

    def choose_in_pool(self, name: str, action: str) -> None:
        """Choose an action of an agent's context menu."""
        pool = self.window.pool
        pool.select_agent(name)
        middle = pool.tree.visualRect(pool.tree.currentIndex()).center()
        where = pool.tree.viewport().mapTo(pool, middle)
        event = QContextMenuEvent(QContextMenuEvent.Reason.Mouse, where, pool.mapToGlobal(where))
        QApplication.sendEvent(pool, event)
        menu = QApplication.activePopupWidget()
        assert isinstance(menu, QMenu)
        next(each for each in menu.actions() if each.text().split("\t")[0] == action).trigger()
        menu.close()


def make_project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("OPENLOOP_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "share"))
    project = tmp_path / "project"
    (project / "agents").mkdir(parents=True)
    (project / "agents" / "vera.md").write_bytes(VERA.encode())
    (project / "agents" / "amala.md").write_bytes(b"---\nname: amala\nrole: author\n---\nYou are Amala.\n")
    workflow = {"name": "audit", "loop_agents": ["amala", {"agents": ["vera"], "mode": "parallel"}, "vera"]}
    (project / "audit.json").write_text(json.dumps(workflow), encoding="utf-8")
    return project


@contextmanager
def desks(qtbot: QtBot, folder: Path) -> Iterator[Callable[[], Desk]]:
    """Gives what opens windows on this project, and closes them."""
    opened: list[Desk] = []

    def make() -> Desk:
        controller, document = ScriptedController(), WorkflowDocument()
        window = make_window(qtbot, controller, document, SettingsStore(folder.parent / "window.ini"))
        desk = Desk(qtbot, folder, window, controller)
        opened.append(desk)
        window.files.load(folder / "audit.json")
        window.resize(1280, 800)
        window.show()
        qtbot.waitUntil(lambda: document.library is not None and document.library.get("vera") is not None)
        window.activateWindow()
        return desk

    yield make
    for desk in opened:
        desk.window.closing.may_close = True
        desk.window.close()
    opened.clear()


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with two agents and a workflow of them."""
    return make_project(tmp_path, monkeypatch)


@pytest.fixture
def open_desk(qtbot: QtBot, folder: Path) -> Iterator[Callable[[], Desk]]:
    """Opens windows on it."""
    with desks(qtbot, folder) as open_one:
        yield open_one


@pytest.fixture
def desk(open_desk: Callable[[], Desk]) -> Desk:
    """A window on it."""
    return open_desk()


FIXTURES = (folder, open_desk, desk)


def usable(desk: Desk, name: str) -> bool:
    """Whether the window knows an agent of this name."""
    library = desk.window.document.library
    return library is not None and library.get(name) is not None
