"""Renaming an agent in the window: its file and the workflow follow as one step, and others are named."""

from __future__ import annotations

import json

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QKeySequence
from PySide6.QtTest import QTest

import resources
from app.rename_dialog import RenameDialog
from tests.app.agent_desk import FIXTURES, VERA, Desk, usable

# The offscreen platform says so about sizes of windows, popups and dialogs.
pytestmark = pytest.mark.qt_log_ignore("This plugin does not support")

folder, open_desk, desk = FIXTURES


def asked(desk: Desk, name: str) -> RenameDialog:
    """The dialog, as it opens from the list of agents."""
    desk.choose_in_pool(name, "Rename agent…")
    dialog = desk.editing.renaming.dialog
    assert dialog is not None
    desk.qtbot.waitExposed(dialog)
    return dialog


def rename(desk: Desk, name: str, new: str) -> None:
    dialog = asked(desk, name)
    QTest.keyClicks(dialog.row.field, new)
    QTest.mouseClick(dialog.rename_button, Qt.MouseButton.LeftButton)
    desk.qtbot.waitUntil(lambda: desk.editing.renaming.dialog is None)


def files(desk: Desk) -> list[str]:
    return sorted(path.name for path in (desk.folder / "agents").iterdir())


def test_name_file_and_workflow_are_renamed_as_one_step_that_can_be_undone(desk: Desk) -> None:
    document = desk.window.document
    rename(desk, "vera", "judge")
    assert desk.text("judge") == VERA.replace("name: vera", "name: judge")
    assert files(desk) == ["amala.md", "judge.md"]
    assert (document.uses_of("vera"), document.uses_of("judge")) == (0, 2)
    assert document.undo_stack.undoText() == "Rename vera to judge"
    assert document.undo_stack.count() == 1
    desk.qtbot.waitUntil(lambda: usable(desk, "judge"))

    document.undo_stack.undo()
    assert document.uses_of("vera") == 2
    assert desk.text("vera") == VERA
    assert files(desk) == ["amala.md", "vera.md"]
    document.undo_stack.redo()
    assert document.uses_of("judge") == 2
    assert files(desk) == ["amala.md", "judge.md"]


def test_f2_asks_in_the_list_of_agents(desk: Desk) -> None:
    pool = desk.window.pool
    pool.select_agent("amala")
    pool.tree.setFocus()
    QTest.keyClick(pool.tree, Qt.Key.Key_F2)
    dialog = desk.editing.renaming.dialog
    assert dialog is not None
    assert dialog.row.field.text() == "amala"
    assert dialog.row.field.selectedText() == "amala"
    QTest.keyClick(dialog, Qt.Key.Key_Escape)
    desk.qtbot.waitUntil(lambda: desk.editing.renaming.dialog is None)


def test_the_question_says_what_follows_and_who_does_not(desk: Desk) -> None:
    for name in ("nightly", "weekly"):
        text = json.dumps({"loop_agents": ["vera"]})
        (desk.folder / f"{name}.json").write_text(text, encoding="utf-8")
    dialog = asked(desk, "vera")
    assert not dialog.rename_button.isEnabled()
    QTest.keyClicks(dialog.row.field, "judge")
    desk.qtbot.waitUntil(lambda: "weekly.json" in dialog.about.text())
    assert "Its file becomes judge.md." in dialog.about.text()
    assert "audit.json follows at the 2 places" in dialog.about.text()
    assert (
        "Not changed, though this agent is used there, too: nightly.json, weekly.json." in dialog.about.text()
    )
    dialog.reject()


@pytest.mark.parametrize(
    ("name", "words"),
    [("amala", "already an agent called amala"), ("taken", "already a file taken.md"), ("a/b", "none of")],
)
def test_a_name_that_cannot_be_is_said_at_once(name: str, words: str, desk: Desk) -> None:
    desk.file("taken").write_text("---\nname: other\n---\nOther.\n", encoding="utf-8")
    dialog = asked(desk, "vera")
    QTest.keyClicks(dialog.row.field, name)
    assert words in dialog.row.error.text()
    assert not dialog.rename_button.isEnabled()
    dialog.reject()


def test_what_fails_is_said_in_the_question(desk: Desk) -> None:
    dialog = asked(desk, "vera")
    QTest.keyClicks(dialog.row.field, "judge")
    desk.file("vera").unlink()
    QTest.mouseClick(dialog.rename_button, Qt.MouseButton.LeftButton)
    assert "no such file" in dialog.error.text()
    assert desk.window.document.uses_of("vera") == 2
    dialog.reject()


def test_an_agent_that_is_open_in_the_editor_goes_on_there(desk: Desk) -> None:
    desk.open("vera")
    rename(desk, "vera", "judge")
    assert desk.draft.path == desk.file("judge")
    assert desk.draft.name == "judge"
    desk.type("More.")
    QTest.mouseClick(desk.editor.head.save_button, Qt.MouseButton.LeftButton)
    assert "More." in desk.text("judge")
    assert files(desk) == ["amala.md", "judge.md"]


def test_unsaved_changes_come_first(desk: Desk) -> None:
    desk.open("vera")
    desk.type("mine")
    said: list[str] = []
    desk.window.agents.message.connect(said.append)
    desk.choose_in_pool("vera", "Rename agent…")
    assert desk.editing.renaming.dialog is None
    assert said == ["vera has unsaved changes: save or revert them, then rename it."]


def test_a_name_that_was_saved_in_the_editor_is_taken_over_with_the_file(desk: Desk) -> None:
    text = json.dumps({"loop_agents": ["vera"]})
    (desk.folder / "nightly.json").write_text(text, encoding="utf-8")
    desk.open("vera")
    desk.retype("name", "judge")
    desk.press(QKeySequence.StandardKey.Save)
    desk.qtbot.waitUntil(lambda: "nightly.json" in desk.notice("renamed"))
    assert "audit.json still uses this agent as “vera”." in desk.notice("renamed")
    assert "Its file is still called vera.md." in desk.notice("renamed")
    desk.click_notice("renamed", "Rename it there too")

    document = desk.window.document
    assert (document.uses_of("vera"), document.uses_of("judge")) == (0, 2)
    assert files(desk) == ["amala.md", "judge.md"]
    assert desk.draft.path == desk.file("judge")
    document.undo_stack.undo()
    assert document.uses_of("vera") == 2
    assert files(desk) == ["amala.md", "vera.md"]


def test_an_agent_of_openloop_that_was_hidden_does_not_take_the_offer_away(desk: Desk) -> None:
    assert list(resources.agents_folder().rglob("vera.md"))
    library = desk.window.document.library
    assert library is not None
    desk.open("vera")
    # The agents are read on a worker, which may have done so before the name is looked up.
    desk.editor.draft_saved.connect(lambda _: library.refresh())
    desk.retype("name", "judge")
    desk.press(QKeySequence.StandardKey.Save)
    assert "audit.json still uses this agent as “vera”." in desk.notice("renamed")


def test_an_undo_that_meets_another_file_says_so_and_replaces_nothing(desk: Desk) -> None:
    rename(desk, "vera", "judge")
    desk.file("vera").write_text("---\nname: vera\n---\nAnother.\n", encoding="utf-8")
    document = desk.window.document
    document.undo_stack.undo()
    assert document.uses_of("vera") == 2
    assert "Another." in desk.text("vera")
    assert "name: judge" in desk.text("judge")
    bar = desk.window.notices.bar("renamed")
    assert bar is not None
    assert "is still called judge" in bar.notice.text


def test_after_an_undo_that_could_not_take_the_file_along_redo_has_nothing_to_do_with_files(
    desk: Desk,
) -> None:
    rename(desk, "vera", "judge")
    aside = desk.folder / "agents" / "aside" / "judge.md"
    aside.parent.mkdir()
    desk.file("judge").rename(aside)
    document, notices = desk.window.document, desk.window.notices
    document.undo_stack.undo()
    bar = notices.bar("renamed")
    assert bar is not None
    assert "judge.md is still called judge; the workflow says vera." in bar.notice.text

    # This one was never renamed: it only has the name that this step would give.
    foreign = "---\nname: vera\n---\nAnother.\n"
    desk.file("vera").write_text(foreign, encoding="utf-8")
    document.undo_stack.redo()
    assert document.uses_of("judge") == 2
    assert notices.bar("renamed") is None
    assert desk.text("vera") == foreign
    assert files(desk) == ["amala.md", "aside", "vera.md"]

    desk.file("vera").unlink()
    aside.rename(desk.file("judge"))
    document.undo_stack.undo()
    assert notices.bar("renamed") is None
    assert desk.text("vera") == VERA
    document.undo_stack.redo()
    assert desk.text("judge") == VERA.replace("name: vera", "name: judge")


def test_an_undo_that_succeeds_later_takes_its_notice_away(desk: Desk) -> None:
    rename(desk, "vera", "judge")
    document, notices = desk.window.document, desk.window.notices
    renamed = desk.text("judge")
    document.undo_stack.undo()
    desk.file("judge").write_text("---\nname: judge\n---\nAnother.\n", encoding="utf-8")
    document.undo_stack.redo()
    assert notices.bar("renamed") is not None
    desk.file("judge").unlink()
    document.undo_stack.undo()
    assert notices.bar("renamed") is None
    assert desk.text("vera") == VERA
    document.undo_stack.redo()
    assert desk.text("judge") == renamed


def test_an_undo_leaves_a_file_alone_that_is_another_agent_by_now(desk: Desk) -> None:
    rename(desk, "vera", "judge")
    foreign = "---\nname: zed\n---\nAnother.\n"
    desk.file("judge").write_text(foreign, encoding="utf-8")
    desk.window.document.undo_stack.undo()
    assert desk.text("judge") == foreign
    assert files(desk) == ["amala.md", "judge.md"]
    bar = desk.window.notices.bar("renamed")
    assert bar is not None
    assert "judge.md is not called judge any more and stays as it is" in bar.notice.text


def test_agents_that_come_with_openloop_are_not_renamed(desk: Desk) -> None:
    said: list[str] = []
    desk.window.agents.message.connect(said.append)
    desk.choose_in_pool("linter", "Rename agent…")
    assert desk.editing.renaming.dialog is None
    assert "cannot be renamed" in said[0]
