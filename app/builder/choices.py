"""Choices that several pages of settings offer."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from app.builder import words
from app.form_rows import Choice

if TYPE_CHECKING:
    from app.document import WorkflowDocument


def isolation_choices() -> list[Choice]:
    """Where agents work; not all of it runs yet."""
    return [
        Choice(words.tr("The shared work folder"), "shared"),
        Choice(words.tr("A git worktree of its own"), "worktree", words.tr("cannot run yet")),
    ]


def merge_strategy_choices() -> list[Choice]:
    """How what parallel agents wrote comes together; not all of it runs yet."""
    return [
        Choice(words.tr("One after another"), "sequential"),
        Choice(words.tr("By git merge"), "git-merge", words.tr("cannot run yet")),
    ]


def backend_choices(document: WorkflowDocument, inherited: str, chosen: Collection[str]) -> list[Choice]:
    """The backends there are; also those that a file names and that are unknown."""
    names = list(dict.fromkeys((*document.known_backends, *sorted(chosen))))
    return [Choice(inherited, None), *(Choice(name, name) for name in names)]


def known_models(document: WorkflowDocument) -> list[str]:
    """Models that the workflow or any agent names, for completion."""
    models = {node.entry.model for _, _, node in document.outline.all_agents()}
    models.add(document.settings_in_force.opencode_defaults.model)
    if document.library is not None:
        models.update(agent.model for agent in document.library.agents)
    return sorted(model for model in models if model)
