"""Following a run that goes on in another process: its journal is read while that writes it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import QObject, QTimer, Signal, Slot

from app.runs.jobs import Jobs, Tell, Work
from core.events import Event, RunFinished
from core.journal import JOURNAL_NAME
from core.journal_tail import JournalReplaced, JournalTail
from core.open_runs import is_held
from core.turn_signs import TurnSigns

LOOK_MS = 250
"""Live numbers change at most four times a second."""
_LOOKS_FOR_LIFE = 4
"""With so many looks the question is asked once whether anybody still runs it."""


@dataclass(frozen=True, slots=True)
class _News:
    """What one look found. `lives`: somebody runs it, as far as was looked."""

    events: tuple[Event, ...] = ()
    lives: bool = True


def _look(
    tail: JournalTail, signs: TurnSigns, at_work: Mapping[str, Path], folder: Path, *, at_life: bool
) -> Work:
    def work(tell: Tell, stopped: Callable[[], bool]) -> None:
        del stopped
        lives = True
        try:
            if at_life:
                # Asked before the journal is read: what it wrote last is read then.
                lives = is_held(folder)
            events = (*tail.read(), *signs.look(at_work))
        except (OSError, JournalReplaced):
            # Deleted or replaced; whoever opens it again is told what is there.
            tell(_News(lives=False))
            return
        if any(isinstance(event, RunFinished) for event in events):
            lives = False
        tell(_News(events, lives))

    return work


AtWork = Callable[[], Mapping[str, Path]]
"""By turn id: the folders of the turns that are at work."""


class Following(QObject):
    """Looks at the journal of one run, and at what its agents print, four times a second, on a worker.

    Signals: `told(Sequence[Event])`: what happened since the last look, often nothing: time went on;
    `ended()`: it is over, was cut off or is gone; nothing more is told of it.
    """

    told = Signal(object)
    ended = Signal()

    def __init__(self, at_work: AtWork, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._at_work = at_work
        self._signs = TurnSigns()
        self._folder: Path | None = None
        self._tail: JournalTail | None = None
        self._looks = 0
        self._jobs = Jobs(self)
        self._jobs.told.connect(self._take)
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(LOOK_MS)
        self._timer.timeout.connect(self._look)

    @property
    def folder(self) -> Path | None:
        """The run that is followed; None: none is."""
        return self._folder

    def follow(self, folder: Path, known: Sequence[Event]) -> None:
        """Follow this run, of which these events are known, instead of another."""
        self.stop()
        self._folder = folder
        self._tail = JournalTail(folder / JOURNAL_NAME, len(known))
        self._signs = TurnSigns()
        self._looks = 0
        self._look()

    def stop(self) -> None:
        """Follow nothing any more."""
        self._timer.stop()
        self._jobs.give_up()
        self._folder = self._tail = None

    def close(self) -> None:
        """The window closes: wait for the worker."""
        self.stop()
        self._jobs.close()

    @Slot()
    def _look(self) -> None:
        if self._folder is not None and self._tail is not None:
            at_life = self._looks % _LOOKS_FOR_LIFE == 0
            self._looks += 1
            work = _look(self._tail, self._signs, self._at_work(), self._folder, at_life=at_life)
            self._jobs.start(work)

    @Slot(object)
    def _take(self, news: _News) -> None:
        if self._folder is None:
            return
        if news.lives:
            self._timer.start()
        else:
            # What is told now may open the next run.
            self._folder = self._tail = None
        self.told.emit(news.events)
        if not news.lives:
            self.ended.emit()
