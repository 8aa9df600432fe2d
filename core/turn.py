"""One turn: its prompt, what its processes answer, corrections. Blocking; runs on a worker thread."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import orjson

from core.backends.base import Backend, Failure, TurnOrder
from core.events import AttemptKind, TurnRef
from core.parser import apply_authority, cut_off, parse_update
from core.plan import MAX_CORRECTIONS, PlannedTurn
from core.prompts import build_prompt, correction_prompt
from core.run_files import PROMPT_NAME, UPDATE_NAME, correction_name
from core.sent_prompts import forget_if_same, keep_earlier_prompt
from core.transcript import Kind, TranscriptWriter
from core.turn_control import TurnControl
from core.turn_outcome import Answered, Failed, NoState, Outcome, StopCause, Stopped
from core.turn_processes import Attempt, TurnProcesses
from core.turn_report import TurnReport
from core.turn_services import TurnServices
from core.update_block import UpdateProblem
from core.update_summary import summarize_update
from core.usage import Usage
from core.words import say

FREE_RESTARTS = 3
"""Starts that died before their first request to a model cost nothing and are made again."""
_AT_ONCE = 64 * 1024
"""Bytes that are worth being put together for one write."""


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
    attempts_before: int = 0
    """How often it was tried in an earlier life of the run."""

    def __post_init__(self) -> None:
        self._corrections = 0
        """In all tries: after another try there are more than one try may have."""
        self._report = TurnReport(self.ref.turn, self.services.publish)
        self._processes = TurnProcesses(
            self.ref,
            self.planned,
            self.backend,
            self.order,
            self.services,
            self.control,
            self._report,
            self.attempts_before,
        )

    @property
    def number(self) -> int:
        """Attempts so far, retries and corrections included."""
        return self._processes.number

    @property
    def usage(self) -> Usage:
        """Of all attempts."""
        return self._processes.usage

    @property
    def edited(self) -> tuple[str, ...]:
        """Files that it edited, in all attempts, as far as the CLI tells."""
        return self._processes.edited.names

    def open(self) -> int:
        """Make the turn's folder and its prompt. Gives the prompt's size in bytes; raises OSError."""
        folder = self.order.turn_folder
        folder.mkdir(parents=True, exist_ok=True)
        writer = TranscriptWriter(folder / "transcript.log")
        self._report.open(writer, self.services.overview(self.ref.label))
        # A turn that begins again is sent its prompt anew, and what it was sent before stays to be read.
        earlier = keep_earlier_prompt(folder, self.attempts_before)
        size = _write_file(
            folder / PROMPT_NAME,
            build_prompt(
                self.planned.agent,
                self.state_json,
                may_complete=self.planned.agent.may_complete,
                label=self.ref.label,
                beside=self.beside,
            ),
        )
        if earlier is not None:
            forget_if_same(earlier)
        return size

    def close(self) -> None:
        """Close the turn's files. May be called twice."""
        self._report.close()

    def note(self, message: str, kind: Kind = Kind.NOTE) -> None:
        """A line of OpenLoop's own in the turn's transcript."""
        self._report.note(message, kind)

    def work(self, kind: AttemptKind, reason: str) -> Outcome:
        """One try: the prompt, then corrections in the same session. Raises SupervisorLost, JournalError."""
        prompt = self.order.turn_folder / PROMPT_NAME
        size = prompt.stat().st_size
        limit = self.services.max_prompt_bytes
        if limit is not None and size > limit:
            return self._failed(
                Failure(
                    say(
                        "The prompt of {agent} has {size:,} bytes, more than max_prompt_bytes allows "
                        "({limit:,}). Make the payload smaller or raise the limit.",
                        agent=self.ref.label,
                        size=size,
                        limit=limit,
                    )
                )
            )
        self._processes.start_afresh()
        corrections = 0
        while True:
            attempt = self._processes.run(prompt, kind, reason)
            if isinstance(attempt, Failure):
                return self._failed(attempt)
            outcome = self._judge(attempt)
            if not isinstance(outcome, NoState):
                return outcome
            if corrections >= MAX_CORRECTIONS or not self._processes.can_continue:
                return outcome
            if self.services.is_spent():
                self.control.wind_down(StopCause.BUDGET)
            if self.control.refusal is not None:
                return Stopped(self.control.refusal)
            corrections += 1
            self._corrections += 1
            kind, reason = AttemptKind.CORRECTION, outcome.problem.message
            prompt = self.order.turn_folder / correction_name(self.number)
            _write_file(prompt, [correction_prompt(outcome.problem, corrections, MAX_CORRECTIONS)])

    # --- what it came to -------------------------------------------------------------------------------

    def _judge(self, attempt: Attempt) -> Outcome:
        ended_by_us = attempt.exit is None or attempt.exit.killed_by_us
        cause = self.control.cause if attempt.exit is not None else self.control.refusal
        if cause is not None and ended_by_us:
            return Stopped(cause)
        if attempt.timed_out and ended_by_us:
            seconds = f"{self.planned.timeout:g}"
            return Failed(
                Failure(
                    say(
                        "{agent} was ended: it may take {seconds} s, and they were over. What it printed "
                        "is kept; raise its timeout if it needs longer.",
                        agent=self.ref.label,
                        seconds=seconds,
                    )
                ),
                f"timeout:{self.ref.label}:{seconds}",
            )
        if attempt.went_quiet and ended_by_us:
            seconds = f"{self.planned.idle_timeout:g}"
            return Failed(
                Failure(
                    say(
                        "{agent} was ended because it printed nothing for {seconds} s, the workflow's "
                        "agent_idle_timeout. What it printed before is kept.",
                        agent=self.ref.label,
                        seconds=seconds,
                    )
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
            problem = cut_off(parsed) if attempt.verdict.truncated else parsed
            return NoState(problem, self._corrections)
        if attempt.verdict.truncated:
            # What was cut off may have been the update that should have counted.
            parsed = replace(parsed, is_earlier=True)
        parsed = apply_authority(parsed, self.planned.agent.may_complete, self.ref.label)
        for note in parsed.notes:
            self._report.tell(note)
        self._report.update(summarize_update(parsed.update), time.time())
        _write_file(
            self.order.turn_folder / UPDATE_NAME,
            [orjson.dumps(parsed.update, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)],
        )
        return Answered(parsed.update)

    def _failed(self, failure: Failure) -> Failed:
        return Failed(failure, f"agent_error:{self.ref.label}")


def _write_file(path: Path, pieces: Sequence[bytes]) -> int:
    """Write a new file; gives its size in bytes. Small pieces go in one write, large ones are not copied."""
    size = sum(map(len, pieces))
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_BINARY", 0)
    descriptor = os.open(path, flags, 0o666)
    try:
        for piece in [b"".join(pieces)] if size <= _AT_ONCE else pieces:
            view = memoryview(piece)
            while view:
                view = view[os.write(descriptor, view) :]
    finally:
        os.close(descriptor)
    return size
