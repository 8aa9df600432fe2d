"""Where a workflow's agents are looked for."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import resources
from core.platform_paths import data_folder


def agent_folders(agents_dir: str | None, beside: Path | None, workdir: Path) -> tuple[Path, ...]:
    """Where a workflow's agents are looked for, the most important folder first.

    `agents_dir` as the workflow says (relative to `beside`, the folder of its file), else `agents` beside the
    file, else `agents` in the working folder; then the user's own for all workflows; and last the examples
    that come with OpenLoop. All are given, also those that do not exist, to be named and watched.

    A workflow that comes with OpenLoop has its own agents first: what it shows is the same everywhere, and
    it starts nothing of the user's.
    """
    base = workdir if beside is None else beside
    if agents_dir:
        own = base / Path(agents_dir).expanduser()
    else:
        candidates = [base / "agents", workdir / "agents"]
        own = next((folder for folder in candidates if folder.is_dir()), candidates[0])
    shipped = resources.agents_folder()
    if beside is not None and is_shipped(beside):
        return shipped, own.absolute(), user_agents_folder()
    return own.absolute(), user_agents_folder(), shipped


def user_agents_folder() -> Path:
    """Where the user keeps agents for all workflows."""
    return data_folder() / "agents"


def is_shipped(path: Path) -> bool:
    """Whether a file or folder comes with OpenLoop: such are read only, and their agents play a scene."""
    return path.absolute().is_relative_to(_shipped_folder())


@cache
def _shipped_folder() -> Path:
    # Rows ask whenever they are painted.
    return resources.folder().absolute()
