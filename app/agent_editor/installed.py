"""Which agent CLIs are installed on this computer, found out on a worker."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from PySide6.QtCore import QObject, QRunnable, QThreadPool, Signal, SignalInstance, Slot

from core.agent_definition import AgentDefinition


class InstalledBackends(QObject):
    """Signals: `found(dict)`: by backend's name, why its CLI cannot be started; empty: it can."""

    found = Signal(object)
    _done = Signal(object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.missing: Mapping[str, str] = {}
        self._pool = QThreadPool(self)
        self._pool.setMaxThreadCount(1)
        self._done.connect(self._take)

    def look(self, names: Sequence[str], workdir: Path) -> None:
        """Look for the CLIs of these backends."""
        self._pool.start(_Look(tuple(names), workdir, self._done))

    @Slot(object)
    def _take(self, missing: Mapping[str, str]) -> None:
        if missing != self.missing:
            self.missing = missing
            self.found.emit(missing)

    def close(self) -> None:
        """Wait for the worker."""
        self._pool.waitForDone()


class _Look(QRunnable):
    """It only has the bound signal of an object of the window's thread."""

    def __init__(self, names: Sequence[str], workdir: Path, done: SignalInstance) -> None:
        super().__init__()
        self._names = names
        self._workdir = workdir
        self._done = done

    def run(self) -> None:
        self._done.emit({name: _why_missing(name, self._workdir) for name in self._names})


def _why_missing(name: str, workdir: Path) -> str:
    """Why the CLI of a backend cannot be started, as its backend says it."""
    from core.backends.base import TurnOrder
    from core.backends.registry import UnknownBackendError, backend
    from core.problems import UserFileError

    with tempfile.TemporaryDirectory(prefix="openloop-") as folder:
        order = TurnOrder(AgentDefinition(name=name), name, workdir, Path(folder))
        try:
            backend(name).command(order)
        except FileNotFoundError as error:
            return str(error)
        except (UnknownBackendError, UserFileError):
            # An agent of its own command is another question, and so is a name that nobody knows.
            return ""
    return ""
