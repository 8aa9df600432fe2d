"""Leads to a run that waits for the user, wherever in the window one looks meanwhile."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Slot

from app.notice_bar import Notice, NoticeAction, NoticeArea, Tone
from app.side import Side

if TYPE_CHECKING:
    from app.right_side import RightSide
    from app.run_session import RunSession
    from app.top_bar import TopBar
    from core.progress import RunProgress

WAITING = "waiting"
"""Name of the notice."""


class WaitingRun(QObject):
    """Marks the button of the run, and shows a bar while another side of the window is shown."""

    def __init__(
        self, right: RightSide, run: RunSession, notices: NoticeArea, top_bar: TopBar, parent: QObject
    ) -> None:
        super().__init__(parent)
        self._right = right
        self._run = run
        self._notices = notices
        self._top_bar = top_bar
        self._said = ""
        run.told.connect(self._show)
        run.running_changed.connect(self._show)
        right.side_changed.connect(self._show)

    @Slot()
    def _show(self) -> None:
        progress = self._run.progress
        text = self._text(progress) if progress is not None and progress.running else ""
        self._top_bar.mark_run(bool(text))
        if self._right.side is Side.RUN:
            text = ""
        if text == self._said:
            return
        self._said = text
        if text:
            show = NoticeAction(self.tr("Show"), self._turn_to_run, stays=True)
            self._notices.tell(WAITING, Notice(text, Tone.WARNING, actions=(show,), dismissible=False))
        else:
            self._notices.dismiss(WAITING)

    def _turn_to_run(self) -> None:
        self._right.turn_to(Side.RUN)

    def _text(self, progress: RunProgress) -> str:
        """What it waits for; empty: for nothing."""
        asking = progress.questions
        if len(asking) == 1:
            return self.tr("{0} waits for your answer.").format(asking[0].label)
        if asking:
            return self.tr("{0} agents wait for your answer.").format(len(asking))
        if progress.paused and progress.stopping is None:
            return self.tr("The run is paused: nothing new starts until you resume it.")
        return ""
