"""The columns of the list of runs: what stands in them, and by what they are sorted."""

from __future__ import annotations

from enum import IntEnum

from app.runs.entry import Outcome, RunEntry
from app.runs.words import agents_words, day_words, ending_words, moment_words, title_words, tr
from core.progress_words import cost_words, duration_words

SortKey = tuple[float | str, ...]


class Column(IntEnum):
    """From left to right."""

    WORKFLOW = 0
    OUTCOME = 1
    STARTED = 2
    DURATION = 3
    COST = 4
    TOKENS = 5
    AGENTS = 6


NUMBERS = frozenset({Column.DURATION, Column.COST, Column.TOKENS})
"""Aligned right, with digits of one width."""
_OUTCOMES = list(Outcome)
_LONG_AGO = 1_733_000_000.0
"""A moment with two digits for everything."""


def heading(column: Column) -> str:
    """What stands over a column."""
    return {
        Column.WORKFLOW: tr("Workflow"),
        Column.OUTCOME: tr("Outcome"),
        Column.STARTED: tr("Started"),
        Column.DURATION: tr("Duration"),
        Column.COST: tr("Cost"),
        Column.TOKENS: tr("Tokens"),
        Column.AGENTS: tr("Agents"),
    }[column]


def sample(column: Column) -> str:
    """About the widest that usually stands in a column, for its width."""
    return {
        Column.WORKFLOW: "security audit, weekly",
        Column.OUTCOME: tr("no state update from {0}").format("security"),
        Column.STARTED: max(tr("yesterday {0}").format("12:04"), moment_words(_LONG_AGO), key=len),
        Column.DURATION: "1:00:00",
        Column.COST: "$100.00",
        Column.TOKENS: "10,000,000",
        Column.AGENTS: "3: security, linter",
    }[column]


def short_sample(column: Column) -> str:
    """What a column has at least room for; words are cut then."""
    return {
        Column.WORKFLOW: "security au…",
        Column.OUTCOME: tr("all loops used up"),
        Column.AGENTS: "3: security",
    }.get(column) or sample(column)


def cell(column: Column, entry: RunEntry, now: float) -> str:
    """What stands in a column for a run."""
    match column:
        case Column.WORKFLOW:
            return title_words(entry)
        case Column.OUTCOME:
            return ending_words(entry)
        case Column.STARTED:
            return day_words(entry.started, now)
    if entry.problem:
        return ""
    match column:
        case Column.DURATION:
            return duration_words(entry.seconds)
        case Column.COST:
            return cost_words(entry.spent)
        case Column.TOKENS:
            tokens = entry.spent.usage.total_tokens
            return f"{tokens:,}" if tokens else ""
        case Column.AGENTS:
            return agents_words(entry)


def sort_key(column: Column, entry: RunEntry) -> SortKey:
    """What a column is sorted by; of the same by age. What is not known is least."""
    own: tuple[float | str, ...]
    match column:
        case Column.WORKFLOW:
            own = (title_words(entry).casefold(),)
        case Column.OUTCOME:
            own = (float(_OUTCOMES.index(entry.outcome)), ending_words(entry))
        case Column.STARTED:
            # Names of runs begin with the time, also of those that cannot be read.
            own = ()
        case Column.DURATION:
            own = (-1.0 if entry.problem else entry.seconds,)
        case Column.COST:
            cost = entry.spent.usage.cost_usd
            own = (-1.0 if cost is None else cost,)
        case Column.TOKENS:
            own = (float(entry.spent.usage.total_tokens),)
        case Column.AGENTS:
            own = (float(len(entry.agents)), *entry.agents)
    return (*own, entry.run_id)
