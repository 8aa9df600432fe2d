"""Renaming an agent: its name is what workflows know it by, its file usually has that name, too.

Workflows name an agent by the `name` of its front matter, else by its file's name without .md.
"""

from __future__ import annotations

import os
import re
import sys
import unicodedata
from collections.abc import Iterator
from pathlib import Path

from core.agent_writing import AgentText, save_agent
from core.config import AgentGroup, Workflow
from core.durable_files import sync_folder
from core.front_matter import FrontMatterError
from core.jsonc import decode, read_bytes, read_text
from core.problems import Problem, UserFileError
from core.state import PHASES
from core.words import say

LONGEST_NAME = 80
_DEVICE = re.compile(r"(?:con|prn|aux|nul|com\d|lpt\d)", re.IGNORECASE)
"""Names that mean a device on Windows, in every folder."""
_MOST_FILES = 500
"""Of a folder, that are looked into for workflows."""


def file_name(name: str) -> str:
    """The file for an agent of this name: one that every system takes, and that is found as an agent."""
    plain = re.sub(r"[^\w-]+", "_", unicodedata.normalize("NFC", name)).strip("_")[:LONGEST_NAME] or "agent"
    if _DEVICE.fullmatch(plain) or plain.lower() == "readme":
        plain = f"{plain}_agent"
    return f"{plain}.md"


def renamed_path(path: Path, old: str, new: str) -> Path:
    """Where an agent's file is once the agent has another name. A file that was not called as its agent, and
    a link, stay where they are."""
    if path.stem not in (old, Path(file_name(old)).stem) or path.is_symlink():
        return path
    return path.with_name(f"{Path(file_name(new)).stem}{path.suffix}")


def rename_agent(path: Path, old: str, new: str, to: Path | None = None) -> Path:
    """Give an agent another name, and its file with it; gives where the file is then. `to`: where it goes;
    None: as `renamed_path` says.

    Nothing is ever replaced. At any moment the agent is there, whole; where it fails, it is as it was before.
    Raises UserFileError.
    """
    target = to if to is not None else renamed_path(path, old, new)
    data = read_bytes(path)
    before = decode(data, path)
    text = AgentText.parse(before)
    try:
        if "name" in text.keys or target.stem != new:
            text = text.with_fields({"name": new})
    except FrontMatterError as error:
        raise UserFileError([Problem(error.message, file=path)]) from error
    if target != path and _is_taken(path, target):
        raise UserFileError([_taken(target)])
    written = save_agent(path, text.text, data)
    if target != path:
        try:
            _move(path, target)
        except OSError as error:
            save_agent(path, before, written)
            if isinstance(error, FileExistsError):
                raise UserFileError([_taken(target)]) from error
            reason = error.strerror or str(error)
            words = say("{name} cannot be renamed: {reason}.", name=path.name, reason=reason)
            raise UserFileError([Problem(words)]) from error
    return target


def is_called(path: Path, name: str) -> bool:
    """Whether an agent's file says this name, or says none and is called so. Raises UserFileError."""
    text = AgentText.parse(decode(read_bytes(path), path))
    try:
        # What is so already stays as it is written.
        return text.with_fields({"name": name}) == text if "name" in text.keys else path.stem == name
    except FrontMatterError as error:
        raise UserFileError([Problem(error.message, file=path)]) from error


def _is_taken(path: Path, target: Path) -> bool:
    """Whether another file has the name. Where a and A are one, a file may have its own in other letters."""
    return os.path.lexists(target) and not (target.exists() and target.samefile(path))


def _taken(target: Path) -> Problem:
    text = say("There is already a file {name} in this folder.", name=target.name)
    return Problem(text, suggestion=say("Choose another name."))


def _move(path: Path, target: Path) -> None:
    """Rename a file. Raises OSError, FileExistsError where there is one already."""
    if sys.platform == "win32" or os.path.lexists(target):
        # Windows never replaces a file so; elsewhere it is the same file in other letters.
        path.rename(target)
    else:
        try:
            # `rename` would replace a file that another program made a moment ago.
            os.link(path, target)
        except FileExistsError:
            raise
        except OSError:
            # A file system without links.
            path.rename(target)
        else:
            path.unlink()
    sync_folder(target.parent)


# --- who knows it ----------------------------------------------------------------------------------------


def workflows_that_use(name: str, folder: Path, besides: Path | None = None) -> list[Path]:
    """The workflow files of a folder that name an agent, but for one of them; in the order of their names.

    Reads files; one that is no workflow or cannot be read is none.
    """
    return [path for path in _candidates(folder) if path != besides and _uses(path, name)]


def _candidates(folder: Path) -> Iterator[Path]:
    try:
        with os.scandir(folder) as entries:
            names = sorted(entry.name for entry in entries if entry.name.endswith((".json", ".jsonc")))
    except OSError:
        # Gone meanwhile, or closed to us.
        return
    for name in names[:_MOST_FILES]:
        yield folder / name


def _uses(path: Path, name: str) -> bool:
    # Not needed before somebody renames an agent.
    from core.workflow_reading import inspect_workflow

    try:
        file = inspect_workflow(read_text(path), path).file
    except UserFileError:
        return False
    return file is not None and name in names_in(file.workflow)


def names_in(workflow: Workflow) -> set[str]:
    """The agents that a workflow names."""
    groups = [group for phase in PHASES for group in workflow.groups(phase)]
    return {
        name
        for group in groups
        for name in (
            [entry.agent for entry in group.agents] if isinstance(group, AgentGroup) else [group.agent]
        )
    }
