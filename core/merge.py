"""How a group's updates become the next state: rules, paths and conflicts.

Updates are applied in the order in which the group lists its agents. What stands in the state is copied only
along the paths that somebody writes to; everything else is shared, so a merge costs what the updates weigh,
not what the state weighs. Nothing here changes its inputs, and no depth of JSON can exhaust the stack.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import orjson

from core.json_types import JsonObject, JsonValue
from core.json_values import is_heavier, same_json
from core.merge_rules import RULES_BY_FIELD
from core.state import Conflict, Contribution, MergeResult, MergeRule, WorkflowState
from core.state_path import format_path, parse_path

MOST_TOLD = 64 * 1024
"""Characters of a value that a conflict repeats; of a larger one it tells the kind."""
_SHOWN_OF_TEXT = 1_000

_INHERITED = frozenset({MergeRule.LAST, MergeRule.FIRST, MergeRule.ERROR})
_LARGEST_INTEGER = 2**63 - 1
"""Larger whole numbers cannot be written as JSON by orjson."""


class _Absent:
    """The type of `_ABSENT`: there is no value at a path, which is not the same as null."""


_ABSENT = _Absent()


# --- the merge ----------------------------------------------------------------------------------------


@dataclass(slots=True)
class _RuleNode:
    """The rules at and below one path, as a tree."""

    rule: MergeRule | None = None
    below: dict[str, _RuleNode] = field(default_factory=dict)


def _rule_tree(rules: Mapping[str, MergeRule]) -> _RuleNode:
    root = _RuleNode()
    for text, rule in rules.items():
        path = parse_path(text)
        if len(path) == 1 and rule not in RULES_BY_FIELD.get(path[0], _INHERITED):
            continue
        node = root
        for key in path:
            node = node.below.setdefault(key, _RuleNode())
        node.rule = MergeRule(rule)
    return root


@dataclass(frozen=True, slots=True)
class _Write:
    """One update's value at the path being looked at."""

    writer: str
    value: JsonValue


@dataclass(frozen=True, slots=True)
class _Place:
    """One path still to be merged: its new value goes to `target[keys[-1]]`."""

    target: JsonObject
    keys: _Keys
    old: JsonValue | _Absent
    writes: Sequence[_Write]
    rules: _RuleNode | None
    inherited: MergeRule


@dataclass(frozen=True, slots=True)
class _Keys:
    """A path as a chain to its parent: cheap to extend, spelled out only for a conflict."""

    key: str
    parent: _Keys | None = None

    def path(self) -> str:
        keys: list[str] = []
        link: _Keys | None = self
        while link is not None:
            keys.append(link.key)
            link = link.parent
        return format_path(reversed(keys))


def merge_updates(
    state: WorkflowState,
    contributions: Sequence[Contribution],
    rules: Mapping[str, MergeRule],
) -> MergeResult:
    """The next state after a group's updates, in the order of `contributions`, and every conflict on the way.

    Objects are merged deeply. Anything else at a path is decided by the rule of that path:

    - `last` (without a rule) and `first`: the value of the last or first update that wrote. An object against
      something else is decided as a whole. These two and `error` also hold for everything below their path,
      until a deeper rule.
    - `error`: like `last`, and `error_path` names the first such conflict, so that the run can end.
    - `append`: what was there, then every update's list, in order. `union`: the same without what is already
      there. A value that is not a list counts as a list of one, null as an empty list.
    - `sum`, `max`, `min`: of the numbers that this group's updates wrote. What was there does not count: a
      `min` of scores would otherwise never rise again. True and false are not numbers.
    - `all`, `any`: of the true and false that this group's updates wrote. An update that says nothing does
      not vote.

    Where a rule does not fit a value (`sum` of a text), `last` decides. Two updates that write different
    values to one path are a conflict whatever the rule; with several writers, each is compared with the one
    before it. Equal values, and writing over what the state held before, are none. `current_phase`,
    `iteration` and `meta` stay as they are. A value of more than `MOST_TOLD` characters is recorded by its
    kind.

    The result shares objects with the state and the updates: none of them may be changed afterwards. Raises
    ValueError for a rule whose path cannot be read (`merge_rule_problem` finds those before a run).
    """
    tree = _rule_tree(rules)
    conflicts: list[Conflict] = []
    merged: JsonObject = {}
    places = [
        _Place(merged, _Keys(name), old, writes, tree.below.get(name), MergeRule.LAST)
        for name, old, writes in (
            ("payload", state.payload, _writes(contributions, "payload")),
            ("termination_reason", state.termination_reason, _writes(contributions, "termination_reason")),
            ("is_complete", state.is_complete, _writes(contributions, "is_complete")),
        )
        if writes
    ]
    while places:
        # A stack, not recursion: no depth of JSON may blow the interpreter's limit.
        _merge_place(places.pop(), places, conflicts)
    is_complete = merged.get("is_complete", state.is_complete)
    reason = merged.get("termination_reason", state.termination_reason)
    payload = merged.get("payload", state.payload)
    return MergeResult(
        replace(
            state,
            is_complete=is_complete is True,
            termination_reason=reason if isinstance(reason, str) else None,
            payload=payload if isinstance(payload, dict) else state.payload,
        ),
        tuple(conflicts),
        next((conflict.path for conflict in conflicts if conflict.rule is MergeRule.ERROR), None),
    )


def _writes(contributions: Sequence[Contribution], name: str) -> list[_Write]:
    writes: list[_Write] = []
    for contribution in contributions:
        value: JsonValue = getattr(contribution.update, name)
        if value is not None:
            writes.append(_Write(contribution.writer, value))
    return writes


def _merge_place(place: _Place, places: list[_Place], conflicts: list[Conflict]) -> None:
    """Decide one path; objects put the paths below them on `places`."""
    rule = place.rules.rule if place.rules is not None and place.rules.rule else place.inherited
    combined = _combine(rule, place.old, [write.value for write in place.writes])
    key = place.keys.key
    if not isinstance(combined, _Absent):
        place.target[key] = combined
        _record(place, rule, combined, conflicts)
        return
    inherited = rule if rule in _INHERITED else place.inherited
    runs = _runs(place.writes)
    chosen = runs[0] if rule is MergeRule.FIRST else runs[-1]
    below: list[_Place] = []
    for run in runs:
        value = run[-1].value
        if isinstance(value, dict):
            value = _open_object(place, run, inherited, below, first=run is runs[0])
        if run is chosen:
            place.target[key] = value
    if len(place.writes) > 1:
        _record(place, rule, place.target[key], conflicts)
    places.extend(reversed(below))


def _runs(writes: Sequence[_Write]) -> list[list[_Write]]:
    """The writes, with neighbouring objects together: those are merged, everything else stands alone."""
    runs: list[list[_Write]] = []
    for write in writes:
        if runs and isinstance(write.value, dict) and isinstance(runs[-1][-1].value, dict):
            runs[-1].append(write)
        else:
            runs.append([write])
    return runs


def _open_object(
    place: _Place, run: list[_Write], inherited: MergeRule, below: list[_Place], *, first: bool
) -> JsonValue:
    """The object that a run of objects is merged into; what is inside them goes to `below`.

    Only the first run meets what stood in the state: after a value that is no object, it is gone.
    """
    old = place.old if first and isinstance(place.old, dict) else None
    if old is None and len(run) == 1 and place.rules is None:
        return run[0].value
    written: dict[str, list[_Write]] = {}
    for write in run:
        if isinstance(write.value, dict):
            for key, value in write.value.items():
                written.setdefault(key, []).append(_Write(write.writer, value))
    merged: JsonObject = {} if old is None else old.copy()
    for key, writes in written.items():
        # Takes its place in the order of keys now; its value comes when its turn comes.
        merged.setdefault(key, None)
        before: JsonValue | _Absent = _ABSENT if old is None else old.get(key, _ABSENT)
        rules = place.rules.below.get(key) if place.rules is not None else None
        below.append(_Place(merged, _Keys(key, place.keys), before, writes, rules, inherited))
    return merged


def _record(place: _Place, rule: MergeRule, outcome: JsonValue, conflicts: list[Conflict]) -> None:
    """Record neighbouring writers who disagree. Two objects only disagree if a rule takes them whole."""
    whole = rule not in _INHERITED and isinstance(outcome, list)
    told: JsonValue | _Absent = _ABSENT
    path = ""
    for first, second in zip(place.writes, place.writes[1:], strict=False):
        both_objects = isinstance(first.value, dict) and isinstance(second.value, dict)
        if (both_objects and not whole) or same_json(first.value, second.value):
            continue
        if isinstance(told, _Absent):
            told, path = _as_told(outcome), place.keys.path()
        conflicts.append(
            Conflict(
                path, rule, first.writer, _as_told(first.value), second.writer, _as_told(second.value), told
            )
        )


def _as_told(value: JsonValue) -> JsonValue:
    """A value as it is recorded: a large one by its kind and its beginning.

    Each of many writers is told with the outcome, so whole lists would add up to the square of their sizes.
    """
    if isinstance(value, str):
        if len(value) <= MOST_TOLD:
            return value
        return f"{value[:_SHOWN_OF_TEXT]}… [{len(value):,} characters]"
    if not isinstance(value, (dict, list)) or not is_heavier(value, MOST_TOLD):
        return value
    return (
        f"[a list of {len(value):,} items]"
        if isinstance(value, list)
        else f"[an object of {len(value):,} keys]"
    )


# --- rules that combine -------------------------------------------------------------------------------


def _combine(rule: MergeRule, old: JsonValue | _Absent, values: list[JsonValue]) -> JsonValue | _Absent:
    """What a combining rule makes of the values, or `_ABSENT` where it does not fit them."""
    if rule is MergeRule.APPEND or rule is MergeRule.UNION:
        lists = [_as_list(value) for value in (old, *values)]
        items = [item for part in lists for item in part]
        return items if rule is MergeRule.APPEND else _without_duplicates(items)
    if rule is MergeRule.ALL or rule is MergeRule.ANY:
        votes = [value for value in values if isinstance(value, bool)]
        if len(votes) != len(values):
            return _ABSENT
        return all(votes) if rule is MergeRule.ALL else any(votes)
    if rule is MergeRule.SUM or rule is MergeRule.MAX or rule is MergeRule.MIN:
        numbers = [v for v in values if isinstance(v, (int, float)) and not isinstance(v, bool)]
        if len(numbers) != len(values):
            return _ABSENT
        if rule is MergeRule.SUM:
            return _sum(numbers)
        return max(numbers) if rule is MergeRule.MAX else min(numbers)
    return _ABSENT


def _sum(numbers: list[int | float]) -> int | float | _Absent:
    try:
        total = sum(numbers)
    except OverflowError:
        return _ABSENT
    if isinstance(total, int) and abs(total) > _LARGEST_INTEGER:
        return float(total)
    return total if math.isfinite(total) else _ABSENT


def _as_list(value: JsonValue | _Absent) -> list[JsonValue]:
    if isinstance(value, list):
        return value
    return [] if value is None or isinstance(value, _Absent) else [value]


def _without_duplicates(items: list[JsonValue]) -> list[JsonValue]:
    """The items in order, each once. What cannot be written as JSON (too deep) is compared one by one."""
    seen: set[object] = set()
    odd: list[JsonValue] = []
    kept: list[JsonValue] = []
    for item in items:
        try:
            identity = _identity(item)
        except orjson.JSONEncodeError:
            if any(same_json(item, other) for other in odd):
                continue
            odd.append(item)
        else:
            if identity in seen:
                continue
            seen.add(identity)
        kept.append(item)
    return kept


def _identity(item: JsonValue) -> object:
    """Something hashable that is equal for equal values. Numbers are equal by value, and true is not 1."""
    if isinstance(item, bool) or item is None:
        return (item,)
    if isinstance(item, (int, float, str)):
        return item
    return orjson.dumps(item, option=orjson.OPT_SORT_KEYS)
