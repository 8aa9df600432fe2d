"""A run's plan: the workflow and the agent library resolved once, into frozen values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from core.place import Place as Place

if TYPE_CHECKING:
    from core.agent import AgentDefinition
    from core.config import Budget, OnMissingState, OnParallelError, OpencodeDefaults
    from core.json_types import JsonObject
    from core.state import MergeRule, Phase

MAX_CORRECTIONS = 2
"""Corrections of a turn, in the same session, before it counts as having no state."""


@dataclass(frozen=True, slots=True)
class PlannedTurn:
    """One agent at one place. `label` tells the same agent's turns of a group apart (`vera`, `vera 2`)."""

    place: Place
    label: str
    agent: AgentDefinition
    backend: str
    model: str | None
    timeout: float
    """Seconds from the start of a process; 0: no limit. So is `idle_timeout`, from its last output."""
    idle_timeout: float = 0.0
    idle_warning: float = 0.0
    """Seconds of silence after which a warning says so; 0: none."""


@dataclass(frozen=True, slots=True)
class PlannedGroup:
    """One enabled group with everything resolved. `timeout` None: no limit of its own (seconds)."""

    phase: Phase
    index: int
    name: str
    mode: Literal["sequential", "parallel"]
    turns: tuple[PlannedTurn, ...]
    max_parallel: int
    timeout: float | None
    on_error: OnParallelError
    merge_rules: Mapping[str, MergeRule] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class RunPlan:
    """Everything a run needs to know, decided before anything starts."""

    workflow_name: str
    workflow_path: Path | None
    workflow_json: bytes
    workdir: Path
    log_dir: Path
    preparation: tuple[PlannedGroup, ...]
    loop: tuple[PlannedGroup, ...]
    finalization: tuple[PlannedGroup, ...]
    end_state_condition: str
    max_loops: int
    max_parallel: int
    retries: int
    finalize_on_abort: bool
    on_missing_state: OnMissingState
    budget: Budget
    max_prompt_bytes: int | None
    opencode_defaults: OpencodeDefaults
    initial_payload: JsonObject
    init_script: str | None = None
    init_timeout: float = 0.0
    """Seconds that the `init_script` may take: those of an agent; 0: no limit."""
    pause_on_provider_failure: bool = True
    """A failure that every agent of the provider would meet pauses the run; False: it ends it, resumable."""

    def groups(self, phase: Phase) -> tuple[PlannedGroup, ...]:
        """The groups of a phase, in order."""
        return {"preparation": self.preparation, "loop": self.loop, "finalization": self.finalization}[phase]

    @property
    def most_at_once(self) -> int:
        """How many turns may be at work at the same time: a group's cap overrides the workflow's."""
        groups = (*self.preparation, *self.loop, *self.finalization)
        caps = (min(group.max_parallel, len(group.turns)) for group in groups if group.mode == "parallel")
        return max(caps, default=1)

    @property
    def turns(self) -> tuple[PlannedTurn, ...]:
        """Every planned turn of all phases, in the order of the file."""
        groups = (*self.preparation, *self.loop, *self.finalization)
        return tuple(turn for group in groups for turn in group.turns)
