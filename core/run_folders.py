"""Where a run works, where it writes, and where its agents come from."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from core.agent_folders import agent_folders
from core.platform_paths import data_folder

if TYPE_CHECKING:
    from core.agent_library import AgentLibrary
    from core.config import WorkflowFile

DEFAULT_LOG_FOLDER = ".openloop"


def workdir_of(file: WorkflowFile, default: Path | None = None) -> Path:
    """The folder that the agents work in, absolute; it may not exist.

    The workflow's `workdir` is relative to its file. Without one: `default`, else the current folder.
    """
    given = file.workflow.workdir
    if not given:
        return (default or Path.cwd()).absolute()
    folder = _expanded(given)
    return (_folder_of(file) / folder).resolve() if not folder.is_absolute() else folder


def example_workdir(path: Path) -> Path:
    """Where agents of an example work that somebody only tries: its own folder among the user's data, which
    can be written wherever OpenLoop was started. Not created here."""
    return examples_folder() / path.stem


def examples_folder() -> Path:
    """Where the work folders of the examples are."""
    return data_folder() / "examples"


def log_dir_of(file: WorkflowFile, workdir: Path) -> Path:
    """The folder of the run folders: `log_dir` relative to the working folder, else `.openloop` in it."""
    given = file.workflow.log_dir
    return workdir / (_expanded(given) if given else DEFAULT_LOG_FOLDER)


def library_of(file: WorkflowFile, workdir: Path) -> AgentLibrary:
    """The agents that the workflow may use; reads the disk. Folders: `core.agent.agent_folders`."""
    # Whoever only wants the folders needs no YAML.
    from core.agent_library import AgentLibrary

    beside = file.path.absolute().parent if file.path is not None else None
    return AgentLibrary(agent_folders(file.workflow.agents_dir, beside, workdir))


def _expanded(folder: str) -> Path:
    # Path.expanduser raises for a user that there is not.
    return Path(os.path.expanduser(folder))  # noqa: PTH111


def _folder_of(file: WorkflowFile) -> Path:
    return file.path.absolute().parent if file.path is not None else Path.cwd()
