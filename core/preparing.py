"""From a workflow file to a run that may begin: settings, agents, plan, and the commands that it brings."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path

from core.agent import AgentLibrary
from core.check import check_workflow
from core.config import WorkflowFile
from core.plan import RunPlan
from core.planning import RunOverrides, plan_run
from core.problems import Problem, Severity, UserFileError
from core.run_folders import library_of, log_dir_of, workdir_of
from core.settings import EffectiveWorkflow, Setting, effective_workflow
from core.trust import BroughtCommand, brought_commands


@dataclass(frozen=True, slots=True)
class PreparedRun:
    """A run that may begin as soon as its commands are allowed."""

    plan: RunPlan
    commands: tuple[BroughtCommand, ...]
    warnings: tuple[Problem, ...] = ()
    own_commands: tuple[BroughtCommand, ...] = ()
    """Those that no file brings: the user's own, of command line, environment or own settings."""
    settings: tuple[Setting, ...] = ()
    """The settings of a new run, with where each comes from."""


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
    effective = effective_workflow(
        file,
        workdir_of(file, default_workdir),
        environ=environ,
        given={**(given or {}), **given_folders(overrides)},
    )
    workdir = overrides.workdir or workdir_of(effective.file, default_workdir)
    library = library or library_of(effective.file, workdir)
    try:
        plan = plan_run(
            effective.file,
            library,
            overrides,
            known_backends=known_backends,
            default_workdir=default_workdir,
        )
    except UserFileError as refusal:
        found = problems_in_force(file, effective, library, known_backends, workdir)
        errors = [problem for problem in found if problem.severity is Severity.ERROR]
        raise UserFileError(errors or refusal.problems) from refusal
    brought = brought_commands(plan, effective.settings)
    meanings = {command.meaning for command in brought}
    own = tuple(command for command in brought_commands(plan) if command.meaning not in meanings)
    return PreparedRun(plan, brought, effective.warnings, own, effective.settings)


def folders_in_force(
    file: WorkflowFile,
    overrides: RunOverrides | None = None,
    *,
    environ: Mapping[str, str],
    default_workdir: Path | None = None,
) -> tuple[Path, Path]:
    """The working folder and that of the run folders, as `prepare_run` decides them. Raises UserFileError."""
    file = effective_workflow(
        file,
        workdir_of(file, default_workdir),
        environ=environ,
        given=given_folders(overrides or RunOverrides()),
    ).file
    workdir = workdir_of(file, default_workdir)
    return workdir, log_dir_of(file, workdir)


def given_folders(overrides: RunOverrides) -> dict[str, str]:
    """The folders that the command line names, as settings: files with settings are looked for from there."""
    folders = {"workdir": overrides.workdir, "log_dir": overrides.log_dir}
    return {key: str(folder.absolute()) for key, folder in folders.items() if folder is not None}


def problems_in_force(
    file: WorkflowFile,
    effective: EffectiveWorkflow,
    library: AgentLibrary,
    known_backends: Collection[str] | None,
    workdir: Path,
) -> list[Problem]:
    """The problems of a workflow with its settings, each where it comes from: a file with settings, a
    variable, or the workflow as it was read."""
    read = {(p.message, p.place): p for p in check_workflow(file, library, known_backends, workdir)}
    return [
        effective.at_its_place(problem) or read.get((problem.message, problem.place), problem)
        for problem in check_workflow(effective.file, library, known_backends, workdir)
    ]
