"""Processes of the operating system: start one, find everything it started, end all of it.

What the supervisor asks of a platform. `process_tree_linux`, `process_tree_macos` (in `process_tree_posix`
stands what these two share) and `process_tree_windows` answer; `processes` is OpenLoop's own side. Nothing
else knows how platforms' processes work. The supervisor must start in milliseconds, so this imports next to
nothing.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False  # `typing` costs milliseconds at every start of the supervisor
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

MARK = "OPENLOOP_TURN"
"""Environment variable that every process of a turn inherits; it says whose it is.

Its value is a token of the supervisor, a dot, and the mark of the turn."""
SUPERVISOR_MARK = ":supervisor"
"""What stands behind the token in the supervisor's own."""


class ProcessEntry:
    """A live process, as it was seen. `started` is the system's own start time, to tell reused pids apart."""

    __slots__ = ("group", "pid", "session", "started")

    def __init__(self, pid: int, started: float, group: int, session: int) -> None:
        self.pid = pid
        self.started = started
        self.group = group
        self.session = session

    @property
    def key(self) -> tuple[int, float]:
        """Names this process for ever, also when its pid is used again."""
        return self.pid, self.started


class Ending:
    """How a process ended: `exit_code`, or None and the `signal`. `peak_rss` in bytes, 0 where not told."""

    __slots__ = ("exit_code", "peak_rss", "signal")

    def __init__(self, exit_code: int | None, signal_number: int | None, peak_rss: int = 0) -> None:
        self.exit_code = exit_code
        self.signal = signal_number
        self.peak_rss = peak_rss


class SpawnOrder:
    """A process to start: `program` is the file to run, the three streams are files.

    Output is appended, so a second attempt with the same files loses nothing. `outputs` are the (device,
    inode) of the regular files its output went to, `brand` what its descendants inherit beside the mark
    (see `ProcessTree.brand`); both are known once it is started.
    """

    __slots__ = ("argv", "brand", "cwd", "env", "nice", "outputs", "program", "stderr", "stdin", "stdout")

    def __init__(
        self,
        program: str,
        argv: Sequence[str],
        cwd: str,
        env: Mapping[str, str],
        streams: tuple[str, str, str],
        nice: int,
    ) -> None:
        self.program = program
        self.argv = argv
        self.cwd = cwd
        self.env = env
        self.stdin, self.stdout, self.stderr = streams
        self.nice = nice
        self.outputs: set[tuple[int, int]] = set()
        self.brand: int | None = None


class SpawnError(Exception):
    """A process could not be started. `stage`: `cwd`, `files` or `program`; `path` is what it was about."""

    def __init__(self, stage: str, code: int, path: str) -> None:
        super().__init__(stage, code, path)
        self.stage = stage
        self.code = code
        self.path = path


class ProcessTree:
    """What the supervisor asks of a platform. Leaders are the processes it spawned and has not reaped."""

    adopts = False
    """Whether every orphan of every turn becomes a child of the supervisor, and nobody else's does."""

    def spawn(self, order: SpawnOrder) -> ProcessEntry:
        """Start a leader; its `started` may be a moment before the true start. Raises SpawnError."""
        raise NotImplementedError

    def exited(self) -> Iterator[int]:
        """Pids of children that have died since. A leader stays a zombie until `reap`, so that its pid is not
        reused; an orphan is reaped already."""
        raise NotImplementedError

    def reap(self, pid: int) -> Ending:
        """Let go of an exited leader."""
        raise NotImplementedError

    def abandon(self, pid: int) -> None:
        """A leader that cannot be ended is no leader any more."""
        raise NotImplementedError

    def subtree(self, pid: int) -> list[ProcessEntry]:
        """The live processes of the tree below `pid`, itself first."""
        raise NotImplementedError

    def orphans(self) -> list[ProcessEntry]:
        """Live processes whose parents are gone and that may be of a turn. Never a leader."""
        raise NotImplementedError

    def environment(self, pid: int) -> bytes:
        """The NUL-separated environment a process was started with; empty where it may not be read."""
        raise NotImplementedError

    def brand(self, pid: int) -> int | None:
        """A number that all processes of a turn have and those of other turns have not, and that neither a
        new session nor an emptied environment takes away; None where there is no such thing."""
        return None

    def outputs(self, pid: int) -> set[tuple[int, int]]:
        """Where the output of a process goes, as (device, inode); empty where that cannot be known."""
        raise NotImplementedError

    def terminate(self, entry: ProcessEntry) -> None:
        """Ask a process to end."""
        raise NotImplementedError

    def kill(self, entries: Sequence[ProcessEntry]) -> list[ProcessEntry]:
        """End processes at once; those that we are not permitted to end are returned."""
        raise NotImplementedError

    def end_all(self, patience: float) -> None:
        """SIGKILL to everything below this process until nothing is left, whatever was known before."""
        raise NotImplementedError

    def epoch(self, entry: ProcessEntry) -> float:
        """When the process started, in seconds since the epoch."""
        raise NotImplementedError


class Wakeups:
    """Waits for orders from OpenLoop, for the death of a child, and for the death of OpenLoop."""

    guard_died = False
    """Whether the supervisor's own guard was killed: then it must go, and OpenLoop must hear of a loss."""

    def wait(self, timeout: float | None) -> bytes | None:
        """Sleep until something happened, at most `timeout` seconds; what was read (None: OpenLoop died)."""
        raise NotImplementedError

    def leave(self) -> None:
        """The supervisor is about to go; called last."""


def own_tree() -> tuple[ProcessTree, Wakeups]:
    """The tree and the wake-ups of the platform at hand. Changes this process; for the supervisor only."""
    tree: ProcessTree
    wakeups: Wakeups
    if sys.platform == "win32":
        from core.process_tree_windows import WindowsTree, WindowsWakeups

        tree, wakeups = WindowsTree(), WindowsWakeups()
    elif sys.platform == "linux":
        from core.process_tree_linux import LinuxTree, leave_guard_behind, pidfd
        from core.process_tree_posix import PosixWakeups

        leave_guard_behind()
        tree, wakeups = LinuxTree(), PosixWakeups(pidfd(os.getppid()), guarded=True)
    else:
        from core.process_tree_macos import MacTree, death_watch
        from core.process_tree_posix import PosixWakeups

        tree, wakeups = MacTree(), PosixWakeups(death_watch(os.getppid()))
    return tree, wakeups
