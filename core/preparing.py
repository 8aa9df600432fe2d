"""From a workflow file to a run that may begin: settings, agents, plan, and the commands that it brings."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path

from core.agent import AgentLibrary
from core.config import WorkflowFile
from core.plan import RunPlan
from core.planning import RunOverrides, plan_run
from core.problems import Problem
from core.run_folders import library_of, workdir_of
from core.settings import effective_workflow
from core.trust import BroughtCommand, brought_commands


@dataclass(frozen=True, slots=True)
class PreparedRun:
    """A run that may begin as soon as its commands are allowed."""

    plan: RunPlan
    commands: tuple[BroughtCommand, ...]
    warnings: tuple[Problem, ...] = ()


def prepare_run(
    file: WorkflowFile,
    overrides: RunOverrides | None = None,
    *,
    environ: Mapping[str, str],
    given: Mapping[str, str] | None = None,
    library: AgentLibrary | None = None,
    known_backends: Collection[str] | None = None,
    default_workdir: Path | None = None,
) -> PreparedRun:
    """Decide everything about a run; reads the disk. Raises UserFileError.

    `given`: settings of the command line, by key. `library` None: it is read from the workflow's folders.
    """
    overrides = overrides or RunOverrides()
    project = overrides.workdir.absolute() if overrides.workdir else workdir_of(file, default_workdir)
    effective = effective_workflow(file, project, environ=environ, given=given)
    workdir = overrides.workdir or workdir_of(effective.file, default_workdir)
    plan = plan_run(
        effective.file,
        library or library_of(effective.file, workdir),
        overrides,
        known_backends=known_backends,
        default_workdir=default_workdir,
    )
    return PreparedRun(plan, brought_commands(plan, effective.settings), effective.warnings)
