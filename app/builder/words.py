"""What the builder says about phases, groups, agents and drops: sentences a person would say."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication

from app.document_edits import NewStep, OnAgent, Target
from app.field_text import duration
from core.condition import condition_in_words
from core.config import AgentEntry, FanOutGroup, Workflow
from core.settings_keys import Origin, Setting
from core.statuses import TurnStatus

if TYPE_CHECKING:
    from app.outline import GroupNode, Outline
    from core.agent import AgentDefinition
    from core.state import Phase

PARALLEL_SIGN = "∥"


def tr(text: str) -> str:
    """A text of this module in the user's language."""
    return QCoreApplication.translate("builder", text)


def disabled() -> str:
    """What a step says that is left out of runs."""
    return tr("disabled")


def unknown_agent() -> str:
    """What a place says whose agent is not there."""
    return tr("no agent of this name")


def demo_agent() -> str:
    """What a place says whose agent comes with OpenLoop and only plays."""
    return tr("demo agent")


def about_demo_agents() -> str:
    """What such an agent is."""
    return tr("It comes with OpenLoop for trying: it plays a scene and does no work.")


def drop_here() -> str:
    """What the room below the last step says."""
    return tr("Drop an agent here for a new step")


def needs_you() -> str:
    """What an agent waits for that asks."""
    return tr("needs your answer")


def status_word(status: TurnStatus) -> str:
    """A turn's status in a word."""
    return {
        TurnStatus.WAITING: tr("waiting"),
        TurnStatus.RUNNING: tr("running"),
        TurnStatus.SUCCEEDED: tr("succeeded"),
        TurnStatus.FAILED: tr("failed"),
        TurnStatus.STOPPED: tr("stopped"),
    }[status]


@dataclass(frozen=True, slots=True)
class GroupHeader:
    """The header of a group's card: a sign (or none), a title, and its policy in words.

    `forms`: the words, from all that can be said to what must be said; who has little room takes a later one.
    """

    sign: str
    title: str
    forms: tuple[str, ...]

    @property
    def detail(self) -> str:
        """All of the policy."""
        return self.forms[0]

    @property
    def text(self) -> str:
        """All of it in one line."""
        head = f"{self.sign} {self.title}".strip()
        return f"{head} · {self.detail}" if self.detail else head

    @property
    def spoken(self) -> str:
        """All of it for those who hear it: without signs."""
        return ", ".join(part for part in (self.title, *self.detail.split(" · ")) if part)


_SHORT_NAME = 20
"""Characters of a group's name where there is little room."""


def where_from(setting: Setting) -> str:
    """The place that a setting comes from, short."""
    if setting.origin is Origin.DEFAULT:
        return tr("usual")
    if setting.origin is Origin.USER:
        return tr("your settings")
    return Path(setting.source).name if setting.origin is Origin.PROJECT else setting.source


def place_in_short(setting: Setting) -> str:
    """The place that a setting comes from, also where it is the workflow."""
    return tr("workflow") if setting.origin is Origin.WORKFLOW else where_from(setting)


def inherited_from(setting: Setting) -> str:
    """Whose value holds for a group or an agent that has none of its own."""
    if setting.origin is Origin.WORKFLOW:
        return tr("from the workflow")
    return (
        tr("the usual one")
        if setting.origin is Origin.DEFAULT
        else tr("from {0}").format(where_from(setting))
    )


def phase_title(phase: Phase) -> str:
    """The name of a phase."""
    return {"preparation": tr("Preparation"), "loop": tr("Loop"), "finalization": tr("Finalization")}[phase]


def phase_when(phase: Phase, settings: Workflow) -> str:
    """When a phase runs, such as "up to 10 times, until score >= 90"."""
    if phase == "preparation":
        return tr("once")
    if phase == "finalization":
        if settings.finalize_on_abort:
            return tr("once, also when all loops are used up")
        return tr("once, when the loop completed")
    until = condition_in_words(settings.end_state_condition)
    if settings.max_loops == 1:
        return tr("once, or less when {0}").format(until)
    return tr("up to {0} times, until {1}").format(settings.max_loops, until)


def phase_lesson(phase: Phase) -> str:
    """What an empty phase is for and what to do."""
    return {
        "preparation": tr(
            "Runs once, before the loop: agents that read the task and lay out the work. Drag one here."
        ),
        "loop": tr(
            "Runs again and again until the end condition holds. Drag agents here; drop one on another "
            "and the two run in parallel."
        ),
        "finalization": tr("Runs once, after the loop: an agent that sums up or hands over. Drag one here."),
    }[phase]


def group_header(group: GroupNode, settings: Workflow) -> GroupHeader:
    """The header of a group, with the values that hold where it has none of its own."""
    own = group.settings
    if isinstance(own, FanOutGroup):
        if own.tasks_from:
            source = tr("tasks from {0}").format(own.tasks_from)
        else:
            source = tr("{0} tasks").format(len(own.tasks or ()))
        why_not = tr("cannot run yet")
        fan_out = (_joined(tr("{0}, {1}").format(own.agent, source), why_not), why_not)
        return GroupHeader("", own.name or tr("Fan-out"), fan_out)
    name = own.name or ""
    short_name = name if len(name) <= _SHORT_NAME else f"{name[:_SHORT_NAME].rstrip()}…"
    count, short_count, policy = "", "", ""
    if group.is_parallel:
        cap = settings.at_once(own)
        many = tr("1 agent") if len(group.agents) == 1 else tr("{0} agents").format(len(group.agents))
        count = short_count = many
        if len(group.agents) > 1:
            # Of one agent alone none waits for another, and none is stopped by another's failure.
            count = tr("{0}, up to {1} at once").format(many, cap)
            short_count = tr("{0}, {1} at once").format(many, cap)
            on_error = own.on_parallel_error or settings.on_parallel_error
            policy = tr("abort on error") if on_error == "abort" else tr("continue on error")
    limit = tr("at most {0}").format(duration(own.timeout)) if own.timeout else ""
    off = "" if own.enabled else disabled()
    forms = (
        _joined(off, name, count, policy, limit),
        _joined(off, name, short_count, policy, limit),
        _joined(off, short_name, short_count, policy),
        _joined(off, short_name, policy),
        _joined(off, short_name if not group.is_parallel else policy),
    )
    word = tr("Parallel") if group.is_parallel else tr("In sequence")
    return GroupHeader(PARALLEL_SIGN if group.is_parallel else "", word, forms)


def _joined(*parts: str) -> str:
    return " · ".join(part for part in parts if part)


def agent_label(group: GroupNode, row: int) -> str:
    """The agent's name, numbered where it stands in its group more than once (`vera`, `vera 2`)."""
    name = group.agents[row].entry.agent
    number = sum(node.entry.agent == name for node in group.agents[: row + 1])
    return f"{name} {number}" if number > 1 else name


def agent_position(group: GroupNode, row: int) -> str:
    """How an agent works in its group, for those who hear it."""
    if group.is_parallel:
        return tr("in parallel")
    if len(group.agents) == 1:
        return tr("in sequence")
    return tr("number {0} of {1} in sequence").format(row + 1, len(group.agents))


def step_of(phase: Phase, index: int) -> str:
    """Which step of its phase a group is, for those who hear it."""
    return {
        "preparation": tr("step {0} of the preparation"),
        "loop": tr("step {0} of the loop"),
        "finalization": tr("step {0} of the finalization"),
    }[phase].format(index + 1)


def overrides(entry: AgentEntry) -> str:
    """What is different for this place, short: backend, model, time limit."""
    parts = [part for part in (entry.backend, entry.model) if part]
    if entry.timeout is not None:
        parts.append(duration(entry.timeout) if entry.timeout else tr("no time limit"))
    return " · ".join(parts)


def agent_tool_tip(
    entry: AgentEntry, definition: AgentDefinition | None, unknown: bool, *, plays: bool = False
) -> str:
    """All there is to say about an agent's place."""
    if unknown:
        return tr("There is no agent called “{0}” in the agents folder.").format(entry.agent)
    lines = [entry.agent]
    if definition is not None:
        lines = [" · ".join(part for part in (entry.agent, definition.role) if part)]
        if definition.description:
            lines.append(definition.description)
    if plays:
        lines.append(about_demo_agents())
    if changed := overrides(entry):
        lines.append(tr("Here: {0}").format(changed))
    if not entry.enabled:
        lines.append(tr("Disabled: it is left out of a run."))
    return "\n".join(lines)


def landing(target: Target, outline: Outline, dragged: Collection[int] = ()) -> str:
    """What a drop at this target would do, said before the drop.

    `dragged`: ids of the agents and groups that would be moved: they leave their places, which are told
    without them.
    """
    if isinstance(target, OnAgent):
        found = outline.find_agent(target.node_id)
        if found is None:
            return ""
        _, around, node = found
        # Over a row of a parallel group a drop joins all of it, as between its rows.
        joined = around.agents if around.is_parallel else (node,)
        staying = [each.entry.agent for each in joined if each.id not in dragged or each is node]
        return tr("in parallel with {0}").format(names_in_short(staying))
    if isinstance(target, NewStep):
        before = (
            _staying(group, dragged) for group in reversed(outline.groups(target.phase)[: target.index])
        )
        if (group := next((each for each in before if each is not None), None)) is not None:
            return tr("new step after {0}").format(group_in_short(group))
        return {
            "preparation": tr("first step of the preparation"),
            "loop": tr("first step of the loop"),
            "finalization": tr("first step of the finalization"),
        }[target.phase]
    at = outline.find_group(target.group_id)
    if at is None:
        return ""
    agents = at[2].agents
    staying = [node.entry.agent for node in agents if node.id not in dragged]
    if not staying:
        return tr("first of this group")
    if at[2].is_parallel:
        return tr("in parallel with {0}").format(names_in_short(staying))
    earlier = sum(node.id not in dragged for node in agents[: target.index])
    if earlier > 0:
        return tr("after {0}").format(staying[earlier - 1])
    return tr("before {0}").format(staying[0])


def names_of(outline: Outline) -> frozenset[str]:
    """The names of all agents and groups."""
    names = {group.settings.name or "" for _, _, group in outline.all_groups()}
    names |= {node.entry.agent for _, _, node in outline.all_agents()}
    return frozenset(names - {""})


def _staying(group: GroupNode, dragged: Collection[int]) -> GroupNode | None:
    """What is left of a group without the dragged; None: nothing is."""
    if group.id in dragged:
        return None
    agents = tuple(node for node in group.agents if node.id not in dragged)
    return replace(group, agents=agents) if agents or not group.agents else None


def group_in_short(group: GroupNode) -> str:
    """A group in a few words: its name, else its agents."""
    if group.settings.name:
        return group.settings.name
    if isinstance(group.settings, FanOutGroup):
        return group.settings.agent
    if not group.agents:
        return tr("an empty group")
    if group.is_parallel:
        return names_in_short([node.entry.agent for node in group.agents])
    return group.agents[-1].entry.agent


def names_in_short(names: Sequence[str]) -> str:
    """`vera`, `vera and linter`, `vera and 2 others`."""
    if len(names) < 2:
        return "".join(names)
    if len(names) == 2:
        return tr("{0} and {1}").format(*names)
    return tr("{0} and {1} others").format(names[0], len(names) - 1)
