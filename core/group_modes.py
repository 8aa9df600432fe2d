"""How a group runs: one class for each mode. A new mode is one class here and one line in `MODES`."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from functools import partial
from typing import Protocol

from core.events import GroupStarted, RunStatus, TurnRef, TurnStatus
from core.group_clock import GroupClock
from core.group_failures import OPENLOOP, GroupFailure, failures_update
from core.plan import PlannedGroup, PlannedTurn
from core.prompts import shared_state
from core.run_context import LiveTurn, RunContext, RunEnds, TurnResult
from core.slots import Slots
from core.state import Contribution
from core.turn_loop import TurnLoop, turn_id, turn_refs
from core.turn_outcome import StopCause
from core.words import say


class GroupMode(Protocol):
    """Runs a group once. Gives True when the loop's end condition holds; raises RunEnds."""

    async def run(self, context: RunContext, group: PlannedGroup, iteration: int) -> bool:
        """Make the group's turns and merge what they answer."""

    async def replay(self, context: RunContext, group: PlannedGroup, iteration: int) -> bool | None:
        """Merge what an earlier life of the run recorded of this group, and run nothing; the same updates in
        the same order give the same state. None: the group is not done, and the state is as before."""


class SequentialGroup:
    """One agent after another; the state is merged and the end condition checked after each."""

    async def run(self, context: RunContext, group: PlannedGroup, iteration: int) -> bool:
        refs = turn_refs(context, group, iteration)
        state_json = await serialized_state(context)
        announce_group(context, group, iteration, refs, state_json)
        watch = GroupClock(context, group)
        try:
            for ref, planned in zip(refs, group.turns, strict=True):
                context.end_if_needed()
                loop = TurnLoop(context, ref, planned, state_json)
                live = loop.announce()
                watch.look_after([live])
                result = await loop.run(live)
                if result.update is None:
                    raise ending_of(context, group, result, watch)
                await context.merge(group, iteration, [Contribution(ref.label, result.update)])
                if group.phase == "loop" and context.end_condition_holds(iteration):
                    return True
                if watch.over:
                    raise watch.ending()
                state_json = await serialized_state(context)
        finally:
            watch.cancel()
        return False

    async def replay(self, context: RunContext, group: PlannedGroup, iteration: int) -> bool | None:
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


class ParallelGroup:
    """All agents at once, up to a cap, from the same bytes; merged when all are done, in listed order."""

    async def run(self, context: RunContext, group: PlannedGroup, iteration: int) -> bool:
        context.end_if_needed()
        refs = turn_refs(context, group, iteration)
        state_json = await serialized_state(context)
        announce_group(context, group, iteration, refs, state_json)
        slots = Slots(group.max_parallel)
        labels = [ref.label for ref in refs]
        lives: list[LiveTurn] = []

        def stop_others(failed: LiveTurn) -> None:
            for live in lives:
                if live is not failed:
                    live.stop(StopCause.SIBLING)

        on_failure = stop_others if group.on_error == "abort" else None
        loops = [
            TurnLoop(context, ref, planned, state_json, labels, slots, on_failure)
            for ref, planned in zip(refs, group.turns, strict=True)
        ]
        lives += [loop.announce() for loop in loops]
        watch = GroupClock(context, group)
        watch.look_after(lives)
        try:
            results, first_failure = await self._all(context, group, loops, lives)
        finally:
            watch.cancel()
        self._end_if_needed(context, group, results, first_failure, watch)
        contributions = [
            Contribution(result.ref.label, result.update) for result in results if result.update is not None
        ]
        failed = [result for result in results if result.update is None]
        if failed:
            contributions.append(failures_contribution(context, failed, iteration))
        await context.merge(group, iteration, contributions)
        return group.phase == "loop" and context.end_condition_holds(iteration)

    async def replay(self, context: RunContext, group: PlannedGroup, iteration: int) -> bool | None:
        results = [_recorded(context, group, iteration, planned) for planned in group.turns]
        failed = [result for result in results if result.update is None]
        # A group that was merged went on without those that failed; that is history.
        if failed and not context.was_merged(group, iteration):
            return None
        contributions = [
            Contribution(result.ref.label, result.update) for result in results if result.update is not None
        ]
        if failed:
            contributions.append(failures_contribution(context, failed, iteration))
        await context.merge(group, iteration, contributions)
        return group.phase == "loop" and context.end_condition_holds(iteration)

    async def _all(
        self, context: RunContext, group: PlannedGroup, loops: list[TurnLoop], lives: list[LiveTurn]
    ) -> tuple[list[TurnResult], TurnResult | None]:
        """The results in listed order, and the first failure in time."""
        tasks = [asyncio.create_task(loop.run(live)) for loop, live in zip(loops, lives, strict=True)]
        places = {task: place for place, task in enumerate(tasks)}
        failures: dict[int, TurnResult] = {}
        error: BaseException | None = None
        # Not asyncio.wait for the first: that costs all that are left, each time.
        ended: asyncio.Queue[asyncio.Task[TurnResult]] = asyncio.Queue()
        for task in tasks:
            task.add_done_callback(ended.put_nowait)

        waiting = len(tasks)

        def make_again(place: int) -> None:
            nonlocal waiting
            failures.pop(place, None)
            loop = loops[place] = loops[place].anew()
            lives[place] = loop.announce()
            tasks[place] = asyncio.create_task(loop.run(lives[place]))
            places[tasks[place]] = place
            tasks[place].add_done_callback(ended.put_nowait)
            waiting += 1

        try:
            while waiting:
                task = await ended.get()
                waiting -= 1
                place = places[task]
                error = error or task.exception()
                failed = task.exception() is None and task.result().status in _FAILED
                if failed:
                    failures[place] = task.result()
                # Whom the user stopped, or who lost the provider, leaves those at work alone.
                alone = failed and (task.result().by_user or context.ends is not None)
                if (failed and group.on_error == "abort" and not alone) or error is not None:
                    for live in lives:
                        live.stop(StopCause.SIBLING)
                elif failed:
                    context.again[loops[place].ref.turn] = partial(make_again, place)
        finally:
            for loop in loops:
                context.again.pop(loop.ref.turn, None)
        if error is not None:
            raise error
        # Who failed is to blame, not who was stopped because of it, whichever was noted first.
        culprits = [each for each in failures.values() if each.status is TurnStatus.FAILED]
        return [task.result() for task in tasks], next(iter([*culprits, *failures.values()]), None)

    def _end_if_needed(
        self,
        context: RunContext,
        group: PlannedGroup,
        results: Sequence[TurnResult],
        first_failure: TurnResult | None,
        watch: GroupClock,
    ) -> None:
        succeeded = [result for result in results if result.update is not None]
        if len(succeeded) == len(results):
            return
        context.end_if_needed()
        if watch.over and (group.on_error == "abort" or not succeeded):
            raise watch.ending()
        if first_failure is not None and (group.on_error == "abort" or not succeeded):
            raise ending_of(context, group, first_failure, watch)


_FAILED = frozenset({TurnStatus.FAILED, TurnStatus.STOPPED})

MODES: dict[str, GroupMode] = {"sequential": SequentialGroup(), "parallel": ParallelGroup()}


# --- what modes share ----------------------------------------------------------------------------------


async def serialized_state(context: RunContext) -> bytes:
    """The state as all agents of a group get it: serialised once, off the loop's thread."""
    state = context.state
    return await context.executor.call(lambda: shared_state(state.to_json()))


def announce_group(
    context: RunContext, group: PlannedGroup, iteration: int, refs: tuple[TurnRef, ...], state_json: bytes
) -> None:
    """Tell that the group begins; its own budget starts anew."""
    context.spending.begin_group(context.spent_before(ref.turn for ref in refs))
    context.publish(
        GroupStarted(
            time=time.time(),
            phase=group.phase,
            iteration=iteration,
            group=group.index,
            name=group.name,
            mode=group.mode,
            turns=refs,
            state_bytes=len(state_json),
        )
    )


def ending_of(context: RunContext, group: PlannedGroup, result: TurnResult, watch: GroupClock) -> RunEnds:
    """How the run ends because of a turn that gave no update."""
    if context.stop is not None:
        return RunEnds(RunStatus.STOPPED, "stopped", say("The run was stopped. What was finished is kept."))
    if context.ends is not None:
        return context.ends
    if watch.over:
        return watch.ending()
    over = context.over_budget()
    if over is not None:
        return over
    message = result.message
    if result.status is TurnStatus.STOPPED:
        # By its user, alone: it counts as one that failed.
        return RunEnds(RunStatus.FAILED, f"agent_error:{result.ref.label}", message)
    if result.reason.startswith("agent_error:"):
        # What the backend says does not know whom it is about.
        message = say("{agent} failed: {message}", agent=result.ref.label, message=message)
    return RunEnds(RunStatus.FAILED, result.reason, message)


def _recorded(context: RunContext, group: PlannedGroup, iteration: int, planned: PlannedTurn) -> TurnResult:
    """What a turn came to in an earlier life of the run, as its group knew it then."""
    turn = turn_id(group, iteration, planned)
    ref = TurnRef(turn, planned.place, planned.label, planned.agent.name, "")
    update = context.answer_of(turn)
    if update is not None:
        return TurnResult(ref, TurnStatus.SUCCEEDED, update)
    ended = context.failure_of(turn)
    if ended is None:
        return TurnResult(ref, TurnStatus.WAITING)
    return TurnResult(ref, ended.status, None, ended.message, ended.reason)


def failures_contribution(context: RunContext, failed: Sequence[TurnResult], iteration: int) -> Contribution:
    """What the payload says of agents that failed: a list that grows, under `_failures`."""
    failures = (GroupFailure(result.ref.label, result.reason, result.message) for result in failed)
    return Contribution(OPENLOOP, failures_update(context.state.payload, failures, iteration))


__all__ = ["MODES", "GroupMode", "ParallelGroup", "SequentialGroup"]
