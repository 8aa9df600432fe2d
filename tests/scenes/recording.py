"""Finished runs for scenes: the real engine makes them at once, and then they are given the pace of people.

Demo agents that do not wait are done in a tenth of a second, and every bar of a timeline has the length of
chance. So a run is recorded as it is, and its times are written anew: each turn takes as long as its name
says, always the same; everything else keeps its order. Two recordings differ in nothing that one can see.
"""

from __future__ import annotations

import asyncio
import itertools
import os
import re
import shutil
import zlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import orjson

import resources
from core.backends.registry import backend, backend_names
from core.engine import Engine
from core.events import (
    AttemptFinished,
    AttemptStarted,
    Event,
    Merged,
    RetryScheduled,
    RunFinished,
    RunStarted,
    TurnFinished,
    TurnRef,
    TurnStarted,
    UsageReported,
)
from core.executor import ThreadExecutor
from core.journal import JOURNAL_NAME
from core.plan import RunPlan
from core.planning import RunOverrides
from core.preparing import prepare_run
from core.run_files import OVERVIEW_NAME, TURNS_NAME
from core.workflow_file import load_workflow

SHORTEST, LONGEST = 14.0, 62.0
"""Seconds that a turn takes."""
_BETWEEN = 0.4
"""Seconds for a merge."""
_LOG_TIME = re.compile(rb"(?<=[\x1e])(.)(\d{13})", re.DOTALL)
_JSON_TIME = re.compile(rb'(?<="timestamp": )(\d{13})')


@dataclass(frozen=True)
class RecordedEvents:
    """A run that was made: its folder as the engine left it, and all that was told of it."""

    folder: Path
    workdir: Path
    plan: RunPlan
    events: tuple[Event, ...]


def record(workflow: Path, workdir: Path, overrides: RunOverrides | None = None) -> RecordedEvents:
    """Run a workflow with the real engine to its end, in this folder; demo agents do not wait."""
    workdir.mkdir(parents=True, exist_ok=True)
    wishes = replace(overrides or RunOverrides(), workdir=workdir)
    file = load_workflow(workflow)
    prepared = prepare_run(file, wishes, environ=os.environ, known_backends=backend_names())
    events: list[Event] = []

    async def run() -> Path:
        executor = ThreadExecutor(prepared.plan.most_at_once + 4)
        engine = Engine(prepared.plan, executor, backend, events.extend)
        try:
            await engine.run()
        finally:
            executor.close()
        assert engine.folder is not None
        return engine.folder

    return RecordedEvents(asyncio.run(run()), workdir, prepared.plan, tuple(events))


def record_examples(folder: Path) -> dict[str, RecordedEvents]:
    """The runs that scenes need, by name; takes some seconds."""
    short = RunOverrides(max_loops=2)
    return {
        "audit": record(resources.example_workflow("audit"), folder / "audit"),
        "short_audit": record(resources.example_workflow("audit"), folder / "short", short),
        "pipeline": record(resources.example_workflow("pipeline"), folder / "pipeline"),
    }


def seconds_of(title: str) -> float:
    """How long a turn takes: always the same for the same title."""
    share = zlib.crc32(title.encode()) % 997 / 997
    return round(SHORTEST + share * (LONGEST - SHORTEST), 1)


# --- another time ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Retimed:
    """A run at the pace of people, in a folder of its own."""

    folder: Path
    plan: RunPlan
    events: tuple[Event, ...]

    @property
    def began(self) -> float:
        """Seconds since the epoch."""
        return self.events[0].time

    @property
    def ended(self) -> float:
        """Seconds since the epoch."""
        return self.events[-1].time


def _is_step(event: Event) -> bool:
    """Whether it takes time in a turn; all else happens with the step before it."""
    return isinstance(event, UsageReported | AttemptFinished | RetryScheduled)


class _Clock:
    """Gives every moment of a run its new time."""

    def __init__(self, events: Sequence[Event], began: float) -> None:
        self.spans: dict[str, tuple[float, float, float, float]] = {}
        """By turn: old and new start, old and new end."""
        self._steps = Counter(event.turn for event in events if _is_step(event))
        self._made: Counter[str] = Counter()
        self.titles: dict[str, str] = {}
        self.labels: dict[str, str] = {}
        self.folders: dict[str, str] = {}
        self.new: list[float] = []
        ends = {event.turn: event.time for event in events if isinstance(event, TurnFinished)}
        starts: dict[str, tuple[float, float]] = {}
        now = began
        done = began
        for event in events:
            turn = getattr(event, "turn", None)
            for ref in getattr(event, "turns", ()):
                self._know(ref)
            if isinstance(event, TurnStarted):
                starts[event.turn] = (event.time, now)
                old_end = ends.get(event.turn, event.time + 0.1)
                new_end = now + seconds_of(self.titles[event.turn])
                self.spans[event.turn] = (event.time, now, max(old_end, event.time + 0.001), new_end)
            if turn is not None and turn in self.spans:
                time = self.of_event(turn, event)
                done = max(done, time)
            else:
                if isinstance(event, Merged | RunFinished):
                    now = max(now, done) + _BETWEEN
                time = now
            self.new.append(time)

    def _know(self, ref: TurnRef) -> None:
        self.titles[ref.turn] = f"{ref.label} {ref.turn.split('/')[1]}"
        self.labels[ref.turn] = ref.label
        self.folders[ref.folder] = ref.turn

    def of_event(self, turn: str, event: Event) -> float:
        """The new time of what happens in a turn, step by step; its first process is there at once."""
        _, start, _, end = self.spans[turn]
        if isinstance(event, TurnFinished):
            return end
        if _is_step(event):
            self._made[turn] += 1
        return start + (end - start) * self._made[turn] / max(1, self._steps[turn])

    def of_line(self, label: str, time: float) -> str | None:
        """The turn that printed a line at this (old) time."""
        return next(
            (
                turn
                for turn, (start, _, end, _) in self.spans.items()
                if self.labels[turn] == label and start - 0.01 <= time <= end + 0.05
            ),
            None,
        )


def retimed(
    recorded: RecordedEvents,
    log_dir: Path,
    began: float,
    run_id: str,
    *,
    until: float | None = None,
) -> Retimed:
    """Put a copy of a run into a log folder, as if it had begun then; `until`: seconds after which nothing of
    it is told yet, as while it goes on.
    """
    clock = _Clock(recorded.events, began)
    end = began + until if until is not None else float("inf")
    folder = log_dir / run_id
    shutil.copytree(recorded.folder, folder)
    workdir = log_dir.parent
    old_id = recorded.folder.name
    events: list[Event] = []
    for event, time in zip(recorded.events, clock.new, strict=True):
        if time > end:
            continue
        events.append(_told_then(event, time, clock, began, folder, workdir))
    events.sort(key=lambda event: event.time)
    journal = b"".join(
        orjson.dumps(event, option=orjson.OPT_APPEND_NEWLINE) for event in events if event.journaled
    )
    (folder / JOURNAL_NAME).write_bytes(journal)
    for name, turn in clock.folders.items():
        for log in ("transcript.log", "stdout.log"):
            _retime_turn(folder / TURNS_NAME / name / log, turn, clock, end)
    _retime_overview(folder / OVERVIEW_NAME, clock, began, end)
    for path in (folder / TURNS_NAME).rglob("*.md"):
        path.write_bytes(path.read_bytes().replace(old_id.encode(), run_id.encode()))
    return Retimed(folder, recorded.plan, tuple(events))


def _told_then(event: Event, time: float, clock: _Clock, began: float, folder: Path, workdir: Path) -> Event:
    if isinstance(event, RunStarted):
        return replace(event, time=time, run_id=folder.name, folder=str(folder), workdir=str(workdir), pid=0)
    if isinstance(event, TurnFinished) and event.turn in clock.spans:
        _, start, _, ended = clock.spans[event.turn]
        return replace(event, time=time, seconds=ended - start)
    if isinstance(event, RunFinished):
        return replace(event, time=time, seconds=time - began)
    if isinstance(event, AttemptStarted):
        return replace(event, time=time, pid=0, pid_started=0.0)
    return replace(event, time=time)


def _retime_turn(path: Path, turn: str, clock: _Clock, end: float) -> None:
    """The lines of a turn, evenly over its time; those after `end` are not there yet."""
    if not path.is_file() or turn not in clock.spans:
        return
    pattern = _LOG_TIME if path.name == "transcript.log" else _JSON_TIME
    data = path.read_bytes()
    found = list(pattern.finditer(data))
    _, start, _, last = clock.spans[turn]
    pieces, at = [], 0
    for number, match in enumerate(found):
        time = start + (last - start) * (number + 1) / (len(found) + 1)
        if time > end:
            path.write_bytes(b"".join(pieces) + data[at : data.rfind(b"\n", 0, match.start()) + 1])
            return
        group = match.lastindex or 0
        pieces += [data[at : match.start(group)], b"%013d" % round(time * 1000)]
        at = match.end(group)
    path.write_bytes(b"".join(pieces) + data[at:])


def _retime_overview(path: Path, clock: _Clock, began: float, end: float) -> None:
    """All agents' lines in the order of their new times."""
    entries = _entries(path.read_bytes())
    turns = [_turn_of(entry, clock) for entry in entries]
    seen: dict[str, int] = {}
    timed: list[tuple[float, bytes]] = []
    now = began
    for entry, turn in zip(entries, turns, strict=True):
        if turn is not None:
            seen[turn] = seen.get(turn, 0) + 1
            _, start, _, last = clock.spans[turn]
            now = start + (last - start) * seen[turn] / (turns.count(turn) + 1)
        timed.append((now, entry[:2] + b"%013d" % round(now * 1000) + entry[15:]))
    timed.sort(key=lambda pair: pair[0])
    path.write_bytes(b"".join(entry for time, entry in timed if time <= end))


def _entries(data: bytes) -> list[bytes]:
    """Each line with a time, and the lines that continue it."""
    starts = [match.start() - 1 for match in _LOG_TIME.finditer(data)]
    return [data[start:stop] for start, stop in itertools.pairwise([*starts, len(data)])]


def _turn_of(entry: bytes, clock: _Clock) -> str | None:
    head = entry[15:].partition(b"\t")[0]
    return clock.of_line(head.lstrip(b"\x1f").decode(), int(entry[2:15]) / 1000)
