"""The processes of one turn: each is started, read while it runs, and ended when it must be. Blocking."""

from __future__ import annotations

import contextlib
import shutil
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from core.backends.base import (
    Backend,
    Command,
    Failure,
    OutputEvent,
    OutputReader,
    SessionOpened,
    StepFinished,
    StepStarted,
    ToolUsed,
    TurnOrder,
    Verdict,
)
from core.courtesy import COURTESY
from core.edited_files import EditedFiles
from core.events import (
    AttemptFinished,
    AttemptKind,
    AttemptStarted,
    SessionKnown,
    TurnActivity,
    TurnRef,
    UsageReported,
)
from core.plan import PlannedTurn
from core.progress_words import left_alone_words
from core.runner import (
    FileTail,
    Process,
    ProcessExit,
    ProcessSpec,
    StartError,
    SupervisorLost,
)
from core.turn_control import STOP_GRACE, TurnControl
from core.turn_report import TurnReport
from core.turn_services import TurnServices
from core.usage import Usage
from core.words import say, say_number

FIRST_POLL, LAST_POLL = 0.04, 0.1
"""Seconds between two looks at an agent's output: soon after the start, and in the long run."""
CHUNK = 64 * 1024
STDERR_TAIL = 8 * 1024
LATE_OUTPUT = 1024 * 1024
"""Bytes at the end of the output that are read after a process was ended; usage may be told in them."""
START_SLOT_SECONDS = 20.0
"""A start counts as over after this long without output."""
ACTIVITY_SECONDS = 0.25
HIDDEN_FAILURE_SECONDS = 5.0
"""Seconds of silence after which, and between which, a CLI's own log is asked for a failure it waits out."""


@dataclass(slots=True)
class Attempt:
    """What is known of one process: while it runs, and afterwards."""

    verdict: Verdict = field(default_factory=Verdict)
    exit: ProcessExit | None = None
    """None: it has not ended, or never began."""
    stderr_tail: bytes = b""
    timed_out: bool = False
    went_quiet: bool = False
    runaway: Failure | None = None
    stopped_at: int | None = None
    """Bytes of output there were when it was told to end; None: it was not."""
    late_bytes: int = 0


@dataclass
class TurnProcesses:
    """Runs the processes of one turn, one after another."""

    ref: TurnRef
    planned: PlannedTurn
    backend: Backend
    order: TurnOrder
    services: TurnServices
    control: TurnControl
    report: TurnReport
    number: int = 0
    """Attempts so far, retries and corrections included."""
    usage: Usage = Usage()
    """By all of them."""
    edited: EditedFiles = field(init=False)
    """By all of them."""
    _session: str | None = None
    _steps: int = 0
    _told: float = 0.0
    _patience: int = 1
    """How many times the silence of `idle_warning` is warned about next."""

    def __post_init__(self) -> None:
        self.edited = EditedFiles(self.order.workdir)

    def start_afresh(self) -> None:
        """The next process begins another session."""
        self._session = None

    @property
    def can_continue(self) -> bool:
        """Whether the next process goes on in the session of the last."""
        return self._session is not None

    def run(self, prompt: Path, kind: AttemptKind, reason: str) -> Attempt | Failure:
        """Run one process to its end, or say why it could not be started."""
        try:
            command = self.backend.command(self._order_of_attempt())
        except FileNotFoundError as error:
            return Failure(str(error))
        costly = self.backend.start_cost
        if costly:
            while not self.services.starts.acquire(timeout=0.1):
                if self.control.refusal is not None:
                    return Attempt()
        holds_start = [costly]

        def started() -> None:
            if holds_start[0]:
                holds_start[0] = False
                self.services.starts.release()

        try:
            if self.control.refusal is not None:
                return Attempt()
            if command.scratch is not None:
                command.scratch.mkdir(exist_ok=True)
            return self._launch(command, prompt, kind, reason, started)
        except StartError as error:
            return Failure(str(error))
        finally:
            started()
            if command.scratch is not None:
                shutil.rmtree(command.scratch, ignore_errors=True)

    def _launch(
        self, command: Command, prompt: Path, kind: AttemptKind, reason: str, started: Callable[[], None]
    ) -> Attempt | Failure:
        folder = self.order.turn_folder
        reader = self.backend.reader(self._order_of_attempt())
        self.number += 1
        number = self.number
        self._steps = 0
        spec = ProcessSpec(
            argv=command.argv,
            cwd=self.services.workdir,
            env={
                **self.services.environment,
                "PYTHONUTF8": "1",
                "PWD": str(self.services.workdir),
                **command.env,
            },
            stdin=prompt,
            stdout=folder / "stdout.log",
            stderr=folder / "stderr.log",
            mark=f"{self.ref.turn}#{number}",
            nice=self.services.nice,
        )
        with (
            _tail(spec.stdout) as out,
            _tail(spec.stderr) as err,
        ):
            process = self.services.supervisor.launch(spec)
            self.control.hold(process)
            try:
                self._announce(process, number, kind, reason)
                attempt, ending = self._follow(process, reader, out, err, started)
            except BaseException:
                # Whatever went wrong on our side: nobody else looks after this process.
                with contextlib.suppress(SupervisorLost):
                    process.stop(STOP_GRACE)
                raise
            finally:
                self.control.hold(None)
            stderr_tail = attempt.stderr_tail.decode("utf-8", "replace")
        if not ending.killed_by_us:
            self._take(self.backend.untold_output(self._order_of_attempt(), reader))
        attempt.verdict = reader.judge(ending.exit_code, ending.signal, stderr_tail)
        self._finish_attempt(number, attempt, ending)
        return attempt

    def _announce(self, process: Process, number: int, kind: AttemptKind, reason: str) -> None:
        now = time.time()
        self.report.publish(
            AttemptStarted(
                time=now,
                turn=self.ref.turn,
                number=number,
                kind=kind,
                reason=reason,
                pid=process.pid,
                pid_started=process.pid_started,
            )
        )
        self.report.attempt(number, kind, reason, now)

    def _follow(
        self,
        process: Process,
        reader: OutputReader,
        out: FileTail,
        err: FileTail,
        started: Callable[[], None],
    ) -> tuple[Attempt, ProcessExit]:
        """Read what a process prints until it is gone and nothing is left, and end it when it must end."""
        attempt = Attempt()
        begun = last_output = time.monotonic()
        deadline = begun + self.planned.timeout if self.planned.timeout else None
        idle = self.planned.idle_timeout
        poll = FIRST_POLL
        stopping = warned = False
        looked = begun
        ended: ProcessExit | None = None
        while True:
            if attempt.stopped_at is None and (stopping or self.control.cause is not None):
                attempt.stopped_at = out.offset
            if ended is None and attempt.exit is not None and attempt.exit.killed_by_us:
                self._leave_backlog(out)
                self._leave_backlog(err)
            ended = attempt.exit
            data = out.read(CHUNK)
            noise = err.read(CHUNK)
            if data:
                started()
                self._mark_late(attempt, out.offset)
                self._take(reader.feed(data))
            if noise:
                attempt.stderr_tail = (attempt.stderr_tail + noise)[-STDERR_TAIL:]
                self.report.stderr(noise, time.time())
            if data or noise:
                last_output, warned = time.monotonic(), False
                self._tell_activity(out.offset)
            elif ended is not None:
                self._take(reader.finish())
                self._tell_activity(out.offset, at_once=True)
                return attempt, ended
            if ended is not None:
                continue
            moment = time.monotonic()
            if moment - begun > START_SLOT_SECONDS:
                started()
            if not warned and self._is_too_quiet(moment - last_output):
                warned = True
            if not stopping:
                attempt.runaway = reader.runaway
                if attempt.runaway is None and moment - max(last_output, looked) > HIDDEN_FAILURE_SECONDS:
                    looked = moment
                    attempt.runaway = self.backend.hidden_failure(self._order_of_attempt())
                attempt.timed_out = deadline is not None and moment > deadline
                attempt.went_quiet = bool(idle) and moment - last_output > idle
                if attempt.runaway is not None or attempt.timed_out or attempt.went_quiet:
                    stopping = True
                    process.request_stop(STOP_GRACE)
            if len(data) == CHUNK:
                if self.services.read_pause:
                    time.sleep(self.services.read_pause)
                # A flood waits for a window that paints: eight of them would hold it up at every call of Qt.
                COURTESY.wait()
                attempt.exit = process.wait(0)
                continue
            attempt.exit = process.wait(poll)
            poll = min(LAST_POLL, poll * 2)

    def _mark_late(self, attempt: Attempt, offset: int) -> None:
        """Say once where the output begins that came after the stop."""
        if attempt.stopped_at is None:
            return
        if not attempt.late_bytes and offset > attempt.stopped_at:
            self.report.tell(
                say(
                    "{agent} was told to end here. What came afterwards is kept and does not count.",
                    agent=self.ref.label,
                )
            )
        attempt.late_bytes = offset - attempt.stopped_at

    def _is_too_quiet(self, seconds: float) -> bool:
        """Whether the agent has said nothing for so long that the user is told; tells it."""
        limit = self.planned.idle_warning
        if not limit or seconds <= limit * self._patience or self.control.cause is not None:
            return False
        fate = left_alone_words()
        if self.planned.idle_timeout:
            fate = say("It is ended after {seconds:g} s of silence.", seconds=self.planned.idle_timeout)
        why = self.backend.silence_reason(self._order_of_attempt())
        spoken = say(
            "{agent} has printed nothing for {seconds:g} s.",
            agent=self.ref.label,
            seconds=limit * self._patience,
        )
        # A model that thinks long again and again is not worth a warning each time.
        self._patience *= 2
        self.report.tell(f"{spoken} {fate}{f' {why}' if why else ''}", warning=True, silence=True)
        return True

    def _leave_backlog(self, tail: FileTail) -> None:
        """What a flood printed faster than it could be read is not judged any more once it was ended."""
        left = (tail.path.stat().st_size if tail.path.exists() else 0) - tail.offset
        if left > LATE_OUTPUT:
            tail.close()
            tail.offset += left - LATE_OUTPUT
            megabytes = (left - LATE_OUTPUT) / 1e6
            self.report.tell(
                say(
                    "{size:,.0f} MB that {agent} printed are only in {file}.",
                    size=megabytes,
                    agent=self.ref.label,
                    file=tail.path.name,
                )
            )

    def _finish_attempt(self, number: int, attempt: Attempt, ending: ProcessExit) -> None:
        problem = ""
        if ending.killed_by_us:
            problem = say("It was ended.")
        elif attempt.verdict.failure is not None:
            problem = attempt.verdict.failure.message
        self.report.publish(
            AttemptFinished(
                time=time.time(),
                turn=self.ref.turn,
                number=number,
                exit_code=ending.exit_code,
                signal=ending.signal,
                left_behind=ending.left_behind,
                problem=problem,
                late_bytes=attempt.late_bytes,
            )
        )
        if ending.left_behind and not ending.killed_by_us:
            self.report.tell(
                say_number(
                    ending.left_behind,
                    "{agent} left 1 process behind; OpenLoop ended it.",
                    "{agent} left {count} processes behind; OpenLoop ended them.",
                    agent=self.ref.label,
                )
            )

    def _take(self, events: Sequence[OutputEvent]) -> None:
        now = time.time()
        for event in events:
            self.report.output(event, now)
            if isinstance(event, SessionOpened):
                if event.session != self._session:
                    self._session = event.session
                    self.report.publish(SessionKnown(time=now, turn=self.ref.turn, session=event.session))
            elif isinstance(event, StepStarted):
                self._steps += 1
            elif isinstance(event, ToolUsed):
                self.edited.add(event.edited)
            elif isinstance(event, StepFinished):
                self.usage += event.usage
                self.report.publish(UsageReported(time=now, turn=self.ref.turn, usage=event.usage))

    def _tell_activity(self, output_bytes: int, *, at_once: bool = False) -> None:
        now = time.monotonic()
        if at_once or now - self._told >= ACTIVITY_SECONDS:
            self._told = now
            self.report.publish(
                TurnActivity(
                    time=time.time(), turn=self.ref.turn, steps=self._steps, output_bytes=output_bytes
                )
            )

    def _order_of_attempt(self) -> TurnOrder:
        return replace(self.order, session=self._session)


def _tail(path: Path) -> FileTail:
    """What comes from now on: earlier attempts of the turn wrote into the same file."""
    try:
        return FileTail(path, path.stat().st_size)
    except FileNotFoundError:
        return FileTail(path)
