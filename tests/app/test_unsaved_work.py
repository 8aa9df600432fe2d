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
if "texts" in sys.argv:
    first = next(document.outline.all_agents())[2]
    document.write_payload('{"goal": "long thought', None, "A quote is missing.")
    document.refuse_text((), "Loops, at most", "max_loops", "x", "It is a whole number.")
    document.refuse_text((first.id,), "Time limit", "timeout_seconds", "soon", "It is a time.")
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
    kept.close(discard=True)
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


def test_what_stood_in_fields_and_was_no_value_yet_comes_back_too(
    unsaved: tuple[WorkflowDocument, NoticeArea, UnsavedWork], workflow: Path, tmp_path: Path
) -> None:
    died = subprocess.run(
        [sys.executable, "-c", DYING_EDITOR, str(workflow), str(tmp_path / "unsaved"), "texts"],
        cwd=Path(__file__).parents[2],
        timeout=60,
        check=False,
    )
    assert died.returncode == 9
    document, notices, kept = unsaved
    kept.offer()
    bar = notices.bar(NOTICE)
    assert bar is not None
    bar.buttons["Restore"].click()

    outline = document.outline
    assert outline.unfinished is not None
    assert outline.unfinished.text == '{"goal": "long thought'
    assert [(place, refused.text) for place, refused in outline.refused_places] == [
        ("max_loops", "x"),
        ("loop_agents[0].agents[0].timeout_seconds", "soon"),
    ]
    assert document.is_modified


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


WINDOW = """
import os, signal, sys
from pathlib import Path
from PySide6.QtCore import QTimer
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QApplication
from app.application import run_application
from app.document import NewStep
from app.main_window import MainWindow
from core.platform_paths import state_folder

path, end = sys.argv[1:]

def later(step):
    QTimer.singleShot(20, step)

def edit():
    window = next((each for each in QApplication.topLevelWidgets() if isinstance(each, MainWindow)), None)
    if window is None or window.document.library is None or window.document.path is None:
        return later(edit)
    window.document.insert_agents(["vera"], NewStep("loop", 0))
    later(lambda: wait(window))

def wait(window):
    if not list((state_folder() / "unsaved").glob("*.json")):
        return later(lambda: wait(window))
    # This one has no copy yet.
    window.document.insert_agents(["bruno"], NewStep("loop", 0))
    if end == "signal":
        os.kill(os.getpid(), signal.SIGTERM)
    elif end == "session":
        QGuiApplication.instance().commitDataRequest.emit(None)
        os._exit(0)
    else:
        window.close()
        box = window.files.question
        next(button for button in box.buttons() if button.text() == "Don\u2019t save").click()

application = QApplication([])
later(edit)
sys.exit(run_application(Path(path), None))
"""


def end_window(workflow: Path, end: str) -> None:
    """Open a window, edit the workflow in it, and end it in one way."""
    ended = subprocess.run(
        [sys.executable, "-c", WINDOW, str(workflow), end],
        cwd=Path(__file__).parents[2],
        timeout=60,
        check=False,
        capture_output=True,
        text=True,
    )
    assert ended.returncode == 0, ended.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="no process can send itself a polite signal there")
@pytest.mark.parametrize("end", ["signal", "session"])
def test_edits_of_a_window_that_the_system_ended_are_offered_up_to_the_last(
    end: str, workflow: Path, tmp_path: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENLOOP_HOME", str(tmp_path / "home"))
    end_window(workflow, end)
    notices = NoticeArea(None)
    qtbot.addWidget(notices)
    document = WorkflowDocument()
    kept = UnsavedWork(document, notices)

    kept.offer()
    bar = notices.bar(NOTICE)
    assert bar is not None
    bar.buttons["Restore"].click()
    agents = [group.agents[0].agent for group in document.workflow.loop_agents]
    kept.close(discard=True)
    document.deleteLater()

    assert agents == ["bruno", "vera", "amala"]


def test_edits_that_the_user_did_not_want_are_not_offered(
    workflow: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENLOOP_HOME", str(tmp_path / "home"))
    end_window(workflow, "question")

    assert not list((tmp_path / "home" / "state" / "unsaved").glob("*"))
