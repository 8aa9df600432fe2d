"""Making the states of a run again by merging what was merged: the journal has only the updates."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from core.condition import ConditionError, compile_condition
from core.config import Workflow
from core.group_failures import OPENLOOP, GroupFailure, failures_update
from core.merge import merge_updates
from core.problems import UserFileError
from core.run_files import WORKFLOW_NAME
from core.state import (
    Contribution,
    MergeRule,
    StateUpdate,
    WorkflowState,
    first_state,
    loop_ended,
)
from core.state_points import PointFold, RecordedMerge, StatePoint
from core.words import say
from core.workflow_file import load_workflow


class StateUnknown(Exception):  # noqa: N818 - says what is so
    """A state cannot be made again; the message says why, in a sentence for a user."""


@dataclass(slots=True)
class StateMaker:
    """Merges again what was merged."""

    workflow: Workflow
    run_id: str
    recorded: PointFold

    def updates_of(self, number: int) -> dict[str, StateUpdate]:
        """What each agent contributed to a point. Raises StateUnknown."""
        merge = self.recorded.merges[number]
        updates = merge.updates
        if updates is not None:
            return updates
        turns = {ref.label: ref.turn for ref in merge.turns}
        found: dict[str, StateUpdate] = {}
        for writer in merge.point.writers:
            update = self.recorded.answers.get(turns.get(writer, ""))
            if update is not None:
                found[writer] = update
            elif writer in turns or writer != OPENLOOP:
                raise StateUnknown(
                    say(
                        "The journal lost what {agent} answered, so what the state was then is not known.",
                        agent=writer,
                    )
                )
        return found

    def next_state(self, number: int, before: WorkflowState | None) -> WorkflowState:
        """The state at a point, from that before it (None: it is the first). Raises StateUnknown."""
        merge = self.recorded.merges[number]
        point = merge.point
        if before is None:
            return self._first()
        state = before
        if point.phase == "finalization" and before.current_phase != "finalization":
            state = loop_ended(state, completed=self._completed(state))
        state = replace(state, current_phase=point.phase, iteration=point.iteration)
        updates = self.updates_of(number)
        contributions = [Contribution(writer, update) for writer, update in updates.items()]
        if OPENLOOP in point.writers and OPENLOOP not in updates:
            contributions.append(Contribution(OPENLOOP, self._failures(merge, state, updates)))
        return merge_updates(state, contributions, self._rules(point)).state

    def _first(self) -> WorkflowState:
        workflow = self.workflow
        return first_state(
            self.run_id,
            workflow.name,
            workflow.max_loops,
            workflow.end_state_condition,
            workflow.initial_payload,
        )

    def _completed(self, state: WorkflowState) -> bool:
        """Whether the loop ended because its end condition held; it is deterministic."""
        if not any(merge.point.phase == "loop" for merge in self.recorded.merges):
            return True
        try:
            return compile_condition(self.workflow.end_state_condition).holds(state)
        except ConditionError:
            return False

    def _rules(self, point: StatePoint) -> dict[str, MergeRule]:
        groups = self.workflow.groups(point.phase)
        own = groups[point.group].merge if point.group < len(groups) else None
        return {**self.workflow.merge, **(own or {})}

    def _failures(
        self, merge: RecordedMerge, state: WorkflowState, updates: Mapping[str, StateUpdate]
    ) -> StateUpdate:
        failed: list[GroupFailure] = []
        for ref in merge.turns:
            if ref.label not in updates:
                end = self.recorded.failures.get(ref.turn)
                failed.append(GroupFailure(ref.label, end.reason if end else "", end.message if end else ""))
        return failures_update(state.payload, failed, merge.point.iteration)


def workflow_of(folder: Path) -> Workflow:
    """The workflow of a run folder, as it was run. Raises StateUnknown."""
    try:
        return load_workflow(folder / WORKFLOW_NAME).workflow
    except (UserFileError, OSError) as error:
        raise StateUnknown(
            say(
                "The {file} of the run cannot be read, so nobody knows how its updates were merged.",
                file=WORKFLOW_NAME,
            )
        ) from error
