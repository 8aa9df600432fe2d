"""Agents that are edited in the window: nothing of anybody’s is lost or overwritten unseen."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QKeySequence
from PySide6.QtTest import QTest

import resources
from app.agent_editing import NOTICE
from app.agent_editor.draft import Disk
from app.agent_editor.editor import WHOLE
from app.agent_editor.file_notices import DISK, RELOADED, STATE
from app.command_palette import commands_of
from app.new_agent import file_name, template_text
from app.side import Side
from core.agent_file import inspect_agent
from core.agent_folders import user_agents_folder
from core.platform_paths import state_folder
from tests.app.agent_desk import FIXTURES, VERA, Desk, usable

# The offscreen platform says so about sizes of windows, popups and dialogs.
pytestmark = pytest.mark.qt_log_ignore("This plugin does not support")

folder, open_desk, desk = FIXTURES


# --- drafts --------------------------------------------------------------------------------------------


def test_a_draft_is_kept_while_another_agent_or_side_is_looked_at(desk: Desk) -> None:
    desk.open("vera")
    desk.type("mine")
    mine = desk.draft.text
    desk.open("amala")
    assert desk.editor.head.others.text() == "1 more unsaved"
    desk.window.right.show_settings()
    desk.editor.head.others_menu.actions()[0].trigger()
    assert desk.draft.text == mine
    desk.editor.prompt.edit.setFocus()
    desk.press(QKeySequence.StandardKey.Undo)
    assert desk.draft.text == VERA


def test_closing_the_editor_keeps_what_is_unsaved_and_goes_back(desk: Desk) -> None:
    desk.open("vera")
    desk.type("mine")
    QTest.mouseClick(desk.editor.head.close_button, Qt.MouseButton.LeftButton)
    assert desk.window.right.side is Side.SETTINGS
    assert len(desk.editing.drafts.unsaved) == 1
    desk.open("vera")
    assert desk.draft.text.endswith("mine\n")


def test_a_text_that_is_not_looked_at_any_more_is_let_go_of(desk: Desk) -> None:
    editor = desk.open("vera")
    editor.tabs.setCurrentIndex(WHOLE)
    gone: list[bool] = []
    desk.draft.destroyed.connect(lambda: gone.append(True))
    desk.press(QKeySequence.StandardKey.Close)
    assert desk.window.right.side is Side.SETTINGS
    desk.qtbot.waitUntil(lambda: bool(gone))
    desk.open("amala")
    desk.type("x")
    assert desk.draft.text.endswith("Amala.x\n")


def test_closing_the_window_asks_about_unsaved_agents(desk: Desk) -> None:
    desk.open("vera")
    desk.type("mine")
    desk.window.close()
    desk.answer("Cancel")
    assert not desk.closed
    assert desk.draft.is_modified
    desk.window.close()
    assert desk.editing.question is not None
    assert "vera" in desk.editing.question.text()
    desk.answer("Save")
    desk.qtbot.waitUntil(lambda: desk.closed)
    assert desk.text("vera").endswith("mine\n")


def test_what_is_not_wanted_leaves_nothing_behind(desk: Desk) -> None:
    desk.open("vera")
    desk.type("mine")
    desk.editing.drafts.keep_copies()
    desk.window.close()
    desk.answer("Don’t save")
    desk.qtbot.waitUntil(lambda: desk.closed)
    assert desk.text("vera") == VERA
    assert list((state_folder() / "unsaved-agents").glob("*")) == []


def test_an_end_without_a_question_keeps_a_copy(desk: Desk) -> None:
    desk.open("vera")
    desk.type("mine")
    desk.window.quit_at_once()
    desk.qtbot.waitUntil(lambda: desk.closed)
    assert len(list((state_folder() / "unsaved-agents").glob("*.json"))) == 1


DYING_EDITOR = """
import os, sys
from pathlib import Path
from PySide6.QtGui import QTextCursor
from PySide6.QtWidgets import QApplication
from app.agent_editor.open_drafts import OpenDrafts

application = QApplication([])
drafts = OpenDrafts()
draft = drafts.open(Path(sys.argv[1]))
QTextCursor(draft.prompt).insertText("mine ")
folder = Path(sys.argv[2])
while not list(folder.glob("*.json")):
    application.processEvents()
os._exit(9)
"""


@pytest.mark.parametrize("meanwhile", ["same", "changed", "gone"])
def test_a_draft_of_a_process_that_died_is_restored_as_unsaved(
    open_desk: Callable[[], Desk], folder: Path, meanwhile: str
) -> None:
    path = folder / "agents" / "vera.md"
    copies = state_folder() / "unsaved-agents"
    died = subprocess.run([sys.executable, "-c", DYING_EDITOR, str(path), str(copies)], check=False)
    assert died.returncode == 9
    if meanwhile == "changed":
        path.write_bytes(b"---\nname: vera\n---\nTheirs.\n")
    desk = open_desk()
    if meanwhile == "gone":
        path.unlink()
    bar = desk.window.notices.bar(NOTICE)
    assert bar is not None
    assert "vera" in bar.notice.text
    bar.buttons["Restore"].click()
    assert desk.draft.text == VERA.replace("# Vera", "mine # Vera")
    assert desk.draft.is_modified
    assert desk.draft.disk is {"same": Disk.SAME, "changed": Disk.CHANGED, "gone": Disk.GONE}[meanwhile]
    saved = desk.editor.save()
    assert saved is (meanwhile != "changed")
    assert (b"Theirs" in path.read_bytes()) is (meanwhile == "changed")


# --- a run ---------------------------------------------------------------------------------------------


def test_a_run_says_that_it_uses_the_saved_file_and_can_save_first(desk: Desk) -> None:
    desk.open("vera")
    desk.type("mine")
    desk.window.start_run()
    assert desk.editing.question is not None
    assert desk.editing.question.text() == "vera has unsaved changes."
    desk.answer("Cancel")
    assert not desk.controller.started
    desk.window.start_run()
    desk.answer("Save and run")
    desk.qtbot.waitUntil(lambda: bool(desk.controller.started))
    agent = desk.controller.started[0][1].get("vera")
    assert agent is not None
    assert agent.prompt.endswith("mine")
    desk.controller.end()


def test_a_run_can_use_the_file_as_saved_and_does_not_ask_about_agents_of_others(desk: Desk) -> None:
    desk.open("vera")
    desk.type("mine")
    desk.window.start_run()
    desk.answer("Run as saved")
    assert len(desk.controller.started) == 1
    desk.controller.end()
    desk.window.document.rename_agent("vera", "amala")
    desk.window.start_run()
    assert len(desk.controller.started) == 2
    desk.controller.end()


# --- what other programs do ----------------------------------------------------------------------------


def test_a_change_on_disk_is_shown_where_there_is_nothing_to_lose(desk: Desk) -> None:
    desk.open("vera")
    desk.others_write("vera", VERA.replace("auditor", "judge"))
    assert desk.field("role").text() == "judge"
    assert not desk.draft.is_modified
    assert "changed by another program" in desk.notice(RELOADED)


def test_a_second_change_on_disk_takes_back_what_was_said_about_the_first(desk: Desk) -> None:
    desk.open("vera")
    save = desk.editor.head.save_button
    assert "Nothing has changed" in save.toolTip()
    desk.others_write("vera", VERA.replace("auditor", "judge"))
    assert desk.notice(RELOADED)
    desk.type("mine")
    assert save.toolTip().startswith("Save this agent")
    desk.others_write("vera", VERA.replace("auditor", "tester"))
    assert "Another program changed vera.md" in desk.notice(DISK)
    assert desk.notice(RELOADED) == ""
    assert not save.isEnabled()
    assert "decide above" in save.toolTip()


def test_a_change_on_disk_is_never_overwritten_silently(desk: Desk) -> None:
    theirs = VERA + "theirs\n"
    desk.open("vera")
    desk.type("mine")
    desk.others_write("vera", theirs)
    assert "Another program changed vera.md" in desk.notice(DISK)
    assert not desk.editor.head.save_button.isEnabled()
    desk.press(QKeySequence.StandardKey.Save)
    assert desk.text("vera") == theirs
    desk.click_notice(DISK, "Keep mine")
    assert desk.notice(DISK) == ""
    desk.editor.prompt.edit.setFocus()
    desk.press(QKeySequence.StandardKey.Save)
    assert desk.text("vera").endswith("mine\n")
    assert "theirs" not in desk.text("vera")


def test_a_change_that_nobody_told_of_is_found_when_saving(desk: Desk) -> None:
    desk.open("vera")
    desk.type("mine")
    # No loop runs between this and the key, so nothing can have been noticed.
    desk.file("vera").write_bytes(b"theirs")
    desk.press(QKeySequence.StandardKey.Save)
    assert desk.file("vera").read_bytes() == b"theirs"
    assert "Another program changed" in desk.notice(DISK)
    assert desk.draft.is_modified


def test_theirs_can_be_taken_and_mine_brought_back(desk: Desk) -> None:
    theirs = VERA.replace("auditor", "judge")
    desk.open("vera")
    desk.type("mine")
    mine = desk.draft.text
    desk.others_write("vera", theirs)
    desk.click_notice(DISK, "Take theirs")
    assert desk.draft.text == theirs
    assert not desk.draft.is_modified
    desk.editor.prompt.edit.setFocus()
    desk.press(QKeySequence.StandardKey.Undo)
    assert desk.draft.text == mine
    assert desk.draft.is_modified


def test_the_difference_can_be_looked_at_before_deciding(desk: Desk) -> None:
    desk.open("vera")
    desk.type("mine")
    desk.others_write("vera", VERA.replace("look at", "read"))
    desk.click_notice(DISK, "Show difference")
    dialog = desk.editor.file_notices.difference
    assert dialog is not None
    lines = dialog.view.toPlainText().split("\n")
    assert "− - read payload.changes" in lines
    assert "+ - look at payload.changes" in lines
    assert "+ - `score` itmine" in lines
    QTest.mouseClick(dialog.take_button, Qt.MouseButton.LeftButton)
    assert "read payload" in desk.draft.text


def test_a_file_that_was_deleted_is_kept_here_and_saved_anew(desk: Desk) -> None:
    desk.open("vera")
    desk.file("vera").unlink()
    desk.qtbot.waitUntil(lambda: desk.draft.disk is Disk.GONE)
    assert "moved or deleted" in desk.notice(DISK)
    assert desk.editing.drafts.unsaved == [desk.draft]
    desk.click_notice(DISK, "Save it again")
    assert desk.text("vera") == VERA
    assert desk.notice(DISK) == ""


# --- new, copied, deleted ------------------------------------------------------------------------------


def test_a_new_agent_is_made_from_a_template_and_opened(desk: Desk) -> None:
    desk.window.agents.new_agent()
    dialog = desk.window.agents.dialog
    assert dialog is not None
    assert not dialog.make_button.isEnabled()
    name = dialog.rows["name"].control
    QTest.keyClicks(name, "vera")
    assert "already an agent called vera" in dialog.rows["name"].error.text()
    assert not dialog.make_button.isEnabled()
    QTest.keyClicks(name, " two")
    assert dialog.rows["name"].error.text() == ""
    QTest.keyClick(name, Qt.Key.Key_Return)
    assert desk.window.right.side is Side.AGENT
    assert desk.draft.path == desk.folder / "agents" / "vera_two.md"
    assert desk.draft.name == "vera two"
    agent = inspect_agent(desk.draft.path.read_text(encoding="utf-8"), desk.draft.path)
    assert agent.problems == ()
    assert agent.agent is not None
    assert agent.agent.may_complete
    desk.qtbot.waitUntil(lambda: usable(desk, "vera two"))


@pytest.mark.parametrize("name", ["../evil", "a/b", "a\\b", ".hidden", "what?"])
def test_a_name_that_cannot_be_a_file_is_refused_while_it_is_typed(desk: Desk, name: str) -> None:
    desk.window.agents.new_agent()
    dialog = desk.window.agents.dialog
    assert dialog is not None
    QTest.keyClicks(dialog.rows["name"].control, name)
    assert "A name has none of /" in dialog.rows["name"].error.text()
    assert not dialog.make_button.isEnabled()
    dialog.reject()


def test_a_new_agent_says_that_it_stands_in_front_of_an_installed_one(desk: Desk) -> None:
    desk.window.agents.new_agent()
    dialog = desk.window.agents.dialog
    assert dialog is not None
    QTest.keyClicks(dialog.rows["name"].control, "proteus")
    assert "used instead of it" in dialog.rows["name"].note.text()
    assert dialog.make_button.isEnabled()
    QTest.keyClicks(dialog.rows["name"].control, "_2")
    assert dialog.rows["name"].note.text() == ""
    dialog.reject()


def test_a_name_that_is_refused_names_no_file(desk: Desk) -> None:
    desk.window.agents.new_agent()
    dialog = desk.window.agents.dialog
    assert dialog is not None
    QTest.keyClicks(dialog.rows["name"].control, "judge")
    assert dialog.target.text.endswith("judge.md")
    QTest.keyClicks(dialog.rows["name"].control, "/bar")
    assert dialog.rows["name"].error.text()
    assert dialog.target.text == ""
    dialog.reject()


def test_a_new_agent_is_found_where_all_actions_are(desk: Desk) -> None:
    command = next(each for each in commands_of(desk.window) if each.name == "New agent…")
    command.action.trigger()
    assert desk.window.agents.dialog is not None
    desk.window.agents.dialog.reject()


def test_the_agent_of_a_selected_place_is_edited_from_the_menu(desk: Desk) -> None:
    vera = next(
        node for _, _, node in desk.window.document.outline.all_agents() if node.entry.agent == "vera"
    )
    desk.window.workflow_view.tree.select_nodes([vera.id])
    command = next(each for each in commands_of(desk.window) if each.name == "Edit agent…")
    command.action.trigger()
    assert desk.draft.name == "vera"


@pytest.mark.parametrize("template", ["auditor", "author", "tester", "finalizer", "empty"])
def test_every_template_is_a_good_agent_with_any_name(template: str) -> None:
    for name in ("vera", "a: b", "no", 'x "y"', "{name}"):
        read = inspect_agent(template_text(template, name, None, "demo"), Path("x.md"))
        assert read.problems == ()
        assert read.agent is not None
        assert (read.agent.name, read.agent.backend) == (name, "demo")
        assert ("<state_update>" in read.agent.prompt) is (template != "empty")
        assert name in read.agent.prompt or template == "empty"


def test_names_of_files_are_taken_by_every_system() -> None:
    assert file_name("security_auditor") == "security_auditor.md"
    assert file_name("../../etc/passwd") == "etc_passwd.md"
    assert file_name("con") == "con_agent.md"
    assert file_name("README") == "README_agent.md"
    assert file_name("…") == "agent.md"
    assert file_name("Prüfer für Ä") == "Prüfer_für_Ä.md"
    assert len(file_name("x" * 500)) < 100


def test_an_agent_that_ships_is_read_only_and_copied_to_my_own(desk: Desk) -> None:
    shipped = next(resources.agents_folder().rglob("proteus.md"))
    before = shipped.read_bytes()
    editor = desk.open("proteus")
    assert "comes with OpenLoop" in desk.notice(STATE)
    QTest.keyClicks(editor.prompt.edit, "x")
    assert not desk.draft.is_modified
    assert not desk.field("name").isEnabled()
    desk.click_notice(STATE, "Copy to my agents…")
    dialog = desk.window.agents.dialog
    assert dialog is not None
    places = dialog.rows["folder"]
    places.edited.emit(user_agents_folder())
    QTest.keyClick(dialog, Qt.Key.Key_Return)
    copy = user_agents_folder() / "proteus.md"
    assert copy.read_bytes() == before
    assert desk.draft.path == copy
    assert not desk.draft.is_example
    assert shipped.read_bytes() == before


def test_an_agent_is_duplicated_with_its_comments_under_another_name(desk: Desk) -> None:
    desk.choose_in_pool("vera", "Duplicate agent…")
    dialog = desk.window.agents.dialog
    assert dialog is not None
    QTest.keyClick(dialog, Qt.Key.Key_Return)
    assert desk.text("vera_2") == VERA.replace("name: vera ", "name: vera_2 ")
    assert desk.draft.path == desk.file("vera_2")


@pytest.mark.skipif(sys.platform != "linux", reason="asks the trash of this system")
def test_an_agent_is_deleted_into_the_trash_after_a_question(desk: Desk) -> None:
    desk.open("vera")
    desk.choose_in_pool("vera", "Delete agent…")
    question = desk.window.agents.question
    assert question is not None
    assert "audit.json uses this agent" in question.informativeText()
    desk.answer("Cancel")
    assert desk.file("vera").exists()
    desk.choose_in_pool("vera", "Delete agent…")
    desk.answer("Move to the trash")
    if desk.window.agents.question is not None:
        desk.answer("Delete it for good")
    assert not desk.file("vera").exists()
    assert desk.editor.draft is None
    assert desk.window.right.side is not Side.AGENT
