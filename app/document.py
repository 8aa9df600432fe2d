"""What the window edits, saves and runs: the open workflow and every edit of it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal, Slot

from app import document_edits as edits
from app.document_edits import InGroup, Mode, NewStep, OnAgent, Target
from app.edit_command import EditPlace, FileStep, ReplaceOutline, says_the_same
from app.open_workflow import OpenWorkflow
from app.outline import AgentNode, GroupNode, Outline, RefusedText
from app.problem_fixes import fix_words, fixed
from core.settings_keys import Setting
from core.state import PHASES, MergeRule, Phase
from core.workflow_pieces import Pieces

if TYPE_CHECKING:
    from core.fixes import Fix
    from core.json_types import JsonObject

__all__ = ["EditPlace", "InGroup", "NewStep", "OnAgent", "Target", "WorkflowDocument"]


class WorkflowDocument(OpenWorkflow):
    """The open workflow, to be edited.

    Every edit is one named command on `undo_stack`; an edit that changes nothing makes none.

    Signals: `stepped(EditPlace)` after undo or redo, with the place of the edit.
    """

    stepped = Signal(object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._merge_round = 0
        self._typing: tuple[str, Outline, Outline] | None = None
        """The field that is being edited, by its key for merging, and the outline before and after that."""
        self.saved.connect(self.end_merging)
        self.stepped.connect(self.end_merging)

    # --- what it would give ----------------------------------------------------------------------------

    def preview_insert(self, names: Sequence[str], target: Target) -> Outline | None:
        """What inserting would give; None where it is not possible."""
        return self._if_different(edits.insert_agents(self._outline, names, target, self._new_id))

    def preview_move(self, node_ids: Collection[int], target: Target) -> Outline | None:
        """What moving agents (or whole groups, to a new step) would give; None: not possible or no change."""
        groups = {group.id for _, _, group in self._outline.all_groups() if group.id in node_ids}
        if not groups:
            return self._if_different(edits.move_agents(self._outline, node_ids, target, self._new_id))
        if groups != set(node_ids) or not isinstance(target, NewStep):
            return None
        return self._if_different(edits.move_groups(self._outline, groups, target.phase, target.index))

    # --- edits -----------------------------------------------------------------------------------------

    def insert_agents(self, names: Sequence[str], target: Target) -> bool:
        """Insert agents by name; False where that is not possible."""
        after = self.preview_insert(names, target)
        return self._push(self.tr("Add {0}").format(_in_short(names, self.tr("{0} agents"))), after)

    def move(self, node_ids: Collection[int], target: Target) -> bool:
        """Move agents or whole groups; False where nothing would change."""
        text = self.tr("Move {0}").format(self._names(node_ids))
        return self._push(text, self.preview_move(node_ids, target), node_ids)

    def move_step(self, node_ids: Sequence[int], direction: int) -> bool:
        """Move agents or groups one step up (-1) or down (1), each in turn, as one edit."""
        after = self._outline
        ordered = self._in_order(node_ids)
        for node_id in ordered if direction < 0 else reversed(ordered):
            if after.find_group(node_id) is not None:
                step = edits.group_step_target(after, node_id, direction)
                if step is not None:
                    after = edits.move_groups(after, {node_id}, step.phase, step.index)
                continue
            target = edits.step_target(after, node_id, direction)
            if target is not None:
                after = edits.move_agents(after, {node_id}, target, self._new_id)
        words = self.tr("Move {0} up") if direction < 0 else self.tr("Move {0} down")
        return self._push(words.format(self._names(node_ids)), self._if_different(after), node_ids)

    def remove(self, node_ids: Collection[int]) -> bool:
        """Remove agents and groups."""
        text = self.tr("Remove {0}").format(self._names(node_ids))
        return self._push(text, edits.remove_nodes(self._outline, node_ids), node_ids)

    def duplicate(self, node_ids: Collection[int]) -> bool:
        """Put a copy of each agent and each group behind it."""
        text = self.tr("Duplicate {0}").format(self._names(node_ids))
        return self._push(text, edits.duplicate_nodes(self._outline, node_ids, self._new_id))

    def pieces(self, node_ids: Collection[int]) -> Pieces:
        """What a copy of agents and groups is.

        Some agents of one group are only agents; all agents of a group are the group, with its settings, and
        so is what was chosen of each of several groups. From several phases, each group knows its phase.
        """
        chosen: list[tuple[Phase, GroupNode, tuple[AgentNode, ...]]] = []
        for phase, _, group in self._outline.all_groups():
            nodes = tuple(node for node in group.agents if group.id in node_ids or node.id in node_ids)
            if nodes or group.id in node_ids:
                chosen.append((phase, group, nodes))
        if len(chosen) == 1:
            _, group, nodes = chosen[0]
            if group.id not in node_ids and (len(nodes) == 1 or nodes != group.agents):
                return Pieces(agents=tuple(node.entry.model_copy(deep=True) for node in nodes))
        groups = [
            (phase, GroupNode(group.id, group.settings, nodes).to_model()) for phase, group, nodes in chosen
        ]
        if len({phase for phase, _ in groups}) <= 1:
            return Pieces(groups=tuple(group for _, group in groups))
        return Pieces(phases={phase: tuple(group for at, group in groups if at == phase) for phase in PHASES})

    def cut(self, node_ids: Collection[int]) -> bool:
        """Remove agents and groups that were copied."""
        text = self.tr("Cut {0}").format(self._names(node_ids))
        return self._push(text, edits.remove_nodes(self._outline, node_ids), node_ids)

    def paste(self, pieces: Pieces, target: Target, step: NewStep) -> list[int]:
        """Insert pieces: agents at `target`, groups at `step`, those that know their phase in it.

        Gives the ids of what is new: the groups, else the agents.
        """
        after = edits.place_agents(
            self._outline,
            [AgentNode(self._new_id(), entry.model_copy(deep=True)) for entry in pieces.agents],
            target,
            self._new_id,
        )
        after = edits.insert_groups(after, pieces.groups, step.phase, step.index, self._new_id)
        for phase, groups in pieces.phases.items():
            at = step.index if phase == step.phase else len(self._outline.groups(phase))
            after = edits.insert_groups(after, groups, phase, at, self._new_id)
        count = len(pieces.all_groups)
        if pieces.agents:
            words = _in_short(pieces.names, self.tr("{0} agents"))
        else:
            words = self.tr("a group") if count == 1 else self.tr("{0} groups").format(count)
        before = {node_id for _, _, group in self._outline.all_groups() for node_id in group.ids}
        self._push(self.tr("Paste {0}").format(words), self._if_different(after))
        new_groups = [group.id for _, _, group in after.all_groups() if group.id not in before]
        new_agents = [node.id for _, _, node in after.all_agents() if node.id not in before]
        return new_agents if pieces.agents else new_groups

    def make_group(self, node_ids: Collection[int]) -> bool:
        """Make a parallel group of agents, in each phase one; of one alone: a step of its own."""
        chosen = [node.id for _, _, node in self._outline.all_agents() if node.id in node_ids]
        text = self.tr("Group {0}") if len(chosen) > 1 else self.tr("Take {0} out of the group")
        text = text.format(self._names(node_ids))
        return self._push(text, edits.make_group(self._outline, node_ids, self._new_id), node_ids)

    def join_next(self, node_id: int) -> bool:
        """Run an agent in parallel with the one after it in its phase."""
        following = self.next_agent(node_id)
        if following is None:
            return False
        found, other = self._outline.find_agent(node_id), self._outline.find_agent(following)
        if found is None or other is None:
            return False
        if other[1].is_parallel and not found[1].is_parallel:
            after = edits.move_agents(self._outline, {node_id}, InGroup(other[1].id, 0), self._new_id)
        else:
            after = edits.move_agents(self._outline, {following}, OnAgent(node_id), self._new_id)
        text = self.tr("Run {0} in parallel").format(self._names({node_id, following}))
        return self._push(text, self._if_different(after), {node_id, following})

    def next_agent(self, node_id: int) -> int | None:
        """The agent after this one in its phase that is not yet parallel with it; None: there is none."""
        found = self._outline.find_agent(node_id)
        if found is None:
            return None
        later = [
            (place, group, node)
            for place, group, node in self._outline.all_agents()
            if place.phase == found[0].phase and (place.group, place.entry) > (found[0].group, found[0].entry)
        ]
        return next(
            (node.id for _, group, node in later if not (group.id == found[1].id and group.is_parallel)), None
        )

    def ungroup(self, group_ids: Collection[int]) -> bool:
        """Make every agent of groups a step of its own."""
        return self._push(
            self.tr("Ungroup"), edits.ungroup(self._outline, group_ids, self._new_id), group_ids
        )

    def set_mode(self, group_ids: Collection[int], mode: Mode) -> bool:
        """Run groups in parallel or in sequence."""
        text = self.tr("Run in parallel") if mode == "parallel" else self.tr("Run in sequence")
        return self._push(text, edits.set_mode(self._outline, group_ids, mode), group_ids, ("mode",))

    def rename_group(self, group_id: int, name: str) -> bool:
        """Name a group; an empty name takes it away."""
        after = edits.update_groups(self._outline, {group_id}, {"name": name.strip() or None})
        return self._push(self.tr("Rename group"), after, {group_id}, ("name",))

    def set_enabled(self, node_ids: Collection[int], enabled: bool) -> bool:
        """Enable or disable agents and groups."""
        words = self.tr("Enable {0}") if enabled else self.tr("Disable {0}")
        after = edits.set_enabled(self._outline, node_ids, enabled)
        return self._push(words.format(self._names(node_ids)), after, node_ids, ("enabled",))

    def update_agents(self, node_ids: Collection[int], label: str, **changes: object) -> bool:
        """Change overrides of some places. `label`: the field in words, for Undo.

        Raises pydantic.ValidationError for values that cannot be. Consecutive edits of the same fields
        merge until `end_merging`; so do those of `update_groups` and `update_settings`.
        """
        after = edits.update_agents(self._outline, node_ids, changes)
        return self._push_field(label, node_ids, changes, after)

    def update_groups(self, group_ids: Collection[int], label: str, **changes: object) -> bool:
        """Change settings of some groups."""
        after = edits.update_groups(self._outline, group_ids, changes)
        return self._push_field(label, group_ids, changes, after)

    def set_group_rule(
        self, group_ids: Collection[int], label: str, path: str, rule: MergeRule | None
    ) -> bool:
        """Set the merge rule of one path in some groups; None: the workflow's rule holds."""
        after = self._outline
        for _, _, group in self._outline.all_groups():
            if group.id in group_ids:
                rules = {key: value for key, value in (group.settings.merge or {}).items() if key != path}
                if rule is not None:
                    rules[path] = rule
                after = edits.update_groups(after, {group.id}, {"merge": rules or None})
        return self._push(self.tr("Change {0}").format(label), after, group_ids, ("merge",))

    def uses_of(self, name: str) -> int:
        """At how many places the workflow has an agent of this name."""
        return len(edits.places_of(self._outline, name))

    def rename_agent(self, old: str, new: str, also: Callable[[bool], object] | None = None) -> bool:
        """Know an agent by another name, at all its places. `also` is called when that is undone, with False,
        and when it is done again, with True."""
        places = edits.places_of(self._outline, old)
        text = self.tr("Rename {0} to {1}").format(old, new)
        return self._push(text, edits.rename_agent(self._outline, old, new), places, also=also)

    def update_agent(self, node_id: int, label: str, **changes: object) -> bool:
        """Change overrides of one place."""
        return self.update_agents((node_id,), label, **changes)

    def update_group(self, group_id: int, label: str, **changes: object) -> bool:
        """Change settings of one group."""
        return self.update_groups((group_id,), label, **changes)

    def update_settings(self, label: str, changes: Mapping[str, object]) -> bool:
        """Change settings of the workflow; a key such as `budget.max_tokens` reaches into a part."""
        return self._push_field(label, (), changes, edits.update_settings(self._outline, changes))

    def refuse_text(self, node_ids: Collection[int], label: str, key: str, text: str, mistake: str) -> bool:
        """Keep what stands in a field and cannot be its value, for the reason `mistake`: no run starts with
        it. The value is the one before anything was typed. `node_ids`: of what; none: of the workflow."""
        merging = self._merge_key(node_ids, (key,))
        before = self._outline
        if self._typing is not None and self._typing[0] == merging and self._typing[2] is before:
            # What was typed was taken letter by letter: "20x" is not 20.
            before = self._typing[1]
        refused = RefusedText(tuple(node_ids), key, label, text, mistake)
        after = edits.refuse_text(before, refused)
        return self._push_field(label.lower(), node_ids, {key: None}, after, keeps_refused=True)

    def write_payload(self, text: str, payload: JsonObject | None, mistake: str = "") -> bool:
        """Change the payload that a run begins with. None: `text` is none yet, for the reason that `mistake`
        says; it is kept beside the payload that there was."""
        if payload is not None:
            after = edits.write_payload(self._outline, payload)
        else:
            after = edits.leave_unfinished(self._outline, text, mistake)
        return self._push_field(self.tr("initial payload"), (), {"initial_payload": None}, after)

    def rules_elsewhere(self) -> dict[str, Setting]:
        """By path, the merge rules that files and the environment give and that hold here."""
        return self._others.rules(self.settings)

    def apply_fix(self, fix: Fix) -> bool:
        """Make the edit that solves a problem; False where the workflow is another one by now."""
        self.end_merging()
        done = fixed(self._outline, fix)
        return done is not None and self._push(fix_words(fix), done.outline, done.nodes, done.fields)

    def push_file_step(self, text: str, again: Callable[[], object], back: Callable[[], object]) -> None:
        """An edit of another file was made, such as an agent's: it is a step among those of the workflow.
        `back` undoes it, `again` makes it again; the workflow is as it was."""
        self.end_merging()
        self.undo_stack.push(FileStep(text, again, back))

    @Slot()
    def end_merging(self) -> None:
        """The user left a field: its next edit is a new step of undo."""
        self._merge_round += 1

    # --- inside ----------------------------------------------------------------------------------------

    def _in_order(self, node_ids: Collection[int]) -> list[int]:
        order: list[int] = []
        for _, _, group in self._outline.all_groups():
            order.extend(
                node_id for node_id in (group.id, *(n.id for n in group.agents)) if node_id in node_ids
            )
        return order

    def _names(self, node_ids: Collection[int]) -> str:
        """Nodes in words, for Undo: names up to three, else a number."""
        names = [node.entry.agent for _, _, node in self._outline.all_agents() if node.id in node_ids]
        groups = sum(group.id in node_ids for _, _, group in self._outline.all_groups())
        if groups:
            names.append(self.tr("a group") if groups == 1 else self.tr("{0} groups").format(groups))
        return _in_short(names, self.tr("{0} agents"))

    def _if_different(self, after: Outline) -> Outline | None:
        return None if after == self._outline else after

    def _merge_key(self, node_ids: Collection[int], fields: Collection[str]) -> str:
        return f"{sorted(node_ids)} {' '.join(sorted(fields))} {self._merge_round}"

    def _push_field(
        self,
        label: str,
        node_ids: Collection[int],
        changes: Mapping[str, object],
        after: Outline,
        *,
        keeps_refused: bool = False,
    ) -> bool:
        fields = tuple(changes)
        key = self._merge_key(node_ids, fields)
        before = self._outline
        typing = self._typing
        goes_on = typing is not None and typing[0] == key and typing[2] is before
        first = typing[1] if typing is not None and goes_on else before
        if not keeps_refused:
            after = edits.take_refused(after, node_ids, fields)
        done = self._push(self.tr("Change {0}").format(label), after, node_ids, fields, key)
        self._typing = (key, first, self._outline)
        return done

    def _push(
        self,
        text: str,
        after: Outline | None,
        about: Collection[int] | None = None,
        fields: Sequence[str] = (),
        merge_key: str | None = None,
        also: Callable[[bool], object] | None = None,
    ) -> bool:
        """Make a step of undo. `about`: the nodes that the edit is about; None: those that are new."""
        if after is None or says_the_same(after, self._outline):
            return False
        if about is None:
            there = {node_id for _, _, group in self._outline.all_groups() for node_id in group.ids}
            about = [
                node_id for _, _, group in after.all_groups() for node_id in group.ids if node_id not in there
            ]
        place = EditPlace(tuple(about), tuple(fields))

        def tell(where: EditPlace) -> None:
            self.stepped.emit(where)
            if also is not None:
                also(self._outline is after)

        self.undo_stack.push(
            ReplaceOutline(text, self._outline, after, self._set_outline, place, tell, merge_key)
        )
        return True


def _in_short(names: Sequence[str], many: str) -> str:
    """Names up to three, else how many there are."""
    return ", ".join(names) if len(names) <= 3 else many.format(len(names))
