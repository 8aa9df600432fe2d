"""The workflow: three phases and the policies of a run, as models; loading and saving is in `files`."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field

from core.json_types import JsonValue
from core.state import MergeRule, Phase

OnParallelError: TypeAlias = Literal["abort", "continue"]
OnMissingState: TypeAlias = Literal["ask", "continue", "abort"]
Isolation: TypeAlias = Literal["shared", "worktree"]
MergeStrategy: TypeAlias = Literal["sequential", "git-merge"]

DEFAULT_AGENT_TIMEOUT = 1800.0
"""Seconds (DESIGN, workflow policies)."""
DEFAULT_MAX_LOOPS = 10
DEFAULT_CONDITION = "is_complete == True"


class _Model(BaseModel):
    """Unknown keys are kept, so that they survive a load and save round trip."""

    model_config = ConfigDict(extra="allow", validate_assignment=True)


class AgentEntry(_Model):
    """One place of a group: an agent's name, with overrides for this place only. None: not overridden."""

    agent: str
    backend: str | None = None
    model: str | None = None
    timeout: float | None = Field(default=None, ge=0)
    enabled: bool = True


class AgentGroup(_Model):
    """A step of a phase. None: the workflow's value holds. `timeout` is in seconds for the whole group."""

    mode: Literal["sequential", "parallel"] = "sequential"
    agents: list[AgentEntry] = Field(default_factory=list)
    name: str | None = None
    timeout: float | None = Field(default=None, ge=0)
    max_parallel: int | None = Field(default=None, ge=1)
    on_parallel_error: OnParallelError | None = None
    isolation: Isolation | None = None
    merge_strategy: MergeStrategy | None = None
    merge: dict[str, MergeRule] | None = None
    enabled: bool = True


class FanOutTask(_Model):
    """One task of a fan-out group."""

    id: str | None = None
    prompt: str
    depends_on: list[str] = Field(default_factory=list)
    files: list[str] = Field(default_factory=list)


class FanOutGroup(_Model):
    """One agent, many tasks. Kept and shown; running it is not built yet and `validate` says so."""

    mode: Literal["fan_out"]
    agent: str
    tasks: list[str | FanOutTask] | None = None
    tasks_from: str | None = None
    collect_into: str | None = None
    max_parallel: int | None = Field(default=None, ge=1)
    name: str | None = None
    timeout: float | None = Field(default=None, ge=0)
    on_parallel_error: OnParallelError | None = None
    isolation: Isolation | None = None
    merge_strategy: MergeStrategy | None = None
    merge: dict[str, MergeRule] | None = None
    enabled: bool = True


Group: TypeAlias = Annotated[AgentGroup | FanOutGroup, Field(discriminator="mode")]


class Budget(_Model):
    """Caps of a run; None: no cap."""

    max_cost_usd: float | None = Field(default=None, ge=0)
    max_cost_usd_per_group: float | None = Field(default=None, ge=0)
    max_tokens: int | None = Field(default=None, ge=0)


class OpencodeDefaults(_Model):
    """Flags of `opencode run` for every agent that does not say otherwise."""

    model: str | None = None
    agent: str | None = None
    variant: str | None = None
    pure: bool | None = None
    log_level: Literal["DEBUG", "INFO", "WARN", "ERROR"] | None = None
    extra_args: list[str] = Field(default_factory=list)


class Workflow(_Model):
    """A workflow as in its file, every phase as a list of groups. Defaults: DESIGN, workflow policies."""

    name: str = "workflow"
    preparation_agents: list[Group] = Field(default_factory=list)
    loop_agents: list[Group] = Field(default_factory=list)
    finalization_agents: list[Group] = Field(default_factory=list)
    end_state_condition: str = DEFAULT_CONDITION
    max_loops: int = Field(default=DEFAULT_MAX_LOOPS, ge=1)
    max_parallel_agents: int | None = Field(default=None, ge=1)
    agent_timeout: float = Field(default=DEFAULT_AGENT_TIMEOUT, ge=0)
    on_parallel_error: OnParallelError = "abort"
    retries: int = Field(default=0, ge=0)
    finalize_on_abort: bool = False
    on_missing_state: OnMissingState = "ask"
    isolation: Isolation = "shared"
    merge_strategy: MergeStrategy = "sequential"
    merge: dict[str, MergeRule] = Field(default_factory=dict)
    budget: Budget = Field(default_factory=Budget)
    max_prompt_bytes: int | None = Field(default=None, ge=1)
    backend: str | None = None
    agents_dir: str | None = None
    workdir: str | None = None
    init_script: str | None = None
    log_dir: str | None = None
    opencode_defaults: OpencodeDefaults = Field(default_factory=OpencodeDefaults)
    initial_payload: dict[str, JsonValue] = Field(default_factory=dict)

    def groups(self, phase: Phase) -> list[Group]:
        """The groups of a phase, in order; the list is the model's own."""
        return {
            "preparation": self.preparation_agents,
            "loop": self.loop_agents,
            "finalization": self.finalization_agents,
        }[phase]

    @property
    def parallel_cap(self) -> int:
        """Agents that may run at once: `max_parallel_agents`, else the number of processors."""
        return self.max_parallel_agents or os.cpu_count() or 1


class WorkflowFile(BaseModel):
    """A loaded workflow and where it came from; `text` is the file as read (for saving in the same form)."""

    model_config = ConfigDict(arbitrary_types_allowed=True)

    workflow: Workflow
    path: Path | None = None
    text: str = ""
