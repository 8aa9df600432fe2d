"""A fix of a problem that is an edit of an agent's file: one step of undo, which never loses others' work."""

from __future__ import annotations

import pytest
from PySide6.QtGui import QKeySequence
from PySide6.QtTest import QTest

from app.side import Side
from core.fixes import LetComplete
from tests.app.agent_desk import FIXTURES, Desk

pytestmark = pytest.mark.qt_log_ignore("This plugin does not support")

folder, open_desk, desk = FIXTURES

AMALA = "---\nname: amala\nrole: author\n---\nYou are Amala.\n"
MAY_END = "---\nname: amala\nrole: author\ncan_complete: true\n---\nYou are Amala.\n"


def fix(desk: Desk) -> None:
    """What the link of the problem does."""
    desk.window.agents.fix(LetComplete("amala"))


def press(desk: Desk, key: QKeySequence.StandardKey) -> None:
    tree = desk.window.workflow_view.tree
    tree.setFocus()
    QTest.keySequence(tree, QKeySequence(key))


def notice(desk: Desk) -> str:
    bar = desk.window.notices.bar("agent")
    return bar.notice.text if bar is not None else ""


def may_complete(desk: Desk) -> bool | None:
    library = desk.window.document.library
    agent = library.get("amala") if library is not None else None
    return agent.may_complete if agent is not None else None


def test_it_is_undone_and_made_again_with_the_keys_of_the_workflow(desk: Desk) -> None:
    fix(desk)
    assert desk.text("amala") == MAY_END
    assert desk.window.document.undo_stack.undoText() == "Let “amala” end the loop"
    desk.qtbot.waitUntil(lambda: may_complete(desk) is True)
    press(desk, QKeySequence.StandardKey.Undo)
    assert desk.text("amala") == AMALA
    desk.qtbot.waitUntil(lambda: may_complete(desk) is False)
    press(desk, QKeySequence.StandardKey.Redo)
    assert desk.text("amala") == MAY_END


def test_the_workflow_itself_has_no_unsaved_changes_by_it(desk: Desk) -> None:
    document = desk.window.document
    fix(desk)
    assert not document.is_modified
    document.rename_agent("vera", "judge")
    assert document.is_modified
    document.undo_stack.undo()
    document.undo_stack.undo()
    assert desk.text("amala") == AMALA
    assert not document.is_modified


def test_what_others_wrote_into_the_file_meanwhile_stays(desk: Desk) -> None:
    fix(desk)
    desk.file("amala").write_bytes(MAY_END.replace("You are", "You were").encode())
    press(desk, QKeySequence.StandardKey.Undo)
    assert desk.text("amala") == AMALA.replace("You are", "You were")
    press(desk, QKeySequence.StandardKey.Redo)
    assert desk.text("amala") == MAY_END.replace("You are", "You were")


def test_a_file_whose_key_was_changed_meanwhile_stays_and_that_is_said(desk: Desk) -> None:
    fix(desk)
    theirs = MAY_END.replace("true", "false")
    desk.file("amala").write_bytes(theirs.encode())
    press(desk, QKeySequence.StandardKey.Undo)
    assert desk.text("amala") == theirs
    assert "amala.md was changed meanwhile" in notice(desk)
    press(desk, QKeySequence.StandardKey.Redo)
    assert desk.text("amala") == theirs, "the way back failed, so there is none there"
    assert notice(desk) == ""


def test_a_file_that_is_gone_is_not_made_again_by_undo(desk: Desk) -> None:
    fix(desk)
    desk.file("amala").unlink()
    press(desk, QKeySequence.StandardKey.Undo)
    assert not desk.file("amala").exists()
    assert "amala.md is not there any more" in notice(desk)


def test_unsaved_changes_of_the_agent_are_not_made_a_conflict(desk: Desk) -> None:
    desk.open("amala")
    desk.type(" Be kind.")
    fix(desk)
    assert desk.text("amala") == AMALA
    assert "unsaved changes" in notice(desk)
    assert desk.window.right.side is Side.AGENT
    assert desk.editor.save()
    fix(desk)
    assert "can_complete: true" in desk.text("amala")
    desk.qtbot.waitUntil(lambda: "can_complete" in desk.draft.text)
    desk.type(" And firm.")
    saved = desk.text("amala")
    press(desk, QKeySequence.StandardKey.Undo)
    assert desk.text("amala") == saved
    assert "unsaved changes" in notice(desk)
