"""Every state that a run had: when, after which merge, and what it was. The state at any point can be had.

The journal has no states: they follow from the updates (DESIGN: the same updates in the same order give the
same state). So a point is small, and its state is made again where it is not in memory any more. States
share what did not change, but a copy of a wide object or list a point adds up all the same: a history keeps
states of `ROOM` bytes in all, spread over the run, and makes those in between from them.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from core.condition import ConditionError, compile_condition
from core.config import Workflow
from core.events import (
    Event,
    GroupStarted,
    Merged,
    RunFinished,
    RunStarted,
    StateChanged,
    TurnFinished,
    TurnRef,
    TurnStatus,
)
from core.group_failures import OPENLOOP, GroupFailure, failures_update
from core.journal import JOURNAL_NAME, read_journal
from core.merge import merge_updates
from core.problems import UserFileError
from core.recorded_run import RecordedRun
from core.run_files import WORKFLOW_NAME
from core.state import (
    Conflict,
    Contribution,
    MergeRule,
    Phase,
    StateUpdate,
    WorkflowState,
    first_state,
    loop_ended,
)
from core.state_changes import NOTHING, StateChanges, find_changes
from core.workflow_file import load_workflow

ROOM = 64 * 1024 * 1024
"""Bytes, as JSON, that the states in memory may have together."""
_SMALL = 128 * 1024
"""Bytes of a state, as JSON, that is compared within a millisecond or two."""


class StateUnknown(Exception):  # noqa: N818 - says what is so
    """A state cannot be made again; the message says why, in a sentence for a user."""


@dataclass(frozen=True, slots=True)
class StatePoint:
    """A place of a run where the state changed. `time`: seconds since the epoch.

    Without writers it is the start. `iteration` is 0 before the loop.
    """

    time: float
    phase: Phase = "preparation"
    iteration: int = 0
    group: int = -1
    """Index of the group in its phase."""
    group_name: str = ""
    writers: tuple[str, ...] = ()
    conflicts: tuple[Conflict, ...] = ()

    @property
    def is_start(self) -> bool:
        """Whether nobody had written yet."""
        return self.group < 0


@dataclass(frozen=True, slots=True)
class StateLook:
    """The state at a point, and what its merge changed."""

    number: int
    point: StatePoint
    state: WorkflowState
    changes: StateChanges


@dataclass(slots=True)
class _Merge:
    """A point with what its state is made of."""

    point: StatePoint
    turns: tuple[TurnRef, ...] = ()
    size: int = 0
    """Bytes of the state as JSON, about."""
    updates: dict[str, StateUpdate] | None = None
    """By writer; kept as long as the state is."""


@dataclass(slots=True)
class _Fold:
    """The points of a run, read from its events. `answers` and `failures`: by turn id, of all turns."""

    merges: list[_Merge] = field(default_factory=list)
    answers: dict[str, StateUpdate] = field(default_factory=dict)
    failures: dict[str, TurnFinished] = field(default_factory=dict)
    _group: GroupStarted | None = None
    _size: int = 0
    _sized: int = 0
    """The first merge whose size is a guess."""

    def take(self, event: Event) -> int | None:
        """Read an event. Gives the number of points that stand, where later ones are made again now."""
        match event:
            case RunStarted():
                self._begin(event.time)
            case GroupStarted():
                self._begin(event.time)
                return self._start_group(event)
            case TurnFinished():
                if event.status is TurnStatus.SUCCEEDED and event.update is not None:
                    self.answers[event.turn] = event.update
                else:
                    self.failures[event.turn] = event
            case Merged():
                self._begin(event.time)
                self._merge(event)
            case _:
                pass
        return None

    def _begin(self, now: float) -> None:
        if not self.merges:
            self.merges.append(_Merge(StatePoint(now)))

    def _start_group(self, event: GroupStarted) -> int | None:
        self._group, self._size = event, event.state_bytes
        # What was merged since the last group makes up the state that this one gets.
        for merge in self.merges[self._sized :]:
            merge.size = event.state_bytes
        self._sized = len(self.merges)
        for number, merge in enumerate(self.merges):
            point = merge.point
            if (point.phase, point.iteration, point.group) == (event.phase, event.iteration, event.group):
                # A run that goes on makes the group that it had not finished again.
                del self.merges[number:]
                self._sized = min(self._sized, number)
                return number
        return None

    def _merge(self, event: Merged) -> None:
        group = self._group
        if group is not None and (group.phase, group.iteration, group.group) != (
            event.phase,
            event.iteration,
            event.group,
        ):
            group = None
        point = StatePoint(
            event.time,
            event.phase,
            event.iteration,
            event.group,
            group.name if group is not None else "",
            event.writers,
            event.conflicts,
        )
        turns = group.turns if group is not None else ()
        self.merges.append(_Merge(point, turns, self._size))


class StateHistory:
    """The states of one run. `folder`: the run folder; `past`: what is recorded of the run already.

    Any thread may use it. `take` and `points` cost next to nothing; `look` may read the journal and merge.
    """

    def __init__(self, folder: Path | None = None, past: RecordedRun | None = None, room: int = ROOM) -> None:
        self._folder = folder
        self._past = past
        self._room = room
        self._lock = threading.RLock()
        self._fold = _Fold()
        self._read = past is None
        """The past is in the fold."""
        self._told_before = 0
        """So many points are of the past."""
        self._kept: dict[int, WorkflowState] = {}
        self._life = 0
        """Counts how often points were taken back."""
        self._replays = False
        """A life of the run began and goes through what is recorded; what it tells is known."""
        self._awaits = 0
        """1: the state of the last point has not been told yet."""
        self._workflow: Workflow | None = None

    # --- while the run goes on -------------------------------------------------------------------------

    def take(self, events: Iterable[Event]) -> bool:
        """Read what happened. Whether the points changed."""
        with self._lock:
            self._read_past()
            changed = False
            for event in events:
                changed |= self._take(event)
            if changed:
                self._make_room()
            return changed

    def _take(self, event: Event) -> bool:
        fold = self._fold
        if isinstance(event, StateChanged):
            return self._attach(event)
        if isinstance(event, RunStarted):
            self._replays = event.resumed and bool(fold.merges)
        elif isinstance(event, GroupStarted | RunFinished):
            self._awaits = 0
            self._replays = False
            # Nobody asks for the answers of groups that are done; the journal has them.
            fold.answers.clear()
            fold.failures.clear()
        before = len(fold.merges)
        stands = fold.take(event)
        if stands is not None:
            self._life += 1
            self._told_before = min(self._told_before, stands)
            self._kept = {number: state for number, state in self._kept.items() if number < stands}
        if isinstance(event, Merged):
            merge = fold.merges[-1]
            # Its state comes in a moment; until then it is nothing to look at.
            self._awaits = 1
            merge.updates = self._updates(merge)
        return stands is not None or len(fold.merges) > before or isinstance(event, RunFinished)

    def _attach(self, event: StateChanged) -> bool:
        """This is the state after the last merge."""
        fold = self._fold
        self._awaits = 0
        if self._replays:
            return False
        if not fold.merges:
            fold.merges.append(_Merge(StatePoint(event.time)))
        self._kept[len(fold.merges) - 1] = event.state
        return True

    def _updates(self, merge: _Merge) -> dict[str, StateUpdate]:
        """What each agent contributed to a merge."""
        found: dict[str, StateUpdate] = {}
        writers = frozenset(merge.point.writers)
        for ref in merge.turns:
            if ref.label not in writers:
                continue
            update = self._fold.answers.get(ref.turn)
            if update is None and self._past is not None:
                update = self._past.answers.get(ref.turn)
            if update is not None:
                found[ref.label] = update
        return found

    def _make_room(self) -> None:
        """Let go of states where they are too many: every second one, the latest two not."""
        latest = len(self._fold.merges) - 2
        while sum(self._fold.merges[number].size for number in self._kept) > self._room:
            older = sorted(number for number in self._kept if number < latest)
            if not older:
                return
            for number in older[::2]:
                del self._kept[number]
                self._fold.merges[number].updates = None

    # --- looking ---------------------------------------------------------------------------------------

    @property
    def points(self) -> Sequence[StatePoint]:
        """All points in their order; the first is the start."""
        with self._lock:
            self._read_past()
            return [merge.point for merge in self._fold.merges[: self.count]]

    @property
    def count(self) -> int:
        """How many points there are."""
        with self._lock:
            self._read_past()
            return len(self._fold.merges) - self._awaits

    def quick_look(self, number: int) -> StateLook | None:
        """The state at a point where that takes a millisecond or two; None: have a worker `look`."""
        with self._lock:
            if not self._read or not 0 <= number < len(self._fold.merges):
                return None
            merge = self._fold.merges[number]
            state, before = self._kept.get(number), self._kept.get(number - 1)
            small = max(merge.size, self._fold.merges[max(0, number - 1)].size) <= _SMALL
            known = merge.point.is_start or (before is not None and merge.updates is not None)
            if state is None or not small or not known:
                return None
            updates = merge.updates or {}
        return _look(number, merge.point, before, state, updates or {})

    def look(self, number: int) -> StateLook:
        """The state at a point, and what changed. Blocks, for as long as merging takes.

        Raises StateUnknown, also for a number that is none, and OSError.
        """
        with self._lock:
            self._read_past()
            if not 0 <= number < len(self._fold.merges):
                raise StateUnknown("The run has no such point any more.")
            merge = self._fold.merges[number]
            updates = merge.updates
            kept = self._kept.get(number), self._kept.get(number - 1)
        state, before = kept
        if state is None or (number and (before is None or updates is None)):
            maker = self._maker(number)
            before = self._state(maker, number - 1) if number else None
            state = self._state(maker, number)
            updates = maker.updates_of(number)
        return _look(number, merge.point, before, state, updates or {})

    def _maker(self, number: int) -> _StateMaker:
        """What can make the states up to this point again."""
        with self._lock:
            past, fold = self._past, self._fold
            known = list(fold.merges) if number < self._told_before else None
        folder = past.folder if past is not None else self._folder
        if folder is None:
            raise StateUnknown("Nothing is recorded of this run.")
        if self._workflow is None:
            self._workflow = _workflow_of(folder)
        if past is not None and known is not None:
            recorded = _Fold(known, past.answers, past.failures)
        else:
            recorded = _Fold()
            for event in read_journal(folder / JOURNAL_NAME):
                recorded.take(event)
            if past is not None:
                recorded.answers = {**past.answers, **recorded.answers}
        if number >= len(recorded.merges):
            raise StateUnknown("The journal of the run does not tell of this point.")
        return _StateMaker(self._workflow, _run_id(folder, past), recorded)

    def _state(self, maker: _StateMaker, number: int) -> WorkflowState:
        """The state at a point, made from the nearest before it that is in memory."""
        with self._lock:
            life = self._life
            near = max((known for known in self._kept if known <= number), default=-1)
            state = self._kept.get(near)
        for at in range(near + 1, number + 1):
            state = maker.next_state(at, state)
            with self._lock:
                if life == self._life:
                    self._kept.setdefault(at, state)
                    self._make_room()
        assert state is not None  # a number is at least 0
        return state

    def _read_past(self) -> None:
        if self._read or self._past is None:
            return
        self._read = True
        for event in self._past.events:
            self._fold.take(event)
        self._fold.answers, self._fold.failures = {}, {}
        self._told_before = len(self._fold.merges)

    @property
    def bytes_kept(self) -> int:
        """Bytes that the states in memory have together, as JSON."""
        with self._lock:
            return sum(self._fold.merges[number].size for number in self._kept)


def _look(
    number: int,
    point: StatePoint,
    before: WorkflowState | None,
    state: WorkflowState,
    updates: Mapping[str, StateUpdate],
) -> StateLook:
    changes = NOTHING if before is None else find_changes(before, state, updates, point.conflicts)
    return StateLook(number, point, state, changes)


@dataclass(slots=True)
class _StateMaker:
    """Merges again what was merged."""

    workflow: Workflow
    run_id: str
    recorded: _Fold

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
                    f"The journal lost what {writer} answered, so what the state was then is not known."
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
        self, merge: _Merge, state: WorkflowState, updates: Mapping[str, StateUpdate]
    ) -> StateUpdate:
        failed: list[GroupFailure] = []
        for ref in merge.turns:
            if ref.label not in updates:
                end = self.recorded.failures.get(ref.turn)
                failed.append(GroupFailure(ref.label, end.reason if end else "", end.message if end else ""))
        return failures_update(state.payload, failed, merge.point.iteration)


def _workflow_of(folder: Path) -> Workflow:
    try:
        return load_workflow(folder / WORKFLOW_NAME).workflow
    except (UserFileError, OSError) as error:
        raise StateUnknown(
            f"The {WORKFLOW_NAME} of the run cannot be read, so nobody knows how its updates were merged."
        ) from error


def _run_id(folder: Path, past: RecordedRun | None) -> str:
    return past.run_id if past is not None else folder.name
