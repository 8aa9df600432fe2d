"""What is wrong with a workflow file as a run would have it, with the settings of all other places."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path

from core.check import check_path
from core.jsonc import read_text
from core.preparing import problems_in_force
from core.problems import Problem, UserFileError
from core.run_folders import library_of, workdir_of
from core.settings import resolve_settings
from core.workflow_reading import inspect_workflow


def check_path_in_force(
    path: Path,
    known_backends: Collection[str],
    workdir: Path | None = None,
    *,
    environ: Mapping[str, str],
) -> list[Problem]:
    """Every problem of a workflow file and of the files and variables that have settings for it.

    Reads the disk. `workdir`: the working folder that replaces the workflow's own.
    """
    try:
        inspection = inspect_workflow(read_text(path), path)
    except UserFileError as error:
        return error.problems
    file = inspection.file
    if file is None:
        return inspection.problems
    given = {"workdir": str(workdir.absolute())} if workdir is not None else {}
    resolved = resolve_settings(file, workdir_of(file), environ=environ, given=given)
    elsewhere = [*resolved.errors, *resolved.effective.warnings]
    if inspection.errors:
        # What cannot be read is left out of the workflow, and would be missed in it.
        return [*check_path(path, known_backends, workdir), *elsewhere]
    folder = workdir or workdir_of(resolved.effective.file)
    library = library_of(resolved.effective.file, folder)
    found = problems_in_force(file, resolved.effective, library, known_backends, folder)
    return [*found, *elsewhere]
