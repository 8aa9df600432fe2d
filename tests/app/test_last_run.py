"""The run that was looked at last is there again at the next start."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QLabel, QWidget
from pytestqt.qtbot import QtBot

from app.last_run import LastRun
from app.right_side import RightSide
from app.run_view.tabs import STATE
from app.settings_store import SettingsStore
from app.side import Side
from core.progress import RunProgress
from core.recorded_run import read_run
from tests.core.run_support import Workshop

pytestmark = pytest.mark.qt_log_ignore("This plugin does not support")


class Session(QObject):
    """The run of a window, as far as it is listened to."""

    began = Signal(object)

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self.running = False


class Start:
    """One start of the window's right side."""

    def __init__(self, qtbot: QtBot, path: Path) -> None:
        self.qtbot = qtbot
        self.store = SettingsStore(path)
        self.window = QWidget()
        qtbot.addWidget(self.window)
        self.right = RightSide(QLabel("settings"), self.window)
        self.window.resize(800, 600)
        self.right.resize(800, 600)
        self.window.show()
        self.session = Session(self.window)
        self.last = LastRun(self.right, self.session, self.store, self.window)  # type: ignore[arg-type]
        self.offers = 0
        self.last.offered.connect(self._count)
        self.said: list[str] = []
        self.last.message.connect(self.said.append)
        self.told: list[str] = []
        self.last.told.connect(self.told.append)
        self.last.look()

    def _count(self) -> None:
        self.offers += 1

    def end(self) -> None:
        self.last.keep_tabs()
        self.last.close()
        assert self.store.write()
        self.window.close()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The folder of a run with three turns."""
    shop = Workshop(tmp_path / "project")
    for name in ("amala", "vera", "linter"):
        shop.agent(name)
    run = shop.run({"preparation_agents": ["amala", "vera", "linter"]})
    return Path(run.folder)


def first_start(qtbot: QtBot, path: Path, folder: Path) -> None:
    """Look at a run, close a tab, turn to the state, and end."""
    start = Start(qtbot, path)
    assert start.offers == 0
    start.session.began.emit(RunProgress(folder=str(folder)))
    start.end()
    start = Start(qtbot, path)
    start.last.show()
    qtbot.waitUntil(lambda: start.right.side is Side.RUN)
    tabs = start.right.run_view.tabs
    assert tabs.close_turn(tabs.open_turns[0])
    tabs.show_state()
    start.end()


def test_it_is_read_when_one_turns_to_it_with_the_tabs_and_the_page_it_had(
    qtbot: QtBot, tmp_path: Path, folder: Path
) -> None:
    first_start(qtbot, tmp_path / "window.ini", folder)
    start = Start(qtbot, tmp_path / "window.ini")
    assert start.offers == 1
    assert not start.right.has_run_view
    start.last.turn_to(Side.RUN)
    qtbot.waitUntil(lambda: start.right.side is Side.RUN)
    tabs = start.right.run_view.tabs
    assert [turn.rpartition("/")[2] for turn in tabs.open_turns] == ["1", "2"]
    assert tabs.page == STATE
    assert start.said[-1] == ""
    start.end()


def test_it_is_told_whose_run_it_is(qtbot: QtBot, tmp_path: Path, folder: Path) -> None:
    first_start(qtbot, tmp_path / "window.ini", folder)
    start = Start(qtbot, tmp_path / "window.ini")
    (told,) = start.told
    name = read_run(folder).progress.workflow
    assert name
    assert told.startswith(f"Last run: {name}, begun on ")
    start.session.began.emit(RunProgress(workflow="other", workflow_path="/o/other.json", started=1.0))
    assert start.told[-1].startswith("Last run: other, begun on ")
    assert start.told[-1].endswith("\n/o/other.json")
    start.end()


def test_nothing_is_offered_when_the_folder_is_gone(qtbot: QtBot, tmp_path: Path, folder: Path) -> None:
    first_start(qtbot, tmp_path / "window.ini", folder)
    (folder / "journal.jsonl").unlink()
    start = Start(qtbot, tmp_path / "window.ini")
    assert start.offers == 0
    start.last.turn_to(Side.RUN)
    assert start.right.side is Side.SETTINGS
    start.end()


def test_a_folder_that_became_unreadable_meanwhile_is_said(
    qtbot: QtBot, tmp_path: Path, folder: Path
) -> None:
    first_start(qtbot, tmp_path / "window.ini", folder)
    start = Start(qtbot, tmp_path / "window.ini")
    (folder / "journal.jsonl").write_text("garbage\n", "utf-8")
    start.last.turn_to(Side.RUN)
    qtbot.waitUntil(lambda: len(start.said) == 2)
    assert "Nothing in the journal" in start.said[-1]
    assert start.right.side is Side.SETTINGS
    start.end()


def test_a_run_that_begins_meanwhile_is_the_last_one(qtbot: QtBot, tmp_path: Path, folder: Path) -> None:
    first_start(qtbot, tmp_path / "window.ini", folder)
    start = Start(qtbot, tmp_path / "window.ini")
    start.session.began.emit(RunProgress(folder=str(tmp_path)))
    start.last.turn_to(Side.RUN)
    assert start.store.last_run == tmp_path
    assert start.right.side is Side.SETTINGS
    start.end()
