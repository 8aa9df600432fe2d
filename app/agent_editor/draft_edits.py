"""Edits of an agent's draft as steps of undo."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtGui import QUndoCommand

if TYPE_CHECKING:
    from app.agent_editor.plain_document import PlainDocument
    from core.agent_writing import AgentText


@dataclass(frozen=True, slots=True)
class RefusedField:
    """What was typed into the field of a key and cannot be its value. `field`: its label; `mistake`: why not,
    as a sentence."""

    key: str
    field: str
    text: str
    mistake: str


@dataclass(frozen=True, slots=True)
class Head:
    """The front matter as text, and what stands in fields and is not in it."""

    parts: AgentText
    refused: tuple[RefusedField, ...] = ()

    def with_parts(self, parts: AgentText, key: str) -> Head:
        """With another text, in which this key has what is in its field."""
        return Head(parts, tuple(each for each in self.refused if each.key != key))

    def with_refused(self, refused: RefusedField) -> Head:
        """With a text in a field that is no value of it."""
        others = self.with_parts(self.parts, refused.key).refused
        return Head(self.parts, (*others, refused))


class HeadEdit(QUndoCommand):
    """Another front matter; edits of one field merge until it is left."""

    def __init__(self, text: str, before: Head, after: Head, apply: Callable[[Head], None], key: str) -> None:
        super().__init__(text)
        self._before = before
        self._after = after
        self._apply = apply
        self._key = key

    def id(self) -> int:
        return 1 if self._key else -1

    def mergeWith(self, other: QUndoCommand) -> bool:  # noqa: N802
        if not isinstance(other, HeadEdit) or other._key != self._key:
            return False
        self._after = other._after
        self.setObsolete(self._after == self._before)
        return True

    def redo(self) -> None:
        self._apply(self._after)

    def undo(self) -> None:
        self._apply(self._before)


class PromptEdit(QUndoCommand):
    """What was edited in the prompt; its document knows how to take it back."""

    def __init__(self, text: str, document: PlainDocument) -> None:
        super().__init__(text)
        self._document = document
        self._is_done = True

    def redo(self) -> None:
        if self._is_done:
            self._is_done = False
        else:
            self._document.redo()

    def undo(self) -> None:
        self._document.undo()
