"""Processes on Linux, and what all POSIX systems share.

On Linux the supervisor is a child subreaper: a descendant whose parent dies becomes the supervisor's own
child, whatever sessions and groups it made, so nothing a turn started can hide from it. A second process, the
guard, watches the supervisor the same way: whichever of the two is killed, the other ends everything.
"""

# ruff: noqa: PTH110, PTH116, PTH208
# `pathlib` alone would double the supervisor's time to start.

from __future__ import annotations

import errno
import os
import sys
import time

from core.process_tree import Ending, ProcessEntry, ProcessTree, SpawnError, SpawnOrder, Wakeups

TYPE_CHECKING = False
if TYPE_CHECKING:
    import signal
    from collections.abc import Callable, Iterator, Sequence
else:
    import _signal as signal  # `signal` imports enum: 10 ms more

_PR_SET_CHILD_SUBREAPER = 36
_SIGKILL = 9
_LAST_PATIENCE = 5.0
_FILE_KIND, _REGULAR_FILE = 0o170000, 0o100000  # as in `stat`
_STAT_STATE, _STAT_GROUP, _STAT_SESSION, _STAT_THREADS, _STAT_STARTED = 0, 2, 3, 17, 19
"""Fields of /proc/PID/stat behind the command's name."""


class PosixWakeups(Wakeups):
    """`poll` on standard input, on a pipe that SIGCHLD writes to, and on the pidfd of the parent.

    `guarded`: the parent is the guard.
    """

    def __init__(self, *, guarded: bool = False) -> None:
        import select

        settle_signals()
        self._poll = select.poll()
        os.set_blocking(0, False)
        self._signals = signal_pipe()
        self._poll.register(0, select.POLLIN)
        self._poll.register(self._signals, select.POLLIN)
        self._guard = os.getppid() if guarded else None
        self._parent = pidfd(os.getppid())
        if self._parent is not None:
            self._poll.register(self._parent, select.POLLIN)

    def leave(self) -> None:
        # A guard that something stopped would stay for ever.
        if self._guard is not None and self._guard == os.getppid():
            os.kill(self._guard, signal.SIGCONT)

    def wait(self, timeout: float | None) -> bytes | None:
        ready = {fd for fd, _ in self._poll.poll(None if timeout is None else max(0.0, timeout) * 1000)}
        if self._signals in ready:
            os.read(self._signals, 4096)
        if self._parent is not None and self._parent in ready:
            self.guard_died = True
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


def pidfd(pid: int) -> int | None:
    """A descriptor that becomes readable when the process dies; None where the system has none."""
    if sys.platform == "linux":
        try:
            return os.pidfd_open(pid)
        except (OSError, AttributeError):  # kernels before 5.3
            return None
    else:
        return None


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
                os.kill(entry.pid, _SIGKILL)
            except ProcessLookupError:
                continue
            except PermissionError:
                refused.append(entry)
        # A signal to a group is atomic against fork: it also hits children born since we looked.
        for group in {entry.group for entry in entries} - {0, 1, os.getpgrp()}:
            try:
                os.killpg(group, _SIGKILL)
            except (ProcessLookupError, PermissionError):
                continue
        return refused

    def _now(self) -> float:
        """Now, on the clock of `ProcessEntry.started`."""
        raise NotImplementedError


# --- Linux --------------------------------------------------------------------------------------------


def read_small(path: str) -> bytes:
    """A file of /proc; empty when the process is gone or not ours to read."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return b""
    try:
        data = os.read(descriptor, 1 << 16)
        if len(data) < 4096:
            return data
        parts = [data]
        while data := os.read(descriptor, 1 << 16):
            parts.append(data)
        return b"".join(parts)
    except OSError:
        return b""
    finally:
        os.close(descriptor)


def look(pid: int) -> ProcessEntry | None:
    """A live process of /proc; None when it is gone or a zombie."""
    fields = read_small(f"/proc/{pid}/stat").rpartition(b")")[2].split()
    if len(fields) <= _STAT_STARTED:
        return None
    # A process whose first thread has ended looks like a zombie while others still run.
    if fields[_STAT_STATE] in (b"Z", b"X") and int(fields[_STAT_THREADS]) <= 1:
        return None
    return ProcessEntry(pid, int(fields[_STAT_STARTED]), int(fields[_STAT_GROUP]), int(fields[_STAT_SESSION]))


def _children_from_files(pid: int) -> list[int]:
    try:
        threads = os.listdir(f"/proc/{pid}/task")
    except OSError:
        return []
    return [
        int(child)
        for thread in threads
        for child in read_small(f"/proc/{pid}/task/{thread}/children").split()
    ]


def _children_from_scan() -> Callable[[int], list[int]]:
    """For kernels without `children` files: one look at every process of the machine."""
    by_parent: dict[int, list[int]] = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            fields = read_small(f"/proc/{name}/stat").rpartition(b")")[2].split()
            if len(fields) > 1:
                by_parent.setdefault(int(fields[1]), []).append(int(name))
    return lambda pid: by_parent.get(pid, [])


def children_lister() -> Callable[[int], list[int]]:
    """Something that tells the children of a pid, at a cost that depends only on that process if possible."""
    own = os.getpid()
    if os.path.exists(f"/proc/{own}/task/{own}/children"):
        return _children_from_files
    return _children_from_scan()


def linux_subtree(pid: int) -> list[ProcessEntry]:
    """The live processes of the tree below `pid`, itself first."""
    children = children_lister()
    found: list[ProcessEntry] = []
    seen: set[int] = set()
    waiting = [pid]
    while waiting:
        current = waiting.pop()
        if current in seen:
            continue
        seen.add(current)
        entry = look(current)
        if entry is not None:
            found.append(entry)
            waiting.extend(children(current))
    return found


def boot_time() -> float:
    """When the system started, in seconds since the epoch."""
    for line in read_small("/proc/stat").splitlines():
        if line.startswith(b"btime "):
            return float(line.split()[1])
    return time.time() - time.monotonic()


def _become_subreaper() -> None:
    import ctypes

    if ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "this system has no child subreaper")


def leave_guard_behind() -> None:
    """Go on as a child of this process, which stays as the guard: it ends everything below it when OpenLoop
    or that child dies, and exits with 128 + the signal that ended the child.

    It also notices the death of an OpenLoop whose end of the pipe a forked copy still holds open, and
    continues a child that something stopped (SIGSTOP): a frozen supervisor would hear no order to end.
    """
    import select

    settle_signals()
    _become_subreaper()
    openloop = pidfd(os.getppid())
    child = os.fork()
    if child == 0:
        if openloop is not None:
            os.close(openloop)
        return
    try:
        null = os.open(os.devnull, os.O_RDWR)
        for stream in range(3):
            os.dup2(null, stream)
        keeper = pidfd(child)
        if keeper is not None:
            signals = signal_pipe()
            watched = select.poll()
            for descriptor in (openloop, keeper, signals):
                if descriptor is not None:
                    watched.register(descriptor, select.POLLIN)
            while True:
                _continue_if_frozen(child)
                ready = [descriptor for descriptor, _ in watched.poll()]
                if ready != [signals]:
                    break
                os.read(signals, 4096)
            alive = os.waitid(os.P_PID, child, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None
            if alive:
                os.kill(child, _SIGKILL)
        status = os.waitpid(child, os.WUNTRACED)[1]
        while os.WIFSTOPPED(status):
            os.kill(child, signal.SIGCONT)
            status = os.waitpid(child, os.WUNTRACED)[1]
        code = os.waitstatus_to_exitcode(status)
        end_all_below(_LAST_PATIENCE)
        os._exit(code if code >= 0 else 128 - code)
    finally:
        os._exit(1)


def _continue_if_frozen(child: int) -> None:
    if os.waitid(os.P_PID, child, os.WSTOPPED | os.WNOHANG) is not None:
        os.kill(child, signal.SIGCONT)


def end_all_below(patience: float) -> None:
    """SIGKILL to every descendant of this subreaper until there is none, at most `patience` seconds."""
    tree = PosixTree()
    until = time.monotonic() + patience
    while time.monotonic() < until:
        tree.kill(linux_subtree(os.getpid())[1:])
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            return  # a subreaper without children has no descendants
        time.sleep(0.0005)


class LinuxTree(PosixTree):
    """Linux, as a child subreaper."""

    adopts = True

    def __init__(self) -> None:
        super().__init__()
        _become_subreaper()
        own = f"/proc/self/task/{os.getpid()}/children"
        self._own_children = own if os.path.exists(own) else ""
        self._boot = boot_time()
        self._tick = os.sysconf("SC_CLK_TCK")

    def exited(self) -> Iterator[int]:
        # Asking for "anybody" costs the same for one agent or fifty, but an unreaped leader hides whoever
        # died after it; only then each is asked.
        while True:
            try:
                status = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
            except ChildProcessError:
                return
            if status is None:
                return
            pid = status.si_pid
            if pid not in self._leaders:
                os.waitpid(pid, os.WNOHANG)
                yield pid
            elif pid not in self._zombies:
                self._zombies.add(pid)
                yield pid
            else:
                break
        for pid in self._leaders - self._zombies:
            if os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None:
                self._zombies.add(pid)
                yield pid
        for pid in self._strangers():
            if os.waitpid(pid, os.WNOHANG)[0]:
                yield pid

    def _strangers(self) -> set[int]:
        if self._own_children:  # there is only one thread
            return {int(pid) for pid in read_small(self._own_children).split()} - self._leaders
        return set(children_lister()(os.getpid())) - self._leaders

    def subtree(self, pid: int) -> list[ProcessEntry]:
        return [] if pid in self._zombies else linux_subtree(pid)

    def orphans(self) -> list[ProcessEntry]:
        # One that is dead when looked at may have forked after the list was read: only a list without news
        # proves that nobody else is there. (A zombie's children are in our list before it is a zombie.)
        found: list[ProcessEntry] = []
        known: set[int] = set()
        while True:
            news = self._strangers() - known
            entries = [entry for pid in news if (entry := look(pid)) is not None]
            found += entries
            known |= news
            if len(entries) == len(news):
                return found

    def environment(self, pid: int) -> bytes:
        return read_small(f"/proc/{pid}/environ")

    def outputs(self, pid: int) -> set[tuple[int, int]]:
        found = set()
        for stream in (1, 2):
            try:
                status = os.stat(f"/proc/{pid}/fd/{stream}")
            except OSError:
                continue
            found.add((status.st_dev, status.st_ino))
        return found

    def end_all(self, patience: float) -> None:
        end_all_below(patience)

    def epoch(self, entry: ProcessEntry) -> float:
        return self._boot + entry.started / self._tick

    def _now(self) -> float:
        # The clock that /proc/PID/stat tells start times in; asking it spares reading that file.
        return int(time.clock_gettime(time.CLOCK_BOOTTIME) * self._tick)
