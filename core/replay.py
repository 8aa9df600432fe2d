"""Goes through the groups that a run has done before it was resumed: merges what is recorded, runs nothing.

The same updates in the same order give the same state (DESIGN, run semantics 3 and 4), so nothing but the
updates has to be kept, and a resumed run comes to where it was without asking any agent again.
"""

from __future__ import annotations

from core.events import TurnFinished, TurnRef, TurnStatus
from core.group_modes import failures_contribution
from core.plan import PlannedGroup, PlannedTurn
from core.run_context import RunContext, TurnResult
from core.state import Contribution, StateUpdate
from core.turn_loop import turn_id


async def replay_group(context: RunContext, group: PlannedGroup, iteration: int) -> bool | None:
    """Whether the loop's end condition held after this group.

    None: the group is not done, and the state is as before. Raises RunEnds where its merge ends the run.
    """
    if group.mode == "parallel":
        return await _replay_parallel(context, group, iteration)
    return await _replay_sequential(context, group, iteration)


async def _replay_sequential(context: RunContext, group: PlannedGroup, iteration: int) -> bool | None:
    before = context.state
    for planned in group.turns:
        update = context.answer_of(turn_id(group, iteration, planned))
        if update is None:
            context.state = before
            return None
        await context.merge(group, iteration, [Contribution(planned.label, update)])
        if group.phase == "loop" and context.end_condition_holds(iteration):
            return True
    return False


async def _replay_parallel(context: RunContext, group: PlannedGroup, iteration: int) -> bool | None:
    recorded = context.recorded
    assert recorded is not None  # nothing is replayed without
    turns = {planned.label: turn_id(group, iteration, planned) for planned in group.turns}
    updates = {label: context.answer_of(turn) for label, turn in turns.items()}
    merged = (group.phase, iteration, group.index) in recorded.merged
    if not merged and not all(update is not None for update in updates.values()):
        return None
    contributions = [
        Contribution(label, update) for label, update in updates.items() if isinstance(update, StateUpdate)
    ]
    failed = [
        _failure(planned, turns[planned.label], recorded.failures.get(turns[planned.label]))
        for planned in group.turns
        if updates[planned.label] is None
    ]
    if failed:
        contributions.append(failures_contribution(context, failed, iteration))
    await context.merge(group, iteration, contributions)
    return group.phase == "loop" and context.end_condition_holds(iteration)


def _failure(planned: PlannedTurn, turn: str, recorded: TurnFinished | None) -> TurnResult:
    """A turn of a merged group that gave no update, as the group knew it then."""
    ref = TurnRef(turn, planned.place, planned.label, planned.agent.name, "")
    if recorded is None:
        return TurnResult(ref, TurnStatus.WAITING)
    return TurnResult(ref, recorded.status, None, recorded.message, recorded.reason)
