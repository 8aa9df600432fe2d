"""Closing the window: nothing unsaved is lost, and nothing of a run outlives it."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, Slot
from PySide6.QtWidgets import QMainWindow, QMessageBox

from app.file_actions import FileActions
from app.question import Choice, ask
from core.events import StopKind


class Closing(QObject):
    """The way from the wish to close to the moment when it is all right.

    `is_running` tells whether a run goes on, `stop` stops it. The window calls `begin` when the user wants to
    close it and `run_ended` when a run has ended. When all is done `may_close` is True; it then closes it.
    """

    def __init__(
        self,
        window: QMainWindow,
        files: FileActions,
        is_running: Callable[[], bool],
        stop: Callable[[StopKind], None],
    ) -> None:
        super().__init__(window)
        self._window = window
        self._files = files
        self._is_running = is_running
        self._stop = stop
        self._waits = False
        self.may_close = False
        self.question: QMessageBox | None = None

    def begin(self) -> None:
        """Ask what has to be asked; a question that is open comes to the front instead."""
        question = self._files.question or self.question
        if question is not None:
            question.raise_()
            question.activateWindow()
            return
        self._files.when_saved(self._saved)

    def _saved(self) -> None:
        """Nothing is unsaved any more, or the user does not want it."""
        if not self._is_running():
            self._finish()
            return
        destructive = QMessageBox.ButtonRole.DestructiveRole
        choices = (
            Choice(self.tr("Stop now and quit"), lambda: self._quit(StopKind.NOW), destructive),
            Choice(
                self.tr("Stop after the running agents and quit"),
                lambda: self._quit(StopKind.AFTER_RUNNING),
                destructive,
            ),
        )
        self.question = ask(
            self._window,
            self.tr("A run is going on."),
            self.tr("OpenLoop closes when it has stopped. What is finished is kept in the run folder."),
            choices,
            self.tr("Cancel"),
        )
        self.question.finished.connect(self._forget)

    @Slot()
    def _forget(self) -> None:
        self.question = None

    def _quit(self, kind: StopKind) -> None:
        if not self._is_running():
            # It ended while the question stood.
            self._finish()
            return
        self._waits = True
        self._stop(kind)

    def at_once(self) -> None:
        """The system or the terminal wants an end: no questions, but nothing of the run stays alive."""
        self._quit(StopKind.NOW)

    def run_ended(self) -> None:
        """No run is alive any more."""
        if self._waits:
            self._finish()

    def _finish(self) -> None:
        self.may_close = True
        self._window.close()
