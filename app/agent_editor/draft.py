"""One agent's file while it is edited: its text, what of it is not saved, and what others do to the file."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal, Slot
from PySide6.QtGui import QUndoStack

import resources
from app.agent_editor.draft_edits import Head, HeadEdit, PromptEdit, RefusedField
from app.agent_editor.plain_document import PlainDocument
from app.file_watch import FileWatch
from core.agent_file import inspect_agent
from core.agent_writing import (
    AgentText,
    ChangedOnDiskError,
    FieldValue,
    can_be_written,
    plain_lines,
    save_agent,
    why_not_by_field,
    with_endings,
)
from core.front_matter import BYTE_ORDER_MARK
from core.jsonc import decode, read_bytes
from core.problems import Problem, UserFileError

if TYPE_CHECKING:
    from core.agent_definition import AgentDefinition


class Disk(StrEnum):
    """What the file is against what was read: the same, changed by another program, or gone."""

    SAME = "same"
    CHANGED = "changed"
    GONE = "gone"


class AgentDraft(QObject):
    """The text of one agent's file, edited by fields and as a prompt, or as a whole.

    `prompt` is the document of the prompt; `whole` that of the whole text while it is edited as such. Edits
    are on `undo_stack`; those of `whole` are in its own document, and one step of the stack once they are
    saved or `whole` is left. `refused` are texts of fields that cannot be their values: steps of undo keep
    them, the text has the values before.

    Signals: `fields_changed()`: the front matter is another, or what is refused; `text_changed()`: anything
    is; `view_changed()`: `whole` came or went; `modified_changed(bool)`; `disk_changed()`: `disk` is another;
    `reloaded()`: others changed the file and it was read again, as there was nothing to lose; `saved()`.
    """

    fields_changed = Signal()
    text_changed = Signal()
    view_changed = Signal()
    modified_changed = Signal(bool)
    disk_changed = Signal()
    reloaded = Signal()
    saved = Signal()

    def __init__(self, path: Path, parent: QObject | None = None, *, may_be_gone: bool = False) -> None:
        """Read a file. Raises UserFileError, also where there is none unless it `may_be_gone`."""
        data = None if may_be_gone and not path.exists() else read_bytes(path)
        text = decode(data or b"", path)
        super().__init__(parent)
        self.path = path
        self._known = data
        self._parts = AgentText.parse(text)
        self.refused: tuple[RefusedField, ...] = ()
        self._typing: tuple[str, Head, Head] | None = None
        """Of the step that an edit of the same field would go on with: its key, and the head before and after
        it."""
        self._agent: AgentDefinition | None = None
        self.keys: frozenset[str] = frozenset()
        """The keys that stand in the front matter."""
        self.prompt = PlainDocument(self)
        self.prompt.setPlainText(self._parts.shown_prompt)
        self.prompt.setModified(False)
        self.whole: PlainDocument | None = None
        self._whole_before = ""
        self._round = 0
        self._told_modified = False
        self.disk = Disk.GONE if data is None else Disk.SAME
        self.saved_name = ""
        """The agent's name as its file has it: what workflows know it by."""
        self.place = (0, 0)
        """Where the editor's cursor and scroll bar were, for the next time."""
        self._theirs: bytes | None = None
        self.undo_stack = QUndoStack(self)
        self.prompt.undoCommandAdded.connect(self._prompt_edited)
        self.prompt.contentsChanged.connect(self.text_changed)
        # Not only when it is clean or no longer: with a text that is refused it is unsaved also where the
        # file has all the rest.
        self.undo_stack.indexChanged.connect(self._tell_modified)
        self.undo_stack.cleanChanged.connect(self._tell_modified)
        self._watch = FileWatch(self)
        self._watch.changed.connect(self.look)
        self._watch.follow(path)
        self._read_fields()
        self.saved_name = self.name
        self._open_whole_if_needed()

    # --- what is there ---------------------------------------------------------------------------------

    @property
    def text(self) -> str:
        """The whole text as it would be saved."""
        if self.whole is None:
            return self._parts.with_prompt(self.prompt.shown()).text
        mark, before = _without_mark(self._whole_before)
        return mark + with_endings(before, self.whole.shown())

    @property
    def agent(self) -> AgentDefinition | None:
        """What the front matter says; None: it cannot be read. Its `prompt` is only that of the key."""
        return self._agent

    @property
    def name(self) -> str:
        """The agent's name as it is now, or its file's."""
        return self._agent.name if self._agent is not None else self.path.stem

    @property
    def why_not_by_field(self) -> str:
        """Why the fields cannot be edited one by one; empty: they can."""
        return why_not_by_field(
            AgentText.parse(self.text).head if self.whole is not None else self._parts.head
        )

    @property
    def is_example(self) -> bool:
        """Whether it ships with OpenLoop, so that it is not edited in place."""
        return self.path.absolute().is_relative_to(resources.folder().absolute())

    @property
    def can_be_saved(self) -> bool:
        """Whether the file may be written, as far as can be told."""
        return not self.is_example and can_be_written(self.path)

    @property
    def has_edits(self) -> bool:
        """Whether there are edits that are not saved."""
        edited = not self.undo_stack.isClean() or (self.whole is not None and self.whole.isModified())
        return edited or bool(self.refused)

    @property
    def is_modified(self) -> bool:
        """Whether something would be lost without saving: edits, or the text of a file that is gone."""
        return self.has_edits or self.disk is Disk.GONE

    @property
    def theirs(self) -> str:
        """What another program wrote, as text with replacements for what is none."""
        return (self._theirs or b"").decode("utf-8", "replace")

    @property
    def base(self) -> str:
        """A digest of what the file had when it was read or saved."""
        return sha256(self._known).hexdigest() if self._known is not None else ""

    def problems(self) -> tuple[Problem, ...]:
        """What is wrong with the text as it is now."""
        return inspect_agent(self.text.removeprefix(BYTE_ORDER_MARK), self.path).problems

    # --- edits -----------------------------------------------------------------------------------------

    def set_field(self, key: str, value: FieldValue, label: str) -> None:
        """Set a value of the front matter. Raises UserFileError where that is not possible."""
        self._push_field(label, key, self._head.with_parts(self._parts.with_fields({key: value}), key))

    def refuse_field(self, key: str, field: str, text: str, mistake: str, label: str) -> None:
        """Keep what stands in a field and cannot be its value, for the reason `mistake`. The value is the one
        before anything was typed: "20x" is not 20. `field`: what the field is called."""
        typing, head = self._typing, self._head
        if typing is not None and typing[0] == self._merge_key(key) and typing[2] == head:
            head = typing[1]
        self._push_field(label, key, head.with_refused(RefusedField(key, field, text, mistake)))

    def refused_text(self, key: str) -> RefusedField | None:
        """What stands in the field of a key and is not its value."""
        return next((each for each in self.refused if each.key == key), None)

    @property
    def _head(self) -> Head:
        return Head(self._parts, self.refused)

    def _merge_key(self, key: str) -> str:
        return f"{key} {self._round}"

    def _push_field(self, label: str, key: str, after: Head) -> None:
        before, merging, typing = self._head, self._merge_key(key), self._typing
        if after == before:
            return
        goes_on = typing is not None and typing[0] == merging and typing[2] == before
        self._typing = (merging, typing[1] if typing is not None and goes_on else before, after)
        self.undo_stack.push(HeadEdit(label, before, after, self._set_head, merging))

    @Slot()
    def end_merging(self) -> None:
        """The user left a field: its next edit is a new step of undo."""
        self._round += 1

    def replace_text(self, text: str, label: str) -> None:
        """Replace everything by another text, as one step of undo."""
        self._take_whole()
        self._apply(Head(AgentText.parse(text)), label)
        if self.whole is not None:
            self._show_in_whole(self.whole, text)
        self._open_whole_if_needed()

    def _apply(self, after: Head, label: str) -> None:
        self.undo_stack.beginMacro(label)
        self.undo_stack.push(HeadEdit(label, self._head, after, self._set_head, ""))
        self.prompt.become(after.parts.shown_prompt)
        self.undo_stack.endMacro()

    @Slot()
    def undo(self) -> None:
        """Take back the last edit, wherever it was made."""
        if self.whole is not None:
            self.whole.undo()
        else:
            self.undo_stack.undo()
            self._open_whole_if_needed()

    @Slot()
    def redo(self) -> None:
        """Make the edit again that was taken back."""
        if self.whole is not None:
            self.whole.redo()
        else:
            self.undo_stack.redo()
            self._open_whole_if_needed()

    @property
    def can_undo(self) -> bool:
        """Whether there is an edit to take back."""
        return self.undo_stack.canUndo() if self.whole is None else self.whole.isUndoAvailable()

    @property
    def can_redo(self) -> bool:
        """Whether there is an edit to make again."""
        return self.undo_stack.canRedo() if self.whole is None else self.whole.isRedoAvailable()

    @Slot()
    def _prompt_edited(self) -> None:
        self.undo_stack.push(PromptEdit(self.tr("Edit the prompt"), self.prompt))

    def _set_head(self, head: Head) -> None:
        self._parts = head.parts
        self.refused = head.refused
        self._read_fields()
        self.fields_changed.emit()
        self.text_changed.emit()

    def _still_refused(self, after: AgentText) -> Head:
        """With a text that was written as a whole: where that gave a key another value, this is meant."""
        before, agent = self._agent, inspect_agent(after.head.removeprefix(BYTE_ORDER_MARK), self.path).agent
        return Head(
            after, tuple(each for each in self.refused if _value(before, each.key) == _value(agent, each.key))
        )

    def _read_fields(self) -> None:
        self._agent = inspect_agent(self._parts.head.removeprefix(BYTE_ORDER_MARK), self.path).agent
        self.keys = self._parts.keys if self._agent is not None else frozenset()

    # --- the text as a whole ---------------------------------------------------------------------------

    def open_whole(self) -> None:
        """Edit the text as a whole from now on."""
        if self.whole is None:
            text = self.text
            whole = PlainDocument(self)
            whole.setPlainText(plain_lines(_without_mark(text)[1]))
            whole.setModified(False)
            self._whole_before = text
            self.whole = whole
            whole.contentsChanged.connect(self.text_changed)
            whole.modificationChanged.connect(self._tell_modified)
            self.view_changed.emit()

    def close_whole(self) -> bool:
        """Go back to the fields; False where the front matter does not allow it."""
        if self.whole is not None:
            if self.why_not_by_field:
                return False
            self._take_whole()
            gone, self.whole = self.whole, None
            gone.deleteLater()
            self.view_changed.emit()
            self._tell_modified()
        return True

    def _open_whole_if_needed(self) -> None:
        if self.whole is None and self.why_not_by_field:
            self.open_whole()

    def _take_whole(self) -> None:
        """Make one step of undo of what was edited in the whole text."""
        if self.whole is not None and self.whole.isModified():
            text = self.text
            self._apply(self._still_refused(AgentText.parse(text)), self.tr("Edit the whole file"))
            self._whole_before = text
            self.whole.setModified(False)

    def _show_in_whole(self, whole: PlainDocument, text: str) -> None:
        self._whole_before = text
        whole.become(plain_lines(_without_mark(text)[1]))
        whole.setModified(False)

    # --- the file --------------------------------------------------------------------------------------

    def save(self) -> None:
        """Write the file. Raises UserFileError, and ChangedOnDiskError where another program wrote it: then
        `disk` says so, and `keep_mine` allows to replace that."""
        self._take_whole()
        try:
            with self._watch.paused():
                self._known = save_agent(self.path, self.text, self._known)
                self._watch.follow(self.path)
        except ChangedOnDiskError as error:
            self._theirs = error.found
            self._set_disk(Disk.CHANGED)
            raise
        self._is_as_on_disk()
        self.saved.emit()

    def revert(self) -> None:
        """Go back to the text of the file, as a step of undo. Raises UserFileError for no text."""
        found = self._theirs if self._theirs is not None else self._known
        if found is not None:
            was_gone = self.disk is Disk.GONE
            self.replace_text(decode(found, self.path), self.tr("Revert"))
            self._known = found
            self._is_as_on_disk()
            if was_gone:
                self._set_disk(Disk.GONE)

    def restore(self, text: str, base: str, refused: Iterable[RefusedField] = ()) -> None:
        """Take in work that was kept aside and began with a file of this digest; it is not saved."""
        self.replace_text(text, self.tr("Restore"))
        for each in refused:
            self.end_merging()
            self.refuse_field(each.key, each.field, each.text, each.mistake, self.tr("Restore"))
        if self._known is not None and base != self.base and self.has_edits:
            # Nothing that the file may have is what this work began with.
            self._known, self._theirs = None, self._known
            self._set_disk(Disk.CHANGED)

    def keep_mine(self) -> None:
        """Another program changed the file, and what is here may replace that."""
        if self.disk is Disk.CHANGED:
            self._known, self._theirs = self._theirs, None
            self.undo_stack.resetClean()
            self._set_disk(Disk.SAME)

    def take_theirs(self) -> None:
        """Take what another program wrote; mine is a step of undo away. Raises UserFileError for no text."""
        if self._theirs is not None:
            self._take_over(self._theirs)

    def _take_over(self, found: bytes) -> None:
        self.replace_text(decode(found, self.path), self.tr("Read again from the disk"))
        self._known = found
        self._is_as_on_disk()

    def _is_as_on_disk(self) -> None:
        self._theirs = None
        self.prompt.setModified(False)
        if self.whole is not None:
            self.whole.setModified(False)
        self.undo_stack.setClean()
        self.saved_name = self.name
        self._set_disk(Disk.SAME)
        self._tell_modified()

    @Slot()
    def look(self) -> None:
        """See whether another program changed or took away the file."""
        try:
            found = read_bytes(self.path) if self.path.exists() else None
        except UserFileError:
            # Saving will say what is the matter with it.
            return
        if found is None:
            self._set_disk(Disk.GONE)
        elif found == self._known:
            self._set_disk(Disk.SAME)
        elif self.has_edits:
            self._theirs = found
            self._set_disk(Disk.CHANGED)
        else:
            self._look_without_edits(found)

    def _look_without_edits(self, found: bytes) -> None:
        try:
            self._take_over(found)
        except UserFileError:
            self._theirs = found
            self._set_disk(Disk.CHANGED)
            return
        self.reloaded.emit()

    def _set_disk(self, disk: Disk) -> None:
        # Also once more changed: what the notice says may be about an older change.
        if disk is not self.disk or disk is Disk.CHANGED:
            self.disk = disk
            self.disk_changed.emit()
            self._tell_modified()

    @Slot()
    def _tell_modified(self) -> None:
        modified = self.is_modified
        if modified is not self._told_modified:
            self._told_modified = modified
            self.modified_changed.emit(modified)

    def close(self) -> None:
        """Watch the file no more; the draft is thrown away."""
        self._watch.follow(None)


def _value(agent: AgentDefinition | None, key: str) -> object:
    return getattr(agent, key, (agent.model_extra or {}).get(key)) if agent is not None else None


def _without_mark(text: str) -> tuple[str, str]:
    """The byte order mark that a text may begin with, and the text."""
    rest = text.removeprefix(BYTE_ORDER_MARK)
    return text[: len(text) - len(rest)], rest
