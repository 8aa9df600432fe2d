"""The desktop application: Qt, its event loop shared with asyncio, the window, and the order of the end."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import importlib
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

# What needs no Qt comes first: once PySide6 is there, it looks into every module that is imported.
import core.check
import core.progress_words
import core.transcript
import core.workflow_file  # noqa: F401
from core.backends.registry import backend_names

# isort: split
from PySide6.QtCore import QTimer
from PySide6.QtGui import QGuiApplication, QIcon
from PySide6.QtWidgets import QApplication
from qasync import QEventLoop

import resources
from app.document import WorkflowDocument
from app.main_window import MainWindow
from app.run_controller import RunController
from app.settings_store import SettingsStore
from app.theme import Appearance, Scheme
from app.unsaved_work import UnsavedWork

SWITCH_SECONDS = 0.001
"""How long a worker may hold the interpreter while the window waits for it."""
WARM_UP_MS = 400
"""After this long the window is there, and what it needs only later is read."""
COLLECT_MS = 1000
"""How often garbage is looked for."""


def run_application(workflow: Path | None, theme: str | None) -> int:
    """Open the window, with `workflow`, what was open last, or the start page, until it is closed.

    Gives the exit code.
    """
    sys.setswitchinterval(SWITCH_SECONDS)
    application = QApplication.instance() or QApplication(sys.argv[:1])
    assert isinstance(application, QApplication)
    application.setApplicationName("OpenLoop")
    application.setDesktopFileName("openloop")
    application.setQuitOnLastWindowClosed(False)
    application.setWindowIcon(QIcon(str(resources.folder() / "icons" / "openloop.svg")))
    loop = QEventLoop(application)
    asyncio.set_event_loop(loop)
    with loop:
        loop.run_until_complete(_show(application, workflow, theme))
    return 0


async def _show(application: QApplication, workflow: Path | None, theme: str | None) -> None:
    store = SettingsStore()
    appearance = Appearance(application, Scheme(theme) if theme else store.scheme)
    controller = RunController()
    document = WorkflowDocument()
    window = MainWindow(
        controller,
        document,
        store=store,
        appearance=appearance,
        known_backends=backend_names(),
    )
    closed: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def end() -> None:
        if not closed.done():
            closed.set_result(None)

    window.closed.connect(end)
    collector = _collect_garbage_here(window)
    unsaved = UnsavedWork(document, window.notices)
    window.starting.begin(workflow)
    unsaved.offer()
    window.show()
    QTimer.singleShot(WARM_UP_MS, window, _warm_up)
    QTimer.singleShot(WARM_UP_MS, window, window.left_overs.look)
    QTimer.singleShot(WARM_UP_MS, window, window.last_run.look)
    with _closed_by_signals(window):
        await closed
    unsaved.close()
    collector.stop()
    controller.wait_for_workers()
    window.deleteLater()
    controller.deleteLater()
    document.deleteLater()
    QGuiApplication.processEvents()


def _warm_up() -> None:
    """Read what the first run needs while nobody waits for it."""
    for module in ("core.engine", "core.planning", "app.run_view.run_view"):
        importlib.import_module(module)
    # What is there now stays: looking through it for garbage would hold the window up for 35 ms each time.
    gc.freeze()


def _collect_garbage_here(window: MainWindow) -> QTimer:
    """Break reference cycles in the window's thread only.

    Python does it on whichever thread comes by, and a widget that dies on a worker takes the window with it.
    """
    gc.disable()
    timer = QTimer(window)
    timer.setInterval(COLLECT_MS)
    thresholds = gc.get_threshold()

    def collect() -> None:
        for generation, limit in reversed(list(enumerate(thresholds))):
            if gc.get_count()[generation] > limit:
                gc.collect(generation)
                return

    timer.timeout.connect(collect)
    timer.start()
    return timer


@contextlib.contextmanager
def _closed_by_signals(window: MainWindow) -> Iterator[None]:
    """Ctrl+C in the terminal and a polite kill stop the run and close the window."""
    wanted = False

    def want(*_: object) -> None:
        nonlocal wanted
        wanted = True

    numbers = [signal.SIGINT, signal.SIGTERM]
    before = {number: signal.signal(number, want) for number in numbers}
    # Python notices a signal only when it runs: Qt alone would sleep through it.
    pulse = QTimer(window)
    pulse.setInterval(250)

    def look() -> None:
        nonlocal wanted
        if wanted:
            wanted = False
            window.quit_at_once()

    pulse.timeout.connect(look)
    pulse.start()
    try:
        yield
    finally:
        pulse.stop()
        for number, handler in before.items():
            signal.signal(number, handler)
