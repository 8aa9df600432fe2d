"""What the parts of a running engine share: the plan, the state, the slots, the wish to stop."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import partial

from core.backends.base import Backend
from core.condition import Condition, ConditionError
from core.events import (
    ConditionChecked,
    Event,
    Merged,
    Noted,
    RunStatus,
    StateChanged,
    StopKind,
    TurnRef,
    TurnStatus,
)
from core.executor import Executor
from core.merge import merge_updates
from core.plan import PlannedGroup, RunPlan
from core.progress import dollar_words
from core.run_record import RunRecord
from core.state import Contribution, MergeResult, Phase, StateUpdate, WorkflowState
from core.transcript import Kind
from core.turn_control import TurnControl
from core.turn_outcome import StopCause
from core.usage import Usage


class Answer(StrEnum):
    """What a user may answer when an agent gave no state update."""

    RETRY = "retry"
    CONTINUE = "continue"
    ABORT = "abort"


class RunEnds(Exception):  # noqa: N818 - not an error: the run ends here
    """The run ends, how and why; `message` is a sentence for a user."""

    def __init__(self, status: RunStatus, reason: str, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.reason = reason
        self.message = message


@dataclass(frozen=True, slots=True)
class TurnResult:
    """What a turn came to, for its group. `reason`: the termination reason if the run ends by it."""

    ref: TurnRef
    status: TurnStatus
    update: StateUpdate | None = None
    message: str = ""
    reason: str = ""


@dataclass(slots=True)
class LiveTurn:
    """A turn that waits for its slot or is at work; `answer` while it asks the user.

    `no_more` is set when no further process of it may be started.
    """

    control: TurnControl = field(default_factory=TurnControl)
    no_more: asyncio.Event = field(default_factory=asyncio.Event)
    answer: asyncio.Future[Answer] | None = None

    def stop(self, cause: StopCause) -> None:
        """End it, whatever it is doing."""
        self.control.stop(cause)
        self.let_go()

    def let_go(self) -> None:
        """Have it wait for nothing any more: no slot, no next attempt, no answer. What works goes on."""
        self.no_more.set()
        self.reply(Answer.ABORT)

    def reply(self, answer: Answer) -> None:
        """Answer its question, if it asks one."""
        if self.answer is not None and not self.answer.done():
            self.answer.set_result(answer)


@dataclass
class RunContext:
    """One run while it goes on. Everything here belongs to the loop's thread."""

    plan: RunPlan
    executor: Executor
    record: RunRecord
    backend_of: Callable[[str], Backend]
    condition: Condition
    state: WorkflowState
    stop: StopKind | None = None
    live: dict[str, LiveTurn] = field(default_factory=dict)
    spent: Usage = Usage()
    group_spent: Usage = Usage()
    """Since the present group began."""
    turn_number: int = 0

    def publish(self, event: Event) -> None:
        """Journal a small event and pass it on."""
        self.record.publish(event)

    def warn(self, message: str, turn: str | None = None) -> None:
        """Tell the user something that does not end the run."""
        self.publish(Noted(time=time.time(), turn=turn, message=message, warning=True))
        self.record.note(message, Kind.WARNING)

    def stop_live(self, cause: StopCause) -> None:
        """End every turn that is at work or waiting."""
        for live in list(self.live.values()):
            live.stop(cause)

    def let_go(self) -> None:
        """End every turn that only waits; those at work go on to their end."""
        for live in list(self.live.values()):
            live.let_go()

    def end_if_stopped(self) -> None:
        """Raise RunEnds when the user wants the run to stop."""
        if self.stop is not None:
            raise RunEnds(RunStatus.STOPPED, "stopped", "The run was stopped. What was finished is kept.")

    def end_if_over_budget(self) -> None:
        """Raise RunEnds when a cap of the budget is reached."""
        over = self.over_budget()
        if over is not None:
            raise over

    def over_budget(self) -> RunEnds | None:
        """How the run has to end when a cap is reached; None: there is something left."""
        # Costs that are on their way here count before anything else is decided.
        self.record.deliver()
        budget = self.plan.budget
        cost, tokens = self.spent.cost_usd or 0.0, self.spent.total_tokens
        group_cost = self.group_spent.cost_usd or 0.0
        run, group = (
            f"The run has cost {dollar_words(cost)}",
            f"The group has cost {dollar_words(group_cost)}",
        )
        used = f"The run has used {tokens:,} tokens"
        caps = (
            ("max_cost_usd", budget.max_cost_usd, cost, run, dollar_words),
            ("max_cost_usd_per_group", budget.max_cost_usd_per_group, group_cost, group, dollar_words),
            ("max_tokens", budget.max_tokens, tokens, used, "{:,}".format),
        )
        for name, cap, spent, words, shown in caps:
            if cap is not None and spent >= cap:
                return RunEnds(
                    RunStatus.ENDED,
                    f"budget_exceeded:{name}",
                    f"{words}; the budget allows {shown(cap)}. Raise {name} in the workflow to go further.",
                )
        return None

    async def merge(self, group: PlannedGroup, iteration: int, contributions: list[Contribution]) -> None:
        """Make the next state of a group's updates. Raises RunEnds when a rule `error` was broken."""
        rules = group.merge_rules
        result: MergeResult = await self.executor.call(
            partial(merge_updates, self.state, contributions, rules)
        )
        self.state = result.state
        await self.executor.call(
            partial(
                self.publish,
                Merged(
                    time=time.time(),
                    phase=group.phase,
                    iteration=iteration,
                    group=group.index,
                    writers=tuple(contribution.writer for contribution in contributions),
                    conflicts=result.conflicts,
                ),
            )
        )
        for conflict in result.conflicts:
            self.record.note(
                f"{conflict.first_writer} and {conflict.second_writer} wrote different values to "
                f"{conflict.path}; the rule is “{conflict.rule}”.",
                Kind.WARNING,
            )
        self.publish(StateChanged(time=time.time(), state=self.state))
        if result.error_path is not None:
            raise RunEnds(
                RunStatus.FAILED,
                f"merge_conflict:{result.error_path}",
                f"Two agents wrote different values to {result.error_path}, and the workflow says that this "
                "is an error. The state tab shows both.",
            )

    def enter(self, phase: Phase, iteration: int) -> None:
        """The state that the next agents get stands in this phase and iteration."""
        self.state = replace(self.state, current_phase=phase, iteration=iteration)

    def end_condition_holds(self, iteration: int) -> bool:
        """Whether the loop is done. A condition that cannot be evaluated does not hold, and says so."""
        try:
            holds = self.condition.holds(self.state)
        except ConditionError as error:
            self.warn(f"The end condition could not be checked: {error.message} {error.suggestion}".strip())
            holds = False
        self.publish(ConditionChecked(time=time.time(), iteration=iteration, holds=holds))
        return holds
