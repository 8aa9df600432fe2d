"""Edits of a workflow that would solve a problem, as values: the check offers them, the window makes them.

Places are those of the model: phase, index of the group in it, index of the entry in that, from 0. Each
fix also says what it found there, so that nothing is changed where the workflow is another one by now.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from core.json_types import JsonValue
from core.state import MergeRule, Phase


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
    backend: str
    """The name that stands there."""
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


Fix: TypeAlias = ReplaceAgent | ReplaceBackend | SetMergeRule | ChangeGroup | RemoveGroup | ChangeSetting
