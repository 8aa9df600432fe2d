"""What other places than the open workflow say about its settings, read on a worker."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QRunnable, QThreadPool, Signal, SignalInstance, Slot

from app.file_watch import FileWatch
from app.first_paint import after_first_paint
from app.outline import own_copy
from core.config import Workflow, WorkflowFile
from core.settings_keys import MERGE, SETTING_KEYS, Origin, Setting, put_values, value_of

if TYPE_CHECKING:
    from app.document import WorkflowDocument
    from core.problems import Problem

_STRONGER = (Origin.COMMAND_LINE, Origin.ENVIRONMENT)


@dataclass(frozen=True)
class OtherSettings:
    """`settings`: by key, what would hold if the workflow said nothing. `nulls`: settings for which its file
    has null, which is a word of its own. `problems`: what is wrong with the other places. `files`: where
    files with settings were looked for, also those that are not there."""

    settings: Mapping[str, Setting] = field(default_factory=dict)
    nulls: frozenset[str] = frozenset()
    problems: tuple[Problem, ...] = ()
    files: frozenset[Path] = frozenset()

    def own(self, workflow: Workflow, key: str) -> object:
        """What the workflow itself says; None: nothing."""
        head, _, rest = key.partition(".")
        if head == MERGE:
            return value_of(workflow, key)
        model = getattr(workflow, head) if rest else workflow
        name = rest or head
        value: object = getattr(model, name) if name in model.model_fields_set else None
        return value

    def in_force(self, workflow: Workflow, key: str) -> Setting:
        """A setting as a run would have it."""
        other = self.settings.get(key)
        if other is not None and other.origin in _STRONGER:
            return other
        if key in self.nulls or self.own(workflow, key) is not None:
            return Setting(key, value_of(workflow, key), Origin.WORKFLOW)
        return other or Setting(key, value_of(Workflow(), key), Origin.DEFAULT)

    def rules(self, workflow: Workflow) -> dict[str, Setting]:
        """By path, the merge rules of other places that a run would have.

        Rules add up; of two for one path the workflow's own wins, but for those of the environment.
        """
        return {
            key.removeprefix(f"{MERGE}."): setting
            for key, setting in self.settings.items()
            if key.startswith(f"{MERGE}.")
            and (setting.origin in _STRONGER or key.removeprefix(f"{MERGE}.") not in workflow.merge)
        }

    def workflow(self, workflow: Workflow) -> Workflow:
        """The workflow with every setting as a run would have it, but for its merge rules."""
        copy = own_copy(workflow)
        values = {key: self.in_force(workflow, key).value for key in SETTING_KEYS}
        rules = {f"{MERGE}.{path}": rule.value for path, rule in workflow.merge.items()}
        put_values(copy, {**values, **rules})
        return copy


class _Read(QRunnable):
    """It only has the bound signal of an object of the window's thread."""

    def __init__(self, read: Callable[[], OtherSettings], done: SignalInstance) -> None:
        super().__init__()
        self._read = read
        self._done = done

    def run(self) -> None:
        self._done.emit(self._read())


class SettingsSource(QObject):
    """Reads what other places say: when a document's file or work folder changes, when another program
    changes a file with settings, and when asked to.

    While a run goes on the document keeps the settings that the run began with.
    """

    _done = Signal(object)

    def __init__(self, document: WorkflowDocument, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._document = document
        self._read_for: tuple[Path | None, str | None] | None = None
        self._reading = False
        self._again = False
        self._others = OtherSettings()
        self._running = self._closed = False
        self._of_run = False
        """The document has the settings of the run that goes on."""
        self._watches: dict[Path, FileWatch] = {}
        self._pool = QThreadPool(self)
        self._pool.setMaxThreadCount(1)
        self._done.connect(self._take)
        document.path_changed.connect(self._read_anew)
        document.changed.connect(self._follow)
        self.refresh()

    @property
    def reading(self) -> bool:
        """Whether what other places say is being read, and not yet taken."""
        return self._reading

    @Slot()
    def _follow(self) -> None:
        if (self._document.path, self._document.settings.workdir) != self._read_for:
            self._read_anew()

    @Slot(bool)
    def run_goes_on(self, running: bool) -> None:
        """A run begins or has ended: what changes on disk meanwhile does not reach it."""
        self._running = running
        if not running:
            self._read_anew()

    @Slot(object)
    def take_from_run(self, settings: Sequence[Setting]) -> None:
        """The document's run began with these settings, which may have changed just before."""
        self._of_run = True
        others = {each.key: each for each in settings if each.origin is not Origin.WORKFLOW}
        nulls = {each.key for each in settings if each.origin is Origin.WORKFLOW and each.value is None}
        self._others = replace(self._others, settings=others, nulls=frozenset(nulls))
        self._document.set_others(self._others)

    @Slot()
    def refresh(self) -> None:
        """Read again, on the worker; while a run goes on when it has ended."""
        if not self._running:
            self._read_anew()

    @Slot()
    def _read_anew(self) -> None:
        self._of_run = False
        if self._closed:
            return
        if self._reading:
            self._again = True
            return
        self._reading = True
        self._read_for = (self._document.path, self._document.settings.workdir)
        after_first_paint(self._begin)

    def _begin(self) -> None:
        self._again = False
        document = self._document
        self._read_for = (document.path, document.settings.workdir)
        file, folder = document.snapshot(), document.default_workdir
        self._pool.start(_Read(lambda: _read(file, folder), self._done))

    @Slot(object)
    def _take(self, others: OtherSettings) -> None:
        self._reading = False
        if not self._of_run:
            self._others = others
            self._document.set_others(others)
            # What changed between reading a file and watching it is read, too.
            self._again |= self._watch(others.files)
            if self._again:
                self._read_anew()

    def _watch(self, files: frozenset[Path]) -> bool:
        """Watch these files from now on; gives whether one of them was not watched before."""
        for gone in self._watches.keys() - files:
            self._watches.pop(gone).deleteLater()
        new = files - self._watches.keys()
        for path in new:
            watch = FileWatch(self)
            watch.changed.connect(self.refresh)
            watch.follow(path)
            self._watches[path] = watch
        return bool(new)

    def close(self) -> None:
        """Wait for the reading that goes on, and begin no other, though a run ends that asks for it."""
        self._closed = True
        self._pool.waitForDone()


def _read(file: WorkflowFile, default_workdir: Path) -> OtherSettings:
    """Reads the disk."""
    from core.run_folders import workdir_of
    from core.settings import resolve_settings

    try:
        project = workdir_of(file, default_workdir)
        silent = WorkflowFile(workflow=Workflow(), path=file.path)
        resolved = resolve_settings(silent, project, environ=os.environ)
        all_of_them = resolve_settings(file, project, environ=os.environ).effective.settings
    except (OSError, ValueError):
        return OtherSettings()  # such as a work folder that no folder can be: a run is refused for it
    nulls = {each.key for each in all_of_them if each.origin is Origin.WORKFLOW and each.value is None}
    return OtherSettings(
        {each.key: each for each in resolved.effective.settings},
        frozenset(nulls),
        (*resolved.errors, *resolved.effective.warnings),
        frozenset(looked.path for looked in resolved.files),
    )
