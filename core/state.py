"""The state that agents share, the updates they return, and what a merge of them says (see `core.merge`).

A state is an immutable snapshot: nothing here changes a payload in place, so the same objects may be
shared between states, threads and views. Rules of the merge: docs/file-format.md, "Merge rules".
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Literal, TypeAlias

import orjson

from core.json_types import JsonObject, JsonValue

Phase: TypeAlias = Literal["preparation", "loop", "finalization"]
PHASES: tuple[Phase, ...] = ("preparation", "loop", "finalization")


@dataclass(frozen=True, slots=True)
class WorkflowState:
    """What every agent of a group is told. `iteration` counts passes over the loop from 1; 0 before it."""

    current_phase: Phase = "preparation"
    iteration: int = 0
    is_complete: bool = False
    termination_reason: str | None = None
    payload: JsonObject = field(default_factory=dict)
    meta: JsonObject = field(default_factory=dict)

    def to_json(self) -> bytes:
        """The state as indented UTF-8 JSON, as agents get it."""
        return orjson.dumps(self, option=orjson.OPT_INDENT_2)


def first_state(
    run_id: str, workflow: str, max_loops: int, end_state_condition: str, payload: JsonObject
) -> WorkflowState:
    """The state with which a run begins."""
    meta: JsonObject = {
        "run_id": run_id,
        "workflow": workflow,
        "max_loops": max_loops,
        "end_state_condition": end_state_condition,
    }
    return WorkflowState(payload=dict(payload), meta=meta)


def loop_ended(state: WorkflowState, *, completed: bool) -> WorkflowState:
    """The state after the loop, with which the finalization begins."""
    if completed:
        return replace(state, is_complete=True, termination_reason=state.termination_reason or "completed")
    return replace(state, termination_reason="max_loops_reached")


@dataclass(frozen=True)
class StateUpdate:
    """What one agent returns; None means that the agent said nothing about the field."""

    is_complete: bool | None = None
    termination_reason: str | None = None
    payload: JsonObject | None = None


class MergeRule(StrEnum):
    """What happens when two updates write different values to one path."""

    LAST = "last"
    FIRST = "first"
    APPEND = "append"
    UNION = "union"
    SUM = "sum"
    MAX = "max"
    MIN = "min"
    ALL = "all"
    ANY = "any"
    ERROR = "error"


@dataclass(frozen=True, slots=True)
class Contribution:
    """One update and who wrote it (the label of its turn)."""

    writer: str
    update: StateUpdate


@dataclass(frozen=True)
class Conflict:
    """Two updates of one group wrote different values to `path` (dotted, such as `payload.score`)."""

    path: str
    rule: MergeRule
    first_writer: str
    first_value: JsonValue
    second_writer: str
    second_value: JsonValue
    outcome: JsonValue


@dataclass(frozen=True, slots=True)
class MergeResult:
    """The next state, and every conflict on the way to it.

    `error_path` is the path of the first conflict whose rule is `error`: the run ends with
    `merge_conflict:<path>`. The state is then what `last` would have made.
    """

    state: WorkflowState
    conflicts: tuple[Conflict, ...] = ()
    error_path: str | None = None
