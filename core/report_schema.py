"""The JSON Schema of a run's report as JSON, made from `core.report_model`.

Descriptions are the docstrings of the classes and those below their fields.
"""

from __future__ import annotations

import ast
import inspect
import json
from typing import Any

from pydantic import TypeAdapter

from core import events, report_model, state
from core.report_model import RunReport

REPORT_SCHEMA_ID = "https://openloop.invalid/report.schema.json"
"""A name, not a place: the schema ships with OpenLoop and is printed by `openloop schema --report`."""


def report_schema() -> dict[str, Any]:
    """The schema as a JSON document (draft 2020-12)."""
    root = TypeAdapter(RunReport).json_schema(mode="serialization")
    definitions = root.pop("$defs")
    described: dict[str, dict[str, str]] = {}
    for module in (report_model, events, state):
        described.update(_described_fields(inspect.getsource(module)))
    for name, definition in {"RunReport": root, **definitions}.items():
        for key, prop in definition.get("properties", {}).items():
            prop.pop("title", None)
            if key in described.get(name, {}):
                prop["description"] = described[name][key]
    root["properties"]["format"] = {"const": report_model.FORMAT}
    root["properties"]["version"] = {"const": report_model.VERSION}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": REPORT_SCHEMA_ID,
        **root,
        "title": "OpenLoop run report",
        "$defs": definitions,
    }


def report_schema_text() -> str:
    """The schema as the text of `resources/report.schema.json`."""
    return json.dumps(report_schema(), indent=2, ensure_ascii=False) + "\n"


def _described_fields(source: str) -> dict[str, dict[str, str]]:
    """The docstring below every field of every class, by class and field."""
    described: dict[str, dict[str, str]] = {}
    for node in ast.parse(source).body:
        if not isinstance(node, ast.ClassDef):
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
