"""Text in a field of an agent that cannot be its value: never taken for saved, never lost without a word."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QKeySequence
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from app.agent_editing import NOTICE
from app.agent_editor.editor import EDIT, WHOLE
from app.agent_editor.file_notices import REFUSED
from app.form_rows import ChoiceRow
from core.platform_paths import state_folder
from tests.app.agent_desk import FIXTURES, VERA, Desk

pytestmark = pytest.mark.qt_log_ignore("This plugin does not support")

folder, open_desk, desk = FIXTURES


def refused(desk: Desk) -> list[str]:
    """The problems that say so, as they are listed below the editor."""
    desk.editor._follow_text()
    rows = [desk.editor.problems.list.item(row) for row in range(desk.editor.problems.list.count())]
    return [row.text() for row in rows if "cannot be “" in row.text()]


def test_save_does_not_save_what_is_not_on_the_screen_and_leads_to_what_stands_in_the_way(desk: Desk) -> None:
    desk.open("vera")
    desk.type(" now")
    desk.retype("timeout", "soon")
    assert desk.draft.is_modified
    assert "Time limit" in refused(desk)[0]
    desk.editor.prompt.edit.setFocus()
    desk.press(QKeySequence.StandardKey.Save)
    assert desk.text("vera") == VERA
    assert "“Time limit”" in desk.notice(REFUSED)
    assert "Time limit" in desk.editor.head.save_button.toolTip()
    desk.click_notice(REFUSED, "Go there")
    assert QApplication.focusWidget() is desk.field("timeout")
    QTest.keyClicks(desk.field("timeout"), "90 s")
    assert desk.notice(REFUSED) == ""
    assert refused(desk) == []
    desk.press(QKeySequence.StandardKey.Save)
    assert "timeout: 90\n" in desk.text("vera")
    assert "now" in desk.text("vera")
    assert not desk.draft.is_modified


def test_the_rest_can_be_saved_and_the_text_stays_unsaved(desk: Desk) -> None:
    desk.open("vera")
    desk.retype("timeout", "soon")
    desk.type(" now")
    desk.press(QKeySequence.StandardKey.Save)
    desk.click_notice(REFUSED, "Save the rest")
    assert "now" in desk.text("vera")
    assert "timeout" not in desk.text("vera")
    assert desk.field("timeout").text() == "soon"
    assert desk.draft.is_modified
    desk.retype("timeout", "")
    assert not desk.draft.refused


def test_what_is_refused_is_never_half_taken_and_is_one_step_of_undo(desk: Desk) -> None:
    desk.open("vera")
    desk.retype("timeout", "20x")
    assert "timeout" not in desk.draft.text
    desk.press(QKeySequence.StandardKey.Undo)
    assert (desk.field("timeout").text(), desk.draft.refused) == ("", ())
    assert not desk.draft.is_modified
    assert desk.editor.form.rows["timeout"].error.isHidden()
    desk.press(QKeySequence.StandardKey.Redo)
    assert desk.field("timeout").text() == "20x"
    QTest.keyClick(desk.field("timeout"), Qt.Key.Key_Backspace)
    assert "timeout: 20\n" in desk.draft.text
    assert not desk.draft.refused


def test_arguments_that_are_not_closed_stand_in_their_field_also_with_another_backend(desk: Desk) -> None:
    editor = desk.open("vera")
    backend = editor.form.rows["backend"]
    assert isinstance(backend, ChoiceRow)
    desk.draft.set_field("backend", "command", "backend")
    desk.retype("command", "run 'this")
    desk.draft.end_merging()
    desk.draft.set_field("backend", "demo", "backend")
    assert desk.field("command").isVisible()
    assert not editor.save()
    desk.click_notice(REFUSED, "Go there")
    assert QApplication.focusWidget() is desk.field("command")


def test_a_text_waits_while_another_agent_is_looked_at(desk: Desk) -> None:
    desk.open("vera")
    desk.retype("timeout", "soon")
    desk.open("amala")
    assert desk.field("timeout").text() == ""
    assert desk.editor.head.others.isVisible()
    desk.open("vera")
    assert desk.field("timeout").text() == "soon"
    assert desk.editor.form.rows["timeout"].error.isVisible()


def test_the_whole_file_settles_a_field_only_where_it_gives_it_another_value(desk: Desk) -> None:
    editor = desk.open("vera")
    desk.retype("timeout", "soon")
    editor.tabs.setCurrentIndex(WHOLE)
    QTest.keySequence(editor.whole.edit, QKeySequence(QKeySequence.StandardKey.MoveToEndOfDocument))
    QTest.keyClicks(editor.whole.edit, "more")
    row = next(
        row for row in range(editor.problems.list.count()) if "soon" in editor.problems.list.item(row).text()
    )
    editor.problems.list.setCurrentRow(row)
    QTest.keyClick(editor.problems.list, Qt.Key.Key_Return)
    assert editor.tabs.currentIndex() == EDIT
    assert QApplication.focusWidget() is desk.field("timeout")
    assert desk.field("timeout").text() == "soon"
    editor.tabs.setCurrentIndex(WHOLE)
    editor.whole.edit.go_to(3)
    QTest.keyClick(editor.whole.edit, Qt.Key.Key_Home)
    QTest.keyClicks(editor.whole.edit, "timeout: 70")
    QTest.keyClick(editor.whole.edit, Qt.Key.Key_Return)
    editor.tabs.setCurrentIndex(EDIT)
    assert (desk.draft.refused, desk.field("timeout").text()) == ((), "70 s")


def test_a_choice_that_cannot_be_written_goes_back_and_says_why(desk: Desk) -> None:
    desk.file("vera").write_bytes(b"---\nbackend: &b demo\nx-other: *b\n---\nYou.\n")
    editor = desk.open("vera")
    row = editor.form.rows["backend"]
    assert isinstance(row, ChoiceRow)
    QTest.keyClick(row.box, Qt.Key.Key_Home)
    assert row.value == "demo"
    assert "cannot be changed here" in row.error.text()
    assert not desk.draft.is_modified


def test_closing_asks_about_it_and_leads_there(desk: Desk) -> None:
    desk.open("vera")
    desk.retype("timeout", "soon")
    desk.window.close()
    question = desk.editing.question
    assert question is not None
    assert "“Time limit” of vera cannot be saved" in question.text()
    desk.answer("Go there")
    assert QApplication.focusWidget() is desk.field("timeout")
    assert not desk.closed


def test_closing_can_save_the_rest_and_leaves_no_copy(desk: Desk) -> None:
    desk.open("vera")
    desk.type(" now")
    desk.retype("timeout", "soon")
    desk.window.close()
    desk.answer("Save the rest")
    desk.qtbot.waitUntil(lambda: desk.closed)
    assert "now" in desk.text("vera")
    assert list((state_folder() / "unsaved-agents").glob("*")) == []


def test_a_run_does_not_begin_with_save_and_run_while_a_text_cannot_be_saved(desk: Desk) -> None:
    desk.open("vera")
    desk.retype("timeout", "soon")
    started: list[bool] = []
    desk.editing.before_run(lambda: started.append(True))
    desk.answer("Save and run")
    assert started == []
    assert "“Time limit”" in desk.notice(REFUSED)


def test_theirs_replaces_it_and_undo_brings_it_back(desk: Desk) -> None:
    desk.open("vera")
    desk.retype("timeout", "soon")
    desk.others_write("vera", VERA.replace("Vera", "Theirs"))
    assert "Theirs" not in desk.draft.text
    desk.click_notice("disk", "Take theirs")
    assert (desk.field("timeout").text(), desk.draft.is_modified) == ("", False)
    desk.press(QKeySequence.StandardKey.Undo)
    assert desk.field("timeout").text() == "soon"


DYING = """
import os, sys
from pathlib import Path
from PySide6.QtWidgets import QApplication
from app.agent_editor.open_drafts import OpenDrafts

application = QApplication([])
drafts = OpenDrafts()
draft = drafts.open(Path(sys.argv[1]))
draft.refuse_field("timeout", "Time limit", "soon", "Write a time.", "Change time limit")
folder = Path(sys.argv[2])
while not list(folder.glob("*.json")):
    application.processEvents()
os._exit(9)
"""


def test_it_outlives_a_crash(open_desk: Callable[[], Desk], folder: Path) -> None:
    path, copies = folder / "agents" / "vera.md", state_folder() / "unsaved-agents"
    died = subprocess.run([sys.executable, "-c", DYING, str(path), str(copies)], check=False)
    assert died.returncode == 9
    desk = open_desk()
    bar = desk.window.notices.bar(NOTICE)
    assert bar is not None
    bar.buttons["Restore"].click()
    assert desk.field("timeout").text() == "soon"
    assert desk.draft.is_modified
    assert desk.draft.text == VERA
    assert not desk.editor.save()
