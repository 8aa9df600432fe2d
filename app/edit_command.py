"""One edit of the workflow on the undo stack."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtGui import QUndoCommand, QUndoStack

from core.settings_keys import keys_said

if TYPE_CHECKING:
    from app.outline import Outline


@dataclass(frozen=True, slots=True)
class EditPlace:
    """What an edit was about.

    `nodes`: agents and groups, by id; none: the workflow itself. `fields`: what was changed of them, by its
    key in the file; none: their places.
    """

    nodes: tuple[int, ...] = ()
    fields: tuple[str, ...] = ()


def says_the_same(one: Outline, other: Outline) -> bool:
    """Whether two outlines are the same workflow, and name the same settings: a default that is said wins
    over settings files. In a payload, true is not 1."""
    if one != other:
        return False
    if one.settings is other.settings:
        return True
    payloads = one.settings.initial_payload, other.settings.initial_payload
    if payloads[0] is not payloads[1]:
        # Not needed for the first paint of the window.
        from core.json_values import same_json

        if not same_json(*payloads):
            return False
    return keys_said(one.settings) == keys_said(other.settings)


class FileStep(QUndoCommand):
    """An edit of another file than the workflow's that is undone with its edits: the workflow is the same
    after it. It is made before it becomes a step."""

    def __init__(self, text: str, again: Callable[[], object], back: Callable[[], object]) -> None:
        super().__init__(text)
        self._again = again
        self._back = back
        self._is_made = True

    def redo(self) -> None:
        if not self._is_made:
            self._again()
        self._is_made = True

    def undo(self) -> None:
        self._is_made = False
        self._back()


def only_files_between(stack: QUndoStack, one: int, other: int) -> bool:
    """Whether all that was edited between two places of a stack are other files; -1: a place that is gone."""
    first, last = sorted((one, other))
    return first >= 0 and all(isinstance(stack.command(at), FileStep) for at in range(first, last))


class ReplaceOutline(QUndoCommand):
    """One edit: the outline before and after it, and where it was.

    `apply` gets an outline to show; `tell` the place when the edit is undone or done again. Edits with the
    same `merge_key` that follow each other become one (keystrokes in one field).
    """

    def __init__(
        self,
        text: str,
        before: Outline,
        after: Outline,
        apply: Callable[[Outline], None],
        place: EditPlace,
        tell: Callable[[EditPlace], None],
        merge_key: str | None = None,
    ) -> None:
        super().__init__(text)
        self._before = before
        self._after = after
        self._apply = apply
        self._place = place
        self._tell = tell
        self._merge_key = merge_key
        self._done = False

    def id(self) -> int:
        return -1 if self._merge_key is None else 1

    def mergeWith(self, other: QUndoCommand) -> bool:  # noqa: N802 - Qt's name
        if not isinstance(other, ReplaceOutline) or other._merge_key != self._merge_key:
            return False
        self._after = other._after
        self.setObsolete(says_the_same(self._after, self._before))
        return True

    def redo(self) -> None:
        self._apply(self._after)
        if self._done:
            self._tell(self._place)
        # The first time the user is there already.
        self._done = True

    def undo(self) -> None:
        self._apply(self._before)
        self._tell(self._place)
