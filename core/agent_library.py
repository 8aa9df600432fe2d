"""The agent library: every agent file below some folders, read once and refreshed by file stamps."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

from core.agent_definition import AgentDefinition
from core.agent_file import AgentFile, read_agent
from core.agent_folders import is_shipped
from core.findings import nearest
from core.problems import Problem, Severity
from core.words import say

_Stamp: TypeAlias = tuple[int, int, int]
"""Time of change in ns, size, inode."""
_UNSETTLED_NS = 2_500_000_000
"""A file that was changed so recently may change again within one tick of its file system's clock, which
takes two seconds in the worst case: its stamp does not tell that."""


@dataclass(frozen=True, slots=True)
class _Read:
    stamp: _Stamp | None
    """None: it does not tell whether the file is as it was read."""
    file: AgentFile


@dataclass(frozen=True, slots=True)
class _Found:
    """A Markdown file below one of the folders."""

    path: Path
    folder: str
    stamp: _Stamp | None


@dataclass(frozen=True, slots=True)
class _Tables:
    """What one look at the folders found."""

    reads: Mapping[Path, _Read] = field(default_factory=dict)
    by_name: Mapping[str, AgentDefinition] = field(default_factory=dict)
    agents: tuple[AgentDefinition, ...] = ()
    problems: tuple[Problem, ...] = ()
    borrowed: frozenset[str] = frozenset()
    nearest: dict[str, str | None] = field(default_factory=dict)
    """What was asked for and is not there, and what was most likely meant."""


class AgentLibrary:
    """The agents of some folders, the most important folder first.

    Markdown files (`*.md`, but not README.md) are found recursively; hidden files and folders are skipped.
    Where two folders have an agent of one name, the earlier folder's counts; two of one name inside one
    folder are a problem. An agent that ships with OpenLoop does not stand in for a file that cannot be read.
    The constructor and `refresh` read the disk; everything else only looks at what they found, which is
    replaced as a whole, so a library may be read on one thread while another refreshes it.
    """

    def __init__(self, folders: Path | Sequence[Path]) -> None:
        self._folders = (folders,) if isinstance(folders, Path) else tuple(folders)
        self._tables = _Tables()
        self.refresh()

    @property
    def folders(self) -> tuple[Path, ...]:
        """Where it looks, the most important folder first."""
        return self._folders

    @property
    def agents(self) -> tuple[AgentDefinition, ...]:
        """Every agent that can be used, by folder of the library, sub-folder and name."""
        return self._tables.agents

    @property
    def problems(self) -> tuple[Problem, ...]:
        """What is wrong with the files, each with its file and line."""
        return self._tables.problems

    @property
    def has_own(self) -> bool:
        """Whether there is any agent's file, also one that cannot be read, in the most important folder."""
        reads = self._tables.reads
        return bool(self._folders) and any(path.is_relative_to(self._folders[0]) for path in reads)

    def get(self, name: str) -> AgentDefinition | None:
        """The agent of this name."""
        return self._tables.by_name.get(name)

    def is_borrowed(self, name: str) -> bool:
        """Whether the agent of this name comes with OpenLoop, for workflows that do not.

        Such an agent was made for an example, and does no work but where it is given another backend.
        """
        return name in self._tables.borrowed

    def suggestion(self, name: str) -> str:
        """A sentence for somebody who named an agent that does not exist; may be empty."""
        near = self.nearest(name)
        return say("Did you mean {near}?", near=near) if near is not None else ""

    def nearest(self, name: str) -> str | None:
        """The agent that somebody most likely meant who named one that does not exist."""
        tables = self._tables
        known = tables.nearest
        if name not in known:
            # A workflow is checked with every letter that is typed, and this is the dear part of it.
            known[name] = nearest(name, tables.by_name)
        return known[name]

    def problems_of(self, name: str) -> tuple[Problem, ...]:
        """What is wrong with the file of an agent, also of one that could not be read at all."""
        tables = self._tables
        agent = tables.by_name.get(name)
        return tuple(
            problem
            for problem in tables.problems
            if problem.file is not None
            and (problem.file == agent.path if agent is not None else problem.file.stem == name)
        )

    def refresh(self) -> bool:
        """Look for new, changed and removed files; only those are read. Gives whether anything changed."""
        before = self._tables
        reads: dict[Path, _Read] = {}
        by_name: dict[str, AgentDefinition] = {}
        agents: list[AgentDefinition] = []
        problems: list[Problem] = []
        unreadable: set[str] = set()
        settled = time.time_ns() - _UNSETTLED_NS
        for folder in self._folders:
            own: dict[str, AgentDefinition] = {}
            for found in sorted(_markdown_files(folder), key=lambda item: (item.folder, item.path.name)):
                if found.path in reads:
                    continue
                known = before.reads.get(found.path)
                if known is None or known.stamp is None or known.stamp != found.stamp:
                    stamp = found.stamp if found.stamp is not None and found.stamp[0] < settled else None
                    known = _Read(stamp, read_agent(found.path, found.folder))
                reads[found.path] = known
                problems.extend(known.file.problems)
                agent = known.file.agent
                if agent is None:
                    unreadable.add(found.path.stem)
                    continue
                first = own.get(agent.name)
                if first is not None:
                    problems.append(_duplicate(agent, first))
                    continue
                own[agent.name] = agent
            if is_shipped(folder):
                # What only plays must not stand in for an agent whose file has a mistake.
                own = {name: agent for name, agent in own.items() if name not in unreadable}
            fresh = [agent for name, agent in own.items() if name not in by_name]
            agents.extend(sorted(fresh, key=lambda agent: (agent.folder.casefold(), agent.name.casefold())))
            by_name.update((agent.name, agent) for agent in fresh)
        now = _Tables(reads, by_name, tuple(agents), tuple(problems), self._names_of_borrowed(agents))
        self._tables = now
        return (before.agents, before.problems) != (now.agents, now.problems)

    def _names_of_borrowed(self, agents: Sequence[AgentDefinition]) -> frozenset[str]:
        # A workflow that ships has those that ship first, and they are its own.
        if not self._folders or is_shipped(self._folders[0]):
            return frozenset()
        return frozenset(agent.name for agent in agents if agent.path is not None and is_shipped(agent.path))


def _duplicate(agent: AgentDefinition, first: AgentDefinition) -> Problem:
    where = first.path.name if first.path is not None else say("another file")
    if first.path is not None and first.folder != agent.folder:
        where = f"{first.folder}/{first.path.name}" if first.folder else first.path.name
    return Problem(
        say("There are two agents called {name}; the one in {file} is used.", name=agent.name, file=where),
        "name",
        say("Give one of them another name."),
        Severity.WARNING,
        agent.path,
        1,
    )


def _markdown_files(root: Path) -> Iterator[_Found]:
    """Every visible `*.md` below a folder. A folder that links lead to again is visited once."""
    seen: set[str] = set()
    waiting: list[tuple[Path, str]] = [(root, "")]
    while waiting:
        directory, folder = waiting.pop()
        real = os.path.realpath(directory)
        if real in seen:
            continue
        seen.add(real)
        try:
            with os.scandir(directory) as entries:
                items = sorted(entries, key=lambda entry: entry.name)
        except OSError:
            # Gone meanwhile, or closed to us: there is nothing in it that could be used.
            continue
        for entry in items:
            if entry.name.startswith("."):
                continue
            if _is_folder(entry):
                waiting.append((Path(entry.path), f"{folder}/{entry.name}" if folder else entry.name))
            elif entry.name.lower().endswith(".md") and entry.name.lower() != "readme.md":
                yield _Found(Path(entry.path), folder, _stamp(entry))


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:
        # A link to itself: neither a folder nor a file that can be read.
        return False


def _stamp(entry: os.DirEntry[str]) -> _Stamp | None:
    try:
        status = entry.stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size, status.st_ino
