"""What the window does with agents: keep the library up to date, open and make agent files."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from PySide6.QtCore import QObject, QUrl, Signal, Slot
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QWidget

from app.agent_source import AgentSource
from app.document import WorkflowDocument
from app.new_agent import create_agent
from app.notice_bar import Notice, NoticeArea, Tone
from app.problem_text import problem_lines
from core.agent import AgentLibrary, agent_folders
from core.problems import UserFileError
from core.run_folders import workdir_of


class AgentActions(QObject):
    """Follows the document: its agents' folders depend on the file's place and on two settings.

    Signals: `library_read(AgentLibrary)` after the document has got it; `message(str)`: for the status line.
    """

    library_read = Signal(object)
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
        self._key: tuple[str | None, str | None, Path | None] | None = None
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

    @Slot(str)
    def open_agent(self, name: str) -> None:
        """Open an agent's file in the desktop's editor."""
        library = self._document.library
        agent = library.get(name) if library is not None else None
        if agent is not None and agent.path is not None:
            QDesktopServices.openUrl(QUrl.fromLocalFile(str(agent.path)))
        else:
            self.message.emit(self.tr("There is no file of an agent called {0}.").format(name))

    @Slot()
    def new_agent(self) -> None:
        """Make an agent from a template in the workflow's own agents folder, and open it."""
        try:
            path = create_agent(self.source.folders[0])
        except UserFileError as error:
            text = self.tr("The agent cannot be made.")
            self._notices.tell("agent", Notice(text, Tone.ERROR, problem_lines(error.problems)))
            return
        self.source.refresh()
        self.message.emit(self.tr("{0} is made in {1}.").format(path.stem, path.parent))
        QDesktopServices.openUrl(QUrl.fromLocalFile(str(path)))

    @Slot()
    def open_folder(self) -> None:
        """Open the agents folder in the desktop's file manager."""
        folder = next((folder for folder in self.source.folders if folder.is_dir()), None)
        if folder is not None:
            QDesktopServices.openUrl(QUrl.fromLocalFile(str(folder)))
