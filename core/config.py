"""The workflow: three phases and the policies of a run, as models. Files: `core.workflow_file`.

The docstrings below the fields are also the descriptions of the published JSON Schema: `core.schema` reads
them from here, because pydantic's own way costs 40 ms at every start. Defaults that are made are made by
lambdas: pydantic asks what arguments they take, and to find that out of `list` Python needs its tokenizer.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Literal, TypeAlias

import core.plain_pydantic  # noqa: F401

# isort: split
from pydantic import BaseModel, ConfigDict, Field

from core.json_types import JsonValue
from core.problems import Problem
from core.state import MergeRule, Phase

OnParallelError: TypeAlias = Literal["abort", "continue"]
OnMissingState: TypeAlias = Literal["ask", "continue", "abort"]
Isolation: TypeAlias = Literal["shared", "worktree"]
MergeStrategy: TypeAlias = Literal["sequential", "git-merge"]
WhenReached: TypeAlias = Literal["stop", "finish"]

DEFAULT_AGENT_TIMEOUT = 1800.0
"""Seconds (DESIGN, workflow policies)."""
DEFAULT_IDLE_WARNING = 120.0
"""Seconds; agents that think or build are silent for a minute without anything being wrong."""
DEFAULT_MAX_LOOPS = 10
DEFAULT_CONDITION = "is_complete == True"


class _Model(BaseModel):
    """Unknown keys are kept, so that they survive a load and save round trip."""

    model_config = ConfigDict(extra="allow", validate_assignment=True, allow_inf_nan=False)


class AgentEntry(_Model):
    """One place of a group: an agent's name, with overrides for this place only. null: not overridden."""

    agent: str
    """Name of the agent: `name` of its front matter, else its file name without .md."""
    backend: str | None = None
    """The agent CLI for this place, such as opencode or demo."""
    model: str | None = None
    """The model for this place, as the backend names it."""
    timeout: float | None = Field(default=None, ge=0)
    """Seconds that the agent may take here; 0: no limit."""
    enabled: bool = True
    """false: left out of a run, kept in the file."""


class AgentGroup(_Model):
    """A step of a phase: agents in sequence or at the same time. null: the workflow's value holds."""

    agents: list[AgentEntry] = Field(default_factory=lambda: [])
    """The agents, in order. Updates of a parallel group are merged in this order."""
    mode: Literal["sequential", "parallel"] = "sequential"
    """sequential: one after another; parallel: at the same time."""
    name: str | None = None
    """What the group is called in the window, in logs and in a timeout's reason."""
    timeout: float | None = Field(default=None, ge=0)
    """Seconds that the whole group may take; 0: no limit."""
    max_parallel: int | None = Field(default=None, ge=1)
    """How many of the group's agents may run at the same time; the rest queue."""
    on_parallel_error: OnParallelError | None = None
    """When an agent of a parallel group fails: abort stops the others and ends the run; continue goes on."""
    isolation: Isolation | None = None
    """shared: all agents work in one folder; worktree: a git worktree each (cannot run yet)."""
    merge_strategy: MergeStrategy | None = None
    """How the agents' code comes together; git-merge needs worktrees (cannot run yet)."""
    merge: dict[str, MergeRule] | None = None
    """Merge rules by path, such as "payload.findings": "append"; added to the workflow's."""
    enabled: bool = True
    """false: left out of a run, kept in the file."""


class FanOutTask(_Model):
    """One task of a fan-out group."""

    prompt: str
    """What the agent shall do."""
    id: str | None = None
    """A name for the task, for depends_on."""
    depends_on: list[str] = Field(default_factory=lambda: [])
    """Tasks that must be done before this one, by id."""
    files: list[str] = Field(default_factory=lambda: [])
    """Glob patterns of the files that the task touches."""


class FanOutGroup(_Model):
    """One agent, many tasks. Kept and shown, but it cannot run yet."""

    mode: Literal["fan_out"]
    """fan_out: the agent runs once for every task."""
    agent: str
    """Name of the agent that does every task."""
    tasks: list[str | FanOutTask] | None = None
    """The tasks: text, or objects. Exactly one of tasks and tasks_from."""
    tasks_from: str | None = None
    """Path of the list of tasks in the state, such as payload.subtasks."""
    collect_into: str | None = None
    """Path in the state that the results are put into, such as payload.results."""
    max_parallel: int | None = Field(default=None, ge=1)
    """How many tasks may run at the same time."""
    name: str | None = None
    """What the group is called in the window and in logs."""
    timeout: float | None = Field(default=None, ge=0)
    """Seconds that the whole group may take; 0: no limit."""
    on_parallel_error: OnParallelError | None = None
    """What a failed task does: abort or continue."""
    isolation: Isolation | None = None
    """shared: all tasks work in one folder; worktree: a git worktree each."""
    merge_strategy: MergeStrategy | None = None
    """How the tasks' code comes together."""
    merge: dict[str, MergeRule] | None = None
    """Merge rules by path, added to the workflow's."""
    enabled: bool = True
    """false: left out of a run, kept in the file."""


Group: TypeAlias = Annotated[AgentGroup | FanOutGroup, Field(discriminator="mode")]


class Budget(_Model):
    """Caps of a run; null: no cap."""

    max_cost_usd: float | None = Field(default=None, ge=0)
    """US dollars that a run may cost."""
    max_cost_usd_per_group: float | None = Field(default=None, ge=0)
    """US dollars that one group may cost each time it runs."""
    max_tokens: int | None = Field(default=None, ge=0)
    """Tokens that a run may use, of all kinds together."""
    when_reached: WhenReached = "stop"
    """At a cap nothing new starts. stop: agents at work are ended, too; finish: they may finish."""


class OpencodeDefaults(_Model):
    """Flags of `opencode run` for every agent that does not say otherwise."""

    model: str | None = None
    """provider/model, for agents of the opencode backend that name none."""
    agent: str | None = None
    """Name of the opencode agent that runs the prompts."""
    variant: str | None = None
    """The model's variant, such as its reasoning effort."""
    pure: bool | None = None
    """true: without the user's own plugins."""
    log_level: Literal["DEBUG", "INFO", "WARN", "ERROR"] | None = None
    """How much opencode writes to its log."""
    extra_args: list[str] = Field(default_factory=lambda: [])
    """More arguments for `opencode run`, as they stand."""


class Workflow(_Model):
    """A workflow as in its file, every phase as a list of groups. Defaults: DESIGN, workflow policies."""

    name: str = "workflow"
    """What the workflow is called."""
    preparation_agents: list[Group] = Field(default_factory=lambda: [])
    """Runs once, before the loop: names of agents, groups, or both mixed."""
    loop_agents: list[Group] = Field(default_factory=lambda: [])
    """Runs again and again until the end condition holds: names of agents, groups, or both mixed."""
    finalization_agents: list[Group] = Field(default_factory=lambda: [])
    """Runs once, after the loop: names of agents, groups, or both mixed."""
    end_state_condition: str = DEFAULT_CONDITION
    """An expression that says when the loop is done, such as payload.get('score', 0) >= 90."""
    max_loops: int = Field(default=DEFAULT_MAX_LOOPS, ge=1, le=1_000_000)
    """How many passes over the loop's groups a run may make."""
    max_parallel_agents: int | None = Field(default=None, ge=1)
    """How many agents of a parallel group may run at the same time, where it has no max_parallel; null: the
    number of processors."""
    agent_timeout: float = Field(default=DEFAULT_AGENT_TIMEOUT, ge=0)
    """Seconds that an agent may take; 0: no limit."""
    agent_idle_timeout: float = Field(default=0.0, ge=0)
    """Seconds that an agent may print nothing before it is stopped; 0: no limit, silence is only shown."""
    agent_idle_warning: float = Field(default=DEFAULT_IDLE_WARNING, ge=0)
    """Seconds that an agent may print nothing before a warning says so; 0: no warning."""
    on_parallel_error: OnParallelError = "abort"
    """When an agent of a parallel group fails: abort stops the others and ends the run; continue goes on."""
    retries: int = Field(default=0, ge=0)
    """How often a turn is tried again after a failure that may pass, such as an overloaded provider."""
    finalize_on_abort: bool = False
    """true: the finalization also runs when the loop ended at max_loops."""
    on_missing_state: OnMissingState = "ask"
    """What happens when an agent does not answer with a state update after two corrections."""
    isolation: Isolation = "shared"
    """shared: all agents work in one folder; worktree: a git worktree each (cannot run yet)."""
    merge_strategy: MergeStrategy = "sequential"
    """How the code of parallel agents comes together; git-merge needs worktrees (cannot run yet)."""
    merge: dict[str, MergeRule] = Field(default_factory=lambda: {})
    """Merge rules by path, such as "is_complete": "all" or "payload.findings": "append"."""
    budget: Budget = Field(default_factory=lambda: Budget())
    """Caps of a run; it ends when one is reached."""
    max_prompt_bytes: int | None = Field(default=None, ge=1)
    """Size from which a prompt is too large to be sent."""
    backend: str | None = None
    """The agent CLI of agents that name none; null: opencode."""
    agents_dir: str | None = None
    """Folder of the agents, relative to this file; null: agents beside it."""
    workdir: str | None = None
    """Folder the agents work in, relative to this file; null: the current one (in the window, the file's)."""
    init_script: str | None = None
    """Command for the system's shell that prepares the working folder, run once before the first agent."""
    log_dir: str | None = None
    """Folder of the run folders, relative to the working folder; null: .openloop in it."""
    opencode_defaults: OpencodeDefaults = Field(default_factory=lambda: OpencodeDefaults())
    """Flags of `opencode run` for every agent that does not say otherwise."""
    initial_payload: dict[str, JsonValue] = Field(default_factory=lambda: {})
    """The payload that the first agent gets."""

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

    def at_once(self, group: AgentGroup) -> int:
        """How many agents of this group may run at once: its own number holds instead of the workflow's."""
        return group.max_parallel or self.parallel_cap


@dataclass(frozen=True, slots=True)
class WorkflowFile:
    """A loaded workflow and where it came from.

    `text` is the file as read: a changed workflow is written in its form (see `core.workflow_file`).
    `warnings` is what was odd about it.
    """

    workflow: Workflow
    path: Path | None = None
    text: str = ""
    warnings: list[Problem] = field(default_factory=list)
