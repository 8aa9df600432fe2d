"""What an opened run needs is there before somebody opens one, and is not worked out by the window."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QObject
from pytestqt.qtbot import QtBot

from app.built_ahead import BuiltAhead
from app.run_view.run_view import RunView
from core.recorded_run import read_run
from core.run_times import RunChart
from tests.app.test_history import Room
from tests.core.run_support import Workshop

pytestmark = pytest.mark.qt_log_ignore("This plugin does not support")


@pytest.fixture
def room(qtbot: QtBot, tmp_path: Path) -> Iterator[Room]:
    room = Room(qtbot, tmp_path)
    qtbot.addWidget(room)
    room.show()
    yield room
    room.history.close()
    room.run.close()


def test_while_one_reads_the_list_the_page_of_a_run_is_built_once(room: Room) -> None:
    room.history.show_list()
    assert room.history.side.opened is None, "the list comes first"
    room.until(lambda: room.history.side.opened is not None)
    opened = room.history.side.opened
    assert room.history.side.shows_list
    room.history.show_list()
    assert room.history.side.opened is opened


def test_it_is_built_step_by_step_and_only_once(qtbot: QtBot) -> None:
    home = QObject()
    built: list[bool] = []
    ahead = BuiltAhead(("json", "json.decoder"), lambda: built.append(True), home)
    ahead.begin()
    ahead.begin()
    assert not built
    assert not ahead.done
    qtbot.waitUntil(lambda: ahead.done)
    ahead.begin()
    assert built == [True]


def test_the_window_measures_nothing_of_a_run_that_was_measured_where_it_was_read(
    qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shop = Workshop(tmp_path)
    shop.agent("vera", writes={"score": 1})
    run = read_run(shop.run({"loop_agents": ["vera"], "max_loops": 2}).folder)
    run.measure()
    view = RunView()
    qtbot.addWidget(view)
    measured: list[object] = []
    monkeypatch.setattr(RunChart, "_measure", lambda *given: measured.append(given))
    view.set_recorded(True)
    view.begin(run.progress, run)
    assert len(view.timeline.area.plot.rows) == 1
    assert " of work in " in view.timeline.savings.text
    assert not measured
