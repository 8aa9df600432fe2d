"""Exporting a run as a report: where to, then on a worker, and a notice that opens it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from PySide6.QtCore import QObject, QUrl, Signal, Slot
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QFileDialog, QWidget

from app.notice_bar import Notice, NoticeAction, NoticeArea, Tone
from app.runs.entry import RunEntry
from app.runs.jobs import Jobs, Tell, Work
from app.runs.words import title_words
from app.runs.work_bar import WorkBar
from core.plain_name import plain_name

NOTICE = "export"
"""Name of the notice."""


class ExportKind(StrEnum):
    """What a run is written as; the values are the endings of the files."""

    HTML = "html"
    JSON = "json"


@dataclass(frozen=True, slots=True)
class _Written:
    path: Path
    problem: str = ""


def _export(folder: Path, path: Path, kind: ExportKind) -> Work:
    def work(tell: Tell, stopped: Callable[[], bool]) -> None:
        # Not before it is wanted: a window can do without.
        from core.durable_files import replace_file
        from core.recorded_run import RunUnreadable, read_run
        from core.report import report_html, report_json

        try:
            run = read_run(folder)
            data = report_html(run).encode() if kind is ExportKind.HTML else report_json(run)
            if not stopped():
                replace_file(path, data)
        except RunUnreadable as error:
            tell(_Written(path, error.problem.message))
        except OSError as error:
            tell(_Written(path, f"{error.strerror or error}."))
        else:
            tell(_Written(path))

    return work


class Exporting(QObject):
    """Asks for a file, and writes the report of a run there.

    Signals: `message(str)`: a sentence for the status line.
    """

    message = Signal(str)

    def __init__(self, parent: QWidget, bar: WorkBar, notices: NoticeArea) -> None:
        super().__init__(parent)
        self._parent = parent
        self._bar = bar
        self._notices = notices
        self._entry: RunEntry | None = None
        self._kind = ExportKind.HTML
        self._busy = False
        self._folder: Path | None = None
        """Where the last report went."""
        self.dialog: QFileDialog | None = None
        self._jobs = Jobs(self)
        self._jobs.told.connect(self._finish)
        bar.cancelled.connect(self._cancel)

    def ask(self, entry: RunEntry, kind: ExportKind) -> None:
        """Ask where the report of a run shall go."""
        if self.dialog is not None or self._busy:
            return
        self._entry, self._kind = entry, kind
        name = f"{plain_name(title_words(entry)) or 'run'}-{plain_name(entry.run_id)}.{kind.value}"
        folder = (
            self._folder if self._folder is not None and self._folder.is_dir() else entry.folder.parent.parent
        )
        dialog = QFileDialog(self._parent, self.tr("Export the run"), str(folder / name))
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        dialog.setFileMode(QFileDialog.FileMode.AnyFile)
        dialog.setDefaultSuffix(kind.value)
        words = self.tr("Web page") if kind is ExportKind.HTML else self.tr("JSON")
        dialog.setNameFilter(f"{words} (*.{kind.value})")
        dialog.fileSelected.connect(self._write)
        dialog.finished.connect(self._dialog_closed)
        self.dialog = dialog
        dialog.open()

    @Slot()
    def _dialog_closed(self) -> None:
        if self.dialog is not None:
            self.dialog.deleteLater()
            self.dialog = None

    @Slot(str)
    def _write(self, name: str) -> None:
        if self._entry is None or not name:
            return
        path = Path(name)
        self._folder = path.parent
        self._busy = True
        self._notices.dismiss(NOTICE)
        self._bar.show_work(self.tr("Writing {0}…").format(path.name), 0.5)
        self._jobs.start(_export(self._entry.folder, path, self._kind))

    @Slot()
    def _cancel(self) -> None:
        if self._busy:
            self._jobs.give_up()
            self._busy = False
            self._bar.hide()
            self.message.emit(self.tr("The export was cancelled."))

    @Slot(object)
    def _finish(self, told: object) -> None:
        if not isinstance(told, _Written):
            return
        self._busy = False
        self._bar.hide()
        if told.problem:
            text = self.tr("The run could not be exported to {0}: {1}").format(told.path, told.problem)
            self._notices.tell(NOTICE, Notice(text, Tone.ERROR))
            return
        text = self.tr("The run is exported to {0}.").format(told.path)
        path = told.path
        actions = (
            NoticeAction(self.tr("Open"), lambda: _open(path), stays=True),
            NoticeAction(self.tr("Open folder"), lambda: _open(path.parent), stays=True),
        )
        self._notices.tell(NOTICE, Notice(text, actions=actions))

    def close(self) -> None:
        """The window closes: a report that is being written is finished."""
        self._jobs.close()


def _open(path: Path) -> None:
    QDesktopServices.openUrl(QUrl.fromLocalFile(str(path)))
