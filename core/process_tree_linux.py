"""Processes on Linux.

The supervisor is a child subreaper: a descendant whose parent dies becomes the supervisor's own child,
whatever sessions and groups it made, so nothing a turn started can hide from it. A second process, the guard,
watches the supervisor the same way: whichever of the two is killed, the other ends everything.
"""

# ruff: noqa: PTH110, PTH116, PTH208
# `pathlib` alone would double the supervisor's time to start.

from __future__ import annotations

import os
import time

from core.process_tree import Ending, ProcessEntry, SpawnOrder
from core.process_tree_posix import SIGKILL, PosixTree, settle_signals, signal_pipe

TYPE_CHECKING = False
if TYPE_CHECKING:
    import signal
    from collections.abc import Callable, Iterator
else:
    import _signal as signal  # `signal` imports enum: 10 ms more

_PR_SET_CHILD_SUBREAPER = 36
_LAST_PATIENCE = 5.0
_STAT_STATE, _STAT_GROUP, _STAT_SESSION, _STAT_THREADS, _STAT_STARTED = 0, 2, 3, 17, 19
"""Fields of /proc/PID/stat behind the command's name."""


def pidfd(pid: int) -> int | None:
    """A descriptor that becomes readable when the process dies; None where the system has none."""
    try:
        return os.pidfd_open(pid)
    except (OSError, AttributeError):  # kernels before 5.3
        return None


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
                os.kill(child, SIGKILL)
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


class _Brands:
    """Tells the turns' processes apart by a resource limit, which every descendant inherits.

    The limit is the one on memory for message queues (RLIMIT_MSGQUEUE): nobody sets it, and next to nobody
    uses such queues; each turn gets one byte less than the one before, of 819,200 usually.
    """

    _MOST = 1 << 16

    def __init__(self) -> None:
        import resource

        self._resource = resource
        self._soft, self._hard = resource.getrlimit(resource.RLIMIT_MSGQUEUE)
        if self._soft == resource.RLIM_INFINITY:
            self._soft = 1 << 40
        self._count = 0

    def next(self) -> int | None:
        """Brand what is started from here on; None where the limit is too small to be divided."""
        if self._soft < 2 * self._MOST:
            return None
        self._count += 1
        brand = self._soft - 1 - self._count % self._MOST
        try:
            self._resource.setrlimit(self._resource.RLIMIT_MSGQUEUE, (brand, self._hard))
        except (OSError, ValueError):  # a sandbox may forbid it
            return None
        return brand

    def of(self, pid: int) -> int | None:
        """The brand of a process; None where it is gone or another user's."""
        try:
            return self._resource.prlimit(pid, self._resource.RLIMIT_MSGQUEUE)[0]
        except OSError:
            return None


class _Shares:
    """Gives agents a smaller share of the processors where a kernel deals these out by session (autogroups).

    There a nice value counts only among the processes of one session, and each agent is a session of its own:
    eight of them would leave a ninth to the window. Users may change one session in a tenth of a second; what
    the kernel refuses for that is tried again whenever the supervisor wakes up.
    """

    def __init__(self) -> None:
        self._waiting: dict[int, int] = {}

    def lower(self, pid: int, nice: int) -> None:
        """Give the session of this leader the share of a nice value, now or soon."""
        self._waiting[pid] = nice
        self.go_on()

    def forget(self, pid: int) -> None:
        """This leader is gone."""
        self._waiting.pop(pid, None)

    def go_on(self) -> None:
        """Try again what had to wait."""
        while self._waiting:
            pid, nice = next(iter(self._waiting.items()))
            try:
                descriptor = os.open(f"/proc/{pid}/autogroup", os.O_WRONLY | os.O_CLOEXEC)
                try:
                    os.write(descriptor, b"%d" % nice)
                finally:
                    os.close(descriptor)
            except BlockingIOError:
                return
            except OSError:  # a kernel without such groups, or it is gone: its nice value has to do
                pass
            del self._waiting[pid]


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
        self._brands = _Brands()
        self._shares = _Shares()

    def spawn(self, order: SpawnOrder) -> ProcessEntry:
        order.brand = self._brands.next()
        entry = super().spawn(order)
        if order.nice:
            self._shares.lower(entry.pid, order.nice)
        return entry

    def reap(self, pid: int) -> Ending:
        self._shares.forget(pid)
        return super().reap(pid)

    def abandon(self, pid: int) -> None:
        self._shares.forget(pid)
        super().abandon(pid)

    def brand(self, pid: int) -> int | None:
        return self._brands.of(pid)

    def exited(self) -> Iterator[int]:
        # Asking for "anybody" costs the same for one agent or fifty, but an unreaped leader hides whoever
        # died after it; only then each is asked.
        self._shares.go_on()
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
