"""Pieces of a workflow as text: what the clipboard carries between windows and text editors.

A piece is JSON as it stands in a workflow file: a list of agents, a list of groups, or an object with phases.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from core.config import AgentEntry, AgentGroup, Group
from core.json_types import JsonObject, JsonValue
from core.jsonc import parse_jsonc
from core.problems import Severity, UserFileError
from core.state import PHASES, Phase
from core.words import say
from core.workflow_layout import PHASE_KEYS, SINGULAR_KEYS
from core.workflow_reading import read_document

MOST_CHARACTERS = 1 << 20
"""Of a text that is read. The rest of a workflow file may be larger; agents and groups never are."""
MOST_AGENTS = 1000
"""In one piece: with more of them nobody could see what was pasted."""
_PHASE_OF_KEY: Mapping[str, Phase] = {
    **{key: phase for phase, key in PHASE_KEYS.items()},
    **{SINGULAR_KEYS[key]: phase for phase, key in PHASE_KEYS.items() if key in SINGULAR_KEYS},
}
_GROUP_KEYS = frozenset({"agents", "mode", "tasks", "tasks_from"})


class PieceError(ValueError):
    """A text is no piece of a workflow; the message is a sentence for the user."""


@dataclass(frozen=True, slots=True)
class Pieces:
    """Agents that belong to no group yet; or groups; or groups that know their phase."""

    agents: tuple[AgentEntry, ...] = ()
    groups: tuple[Group, ...] = ()
    phases: Mapping[Phase, tuple[Group, ...]] = field(default_factory=dict)

    @property
    def all_groups(self) -> tuple[Group, ...]:
        """The groups, in the order of the phases where these are known."""
        return (*self.groups, *(group for phase in PHASES for group in self.phases.get(phase, ())))

    @property
    def names(self) -> list[str]:
        """Names of all agents, in order."""
        names = [entry.agent for entry in self.agents]
        for group in self.all_groups:
            names.extend(
                [each.agent for each in group.agents] if isinstance(group, AgentGroup) else [group.agent]
            )
        return names


def write_pieces(pieces: Pieces) -> str:
    """The text of pieces; `read_pieces` gives them back."""
    # Nothing is written before the first paint of the window.
    from core.workflow_writing import entry_as_json, group_as_json, pretty_json

    if pieces.agents:
        return pretty_json([entry_as_json(entry) for entry in pieces.agents])
    if pieces.groups:
        return pretty_json([group_as_json(group) for group in pieces.groups])
    document: JsonObject = {
        PHASE_KEYS[phase]: [group_as_json(group) for group in pieces.phases[phase]]
        for phase in PHASES
        if pieces.phases.get(phase)
    }
    return pretty_json(document)


def read_pieces(text: str) -> Pieces:
    """The pieces of a text: a whole workflow file, or what somebody cut out of one.

    Also without the brackets around it, and with a comma at its end. Raises PieceError.
    """
    if len(text) > MOST_CHARACTERS:
        raise PieceError(
            say(
                "The text has {count:,} characters, which is too much for agents and groups.", count=len(text)
            )
        )
    pieces = _pieces_of(_parsed(text))
    if not pieces.agents and not pieces.all_groups:
        raise PieceError(say("There are no agents and no groups in the text."))
    if len(pieces.names) > MOST_AGENTS:
        raise PieceError(
            say(
                "The text has {count:,} agents; at most {most:,} go at once.",
                count=len(pieces.names),
                most=MOST_AGENTS,
            )
        )
    if not all(name.strip() for name in pieces.names):
        raise PieceError(say("An agent in the text has no name."))
    return pieces


def _parsed(text: str) -> JsonValue:
    problem = ""
    # A line from the middle of a file ends in a comma, and what stands after a key has the key with it.
    for whole in (text, f"[{text}\n]", f"{{{text}\n}}"):
        try:
            return parse_jsonc(whole).value
        except UserFileError as error:
            problem = problem or error.problems[0].message
    if text.lstrip()[:1] in ("{", "["):
        raise PieceError(
            say("The text looks like a workflow, but cannot be read. {problem}", problem=problem)
        )
    raise PieceError(say("The text is no piece of a workflow."))


def _pieces_of(value: JsonValue) -> Pieces:
    if isinstance(value, str):
        return _pieces_of([value])
    if isinstance(value, list):
        if all(_is_entry(item) for item in value):
            return Pieces(agents=_entries(value))
        return Pieces(groups=_groups(_grouped(value), "loop"))
    if isinstance(value, dict):
        phases = {phase: value[key] for key, phase in _PHASE_OF_KEY.items() if key in value}
        if phases:
            return Pieces(phases={phase: _phase(item, phase) for phase, item in phases.items()})
        if _is_entry(value) or _GROUP_KEYS.intersection(value):
            return _pieces_of([value])
    raise PieceError(say("The text is no piece of a workflow."))


def _is_entry(item: JsonValue) -> bool:
    """Whether this is an agent rather than a group."""
    return isinstance(item, str) or (
        isinstance(item, dict) and "agent" in item and not _GROUP_KEYS.intersection(item)
    )


def _grouped(items: Sequence[JsonValue]) -> list[JsonValue]:
    """Agents that stand between groups, in groups of their own."""
    grouped: list[JsonValue] = []
    loose: list[JsonValue] = []
    for item in [*items, None]:
        if item is not None and _is_entry(item):
            loose.append(item)
            continue
        if loose:
            grouped.append({"agents": loose})
            loose = []
        if item is not None:
            grouped.append(item)
    return grouped


def _phase(value: JsonValue, phase: Phase) -> tuple[Group, ...]:
    if value is None or value == "":
        return ()
    items = [value] if isinstance(value, str) else value
    if not isinstance(items, list):
        raise PieceError(say("{key} is not a list of agents and groups.", key=PHASE_KEYS[phase]))
    return _groups(_grouped(items), phase)


def _entries(items: list[JsonValue]) -> tuple[AgentEntry, ...]:
    groups = _groups([{"agents": items}], "loop") if items else ()
    return tuple(entry for group in groups if isinstance(group, AgentGroup) for entry in group.agents)


def _groups(items: list[JsonValue], phase: Phase) -> tuple[Group, ...]:
    """Read by the rules of files, so that unknown keys survive and odd values are named."""
    workflow, findings = read_document({PHASE_KEYS[phase]: items})
    error = next((finding for finding in findings if finding.severity is Severity.ERROR), None)
    if error is not None or workflow is None:
        raise PieceError(error.message if error is not None else say("The text is no piece of a workflow."))
    return tuple(workflow.groups(phase))
