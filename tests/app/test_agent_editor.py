"""The agent editor: what is typed is what is saved, and everything has its place."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QKeySequence, QTextCharFormat
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QApplication, QWidget

from app.agent_editor.editor import EDIT, PREVIEW, WHOLE
from app.agent_editor.file_notices import SAVING
from app.fields import CalmComboBox
from app.side import Side
from tests.app.agent_desk import FIXTURES, VERA, Desk

# The offscreen platform says so about sizes of windows, popups and dialogs.
pytestmark = pytest.mark.qt_log_ignore("This plugin does not support")

folder, open_desk, desk = FIXTURES


def test_a_variant_that_nobody_names_is_the_backends(desk: Desk) -> None:
    desk.open("vera")
    assert desk.field("variant").placeholderText() == "as the backend is set up"


def test_one_line_is_one_line(desk: Desk) -> None:
    desk.file("vera").write_text("---\nname: vera\nrole: auditor\n---\nLook.", encoding="utf-8")
    desk.open("vera")
    assert desk.editor.prompt.size_label.text() == "1 line, 5 characters"


# --- saving --------------------------------------------------------------------------------------------


def test_a_field_that_is_typed_into_changes_its_line_and_nothing_else(desk: Desk) -> None:
    desk.choose_in_pool("vera", desk.window.tr("Edit agent…"))
    assert desk.window.right.side is Side.AGENT
    desk.retype("role", "judge")
    desk.press(QKeySequence.StandardKey.Save)
    assert desk.text("vera") == VERA.replace("'auditor'", "'judge'")
    assert desk.editor.head.state.text() == "saved"


def test_the_prompt_is_saved_with_the_spaces_and_ends_of_lines_of_the_file(desk: Desk) -> None:
    text = VERA.replace("\n", "\r\n").replace("look at", "look\u00a0at")
    desk.file("vera").write_bytes(text.encode())
    desk.open("vera")
    desk.type(" now")
    QTest.keyClick(desk.editor.head.save_button, Qt.Key.Key_Space)
    assert desk.text("vera") == text.replace("`score` it", "`score` it now")


def test_the_keys_of_saving_belong_to_who_has_the_focus(desk: Desk) -> None:
    desk.open("vera")
    desk.window.document.rename_agent("amala", "amala2")
    desk.type("x")
    desk.press(QKeySequence.StandardKey.Save)
    assert desk.text("vera") != VERA
    assert desk.window.document.is_modified
    saved = desk.text("vera")
    desk.type("y")
    desk.window.workflow_view.setFocus()
    desk.press(QKeySequence.StandardKey.Save)
    assert not desk.window.document.is_modified
    assert desk.text("vera") == saved
    assert desk.draft.is_modified


def test_undo_takes_edits_back_in_their_order_wherever_they_were_made(desk: Desk) -> None:
    desk.open("vera")
    desk.retype("role", "judge")
    desk.type("abc")
    desk.retype("description", "words")
    texts = [desk.draft.text]
    while desk.draft.is_modified:
        desk.press(QKeySequence.StandardKey.Undo)
        texts.append(desk.draft.text)
    assert texts[-1] == VERA
    assert "abc" in texts[1]
    assert "words" not in texts[1]
    assert "abc" not in texts[2]
    assert "judge" in texts[2]
    assert not desk.window.document.is_modified
    desk.editor.prompt.edit.setFocus()
    for _ in texts[1:]:
        desk.press(QKeySequence.StandardKey.Redo)
    assert desk.draft.text == texts[0]


def test_revert_is_a_step_of_undo(desk: Desk) -> None:
    desk.open("vera")
    desk.type("mine")
    mine = desk.draft.text
    QTest.mouseClick(desk.editor.head.revert_button, Qt.MouseButton.LeftButton)
    assert desk.draft.text == VERA
    assert not desk.draft.is_modified
    desk.editor.prompt.edit.setFocus()
    desk.press(QKeySequence.StandardKey.Undo)
    assert desk.draft.text == mine
    assert desk.draft.is_modified


def test_a_file_that_cannot_be_written_is_said_in_words_and_stays_unsaved(desk: Desk) -> None:
    desk.open("vera")
    desk.type("x")
    desk.file("vera").unlink()
    desk.file("vera").mkdir()
    assert desk.editor.save() is False
    assert "vera.md is not saved." in desk.notice(SAVING)
    assert desk.draft.is_modified
    desk.file("vera").rmdir()


# --- front matter that cannot be read ------------------------------------------------------------------


def test_broken_front_matter_is_mended_as_text_with_its_line_marked(desk: Desk) -> None:
    desk.file("vera").write_bytes(b"---\nname: vera\nrole: a: b\n---\nYou.\n")
    desk.editing.edit(desk.file("vera"))
    editor = desk.editor
    assert editor.tabs.currentIndex() == WHOLE
    assert not editor.tabs.isTabEnabled(EDIT)
    assert "line 3" in editor.problems.list.item(0).text()
    editor.whole.edit.go_to(1)
    item = editor.problems.list.visualItemRect(editor.problems.list.item(0))
    QTest.mouseClick(
        editor.problems.list.viewport(),
        Qt.MouseButton.LeftButton,
        Qt.KeyboardModifier.NoModifier,
        item.center(),
    )
    assert editor.whole.edit.textCursor().blockNumber() == 2
    QTest.keySequence(editor.whole.edit, QKeySequence(QKeySequence.StandardKey.SelectEndOfLine))
    QTest.keyClick(editor.whole.edit, Qt.Key.Key_Backspace)
    desk.qtbot.waitUntil(lambda: editor.tabs.isTabEnabled(EDIT))
    editor.tabs.setCurrentIndex(EDIT)
    assert desk.field("name").text() == "vera"
    assert editor.save()
    assert desk.text("vera").startswith("---\nname: vera\nrole: a")


def test_edits_of_the_whole_file_are_one_step_of_undo_once_it_is_left(desk: Desk) -> None:
    editor = desk.open("vera")
    editor.tabs.setCurrentIndex(WHOLE)
    QTest.keySequence(editor.whole.edit, QKeySequence(QKeySequence.StandardKey.MoveToEndOfDocument))
    QTest.keyClicks(editor.whole.edit, "one")
    QTest.keyClick(editor.whole.edit, Qt.Key.Key_Return)
    QTest.keyClicks(editor.whole.edit, "two")
    desk.press(QKeySequence.StandardKey.Undo)
    assert "two" not in desk.draft.text
    editor.tabs.setCurrentIndex(EDIT)
    assert "one" in editor.prompt.edit.toPlainText()
    desk.press(QKeySequence.StandardKey.Undo)
    assert desk.draft.text == VERA
    assert not desk.draft.is_modified


def test_a_problem_leads_to_its_field(desk: Desk) -> None:
    desk.file("vera").write_bytes(b"---\nname: vera\ntimeout: soon\ntimeot: 3\n---\nYou.\n")
    editor = desk.open("vera")
    texts = [editor.problems.list.item(row).text() for row in range(editor.problems.list.count())]
    assert any("timeout must be a number" in text for text in texts)
    assert any("Did you mean timeout?" in text for text in texts)
    row = next(row for row, text in enumerate(texts) if "must be a number" in text)
    editor.problems.list.setCurrentRow(row)
    QTest.keyClick(editor.problems.list, Qt.Key.Key_Return)
    assert QApplication.focusWidget() is desk.field("timeout")
    QTest.keyClicks(desk.field("timeout"), "90 s")
    desk.qtbot.waitUntil(lambda: editor.problems.list.count() == 1)
    assert "timeout: 90\n" in desk.draft.text


def test_a_field_that_cannot_be_changed_alone_says_so(desk: Desk) -> None:
    desk.file("vera").write_bytes(b"---\nrole: &r auditor\nx-other: *r\n---\nYou.\n")
    desk.open("vera")
    desk.retype("role", "x")
    row = desk.editor.form.rows["role"]
    assert "anchor" in row.error.text()
    # What is on the screen is not what is in the text, so it is unsaved.
    assert desk.draft.is_modified
    desk.retype("role", "auditor")
    assert row.error.isHidden()
    assert not desk.draft.is_modified


# --- the form ------------------------------------------------------------------------------------------


def test_an_empty_field_says_what_holds_and_where_it_comes_from(desk: Desk) -> None:
    desk.window.document.update_settings("model", {"opencode_defaults.model": "acme/large"})
    desk.window.document.update_settings("time", {"agent_timeout": 60})
    editor = desk.open("amala")
    assert desk.field("model").placeholderText() == "acme/large"
    assert editor.form.rows["model"].note.text() == "from the workflow"
    assert desk.field("timeout").placeholderText() == "1 min"
    assert editor.form.rows["can_complete"].note.text() == "its “is_complete” does not count"
    desk.retype("role", "auditor")
    assert editor.form.rows["can_complete"].note.text() == "its “is_complete” ends the loop"


def test_opencodes_defaults_are_not_shown_for_an_agent_of_another_backend(desk: Desk) -> None:
    desk.window.document.update_settings("model", {"opencode_defaults.model": "acme/large"})
    editor = desk.open("vera")
    assert desk.draft.whole is None
    assert desk.field("model").placeholderText() == "as the backend is set up"
    assert editor.form.rows["model"].note.text() == "acme/large is for agents that run with opencode"


def test_a_backend_that_is_not_installed_is_whole_in_its_box(desk: Desk) -> None:
    form = desk.open("amala").form
    form.show_missing({name: f"{name} is not installed." for name in desk.window.document.known_backends})
    box = form.rows["backend"].control
    assert isinstance(box, CalmComboBox)
    assert box.currentText().endswith("not installed")
    desk.qtbot.waitUntil(lambda: box.fitting(box.currentText()) == box.currentText())


def test_fields_for_one_backend_are_there_with_it(desk: Desk) -> None:
    form = desk.open("amala").form
    assert form.rows["command"].control.isHidden()
    desk.file("amala").write_bytes(b"---\nname: amala\nbackend: command\ncommand: [run]\n---\nYou.\n")
    desk.qtbot.waitUntil(lambda: not form.rows["command"].control.isHidden())
    desk.retype("command", "python3 'my tool.py' --fast")
    assert "command: [python3, my tool.py, --fast]\n" in desk.draft.text
    desk.retype("command", "python3 'my")
    assert "not closed" in form.rows["command"].error.text()
    desk.press(QKeySequence.StandardKey.Undo)
    assert form.rows["command"].error.text() == ""


def test_a_backend_that_is_not_installed_is_said(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENLOOP_OPENCODE", str(desk.folder / "not-there"))
    editor = desk.open("amala")
    desk.qtbot.waitUntil(lambda: bool(editor.form.rows["backend"].note.text()))
    desk.qtbot.waitUntil(lambda: "not-there" in editor.form.rows["backend"].note.text())


def test_a_saved_name_can_be_taken_over_into_the_workflow_as_one_step(desk: Desk) -> None:
    desk.open("vera")
    desk.retype("name", "judge")
    assert "uses “vera”" in desk.editor.form.rows["name"].note.text()
    desk.press(QKeySequence.StandardKey.Save)
    assert "name: judge   # the name" in desk.text("vera")
    desk.click_notice("renamed", "Rename it there too")
    document = desk.window.document
    assert (document.uses_of("vera"), document.uses_of("judge")) == (0, 2)
    document.undo_stack.undo()
    assert document.uses_of("vera") == 2


def test_a_name_that_another_agent_has_is_a_problem(desk: Desk) -> None:
    editor = desk.open("vera")
    desk.retype("name", "amala")
    desk.qtbot.waitUntil(lambda: editor.problems.list.count() > 0)
    assert "another agent called amala" in editor.problems.list.item(0).text()


# --- the prompt ----------------------------------------------------------------------------------------


def test_enter_goes_on_with_a_list_and_ends_it_in_an_empty_item(desk: Desk) -> None:
    editor = desk.open("vera")
    desk.type("")
    for key in (Qt.Key.Key_Return, Qt.Key.Key_Tab):
        QTest.keyClick(editor.prompt.edit, key)
    QTest.keyClicks(editor.prompt.edit, "inner")
    QTest.keyClick(editor.prompt.edit, Qt.Key.Key_Return)
    QTest.keyClick(editor.prompt.edit, Qt.Key.Key_Backtab)
    QTest.keyClick(editor.prompt.edit, Qt.Key.Key_Return)
    QTest.keyClicks(editor.prompt.edit, "after")
    assert desk.draft.prompt.shown().endswith("- `score` it\n  - inner\n\nafter") or (
        desk.draft.prompt.shown().endswith("- `score` it\n  - inner\nafter")
    )


def test_numbers_of_lists_count_on(desk: Desk) -> None:
    editor = desk.open("amala")
    desk.type("")
    QTest.keyClick(editor.prompt.edit, Qt.Key.Key_Return)
    QTest.keyClicks(editor.prompt.edit, "9. nine")
    QTest.keyClick(editor.prompt.edit, Qt.Key.Key_Return)
    assert desk.draft.prompt.shown().endswith("9. nine\n10. ")


def test_escape_leaves_the_text_for_who_walks_with_tab(desk: Desk) -> None:
    editor = desk.open("vera")
    editor.prompt.edit.setFocus()
    QTest.keyClick(editor.prompt.edit, Qt.Key.Key_Escape)
    assert QApplication.focusWidget() is editor.prompt.find_button
    assert not desk.draft.is_modified


def test_finding_counts_matches_and_goes_around(desk: Desk) -> None:
    editor = desk.open("vera")
    editor.prompt.edit.setFocus()
    desk.press(QKeySequence.StandardKey.Find)
    bar = editor.prompt.find_bar
    assert QApplication.focusWidget() is bar.field
    QTest.keyClicks(bar.field, "o")
    assert bar.count.text() == "1 of 4"
    QTest.keyClick(bar.field, Qt.Key.Key_Return, Qt.KeyboardModifier.ShiftModifier)
    assert bar.count.text() == "4 of 4"
    assert editor.prompt.edit.textCursor().selectedText() == "o"
    QTest.keyClicks(bar.field, "zz")
    assert bar.count.text() == "nothing found"
    QTest.keyClick(bar.field, Qt.Key.Key_Escape)
    assert QApplication.focusWidget() is editor.prompt.edit


def test_markdown_and_the_state_are_told_apart(desk: Desk) -> None:
    desk.file("amala").write_bytes(
        b"# Head\n\nplain **bold** `code` payload.findings\n\n```\n# no head\n```\n<state_update>\n"
    )
    editor = desk.open("amala")
    document = editor.prompt.edit.document()
    desk.qtbot.waitUntil(lambda: bool(document.firstBlock().layout().formats()))

    def colour(line: int, word: str) -> tuple[str, bool]:
        block = document.findBlockByNumber(line)
        at = block.text().index(word)
        for part in block.layout().formats():
            if part.start <= at < part.start + part.length:  # type: ignore[attr-defined]
                form: QTextCharFormat = part.format  # type: ignore[attr-defined]
                return form.foreground().color().name(), form.fontWeight() > 400
        return "", False

    assert colour(0, "Head")[1]
    assert colour(2, "plain") == ("", False)
    assert colour(2, "bold")[1]
    assert len({colour(2, word)[0] for word in ("plain", "code", "payload")}) == 3
    assert colour(5, "# no head") == colour(2, "code")
    assert colour(7, "<state_update>")[0] not in ("", colour(2, "payload")[0])


def test_of_a_long_prompt_what_comes_into_view_is_coloured(desk: Desk) -> None:
    lines = 5_000
    desk.file("amala").write_bytes(("## head\n" * lines + "```\n" + "x\n" * 50).encode())
    editor = desk.open("amala")
    document = editor.prompt.edit.document()

    def formats(line: int) -> int:
        return len(document.findBlockByNumber(line).layout().formats())

    desk.qtbot.waitUntil(lambda: formats(0) > 0)
    assert formats(lines // 2) == 0
    editor.prompt.edit.go_to(lines + 20)
    desk.qtbot.waitUntil(lambda: formats(lines + 10) > 0)


def test_a_prompt_of_a_megabyte_and_a_line_without_end_can_be_edited(desk: Desk) -> None:
    text = "---\nname: amala\n---\n" + "words and more\n" * 50_000 + "x" * 300_000 + "\nend\n"
    desk.file("amala").write_bytes(text.encode())
    desk.open("amala")
    desk.type("!")
    assert desk.editor.save()
    assert desk.text("amala") == text.replace("\nend\n", "\nend!\n")


def test_the_preview_loads_nothing_shows_tags_and_asks_before_it_opens_a_link(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []
    monkeypatch.setattr(
        "app.agent_editor.editor.QDesktopServices.openUrl", lambda url: opened.append(url.toString())
    )
    desk.file("amala").write_bytes(
        b"![x](file:///etc/passwd) <b>raw</b> [web](https://example.org/a) [local](file:///etc/passwd)\n"
    )
    editor = desk.open("amala")
    editor.tabs.setCurrentIndex(PREVIEW)
    assert "<b>raw</b>" in editor.preview.toPlainText()
    editor.preview.anchorClicked.emit("file:///etc/passwd")
    assert editor.question is None
    editor.preview.anchorClicked.emit("https://example.org/a")
    desk.answer("Open")
    assert opened == ["https://example.org/a"]


# --- reach ---------------------------------------------------------------------------------------------


def test_every_control_has_a_name_and_can_be_reached_by_keys(desk: Desk) -> None:
    editor = desk.open("vera")
    seen: set[QWidget] = set()
    editor.form.rows["name"].control.setFocus()
    for _ in range(40):
        focused = QApplication.focusWidget()
        assert focused is not None
        if focused in seen or not editor.isAncestorOf(focused):
            break
        seen.add(focused)
        if focused is editor.prompt.edit:
            QTest.keyClick(focused, Qt.Key.Key_Escape)
        else:
            QTest.keyClick(focused, Qt.Key.Key_Tab)
    wanted = [row.control for key, row in editor.form.rows.items() if key not in ("command", "extra_args")]
    wanted += [editor.prompt.edit, editor.prompt.find_button]
    assert [each.accessibleName() for each in wanted if each not in seen] == []
    for button in editor.findChildren(QAbstractButton):
        assert button.accessibleName() or button.text()


def test_it_fits_where_there_is_little_room(desk: Desk) -> None:
    editor = desk.open("vera")
    desk.window.resize(1024, 640)
    desk.qtbot.waitUntil(lambda: desk.window.width() == 1024)
    editor.resize(420, 540)
    for widget in (editor.head.save_button, editor.head.close_button, editor.prompt.find_button):
        right = widget.mapTo(editor, QPoint(widget.width(), 0)).x()
        assert right <= editor.width()
    assert editor.prompt.edit.height() > 100
