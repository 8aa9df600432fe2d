"""Choices that several pages of settings offer."""

from __future__ import annotations

from app.builder import words
from app.document import WorkflowDocument
from app.form_rows import Choice


def isolation_choices() -> list[Choice]:
    """Where agents work; not all of it runs yet."""
    return [
        Choice(words.tr("The shared work folder"), "shared"),
        Choice(words.tr("A git worktree of its own"), "worktree", words.tr("cannot run yet")),
    ]


def backend_choices(document: WorkflowDocument, inherited: str, chosen: str | None) -> list[Choice]:
    """The backends there are; also one that a file names and that is unknown."""
    names = list(document.known_backends)
    if chosen is not None and chosen not in names:
        names.append(chosen)
    return [Choice(inherited, None), *(Choice(name, name) for name in names)]
