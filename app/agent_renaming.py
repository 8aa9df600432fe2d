"""Renaming an agent in the window: its name, its file and the open workflow, as one step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QRunnable, QThreadPool, Signal, SignalInstance, Slot

import resources
from app.notice_bar import Notice, NoticeAction, Tone
from app.problem_text import problem_lines
from core.problems import UserFileError

if TYPE_CHECKING:
    from app.agent_editing import AgentEditing
    from app.main_window import MainWindow
    from app.rename_dialog import RenameDialog

NOTICE = "renamed"


@dataclass(frozen=True, slots=True)
class _Uses:
    """Other workflows that name an agent."""

    name: str
    files: tuple[Path, ...]


@dataclass(slots=True)
class _Step:
    """One renaming among the steps of undo: the file and the agent's name, before and after."""

    path: Path
    there: Path
    old: str
    new: str
    is_renamed: bool = True
    """Whether the file is; it is not always as the workflow says, as it may not follow."""


class _Look(QRunnable):
    """Reads the workflows of a folder; it only has the bound signal of an object of the window's thread."""

    def __init__(self, name: str, folder: Path, besides: Path | None, done: SignalInstance) -> None:
        super().__init__()
        self._name, self._folder, self._besides, self._done = name, folder, besides, done

    def run(self) -> None:
        from core.agent_renaming import workflows_that_use

        files = workflows_that_use(self._name, self._folder, self._besides)
        self._done.emit(_Uses(self._name, tuple(files)))


class AgentRenaming(QObject):
    """Asks for a name, or takes over one that was saved in the editor.

    Signals: `moved(Path, Path)`: an agent's file has another name now.
    """

    moved = Signal(object, object)
    _looked = Signal(object)

    def __init__(self, window: MainWindow, editing: AgentEditing) -> None:
        super().__init__(editing)
        self._window = window
        self._document = window.document
        self._agents = window.agents
        self._editing = editing
        self.dialog: RenameDialog | None = None
        self._saved: tuple[str, str, Path] | None = None
        """Old name, new name and file of what was saved in the editor and is told of there."""
        self._told: _Step | None = None
        """The step that the window's notice is about."""
        self._pool = QThreadPool(self)
        self._pool.setMaxThreadCount(1)
        self._looked.connect(self._tell_others)

    def close(self) -> None:
        """Wait for the worker."""
        self._pool.waitForDone()

    # --- asked for -------------------------------------------------------------------------------------

    def ask(self, name: str) -> None:
        """Ask what an agent of the library is to be called."""
        path = self._agents.path_of(name)
        if path is None or self.dialog is not None or not self._may_be_renamed(name, path):
            return
        # Not needed for the first paint of the window.
        from app.rename_dialog import RenameDialog

        document = self._document
        uses = document.uses_of(name)
        self.dialog = RenameDialog(name, path, document.library, uses, document.title, self._window)
        self.dialog.decided.connect(lambda new: self._decided(path, name, new))
        self.dialog.destroyed.connect(self._forget_dialog)
        self._look_for_others(name)
        self.dialog.open()

    def _may_be_renamed(self, name: str, path: Path) -> bool:
        draft = self._editing.drafts.find(path)
        if _is_shipped(path):
            text = self.tr("Agents that come with OpenLoop cannot be renamed; duplicate it instead.")
        elif self._window.run.running:
            text = self.tr("A run goes on; agents can be renamed when it has ended.")
        elif draft is not None and draft.is_modified:
            text = self.tr("{0} has unsaved changes: save or revert them, then rename it.").format(name)
            self._editing.edit(path)
        else:
            return True
        self._agents.message.emit(text)
        return False

    def _look_for_others(self, name: str) -> None:
        own = self._document.path
        if own is not None:
            self._pool.start(_Look(name, own.parent, own, self._looked))

    @Slot(object)
    def _tell_others(self, uses: _Uses) -> None:
        if not uses.files:
            return
        if self.dialog is not None:
            self.dialog.tell_others(uses.files)
        if self._saved is not None and self._saved[0] == uses.name:
            self._tell_saved(uses.files)

    @Slot()
    def _forget_dialog(self) -> None:
        self.dialog = None

    def _decided(self, path: Path, old: str, new: str) -> None:
        problems = self._rename(path, old, new)
        if self.dialog is None:
            return
        if problems:
            self.dialog.say_error(" ".join(problems))
        else:
            self.dialog.accept()

    # --- saved in the editor ---------------------------------------------------------------------------

    def saved_as(self, old: str, new: str, path: Path) -> None:
        """An agent was saved under another name; the workflow may know it by the old one, and its file have
        it."""
        library = self._document.library
        other = library.get(old) if library is not None else None
        self._saved = None
        if other is not None and other.path not in (None, path) and not _is_shipped(other.path):
            # What uses that name means another agent of the user's, whose file is called so.
            return
        self._saved = (old, new, path)
        self._tell_saved(())
        self._look_for_others(old)

    def _tell_saved(self, others: Sequence[Path]) -> None:
        from app.rename_dialog import names_of, others_in_words
        from core.agent_renaming import renamed_path

        if self._saved is None:
            return
        old, new, path = self._saved
        uses = self._document.uses_of(old)
        moves = renamed_path(path, old, new) != path
        said = []
        if uses:
            said.append(self.tr("{0} still uses this agent as “{1}”.").format(self._document.title, old))
        if moves:
            said.append(self.tr("Its file is still called {0}.").format(path.name))
        if others:
            said.append(others_in_words(names_of(others)))
        if not said:
            return
        actions = []
        if uses or moves:
            label = self.tr("Rename it there too") if uses else self.tr("Rename the file")
            actions.append(NoticeAction(label, self._take_over))
        notice = Notice(" ".join(said), Tone.WARNING, actions=tuple(actions))
        self._editing.editor.notices.tell(NOTICE, notice)

    def _take_over(self) -> None:
        if self._saved is None:
            return
        old, new, path = self._saved
        if self._window.run.running:
            text = self.tr("A run goes on; the workflow can be changed when it has ended.")
            self._agents.message.emit(text)
            self._tell_saved(())
            return
        self._saved = None
        problems = self._rename(path, old, new)
        if problems:
            text = self.tr("{0} is not renamed.").format(path.name)
            self._editing.editor.notices.tell(NOTICE, Notice(text, Tone.ERROR, problems))

    # --- doing it --------------------------------------------------------------------------------------

    def _rename(self, path: Path, old: str, new: str) -> tuple[str, ...]:
        """Rename the file, then the places of the workflow as one step that takes the file with it; gives
        what went wrong, and then nothing was renamed."""
        from core.agent_renaming import rename_agent

        try:
            there = rename_agent(path, old, new)
        except UserFileError as error:
            return problem_lines(error.problems)
        self._has_moved(path, there)
        step = _Step(path, there, old, new)
        self._document.rename_agent(old, new, lambda again: self._follow(step, again))
        self._agents.message.emit(self.tr("{0} is called {1} now.").format(old, new))
        return ()

    def _has_moved(self, path: Path, there: Path) -> None:
        if path != there:
            self.moved.emit(path, there)
        self._agents.source.refresh()

    def _follow(self, step: _Step, again: bool) -> None:
        """After undo and redo the agent is called as the workflow calls it."""
        if step.is_renamed is not again:
            told = self._move_along(step, again)
            if told is not None:
                self._told = step
                self._window.notices.tell(NOTICE, told)
                return
            step.is_renamed = again
        # Else the way there failed, so there is none back: what has the other name by now was never renamed.
        if self._told is step:
            self._told = None
            self._window.notices.dismiss(NOTICE)

    def _move_along(self, step: _Step, again: bool) -> Notice | None:
        """Rename the agent there or back; gives what is to be told where that cannot be."""
        from core.agent_renaming import is_called, rename_agent

        source, target = (step.path, step.there) if again else (step.there, step.path)
        names = (step.old, step.new) if again else (step.new, step.old)
        text = self.tr("{0} is still called {1}; the workflow says {2}.")
        why: tuple[str, ...] = ()
        draft = self._editing.drafts.find(source)
        if draft is not None and draft.is_modified:
            why = (self.tr("It has unsaved changes."),)
        else:
            try:
                if is_called(source, names[0]):
                    self._has_moved(source, rename_agent(source, *names, to=target))
                    return None
                text = self.tr("{0} is not called {1} any more and stays as it is; the workflow says {2}.")
            except UserFileError as error:
                why = problem_lines(error.problems)
        return Notice(text.format(source.name, *names), Tone.WARNING, why)


def _is_shipped(path: Path | None) -> bool:
    return path is not None and path.is_relative_to(resources.folder().absolute())
