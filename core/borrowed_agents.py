"""Agents that ship with OpenLoop in workflows that do not: they must not stand in for missing ones unsaid."""

from __future__ import annotations

from collections.abc import Iterator

from core.agent_library import AgentLibrary
from core.config import AgentEntry, Workflow
from core.findings import Finding
from core.fixes import MakeAgent, ReplaceBackend
from core.jsonc import JsonPath
from core.problems import Severity
from core.state import Phase
from core.words import say

DEMO = "demo"
"""The backend that plays a scene."""


def borrowed_findings(
    entry: AgentEntry,
    in_force: Workflow,
    library: AgentLibrary,
    path: JsonPath,
    place: tuple[Phase, int, int],
) -> Iterator[Finding]:
    """What is to be said about one place where such an agent stands, most often because its own is missing.

    An error, as its answers are made up and may say that all is done and checked; a warning where somebody
    wrote that it is to be played: at the place, in the workflow or in the settings (`in_force`).
    `place`: phase, index of the group, index in it.
    """
    name = entry.agent
    agent = library.get(name)
    if agent is None or not library.is_borrowed(name):
        return
    make = MakeAgent(name)
    if (entry.backend or agent.backend or in_force.backend) != DEMO:
        yield Finding(
            path,
            say("{agent} comes with OpenLoop: this workflow has no agent of this name.", agent=name),
            say("Make one of your own, so that it does not change with OpenLoop."),
            Severity.WARNING,
            fix=make,
        )
        return
    message = say(
        "{agent} is a demonstration agent of OpenLoop: it does no work, and what it answers is made up.",
        agent=name,
    )
    if DEMO in (entry.backend, in_force.backend):
        advice = say("For real work make an agent of your own.")
        yield Finding(path, message, advice, Severity.WARNING, fix=make)
        return
    advice = say('Make an agent of your own. To have it played all the same, give it "backend": "demo".')
    play = ReplaceBackend(*place, name, entry.backend, DEMO)
    yield Finding(path, message, advice, fix=make, other_fixes=(play,))
