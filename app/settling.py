"""Answers that are taken only once one can have seen what they answer."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QObject, QTimer
from PySide6.QtWidgets import QAbstractButton, QApplication, QWidget

_LEAST_MS = 500
"""What one needs to see that something else stands under the mouse."""
_ELSEWHERE = frozenset({QEvent.Type.Show, QEvent.Type.Hide, QEvent.Type.Move})
_PRESSES = frozenset({QEvent.Type.MouseButtonPress, QEvent.Type.MouseButtonDblClick})


class Settling(QObject):
    """Has buttons hear no mouse for a moment after they were shown or stand elsewhere.

    Without it the second half of a double click presses what has just slid under the mouse. The moment begins
    when the buttons are painted at their place, so that it is none of the time in which the window was busy.
    `parts`: the widgets whose moves take the buttons along, the innermost first. Keys are heard: they need
    the focus, which buttons do not get by themselves.
    """

    def __init__(self, parts: Sequence[QWidget], buttons: Sequence[QAbstractButton]) -> None:
        super().__init__(parts[0])
        self._parts = tuple(parts)
        self.settled = False
        """Whether a press counts."""
        self._moment = QTimer(self)
        self._moment.setSingleShot(True)
        self._moment.timeout.connect(self._settle)
        for watched in (*parts, *buttons):
            watched.installEventFilter(self)

    def _settle(self) -> None:
        self.settled = True

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802
        kind = event.type()
        if watched in self._parts:
            if kind in _ELSEWHERE:
                self.settled = False
                self._moment.stop()
            elif kind is QEvent.Type.Paint and not self.settled and not self._moment.isActive():
                self._moment.start(max(_LEAST_MS, QApplication.doubleClickInterval()))
            return False
        # A button that has heard no press hears no release either.
        return kind in _PRESSES and not self.settled
