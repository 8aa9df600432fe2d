"""Threads go on when the window has painted, and in the end also when it has not."""

from __future__ import annotations

import threading

import pytest

from core.courtesy import Courtesy


class _Worker:
    """A thread that does one piece of work after it let the window go first."""

    def __init__(self, courtesy: Courtesy) -> None:
        self.asked, self.done = threading.Event(), threading.Event()
        self._courtesy = courtesy
        self.thread = threading.Thread(target=self._work)
        self.thread.start()
        assert self.asked.wait(10)

    def _work(self) -> None:
        self.asked.set()
        self._courtesy.wait()
        self.done.set()


def test_a_thread_waits_until_the_window_has_painted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("core.courtesy._PATIENCE", 60)
    courtesy = Courtesy()
    with courtesy:
        worker = _Worker(courtesy)
        with courtesy:
            pass
        assert not worker.done.is_set(), "the page is still being painted"
    assert worker.done.wait(10)
    worker.thread.join()


def test_a_thread_does_not_wait_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("core.courtesy._PATIENCE", 0.01)
    courtesy = Courtesy()
    with courtesy:
        worker = _Worker(courtesy)
        worker.thread.join(10)
        assert worker.done.is_set()


def test_without_a_window_nobody_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("core.courtesy._PATIENCE", 60)
    worker = _Worker(Courtesy())
    worker.thread.join(10)
    assert worker.done.is_set()
