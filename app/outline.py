"""The workflow as an immutable tree with ids: what the builder shows and what every edit replaces.

A node keeps its id through moves, undo and redo, so that views keep their selection and a run's places
can be told from nodes. The models inside (`AgentEntry`, groups, settings) are never changed in place.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TypeVar

from pydantic import BaseModel

from core.config import AgentEntry, AgentGroup, FanOutGroup, Workflow
from core.place import Place
from core.state import PHASES, Phase
from core.workflow_layout import PHASE_KEYS

NewId = Callable[[], int]
"""Gives an id that no node of this document ever had."""
ModelT = TypeVar("ModelT", bound=BaseModel)


def own_copy(model: ModelT) -> ModelT:
    """A deep copy that may be changed, but for a workflow's initial payload: that is never changed in place,
    and copying a megabyte of it with every edit would hold up the window."""
    payload = getattr(model, "initial_payload", None)
    return model.__deepcopy__({id(payload): payload})


@dataclass(frozen=True, slots=True)
class AgentNode:
    """One agent at one place of a group."""

    id: int
    entry: AgentEntry


@dataclass(frozen=True, slots=True)
class GroupNode:
    """One step of a phase. `settings` is the group without its agents; a fan-out group has no nodes."""

    id: int
    settings: AgentGroup | FanOutGroup
    agents: tuple[AgentNode, ...] = ()

    @property
    def is_fan_out(self) -> bool:
        """Whether this is a fan-out group, which is shown and kept but not edited."""
        return isinstance(self.settings, FanOutGroup)

    @property
    def ids(self) -> tuple[int, ...]:
        """Its own id, and those of its agents."""
        return (self.id, *(node.id for node in self.agents))

    @property
    def is_parallel(self) -> bool:
        """Whether its agents run at the same time."""
        return self.settings.mode == "parallel"

    def to_model(self) -> AgentGroup | FanOutGroup:
        """The group as in a file."""
        if isinstance(self.settings, FanOutGroup):
            return self.settings.model_copy(deep=True)
        return self.settings.model_copy(
            update={"agents": [node.entry.model_copy(deep=True) for node in self.agents]}, deep=True
        )


@dataclass(frozen=True, slots=True)
class Unfinished:
    """Text of a field, such as the initial payload, that is no value of it, and why not in a sentence."""

    text: str
    mistake: str


@dataclass(frozen=True, slots=True)
class RefusedText:
    """Text of a field that is no value of it: `key` as in the file, of the groups or agents `nodes` (none: of
    the workflow). `field`: its label."""

    nodes: tuple[int, ...]
    key: str
    field: str
    text: str
    mistake: str


@dataclass(frozen=True, slots=True)
class Outline:
    """The three phases and the workflow's own settings (whose phases are left empty).

    `unfinished` is what was typed for the initial payload and cannot be it: undo and redo keep it, the file
    and runs have `settings.initial_payload`. So it is with `refused`, the texts of fields.
    """

    settings: Workflow
    preparation: tuple[GroupNode, ...] = ()
    loop: tuple[GroupNode, ...] = ()
    finalization: tuple[GroupNode, ...] = ()
    unfinished: Unfinished | None = None
    refused: tuple[RefusedText, ...] = ()

    @classmethod
    def from_workflow(cls, workflow: Workflow, new_id: NewId) -> Outline:
        """The tree of a workflow, with fresh ids."""
        phases: dict[Phase, tuple[GroupNode, ...]] = {
            phase: tuple(group_node(group, new_id) for group in workflow.groups(phase)) for phase in PHASES
        }
        settings = own_copy(workflow)
        for phase in PHASES:
            settings.groups(phase).clear()
        return cls(settings, phases["preparation"], phases["loop"], phases["finalization"])

    def to_workflow(self) -> Workflow:
        """A workflow of its own, which the caller may change, but for what is in its payload."""
        phases = {
            PHASE_KEYS[phase]: [group.to_model() for group in self.groups(phase)]
            for phase in PHASES
            if self.groups(phase) or PHASE_KEYS[phase] in self.settings.model_fields_set
        }
        return own_copy(self.settings).model_copy(update=phases)

    @property
    def node_places(self) -> dict[int, str]:
        """By id, where groups and agents stand in the file: `loop_agents[1]`, `loop_agents[1].agents[0]`."""
        at = {group.id: f"{PHASE_KEYS[phase]}[{index}]" for phase, index, group in self.all_groups()}
        for place, _, node in self.all_agents():
            at[node.id] = f"{PHASE_KEYS[place.phase]}[{place.group}].agents[{place.entry}]"
        return at

    @property
    def refused_places(self) -> tuple[tuple[str, RefusedText], ...]:
        """Refused texts of what is still there, each with its place: `loop_agents[1].max_parallel`."""
        if not self.refused:
            return ()
        at = self.node_places
        found: list[tuple[str, RefusedText]] = []
        for refused in self.refused:
            there = [f"{at[node_id]}." for node_id in refused.nodes if node_id in at]
            if there or not refused.nodes:
                found.append(((there[0] if there else "") + refused.key, refused))
        return tuple(found)

    def refused_text(self, node_ids: Collection[int], key: str) -> Unfinished | None:
        """What was typed for a field of these nodes (none: of the workflow) and cannot be its value."""
        for refused in self.refused:
            if (
                refused.key == key
                and bool(node_ids) is bool(refused.nodes)
                and set(node_ids) <= {*refused.nodes}
            ):
                return Unfinished(refused.text, refused.mistake)
        return None

    def groups(self, phase: Phase) -> tuple[GroupNode, ...]:
        """The groups of a phase, in order."""
        return {"preparation": self.preparation, "loop": self.loop, "finalization": self.finalization}[phase]

    def all_groups(self) -> Iterator[tuple[Phase, int, GroupNode]]:
        """Every group with its phase and index."""
        for phase in PHASES:
            for index, group in enumerate(self.groups(phase)):
                yield phase, index, group

    def all_agents(self) -> Iterator[tuple[Place, GroupNode, AgentNode]]:
        """Every agent with its place and group, in the order of the file."""
        for phase, index, group in self.all_groups():
            for entry, node in enumerate(group.agents):
                yield Place(phase, index, entry), group, node

    def find_group(self, node_id: int) -> tuple[Phase, int, GroupNode] | None:
        """A group by its id."""
        return next((found for found in self.all_groups() if found[2].id == node_id), None)

    def find_agent(self, node_id: int) -> tuple[Place, GroupNode, AgentNode] | None:
        """An agent by its id."""
        return next((found for found in self.all_agents() if found[2].id == node_id), None)

    def group_of(self, node_id: int) -> tuple[Phase, int, GroupNode] | None:
        """The group that has this id or holds the agent with it."""
        return next(
            (
                found
                for found in self.all_groups()
                if found[2].id == node_id or any(agent.id == node_id for agent in found[2].agents)
            ),
            None,
        )

    def with_groups(self, phase: Phase, groups: Iterable[GroupNode]) -> Outline:
        """The same tree with other groups in one phase."""
        kept = tuple(groups)
        if phase == "preparation":
            return replace(self, preparation=kept)
        if phase == "loop":
            return replace(self, loop=kept)
        return replace(self, finalization=kept)

    def with_group(self, changed: GroupNode) -> Outline:
        """The same tree with one group replaced by id."""
        found = self.find_group(changed.id)
        if found is None:
            return self
        phase = found[0]
        return self.with_groups(
            phase, (changed if group.id == changed.id else group for group in self.groups(phase))
        )


def group_node(group: AgentGroup | FanOutGroup, new_id: NewId) -> GroupNode:
    """The node of a group as in a file, with fresh ids; the model itself is left alone."""
    node_id = new_id()
    if isinstance(group, FanOutGroup):
        return GroupNode(node_id, group.model_copy(deep=True))
    settings = group.model_copy(deep=True)
    agents = tuple(AgentNode(new_id(), entry) for entry in settings.agents)
    settings.agents = []
    return GroupNode(node_id, settings, agents)
