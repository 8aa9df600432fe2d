"""`openloop config`: every setting, its value, and where it comes from."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

from app.headless_text import one_line
from core.backends.registry import backend_names
from core.config import Workflow, WorkflowFile
from core.json_types import JsonValue
from core.jsonc import read_text
from core.planning import DEFAULT_BACKEND, RunOverrides
from core.preparing import given_folders, problems_in_force
from core.problems import Problem, Severity, UserFileError
from core.run_folders import library_of, log_dir_of, workdir_of
from core.settings import LookedFor, Origin, ResolvedSettings, Setting, resolve_settings
from core.settings_keys import PREFIX, TOP_KEYS
from core.workflow_file import inspect_workflow

_WIDEST = 44
"""Characters of a value up to which the columns behind it stand in line."""


def print_config(
    workflow: Path | None, overrides: RunOverrides, given: Mapping[str, str], *, as_json: bool
) -> int:
    """Print the settings that a run of the workflow would have; without one, any workflow's.

    What is wrong with files and values goes to stderr; then the rest is told all the same. Gives the exit
    code (app.cli, EXIT_*).
    """
    file, problems = _read(workflow)
    unread = any(problem.severity is Severity.ERROR for problem in problems)
    resolved = resolve_settings(
        file, workdir_of(file), environ=os.environ, given={**given, **given_folders(overrides)}
    )
    problems += [*resolved.errors, *resolved.effective.warnings]
    problems += _problems_in_force(file, resolved, problems, is_whole=workflow is not None and not unread)
    settings = _as_effective(resolved)
    if as_json:
        _print_json(settings, resolved.files, workflow)
    else:
        _print_table(settings, resolved.files, workflow, is_readable=bool(file.path))
    sys.stdout.flush()
    for problem in problems:
        sys.stderr.write(f"{problem.severity.value}: {one_line(problem.text())}\n")
    return 2 if any(problem.severity is Severity.ERROR for problem in problems) else 0


def _read(workflow: Path | None) -> tuple[WorkflowFile, list[Problem]]:
    """The workflow as far as it can be read, and all that is wrong with the file."""
    if workflow is None:
        return WorkflowFile(workflow=Workflow()), []
    try:
        inspection = inspect_workflow(read_text(workflow), workflow)
    except UserFileError as error:
        return WorkflowFile(workflow=Workflow()), error.problems
    return inspection.file or WorkflowFile(workflow=Workflow()), inspection.problems


def _problems_in_force(
    file: WorkflowFile, resolved: ResolvedSettings, known: list[Problem], *, is_whole: bool
) -> list[Problem]:
    """What is wrong with the values taken together, such as a backend that there is not.

    `is_whole`: there is a workflow, and all of it was read. Else it is not told that it has no agents.
    """
    effective = resolved.effective
    workdir = workdir_of(effective.file)
    library = library_of(effective.file, workdir)
    told = {problem.place for problem in known if problem.severity is Severity.ERROR}
    return [
        problem
        for problem in problems_in_force(file, effective, library, backend_names(), workdir)
        if problem not in known
        and problem.place not in told
        and (is_whole or problem.place or problem.file != file.path)
        and (problem.severity is Severity.ERROR or _is_of_setting(problem))
    ]


def _is_of_setting(problem: Problem) -> bool:
    """Whether it is not about agents and groups: warnings of these are told by `openloop validate`."""
    return re.split(r"[.\[]", problem.place)[0] in TOP_KEYS or problem.place.startswith((PREFIX, "--"))


def _as_effective(resolved: ResolvedSettings) -> list[Setting]:
    """The settings, and in place of "not set" what that comes to on this machine."""
    file = resolved.effective.file
    workdir = workdir_of(file)
    values: dict[str, JsonValue] = {
        "workdir": str(workdir),
        "log_dir": str(log_dir_of(file, workdir)),
        "max_parallel_agents": file.workflow.parallel_cap,
        "backend": file.workflow.backend or DEFAULT_BACKEND,
    }
    return [
        Setting(
            setting.key,
            values.get(setting.key, setting.value),
            setting.origin,
            setting.source or (str(file.path or "") if setting.origin is Origin.WORKFLOW else ""),
            setting.line,
            setting.column,
        )
        for setting in resolved.effective.settings
    ]


# --- as JSON ------------------------------------------------------------------------------------------


def _print_json(settings: list[Setting], files: Iterable[LookedFor], workflow: Path | None) -> None:
    lines: list[dict[str, JsonValue]] = [
        {
            "key": setting.key,
            "value": setting.value,
            "origin": setting.origin.value,
            "source": setting.source,
            "line": setting.line,
        }
        for setting in settings
    ]
    lines += [
        {"origin": origin, "file": str(path), "exists": exists}
        for origin, path, exists in _looked_for(files, workflow)
    ]
    for line in lines:
        text = json.dumps(line, ensure_ascii=False)
        sys.stdout.buffer.write(text.encode("utf-8", "backslashreplace") + b"\n")


def _looked_for(files: Iterable[LookedFor], workflow: Path | None) -> list[tuple[str, Path, bool]]:
    rows = [(looked.origin.value, looked.path, looked.exists) for looked in files]
    if workflow is not None:
        rows.insert(0, (Origin.WORKFLOW.value, workflow, workflow.exists()))
    return rows


# --- as a table ---------------------------------------------------------------------------------------


def _print_table(
    settings: list[Setting], files: Iterable[LookedFor], workflow: Path | None, *, is_readable: bool
) -> None:
    rows = [
        (setting.key, one_line(json.dumps(setting.value, ensure_ascii=False)), _where_from(setting))
        for setting in settings
    ]
    keys = max(len(key) for key, _, _ in rows)
    values = min(max(len(value) for _, value, _ in rows), _WIDEST)
    lines = [f"{one_line(key):{keys}}  {value:{values}}  {where}" for key, value, where in rows]
    is_default = [setting.origin is Origin.DEFAULT for setting in settings]
    looked = _looked_for(files, workflow)
    origins = max(len(origin) for origin, _, _ in looked)
    lines += ["", "Looked for, the strongest first:"]
    for origin, path, exists in looked:
        state = "read" if exists else "not there"
        if path == workflow and exists and not is_readable:
            state = "cannot be read"
        lines.append(f"  {origin:{origins}}  {one_line(str(path))}: {state}")
    if sys.stdout.isatty():
        _print_dimmed(lines, is_default)
    else:
        sys.stdout.write("".join(f"{line.rstrip()}\n" for line in lines))


def _where_from(setting: Setting) -> str:
    place = f"{setting.source}:{setting.line}" if setting.line is not None else setting.source
    return one_line(f"{setting.origin.value}  {place}" if place else setting.origin.value)


def _print_dimmed(lines: list[str], is_default: list[bool]) -> None:
    """On a terminal, what somebody said stands out."""
    from rich.console import Console
    from rich.text import Text

    console = Console(highlight=False, markup=False, emoji=False, soft_wrap=True)
    for index, line in enumerate(lines):
        dimmed = index < len(is_default) and is_default[index]
        console.print(Text(line.rstrip(), style="dim" if dimmed else ""))
