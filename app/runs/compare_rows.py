"""What a comparison of two runs says, row by row: both sides, and what the second has more or less."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from app.reading_text import harmless
from app.runs.entry import Outcome
from app.runs.words import moment_words, outcome_words, tr
from core.compare_runs import Difference, DifferenceKind, Differences, RunComparison
from core.json_types import JsonValue
from core.progress_words import dollar_words, duration_words, whole_seconds
from core.report_model import AgentCost, RunReport, UsageReport

_OUTCOMES = {
    "completed": Outcome.COMPLETED,
    "ended": Outcome.LIMIT,
    "stopped": Outcome.STOPPED,
    "failed": Outcome.FAILED,
    "cut_off": Outcome.CUT_OFF,
    "going_on": Outcome.GOING_ON,
}
_PERCENT_FROM = 10
"""Seconds; of less, percents would be about what is rounded away."""
_SHORT = 160
"""Characters of a value in a row; the pane below has more of it."""


@dataclass(frozen=True, slots=True)
class CompareRow:
    """One row: what it is about, both sides, and how they differ (in words; empty: not at all)."""

    name: str
    first: str
    second: str
    change: str = ""
    differs: bool = False
    of: str = ""
    """The agent whose row it is; empty: of the run as a whole, or the head of an agent's rows."""
    is_head: bool = False
    """Rows of an agent follow."""


@dataclass(frozen=True, slots=True)
class ShownComparison:
    """Two runs with the rows that are shown of them, in the order of `RESULT`, `STATE`, `WORKFLOW`."""

    both: RunComparison
    rows: tuple[Sequence[CompareRow], ...]


RESULT, STATE, WORKFLOW = range(3)


def shown(both: RunComparison) -> ShownComparison:
    """What is shown of two runs. There may be many thousand rows: for a worker."""
    return ShownComparison(
        both,
        (
            result_rows(both),
            [difference_row(each) for each in items_of(both.state)],
            [difference_row(each) for each in items_of(both.workflow)],
        ),
    )


def items_of(found: Differences | None) -> Sequence[Difference]:
    """The differences, if anything is known of them."""
    return found.items if found is not None else ()


def outcome_of(report: RunReport) -> Outcome:
    """How a run stands."""
    return _OUTCOMES[report.outcome]


def result_rows(both: RunComparison) -> list[CompareRow]:
    """What the runs came to: outcome, time, cost, and all of it by agent."""
    first, second = both.first, both.second
    rows = [
        _words(tr("Workflow"), first.workflow, second.workflow),
        _words(tr("Outcome"), outcome_words(outcome_of(first)), outcome_words(outcome_of(second))),
        _words(tr("How it ended"), first.message, second.message),
        CompareRow(tr("Started"), moment_words(first.started), moment_words(second.started)),
        _time(tr("Time it took"), first.times.wall_seconds, second.times.wall_seconds),
        *_waited(first.times.waited_seconds, second.times.waited_seconds),
        _time(tr("Work of all agents"), first.times.work_seconds, second.times.work_seconds),
        _number(tr("Iterations"), first.iterations, second.iterations),
        _number(tr("Turns"), len(first.turns), len(second.turns)),
        _number(tr("Failed turns"), _failed(first), _failed(second)),
        _number(tr("Tries again"), _retries(first), _retries(second)),
        _number(tr("Corrections"), _corrections(first), _corrections(second)),
        _number(tr("Conflicts"), len(first.conflicts), len(second.conflicts)),
        _cost(tr("Cost"), first.usage, second.usage),
        _number(tr("Tokens"), first.usage.total_tokens, second.usage.total_tokens),
    ]
    for pair in both.agents:
        rows += _agent(pair.agent, pair.first, pair.second)
    return rows


def _waited(first: float, second: float) -> list[CompareRow]:
    """What of the time one of them waited for its user; nothing where neither did."""
    return [_time(tr("Of it waiting for you"), first, second)] if max(first, second) >= 1 else []


def _agent(name: str, first: AgentCost | None, second: AgentCost | None) -> list[CompareRow]:
    one, other = first or _nobody(name), second or _nobody(name)
    parts: tuple[CompareRow, ...] = (
        _number(tr("Turns"), one.turns, other.turns),
        _time(tr("Work"), one.seconds, other.seconds),
        _cost(tr("Cost"), one.usage, other.usage),
        _number(tr("Tokens"), one.usage.total_tokens, other.usage.total_tokens),
    )
    absent = tr("did not work")
    head = CompareRow(
        tr("Agent {0}").format(name),
        absent if first is None else "",
        absent if second is None else "",
        differs=(first is None) != (second is None) or any(part.differs for part in parts),
        is_head=True,
    )
    if first is None:
        parts = tuple(replace(part, first="") for part in parts)
    if second is None:
        parts = tuple(replace(part, second="") for part in parts)
    return [head, *(replace(part, of=name) for part in parts)]


def _nobody(name: str) -> AgentCost:
    return AgentCost(name, 0, 0.0, UsageReport(cost_usd=0.0))


def _failed(report: RunReport) -> int:
    return sum(turn.status == "failed" for turn in report.turns)


def _retries(report: RunReport) -> int:
    return sum(turn.retries for turn in report.turns)


def _corrections(report: RunReport) -> int:
    return sum(turn.corrections for turn in report.turns)


def _words(name: str, first: str, second: str) -> CompareRow:
    return CompareRow(name, first, second, differs=first != second)


def _number(name: str, first: int, second: int) -> CompareRow:
    change = f"{second - first:+,}".replace("-", "−") if first != second else ""
    return CompareRow(name, f"{first:,}", f"{second:,}", change, first != second)


def _time(name: str, first: float, second: float) -> CompareRow:
    change = ""
    # Of what is shown, which is rounded: so that who reckons comes to the same.
    one, other = whole_seconds(first), whole_seconds(second)
    by = other - one
    if by:
        percent = _percent(first, second) if min(one, other) >= _PERCENT_FROM else ""
        change = f"{'+' if by > 0 else '−'}{duration_words(abs(by))}{percent}"
    return CompareRow(name, duration_words(first), duration_words(second), change, bool(by))


def _cost(name: str, first: UsageReport, second: UsageReport) -> CompareRow:
    change = ""
    if first.cost_usd is not None and second.cost_usd is not None:
        by = second.cost_usd - first.cost_usd
        if abs(by) >= 0.000_001:
            change = f"{'+' if by > 0 else '−'}{dollar_words(abs(by))}"
            change += _percent(first.cost_usd, second.cost_usd)
    one, other = money_words(first), money_words(second)
    return CompareRow(name, one, other, change, one != other or bool(change))


def _percent(first: float, second: float) -> str:
    """` (+50 %)`; empty where it would say nothing."""
    if first <= 0 or second <= 0:
        return ""
    percent = round((second / first - 1) * 100)
    return f" ({percent:+d} %)".replace("-", "−") if percent and abs(percent) < 1000 else ""


def money_words(usage: UsageReport) -> str:
    """What was spent; never as nothing where the price is not known."""
    if usage.cost_usd is None:
        return tr("price unknown") if usage.unpriced else ""
    words = dollar_words(usage.cost_usd)
    return tr("{0} + unknown").format(words) if usage.unpriced else words


# --- values -----------------------------------------------------------------------------------------------


def kind_words(kind: DifferenceKind) -> str:
    """How two values differ, in a word or two."""
    return {
        DifferenceKind.ONLY_FIRST: tr("only in A"),
        DifferenceKind.ONLY_SECOND: tr("only in B"),
        DifferenceKind.CHANGED: tr("differs"),
    }[kind]


def difference_row(difference: Difference) -> CompareRow:
    """One place where two states or workflows differ."""
    first = "" if difference.kind is DifferenceKind.ONLY_SECOND else short_value(difference.first)
    second = "" if difference.kind is DifferenceKind.ONLY_FIRST else short_value(difference.second)
    return CompareRow(
        harmless(difference.path[:_SHORT]) or tr("(all of it)"),
        first,
        second,
        kind_words(difference.kind),
        differs=True,
    )


def short_value(value: JsonValue) -> str:
    """A JSON value in a row: text as it is, objects and lists by what they hold."""
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case str():
            return harmless(value[:_SHORT]).replace("\n", " ⏎ ") or '""'
        case dict():
            keys = ", ".join(str(key) for key in list(value)[:6])
            inner = keys[:_SHORT] + (", …" if len(value) > 6 else "")
            return harmless(f"{{ {inner} }}" if value else "{}")
        case list():
            return tr("1 entry") if len(value) == 1 else tr("{0} entries").format(f"{len(value):,}")
        case _:
            return str(value)
