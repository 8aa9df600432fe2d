"""Settings from their places: command line, environment, workflow, project, user, default.

For each setting the strongest place that says something decides. `opencode_defaults`, `budget` and `merge`
are merged key by key; the list `extra_args` is one value.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from core.config import Workflow, WorkflowFile
from core.json_types import JsonValue
from core.jsonc import JsonPath, format_place, parse_jsonc
from core.problems import Problem, Severity, UserFileError
from core.settings_files import FILE_NAME, LookedFor, Said, files_to_read, read_settings_file
from core.settings_keys import SETTING_KEYS, Origin, Setting, keys_said, path_of, put_values, value_of
from core.settings_words import said_by_environment, said_on_command_line

__all__ = [
    "FILE_NAME",
    "EffectiveWorkflow",
    "LookedFor",
    "Origin",
    "ResolvedSettings",
    "Setting",
    "effective_workflow",
    "resolve_settings",
]


@dataclass(frozen=True, slots=True)
class EffectiveWorkflow:
    """A workflow with every setting decided: `file` has the values in force, and its own text and path."""

    file: WorkflowFile
    settings: tuple[Setting, ...]
    warnings: tuple[Problem, ...] = ()

    def at_its_place(self, problem: Problem) -> Problem | None:
        """A problem of the values in force, where its value comes from; None: from the workflow itself."""
        for setting in self.settings:
            if problem.place != format_place(path_of(setting.key)):
                continue
            if setting.origin in (Origin.PROJECT, Origin.USER):
                return replace(problem, file=Path(setting.source), line=setting.line, column=setting.column)
            if setting.origin in (Origin.COMMAND_LINE, Origin.ENVIRONMENT):
                return replace(problem, place=setting.source, file=None, line=None, column=None)
        return None


@dataclass(frozen=True, slots=True)
class ResolvedSettings:
    """What can be told about the settings, whatever is wrong with some of them.

    `effective` is without the values of `errors`. `files`: where settings were looked for.
    """

    effective: EffectiveWorkflow
    errors: tuple[Problem, ...]
    files: tuple[LookedFor, ...]


def effective_workflow(
    file: WorkflowFile,
    project_folder: Path,
    *,
    environ: Mapping[str, str],
    given: Mapping[str, str] | None = None,
) -> EffectiveWorkflow:
    """The workflow with the settings of all places. Reads the disk. Raises UserFileError.

    `given`: the command line's, by key. `project_folder`: where the project's file is looked for from, unless
    the command line or the environment name another working folder.
    """
    resolved = resolve_settings(file, project_folder, environ=environ, given=given)
    if resolved.errors:
        raise UserFileError(list(resolved.errors))
    return resolved.effective


def resolve_settings(
    file: WorkflowFile,
    project_folder: Path,
    *,
    environ: Mapping[str, str],
    given: Mapping[str, str] | None = None,
) -> ResolvedSettings:
    """As `effective_workflow`, but nothing is raised for what is wrong with the settings."""
    stronger = [said_on_command_line(given or {}), said_by_environment(environ)]
    workdir = next((said.settings["workdir"].value for said in stronger if "workdir" in said.settings), None)
    files = files_to_read(Path(str(workdir)) if workdir else project_folder, file.path)
    weaker = [read_settings_file(looked.origin, looked.path) for looked in files if looked.exists]
    places = [*stronger, _said_by_workflow(file), *weaker]
    settings = _in_force(places)
    workflow = file.workflow.model_copy(deep=True)
    put_values(workflow, {setting.key: setting.value for setting in settings})
    problems = [problem for place in places for problem in place.problems]
    return ResolvedSettings(
        EffectiveWorkflow(
            replace(file, workflow=workflow),
            settings,
            tuple(problem for problem in problems if problem.severity is Severity.WARNING),
        ),
        tuple(problem for problem in problems if problem.severity is Severity.ERROR),
        tuple(files),
    )


def _in_force(places: list[Said]) -> tuple[Setting, ...]:
    """Every setting, then every merge rule; the strongest place comes first."""
    defaults = Workflow()
    decided = {key: Setting(key, value_of(defaults, key), Origin.DEFAULT) for key in SETTING_KEYS}
    for place in reversed(places):
        decided |= place.settings
    return tuple(decided.values())


def _said_by_workflow(file: WorkflowFile) -> Said:
    """What the workflow has, also where it is the default: then its author wanted that.

    None is a word of its own only where the file has it: elsewhere it is a field that was emptied in the
    window, which is not written.
    """
    workflow = file.workflow
    said = {key: value_of(workflow, key) for key in keys_said(workflow)}
    nulls = _nulls(file.text, [key for key, value in said.items() if value is None])
    return Said(
        {
            key: Setting(key, value, Origin.WORKFLOW)
            for key, value in said.items()
            if value is not None or key in nulls
        }
    )


def _nulls(text: str, keys: list[str]) -> set[str]:
    """Those of the settings for which the text of a workflow has null."""
    if not keys:
        return set()
    try:
        document = parse_jsonc(text).value
    except UserFileError:
        return set()
    return {key for key in keys if _is_null(document, path_of(key))}


def _is_null(value: JsonValue, path: JsonPath) -> bool:
    for part in path:
        if not isinstance(value, dict) or part not in value:
            return False
        value = value[str(part)]
    return value is None
