"""What may be changed when a run goes on, what has to be, and what that comes to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum

from app.runs.entry import RunEntry, RunLimits
from app.runs.words import tr
from core.planning import RunOverrides
from core.progress_words import dollar_words
from core.state import MergeRule


class Limit(StrEnum):
    """What a resumed run may have otherwise; the values are the names in `RunLimits` and `RunOverrides`."""

    MAX_LOOPS = "max_loops"
    MAX_COST = "max_cost_usd"
    MAX_COST_OF_GROUP = "max_cost_usd_per_group"
    MAX_TOKENS = "max_tokens"
    AGENT_TIMEOUT = "agent_timeout"
    GROUP_TIMEOUT = "group_timeout"
    RETRIES = "retries"
    MERGE_RULE = "merge_rule"


CAPS = (Limit.MAX_COST, Limit.MAX_COST_OF_GROUP, Limit.MAX_TOKENS)
_ENDED_BY: Mapping[str, Limit] = {
    "max_loops_reached": Limit.MAX_LOOPS,
    **{f"budget_exceeded:{cap.value}": cap for cap in CAPS},
}


def ended_by(entry: RunEntry) -> Limit | None:
    """The limit that ended the run; None: something else did."""
    if entry.reason in _ENDED_BY:
        return _ENDED_BY[entry.reason]
    kind = entry.reason.partition(":")[0]
    return {
        "timeout": Limit.AGENT_TIMEOUT,
        "group_timeout": Limit.GROUP_TIMEOUT,
        "merge_conflict": Limit.MERGE_RULE,
    }.get(kind)


def conflicting_path(entry: RunEntry) -> str:
    """The path that two agents wrote different values to, when that ended the run; else empty."""
    kind, _, path = entry.reason.partition(":")
    return path if kind == "merge_conflict" else ""


@dataclass(frozen=True, slots=True)
class Wishes:
    """The limits with which a run shall go on, and the rule of the path in conflict (None: none yet)."""

    limits: RunLimits
    merge_rule: MergeRule | None = None

    @classmethod
    def proposed(cls, entry: RunEntry) -> Wishes:
        """The run's own limits; more loops when it used all of them. More money is never proposed."""
        limits = entry.limits
        if ended_by(entry) is Limit.MAX_LOOPS:
            most = max(limits.max_loops, entry.iteration)
            limits = replace(limits, max_loops=most + (most + 1) // 2)
        return cls(limits)

    def value(self, limit: Limit) -> object:
        """The wish about one limit."""
        return self.merge_rule if limit is Limit.MERGE_RULE else getattr(self.limits, limit.value)

    def wish(self, limit: Limit, value: object) -> Wishes:
        """These wishes with another value for one limit."""
        if limit is Limit.MERGE_RULE:
            return replace(self, merge_rule=value if isinstance(value, MergeRule) else None)
        changed = replace(self.limits, **{limit.value: value})  # type: ignore[arg-type]  # a field's own kind
        return replace(self, limits=changed)

    def overrides(self, entry: RunEntry) -> RunOverrides:
        """What is said to the run: only what differs from what it had."""
        changed = {
            limit.value: self.value(limit)
            for limit in Limit
            if limit is not Limit.MERGE_RULE and self.value(limit) != getattr(entry.limits, limit.value)
        }
        path = conflicting_path(entry)
        rules = {path: self.merge_rule} if path and self.merge_rule is not None else {}
        return RunOverrides(**changed, merge=rules)  # type: ignore[arg-type]  # the names are the same


def objection(entry: RunEntry, wishes: Wishes) -> str:
    """Why the run cannot go on like this, and what to change; empty: it can."""
    if entry.going_on:
        return tr("This run goes on in another window or terminal.")
    if entry.problem or entry.obstacle:
        return entry.problem or entry.obstacle
    limits = wishes.limits
    if limits.max_loops < max(1, entry.iteration):
        return tr("The run is in iteration {0} already: it needs at least as many loops.").format(
            entry.iteration
        )
    by = ended_by(entry)
    if by is Limit.MAX_LOOPS and limits.max_loops <= max(entry.iteration, entry.limits.max_loops):
        return tr("All {0} loops are used up. Allow more of them.").format(entry.limits.max_loops)
    if by is Limit.MERGE_RULE and wishes.merge_rule in (None, MergeRule.ERROR):
        return tr("Choose which value of {0} counts; else the run would end there again.").format(
            conflicting_path(entry)
        )
    for cap in CAPS:
        reached = _reached(entry, cap, wishes.value(cap), is_reason=cap is by)
        if reached:
            return reached
    return ""


def _reached(entry: RunEntry, cap: Limit, value: object, *, is_reason: bool) -> str:
    """Why a cap would end the run at once; a group's money counts only where it ended the run."""
    if not isinstance(value, int | float):
        return ""
    if cap is Limit.MAX_TOKENS:
        used = entry.spent.usage.total_tokens
        words = tr("{0} tokens are used already. Allow more to go on.")
        return words.format(f"{used:,}") if used >= value else ""
    if cap is Limit.MAX_COST_OF_GROUP:
        cost = entry.group_spent.usage.cost_usd if is_reason else None
        words = tr("The group has cost {0} already. Allow more to go on.")
    else:
        cost = entry.spent.usage.cost_usd
        words = tr("The run has cost {0} already. Allow more to go on.")
    return words.format(dollar_words(cost)) if cost is not None and cost >= value else ""
