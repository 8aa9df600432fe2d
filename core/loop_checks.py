"""Whether anything can end the loop: a condition that can hold, somebody who may say that it is done."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from core.agent import AgentDefinition, AgentLibrary
from core.agent_folders import is_shipped
from core.condition_outcomes import MOST_LOOPS, World, parsed, payload_keys, truths
from core.config import FanOutGroup, Group, Workflow
from core.findings import Finding, nearest
from core.fixes import ChangeSetting, LetComplete
from core.problems import Severity
from core.state import Phase
from core.state_path import format_path, parse_path
from core.words import say, say_number

if TYPE_CHECKING:
    from core.known_payload import KnownPayload

_CONDITION = ("end_state_condition",)


def loop_findings(
    workflow: Workflow,
    in_force: Workflow,
    library: AgentLibrary,
    known: KnownPayload | None,
) -> Iterator[Finding]:
    """What keeps the loop from ending before `max_loops`. The condition compiles.

    `in_force`: the settings as a run would have them.
    """
    names = list(enabled_agents(workflow, "loop"))
    tree = parsed(workflow.end_state_condition)
    if not names or tree is None:
        return
    names = [*enabled_agents(workflow, "preparation"), *names]
    agents = [library.get(name) for name in names]
    world = World()
    if True not in truths(tree, world):
        yield _never(
            say_number(
                in_force.max_loops,
                "The end condition can never hold, so the loop runs once.",
                "The end condition can never hold, so the loop runs {count} times.",
            )
        )
        return
    world = replace(world, most_loops=in_force.max_loops)
    if True not in truths(tree, world):
        yield _too_few_loops(tree, in_force)
        return
    world = replace(world, somebody_completes=any(_may_complete(agent) for agent in agents))
    if True not in truths(tree, world):
        fixes = _who_could_complete(enabled_agents(workflow, "loop"), library)
        yield Finding(
            _CONDITION,
            say_number(
                in_force.max_loops,
                "No agent may end the loop, so it runs once.",
                "No agent may end the loop, so it runs {count} times.",
            ),
            say(
                "Give one of its agents the role auditor or can_complete: true, or use an end condition "
                "over payload."
            ),
            Severity.WARNING,
            fix=fixes[0] if fixes else None,
            other_fixes=fixes[1:],
        )
        return
    if known is not None:
        yield from _unwritten(workflow, tree, world, names, known)


def _may_complete(agent: AgentDefinition | None) -> bool:
    # Of one that is not there nothing is known, and it is a problem of its own.
    return agent is None or agent.may_complete


_MOST_OFFERED = 2
_JUDGING_ROLES = frozenset({"reviewer", "tester", "judge", "critic", "verifier"})
"""Of many agents of a loop, those that look at what the others did."""


def _who_could_complete(names: Iterator[str], library: AgentLibrary) -> tuple[LetComplete, ...]:
    """Agents of the loop that could be allowed to end it, the last one first: it sees all that was done.

    None where there are too many for one of them to be the obvious one.
    """
    agents = [agent for name in dict.fromkeys(names) if (agent := library.get(name)) is not None]
    own = [agent for agent in agents if agent.path is not None and not is_shipped(agent.path)]
    # Of who was forbidden to, somebody once thought otherwise.
    free = [agent for agent in own if agent.can_complete is None] or own
    if len(free) > _MOST_OFFERED:
        free = [agent for agent in free if agent.role.strip().lower() in _JUDGING_ROLES]
    return tuple(LetComplete(agent.name) for agent in reversed(free)) if len(free) <= _MOST_OFFERED else ()


def enabled_agents(workflow: Workflow, phase: Phase) -> Iterator[str]:
    """The names of the agents of a phase that are not disabled, as often as they stand there."""
    for group in workflow.groups(phase):
        yield from agents_of(group)


def agents_of(group: Group) -> list[str]:
    """The names of a group's agents that are not disabled, in order."""
    if not group.enabled:
        return []
    if isinstance(group, FanOutGroup):
        return [group.agent]
    return [entry.agent for entry in group.agents if entry.enabled]


# --- findings -----------------------------------------------------------------------------------------


def _never(message: str) -> Finding:
    return Finding(
        _CONDITION,
        message,
        say("Compare something that agents write, such as payload.get('score', 0) >= 90."),
        Severity.WARNING,
    )


def _too_few_loops(tree: ast.expr, in_force: Workflow) -> Finding:
    most = in_force.max_loops
    wanted = next(
        (
            number
            for number in sorted(_numbers(tree))
            if number > most and True in truths(tree, World(most_loops=number))
        ),
        None,
    )
    found = _never(
        say_number(
            most,
            "iteration gets no further than 1: the end condition can never hold, so the loop runs once.",
            "iteration gets no further than {count}: the end condition can never hold, so the loop runs "
            "{count} times.",
        )
    )
    if wanted is None:
        return found
    return replace(
        found,
        suggestion=say("Set max_loops to {wanted}, or ask for less.", wanted=wanted),
        fix=ChangeSetting("max_loops", wanted),
    )


def _numbers(tree: ast.expr) -> set[int]:
    """The whole numbers of a condition, and those after them: where a comparison with them turns."""
    found = {
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and type(node.value) is int and 0 < node.value < MOST_LOOPS
    }
    return found | {number + 1 for number in found}


def _unwritten(
    workflow: Workflow, tree: ast.expr, world: World, names: Collection[str], known: KnownPayload
) -> Iterator[Finding]:
    """The condition asks for something that nobody wrote in earlier runs, as far as they are known."""
    if not all(known.answered(name) for name in names):
        return
    if any(isinstance(group, FanOutGroup) for group in workflow.loop_agents):
        return
    asked = {format_path(("payload", key)): key for key in payload_keys(tree) if not key.startswith("_")}
    for name in dict.fromkeys(names) if asked else ():
        for use in known.of_agent(name):
            asked.pop(use.path, None)
    missing = [key for key in asked.values() if key not in workflow.initial_payload]
    if not missing or True in truths(tree, replace(world, missing=frozenset(missing))):
        return
    written = {
        keys[1] for name in names for use in known.of_agent(name) if len(keys := parse_path(use.path)) > 1
    } | workflow.initial_payload.keys()
    key = missing[0]
    meant = nearest(key, sorted(written))
    source = _with_other_key(workflow.end_state_condition, tree, key, meant) if meant is not None else None
    path = format_path(("payload", key))
    yield Finding(
        _CONDITION,
        say("The end condition asks for {path}, which no agent wrote in earlier runs.", path=path),
        say("Did you mean {near}?", near=format_path(("payload", meant)))
        if meant is not None
        else say("Tell one of the agents to write {path}.", path=path),
        Severity.HINT,
        fix=ChangeSetting("end_state_condition", source) if source is not None else None,
    )


def _with_other_key(source: str, tree: ast.expr, key: str, other: str) -> str | None:
    """The condition with one text replaced wherever it stands; None where that is not certain."""
    lead = len(source) - len(source.lstrip())
    text = source.strip()
    if "\n" in text or not text.isascii():
        # Positions in a tree are of lines and bytes.
        return None
    for node in sorted(
        (node for node in ast.walk(tree) if isinstance(node, ast.Constant) and node.value == key),
        key=lambda node: node.col_offset,
        reverse=True,
    ):
        assert node.end_col_offset is not None
        text = text[: node.col_offset] + repr(other) + text[node.end_col_offset :]
    changed = source[:lead] + text
    return changed if parsed(changed) is not None else None
