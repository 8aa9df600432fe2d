"""The first paint of the window, and what waits for it: work that would only make it come later."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QEvent, QEventLoop, QObject, QTimer
from PySide6.QtWidgets import QWidget

LONGEST_MS = 1000
"""A window that nobody sees (on another desktop, say) is not painted, and not waited for any longer."""

_waiting: list[Callable[[], object]] | None = None
"""What begins after the first paint; None: nothing has to wait."""


def after_first_paint(begin: Callable[[], object]) -> None:
    """Call `begin` when the application's window is painted; at once where no window is about to be shown.

    For workers: they would share the processor, and the interpreter's lock, with what makes the window.
    """
    if _waiting is None:
        begin()
    else:
        _waiting.append(begin)


class FirstPaint(QObject):
    """The time from its making until `show` returns: what is given to `after_first_paint` waits so long."""

    def __init__(self) -> None:
        super().__init__()
        global _waiting
        _waiting = []
        self._loop = QEventLoop(self)

    def show(self, window: QWidget) -> None:
        """Show a window and return when it is painted, with all that is in it.

        What the user types or clicks before is kept for after it.
        """
        window.installEventFilter(self)
        QTimer.singleShot(LONGEST_MS, self._loop, self._loop.quit)
        window.show()
        self._loop.exec(QEventLoop.ProcessEventsFlag.ExcludeUserInputEvents)
        window.removeEventFilter(self)
        self._release()

    def _release(self) -> None:
        global _waiting
        waiting, _waiting = _waiting, None
        for begin in waiting or ():
            begin()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802
        if event.type() is QEvent.Type.Paint:
            # A window is painted before what is in it.
            QTimer.singleShot(0, self._loop, self._loop.quit)
        return super().eventFilter(watched, event)
