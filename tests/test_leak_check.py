"""The suite's check for what a test leaves behind finds processes and threads, and waits for what goes."""

from __future__ import annotations

import subprocess
import sys
import threading

from tests.conftest import left_behind


def _now() -> dict[str, dict[int, str]]:
    from tests.conftest import _LOOKS

    return {kind: look() for kind, look in _LOOKS.items()}


def test_a_process_that_lives_on_is_found() -> None:
    before = _now()
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        assert any("processes" in name for name in left_behind(before, patience=0.0))
        process.communicate(b"\n")
    assert left_behind(before) == []


def test_a_thread_that_lives_on_is_found() -> None:
    before = _now()
    end = threading.Event()
    thread = threading.Thread(target=end.wait, name="forgotten")
    thread.start()
    assert left_behind(before, patience=0.0) == ["threads: forgotten"]
    end.set()
    assert left_behind(before) == []
    thread.join()


def test_what_is_about_to_go_is_waited_for() -> None:
    before = _now()
    thread = threading.Timer(0.1, lambda: None)
    thread.start()
    assert left_behind(before) == []
