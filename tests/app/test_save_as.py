"""Save as: whatever is typed as a name is where the workflow goes, and nothing is replaced unasked."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QFileDialog, QLineEdit, QMessageBox, QWidget
from pytestqt.qtbot import QtBot

from app.document import WorkflowDocument
from app.file_actions import FileActions
from app.notice_bar import NoticeArea
from app.recent_files import RecentFiles
from app.settings_store import SettingsStore

pytestmark = [
    pytest.mark.qt_log_ignore("This plugin does not support", extend=True),
    pytest.mark.skipif(sys.platform == "darwin", reason="the system asks with a dialog of its own"),
]


@pytest.fixture
def files(qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FileActions:
    """The actions of a window with a workflow that has no file yet."""
    monkeypatch.chdir(tmp_path)
    window = QWidget()
    qtbot.addWidget(window)
    window.show()
    recent = RecentFiles("Recent", SettingsStore(tmp_path / "settings.json"), window)
    return FileActions(WorkflowDocument(), NoticeArea(window), recent, window)


def field_of(qtbot: QtBot, files: FileActions) -> QLineEdit:
    """The field for the name, once the dialog has the keys."""
    dialog = files.dialog
    assert dialog is not None
    field = dialog.findChild(QLineEdit, "fileNameEdit")
    assert field is not None
    qtbot.waitUntil(lambda: dialog.isActiveWindow() and field.hasFocus())
    return field


def save_as(qtbot: QtBot, files: FileActions, text: str) -> None:
    """Type a name over the one that is offered, and Enter, quickly."""
    files.save_as()
    field = field_of(qtbot, files)
    field.selectAll()
    QTest.keyClicks(field, text)
    QTest.keyClick(field, Qt.Key.Key_Return)


def document_of(files: FileActions) -> WorkflowDocument:
    return files._document


def answer(qtbot: QtBot, files: FileActions, words: str) -> None:
    question = files.question
    assert isinstance(question, QMessageBox)
    button = next(each for each in question.buttons() if each.text() == words)
    QTest.mouseClick(button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: files.question is not question)


@pytest.mark.parametrize(
    ("typed", "saved"),
    [
        ("{there}/mine.json", "mine.json"),
        ("{there}/mine", "mine.json"),
        ("{there}/with space.json", "with space.json"),
        ("{there}/mine.jsonc", "mine.jsonc"),
    ],
)
def test_an_absolute_path_is_where_it_goes(
    qtbot: QtBot, files: FileActions, tmp_path: Path, typed: str, saved: str
) -> None:
    there = tmp_path / "my dir"
    there.mkdir()
    save_as(qtbot, files, typed.format(there=there.as_posix()))
    assert document_of(files).path == there / saved
    assert (there / saved).is_file()


def test_a_folder_is_opened_and_the_name_can_be_typed_after_it(
    qtbot: QtBot, files: FileActions, tmp_path: Path
) -> None:
    there = tmp_path / "sub"
    there.mkdir()
    save_as(qtbot, files, there.as_posix())
    dialog = files.dialog
    assert isinstance(dialog, QFileDialog)
    qtbot.waitUntil(lambda: Path(dialog.directory().absolutePath()) == there)
    assert document_of(files).path is None
    field = field_of(qtbot, files)
    qtbot.waitUntil(lambda: field.selectedText().endswith(".json"))
    QTest.keyClicks(field, "mine.json")
    QTest.keyClick(field, Qt.Key.Key_Return)
    assert document_of(files).path == there / "mine.json"


def test_another_file_is_replaced_only_after_a_question_that_holds_nothing_up(
    qtbot: QtBot, files: FileActions, tmp_path: Path
) -> None:
    theirs = tmp_path / "theirs.json"
    theirs.write_text("{}", encoding="utf-8")
    save_as(qtbot, files, theirs.as_posix())
    # Reached while the question stands: it has no loop of its own.
    assert theirs.read_text(encoding="utf-8") == "{}"
    answer(qtbot, files, "Cancel")
    assert (theirs.read_text(encoding="utf-8"), document_of(files).path) == ("{}", None)
    save_as(qtbot, files, theirs.as_posix())
    answer(qtbot, files, "Replace it")
    assert document_of(files).path == theirs
    assert theirs.read_text(encoding="utf-8") != "{}"
    save_as(qtbot, files, theirs.as_posix())
    assert files.question is None, "it is the workflow's own file"


def test_another_name_can_be_given_instead(qtbot: QtBot, files: FileActions, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "theirs.json").write_text("{}", encoding="utf-8")
    save_as(qtbot, files, (elsewhere / "theirs.json").as_posix())
    answer(qtbot, files, "Another name…")
    qtbot.waitUntil(lambda: files.dialog is not None)
    field = field_of(qtbot, files)
    assert field.text() == "theirs.json", "what was typed is not to be typed again"
    field.selectAll()
    QTest.keyClicks(field, "mine.json")
    QTest.keyClick(field, Qt.Key.Key_Return)
    assert document_of(files).path == elsewhere / "mine.json"
