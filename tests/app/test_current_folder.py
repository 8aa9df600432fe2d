"""OpenLoop was started from a menu, in a folder where no work should go: the window says where it goes."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from app.builder.settings_panel import SettingsPanel
from app.document import WorkflowDocument
from app.file_actions import FileActions
from app.form_rows import TextRow
from app.notice_bar import NoticeArea
from app.recent_files import RecentFiles
from app.run_controller import _prepare_start
from app.settings_store import SettingsStore
from core.agent_library import AgentLibrary
from core.workflow_file import parse_workflow
from tests.app.settings_support import shown_panel, text_row
from tests.core.run_support import Workshop

pytestmark = pytest.mark.qt_log_ignore("This plugin does not support", extend=True)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's folder; the current one is the root of the disk."""
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("USERPROFILE" if sys.platform == "win32" else "HOME", str(home))
    monkeypatch.chdir(Path(home.anchor))
    return home


def work_folder(panel: SettingsPanel) -> TextRow:
    return text_row(panel.workflow_page, "Work folder")


def test_the_panel_says_where_a_new_workflow_works_and_why_not_here(qtbot: QtBot, home: Path) -> None:
    document = WorkflowDocument()
    panel = shown_panel(qtbot, document)
    panel.show_workflow()
    row = work_folder(panel)
    assert row.field.placeholderText() == f"{home / 'OpenLoop'} (usual)"
    assert "until this is saved" in row.note.text()
    assert home.anchor in row.note.text()
    document.save_as(home / "mine.json")
    assert row.field.placeholderText() == f"{home} (usual)"
    assert row.note.text() == "where agents read and write files"


def test_dialogs_for_files_begin_at_home(qtbot: QtBot, home: Path) -> None:
    window = QWidget()
    qtbot.addWidget(window)
    recent = RecentFiles("Recent", SettingsStore(home / "window.ini"), window)
    files = FileActions(WorkflowDocument(), NoticeArea(window), recent, window)
    files.save_as()
    assert files.dialog is not None
    assert Path(files.dialog.directory().absolutePath()) == home
    files.dialog.reject()


def test_a_run_makes_the_folder_and_works_in_it(qapp: object, home: Path, tmp_path: Path) -> None:
    del qapp
    shop = Workshop(tmp_path / "shop")
    text = json.dumps({"loop_agents": [shop.agent("amala")], "agents_dir": str(shop.folder / "agents")})
    library = AgentLibrary(shop.folder / "agents")
    document = WorkflowDocument()
    prepared, _ = _prepare_start(parse_workflow(text), library, document.default_workdir)
    assert prepared.plan.workdir == home / "OpenLoop"
    assert prepared.plan.workdir.is_dir()
