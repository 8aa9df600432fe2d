"""What a run has come to, folded from its events: what every view and the command line show.

`RunProgress.apply` is the only way in. Applying a journal's events gives the same as having watched the run
live, apart from what is not in the journal (fields marked `compare=False`): they tell how it looks *now*.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal

from core.config import Budget, Workflow
from core.events import (
    ConditionChecked,
    Event,
    GroupStarted,
    InitScriptFinished,
    InitScriptStarted,
    IterationStarted,
    Merged,
    Noted,
    PhaseStarted,
    RunContinued,
    RunFinished,
    RunPaused,
    RunStarted,
    RunStatus,
    StateChanged,
    StopKind,
    StopRequested,
    TurnStarted,
    TurnStatus,
)
from core.plan import Place
from core.state import Conflict, Phase, WorkflowState
from core.turn_progress import TurnProgress
from core.usage import Spent
from core.words import say


@dataclass(slots=True)
class GroupProgress:
    """One group at one time of the run."""

    phase: Phase
    iteration: int
    index: int
    name: str
    mode: Literal["sequential", "parallel"]
    turns: list[str]
    started: float
    merged: float | None = None


@dataclass(frozen=True, slots=True)
class RecordedConflict:
    """A conflict of a merge, and where in the run it was."""

    conflict: Conflict
    phase: Phase
    iteration: int
    group: int


@dataclass(frozen=True, slots=True)
class Note:
    """Something the user should know. `turn` None: about the run as a whole."""

    time: float
    turn: str | None
    message: str
    warning: bool
    silence: bool = False
    """About an agent that has printed nothing for long."""


@dataclass(slots=True)
class Stretch:
    """A stretch of time. `ended` None: it goes on, or nobody noted its end."""

    started: float
    ended: float | None = None


@dataclass
class RunProgress:
    """One run. `max_retries`, `budget` and `max_prompt_bytes` are what its workflow allows (not told by
    events).
    """

    max_retries: int | None = None
    budget: Budget = field(default_factory=Budget)
    max_prompt_bytes: int | None = None
    run_id: str = ""
    workflow: str = ""
    workflow_path: str | None = None
    folder: str = ""
    workdir: str = ""
    max_loops: int = 0
    started: float | None = None
    """When it began, for the first time."""
    finished: float | None = None
    lives: int = 0
    """How often it was begun: once, and once more for each time it was resumed."""
    lived: list[Stretch] = field(default_factory=list)
    """From when to when: a stretch for each of its lives."""
    pauses: list[Stretch] = field(default_factory=list)
    """When it waited as a whole for the user."""
    seconds_before: float = 0.0
    """How long it worked before it was resumed the last time."""
    resumed: float | None = None
    """When it was resumed the last time."""
    last_event: float | None = None
    phase: Phase | None = None
    iteration: int = 0
    """The pass over the loop, counted from 1; 0 before the first."""
    status: RunStatus | None = None
    """How it ended; None: it has not."""
    stopping: StopKind | None = None
    paused: str = ""
    """Why the run waits as a whole for the user, in a sentence; empty: it does not."""
    preparing: str = ""
    """The `init_script` while it runs."""
    termination_reason: str = ""
    message: str = ""
    turns: dict[str, TurnProgress] = field(default_factory=dict)
    """By id, in the order in which the groups listed them."""
    groups: dict[tuple[Phase, int, int], GroupProgress] = field(default_factory=dict)
    """By phase, iteration and index, in the order in which they began."""
    conflicts: list[RecordedConflict] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)
    latest: dict[Place, str] = field(default_factory=dict)
    """The latest turn at every place of the workflow."""
    state: WorkflowState | None = field(default=None, compare=False)

    def allow(self, workflow: Workflow) -> None:
        """Take over what the workflow of the run allows."""
        self.max_retries = workflow.retries
        self.budget = workflow.budget.model_copy()
        self.max_prompt_bytes = workflow.max_prompt_bytes

    # --- reading ---------------------------------------------------------------------------------------

    @property
    def running(self) -> bool:
        """Whether it began and has not ended."""
        return self.started is not None and self.status is None

    @property
    def running_turns(self) -> list[TurnProgress]:
        """The turns that began and are not over, in the order of their groups."""
        return [turn for turn in self.turns.values() if turn.status is TurnStatus.RUNNING]

    @property
    def turns_at_work(self) -> list[TurnProgress]:
        """The running turns that wait neither for the run to go on nor for an answer of the user."""
        return [turn for turn in self.running_turns if not turn.waits_for_run and not turn.question]

    @property
    def questions(self) -> list[TurnProgress]:
        """The turns that wait for an answer of the user."""
        return [turn for turn in self.turns.values() if turn.question]

    @property
    def failed_turns(self) -> list[TurnProgress]:
        """The turns that failed, in the order of their groups."""
        return [turn for turn in self.turns.values() if turn.status is TurnStatus.FAILED]

    @property
    def spent(self) -> Spent:
        """Tokens and cost of all turns, failed and repeated ones included."""
        return _sum(self.turns.values())

    def spent_by(self, group: GroupProgress) -> Spent:
        """Tokens and cost of one group at one time of the run."""
        return _sum(self.turns[turn] for turn in group.turns if turn in self.turns)

    def seconds(self, now: float) -> float:
        """How long it has taken so far or took: from the start to the end of each of its lives, without the
        time between them. Of it, it may have waited for the user: `core.run_duration`."""
        if self.started is None:
            return 0.0
        lives = self.lived or [Stretch(self.started, self.finished)]
        return sum(max(0.0, (now if life.ended is None else life.ended) - life.started) for life in lives)

    # --- applying --------------------------------------------------------------------------------------

    def apply_all(self, events: Iterable[Event]) -> None:
        """Apply some events in their order."""
        for event in events:
            self.apply(event)

    def apply(self, event: Event) -> None:
        """Take in what happened. Events of turns that no group announced are passed over."""
        match event:
            case RunStarted():
                self._start(event)
            case PhaseStarted():
                self.phase = event.phase
            case IterationStarted():
                self.iteration = event.iteration
            case GroupStarted():
                self._start_group(event)
            case Merged():
                self._merge(event)
            case Noted():
                self.notes.append(Note(event.time, event.turn, event.message, event.warning, event.silence))
            case StopRequested():
                # Stop now is not taken back by a later, milder wish.
                if self.stopping is not StopKind.NOW:
                    self.stopping = event.kind
            case RunFinished():
                self._finish(event)
            case StateChanged():
                self.state = event.state
            case RunPaused():
                self._pause(event.message, event.time)
            case RunContinued():
                self._pause("", event.time)
            case InitScriptStarted():
                self.preparing = event.command
            case InitScriptFinished():
                self.preparing = ""
            case ConditionChecked():
                pass
            case _:
                turn = self.turns.get(event.turn)
                if turn is not None and isinstance(event, TurnStarted) and turn.is_over:
                    # The user had a failed turn made again while its group went on.
                    turn.begin_again(event.time)
                if turn is not None and not turn.is_over:
                    turn.apply(event)
                    turn.see_pause(bool(self.paused))
        if event.journaled:
            self.last_event = event.time

    def _start(self, event: RunStarted) -> None:
        # A resumed run starts a second time; what was at work when it was cut off is not at work any more.
        ended = self.finished if self.finished is not None else self.last_event
        before = event.time if ended is None else ended
        self._end_open_turns(before, say("It was cut off."))
        self._pause("", before)
        self.run_id = event.run_id
        self.workflow = event.workflow
        self.workflow_path = event.workflow_path
        self.folder = event.folder
        self.workdir = event.workdir
        self.max_loops = event.max_loops
        if self.started is None:
            self.started = event.time
        else:
            self.finished = ended
            self.seconds_before = self.seconds(before)
            self.resumed = event.time
        if self.lived:
            self.lived[-1].ended = before
        self.lived.append(Stretch(event.time))
        self.lives += 1
        self.finished = self.status = self.stopping = None
        self.termination_reason = self.message = self.preparing = ""

    def _start_group(self, event: GroupStarted) -> None:
        iteration = event.iteration if event.phase == "loop" else 0
        key = (event.phase, iteration, event.group)
        ids = [ref.turn for ref in event.turns]
        # A group that is made again merges again, and tells its conflicts again.
        self.conflicts = [
            known
            for known in self.conflicts
            if (known.phase, known.iteration, known.group) != (event.phase, iteration, event.group)
        ]
        self.groups[key] = GroupProgress(
            event.phase, iteration, event.group, event.name, event.mode, ids, event.time
        )
        for ref in event.turns:
            known = self.turns.get(ref.turn)
            if known is None:
                self.turns[ref.turn] = TurnProgress(
                    ref.turn, ref.place, ref.label, ref.agent, ref.folder, iteration
                )
            elif known.status is not TurnStatus.SUCCEEDED:
                known.place, known.label, known.agent, known.folder = (
                    ref.place,
                    ref.label,
                    ref.agent,
                    ref.folder,
                )
                known.begin_again(event.time)
            self.latest[ref.place] = ref.turn

    def _merge(self, event: Merged) -> None:
        iteration = event.iteration if event.phase == "loop" else 0
        group = self.groups.get((event.phase, iteration, event.group))
        if group is not None:
            group.merged = event.time
        self.conflicts.extend(
            RecordedConflict(conflict, event.phase, iteration, event.group) for conflict in event.conflicts
        )

    def _finish(self, event: RunFinished) -> None:
        self.status = event.status
        self.termination_reason = event.termination_reason
        self.message = event.message
        self.finished = event.time
        self.preparing = ""
        self._end_open_turns(event.time, say("The run ended before it was done."))
        self._pause("", event.time)
        if self.lived:
            self.lived[-1].ended = event.time

    def _pause(self, why: str, now: float) -> None:
        if why and not self.paused:
            self.pauses.append(Stretch(now))
        elif not why and self.paused:
            self.pauses[-1].ended = now
        self.paused = why
        for turn in self.turns.values():
            turn.see_pause(bool(why))

    def cut_off(self, now: float) -> None:
        """The run was cut off: what was at work then is not at work any more."""
        self._end_open_turns(now, say("It was cut off."))
        self._pause("", now)
        if self.lived:
            self.lived[-1].ended = now

    def _end_open_turns(self, now: float, message: str) -> None:
        for turn in self.turns.values():
            if not turn.is_over:
                turn.cut_off(now, message)


def _sum(turns: Iterable[TurnProgress]) -> Spent:
    total = Spent()
    for turn in turns:
        total = total.plus(turn.all_spent)
    return total
