"""From the model to a workflow file's text, in the form of the file that it came from.

What is equal to what was read is written as it was read: the same keys in the same order, strings as
strings, nothing added. So only the model and the old text are needed, not a history of edits.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import TypeAlias

import orjson
from pydantic import BaseModel

from core.config import (
    AgentEntry,
    AgentGroup,
    Budget,
    FanOutGroup,
    Group,
    OpencodeDefaults,
    Workflow,
    WorkflowFile,
)
from core.json_types import JsonObject, JsonValue
from core.json_values import same_json
from core.jsonc import parse_jsonc
from core.problems import UserFileError
from core.workflow_layout import PHASE_KEYS, SINGULAR_KEYS, RawGroup, RawPhase, raw_phase
from core.workflow_reading import inspect_workflow

_ALWAYS_IN_NEW_FILES = ("name", *PHASE_KEYS.values(), "end_state_condition", "max_loops")
_LINE_WIDTH = 100
_DEEPEST_PRETTY = 30
_LARGE_BYTES = 200_000


def dump_workflow(file: WorkflowFile) -> str:
    """The file's text: plain JSON with a newline at its end."""
    origin = _Origin.of(file.text)
    document = _Writer(origin).workflow(file.workflow)
    return pretty_json(document)


def group_as_json(group: Group) -> JsonObject:
    """A group as a new file has it."""
    return _group(group, None)


def entry_as_json(entry: AgentEntry) -> JsonValue:
    """An agent of a group as a new file has it: its name, or an object where its place says more."""
    return _entry(entry, {})


def pretty_json(value: JsonValue) -> str:
    """JSON as workflow files are written, with a newline at its end."""
    return _pretty(value, 0, 0) + "\n"


@dataclass(slots=True)
class _Origin:
    """The document that the workflow was read from; empty for a new one."""

    document: JsonObject = field(default_factory=dict)
    workflow: Workflow | None = None
    """None: there is no document."""

    @classmethod
    def of(cls, text: str) -> _Origin:
        if not text:
            return cls()
        try:
            document = parse_jsonc(text).value
        except UserFileError:
            return cls()
        inspection = inspect_workflow(text)
        if not isinstance(document, dict) or inspection.file is None or inspection.errors:
            return cls()
        return cls(document, inspection.file.workflow)


@dataclass(slots=True)
class _OldGroup:
    """A group of the old file that nothing was written for yet."""

    raw: RawGroup
    group: Group
    names: frozenset[str]


class _Writer:
    def __init__(self, origin: _Origin) -> None:
        self._origin = origin
        self._old: dict[str, list[_OldGroup]] = {}
        self._phases: dict[str, RawPhase] = {}
        if origin.workflow is not None:
            for phase, key in PHASE_KEYS.items():
                raw = raw_phase(origin.document, key)
                self._phases[key] = raw
                self._old[key] = [
                    _OldGroup(raw_group, group, frozenset(_names(group)))
                    for raw_group, group in zip(raw.groups, origin.workflow.groups(phase), strict=True)
                ]

    def workflow(self, workflow: Workflow) -> JsonObject:
        before = self._origin.workflow
        parts: dict[str, _Part] = {}
        for phase, key in PHASE_KEYS.items():
            raw = self._phases.get(key, RawPhase(key))
            if before is not None and workflow.groups(phase) == before.groups(phase):
                present = raw.key in self._origin.document
                parts[key] = _Part(raw.key, self._origin.document[raw.key]) if present else _Part(key)
            else:
                parts[key] = self._phase(workflow.groups(phase), raw, key)
        document: JsonObject = {}
        phase_of_raw_key = {self._phases[key].key: key for key in self._phases}
        raw_document = self._origin.document if before is not None else None
        for key, value in _fields(workflow, before, raw_document, _ALWAYS_IN_NEW_FILES).items():
            part = parts.get(phase_of_raw_key.get(key, key))
            if part is None:
                document[key] = value
            elif not isinstance(part.value, _Absent):
                document[part.key] = part.value
        return document

    def _phase(self, groups: list[Group], raw: RawPhase, key: str) -> _Part:
        old = self._match(groups, key)
        as_strings = [
            _is_plain(group) and (match.raw.is_strings if match else len(groups) == 1)
            for group, match in zip(groups, old, strict=True)
        ]
        # Two runs of strings side by side would be read as one group.
        joined = [False, *(one and two for one, two in itertools.pairwise(as_strings)), False]
        written: list[JsonValue] = []
        for index, (group, match) in enumerate(zip(groups, old, strict=True)):
            if as_strings[index] and not (joined[index] or joined[index + 1]):
                written.extend(_names(group))
            else:
                written.append(_group(group, match))
        singular = raw.key if raw.key != key else None
        if singular is not None and len(written) == 1 and isinstance(written[0], str):
            return _Part(singular, written[0])
        if singular is not None and not written:
            return _Part(key)
        return _Part(key, written)

    def _match(self, groups: list[Group], key: str) -> list[_OldGroup | None]:
        """For every group the one of the old file that it comes from, as far as that can be told.

        A wrong guess costs nothing but the order of keys: values never come from here.
        """
        unused = [
            *self._old.get(key, ()),
            *(o for other in self._old if other != key for o in self._old[other]),
        ]
        matches: list[_OldGroup | None] = [None] * len(groups)
        by_content: dict[str, list[_OldGroup]] = {}
        for candidate in unused:
            by_content.setdefault(candidate.group.model_dump_json(), []).append(candidate)
        for index, group in enumerate(groups):
            same = by_content.get(group.model_dump_json())
            if same:
                matches[index] = same.pop(0)
        taken = {id(match) for match in matches if match is not None}
        left = [candidate for candidate in self._old.get(key, ()) if id(candidate) not in taken]
        for index, group in enumerate(groups):
            if matches[index] is not None or not left:
                continue
            names = frozenset(_names(group))
            best = max(left, key=lambda candidate: len(candidate.names & names))
            if best.names & names:
                matches[index] = best
                left.remove(best)
        return matches


class _Absent:
    """Not in the file at all, which is not the same as null."""


@dataclass(slots=True)
class _Part:
    """What a phase becomes: the key that it is written under, and its value."""

    key: str
    value: JsonValue | _Absent = field(default_factory=_Absent)


# --- groups and entries -------------------------------------------------------------------------------


def _names(group: Group) -> list[str]:
    return [group.agent] if isinstance(group, FanOutGroup) else [entry.agent for entry in group.agents]


def _is_plain(group: Group) -> bool:
    """Whether a list of strings says all there is."""
    return (
        isinstance(group, AgentGroup)
        and bool(group.agents)
        and group == AgentGroup(agents=group.agents)
        and all(entry == AgentEntry(agent=entry.agent) for entry in group.agents)
    )


def _group(group: Group, old: _OldGroup | None) -> JsonObject:
    if old is not None and isinstance(old.raw.value, dict):
        if group == old.group:
            return old.raw.value
        before = old.group if type(old.group) is type(group) else None
        written = _fields(group, before, old.raw.value)
    else:
        written = _fields(group, None, None, ("agents", "mode", "agent"))
    if isinstance(group, AgentGroup):
        old_entries = _old_entries(old) if old is not None else {}
        written["agents"] = [_entry(entry, old_entries) for entry in group.agents]
    return written


_OldEntries: TypeAlias = dict[str, list[tuple[AgentEntry, JsonValue]]]


def _old_entries(old: _OldGroup) -> _OldEntries:
    entries: _OldEntries = {}
    if isinstance(old.group, AgentGroup):
        for entry, raw in zip(old.group.agents, old.raw.entries, strict=True):
            entries.setdefault(entry.agent, []).append((entry, raw))
    return entries


def _entry(entry: AgentEntry, old: _OldEntries) -> JsonValue:
    candidates = old.get(entry.agent, [])
    same = next((pair for pair in candidates if pair[0] == entry), None) or next(iter(candidates), None)
    if same is not None:
        candidates.remove(same)
        before, raw = same
        if before == entry:
            return raw
        if isinstance(raw, dict):
            return _fields(entry, before, raw)
    if entry == AgentEntry(agent=entry.agent):
        return entry.agent
    return _fields(entry, None, None)


# --- fields -------------------------------------------------------------------------------------------


def _fields(
    model: BaseModel,
    before: BaseModel | None,
    document: Mapping[str, JsonValue] | None,
    always: tuple[str, ...] = (),
) -> JsonObject:
    """A model as an object in the form of `document`, which `before` was read from.

    Fields at their default are left out, unless the document has them, or (where there is none) they are in
    `always`, or they are settings that were said since: a default that was chosen wins over settings files.
    """
    extra: dict[str, JsonValue] = model.model_extra or {}
    written: JsonObject = {}
    for key, value in (document or {}).items():
        if key in type(model).model_fields:
            if _is_taken_back(model, before, key):
                continue
            now = getattr(model, key)
            if before is not None and _is_same(now, getattr(before, key)):
                written[key] = value
            elif now is not None:
                written[key] = _field_value(now, getattr(before, key, None), value)
        elif key in extra:
            written[key] = extra[key]
        elif key in SINGULAR_KEYS.values() and isinstance(model, Workflow):
            written[key] = value
    for key in _missing_fields(model, before, document or {}, always if document is None else ()):
        value = _field_value(getattr(model, key), None, None)
        written = _inserted(written, key, value, list(type(model).model_fields))
    return written | {key: value for key, value in extra.items() if key not in written}


def _is_same(one: object, other: object) -> bool:
    """Equality as JSON has it: in a payload, true is not 1."""
    if isinstance(one, dict) and isinstance(other, dict):
        return same_json(one, other)
    return one == other


def _missing_fields(
    model: BaseModel, before: BaseModel | None, document: Mapping[str, JsonValue], always: tuple[str, ...]
) -> Iterator[str]:
    for key, info in type(model).model_fields.items():
        if key in document or SINGULAR_KEYS.get(key) in document:
            continue
        if (
            key in always
            or info.is_required()
            or getattr(model, key) != info.get_default(call_default_factory=True)
            or (key in model.model_fields_set and _is_said_since(model, before, key))
        ):
            yield key


def _is_said_since(model: BaseModel, before: BaseModel | None, key: str) -> bool:
    """Whether a setting got a value, be it the default, that `before` does not name."""
    if not isinstance(model, (Workflow, Budget, OpencodeDefaults)) or key in PHASE_KEYS.values():
        return False
    value = getattr(model, key)
    if isinstance(value, BaseModel):
        part = getattr(before, key, None)
        return any(_is_said_since(value, part, name) for name in value.model_fields_set)
    return value is not None and (before is None or key not in before.model_fields_set)


def _is_taken_back(model: BaseModel, before: BaseModel | None, key: str) -> bool:
    """Whether a setting that `before` names is not named any more, so that settings files decide again."""
    if not isinstance(model, (Workflow, Budget, OpencodeDefaults)) or before is None:
        return False
    return key in before.model_fields_set and key not in model.model_fields_set


def _inserted(written: JsonObject, key: str, value: JsonValue, order: list[str]) -> JsonObject:
    """With a new key behind the nearest one that comes before it in the model's order."""
    earlier = set(order[: order.index(key)])
    keys = list(written)
    after = max((index for index, name in enumerate(keys) if _field_of(name) in earlier), default=-1)
    items = list(written.items())
    items.insert(after + 1, (key, value))
    return dict(items)


def _field_of(key: str) -> str:
    return next((field for field, singular in SINGULAR_KEYS.items() if singular == key), key)


def _field_value(value: object, before: object, raw: JsonValue) -> JsonValue:
    """A field's value as JSON. `before`, `raw`: what the old file had, for objects inside."""
    if isinstance(value, BaseModel):
        document = raw if isinstance(raw, dict) else None
        return _fields(value, before if isinstance(before, BaseModel) else None, document)
    if isinstance(value, Enum):
        return str(value.value)
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, list):
        return [_field_value(item, None, None) for item in value]
    if isinstance(value, dict):
        return {str(key): _json_value(item) for key, item in value.items()}
    if value is None or isinstance(value, (str, int, float)):
        return value
    raise TypeError(f"{type(value).__name__} has no form in a workflow file")


def _json_value(value: JsonValue | Enum) -> JsonValue:
    return str(value.value) if isinstance(value, Enum) else value


# --- text ---------------------------------------------------------------------------------------------


def _pretty(value: JsonValue, indent: int, used: int) -> str:
    """JSON with two spaces a level; what holds no list or object of its own stays on one line if it fits."""
    if not isinstance(value, (dict, list)) or not value or indent > _DEEPEST_PRETTY:
        return json.dumps(value, ensure_ascii=False)
    if indent == 1 and (large := _large(value)) is not None:
        return large
    items: list[tuple[str, JsonValue]]
    if isinstance(value, dict):
        items = [(f"{json.dumps(key, ensure_ascii=False)}: ", item) for key, item in value.items()]
    else:
        items = [("", item) for item in value]
    opening, closing = ("{", "}") if isinstance(value, dict) else ("[", "]")
    if indent and (line := _on_one_line(items)) is not None:
        padding = " " if isinstance(value, dict) else ""
        line = f"{opening}{padding}{line}{padding}{closing}"
        if used + len(line) <= _LINE_WIDTH:
            return line
    inner = "  " * (indent + 1)
    lines = [f"{inner}{head}{_pretty(item, indent + 1, len(inner) + len(head))}" for head, item in items]
    return f"{opening}\n" + ",\n".join(lines) + f"\n{'  ' * indent}{closing}"


def _large(value: JsonValue) -> str | None:
    """A large part of a workflow, written fast rather than compactly; None for a small one."""
    try:
        if len(orjson.dumps(value)) < _LARGE_BYTES:
            return None
        text = orjson.dumps(value, option=orjson.OPT_INDENT_2).decode()
    except orjson.JSONEncodeError:
        # Whole numbers of more than 64 bits, which orjson does not write.
        return None
    return text.replace("\n", "\n  ")


def _on_one_line(items: list[tuple[str, JsonValue]]) -> str | None:
    """The items side by side; None where they are too many or too deep for that."""
    if len(items) > _LINE_WIDTH // 2:
        return None
    parts: list[str] = []
    for head, item in items:
        if isinstance(item, (dict, list)) and item:
            if isinstance(item, dict) or not all(isinstance(part, str) for part in item) or len(item) > 20:
                return None
            parts.append(f"{head}{json.dumps(item, ensure_ascii=False)}")
        else:
            parts.append(f"{head}{json.dumps(item, ensure_ascii=False)}")
    return ", ".join(parts)
