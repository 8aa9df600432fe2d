"""Two runs side by side: what each came to, and where their last states and their workflows differ. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher
from enum import StrEnum

import orjson

from core.json_types import JsonValue
from core.json_values import same_json
from core.problems import UserFileError
from core.report_model import AgentCost, RunReport
from core.state_path import format_path
from core.workflow_file import parse_workflow

MOST = 10_000
"""Differences that are told; who has more of them has two different things."""
_MOST_ALIGNED = 500
"""Entries of lists that are brought in line with each other; of longer ones the order does not count."""


class DifferenceKind(StrEnum):
    """How two values at one path differ."""

    ONLY_FIRST = "only_first"
    ONLY_SECOND = "only_second"
    CHANGED = "changed"


@dataclass(frozen=True, slots=True)
class Difference:
    """One place where two values differ. A value that is only in one is told whole, at its uppermost path.

    `path` as in `core.state_path`, with `[3]` for an entry of a list: by its number in the one that has it,
    in the first where both do.
    """

    path: str
    kind: DifferenceKind
    first: JsonValue = None
    second: JsonValue = None


@dataclass(frozen=True, slots=True)
class Differences:
    """All of two values. `cut`: there are more than `MOST`."""

    items: tuple[Difference, ...] = ()
    cut: bool = False


@dataclass(frozen=True, slots=True)
class AgentPair:
    """What one agent used in either run; None: it did not work there."""

    agent: str
    first: AgentCost | None
    second: AgentCost | None


@dataclass(frozen=True, slots=True)
class RunComparison:
    """Two runs. `state` and `workflow` None: one of them is not known, so nothing can be said."""

    first: RunReport
    second: RunReport
    agents: tuple[AgentPair, ...]
    state: Differences | None
    workflow: Differences | None


def compare_runs(first: RunReport, second: RunReport) -> RunComparison:
    """Hold two runs against each other. Takes what their states weigh; for a worker."""
    state = workflow = None
    if first.state is not None and second.state is not None:
        state = differences(_shared(first.state.state), _shared(second.state.state))
    if first.workflow_file is not None and second.workflow_file is not None:
        workflow = differences(_in_full(first.workflow_file), _in_full(second.workflow_file))
    return RunComparison(first, second, _agents(first, second), state, workflow)


def _agents(first: RunReport, second: RunReport) -> tuple[AgentPair, ...]:
    ones = {cost.agent: cost for cost in first.agents}
    others = {cost.agent: cost for cost in second.agents}
    return tuple(AgentPair(name, ones.get(name), others.get(name)) for name in {**ones, **others})


def _shared(state: JsonValue) -> JsonValue:
    """What agents wrote; the rest of a state follows from how the run went."""
    if not isinstance(state, dict):
        return state
    return {key: state[key] for key in ("is_complete", "payload") if key in state}


def _in_full(workflow: JsonValue) -> JsonValue:
    """With every value that holds, and every list of agents as groups: a file may leave out what is usual."""
    try:
        model = parse_workflow(orjson.dumps(workflow).decode()).workflow
    except (UserFileError, TypeError):
        return workflow
    result: JsonValue = model.model_dump(mode="json")
    return result


# --- JSON -------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Place:
    """A path as a chain to its parent; an index is an entry of a list."""

    key: str | int
    parent: _Place | None = None

    def path(self) -> str:
        keys: list[str | int] = []
        link: _Place | None = self
        while link is not None:
            keys.append(link.key)
            link = link.parent
        text = ""
        for key in reversed(keys):
            if isinstance(key, int):
                text += f"[{key}]"
            else:
                part = format_path((key,))
                text += part if not text or part.startswith("[") else f".{part}"
        return text


_Pair = tuple["_Place | None", DifferenceKind | None, JsonValue, JsonValue]
"""A place, how it differs (None: both have it, and it is to be looked at), and both values."""


def differences(first: JsonValue, second: JsonValue) -> Differences:
    """Where two JSON values differ, in the order of the first. No depth of them can exhaust the stack."""
    found: list[Difference] = []
    waiting: list[_Pair] = [(None, None, first, second)]
    while waiting:
        place, kind, one, other = waiting.pop()
        if kind is None:
            if one is other:
                continue
            if isinstance(one, dict) and isinstance(other, dict):
                waiting += reversed(list(_in_objects(place, one, other)))
                continue
            if isinstance(one, list) and isinstance(other, list):
                waiting += reversed(list(_in_lists(place, one, other)))
                continue
            if same_json(one, other):
                continue
            kind = DifferenceKind.CHANGED
        if len(found) >= MOST:
            return Differences(tuple(found), cut=True)
        found.append(Difference(place.path() if place is not None else "", kind, one, other))
    return Differences(tuple(found))


def _in_objects(
    place: _Place | None, one: dict[str, JsonValue], other: dict[str, JsonValue]
) -> Iterator[_Pair]:
    for key, value in one.items():
        if key in other:
            yield _Place(key, place), None, value, other[key]
        else:
            yield _Place(key, place), DifferenceKind.ONLY_FIRST, value, None
    for key, value in other.items():
        if key not in one:
            yield _Place(key, place), DifferenceKind.ONLY_SECOND, None, value


def _in_lists(place: _Place | None, one: list[JsonValue], other: list[JsonValue]) -> Iterator[_Pair]:
    """One that was put in at the front does not make all others differ."""
    keys, keys_there = [_key(value) for value in one], [_key(value) for value in other]
    start, most = 0, min(len(keys), len(keys_there))
    while start < most and keys[start] == keys_there[start]:
        start += 1
    end = 0
    while end < most - start and keys[-1 - end] == keys_there[-1 - end]:
        end += 1
    span, span_there = range(start, len(keys) - end), range(start, len(keys_there) - end)
    if max(len(span), len(span_there)) > _MOST_ALIGNED:
        if len(span) == len(span_there):
            yield from _one_by_one(place, one, other, span, span_there)
        else:
            yield from _whatever_order(place, one, other, (keys, span), (keys_there, span_there))
    else:
        middle, middle_there = keys[span.start : span.stop], keys_there[span_there.start : span_there.stop]
        for tag, a, b, c, d in SequenceMatcher(None, middle, middle_there, autojunk=False).get_opcodes():
            if tag != "equal":
                parts = range(start + a, start + b), range(start + c, start + d)
                yield from _one_by_one(place, one, other, *parts)


def _one_by_one(
    place: _Place | None, one: list[JsonValue], other: list[JsonValue], span: range, span_there: range
) -> Iterator[_Pair]:
    both = min(len(span), len(span_there))
    for at, there in zip(span, span_there, strict=False):
        yield _Place(at, place), None, one[at], other[there]
    for at in span[both:]:
        yield _Place(at, place), DifferenceKind.ONLY_FIRST, one[at], None
    for there in span_there[both:]:
        yield _Place(there, place), DifferenceKind.ONLY_SECOND, None, other[there]


def _whatever_order(
    place: _Place | None,
    one: list[JsonValue],
    other: list[JsonValue],
    here: tuple[list[Hashable], range],
    there: tuple[list[Hashable], range],
) -> Iterator[_Pair]:
    """Long lists of different length: what stands in one more often than in the other."""
    for (keys, span), (others, others_span), values, kind in (
        (here, there, one, DifferenceKind.ONLY_FIRST),
        (there, here, other, DifferenceKind.ONLY_SECOND),
    ):
        left = Counter(others[at] for at in others_span)
        for at in span:
            if left[keys[at]] > 0:
                left[keys[at]] -= 1
            elif kind is DifferenceKind.ONLY_FIRST:
                yield _Place(at, place), kind, values[at], None
            else:
                yield _Place(at, place), kind, None, values[at]


def _key(value: JsonValue) -> Hashable:
    try:
        return orjson.dumps(value, option=orjson.OPT_SORT_KEYS)
    except TypeError:  # too deep to be written: like nothing else
        return id(value)
