"""Where a run works, where it writes, and where its agents come from."""

from __future__ import annotations

import os
import sys
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

    The workflow's `workdir` is relative to its file, and without a file to `default`. Where it says nothing:
    `default`, else the current folder.
    """
    given = file.workflow.workdir
    if not given:
        return (default or Path.cwd()).absolute()
    folder = _expanded(given)
    if folder.is_absolute():
        return folder
    return ((default.absolute() if file.path is None and default else _folder_of(file)) / folder).resolve()


def unfit_current_folder() -> Path | None:
    """The current folder, where no agent should work of whom nobody said where: the root of a disk, a folder
    of the system or one that cannot be written, as when OpenLoop was started from a menu. None: it is fit."""
    try:
        here = Path.cwd()
    except OSError:
        # It was taken away.
        return Path(os.sep)
    system = os.environ.get("SYSTEMROOT") if sys.platform == "win32" else None
    is_odd = here == Path(here.anchor) or (system is not None and here.is_relative_to(system))
    return here if is_odd or not os.access(here, os.W_OK | os.X_OK) else None


def start_folder() -> Path:
    """Where a user probably wants to look for files first: where unsaved workflows work, else at home."""
    folder = unsaved_workdir()
    return folder if folder.is_dir() else _expanded("~")


def unsaved_workdir() -> Path:
    """Where the agents of a workflow work that has no file yet, in the window: the current folder; where that
    is not fit, a folder of its own among the user's files, or data where those cannot be written. It is made
    when a run begins."""
    if unfit_current_folder() is None:
        return Path.cwd()
    home = _expanded("~")
    fit = home.is_absolute() and home != Path(home.anchor) and os.access(home, os.W_OK | os.X_OK)
    return home / "OpenLoop" if fit else data_folder() / "work"


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
