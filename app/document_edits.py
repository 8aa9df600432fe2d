"""The edits of a workflow: pure functions from one outline to the next.

A function gives back an equal outline where there is nothing to do; `WorkflowDocument` then makes no
command, and a drop there is refused before it happens.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias, TypeVar

from pydantic import BaseModel

from app.outline import AgentNode, GroupNode, NewId, Outline, RefusedText, Unfinished, group_node, own_copy
from core.config import AgentEntry, AgentGroup, FanOutGroup, Group
from core.fixes import Renamed
from core.json_types import JsonObject
from core.state import PHASES, Phase

Mode: TypeAlias = Literal["sequential", "parallel"]
ModelT = TypeVar("ModelT", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class InGroup:
    """Into a group, before its agent number `index` (from 0; the number of agents: at its end)."""

    group_id: int
    index: int


@dataclass(frozen=True, slots=True)
class OnAgent:
    """In parallel with an agent."""

    node_id: int


@dataclass(frozen=True, slots=True)
class NewStep:
    """A new group of a phase, before its group number `index`."""

    phase: Phase
    index: int


Target: TypeAlias = InGroup | OnAgent | NewStep


def changed_model(model: ModelT, changes: Mapping[str, object]) -> ModelT:
    """A validated copy with some fields changed. Raises pydantic.ValidationError for bad values."""
    copy = own_copy(model)
    for key, value in changes.items():
        setattr(copy, key, value)
    return copy


# --- inserting and moving ------------------------------------------------------------------------------


def insert_agents(outline: Outline, names: Sequence[str], target: Target, new_id: NewId) -> Outline:
    """New places for agents, by name."""
    return place_agents(
        outline, [AgentNode(new_id(), AgentEntry(agent=name)) for name in names], target, new_id
    )


def move_agents(outline: Outline, node_ids: Collection[int], target: Target, new_id: NewId) -> Outline:
    """Take agents from where they are, in their order, to a target; emptied groups go."""
    moved = [node for _, _, node in outline.all_agents() if node.id in node_ids]
    if not moved or (isinstance(target, OnAgent) and target.node_id in node_ids):
        return outline
    home = outline.group_of(moved[0].id)
    if isinstance(target, NewStep) and home is not None and home[2].agents == tuple(moved):
        # All of a step moves: then it keeps its name and its settings.
        return move_groups(outline, {home[2].id}, target.phase, target.index)
    if isinstance(target, InGroup):
        group = outline.find_group(target.group_id)
        if group is None:
            return outline
        before = group[2].agents[: target.index]
        target = replace(target, index=target.index - sum(node.id in node_ids for node in before))
    # Emptied groups go last: until then the indexes of steps mean what the target said.
    lifted = _without_agents(outline, node_ids)
    return _without_empty_groups(place_agents(lifted, moved, target, new_id), outline)


def insert_groups(
    outline: Outline, groups: Sequence[Group], phase: Phase, index: int, new_id: NewId
) -> Outline:
    """New groups, with their agents, before step `index` of a phase."""
    present = list(outline.groups(phase))
    present[index:index] = [group_node(group, new_id) for group in groups]
    return outline.with_groups(phase, present)


def move_groups(outline: Outline, group_ids: Collection[int], phase: Phase, index: int) -> Outline:
    """Move whole groups before step `index` of a phase (the index as it is before the move)."""
    moved = [group for _, _, group in outline.all_groups() if group.id in group_ids]
    index -= sum(group.id in group_ids for group in outline.groups(phase)[:index])
    lifted = outline
    for each in PHASES:
        lifted = lifted.with_groups(each, (g for g in outline.groups(each) if g.id not in group_ids))
    groups = list(lifted.groups(phase))
    groups[index:index] = moved
    return lifted.with_groups(phase, groups)


def place_agents(outline: Outline, nodes: Sequence[AgentNode], target: Target, new_id: NewId) -> Outline:
    """Put nodes that are in no group to a target. An odd target gives the outline back."""
    if not nodes:
        return outline
    if isinstance(target, NewStep):
        groups = list(outline.groups(target.phase))
        mode: Mode = "sequential"
        groups.insert(target.index, GroupNode(new_id(), AgentGroup(mode=mode), tuple(nodes)))
        return outline.with_groups(target.phase, groups)
    if isinstance(target, InGroup):
        found = outline.find_group(target.group_id)
        if found is None or found[2].is_fan_out:
            return outline
        agents = list(found[2].agents)
        agents[target.index : target.index] = nodes
        return outline.with_group(replace(found[2], agents=tuple(agents)))
    return _join(outline, nodes, target.node_id, new_id)


def _join(outline: Outline, nodes: Sequence[AgentNode], partner_id: int, new_id: NewId) -> Outline:
    """Nodes beside one agent: into its parallel group, or a new one split out of its sequence."""
    found = outline.find_agent(partner_id)
    if found is None:
        return outline
    place, group, partner = found
    if group.is_parallel:
        return place_agents(outline, nodes, InGroup(group.id, place.entry + 1), new_id)
    together = (partner, *nodes)
    return _split_out(outline, group, place.entry, place.entry + 1, together, "parallel", new_id)


def _split_out(
    outline: Outline,
    group: GroupNode,
    start: int,
    stop: int,
    nodes: tuple[AgentNode, ...],
    mode: Mode,
    new_id: NewId,
) -> Outline:
    """Replace agents start..stop of a group by a step of its own; what stood around keeps its order.

    The first part keeps the group's id and name; a rest behind the new step takes over its other settings.
    """
    found = outline.find_group(group.id)
    if found is None:
        return outline
    phase, index, _ = found
    before, after = group.agents[:start], group.agents[stop:]
    if not before and not after:
        return outline.with_group(
            replace(group, agents=nodes, settings=changed_model(group.settings, {"mode": mode}))
        )
    parts: list[GroupNode] = []
    unnamed = group.settings.model_copy(update={"name": None}) if group.settings.name else group.settings
    if before:
        parts.append(replace(group, agents=before))
    parts.append(GroupNode(new_id(), AgentGroup(mode=mode), nodes))
    if after:
        parts.append(GroupNode(new_id(), unnamed, after) if before else replace(group, agents=after))
    groups = list(outline.groups(phase))
    groups[index : index + 1] = parts
    return outline.with_groups(phase, groups)


def _without_agents(outline: Outline, node_ids: Collection[int]) -> Outline:
    for phase in PHASES:
        outline = outline.with_groups(
            phase,
            (
                replace(group, agents=tuple(node for node in group.agents if node.id not in node_ids))
                for group in outline.groups(phase)
            ),
        )
    return outline


def _without_empty_groups(outline: Outline, earlier: Outline) -> Outline:
    """Drop groups that an edit emptied; a group that was empty before is the user's and stays."""
    filled = {group.id for _, _, group in earlier.all_groups() if group.agents}
    for phase in PHASES:
        outline = outline.with_groups(
            phase, (group for group in outline.groups(phase) if group.agents or group.id not in filled)
        )
    return outline


# --- one step by keyboard ------------------------------------------------------------------------------


def step_target(outline: Outline, node_id: int, direction: int) -> Target | None:
    """Where an agent goes one step up (-1) or down (1); None at the end of the last phase.

    Within its group first, then out of it as a step of its own, then into the neighbouring group, then
    into the neighbouring phase: so every place can be reached by one key.
    """
    found = outline.find_agent(node_id)
    if found is None:
        return None
    place, group, _ = found
    inside = place.entry + direction
    if 0 <= inside < len(group.agents):
        return InGroup(group.id, inside if direction < 0 else inside + 1)
    if len(group.agents) > 1:
        return NewStep(place.phase, place.group if direction < 0 else place.group + 1)
    groups = outline.groups(place.phase)
    beside = place.group + direction
    if 0 <= beside < len(groups):
        neighbour = groups[beside]
        if neighbour.is_fan_out:
            return NewStep(place.phase, beside if direction < 0 else beside + 1)
        return InGroup(neighbour.id, len(neighbour.agents) if direction < 0 else 0)
    return _other_phase(outline, place.phase, direction)


def group_step_target(outline: Outline, group_id: int, direction: int) -> NewStep | None:
    """Where a whole group goes one step up (-1) or down (1); None at the end of the last phase."""
    found = outline.find_group(group_id)
    if found is None:
        return None
    phase, index, _ = found
    if direction < 0 and index > 0:
        return NewStep(phase, index - 1)
    if direction > 0 and index + 1 < len(outline.groups(phase)):
        return NewStep(phase, index + 2)
    return _other_phase(outline, phase, direction)


def _other_phase(outline: Outline, phase: Phase, direction: int) -> NewStep | None:
    number = PHASES.index(phase) + direction
    if not 0 <= number < len(PHASES):
        return None
    other = PHASES[number]
    return NewStep(other, len(outline.groups(other)) if direction < 0 else 0)


# --- groups --------------------------------------------------------------------------------------------


def make_group(outline: Outline, node_ids: Collection[int], new_id: NewId) -> Outline:
    """A parallel group of these agents where the first of them stands; of several phases, one in each.

    A phase of which only one is chosen then stays as it is. One agent alone becomes a step of its own: after
    those that it was parallel with, or between those that stood before and after it.
    """
    chosen = [(place, group, node) for place, group, node in outline.all_agents() if node.id in node_ids]
    if not chosen:
        return outline
    phases = [phase for phase in PHASES if any(place.phase == phase for place, _, _ in chosen)]
    if len(phases) > 1:
        for phase in phases:
            ids = [node.id for place, _, node in chosen if place.phase == phase]
            if len(ids) > 1:
                outline = make_group(outline, ids, new_id)
        return outline
    mode: Mode = "parallel" if len(chosen) > 1 else "sequential"
    first_place, first_group, first = chosen[0]
    if {node.id for node in first_group.agents} == {node.id for _, _, node in chosen}:
        return set_mode(outline, {first_group.id}, mode) if len(chosen) > 1 else outline
    if len(chosen) == 1 and first_group.is_parallel:
        after = NewStep(first_place.phase, first_place.group + 1)
        return move_agents(outline, {first.id}, after, new_id)
    others = {node.id for _, _, node in chosen[1:]}
    lifted = _without_agents(outline, others)
    group = lifted.find_group(first_group.id)
    if group is None:
        return outline
    nodes = (first, *(node for _, _, node in chosen[1:]))
    start = first_place.entry
    result = _split_out(lifted, group[2], start, start + 1, nodes, mode, new_id)
    return _without_empty_groups(result, outline)


def ungroup(outline: Outline, group_ids: Collection[int], new_id: NewId) -> Outline:
    """Every agent of these groups becomes a step of its own, in their order."""
    for group_id in group_ids:
        found = outline.find_group(group_id)
        if found is None or found[2].is_fan_out:
            continue
        phase, index, group = found
        if len(group.agents) < 2 and not group.is_parallel and group.settings.name is None:
            continue
        plain = AgentGroup(enabled=group.settings.enabled) if not group.settings.enabled else AgentGroup()
        groups = list(outline.groups(phase))
        groups[index : index + 1] = [GroupNode(new_id(), plain, (node,)) for node in group.agents]
        outline = outline.with_groups(phase, groups)
    return outline


def set_mode(outline: Outline, group_ids: Collection[int], mode: Mode) -> Outline:
    """Run groups in parallel or in sequence."""
    return update_groups(outline, group_ids, {"mode": mode})


def update_groups(outline: Outline, group_ids: Collection[int], changes: Mapping[str, object]) -> Outline:
    """Change settings of groups by field name."""
    for _, _, group in list(outline.all_groups()):
        if group.id not in group_ids or (group.is_fan_out and "mode" in changes):
            continue
        if all(getattr(group.settings, key) == value for key, value in changes.items()):
            continue
        outline = outline.with_group(replace(group, settings=changed_model(group.settings, changes)))
    return outline


# --- agents and settings -------------------------------------------------------------------------------


def update_agents(outline: Outline, node_ids: Collection[int], changes: Mapping[str, object]) -> Outline:
    """Change overrides of agents at their places, by field name."""
    for _, group, _ in list(outline.all_agents()):
        agents = tuple(
            replace(node, entry=changed_model(node.entry, changes))
            if node.id in node_ids
            and any(getattr(node.entry, key) != value for key, value in changes.items())
            else node
            for node in group.agents
        )
        if agents != group.agents:
            current = outline.find_group(group.id)
            if current is not None:
                outline = outline.with_group(replace(current[2], agents=agents))
    return outline


def places_of(outline: Outline, name: str) -> list[int]:
    """The nodes that name an agent, by id; a fan-out group is one."""
    places = [node.id for _, _, node in outline.all_agents() if node.entry.agent == name]
    for _, _, group in outline.all_groups():
        if isinstance(group.settings, FanOutGroup) and group.settings.agent == name:
            places.append(group.id)
    return places


def rename_agent(outline: Outline, old: str, new: str) -> Outline:
    """Know an agent by another name, at all its places."""
    places = places_of(outline, old)
    outline = update_agents(outline, places, {"agent": new})
    fan_outs = [group.id for _, _, group in outline.all_groups() if group.id in places]
    return update_groups(outline, fan_outs, {"agent": new})


def set_enabled(outline: Outline, node_ids: Collection[int], enabled: bool) -> Outline:
    """Enable or disable agents and groups."""
    outline = update_agents(outline, node_ids, {"enabled": enabled})
    return update_groups(outline, node_ids, {"enabled": enabled})


def duplicate_nodes(outline: Outline, node_ids: Collection[int], new_id: NewId) -> Outline:
    """A copy of each agent and group right behind it."""
    for phase in PHASES:
        groups: list[GroupNode] = []
        for group in outline.groups(phase):
            agents: list[AgentNode] = []
            for node in group.agents:
                agents.append(node)
                if node.id in node_ids:
                    agents.append(AgentNode(new_id(), node.entry.model_copy(deep=True)))
            groups.append(replace(group, agents=tuple(agents)))
            if group.id in node_ids:
                groups.append(group_node(group.to_model(), new_id))
        outline = outline.with_groups(phase, groups)
    return outline


def remove_nodes(outline: Outline, node_ids: Collection[int]) -> Outline:
    """Without these agents and groups, and without groups that this emptied."""
    result = _without_empty_groups(_without_agents(outline, node_ids), outline)
    for phase in PHASES:
        result = result.with_groups(phase, (g for g in result.groups(phase) if g.id not in node_ids))
    return result


def _said(model: ModelT, key: str, value: object) -> ModelT:
    """A copy that says this; the model itself where it does. A default that is said wins over files."""
    is_said = key in model.model_fields_set
    if value is not None:
        is_there = is_said and getattr(model, key) == value
        return model if is_there else changed_model(model, {key: value})
    default = type(model).model_fields[key].get_default(call_default_factory=True)
    if not is_said and getattr(model, key) == default:
        return model
    copy = changed_model(model, {key: default})
    copy.model_fields_set.discard(key)
    return copy


def update_settings(outline: Outline, changes: Mapping[str, object]) -> Outline:
    """Change the workflow's own settings, by field name (`budget.max_tokens` reaches into a part).

    None takes a setting back: the workflow says nothing about it, and other places decide.
    """
    settings = outline.settings
    for key, value in changes.items():
        head, _, rest = key.partition(".")
        if rest:
            part = getattr(settings, head)
            changed = _said(part, rest, value)
            if changed is not part:
                settings = changed_model(settings, {head: changed})
        else:
            settings = _said(settings, key, value)
    return outline if settings is outline.settings else replace(outline, settings=settings)


def write_payload(outline: Outline, payload: JsonObject) -> Outline:
    """Begin runs with another payload."""
    settings = outline.settings.model_copy(update={"initial_payload": payload})
    return replace(outline, settings=settings, unfinished=None)


def leave_unfinished(outline: Outline, text: str, mistake: str) -> Outline:
    """Keep a text of the initial payload that is none yet; runs begin with the one before."""
    return replace(outline, unfinished=Unfinished(text, mistake))


def refuse_text(outline: Outline, refused: RefusedText) -> Outline:
    """Keep a text of a field that cannot be its value; its value is the one before."""
    rest = take_refused(outline, refused.nodes, (refused.key,))
    return replace(rest, refused=(*rest.refused, refused))


def take_refused(outline: Outline, node_ids: Collection[int], keys: Collection[str]) -> Outline:
    """Forget the refused texts of these fields of these nodes (none: of the workflow)."""
    kept: list[RefusedText] = []
    for each in outline.refused:
        if each.key in keys and bool(each.nodes) is bool(node_ids):
            others = tuple(node_id for node_id in each.nodes if node_id not in node_ids)
            if others:
                kept.append(replace(each, nodes=others))
        else:
            kept.append(each)
    return outline if tuple(kept) == outline.refused else replace(outline, refused=tuple(kept))


def rename_key(outline: Outline, of: Renamed, key: str, by: str) -> Outline:
    """Call an unknown key otherwise wherever it stands in objects of one kind.

    Nothing that has the new key is changed. Raises pydantic.ValidationError for a value that cannot be.
    """
    settings = outline.settings
    if of == "workflow":
        return replace(outline, settings=_with_key(settings, key, by))
    if of in ("budget", "opencode_defaults"):
        part = _with_key(getattr(settings, of), key, by)
        return replace(outline, settings=changed_model(settings, {of: part}))
    for _, _, group in list(outline.all_groups()):
        if of == "group":
            outline = outline.with_group(replace(group, settings=_with_key(group.settings, key, by)))
        else:
            agents = tuple(replace(node, entry=_with_key(node.entry, key, by)) for node in group.agents)
            outline = outline.with_group(replace(group, agents=agents))
    return outline


def _with_key(model: ModelT, key: str, by: str) -> ModelT:
    extra = model.model_extra or {}
    if key not in extra or by in model.model_fields_set or by not in type(model).model_fields:
        return model
    copy = changed_model(model, {by: extra[key]})
    del (copy.model_extra or {})[key]
    return copy
