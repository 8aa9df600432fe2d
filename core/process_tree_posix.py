"""Processes as all POSIX systems have them; `process_tree_linux` and `process_tree_macos` add their own."""

from __future__ import annotations

import errno
import os
import sys

from core.process_tree import Ending, ProcessEntry, ProcessTree, SpawnError, SpawnOrder, Wakeups

TYPE_CHECKING = False
if TYPE_CHECKING:
    import signal
    from collections.abc import Sequence
else:
    import _signal as signal  # `signal` imports enum: 10 ms more

SIGKILL = 9
_FILE_KIND, _REGULAR_FILE = 0o170000, 0o100000  # as in `stat`


class PosixWakeups(Wakeups):
    """`poll` on standard input, on a pipe that SIGCHLD writes to, and on the death of the parent.

    `parent_death` is a descriptor that becomes readable by it, None where there is no such thing; `guarded`:
    the parent is the guard, and not OpenLoop.
    """

    def __init__(self, parent_death: int | None, *, guarded: bool = False) -> None:
        import select

        settle_signals()
        self._poll, self._invalid = select.poll(), select.POLLNVAL
        os.set_blocking(0, False)
        self._signals = signal_pipe()
        self._poll.register(0, select.POLLIN)
        self._poll.register(self._signals, select.POLLIN)
        self._guard = os.getppid() if guarded else None
        self._parent = parent_death
        if self._parent is not None:
            self._poll.register(self._parent, select.POLLIN)

    def leave(self) -> None:
        # A guard that something stopped would stay for ever.
        if self._guard is not None and self._guard == os.getppid():
            os.kill(self._guard, signal.SIGCONT)

    def wait(self, timeout: float | None) -> bytes | None:
        ready = set()
        for descriptor, event in self._poll.poll(None if timeout is None else max(0.0, timeout) * 1000):
            if event & self._invalid:  # a system that cannot poll a kqueue: the pipe has to do
                self._poll.unregister(descriptor)
            else:
                ready.add(descriptor)
        if self._signals in ready:
            os.read(self._signals, 4096)
        if self._parent is not None and self._parent in ready:
            self.guard_died = self._guard is not None
            return None
        if 0 in ready:
            try:
                return os.read(0, 1 << 20) or None
            except BlockingIOError:
                return b""
        return b""


def settle_signals() -> None:
    """Only the death of OpenLoop ends the supervisor; a Ctrl+C or a hang-up meant for OpenLoop must not.

    Whatever OpenLoop was started with (`nohup`, a blocked SIGCHLD) is undone.
    """
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGPIPE):
        signal.signal(number, signal.SIG_IGN)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())


def signal_pipe() -> int:
    """A descriptor that becomes readable when a child dies or is stopped."""
    read_end, write_end = os.pipe()
    os.set_blocking(read_end, False)
    os.set_blocking(write_end, False)
    signal.set_wakeup_fd(write_end, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    return read_end


class PosixTree(ProcessTree):
    """Starting, signalling and reaping, as POSIX has it."""

    def __init__(self) -> None:
        self._leaders: set[int] = set()
        self._zombies: set[int] = set()

    def spawn(self, order: SpawnOrder) -> ProcessEntry:
        opened: list[int] = []
        try:
            for path, flags in (
                (order.stdin, os.O_RDONLY),
                (order.stdout, os.O_WRONLY | os.O_CREAT | os.O_APPEND),
                (order.stderr, os.O_WRONLY | os.O_CREAT | os.O_APPEND),
            ):
                try:
                    opened.append(os.open(path, flags | os.O_CLOEXEC, 0o666))
                except OSError as error:
                    raise SpawnError("files", error.errno or 0, path) from error
            try:
                os.chdir(order.cwd)
            except OSError as error:
                raise SpawnError("cwd", error.errno or 0, order.cwd) from error
            earliest = self._now()
            try:
                pid = self._spawn(order, opened)
            except OSError as error:
                raise SpawnError("program", error.errno or 0, order.program) from error
            for descriptor in opened[1:]:
                status = os.fstat(descriptor)
                if status.st_mode & _FILE_KIND == _REGULAR_FILE:
                    order.outputs.add((status.st_dev, status.st_ino))
        finally:
            os.chdir("/")  # never keep a folder of the user's busy
            for descriptor in opened:
                os.close(descriptor)
        self._leaders.add(pid)
        if order.nice:
            try:
                os.setpriority(os.PRIO_PROCESS, pid, order.nice)
            except OSError as error:  # already gone, or more urgent than we may be
                if error.errno not in (errno.ESRCH, errno.EACCES, errno.EPERM):
                    raise
        return ProcessEntry(pid, earliest, pid, pid)

    def _spawn(self, order: SpawnOrder, streams: list[int]) -> int:
        # posix_spawn is a vfork: its cost does not grow with our size. Every descriptor of ours is
        # close-on-exec; dup2 makes the three that are wanted.
        reset = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGPIPE, signal.SIGCHLD]
        if hasattr(signal, "SIGXFSZ"):
            reset.append(signal.SIGXFSZ)
        try:
            return os.posix_spawn(
                order.program,
                tuple(order.argv),
                order.env,
                file_actions=[(os.POSIX_SPAWN_DUP2, fd, target) for target, fd in enumerate(streams)],
                setsid=True,
                setsigmask=(),
                setsigdef=reset,
            )
        except NotImplementedError:  # a libc that cannot start a session
            import subprocess

            process = subprocess.Popen(
                order.argv,
                executable=order.program,
                env=order.env,
                stdin=streams[0],
                stdout=streams[1],
                stderr=streams[2],
                start_new_session=True,
            )
            process.returncode = 0  # reaped by us, never by the object
            return process.pid

    def reap(self, pid: int) -> Ending:
        self._leaders.discard(pid)
        self._zombies.discard(pid)
        _, status, usage = os.wait4(pid, 0)
        scale = 1 if sys.platform == "darwin" else 1024
        code = os.waitstatus_to_exitcode(status)
        return Ending(code if code >= 0 else None, -code if code < 0 else None, usage.ru_maxrss * scale)

    def abandon(self, pid: int) -> None:
        self._leaders.discard(pid)
        self._zombies.discard(pid)

    def terminate(self, entry: ProcessEntry) -> None:
        # A stopped process handles nothing until it continues.
        for number in (signal.SIGTERM, signal.SIGCONT):
            try:
                os.kill(entry.pid, number)
            except (ProcessLookupError, PermissionError):
                return

    def kill(self, entries: Sequence[ProcessEntry]) -> list[ProcessEntry]:
        refused = []
        for entry in entries:
            try:
                os.kill(entry.pid, SIGKILL)
            except ProcessLookupError:
                continue
            except PermissionError:
                refused.append(entry)
        # A signal to a group is atomic against fork: it also hits children born since we looked.
        for group in {entry.group for entry in entries} - {0, 1, os.getpgrp()}:
            try:
                os.killpg(group, SIGKILL)
            except (ProcessLookupError, PermissionError):
                continue
        return refused

    def _now(self) -> float:
        """Now, on the clock of `ProcessEntry.started`."""
        raise NotImplementedError
