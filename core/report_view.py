"""What stands on a report's page, in words and numbers: everything is bounded and says what was left out."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from core.events import AttemptKind, TurnStatus
from core.json_types import JsonValue
from core.progress_words import PHASE_WORDS, dollar_words, duration_words, quantity_words
from core.report_model import (
    AttemptReport,
    ConflictReport,
    GroupReport,
    NoteReport,
    Outcome,
    RunReport,
    TurnReport,
    UsageReport,
    sum_of,
)
from core.report_text import digest, fair_share, json_bytes, json_shown, shown, size_words
from core.report_tree import Node, state_tree
from core.run_files import STATE_NAME, TURNS_NAME, UPDATE_NAME
from core.run_times import Savings, savings_words
from core.state import Phase

MOST_ANSWERS = 2_000_000
"""Bytes of all turns' answers on the page; those of a state, a workflow, a text below."""
MOST_JSON = 400_000
MOST_DETAIL = 20_000
MOST_MESSAGE = 2_000
MOST_VALUE = 300
MOST_LISTED = 500
"""Failures, conflicts, notes."""

OUTCOMES: dict[Outcome, tuple[str, str]] = {
    "completed": ("Completed", "circle-check"),
    "ended": ("Ended at a limit", "circle-slash"),
    "stopped": ("Stopped", "circle-stop"),
    "failed": ("Failed", "circle-alert"),
    "cut_off": ("Cut off", "circle-x"),
    "going_on": ("Going on when this was written", "loader-circle"),
}
STATUS_ICONS: dict[TurnStatus, str] = {
    TurnStatus.WAITING: "circle-dashed",
    TurnStatus.RUNNING: "loader-circle",
    TurnStatus.SUCCEEDED: "circle-check",
    TurnStatus.FAILED: "circle-alert",
    TurnStatus.STOPPED: "circle-stop",
}
_KINDS = {
    AttemptKind.FIRST: "first attempt",
    AttemptKind.RETRY: "retry",
    AttemptKind.CORRECTION: "correction",
}
T = TypeVar("T")
Row = TypeVar("Row")


@dataclass(frozen=True, slots=True)
class Fact:
    """A name and what it is; `more` is said in a lower voice."""

    name: str
    value: str
    more: str = ""


@dataclass(frozen=True, slots=True)
class LeftOut:
    """What is not on the page, such as `4.2 MB`, and where it is, in a sentence. `size` empty: nothing."""

    size: str = ""
    where: str = ""


NOTHING = LeftOut()


@dataclass(frozen=True, slots=True)
class Json:
    """JSON to look at, as much of it as is shown; `size` of all of it."""

    text: str
    size: str
    left: LeftOut = NOTHING


@dataclass(frozen=True, slots=True)
class AttemptRow:
    """One attempt: how it went, in a line."""

    kind: str
    words: str
    problem: str


@dataclass(frozen=True, slots=True)
class TurnRow:
    """One turn of the table."""

    anchor: str
    title: str
    label: str
    iteration: str
    kind: TurnStatus
    word: str
    icon: str
    began: str
    time: str
    attempts_words: str
    tokens: str
    cost: str
    digest: str
    message: str
    detail: str
    answer: Json | None
    attempts: tuple[AttemptRow, ...]
    facts: tuple[Fact, ...]


@dataclass(frozen=True, slots=True)
class GroupRows:
    """A group with its turns. `mode`: `parallel` or `sequential`."""

    mode: str
    place: str
    words: str
    turns: tuple[TurnRow, ...]


@dataclass(frozen=True, slots=True)
class ConflictRow:
    """One conflict; the values as short JSON."""

    path: str
    place: str
    first_writer: str
    first: str
    second_writer: str
    second: str
    rule: str
    outcome: str


@dataclass(frozen=True, slots=True)
class NoteRow:
    """One note; `title` and `anchor` of the turn that it is about."""

    kind: str
    icon: str
    when: str
    title: str
    anchor: str
    message: str


@dataclass(frozen=True, slots=True)
class CostRow:
    """What was used by something. `share`: of all cost, else of all tokens, in percent."""

    name: str
    turns: str
    time: str
    tokens_in: str
    tokens_out: str
    tokens: str
    cost: str
    share: str


@dataclass(frozen=True, slots=True)
class CostTable:
    """Costs by one thing, which `what` names."""

    title: str
    what: str
    rows: tuple[CostRow, ...]
    left: LeftOut = NOTHING


@dataclass(frozen=True, slots=True)
class Section:
    """A part of the page, for the list of them. `count`: how much is in it; empty: not counted."""

    anchor: str
    title: str
    count: str = ""


@dataclass(frozen=True, slots=True)
class Page:
    """Everything on the page but the timeline."""

    workflow: str
    exporter: str
    outcome: str
    kind: str
    icon: str
    message: str
    tiles: tuple[Fact, ...]
    facts: tuple[Fact, ...]
    savings: str
    kinds: tuple[str, ...]
    groups: tuple[GroupRows, ...]
    answers_left: LeftOut
    failures: tuple[TurnRow, ...]
    failures_left: LeftOut
    conflicts: tuple[ConflictRow, ...]
    conflicts_left: LeftOut
    notes: tuple[NoteRow, ...]
    notes_left: LeftOut
    costs: tuple[CostTable, ...]
    state_title: str
    state: Json | None
    state_note: str
    tree: Node | None
    workflow_file: Json | None
    footer: str
    sections: tuple[Section, ...]


def anchors_of(report: RunReport) -> dict[str, str]:
    """By turn id: its name on the page."""
    return {turn.id: f"t{number}" for number, turn in enumerate(report.turns, 1)}


def page_of(report: RunReport) -> Page:
    """The page of a run."""
    anchors = anchors_of(report)
    rows, answers_left = _turn_rows(report, anchors)
    outcome, icon = OUTCOMES[report.outcome]
    failures = [rows[turn.id] for turn in report.turns if turn.status is TurnStatus.FAILED]
    conflicts, conflicts_left = _listed(report.conflicts, _conflict, "conflicts")
    titles = {turn.id: turn.title for turn in report.turns}
    notes, notes_left = _listed(
        report.notes, lambda note: _note(note, report.started, titles, anchors), "notes"
    )
    several = {group.phase for group in report.groups if group.index}
    state = report.state.state if report.state is not None else None
    savings = Savings(
        report.times.work_seconds,
        report.times.wall_seconds,
        report.times.critical_seconds,
        report.times.overlap_seconds,
    )
    return Page(
        workflow=shown(report.workflow, MOST_VALUE),
        exporter=report.exporter,
        outcome=outcome,
        kind=report.outcome,
        icon=icon,
        message=shown(report.message, MOST_MESSAGE),
        tiles=tuple(_tiles(report, savings)),
        facts=tuple(_facts(report)),
        savings=f"{savings_words(savings)}.",
        kinds=tuple(dict.fromkeys(turn.status.value for turn in report.turns)),
        groups=tuple(_group(group, rows, group.phase in several) for group in report.groups),
        answers_left=answers_left,
        failures=tuple(failures[:MOST_LISTED]),
        failures_left=_rest(failures, "failed turns", "All of them are in the table below."),
        conflicts=conflicts,
        conflicts_left=conflicts_left,
        notes=notes,
        notes_left=notes_left,
        costs=tuple(_costs(report)),
        state_title="State at the end" if report.outcome not in ("cut_off", "going_on") else "Last state",
        state=_json(state, MOST_JSON, f"All of it is in {STATE_NAME} of the run folder.")
        if report.state is not None
        else None,
        state_note=_state_note(report),
        tree=state_tree(state, {conflict.path for conflict in report.conflicts})
        if report.state is not None
        else None,
        workflow_file=_json(report.workflow_file, MOST_JSON, "All of it is in the run folder.")
        if report.workflow_file is not None
        else None,
        footer=_footer(report),
        sections=tuple(_sections(report, len(failures))),
    )


def time_words(seconds: float | None) -> str:
    """A stretch of time; short ones with a decimal."""
    if seconds is None:
        return "–"
    return f"{seconds:.1f} s" if seconds < 9.95 else duration_words(seconds)


def moment_words(moment: float) -> str:
    """Date and time where the report is written, with the distance to UTC."""
    zone = time.strftime("%z", time.localtime(moment))
    return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(moment)) + f" {zone[:3]}:{zone[3:]}"


def usage_words(usage: UsageReport) -> str:
    """What something cost."""
    if usage.cost_usd is None:
        return "price unknown" if usage.unpriced else "–"
    return f"{dollar_words(usage.cost_usd)} + unknown" if usage.unpriced else dollar_words(usage.cost_usd)


# --- the top --------------------------------------------------------------------------------------------


def _tiles(report: RunReport, savings: Savings) -> Iterable[Fact]:
    yield Fact("Duration", time_words(report.times.wall_seconds))
    if savings.worth_saying:
        yield Fact(
            "Side by side",
            f"{savings.times_faster:,.1f}× faster",
            f"{time_words(savings.work)} of work",
        )
    counts = [sum(turn.status is status for turn in report.turns) for status in TurnStatus]
    failed = counts[list(TurnStatus).index(TurnStatus.FAILED)]
    yield Fact("Turns", f"{len(report.turns):,}", f"{failed:,} failed" if failed else "")
    if report.iterations:
        of = f"of {report.max_loops:,}" if report.max_loops else ""
        yield Fact("Iterations", f"{report.iterations:,}", of)
    yield Fact("Cost", usage_words(report.usage))
    yield Fact("Tokens", f"{report.usage.total_tokens:,}")


def _facts(report: RunReport) -> Iterable[Fact]:
    yield Fact("Started", moment_words(report.started))
    if report.outcome != "going_on":
        yield Fact("Ended", moment_words(report.ended))
    if len(report.lives) > 1:
        times = "once" if len(report.lives) == 2 else f"{len(report.lives) - 1:,} times"
        yield Fact("Resumed", times, f"last at {moment_words(report.lives[-1].started)}")
    if report.workflow_path:
        yield Fact("Workflow file", shown(report.workflow_path, MOST_MESSAGE))
    yield Fact("Work folder", shown(report.workdir, MOST_MESSAGE))
    yield Fact("Run folder", shown(report.folder, MOST_MESSAGE))
    if report.termination_reason:
        yield Fact("Termination reason", shown(report.termination_reason, MOST_VALUE))
    if report.times.critical_seconds:
        words = "the longest chain of turns that had to wait for one another"
        yield Fact("Critical path", time_words(report.times.critical_seconds), words)
    if report.unreadable_lines:
        lines = quantity_words(report.unreadable_lines, "line")
        yield Fact("Not readable", f"{lines} of the journal", "what stood there is missing here")


def _sections(report: RunReport, failures: int) -> Iterable[Section]:
    yield Section("timeline", "Timeline")
    if failures:
        yield Section("failures", "What went wrong", f"{failures:,}")
    yield Section("turns", "Turns", f"{len(report.turns):,}")
    if report.conflicts:
        yield Section("conflicts", "Conflicts", f"{len(report.conflicts):,}")
    if report.notes:
        yield Section("notes", "Notes", f"{len(report.notes):,}")
    yield Section("cost", "Cost")
    yield Section("state", "State")
    yield Section("workflow", "Workflow")


def _footer(report: RunReport) -> str:
    ran = f"Run {report.run_id} by OpenLoop {report.openloop or 'of an unknown version'}"
    return shown(
        f"{ran}. Written at {moment_words(report.exported)} by OpenLoop {report.exporter}. "
        "This page loads nothing from anywhere.",
        MOST_MESSAGE,
    )


def _state_note(report: RunReport) -> str:
    if report.state is None:
        return "The state cannot be told: its file is missing, and so is what it could be made of again."
    if report.state.source == "merged":
        return "Merged again from the recorded answers, as the run did."
    return ""


# --- turns ----------------------------------------------------------------------------------------------


def _turn_rows(report: RunReport, anchors: dict[str, str]) -> tuple[dict[str, TurnRow], LeftOut]:
    sizes = [len(json_bytes(turn.update.payload)) if turn.update is not None else 0 for turn in report.turns]
    share = fair_share(sizes, MOST_ANSWERS)
    rows = {turn.id: _turn(turn, report.started, anchors[turn.id], share) for turn in report.turns}
    long = sum(size > share for size in sizes)
    if not long:
        return rows, NOTHING
    where = f"of {quantity_words(long, 'long answer')}. All is in the turns' folders ({UPDATE_NAME})."
    return rows, LeftOut(size_words(sum(max(0, size - share) for size in sizes)), where.capitalize())


def _turn(turn: TurnReport, run_began: float, anchor: str, share: int) -> TurnRow:
    message = shown(turn.message, MOST_MESSAGE)
    answer = None
    if turn.update is not None:
        said = {key: value for key, value in vars(turn.update).items() if value is not None}
        where = f"All of it is in {TURNS_NAME}/{shown(turn.folder, MOST_VALUE)}/{UPDATE_NAME}."
        answer = _json(said, share + 200, where)
    attempts = len(turn.attempts)
    return TurnRow(
        anchor=anchor,
        title=shown(turn.title, MOST_VALUE),
        label=shown(turn.label, MOST_VALUE),
        iteration=f"{turn.iteration:,}" if turn.iteration else "",
        kind=turn.status,
        word=turn.status.value,
        icon=STATUS_ICONS[turn.status],
        began=time_words(turn.started - run_began) if turn.started is not None else "–",
        time=time_words(turn.seconds),
        attempts_words=f"{attempts:,}" if attempts != 1 else "1",
        tokens=f"{turn.usage.total_tokens:,}",
        cost=usage_words(turn.usage),
        digest=_digest(turn, message),
        message=message,
        detail=shown(turn.detail, MOST_DETAIL),
        answer=answer,
        attempts=tuple(_attempt(attempt) for attempt in turn.attempts[:MOST_LISTED]),
        facts=tuple(_turn_facts(turn)),
    )


def _digest(turn: TurnReport, message: str) -> str:
    if turn.update is None:
        words = message.splitlines()[0] if message else "No answer."
    elif turn.update.payload:
        words = digest(turn.update.payload)
    else:
        words = "Nothing for the payload."
    if turn.update is not None and turn.update.is_complete:
        words = f"complete · {words}"
    return shown(words, MOST_VALUE)


def _turn_facts(turn: TurnReport) -> Iterable[Fact]:
    if turn.started is not None:
        yield Fact("Began", moment_words(turn.started))
    yield Fact("Backend", shown(turn.backend or "–", MOST_VALUE))
    if turn.model:
        yield Fact("Model", shown(turn.model, MOST_VALUE))
    if turn.agent != turn.label:
        yield Fact("Agent", shown(turn.agent, MOST_VALUE))
    if turn.prompt_bytes:
        yield Fact("Prompt", size_words(turn.prompt_bytes))
    usage = turn.usage
    parts = {
        "in": usage.input_tokens,
        "out": usage.output_tokens,
        "reasoning": usage.reasoning_tokens,
        "cache read": usage.cache_read_tokens,
        "cache write": usage.cache_write_tokens,
    }
    tokens = [f"{count:,} {name}" for name, count in parts.items() if count]
    if tokens:
        yield Fact("Tokens", " · ".join(tokens))
    yield Fact("Folder", shown(f"{TURNS_NAME}/{turn.folder}", MOST_VALUE))
    if turn.session:
        yield Fact("Session", shown(turn.session, MOST_VALUE))


def _attempt(attempt: AttemptReport) -> AttemptRow:
    words = [_KINDS[attempt.kind]]
    if attempt.finished is None:
        words.append("no end was recorded")
    else:
        words.append(time_words(attempt.finished - attempt.started))
    if attempt.signal is not None:
        words.append(f"signal {attempt.signal}")
    elif attempt.exit_code is not None:
        words.append(f"exit code {attempt.exit_code}")
    if attempt.left_behind:
        words.append(f"left {quantity_words(attempt.left_behind, 'process', 'processes')} behind")
    if attempt.late_bytes:
        words.append(f"{size_words(attempt.late_bytes)} came too late")
    kind = "failed" if attempt.problem else "succeeded"
    return AttemptRow(kind, " · ".join(words), shown(attempt.problem, MOST_MESSAGE))


def _group(group: GroupReport, rows: dict[str, TurnRow], several: bool) -> GroupRows:
    words = ["in parallel" if group.mode == "parallel" else "in sequence"]
    own = tuple(rows[turn] for turn in group.turns if turn in rows)
    if group.mode == "parallel":
        words.append(quantity_words(len(own), "agent"))
    if len(own) > 1:
        words += [quantity_words(group.usage.total_tokens, "token"), usage_words(group.usage)]
    index = group.index if several else None
    place = _place(group.phase, group.iteration, group.name, index)
    return GroupRows(group.mode, place, " · ".join(words), own)


def _place(phase: Phase, iteration: int, name: str = "", index: int | None = None) -> str:
    """`Loop, iteration 2: three auditors`. A group without a name of its own is called by its number, where
    `index` (from 0) is given: `Loop, group 2`."""
    where = PHASE_WORDS[phase]
    if iteration:
        where = f"{where}, iteration {iteration:,}"
    if name and not name.startswith(f"{phase} "):
        return shown(f"{where}: {name}", MOST_VALUE)
    return where if index is None else f"{where}, group {index + 1}"


# --- lists ----------------------------------------------------------------------------------------------


def _listed(found: Sequence[T], row: Callable[[T], Row], what: str) -> tuple[tuple[Row, ...], LeftOut]:
    return tuple(row(each) for each in found[:MOST_LISTED]), _rest(
        found, what, "All of them are in the run's journal, and in its report as JSON."
    )


def _rest(found: Sequence[object], what: str, where: str) -> LeftOut:
    more = len(found) - MOST_LISTED
    return LeftOut(f"{more:,} {what}", where) if more > 0 else NOTHING


def _conflict(conflict: ConflictReport) -> ConflictRow:
    return ConflictRow(
        shown(conflict.path, MOST_VALUE),
        _place(conflict.phase, conflict.iteration),
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


def _note(note: NoteReport, began: float, titles: dict[str, str], anchors: dict[str, str]) -> NoteRow:
    turn = note.turn if note.turn in titles else None
    return NoteRow(
        "warning" if note.warning else "note",
        "triangle-alert" if note.warning else "info",
        time_words(max(0.0, note.time - began)),
        shown(titles[turn], MOST_VALUE) if turn is not None else "",
        anchors[turn] if turn is not None else "",
        shown(note.message, MOST_MESSAGE),
    )


def _costs(report: RunReport) -> Iterable[CostTable]:
    def weight(usage: UsageReport) -> float:
        # A share of a cost that nobody knows would mislead.
        if report.usage.cost_usd and not report.usage.unpriced:
            return usage.cost_usd or 0.0
        return float(usage.total_tokens)

    whole = weight(report.usage)

    def row(name: str, turns: int, seconds: float, usage: UsageReport) -> CostRow:
        cached = usage.cache_read_tokens + usage.cache_write_tokens
        return CostRow(
            shown(name, MOST_VALUE),
            f"{turns:,}",
            time_words(seconds),
            f"{usage.input_tokens + cached:,}",
            f"{usage.output_tokens + usage.reasoning_tokens:,}",
            f"{usage.total_tokens:,}",
            usage_words(usage),
            f"{min(100.0, 100 * weight(usage) / whole):.1f}" if whole else "0",
        )

    agents = sorted(report.agents, key=lambda agent: weight(agent.usage), reverse=True)
    yield CostTable(
        "By agent",
        "Agent",
        tuple(row(each.agent, each.turns, each.seconds, each.usage) for each in agents[:MOST_LISTED]),
        _rest(agents, "agents", "All of them are in the run's report as JSON."),
    )
    places: dict[tuple[Phase, int], list[GroupReport]] = {}
    for group in report.groups:
        places.setdefault((group.phase, group.index), []).append(group)
    of_phase = Counter(phase for phase, _ in places)
    turns = {turn.id: turn for turn in report.turns}
    yield CostTable(
        "By group, all iterations",
        "Group",
        tuple(
            row(
                _place(phase, 0, groups[-1].name, number if of_phase[phase] > 1 else None),
                sum(len(group.turns) for group in groups),
                sum(turns[turn].seconds or 0.0 for group in groups for turn in group.turns if turn in turns),
                sum_of(group.usage for group in groups),
            )
            for (phase, number), groups in list(places.items())[:MOST_LISTED]
        ),
        _rest(list(places), "groups", "All of them are in the run's report as JSON."),
    )
    yield CostTable(
        "By phase and iteration",
        "Phase",
        tuple(
            row(_place(each.phase, each.iteration), each.turns, each.seconds, each.usage)
            for each in report.passes[:MOST_LISTED]
        ),
        _rest(report.passes, "iterations", "All of them are in the run's report as JSON."),
    )


def _json(value: object, most: int, where: str) -> Json:
    text = json_bytes(value)
    part, left = json_shown(text, most)
    return Json(part, size_words(len(text)), LeftOut(size_words(left), where) if left else NOTHING)
