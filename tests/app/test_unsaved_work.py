"""Edits that were not saved when OpenLoop died are offered again; those saved or thrown away are not."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from app.document import NewStep, WorkflowDocument
from app.notice_bar import NoticeArea
from app.unsaved_work import NOTICE, UnsavedWork

DYING_EDITOR = """
import os, sys
from pathlib import Path
from PySide6.QtWidgets import QApplication, QWidget
from app.document import NewStep, WorkflowDocument
from app.notice_bar import NoticeArea
from app.unsaved_work import UnsavedWork

application = QApplication([])
window = QWidget()
document = WorkflowDocument()
document.open(Path(sys.argv[1]))
folder = Path(sys.argv[2])
unsaved = UnsavedWork(document, NoticeArea(window), folder)
document.insert_agents(["vera"], NewStep("loop", 0))
while not list(folder.glob("*.json")):
    application.processEvents()
os._exit(9)
"""


@pytest.fixture
def workflow(tmp_path: Path) -> Path:
    path = tmp_path / "audit.json"
    path.write_text('{"loop_agents": ["amala"]}', encoding="utf-8")
    return path


@pytest.fixture
def unsaved(qtbot: QtBot, tmp_path: Path) -> Iterator[tuple[WorkflowDocument, NoticeArea, UnsavedWork]]:
    notices = NoticeArea(None)
    qtbot.addWidget(notices)
    document = WorkflowDocument()
    kept = UnsavedWork(document, notices, tmp_path / "unsaved")
    yield document, notices, kept
    kept.close()
    document.deleteLater()


def test_edits_of_a_process_that_died_are_offered_and_restored_as_unsaved(
    unsaved: tuple[WorkflowDocument, NoticeArea, UnsavedWork], workflow: Path, tmp_path: Path
) -> None:
    died = subprocess.run(
        [sys.executable, "-c", DYING_EDITOR, str(workflow), str(tmp_path / "unsaved")],
        cwd=Path(__file__).parents[2],
        timeout=30,
        check=False,
    )
    assert died.returncode == 9
    document, notices, kept = unsaved

    kept.offer()
    bar = notices.bar(NOTICE)
    assert bar is not None
    assert "audit.json" in bar.notice.text
    bar.buttons["Restore"].click()

    assert document.path == workflow
    assert document.is_modified
    assert [group.agents[0].agent for group in document.workflow.loop_agents] == ["vera", "amala"]
    assert not list((tmp_path / "unsaved").glob("*.json"))
    assert workflow.read_text(encoding="utf-8") == '{"loop_agents": ["amala"]}'


def test_a_copy_of_a_process_that_lives_is_not_offered(
    unsaved: tuple[WorkflowDocument, NoticeArea, UnsavedWork], workflow: Path, tmp_path: Path, qtbot: QtBot
) -> None:
    document, notices, kept = unsaved
    document.open(workflow)
    document.insert_agents(["vera"], NewStep("loop", 0))
    qtbot.waitUntil(lambda: len(list((tmp_path / "unsaved").glob("*.json"))) == 1)

    kept.offer()

    assert notices.bar(NOTICE) is None


def test_saving_takes_the_copy_away(
    unsaved: tuple[WorkflowDocument, NoticeArea, UnsavedWork], workflow: Path, tmp_path: Path, qtbot: QtBot
) -> None:
    document, _, _ = unsaved
    document.open(workflow)
    document.insert_agents(["vera"], NewStep("loop", 0))
    qtbot.waitUntil(lambda: len(list((tmp_path / "unsaved").glob("*.json"))) == 1)

    document.save()

    qtbot.waitUntil(lambda: not list((tmp_path / "unsaved").glob("*.json")))
