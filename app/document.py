"""The open workflow: what the window edits, saves and runs."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path

from PySide6.QtCore import QObject, Signal, Slot
from PySide6.QtGui import QUndoStack

import resources
from app import document_edits as edits
from app.document_edits import InGroup, Mode, NewStep, OnAgent, ReplaceOutline, Target
from app.file_watch import FileWatch
from app.other_settings import OtherSettings
from app.outline import Outline
from core.agent import AgentLibrary
from core.check import check_workflow
from core.config import Workflow, WorkflowFile
from core.plan import Place
from core.problems import Problem, Severity
from core.settings_keys import Setting, keys_said
from core.state import Phase
from core.workflow_file import inspect_workflow, load_workflow, save_workflow


class WorkflowDocument(QObject):
    """The open workflow, its file, its undo stack and its problems.

    Every edit is one named command on `undo_stack`; an edit that changes nothing makes none. Nodes (agents
    at places, and groups) have ids that survive moves, undo and redo.

    Signals: `changed()` after the workflow changed in any way; `path_changed()`; `modified_changed(bool)`;
    `problems_changed()`; `in_force_changed()` when other places say something else about its settings;
    `changed_on_disk()` when another program changed or removed the file.
    """

    changed = Signal()
    path_changed = Signal()
    modified_changed = Signal(bool)
    problems_changed = Signal()
    in_force_changed = Signal()
    changed_on_disk = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.undo_stack = QUndoStack(self)
        self.undo_stack.cleanChanged.connect(self._tell_modified)
        self._told_modified = False
        self._new_id: Callable[[], int] = itertools.count(1).__next__
        self._outline = Outline(Workflow())
        self._path: Path | None = None
        self._text = ""
        self._merge_round = 0
        self.generation = 0
        """Grows with every file that is opened or begun; nodes of two generations have nothing in common."""
        self._load_warnings: tuple[Problem, ...] = ()
        self._problems: tuple[Problem, ...] = ()
        self._library: AgentLibrary | None = None
        self._backends: tuple[str, ...] = ()
        self._others = OtherSettings()
        self._in_force = (self._outline.settings, self._others, self._outline.settings)
        self._watch = FileWatch(self)
        self._differs = False
        self._watch.changed.connect(self._disk_changed)

    # --- what is open ----------------------------------------------------------------------------------

    @property
    def outline(self) -> Outline:
        """The workflow as a tree with ids; immutable."""
        return self._outline

    @property
    def workflow(self) -> Workflow:
        """The current workflow, as a copy that the caller may keep."""
        return self._outline.to_workflow()

    @property
    def settings(self) -> Workflow:
        """The workflow's own settings (its phases are empty here). Not to be changed."""
        return self._outline.settings

    @property
    def path(self) -> Path | None:
        """The file; None for a workflow that was never saved."""
        return self._path

    @property
    def default_workdir(self) -> Path:
        """Where agents work when the workflow does not say: beside its file; for an example or a workflow
        without a file, in the current folder."""
        if self._path is None or self._path.is_relative_to(resources.folder().absolute()):
            return Path.cwd()
        return self._path.parent

    @property
    def title(self) -> str:
        """The file's name, or the workflow's while it has no file."""
        return self._path.name if self._path else self.settings.name

    @property
    def is_modified(self) -> bool:
        """Whether what is here is not on disk: edits, or the file was changed or taken away by others."""
        return self.has_edits or self._differs

    @property
    def has_edits(self) -> bool:
        """Whether there are edits that are not saved."""
        return not self.undo_stack.isClean()

    @property
    def differs_from_disk(self) -> bool:
        """Whether another program changed or took away the file since it was read or saved here."""
        return self._differs

    @property
    def warnings(self) -> tuple[Problem, ...]:
        """What was odd in the file when it was read, such as unknown keys."""
        return self._load_warnings

    @property
    def problems(self) -> tuple[Problem, ...]:
        """What is wrong with the workflow as it is now, errors first."""
        return self._problems

    @property
    def library(self) -> AgentLibrary | None:
        """The agents there are; None: not read yet."""
        return self._library

    def set_library(self, library: AgentLibrary, known_backends: Collection[str]) -> None:
        """Tell which agents and backends there are, for the problems and for what the settings inherit."""
        self._library = library
        self._backends = tuple(known_backends)
        self._check()

    def set_others(self, others: OtherSettings) -> None:
        """Tell what the environment and files say about settings."""
        if others != self._others:
            self._others = others
            self.in_force_changed.emit()

    def own(self, key: str) -> object:
        """What the workflow itself says about a setting; None: nothing."""
        return self._others.own(self.settings, key)

    def in_force(self, key: str) -> Setting:
        """A setting as a run would have it, and where it comes from."""
        return self._others.in_force(self.settings, key)

    @property
    def settings_in_force(self) -> Workflow:
        """The workflow's settings as a run would have them. Not to be changed."""
        settings, others, workflow = self._in_force
        if settings is not self.settings or others is not self._others:
            # Rows ask for it whenever they are painted.
            workflow = self._others.workflow(self.settings)
            self._in_force = (self.settings, self._others, workflow)
        return workflow

    @property
    def known_backends(self) -> tuple[str, ...]:
        """Names of backends that a workflow may use."""
        return self._backends

    def snapshot(self) -> WorkflowFile:
        """The workflow as it is now, for a run: later edits do not reach it."""
        return WorkflowFile(
            workflow=self.workflow, path=self._path, text=self._text, warnings=list(self._load_warnings)
        )

    def place_of(self, node_id: int) -> Place | None:
        """Where an agent stands now; None for an id that is not an agent of this workflow."""
        found = self._outline.find_agent(node_id)
        return found[0] if found else None

    def node_at(self, place: Place) -> int | None:
        """The id of the agent at a place; None where there is none."""
        return next((node.id for at, _, node in self._outline.all_agents() if at == place), None)

    # --- files -----------------------------------------------------------------------------------------

    def new(self) -> None:
        """Begin an empty workflow. The caller has asked about unsaved changes."""
        self._replace(WorkflowFile(workflow=Workflow()))

    def open(self, path: Path) -> None:
        """Open a file. Raises UserFileError, and then the current work is untouched."""
        loaded = load_workflow(path)
        self._replace(loaded)

    def restore(self, file: WorkflowFile) -> None:
        """Take in work that was kept aside; it counts as not saved."""
        self._replace(file)
        self.undo_stack.resetClean()

    def save(self) -> None:
        """Write the file. Raises UserFileError; ValueError where there is no path yet."""
        if self._path is None:
            raise ValueError("a workflow that was never saved needs save_as")
        self.save_as(self._path)

    def save_as(self, path: Path) -> None:
        """Write to a file and go on with it. Raises UserFileError; then everything is as before."""
        path = path.absolute()
        with self._watch.paused():
            self._differs = False
            self._text = save_workflow(self.snapshot(), path).text
            moved = path != self._path
            self._path = path
            self._watch.follow(path)
        self._load_warnings = tuple(_warnings_of(self._text, path))
        self.undo_stack.setClean()
        self._tell_modified()
        self.end_merging()
        if not moved:
            self._check()
        if moved:
            self.path_changed.emit()
            self._check()

    def keep_mine(self) -> None:
        """The file changed on disk and the user goes on with what is here: a save may now replace it."""
        self._differs = False
        self.undo_stack.resetClean()
        self._tell_modified()

    @Slot()
    def _disk_changed(self) -> None:
        self._differs = True
        self.changed_on_disk.emit()
        self._tell_modified()

    def _replace(self, file: WorkflowFile) -> None:
        self.generation += 1
        self._outline = Outline.from_workflow(file.workflow, self._new_id)
        self._path = file.path.absolute() if file.path else None
        self._text = file.text
        self._load_warnings = tuple(file.warnings)
        self._differs = False
        self._watch.follow(self._path)
        self.undo_stack.clear()
        self.undo_stack.setClean()
        self._tell_modified()
        self.path_changed.emit()
        self._tell_changed()

    # --- edits -----------------------------------------------------------------------------------------

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

    def _set_outline(self, outline: Outline) -> None:
        self._outline = outline
        self._tell_changed()

    def _tell_changed(self) -> None:
        self.changed.emit()
        self._check()

    @Slot()
    def _tell_modified(self) -> None:
        modified = self.is_modified
        if modified is not self._told_modified:
            self._told_modified = modified
            self.modified_changed.emit(modified)

    def _check(self) -> None:
        if self._library is None:
            return
        found = check_workflow(self.snapshot(), self._library, self._backends)
        problems = tuple(sorted(found, key=lambda problem: problem.severity is not Severity.ERROR))
        if problems != self._problems:
            self._problems = problems
            self.problems_changed.emit()


def _warnings_of(text: str, path: Path) -> list[Problem]:
    """What is odd about a text that was just written."""
    file = inspect_workflow(text, path).file
    return list(file.warnings) if file is not None else []


__all__ = ["InGroup", "NewStep", "OnAgent", "Phase", "Target", "WorkflowDocument"]


def _says_the_same(one: Outline, other: Outline) -> bool:
    """Whether two outlines name the same settings: a default that is said wins over settings files."""
    return one.settings is other.settings or keys_said(one.settings) == keys_said(other.settings)
