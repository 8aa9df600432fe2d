"""Which settings there are: every policy of a workflow that is not about its content.

A setting's *key* is its path in the file with dots, such as `max_loops` and `budget.max_tokens`; the rule for
one path is `merge.payload.findings`. In the environment it is `OPENLOOP_BUDGET__MAX_TOKENS`.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import Enum, StrEnum
from typing import get_args

from pydantic import BaseModel

from core.config import Budget, OpencodeDefaults, Workflow
from core.json_types import JsonValue
from core.jsonc import JsonPath
from core.state import MergeRule

PREFIX = "OPENLOOP_"
MERGE = "merge"
PARTS: Mapping[str, type[BaseModel]] = {"budget": Budget, "opencode_defaults": OpencodeDefaults}
"""Keys that hold an object; each of its keys is a setting of its own."""
FOLDERS = ("workdir", "log_dir")
_CONTENT = frozenset(
    {
        "name",
        "preparation_agents",
        "loop_agents",
        "finalization_agents",
        "end_state_condition",
        "agents_dir",
        "initial_payload",
    }
)
"""What a workflow is about: no other place has a say in it."""
TOP_KEYS = tuple(key for key in Workflow.model_fields if key not in _CONTENT)
"""Keys of a file with settings."""
SETTING_KEYS = tuple(
    f"{key}.{name}" if name else key
    for key in TOP_KEYS
    if key != MERGE
    for name in (PARTS[key].model_fields if key in PARTS else ("",))
)
"""Every setting but the merge rules, in the order of the file."""


class Origin(StrEnum):
    """Where a setting's value comes from, the strongest first."""

    COMMAND_LINE = "command line"
    ENVIRONMENT = "environment"
    WORKFLOW = "workflow"
    PROJECT = "project"
    USER = "user"
    DEFAULT = "default"


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting in force.

    `key`: such as `budget.max_tokens`. `source`: the file, variable or option, or empty (for a workflow,
    whose file is known). `line` and `column`: of the value in a file with settings.
    """

    key: str
    value: JsonValue
    origin: Origin
    source: str = ""
    line: int | None = None
    column: int | None = None


def path_of(key: str) -> JsonPath:
    """Where a file has the setting: `("budget", "max_tokens")`, `("merge", "payload.findings")`."""
    head, dot, rest = key.partition(".")
    return (head, rest) if dot else (head,)


def variable_of(key: str) -> str:
    """The environment variable of a setting, or of a part such as `budget`."""
    return PREFIX + key.upper().replace(".", "__")


def is_content(key: str) -> bool:
    """Whether a key belongs to workflows only."""
    return key in _CONTENT


def kinds_of(key: str) -> frozenset[object]:
    """The types that a setting may have: bool, int, float, str, NoneType, list[str], or a Literal."""
    *part, name = path_of(key)
    model = PARTS[str(part[0])] if part else Workflow
    annotation = model.model_fields[str(name)].annotation
    return frozenset({annotation, *get_args(annotation)})


def keys_said(workflow: Workflow) -> list[str]:
    """The settings that whoever made the workflow named, whatever their values are."""
    said = []
    for key in SETTING_KEYS:
        *part, name = path_of(key)
        model: BaseModel = getattr(workflow, str(part[0])) if part else workflow
        if name in model.model_fields_set:
            said.append(key)
    return [*said, *(f"{MERGE}.{path}" for path in workflow.merge)]


def value_of(workflow: Workflow, key: str) -> JsonValue:
    """A setting's value as JSON; None for a merge rule that there is not."""
    head, *rest = path_of(key)
    value = getattr(workflow, str(head))
    if head == MERGE:
        value = value.get(rest[0])
    elif rest:
        value = getattr(value, str(rest[0]))
    if isinstance(value, Enum):
        return str(value.value)
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return list(value) if isinstance(value, list) else value


def put_values(workflow: Workflow, values: Mapping[str, JsonValue]) -> None:
    """Change a workflow's settings; all its merge rules are replaced. What is equal stays as it is."""
    for key, value in values.items():
        head, *rest = path_of(key)
        if head != MERGE and value_of(workflow, key) != value:
            setattr(getattr(workflow, str(head)) if rest else workflow, str(rest[0] if rest else head), value)
    rules = {
        str(path_of(key)[1]): MergeRule(str(value))
        for key, value in values.items()
        if path_of(key)[0] == MERGE
    }
    if rules != workflow.merge:
        workflow.merge = rules


def near_key(word: str, keys: Iterable[str] = (*SETTING_KEYS, *PARTS, MERGE), cutoff: float = 0.6) -> str:
    """The setting that was probably meant, also by the last part of its key alone; or nothing."""
    forms: dict[str, str] = {}
    for key in keys:
        forms.setdefault(_plain(key.rpartition(".")[2]), key)
    # A whole key is the better match where both are there.
    forms |= {_plain(key): key for key in keys}
    close = difflib.get_close_matches(_plain(word), forms, 1, cutoff)
    return forms[close[0]] if close else ""


def _plain(word: str) -> str:
    """`maxLoops`, `max-loops` and `MAX_LOOPS` are the same to a person."""
    return "".join(sign for sign in word.lower() if sign not in "_-. ")
