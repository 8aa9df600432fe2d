"""Fixtures of the end-to-end tests: a project folder, and the window over it on a loop of Qt and asyncio."""

from __future__ import annotations

import asyncio
import os
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

# Before Qt is imported, as tests/e2e may be run alone.
os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from PySide6.QtCore import QCoreApplication, QEvent
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot
from qasync import QEventLoop

from app.document import WorkflowDocument
from app.main_window import MainWindow
from app.run_controller import RunController
from app.settings_store import SettingsStore
from app.theme import Appearance, Scheme
from core.backends.registry import backend_names
from tests.e2e.desk import MARK, Desk, Project, command_lines, marked_processes


@pytest.fixture
def mark(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A mark that everything which the test starts inherits; at the end nothing that carries it is alive."""
    mark = uuid.uuid4().hex
    monkeypatch.setenv(MARK, mark)
    yield mark
    left = marked_processes(mark)
    lines = command_lines(left)
    for process in left:
        process.kill()
    assert not lines, f"processes were left behind: {lines}"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mark: str) -> Project:
    """An empty project folder, which is the current folder, and a home of its own for OpenLoop."""
    folder = tmp_path / "project"
    (folder / "agents").mkdir(parents=True)
    monkeypatch.chdir(folder)
    monkeypatch.setenv("OPENLOOP_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("OPENLOOP_DEMO_SPEED", "0")
    return Project(folder)


@pytest.fixture
def loop(qapp: QApplication) -> Iterator[QEventLoop]:
    """One loop for Qt and asyncio, as the application has it; what goes wrong in it fails the test."""
    loop = QEventLoop(qapp)
    failures: list[dict[str, object]] = []
    loop.set_exception_handler(lambda _, context: failures.append(context))
    asyncio.set_event_loop(loop)
    # The test is no coroutine: it sends events and lets Qt go on, so the loop counts as running all along.
    asyncio._set_running_loop(loop)
    yield loop
    asyncio._set_running_loop(None)
    left = [task for task in asyncio.all_tasks(loop) if not task.done()]
    loop.close()
    asyncio.set_event_loop(None)
    assert not failures
    assert not left, f"tasks were left behind: {left}"


@pytest.fixture
def desk(qtbot: QtBot, qapp: QApplication, loop: QEventLoop, project: Project, mark: str) -> Iterator[Desk]:
    """The window over an empty workflow, as the application builds it."""
    qapp.setQuitOnLastWindowClosed(False)
    controller = RunController()
    document = WorkflowDocument()
    window = MainWindow(
        controller,
        document,
        store=SettingsStore(),
        appearance=Appearance(qapp, Scheme.LIGHT),
        known_backends=backend_names(),
    )
    desk = Desk(window, controller, document, project, mark, qtbot)
    controller.events.connect(desk.events.extend)
    window.closed.connect(lambda: desk.was_closed.append(desk.alive()))
    window.show()
    qtbot.waitExposed(window)
    yield desk
    if not desk.was_closed:
        # As for a signal: no questions, and nothing stays alive.
        window.quit_at_once()
        desk.until(lambda: desk.was_closed, "the window never closed")
    controller.wait_for_workers()
    for thing in (window, controller, document):
        thing.deleteLater()
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    qapp.processEvents()
