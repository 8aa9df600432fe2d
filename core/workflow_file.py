"""Workflow files: load, parse, write as text, save. The format: docs/file-format.md."""

from __future__ import annotations

import os
from pathlib import Path

from core.config import WorkflowFile
from core.jsonc import read_text
from core.problems import Problem, UserFileError
from core.words import say
from core.workflow_reading import Inspection, inspect_workflow

__all__ = [
    "Inspection",
    "dump_workflow",
    "inspect_workflow",
    "load_workflow",
    "parse_workflow",
    "save_workflow",
]


def load_workflow(path: Path) -> WorkflowFile:
    """Read a workflow file. Raises UserFileError with every problem that keeps it from being used."""
    return parse_workflow(read_text(path), path)


def parse_workflow(text: str, path: Path | None = None) -> WorkflowFile:
    """The workflow of a text; `warnings` of the result name unknown keys and the like.

    `path` is only remembered, for problems and relative folders. Raises UserFileError.
    """
    inspection = inspect_workflow(text, path)
    if inspection.file is None or inspection.errors:
        raise UserFileError(inspection.errors)
    return inspection.file


def dump_workflow(file: WorkflowFile) -> str:
    """The file's text: plain JSON with a newline at its end."""
    # Whoever only reads a workflow, such as the window at its start, needs no writer.
    from core import workflow_writing

    return workflow_writing.dump_workflow(file)


def save_workflow(file: WorkflowFile, path: Path) -> WorkflowFile:
    """Write a workflow to a file, all of it or nothing; gives the file as it now is.

    A symbolic link is followed, permissions are kept. Raises UserFileError; then the old file is untouched.
    """
    from core.durable_files import replace_file

    text = dump_workflow(file)
    try:
        replace_file(Path(os.path.realpath(path)), text.encode("utf-8"))
    except UnicodeEncodeError as error:
        raise UserFileError(
            [
                Problem(
                    say("The workflow has text that is half of a character and cannot be saved."), file=path
                )
            ]
        ) from error
    except OSError as error:
        raise UserFileError([_unwritable(path, error)]) from error
    return WorkflowFile(workflow=file.workflow, path=path, text=text)


def _unwritable(path: Path, error: OSError) -> Problem:
    advice = say("The file is as it was. Try again, or save it somewhere else.")
    if isinstance(error, FileNotFoundError):
        return Problem(
            say("The file cannot be saved because its folder does not exist."),
            suggestion=say("Create the folder, or save it somewhere else."),
            file=path,
        )
    if isinstance(error, IsADirectoryError):
        return Problem(
            say("The file cannot be saved because a folder has this name."),
            suggestion=say("Choose another name."),
            file=path,
        )
    if isinstance(error, PermissionError):
        return Problem(
            say(
                "The file cannot be saved: it is read-only, its folder is, or another program holds it open."
            ),
            suggestion=advice,
            file=path,
        )
    return Problem(
        say("The file cannot be saved: {error}.", error=error.strerror or error), suggestion=advice, file=path
    )
