"""A run that needs somebody who looks elsewhere, and a run that goes on without its window."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QApplication, QLineEdit, QMainWindow, QMenu
from pytestqt.qtbot import QtBot

from app.attention import Attention
from app.desktop_notices import DesktopNotices
from app.run_in_tray import RunInTray
from app.settings_store import SettingsStore
from app.tray_icon import TrayIcon, TrayUse
from core.events import (
    Event,
    GroupStarted,
    QuestionAsked,
    RunFinished,
    RunPaused,
    RunStarted,
    RunStatus,
    TurnRef,
    TurnStarted,
)
from core.plan import Place
from core.progress import RunProgress

pytestmark = pytest.mark.qt_log_ignore("This plugin does not support")
TURN = "preparation/0/0/0"
BEGINNING: tuple[Event, ...] = (
    RunStarted(time=100.0, workflow="audit"),
    GroupStarted(time=100.0, turns=(TurnRef(TURN, Place("preparation", 0, 0), "vera", "vera", "001-vera"),)),
    TurnStarted(time=100.0, turn=TURN),
)


class Session(QObject):
    """The run of a window; a test says what happens in it."""

    told = Signal(object)
    ticked = Signal()
    running_changed = Signal(bool)
    orphans_asked = Signal(object)
    trust_asked = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self.progress = RunProgress()
        self.name = "audit"
        self.preparing = False
        self.running = True
        self.orders: list[str] = []
        self.tell(*BEGINNING)

    def clock(self) -> float:
        return 165.0

    def stop_after(self) -> None:
        self.orders.append("stop after")

    def stop_now(self) -> None:
        self.orders.append("stop now")

    def tell(self, *events: Event) -> None:
        self.progress.apply_all(events)
        self.running = self.progress.running
        self.told.emit(list(events))
        self.ticked.emit()


class Tray(TrayIcon):
    """A tray: the offscreen platform has none."""

    def __init__(self, *, there: bool = True) -> None:
        super().__init__()
        self._there = there
        self.uses: set[TrayUse] = set()
        self.said: list[tuple[str, str]] = []
        self.tool_tip = ""

    @property
    def available(self) -> bool:
        return self._there

    def show(self, use: TrayUse, menu: QMenu | None = None) -> None:
        self.uses.add(use)

    def hide(self, use: TrayUse) -> None:
        self.uses.discard(use)

    def say(self, title: str, text: str, milliseconds: int) -> None:
        self.said.append((title, text))

    def set_tool_tip(self, text: str) -> None:
        self.tool_tip = text


class Watched:
    """A window with a run, and another window that can be in front of it."""

    def __init__(self, qtbot: QtBot, store: SettingsStore, tray: Tray) -> None:
        self.qtbot = qtbot
        self.run = Session()
        self.tray = tray
        self.window, self.other = QMainWindow(), QLineEdit()
        for widget in (self.window, self.other):
            qtbot.addWidget(widget)
            widget.show()
        self.attention = Attention(self.window, self.run, self.run, store, tray)  # type: ignore[arg-type]
        self.in_tray = RunInTray(
            self.window,
            self.run,  # type: ignore[arg-type]  # has what is used of a RunSession
            tray,
            self.attention.come_to_front,
            lambda: self.run.orders.append("quit"),
        )

    def look_away(self) -> None:
        self.other.activateWindow()
        self.qtbot.waitUntil(lambda: not self.window.isActiveWindow())

    def look(self) -> None:
        self.window.activateWindow()
        self.qtbot.waitUntil(self.window.isActiveWindow)


@pytest.fixture
def store(tmp_path: Path) -> SettingsStore:
    return SettingsStore(tmp_path / "window.ini")


@pytest.fixture
def watched(qtbot: QtBot, store: SettingsStore, monkeypatch: pytest.MonkeyPatch) -> Iterator[Watched]:
    monkeypatch.setattr(
        "app.desktop_notices.QSystemTrayIcon.supportsMessages", staticmethod(lambda: True), raising=True
    )
    watched = Watched(qtbot, store, Tray())
    yield watched
    watched.run.deleteLater()
    watched.tray.deleteLater()


@pytest.mark.parametrize(
    ("event", "title", "text"),
    [
        (
            QuestionAsked(turn=TURN, message="vera gave no update."),
            "audit needs an answer",
            "vera gave no update.",
        ),
        (RunPaused(message="The quota is used up."), "audit is paused", "The quota is used up."),
        (
            RunFinished(time=160.0, status=RunStatus.COMPLETED, message="The loop completed."),
            "audit has ended",
            "The loop completed.",
        ),
    ],
)
def test_whoever_looks_elsewhere_is_told(watched: Watched, event: Event, title: str, text: str) -> None:
    watched.look_away()
    watched.run.tell(event)
    assert watched.tray.said == [(title, text)]


def test_whoever_looks_at_the_window_is_not_disturbed(watched: Watched) -> None:
    watched.look()
    watched.run.tell(QuestionAsked(turn=TURN, message="vera gave no update."))
    assert watched.tray.said == []


def test_a_question_before_the_run_is_told_too(watched: Watched) -> None:
    watched.look_away()
    watched.run.trust_asked.emit(())
    watched.run.orphans_asked.emit([])
    assert [title for title, _ in watched.tray.said] == ["audit needs an answer"] * 2


def test_a_question_before_the_run_names_the_workflow_that_is_to_run(watched: Watched) -> None:
    """Not that of the run before, which the window still shows."""
    watched.look_away()
    watched.run.name = "release"
    watched.run.trust_asked.emit(())
    watched.run.name = ""
    watched.run.trust_asked.emit(())
    assert [title for title, _ in watched.tray.said] == [
        "release needs an answer", "The run needs an answer"
    ]  # fmt: skip


def test_coming_back_takes_the_notice_away(watched: Watched) -> None:
    watched.look_away()
    watched.run.tell(RunPaused(message="The quota is used up."))
    assert TrayUse.NOTICE in watched.tray.uses
    watched.look()
    assert watched.tray.uses == set()


def test_a_click_on_the_notice_brings_the_window_to_the_front(watched: Watched) -> None:
    watched.window.showMinimized()
    watched.look_away()
    watched.tray.opened.emit()
    watched.qtbot.waitUntil(watched.window.isActiveWindow)
    assert not watched.window.isMinimized()


def test_notices_can_be_switched_off_for_good(watched: Watched, store: SettingsStore) -> None:
    store.notices = False
    assert store.write()
    assert not SettingsStore(store.path).notices
    watched.look_away()
    watched.run.tell(RunPaused(message="The quota is used up."))
    assert watched.tray.said == []


def test_a_long_text_is_cut_with_a_sign(watched: Watched) -> None:
    watched.look_away()
    watched.run.tell(RunPaused(message="x" * 5000))
    assert watched.tray.said[0][1] == "x" * 299 + "…"


@pytest.mark.skipif(sys.platform in ("win32", "darwin"), reason="there the tray shows notices")
def test_without_a_tray_the_desktops_own_program_shows_it_as_plain_text(
    qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = tmp_path / "told"
    program = tmp_path / "notify-send"
    program.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" > {told}.part\nmv {told}.part {told}\n')
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    assert DesktopNotices(Tray(there=False)).show("-t audit", "<b>&")
    qtbot.waitUntil(told.exists)
    assert told.read_text().splitlines()[-3:] == ["--", "-t audit", "&lt;b&gt;&amp;"]


def test_without_any_means_nothing_happens(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert not DesktopNotices(Tray(there=False)).show("audit", "text")


# --- a run without its window -------------------------------------------------------------------------


def test_the_window_hides_in_the_tray_and_comes_back_from_it(watched: Watched) -> None:
    watched.in_tray.hide_window()
    assert not watched.window.isVisible()
    assert TrayUse.HIDDEN_WINDOW in watched.tray.uses
    assert watched.tray.tool_tip == "OpenLoop · audit: running, 1:05"
    watched.tray.opened.emit()
    assert watched.window.isVisible()
    assert watched.tray.uses == set()


def test_the_tray_says_that_the_run_waits_and_that_it_has_ended(watched: Watched) -> None:
    watched.in_tray.hide_window()
    watched.run.tell(QuestionAsked(turn=TURN, message="vera gave no update."))
    assert watched.tray.tool_tip == "OpenLoop · audit: needs an answer"
    watched.run.tell(RunFinished(time=160.0, message="The loop completed."))
    assert watched.tray.tool_tip == "OpenLoop · audit: has ended"
    assert watched.tray.said[-1] == ("audit has ended", "The loop completed.")
    stops = [action for action in watched.in_tray.menu.actions() if action.text().startswith("Stop")]
    assert [action.isEnabled() for action in stops] == [False, False]


def test_the_trays_menu_stops_and_quits(watched: Watched) -> None:
    watched.in_tray.hide_window()
    for action in watched.in_tray.menu.actions():
        if not action.isSeparator() and action.text() != "Show OpenLoop":
            action.trigger()
    assert watched.run.orders == ["stop after", "stop now", "quit"]


def test_where_there_is_no_tray_the_window_is_made_small(qtbot: QtBot, store: SettingsStore) -> None:
    watched = Watched(qtbot, store, Tray(there=False))
    assert not watched.in_tray.possible
    watched.in_tray.hide_window()
    assert watched.window.isVisible()
    assert watched.window.isMinimized()
    assert watched.tray.uses == set()
    QApplication.processEvents()
