"""Settings from their places: command line, environment, workflow, project, user, default."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from core.config import WorkflowFile
from core.json_types import JsonValue
from core.problems import Problem


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
    """One setting in force. `key`: such as `budget.max_tokens`; `source`: the file or variable, or empty."""

    key: str
    value: JsonValue
    origin: Origin
    source: str = ""


@dataclass(frozen=True, slots=True)
class EffectiveWorkflow:
    """A workflow with every setting decided: `file` has the values in force, and its own text and path."""

    file: WorkflowFile
    settings: tuple[Setting, ...]
    warnings: tuple[Problem, ...] = ()


def effective_workflow(
    file: WorkflowFile,
    project_folder: Path,
    *,
    environ: Mapping[str, str],
    given: Mapping[str, str] | None = None,
) -> EffectiveWorkflow:
    """The workflow with the settings of all places. Raises UserFileError.

    `given`: the command line's, by key.
    """
    return EffectiveWorkflow(file, ())
