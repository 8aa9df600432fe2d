"""The initial payload as text: typed into the real field, checked while typed, undone like every edit."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QMessageBox, QWidget
from pytestqt.qtbot import QtBot

from app.builder.payload_row import AT_ONCE, PayloadRow
from app.builder.payload_words import known_words
from app.builder.settings_panel import SettingsPanel
from app.document import WorkflowDocument
from app.file_actions import FileActions
from app.notice_bar import NoticeArea
from app.recent_files import RecentFiles
from app.settings_store import SettingsStore
from core.json_types import JsonValue
from core.problems import Severity
from tests.app.settings_support import choose, shown_panel, two_agents

pytestmark = pytest.mark.qt_log_ignore("This plugin does not support", extend=True)
CONTROL = Qt.KeyboardModifier.ControlModifier


@pytest.fixture
def document(qapp: object, tmp_path: Path) -> WorkflowDocument:
    del qapp
    document = two_agents(tmp_path)
    document.save_as(tmp_path / "audit.json")
    return document


@pytest.fixture
def panel(qtbot: QtBot, document: WorkflowDocument) -> SettingsPanel:
    panel = shown_panel(qtbot, document)
    panel.show_workflow()
    return panel


@pytest.fixture
def row(panel: SettingsPanel) -> PayloadRow:
    row = panel.workflow_page.row("Initial payload")
    assert isinstance(row, PayloadRow)
    row.edit.setFocus()
    return row


def paste(row: PayloadRow, text: str) -> None:
    """Replace everything by the clipboard's text."""
    QGuiApplication.clipboard().setText(text)
    QTest.keyClick(row.edit, Qt.Key.Key_A, CONTROL)
    QTest.keyClick(row.edit, Qt.Key.Key_V, CONTROL)


def leave(panel: SettingsPanel) -> None:
    panel.workflow_page.condition.field.setFocus()


def saved(document: WorkflowDocument) -> object:
    assert document.path is not None
    document.save()
    return json.loads(document.path.read_text(encoding="utf-8")).get("initial_payload")


def test_a_payload_that_is_typed_is_one_step_of_undo_and_stands_in_the_file(
    row: PayloadRow, panel: SettingsPanel, document: WorkflowDocument, qtbot: QtBot
) -> None:
    qtbot.keyClicks(row.edit, '{"goal": "faster", "files": ["a.py"]}')
    leave(panel)
    assert document.undo_stack.undoText() == "Change initial payload"
    assert saved(document) == {"goal": "faster", "files": ["a.py"]}

    document.undo_stack.undo()
    assert not document.undo_stack.canUndo()
    assert row.edit.toPlainText() == ""
    assert saved(document) is None
    document.undo_stack.redo()
    assert saved(document) == {"goal": "faster", "files": ["a.py"]}
    assert json.loads(row.edit.toPlainText()) == {"goal": "faster", "files": ["a.py"]}


def test_each_visit_of_the_field_is_a_step_of_its_own(
    row: PayloadRow, panel: SettingsPanel, document: WorkflowDocument
) -> None:
    paste(row, '{"a": 1}')
    leave(panel)
    row.edit.setFocus()
    paste(row, '{"a": 2}')
    leave(panel)
    document.undo_stack.undo()
    assert document.settings.initial_payload == {"a": 1}
    document.undo_stack.undo()
    assert document.settings.initial_payload == {}


def test_a_mistake_is_told_with_its_place_and_never_reaches_the_file(
    row: PayloadRow, panel: SettingsPanel, document: WorkflowDocument
) -> None:
    paste(row, '{"goal": 1}')
    leave(panel)
    row.edit.setFocus()
    broken = '{\n  "goal": 1\n  "more": 2\n}'
    paste(row, broken)
    assert row.error.text().startswith("Line 2, column ")
    assert row.error.text().endswith("A comma is missing after this.")
    assert row.edit.extraSelections()
    leave(panel)

    assert saved(document) == {"goal": 1}
    assert document.is_modified
    told = [each for each in document.problems if each.place == "initial_payload"]
    assert [each.severity for each in told] == [Severity.ERROR]
    assert "Line 2, column" in told[0].message

    row.edit.setFocus()
    paste(row, broken.replace("1\n", "1,\n"))
    assert row.error.text() == ""
    assert not row.edit.extraSelections()
    assert saved(document) == {"goal": 1, "more": 2}
    assert not document.is_modified
    assert not [each for each in document.problems if each.place == "initial_payload"]


def test_a_broken_text_outlives_another_page_undo_and_redo(
    row: PayloadRow, panel: SettingsPanel, document: WorkflowDocument
) -> None:
    paste(row, '{"goal": ')
    leave(panel)
    panel.show_selection([document.outline.loop[0].id])
    panel.show_workflow()
    assert row.edit.toPlainText() == '{"goal": '

    document.undo_stack.undo()
    assert row.edit.toPlainText() == ""
    assert row.error.text() == ""
    document.undo_stack.redo()
    assert row.edit.toPlainText() == '{"goal": '
    assert row.error.text()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[1, 2]", "put it between { and }"),
        ('{"a": 1, // why\n "b": 2}', "no comments"),
        ('{"a": 1,\n "a": 2}', 'The key "a" stands twice'),
        ('{"a": 1e999}', "too large"),
        ('{"a": ' + "[" * 5000, "nested too deeply"),
    ],
)
def test_what_a_payload_cannot_be_is_said(
    text: str, words: str, row: PayloadRow, document: WorkflowDocument
) -> None:
    paste(row, text)
    assert words in row.error.text()
    assert document.settings.initial_payload == {}


def test_true_is_another_value_than_one(
    row: PayloadRow, panel: SettingsPanel, document: WorkflowDocument
) -> None:
    paste(row, '{"ready": 1}')
    leave(panel)
    row.edit.setFocus()
    paste(row, '{"ready": true}')
    leave(panel)
    assert saved(document) == {"ready": True}
    assert document.settings.initial_payload["ready"] is True
    document.undo_stack.undo()
    assert document.settings.initial_payload["ready"] is not True
    assert row.edit.toPlainText() == '{\n  "ready": 1\n}'


def test_the_text_is_formatted_on_demand_without_an_edit(
    row: PayloadRow, panel: SettingsPanel, document: WorkflowDocument
) -> None:
    assert not row.format_button.isVisible()
    paste(row, '{"goal":"faster","limits":{"cost":5,"files":["a","b"]}}')
    leave(panel)
    steps = document.undo_stack.count()
    QTest.mouseClick(row.format_button, Qt.MouseButton.LeftButton)
    assert row.edit.toPlainText().splitlines()[:2] == ["{", '  "goal": "faster",']
    assert document.undo_stack.count() == steps

    row.edit.setFocus()
    paste(row, "{")
    assert not row.format_button.isVisible()


def test_it_grows_with_its_lines_up_to_a_limit_and_indents_new_ones(row: PayloadRow, qtbot: QtBot) -> None:
    low = row.edit.height()
    for key in ("{", "\r", '"a": {', "\r", '"b": 1', "\r", "}", "\r", "}"):
        if key == "\r":
            qtbot.keyClick(row.edit, Qt.Key.Key_Return)
        else:
            qtbot.keyClicks(row.edit, key)
    assert row.edit.toPlainText().splitlines()[:3] == ["{", '  "a": {', '    "b": 1']
    assert row.edit.height() > low
    paste(row, "\n" * 30)
    most = row.edit.height()
    paste(row, "\n" * 300)
    assert row.edit.height() == most


def test_tab_leaves_the_text_and_its_undo_is_the_windows(
    row: PayloadRow, document: WorkflowDocument, qtbot: QtBot
) -> None:
    qtbot.keyClicks(row.edit, "{}")
    qtbot.keyClick(row.edit, Qt.Key.Key_Z, CONTROL)
    assert row.edit.toPlainText() == "{}"
    qtbot.keyClick(row.edit, Qt.Key.Key_Tab)
    assert not row.edit.hasFocus()
    assert row.edit.toPlainText() == "{}"


def test_its_paths_are_known_to_completion(row: PayloadRow, document: WorkflowDocument) -> None:
    paste(row, '{"review": {"score": 0}, "findings": []}')
    words = known_words(document)
    assert words[("review", "score")] == "0"
    assert words[("findings",)] == "[]"


def large(items: int = 9_000) -> dict[str, JsonValue]:
    return {"items": [{"id": number, "name": f"thing {number}", "tags": ["a"]} for number in range(items)]}


def test_a_large_text_is_read_after_a_pause_or_before_it_is_saved(
    row: PayloadRow, panel: SettingsPanel, document: WorkflowDocument, qtbot: QtBot
) -> None:
    payload = large()
    text = json.dumps(payload, indent=1)
    assert len(text) > AT_ONCE
    paste(row, text)
    assert document.settings.initial_payload == {}
    qtbot.waitUntil(lambda: document.settings.initial_payload == payload)

    qtbot.keyClick(row.edit, Qt.Key.Key_Home, CONTROL)
    qtbot.keyClick(row.edit, Qt.Key.Key_Delete)
    qtbot.keyClick(row.edit, Qt.Key.Key_S, CONTROL)
    assert row.error.text().startswith("Line 2, column ")
    assert saved(document) == payload


@pytest.mark.parametrize("payload", [large(), {"text": "x" * 1_000_000}], ids=["many", "one long text"])
def test_of_a_large_payload_the_beginning_is_shown_and_it_can_be_taken_out(
    payload: dict[str, JsonValue],
    row: PayloadRow,
    panel: SettingsPanel,
    document: WorkflowDocument,
) -> None:
    document.write_payload("", payload)
    assert len(row.edit.text) < 60_000
    assert row.edit.isReadOnly()
    assert "edit it in the file" in row.note.text()
    QTest.keyClicks(row.edit, "x")
    leave(panel)
    assert saved(document) == payload

    QTest.mouseClick(row.clear_button, Qt.MouseButton.LeftButton)
    assert document.settings.initial_payload == {}
    assert not row.edit.isReadOnly()
    assert "too large" not in row.note.text() + row.edit.accessibleDescription()
    assert row.clear_button.isHidden()
    QTest.keyClicks(row.edit, '{"a": 1}')
    assert "too large" not in row.note.text() + row.edit.accessibleDescription()
    assert not row.format_button.isHidden()
    leave(panel)
    assert saved(document) == {"a": 1}
    while document.undo_stack.canUndo():
        document.undo_stack.undo()
        if document.settings.initial_payload:
            assert document.settings.initial_payload == payload
    assert document.settings.initial_payload == {}
    assert not row.edit.isReadOnly()


def test_spaces_that_do_not_break_stay_so(row: PayloadRow, document: WorkflowDocument) -> None:
    paste(row, '{"price": "5\u00a0€"}')
    assert document.settings.initial_payload == {"price": "5\u00a0€"}


def test_an_edit_elsewhere_does_not_copy_a_large_payload(
    panel: SettingsPanel, document: WorkflowDocument
) -> None:
    payload = large(10)
    document.write_payload("", payload)
    document.update_settings("loops", {"max_loops": 3})
    assert document.settings.initial_payload is payload
    assert document.snapshot().workflow.initial_payload is payload


def test_closing_asks_before_a_broken_text_is_lost(
    row: PayloadRow, panel: SettingsPanel, document: WorkflowDocument, qtbot: QtBot, tmp_path: Path
) -> None:
    window = QWidget()
    qtbot.addWidget(window)
    files = FileActions(
        document,
        NoticeArea(window),
        RecentFiles("Recent", SettingsStore(tmp_path / "settings.json"), window),
        window,
    )
    paste(row, '{"goal": ')
    leave(panel)
    closed: list[bool] = []
    files.when_saved(lambda: closed.append(True))
    assert not closed
    question = files.question
    assert isinstance(question, QMessageBox)
    assert "initial payload" in question.text()
    rest = next(button for button in question.buttons() if button.text() == "Save the rest")
    QTest.mouseClick(rest, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: closed == [True])
    assert json.loads((tmp_path / "audit.json").read_text(encoding="utf-8"))["loop_agents"]


def test_merge_strategy_is_chosen_for_the_workflow_and_for_a_group(
    panel: SettingsPanel, document: WorkflowDocument, qtbot: QtBot
) -> None:
    choose(qtbot, panel.workflow_page, "Work is merged", "One after another")
    row = panel.workflow_page.row("Work is merged")
    assert row.note.text()
    group = document.outline.loop[0]
    document.update_settings("merge strategy", {"merge_strategy": "sequential"})
    panel.show_selection([group.id])
    of_group = panel.group_page.row("Work is merged")
    assert of_group.note.text() == "from the workflow"
    document.update_groups([group.id], "merge strategy", merge_strategy="sequential")
    assert of_group.note.text() == "for this group only"
