"""What holds for every test: no display, nothing of the user's is touched, nothing is left behind."""

from __future__ import annotations

import gc
import os
import sys
import tempfile
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest
from hypothesis import settings
from pytestqt.qtbot import QtBot, SignalBlocker

# Before Qt is imported anywhere.
os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
os.environ["OPENLOOP_DEMO_SPEED"] = "0"
# Where there is no session bus Qt would start one, which outlives the tests.
os.environ["DBUS_SESSION_BUS_ADDRESS"] = "disabled:"
# Tests start Python some thousand times: what that reads is compiled once, not each time.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
SESSION_MARK, SESSION = "OPENLOOP_TEST_SESSION", uuid.uuid4().hex
"""Inherited by everything that the tests start, so that it is known wherever it hides."""
os.environ[SESSION_MARK] = SESSION
STARTED = time.time()

# The same cases each time, and no verdict by the clock of a busy machine; `tests/fuzz` can do more of them.
settings.register_profile("steady", derandomize=True, deadline=None)
settings.load_profile("steady")

PATIENCE = 30.0
"""Seconds that what a test started may take to be gone."""
PATIENCE_OF_QT = 50_000
"""Milliseconds that a test waits for what is to come: no verdict by the clock of a busy machine."""


class PatientBot(QtBot):
    """Waits longer than pytest-qt's five seconds where a test does not say how long."""

    def waitUntil(self, callback: Callable[[], bool | None], *, timeout: int = PATIENCE_OF_QT) -> None:  # noqa: N802
        super().waitUntil(callback, timeout=timeout)

    def waitSignal(self, signal: Any, *, timeout: int = PATIENCE_OF_QT, **more: Any) -> SignalBlocker:  # noqa: N802
        return super().waitSignal(signal, timeout=timeout, **more)

    def waitSignals(self, signals: Any, *, timeout: int = PATIENCE_OF_QT, **more: Any) -> SignalBlocker:  # noqa: N802
        return super().waitSignals(signals, timeout=timeout, **more)

    def waitExposed(self, widget: Any, *, timeout: int = PATIENCE_OF_QT) -> Any:  # noqa: N802
        return super().waitExposed(widget, timeout=timeout)

    def waitActive(self, widget: Any, *, timeout: int = PATIENCE_OF_QT) -> Any:  # noqa: N802
        return super().waitActive(widget, timeout=timeout)


@pytest.fixture
def qtbot(qapp: object, request: pytest.FixtureRequest) -> QtBot:
    """pytest-qt's, with more patience."""
    del qapp
    return PatientBot(request)


@pytest.fixture(autouse=True)
def _home_of_its_own(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENLOOP_HOME", str(tmp_path_factory.getbasetemp() / "home"))
    temp = tmp_path_factory.getbasetemp() / "temp"
    temp.mkdir(exist_ok=True)
    monkeypatch.setenv("TMPDIR", str(temp))
    monkeypatch.setattr(tempfile, "tempdir", str(temp))


def _pids() -> dict[int, str]:
    return dict.fromkeys(psutil.pids(), "")


def _is_ours(process: psutil.Process) -> bool:
    """Whether a test started it: a descendant, or a daemon or what a kill left, known by the mark."""
    if process.status() == psutil.STATUS_ZOMBIE:
        return False
    return process.environ().get(SESSION_MARK) == SESSION or any(
        parent.pid == os.getpid() for parent in process.parents()
    )


def _new_processes(before: dict[int, str]) -> dict[int, str]:
    """Processes that were not there before and are of the tests; looks only at the new ones."""
    found: dict[int, str] = {}
    for pid in _pids().keys() - before.keys():
        try:
            process = psutil.Process(pid)
            if _is_ours(process):
                found[pid] = " ".join(process.cmdline()[:4])
        except (psutil.Error, OSError):
            continue
    return found


def _temporary() -> dict[int, str]:
    """What Python's tempfile or OpenLoop made in the folder for temporary files."""
    folder = Path(tempfile.gettempdir())
    if folder.name != "temp":  # not the one that a test has to itself
        return {}
    return {
        path.stat().st_ino: path.name
        for path in folder.iterdir()
        if path.name.startswith(("tmp", "openloop"))
    }


def _threads() -> dict[int, str]:
    return {
        thread.ident: thread.name
        for thread in threading.enumerate()
        if thread.ident is not None and not thread.daemon
    }


def _qt_threads() -> dict[int, str]:
    """Work in Qt's global pool, and running threads that hang on the application or on a window."""
    core = sys.modules.get("PySide6.QtCore")
    application = core.QCoreApplication.instance() if core is not None else None
    if core is None or application is None:
        return {}
    widgets = sys.modules.get("PySide6.QtWidgets")
    owners = [application, *(widgets.QApplication.topLevelWidgets() if widgets is not None else [])]
    found = {
        id(thread): f"QThread {thread.objectName()}"
        for owner in owners
        for thread in owner.findChildren(core.QThread)
        if thread.isRunning()
    }
    if core.QThreadPool.globalInstance().activeThreadCount():
        found[0] = "work in Qt's global pool"
    return found


def _timers() -> dict[int, str]:
    """Active Qt timers of objects that live on, by where they hang."""
    core = sys.modules.get("PySide6.QtCore")
    if core is None or core.QCoreApplication.instance() is None:
        return {}
    widgets = sys.modules.get("PySide6.QtWidgets")
    tops = widgets.QApplication.topLevelWidgets() if widgets is not None else []
    return {
        id(timer): f"QTimer of {type(timer.parent()).__name__}"
        for top in tops
        if not top.isHidden()
        for timer in top.findChildren(core.QTimer)
        if timer.isActive()
    }


Look = Callable[[], dict[int, str]]
_LOOKS: dict[str, Look] = {
    "processes": _pids,
    "threads": _threads,
    "Qt's threads": _qt_threads,
    "temporary files": _temporary,
    "timers of visible windows": _timers,
}


def look_around() -> dict[str, dict[int, str]]:
    """What there is now, to be compared by `left_behind`."""
    return {kind: look() for kind, look in _LOOKS.items()}


def left_behind(before: dict[str, dict[int, str]], patience: float = PATIENCE) -> list[str]:
    """What is there now and was not there before, after waiting for it to go."""
    deadline = time.monotonic() + patience
    while True:
        now = {kind: look() for kind, look in _LOOKS.items() if kind != "processes"}
        now["processes"] = _new_processes(before["processes"])
        left = [
            f"{kind}: {name}"
            for kind, found in now.items()
            for key, name in found.items()
            if key not in before[kind]
        ]
        if not left or time.monotonic() > deadline:
            return left
        _process_events()
        threading.Event().wait(0.02)


def _process_events() -> None:
    core = sys.modules.get("PySide6.QtCore")
    if core is not None and core.QCoreApplication.instance() is not None:
        core.QCoreApplication.sendPostedEvents(None, core.QEvent.Type.DeferredDelete)
        core.QCoreApplication.processEvents()


@pytest.fixture(scope="session", autouse=True)
def _garbage_is_collected_here() -> Iterator[None]:
    """Between tests and in this thread: a widget that dies on some worker takes the process with it."""
    gc.collect()
    gc.freeze()
    gc.disable()
    yield
    gc.enable()


FULL_COLLECTION = 50
"""So many tests come between two looks through everything that lives; the others look at what is new."""
_since_collection = [0]


def _collect(used_qt: bool, generation: int) -> None:
    """What Qt was asked to delete dies, and what is garbage since the last collection of a generation.

    Nothing is collected at other times, so generation 0 is what one test made. What outlives it (pytest's
    reports, caches, fixtures of a module) is not looked through again but once in `FULL_COLLECTION` tests.
    """
    if not used_qt:
        return
    core = sys.modules.get("PySide6.QtCore")
    if core is not None and core.QCoreApplication.instance() is not None:
        core.QCoreApplication.sendPostedEvents(None, core.QEvent.Type.DeferredDelete)
    gc.collect(generation)


def _collect_all_now_and_then() -> None:
    _since_collection[0] += 1
    if _since_collection[0] > FULL_COLLECTION:
        _since_collection[0] = 0
        gc.collect()


_last_used_qt = [False]


@pytest.fixture(autouse=True)
def _nothing_is_left_behind(request: pytest.FixtureRequest) -> Iterator[None]:
    """Fails a test that leaves a process, a thread, a temporary file or a running timer."""
    uses_qt = "qapp" in request.fixturenames
    # pytest kept what fixtures gave the last test until it was all over.
    _collect(_last_used_qt[0], 1)
    _last_used_qt[0] = uses_qt
    before = look_around()
    yield
    _collect(uses_qt, 0)
    _collect_all_now_and_then()
    # Processes of a module's or the session's fixture are there on purpose.
    allowed = getattr(request.module, "LEAVES_RUNNING", ())
    left = [name for name in left_behind(before) if not any(word in name for word in allowed)]
    assert not left, f"the test left behind: {left}"


@pytest.fixture
def project_root() -> Path:
    """The checkout."""
    return Path(__file__).parent.parent
