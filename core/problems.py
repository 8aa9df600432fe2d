"""Problems found in the user's files: what, where, and what to do about it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from core.fixes import Fix


class Severity(StrEnum):
    """How bad a problem is: an error stops a run from starting, the others do not. A hint may be wrong."""

    ERROR = "error"
    WARNING = "warning"
    HINT = "hint"


@dataclass(frozen=True, slots=True)
class Problem:
    """One finding, in a user's words.

    `place` is a path inside the file such as `loop_agents[1].mode` (empty: the whole file); `line` and
    `column` count from 1 and are None where the place has no text of its own (a key that is missing).
    """

    message: str
    place: str = ""
    suggestion: str = ""
    severity: Severity = Severity.ERROR
    file: Path | None = None
    line: int | None = None
    column: int | None = None
    fix: Fix | None = None
    """An edit of the workflow that solves it, where one is obvious."""
    other_fixes: tuple[Fix, ...] = ()
    """What else would solve it."""

    def text(self) -> str:
        """One line for a person: file:line:column: place: message. Suggestion."""
        position = ":".join(str(part) for part in (self.file, self.line, self.column) if part is not None)
        head = ": ".join(part for part in (position, self.place) if part)
        body = f"{self.message} {self.suggestion}".strip()
        return f"{head}: {body}" if head else body


class UserFileError(Exception):
    """A file of the user's could not be used; `problems` says why, each with its place."""

    def __init__(self, problems: list[Problem]) -> None:
        super().__init__("\n".join(problem.text() for problem in problems))
        self.problems = problems
