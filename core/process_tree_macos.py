"""Processes on macOS. Written from its documentation; only Linux has run in our tests so far.

There is no subreaper: a daemon is found again by its session, by having been seen, or by the mark in its
environment, which needs psutil and a look at the processes of the user at the end of a turn.
"""

# mypy: disable-error-code="attr-defined, unused-ignore"
# (the names of the other platform are checked with `mypy --platform darwin`)

from __future__ import annotations

import os
import select
import sys
import time

import psutil

from core.process_tree import MARK, Ending, ProcessEntry, SpawnOrder
from core.process_tree_posix import PosixTree

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator


def death_watch(pid: int) -> int | None:
    """A descriptor that becomes readable when the process dies; None where it is dead already.

    The pipe to OpenLoop tells of its death as well, but not while a forked copy of it holds the other end.
    """
    try:
        queue = select.kqueue()
        event = select.kevent(
            pid, filter=select.KQ_FILTER_PROC, flags=select.KQ_EV_ADD, fflags=select.KQ_NOTE_EXIT
        )
        queue.control([event], 0)
        return os.dup(queue.fileno())  # the object closes its own
    except OSError:
        return None


class MacTree(PosixTree):
    """POSIX without a subreaper: groups, sessions and marks, read with psutil."""

    def __init__(self) -> None:
        super().__init__()
        self._endings: dict[int, Ending] = {}
        self._known_sessions: set[int] = set()
        self._marks: set[str] = set()
        self._since = time.time() - 1.0

    def spawn(self, order: SpawnOrder) -> ProcessEntry:
        leader = super().spawn(order)
        self._known_sessions.add(leader.pid)
        self._marks.add(order.env.get(MARK, ""))
        return leader

    def exited(self) -> Iterator[int]:
        for pid in list(self._leaders - self._zombies):
            # No WNOWAIT everywhere: the leader is reaped here and its ending kept.
            done, status, usage = os.wait4(pid, os.WNOHANG)
            if done:
                code = os.waitstatus_to_exitcode(status)
                peak = usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024)
                self._endings[pid] = Ending(code if code >= 0 else None, -code if code < 0 else None, peak)
                self._zombies.add(pid)
                yield pid

    def reap(self, pid: int) -> Ending:
        self.abandon(pid)
        return self._endings.pop(pid)

    def subtree(self, pid: int) -> list[ProcessEntry]:
        try:
            root = psutil.Process(pid)
            return [
                entry
                for process in (root, *root.children(recursive=True))
                if (entry := self._look(process.pid)) is not None
            ]
        except psutil.Error:
            return []

    def orphans(self) -> list[ProcessEntry]:
        found = []
        for process in psutil.process_iter():
            try:
                if process.ppid() != 1 or process.create_time() < self._since:
                    continue
                ours = os.getsid(process.pid) in self._known_sessions
                ours = ours or process.environ().get(MARK) in self._marks
            except (psutil.Error, OSError):
                continue
            if ours and (entry := self._look(process.pid)) is not None:
                found.append(entry)
        return found

    def environment(self, pid: int) -> bytes:
        try:
            variables = psutil.Process(pid).environ()
        except psutil.Error:
            return b""
        return b"\0".join(os.fsencode(f"{name}={value}") for name, value in variables.items())

    def outputs(self, pid: int) -> set[tuple[int, int]]:
        return set()

    def end_all(self, patience: float) -> None:
        until = time.monotonic() + patience
        while time.monotonic() < until:
            below = [entry for entry in self.subtree(os.getpid()) if entry.pid != os.getpid()]
            left = below + [entry for orphan in self.orphans() for entry in self.subtree(orphan.pid)]
            if not left:
                return
            self.kill(left)
            for _ in self.exited():
                pass
            time.sleep(0.005)

    def _now(self) -> float:
        return time.time()

    def epoch(self, entry: ProcessEntry) -> float:
        return entry.started

    def _look(self, pid: int) -> ProcessEntry | None:
        try:
            process = psutil.Process(pid)
            if process.status() == psutil.STATUS_ZOMBIE:
                return None
            return ProcessEntry(pid, process.create_time(), os.getpgid(pid), os.getsid(pid))
        except (psutil.Error, OSError):
            return None
