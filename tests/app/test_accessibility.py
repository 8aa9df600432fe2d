"""What assistive technology is told of a run, and that the audits find what they look for.

`test_screenshots.py` holds every view against them.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import (
    QAccessible,
    QAccessibleAnnouncementEvent,
    QAccessibleEvent,
    QAction,
    QKeySequence,
    QPainter,
    QPaintEvent,
)
from PySide6.QtWidgets import QComboBox, QPlainTextEdit, QPushButton, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from app.fields import OutlinedField
from tests.app import accessible_tree, focus_audit, keyboard_audit
from tests.scenes.every import SCENES
from tests.scenes.fixtures import application, listening, recorded  # noqa: F401  they are used by name
from tests.scenes.recording import RecordedEvents
from tests.scenes.stage import Stage, stage

Role = QAccessible.Role


pytestmark = pytest.mark.usefixtures("listening")


def heard(open_stage: Stage) -> list[accessible_tree.Told]:
    """Everything that is told of the window."""
    return accessible_tree.tree(open_stage.window)


def names(open_stage: Stage, role: QAccessible.Role) -> list[str]:
    """Names of everything of a kind."""
    return [one.name for one in heard(open_stage) if one.role is role]


@pytest.fixture
def said(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What a screen reader is told to say at once."""
    told: list[str] = []

    def take(event: QAccessibleEvent) -> None:
        if isinstance(event, QAccessibleAnnouncementEvent):
            told.append(event.message())

    monkeypatch.setattr(QAccessible, "updateAccessibility", staticmethod(take))
    return told


@pytest.mark.usefixtures("application")
def test_what_is_painted_of_a_run_is_told(
    tmp_path: Path,
    recorded: Mapping[str, RecordedEvents],  # noqa: F811
) -> None:
    with stage(tmp_path, recorded) as open_stage:
        SCENES["running"].play(open_stage)
        everything = heard(open_stage)
        told = [one.name for one in everything]
        # Card, pill and tab of one agent; how the run stands; what the timeline says it saved.
        assert any(name.startswith("vera, in parallel") and "running 0:" in name for name in told)
        assert any(name.startswith("vera, running, 0:") for name in told)
        assert "amala 1, succeeded" in names(open_stage, Role.PageTab)
        assert "Running" in told
        assert any("faster than in sequence" in name for name in told)
        log = next(one for one in everything if one.role is Role.Document)
        view = open_stage.run_view.tabs.pages.currentWidget()
        assert log.object is view
        assert log.description.splitlines() == list(view.visible_text())  # type: ignore[attr-defined]


@pytest.mark.usefixtures("application")
def test_the_bars_of_a_timeline_are_told_one_by_one(
    tmp_path: Path,
    said: list[str],
    recorded: Mapping[str, RecordedEvents],  # noqa: F811
) -> None:
    with stage(tmp_path, recorded) as open_stage:
        SCENES["running"].play(open_stage)
        area = open_stage.run_view.timeline.area
        area.setFocus()
        open_stage.press(Qt.Key.Key_Home)
        first = said[-1]
        open_stage.press(Qt.Key.Key_Down)
        assert said[-1] != first
        (chart,) = [one for one in heard(open_stage) if one.role is Role.Chart]
        assert chart.description == said[-1]


@pytest.mark.usefixtures("application")
def test_a_run_that_asks_and_one_that_ends_are_announced(tmp_path: Path, said: list[str]) -> None:
    with stage(tmp_path) as open_stage:
        SCENES["question"].play(open_stage)
        assert [text for text in said if "did not answer with a state update" in text]
        assert any("needs your answer" in name for name in names(open_stage, Role.TreeItem))
        open_stage.window.run.stop_now()
        open_stage.until(lambda: not open_stage.controller.running, "the run never ended")
        open_stage.until(open_stage.run_view.banner.isVisible, "the banner never came")
        assert open_stage.run_view.banner.title.text() in said


@pytest.mark.usefixtures("application")
def test_notices_and_what_the_status_line_says_are_announced(tmp_path: Path, said: list[str]) -> None:
    with stage(tmp_path) as open_stage:
        SCENES["changed_on_disk"].play(open_stage)
        assert any("changed on disk" in text for text in said)
        open_stage.window.status.say("Copied.")
        assert said[-1] == "Copied."


@pytest.mark.usefixtures("application")
def test_nothing_is_announced_while_nobody_listens(tmp_path: Path, said: list[str]) -> None:
    QAccessible.setActive(False)
    with stage(tmp_path) as open_stage:
        open_stage.window.status.say("Copied.")
    assert said == []


# --- the audits find what they look for ---------------------------------------------------------------


@pytest.fixture
def window(qtbot: QtBot) -> QWidget:
    window = QWidget()
    window.resize(300, 200)
    qtbot.addWidget(window)
    return window


def shown(qtbot: QtBot, window: QWidget) -> QWidget:
    window.show()
    window.activateWindow()
    qtbot.waitUntil(window.isActiveWindow)
    return window


def test_a_button_without_a_name_and_twins_are_found(qtbot: QtBot, window: QWidget) -> None:
    layout = QVBoxLayout(window)
    for text in ("", "Open", "Open", "<qt>x</qt>"):
        layout.addWidget(QPushButton(text))
    layout.addWidget(QComboBox())
    found = accessible_tree.complaints(accessible_tree.tree(shown(qtbot, window)))
    for problem in ("has no name", "cannot be told from", "reads markup", "has no label"):
        assert any(line.startswith(problem) for line in found), (problem, found)


def test_a_trap_and_a_step_back_are_found(qtbot: QtBot, window: QWidget) -> None:
    layout = QVBoxLayout(window)
    first, text, last = QPushButton("first"), QPlainTextEdit(), QPushButton("last")
    for widget in (first, text, last):
        layout.addWidget(widget)
    assert any("Tab never comes to" in line for line in keyboard_audit.tab_complaints(shown(qtbot, window)))
    text.setTabChangesFocus(True)
    assert keyboard_audit.tab_complaints(window) == []
    for text_of_button in ("made late", "made last"):
        layout.insertWidget(0, QPushButton(text_of_button))
    assert any("Tab goes back" in line for line in keyboard_audit.tab_complaints(window))


def test_a_key_with_two_meanings_is_found(qtbot: QtBot, window: QWidget) -> None:
    layout = QVBoxLayout(window)
    layout.addWidget(QPushButton("only"))
    for text in ("Open", "Export"):
        action = QAction(text, window)
        action.setShortcut(QKeySequence("Ctrl+E"))
        window.addAction(action)
    (found,) = keyboard_audit.key_complaints(shown(qtbot, window))
    assert found.startswith("Ctrl+E is Export and Open in ")


def test_a_focus_that_cannot_be_seen_is_found(qtbot: QtBot, window: QWidget) -> None:
    class Blind(QPushButton):
        def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802
            QPainter(self).fillRect(event.rect(), Qt.GlobalColor.white)

    layout = QVBoxLayout(window)
    layout.addWidget(Blind("blind"))
    layout.addWidget(OutlinedField())
    found = focus_audit.focus_complaints(shown(qtbot, window))
    assert len(found) == 1
    assert "'blind'" in found[0]
