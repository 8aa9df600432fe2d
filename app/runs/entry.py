"""A recorded run as a list shows it: what it was, how it ended, where it would go on. Knows no Qt."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

from core.config import Budget, FanOutGroup, Workflow
from core.state import PHASES
from core.statuses import RunStatus
from core.usage import Spent

if TYPE_CHECKING:
    from core.progress import RunProgress
    from core.recorded_run import RecordedRun


@dataclass(frozen=True, slots=True)
class RunLimits:
    """What the run was allowed. Times in seconds, 0: none; `group_timeout` None: not the same everywhere."""

    max_loops: int = 0
    max_cost_usd: float | None = None
    max_cost_usd_per_group: float | None = None
    max_tokens: float | None = None
    agent_timeout: float = 0.0
    group_timeout: float | None = None
    retries: int = 0

    @classmethod
    def of(cls, workflow: Workflow, max_loops: int) -> RunLimits:
        """The limits of a run of this workflow; `max_loops` as the run itself told it (0: it did not)."""
        groups = [group for phase in PHASES for group in workflow.groups(phase)]
        timeouts = {group.timeout or 0.0 for group in groups if not isinstance(group, FanOutGroup)}
        budget: Budget = workflow.budget
        return cls(
            max_loops=max_loops or workflow.max_loops,
            max_cost_usd=budget.max_cost_usd,
            max_cost_usd_per_group=budget.max_cost_usd_per_group,
            max_tokens=budget.max_tokens,
            agent_timeout=workflow.agent_timeout,
            group_timeout=timeouts.pop() if len(timeouts) == 1 else None,
            retries=workflow.retries,
        )


class Waits(StrEnum):
    """For what a run that goes on waits."""

    NOTHING = ""
    ANSWER = "answer"
    """All that is open has asked the user, or some of it while others work."""
    PAUSED = "paused"
    """The run as a whole waits for the user."""


class Outcome(StrEnum):
    """How a run stands, for a list: what one would look for. In the order in which they are offered."""

    GOING_ON = "going_on"
    COMPLETED = "completed"
    LIMIT = "limit"
    """A limit ended it: all loops used up, out of budget."""
    FAILED = "failed"
    STOPPED = "stopped"
    CUT_OFF = "cut_off"
    UNREADABLE = "unreadable"


_OUTCOMES = {
    RunStatus.COMPLETED: Outcome.COMPLETED,
    RunStatus.ENDED: Outcome.LIMIT,
    RunStatus.STOPPED: Outcome.STOPPED,
    RunStatus.FAILED: Outcome.FAILED,
}


@dataclass(frozen=True, slots=True)
class RunEntry:
    """One run of a list. Times are seconds since the epoch.

    `status` None: the run was cut off, or goes on (`going_on`). `obstacle`: why it cannot be resumed; empty
    when it can. `problem`: the folder cannot be read, and why; then nothing else is known.
    """

    folder: Path
    workflow: str = ""
    started: float | None = None
    ended: float | None = None
    status: RunStatus | None = None
    reason: str = ""
    message: str = ""
    going_on: bool = False
    obstacle: str = ""
    next_place: str = ""
    done_turns: int = 0
    spent: Spent = field(default_factory=Spent)
    group_spent: Spent = field(default_factory=Spent)
    """By the group that was at work last."""
    iteration: int = 0
    limits: RunLimits = RunLimits()
    problem: str = ""
    seconds: float = 0.0
    """How long it took, without the time between its lives."""
    waited: float = 0.0
    """How much of that it waited for the user."""
    here: bool = False
    """It goes on in this very window."""
    waits: Waits = Waits.NOTHING
    """Of a run that goes on: for what, as far as is known."""
    agents: tuple[str, ...] = ()
    """Names of the agents that had a turn, in the order of their first."""

    @property
    def outcome(self) -> Outcome:
        """How it stands."""
        if self.problem:
            return Outcome.UNREADABLE
        if self.going_on:
            return Outcome.GOING_ON
        return Outcome.CUT_OFF if self.status is None else _OUTCOMES[self.status]

    @property
    def run_id(self) -> str:
        """The name of its folder."""
        return self.folder.name

    @property
    def resumable(self) -> bool:
        """Whether it can go on."""
        return not (self.obstacle or self.problem or self.going_on)

    @property
    def was_cut_off(self) -> bool:
        """Whether nothing tells how it ended: OpenLoop was killed, or the machine went down."""
        return self.status is None and not (self.going_on or self.problem)


def entry_of(run: RecordedRun) -> RunEntry:
    """What a list keeps of a run: its events are forgotten. Reads the run's own workflow."""
    # Not before a list is wanted: reading files needs more than the first paint of a window.
    from core.resume_check import check_resume

    progress = run.progress
    check = check_resume(run)
    duration = run.duration
    limits = RunLimits(max_loops=progress.max_loops)
    if check.workflow is not None:
        limits = RunLimits.of(check.workflow, progress.max_loops)
    return RunEntry(
        folder=run.folder,
        workflow=run.workflow,
        started=run.started,
        ended=run.ended,
        status=run.status,
        reason=run.reason,
        message=run.message,
        going_on=run.going_on,
        waits=waits_of(progress) if run.going_on else Waits.NOTHING,
        obstacle=check.obstacle,
        next_place=run.next_place,
        done_turns=run.done_turns,
        spent=run.spent,
        group_spent=_group_spent(progress),
        iteration=progress.iteration,
        limits=limits,
        seconds=duration.seconds,
        waited=duration.waited,
        agents=tuple(dict.fromkeys(turn.agent for turn in progress.turns.values())),
    )


def waits_of(progress: RunProgress) -> Waits:
    """For what a run that goes on waits."""
    if progress.paused:
        return Waits.PAUSED
    return Waits.ANSWER if progress.questions else Waits.NOTHING


def _group_spent(progress: RunProgress) -> Spent:
    groups = list(progress.groups.values())
    return progress.spent_by(groups[-1]) if groups else Spent()
