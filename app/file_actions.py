"""Opening and saving, with the questions that belong to it; nothing here blocks the loop."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QDir, QObject, Qt, QTimer, Signal, Slot
from PySide6.QtWidgets import QFileDialog, QLineEdit, QMessageBox, QWidget

from app.notice_bar import Notice, NoticeAction, NoticeArea, Tone
from app.problem_text import problem_lines
from app.question import Choice, ask
from core.agent_folders import is_shipped
from core.jsonc import parse_jsonc
from core.problems import UserFileError
from core.run_folders import example_workdir, log_dir_of, start_folder, workdir_of

if TYPE_CHECKING:
    from app.document import WorkflowDocument
    from app.recent_files import RecentFiles
    from core.example_agents import BroughtAgents

FILE, DISK, WARNINGS, SAVED = "file", "disk", "warnings", "saved"
"""Names of the notices."""
SUFFIXES = (".json", ".jsonc")
_DIALOG_ASKS = sys.platform == "darwin"
"""Whether the system's dialog asks before a file is replaced, whatever it is told."""


class FileActions(QObject):
    """What the File menu does. `locked`: a run goes on, so the open workflow must not be replaced.

    Signals: `editor_requested(FilePlace)`: a file that cannot be read here is to be opened in the user's
    editor.
    """

    editor_requested = Signal(object)

    def __init__(
        self, document: WorkflowDocument, notices: NoticeArea, recent: RecentFiles, window: QWidget
    ) -> None:
        super().__init__(window)
        self._document = document
        self._notices = notices
        self._recent = recent
        self._window = window
        self.locked = False
        self.question: QMessageBox | None = None
        """The question that was asked last; for tests, and to bring it to the front."""
        self.dialog: QFileDialog | None = None
        recent.chosen.connect(self.open)
        document.changed_on_disk.connect(self._changed_on_disk)
        document.path_changed.connect(self._path_changed)
        document.modified_changed.connect(self._modified_changed)

    # --- new and open ----------------------------------------------------------------------------------

    @Slot()
    def new(self) -> None:
        """Begin an empty workflow."""
        self.when_saved(self._new)

    def _new(self) -> None:
        if not self._refuse_while_running():
            self._forget_notices()
            self._document.new()

    @Slot()
    def open_dialog(self) -> None:
        """Let the user choose a file to open."""
        dialog = self._file_dialog(self.tr("Open workflow"))
        dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
        dialog.fileSelected.connect(self._open_selected)
        dialog.open()

    @Slot(str)
    def _open_selected(self, name: str) -> None:
        self.open(Path(name))

    @Slot(object)
    def open(self, path: Path) -> None:
        """Open a file, after asking about unsaved changes."""
        if not self._refuse_while_running():
            self.when_saved(lambda: self.load(path))

    def load(self, path: Path) -> bool:
        """Open a file without a question. Where it cannot be read the current work stays and a notice says
        why."""
        if self._refuse_while_running():
            return False
        try:
            self._document.open(path)
        except UserFileError as error:
            if not path.exists():
                self._recent.forget(path)
            edit = self._in_editor(path, error) if path.is_file() else ()
            self._tell_error(self.tr("{0} cannot be opened.").format(path.name), error, edit)
            return False
        self._forget_notices()
        if is_example(path):
            self._make_workdir(path)
        else:
            self._recent.remember(path)
        self._tell_warnings()
        return True

    def _in_editor(self, path: Path, error: UserFileError) -> tuple[NoticeAction, ...]:
        """Offer to mend a file elsewhere that cannot be read here."""

        def edit() -> None:
            # Not needed for the first paint of the window.
            from app.editor import FilePlace

            first = next((each for each in error.problems if each.file == path), None)
            line, column = (first.line, first.column) if first is not None else (None, None)
            self.editor_requested.emit(FilePlace(path, line, column))

        again = NoticeAction(self.tr("Try again"), lambda: self.open(path))
        return NoticeAction(self.tr("Open in the editor"), edit, stays=True), again

    def _make_workdir(self, example: Path) -> None:
        folder = example_workdir(example)
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            words = self.tr("The example cannot run, as its work folder cannot be made: {0} ({1}).")
            text = words.format(folder, error.strerror or error)
            save = NoticeAction(self.tr("Save as…"), self.save_as)
            self._notices.tell(FILE, Notice(text, Tone.WARNING, actions=(save,)))

    def _refuse_while_running(self) -> bool:
        if self.locked:
            text = self.tr("A run goes on. Another workflow can be opened when it has ended.")
            self._notices.tell(FILE, Notice(text))
        return self.locked

    def _tell_warnings(self) -> None:
        warnings = self._document.warnings
        if warnings:
            text = self.tr("{0} opened, with something odd in it:").format(self._document.title)
            self._notices.tell(WARNINGS, Notice(text, Tone.WARNING, problem_lines(warnings)))

    def _tell_error(self, text: str, error: UserFileError, actions: tuple[NoticeAction, ...] = ()) -> None:
        self._notices.tell(FILE, Notice(text, Tone.ERROR, problem_lines(error.problems), actions))

    def _forget_notices(self) -> None:
        for name in (FILE, DISK, WARNINGS, SAVED, "run"):
            self._notices.dismiss(name)

    # --- save ------------------------------------------------------------------------------------------

    @Slot()
    def save(self) -> None:
        """Save, or ask where to where there is no file yet."""
        self.save_then(lambda: None)

    @Slot()
    def save_as(self) -> None:
        """Ask where to save."""
        self._save_as_then(lambda: None)

    def save_then(self, then: Callable[[], object]) -> None:
        """Save, and go on with `then` when it is saved."""
        self._document.look_at_disk()
        path = self._document.path
        if path is None or is_example(path):
            self._save_as_then(then)
        elif self._document.differs_from_disk and path.exists():
            self._ask_to_overwrite(path, then)
        elif self._write(path):
            then()

    def _ask_to_overwrite(self, path: Path, then: Callable[[], object]) -> None:
        """Another program wrote the file meanwhile; neither version may be lost without a word."""

        def overwrite() -> None:
            if self._write(path):
                then()

        self.question = ask(
            self._window,
            self.tr("{0} was changed by another program.").format(path.name),
            self.tr("Saving replaces that version by what is here. Save as keeps both."),
            (
                Choice(self.tr("Replace it"), overwrite, QMessageBox.ButtonRole.DestructiveRole),
                Choice(self.tr("Save as…"), lambda: self._save_as_then(then), is_default=True),
            ),
            self.tr("Cancel"),
        )
        self.question.destroyed.connect(self._forget_question)

    def _save_as_then(self, then: Callable[[], object], near: Path | None = None) -> None:
        """Ask where to save, and go on with `then`. `near`: what was chosen before."""
        dialog = self._file_dialog(self.tr("Save workflow"))
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        dialog.setFileMode(QFileDialog.FileMode.AnyFile)
        dialog.setDefaultSuffix("json")
        # Qt's own question runs a loop of its own, which would hold up every coroutine of a run.
        dialog.setOption(QFileDialog.Option.DontConfirmOverwrite, not _DIALOG_ASKS)
        name = near.name if near is not None else _file_name(self._document)
        if near is not None:
            dialog.setDirectory(str(near.parent))
        dialog.selectFile(name)
        _offer_name_again(dialog, name)
        dialog.fileSelected.connect(lambda chosen: self._save_to(Path(chosen), then))
        dialog.open()

    def _save_to(self, path: Path, then: Callable[[], object]) -> None:
        """Save to a chosen file; where that is another one that exists, it is asked first."""
        path = path.absolute()
        self._document.look_at_disk()

        def replace_it() -> None:
            if self._write(path):
                then()

        is_own = path == self._document.path and not self._document.differs_from_disk
        if _DIALOG_ASKS or is_own or not path.exists() or path.is_dir():
            replace_it()
            return
        self.question = ask(
            self._window,
            self.tr("There is already a file {0} in {1}.").format(path.name, path.parent),
            self.tr("Saving replaces what it has."),
            (
                Choice(self.tr("Replace it"), replace_it, QMessageBox.ButtonRole.DestructiveRole),
                Choice(self.tr("Another name…"), lambda: self._save_as_then(then, path), is_default=True),
            ),
            self.tr("Cancel"),
        )
        self.question.destroyed.connect(self._forget_question)

    def _write(self, path: Path) -> bool:
        document = self._document
        document.end_merging()
        before, had_comments = document.path, _has_comments(document)
        worked_in, runs = _work_and_runs(document)
        copy: Path | None = None
        brought: BroughtAgents | None = None
        try:
            if had_comments and before is not None and path.absolute() == before and path.exists():
                # Not needed for the first paint of the window, nor is the other.
                from core.copy_beside import keep_copy

                copy = keep_copy(path)
            if before is not None and is_example(before):
                from core.example_agents import bring_agents

                # First: saving has the agents read.
                brought = bring_agents(replace(document.snapshot(), path=path.absolute()))
            document.save_as(path)
        except UserFileError as error:
            if brought is not None:
                brought.take_back()
            save = NoticeAction(self.tr("Save as…"), self.save_as)
            self._tell_error(self.tr("{0} is not saved.").format(path.name), error, (save,))
            return False
        for name in (FILE, DISK, SAVED, *([WARNINGS] if had_comments else [])):
            self._notices.dismiss(name)
        self._recent.remember(path)
        told = []
        if copy is not None:
            words = self.tr("{0} is saved without its comments. As it was, it is kept as {1}.")
            told.append(words.format(path.name, copy.name))
        if brought is not None:
            told.append(self._words_of_brought(path, brought))
        works_in, _ = _work_and_runs(document)
        if works_in != worked_in and runs.is_dir():
            words = self.tr("From now on agents work in {0}. The runs so far, and their files, stay in {1}.")
            told.append(words.format(works_in, worked_in))
        if told:
            self._notices.tell(SAVED, Notice(" ".join(told)))
        return True

    def _words_of_brought(self, path: Path, brought: BroughtAgents) -> str:
        """An example became the user's own, and so did its agents."""
        text = self.tr("{0} is yours now.").format(path.name)
        if brought.copied:
            text += " " + self.tr(
                "Its agents were copied to {0}. They still play: for real work change only their backend."
            ).format(brought.folder)
        if brought.found:
            text += " " + self.tr("It uses these agents that you had already: {0}.").format(
                ", ".join(brought.found)
            )
        return text

    def _file_dialog(self, title: str) -> QFileDialog:
        path = self._document.path
        folder = path.parent if path is not None and not is_example(path) else start_folder()
        dialog = QFileDialog(self._window, title, str(folder))
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.setNameFilters([self.tr("Workflows (*.json *.jsonc)"), self.tr("All files (*)")])
        self.dialog = dialog
        dialog.destroyed.connect(lambda: self._forget_dialog(dialog))
        return dialog

    def _forget_dialog(self, gone: QFileDialog) -> None:
        # The next may be there already.
        if self.dialog is gone:
            self.dialog = None

    # --- questions -------------------------------------------------------------------------------------

    def when_saved(self, then: Callable[[], object]) -> None:
        """Go on with `then` once there is nothing to lose: at once, or as the user decides."""
        if not self._document.is_modified:
            then()
            return
        if self._document.outline.unfinished is not None or self._document.outline.refused_places:
            self._ask_about_unfinished(then)
            return
        text = self.tr("Save the changes to {0}?").format(self._document.title)
        choices = (
            Choice(self.tr("Save"), lambda: self.save_then(then), is_default=True),
            Choice(self.tr("Don’t save"), then, QMessageBox.ButtonRole.DestructiveRole),
        )
        explanation = self.tr("They are lost if you don’t save them.")
        self.question = ask(self._window, text, explanation, choices, self.tr("Cancel"))
        self.question.finished.connect(self._forget_question)

    def _ask_about_unfinished(self, then: Callable[[], object]) -> None:
        """A text of the initial payload or a field cannot be saved; it must not be lost without a word."""
        text = self.tr("The initial payload of {0} is not finished.").format(self._document.title)
        if self._document.outline.unfinished is None:
            fields = [f"“{refused.field}”" for _, refused in self._document.outline.refused_places]
            text = self.tr("{0} of {1} cannot be saved as it stands.").format(
                ", ".join(fields), self._document.title
            )
        explanation = self.tr("What stands there cannot be read, and is lost. The file keeps the one before.")
        choices = (
            Choice(self.tr("Save the rest"), lambda: self.save_then(then)),
            Choice(self.tr("Don’t save"), then, QMessageBox.ButtonRole.DestructiveRole),
        )
        self.question = ask(self._window, text, explanation, choices, self.tr("Cancel"))
        self.question.finished.connect(self._forget_question)

    @Slot()
    def _forget_question(self) -> None:
        self.question = None

    # --- changes by others -----------------------------------------------------------------------------

    @Slot()
    def _changed_on_disk(self) -> None:
        path = self._document.path
        if path is None:
            return
        keep = NoticeAction(self.tr("Keep mine"), self._document.keep_mine)
        if not path.exists():
            text = self.tr("{0} was moved or deleted.").format(path.name)
            save = NoticeAction(self.tr("Save it again"), self.save)
            self._notices.tell(DISK, Notice(text, Tone.WARNING, actions=(save, keep), dismissible=False))
            return
        text = self.tr("{0} changed on disk.").format(path.name)
        if self._document.has_edits:
            text += " " + self.tr("Reload loses your changes since the last save.")
        reload = NoticeAction(self.tr("Reload"), self.reload)
        self._notices.tell(DISK, Notice(text, Tone.WARNING, actions=(reload, keep), dismissible=False))

    @Slot()
    def reload(self) -> None:
        """Take the file as it is on disk."""
        path = self._document.path
        if path is None:
            return
        if self.locked:
            # The notice must not be lost: the run shows places of the workflow as it is here.
            self._refuse_while_running()
            self._changed_on_disk()
            return
        self.load(path)

    @Slot()
    def _path_changed(self) -> None:
        self._notices.dismiss(DISK)

    @Slot(bool)
    def _modified_changed(self, modified: bool) -> None:
        if modified and self._notices.bar(DISK) is not None:
            self._changed_on_disk()


def _work_and_runs(document: WorkflowDocument) -> tuple[Path, Path]:
    """Where agents of the workflow work, and the folder of its runs."""
    file = document.snapshot()
    workdir = workdir_of(file, document.default_workdir)
    return workdir, log_dir_of(file, workdir)


def _offer_name_again(dialog: QFileDialog, name: str) -> None:
    """Once the path of a folder was typed, and so opened, have the field for the name offer a name again:
    what is typed next would else go on behind the path. The system's own dialogs have no such field."""
    field = dialog.findChild(QLineEdit, "fileNameEdit")
    if field is None:
        return

    def look() -> None:
        if dialog.isVisible() and QDir.cleanPath(field.text()) == dialog.directory().absolutePath():
            field.setText(name)
            field.selectAll()

    # The folder is opened by what comes after this.
    field.returnPressed.connect(lambda: QTimer.singleShot(0, dialog, look))


def is_example(path: Path) -> bool:
    """Whether a file ships with OpenLoop: it is never overwritten, Save asks where to."""
    return is_shipped(path)


def _has_comments(document: WorkflowDocument) -> bool:
    """Whether the file has comments as it was read or saved last."""
    text = document.snapshot().text
    return bool(text) and parse_jsonc(text).has_comments


def _file_name(document: WorkflowDocument) -> str:
    if document.path is not None:
        return document.path.name
    words = "".join(character if character.isalnum() else " " for character in document.settings.name)
    return f"{'-'.join(words.lower().split()) or 'workflow'}.json"
