"""From a run as its folder tells it to what a report says of it."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import replace
from itertools import groupby

from core.events import (
    AttemptFinished,
    AttemptStarted,
    InitScriptFinished,
    RunContinued,
    RunFinished,
    RunPaused,
    RunStarted,
    StopKind,
    StopRequested,
    TurnStarted,
)
from core.progress import GroupProgress, Stretch
from core.recorded_run import RecordedRun
from core.report_model import (
    FORMAT,
    VERSION,
    AgentCost,
    AttemptReport,
    ConflictReport,
    GroupReport,
    IterationCost,
    LifeReport,
    NoteReport,
    Outcome,
    RunReport,
    StepReport,
    TimesReport,
    TurnReport,
    UsageReport,
    sum_of,
)
from core.report_state import last_state, workflow_as_run
from core.run_times import savings_of
from core.turn_progress import TurnProgress
from core.usage import Spent
from core.version import own_version
from core.words import say


def report_of(run: RecordedRun) -> RunReport:
    """All that a report tells of the run. Reads its last state and its workflow from its folder.

    Holds what `run` holds, and no copies of updates or states.
    """
    progress = run.progress
    attempts = _attempts(run)
    prompts = {event.turn: event.prompt_bytes for event in run.events if isinstance(event, TurnStarted)}
    turns = tuple(
        _turn(run, turn, attempts.get(turn.id, ()), prompts.get(turn.id, 0))
        for turn in progress.turns.values()
    )
    groups = tuple(_group(run, group) for group in progress.groups.values())
    savings = savings_of(progress, run.ended)
    duration = run.duration
    versions = [event.version for event in run.events if isinstance(event, RunStarted)]
    return RunReport(
        format=FORMAT,
        version=VERSION,
        exported=time.time(),
        exporter=own_version(),
        run_id=well_formed(run.run_id),
        workflow=run.workflow,
        workflow_path=progress.workflow_path,
        folder=well_formed(str(run.folder)),
        workdir=progress.workdir,
        openloop=versions[-1] if versions else "",
        started=run.started,
        ended=run.ended,
        lives=tuple(_lives(run)),
        outcome=_outcome(run),
        termination_reason=run.reason,
        message=run.message,
        max_loops=progress.max_loops,
        iterations=progress.iteration,
        usage=_usage(run.spent),
        times=TimesReport(
            duration.seconds, duration.waited, savings.work, savings.critical_path, savings.overlap
        ),
        groups=groups,
        turns=turns,
        conflicts=tuple(
            ConflictReport(
                known.phase,
                known.iteration,
                known.group,
                known.conflict.path,
                known.conflict.rule,
                known.conflict.first_writer,
                known.conflict.first_value,
                known.conflict.second_writer,
                known.conflict.second_value,
                known.conflict.outcome,
            )
            for known in progress.conflicts
        ),
        notes=tuple(NoteReport(note.time, note.turn, note.message, note.warning) for note in progress.notes),
        steps=tuple(_steps(run)),
        agents=_by_agent(turns),
        passes=_by_pass(turns),
        state=last_state(run),
        workflow_file=workflow_as_run(run.folder),
        unreadable_lines=run.unreadable,
    )


def well_formed(text: str) -> str:
    """The text without halves of characters, which names of files may have and UTF-8 cannot."""
    return text.encode("utf-8", "surrogatepass").decode("utf-8", "replace")


def _outcome(run: RecordedRun) -> Outcome:
    if run.status is not None:
        return run.status.value
    return "going_on" if run.going_on else "cut_off"


def _lives(run: RecordedRun) -> Iterable[LifeReport]:
    for life in run.progress.lived or [Stretch(run.started)]:
        yield LifeReport(life.started, run.ended if life.ended is None else life.ended)


def _usage(spent: Spent) -> UsageReport:
    usage = spent.usage
    return UsageReport(
        usage.input_tokens,
        usage.output_tokens,
        usage.reasoning_tokens,
        usage.cache_read_tokens,
        usage.cache_write_tokens,
        usage.total_tokens,
        usage.cost_usd,
        spent.unpriced,
    )


def _attempts(run: RecordedRun) -> dict[str, list[AttemptReport]]:
    """By turn: its attempts in the order of time, those of earlier lives of the run included."""
    attempts: dict[str, list[AttemptReport]] = {}
    for event in run.events:
        if isinstance(event, AttemptStarted):
            attempts.setdefault(event.turn, []).append(
                AttemptReport(event.number, event.kind, event.reason, event.time, None)
            )
        elif isinstance(event, AttemptFinished):
            known = attempts.get(event.turn, [])
            if known and known[-1].finished is None and known[-1].number == event.number:
                known[-1] = replace(
                    known[-1],
                    finished=event.time,
                    exit_code=event.exit_code,
                    signal=event.signal,
                    problem=event.problem,
                    left_behind=event.left_behind,
                    late_bytes=event.late_bytes,
                )
    return attempts


def _turn(
    run: RecordedRun, turn: TurnProgress, attempts: Iterable[AttemptReport], prompt_bytes: int
) -> TurnReport:
    return TurnReport(
        id=turn.id,
        label=turn.label,
        title=turn.title,
        agent=turn.agent,
        phase=turn.place.phase,
        iteration=turn.iteration,
        group=turn.place.group,
        entry=turn.place.entry,
        folder=turn.folder,
        status=turn.status,
        backend=turn.backend,
        model=turn.model,
        session=turn.session,
        started=turn.started,
        finished=turn.finished,
        seconds=turn.all_seconds(run.ended),
        prompt_bytes=prompt_bytes,
        usage=_usage(turn.all_spent),
        attempts=tuple(attempts),
        retries=turn.retries,
        corrections=turn.corrections,
        message=turn.message,
        detail=turn.detail,
        reason=turn.reason,
        update=run.answers.get(turn.id),
    )


def _group(run: RecordedRun, group: GroupProgress) -> GroupReport:
    return GroupReport(
        group.phase,
        group.iteration,
        group.index,
        group.name,
        group.mode,
        tuple(group.turns),
        group.started,
        group.merged,
        _usage(run.progress.spent_by(group)),
    )


def _steps(run: RecordedRun) -> Iterable[StepReport]:
    for event in run.events:
        match event:
            case RunStarted():
                words = say("process {pid}, OpenLoop {version}", pid=event.pid, version=event.version)
                yield StepReport(event.time, "resumed" if event.resumed else "started", words)
            case RunPaused():
                yield StepReport(event.time, "paused", event.message)
            case RunContinued():
                yield StepReport(event.time, "continued", "")
            case StopRequested():
                yield StepReport(event.time, "stop_requested", _stop_words(event.kind))
            case InitScriptFinished():
                yield StepReport(event.time, "init_script", event.problem)
            case RunFinished():
                yield StepReport(event.time, "finished", event.message)
            case _:
                pass


def _by_agent(turns: tuple[TurnReport, ...]) -> tuple[AgentCost, ...]:
    agents: dict[str, list[TurnReport]] = {}
    for turn in turns:
        agents.setdefault(turn.agent, []).append(turn)
    return tuple(
        AgentCost(
            name, len(own), sum(turn.seconds or 0.0 for turn in own), sum_of(turn.usage for turn in own)
        )
        for name, own in agents.items()
    )


def _by_pass(turns: tuple[TurnReport, ...]) -> tuple[IterationCost, ...]:
    passes = []
    for (phase, iteration), own in groupby(turns, key=lambda turn: (turn.phase, turn.iteration)):
        of_it = list(own)
        seconds = sum(turn.seconds or 0.0 for turn in of_it)
        passes.append(
            IterationCost(phase, iteration, len(of_it), seconds, sum_of(turn.usage for turn in of_it))
        )
    return tuple(passes)


def _seconds(turns: Iterable[TurnReport]) -> float:
    return sum(turn.seconds or 0.0 for turn in turns)


def _stop_words(kind: StopKind) -> str:
    match kind:
        case StopKind.AFTER_RUNNING:
            return say("The user asked it to stop after the running agents.")
        case StopKind.NOW:
            return say("The user stopped it.")
