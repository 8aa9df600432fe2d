"""Copy, cut and paste by the real keys and menus, through the system's clipboard, between two windows."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QMimeData, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLineEdit, QMainWindow, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from app.builder.clipboard import JSON_MIME, PIECES_MIME
from app.document import WorkflowDocument
from core.config import AgentGroup, FanOutGroup
from core.workflow_pieces import MOST_CHARACTERS
from tests.app.builder_support import Builder, building

pytestmark = pytest.mark.qt_log_ignore("This plugin does not support", extend=True)

CONTROL = Qt.KeyboardModifier.ControlModifier


@pytest.fixture(autouse=True)
def _empty_clipboard(qapp: QApplication) -> Iterator[None]:
    QGuiApplication.clipboard().clear()
    yield
    QGuiApplication.clipboard().clear()


@pytest.fixture
def builder(qtbot: QtBot, tmp_path: Path) -> Iterator[Builder]:
    yield from building(qtbot, tmp_path)


@pytest.fixture
def other(qtbot: QtBot, tmp_path: Path) -> Iterator[Builder]:
    folder = tmp_path / "other"
    folder.mkdir()
    yield from building(qtbot, folder)


def on_clipboard() -> object:
    value: object = json.loads(QGuiApplication.clipboard().text())
    return value


def put(text: str) -> None:
    QGuiApplication.clipboard().setText(text)


def copy(builder: Builder, *node_ids: int, key: Qt.Key = Qt.Key.Key_C) -> None:
    builder.select(*node_ids)
    builder.press(key, CONTROL)


def paste(builder: Builder) -> None:
    builder.press(Qt.Key.Key_V, CONTROL)
    QApplication.processEvents()


def test_an_agent_is_copied_with_what_is_said_for_its_place_and_pasted_behind_the_selection(
    builder: Builder,
) -> None:
    vera = builder.agent("vera")
    builder.document.update_agent(vera, "model", model="opus", timeout=90.0)
    copy(builder, vera)
    assert on_clipboard() == [{"agent": "vera", "model": "opus", "timeout": 90}]
    builder.select(builder.agent("amala"))
    paste(builder)
    assert builder.shape()[0] == "seq(amala vera)"
    pasted = builder.document.outline.loop[0].agents[1]
    assert (pasted.entry.model, pasted.entry.timeout) == ("opus", 90.0)
    assert builder.view.selected_nodes() == [pasted.id]
    assert builder.document.undo_stack.undoText() == "Paste vera"
    builder.document.undo_stack.undo()
    assert builder.shape()[0] == "seq(amala)"


def test_a_group_goes_to_another_window_with_its_settings_as_a_step_behind_the_selection(
    builder: Builder, other: Builder
) -> None:
    group = builder.group("vera")
    builder.document.update_group(group, "timeout", timeout=60.0, name="Review", max_parallel=2)
    copy(builder, group)
    other.select(other.agent("proteus"))
    paste(other)
    assert other.shape("preparation") == ["seq(proteus)", "par(vera linter security_auditor)"]
    assert other.document.outline.preparation[1].settings == builder.document.outline.loop[1].settings
    assert other.view.selected_nodes() == [other.document.outline.preparation[1].id]
    assert other.document.undo_stack.undoText() == "Paste a group"


def test_cut_is_one_step_of_undo_and_what_was_cut_can_be_pasted(builder: Builder) -> None:
    copy(builder, builder.agent("linter"), key=Qt.Key.Key_X)
    assert builder.shape()[1] == "par(vera security_auditor)"
    assert builder.document.undo_stack.undoText() == "Cut linter"
    assert builder.document.undo_stack.count() == 1
    builder.select(builder.group("amala"))
    paste(builder)
    assert builder.shape()[0] == "seq(amala linter)"


def test_all_of_a_workflow_is_copied_into_an_empty_one_with_its_phases(
    builder: Builder, other: Builder
) -> None:
    builder.press(Qt.Key.Key_A, CONTROL)
    builder.press(Qt.Key.Key_C, CONTROL)
    other.press(Qt.Key.Key_A, CONTROL)
    other.press(Qt.Key.Key_Delete)
    assert not list(other.document.outline.all_agents())
    paste(other)
    for phase in ("preparation", "loop", "finalization"):
        assert other.shape(phase) == builder.shape(phase)
    assert other.document.undo_stack.undoText() == "Paste 4 groups"


def test_the_clipboard_is_workflow_json_that_a_text_editor_can_take(builder: Builder) -> None:
    copy(builder, builder.group("vera"))
    data = QGuiApplication.clipboard().mimeData()
    assert data.hasFormat(PIECES_MIME)
    assert data.hasFormat(JSON_MIME)
    assert on_clipboard() == [{"agents": ["vera", "linter", "security_auditor"], "mode": "parallel"}]


def test_text_from_an_editor_and_whole_files_can_be_pasted(builder: Builder, tmp_path: Path) -> None:
    put('{ "agents": ["vera", {"agent": "linter", "ours": 1}], "mode": "parallel", "colour": "red" },')
    builder.select(builder.agent("amala"))
    paste(builder)
    assert builder.shape()[1] == "par(vera linter)"
    put((tmp_path / "audit.json").read_text(encoding="utf-8"))
    paste(builder)
    assert builder.shape("preparation") == ["seq(proteus)", "seq(proteus)"]
    assert builder.shape()[2:4] == ["seq(amala)", "par(vera linter security_auditor)"]
    target = tmp_path / "saved.json"
    builder.document.save_as(target)
    saved = json.loads(target.read_text(encoding="utf-8"))["loop_agents"][1]
    assert saved["colour"] == "red"
    assert saved["agents"][1]["ours"] == 1


def test_a_fan_out_group_is_copied_as_it_is(builder: Builder) -> None:
    put('[{"mode": "fan_out", "agent": "worker", "tasks": ["one"], "collect_into": "payload.results"}]')
    paste(builder)
    pasted = builder.document.outline.loop[2]
    assert isinstance(pasted.settings, FanOutGroup)
    copy(builder, pasted.id)
    paste(builder)
    again = builder.document.outline.loop[3]
    assert again.settings == pasted.settings


def test_agents_that_are_not_there_are_pasted_and_shown_as_problems(builder: Builder) -> None:
    put('["nobody"]')
    paste(builder)
    assert builder.shape()[-1] == "seq(nobody)"
    assert any("nobody" in problem.message for problem in builder.document.problems)


@pytest.mark.parametrize(
    "text", ["", "Dear all", "[1]", "{", "[" * 100_000, '"' + "x" * MOST_CHARACTERS + '"', '"a",' * 2000]
)
def test_anything_else_is_refused_with_a_sentence(builder: Builder, text: str) -> None:
    put(text)
    builder.view.tree.setFocus()
    with builder.qtbot.waitSignal(builder.view.message) as said:
        paste(builder)
    assert str(said.args[0]).startswith("Nothing was pasted.")
    assert len(str(said.args[0])) < 300
    assert builder.document.undo_stack.count() == 0


def test_bytes_that_are_no_text_are_refused(builder: Builder) -> None:
    data = QMimeData()
    data.setData(PIECES_MIME, b"\xff\xfe\x00")
    QGuiApplication.clipboard().setMimeData(data)
    with builder.qtbot.waitSignal(builder.view.message):
        paste(builder)
    assert builder.document.undo_stack.count() == 0


def test_while_locked_copying_goes_on_and_pasting_waits(builder: Builder) -> None:
    builder.view.set_locked("It runs.")
    copy(builder, builder.agent("vera"))
    assert on_clipboard() == ["vera"]
    builder.press(Qt.Key.Key_X, CONTROL)
    paste(builder)
    assert builder.document.undo_stack.count() == 0


def test_agents_and_groups_are_duplicated_behind_themselves(builder: Builder) -> None:
    builder.select(builder.group("vera"))
    builder.press(Qt.Key.Key_D, CONTROL)
    assert builder.shape() == ["seq(amala)", *["par(vera linter security_auditor)"] * 2]
    builder.document.undo_stack.undo()
    builder.select(builder.agent("amala"), builder.agent("linter"))
    builder.press(Qt.Key.Key_D, CONTROL)
    assert builder.shape() == ["seq(amala amala)", "par(vera linter linter security_auditor)"]
    assert builder.document.undo_stack.count() == 1


def test_the_context_menu_copies_and_pastes(builder: Builder) -> None:
    builder.choose(builder.menu(builder.group("vera")), "Copy")
    builder.choose(builder.menu(phase="finalization"), "Paste")
    assert builder.shape("finalization") == ["seq(consolidator)", "par(vera linter security_auditor)"]


def test_chosen_from_a_menu_while_a_field_has_the_focus_they_are_the_fields(
    qtbot: QtBot, builder: Builder
) -> None:
    """The window's Edit menu has the same actions."""
    window = QWidget()
    qtbot.addWidget(window)
    layout = QVBoxLayout(window)
    layout.addWidget(builder.view)
    field = QLineEdit("score", window)
    layout.addWidget(field)
    window.show()
    window.activateWindow()
    qtbot.waitUntil(window.isActiveWindow)
    builder.select(builder.agent("vera"))
    field.setFocus()
    actions = builder.view.commands.clipboard
    actions.select_all.trigger()
    assert field.selectedText() == "score"
    actions.copy.trigger()
    assert QGuiApplication.clipboard().text() == "score"
    field.deselect()
    field.end(False)
    actions.paste.trigger()
    assert field.text() == "scorescore"
    field.setReadOnly(True)
    builder.view.tree.setFocus()
    field.setFocus()
    assert not actions.paste.isEnabled()
    assert builder.document.undo_stack.count() == 0
    window.layout().removeWidget(builder.view)
    builder.view.setParent(None)


def test_the_menu_bar_that_has_the_focus_for_keys_is_not_what_they_are_about(
    qtbot: QtBot, builder: Builder
) -> None:
    """Who opens the Edit menu with Alt still means the workflow."""
    window = QMainWindow()
    qtbot.addWidget(window)
    window.setCentralWidget(builder.view)
    menu = window.menuBar().addMenu("&Edit")
    actions = builder.view.commands.clipboard
    menu.addActions(actions.all)
    window.show()
    window.activateWindow()
    qtbot.waitUntil(window.isActiveWindow)
    builder.select(builder.agent("vera"))
    builder.view.tree.setFocus()
    for number, (key, loop) in enumerate(((Qt.Key.Key_C, 3), (Qt.Key.Key_T, 2))):
        QTest.keyClick(window, Qt.Key.Key_E, Qt.KeyboardModifier.AltModifier)
        qtbot.waitUntil(menu.isVisible)
        assert [action.isEnabled() for action in actions.all] == [True, True, True], number
        QTest.keyClick(menu, key)
        assert "vera" in QGuiApplication.clipboard().text()
        assert len(builder.document.outline.loop[1].agents) == loop
        QGuiApplication.clipboard().clear()
        builder.view.tree.setFocus()
    window.takeCentralWidget()
    builder.view.setParent(None)


def test_unknown_keys_of_groups_go_from_window_to_window(builder: Builder, other: Builder) -> None:
    put('[{"agents": ["vera"], "colour": {"dark": ["#000"]}}]')
    paste(builder)
    copy(builder, builder.document.outline.loop[-1].id)
    paste(other)
    pasted = other.document.outline.loop[-1].settings
    assert isinstance(pasted, AgentGroup)
    assert pasted.model_extra == {"colour": {"dark": ["#000"]}}
    again = WorkflowDocument()
    again.restore(other.document.snapshot())
    assert again.workflow == other.document.workflow
