"""What a run prints where no person looks at a live terminal: JSON events, or plain lines."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from pathlib import Path
from typing import BinaryIO, TextIO

import orjson

from app.headless_text import one_line
from core.events import (
    AttemptKind,
    AttemptStarted,
    Event,
    GroupStarted,
    InitScriptFinished,
    InitScriptStarted,
    IterationStarted,
    Merged,
    Noted,
    PhaseStarted,
    RetryScheduled,
    RunContinued,
    RunFinished,
    RunPaused,
    RunStarted,
    RunStatus,
    StateChanged,
    StopRequested,
    TurnFinished,
    TurnStarted,
    TurnStatus,
)
from core.progress import RunProgress
from core.progress_words import cost_words, duration_words, token_words, turn_words, with_keys
from core.run_files import TURNS_NAME
from core.turn_progress import TurnProgress
from core.update_summary import summarize_update

_MOST_PATHS = 20
"""Paths of conflicts that are told in one line."""


class JsonLines:
    """One event a line, as in the journal; the state itself is in the run folder."""

    def __init__(self, out: BinaryIO) -> None:
        self._out = out
        self._for_eyes = out.isatty()

    def recall(self, events: Sequence[Event]) -> None:
        pass

    def show(self, events: Sequence[Event]) -> None:
        for event in events:
            if not isinstance(event, StateChanged):
                line = orjson.dumps(event, option=orjson.OPT_APPEND_NEWLINE)
                # What steers a terminal or turns text around is written as what it is; the JSON is the same.
                self._out.write(_plain_ascii(line) if self._for_eyes else line)
        self._out.flush()

    def close(self) -> None:
        self._out.flush()


def _plain_ascii(line: bytes) -> bytes:
    return json.dumps(json.loads(line)).encode("ascii") + b"\n"


class PlainLines:
    """A line for whatever a person would want to read later in a log."""

    def __init__(self, out: TextIO) -> None:
        self._out = out
        self._progress = RunProgress()

    def recall(self, events: Sequence[Event]) -> None:
        self._progress.apply_all(events)

    def show(self, events: Sequence[Event]) -> None:
        for event in events:
            self._progress.apply(event)
            line = event_words(event, self._progress)
            if line:
                clock = time.strftime("%H:%M:%S", time.localtime(event.time))
                self._out.write(f"{clock} {line}\n")
        self._out.flush()

    def close(self) -> None:
        self._out.flush()


def event_words(event: Event, progress: RunProgress) -> str:
    """One line about an event, with its agent's name first; empty where it is not worth one."""
    return one_line(_words(event, progress))


def _words(event: Event, progress: RunProgress) -> str:
    match event:
        case RunStarted():
            done = "resumed" if event.resumed else "started"
            return f"Run {event.run_id} of {event.workflow} {done}. Its folder: {event.folder}"
        case InitScriptStarted():
            return f"The init_script runs: {event.command}"
        case InitScriptFinished():
            return event.problem or f"The init_script is done after {duration_words(event.seconds)}."
        case RunPaused():
            return f"The run is paused. {event.message}"
        case RunContinued():
            return "The run goes on."
        case PhaseStarted():
            return f"{event.phase.capitalize()} begins."
        case IterationStarted():
            return f"Iteration {event.iteration} of {progress.max_loops} begins."
        case GroupStarted() if event.mode == "parallel":
            return f"In parallel: {', '.join(ref.label for ref in event.turns)}."
        case Noted():
            kind = "warning: " if event.warning else ""
            return f"{_title(event.turn, progress)}{kind}{with_keys(event.message)}"
        case Merged() if event.conflicts:
            found = sorted({conflict.path for conflict in event.conflicts})
            paths = ", ".join(found[:_MOST_PATHS])
            if len(found) > _MOST_PATHS:
                paths += f" and {len(found) - _MOST_PATHS:,} more"
            return f"Different values were written to {paths}; see the journal for all of them."
        case StopRequested():
            return "Stopping now." if event.kind == "now" else "Stopping after the running agents."
        case RunFinished():
            spent = progress.spent
            facts = [duration_words(event.seconds), token_words(spent.usage.total_tokens)]
            facts += [words for words in [cost_words(spent)] if words]
            failed = len(progress.failed_turns)
            if failed and event.status is RunStatus.COMPLETED:
                # Where the run goes on without them, its message does not tell of them.
                facts.append(f"{turn_words(failed)} failed")
            message = with_keys(event.message)
            return f"{message} ({', '.join(facts)}; {event.termination_reason})"
        case TurnStarted() | AttemptStarted() | RetryScheduled() | TurnFinished():
            return _turn_words(event, progress)
        case _:
            return ""


def _turn_words(
    event: TurnStarted | AttemptStarted | RetryScheduled | TurnFinished, progress: RunProgress
) -> str:
    title = _title(event.turn, progress)
    match event:
        case TurnStarted():
            model = f" with {event.model}" if event.model else ""
            return f"{title}started ({event.backend}{model})."
        case AttemptStarted(kind=AttemptKind.CORRECTION):
            return f"{title}is asked for a correction: {event.reason}"
        case AttemptStarted(kind=AttemptKind.RETRY):
            return f"{title}is tried again: {event.reason}"
        case RetryScheduled():
            return f"{title}is tried again in {event.seconds:.0f} s: {event.reason}"
        case TurnFinished():
            return title + _end_words(event, progress)
        case _:
            return ""


def _end_words(event: TurnFinished, progress: RunProgress) -> str:
    after = f"{event.status.value} after {duration_words(event.seconds)}"
    if event.status is TurnStatus.SUCCEEDED:
        summary = summarize_update(event.update) if event.update is not None else ""
        return f"{after}: {event.message or summary}"
    turn = progress.turns.get(event.turn)
    label = turn.label if turn is not None else ""
    if event.status is TurnStatus.STOPPED:
        # "vera was stopped with the run." after "vera: stopped" would say it twice.
        said = f"{label} was stopped"
        return after + (
            event.message.removeprefix(said) if event.message.startswith(said) else f": {event.message}"
        )
    words = f"{after}: {event.message.removeprefix(label + ' ')}"
    if turn is None or not progress.folder:
        return words
    return f"{words} Its output: {Path(progress.folder, TURNS_NAME, turn.folder)}"


def turn_name(turn: TurnProgress) -> str:
    """Who speaks, for a line: the label, and the iteration in words; `vera 2` may be a label."""
    return f"{turn.label} (iteration {turn.iteration})" if turn.iteration else turn.label


def _title(turn: str | None, progress: RunProgress) -> str:
    known = progress.turns.get(turn) if turn is not None else None
    return f"{turn_name(known)}: " if known is not None else ""
