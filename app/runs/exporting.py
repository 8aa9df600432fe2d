"""Exporting runs as reports: where to, then on a worker, and a notice that opens what was written."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import QObject, QUrl, Signal, Slot
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QFileDialog, QWidget

from app.notice_bar import Notice, NoticeAction, NoticeArea, Tone
from app.runs.entry import RunEntry
from app.runs.export_work import AllWritten, Begun, ExportKind, Written, export_all, export_one, report_name
from app.runs.jobs import Jobs
from app.runs.words import runs_words, title_words
from app.runs.work_bar import WorkBar

NOTICE = "export"
"""Name of the notice."""


class Exporting(QObject):
    """Asks for a file, and writes the report of a run there; of several, asks for a folder.

    Signals: `message(str)`: a sentence for the status line.
    """

    message = Signal(str)

    def __init__(self, parent: QWidget, bar: WorkBar, notices: NoticeArea) -> None:
        super().__init__(parent)
        self._parent = parent
        self._bar = bar
        self._notices = notices
        self._entries: tuple[RunEntry, ...] = ()
        self._kind = ExportKind.HTML
        self._busy = False
        self._folder: Path | None = None
        """Where the last report went."""
        self.dialog: QFileDialog | None = None
        self._jobs = Jobs(self)
        self._jobs.told.connect(self._finish)
        bar.cancelled.connect(self._cancel)

    def ask(self, entries: Sequence[RunEntry], kind: ExportKind) -> None:
        """Ask where the reports of these runs shall go."""
        if self.dialog is not None or self._busy or not entries:
            return
        self._entries, self._kind = tuple(entries), kind
        folder = self._folder
        if folder is None or not folder.is_dir():
            folder = entries[0].folder.parent.parent
        dialog = self._file_dialog(folder) if len(entries) == 1 else self._folder_dialog(folder)
        dialog.fileSelected.connect(self._write)
        dialog.finished.connect(self._dialog_closed)
        self.dialog = dialog
        dialog.open()

    def _file_dialog(self, folder: Path) -> QFileDialog:
        kind = self._kind
        name = report_name(self._entries[0], kind)
        dialog = QFileDialog(self._parent, self.tr("Export the run"), str(folder / name))
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        dialog.setFileMode(QFileDialog.FileMode.AnyFile)
        dialog.setDefaultSuffix(kind.value)
        words = self.tr("Web page") if kind is ExportKind.HTML else self.tr("JSON")
        dialog.setNameFilter(f"{words} (*.{kind.value})")
        return dialog

    def _folder_dialog(self, folder: Path) -> QFileDialog:
        title = self.tr("Export {0}: where is their new folder to be?").format(runs_words(len(self._entries)))
        dialog = QFileDialog(self._parent, title, str(folder))
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptOpen)
        dialog.setFileMode(QFileDialog.FileMode.Directory)
        dialog.setOption(QFileDialog.Option.ShowDirsOnly)
        dialog.setLabelText(QFileDialog.DialogLabel.Accept, self.tr("Export here"))
        return dialog

    @Slot()
    def _dialog_closed(self) -> None:
        if self.dialog is not None:
            self.dialog.deleteLater()
            self.dialog = None

    @Slot(str)
    def _write(self, name: str) -> None:
        if not self._entries or not name:
            return
        path = Path(name)
        self._busy = True
        self._notices.dismiss(NOTICE)
        if len(self._entries) == 1:
            self._folder = path.parent
            self._bar.show_work(self.tr("Writing {0}…").format(path.name), 0.5)
            self._jobs.start(export_one(self._entries[0], path, self._kind))
        else:
            self._folder = path
            self._show(0)
            self._jobs.start(export_all(self._entries, path, self._kind))

    def _show(self, at: int) -> None:
        count = len(self._entries)
        text = self.tr("Writing report {0} of {1}…").format(f"{at + 1:,}", f"{count:,}")
        self._bar.show_work(text, at / count)

    @Slot()
    def _cancel(self) -> None:
        if not self._busy:
            return
        if len(self._entries) > 1:
            # What is written by then is told.
            self._jobs.stop()
            return
        self._jobs.give_up()
        self._busy = False
        self._bar.hide()
        self.message.emit(self.tr("The export was cancelled."))

    @Slot(object)
    def _finish(self, told: object) -> None:
        if isinstance(told, Begun):
            if self._busy:
                self._show(told.at)
            return
        self._busy = False
        self._bar.hide()
        if isinstance(told, AllWritten):
            self._tell_all(told)
        elif isinstance(told, Written):
            self._tell_one(told)

    def _tell_one(self, told: Written) -> None:
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

    def _tell_all(self, told: AllWritten) -> None:
        lines = [f"{title_words(entry)} · {entry.run_id}: {why}" for entry, why in told.failed]
        if told.given_up:
            lines.append(
                self.tr("{0} not exported, because you cancelled.").format(runs_words(told.given_up))
            )
        folder = told.folder
        actions: tuple[NoticeAction, ...] = (
            NoticeAction(self.tr("Open folder"), lambda: _open(folder), stays=True),
        )
        if not told.count:
            text, actions = self.tr("No run was exported."), ()
        else:
            words = (
                self.tr("{0} is exported to {1}.") if told.count == 1 else self.tr("{0} are exported to {1}.")
            )
            text = words.format(runs_words(told.count), folder)
        tone = Tone.ERROR if told.failed and not told.count else Tone.WARNING if lines else Tone.INFO
        self._notices.tell(NOTICE, Notice(text, tone, tuple(lines), actions))

    def close(self) -> None:
        """The window closes: a report that is being written is finished."""
        self._jobs.close()


def _open(path: Path) -> None:
    QDesktopServices.openUrl(QUrl.fromLocalFile(str(path)))
