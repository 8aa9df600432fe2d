"""What opening and saving do beside their work: nothing is lost unsaid, and every notice knows a way on."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QFileDialog
from pytestqt.qtbot import QtBot

import resources
from app.document import WorkflowDocument
from app.editor import FilePlace
from app.file_actions import FILE, SAVED, WARNINGS
from app.main_window import MainWindow
from app.settings_store import SettingsStore
from core.problems import Severity
from core.run_folders import example_workdir
from tests.app.test_main_window import ScriptedController, make_window

pytestmark = pytest.mark.qt_log_ignore("This plugin does not support", extend=True)

COMMENTED = '{"loop_agents": ["vera"]} // why\n'


@pytest.fixture
def window(qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[MainWindow]:
    monkeypatch.setenv("OPENLOOP_HOME", str(tmp_path / "home"))
    store = SettingsStore(tmp_path / "state" / "window.ini")
    window = make_window(qtbot, ScriptedController(), WorkflowDocument(), store)
    window.resize(1280, 800)
    window.show()
    yield window
    window.closing.may_close = True
    window.close()


def notice(window: MainWindow, name: str) -> str:
    bar = window.notices.bar(name)
    return "\n".join((bar.notice.text, *bar.notice.lines)) if bar is not None else ""


def press(window: MainWindow, name: str, action: str) -> None:
    bar = window.notices.bar(name)
    assert bar is not None
    QTest.mouseClick(bar.buttons[action], Qt.MouseButton.LeftButton)


def agents_are_read(window: MainWindow, qtbot: QtBot) -> None:
    qtbot.waitUntil(
        lambda: (
            window.document.library is not None
            and window.document.library.folders == window.agents.source.folders
        )
    )


# --- comments -----------------------------------------------------------------------------------------


def test_the_first_save_that_would_lose_comments_keeps_a_copy_and_says_so(
    window: MainWindow, tmp_path: Path
) -> None:
    path = tmp_path / "w.json"
    path.write_text(COMMENTED, encoding="utf-8")
    (tmp_path / "w.json.bak").write_text("older", encoding="utf-8")
    window.files.load(path)
    assert "comments" in notice(window, WARNINGS)
    window.document.update_settings("loops", {"max_loops": 3})
    window.actions_of_window.save.trigger()
    assert json.loads(path.read_text(encoding="utf-8"))["max_loops"] == 3
    assert (tmp_path / "w.json.bak").read_text(encoding="utf-8") == "older"
    assert (tmp_path / "w.json.bak2").read_text(encoding="utf-8") == COMMENTED
    assert notice(window, WARNINGS) == ""
    assert "kept as w.json.bak2" in notice(window, SAVED)
    window.document.update_settings("loops", {"max_loops": 4})
    window.actions_of_window.save.trigger()
    assert not (tmp_path / "w.json.bak3").exists()
    assert notice(window, SAVED) == ""


def test_saved_under_another_name_the_comments_stay_where_they_are(
    window: MainWindow, tmp_path: Path
) -> None:
    path = tmp_path / "w.json"
    path.write_text(COMMENTED, encoding="utf-8")
    window.files.load(path)
    save_as(window, tmp_path / "other.json")
    assert path.read_text(encoding="utf-8") == COMMENTED
    assert list(tmp_path.glob("*.bak*")) == []
    assert notice(window, WARNINGS) == ""


def save_as(window: MainWindow, path: Path) -> None:
    window.actions_of_window.save_as.trigger()
    dialog = window.files.dialog
    assert isinstance(dialog, QFileDialog)
    dialog.fileSelected.emit(str(path))
    dialog.close()


# --- ways on ------------------------------------------------------------------------------------------


def test_a_file_that_cannot_be_read_is_opened_in_the_editor_at_its_mistake(
    window: MainWindow, tmp_path: Path
) -> None:
    path = tmp_path / "broken.json"
    path.write_text('{\n  "max_loops": "many"\n}', encoding="utf-8")
    asked: list[FilePlace] = []
    window.files.editor_requested.connect(asked.append)
    window.files.editor_requested.disconnect(window.file_opening.open_file)
    window.files.load(path)
    press(window, FILE, "Open in the editor")
    assert [(place.path, place.line) for place in asked] == [(path, 2)]
    path.write_text('{"max_loops": 2}', encoding="utf-8")
    press(window, FILE, "Try again")
    assert window.document.path == path
    assert notice(window, FILE) == ""


def test_a_file_that_is_gone_is_not_to_be_opened_in_an_editor(window: MainWindow, tmp_path: Path) -> None:
    window.files.load(tmp_path / "gone.json")
    bar = window.notices.bar(FILE)
    assert bar is not None
    assert "Open in the editor" not in bar.buttons


def test_what_cannot_be_saved_here_is_saved_elsewhere_from_the_notice(
    window: MainWindow, tmp_path: Path
) -> None:
    path = tmp_path / "w.json"
    path.write_text('{"loop_agents": ["vera"]}', encoding="utf-8")
    window.files.load(path)
    (tmp_path / "folder.json").mkdir()
    save_as(window, tmp_path / "folder.json")
    assert "folder.json is not saved." in notice(window, FILE)
    press(window, FILE, "Save as…")
    dialog = window.files.dialog
    assert isinstance(dialog, QFileDialog)
    dialog.fileSelected.emit(str(tmp_path / "better.json"))
    dialog.close()
    assert window.document.path == tmp_path / "better.json"
    assert notice(window, FILE) == ""


# --- examples -----------------------------------------------------------------------------------------


def test_what_moves_with_its_file_leaves_its_runs_and_says_where(
    window: MainWindow, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Agents of a workflow that has no file yet work somewhere; saved, they work beside it."""
    before, after = tmp_path / "before", tmp_path / "after"
    for folder in (before, after):
        folder.mkdir()
    monkeypatch.chdir(before)
    window.document.new()
    window.files._write(after / "mine.json")
    assert notice(window, SAVED) == "", "nothing ran yet"
    window.document.new()
    (before / ".openloop").mkdir()
    window.files._write(after / "mine.json")
    assert f"work in {after}." in notice(window, SAVED)
    assert f"stay in {before}." in notice(window, SAVED)
    window.files._write(after / "mine.json")
    assert notice(window, SAVED) == "", "nothing moved"


def test_an_example_works_in_a_folder_of_the_users_data(
    window: MainWindow, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, qtbot: QtBot
) -> None:
    example = resources.example_workflow("author_and_auditor")
    monkeypatch.chdir("/")
    window.files.load(example)
    agents_are_read(window, qtbot)
    folder = tmp_path / "home" / "data" / "examples" / "author_and_auditor"
    assert window.document.default_workdir == folder == example_workdir(example)
    assert folder.is_dir()
    assert window.document.problems == ()
    window.start_run()
    (plan_file, library) = window.run._controller.started[0]  # type: ignore[attr-defined]
    assert plan_file.path == example
    assert library.folders[0] == resources.agents_folder()


def test_an_example_that_is_saved_brings_its_agents(window: MainWindow, tmp_path: Path, qtbot: QtBot) -> None:
    mine = tmp_path / "project" / "agents" / "auditor.md"
    mine.parent.mkdir(parents=True)
    mine.write_text("Mine.\n", encoding="utf-8")
    window.files.load(resources.example_workflow("author_and_auditor"))
    agents_are_read(window, qtbot)
    save_as(window, tmp_path / "project" / "texts.json")
    shipped = resources.agents_folder() / "writing" / "author.md"
    assert (mine.parent / "author.md").read_bytes() == shipped.read_bytes()
    assert mine.read_text(encoding="utf-8") == "Mine.\n"
    words = notice(window, SAVED)
    assert "texts.json is yours now." in words
    assert str(mine.parent) in words
    assert "agents that you had already: auditor" in words

    def reads_the_copy() -> bool:
        library = window.document.library
        author = library.get("author") if library is not None else None
        return author is not None and author.path == mine.parent / "author.md"

    qtbot.waitUntil(reads_the_copy)
    assert [each.text() for each in window.document.problems if each.severity is Severity.ERROR] == []


def test_an_example_that_cannot_be_saved_leaves_no_agents_behind(
    window: MainWindow, tmp_path: Path, qtbot: QtBot
) -> None:
    (tmp_path / "project" / "folder.json").mkdir(parents=True)
    window.files.load(resources.example_workflow("author_and_auditor"))
    agents_are_read(window, qtbot)
    save_as(window, tmp_path / "project" / "folder.json")
    assert "is not saved" in notice(window, FILE)
    assert list((tmp_path / "project").rglob("*.md")) == []
