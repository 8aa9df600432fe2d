"""What an accident left: runs that were cut off are offered to go on, processes of them are named and ended.

Nothing is ended without a word of the user, and nothing of it happens in the window's thread.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QRunnable, QThreadPool, Signal, SignalInstance, Slot

from app.notice_bar import Notice, NoticeAction, NoticeArea, Tone

if TYPE_CHECKING:
    from app.runs.entry import RunEntry
    from core.orphans import Orphan

CUT_OFF, ORPHANS = "cut off", "orphans"
"""Names of the notices."""
_MOST = 20
"""Runs that are looked at; who has more looks into the list of runs."""


@dataclass(frozen=True, slots=True)
class Found:
    """A run that was cut off, and what is alive of it; or the pids that could not be ended (`left`)."""

    entry: RunEntry | None = None
    orphans: tuple[Orphan, ...] = ()
    left: tuple[int, ...] | None = None


class _Job(QRunnable):
    """Work on a worker that tells of results as they come; it only has the bound signal."""

    def __init__(self, work: Callable[[SignalInstance], None], found: SignalInstance) -> None:
        super().__init__()
        self._work = work
        self._found = found

    def run(self) -> None:
        self._work(self._found)


class LeftOvers(QObject):
    """Looks once, when the window has been shown, and says what it found in notices.

    `open_run` shows a run with what may be changed before it goes on.
    """

    _found = Signal(object)

    def __init__(
        self, notices: NoticeArea, open_run: Callable[[Path], object], parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._notices = notices
        self._open_run = open_run
        self._entries: list[RunEntry] = []
        self._orphans: list[Orphan] = []
        self._owners: list[str] = []
        """The workflows whose processes they are."""
        self._stop = threading.Event()
        self._pool = QThreadPool(self)
        self._pool.setMaxThreadCount(1)
        self._found.connect(self._take)

    def look(self) -> None:
        """Look for what was left, on a worker."""
        stop = self._stop

        def work(found: SignalInstance) -> None:
            from core.open_runs import cut_off_runs

            for folder in cut_off_runs()[:_MOST]:
                # Only now, as there usually is none: reading a journal needs much of core.
                from app.runs.run_reader import read_entry
                from core.orphans import find_orphans

                if stop.is_set():
                    return
                found.emit(Found(read_entry(folder), tuple(find_orphans(folder))))

        self._pool.start(_Job(work, self._found))

    def close(self) -> None:
        """The window closes: look no further, and wait for the worker."""
        self._stop.set()
        self._pool.clear()
        self._pool.waitForDone()

    @Slot()
    def run_begins(self) -> None:
        """A run begins here; what was cut off is of no interest now."""
        self._entries.clear()
        self._notices.dismiss(CUT_OFF)

    @Slot(object)
    def _take(self, found: Found) -> None:
        if self._stop.is_set():
            return
        if found.left is not None:
            self._tell_ended(found.left)
        if found.entry is not None and found.entry.resumable:
            self._entries.append(found.entry)
            self._tell_cut_off()
        if found.entry is not None and found.orphans:
            from app.runs.words import title_words

            self._orphans += found.orphans
            self._owners.append(title_words(found.entry))
            self._tell_orphans()

    # --- runs that were cut off --------------------------------------------------------------------------

    def _tell_cut_off(self) -> None:
        # Nothing is left as a rule, and then no words for it are needed.
        from app.runs.words import age_words, title_words

        entries, now = self._entries, time.time()
        latest = entries[0]
        if len(entries) == 1:
            text = self.tr("A run of {0} was cut off {1}, and can go on at {2}.").format(
                title_words(latest), age_words(latest.ended, now) or "", latest.next_place
            )
            lines: tuple[str, ...] = ()
        else:
            text = self.tr("{0} runs were cut off, and can go on:").format(len(entries))
            lines = tuple(_line(entry, now) for entry in entries)
        resume = NoticeAction(self.tr("Resume…"), lambda: self._open_run(latest.folder))
        later = NoticeAction(self.tr("Not now"), lambda: None)
        never = NoticeAction(self.tr("Do not ask again"), self._forget)
        self._notices.tell(CUT_OFF, Notice(text, Tone.INFO, lines, (resume, later, never), dismissible=False))

    def _forget(self) -> None:
        folders = [entry.folder for entry in self._entries]

        def work(_: SignalInstance) -> None:
            from core.open_runs import forget

            for folder in folders:
                # What cannot be removed is asked about again, which says as much.
                with contextlib.suppress(OSError):
                    forget(folder)

        self._pool.start(_Job(work, self._found))

    # --- processes that are still alive ------------------------------------------------------------------

    def _tell_orphans(self) -> None:
        names = ", ".join(dict.fromkeys(self._owners))
        text = self.tr(
            "Processes of a run that was cut off ({0}) are still alive, and may be changing files:"
        ).format(names)
        end = NoticeAction(self.tr("End them"), self._end)
        leave = NoticeAction(self.tr("Leave them"), self._leave)
        from core.orphans import orphan_line

        lines = tuple(orphan_line(orphan) for orphan in self._orphans)
        self._notices.tell(ORPHANS, Notice(text, Tone.WARNING, lines, (end, leave), dismissible=False))

    def _leave(self) -> None:
        self._orphans.clear()
        self._owners.clear()

    def _end(self) -> None:
        orphans = tuple(self._orphans)
        self._leave()

        def work(found: SignalInstance) -> None:
            from core.orphans import end_orphans

            found.emit(Found(left=tuple(end_orphans(orphans))))

        self._notices.tell(ORPHANS, Notice(self.tr("Ending them…"), dismissible=False))
        self._pool.start(_Job(work, self._found))

    def _tell_ended(self, left: Sequence[int]) -> None:
        if not left:
            self._notices.tell(ORPHANS, Notice(self.tr("They are ended.")))
            return
        text = self.tr("Some could not be ended: process {0}. End them with the system’s own means.").format(
            ", ".join(str(pid) for pid in left)
        )
        self._notices.tell(ORPHANS, Notice(text, Tone.ERROR))


def _line(entry: RunEntry, now: float) -> str:
    from app.runs.words import age_words, title_words

    when = age_words(entry.ended, now)
    return " · ".join(part for part in (title_words(entry), when, entry.next_place) if part)
