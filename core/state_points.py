"""The points of a run at which its state changed, read from its events."""

from __future__ import annotations

from dataclasses import dataclass, field

from core.events import (
    Event,
    GroupStarted,
    Merged,
    RunStarted,
    TurnFinished,
    TurnRef,
    TurnStatus,
)
from core.state import Conflict, Phase, StateUpdate


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


@dataclass(slots=True)
class RecordedMerge:
    """A point with what its state is made of."""

    point: StatePoint
    turns: tuple[TurnRef, ...] = ()
    size: int = 0
    """Bytes of the state as JSON, about."""
    updates: dict[str, StateUpdate] | None = None
    """By writer; kept as long as the state is."""


@dataclass(slots=True)
class PointFold:
    """The points of a run, read from its events. `answers` and `failures`: by turn id, of all turns."""

    merges: list[RecordedMerge] = field(default_factory=list)
    answers: dict[str, StateUpdate] = field(default_factory=dict)
    failures: dict[str, TurnFinished] = field(default_factory=dict)
    _group: GroupStarted | None = None
    _size: int = 0
    _sized: int = 0
    """The first merge whose size is a guess."""
    _first_at: dict[tuple[Phase, int, int], int] = field(default_factory=dict)
    """By group at a time of the run: its first merge."""

    def __post_init__(self) -> None:
        self._find_places()

    def _find_places(self) -> None:
        self._first_at = {}
        for number, merge in enumerate(self.merges):
            point = merge.point
            self._first_at.setdefault((point.phase, point.iteration, point.group), number)

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
            self.merges.append(RecordedMerge(StatePoint(now)))

    def _start_group(self, event: GroupStarted) -> int | None:
        self._group, self._size = event, event.state_bytes
        # What was merged since the last group makes up the state that this one gets.
        for merge in self.merges[self._sized :]:
            merge.size = event.state_bytes
        self._sized = len(self.merges)
        # Asked for, not looked for: a run may have thousands of groups.
        number = self._first_at.get((event.phase, event.iteration, event.group))
        if number is not None:
            # A run that goes on makes the group that it had not finished again.
            del self.merges[number:]
            self._sized = min(self._sized, number)
            self._find_places()
        return number

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
        place = (event.phase, event.iteration, event.group)
        self._first_at.setdefault(place, len(self.merges))
        self.merges.append(RecordedMerge(point, turns, self._size))
