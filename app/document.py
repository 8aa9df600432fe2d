"""What the window edits, saves and runs: the open workflow and every edit of it."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from PySide6.QtCore import QObject, Slot

from app import document_edits as edits
from app.document_edits import InGroup, Mode, NewStep, OnAgent, ReplaceOutline, Target
from app.open_workflow import OpenWorkflow
from app.outline import Outline
from core.settings_keys import keys_said

__all__ = ["InGroup", "NewStep", "OnAgent", "Target", "WorkflowDocument"]


class WorkflowDocument(OpenWorkflow):
    """The open workflow, to be edited.

    Every edit is one named command on `undo_stack`; an edit that changes nothing makes none.
    """

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._merge_round = 0
        self.saved.connect(self.end_merging)

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
        return self._push(self.tr("Add {0}").format(", ".join(names)), after)

    def move(self, node_ids: Collection[int], target: Target) -> bool:
        """Move agents or whole groups; False where nothing would change."""
        return self._push(
            self.tr("Move {0}").format(self._names(node_ids)), self.preview_move(node_ids, target)
        )

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
        return self._push(words.format(self._names(node_ids)), self._if_different(after))

    def remove(self, node_ids: Collection[int]) -> bool:
        """Remove agents and groups."""
        text = self.tr("Remove {0}").format(self._names(node_ids))
        return self._push(text, edits.remove_nodes(self._outline, node_ids))

    def duplicate(self, node_ids: Collection[int]) -> bool:
        """Put a copy of each agent behind it."""
        text = self.tr("Duplicate {0}").format(self._names(node_ids))
        return self._push(text, edits.duplicate_agents(self._outline, node_ids, self._new_id))

    def make_group(self, node_ids: Collection[int]) -> bool:
        """Make a parallel group of agents; of one alone: a step of its own."""
        text = self.tr("Group {0}").format(self._names(node_ids))
        return self._push(text, edits.make_group(self._outline, node_ids, self._new_id))

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
        return self._push(text, self._if_different(after))

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
        return self._push(self.tr("Ungroup"), edits.ungroup(self._outline, group_ids, self._new_id))

    def set_mode(self, group_ids: Collection[int], mode: Mode) -> bool:
        """Run groups in parallel or in sequence."""
        text = self.tr("Run in parallel") if mode == "parallel" else self.tr("Run in sequence")
        return self._push(text, edits.set_mode(self._outline, group_ids, mode))

    def rename_group(self, group_id: int, name: str) -> bool:
        """Name a group; an empty name takes it away."""
        after = edits.update_group(self._outline, group_id, {"name": name.strip() or None})
        return self._push(self.tr("Rename group"), after)

    def set_enabled(self, node_ids: Collection[int], enabled: bool) -> bool:
        """Enable or disable agents and groups."""
        words = self.tr("Enable {0}") if enabled else self.tr("Disable {0}")
        after = edits.set_enabled(self._outline, node_ids, enabled)
        return self._push(words.format(self._names(node_ids)), after)

    def update_agent(self, node_id: int, label: str, **changes: object) -> bool:
        """Change overrides of one place. `label`: the field in words, for Undo.

        Raises pydantic.ValidationError for values that cannot be. Consecutive edits of the same fields
        merge until `end_merging`; so do those of `update_group` and `update_settings`.
        """
        after = edits.update_agents(self._outline, {node_id}, changes)
        return self._push_field(label, f"agent {node_id}", changes, after)

    def update_group(self, group_id: int, label: str, **changes: object) -> bool:
        """Change settings of one group."""
        after = edits.update_group(self._outline, group_id, changes)
        return self._push_field(label, f"group {group_id}", changes, after)

    def update_settings(self, label: str, changes: Mapping[str, object]) -> bool:
        """Change settings of the workflow; a key such as `budget.max_tokens` reaches into a part."""
        return self._push_field(label, "workflow", changes, edits.update_settings(self._outline, changes))

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
        return ", ".join(names) if len(names) <= 3 else self.tr("{0} agents").format(len(names))

    def _if_different(self, after: Outline) -> Outline | None:
        return None if after == self._outline else after

    def _push_field(self, label: str, owner: str, changes: Mapping[str, object], after: Outline) -> bool:
        key = f"{owner} {' '.join(sorted(changes))} {self._merge_round}"
        return self._push(self.tr("Change {0}").format(label), after, key)

    def _push(self, text: str, after: Outline | None, merge_key: str | None = None) -> bool:
        if after is None or (after == self._outline and _says_the_same(after, self._outline)):
            return False
        self.undo_stack.push(ReplaceOutline(text, self._outline, after, self._set_outline, merge_key))
        return True


def _says_the_same(one: Outline, other: Outline) -> bool:
    """Whether two outlines name the same settings: a default that is said wins over settings files."""
    return one.settings is other.settings or keys_said(one.settings) == keys_said(other.settings)
