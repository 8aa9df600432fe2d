"""What the window remembers of its shape, and what it says where it cannot remember."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject, QTimer, Slot
from PySide6.QtWidgets import QMainWindow, QSplitter

from app.notice_bar import Notice, Tone

if TYPE_CHECKING:
    from app.notice_bar import NoticeArea
    from app.settings_store import SettingsStore

SETTLE_MS = 500
"""A shape is remembered when it did not change for this long."""
_SIZE = (1280, 800)
_SIZES = (224, 372, 684)
"""Of agents, workflow, and what is looked at."""


class WindowMemory(QObject):
    """Gives the window the shape it had, or the usual one, and remembers what it becomes.

    Soon after each change, not only at the end: the process may be killed, or the computer go off.
    """

    def __init__(
        self, window: QMainWindow, splitter: QSplitter, store: SettingsStore, notices: NoticeArea
    ) -> None:
        super().__init__(window)
        self._window, self._splitter, self._store = window, splitter, store
        if store.geometry is None or not window.restoreGeometry(store.geometry):
            window.resize(*_SIZE)
        if store.splitter is None or not splitter.restoreState(store.splitter):
            splitter.setSizes(list(_SIZES))
        # The saved state may be of a window that was built otherwise.
        splitter.setHandleWidth(1)
        splitter.setChildrenCollapsible(False)
        self._settle = QTimer(self)
        self._settle.setSingleShot(True)
        self._settle.setInterval(SETTLE_MS)
        self._settle.timeout.connect(self.keep)
        splitter.splitterMoved.connect(self._settle.start)
        window.installEventFilter(self)
        self._tell(notices)

    def _tell(self, notices: NoticeArea) -> None:
        store = self._store
        if store.set_aside is not None:
            text = self.tr(
                "The window’s settings could not be read, so it starts with the usual ones. "
                "The old file is kept as {0}."
            )
            notices.tell("settings", Notice(text.format(store.set_aside), Tone.WARNING))
        if store.refusal is not None:
            text = self.tr(
                "Nothing can be remembered: {0} cannot be written ({1}). The window’s layout, recent files "
                "and copies of unsaved work are not kept. Make it a folder that can be written, or name "
                "another in OPENLOOP_HOME."
            )
            words = text.format(store.path.parent, store.refusal)
            notices.tell("memory", Notice(words, Tone.WARNING))

    @Slot()
    def keep(self) -> None:
        """Remember the shape of now."""
        self._settle.stop()
        self._store.geometry = self._window.saveGeometry()
        self._store.splitter = self._splitter.saveState()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802
        shown = watched is self._window and self._window.isVisible()
        if shown and event.type() in (QEvent.Type.Resize, QEvent.Type.Move, QEvent.Type.WindowStateChange):
            self._settle.start()
        return super().eventFilter(watched, event)
