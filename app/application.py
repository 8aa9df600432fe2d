"""The desktop application: Qt, its event loop shared with asyncio, the window, and the order of the end.

What the first paint of the window does not need is imported after it. `tests/app/test_start.py` names what
must not be there by then.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

# What needs no Qt comes first: once PySide6 is there, it looks into every module that is imported.
import core.workflow_file  # noqa: F401
from core.backends.registry import backend_names

# isort: split
import app.plain_imports  # noqa: F401

# isort: split
from PySide6.QtCore import QObject, QThreadPool, QTimer, Slot
from PySide6.QtGui import QGuiApplication, QIcon
from PySide6.QtWidgets import QApplication

import resources
from app.document import WorkflowDocument
from app.first_paint import FirstPaint
from app.main_window import MainWindow
from app.run_controller import RunController
from app.settings_store import SettingsStore
from app.theme import Appearance, Scheme
from app.translations import install_translations
from app.unexpected import Unexpected

if TYPE_CHECKING:
    import asyncio

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
    install_translations(application)
    store = SettingsStore()
    appearance = Appearance(application, Scheme(theme) if theme else store.scheme)
    first_paint = FirstPaint()
    controller = RunController()
    document = WorkflowDocument()
    window = MainWindow(
        controller,
        document,
        store=store,
        appearance=appearance,
        known_backends=backend_names(),
    )
    unexpected = Unexpected(window.notices, window)
    unexpected.file_requested.connect(window.file_opening.open_file)
    with unexpected.heard():
        end = _End(window)
        collector = _collect_garbage_here(window)
        window.starting.begin(workflow)
        first_paint.show(window)
        _stay_open(application, window, document, end, unexpected)
        collector.stop()
        controller.wait_for_workers()
    window.deleteLater()
    controller.deleteLater()
    document.deleteLater()
    QGuiApplication.processEvents()
    return 0


def _stay_open(
    application: QApplication,
    window: MainWindow,
    document: WorkflowDocument,
    end: _End,
    unexpected: Unexpected,
) -> None:
    """Share Qt's loop with asyncio, which only a run needs, until the window is closed."""
    import asyncio

    import qasync

    from app.unsaved_work import UnsavedWork

    unsaved = UnsavedWork(document, window.notices)
    unsaved.offer()
    # At the end of a session nobody answers a question: the system ends what takes its time.
    application.commitDataRequest.connect(unsaved.keep_now)
    QTimer.singleShot(WARM_UP_MS, window, _warm_up)
    QTimer.singleShot(WARM_UP_MS, window, window.left_overs.look)
    QTimer.singleShot(WARM_UP_MS, window, window.last_run.look)
    loop = qasync.QEventLoop(application)
    loop.set_exception_handler(unexpected.hear_loop)
    asyncio.set_event_loop(loop)
    with loop, _closed_by_signals(window):
        loop.run_until_complete(end.wait())
    unsaved.close(discard=window.closing.was_asked)


class _End(QObject):
    """Whether the window has gone for good."""

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._came = False
        self._waiting: asyncio.Future[None] | None = None
        window.closed.connect(self._come)

    async def wait(self) -> None:
        """Returns when it has."""
        import asyncio

        if not self._came:
            self._waiting = asyncio.get_running_loop().create_future()
            await self._waiting

    @Slot()
    def _come(self) -> None:
        self._came = True
        if self._waiting is not None and not self._waiting.done():
            self._waiting.set_result(None)


def _warm_up() -> None:
    """Read what the first run needs while nobody waits for it; on a worker what is not Qt's."""
    QThreadPool.globalInstance().start(_warm_up_core)
    importlib.import_module("app.run_view.run_view")


def _warm_up_core() -> None:
    for module in ("core.engine", "core.planning"):
        importlib.import_module(module)


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
