"""The log views of turns: built when they are first looked at, and a few of them kept."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QObject, Signal, Slot
from PySide6.QtWidgets import QStackedWidget

from app.reading_text import harmless
from app.run_view.log_host import LogHost
from app.run_view.log_view import LogView
from core.events import TurnStatus
from core.turn_progress import TurnProgress

MOST_VIEWS = 12
"""Log views that are kept; the one that was not looked at for longest goes first."""

_LONGEST = 500
"""Characters of a message that an empty page has room for."""


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
        self._views: dict[str, LogView] = {}
        """By turn id; the last looked at is last."""
        self._folders: dict[str, str] = {}
        """Where the output of the views is."""
        self._zoom = 0

    def __len__(self) -> int:
        return len(self._views)

    def view(self, turn: TurnProgress, folder: Path) -> LogView:
        """The view of a turn whose files are in this folder."""
        view = self._views.pop(turn.id, None)
        if view is None:
            for old in list(self._views)[: max(0, len(self._views) - MOST_VIEWS + 1)]:
                self.drop(old)
            view = self._build(turn, folder)
        self._views[turn.id] = view
        return view

    def _build(self, turn: TurnProgress, folder: Path) -> LogView:
        view = LogView(self._pages, self._host)
        view.setAccessibleName(self.tr("Output of {0}").format(turn.title))
        view.set_source(folder / "transcript.log")
        self._folders[turn.id] = turn.folder
        apply_zoom(view, self._zoom)
        view.raw_file_requested.connect(self.raw_file_requested)
        view.message.connect(self.message)
        view.following_changed.connect(self._scrolled)
        view.set_empty_text(self._empty_words(turn))
        self._pages.addWidget(view)
        return view

    def tell(self, turn: TurnProgress) -> None:
        """How a turn is has changed: say it where nothing is printed."""
        view = self._views.get(turn.id)
        if view is not None:
            view.set_empty_text(self._empty_words(turn))

    def _empty_words(self, turn: TurnProgress) -> str:
        """What stands where the output of a turn would."""
        if turn.status is TurnStatus.WAITING:
            return self.tr("It has not begun.")
        if turn.status is TurnStatus.RUNNING:
            return self.tr("Nothing printed yet.")
        if turn.status is TurnStatus.SUCCEEDED:
            return self.tr("It printed nothing.")
        words = self.tr("It was ended before it printed anything.")
        return f"{words} {harmless(turn.message[:_LONGEST])}".strip()

    def is_outdated(self, turn: TurnProgress) -> bool:
        """Whether a turn is made again in another folder than its view shows."""
        return turn.id in self._views and self._folders[turn.id] != turn.folder

    def drop(self, turn: str) -> None:
        """Forget the view of a turn, if there is one."""
        view = self._views.pop(turn, None)
        self._folders.pop(turn, None)
        if view is not None:
            view.set_source(None)
            self._pages.removeWidget(view)
            view.deleteLater()

    def clear(self) -> None:
        """Forget all views."""
        for turn in list(self._views):
            self.drop(turn)

    def set_zoom(self, zoom: int) -> None:
        """Text of all views so many pixels larger (or smaller) than usual."""
        self._zoom = zoom
        for view in self._views.values():
            apply_zoom(view, zoom)

    @Slot(bool)
    def _scrolled(self, following: bool) -> None:
        if not following:
            self.scrolled_away.emit()


def apply_zoom(view: LogView, zoom: int) -> None:
    """Text of one view so many pixels larger (or smaller) than usual."""
    view.zoom(0)
    for _ in range(abs(zoom)):
        view.zoom(1 if zoom > 0 else -1)
