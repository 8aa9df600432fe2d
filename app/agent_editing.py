"""The agent editor in the window: which agent it shows, what is unsaved, and what a run has to know of it."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QUrl, Slot
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QMessageBox, QWidget

from app.agent_editor.open_drafts import OpenDrafts
from app.notice_bar import Notice, NoticeAction, Tone
from app.problem_text import problem_lines
from app.question import Choice, ask
from app.side import Side
from core.problems import UserFileError

if TYPE_CHECKING:
    from app.agent_editor.draft import AgentDraft
    from app.agent_editor.editor import AgentEditor
    from app.agent_renaming import AgentRenaming
    from app.kept_copies import FoundCopy
    from app.main_window import MainWindow

NOTICE, OPENING = "unsaved-agents", "agent"


class AgentEditing(QObject):
    """Connects the editor with the parts of a window. The editor itself is built when it is first wanted."""

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._window = window
        self._agents = window.agents
        self._document = window.document
        self._right = window.right
        self.drafts = OpenDrafts(self)
        self.question: QMessageBox | None = None
        self._editor: AgentEditor | None = None
        self._discarded = False
        self._has_offered = False
        self._then: Callable[[], object] | None = None
        """What waits until the saved agents are read."""
        self._before = Side.SETTINGS
        self._right.provide(Side.AGENT, self._build)
        self._right.side_changed.connect(self._side_changed)
        self._renaming: AgentRenaming | None = None
        window.pool.rename_requested.connect(self._ask_to_rename)
        window.pool.file_open_requested.connect(self.edit)
        window.pool.duplicate_requested.connect(self._agents.duplicate_agent)
        window.pool.delete_requested.connect(self._agents.delete_agent)
        window.actions_of_window.new_agent.triggered.connect(self._agents.new_agent)
        self._agents.edit_requested.connect(self.edit)
        self._agents.is_unsaved = self._is_unsaved
        self._agents.deleted.connect(self._deleted)
        self._agents.library_read.connect(self._library_read)
        self._agents.source.looked.connect(self._agents_looked)
        self.drafts.changed.connect(self._show_unsaved)
        window.closing.ask_too(self)
        window.closed.connect(self._close)

    # --- the editor ------------------------------------------------------------------------------------

    @property
    def editor(self) -> AgentEditor:
        """The page; built when it is first wanted."""
        self._right.page(Side.AGENT)
        assert self._editor is not None
        return self._editor

    def _build(self) -> QWidget:
        # Not needed for the first paint of the window.
        from app.agent_editor.editor import AgentEditor
        from app.agent_editor.installed import InstalledBackends

        editor = AgentEditor(self._document, self._right)
        self._editor = editor
        editor.draft_saved.connect(self._saved)
        editor.renamed.connect(self._renamed)
        editor.close_requested.connect(self._leave)
        editor.other_requested.connect(self.edit)
        editor.copy_requested.connect(self._copy)
        editor.message.connect(self._agents.message)
        head = editor.head
        head.open_elsewhere.triggered.connect(self._open_elsewhere)
        head.show_folder.triggered.connect(self._show_folder)
        head.duplicate.triggered.connect(self._duplicate)
        head.delete.triggered.connect(self._delete)
        self._installed = InstalledBackends(self)
        self._installed.found.connect(editor.form.show_missing)
        self._look_for_backends()
        return editor

    def _look_for_backends(self) -> None:
        self._installed.look(self._document.known_backends, self._document.default_workdir)

    def _is_unsaved(self, path: Path) -> bool:
        draft = self.drafts.find(path)
        return draft is not None and draft.is_modified

    @Slot(object)
    def edit(self, path: Path) -> None:
        """Open an agent's file in the editor, or show its draft."""
        editor = self.editor
        before = editor.draft
        try:
            draft = self.drafts.open(path)
        except UserFileError as error:
            text = self.tr("{0} cannot be opened.").format(path.name)
            elsewhere = NoticeAction(self.tr("Open in another editor"), lambda: self._open_file(path))
            notice = Notice(text, Tone.ERROR, problem_lines(error.problems), (elsewhere,))
            self._window.notices.tell(OPENING, notice)
            return
        self._window.notices.dismiss(OPENING)
        editor.show_draft(draft)
        if before is not None and before is not draft:
            self.drafts.let_go(before)
        self._show_unsaved()
        self._right.turn_to(Side.AGENT)

    @Slot(object)
    def _side_changed(self, side: Side) -> None:
        if side is Side.AGENT:
            self.drafts.look()
        else:
            self._before = side

    @Slot()
    def _leave(self) -> None:
        """Close the editor; a draft with something unsaved is kept."""
        editor = self.editor
        draft = editor.draft
        editor.show_draft(None)
        if draft is not None:
            if draft.is_modified:
                text = self.tr("{0} is kept unsaved; open it again to go on.").format(draft.name)
                self._agents.message.emit(text)
            self.drafts.let_go(draft)
        self._right.turn_to(self._before)

    @Slot()
    def _show_unsaved(self) -> None:
        if self._editor is not None:
            shown = self._editor.draft
            others = [(each.name, each.path) for each in self.drafts.unsaved if each is not shown]
            self._editor.head.show_others(others)

    # --- one agent's file ------------------------------------------------------------------------------

    @Slot(object)
    def _saved(self, draft: AgentDraft) -> None:
        del draft
        self._agents.source.refresh()

    @Slot(str, str)
    def _renamed(self, old: str, new: str) -> None:
        if self.editor.draft is not None:
            self.renaming.saved_as(old, new, self.editor.draft.path)

    @property
    def renaming(self) -> AgentRenaming:
        """What renames agents; built when it is first wanted."""
        if self._renaming is None:
            from app.agent_renaming import AgentRenaming

            self._renaming = AgentRenaming(self._window, self)
            self._renaming.moved.connect(self._moved)
        return self._renaming

    @Slot(str)
    def _ask_to_rename(self, name: str) -> None:
        self.renaming.ask(name)

    @Slot(object, object)
    def _moved(self, path: Path, there: Path) -> None:
        """A file that is open in the editor is so at its new place."""
        draft = self.drafts.find(path)
        if draft is None:
            return
        is_shown = self._editor is not None and self._editor.draft is draft
        if is_shown:
            self.editor.show_draft(None)
        self.drafts.drop(draft)
        if is_shown and self._right.side is Side.AGENT:
            self.edit(there)

    @Slot(object)
    def _copy(self, path: Path) -> None:
        draft = self.drafts.find(path)
        if draft is not None:
            self._agents.copy_agent(draft.text, self._agents.free_name(draft.name, path))

    @Slot()
    def _duplicate(self) -> None:
        if self.editor.draft is not None:
            self._copy(self.editor.draft.path)

    @Slot()
    def _delete(self) -> None:
        draft = self.editor.draft
        if draft is not None:
            self._agents.delete_file(draft.path, draft.saved_name)

    @Slot(object)
    def _deleted(self, path: Path) -> None:
        draft = self.drafts.find(path)
        if draft is None:
            return
        if self._editor is not None and self._editor.draft is draft:
            self._editor.show_draft(None)
            if self._right.side is Side.AGENT:
                self._right.turn_to(self._before)
        self.drafts.drop(draft)

    @Slot()
    def _open_elsewhere(self) -> None:
        draft = self.editor.draft
        if draft is None:
            return
        if draft.is_modified:
            # Two programs with two versions: said before, not after.
            text = self.tr("The other editor shows the saved file, without your unsaved changes.")
            self._agents.message.emit(text)
        self._open_file(draft.path)

    def _open_file(self, path: Path) -> None:
        from app.editor import FilePlace

        self._window.file_opening.open_file(FilePlace(path))

    @Slot()
    def _show_folder(self) -> None:
        if self.editor.draft is not None:
            QDesktopServices.openUrl(QUrl.fromLocalFile(str(self.editor.draft.path.parent)))

    @Slot()
    def _library_read(self) -> None:
        if self._editor is not None:
            self._look_for_backends()
        if not self._has_offered:
            self._has_offered = True
            self._offer_copies()

    # --- nothing is lost -------------------------------------------------------------------------------

    def when_saved(self, then: Callable[[], object]) -> None:
        """Go on once no agent is unsaved, or the user does not want what is."""
        self._discarded = False
        unsaved = self.drafts.unsaved
        if not unsaved:
            then()
            return

        def discard() -> None:
            self._discarded = True
            then()

        def save_rest() -> None:
            if self.save_all(but_refused=True):
                discard()

        if any(draft.refused for draft in unsaved):
            self._ask_about_refused(unsaved, save_rest, discard)
            return
        text = self.tr("Save the changes to {0}?").format(_names(unsaved, self.tr("{0} agents")))
        choices = (
            Choice(self.tr("Save"), lambda: self.save_all() and then(), is_default=True),
            Choice(self.tr("Don’t save"), discard, QMessageBox.ButtonRole.DestructiveRole),
        )
        explanation = self.tr("They are lost if you don’t save them.")
        self._ask(text, explanation, choices)

    def _ask_about_refused(
        self,
        unsaved: Sequence[AgentDraft],
        save_rest: Callable[[], object],
        discard: Callable[[], object],
    ) -> None:
        """A text of a field cannot be saved; it must not be lost without a word."""
        from app.agent_editor.refusals import fields_in_words

        concerned = [draft for draft in unsaved if draft.refused]
        first = concerned[0]
        names = _names(concerned, self.tr("{0} agents"))
        fields = fields_in_words([each for draft in concerned for each in draft.refused])
        text = self.tr("{0} of {1} cannot be saved as it stands.").format(fields, names)
        explanation = self.tr(
            "What stands there cannot be read, and would be lost. The file keeps the one before."
        )
        choices = (
            Choice(self.tr("Go there"), lambda: self._show_refused(first), is_default=True),
            Choice(self.tr("Save the rest"), save_rest),
            Choice(self.tr("Don’t save"), discard, QMessageBox.ButtonRole.DestructiveRole),
        )
        self._ask(text, explanation, choices)

    def _show_refused(self, draft: AgentDraft) -> None:
        self.edit(draft.path)
        if draft.refused:
            self.editor.go_to_field(draft.refused[0].key)

    def save_all(self, *, but_refused: bool = False) -> bool:
        """Save every agent; False where one could not be, and then it is shown with the reason.
        `but_refused`: texts of fields that cannot be saved are left out, else they are a reason."""
        for draft in self.drafts.unsaved:
            self.editor.show_draft(draft)
            if not (self.editor.save_rest() if but_refused else self.editor.save()):
                self._show_unsaved()
                self._right.turn_to(Side.AGENT)
                return False
        self._show_unsaved()
        return True

    def before_run(self, then: Callable[[], object]) -> None:
        """Start a run with `then`; first ask about agents of the workflow that are unsaved."""
        unsaved = [draft for draft in self.drafts.unsaved if self._document.uses_of(draft.saved_name)]
        if not unsaved or self._window.run.running:
            then()
            return
        names = _names(unsaved, self.tr("{0} agents"))
        if len(unsaved) == 1:
            text = self.tr("{0} has unsaved changes.").format(names)
            explanation = self.tr("A run uses the saved file.")
        else:
            text = self.tr("{0} have unsaved changes.").format(names)
            explanation = self.tr("A run uses the saved files.")
        choices = (
            Choice(self.tr("Save and run"), lambda: self._save_and_run(then), is_default=True),
            Choice(self.tr("Run as saved"), then),
        )
        self._ask(text, explanation, choices)

    def _save_and_run(self, then: Callable[[], object]) -> None:
        if self.save_all():
            self._then = then
            self._agents.source.refresh()

    @Slot()
    def _agents_looked(self) -> None:
        # Also where a file system does not tell changes: the window looks when one comes back to it.
        self.drafts.look()
        then, self._then = self._then, None
        if then is not None:
            then()

    def _ask(self, text: str, explanation: str, choices: Sequence[Choice]) -> None:
        self.question = ask(self._window, text, explanation, choices, self.tr("Cancel"))
        self.question.finished.connect(self._forget_question)

    @Slot()
    def _forget_question(self) -> None:
        if self.question is self.sender():
            self.question = None

    @Slot()
    def _close(self) -> None:
        self.drafts.close(discard=self._discarded)
        if self._renaming is not None:
            self._renaming.close()
        if self._editor is not None:
            self._installed.close()

    # --- after a crash ---------------------------------------------------------------------------------

    def _offer_copies(self) -> None:
        found = self.drafts.left_behind()
        if not found:
            return
        names = ", ".join(dict.fromkeys(each.copy.title for each in found))
        when = time.strftime("%d %b, %H:%M", time.localtime(found[-1].copy.saved_at))
        text = self.tr("OpenLoop ended without saving your changes to {0}. They were kept on {1}.")
        actions = (
            NoticeAction(self.tr("Restore"), lambda: self._restore(found)),
            NoticeAction(self.tr("Discard"), lambda: self._discard(found)),
        )
        self._window.notices.tell(NOTICE, Notice(text.format(names, when), Tone.WARNING, actions=actions))

    def _restore(self, found: Sequence[FoundCopy]) -> None:
        last: AgentDraft | None = None
        problems: list[str] = []
        for each in found:
            try:
                last = self.drafts.restore(each) or last
            except UserFileError as error:
                problems += problem_lines(error.problems)
        if problems:
            text = self.tr("Not every copy can be restored.")
            self._window.notices.tell(NOTICE, Notice(text, Tone.ERROR, tuple(problems)))
        if last is not None:
            self.edit(last.path)

    def _discard(self, found: Sequence[FoundCopy]) -> None:
        for each in found:
            self.drafts.discard_copy(each)


def _names(drafts: Sequence[AgentDraft], many: str) -> str:
    if len(drafts) > 3:
        return many.format(len(drafts))
    return ", ".join(draft.name for draft in drafts)
