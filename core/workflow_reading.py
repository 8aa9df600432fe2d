"""From a workflow file's text to the model, with every problem of the file in one pass."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar, get_args

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from core.config import (
    AgentEntry,
    AgentGroup,
    Budget,
    FanOutGroup,
    FanOutTask,
    Group,
    OpencodeDefaults,
    Workflow,
    WorkflowFile,
)
from core.findings import Finding, FindingList, did_you_mean, nearest, shown_key, to_problems
from core.fixes import Renamed, RenameKey
from core.json_types import JsonObject, JsonValue
from core.jsonc import JsonPath, parse_jsonc
from core.problems import Problem, Severity, UserFileError
from core.words import say
from core.workflow_layout import PHASE_KEYS, SINGULAR_KEYS, RawGroup, raw_phase

ModelT = TypeVar("ModelT", bound=BaseModel)

GROUP_MODES = ("sequential", "parallel", "fan_out")
NOTE_SIGNS = ("$", "_", "//", "x-")
"""Keys such as $schema, _note and //comment are the usual ways to say "not for the program"."""


def _wanted(kind: str) -> str | None:
    """What a value had to be, by the kind of error; None: it is not an error of the wrong kind."""
    match kind:
        case "string_type":
            return say("text")
        case "int_type" | "int_parsing" | "int_from_float" | "int_parsing_size":
            return say("a whole number")
        case "float_type" | "float_parsing":
            return say("a number")
        case "finite_number":
            return say("a finite number")
        case "bool_type" | "bool_parsing":
            return say("true or false")
        case "list_type":
            return say("a list")
        case "dict_type" | "model_type" | "model_attributes_type":
            return say("an object")
        case _:
            return None


@dataclass(frozen=True, slots=True)
class Inspection:
    """What a text holds: the workflow as far as it can be read (None: not at all), and every problem.

    Values that cannot be are left out of `file`, so that the rest can be checked too.
    """

    file: WorkflowFile | None
    problems: list[Problem]

    @property
    def errors(self) -> list[Problem]:
        """The problems that keep the file from being used."""
        return [problem for problem in self.problems if problem.severity is Severity.ERROR]


def inspect_workflow(text: str, path: Path | None = None) -> Inspection:
    """Read a workflow file's text. Never raises: what is wrong is in the problems."""
    try:
        document = parse_jsonc(text, path)
    except UserFileError as error:
        return Inspection(None, error.problems)
    reader = _Reader()
    workflow = reader.read(document.value)
    problems = sorted(to_problems(reader.findings, text, path), key=lambda p: (p.line or 0, p.column or 0))
    if document.has_comments:
        problems.append(
            Problem(
                say("The comments of this file are lost when it is saved."),
                suggestion=say("Before that, OpenLoop keeps a copy of the file as it is."),
                severity=Severity.WARNING,
                file=path,
            )
        )
    if workflow is None:
        return Inspection(None, problems)
    warnings = [problem for problem in problems if problem.severity is Severity.WARNING]
    return Inspection(WorkflowFile(workflow=workflow, path=path, text=text, warnings=warnings), problems)


def read_document(document: JsonValue) -> tuple[Workflow | None, list[Finding]]:
    """The workflow of a parsed document, without the values that cannot be; and what is wrong, by path."""
    reader = _Reader()
    return reader.read(document), reader.findings


class _Reader:
    """Reads one document; `findings` tells what is wrong with it."""

    def __init__(self) -> None:
        self._found = FindingList()

    @property
    def findings(self) -> list[Finding]:
        return self._found.all()

    def read(self, document: JsonValue) -> Workflow | None:
        if not isinstance(document, dict):
            self._error(
                (),
                say("A workflow is a JSON object, not {kind}.", kind=_kind(document)),
                say("Begin the file with {."),
            )
            return None
        data: dict[str, Any] = dict(document)
        for field in PHASE_KEYS.values():
            singular = SINGULAR_KEYS.get(field)
            if singular in document and field in document:
                self._error(
                    (singular,),
                    say("{singular} and {field} are both there.", singular=singular, field=field),
                    say("Keep {field} only.", field=field),
                    at_key=True,
                )
            groups = self._phase(document, field)
            data.pop(field, None)
            if singular is not None:
                data.pop(singular, None)
            if groups or field in document or (singular is not None and singular in document):
                data[field] = groups
        known = [*Workflow.model_fields, *SINGULAR_KEYS.values()]
        self._unknown_keys(document, known, (), "workflow", Workflow)
        self._nested(data, "budget", Budget)
        self._nested(data, "opencode_defaults", OpencodeDefaults)
        return self._model(Workflow, data, ()) or Workflow()

    # --- phases ----------------------------------------------------------------------------------------

    def _phase(self, document: Mapping[str, JsonValue], field: str) -> list[Group]:
        phase = raw_phase(document, field)
        for path in phase.misfits:
            value = document[phase.key]
            if phase.key != field:
                self._error(
                    path,
                    say("{key} is the name of one agent, not {value}.", key=phase.key, value=_kind(value)),
                    say("Write {field} for a list.", field=field),
                )
            elif len(path) == 1:
                self._error(
                    path,
                    say(
                        "{field} is a list of agents and groups, not {value}.",
                        field=field,
                        value=_kind(value),
                    ),
                    say("Put it into [ ]."),
                )
            else:
                item = value[path[1]] if isinstance(value, list) and isinstance(path[1], int) else value
                self._error(
                    path,
                    say("This is {kind}, not the name of an agent or a group.", kind=_kind(item)),
                    say('A group is an object: {"agents": [...], "mode": "parallel"}.')
                    if isinstance(item, list)
                    else "",
                )
        groups = (self._group(raw) for raw in phase.groups)
        return [group for group in groups if group is not None]

    def _group(self, raw: RawGroup) -> Group | None:
        if isinstance(raw.value, list):
            return AgentGroup.model_validate({"agents": [{"agent": name} for name in raw.value]})
        mode = raw.value.get("mode")
        if mode == "fan_out":
            return self._fan_out(raw.value, raw.path)
        if mode is None and "agents" not in raw.value:
            self._shapeless(raw)
            return None
        if "mode" in raw.value and mode not in GROUP_MODES:
            self._error(
                (*raw.path, "mode"),
                say(
                    "mode must be one of {choices}, not {mode}.",
                    choices=_listed(GROUP_MODES),
                    mode=_shown(mode),
                ),
                did_you_mean(str(mode), GROUP_MODES),
            )
        self._unknown_keys(raw.value, AgentGroup.model_fields, raw.path, "group", AgentGroup)
        data: dict[str, Any] = dict(raw.value)
        if mode not in GROUP_MODES:
            data.pop("mode", None)
        if "agents" not in data:
            self._error(raw.path, say("The group has no agents."), say('Add "agents": ["name"].'))
        elif isinstance(raw.value["agents"], list):
            data["agents"] = self._entries(raw.value["agents"], (*raw.path, "agents"))
        return self._model(AgentGroup, data, raw.path)

    def _shapeless(self, raw: RawGroup) -> None:
        """An object in a phase that says neither who works nor how."""
        value = raw.value
        if "agent" in value and ("tasks" in value or "tasks_from" in value):
            self._error(raw.path, say("The fan-out group has no mode."), say('Add "mode": "fan_out".'))
        elif "agent" in value:
            self._error(
                raw.path,
                say("An agent with settings of its own must stand in a group."),
                say('Write {"agents": [{"agent": ...}]}.'),
            )
        else:
            close = did_you_mean(next(iter(value), ""), ("agents",))
            self._error(raw.path, say("The group has no agents."), close or say('Add "agents": ["name"].'))

    def _entries(self, items: list[JsonValue], path: JsonPath) -> list[Any]:
        """The entries as data for the model; those that cannot be are left out."""
        entries: list[Any] = []
        for index, item in enumerate(items):
            if isinstance(item, str):
                entries.append({"agent": item})
            elif isinstance(item, dict):
                self._unknown_keys(item, AgentEntry.model_fields, (*path, index), "agent", AgentEntry)
                entry = self._model(AgentEntry, item, (*path, index))
                if entry is not None:
                    entries.append(entry)
            else:
                self._error(
                    (*path, index), say("This is {kind}, not the name of an agent.", kind=_kind(item))
                )
        return entries

    def _fan_out(self, value: JsonObject, path: JsonPath) -> FanOutGroup | None:
        self._unknown_keys(value, FanOutGroup.model_fields, path)
        data: dict[str, Any] = dict(value)
        tasks = value.get("tasks")
        if isinstance(tasks, list):
            data["tasks"] = []
            for index, task in enumerate(tasks):
                at = (*path, "tasks", index)
                if isinstance(task, str):
                    data["tasks"].append(task)
                elif isinstance(task, dict):
                    made = self._model(FanOutTask, task, at)
                    if made is not None:
                        data["tasks"].append(made)
                else:
                    self._error(at, say("A task is text or an object, not {kind}.", kind=_kind(task)))
        return self._model(FanOutGroup, data, path)

    # --- models ----------------------------------------------------------------------------------------

    def _nested(self, data: dict[str, Any], key: str, model: type[BaseModel]) -> None:
        """Read an object inside the workflow by its own model; leave it out where it is none."""
        if key not in data:
            return
        value = data.pop(key)
        if not isinstance(value, dict):
            self._error((key,), say("{key} must be an object, not {value}.", key=key, value=_kind(value)))
            return
        of: Renamed = "budget" if key == "budget" else "opencode_defaults"
        self._unknown_keys(value, model.model_fields, (key,), of, model)
        made = self._model(model, value, (key,))
        if made is not None:
            data[key] = made

    def _model(self, model: type[ModelT], data: Mapping[str, Any], path: JsonPath) -> ModelT | None:
        """The model of an object; bad values are reported and left out. None: not even that helps."""
        kept = {
            key: value
            for key, value in data.items()
            if not (isinstance(value, bool) and self._is_misplaced_bool(model, key, value, path))
        }
        try:
            return model.model_validate(kept)
        except ValidationError as error:
            details = error.errors(include_url=False)
        for detail in details:
            self._report(detail, path)
        bad = {detail["loc"][0] for detail in details if detail["loc"]}
        try:
            return model.model_validate({key: value for key, value in kept.items() if key not in bad})
        except ValidationError:
            return None

    def _is_misplaced_bool(self, model: type[BaseModel], key: str, value: bool, path: JsonPath) -> bool:
        """true and false are numbers to Python, not to people."""
        if key not in model.model_fields:
            return False
        annotation = model.model_fields[key].annotation
        kinds = {annotation, *get_args(annotation)}
        number = "int" if int in kinds else "float" if float in kinds else ""
        if not number or bool in kinds:
            return False
        self._error(
            (*path, key),
            say(
                "{key} must be {kind}, not {value}.",
                key=key,
                kind=say("a whole number") if number == "int" else say("a number"),
                value=_shown(value),
            ),
        )
        return True

    def _report(self, detail: ErrorDetails, path: JsonPath) -> None:
        place: JsonPath = (*path, *detail["loc"])
        if self._found.full:
            self._error(place, "")
            return
        name = next((part for part in reversed(place) if isinstance(part, str)), say("The value"))
        kind, value, context = detail["type"], detail["input"], detail.get("ctx", {})
        if kind == "missing":
            self._error(place[:-1], say("The key {key} is missing.", key=name))
        elif kind in ("literal_error", "enum"):
            choices = [part.strip("'") for part in context["expected"].replace(" or ", ", ").split(", ")]
            self._error(
                place,
                say(
                    "{key} must be one of {choices}, not {value}.",
                    key=name,
                    choices=_listed(choices),
                    value=_shown(value),
                ),
                did_you_mean(value, choices) if isinstance(value, str) else "",
            )
        elif kind == "greater_than_equal":
            self._error(
                place,
                say(
                    "{key} must be at least {least:g}, not {value}.",
                    key=name,
                    least=context["ge"],
                    value=_shown(value),
                ),
            )
        elif (wanted := _wanted(kind)) is not None:
            self._error(
                place,
                say(
                    "{key} must be {kind}, not {value}.",
                    key=name,
                    kind=wanted,
                    value=_shown(value),
                ),
            )
        elif "recursion" in kind:
            self._error(place[:1], say("{key} is nested too deeply.", key=place[0]))
        else:
            self._error(place, f"{name}: {detail['msg']}.")

    def _unknown_keys(
        self,
        value: Mapping[str, JsonValue],
        known: Collection[str],
        path: JsonPath,
        of: Renamed | None = None,
        model: type[BaseModel] = BaseModel,
    ) -> None:
        """`of`, `model`: what an edit could give the value another key of; None: nothing is edited there."""
        for key in value:
            if key in known or key.startswith(NOTE_SIGNS):
                continue
            near = None if self._found.full else nearest(key, known)
            can_rename = near is not None and near not in value and _fits(model, near, value[key])
            self._found.add(
                Finding(
                    (*path, key),
                    say("The key {key} is not known; it is kept, but has no effect.", key=shown_key(key)),
                    say("Did you mean {near}?", near=near) if near is not None else "",
                    Severity.WARNING,
                    at_key=True,
                    fix=RenameKey(of, key, near) if of is not None and near and can_rename else None,
                )
            )

    def _error(self, path: JsonPath, message: str, suggestion: str = "", *, at_key: bool = False) -> None:
        self._found.add(Finding(path, message, suggestion, at_key=at_key))


def _fits(model: type[BaseModel], key: str, value: JsonValue) -> bool:
    """Whether a plain setting may have this value; agents and groups are no plain settings."""
    field = model.model_fields.get(key)
    if field is None or key in {*PHASE_KEYS.values(), "agents", "agent", "mode"}:
        return False
    try:
        setattr(model.model_construct(), key, value)
    except ValidationError:
        return False
    return not isinstance(value, bool) or field.annotation in (bool, bool | None)


def _kind(value: object) -> str:
    """A JSON value's kind in words."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return say("a number")
    if isinstance(value, str):
        return say("text")
    return say("a list") if isinstance(value, list) else say("an object")


def _shown(value: object) -> str:
    """A short value as it stands in the file, a long one by its kind."""
    if isinstance(value, str) and len(value) <= 40:
        return f'"{value}"'
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return str(value)
    return _kind(value)


def _listed(words: Collection[str]) -> str:
    *first, last = words
    return say("{first} or {last}", first=", ".join(first), last=last) if first else last
