"""What the window does with agents: keep the library up to date, open and make agent files."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal, Slot
from PySide6.QtWidgets import QMessageBox, QWidget

import resources
from app.agent_source import AgentSource
from app.notice_bar import Notice, NoticeArea, Tone
from app.problem_text import problem_lines
from app.question import Choice, ask
from core.agent_folders import agent_folders, user_agents_folder
from core.fixes import MakeAgent
from core.jsonc import decode, read_bytes
from core.problems import UserFileError
from core.run_folders import workdir_of

if TYPE_CHECKING:
    from app.agent_fixes import AgentFixes
    from app.document import WorkflowDocument
    from app.new_agent import NewAgent, NewAgentDialog, Place
    from core.agent import AgentLibrary
    from core.fixes import LetComplete


class AgentActions(QObject):
    """Follows the document: its agents' folders depend on the file's place and on two settings.

    Signals: `library_read(AgentLibrary)` after the document has got it; `edit_requested(Path)`: open this
    file in the editor; `deleted(Path)`; `message(str)`: for the status line.
    """

    library_read = Signal(object)
    edit_requested = Signal(object)
    deleted = Signal(object)
    message = Signal(str)

    def __init__(
        self,
        document: WorkflowDocument,
        notices: NoticeArea,
        known_backends: Collection[str],
        parent: QWidget,
    ) -> None:
        super().__init__(parent)
        self._document = document
        self._notices = notices
        self._known_backends = tuple(known_backends)
        self._window = parent
        self.dialog: NewAgentDialog | None = None
        """The dialog for a new agent, while it is open."""
        self.question: QMessageBox | None = None
        self._key: tuple[str | None, str | None, Path | None] | None = None
        self.is_unsaved: Callable[[Path], bool] = lambda path: False
        """Whether a file is open here with changes that are not saved."""
        self._fixes: AgentFixes | None = None
        self.source = AgentSource(self)
        self.source.library_read.connect(self._take)
        document.path_changed.connect(self.follow)
        document.changed.connect(self.follow)

    @Slot()
    def follow(self) -> None:
        """Look where the document says."""
        settings, path = self._document.settings, self._document.path
        key = (settings.agents_dir, settings.workdir, path)
        if key != self._key:
            self._key = key
            beside = path.parent if path is not None else None
            workdir = workdir_of(self._document.snapshot(), self._document.default_workdir)
            self.source.follow(agent_folders(settings.agents_dir, beside, workdir))

    @Slot(object)
    def _take(self, library: AgentLibrary) -> None:
        self._document.set_library(library, self._known_backends)
        self.library_read.emit(library)

    # --- opening ---------------------------------------------------------------------------------------

    @Slot(str)
    def open_agent(self, name: str) -> None:
        """Open an agent in the editor, also one whose file cannot be read; make one that is not there."""
        path = self.path_of(name)
        if path is not None:
            self.edit_requested.emit(path)
        else:
            self.new_agent(name=name)

    def path_of(self, name: str) -> Path | None:
        """The file of an agent; None: there is none."""
        library = self._document.library
        if library is None:
            return None
        agent = library.get(name)
        if agent is not None:
            return agent.path
        return next((problem.file for problem in library.problems_of(name)), None)

    @Slot()
    def open_folder(self) -> None:
        """Open the agents folder in the desktop's file manager."""
        folder = next((folder for folder in self.source.folders if folder.is_dir()), None)
        if folder is not None:
            # Not needed for the first paint of the window.
            from PySide6.QtCore import QUrl
            from PySide6.QtGui import QDesktopServices

            QDesktopServices.openUrl(QUrl.fromLocalFile(str(folder)))

    # --- new ones --------------------------------------------------------------------------------------

    @Slot()
    def new_agent(self, *, name: str = "") -> None:
        """Ask what a new agent is to be, make it and open it. `name`: what it may be called."""
        from app.new_agent import NewAgentDialog

        places, library = self._places(), self._document.library
        self._ask(NewAgentDialog(places, library, self._known_backends, self._window, name=name))

    def copy_agent(self, text: str, name: str) -> None:
        """Ask where a copy of an agent goes. `text`: what it has; `name`: what it may be called."""
        from app.new_agent import NewAgentDialog

        places, library = self._places(), self._document.library
        self._ask(
            NewAgentDialog(places, library, self._known_backends, self._window, copy_of=text, name=name)
        )

    @Slot(str)
    def duplicate_agent(self, name: str) -> None:
        """Ask where a copy of this agent goes, as its file is now."""
        path = self.path_of(name)
        if path is None:
            return
        try:
            text = decode(read_bytes(path), path)
        except UserFileError as error:
            self._say(self.tr("{0} cannot be copied.").format(path.name), error)
            return
        self.copy_agent(text, self.free_name(name, path))

    def free_name(self, name: str, path: Path) -> str:
        """A name for a copy: the same for an agent that ships with OpenLoop, as a copy of it hides it."""
        library = self._document.library
        if path.is_relative_to(resources.folder().absolute()) or library is None:
            return name
        names = (f"{name}_{number}" for number in itertools.count(2))
        return next(each for each in names if library.get(each) is None)

    def _ask(self, dialog: NewAgentDialog) -> None:
        self.dialog = dialog
        dialog.decided.connect(self._make)
        dialog.destroyed.connect(self._forget_dialog)
        dialog.open()

    @Slot(object)
    def _make(self, new: NewAgent) -> None:
        from core.agent_writing import create_agent_file

        try:
            create_agent_file(new.path, new.text)
        except UserFileError as error:
            if self.dialog is not None:
                self.dialog.say_error(" ".join(problem_lines(error.problems)))
            return
        if self.dialog is not None:
            self.dialog.accept()
        self.source.refresh()
        self.message.emit(self.tr("{0} is made in {1}.").format(new.path.name, new.path.parent))
        self.edit_requested.emit(new.path)

    def _places(self) -> list[Place]:
        """The workflow's own folder with its sub-folders, and the user's for all workflows."""
        from app.new_agent import Place

        places: list[Place] = []
        for folder in self.source.folders:
            if folder.is_relative_to(resources.folder().absolute()):
                continue
            mine = folder == user_agents_folder()
            label = self.tr("My agents, for all workflows") if mine else self.tr("{0}, of this workflow")
            places.append(Place(folder, label.format(folder.name)))
            library = self._document.library
            below = {
                agent.folder
                for agent in (library.agents if library is not None else ())
                if agent.folder and agent.path is not None and agent.path.is_relative_to(folder)
            }
            places += [Place(folder / name, f"    {folder.name}/{name}") for name in sorted(below)]
        return places

    @Slot()
    def _forget_dialog(self) -> None:
        self.dialog = None

    # --- problems --------------------------------------------------------------------------------------

    @Slot(object)
    def fix(self, fix: MakeAgent | LetComplete) -> None:
        """Solve a problem with an agent: make it, or let it end the loop, which its file says."""
        if isinstance(fix, MakeAgent):
            self.new_agent(name=fix.agent)
            return
        path = self.path_of(fix.agent)
        if path is not None:
            self._made_fixes().let_complete(fix, path)

    def _made_fixes(self) -> AgentFixes:
        if self._fixes is None:
            # Not needed for the first paint of the window.
            from app.agent_fixes import AgentFixes

            self._fixes = AgentFixes(self._document, self._notices, self.is_unsaved, self)
            self._fixes.written.connect(self._written)
            self._fixes.edit_requested.connect(self.edit_requested)
        return self._fixes

    @Slot(str)
    def _written(self, words: str) -> None:
        self.source.refresh()
        self.message.emit(words)

    # --- away with them --------------------------------------------------------------------------------

    @Slot(str)
    def delete_agent(self, name: str) -> None:
        """Ask, and move an agent's file to the trash."""
        path = self.path_of(name)
        if path is not None:
            self.delete_file(path, name)

    def delete_file(self, path: Path, name: str) -> None:
        """Ask, and move this file of an agent to the trash."""
        if path.is_relative_to(resources.folder().absolute()):
            self.message.emit(self.tr("Agents that come with OpenLoop cannot be deleted."))
            return
        uses = self._document.uses_of(name)
        text = self.tr("{0} goes to the trash.").format(path)
        if uses:
            text += " " + self.tr("{0} uses this agent and cannot run without it.").format(
                self._document.title
            )
        delete = Choice(
            self.tr("Move to the trash"), lambda: self._trash(path), QMessageBox.ButtonRole.DestructiveRole
        )
        cancel = self.tr("Cancel")
        self.question = ask(self._window, self.tr("Delete {0}?").format(name), text, (delete,), cancel)
        self.question.finished.connect(self._forget_question)

    def _trash(self, path: Path) -> None:
        from PySide6.QtCore import QFile

        if QFile(str(path)).moveToTrash():
            self._gone(path, self.tr("{0} is in the trash.").format(path.name))
            return
        delete = Choice(
            self.tr("Delete it for good"), lambda: self._unlink(path), QMessageBox.ButtonRole.DestructiveRole
        )
        self.question = ask(
            self._window,
            self.tr("{0} cannot be moved to the trash.").format(path.name),
            self.tr("There may be no trash for this folder. Deleted for good, it cannot be brought back."),
            (delete,),
            self.tr("Cancel"),
        )
        self.question.finished.connect(self._forget_question)

    def _unlink(self, path: Path) -> None:
        try:
            path.unlink(missing_ok=True)
        except OSError as error:
            reason = error.strerror or str(error)
            text = self.tr("{0} cannot be deleted: {1}.").format(path.name, reason)
            self._notices.tell("agent", Notice(text, Tone.ERROR))
            return
        self._gone(path, self.tr("{0} is deleted.").format(path.name))

    def _gone(self, path: Path, words: str) -> None:
        self.source.refresh()
        self.message.emit(words)
        self.deleted.emit(path)

    @Slot()
    def _forget_question(self) -> None:
        # An answer may have led to the next question.
        if self.question is self.sender():
            self.question = None

    def _say(self, text: str, error: UserFileError) -> None:
        self._notices.tell("agent", Notice(text, Tone.ERROR, problem_lines(error.problems)))
