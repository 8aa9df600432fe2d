"""Fixes of problems that edit an agent's file: each is a step of undo like an edit of the workflow."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from app.notice_bar import Notice, NoticeAction, NoticeArea, Tone
from app.problem_text import problem_lines
from core.problems import UserFileError

if TYPE_CHECKING:
    from app.document import WorkflowDocument
    from core.agent_writing import FieldValue
    from core.fixes import LetComplete

NOTICE = "agent"
KEY = "can_complete"


@dataclass(slots=True)
class _Step:
    """One fix among the steps of undo: the file before and after it, and what the key said before."""

    agent: str
    path: Path
    before: bytes
    after: bytes
    said: FieldValue
    is_made: bool = True
    """Whether the file has it; it is not always as the step says, as a file may not follow."""


class AgentFixes(QObject):
    """Signals: `written(str)`: an agent's file was changed, told in a sentence; `edit_requested(Path)`: show
    a file in the editor, as only the user can go on with it."""

    written = Signal(str)
    edit_requested = Signal(object)

    def __init__(
        self,
        document: WorkflowDocument,
        notices: NoticeArea,
        is_unsaved: Callable[[Path], bool],
        parent: QObject,
    ) -> None:
        """`is_unsaved`: whether a file is open here with changes that are not saved."""
        super().__init__(parent)
        self._document = document
        self._notices = notices
        self._is_unsaved = is_unsaved
        self._told: _Step | None = None
        """The step that the notice is about."""

    def let_complete(self, fix: LetComplete, path: Path) -> None:
        """Write into an agent's file that it may end the loop."""
        from app.problem_fixes import fix_words
        from core.agent_writing import ChangedOnDiskError, save_agent

        if self._is_unsaved(path):
            words = self.tr("{0} has unsaved changes: save or revert them, then let it end the loop.")
            # First, because opening takes away what was said of agents before.
            self.edit_requested.emit(path)
            self._notices.tell(NOTICE, Notice(words.format(fix.agent), Tone.WARNING))
            return
        try:
            before, said = _read(path)
            after = _with_key(before, path, True)
            save_agent(path, after.decode("utf-8"), before)
        except (UserFileError, ChangedOnDiskError) as error:
            lines = problem_lines(error.problems) if isinstance(error, UserFileError) else ()
            words = self.tr("{0} cannot be changed here. Write can_complete: true into it.")
            self._tell(words.format(path.name), path, lines, Tone.ERROR)
            return
        if before == after:
            # Another program was faster; reading the agents again shows it.
            self._say_made(fix.agent, path)
            return
        step = _Step(fix.agent, path, before, after, said)
        self._document.push_file_step(fix_words(fix), lambda: self._again(step), lambda: self._back(step))
        self._say_made(step.agent, step.path)

    def _say_made(self, agent: str, path: Path) -> None:
        words = self.tr("{0} may end the loop now: {1} says can_complete: true.")
        self.written.emit(words.format(agent, path.name))

    def _again(self, step: _Step) -> None:
        """The fix is to be made again, after undo."""
        if step.is_made:
            # The way back failed, so there is nothing to be made again.
            self._forget(step)
        elif self._follow(step, step.before, step.after, True):
            self._say_made(step.agent, step.path)

    def _back(self, step: _Step) -> None:
        """The fix is undone."""
        if not step.is_made:
            self._forget(step)
        elif self._follow(step, step.after, step.before, step.said):
            words = self.tr("What {0} says of can_complete is as it was before.")
            self.written.emit(words.format(step.path.name))

    def _follow(self, step: _Step, known: bytes, wanted: bytes, value: FieldValue) -> bool:
        """Write the key as the step has it now. What else others changed in the file meanwhile stays; where
        they changed the key itself, all stays as it is, and that is told."""
        from core.agent_writing import ChangedOnDiskError, save_agent

        name = step.path.name
        if self._is_unsaved(step.path):
            words = self.tr("{0} has unsaved changes and stays as it is: what it says of can_complete, too.")
            self._tell(words.format(name), step.path, step=step)
            return False
        try:
            found, says = _read(step.path)
            if found == known:
                text = wanted
            elif says == (True if step.is_made else step.said):
                text = _with_key(found, step.path, value)
            else:
                words = self.tr("{0} was changed meanwhile, also its can_complete, and stays as it is.")
                self._tell(words.format(name), step.path, step=step)
                return False
            save_agent(step.path, text.decode("utf-8"), found)
        except (UserFileError, ChangedOnDiskError) as error:
            lines = problem_lines(error.problems) if isinstance(error, UserFileError) else ()
            if step.path.exists():
                words = self.tr("{0} cannot be changed, and stays as it is.")
            else:
                words = self.tr("{0} is not there any more, so there is nothing to be changed in it.")
                lines = ()
            self._tell(words.format(name), step.path, lines, step=step)
            return False
        step.is_made = not step.is_made
        self._forget(step)
        return True

    def _tell(
        self,
        words: str,
        path: Path,
        lines: tuple[str, ...] = (),
        tone: Tone = Tone.WARNING,
        step: _Step | None = None,
    ) -> None:
        self._told = step
        edit = NoticeAction(self.tr("Edit it"), lambda: self.edit_requested.emit(path))
        self._notices.tell(NOTICE, Notice(words, tone, lines, (edit,) if path.exists() else ()))

    def _forget(self, step: _Step) -> None:
        if self._told is step:
            self._told = None
            self._notices.dismiss(NOTICE)


def _read(path: Path) -> tuple[bytes, FieldValue]:
    """A file, and what its key says; None: nothing. Raises UserFileError."""
    from core.agent_file import inspect_agent
    from core.agent_writing import AgentText
    from core.front_matter import BYTE_ORDER_MARK, FrontMatterError
    from core.jsonc import decode, read_bytes
    from core.problems import Problem

    data = read_bytes(path)
    text = decode(data, path)
    try:
        is_said = KEY in AgentText.parse(text).keys
    except FrontMatterError as error:
        raise UserFileError([Problem(error.message, file=path)]) from error
    agent = inspect_agent(text.removeprefix(BYTE_ORDER_MARK), path).agent
    return data, agent.can_complete if agent is not None and is_said else None


def _with_key(data: bytes, path: Path, value: FieldValue) -> bytes:
    """A file with another value of the key. Raises UserFileError."""
    from core.agent_writing import AgentText
    from core.front_matter import FrontMatterError
    from core.jsonc import decode
    from core.problems import Problem

    try:
        text = AgentText.parse(decode(data, path)).with_fields({KEY: value}).text
    except FrontMatterError as error:
        raise UserFileError([Problem(error.message, file=path)]) from error
    return text.encode("utf-8")
