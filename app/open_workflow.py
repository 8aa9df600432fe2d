"""The open workflow: its file, whether it is saved, what is wrong with it, which settings hold."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, Signal, Slot
from PySide6.QtGui import QUndoStack

from app.edit_command import only_files_between
from app.file_watch import FileWatch
from app.other_settings import OtherSettings
from app.outline import Outline
from core.agent_folders import is_shipped
from core.config import Workflow, WorkflowFile
from core.problems import Problem, Severity
from core.run_folders import example_workdir, unsaved_workdir
from core.settings_keys import Origin
from core.state import MergeRule
from core.words import say
from core.workflow_file import inspect_workflow, load_workflow, save_workflow

if TYPE_CHECKING:
    from core.agent import AgentLibrary
    from core.known_payload import KnownPayload
    from core.place import Place
    from core.settings_keys import Setting

QUICK_CHECK_SECONDS = 0.02
"""A workflow whose check takes longer is checked when the user pauses, not with every letter."""
CHECK_PAUSE_MS = 200
TYPING_PAUSE_MS = 150
_SHOWN_OF_REFUSED = 40
"""Letters of a field's text in a problem."""
_ORDER = {Severity.ERROR: 0, Severity.WARNING: 1, Severity.HINT: 2}


class OpenWorkflow(QObject):
    """The open workflow, its file and its problems; what is edited is on `undo_stack`.

    Nodes (agents at places, and groups) have ids that survive moves, undo and redo.

    Signals: `changed()` after the workflow changed in any way; `path_changed()`; `modified_changed(bool)`;
    `problems_changed()`; `known_changed()` when earlier runs tell something else; `in_force_changed()` when
    other places say something else about its settings; `changed_on_disk()` when another program changed or
    removed the file; `saved()` after it was written.
    """

    changed = Signal()
    path_changed = Signal()
    modified_changed = Signal(bool)
    problems_changed = Signal()
    known_changed = Signal()
    in_force_changed = Signal()
    changed_on_disk = Signal()
    saved = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.undo_stack = QUndoStack(self)
        # Not only when it is clean or no longer: edits of other files leave the workflow as it is saved.
        self.undo_stack.indexChanged.connect(self._tell_modified)
        self.undo_stack.cleanChanged.connect(self._tell_modified)
        self._told_modified = False
        self._new_id: Callable[[], int] = itertools.count(1).__next__
        self._outline = Outline(Workflow())
        self._path: Path | None = None
        self._text = ""
        self.generation = 0
        """Grows with every file that is opened or begun; nodes of two generations have nothing in common."""
        self._load_warnings: tuple[Problem, ...] = ()
        self._problems: tuple[Problem, ...] = ()
        self._known: KnownPayload | None = None
        self._check_seconds = 0.0
        self._check_later = QTimer(self)
        self._check_later.setSingleShot(True)
        self._check_later.setInterval(CHECK_PAUSE_MS)
        self._check_later.timeout.connect(self._check)
        self._is_typing = False
        self._library: AgentLibrary | None = None
        self._backends: tuple[str, ...] = ()
        self._others = OtherSettings()
        self._elsewhere: tuple[Problem, ...] = ()
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
        """Where agents work when the workflow does not say: beside its file; for an example in a folder among
        the user's data; without a file in the current folder, or where that is not fit for work in one
        of the user's."""
        if self._path is None:
            return unsaved_workdir()
        return example_workdir(self._path) if is_shipped(self._path) else self._path.parent

    @property
    def title(self) -> str:
        """The file's name, or the workflow's while it has no file."""
        return self._path.name if self._path else self.settings.name

    @property
    def is_typing(self) -> bool:
        """Whether what changes now is the text of a field, letter by letter: what only shows something that
        depends on it may wait until `TYPING_PAUSE_MS` after the last letter."""
        return self._is_typing

    @contextmanager
    def typing(self) -> Iterator[None]:
        """What is changed inside comes from a key in a field."""
        self._is_typing = True
        try:
            yield
        finally:
            self._is_typing = False

    @property
    def is_modified(self) -> bool:
        """Whether what is here is not on disk: edits, or the file was changed or taken away by others."""
        return self.has_edits or self._differs

    @property
    def has_edits(self) -> bool:
        """Whether there are edits that are not saved, or that cannot be saved yet."""
        outline = self._outline
        stack = self.undo_stack
        edited = not stack.isClean() and not only_files_between(stack, stack.cleanIndex(), stack.index())
        return edited or outline.unfinished is not None or bool(outline.refused_places)

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
        if self._check_later.isActive():
            self._check()
        return self._problems

    @property
    def problems_elsewhere(self) -> tuple[Problem, ...]:
        """Those of the problems that are in no file of the workflow: in files with settings, in variables."""
        return self._elsewhere

    @property
    def settings_files(self) -> frozenset[Path]:
        """Other files that may have settings for it, also those that are not there."""
        return self._others.files

    @property
    def known(self) -> KnownPayload:
        """What earlier runs of its log folder tell of agents."""
        if self._known is None:
            # Nobody asks before the first paint of the window.
            from core.known_payload import KnownPayload

            self._known = KnownPayload()
        return self._known

    def set_known(self, known: KnownPayload) -> None:
        """Tell what earlier runs tell of agents, for the problems and for completion."""
        if known != self.known:
            self._known = known
            self.known_changed.emit()
            self._check()

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
            self._check()

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
        if self._watch.content.decode("utf-8", "replace").removeprefix("\ufeff") != loaded.text:
            # Written by another program after it was read, and before it was watched.
            self._disk_changed()

    def look_at_disk(self) -> None:
        """See now whether another program changed the file, before it is written over."""
        self._watch.look()

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
        self.saved.emit()
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

    # --- inside ----------------------------------------------------------------------------------------

    def _set_outline(self, outline: Outline) -> None:
        self._outline = outline
        self._tell_changed()

    def _tell_changed(self) -> None:
        self.changed.emit()
        if self._is_typing or self._check_seconds > QUICK_CHECK_SECONDS:
            self._check_later.start()
        else:
            self._check()

    @Slot()
    def _tell_modified(self) -> None:
        modified = self.is_modified
        if modified is not self._told_modified:
            self._told_modified = modified
            self.modified_changed.emit(modified)

    @Slot()
    def _check(self) -> None:
        self._check_later.stop()
        if self._library is None:
            return
        # There are no agents before the first paint of the window, and so nothing to check.
        from core.check import check_workflow

        began = time.perf_counter()
        found = check_workflow(
            self.snapshot(),
            self._library,
            self._backends,
            known=self.known,
            in_force=self._with_all_rules(),
        )
        self._elsewhere = (*self._others.problems, *self._found_in_others())
        self._check_seconds = time.perf_counter() - began
        found = [*self._of_what_is_unfinished(), *found]
        problems = tuple(sorted([*found, *self._elsewhere], key=lambda problem: _ORDER[problem.severity]))
        if problems != self._problems:
            self._problems = problems
            self.problems_changed.emit()

    def _of_what_is_unfinished(self) -> Iterator[Problem]:
        unfinished = self._outline.unfinished
        if unfinished is not None:
            yield Problem(
                say("The initial payload cannot be read. {mistake}", mistake=unfinished.mistake),
                "initial_payload",
                say("Until it can, the file keeps the one before."),
            )
        for place, refused in self._outline.refused_places:
            yield Problem(
                say(
                    "“{field}” cannot be “{text}”. {mistake}",
                    field=refused.field,
                    text=_in_short(refused.text),
                    mistake=refused.mistake,
                ),
                place,
                say("Until it is put right, the file keeps the value before."),
            )

    def _found_in_others(self) -> list[Problem]:
        """Values of other places that are right in themselves and cannot be in this workflow."""
        settings = [each for each in self._others.settings.values() if each.origin is not Origin.DEFAULT]
        held = tuple(each for each in settings if self._others.in_force(self.settings, each.key) is each)
        if not held or self._library is None:
            return []
        from core.check import check_workflow
        from core.settings import EffectiveWorkflow

        file = replace(self.snapshot(), workflow=self._others.workflow(self.workflow))
        effective = EffectiveWorkflow(file, held)
        places = map(effective.at_its_place, check_workflow(file, self._library, self._backends))
        # An edit of the workflow would not put that place right.
        return [replace(each, fix=None, other_fixes=()) for each in places if each is not None]

    def _with_all_rules(self) -> Workflow:
        """The settings in force, with the merge rules of other places, too."""
        others = self._others.rules(self.settings)
        rules = {path: MergeRule(str(rule.value)) for path, rule in others.items() if rule.value}
        settings = self.settings_in_force
        return settings.model_copy(update={"merge": {**settings.merge, **rules}}) if rules else settings


def _in_short(text: str) -> str:
    return text if len(text) <= _SHOWN_OF_REFUSED else f"{text[:_SHOWN_OF_REFUSED]}…"


def _warnings_of(text: str, path: Path) -> list[Problem]:
    """What is odd about a text that was just written."""
    file = inspect_workflow(text, path).file
    return list(file.warnings) if file is not None else []
