"""Edits that are not saved outlive a crash: a copy is kept aside and offered at the next start."""

from __future__ import annotations

import contextlib
import os
import secrets
import time
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from pydantic import BaseModel, ValidationError
from PySide6.QtCore import QObject, QThreadPool, QTimer, Slot

from app.document import WorkflowDocument
from app.notice_bar import Notice, NoticeAction, NoticeArea, Tone
from core.config import WorkflowFile
from core.platform_paths import state_folder
from core.problems import UserFileError
from core.processes import is_running, start_time
from core.workflow_file import dump_workflow, parse_workflow

SETTLE_MS = 1000
"""A copy is written when there was no edit for this long."""
NOTICE = "unsaved"


class _Copy(BaseModel):
    """A copy on disk: what it is of, and which process is looking after it."""

    path: Path | None
    title: str
    saved_at: float
    pid: int
    pid_started: float
    text: str


@dataclass(frozen=True, slots=True)
class _Found:
    file: Path
    copy: _Copy


class UnsavedWork(QObject):
    """Keeps a copy of a document's unsaved edits, and offers copies that a dead process left behind."""

    def __init__(self, document: WorkflowDocument, notices: NoticeArea, folder: Path | None = None) -> None:
        super().__init__(document)
        self._document = document
        self._notices = notices
        self._folder = folder or state_folder() / "unsaved"
        self._file = self._folder / f"{os.getpid()}-{secrets.token_hex(4)}.json"
        self._started = start_time(os.getpid()) or 0.0
        self._pool = QThreadPool(self)
        self._pool.setMaxThreadCount(1)
        self._settle = QTimer(self)
        self._settle.setSingleShot(True)
        self._settle.setInterval(SETTLE_MS)
        self._settle.timeout.connect(self._keep)
        document.changed.connect(self._settle.start)
        document.modified_changed.connect(self._modified_changed)

    def close(self) -> None:
        """The window closes in order: what is unsaved now is not wanted."""
        self._settle.stop()
        self._pool.start(partial(_remove, self._file))
        self._pool.waitForDone()

    @Slot(bool)
    def _modified_changed(self, modified: bool) -> None:
        if not modified:
            self._settle.stop()
            self._pool.start(partial(_remove, self._file))

    @Slot()
    def _keep(self) -> None:
        if self._document.is_modified:
            snapshot, title = self._document.snapshot(), self._document.title
            self._pool.start(partial(_write, self._file, snapshot, title, self._started))

    # --- after a crash ---------------------------------------------------------------------------------

    def offer(self) -> None:
        """Tell of copies whose process is gone; the newest is the one to restore."""
        found = sorted(_left_behind(self._folder), key=lambda each: each.copy.saved_at)
        if not found:
            return
        newest = found[-1]
        when = time.strftime("%d %b, %H:%M", time.localtime(newest.copy.saved_at))
        text = self.tr("OpenLoop ended without saving your changes to {0}. They were kept on {1}.").format(
            newest.copy.title, when
        )
        actions = (
            NoticeAction(self.tr("Restore"), partial(self._restore, newest)),
            NoticeAction(self.tr("Discard"), partial(_remove, newest.file)),
        )
        self._notices.tell(NOTICE, Notice(text, Tone.WARNING, actions=actions))

    def _restore(self, found: _Found) -> None:
        try:
            file = parse_workflow(found.copy.text, found.copy.path)
        except UserFileError as error:
            lines = tuple(problem.text() for problem in error.problems)
            self._notices.tell(NOTICE, Notice(self.tr("The copy cannot be read."), Tone.ERROR, lines))
            return
        self._document.restore(file)
        _remove(found.file)


def _write(target: Path, snapshot: WorkflowFile, title: str, started: float) -> None:
    copy = _Copy(
        path=snapshot.path,
        title=title,
        saved_at=time.time(),
        pid=os.getpid(),
        pid_started=started,
        text=dump_workflow(snapshot),
    )
    # A copy that cannot be written must not disturb the work that it is a copy of.
    with contextlib.suppress(OSError):
        target.parent.mkdir(parents=True, exist_ok=True)
        draft = target.with_suffix(".part")
        draft.write_text(copy.model_dump_json(), encoding="utf-8")
        draft.replace(target)


def _remove(file: Path) -> None:
    with contextlib.suppress(OSError):
        file.unlink(missing_ok=True)


def _left_behind(folder: Path) -> list[_Found]:
    found: list[_Found] = []
    for file in folder.glob("*.json"):
        try:
            copy = _Copy.model_validate_json(file.read_bytes())
        except (OSError, ValidationError):
            continue
        if not is_running(copy.pid, copy.pid_started):
            found.append(_Found(file, copy))
    return found
