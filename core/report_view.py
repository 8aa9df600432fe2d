"""What stands on a report's page but the timeline."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from core.events import TurnStatus
from core.json_types import JsonValue
from core.progress_words import turn_words
from core.report_costs import cost_tables
from core.report_model import ConflictReport, NoteReport, Outcome, RunReport
from core.report_parts import (
    MOST_JSON,
    MOST_LISTED,
    MOST_MESSAGE,
    MOST_VALUE,
    ConflictRow,
    Fact,
    LeftOut,
    NoteRow,
    Page,
    Section,
    all_in_json,
    anchors_of,
    json_part,
    left_out,
    moment_words,
    place_words,
    rest_of,
    status_word,
    time_words,
    usage_words,
)
from core.report_text import json_bytes, json_shown, shown
from core.report_tree import state_tree
from core.report_turns import group_rows, turn_rows
from core.run_clock import RunClock
from core.run_files import STATE_NAME
from core.run_times import Savings, savings_words
from core.words import say, say_number

OUTCOME_ICONS: dict[Outcome, str] = {
    "completed": "circle-check",
    "ended": "circle-pause",
    "stopped": "circle-stop",
    "failed": "circle-alert",
    "cut_off": "circle-slash",
    "going_on": "loader-circle",
}
T = TypeVar("T")
Row = TypeVar("Row")


def page_of(report: RunReport, clock: RunClock) -> Page:
    """The page of a run. `clock`: its time, which leaves out what the timeline leaves out."""
    anchors = anchors_of(report)
    rows, answers_left = turn_rows(report, anchors, clock)
    failed = [turn.id for turn in report.turns if turn.status is TurnStatus.FAILED]
    failures = [rows[turn] for turn in failed if turn in rows][:MOST_LISTED]
    conflicts, conflicts_left = _listed(report.conflicts, _conflict, _conflict_words)
    titles = {turn.id: turn.title for turn in report.turns}
    told = notes_of(report)
    notes, notes_left = _listed(told, lambda note: _note(note, clock, titles, anchors), _note_words)
    several = {group.phase for group in report.groups if group.index}
    state = report.state.state if report.state is not None else None
    savings = Savings(
        report.times.work_seconds,
        report.times.wall_seconds - report.times.waited_seconds,
        report.times.critical_seconds,
        report.times.overlap_seconds,
    )
    return Page(
        workflow=shown(report.workflow, MOST_VALUE),
        exporter=report.exporter,
        outcome=_outcome_words(report.outcome),
        kind=report.outcome,
        icon=OUTCOME_ICONS[report.outcome],
        message=shown(report.message, MOST_MESSAGE),
        tiles=tuple(_tiles(report, savings)),
        facts=tuple(_facts(report)),
        savings=f"{savings_words(savings)}.",
        kinds=tuple(dict.fromkeys(status_word(turn.status) for turn in report.turns)),
        groups=tuple(
            group_rows(group, rows, group.phase in several)
            for group in report.groups
            if not group.turns or any(turn in rows for turn in group.turns)
        ),
        turns_left=left_out(len(report.turns) - len(rows), turn_words, all_in_json()),
        answers_left=answers_left,
        failures=tuple(failures),
        failures_left=left_out(len(failed) - len(failures), _failure_words, all_in_json()),
        conflicts=conflicts,
        conflicts_left=conflicts_left,
        notes=notes,
        notes_left=notes_left,
        costs=tuple(cost_tables(report)) if report.turns else (),
        state_title=say("State at the end")
        if report.outcome not in ("cut_off", "going_on")
        else say("Last state"),
        state=json_part(state, MOST_JSON, say("All of it is in {file} of the run folder.", file=STATE_NAME))
        if report.state is not None
        else None,
        state_note=_state_note(report),
        tree=state_tree(state, {conflict.path for conflict in report.conflicts})
        if report.state is not None
        else None,
        workflow_file=json_part(report.workflow_file, MOST_JSON, say("All of it is in the run folder."))
        if report.workflow_file is not None
        else None,
        footer=_footer(report),
        sections=tuple(_sections(report, len(failed), len(told))),
    )


def _outcome_words(outcome: Outcome) -> str:
    match outcome:
        case "completed":
            return say("Completed")
        case "ended":
            return say("Ended at a limit")
        case "stopped":
            return say("Stopped")
        case "failed":
            return say("Failed")
        case "cut_off":
            return say("Cut off")
        case "going_on":
            return say("Going on when this was written")


# --- the top --------------------------------------------------------------------------------------------


def _tiles(report: RunReport, savings: Savings) -> Iterable[Fact]:
    waited = report.times.waited_seconds
    yield Fact(
        say("Duration"),
        time_words(report.times.wall_seconds),
        say("of it {time} waiting for you", time=time_words(waited)) if waited >= 1 else "",
    )
    if savings.worth_saying:
        yield Fact(
            say("Side by side"),
            say("{times:,.1f}× faster", times=savings.times_faster),
            say("{time} of work", time=time_words(savings.work)),
        )
    counts = [sum(turn.status is status for turn in report.turns) for status in TurnStatus]
    failed = counts[list(TurnStatus).index(TurnStatus.FAILED)]
    yield Fact(
        say("Turns"), f"{len(report.turns):,}", say("{count:,} failed", count=failed) if failed else ""
    )
    if report.iterations:
        of = say("of {most:,}", most=report.max_loops) if report.max_loops else ""
        yield Fact(say("Iterations"), f"{report.iterations:,}", of)
    yield Fact(say("Cost"), usage_words(report.usage))
    yield Fact(say("Tokens"), f"{report.usage.total_tokens:,}")


def _facts(report: RunReport) -> Iterable[Fact]:
    yield Fact(say("Started"), moment_words(report.started))
    if report.outcome != "going_on":
        yield Fact(say("Ended"), moment_words(report.ended))
    if len(report.lives) > 1:
        times = say_number(len(report.lives) - 1, "once", "{count:,} times")
        yield Fact(say("Resumed"), times, say("last at {time}", time=moment_words(report.lives[-1].started)))
    if report.workflow_path:
        yield Fact(say("Workflow file"), shown(report.workflow_path, MOST_MESSAGE))
    yield Fact(say("Work folder"), shown(report.workdir, MOST_MESSAGE))
    yield Fact(say("Run folder"), shown(report.folder, MOST_MESSAGE))
    if report.termination_reason:
        yield Fact(say("Termination reason"), shown(report.termination_reason, MOST_VALUE))
    if report.times.critical_seconds:
        words = say("the longest chain of turns that had to wait for one another")
        yield Fact(say("Critical path"), time_words(report.times.critical_seconds), words)
    if report.unreadable_lines:
        lines = say_number(report.unreadable_lines, "1 line of the journal", "{count:,} lines of the journal")
        yield Fact(say("Not readable"), lines, say("what stood there is missing here"))


def _sections(report: RunReport, failures: int, notes: int) -> Iterable[Section]:
    yield Section("timeline", say("Timeline"))
    if failures:
        yield Section("failures", say("What went wrong"), f"{failures:,}")
    yield Section("turns", say("Turns"), f"{len(report.turns):,}")
    if report.conflicts:
        yield Section("conflicts", say("Conflicts"), f"{len(report.conflicts):,}")
    if notes:
        yield Section("notes", say("Notes"), f"{notes:,}")
    yield Section("cost", say("Cost"))
    yield Section("state", say("State"))
    yield Section("workflow", say("Workflow"))


def _footer(report: RunReport) -> str:
    ran = (
        say("Run {id} by OpenLoop {version}.", id=report.run_id, version=report.openloop)
        if report.openloop
        else say("Run {id} by OpenLoop of an unknown version.", id=report.run_id)
    )
    written = say(
        "Written at {time} by OpenLoop {version}. This page loads nothing from anywhere.",
        time=moment_words(report.exported),
        version=report.exporter,
    )
    return shown(
        f"{ran} {written}",
        MOST_MESSAGE,
    )


def _state_note(report: RunReport) -> str:
    if report.state is None:
        return say("The state cannot be told: its file is missing, and so is what it could be made of again.")
    if report.state.source == "merged":
        return say("Merged again from the recorded answers, as the run did.")
    return ""


# --- lists ----------------------------------------------------------------------------------------------


def _listed(
    found: Sequence[T], row: Callable[[T], Row], what: Callable[[int], str]
) -> tuple[tuple[Row, ...], LeftOut]:
    return tuple(row(each) for each in found[:MOST_LISTED]), rest_of(
        found, what, say("All of them are in the run's journal, and in its report as JSON.")
    )


def _conflict_words(count: int) -> str:
    return say_number(count, "1 conflict", "{count:,} conflicts")


def _note_words(count: int) -> str:
    return say_number(count, "1 note", "{count:,} notes")


def _failure_words(count: int) -> str:
    return say_number(count, "1 failed turn", "{count:,} failed turns")


def _conflict(conflict: ConflictReport) -> ConflictRow:
    return ConflictRow(
        shown(conflict.path, MOST_VALUE),
        place_words(conflict.phase, conflict.iteration),
        shown(conflict.first_writer, MOST_VALUE),
        _short(conflict.first_value),
        shown(conflict.second_writer, MOST_VALUE),
        _short(conflict.second_value),
        conflict.rule.value,
        _short(conflict.outcome),
    )


def _short(value: JsonValue) -> str:
    text, left = json_shown(json_bytes(value, indented=False), MOST_VALUE)
    return f"{text}…" if left else text


def notes_of(report: RunReport) -> list[NoteReport]:
    """The run's notes and its pauses, in time."""
    steps = report.steps
    pauses = []
    for number, step in enumerate(steps):
        if step.what != "paused":
            continue
        after = next((each for each in steps[number + 1 :] if each.what != "paused"), None)
        until = after.time if after is not None else report.ended
        time = time_words(max(0.0, until - step.time))
        message = (
            say("The run was paused for {time}: {why}", time=time, why=step.message)
            if step.message
            else say("The run was paused for {time}.", time=time)
        )
        pauses.append(NoteReport(step.time, None, message, True))
    return sorted([*report.notes, *pauses], key=lambda note: note.time)


def _note(note: NoteReport, clock: RunClock, titles: dict[str, str], anchors: dict[str, str]) -> NoteRow:
    turn = note.turn if note.turn in titles else None
    return NoteRow(
        "warning" if note.warning else "note",
        "triangle-alert" if note.warning else "info",
        time_words(clock.seconds(note.time)),
        shown(titles[turn], MOST_VALUE) if turn is not None else "",
        anchors.get(turn, "") if turn is not None else "",
        shown(note.message, MOST_MESSAGE),
    )
