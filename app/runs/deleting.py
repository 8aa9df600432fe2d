"""Deleting runs from the list: a question with their sizes, then the trash, and what stayed is said."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import QFile, QObject, Signal, Slot
from PySide6.QtWidgets import QMessageBox, QWidget

from app.question import Choice, ask
from app.reading_text import harmless
from app.runs.entry import RunEntry
from app.runs.jobs import Jobs, Tell, Work
from app.runs.words import moment_words, runs_words, size_words, title_words
from app.runs.work_bar import WorkBar
from core.deleting_runs import NotDeleted, RunSize, delete_run, size_of_run

_MOST_NAMED = 8
"""Runs that the question names; of more it says how many."""

Trash = Callable[[Path], bool]
"""Moves a folder to the system's trash; False: it could not."""


def move_to_trash(folder: Path) -> bool:
    """Move a folder to the system's trash. Blocking; from any thread."""
    # Some releases of PySide6 give the new place, too.
    result: object = QFile.moveToTrash(str(folder))
    return bool(result[0] if isinstance(result, tuple) else result)


@dataclass(frozen=True, slots=True)
class _Sized:
    """What one run weighs; `last`: all are known."""

    at: int
    size: RunSize


@dataclass(frozen=True, slots=True)
class _Begun:
    """The run of this number is next."""

    at: int


@dataclass(frozen=True, slots=True)
class Deleted:
    """What came of it: runs that are gone, and those that stayed with the reason. `given_up`: not tried."""

    gone: tuple[RunEntry, ...]
    stayed: tuple[tuple[RunEntry, str], ...]
    given_up: tuple[RunEntry, ...]
    for_good: bool


def _measure(entries: Sequence[RunEntry]) -> Work:
    def work(tell: Tell, stopped: Callable[[], bool]) -> None:
        for at, entry in enumerate(entries):
            if stopped():
                return
            tell(_Sized(at, size_of_run(entry.folder, stopped)))

    return work


def _delete(entries: Sequence[RunEntry], log_dir: Path, trash: Trash | None) -> Work:
    def work(tell: Tell, stopped: Callable[[], bool]) -> None:
        gone: list[RunEntry] = []
        stayed: list[tuple[RunEntry, str]] = []
        for at, entry in enumerate(entries):
            if stopped():
                break
            tell(_Begun(at))
            try:
                delete_run(entry.folder, log_dir, trash)
            except NotDeleted as error:
                stayed.append((entry, str(error)))
            else:
                gone.append(entry)
        rest = entries[len(gone) + len(stayed) :]
        tell(Deleted(tuple(gone), tuple(stayed), tuple(rest), trash is None))

    return work


class Deleting(QObject):
    """Asks, deletes on a worker, and asks again before anything is deleted for good.

    Signals: `deleted(Deleted)`: it is over; `message(str)`: a sentence for the status line.
    """

    deleted = Signal(object)
    message = Signal(str)

    def __init__(self, parent: QWidget, bar: WorkBar, trash: Trash = move_to_trash) -> None:
        super().__init__(parent)
        self._parent = parent
        self._bar = bar
        self._trash = trash
        self._entries: tuple[RunEntry, ...] = ()
        self._log_dir = Path()
        self._sizes: dict[int, RunSize] = {}
        self._staying = 0
        """Runs that go on, and are not asked about."""
        self._for_good = False
        self.question: QMessageBox | None = None
        self._measuring = Jobs(self)
        self._measuring.told.connect(self._take_size)
        self._working = Jobs(self)
        self._working.told.connect(self._take_work)
        self.busy = False
        bar.cancelled.connect(self._cancel)

    # --- asking ----------------------------------------------------------------------------------------

    def ask(self, entries: Sequence[RunEntry], log_dir: Path) -> None:
        """Ask whether these runs of a log folder shall go; those that go on are left out."""
        if self.busy or self.question is not None:
            return
        self._entries = tuple(entry for entry in entries if not entry.going_on)
        self._staying = len(entries) - len(self._entries)
        self._log_dir = log_dir
        if not self._entries:
            return
        self._open_question(for_good=False)

    def _open_question(self, *, for_good: bool) -> None:
        self._for_good = for_good
        self._sizes.clear()
        count = len(self._entries)
        if for_good:
            title = (
                self.tr("The run could not be moved to the trash. Delete it for good?")
                if count == 1
                else self.tr("{0} could not be moved to the trash. Delete them for good?").format(
                    runs_words(count)
                )
            )
            words = self.tr("Delete for good")
        else:
            title = (
                self.tr("Move the run to the trash?")
                if count == 1
                else self.tr("Move {0} to the trash?").format(runs_words(count))
            )
            words = self.tr("Move to the trash")
        choice = Choice(words, self._begin, QMessageBox.ButtonRole.DestructiveRole)
        self.question = ask(self._parent, title, self._explanation(), (choice,), self.tr("Keep"))
        self.question.finished.connect(self._question_closed)
        self._measuring.start(_measure(self._entries))

    @Slot()
    def _question_closed(self) -> None:
        self.question = None
        self._measuring.give_up()

    @Slot(object)
    def _take_size(self, told: object) -> None:
        if isinstance(told, _Sized) and self.question is not None:
            self._sizes[told.at] = told.size
            if told.at < _MOST_NAMED or told.at + 1 == len(self._entries) or told.at % 20 == 0:
                self.question.setInformativeText(harmless(self._explanation()))

    def _explanation(self) -> str:
        """Which runs, how large they are, and what it means."""
        lines = [self._line(at) for at in range(min(len(self._entries), _MOST_NAMED))]
        more = len(self._entries) - len(lines)
        if more:
            lines.append(self.tr("and {0} more").format(f"{more:,}"))
        if len(self._entries) > 1:
            lines += ["", self._total()]
        lines.append("")
        if self._for_good:
            lines.append(self.tr("Their logs and states cannot be brought back."))
        else:
            lines.append(
                self.tr("What agents printed and answered goes, too. The files they worked on stay.")
            )
        if self._staying:
            lines.append(
                self.tr("1 of the selected runs goes on, and stays.")
                if self._staying == 1
                else self.tr("{0} of the selected runs go on, and stay.").format(self._staying)
            )
        return "\n".join(lines)

    def _line(self, at: int) -> str:
        entry = self._entries[at]
        size = self._sizes.get(at)
        words = self.tr("measuring…") if size is None else self._size(size)
        parts = (title_words(entry)[:80], moment_words(entry.started), words)
        return " · ".join(part for part in parts if part)

    def _size(self, size: RunSize) -> str:
        words = size_words(size.bytes)
        return words if size.whole else self.tr("at least {0}").format(words)

    def _total(self) -> str:
        known = self._sizes.values()
        total = RunSize(0, sum(size.bytes for size in known), all(size.whole for size in known))
        if len(self._sizes) < len(self._entries):
            return self.tr("Together: {0} so far, measuring…").format(size_words(total.bytes))
        return self.tr("Together: {0}").format(self._size(total))

    # --- doing it --------------------------------------------------------------------------------------

    def _begin(self) -> None:
        self.busy = True
        trash = None if self._for_good else self._trash
        self._show(0)
        self._working.start(_delete(self._entries, self._log_dir, trash))

    def _show(self, at: int) -> None:
        count = len(self._entries)
        text = self.tr("Deleting run {0} of {1}…").format(at + 1, count)
        self._bar.show_work(text, at / count, can_cancel=count > 1)

    @Slot()
    def _cancel(self) -> None:
        if self.busy:
            self._working.stop()

    @Slot(object)
    def _take_work(self, told: object) -> None:
        if isinstance(told, _Begun):
            self._show(told.at)
        elif isinstance(told, Deleted):
            self._finish(told)

    def _finish(self, result: Deleted) -> None:
        self.busy = False
        self._bar.hide()
        if result.gone:
            count = runs_words(len(result.gone))
            words = self.tr("{0} deleted.") if result.for_good else self.tr("{0} moved to the trash.")
            self.message.emit(words.format(count))
        self.deleted.emit(result)
        # What the trash did not take, and could be deleted: never without a second word.
        left = tuple(entry for entry, _ in result.stayed)
        if left and not result.for_good and not result.given_up:
            self._entries, self._staying = left, 0
            self._open_question(for_good=True)

    def close(self) -> None:
        """The window closes: what is being deleted is finished, nothing else is begun."""
        self._working.stop()
        self._measuring.close()
        self._working.close()
