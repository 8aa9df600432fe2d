"""Edits of an agent's draft as steps of undo."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtGui import QUndoCommand

if TYPE_CHECKING:
    from app.agent_editor.plain_document import PlainDocument
    from core.agent_writing import AgentText


class HeadEdit(QUndoCommand):
    """Another front matter; edits of one field merge until it is left."""

    def __init__(
        self, text: str, before: AgentText, after: AgentText, apply: Callable[[AgentText], None], key: str
    ) -> None:
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
