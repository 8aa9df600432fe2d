"""Tells the document what earlier runs of its log folder show; they are read on a worker."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QRunnable, Qt, QThreadPool, QTimer, Signal, SignalInstance, Slot
from PySide6.QtGui import QGuiApplication

from app.first_paint import after_first_paint
from core.config import WorkflowFile
from core.run_folders import log_dir_of, workdir_of

if TYPE_CHECKING:
    from app.document import WorkflowDocument
    from app.run_session import RunSession
    from core.earlier_runs import EarlierRuns
    from core.known_payload import KnownPayload

SETTLE_MS = 300
"""After the last change of what decides about the folder."""


class _Reader:
    """Reads on one worker at a time, and remembers what has not changed."""

    def __init__(self) -> None:
        self._runs: EarlierRuns | None = None

    def read(self, folder: Path) -> KnownPayload:
        if self._runs is None:
            # Not needed for the first paint of the window.
            from core.earlier_runs import EarlierRuns

            self._runs = EarlierRuns()
        return self._runs.read(folder)


class _Read(QRunnable):
    """It only has the bound signal of an object of the window's thread."""

    def __init__(self, reader: _Reader, folder: Path, done: SignalInstance) -> None:
        super().__init__()
        self._reader = reader
        self._folder = folder
        self._done = done

    def run(self) -> None:
        self._done.emit((self._folder, self._reader.read(self._folder)))


class EarlierRunsSource(QObject):
    """Follows the document's log folder: reads it when it becomes another one, when a run has ended, and when
    the user comes back to the application.

    Signals: `_done(tuple)`, from the worker to the window's thread.
    """

    _done = Signal(object)

    def __init__(self, document: WorkflowDocument, run: RunSession, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._document = document
        self._reader = _Reader()
        self._folder: Path | None = None
        self._reading = self._again = self._closed = False
        self._pool = QThreadPool(self)
        self._pool.setMaxThreadCount(1)
        self._settle = QTimer(self)
        self._settle.setSingleShot(True)
        self._settle.setInterval(SETTLE_MS)
        self._settle.timeout.connect(self.refresh)
        self._done.connect(self._take)
        document.path_changed.connect(self.follow)
        document.changed.connect(self.follow)
        document.in_force_changed.connect(self.follow)
        run.running_changed.connect(self._run_changed)
        application = QGuiApplication.instance()
        if isinstance(application, QGuiApplication):
            application.applicationStateChanged.connect(self._come_back)
        self.follow()

    @Slot()
    def follow(self) -> None:
        """Look where the document says."""
        document = self._document
        file = WorkflowFile(workflow=document.settings_in_force, path=document.path)
        try:
            folder: Path | None = log_dir_of(file, workdir_of(file, document.default_workdir))
        except (OSError, ValueError):
            # A work folder that no folder can be, such as one with a NUL: a run is refused for it.
            folder = None
        if folder != self._folder and not self._closed:
            self._folder = folder
            after_first_paint(self._settle.start)

    @Slot()
    def refresh(self) -> None:
        """Read the folder; runs that have not changed are not read again."""
        self._settle.stop()
        if self._closed or self._folder is None:
            return
        if self._reading:
            self._again = True
            return
        self._reading = True
        self._pool.start(_Read(self._reader, self._folder, self._done))

    @Slot(bool)
    def _run_changed(self, running: bool) -> None:
        if not running:
            self.refresh()

    @Slot(Qt.ApplicationState)
    def _come_back(self, state: Qt.ApplicationState) -> None:
        if state is Qt.ApplicationState.ApplicationActive and not self._closed:
            after_first_paint(self._settle.start)

    @Slot(object)
    def _take(self, done: tuple[Path, KnownPayload]) -> None:
        self._reading = False
        folder, known = done
        if self._closed:
            return
        if folder == self._folder:
            self._document.set_known(known)
        if self._again or folder != self._folder:
            self._again = False
            self.refresh()

    @Slot()
    def close(self) -> None:
        """Wait for the worker, and read nothing any more."""
        self._closed = True
        self._settle.stop()
        self._pool.waitForDone()
