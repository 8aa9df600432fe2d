"""What the editor says about the file of its agent: whose it is, and what other programs do to it."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal, Slot
from PySide6.QtWidgets import QWidget

from app.agent_editor.difference import DifferenceDialog
from app.agent_editor.draft import AgentDraft, Disk
from app.agent_editor.refusals import fields_in_words
from app.notice_bar import Notice, NoticeAction, NoticeArea, Tone
from app.problem_text import problem_lines
from core.problems import UserFileError

DISK, STATE, SAVING, RELOADED, REFUSED = "disk", "state", "saving", "reloaded", "refused"
"""Names of the notices."""


class FileNotices(QObject):
    """Follows one draft at a time.

    Signals: `save_requested()`; `rest_requested()`: save all but what cannot be; `field_requested(str)`: go
    to the field of a key; `copy_requested(Path)`: copy an example to an own folder.
    """

    save_requested = Signal()
    rest_requested = Signal()
    field_requested = Signal(str)
    copy_requested = Signal(object)

    def __init__(self, notices: NoticeArea, parent: QWidget) -> None:
        super().__init__(parent)
        self._notices = notices
        self._page = parent
        self._draft: AgentDraft | None = None
        self.difference: DifferenceDialog | None = None
        self._told_refused: list[str] = []
        """The keys of the fields that the notice is about."""

    def follow(self, draft: AgentDraft | None) -> None:
        """Speak about this draft from now on."""
        if self._draft is not None:
            self._draft.disk_changed.disconnect(self._show_disk)
            self._draft.reloaded.disconnect(self._say_reloaded)
        for name in tuple(self._notices.names):
            self._notices.dismiss(name)
        self._draft = draft
        if draft is not None:
            draft.disk_changed.connect(self._show_disk)
            draft.reloaded.connect(self._say_reloaded)
            self._show_ownership(draft)
            self._show_disk()

    def _show_ownership(self, draft: AgentDraft) -> None:
        if draft.is_example:
            text = self.tr("This agent comes with OpenLoop and is not changed in place.")
            copy = NoticeAction(self.tr("Copy to my agents…"), self._request_copy, stays=True)
            self._notices.tell(STATE, Notice(text, actions=(copy,), dismissible=False))
        elif draft.disk is Disk.SAME and not draft.can_be_saved:
            text = self.tr("{0} is read-only: what you change here cannot be saved in it.")
            self._notices.tell(STATE, Notice(text.format(draft.path.name), Tone.WARNING))

    @Slot()
    def _request_copy(self) -> None:
        if self._draft is not None:
            self.copy_requested.emit(self._draft.path)

    # --- changes by others -----------------------------------------------------------------------------

    @Slot()
    def _show_disk(self) -> None:
        draft = self._draft
        if draft is None:
            return
        name = draft.path.name
        if draft.disk is not Disk.SAME:
            # It is no longer shown as it is.
            self._notices.dismiss(RELOADED)
        if draft.disk is Disk.SAME:
            self._notices.dismiss(DISK)
        elif draft.disk is Disk.GONE:
            text = self.tr("{0} was moved or deleted. What is here is kept; Save writes it again.")
            save = NoticeAction(self.tr("Save it again"), self.save_requested.emit)
            notice = Notice(text.format(name), Tone.WARNING, actions=(save,), dismissible=False)
            self._notices.tell(DISK, notice)
        else:
            text = self.tr("Another program changed {0}. Decide before you save.")
            actions = (
                NoticeAction(self.tr("Keep mine"), self.keep_mine, stays=True),
                NoticeAction(self.tr("Take theirs"), self.take_theirs, stays=True),
                NoticeAction(self.tr("Show difference"), self.show_difference, stays=True),
            )
            notice = Notice(text.format(name), Tone.WARNING, actions=actions, dismissible=False)
            self._notices.tell(DISK, notice)

    @Slot()
    def keep_mine(self) -> None:
        """A save may replace what the other program wrote."""
        if self._draft is not None:
            self._draft.keep_mine()

    @Slot()
    def take_theirs(self) -> None:
        """Go on with what the other program wrote; undo brings mine back."""
        if self._draft is not None:
            try:
                self._draft.take_theirs()
            except UserFileError as error:
                self.say_unreadable(error)

    @Slot()
    def show_difference(self) -> None:
        """Show what is different on disk."""
        draft = self._draft
        if draft is not None:
            self.difference = DifferenceDialog(
                draft.path.name, draft.text, draft.theirs, self.keep_mine, self.take_theirs, self._page
            )
            self.difference.destroyed.connect(self._forget_difference)
            self.difference.open()

    @Slot()
    def _forget_difference(self) -> None:
        self.difference = None

    @Slot()
    def _say_reloaded(self) -> None:
        if self._draft is not None:
            text = self.tr("{0} was changed by another program and is shown as it is now.")
            self._notices.tell(RELOADED, Notice(text.format(self._draft.path.name)))

    # --- texts that are no values ----------------------------------------------------------------------

    def say_refused(self) -> None:
        """Save was asked for, and what stands in fields cannot be saved."""
        draft = self._draft
        if draft is None or not draft.refused:
            return
        self._told_refused = [each.key for each in draft.refused]
        key = self._told_refused[0]
        text = self.tr("{0} is not saved: {1} cannot be saved as it stands.")
        actions = (
            NoticeAction(self.tr("Go there"), lambda: self.field_requested.emit(key), stays=True),
            NoticeAction(self.tr("Save the rest"), self.rest_requested.emit),
        )
        words = text.format(draft.path.name, fields_in_words(draft.refused))
        self._notices.tell(REFUSED, Notice(words, Tone.WARNING, actions=actions))

    def follow_refused(self) -> None:
        """Say no more that a field stands in the way when it does not."""
        refused = self._draft.refused if self._draft is not None else ()
        if self._notices.bar(REFUSED) is None:
            return
        if not refused:
            self._notices.dismiss(REFUSED)
        elif [each.key for each in refused] != self._told_refused:
            self.say_refused()

    # --- what did not work -----------------------------------------------------------------------------

    def say_not_saved(self, error: UserFileError) -> None:
        """The file could not be written."""
        if self._draft is not None:
            text = self.tr("{0} is not saved.").format(self._draft.path.name)
            self._notices.tell(SAVING, Notice(text, Tone.ERROR, problem_lines(error.problems)))

    def say_unreadable(self, error: UserFileError) -> None:
        """The file on disk cannot be taken over."""
        text = self.tr("The file on disk cannot be read.")
        self._notices.tell(SAVING, Notice(text, Tone.ERROR, problem_lines(error.problems)))
