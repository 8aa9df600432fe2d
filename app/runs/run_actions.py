"""What can be done with the selected runs, as actions with their keys: for buttons, menu and keyboard."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QKeyCombination, QObject, Qt, Signal
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QMenu, QWidget

from app.plain_text import plain_tool_tip
from app.platform_keys import delete_keys
from app.runs.entry import RunEntry
from app.runs.words import day_words, tr
from app.theme import icon
from app.why_not import offer


@dataclass(frozen=True, slots=True)
class _Can:
    """Whether something can be done. `about`: why it cannot, or what it will do."""

    able: bool
    about: str = ""


class RunActions(QObject):
    """The actions, which follow the selection: see `show_selection`.

    Signals, with the runs that they are about: `open_requested(RunEntry)`, `compare_requested(RunEntry,
    RunEntry)` (the older one first), `html_requested(tuple[RunEntry, ...])` and
    `json_requested(tuple[RunEntry, ...])`: those that can be read, `folder_requested(RunEntry)`,
    `delete_requested(tuple[RunEntry, ...])`, `resume_requested()`: of the one that is shown; `followed()`:
    the actions follow another selection now.
    """

    open_requested = Signal(object)
    compare_requested = Signal(object, object)
    html_requested = Signal(object)
    json_requested = Signal(object)
    folder_requested = Signal(object)
    delete_requested = Signal(object)
    resume_requested = Signal()
    followed = Signal()

    def __init__(self, listed: QWidget, page: QWidget) -> None:
        """`listed` has the keys that edit text elsewhere; `page` has all others."""
        super().__init__(page)
        self._selected: tuple[RunEntry, ...] = ()
        self._earlier: RunEntry | None = None
        self._about: dict[str, str] = {}
        """By the action's words."""
        make = self._make
        self.open = make(listed, tr("&Open"), "history", "Return", self._open)
        self.open.setShortcuts([QKeySequence("Return"), QKeySequence("Enter")])
        self.resume = make(page, tr("&Resume…"), "rotate-ccw", "", self.resume_requested.emit)
        self.compare = make(page, tr("&Compare"), "git-compare", "Ctrl+Shift+C", self._compare)
        self.export_html = make(page, tr("&Export as HTML…"), "file-down", "Ctrl+E", self._export_html)
        self.export_json = make(page, tr("Export as &JSON…"), "file-down", "Ctrl+Shift+E", self._export_json)
        self.folder = make(page, tr("Open run &folder"), "folder-open", "", self._open_folder)
        self.delete = make(listed, tr("&Delete…"), "trash-2", "Delete", self._delete)
        self.delete.setShortcuts(delete_keys())
        self.show_selection((), None, 0.0)

    @property
    def all(self) -> Sequence[QAction]:
        """Every action, in the order of the menu."""
        return (
            self.open,
            self.resume,
            self.compare,
            self.export_html,
            self.export_json,
            self.folder,
            self.delete,
        )

    def has_key(self, key: QKeyCombination) -> bool:
        """Whether a key belongs to an action of the whole page, also while text is edited there."""
        keys = QKeySequence(key)
        actions = (self.compare, self.export_html, self.export_json)
        return any(keys in action.shortcuts() for action in actions)

    def _make(self, owner: QWidget, text: str, icon_name: str, key: str, do: Callable[[], object]) -> QAction:
        action = QAction(icon(icon_name, "quiet"), text, self)
        if key:
            action.setShortcut(QKeySequence(key))
        # Only there: elsewhere in the window Delete and Enter mean other things.
        action.setShortcutContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
        action.triggered.connect(do)
        owner.addAction(action)
        return action

    def export_menu(self, parent: QWidget) -> QMenu:
        """A menu of the kinds of reports."""
        menu = QMenu(parent)
        menu.addActions([self.export_html, self.export_json])
        return menu

    def menu(self, parent: QWidget) -> QMenu:
        """A menu of everything."""
        menu = QMenu(parent)
        menu.setToolTipsVisible(True)
        menu.addActions([self.open, self.resume])
        menu.addSeparator()
        menu.addAction(self.compare)
        menu.addSeparator()
        menu.addActions([self.export_html, self.export_json, self.folder])
        menu.addSeparator()
        menu.addAction(self.delete)
        return menu

    def show_selection(self, selected: Sequence[RunEntry], earlier: RunEntry | None, now: float) -> None:
        """Follow the selection. `earlier`: the run of the same workflow before the only selected one."""
        self._selected = tuple(selected)
        self._earlier = earlier
        one = self._selected[0] if len(self._selected) == 1 else None
        readable = one is not None and not one.problem
        choose_one = _Can(False, tr("Select one run.") if not selected else tr("One run at a time."))
        unreadable = _Can(False, tr("This run cannot be read."))
        single = _Can(True) if readable else unreadable if one is not None else choose_one
        self._show(self.open, single)
        self._show(self.folder, _Can(True) if one is not None else choose_one)
        resumable = _Can(one is not None and one.resumable, one.obstacle if one is not None else "")
        self._show(self.resume, resumable if one is not None else choose_one)
        self._show(self.compare, self._comparable(one, now))
        exportable = self._exportable() if len(selected) > 1 else single
        self._show(self.export_html, exportable)
        self._show(self.export_json, exportable)
        self._show(self.delete, self._deletable())
        self.followed.emit()

    def _exportable(self) -> _Can:
        """Of several."""
        count = len(self._readable)
        if not count:
            return _Can(False, tr("None of them can be read."))
        words = tr("1 report in a new folder.") if count == 1 else tr("{0} reports in a new folder.")
        left = len(self._selected) - count
        if left:
            more = tr("1 cannot be read.") if left == 1 else tr("{0} cannot be read.").format(f"{left:,}")
            words = f"{words} {more}"
        return _Can(True, words.format(f"{count:,}"))

    def _deletable(self) -> _Can:
        if not self._selected:
            return _Can(False, tr("Select the runs to delete."))
        going_on = sum(entry.going_on for entry in self._selected)
        if going_on == len(self._selected):
            words = tr("It goes on: stop it first.") if going_on == 1 else tr("They go on: stop them first.")
            return _Can(False, words)
        if not going_on:
            return _Can(True, tr("You are asked first, with their sizes."))
        words = tr("1 goes on, and stays.") if going_on == 1 else tr("{0} go on, and stay.").format(going_on)
        return _Can(True, words)

    def _comparable(self, one: RunEntry | None, now: float) -> _Can:
        self.compare.setText(tr("&Compare"))
        count = len(self._selected)
        if count == 2:
            readable = not any(entry.problem for entry in self._selected)
            words = tr("Side by side, the older one first.")
            return _Can(readable, words if readable else tr("One of them cannot be read."))
        if count > 2:
            return _Can(False, tr("Select exactly two; {0} are selected.").format(f"{count:,}"))
        if one is None:
            return _Can(False, tr("Select two runs to compare them."))
        if self._earlier is None or one.problem:
            return _Can(False, tr("Select a second run (Ctrl+click) to compare the two."))
        self.compare.setText(tr("&Compare with the one before"))
        return _Can(True, tr("With that of {0}").format(day_words(self._earlier.started, now)))

    @property
    def _readable(self) -> tuple[RunEntry, ...]:
        return tuple(entry for entry in self._selected if not entry.problem)

    def about(self, action: QAction) -> str:
        """What one of the actions will do, or why it cannot be done now; empty: its name says it."""
        return self._about.get(action.text(), "")

    def _show(self, action: QAction, can: _Can) -> None:
        self._about[action.text()] = can.about
        offer(action, can.able, can.about)
        name = action.text().replace("&", "").removesuffix("…")
        key = action.shortcut().toString(QKeySequence.SequenceFormat.NativeText)
        head = f"{name} ({key})" if key else name
        action.setToolTip(plain_tool_tip(f"{head}\n{can.about}" if can.about else head))

    # --- doing it --------------------------------------------------------------------------------------

    def _only(self) -> RunEntry | None:
        return self._selected[0] if len(self._selected) == 1 else None

    def _open(self) -> None:
        entry = self._only()
        if entry is not None:
            self.open_requested.emit(entry)

    def _compare(self) -> None:
        both = self._selected
        if len(both) == 1 and self._earlier is not None:
            both = (self._earlier, *both)
        if len(both) == 2:
            first, second = sorted(both, key=lambda entry: (entry.started or 0.0, entry.run_id))
            self.compare_requested.emit(first, second)

    def _export_html(self) -> None:
        if self._readable:
            self.html_requested.emit(self._readable)

    def _export_json(self) -> None:
        if self._readable:
            self.json_requested.emit(self._readable)

    def _open_folder(self) -> None:
        entry = self._only()
        if entry is not None:
            self.folder_requested.emit(entry)

    def _delete(self) -> None:
        if self._selected:
            self.delete_requested.emit(self._selected)
