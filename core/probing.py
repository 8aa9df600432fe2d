"""Questions to programs, such as `claude --version`: an answer in time, or a sentence why there is none.

Every question goes through a supervisor, so a program that hangs is ended with all that it started, and
nothing of it lives on, also when OpenLoop itself is killed meanwhile.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

from core.runner import Process, ProcessExit, ProcessSpec, StartError, Supervisor, SupervisorLost
from core.words import say

ANSWER_SECONDS = 20.0
"""How long a program may take; the slowest CLIs need 6 s of a busy machine for their version."""
MOST_OUTPUT = 4 << 20
"""Bytes that an answer may have; a program that prints without end is stopped there."""
_LOOK_EVERY = 0.1
_GRACE = 0.5
"""Seconds that a program which does not answer has to end by itself."""


@dataclass(frozen=True, slots=True)
class ProbeAnswer:
    """How a program answered. `left_behind`: processes that it left running; they were ended."""

    exit_code: int
    stdout: str
    stderr: str
    left_behind: int = 0


class NoAnswer(Exception):  # noqa: N818 - what happened
    """The program gave no answer; the text says why, in whole sentences."""


class CannotStart(NoAnswer):
    """The program could not be started at all; the text says why and what to do."""


class ProbesCancelled(Exception):  # noqa: N818 - what happened
    """Nobody wants the answers any more."""


class Probes:
    """A time in which programs are asked, from any threads; `cancel` ends all questions at once.

    `seconds`: how long a program may take where the question does not say.
    A context manager: it holds a supervisor of its own. Raises StartError when the system does not let that
    start.
    """

    def __init__(self, seconds: float = ANSWER_SECONDS) -> None:
        self._seconds = seconds
        self._supervisor = Supervisor()
        self._lock = threading.Lock()
        self._asked: set[Process] = set()
        self._cancelled = threading.Event()

    def __enter__(self) -> Probes:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._supervisor.close(0.0)

    @contextlib.contextmanager
    def in_force(self) -> Iterator[None]:
        """Meanwhile `probe` asks through these, in this thread."""
        token = _current.set(self)
        try:
            yield
        finally:
            _current.reset(token)

    def cancel(self) -> None:
        """End everything that is being asked; further questions raise ProbesCancelled. Does not block."""
        with self._lock:
            self._cancelled.set()
            asked = list(self._asked)
        for process in asked:
            process.request_stop(0.0)

    def ask(
        self, argv: Sequence[str], cwd: Path, env: Mapping[str, str], seconds: float | None = None
    ) -> ProbeAnswer:
        """Run a program without input and give what it printed. `env` is its full environment.

        Raises NoAnswer and ProbesCancelled.
        """
        # Into files: opencode loses what a pipe does not take at once.
        with tempfile.TemporaryDirectory(prefix="openloop-probe-", ignore_cleanup_errors=True) as folder:
            out, err = Path(folder, "stdout"), Path(folder, "stderr")
            spec = ProcessSpec(tuple(argv), cwd, env, Path(os.devnull), out, err, "probe")
            try:
                process = self._start(spec)
                try:
                    ending, trouble = _wait(
                        process, (out, err), self._seconds if seconds is None else seconds
                    )
                finally:
                    with self._lock:
                        self._asked.discard(process)
            except (StartError, SupervisorLost) as error:
                raise CannotStart(str(error)) from error
            if self._cancelled.is_set():
                raise ProbesCancelled
            if ending.survivors:
                raise NoAnswer(f"{trouble} {say('What it started could not be ended.')}".strip())
            if trouble:
                raise NoAnswer(trouble)
            if ending.exit_code is None:
                raise NoAnswer(say("The system ended it (signal {signal}).", signal=ending.signal))
            return ProbeAnswer(ending.exit_code, _text_of(out), _text_of(err), ending.left_behind)

    def _start(self, spec: ProcessSpec) -> Process:
        if self._cancelled.is_set():
            raise ProbesCancelled
        process = self._supervisor.launch(spec)
        with self._lock:
            self._asked.add(process)
        if self._cancelled.is_set():  # between the look above and the start
            process.request_stop(0.0)
        return process


_current: ContextVar[Probes | None] = ContextVar("probes", default=None)


def probe(
    argv: Sequence[str],
    cwd: Path,
    *,
    env: Mapping[str, str] | None = None,
    seconds: float | None = None,
) -> ProbeAnswer:
    """Ask a program through the `Probes` in force in this thread, else through some of its own.

    `env` is added to OpenLoop's environment. Raises NoAnswer and ProbesCancelled.
    """
    environment = {**os.environ, "PWD": str(cwd), **(env or {})}
    probes = _current.get()
    if probes is not None:
        return probes.ask(argv, cwd, environment, seconds)
    try:
        probes = Probes()
    except StartError as error:
        raise CannotStart(str(error)) from error
    with probes:
        return probes.ask(argv, cwd, environment, seconds)


def asking_place(folder: Path) -> Path:
    """Where to ask a program about a folder: in it, or where everybody may be while there is none."""
    return folder if folder.is_dir() else Path(tempfile.gettempdir())


def _wait(process: Process, outputs: tuple[Path, ...], seconds: float) -> tuple[ProcessExit, str]:
    """Wait for an end, or bring it about; then the text says why."""
    deadline = time.monotonic() + seconds
    while True:
        left = deadline - time.monotonic()
        ending = process.wait(max(0.0, min(_LOOK_EVERY, left)))
        if ending is not None:
            return ending, ""
        if left <= 0:
            return process.stop(_GRACE), say(
                "No answer came in {seconds:g} s, so it was ended.", seconds=seconds
            )
        if sum(path.stat().st_size for path in outputs if path.exists()) > MOST_OUTPUT:
            return process.stop(_GRACE), say("It prints without end, so it was ended.")


def _text_of(path: Path) -> str:
    try:
        with path.open("rb") as stream:
            data = stream.read(MOST_OUTPUT)
    except FileNotFoundError:
        return ""
    return data.decode("utf-8", "replace").replace("\r\n", "\n")
