"""The state tab goes on to another point while a worker still looks at the one before."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest
from pytestqt.qtbot import QtBot

from app.run_view.state_tab import StateTab
from core.events import Merged, RunStarted, StateChanged
from core.state import WorkflowState
from core.state_history import StateHistory, StateLook, StateUnknown
from core.state_search import StateSearch

SLOW = 1
"""The point that only a worker can look at."""


@pytest.fixture
def tab(qtbot: QtBot) -> Iterator[StateTab]:
    tab = StateTab()
    qtbot.addWidget(tab)
    tab.show()
    tab.begin(None, None)
    for number in range(3):
        state = WorkflowState("loop", number, payload={"n": number})
        told = RunStarted(time=1.0) if not number else Merged(time=2.0, phase="loop", iteration=number)
        tab.take([told, StateChanged(time=2.0, state=state)])
    tab.show_conflicts(())
    yield tab
    tab.work.close()


@pytest.mark.parametrize("known", [False, True])
def test_what_a_worker_says_of_a_point_does_not_count_once_another_is_shown(
    tab: StateTab, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch, known: bool
) -> None:
    at_it, go_on = threading.Event(), threading.Event()
    quick_look, look = StateHistory.quick_look, StateHistory.look

    def look_late(history: StateHistory, number: int) -> StateLook:
        at_it.set()
        go_on.wait()
        if known:
            return look(history, number)
        raise StateUnknown("It is gone.")

    monkeypatch.setattr(
        StateHistory,
        "quick_look",
        lambda history, number: None if number == SLOW else quick_look(history, number),
    )
    monkeypatch.setattr(StateHistory, "look", look_late)
    tab.points.step_back()
    assert tab.points.number == SLOW
    at_it.wait()
    tab.points.step_on()
    assert tab.points.number == SLOW + 1
    go_on.set()
    qtbot.waitUntil(lambda: not tab.work.busy)
    assert tab.tree.isVisible()
    assert not tab.unknown.isVisible()
    assert tab.model.index_of(("payload", "n")).siblingAtColumn(1).data() == "2"
    # The point itself can still be had.
    at_it.clear()
    tab.points.step_back()
    at_it.wait()
    qtbot.waitUntil(lambda: not tab.work.busy)
    assert tab.unknown.isVisible() is not known


def test_a_count_is_not_the_last_because_the_search_ends_while_it_is_told(
    tab: StateTab, monkeypatch: pytest.MonkeyPatch
) -> None:
    search = StateSearch({"a": "needle", "b": "needle"}, "needle")

    def count_and_end(search: StateSearch) -> int:
        found = len(search._found)
        search.run(threading.Event())
        return found

    monkeypatch.setattr(StateSearch, "count", property(count_and_end))
    tab.finder.open()
    tab.finder.field.setText("needle")
    tab.finding._search = search
    tab.finding._show_count()
    assert tab.finder.count.text() == "0 so far"
