"""The views of turns: output, prompt, answer; built when they are first looked at, and a few of them kept."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QObject, Signal, Slot
from PySide6.QtWidgets import QStackedWidget

from app.reading_text import harmless
from app.run_view.log_host import LogHost
from app.run_view.log_view import LogView
from app.run_view.turn_bar import Part
from core.events import TurnStatus
from core.run_files import PROMPT_NAME, UPDATE_NAME
from core.turn_progress import TurnProgress

MOST_VIEWS = 12
"""Log views that are kept; the one that was not looked at for longest goes first."""

_LONGEST = 500
"""Characters of a message that an empty page has room for."""
_FILES = {Part.OUTPUT: "transcript.log", Part.PROMPT: PROMPT_NAME, Part.ANSWER: UPDATE_NAME}


class TurnViews(QObject):
    """Views of turns in a stack of pages.

    Signals: `raw_file_requested()`; `scrolled_away()` when the user left the end of a log; `message(str)`: a
    sentence for the status line.
    """

    raw_file_requested = Signal()
    scrolled_away = Signal()
    message = Signal(str)

    def __init__(self, pages: QStackedWidget, host: LogHost) -> None:
        super().__init__(pages)
        self._pages = pages
        self._host = host
        self._views: dict[tuple[str, Part], LogView] = {}
        """By turn id and part; the last looked at is last."""
        self._files: dict[tuple[str, Part], Path] = {}
        """What the views show."""
        self._folders: dict[str, str] = {}
        """By turn id: where the files of its views are."""

    def __len__(self) -> int:
        return len(self._views)

    def view(self, turn: TurnProgress, folder: Path, part: Part = Part.OUTPUT) -> LogView:
        """The view of a turn whose files are in this folder."""
        key = (turn.id, part)
        view = self._views.pop(key, None)
        if view is None:
            for old in list(self._views)[: max(0, len(self._views) - MOST_VIEWS + 1)]:
                self._drop(old)
            view = self._build(turn, folder, part)
        self._views[key] = view
        return view

    def _build(self, turn: TurnProgress, folder: Path, part: Part) -> LogView:
        view = LogView(self._pages, self._host)
        names = {
            Part.OUTPUT: self.tr("Output of {0}"),
            Part.PROMPT: self.tr("Prompt of {0}"),
            Part.ANSWER: self.tr("Answer of {0}"),
        }
        view.setAccessibleName(names[part].format(turn.title))
        view.set_still(part is not Part.OUTPUT)
        self._folders[turn.id] = turn.folder
        file = self._files[turn.id, part] = folder / _FILES[part]
        view.set_source(file, raw=part is not Part.OUTPUT)
        view.raw_file_requested.connect(self.raw_file_requested)
        view.message.connect(self.message)
        if part is Part.OUTPUT:
            view.following_changed.connect(self._scrolled)
        view.set_empty_text(self._empty_words(turn, part))
        self._pages.addWidget(view)
        return view

    def file(self, turn: str, part: Part) -> Path | None:
        """The file that a view shows; None: there is no view."""
        return self._files.get((turn, part))

    def show_prompt(self, turn: str, file: Path) -> None:
        """Show another of the texts that a turn was sent, in the view that there is."""
        view = self._views.get((turn, Part.PROMPT))
        if view is not None:
            self._files[turn, Part.PROMPT] = file
            view.set_source(file, raw=True)

    def tell(self, turn: TurnProgress) -> None:
        """How a turn is has changed: say it where nothing is printed."""
        if turn.id not in self._folders:
            # A run of a thousand turns is opened at once.
            return
        for part in Part:
            view = self._views.get((turn.id, part))
            if view is not None:
                view.set_empty_text(self._empty_words(turn, part))

    def _empty_words(self, turn: TurnProgress, part: Part) -> str:
        """What stands where the text would."""
        if turn.status is TurnStatus.WAITING:
            return self.tr("It has not begun.")
        if part is Part.PROMPT:
            return self.tr("Its prompt is not kept: the file is gone from the run folder.")
        if part is Part.ANSWER:
            words = self.tr("It has not answered yet.")
            if turn.is_over:
                words = self.tr("It gave no state update.")
            return f"{words} {harmless(turn.message[:_LONGEST])}".strip()
        if turn.status is TurnStatus.RUNNING:
            return self.tr("Nothing printed yet.")
        if turn.status is TurnStatus.SUCCEEDED:
            return self.tr("It printed nothing.")
        words = self.tr("It was ended before it printed anything.")
        return f"{words} {harmless(turn.message[:_LONGEST])}".strip()

    def is_outdated(self, turn: TurnProgress) -> bool:
        """Whether a turn is made again in another folder than its views show."""
        known = self._folders.get(turn.id)
        return known is not None and known != turn.folder

    def drop(self, turn: str) -> None:
        """Forget the views of a turn, if there are some."""
        for part in Part:
            self._drop((turn, part))
        self._folders.pop(turn, None)

    def _drop(self, key: tuple[str, Part]) -> None:
        view = self._views.pop(key, None)
        self._files.pop(key, None)
        if view is not None:
            view.set_source(None)
            self._pages.removeWidget(view)
            view.deleteLater()

    def clear(self) -> None:
        """Forget all views."""
        for key in list(self._views):
            self._drop(key)
        self._folders.clear()

    @Slot(bool)
    def _scrolled(self, following: bool) -> None:
        if not following:
            self.scrolled_away.emit()
