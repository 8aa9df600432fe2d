"""Fixes of problems: what they are called, and the workflow that they give."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pydantic import ValidationError
from PySide6.QtCore import QCoreApplication

from app import document_edits as edits
from core.fixes import (
    ChangeGroup,
    ChangeSetting,
    Fix,
    LetComplete,
    MakeAgent,
    RemoveAgent,
    RemoveGroup,
    RenameKey,
    ReplaceAgent,
    ReplaceBackend,
    SetMergeRule,
)
from core.state import MergeRule, Phase

if TYPE_CHECKING:
    from app.outline import AgentNode, GroupNode, Outline
    from core.fixes import Renamed

_LONGEST = 48
"""Characters of a value in the name of a fix."""


def tr(text: str) -> str:
    """A text of this module in the user's language."""
    return QCoreApplication.translate("problems", text)


def fix_words(fix: Fix) -> str:
    """What a fix is called on its link, in menus and for Undo."""
    match fix:
        case ReplaceBackend(backend=None, by="demo"):
            return tr("Let it play")
        case ReplaceAgent(by=by) | ReplaceBackend(by=by):
            return _use(by)
        case SetMergeRule(path="is_complete", rule=MergeRule.ALL):
            return _use(tr("all must agree"))
        case SetMergeRule(path="is_complete", rule=MergeRule.ANY):
            return _use(tr("one is enough"))
        case SetMergeRule(rule=MergeRule.APPEND):
            return tr("Keep what all of them write")
        case SetMergeRule(rule=MergeRule.UNION):
            return tr("Keep every entry once")
        case SetMergeRule(rule=rule):
            return _use(str(rule))
        case ChangeGroup(key="mode"):
            return tr("Run them in sequence")
        case ChangeGroup(key="enabled"):
            return tr("Disable the group")
        case RemoveGroup():
            return tr("Remove the group")
        case RemoveAgent(agent=agent):
            return tr("Remove “{0}”").format(_cut(agent))
        case MakeAgent(agent=agent):
            return tr("Make “{0}”…").format(_cut(agent))
        case LetComplete(agent=agent):
            return tr("Let “{0}” end the loop").format(_cut(agent))
        case RenameKey(by=by):
            return tr("Rename it to {0}").format(by)
        case ChangeSetting(what=what) if what:
            return _use(what)
        case ChangeSetting(key="max_loops", value=value):
            return tr("Allow {0} loops").format(value)
        case ChangeSetting(key="workdir" | "agents_dir", value=None):
            return tr("Use the usual folder")
        case ChangeSetting(value=None):
            return tr("Remove the limit")
        case ChangeGroup(value=value) | ChangeSetting(value=value):
            return _use(str(value))


def _use(what: str) -> str:
    return tr("Use “{0}”").format(_cut(what))


def _cut(what: str) -> str:
    return what if len(what) <= _LONGEST else f"{what[: _LONGEST - 1]}…"


@dataclass(frozen=True, slots=True)
class Fixed:
    """A workflow after a fix. `nodes`: what was changed, by id; none: its settings. `fields`: by key."""

    outline: Outline
    nodes: tuple[int, ...] = ()
    fields: tuple[str, ...] = ()


def fixed(outline: Outline, fix: Fix) -> Fixed | None:
    """The workflow with a fix made; None where it is not the workflow any more that the fix was found for."""
    match fix:
        case ReplaceAgent(agent=agent, by=by):
            return _with_entry(outline, fix, agent, "agent", agent, by)
        case ReplaceBackend(agent=agent, backend=backend, by=by):
            return _with_entry(outline, fix, agent, "backend", backend, by)
        case SetMergeRule(path=path, rule=rule):
            group = _group(outline, fix.phase, fix.group, fix.agents)
            if group is None:
                return None
            rules = {**(group.settings.merge or {}), path: rule}
            return Fixed(edits.update_groups(outline, {group.id}, {"merge": rules}), (group.id,), ("merge",))
        case ChangeGroup(key=key, value=value):
            group = _group(outline, fix.phase, fix.group, fix.agents)
            if group is None:
                return None
            return Fixed(edits.update_groups(outline, {group.id}, {key: value}), (group.id,), (key,))
        case RemoveGroup():
            group = _group(outline, fix.phase, fix.group, ())
            return Fixed(edits.remove_nodes(outline, {group.id})) if group is not None else None
        case RemoveAgent(agent=agent):
            node = _entry(outline, fix, agent)
            return Fixed(edits.remove_nodes(outline, {node.id})) if node is not None else None
        case MakeAgent() | LetComplete():
            return None
        case RenameKey(of=of, key=key, by=by):
            return _renamed(outline, of, key, by)
        case ChangeSetting(key=key, value=value):
            return Fixed(edits.update_settings(outline, {key: value}), (), (key,))


def _group(outline: Outline, phase: Phase, index: int, agents: tuple[str, ...]) -> GroupNode | None:
    groups = outline.groups(phase)
    if index >= len(groups):
        return None
    group = groups[index]
    there = tuple(node.entry.agent for node in group.agents)
    return group if group.is_fan_out or there == agents else None


def _entry(
    outline: Outline, fix: ReplaceAgent | ReplaceBackend | RemoveAgent, agent: str
) -> AgentNode | None:
    """The place that a fix was found for; None where another agent stands there by now."""
    groups = outline.groups(fix.phase)
    if fix.group >= len(groups) or fix.entry >= len(groups[fix.group].agents):
        return None
    node = groups[fix.group].agents[fix.entry]
    return node if node.entry.agent == agent else None


def _with_entry(
    outline: Outline, fix: ReplaceAgent | ReplaceBackend, agent: str, key: str, old: str | None, new: str
) -> Fixed | None:
    node = _entry(outline, fix, agent)
    if node is None or getattr(node.entry, key) != old:
        return None
    return Fixed(edits.update_agents(outline, {node.id}, {key: new}), (node.id,), (key,))


def _renamed(outline: Outline, of: Renamed, key: str, by: str) -> Fixed | None:
    try:
        after = edits.rename_key(outline, of, key, by)
    except ValidationError:
        # At another place than the one that was looked at, the value is none of the known key.
        return None
    if after == outline:
        return None
    prefix = f"{of}." if of in ("budget", "opencode_defaults") else ""
    return Fixed(after, (), (prefix + by,) if of not in ("group", "agent") else ())
