"""What a run has come to, folded from its events: what every view and the command line show.

`RunProgress.apply` is the only way in. Applying a journal's events gives the same as having watched the run
live, apart from what is not in the journal (fields marked `compare=False`): they tell how it looks *now*.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Literal

from core.config import Budget
from core.events import (
    AttemptFinished,
    AttemptKind,
    AttemptStarted,
    ConditionChecked,
    Event,
    GroupStarted,
    InitScriptFinished,
    InitScriptStarted,
    IterationStarted,
    Merged,
    Noted,
    PhaseStarted,
    QuestionAsked,
    RetryScheduled,
    RunContinued,
    RunFinished,
    RunPaused,
    RunStarted,
    RunStatus,
    SessionKnown,
    StateChanged,
    StopKind,
    StopRequested,
    TurnActivity,
    TurnFinished,
    TurnStarted,
    TurnStatus,
    UsageReported,
)
from core.plan import Place
from core.state import Conflict, Phase, WorkflowState
from core.usage import Usage

CORRECTIONS = 2
"""Corrections that a turn may take (DESIGN, run semantics 6)."""


@dataclass(slots=True)
class Spent:
    """Tokens and money so far. `unpriced`: something in it has no known price."""

    usage: Usage = Usage()
    unpriced: bool = False

    def add(self, usage: Usage) -> None:
        """Count a further use."""
        self.usage += usage
        self.unpriced |= usage.cost_usd is None and usage.total_tokens > 0

    def plus(self, other: Spent) -> Spent:
        """The sum of both."""
        return Spent(self.usage + other.usage, self.unpriced or other.unpriced)


@dataclass(slots=True)
class TurnProgress:
    """One turn. Times are seconds since the epoch."""

    id: str
    place: Place
    label: str
    agent: str
    folder: str
    """Name of the turn's folder inside `turns/`."""
    iteration: int
    """0 outside of the loop."""
    status: TurnStatus = TurnStatus.WAITING
    attempt: int = 0
    """The current or last attempt, counted from 1 over retries and corrections; 0: none yet."""
    attempt_kind: AttemptKind = AttemptKind.FIRST
    attempt_reason: str = ""
    retries: int = 0
    """Attempts that were retries."""
    corrections: int = 0
    retry_at: float | None = None
    """The turn waits until then before it is tried again."""
    backend: str = ""
    model: str | None = None
    session: str = ""
    started: float | None = None
    finished: float | None = None
    spent: Spent = field(default_factory=Spent)
    spent_before: Spent = field(default_factory=Spent)
    """By an earlier start of this turn, which was cut off and made again."""
    message: str = ""
    detail: str = ""
    reason: str = ""
    steps: int = field(default=0, compare=False)
    output_bytes: int = field(default=0, compare=False)
    last_activity: float | None = field(default=None, compare=False)
    question: str = field(default="", compare=False)
    """What the turn asks the user at present; empty: nothing."""

    @property
    def title(self) -> str:
        """The label, and the iteration where the turn is of the loop: `vera 3`, `vera 2 · 3`."""
        if not self.iteration:
            return self.label
        # "vera 2 1" would be anybody's guess.
        return f"{self.label}{' · ' if self.label[-1:].isdigit() else ' '}{self.iteration}"

    @property
    def is_over(self) -> bool:
        """Whether it came to an end."""
        return self.status not in (TurnStatus.WAITING, TurnStatus.RUNNING)

    @property
    def all_spent(self) -> Spent:
        """What the turn used, earlier starts included."""
        return self.spent_before.plus(self.spent)

    def seconds(self, now: float) -> float | None:
        """How long it has taken so far or took; None: it never began."""
        if self.started is None:
            return None
        return max(0.0, (now if self.finished is None else self.finished) - self.started)

    def quiet_seconds(self, now: float) -> float:
        """For how long nothing came from it; 0 while it is not expected to say anything."""
        since = self.last_activity or self.started
        if self.status is not TurnStatus.RUNNING or self.question or self.retry_at or since is None:
            return 0.0
        return max(0.0, now - since)

    def begin_again(self) -> None:
        """The turn is made again: the run was resumed, or the user asked for it."""
        self.spent_before = self.all_spent
        self.spent = Spent()
        self.status = TurnStatus.WAITING
        self.attempt = self.retries = self.corrections = self.steps = self.output_bytes = 0
        self.attempt_kind = AttemptKind.FIRST
        self.attempt_reason = self.session = self.message = self.detail = self.reason = self.question = ""
        self.started = self.finished = self.retry_at = self.last_activity = None


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


@dataclass
class RunProgress:
    """One run. `max_retries` and `budget` are what its workflow allows (not told by events)."""

    max_retries: int | None = None
    budget: Budget = field(default_factory=Budget)
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

    # --- reading ---------------------------------------------------------------------------------------

    @property
    def running(self) -> bool:
        """Whether it began and has not ended."""
        return self.started is not None and self.status is None

    @property
    def running_turns(self) -> list[TurnProgress]:
        """The turns at work, in the order of their groups."""
        return [turn for turn in self.turns.values() if turn.status is TurnStatus.RUNNING]

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
        """How long it has taken so far or took."""
        if self.started is None:
            return 0.0
        begun = self.started if self.resumed is None else self.resumed
        return self.seconds_before + max(0.0, (now if self.finished is None else self.finished) - begun)

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
                self.notes.append(Note(event.time, event.turn, event.message, event.warning))
            case StopRequested():
                # Stop now is not taken back by a later, milder wish.
                if self.stopping is not StopKind.NOW:
                    self.stopping = event.kind
            case RunFinished():
                self._finish(event)
            case StateChanged():
                self.state = event.state
            case RunPaused():
                self.paused = event.message
            case RunContinued():
                self.paused = ""
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
                    turn.begin_again()
                if turn is not None and not turn.is_over:
                    _apply_to_turn(turn, event)
        if event.journaled:
            self.last_event = event.time

    def _start(self, event: RunStarted) -> None:
        # A resumed run starts a second time; what was at work when it was cut off is not at work any more.
        self._end_open_turns(event.time, "It was cut off.")
        self.run_id = event.run_id
        self.workflow = event.workflow
        self.workflow_path = event.workflow_path
        self.folder = event.folder
        self.workdir = event.workdir
        self.max_loops = event.max_loops
        if self.started is None:
            self.started = event.time
        else:
            ended = self.finished if self.finished is not None else self.last_event
            self.finished = ended
            self.seconds_before = self.seconds(ended if ended is not None else event.time)
            self.resumed = event.time
        self.lives += 1
        self.finished = self.status = self.stopping = None
        self.termination_reason = self.message = self.paused = self.preparing = ""

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
                known.begin_again()
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
        self.paused = self.preparing = ""
        self._end_open_turns(event.time, "The run ended before it was done.")

    def _end_open_turns(self, now: float, message: str) -> None:
        for turn in self.turns.values():
            if not turn.is_over:
                turn.status = TurnStatus.STOPPED
                turn.message = message
                turn.question = ""
                turn.retry_at = None
                if turn.started is not None:
                    turn.finished = now


def _sum(turns: Iterable[TurnProgress]) -> Spent:
    total = Spent()
    for turn in turns:
        total = total.plus(turn.all_spent)
    return total


def _apply_to_turn(
    turn: TurnProgress,
    event: TurnStarted
    | AttemptStarted
    | SessionKnown
    | UsageReported
    | AttemptFinished
    | RetryScheduled
    | TurnFinished
    | TurnActivity
    | QuestionAsked,
) -> None:
    match event:
        case TurnStarted():
            turn.status = TurnStatus.RUNNING
            turn.started = event.time
            turn.backend = event.backend
            turn.model = event.model
        case AttemptStarted():
            turn.status = TurnStatus.RUNNING
            turn.attempt = event.number
            turn.attempt_kind = event.kind
            turn.attempt_reason = event.reason
            turn.retries += event.kind is AttemptKind.RETRY
            turn.corrections += event.kind is AttemptKind.CORRECTION
            turn.retry_at = None
        case SessionKnown():
            turn.session = event.session
        case UsageReported():
            turn.spent.add(event.usage)
            turn.steps += 1
        case RetryScheduled():
            turn.retry_at = event.time + event.seconds
        case TurnActivity():
            turn.steps = max(turn.steps, event.steps)
            turn.output_bytes = event.output_bytes
        case QuestionAsked():
            turn.question = event.message
            return
        case TurnFinished():
            _finish_turn(turn, event)
        case AttemptFinished():
            pass
    turn.question = ""
    turn.last_activity = event.time


def _finish_turn(turn: TurnProgress, event: TurnFinished) -> None:
    turn.status = event.status
    turn.message = event.message
    turn.detail = event.detail
    turn.reason = event.reason
    turn.finished = event.time
    turn.retry_at = None
    # The end tells the sum of all attempts; steps that were lost on the way are in it.
    if event.usage.total_tokens >= turn.spent.usage.total_tokens:
        turn.spent = Spent(unpriced=turn.spent.unpriced)
        turn.spent.add(event.usage)


# --- words ----------------------------------------------------------------------------------------------


def duration_words(seconds: float) -> str:
    """A stretch of time as `0:42` or `2:14:05`, rounded down."""
    minutes, rest = divmod(max(0, int(seconds)), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def span_words(seconds: float) -> str:
    """A stretch of time in the largest unit that says enough: `18 s`, `4 min`, `2 h`."""
    if seconds < 90:
        return f"{int(seconds)} s"
    return f"{int(seconds // 60)} min" if seconds < 5400 else f"{int(seconds // 3600)} h"


def quantity_words(count: int, one: str, many: str = "") -> str:
    """A number with its noun: `1 agent`, `48,210 tokens`. `many`: the plural where it is not `one` and s."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def dollar_words(amount: float) -> str:
    """US dollars as `$0.42`; what would look like nothing as `< $0.01`."""
    return "< $0.01" if 0 < amount < 0.005 else f"${amount:,.2f}"


def cost_words(spent: Spent) -> str:
    """What was spent: `$0.42`, `price unknown`, or both; empty while nothing was used."""
    cost = spent.usage.cost_usd
    if cost is None:
        return "price unknown" if spent.unpriced else ""
    return f"{dollar_words(cost)} + unknown" if spent.unpriced else dollar_words(cost)


def attempt_words(turn: TurnProgress, max_retries: int | None = None) -> str:
    """Which attempt this is: `attempt 2 of 3`, `correction 1 of 2`; empty for the first."""
    if turn.attempt_kind is AttemptKind.CORRECTION:
        return f"correction {turn.corrections} of {max(CORRECTIONS, turn.corrections)}"
    if turn.retries == 0:
        return ""
    number = turn.retries + 1
    return f"attempt {number} of {max(max_retries + 1, number)}" if max_retries else f"attempt {number}"


def activity_words(turn: TurnProgress, now: float, max_retries: int | None = None) -> Iterator[str]:
    """What is worth saying about a running turn beside its time, most important first."""
    if turn.question:
        yield "needs your answer"
    elif turn.retry_at is not None:
        yield f"again in {span_words(max(0.0, turn.retry_at - now) + 0.999)}"
    attempt = attempt_words(turn, max_retries)
    if attempt:
        yield attempt
    quiet = turn.quiet_seconds(now)
    if quiet > QUIET_AFTER:
        yield f"quiet {span_words(quiet)}"


QUIET_AFTER = 15.0
"""Seconds of silence that are nothing to speak of."""

PHASE_WORDS: dict[Phase, str] = {
    "preparation": "Preparation",
    "loop": "Loop",
    "finalization": "Finalization",
}


def phase_words(progress: RunProgress) -> str:
    """Where the run is: `Loop · iteration 3 of 10`."""
    if progress.phase is None:
        return ""
    words = PHASE_WORDS[progress.phase]
    if progress.phase != "loop" or not progress.iteration:
        return words
    of = f" of {progress.max_loops}" if progress.max_loops else ""
    return f"{words} · iteration {progress.iteration}{of}"
