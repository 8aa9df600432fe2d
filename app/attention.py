"""Tells whoever is not looking at the window that the run needs them, or has ended."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject, Slot
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QApplication, QMainWindow

from app.desktop_notices import DesktopNotices
from app.reading_text import harmless

if TYPE_CHECKING:
    from app.run_controller import RunController
    from app.run_session import RunSession
    from app.settings_store import SettingsStore
    from app.tray_icon import TrayIcon
    from core.events import Event


class Attention(QObject):
    """Marks the window's task and shows a notice of the desktop while the window is not in front.

    The task is always marked; notices can be switched off (`SettingsStore.notices`).
    """

    def __init__(
        self,
        window: QMainWindow,
        run: RunSession,
        controller: RunController,
        store: SettingsStore,
        tray: TrayIcon,
    ) -> None:
        super().__init__(window)
        self._window = window
        self._run = run
        self._store = store
        self.notices = DesktopNotices(tray)
        tray.opened.connect(self.come_to_front)
        run.told.connect(self._look)
        controller.trust_asked.connect(self._ask_trust)
        run.orphans_asked.connect(self._ask_orphans)
        window.installEventFilter(self)

    @Slot(object)
    def _look(self, events: Sequence[Event]) -> None:
        # No run, no events: the window is painted without them.
        from core.events import QuestionAsked, RunFinished, RunPaused

        for event in events:
            match event:
                case QuestionAsked():
                    self._call(self.tr("{0} needs an answer"), event.message)
                case RunPaused():
                    self._call(self.tr("{0} is paused"), event.message)
                case RunFinished():
                    self._call(self.tr("{0} has ended"), event.message)
                case _:
                    pass

    @Slot()
    def _ask_trust(self) -> None:
        self._call(self.tr("{0} needs an answer"), self.tr("May it start the commands that its files bring?"))

    @Slot()
    def _ask_orphans(self) -> None:
        self._call(self.tr("{0} needs an answer"), self.tr("Processes of its earlier life are still alive."))

    def _call(self, title: str, text: str) -> None:
        if self._window.isActiveWindow():
            return
        QApplication.alert(self._window)
        progress = None if self._run.preparing else self._run.progress
        waiting = len(progress.questions) + bool(progress.paused) if progress is not None else 0
        _show_badge(max(1, waiting))
        if self._store.notices:
            name = self._run.name or self.tr("The run")
            self.notices.show(harmless(title.format(name)), harmless(text))

    @Slot()
    def come_to_front(self) -> None:
        """Show the window, wherever it is."""
        window = self._window
        window.setWindowState(window.windowState() & ~window.windowState().WindowMinimized)
        window.show()
        window.raise_()
        window.activateWindow()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802
        """Whoever comes back to the window has been told."""
        if watched is self._window and event.type() is QEvent.Type.WindowActivate:
            _show_badge(0)
            self.notices.clear()
        return False


def _show_badge(number: int) -> None:
    """A number at the application's icon, where the desktop shows one; 0: none."""
    application = QGuiApplication.instance()
    # Linux desktops know an application by the name of its desktop file.
    if isinstance(application, QGuiApplication) and application.desktopFileName():
        application.setBadgeNumber(number)
