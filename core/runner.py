"""Runs agents' processes: starts them through the supervisor, waits for them, ends their whole trees.

For worker threads: every call may be made from any thread, none needs an event loop. An agent's output goes
straight into files; read them while they grow with `FileTail`.
"""

from __future__ import annotations

import contextlib
import errno
import itertools
import os
import signal
import subprocess
import sys
import threading
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, BinaryIO, cast

from core.process_tree import MARK, SUPERVISOR_MARK
from core.processes import ProgramNotFound, end_without_supervisor, find_program, run_token
from core.start_words import (
    closed_words,
    loss_words,
    no_supervisor_words,
    not_found_words,
    start_failure_words,
)
from core.supervisor_messages import Unpacker, pack

if TYPE_CHECKING:
    from core.supervisor_messages import Command, ExitedReply, Reply, StartFailedReply

DEFAULT_GRACE = 1.0
"""Seconds between asking a process to end and ending it."""
_READ = 1 << 16


@dataclass(frozen=True, slots=True)
class ProcessSpec:
    """A process to start. `env` is its full environment; the three streams are files, output is appended.

    `mark` names the turn; together with a token of the supervisor it is put into the environment.
    """

    argv: tuple[str, ...]
    cwd: Path
    env: Mapping[str, str]
    stdin: Path
    stdout: Path
    stderr: Path
    mark: str
    nice: int = 0


@dataclass(frozen=True, slots=True)
class ProcessExit:
    """How a process ended; everything that it had started has ended too.

    `exit_code` None: `signal` ended it, or it could not be ended at all (then both are None). `left_behind`:
    descendants that outlived it and were ended. `killed_by_us`: it was told to end before it did; with
    `signal` 9 and not `killed_by_us`, the system ended it, most likely because memory ran out. `peak_rss` in
    bytes, 0 where the system does not say. `survivors`: pids that refused to die (another user's, or stuck in
    the kernel); empty in all but the strangest cases.
    """

    exit_code: int | None
    signal: int | None
    left_behind: int
    killed_by_us: bool
    seconds: float
    peak_rss: int = 0
    survivors: tuple[int, ...] = ()


class StartError(Exception):
    """A process could not be started: what is wrong and what to do, in a user's words."""


class SupervisorLost(Exception):  # noqa: N818 - what happened, not what is wrong with the caller
    """The supervisor died. What it had started has been ended; the message tells a user what happened."""


class _Gate:
    """A `threading.Event` that is only ever set, at a tenth of its cost: a lock, held until it opens."""

    __slots__ = ("_lock", "is_open")

    def __init__(self) -> None:
        self.is_open = False
        self._lock = threading.Lock()
        self._lock.acquire()

    def open(self) -> None:
        """Let everybody through, for ever. For one thread."""
        if not self.is_open:
            self.is_open = True
            self._lock.release()

    def wait(self, timeout: float | None = None) -> bool:
        """Block until it is open; False when `timeout` seconds pass before."""
        if not self.is_open:
            if not self._lock.acquire(timeout=-1 if timeout is None else max(0.0, timeout)):
                return self.is_open
            self._lock.release()  # for the next one who waits
        return True


class Process:
    """A started process. `pid_started`: when, in seconds since the epoch; with `pid` it names it for ever."""

    def __init__(self, supervisor: Supervisor, number: int) -> None:
        self.pid = 0
        self.pid_started = 0.0
        self._supervisor = supervisor
        self._number = number
        self._answered = _Gate()
        self._ended = _Gate()
        self._exit: ProcessExit | None = None
        self._start_failure: StartFailedReply | None = None

    def wait(self, timeout: float | None = None) -> ProcessExit | None:
        """Block until it and everything it started is gone; None when `timeout` seconds pass before.

        Raises SupervisorLost.
        """
        if not self._ended.wait(timeout):
            return None
        if self._exit is None:
            raise SupervisorLost(self._supervisor.loss)
        return self._exit

    def request_stop(self, grace: float = DEFAULT_GRACE) -> None:
        """Have the whole tree ended: SIGTERM now, SIGKILL after `grace` seconds. Does not block.

        A second request can only make it faster. Nothing happens when it has ended already.
        """
        if not self._ended.is_open:
            with contextlib.suppress(SupervisorLost):  # whoever waits is told
                self._supervisor._order(("stop", self._number, grace))

    def stop(self, grace: float = DEFAULT_GRACE) -> ProcessExit:
        """End the whole tree and block until it is proven dead. Raises SupervisorLost."""
        self.request_stop(grace)
        result = self.wait()
        assert result is not None  # no timeout
        return result


class Supervisor:
    """The supervisor process of a run, seen from OpenLoop. Use it as a context manager, or call `close`.

    `run_folder`: what it starts can be found again by it (`core.orphans`). Raises StartError when the system
    does not let it start.
    """

    def __init__(self, run_folder: Path | None = None) -> None:
        self.loss = ""
        """Why the supervisor is gone, for a user; empty while it lives."""
        self._token = (run_token(run_folder) if run_folder is not None else "") + uuid.uuid4().hex[:12]
        self._numbers = itertools.count(1)
        self._lock = threading.Lock()
        self._closing = threading.Lock()
        self._closed = False
        self._processes: dict[int, Process] = {}
        self._programs: dict[tuple[str, str | None, Path], str] = {}
        self._all_stopped: dict[int, _Gate] = {}
        try:
            self._popen = _start_supervisor(self._token)
        except OSError as error:
            raise StartError(no_supervisor_words(error)) from error
        self.pid = self._popen.pid
        self._reader = threading.Thread(target=self._read_replies, name="supervisor-replies", daemon=True)
        self._reader.start()

    def __enter__(self) -> Supervisor:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def launch(self, spec: ProcessSpec) -> Process:
        """Start a process; returns when it runs. Raises StartError and SupervisorLost."""
        program = self._find(spec)
        mark = f"{self._token}.{spec.mark}"
        streams = (str(spec.stdin.absolute()), str(spec.stdout.absolute()), str(spec.stderr.absolute()))
        number = next(self._numbers)
        process = Process(self, number)
        with self._lock:
            self._processes[number] = process
        try:
            self._order(
                (
                    "start",
                    number,
                    program,
                    spec.argv,
                    str(spec.cwd),
                    {**spec.env, MARK: mark},
                    streams,
                    mark,
                    spec.nice,
                )
            )
            process._answered.wait()
        except BaseException:
            # Nobody will hold this process, so nobody could ever end it.
            process.request_stop(0.0)
            raise
        if process._start_failure is not None:
            raise StartError(start_failure_words(process._start_failure, spec.argv))
        if process.pid == 0:
            raise SupervisorLost(self.loss)
        return process

    def _find(self, spec: ProcessSpec) -> str:
        # A look through PATH costs as much as a start; within a run, one name means one program.
        where = (spec.argv[0], spec.env.get("PATH"), spec.cwd)
        program = self._programs.get(where)
        if program is None or not os.access(program, os.X_OK):
            try:
                program = self._programs[where] = find_program(*where)
            except ProgramNotFound as error:
                raise StartError(not_found_words(error, spec.cwd)) from error
        return program

    def stop_all(self, grace: float = DEFAULT_GRACE) -> None:
        """End everything that was started; blocks until nothing is left. Raises SupervisorLost."""
        number = next(self._numbers)
        done = _Gate()
        with self._lock:
            self._all_stopped[number] = done
        self._order(("stop_all", number, grace))
        done.wait()
        if self.loss and not self._closed:
            raise SupervisorLost(self.loss)

    def close(self, grace: float = DEFAULT_GRACE) -> None:
        """End everything and the supervisor itself; blocks until both are gone. May be called twice.

        Waiting threads get their ProcessExit. Does not raise SupervisorLost: the end is what was wanted.
        """
        with self._closing:
            if self._closed:
                return
            if self._popen.poll() is None and not self.loss and self._processes:
                with contextlib.suppress(SupervisorLost):
                    self.stop_all(grace)
            with self._lock:
                self._closed = True
                self._orders.close()
                self._wake()
            self._popen.wait()
            self._reader.join()
            self._replies.close()

    # --- the two ends of the pipe ---------------------------------------------------------------------

    @property
    def _orders(self) -> BinaryIO:
        return cast(BinaryIO, self._popen.stdin)

    @property
    def _replies(self) -> BinaryIO:
        return cast(BinaryIO, self._popen.stdout)

    def _order(self, command: Command) -> None:
        data = memoryview(pack(command))
        with self._lock:
            if self.loss:
                raise SupervisorLost(self.loss)
            if self._closed:
                raise SupervisorLost(closed_words())
            self._wake()
            try:
                while data:
                    data = data[os.write(self._orders.fileno(), data) :]
            except OSError as error:
                if error.errno not in (errno.EPIPE, errno.EINVAL):
                    raise
                # It died; the reader thread notices too, cleans up, and wakes whoever waits.

    def _wake(self) -> None:
        """Continue a supervisor that something stopped (SIGSTOP): it would hear no order, not even to end."""
        if sys.platform != "win32":
            self._popen.send_signal(signal.SIGCONT)

    def _read_replies(self) -> None:
        unpacker = Unpacker()
        trouble = ""
        while data := os.read(self._replies.fileno(), _READ):
            replies: list[Reply] = unpacker.feed(data)
            for reply in replies:
                if reply[0] == "broken":
                    trouble = reply[1]
                else:
                    self._hear(reply)
        self._clean_up(trouble)

    def _hear(self, reply: Reply) -> None:
        if reply[0] == "all_stopped":
            with self._lock:
                self._all_stopped.pop(reply[1]).open()
            return
        if reply[0] == "broken":
            return
        with self._lock:
            process = self._processes[reply[1]]
            if reply[0] != "started":
                del self._processes[reply[1]]
        if reply[0] == "started":
            process.pid, process.pid_started = reply[2], reply[3]
        elif reply[0] == "start_failed":
            process._start_failure = reply
        else:
            process._exit = _exit_of(reply)
        process._answered.open()
        if reply[0] != "started":
            process._ended.open()

    def _clean_up(self, trouble: str) -> None:
        """The supervisor is gone: nothing it had started may live on, and nobody may wait for ever."""
        code = self._popen.wait()
        with self._lock:
            left = {process.pid: process.pid_started for process in self._processes.values() if process.pid}
        alive: list[int] = []
        if not self._closed:
            alive = end_without_supervisor(self._token, left)
        with self._lock:
            self.loss = closed_words() if self._closed else loss_words(code, trouble, alive)
            waiting = list(self._processes.values())
            self._processes.clear()
            stops = list(self._all_stopped.values())
            self._all_stopped.clear()
        for process in waiting:
            process._answered.open()
            process._ended.open()
        for done in stops:
            done.open()


class FileTail:
    """Reads the new bytes of a file that grows, in chunks; the file need not exist yet."""

    def __init__(self, path: Path, offset: int = 0) -> None:
        self.path = path
        self.offset = offset
        """Bytes read so far."""
        self._file: int | None = None

    def read(self, limit: int = _READ) -> bytes:
        """At most `limit` new bytes; empty when there are none now."""
        if self._file is None:
            try:
                self._file = os.open(self.path, os.O_RDONLY | getattr(os, "O_BINARY", 0))
            except FileNotFoundError:
                return b""
            if self.offset:
                os.lseek(self._file, self.offset, os.SEEK_SET)
        data = os.read(self._file, limit)
        self.offset += len(data)
        return data

    def close(self) -> None:
        """Let go of the file; reading again opens it again where it stopped."""
        if self._file is not None:
            os.close(self._file)
            self._file = None

    def __enter__(self) -> FileTail:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _start_supervisor(token: str) -> subprocess.Popen[bytes]:
    root = str(Path(__file__).resolve().parent.parent)
    paths = [root]
    if sys.platform not in ("linux", "win32"):
        import psutil

        paths.append(str(Path(psutil.__file__).resolve().parent.parent))
    program = f"import sys; sys.path[:0] = {paths!r}; from core.supervisor import main; main()"
    options = ["-X", "utf8"] if sys.flags.utf8_mode else []
    flags = 0
    if sys.platform == "win32":
        flags = subprocess.CREATE_NO_WINDOW
    # A session of its own: a Ctrl+C in OpenLoop's terminal must not end it before it has cleaned up.
    return subprocess.Popen(
        [sys.executable, *options, "-I", "-S", "-c", program],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        bufsize=0,
        cwd=root,
        env={**os.environ, MARK: token + SUPERVISOR_MARK},
        start_new_session=sys.platform != "win32",
        creationflags=flags,
    )


def _exit_of(reply: ExitedReply) -> ProcessExit:
    _, _, exit_code, signal, left_behind, killed_by_us, seconds, peak_rss, survivors = reply
    return ProcessExit(exit_code, signal, left_behind, killed_by_us, seconds, peak_rss, survivors)
