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

import psutil
import pytest

# Before Qt is imported anywhere.
os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
os.environ["OPENLOOP_DEMO_SPEED"] = "0"
SESSION_MARK, SESSION = "OPENLOOP_TEST_SESSION", uuid.uuid4().hex
"""Inherited by everything that the tests start, so that it is known wherever it hides."""
os.environ[SESSION_MARK] = SESSION
STARTED = time.time()

PATIENCE = 10.0
"""Seconds that what a test started may take to be gone."""


@pytest.fixture(autouse=True)
def _home_of_its_own(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENLOOP_HOME", str(tmp_path_factory.getbasetemp() / "home"))
    temp = tmp_path_factory.getbasetemp() / "temp"
    temp.mkdir(exist_ok=True)
    monkeypatch.setenv("TMPDIR", str(temp))
    monkeypatch.setattr(tempfile, "tempdir", str(temp))


def _children() -> dict[int, str]:
    found: dict[int, str] = {}
    for child in psutil.Process().children(recursive=True):
        try:
            if child.status() != psutil.STATUS_ZOMBIE:
                found[child.pid] = " ".join(child.cmdline()[:4])
        except psutil.Error:
            continue
    return found


def _orphans() -> dict[int, str]:
    """Processes that a test started and that are not below it any more: daemons, and what a kill left."""
    found: dict[int, str] = {}
    for process in psutil.process_iter():
        try:
            if (
                process.pid != os.getpid()
                and process.create_time() >= STARTED - 1
                and process.status() != psutil.STATUS_ZOMBIE
                and process.environ().get(SESSION_MARK) == SESSION
            ):
                found[process.pid] = " ".join(process.cmdline()[:4])
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


_LOOKS: dict[str, Callable[[], dict[int, str]]] = {
    "processes": _children,
    "orphans": _orphans,
    "threads": _threads,
    "Qt's threads": _qt_threads,
    "temporary files": _temporary,
    "timers of visible windows": _timers,
}


def left_behind(before: dict[str, dict[int, str]], patience: float = PATIENCE) -> list[str]:
    """What is there now and was not there before, after waiting for it to go."""
    deadline = time.monotonic() + patience
    while True:
        left = [
            f"{kind}: {name}"
            for kind, look in _LOOKS.items()
            for key, name in look().items()
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


@pytest.fixture(autouse=True)
def _nothing_is_left_behind(request: pytest.FixtureRequest) -> Iterator[None]:
    """Fails a test that leaves a process, a thread or a running timer. First in, so last out."""
    before = {kind: look() for kind, look in _LOOKS.items()}
    yield
    if "PySide6.QtCore" in sys.modules:
        # Here, and not on some worker thread later: a widget must die in the thread that made it.
        gc.collect()
    # Processes of a module's or the session's fixture are there on purpose.
    allowed = getattr(request.module, "LEAVES_RUNNING", ())
    left = [name for name in left_behind(before) if not any(word in name for word in allowed)]
    assert not left, f"the test left behind: {left}"


@pytest.fixture
def project_root() -> Path:
    """The checkout."""
    return Path(__file__).parent.parent
