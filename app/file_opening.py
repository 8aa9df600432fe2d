"""What logs ask of the window: files open in the user's editor, addresses in the browser, looks are kept."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QRunnable, QThreadPool, Signal, SignalInstance, Slot
from PySide6.QtWidgets import QWidget

if TYPE_CHECKING:
    from pathlib import Path

    from app.editor import FilePlace, Opening, Preset
    from app.editor_dialog import EditorDialog
    from app.right_side import RightSide
    from app.run_view.run_view import RunView
    from app.settings_store import SettingsStore
    from app.window_actions import WindowActions


class _Plan(QRunnable):
    """Looks on disk and PATH; it only has the bound signal of an object of the window's thread."""

    def __init__(self, place: FilePlace, chosen: str, done: SignalInstance) -> None:
        super().__init__()
        self._place = place
        self._chosen = chosen
        self._done = done

    def run(self) -> None:
        # Not needed for the first paint of the window.
        from app.editor import EditorError, plan_opening

        try:
            result: Opening | str = plan_opening(self._place, self._chosen)
        except EditorError as error:
            result = str(error)
        self._done.emit(result)


class _Search(QRunnable):
    """Looks for editors."""

    def __init__(self, done: SignalInstance) -> None:
        super().__init__()
        self._done = done

    def run(self) -> None:
        from app.editor import command_in_force, installed

        self._done.emit((installed(), command_in_force("")))


class FileOpening(QObject):
    """Connects the logs of a window to its store, the user's editor and the browser.

    Signals: `message(str)`: a sentence for the status line.
    """

    message = Signal(str)
    _planned = Signal(object)
    _searched = Signal(object)

    def __init__(
        self, right: RightSide, actions: WindowActions, store: SettingsStore, window: QWidget
    ) -> None:
        super().__init__(window)
        self._window = window
        self._store = store
        self._dialog: EditorDialog | None = None
        self._pool = QThreadPool(self)
        self._pool.setMaxThreadCount(1)
        self._planned.connect(self._carry_out)
        self._searched.connect(self._show_dialog)
        right.view_adopted.connect(self._connect_view)
        actions.choose_editor.triggered.connect(self.choose)

    @property
    def dialog(self) -> EditorDialog | None:
        """The dialog in which the editor is chosen, while it is open."""
        return self._dialog

    @Slot(object)
    def _connect_view(self, view: RunView) -> None:
        host = view.tabs.host
        host.file_requested.connect(self.open_file)
        host.address_requested.connect(self._open_address)
        host.editor_requested.connect(self.choose)

    # --- opening ---------------------------------------------------------------------------------------

    @Slot(object)
    def open_file(self, place: FilePlace) -> None:
        """Open a file at its place, as soon as it is known how."""
        self._pool.start(_Plan(place, self._store.editor, self._planned))

    @Slot(object)
    def _carry_out(self, plan: Opening | str) -> None:
        if isinstance(plan, str):
            self.message.emit(plan)
            return
        path = plan.place.path
        if plan.command:
            program, *arguments = plan.command
            if not start(program, arguments, str(path.parent)):
                self.message.emit(
                    self.tr(
                        "{0} could not be started. “Editor for files…” in the View menu chooses another."
                    ).format(program)
                )
        elif plan.by_desktop:
            _open_by_desktop(path)
        else:
            _open_by_desktop(path.parent)
            self.message.emit(
                self.tr(
                    "No editor was found, and your system might run {0}, so its folder was opened. "
                    "“Editor for files…” in the View menu chooses an editor."
                ).format(path.name)
            )

    @Slot(str)
    def _open_address(self, address: str) -> None:
        # Not needed for the first paint of the window, nor are the others that are imported below.
        from PySide6.QtCore import QUrl
        from PySide6.QtGui import QDesktopServices

        QDesktopServices.openUrl(QUrl(address))

    # --- choosing --------------------------------------------------------------------------------------

    @Slot()
    def choose(self) -> None:
        """Let the user choose an editor, from those that are there."""
        if self._dialog is not None:
            self._dialog.raise_()
            self._dialog.activateWindow()
            return
        self._pool.start(_Search(self._searched))

    @Slot(object)
    def _show_dialog(self, found: tuple[list[tuple[Preset, str]], str | None]) -> None:
        from app.editor_dialog import EditorDialog

        if self._dialog is not None:
            return
        editors, automatic = found
        by_command = {preset.command(program): preset.name for preset, program in editors}
        words = by_command.get(automatic or "", automatic) or self.tr("as your system opens the file")
        dialog = EditorDialog(self._store.editor, editors, (words, automatic or ""), self._window)
        dialog.chosen.connect(self._take_choice)
        dialog.finished.connect(self._forget_dialog)
        self._dialog = dialog
        dialog.open()

    @Slot(str)
    def _take_choice(self, command: str) -> None:
        self._store.editor = command

    @Slot()
    def _forget_dialog(self) -> None:
        self._dialog = None

    @Slot()
    def close(self) -> None:
        """Wait for what looks on disk, which is soon."""
        self._pool.waitForDone()


def _open_by_desktop(path: Path) -> None:
    from PySide6.QtCore import QUrl
    from PySide6.QtGui import QDesktopServices

    QDesktopServices.openUrl(QUrl.fromLocalFile(str(path)))


def start(program: str, arguments: list[str], folder: str) -> bool:
    """Start a program of its own, which outlives the window; never through a shell."""
    from PySide6.QtCore import QProcess

    process = QProcess()
    process.setProgram(program)
    process.setArguments(arguments)
    process.setWorkingDirectory(folder)
    process.setStandardInputFile(QProcess.nullDevice())
    process.setStandardOutputFile(QProcess.nullDevice())
    process.setStandardErrorFile(QProcess.nullDevice())
    # It gives a pair or, in other versions than its types were written for, only the first of it.
    started: object = process.startDetached()
    return bool(started[0] if isinstance(started, tuple) else started)
