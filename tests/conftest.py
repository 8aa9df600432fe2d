"""What holds for every test: no display, nothing of the user's is touched, nothing is left behind."""

from __future__ import annotations

import gc
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

# Before Qt is imported anywhere.
os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
os.environ["OPENLOOP_DEMO_SPEED"] = "0"

PATIENCE = 10.0
"""Seconds that what a test started may take to be gone."""


@pytest.fixture(autouse=True)
def _home_of_its_own(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENLOOP_HOME", str(tmp_path_factory.getbasetemp() / "home"))


def _children() -> dict[int, str]:
    found: dict[int, str] = {}
    for child in psutil.Process().children(recursive=True):
        try:
            if child.status() != psutil.STATUS_ZOMBIE:
                found[child.pid] = " ".join(child.cmdline()[:4])
        except psutil.Error:
            continue
    return found


def _threads() -> dict[int, str]:
    return {
        thread.ident: thread.name
        for thread in threading.enumerate()
        if thread.ident is not None and not thread.daemon
    }


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
    "threads": _threads,
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
