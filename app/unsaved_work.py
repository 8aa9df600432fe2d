"""Edits that are not saved outlive a crash: a copy is kept aside and offered at the next start."""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, QThreadPool, QTimer, Slot

from app.document import WorkflowDocument
from app.kept_copies import (
    FoundCopy,
    KeptText,
    left_behind,
    make_copy,
    new_copy_file,
    remove_copy,
    write_copy,
)
from app.notice_bar import Notice, NoticeAction, NoticeArea, Tone
from app.outline import Outline
from core.config import WorkflowFile
from core.platform_paths import state_folder
from core.problems import UserFileError
from core.workflow_file import dump_workflow, parse_workflow

SETTLE_MS = 1000
"""A copy is written when there was no edit for this long."""
NOTICE = "unsaved"
_PAYLOAD = "initial_payload"


class UnsavedWork(QObject):
    """Keeps a copy of a document's unsaved edits, and offers copies that a dead process left behind."""

    def __init__(self, document: WorkflowDocument, notices: NoticeArea, folder: Path | None = None) -> None:
        super().__init__(document)
        self._document = document
        self._notices = notices
        self._folder = folder or state_folder() / "unsaved"
        self._file = new_copy_file(self._folder)
        self._pool = QThreadPool(self)
        self._pool.setMaxThreadCount(1)
        self._settle = QTimer(self)
        self._settle.setSingleShot(True)
        self._settle.setInterval(SETTLE_MS)
        self._settle.timeout.connect(self._keep)
        document.changed.connect(self._settle.start)
        document.modified_changed.connect(self._modified_changed)

    def close(self, *, discard: bool) -> None:
        """The window closes. `discard`: the user does not want what is unsaved; else a copy of it stays."""
        if discard:
            self._settle.stop()
            self._pool.start(partial(remove_copy, self._file))
            self._pool.waitForDone()
        else:
            self.keep_now()

    @Slot()
    def keep_now(self) -> None:
        """Bring the copy up to date and wait for the disk: this process may end at any moment."""
        self._settle.stop()
        self._keep()
        self._pool.waitForDone()

    @Slot(bool)
    def _modified_changed(self, modified: bool) -> None:
        if not modified:
            self._settle.stop()
            self._pool.start(partial(remove_copy, self._file))

    @Slot()
    def _keep(self) -> None:
        if self._document.is_modified:
            snapshot, title = self._document.snapshot(), self._document.title
            fields = _fields_of(self._document.outline)
            self._pool.start(partial(_write, self._file, snapshot, title, fields))

    # --- after a crash ---------------------------------------------------------------------------------

    def offer(self) -> None:
        """Tell of copies whose process is gone; the newest is the one to restore."""
        found = left_behind(self._folder)
        if not found:
            return
        newest = found[-1]
        when = time.strftime("%d %b, %H:%M", time.localtime(newest.copy.saved_at))
        text = self.tr("OpenLoop ended without saving your changes to {0}. They were kept on {1}.").format(
            newest.copy.title, when
        )
        actions = (
            NoticeAction(self.tr("Restore"), partial(self._restore, newest)),
            NoticeAction(self.tr("Discard"), partial(remove_copy, newest.file)),
        )
        self._notices.tell(NOTICE, Notice(text, Tone.WARNING, actions=actions))

    def _restore(self, found: FoundCopy) -> None:
        try:
            file = parse_workflow(found.copy.text, found.copy.path)
        except UserFileError as error:
            lines = tuple(problem.text() for problem in error.problems)
            self._notices.tell(NOTICE, Notice(self.tr("The copy cannot be read."), Tone.ERROR, lines))
            return
        self._document.restore(file)
        _type_again(self._document, found.copy.fields)
        remove_copy(found.file)


def _write(target: Path, snapshot: WorkflowFile, title: str, fields: Sequence[KeptText]) -> None:
    write_copy(target, make_copy(snapshot.path, title, dump_workflow(snapshot), fields=fields))


def _fields_of(outline: Outline) -> list[KeptText]:
    """What stands in fields and cannot be their values: the file has the values before."""
    at = outline.node_places
    found = [
        KeptText(
            nodes=[at[node_id] for node_id in refused.nodes if node_id in at],
            key=refused.key,
            field=refused.field,
            text=refused.text,
            mistake=refused.mistake,
        )
        for _, refused in outline.refused_places
    ]
    if outline.unfinished is not None:
        text, mistake = outline.unfinished.text, outline.unfinished.mistake
        found.append(KeptText(nodes=[], key=_PAYLOAD, field="", text=text, mistake=mistake))
    return found


def _type_again(document: WorkflowDocument, fields: Sequence[KeptText]) -> None:
    """Put texts back into their fields, each as a step of undo of its own."""
    for field in fields:
        document.end_merging()
        if field.key == _PAYLOAD:
            document.write_payload(field.text, None, field.mistake)
            continue
        ids = {place: node_id for node_id, place in document.outline.node_places.items()}
        nodes = [ids[place] for place in field.nodes if place in ids]
        if nodes or not field.nodes:
            document.refuse_text(nodes, field.field, field.key, field.text, field.mistake)
    document.end_merging()
