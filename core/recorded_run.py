"""A run as its folder tells it: what is done, why it ended, and where it would go on.

Whatever happened to the folder, what can still be read is used: a torn last line, unreadable lines in the
middle, and files that are missing cost only what stood in them.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import TypeAdapter, ValidationError

from core.events import (
    AttemptStarted,
    Event,
    GroupStarted,
    InitScriptFinished,
    InitScriptStarted,
    Merged,
    RunStatus,
    TurnFinished,
    TurnStarted,
    TurnStatus,
    UsageReported,
)
from core.journal import JOURNAL_NAME, read_lines
from core.open_runs import is_held
from core.problems import Problem, UserFileError
from core.progress import RunProgress
from core.progress_words import phase_title
from core.run_duration import RunDuration, may_have_waited, run_duration
from core.run_files import OVERVIEW_NAME, TURNS_NAME, UPDATE_NAME, WORKFLOW_NAME
from core.state import Phase, StateUpdate
from core.turn_progress import TurnProgress
from core.usage import Spent, Usage
from core.words import say
from core.workflow_file import load_workflow

if TYPE_CHECKING:
    from core.run_times import RunChart

GroupKey = tuple[Phase, int, int]
"""Phase, iteration and index of a group at one time of a run."""


_AT_ONCE = 2.0
"""Seconds between an event and the writing of its line; file systems may count in steps of two."""


class RunUnreadable(Exception):  # noqa: N818 - what is so, like FileNotFoundError's cousin
    """A folder is no run, or nothing of it can be read; `problem` says why, for a user."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.text())
        self.problem = problem


@dataclass
class RecordedRun:
    """One run, read back. Times are seconds since the epoch. Make it with `read_run`."""

    folder: Path
    events: list[Event]
    progress: RunProgress
    going_on: bool = False
    """Another process runs it at this moment."""
    answers: dict[str, StateUpdate] = field(default_factory=dict)
    """By turn id: the updates that count. These turns never run again (DESIGN, run semantics 10)."""
    failures: dict[str, TurnFinished] = field(default_factory=dict)
    """By turn id: the end of turns without an update."""
    merged: set[GroupKey] = field(default_factory=set)
    """The groups that were merged at least once; a parallel group is done then."""
    folders: dict[str, str] = field(default_factory=dict)
    """By turn id: its folder inside `turns/`."""
    open_turns: list[str] = field(default_factory=list)
    """Turns with a start and no end: they were cut off."""
    attempts: dict[str, int] = field(default_factory=dict)
    """By turn id: the number of its last attempt."""
    usage_by_turn: dict[str, Usage] = field(default_factory=dict)
    init_done: bool = False
    """The `init_script` ended well."""
    known_until: float = 0.0
    """Of a run that was cut off: when anything of it was written last."""
    _limits_read: bool = field(default=False, repr=False, compare=False)
    unreadable: int = 0
    """Lines of the journal that cannot be read; updates among them may be in the turns' folders."""

    @property
    def run_id(self) -> str:
        """Its id, also the name of its folder."""
        return self.progress.run_id or self.folder.name

    @property
    def workflow(self) -> str:
        """The workflow's name; that of the folder where the journal lost it."""
        return self.progress.workflow or self.folder.name

    @property
    def started(self) -> float:
        """When it began, for the first time."""
        return self.progress.started or 0.0

    @property
    def ended(self) -> float:
        """When its last event was; of a run that was cut off, when anything of it was written last."""
        return max(self.events[-1].time, self.known_until)

    @property
    def active_seconds(self) -> float:
        """How long it took, without the time between its lives."""
        return self.progress.seconds(self.ended)

    @cached_property
    def chart(self) -> RunChart:
        """When its agents worked, measured up to its end. Whoever reads a run to show it, on a thread of its
        own, asks for it there: of a long run it takes a while."""
        from core.run_times import RunChart

        chart = RunChart(self.progress)
        chart.savings(self.ended)
        return chart

    @property
    def duration(self) -> RunDuration:
        """How long it took, and how much of that it waited for the user."""
        waited = may_have_waited(self.progress, self.ended)
        return run_duration(self.progress, self.ended, self.chart if waited else None)

    @property
    def status(self) -> RunStatus | None:
        """How it ended; None: it was cut off, or goes on."""
        return self.progress.status

    @property
    def reason(self) -> str:
        """The termination reason; empty when it was cut off."""
        return self.progress.termination_reason

    @property
    def message(self) -> str:
        """How and why it ended, in a sentence."""
        if self.going_on:
            asking = self.progress.questions
            if len(asking) == 1:
                return say("It is going on. {agent} waits for an answer there.", agent=asking[0].label)
            if asking:
                return say("It is going on. {count:,} agents wait for an answer there.", count=len(asking))
            if self.progress.paused:
                return say("It is paused, and waits for somebody there.")
            return say("It is going on.")
        return self.progress.message or say("It was cut off: OpenLoop or the computer was ended.")

    @property
    def spent(self) -> Spent:
        """Tokens and cost of all attempts."""
        return self.progress.spent

    @property
    def usage(self) -> Usage:
        """The sum of what all attempts reported."""
        return sum(self.usage_by_turn.values(), Usage())

    @property
    def done_turns(self) -> int:
        """Turns whose updates are recorded."""
        return len(self.answers)

    @property
    def last_number(self) -> int:
        """The highest number of a turn's folder."""
        heads = (name.partition("-")[0] for name in self.folders.values())
        return max((int(head) for head in heads if head.isdecimal()), default=0)

    @property
    def obstacle(self) -> str:
        """Why it cannot go on, in a sentence; empty: it can."""
        if self.going_on:
            return say("It is going on in another window or terminal.")
        if self.status is RunStatus.COMPLETED:
            return say("It is complete.")
        if not (self.folder / WORKFLOW_NAME).is_file():
            return say(
                "Its {file} is missing, so nobody knows what it was to do.",
                file=WORKFLOW_NAME,
            )
        return ""

    @property
    def resumable(self) -> bool:
        """Whether it can go on, perhaps after a limit was raised."""
        return not self.obstacle

    @property
    def next_place(self) -> str:
        """Where it would go on, for "goes on at": `Loop, iteration 3: vera, linter`."""
        if not self.progress.groups:
            return say("its beginning")
        group = list(self.progress.groups.values())[-1]
        place = phase_title(group.phase)
        if group.phase == "loop":
            place = say("{phase}, iteration {number}", phase=place, number=group.iteration)
        labels = [
            self.progress.turns[turn].label
            for turn in group.turns
            if turn in self.progress.turns and turn not in self.answers
        ]
        done = group.mode == "parallel" and group.merged is not None
        if labels and not done:
            return f"{place}: {', '.join(labels)}"
        if self.reason == "max_loops_reached":
            number = self.progress.iteration + 1
            return say("{phase}, iteration {number}", phase=phase_title("loop"), number=number)
        return say("{place}, after {group}", place=place, group=group.name)

    def read_limits(self) -> None:
        """Have its progress know what its workflow allows: budget, retries, the size of prompts. Where the
        workflow cannot be read, nothing is known of them. Once is enough.
        """
        if self._limits_read:
            return
        self._limits_read = True
        with contextlib.suppress(OSError, UserFileError):
            self.progress.allow(load_workflow(self.folder / WORKFLOW_NAME).workflow)

    def measure(self) -> None:
        """Have at hand what views ask for first and what takes a while of a long run."""
        self.read_limits()
        _ = self.chart

    def spent_of(self, turns: Iterable[str]) -> Usage:
        """What these turns used, in all their attempts."""
        return sum((self.usage_by_turn.get(turn, Usage()) for turn in turns), Usage())


def read_run(folder: Path) -> RecordedRun:
    """The run in this folder. Raises RunUnreadable. Takes about 20 ms for each thousand events."""
    path = folder / JOURNAL_NAME
    try:
        if not path.is_file():  # a pipe would be waited for without end
            raise FileNotFoundError(path)
        events, unreadable = read_lines(path)
    except OSError as error:
        why = (
            say("{folder} is not a run folder that can be read: it has no journal.", folder=folder)
            if isinstance(error, FileNotFoundError)
            else say(
                "{folder} is not a run folder that can be read: {error}.", folder=folder, error=error.strerror
            )
        )
        raise RunUnreadable(
            Problem(
                why,
                suggestion=say("`openloop runs` lists those of a folder."),
            )
        ) from error
    if not events:
        raise RunUnreadable(
            Problem(
                say("Nothing in the journal of {folder} tells of a run.", folder=folder),
                suggestion=say("Start the workflow again; what agents printed is in the folder's turns."),
            )
        )
    progress = RunProgress()
    progress.apply_all(events)
    if progress.started is None:
        # The first line is lost; the folder still tells what it is.
        progress.started, progress.run_id = events[0].time, folder.name
    # The folder may have been moved, or come from another machine.
    progress.folder = str(folder.absolute())
    # Whoever wrote the end is about to let go of the folder.
    going_on = progress.status is None and is_held(folder)
    known_until = 0.0
    if progress.status is None and not going_on:
        known_until = _last_sign(folder, events[-1].time, progress)
        progress.cut_off(known_until)
    run = RecordedRun(
        folder.absolute(), events, progress, going_on, known_until=known_until, unreadable=unreadable
    )
    _index(run)
    _find_lost_updates(run)
    return run


def _last_sign(folder: Path, last_event: float, progress: RunProgress) -> float:
    """When anything was written last of a run that was cut off: an event, or what its open turns printed.

    Files tell that only where their times are still their own, and not those of a copy: the journal was
    written when its last event was.
    """
    latest = last_event
    if abs(_written(folder / JOURNAL_NAME) - last_event) > _AT_ONCE:
        return latest
    files = [folder / OVERVIEW_NAME]
    for turn in progress.running_turns:
        with contextlib.suppress(OSError):
            files += (folder / TURNS_NAME / turn.folder).iterdir()
    return max(latest, *(_written(file) for file in files))


def _written(file: Path) -> float:
    """When a file was written last; 0 where that cannot be told."""
    try:
        return file.stat().st_mtime
    except OSError:
        return 0.0


def _find_lost_updates(run: RecordedRun) -> None:
    """Whatever the journal lost of merged groups: from the turns' folders, else the turn has to run again."""
    groups: dict[str, dict[str, TurnProgress]] = {}
    for turn in run.progress.turns.values():
        groups.setdefault(turn.id.rpartition("/")[0], {})[turn.label] = turn
    for event in run.events:
        if not isinstance(event, Merged):
            continue
        key = (event.phase, event.iteration, event.group)
        turns = groups.get(f"{event.phase}/{event.iteration}/{event.group}", {})
        for writer in event.writers:
            writing = turns.get(writer)
            if writing is None or writing.id in run.answers:
                continue
            update = _kept_update(run.folder / TURNS_NAME / writing.folder / UPDATE_NAME)
            if update is not None:
                run.answers[writing.id] = update
            else:
                run.merged.discard(key)


def _kept_update(path: Path) -> StateUpdate | None:
    try:
        return TypeAdapter(StateUpdate).validate_json(path.read_bytes())
    except (OSError, ValidationError):
        return None


def list_runs(log_dir: Path) -> list[RecordedRun]:
    """Every run of a log folder that can be read, the latest first; [] where there is no such folder."""
    runs: list[RecordedRun] = []
    for folder in run_folders(log_dir):
        try:
            runs.append(read_run(folder))
        except RunUnreadable:
            # One that is broken must not hide the others; whoever names it is told.
            continue
    return sorted(runs, key=lambda run: run.started, reverse=True)


def run_folders(log_dir: Path) -> list[Path]:
    """The folders of a log folder that look like runs, the latest name first."""
    try:
        found = [path for path in log_dir.iterdir() if (path / JOURNAL_NAME).is_file()]
    except OSError:
        return []
    return sorted(found, key=lambda path: path.name, reverse=True)


def _index(run: RecordedRun) -> None:
    started: dict[str, None] = {}
    for event in run.events:
        match event:
            case GroupStarted():
                run.folders.update((ref.turn, ref.folder) for ref in event.turns)
            case Merged():
                run.merged.add((event.phase, event.iteration, event.group))
            case TurnStarted():
                started[event.turn] = None
            case AttemptStarted():
                started[event.turn] = None
                run.attempts[event.turn] = max(event.number, run.attempts.get(event.turn, 0))
            case UsageReported():
                run.usage_by_turn[event.turn] = run.usage_by_turn.get(event.turn, Usage()) + event.usage
            case TurnFinished():
                started.pop(event.turn, None)
                if event.status is TurnStatus.SUCCEEDED and event.update is not None:
                    run.answers[event.turn] = event.update
                    run.failures.pop(event.turn, None)
                elif event.turn not in run.answers:
                    run.failures[event.turn] = event
            case InitScriptStarted():
                run.init_done = False
            case InitScriptFinished():
                run.init_done = not event.problem
            case _:
                pass
    run.open_turns = list(started)
