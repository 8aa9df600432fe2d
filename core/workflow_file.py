"""Workflow files: load, parse, write as text, save. The format: docs/file-format.md."""

from __future__ import annotations

import contextlib
import os
import secrets
import stat
from pathlib import Path

from core.config import WorkflowFile
from core.jsonc import read_text
from core.problems import Problem, UserFileError
from core.workflow_reading import Inspection, inspect_workflow
from core.workflow_writing import dump_workflow

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


def save_workflow(file: WorkflowFile, path: Path) -> WorkflowFile:
    """Write a workflow to a file, all of it or nothing; gives the file as it now is.

    A symbolic link is followed, permissions are kept. Raises UserFileError; then the old file is untouched.
    """
    text = dump_workflow(file)
    try:
        _replace_file(Path(os.path.realpath(path)), text.encode("utf-8"))
    except UnicodeEncodeError as error:
        raise UserFileError(
            [Problem("The workflow has text that is half of a character and cannot be saved.", file=path)]
        ) from error
    except OSError as error:
        raise UserFileError([_unwritable(path, error)]) from error
    return WorkflowFile(workflow=file.workflow, path=path, text=text)


def _replace_file(target: Path, data: bytes) -> None:
    """Write a file so that at any moment either the old or the new one is whole. Raises OSError."""
    if target.is_dir():
        raise IsADirectoryError(f"{target} is a folder")
    mode = _permissions_to_keep(target)
    # Not tempfile: its files belong to the owner alone, and the umask cannot be read without changing it.
    temporary = target.with_name(f".{target.name[:100]}.{secrets.token_hex(6)}.tmp")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o666)
    try:
        with os.fdopen(descriptor, "wb") as stream:
            if mode is not None:
                temporary.chmod(mode)
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        temporary.replace(target)
    except BaseException:
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise
    _sync_folder(target.parent)


def _permissions_to_keep(target: Path) -> int | None:
    """Those of the old file; None: there is none. Raises PermissionError for a file that is read-only."""
    try:
        mode = stat.S_IMODE(target.stat().st_mode)
    except FileNotFoundError:
        return None
    if not os.access(target, os.W_OK):
        raise PermissionError(f"{target} is read-only")
    return mode


def _sync_folder(folder: Path) -> None:
    """Bring the new name to the disk; where folders cannot be opened (Windows) the system does it."""
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _unwritable(path: Path, error: OSError) -> Problem:
    advice = "The file is as it was. Try again, or save it somewhere else."
    if isinstance(error, FileNotFoundError):
        return Problem(
            "The file cannot be saved because its folder does not exist.",
            suggestion="Create the folder, or save it somewhere else.",
            file=path,
        )
    if isinstance(error, IsADirectoryError):
        return Problem(
            "The file cannot be saved because a folder has this name.",
            suggestion="Choose another name.",
            file=path,
        )
    if isinstance(error, PermissionError):
        return Problem(
            "The file cannot be saved: it is read-only, its folder is, or another program holds it open.",
            suggestion=advice,
            file=path,
        )
    return Problem(f"The file cannot be saved: {error.strerror or error}.", suggestion=advice, file=path)
