"""A page that is built before it is wanted, while the user is busy reading another one."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence

from PySide6.QtCore import QObject, QTimer, Slot

_REST_MS = 400
"""The page that is read comes first."""
_STEP_MS = 15
"""Between two steps, for what the user does meanwhile."""


class BuiltAhead(QObject):
    """Imports modules one by one, then calls `build`, each in a turn of Qt's loop of its own.

    `build` has to do nothing where somebody wanted the page before it was its turn.
    """

    def __init__(self, modules: Sequence[str], build: Callable[[], object], parent: QObject) -> None:
        super().__init__(parent)
        self._modules = list(modules)
        self._build: Callable[[], object] | None = build
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.timeout.connect(self._step)

    @property
    def done(self) -> bool:
        """Whether it was built."""
        return self._build is None

    def begin(self) -> None:
        """Build it from now on; later calls do nothing."""
        if self._build is not None and not self._timer.isActive():
            self._timer.start(_REST_MS)

    @Slot()
    def _step(self) -> None:
        if self._modules:
            importlib.import_module(self._modules.pop(0))
            self._timer.start(_STEP_MS)
        elif self._build is not None:
            build, self._build = self._build, None
            build()
