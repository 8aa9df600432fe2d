"""The focus comes back to the window when a dialog that had it closes.

Window managers see to that. Where there is none, on a bare X server or a small computer, the keys would
otherwise go nowhere: no shortcut works until somebody clicks into the window.
"""

from __future__ import annotations

from PySide6.QtCore import QObject, QTimer, Slot
from PySide6.QtGui import QGuiApplication, QWindow
from PySide6.QtWidgets import QApplication, QWidget
from shiboken6 import isValid

_WAIT_MS = 60
"""For a window manager, which comes first where there is one."""


class FocusReturn(QObject):
    """Looks after the focus of the application on behalf of its main window."""

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        self._window = window
        self._last: QWindow | None = None
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(_WAIT_MS)
        self._timer.timeout.connect(self.give_back)
        application = QGuiApplication.instance()
        if isinstance(application, QGuiApplication):
            application.focusWindowChanged.connect(self._changed)
            self._changed(QGuiApplication.focusWindow())

    @Slot(QWindow)
    def _changed(self, now: QWindow | None) -> None:
        if now is None:
            self._timer.start()
            return
        self._timer.stop()
        if self._last is not None and isValid(self._last):
            self._last.visibleChanged.disconnect(self._look)
        # A window that closes may be gone without another word: lists that drop down in a dialog are.
        now.visibleChanged.connect(self._look)
        self._last = now

    @Slot(bool)
    def _look(self, visible: bool) -> None:
        if not visible:
            self._timer.start()

    @Slot()
    def give_back(self) -> None:
        """Give the window the focus where what had it is gone, and nobody else took it."""
        last = self._last
        if last is None or QGuiApplication.focusWindow() is not None:
            return
        if QApplication.activePopupWidget() is not None:
            # It has just opened and is about to get the focus; when it closes, this is asked again.
            return
        if isValid(last) and (last.isVisible() or last is self._window.windowHandle()):
            # It is still there, so another program has the focus.
            return
        target = QApplication.activeModalWidget() or self._window
        if target.isVisible() and not target.isMinimized():
            target.activateWindow()
