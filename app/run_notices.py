"""The notices about the beginning of a run: why it did not begin, and what to know before it does."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal, Slot

from app.notice_bar import Notice, NoticeAction, NoticeArea, Tone
from app.problem_text import errors_of, problem_lines

if TYPE_CHECKING:
    from app.document import WorkflowDocument
    from app.run_controller import RunController
    from app.run_session import RunSession
    from core.problems import Problem

RUN = "run"
"""Name of the notice that says why a run did not start."""
WARNINGS = "run warnings"


class RunNotices(QObject):
    """Signals: `place_requested(Problem)` when the user wants to see what is wrong;
    `message(str)`: a sentence for the status line.
    """

    place_requested = Signal(object)
    message = Signal(str)

    def __init__(
        self,
        notices: NoticeArea,
        run: RunSession,
        controller: RunController,
        document: WorkflowDocument,
        parent: QObject,
    ) -> None:
        super().__init__(parent)
        self._notices = notices
        self._run = run
        self._document = document
        run.starting.connect(self._begin)
        run.refused.connect(self._refuse)
        controller.warned.connect(self._warn)
        controller.trust_answered.connect(self._trust_answered)
        document.changed.connect(self._forget_refusal)
        document.problems_changed.connect(self._problems_changed)

    @Slot()
    def _begin(self) -> None:
        self._notices.dismiss(RUN)
        self._notices.dismiss(WARNINGS)

    @Slot()
    def _forget_refusal(self) -> None:
        self._notices.dismiss(RUN)

    @Slot()
    def _problems_changed(self) -> None:
        if not errors_of(self._document.problems):
            self._notices.dismiss(RUN)

    @Slot(object)
    def _refuse(self, problems: Sequence[Problem]) -> None:
        if self._run.resuming:
            text = self.tr("This run cannot go on:")
            self._notices.tell(RUN, Notice(text, Tone.ERROR, problem_lines(problems)))
            return
        count = len(problems)
        if count == 1:
            text = self.tr("This workflow cannot run yet:")
        else:
            text = self.tr("This workflow cannot run yet, for {0} reasons:").format(count)
        of, workflow = problems[0].file, self._document.path or Path()
        is_other = of is not None and of in self._document.settings_files
        words = self.tr("Open {0}").format(of.name) if of is not None and is_other else self.tr("Show")
        show = NoticeAction(words, lambda: self.place_requested.emit(problems[0]), stays=True)
        self._notices.tell(RUN, Notice(text, Tone.ERROR, problem_lines(problems, workflow), (show,)))

    @Slot(object)
    def _warn(self, problems: Sequence[Problem]) -> None:
        lines = tuple(problem.text() for problem in problems)
        older = self._notices.bar(WARNINGS)
        if older is not None:
            lines = (*older.notice.lines, *lines)
        self._notices.tell(WARNINGS, Notice(self.tr("Before the run begins:"), Tone.WARNING, lines))

    @Slot(bool)
    def _trust_answered(self, allowed: bool) -> None:
        if not allowed:
            self.message.emit(self.tr("Nothing was run: you did not allow its commands."))
