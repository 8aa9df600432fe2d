"""What happens in a run, as frozen types: the only way the outside learns of it.

Events with `journaled = True` are lines of the journal; the others only matter to who is watching now
and can be lost. `time` is seconds since the epoch. `turn` is a turn id, `phase/iteration/group/entry`,
which is the same whenever the same run comes to the same place (resume relies on that).

No `slots` here, nor in what events carry (`Usage`, `StateUpdate`, `Conflict`, `Place`): orjson takes five
times as long for a dataclass that has them, and the journal does little else.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal, TypeAlias

from core.answer import Answer
from core.place import Place
from core.plain_name import plain_name
from core.state import Conflict, Phase, StateUpdate, WorkflowState
from core.statuses import AttemptKind as AttemptKind
from core.statuses import RunStatus as RunStatus
from core.statuses import StopKind as StopKind
from core.statuses import TurnStatus as TurnStatus
from core.usage import Usage


@dataclass(frozen=True)
class RunStarted:
    """A run began. `folder` is the run folder."""

    type: Literal["run_started"] = "run_started"
    journaled: ClassVar[bool] = True
    time: float = 0.0
    run_id: str = ""
    workflow: str = ""
    workflow_path: str | None = None
    folder: str = ""
    workdir: str = ""
    pid: int = 0
    version: str = ""
    max_loops: int = 0
    resumed: bool = False
    """The run was begun before, and goes on here."""


@dataclass(frozen=True)
class InitScriptStarted:
    """The workflow's `init_script` runs, before the first agent. It is a process like an agent's."""

    type: Literal["init_script_started"] = "init_script_started"
    journaled: ClassVar[bool] = True
    time: float = 0.0
    command: str = ""
    pid: int = 0
    pid_started: float = 0.0


@dataclass(frozen=True)
class InitScriptFinished:
    """The `init_script` and everything it started are gone. `problem` empty: it ended well."""

    type: Literal["init_script_finished"] = "init_script_finished"
    journaled: ClassVar[bool] = True
    time: float = 0.0
    exit_code: int | None = None
    seconds: float = 0.0
    problem: str = ""


@dataclass(frozen=True)
class PhaseStarted:
    """The preparation, the loop or the finalization began."""

    type: Literal["phase_started"] = "phase_started"
    journaled: ClassVar[bool] = True
    time: float = 0.0
    phase: Phase = "preparation"


@dataclass(frozen=True)
class IterationStarted:
    """A pass over the loop's groups began; `iteration` counts from 1."""

    type: Literal["iteration_started"] = "iteration_started"
    journaled: ClassVar[bool] = True
    time: float = 0.0
    iteration: int = 0


@dataclass(frozen=True)
class TurnRef:
    """A turn that a group is going to make."""

    turn: str
    place: Place
    label: str
    agent: str
    folder: str
    """Name of the turn's folder inside `turns/`; whatever is given, it is one plain name and no way out."""

    def __post_init__(self) -> None:
        # It comes from an agent's name, or from a journal, which may come from anywhere.
        object.__setattr__(self, "folder", plain_name(self.folder))


@dataclass(frozen=True)
class GroupStarted:
    """A group began; its turns are now waiting. `state_bytes`: size of the state that its agents get."""

    type: Literal["group_started"] = "group_started"
    journaled: ClassVar[bool] = True
    time: float = 0.0
    phase: Phase = "preparation"
    iteration: int = 0
    group: int = 0
    name: str = ""
    mode: Literal["sequential", "parallel"] = "sequential"
    turns: tuple[TurnRef, ...] = ()
    state_bytes: int = 0


@dataclass(frozen=True)
class TurnStarted:
    """A turn has its slot and begins its first attempt."""

    type: Literal["turn_started"] = "turn_started"
    journaled: ClassVar[bool] = True
    time: float = 0.0
    turn: str = ""
    backend: str = ""
    model: str | None = None
    prompt_bytes: int = 0


@dataclass(frozen=True)
class AttemptStarted:
    """A process of the turn started. `number` counts from 1 over retries and corrections."""

    type: Literal["attempt_started"] = "attempt_started"
    journaled: ClassVar[bool] = True
    time: float = 0.0
    turn: str = ""
    number: int = 1
    kind: AttemptKind = AttemptKind.FIRST
    reason: str = ""
    pid: int = 0
    pid_started: float = 0.0
    """Start time of the process as the system tells it, in seconds since the epoch; 0: not known."""


@dataclass(frozen=True)
class SessionKnown:
    """The backend named the session of the turn."""

    type: Literal["session_known"] = "session_known"
    journaled: ClassVar[bool] = True
    time: float = 0.0
    turn: str = ""
    session: str = ""


@dataclass(frozen=True)
class UsageReported:
    """A step of the turn ended and used this much (not cumulative)."""

    type: Literal["usage_reported"] = "usage_reported"
    journaled: ClassVar[bool] = True
    time: float = 0.0
    turn: str = ""
    usage: Usage = Usage()


@dataclass(frozen=True)
class AttemptFinished:
    """A process of the turn and everything it started are gone. `problem` empty: nothing was wrong."""

    type: Literal["attempt_finished"] = "attempt_finished"
    journaled: ClassVar[bool] = True
    time: float = 0.0
    turn: str = ""
    number: int = 1
    exit_code: int | None = None
    signal: int | None = None
    left_behind: int = 0
    problem: str = ""
    late_bytes: int = 0
    """Bytes of its output that came after it was told to end: kept and marked, never merged."""


@dataclass(frozen=True)
class RetryScheduled:
    """The turn waits `seconds` before another attempt; its slot is free meanwhile."""

    type: Literal["retry_scheduled"] = "retry_scheduled"
    journaled: ClassVar[bool] = True
    time: float = 0.0
    turn: str = ""
    seconds: float = 0.0
    reason: str = ""


@dataclass(frozen=True)
class TurnFinished:
    """A turn ended. `update` is what it contributes (None: nothing); written before it is merged."""

    type: Literal["turn_finished"] = "turn_finished"
    journaled: ClassVar[bool] = True
    time: float = 0.0
    turn: str = ""
    status: TurnStatus = TurnStatus.SUCCEEDED
    update: StateUpdate | None = None
    message: str = ""
    """Empty for a success; else what happened in a sentence."""
    detail: str = ""
    reason: str = ""
    """The termination reason if the run ends because of this turn, such as `timeout:vera:30`."""
    seconds: float = 0.0
    usage: Usage = Usage()
    edited: tuple[str, ...] = ()
    """Files that it edited in all its attempts, as `core.edited_files` names them; what the CLI told."""


@dataclass(frozen=True)
class Noted:
    """Something the user should know: a blocked completion, keys moved into the payload, a warning."""

    type: Literal["noted"] = "noted"
    journaled: ClassVar[bool] = True
    time: float = 0.0
    turn: str | None = None
    message: str = ""
    warning: bool = False
    silence: bool = False
    """It says that an agent has printed nothing for long, and is settled once the agent goes on."""


@dataclass(frozen=True)
class Merged:
    """Updates became the next state (the state itself is not in the journal: it follows from the updates)."""

    type: Literal["merged"] = "merged"
    journaled: ClassVar[bool] = True
    time: float = 0.0
    phase: Phase = "preparation"
    iteration: int = 0
    group: int = 0
    writers: tuple[str, ...] = ()
    conflicts: tuple[Conflict, ...] = ()


@dataclass(frozen=True)
class ConditionChecked:
    """The end condition was evaluated after a merge of the loop."""

    type: Literal["condition_checked"] = "condition_checked"
    journaled: ClassVar[bool] = True
    time: float = 0.0
    iteration: int = 0
    holds: bool = False


@dataclass(frozen=True)
class StopRequested:
    """The user asked the run to stop."""

    type: Literal["stop_requested"] = "stop_requested"
    journaled: ClassVar[bool] = True
    time: float = 0.0
    kind: StopKind = StopKind.AFTER_RUNNING


@dataclass(frozen=True)
class RunPaused:
    """The run waits as a whole: what failed would fail for every agent (a quota, a lost login).

    Nothing new starts until `Engine.proceed()`; what is at work goes on to its end. `turn`: who met it.
    """

    type: Literal["run_paused"] = "run_paused"
    journaled: ClassVar[bool] = True
    time: float = 0.0
    turn: str = ""
    message: str = ""


@dataclass(frozen=True)
class RunContinued:
    """A paused run goes on."""

    type: Literal["run_continued"] = "run_continued"
    journaled: ClassVar[bool] = True
    time: float = 0.0


@dataclass(frozen=True)
class QuestionAsked:
    """An agent did not answer with a state update and the workflow says `ask`.

    The run waits for this turn only; answer with `Engine.answer(turn, answer)`. In the journal it tells who
    follows the run from another process; a resumed run makes the turn again and asks anew.
    """

    type: Literal["question_asked"] = "question_asked"
    journaled: ClassVar[bool] = True
    time: float = 0.0
    turn: str = ""
    message: str = ""


@dataclass(frozen=True)
class QuestionAnswered:
    """Nobody is asked about the turn any more. `answer` None: nobody answered, the turn was not wanted."""

    type: Literal["question_answered"] = "question_answered"
    journaled: ClassVar[bool] = True
    time: float = 0.0
    turn: str = ""
    answer: Answer | None = None


@dataclass(frozen=True)
class RunFinished:
    """The run is over and nothing of it is alive. `message` says how and why, in a sentence."""

    type: Literal["run_finished"] = "run_finished"
    journaled: ClassVar[bool] = True
    time: float = 0.0
    status: RunStatus = RunStatus.COMPLETED
    termination_reason: str = ""
    message: str = ""
    iterations: int = 0
    seconds: float = 0.0
    usage: Usage = Usage()


# --- only for who is watching now ---------------------------------------------------------------------


@dataclass(frozen=True)
class StateChanged:
    """The state after a merge. The object is shared and immutable."""

    type: Literal["state_changed"] = "state_changed"
    journaled: ClassVar[bool] = False
    time: float = 0.0
    state: WorkflowState = WorkflowState()


@dataclass(frozen=True)
class TurnActivity:
    """The turn printed something; at most four a second for each turn."""

    type: Literal["turn_activity"] = "turn_activity"
    journaled: ClassVar[bool] = False
    time: float = 0.0
    turn: str = ""
    steps: int = 0
    output_bytes: int = 0


Event: TypeAlias = (
    RunStarted
    | InitScriptStarted
    | InitScriptFinished
    | PhaseStarted
    | IterationStarted
    | GroupStarted
    | TurnStarted
    | AttemptStarted
    | SessionKnown
    | UsageReported
    | AttemptFinished
    | RetryScheduled
    | TurnFinished
    | Noted
    | Merged
    | ConditionChecked
    | StopRequested
    | RunPaused
    | RunContinued
    | QuestionAsked
    | QuestionAnswered
    | RunFinished
    | StateChanged
    | TurnActivity
)
