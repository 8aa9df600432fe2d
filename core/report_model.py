"""What a report tells of a run, as frozen values: the very form of its JSON (docs/file-format.md, "Report").

Times are seconds since the epoch, lengths are seconds, costs US dollars. None: not known, or not yet.
A field that is new makes no new `version`; one that goes or changes its meaning does.

No `slots`: see `core.events`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from core.events import AttemptKind, TurnStatus
from core.json_types import JsonValue
from core.state import MergeRule, Phase, StateUpdate

FORMAT = "openloop-report"
VERSION = 1

Outcome = Literal["completed", "ended", "stopped", "failed", "cut_off", "going_on"]
"""How a run ended. `ended`: by a limit; `cut_off`: it has no end; `going_on`: it had none when this was
written."""


@dataclass(frozen=True)
class UsageReport:
    """Tokens and cost. `cost_usd` null: no price was told. `unpriced`: some of it had no price."""

    input_tokens: int = 0
    output_tokens: int = 0
    reasoning_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    total_tokens: int = 0
    cost_usd: float | None = None
    unpriced: bool = False


def sum_of(usages: Iterable[UsageReport]) -> UsageReport:
    """Everything together; a known cost plus an unknown one is the known part."""
    parts = list(usages)
    costs = [part.cost_usd for part in parts if part.cost_usd is not None]
    return UsageReport(
        sum(part.input_tokens for part in parts),
        sum(part.output_tokens for part in parts),
        sum(part.reasoning_tokens for part in parts),
        sum(part.cache_read_tokens for part in parts),
        sum(part.cache_write_tokens for part in parts),
        sum(part.total_tokens for part in parts),
        sum(costs) if costs else None,
        any(part.unpriced for part in parts),
    )


@dataclass(frozen=True)
class AttemptReport:
    """One process of a turn. `number` counts from 1 over retries and corrections of one start of the turn."""

    number: int
    kind: AttemptKind
    reason: str
    """Why it was made; empty for the first."""
    started: float
    finished: float | None
    exit_code: int | None = None
    signal: int | None = None
    problem: str = ""
    """What was wrong with it; empty: nothing."""
    left_behind: int = 0
    """Processes that it left and that were ended."""
    late_bytes: int = 0
    """Bytes of its output that came after it was told to end, and were not used."""


@dataclass(frozen=True)
class TurnReport:
    """One agent's work at one place of the run."""

    id: str
    label: str
    """The agent's name; with a number where it stands twice in its group."""
    title: str
    """The label, and the iteration of a turn of the loop."""
    agent: str
    phase: Phase
    iteration: int
    """0 outside of the loop."""
    group: int
    """The group's index in its phase, from 0; `entry`: the turn's place in the group, from 0."""
    entry: int
    folder: str
    """Name of its folder inside `turns/` of the run folder."""
    status: TurnStatus
    backend: str
    model: str | None
    session: str
    started: float | None
    finished: float | None
    seconds: float | None
    prompt_bytes: int
    usage: UsageReport
    attempts: tuple[AttemptReport, ...]
    retries: int
    corrections: int
    message: str
    """Empty for a success; else what happened, in a sentence."""
    detail: str
    reason: str
    """The termination reason, had the run ended because of this turn."""
    update: StateUpdate | None
    """What it answered."""


@dataclass(frozen=True)
class GroupReport:
    """One group at one time of the run."""

    phase: Phase
    iteration: int
    index: int
    name: str
    mode: str
    turns: tuple[str, ...]
    """Ids."""
    started: float
    merged: float | None
    usage: UsageReport


@dataclass(frozen=True)
class ConflictReport:
    """Two updates of one group wrote different values to one path."""

    phase: Phase
    iteration: int
    group: int
    path: str
    rule: MergeRule
    first_writer: str
    first_value: JsonValue
    second_writer: str
    second_value: JsonValue
    outcome: JsonValue


@dataclass(frozen=True)
class NoteReport:
    """Something that was said. `turn` null: about the run as a whole."""

    time: float
    turn: str | None
    message: str
    warning: bool


@dataclass(frozen=True)
class LifeReport:
    """A stretch of time in which the run worked."""

    started: float
    ended: float


@dataclass(frozen=True)
class StepReport:
    """Something that happened to the run as a whole: it was resumed, paused, told to stop, …"""

    time: float
    what: Literal["started", "resumed", "paused", "continued", "stop_requested", "init_script", "finished"]
    message: str


@dataclass(frozen=True)
class AgentCost:
    """What one agent used in all its turns."""

    agent: str
    turns: int
    seconds: float
    usage: UsageReport


@dataclass(frozen=True)
class IterationCost:
    """What one phase used, or one pass over the loop. `iteration` 0: outside of the loop."""

    phase: Phase
    iteration: int
    turns: int
    seconds: float
    """The sum of its turns' times."""
    usage: UsageReport


@dataclass(frozen=True)
class TimesReport:
    """What working at the same time saved."""

    wall_seconds: float
    """How long the run took: its lives from start to end, without the time between them."""
    waited_seconds: float
    """How much of that nobody worked because all waited for the user, or the run was paused."""
    work_seconds: float
    """The sum of what all turns worked: how long it takes one after another, without any waiting."""
    critical_seconds: float
    """The longest chain of turns that had to wait for one another."""
    overlap_seconds: float
    """How much of the work was done while another agent worked too."""


@dataclass(frozen=True)
class StateReport:
    """The last state. `source`: its file as the run left it, or merged again from the answers."""

    source: Literal["file", "merged"]
    state: JsonValue


@dataclass(frozen=True)
class RunReport:
    """A run, as a whole. `exported`: when this was written, by `exporter`."""

    format: str
    version: int
    exported: float
    exporter: str
    run_id: str
    workflow: str
    workflow_path: str | None
    folder: str
    workdir: str
    openloop: str
    """The version that ran it last."""
    started: float
    ended: float
    lives: tuple[LifeReport, ...]
    """From its beginning, and from each time it was resumed, to the last event before it ended or was cut
    off."""
    outcome: Outcome
    termination_reason: str
    message: str
    max_loops: int
    iterations: int
    usage: UsageReport
    times: TimesReport
    groups: tuple[GroupReport, ...]
    turns: tuple[TurnReport, ...]
    conflicts: tuple[ConflictReport, ...]
    notes: tuple[NoteReport, ...]
    steps: tuple[StepReport, ...]
    agents: tuple[AgentCost, ...]
    passes: tuple[IterationCost, ...]
    state: StateReport | None
    """null: it cannot be told."""
    workflow_file: JsonValue
    """The workflow as it was run; null: its file is gone or broken."""
    unreadable_lines: int
    """Lines of the journal that cannot be read; what stood there is not in this report."""
