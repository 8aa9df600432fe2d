"""Every state that a run had: when, after which merge, and what it was. The state at any point can be had.

The journal has no states: they follow from the updates, since the same updates in the same order give the
same state. So a point is small, and its state is made again where it is not in memory any more. States
share what did not change, but a copy of a wide object or list a point adds up all the same: a history keeps
states of `ROOM` bytes in all, spread over the run, and makes those in between from them.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from core.config import Workflow
from core.events import Event, GroupStarted, Merged, RunFinished, RunStarted, StateChanged
from core.journal import JOURNAL_NAME, read_journal
from core.json_values import is_heavier
from core.recorded_run import RecordedRun
from core.state import StateUpdate, WorkflowState
from core.state_changes import NOTHING, StateChanges, find_changes
from core.state_points import PointFold, RecordedMerge, StatePoint
from core.state_replay import StateMaker, StateUnknown, workflow_of
from core.words import say

__all__ = ["StateHistory", "StateLook", "StatePoint", "StateUnknown"]

ROOM = 64 * 1024 * 1024
"""Bytes, as JSON, that the states in memory may have together."""
_SMALL = 128 * 1024
"""Bytes of a state, as JSON, that is compared within a millisecond or two."""
_FEW_CONFLICTS = 100
"""Of one merge, whose writers are sorted within a millisecond or two."""


@dataclass(frozen=True, slots=True)
class StateLook:
    """The state at a point, and what its merge changed."""

    number: int
    point: StatePoint
    state: WorkflowState
    changes: StateChanges


def _look(
    number: int,
    point: StatePoint,
    before: WorkflowState | None,
    state: WorkflowState,
    updates: Mapping[str, StateUpdate],
) -> StateLook:
    changes = NOTHING if before is None else find_changes(before, state, updates, point.conflicts)
    return StateLook(number, point, state, changes)


class StateHistory:
    """The states of one run. `folder`: the run folder; `past`: what is recorded of the run already.
    `states_are_told`: whoever tells what happens tells the states, too; else they are made again.

    Any thread may use it. `take` and `points` cost next to nothing; `look` may read the journal and merge.
    """

    def __init__(
        self,
        folder: Path | None = None,
        past: RecordedRun | None = None,
        room: int = ROOM,
        *,
        states_are_told: bool = True,
    ) -> None:
        self._folder = folder
        self._past = past
        self._room = room
        self._states_are_told = states_are_told
        self._lock = threading.RLock()
        self._fold = PointFold()
        self._read = past is None
        """The past is in the fold."""
        self._told_before = 0
        """So many points are of the past."""
        self._largest = 0
        """Bytes of the largest state so far."""
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
        self._measure(event)
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
            self._awaits = int(self._states_are_told)
            merge.updates = self._updates(merge)
        return stands is not None or len(fold.merges) > before or isinstance(event, RunFinished)

    def _measure(self, event: Event) -> None:
        if isinstance(event, GroupStarted):
            self._largest = max(self._largest, event.state_bytes)

    def _attach(self, event: StateChanged) -> bool:
        """This is the state after the last merge."""
        fold = self._fold
        self._awaits = 0
        if self._replays:
            return False
        if not fold.merges:
            fold.merges.append(RecordedMerge(StatePoint(event.time)))
        self._kept[len(fold.merges) - 1] = event.state
        return True

    def _updates(self, merge: RecordedMerge) -> dict[str, StateUpdate]:
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
        if len(self._kept) * self._largest <= self._room:
            # Nearly always; a long run need not be summed up at each of its merges.
            return
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
            small = small and len(merge.point.conflicts) <= _FEW_CONFLICTS
            known = merge.point.is_start or (before is not None and merge.updates is not None)
            if state is None or not small or not known:
                return None
            updates = merge.updates or {}
        if any(is_heavier(update.payload, _SMALL // 2) for update in updates.values()):
            # The sizes are those of the states before it.
            return None
        return _look(number, merge.point, before, state, updates or {})

    def look(self, number: int) -> StateLook:
        """The state at a point, and what changed. Blocks, for as long as merging takes.

        Raises StateUnknown, also for a number that is none, and OSError.
        """
        with self._lock:
            self._read_past()
            if not 0 <= number < len(self._fold.merges):
                raise StateUnknown(say("The run has no such point any more."))
            merge = self._fold.merges[number]
            updates = merge.updates
            kept = self._kept.get(number), self._kept.get(number - 1)
        state, before = kept
        if state is None or (number and (before is None or updates is None)):
            try:
                maker = self._maker(number)
                before = self._state(maker, number - 1) if number else None
                updates = maker.updates_of(number)
                state = self._state(maker, number)
            except (StateUnknown, OSError):
                if state is None:
                    raise
                # It is known what it is, not what it came from.
                before = None
        return _look(number, merge.point, before, state, updates or {})

    def _maker(self, number: int) -> StateMaker:
        """What can make the states up to this point again."""
        with self._lock:
            past, fold = self._past, self._fold
            known = list(fold.merges) if number < self._told_before else None
        folder = past.folder if past is not None else self._folder
        if folder is None:
            raise StateUnknown(say("Nothing is recorded of this run."))
        if self._workflow is None:
            self._workflow = workflow_of(folder)
        if past is not None and known is not None:
            recorded = PointFold(known, past.answers, past.failures)
        else:
            recorded = PointFold()
            for event in read_journal(folder / JOURNAL_NAME):
                recorded.take(event)
            if past is not None:
                recorded.answers = {**past.answers, **recorded.answers}
        if number >= len(recorded.merges):
            raise StateUnknown(say("The journal of the run does not tell of this point."))
        return StateMaker(self._workflow, past.run_id if past is not None else folder.name, recorded)

    def _state(self, maker: StateMaker, number: int) -> WorkflowState:
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
            self._measure(event)
        self._fold.answers, self._fold.failures = {}, {}
        self._told_before = len(self._fold.merges)

    @property
    def bytes_kept(self) -> int:
        """Bytes that the states in memory have together, as JSON."""
        with self._lock:
            return sum(self._fold.merges[number].size for number in self._kept)
