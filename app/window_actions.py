"""The window's actions with their keys, and the menus of them."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Slot
from PySide6.QtGui import QAction, QActionGroup, QKeySequence, QUndoStack
from PySide6.QtWidgets import QMainWindow, QMenu

import resources
from app.platform_keys import larger_keys, next_tab_keys, previous_tab_keys, run_keys, settings_keys
from app.theme import Scheme, icon
from app.why_not import offer

if TYPE_CHECKING:
    from app.recent_files import RecentFiles


class WindowActions(QObject):
    """Every action of the window. What they do is connected by the window."""

    def __init__(self, window: QMainWindow) -> None:
        super().__init__(window)
        self._window = window
        self._undo_stack: QUndoStack | None = None
        self._editable = True
        self._has_run = self._history = self._history_run = False
        key = QKeySequence.StandardKey
        make = self._make
        self.new = make(self.tr("&New"), "file-plus", key.New)
        self.open = make(self.tr("&Open…"), "folder-open", key.Open)
        self.start_page = make(self.tr("S&tart page"), "house", None)
        self.new_agent = make(self.tr("New a&gent…"), "bot", None)
        self.new_agent.setToolTip(self.tr("Make a new agent from a template"))
        self.save = make(self.tr("&Save"), "save", key.Save)
        self.save_as = make(self.tr("Save &as…"), None, key.SaveAs)
        self.quit = make(self.tr("&Quit"), None, key.Quit if sys.platform != "win32" else "Ctrl+Q")
        self.quit.setMenuRole(QAction.MenuRole.QuitRole)
        self.undo = make(self.tr("&Undo"), "undo-2", key.Undo)
        self.redo = make(self.tr("&Redo"), "redo-2", key.Redo)
        if sys.platform != "darwin":
            self.redo.setShortcuts([QKeySequence("Ctrl+Shift+Z"), QKeySequence("Ctrl+Y")])
        self.run = make(self.tr("&Run"), "play", run_keys())
        self.run.setToolTip(self.tr("Run this workflow"))
        self.stop_after = make(self.tr("Stop &after the running agents"), "circle-pause", "Shift+F5")
        self.stop_now = make(self.tr("Stop &now"), "circle-stop", "Ctrl+Shift+F5")
        self.resume_run = make(self.tr("R&esume a run…"), "rotate-ccw", "Ctrl+Shift+R")
        self.resume_run.setToolTip(
            self.tr("Go on with a run that is paused, or ended before it was complete")
        )
        self.retry_agent = make(self.tr("&Try this agent again"), "rotate-ccw", "F7")
        self.stop_agent = make(self.tr("Stop this a&gent"), "circle-stop", "Shift+F7")
        self.open_run_folder = make(self.tr("Open run &folder"), "folder-open", None)
        self.notices = make(self.tr("Notify &me when the run needs me or has ended"), None, None)
        self.notices.setCheckable(True)
        self.show_settings = make(self.tr("&Settings"), "settings", settings_keys())
        self.show_run = make(self.tr("R&un"), "rows-3", "Ctrl+2")
        self.show_runs = make(self.tr("&History"), "history", "Ctrl+3")
        self.next_part = make(self.tr("Next part of the &window"), None, "F6")
        self.previous_part = make(self.tr("P&revious part of the window"), None, "Shift+F6")
        self.palette = make(self.tr("Search &actions…"), "search", "Ctrl+Shift+P")
        self.all_turns = make(self.tr("All &turns…"), None, "Ctrl+Shift+T")
        self.next_tab = make(self.tr("Ne&xt tab"), None, next_tab_keys())
        self.previous_tab = make(self.tr("&Previous tab"), None, previous_tab_keys())
        self.close_tab = make(self.tr("&Close tab"), None, "Ctrl+W")
        self.find = make(self.tr("&Find in the log…"), None, key.Find)
        self.zoom_in = make(self.tr("Log text &larger"), None, larger_keys())
        self.zoom_out = make(self.tr("Log text s&maller"), None, key.ZoomOut)
        self.zoom_normal = make(self.tr("Log text n&ormal"), None, "Ctrl+0")
        self.choose_editor = make(self.tr("&Editor for files…"), "square-pen", None)
        self.check_computer = make(self.tr("&Check this computer"), "circle-check", None)
        self.guide = make(self.tr("&User guide"), "info", None)
        self.about = make(self.tr("&About OpenLoop"), None, None)
        self.about.setMenuRole(QAction.MenuRole.AboutRole)
        self.schemes = QActionGroup(self)
        for scheme, text, name in (
            (Scheme.SYSTEM, self.tr("As the s&ystem"), None),
            (Scheme.LIGHT, self.tr("L&ight"), "sun"),
            (Scheme.DARK, self.tr("&Dark"), "moon"),
        ):
            action = make(text, name, None)
            action.setCheckable(True)
            action.setData(scheme.value)
            self.schemes.addAction(action)
        self.show_running(False)
        self.show_has_run(False)

    def _make(
        self,
        text: str,
        icon_name: str | None,
        key: QKeySequence.StandardKey | str | list[QKeySequence] | None,
    ) -> QAction:
        action = QAction(text, self)
        # Else a Mac guesses by the text, and moves "Settings" out of its menu.
        action.setMenuRole(QAction.MenuRole.NoRole)
        if icon_name is not None:
            action.setIcon(icon(icon_name, "quiet"))
        if isinstance(key, list):
            action.setShortcuts(key)
        elif key is not None:
            action.setShortcut(QKeySequence(key))
        self._window.addAction(action)
        return action

    def make_menus(self, recent: RecentFiles, edit_actions: Iterable[QAction]) -> None:
        """Fill the menu bar. `edit_actions`: what the builder can do to its selection."""
        bar = self._window.menuBar()
        file_menu = bar.addMenu(self.tr("&File"))
        file_menu.addActions([self.new, self.open])
        file_menu.addMenu(recent)
        file_menu.addAction(self.start_page)
        self.examples = file_menu.addMenu(self.tr("&Examples"))
        self._fill_examples(self.examples)
        file_menu.addSeparator()
        file_menu.addAction(self.new_agent)
        file_menu.addSeparator()
        file_menu.addActions([self.save, self.save_as])
        file_menu.addSeparator()
        file_menu.addAction(self.quit)
        edit_menu = bar.addMenu(self.tr("&Edit"))
        edit_menu.addActions([self.undo, self.redo])
        edit_menu.addSeparator()
        edit_menu.addActions(list(edit_actions))
        run_menu = bar.addMenu(self.tr("&Run"))
        run_menu.addActions([self.run, self.stop_after, self.stop_now])
        run_menu.addSeparator()
        run_menu.addAction(self.resume_run)
        run_menu.addSeparator()
        run_menu.addActions([self.retry_agent, self.stop_agent])
        run_menu.addSeparator()
        run_menu.addAction(self.open_run_folder)
        run_menu.addSeparator()
        run_menu.addAction(self.notices)
        view_menu = bar.addMenu(self.tr("&View"))
        view_menu.addAction(self.palette)
        view_menu.addSeparator()
        view_menu.addActions([self.show_settings, self.show_run, self.show_runs])
        view_menu.addActions([self.next_part, self.previous_part])
        view_menu.addSeparator()
        view_menu.addActions([self.all_turns, self.next_tab, self.previous_tab, self.close_tab])
        view_menu.addSeparator()
        view_menu.addActions([self.find, self.choose_editor])
        view_menu.addSeparator()
        view_menu.addActions([self.zoom_in, self.zoom_out, self.zoom_normal])
        view_menu.addSeparator()
        view_menu.addActions(self.schemes.actions())
        bar.addMenu(self.tr("&Help")).addActions([self.guide, self.check_computer, self.about])

    def _fill_examples(self, menu: QMenu) -> None:
        for path in resources.example_workflows():
            action = menu.addAction(path.stem.replace("_", " ").replace("&", "&&"))
            action.setData(str(path))
        menu.menuAction().setEnabled(bool(menu.actions()))

    # --- what can be done at present -------------------------------------------------------------------

    def follow_undo(self, stack: QUndoStack) -> None:
        """Undo and redo work on this stack, and say what they would do."""
        self._undo_stack = stack
        self.undo.triggered.connect(stack.undo)
        self.redo.triggered.connect(stack.redo)
        stack.indexChanged.connect(self._show_undo)
        self._show_undo()

    @Slot()
    def _show_undo(self) -> None:
        stack = self._undo_stack
        if stack is None:
            return
        waits = self.tr("Editing waits until the run ends.")
        nothing = self.tr("There is nothing to undo."), self.tr("There is nothing to redo.")
        offer(self.undo, self._editable and stack.canUndo(), nothing[0] if self._editable else waits)
        offer(self.redo, self._editable and stack.canRedo(), nothing[1] if self._editable else waits)
        undo, redo = stack.undoText(), stack.redoText()
        self.undo.setText(self.tr("&Undo {0}").format(undo) if undo else self.tr("&Undo"))
        self.redo.setText(self.tr("&Redo {0}").format(redo) if redo else self.tr("&Redo"))

    def show_running(self, running: bool) -> None:
        """While a run goes on it can be stopped, and the workflow stays as it is."""
        self._editable = not running
        goes_on = self.tr("A run goes on: first stop it, or wait for its end.")
        for action in (self.run, self.new, self.open):
            offer(action, not running, goes_on)
        none_goes_on = self.tr("No run goes on in this window.")
        for action in (self.stop_after, self.stop_now, self.retry_agent, self.stop_agent):
            offer(action, running, none_goes_on)
        self.show_paused(False)
        self._show_undo()

    def show_paused(self, paused: bool) -> None:
        """Resume goes on with a paused run; where none is, with one that has ended."""
        self.resume_run.setText(self.tr("R&esume the paused run") if paused else self.tr("R&esume a run…"))
        goes_on = self.tr("A run goes on: first stop it, or wait for its end.")
        offer(self.resume_run, paused or self._editable, goes_on)

    def show_has_run(self, has_run: bool) -> None:
        """Whether there is a run of this window to look at."""
        self._has_run = has_run
        offer(self.show_run, has_run, self.tr("There is no run of this workflow yet."))
        self._offer_tabs()

    @Slot(bool)
    def show_history(self, shows_run: bool) -> None:
        """The history is built, where one can find things. `shows_run`: a run is open in it."""
        self._history, self._history_run = True, shows_run
        self._offer_tabs()

    def _offer_tabs(self) -> None:
        has_run = self._has_run or self._history_run
        no_run = self.tr("No run is shown: start one, or open one from the history.")
        offer(self.find, has_run or self._history, no_run)
        for action in (
            self.all_turns,
            self.next_tab,
            self.previous_tab,
            self.close_tab,
            self.open_run_folder,
        ):
            offer(action, has_run, no_run)

    @Slot(bool)
    def leave_find_to_log(self, log_has_focus: bool) -> None:
        """A log has the same key of its own; two that fit would undo each other."""
        key = QKeySequence() if log_has_focus else QKeySequence(QKeySequence.StandardKey.Find)
        self.find.setShortcut(key)

    def show_scheme(self, scheme: Scheme) -> None:
        """Which look is in force."""
        for action in self.schemes.actions():
            action.setChecked(action.data() == scheme.value)
