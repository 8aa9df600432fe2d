"""The agents that are being edited: every draft with something unsaved lives until it is saved or dropped."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QThreadPool, QTimer, Signal, Slot

from core.platform_paths import state_folder

if TYPE_CHECKING:
    # What edits and keeps an agent is loaded with the first one that is edited.
    from app.agent_editor.draft import AgentDraft
    from app.agent_editor.draft_edits import RefusedField
    from app.kept_copies import FoundCopy

SETTLE_MS = 1000
"""A copy is written when there was no edit for this long."""


class OpenDrafts(QObject):
    """The drafts by their files, and copies of them on disk that outlive a crash.

    Signals: `changed()`: other drafts are unsaved than before, or one was saved.
    """

    changed = Signal()

    def __init__(self, parent: QObject | None = None, folder: Path | None = None) -> None:
        super().__init__(parent)
        self._folder = folder or state_folder() / "unsaved-agents"
        self._drafts: dict[Path, AgentDraft] = {}
        self._copies: dict[Path, Path] = {}
        """The file of each draft's copy."""
        self._kept: dict[Path, tuple[str, tuple[RefusedField, ...]]] = {}
        """The text of each copy that was written, and what its fields have beside it."""
        self._pool = QThreadPool(self)
        self._pool.setMaxThreadCount(1)
        self._settle = QTimer(self)
        self._settle.setSingleShot(True)
        self._settle.setInterval(SETTLE_MS)
        self._settle.timeout.connect(self.keep_copies)

    @property
    def unsaved(self) -> list[AgentDraft]:
        """Drafts that would lose something, in the order in which they were opened."""
        return [draft for draft in self._drafts.values() if draft.is_modified]

    def find(self, path: Path) -> AgentDraft | None:
        """The draft of a file, if it is open."""
        return self._drafts.get(path.absolute())

    def open(self, path: Path, *, may_be_gone: bool = False) -> AgentDraft:
        """The draft of a file; the same one while it is open. Raises UserFileError."""
        path = path.absolute()
        draft = self._drafts.get(path)
        if draft is None:
            # Not needed for the first paint of the window.
            from app.agent_editor.draft import AgentDraft

            draft = AgentDraft(path, self, may_be_gone=may_be_gone)
            self._drafts[path] = draft
            draft.modified_changed.connect(self._modified_changed)
            draft.text_changed.connect(self._settle.start)
            draft.saved.connect(self.changed)
        return draft

    def let_go(self, draft: AgentDraft) -> None:
        """It is not looked at any more: kept only where something of it is unsaved."""
        if not draft.is_modified:
            self.drop(draft)

    def drop(self, draft: AgentDraft) -> None:
        """Throw a draft away, with what is unsaved."""
        if self._drafts.pop(draft.path, None) is not None:
            self._forget_copy(draft.path)
            draft.close()
            draft.deleteLater()
            self.changed.emit()

    def look(self) -> None:
        """Look whether other programs changed files."""
        for draft in list(self._drafts.values()):
            draft.look()

    # --- copies ----------------------------------------------------------------------------------------

    @Slot()
    def keep_copies(self) -> None:
        """Write copies of what is unsaved, on the worker."""
        from app.kept_copies import new_copy_file

        self._settle.stop()
        for draft in self.unsaved:
            text, refused = draft.text, draft.refused
            if self._kept.get(draft.path) != (text, refused):
                self._kept[draft.path] = (text, refused)
                file = self._copies.setdefault(draft.path, new_copy_file(self._folder))
                self._pool.start(partial(_write, file, draft.path, draft.name, text, draft.base, refused))

    @Slot()
    def _modified_changed(self) -> None:
        for path in list(self._copies):
            draft = self._drafts.get(path)
            if draft is None or not draft.is_modified:
                self._forget_copy(path)
        self.changed.emit()

    def _forget_copy(self, path: Path) -> None:
        from app.kept_copies import remove_copy

        self._kept.pop(path, None)
        file = self._copies.pop(path, None)
        if file is not None:
            self._pool.start(partial(remove_copy, file))

    def left_behind(self) -> list[FoundCopy]:
        """Copies of a process that died, the oldest first."""
        from app.kept_copies import left_behind

        return left_behind(self._folder)

    def restore(self, found: FoundCopy) -> AgentDraft | None:
        """Open a copy as an unsaved draft. Raises UserFileError; None: it names no file."""
        if found.copy.path is None:
            return None
        from app.agent_editor.refusals import from_copy

        draft = self.open(found.copy.path, may_be_gone=True)
        draft.restore(found.copy.text, found.copy.base, from_copy(found.copy.fields))
        self.discard_copy(found)
        return draft

    def discard_copy(self, found: FoundCopy) -> None:
        """Throw away a copy that nobody wants."""
        from app.kept_copies import remove_copy

        self._pool.start(partial(remove_copy, found.file))

    def close(self, *, discard: bool) -> None:
        """The window closes. `discard`: the user does not want what is unsaved; else copies of it stay."""
        if discard:
            for path in list(self._copies):
                self._forget_copy(path)
        else:
            self.keep_copies()
        self._settle.stop()
        for draft in self._drafts.values():
            draft.close()
        self._pool.waitForDone()


def _write(
    file: Path, path: Path, title: str, text: str, base: str, refused: tuple[RefusedField, ...]
) -> None:
    from app.agent_editor.refusals import kept_texts
    from app.kept_copies import make_copy, write_copy

    whole = text.encode("utf-8", "replace").decode("utf-8")
    write_copy(file, make_copy(path, title, whole, base, kept_texts(refused)))
