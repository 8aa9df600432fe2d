"""Closing the window: nothing unsaved is lost, and nothing of a run outlives it unasked."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Protocol

from PySide6.QtCore import QObject, Slot
from PySide6.QtWidgets import QMainWindow, QMessageBox

from app.notice_bar import Notice, NoticeAction, NoticeArea
from app.question import Choice, ask
from core.statuses import StopKind

if TYPE_CHECKING:
    from app.file_actions import FileActions
    from app.run_in_tray import RunInTray

NOTICE = "closing"
"""Name of the notice that says that the window is going to close."""


class MayBeUnsaved(Protocol):
    """What may lose something when the window closes. `question`: the one that it asks at present."""

    question: QMessageBox | None

    def when_saved(self, then: Callable[[], object]) -> None:
        """Go on with `then` once there is nothing to lose: at once, or as the user decides."""


class Closing(QObject):
    """The way from the wish to close to the moment when it is all right.

    `is_running` tells whether a run goes on, `stop` stops it, `in_tray` lets it go on without the window,
    `is_preparing` tells that nothing of it has begun: it is planned, or asks whether it may begin.
    The window calls `begin` when the user wants to close it and `run_ended` when a run has ended. When all is
    done `may_close` is True; it then closes the window. `was_asked`: the user decided about what is unsaved.
    """

    def __init__(
        self,
        window: QMainWindow,
        files: FileActions,
        is_running: Callable[[], bool],
        stop: Callable[[StopKind], None],
        in_tray: RunInTray,
        notices: NoticeArea,
        is_preparing: Callable[[], bool] = lambda: False,
    ) -> None:
        super().__init__(window)
        self._is_preparing = is_preparing
        self._window = window
        self._is_running = is_running
        self._stop = stop
        self._in_tray = in_tray
        self._notices = notices
        self._unsaved: list[MayBeUnsaved] = [files]
        self._waits = False
        self.may_close = False
        self.was_asked = False
        self.question: QMessageBox | None = None

    def ask_too(self, other: MayBeUnsaved) -> None:
        """Something else than the workflow may be unsaved, too."""
        self._unsaved.append(other)

    def _when_saved(self, then: Callable[[], object]) -> None:
        then = partial(self._decided, then)
        for each in reversed(self._unsaved):
            then = partial(each.when_saved, then)
        then()

    def _decided(self, then: Callable[[], object]) -> None:
        self.was_asked = True
        then()

    def begin(self) -> None:
        """Ask what has to be asked; a question that is open comes to the front instead."""
        asked = (each.question for each in self._unsaved)
        question = next((each for each in asked if each is not None), self.question)
        if question is not None:
            question.raise_()
            question.activateWindow()
            return
        if self._is_running():
            # First, because it may be that nothing is to end.
            self._ask_about_run()
        else:
            self._when_saved(self._finish)

    def _ask_about_run(self) -> None:
        destructive = QMessageBox.ButtonRole.DestructiveRole
        if self._waits:
            self._ask_again(destructive)
            return
        if self._is_preparing():
            self._ask_before_it_begins(destructive)
            return
        choices = [
            Choice(self.tr("Stop now and quit"), lambda: self._quit(StopKind.NOW), destructive),
            Choice(
                self.tr("Stop after the running agents and quit"),
                lambda: self._quit(StopKind.AFTER_RUNNING),
                destructive,
            ),
        ]
        if self._in_tray.possible:
            words = self.tr("Keep running in the tray")
        else:
            words = self.tr("Keep running, minimized")
        choices.append(Choice(words, self._in_tray.hide_window))
        self.question = ask(
            self._window,
            self.tr("A run is going on."),
            self.tr("When it is stopped, OpenLoop closes. What is finished is kept in the run folder."),
            choices,
            self.tr("Cancel"),
        )
        self.question.finished.connect(self._forget)

    def _ask_before_it_begins(self, destructive: QMessageBox.ButtonRole) -> None:
        """Nothing is at work that could be finished, kept or left alone."""
        self.question = ask(
            self._window,
            self.tr("A run is about to begin."),
            self.tr("Nothing of it was started yet. When you quit, it does not begin."),
            [Choice(self.tr("Quit without running"), self._quit_before_it_begins, destructive)],
            self.tr("Do not quit"),
        )
        self.question.finished.connect(self._forget)

    def _quit_before_it_begins(self) -> None:
        if self._is_running() and not self._is_preparing():
            # It has begun while the question stood, and that was not asked.
            self._ask_about_run()
        else:
            self._quit(StopKind.NOW)

    def _ask_again(self, destructive: QMessageBox.ButtonRole) -> None:
        """The window closes anyway when the running agents are done."""
        self.question = ask(
            self._window,
            self.tr("OpenLoop closes when the running agents are done."),
            self.tr("What is finished is kept in the run folder."),
            [
                Choice(self.tr("Stop now and quit"), lambda: self._quit(StopKind.NOW), destructive),
                Choice(self.tr("Do not quit"), self._stay),
            ],
            self.tr("Wait for them"),
        )
        self.question.finished.connect(self._forget)

    def _stay(self) -> None:
        """The window shall stay when the run has ended."""
        self._waits = False
        self._notices.dismiss(NOTICE)

    @Slot()
    def _forget(self) -> None:
        # An answer may have asked something else.
        if self.sender() is self.question:
            self.question = None

    def _quit(self, kind: StopKind) -> None:
        self._when_saved(lambda: self._stop_and_finish(kind))

    def _stop_and_finish(self, kind: StopKind) -> None:
        """Nothing is unsaved any more, or the user does not want it."""
        if not self._is_running():
            # It ended while the question stood.
            self._finish()
            return
        self._waits = True
        if kind is StopKind.AFTER_RUNNING:
            stay = NoticeAction(self.tr("Do not quit"), self._stay)
            text = self.tr("OpenLoop closes when the running agents are done.")
            self._notices.tell(NOTICE, Notice(text, actions=(stay,), dismissible=False))
        self._stop(kind)

    def at_once(self) -> None:
        """The system or the terminal wants an end: no questions, but nothing of the run stays alive."""
        self.was_asked = False
        self._stop_and_finish(StopKind.NOW)

    def run_ended(self) -> None:
        """No run is alive any more."""
        if self._waits:
            self._finish()

    def _finish(self) -> None:
        self.may_close = True
        self._window.close()
