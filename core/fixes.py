"""Edits of a workflow that would solve a problem, as values: the check offers them, the window makes them.

Places are those of the model: phase, index of the group in it, index of the entry in that, from 0. Each
fix also says what it found there, so that nothing is changed where the workflow is another one by now.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from core.json_types import JsonValue
from core.state import PHASES, MergeRule, Phase

if TYPE_CHECKING:
    from pydantic import BaseModel

    from core.config import Workflow


@dataclass(frozen=True, slots=True)
class ReplaceAgent:
    """Name another agent at one place."""

    phase: Phase
    group: int
    entry: int
    agent: str
    """The name that stands there."""
    by: str


@dataclass(frozen=True, slots=True)
class ReplaceBackend:
    """Name another backend at one place."""

    phase: Phase
    group: int
    entry: int
    agent: str
    backend: str | None
    """The name that stands there; None: none does."""
    by: str


@dataclass(frozen=True, slots=True)
class SetMergeRule:
    """Give a group a merge rule for one path, beside those that it has."""

    phase: Phase
    group: int
    agents: tuple[str, ...]
    """Names of the group's agents, in order."""
    path: str
    rule: MergeRule


@dataclass(frozen=True, slots=True)
class ChangeGroup:
    """Give one setting of a group another value, such as `mode`."""

    phase: Phase
    group: int
    agents: tuple[str, ...]
    key: str
    value: JsonValue


@dataclass(frozen=True, slots=True)
class RemoveGroup:
    """Take a group away that has no agents."""

    phase: Phase
    group: int


@dataclass(frozen=True, slots=True)
class ChangeSetting:
    """Give a setting of the workflow another value; None takes it back. `budget.max_tokens` is a key, too."""

    key: str
    value: JsonValue
    what: str = ""
    """The part of a long value that is new; empty: all of it."""


Renamed: TypeAlias = Literal["workflow", "budget", "opencode_defaults", "group", "agent"]
"""What has a key that is to be called otherwise."""


@dataclass(frozen=True, slots=True)
class RenameKey:
    """Call a key otherwise that nobody knows, wherever objects of that kind have it."""

    of: Renamed
    key: str
    by: str


def has_key(workflow: Workflow, fix: RenameKey) -> bool:
    """Whether anything of the workflow has a key that is to be called otherwise."""
    groups = [group for phase in PHASES for group in workflow.groups(phase)]
    models: list[BaseModel] = []
    match fix.of:
        case "workflow":
            models.append(workflow)
        case "budget":
            models.append(workflow.budget)
        case "opencode_defaults":
            models.append(workflow.opencode_defaults)
        case "group":
            models.extend(groups)
        case "agent":
            models.extend(entry for group in groups for entry in getattr(group, "agents", ()))
    return any(fix.key in (model.model_extra or {}) for model in models)


@dataclass(frozen=True, slots=True)
class RemoveAgent:
    """Take an agent away from one place."""

    phase: Phase
    group: int
    entry: int
    agent: str


@dataclass(frozen=True, slots=True)
class MakeAgent:
    """Make the agent that a workflow names: no edit of the workflow, but a question to the user."""

    agent: str


@dataclass(frozen=True, slots=True)
class LetComplete:
    """Write into an agent's file that it may end the loop: an edit of that file, not of the workflow."""

    agent: str


Fix: TypeAlias = (
    ReplaceAgent
    | ReplaceBackend
    | SetMergeRule
    | ChangeGroup
    | RemoveGroup
    | ChangeSetting
    | RenameKey
    | RemoveAgent
    | MakeAgent
    | LetComplete
)
