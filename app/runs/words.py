"""What is said about recorded runs: sentences and short words a person would use."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from PySide6.QtCore import QCoreApplication, QDateTime, QLocale

from app.runs.entry import Outcome, RunEntry, Waits
from core.progress_words import cost_words, duration_words
from core.run_duration import RunDuration, run_duration_words
from core.state import MergeRule
from core.statuses import RunStatus
from core.usage import Spent

_MINUTE, _HOUR, _DAY = 60, 3600, 86400


def tr(text: str) -> str:
    """A text of this package in the user's language."""
    return QCoreApplication.translate("runs", text)


def moment_words(time: float | None) -> str:
    """A point in time as the reader's locale writes it, in short; empty where it is not known."""
    if time is None:
        return ""
    moment = QDateTime.fromSecsSinceEpoch(int(time))
    locale = QLocale()
    if locale.language() == QLocale.Language.C:
        # Nobody's own: it would write `29 11 2024`.
        return moment.toString("yyyy-MM-dd HH:mm")
    return locale.toString(moment, QLocale.FormatType.ShortFormat)


def day_words(time: float | None, now: float) -> str:
    """A point in time, in short: `today 12:04`, `yesterday 9:30`, else as `moment_words`."""
    if time is None:
        return ""
    moment = QDateTime.fromSecsSinceEpoch(int(time))
    days = moment.date().daysTo(QDateTime.fromSecsSinceEpoch(int(now)).date())
    locale = QLocale()
    plain = locale.language() == QLocale.Language.C
    clock = (
        moment.toString("HH:mm") if plain else locale.toString(moment.time(), QLocale.FormatType.ShortFormat)
    )
    match days:
        case 0:
            return tr("today {0}").format(clock)
        case 1:
            return tr("yesterday {0}").format(clock)
    return moment_words(time)


def date_words(time: float | None) -> str:
    """Every way in which one may write a day, for a search: `2024-11-29 29 November 2024 Friday`."""
    if time is None:
        return ""
    day = QDateTime.fromSecsSinceEpoch(int(time)).date()
    long = QLocale().toString(day, QLocale.FormatType.LongFormat)
    return f"{day.toString('yyyy-MM-dd')} {long} {day.toString('d MMMM yyyy')}"


def age_words(time: float | None, now: float) -> str:
    """How long ago: `just now`, `4 min ago`, `3 h ago`, `2 days ago`; empty where the clock was put back."""
    if time is None or time > now + _MINUTE:
        return ""
    seconds = now - time
    if seconds < _MINUTE:
        return tr("just now")
    if seconds < _HOUR:
        return tr("{0} min ago").format(int(seconds // _MINUTE))
    if seconds < _DAY:
        return tr("{0} h ago").format(int(seconds // _HOUR))
    days = int(seconds // _DAY)
    return tr("1 day ago") if days == 1 else tr("{0} days ago").format(days)


def ending_words(entry: RunEntry) -> str:
    """How a run ended, in a few words: `out of budget`, `vera took too long`."""
    if entry.problem:
        return tr("cannot be read")
    if entry.going_on:
        return {
            Waits.NOTHING: tr("goes on"),
            Waits.ANSWER: tr("waits for your answer"),
            Waits.PAUSED: tr("paused, waits for you"),
        }[entry.waits]
    if entry.status is None:
        return tr("cut off")
    kind, _, rest = entry.reason.partition(":")
    who = rest.partition(":")[0]
    match kind:
        case "completed":
            return tr("completed")
        case "max_loops_reached":
            return tr("all loops used up")
        case "stopped":
            return tr("stopped")
        case "budget_exceeded":
            return tr("out of budget")
        case "timeout":
            return tr("{0} took too long").format(who)
        case "group_timeout":
            return tr("the group {0} took too long").format(who)
        case "missing_state" if entry.status is RunStatus.STOPPED:
            return tr("stopped: no state update from {0}").format(who)
        case "missing_state":
            return tr("no state update from {0}").format(who)
        case "merge_conflict":
            return tr("conflict about {0}").format(rest)
        case "agent_error":
            return tr("{0} failed").format(who)
    return {
        RunStatus.COMPLETED: tr("completed"),
        RunStatus.ENDED: tr("ended"),
        RunStatus.STOPPED: tr("stopped"),
        RunStatus.FAILED: tr("failed"),
    }[entry.status]


def outcome_words(outcome: Outcome) -> str:
    """How a run stands, in a word or two, as a filter has it."""
    return {
        Outcome.GOING_ON: tr("goes on"),
        Outcome.COMPLETED: tr("completed"),
        Outcome.LIMIT: tr("limit reached"),
        Outcome.FAILED: tr("failed"),
        Outcome.STOPPED: tr("stopped"),
        Outcome.CUT_OFF: tr("cut off"),
        Outcome.UNREADABLE: tr("cannot be read"),
    }[outcome]


def agents_words(entry: RunEntry) -> str:
    """Who worked, with their number where there are several: `3: vera, linter, amala`."""
    names = ", ".join(entry.agents)
    return f"{len(entry.agents)}: {names}" if len(entry.agents) > 1 else names


def all_agents_words(entry: RunEntry) -> str:
    """Who worked, in a sentence's words: `3 agents: vera, linter, amala`."""
    names = ", ".join(entry.agents)
    if len(entry.agents) < 2:
        return tr("agent: {0}").format(names) if names else ""
    return tr("{0} agents: {1}").format(f"{len(entry.agents):,}", names)


def size_words(count: int) -> str:
    """A number of bytes as the reader's locale writes it."""
    return QLocale().formattedDataSize(count, 1, QLocale.DataSizeFormat.DataSizeTraditionalFormat)


def runs_words(count: int) -> str:
    """A number of runs."""
    return tr("1 run") if count == 1 else tr("{0} runs").format(f"{count:,}")


def turns_words(count: int) -> str:
    """How many turns are done."""
    if count == 0:
        return tr("no turn done")
    return tr("1 turn done") if count == 1 else tr("{0} turns done").format(f"{count:,}")


def spent_words(entry: RunEntry) -> str:
    """What was spent: money, or tokens where no price is known; empty while nothing was."""
    cost = cost_words(entry.spent)
    tokens = entry.spent.usage.total_tokens
    if entry.spent.usage.cost_usd is None and tokens:
        words = tr("{0} tokens").format(f"{tokens:,}")
        return tr("{0} tokens, {1}").format(f"{tokens:,}", cost) if cost else words
    return cost


def came_to_words(entry: RunEntry) -> str:
    """What came of a run: how it ended, what is done, what was spent."""
    if entry.problem:
        return ""
    took = run_duration_words(RunDuration(entry.seconds, entry.waited)) if entry.seconds else ""
    parts = (ending_words(entry), took, turns_words(entry.done_turns), spent_words(entry))
    return " · ".join(part for part in parts if part)


def sum_words(entries: Sequence[RunEntry]) -> str:
    """What several runs came to: `2 completed · 1 failed · 42:00 in all · $1.20`."""
    counts = Counter(entry.outcome for entry in entries)
    parts = [f"{counts[outcome]:,} {outcome_words(outcome)}" for outcome in Outcome if counts[outcome]]
    parts.append(tr("{0} in all").format(duration_words(sum(entry.seconds for entry in entries))))
    spent = Spent()
    for entry in entries:
        spent = spent.plus(entry.spent)
    parts.append(cost_words(spent))
    tokens = spent.usage.total_tokens
    parts.append(tr("{0} tokens").format(f"{tokens:,}") if tokens else "")
    return " · ".join(part for part in parts if part)


def fact_words(entry: RunEntry) -> str:
    """One line about a run: what came of it, and where it would go on or why it cannot."""
    if entry.problem:
        return entry.problem
    then = "" if entry.outcome is Outcome.COMPLETED else entry.obstacle
    if entry.resumable and entry.next_place:
        then = tr("goes on at {0}").format(entry.next_place)
    return " · ".join(part for part in (came_to_words(entry), then) if part)


def title_words(entry: RunEntry) -> str:
    """The name of a run: its workflow, else its folder."""
    return entry.workflow or entry.run_id


def rule_words(rule: MergeRule) -> str:
    """A merge rule as a choice."""
    return {
        MergeRule.LAST: tr("the last listed"),
        MergeRule.FIRST: tr("the first listed"),
        MergeRule.APPEND: tr("all, one list after the other"),
        MergeRule.UNION: tr("all, each once"),
        MergeRule.SUM: tr("the sum"),
        MergeRule.MAX: tr("the largest"),
        MergeRule.MIN: tr("the smallest"),
        MergeRule.ALL: tr("true if all say so"),
        MergeRule.ANY: tr("true if any says so"),
        MergeRule.ERROR: tr("none: end the run"),
    }[rule]
