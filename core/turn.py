"""One turn: its prompt, its processes, what they answer, corrections. Blocking; runs on a worker thread."""

from __future__ import annotations

import contextlib
import os
import shutil
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import orjson

from core.backends.base import (
    Backend,
    Command,
    Failure,
    OutputEvent,
    OutputReader,
    SessionOpened,
    StepFinished,
    StepStarted,
    TurnOrder,
    Verdict,
)
from core.events import (
    AttemptFinished,
    AttemptKind,
    AttemptStarted,
    Event,
    Noted,
    SessionKnown,
    TurnActivity,
    TurnRef,
    UsageReported,
)
from core.parser import UpdateProblem, apply_authority, cut_off, parse_update
from core.plan import PlannedTurn
from core.prompts import build_prompt, correction_prompt
from core.runner import (
    FileTail,
    Process,
    ProcessExit,
    ProcessSpec,
    StartError,
    Supervisor,
    SupervisorLost,
)
from core.transcript import Kind, TranscriptWriter, TurnTranscript, summarize_update
from core.turn_control import STOP_GRACE, TurnControl
from core.turn_outcome import Answered, Failed, NoState, Outcome, StopCause, Stopped
from core.usage import Usage

MAX_CORRECTIONS = 2
"""Corrections in the same session before the turn counts as having no state (DESIGN, run semantics 6)."""
FIRST_POLL, LAST_POLL = 0.04, 0.1
"""Seconds between two looks at an agent's output: soon after the start, and in the long run."""
CHUNK = 64 * 1024
PROMPT_NAME = "prompt.md"
STDERR_TAIL = 8 * 1024
LATE_OUTPUT = 1024 * 1024
"""Bytes at the end of the output that are read after a process was ended; usage may be told in them."""
START_SLOT_SECONDS = 20.0
"""A start counts as over after this long without output."""
ACTIVITY_SECONDS = 0.25
HIDDEN_FAILURE_SECONDS = 5.0
"""Seconds of silence after which, and between which, a CLI's own log is asked for a failure it waits out."""
FREE_RESTARTS = 3
"""Starts that died before their first request to a model cost nothing and are made again."""


@dataclass(frozen=True, slots=True)
class TurnServices:
    """What all turns of a run share.

    `starts` caps concurrent starts of costly CLIs. `is_spent`: nothing is left of the budget.
    `read_pause`: seconds to rest after each read, so that the window gets its share. `nice`: priority
    of agents.
    """

    supervisor: Supervisor
    publish: Callable[[Event], None]
    sync: Callable[[], None]
    overview: Callable[[str], TurnTranscript]
    workdir: Path
    starts: threading.Semaphore
    is_spent: Callable[[], bool] = lambda: False
    max_prompt_bytes: int | None = None
    read_pause: float = 0.0
    nice: int = 0
    environment: Mapping[str, str] = field(default_factory=lambda: dict(os.environ))
    """OpenLoop's own, read once: decoding all of it again for every agent costs as much as a start."""


@dataclass(slots=True)
class _Attempt:
    """One process while it runs."""

    verdict: Verdict
    exit: ProcessExit | None
    stderr_tail: bytes = b""
    timed_out: bool = False
    went_quiet: bool = False
    runaway: Failure | None = None
    stopped_at: int | None = None
    """Bytes of output there were when it was told to end; None: it was not."""
    late_bytes: int = 0


@dataclass
class Turn:
    """One turn of a run. Call `work` for each try, from one thread at a time, and `close` at the end."""

    ref: TurnRef
    planned: PlannedTurn
    backend: Backend
    order: TurnOrder
    services: TurnServices
    state_json: bytes
    beside: Sequence[str] = ()
    control: TurnControl = field(default_factory=TurnControl)
    usage: Usage = Usage()
    number: int = 0
    """Attempts so far, retries and corrections included."""
    _session: str | None = None
    _steps: int = 0
    _transcripts: tuple[TurnTranscript, ...] = ()
    _told: float = 0.0
    _patience: int = 1
    """How many times the silence of `idle_warning` is warned about next."""

    def open(self) -> int:
        """Make the turn's folder and its prompt. Gives the prompt's size in bytes; raises OSError."""
        folder = self.order.turn_folder
        folder.mkdir(parents=True, exist_ok=True)
        writer = TranscriptWriter(folder / "transcript.log")
        self._transcripts = (writer, self.services.overview(self.ref.label))
        return _write_file(
            folder / PROMPT_NAME,
            build_prompt(
                self.planned.agent,
                self.state_json,
                may_complete=self.planned.agent.may_complete,
                label=self.ref.label,
                beside=self.beside,
            ),
        )

    def close(self) -> None:
        """Close the turn's files. May be called twice."""
        for transcript in self._transcripts:
            transcript.close()
        self._transcripts = ()

    def note(self, message: str, kind: Kind = Kind.NOTE) -> None:
        """A line of OpenLoop's own in the turn's transcript."""
        for transcript in self._transcripts:
            transcript.note(message, time.time(), kind)

    def work(self, kind: AttemptKind, reason: str) -> Outcome:
        """One try: the prompt, then corrections in the same session. Raises SupervisorLost, JournalError."""
        prompt = self.order.turn_folder / PROMPT_NAME
        size = prompt.stat().st_size
        limit = self.services.max_prompt_bytes
        if limit is not None and size > limit:
            return self._failed(
                Failure(
                    f"The prompt of {self.ref.label} has {size:,} bytes, more than max_prompt_bytes allows "
                    f"({limit:,}). Make the payload smaller or raise the limit."
                )
            )
        self._session = None
        corrections = 0
        while True:
            attempt = self._start(prompt, kind, reason)
            if isinstance(attempt, Failure):
                return self._failed(attempt)
            outcome = self._judge(attempt, corrections)
            if not isinstance(outcome, NoState):
                return outcome
            if corrections >= MAX_CORRECTIONS or not self._can_continue():
                return outcome
            if self.services.is_spent():
                self.control.wind_down(StopCause.BUDGET)
            if self.control.refusal is not None:
                return Stopped(self.control.refusal)
            corrections += 1
            kind, reason = AttemptKind.CORRECTION, outcome.problem.message
            prompt = self.order.turn_folder / f"correction-{self.number}.md"
            _write_file(prompt, [correction_prompt(outcome.problem, corrections, MAX_CORRECTIONS)])

    def _can_continue(self) -> bool:
        return self._session is not None

    # --- one process -----------------------------------------------------------------------------------

    def _start(self, prompt: Path, kind: AttemptKind, reason: str) -> _Attempt | Failure:
        """Run one process to its end, or say why it could not be started."""
        try:
            command = self.backend.command(self._order_of_attempt())
        except FileNotFoundError as error:
            return Failure(str(error))
        costly = self.backend.start_cost
        if costly:
            while not self.services.starts.acquire(timeout=0.1):
                if self.control.refusal is not None:
                    return _Attempt(Verdict(), None)
        holds_start = [costly]

        def started() -> None:
            if holds_start[0]:
                holds_start[0] = False
                self.services.starts.release()

        try:
            if self.control.refusal is not None:
                return _Attempt(Verdict(), None)
            if command.scratch is not None:
                command.scratch.mkdir(exist_ok=True)
            return self._run(command, prompt, kind, reason, started)
        except StartError as error:
            return Failure(str(error))
        finally:
            started()
            if command.scratch is not None:
                shutil.rmtree(command.scratch, ignore_errors=True)

    def _run(
        self, command: Command, prompt: Path, kind: AttemptKind, reason: str, started: Callable[[], None]
    ) -> _Attempt | Failure:
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
        self._publish(
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
        for transcript in self._transcripts:
            transcript.attempt(number, kind, reason, now)

    def _follow(
        self,
        process: Process,
        reader: OutputReader,
        out: FileTail,
        err: FileTail,
        started: Callable[[], None],
    ) -> tuple[_Attempt, ProcessExit]:
        """Read what a process prints until it is gone and nothing is left, and end it when it must end."""
        attempt = _Attempt(Verdict(), None)
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
                for transcript in self._transcripts:
                    transcript.stderr(noise, time.time())
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
                attempt.exit = process.wait(0)
                continue
            attempt.exit = process.wait(poll)
            poll = min(LAST_POLL, poll * 2)

    def _mark_late(self, attempt: _Attempt, offset: int) -> None:
        """Say once where the output begins that came after the stop (pains of a stop that others have)."""
        if attempt.stopped_at is None:
            return
        if not attempt.late_bytes and offset > attempt.stopped_at:
            self._note(
                f"{self.ref.label} was told to end here. What came afterwards is kept and does not count."
            )
        attempt.late_bytes = offset - attempt.stopped_at

    def _is_too_quiet(self, seconds: float) -> bool:
        """Whether the agent has said nothing for so long that the user is told; tells it."""
        limit = self.planned.idle_warning
        if not limit or seconds <= limit * self._patience or self.control.cause is not None:
            return False
        fate = "It is left alone: no agent_idle_timeout is set."
        if self.planned.idle_timeout:
            fate = f"It is ended after {self.planned.idle_timeout:g} s of silence."
        why = self.backend.silence_reason(self._order_of_attempt())
        spoken = f"{self.ref.label} has printed nothing for {limit * self._patience:g} s."
        # A model that thinks long again and again is not worth a warning each time.
        self._patience *= 2
        words = f"{spoken} {fate}{f' {why}' if why else ''}"
        self.note(words, Kind.WARNING)
        self._publish(Noted(time=time.time(), turn=self.ref.turn, message=words, warning=True))
        return True

    def _leave_backlog(self, tail: FileTail) -> None:
        """What a flood printed faster than it could be read is not judged any more once it was ended."""
        left = (tail.path.stat().st_size if tail.path.exists() else 0) - tail.offset
        if left > LATE_OUTPUT:
            tail.close()
            tail.offset += left - LATE_OUTPUT
            megabytes = (left - LATE_OUTPUT) / 1e6
            self._note(f"{megabytes:,.0f} MB that {self.ref.label} printed are only in {tail.path.name}.")

    def _finish_attempt(self, number: int, attempt: _Attempt, ending: ProcessExit) -> None:
        problem = ""
        if ending.killed_by_us:
            problem = "It was ended."
        elif attempt.verdict.failure is not None:
            problem = attempt.verdict.failure.message
        self._publish(
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
            processes = "1 process" if ending.left_behind == 1 else f"{ending.left_behind} processes"
            self._note(f"{self.ref.label} left {processes} behind; OpenLoop ended them.")

    def _take(self, events: Sequence[OutputEvent]) -> None:
        now = time.time()
        for event in events:
            for transcript in self._transcripts:
                transcript.event(event, now)
            if isinstance(event, SessionOpened):
                if event.session != self._session:
                    self._session = event.session
                    self._publish(SessionKnown(time=now, turn=self.ref.turn, session=event.session))
            elif isinstance(event, StepStarted):
                self._steps += 1
            elif isinstance(event, StepFinished):
                self.usage += event.usage
                self._publish(UsageReported(time=now, turn=self.ref.turn, usage=event.usage))

    def _tell_activity(self, output_bytes: int, *, at_once: bool = False) -> None:
        now = time.monotonic()
        if at_once or now - self._told >= ACTIVITY_SECONDS:
            self._told = now
            self._publish(
                TurnActivity(
                    time=time.time(), turn=self.ref.turn, steps=self._steps, output_bytes=output_bytes
                )
            )

    # --- what it came to -------------------------------------------------------------------------------

    def _judge(self, attempt: _Attempt, corrections: int) -> Outcome:
        ended_by_us = attempt.exit is None or attempt.exit.killed_by_us
        cause = self.control.cause if attempt.exit is not None else self.control.refusal
        if cause is not None and ended_by_us:
            return Stopped(cause)
        if attempt.timed_out and ended_by_us:
            seconds = f"{self.planned.timeout:g}"
            return Failed(
                Failure(
                    f"{self.ref.label} was ended: it may take {seconds} s, and they were over. "
                    "What it printed is kept; raise its timeout if it needs longer."
                ),
                f"timeout:{self.ref.label}:{seconds}",
            )
        if attempt.went_quiet and ended_by_us:
            seconds = f"{self.planned.idle_timeout:g}"
            return Failed(
                Failure(
                    f"{self.ref.label} was ended because it printed nothing for {seconds} s, the workflow's "
                    "agent_idle_timeout. What it printed before is kept."
                ),
                f"timeout:{self.ref.label}:{seconds}",
            )
        if attempt.runaway is not None and ended_by_us:
            return self._failed(attempt.runaway)
        if attempt.verdict.failure is not None:
            return self._failed(attempt.verdict.failure)
        parsed = parse_update(attempt.verdict.text)
        if isinstance(parsed, UpdateProblem):
            if cause is not None:
                return Stopped(cause)
            return NoState(cut_off(parsed) if attempt.verdict.truncated else parsed, corrections)
        parsed = apply_authority(parsed, self.planned.agent.may_complete, self.ref.label)
        for note in parsed.notes:
            self._note(note)
        now = time.time()
        for transcript in self._transcripts:
            transcript.update(summarize_update(parsed.update), now)
        _write_file(
            self.order.turn_folder / "update.json",
            [orjson.dumps(parsed.update, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)],
        )
        return Answered(parsed.update)

    def _failed(self, failure: Failure) -> Failed:
        return Failed(failure, f"agent_error:{self.ref.label}")

    # --- small things ----------------------------------------------------------------------------------

    def _order_of_attempt(self) -> TurnOrder:
        order = self.order
        return TurnOrder(
            agent=order.agent,
            title=order.title,
            workdir=order.workdir,
            turn_folder=order.turn_folder,
            model=order.model,
            session=self._session,
            defaults=order.defaults,
        )

    def _note(self, message: str) -> None:
        self.note(message)
        self._publish(Noted(time=time.time(), turn=self.ref.turn, message=message))

    def _publish(self, event: Event) -> None:
        self.services.publish(event)


def _write_file(path: Path, pieces: Sequence[bytes]) -> int:
    """Write a new file; gives its size in bytes. Small pieces go in one write, large ones are not copied."""
    size = sum(map(len, pieces))
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_BINARY", 0)
    descriptor = os.open(path, flags, 0o666)
    try:
        for piece in [b"".join(pieces)] if size <= CHUNK else pieces:
            view = memoryview(piece)
            while view:
                view = view[os.write(descriptor, view) :]
    finally:
        os.close(descriptor)
    return size


def _tail(path: Path) -> FileTail:
    """What comes from now on: earlier attempts of the turn wrote into the same file."""
    try:
        return FileTail(path, path.stat().st_size)
    except FileNotFoundError:
        return FileTail(path)
