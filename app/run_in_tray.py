"""A run that goes on without its window: an icon in the tray stands for it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject, Slot
from PySide6.QtWidgets import QMainWindow, QMenu

from app.reading_text import harmless
from app.tray_icon import TrayIcon, TrayUse

if TYPE_CHECKING:
    from app.run_session import RunSession

_LONGEST = 120
"""Characters of a tool tip that every system shows."""


class RunInTray(QObject):
    """Hides the window while its run goes on; where there is no tray, it is only made small.

    The icon stays when the run has ended, so that one can look at what came of it, and goes with the window's
    return. `show_window` brings the window back; `quit` asks for the end as closing the window does.
    """

    def __init__(
        self,
        window: QMainWindow,
        run: RunSession,
        tray: TrayIcon,
        show_window: Callable[[], None],
        quit_all: Callable[[], None],
    ) -> None:
        super().__init__(window)
        self._window = window
        self._run = run
        self._tray = tray
        self.hidden = False
        self.menu = QMenu(window)
        self.menu.addAction(self.tr("Show OpenLoop"), show_window)
        self.menu.addSeparator()
        self._stops = [
            self.menu.addAction(self.tr("Stop after the running agents"), run.stop_after),
            self.menu.addAction(self.tr("Stop now"), run.stop_now),
        ]
        self.menu.addSeparator()
        self.menu.addAction(self.tr("Quit OpenLoop"), quit_all)
        tray.opened.connect(show_window)
        run.ticked.connect(self._show_progress)
        run.running_changed.connect(self._show_progress)
        window.installEventFilter(self)

    @property
    def possible(self) -> bool:
        """Whether there is a tray to hide in."""
        return self._tray.available

    def hide_window(self) -> None:
        """The window goes, the run goes on."""
        if not self.possible:
            self._window.showMinimized()
            return
        self.hidden = True
        self._tray.show(TrayUse.HIDDEN_WINDOW, self.menu)
        self._show_progress()
        self._window.hide()

    @Slot()
    def _show_progress(self) -> None:
        if not self.hidden:
            return
        # Nothing of it is needed for the first paint of the window.
        from core.progress_words import duration_words

        progress, running = self._run.progress, self._run.running
        for action in self._stops:
            action.setEnabled(running)
        if self._run.preparing:
            # Not what the run before came to.
            progress = None
        if progress is None:
            return
        if progress.questions or progress.paused:
            state = self.tr("needs an answer")
        elif running:
            state = self.tr("running, {0}").format(duration_words(progress.seconds(self._run.clock())))
        else:
            state = self.tr("has ended")
        self._tray.set_tool_tip(harmless(f"OpenLoop · {progress.workflow}: {state}")[:_LONGEST])

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802
        """The window is back, whoever brought it."""
        if watched is self._window and event.type() is QEvent.Type.Show and self.hidden:
            self.hidden = False
            self._tray.hide(TrayUse.HIDDEN_WINDOW)
        return False
