"""The JSON Schemas of workflow files and of files with settings, made from the models.

That of workflows describes the form of the file, which is wider than the models: agents as bare strings,
groups mixed with strings, the singular keys of the older format. Descriptions are the docstrings below the
models' fields.
"""

from __future__ import annotations

import ast
import copy
import inspect
import json
import re
from typing import Any

from core import config
from core.config import AgentEntry, AgentGroup, Budget, FanOutGroup, FanOutTask, OpencodeDefaults, Workflow
from core.settings_keys import TOP_KEYS
from core.workflow_layout import PHASE_KEYS, SINGULAR_KEYS
from core.workflow_reading import NOTE_SIGNS

SCHEMA_ID = "https://openloop.invalid/workflow.schema.json"
"""A name, not a place: the schema ships with OpenLoop and is printed by `openloop schema`."""
SETTINGS_SCHEMA_ID = "https://openloop.invalid/settings.schema.json"
_FOLDERS = {
    "workdir": "Folder the agents work in, relative to this file; null: the current one.",
    "log_dir": "Folder of the run folders, relative to this file; null: .openloop in the working folder.",
}
"""What differs from workflow files."""

_MODELS = (Workflow, AgentGroup, FanOutGroup, AgentEntry, FanOutTask, Budget, OpencodeDefaults)


def workflow_schema() -> dict[str, Any]:
    """The schema as a JSON document (draft 2020-12)."""
    root = copy.deepcopy(Workflow.model_json_schema())
    definitions = root.pop("$defs")
    described = _described_fields()
    for name, definition in {"Workflow": root, **definitions}.items():
        for key, description in described.get(name, {}).items():
            prop = definition["properties"][key]
            prop["description"] = description
            prop["title"] = _title(key)
    for name, definition in definitions.items():
        # "AgentGroup" is a name of ours; people read words.
        definition["title"] = _title(name)
    # Text that says what a rule does is in docs/file-format.md; the class docstring is for programmers.
    definitions["MergeRule"]["description"] = (
        "What happens when two updates write different values to one path."
    )
    definitions["AgentGroup"]["required"] = ["agents"]
    definitions["AgentGroup"]["properties"]["agents"]["items"] = _one_of(
        _agent_name(), {"$ref": "#/$defs/AgentEntry"}
    )
    root["description"] = "A workflow of OpenLoop: agents in three phases, and the policies of a run."
    root["title"] = "OpenLoop workflow"
    properties: dict[str, Any] = {"$schema": {"type": "string", "title": "Schema of this file"}}
    for key, prop in root["properties"].items():
        if key in PHASE_KEYS.values():
            prop["items"] = _one_of(
                _agent_name(), {"$ref": "#/$defs/AgentGroup"}, {"$ref": "#/$defs/FanOutGroup"}
            )
        properties[key] = prop
        if key in SINGULAR_KEYS:
            properties[SINGULAR_KEYS[key]] = {
                "type": ["string", "null"],
                "title": _title(SINGULAR_KEYS[key]),
                "description": f"Older form of {key}, for one agent.",
            }
    root["properties"] = properties
    root["allOf"] = [{"not": {"required": [plural, singular]}} for plural, singular in SINGULAR_KEYS.items()]
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": SCHEMA_ID,
        **root,
        "$defs": definitions,
    }


def workflow_schema_text() -> str:
    """The schema as the text of `resources/workflow.schema.json`."""
    return json.dumps(workflow_schema(), indent=2, ensure_ascii=False) + "\n"


def settings_schema() -> dict[str, Any]:
    """The schema of files with settings, as a JSON document. Stricter than OpenLoop, which warns of typos."""
    workflow = workflow_schema()
    properties = {key: workflow["properties"][key] for key in ("$schema", *TOP_KEYS)}
    for key, description in _FOLDERS.items():
        properties[key]["description"] = description
    used = ("Budget", "MergeRule", "OpencodeDefaults")
    notes = "^(" + "|".join(re.escape(sign) for sign in NOTE_SIGNS) + ")"
    return {
        "$schema": workflow["$schema"],
        "$id": SETTINGS_SCHEMA_ID,
        "title": "OpenLoop settings",
        "description": "Settings of OpenLoop for a project or a user: openloop.json.",
        "type": "object",
        "properties": properties,
        "patternProperties": {notes: True},
        "additionalProperties": False,
        "$defs": {name: workflow["$defs"][name] for name in used},
    }


def settings_schema_text() -> str:
    """The schema as the text of `resources/settings.schema.json`."""
    return json.dumps(settings_schema(), indent=2, ensure_ascii=False) + "\n"


def _agent_name() -> dict[str, Any]:
    return {"type": "string", "title": "Agent", "description": "Name of an agent."}


def _one_of(*kinds: dict[str, Any]) -> dict[str, Any]:
    return {"anyOf": list(kinds)}


def _title(name: str) -> str:
    """`max_loops` and `AgentGroup` as words."""
    words = "".join(f" {sign.lower()}" if sign.isupper() else sign for sign in name).replace("_", " ").strip()
    return words[:1].upper() + words[1:]


def _described_fields() -> dict[str, dict[str, str]]:
    """The docstring below every field of every model, by class and field."""
    described: dict[str, dict[str, str]] = {}
    for node in ast.parse(inspect.getsource(config)).body:
        if not isinstance(node, ast.ClassDef) or node.name not in {model.__name__ for model in _MODELS}:
            continue
        fields = described.setdefault(node.name, {})
        for statement, following in zip(node.body, node.body[1:], strict=False):
            if (
                isinstance(statement, ast.AnnAssign)
                and isinstance(statement.target, ast.Name)
                and isinstance(following, ast.Expr)
                and isinstance(following.value, ast.Constant)
                and isinstance(following.value.value, str)
            ):
                fields[statement.target.id] = " ".join(following.value.value.split())
    return described
