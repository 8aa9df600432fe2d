"""The agents of an example that becomes somebody's own: they are copied beside it."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass, replace
from pathlib import Path

import resources
from core.agent_folders import agent_folders
from core.agent_library import AgentLibrary
from core.agent_writing import create_agent_file
from core.config import AgentGroup, Workflow, WorkflowFile
from core.jsonc import decode, read_bytes
from core.problems import UserFileError
from core.run_folders import workdir_of
from core.state import PHASES


@dataclass(frozen=True, slots=True)
class BroughtAgents:
    """What a workflow brought with it. `copied`: the new files; `found`: agents that were there before."""

    folder: Path
    copied: tuple[Path, ...]
    found: tuple[str, ...]

    def take_back(self) -> None:
        """Remove the new files again."""
        for path in self.copied:
            with contextlib.suppress(OSError):
                # It does no harm where it is.
                path.unlink(missing_ok=True)


def bring_agents(file: WorkflowFile) -> BroughtAgents:
    """Copy agents that ship and that this workflow uses to where it looks for its own.

    `file`: with the path that it is going to have. What is there already is left alone, and is used. Raises
    UserFileError, and then nothing was copied.
    """
    assert file.path is not None
    beside = file.path.absolute().parent
    folders = agent_folders(file.workflow.agents_dir, beside, workdir_of(file, beside))
    shipped, others = AgentLibrary(resources.agents_folder()), AgentLibrary(folders[:-1])
    brought = BroughtAgents(folders[0], (), ())
    for name in _names(file.workflow):
        agent = shipped.get(name)
        if agent is None or agent.path is None:
            continue
        target = folders[0] / agent.path.name
        if others.get(name) is not None or target.exists():
            brought = replace(brought, found=(*brought.found, name))
            continue
        try:
            create_agent_file(target, decode(read_bytes(agent.path), agent.path))
        except UserFileError:
            brought.take_back()
            raise
        brought = replace(brought, copied=(*brought.copied, target))
    return brought


def _names(workflow: Workflow) -> list[str]:
    """Every agent that it names, also where it is disabled, once."""
    groups = [group for phase in PHASES for group in workflow.groups(phase)]
    named = (
        [entry.agent for entry in group.agents] if isinstance(group, AgentGroup) else [group.agent]
        for group in groups
    )
    return list(dict.fromkeys(name for names in named for name in names))
