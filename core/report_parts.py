"""The parts of a report's page, as words and numbers, and how they are said. All of them are bounded."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from core.events import TurnStatus
from core.progress_words import dollar_words, duration_words, phase_title
from core.report_model import RunReport, UsageReport
from core.report_text import json_bytes, json_shown, shown, size_words
from core.report_tree import Node
from core.state import Phase
from core.words import say

MOST_ANSWERS = 2_000_000
"""Bytes of all turns' answers on the page; those of a state, a workflow, a text below."""
MOST_JSON = 400_000
MOST_DETAIL = 20_000
MOST_MESSAGE = 2_000
MOST_VALUE = 300
MOST_LISTED = 500
"""Failures, conflicts, notes."""
MOST_TURNS = 5_000

STATUS_ICONS: dict[TurnStatus, str] = {
    TurnStatus.WAITING: "circle-dashed",
    TurnStatus.RUNNING: "loader-circle",
    TurnStatus.SUCCEEDED: "circle-check",
    TurnStatus.FAILED: "circle-alert",
    TurnStatus.STOPPED: "circle-stop",
}


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
    digest_kind: str
    """As `kind`; `failed` also where an attempt failed and nothing better came."""
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
    turns_left: LeftOut
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
    """By turn id: its name on the page; of those that are on it."""
    return {turn.id: f"t{number}" for number, turn in enumerate(report.turns[:MOST_TURNS], 1)}


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
        return say("price unknown") if usage.unpriced else "–"
    return (
        say("{cost} + unknown", cost=dollar_words(usage.cost_usd))
        if usage.unpriced
        else dollar_words(usage.cost_usd)
    )


def place_words(phase: Phase, iteration: int, name: str = "", index: int | None = None) -> str:
    """`Loop, iteration 2: three auditors`. A group without a name of its own is called by its number, where
    `index` (from 0) is given: `Loop, group 2`."""
    where = phase_title(phase)
    if iteration:
        where = say("{phase}, iteration {number:,}", phase=where, number=iteration)
    if name and not name.startswith(f"{phase} "):
        return shown(f"{where}: {name}", MOST_VALUE)
    return where if index is None else say("{place}, group {number}", place=where, number=index + 1)


def left_out(count: int, what: Callable[[int], str], where: str) -> LeftOut:
    """So much is not on the page; NOTHING where all of it is. `what`: so many, in words; `where` all of them
    are, in a sentence."""
    return LeftOut(what(count), where) if count > 0 else NOTHING


def rest_of(found: Sequence[object], what: Callable[[int], str], where: str) -> LeftOut:
    """What of a list is beyond MOST_LISTED, as `left_out` says it."""
    return left_out(len(found) - MOST_LISTED, what, where)


def all_in_json() -> str:
    """Where all of a list is."""
    return say("All of them are in the run's report as JSON.")


def status_word(status: TurnStatus) -> str:
    """What a turn is doing or came to, as the page says it and finds it."""
    match status:
        case TurnStatus.WAITING:
            return say("waiting")
        case TurnStatus.RUNNING:
            return say("running")
        case TurnStatus.SUCCEEDED:
            return say("succeeded")
        case TurnStatus.FAILED:
            return say("failed")
        case TurnStatus.STOPPED:
            return say("stopped")


def json_part(value: object, most: int, where: str) -> Json:
    """The first `most` bytes of a value as JSON; `where` all of it is, in a sentence."""
    text = json_bytes(value)
    part, left = json_shown(text, most)
    return Json(part, size_words(len(text)), left_out(left, size_words, where))
