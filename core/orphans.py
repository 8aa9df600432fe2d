"""Processes of a run that outlived OpenLoop: found, told in words, and ended, after somebody was asked.

On Linux and Windows nothing outlives OpenLoop unless its supervisor is killed with it; on macOS a daemon can
hide. Whoever goes on with a run, or looks at one that was cut off, asks here first.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from core.events import AttemptStarted, Event, GroupStarted, InitScriptStarted, RunStarted
from core.init_script import LABEL as INIT_LABEL
from core.journal import JOURNAL_NAME, read_journal
from core.open_runs import is_held
from core.process_tree import SUPERVISOR_MARK
from core.processes import Relative, end_relatives, relatives, run_token
from core.visible_text import visible, visible_words
from core.words import say, say_number

_SUPERVISOR_PATIENCE = 8.0
"""Seconds that a supervisor whose OpenLoop is gone may take to end everything: it does not give up before."""
_GRACE = 0.5
"""Seconds between asking an orphan to end and ending it."""
_PATIENCE = 10.0
_LONGEST_COMMAND = 200
"""Characters of a command that are shown."""


@dataclass(frozen=True, slots=True)
class Orphan:
    """A process that outlived the OpenLoop that had started it, with everything below it.

    `started` in seconds since the epoch: with `pid` it names the process for ever. `label`: the agent that it
    works for, as the run calls it. `command` for a person, with nothing in it that cannot be seen; empty
    where it cannot be told. `children`: how many processes below it live, too.
    """

    pid: int
    started: float
    label: str
    command: str
    children: int
    family: tuple[tuple[int, float], ...] = field(repr=False)
    """Pid and start time of each, itself first."""
    marks: frozenset[str] = field(repr=False)


def find_orphans(run_folder: Path) -> list[Orphan]:
    """What is still alive of a run that nobody runs any more; blocks.

    Usually nothing, at once. Where a supervisor is just ending everything, its OpenLoop having died this
    moment, it is waited for, some seconds at most. A folder without a journal has no orphans.
    """
    try:
        events = read_journal(run_folder / JOURNAL_NAME)
    except OSError:
        return []
    # A copy of a run folder tells of the processes of the original.
    folders = {run_folder, *(Path(event.folder) for event in events if isinstance(event, RunStarted))}
    if any(is_held(folder) for folder in folders):
        return []
    turns, labels = _recorded(events)
    leaders = {pid: started for pid, (started, _) in turns.items()}
    prefixes = [run_token(folder) for folder in folders]
    deadline = time.monotonic() + _SUPERVISOR_PATIENCE
    while True:
        found = relatives(leaders, prefixes)
        at_work = [entry for entry in found if _is_supervisor(entry) and not entry.is_frozen]
        if not at_work or time.monotonic() > deadline:
            return _by_turn(found, turns, labels)
        for entry in at_work:
            entry.wait_for_end(max(0.0, deadline - time.monotonic()))


def end_orphans(orphans: Iterable[Orphan]) -> list[int]:
    """End them and everything below them; blocks for a few seconds at most. Gives the pids still alive.

    A process that only has the pid of one that has ended by itself is left alone.
    """
    known: dict[int, float] = {}
    marks: set[str] = set()
    for orphan in orphans:
        known.update(orphan.family)
        marks |= orphan.marks

    def find() -> list[Relative]:
        found = relatives(known, marks)
        # What they start meanwhile is theirs, also when its parent is gone by the next look.
        known.update((entry.pid, entry.started) for entry in found)
        marks.update(entry.mark for entry in found if entry.mark)
        return found

    return end_relatives(find, _PATIENCE, _GRACE) if known else []


def supervisor_label() -> str:
    """What a supervisor is called that outlived its OpenLoop."""
    return say("OpenLoop's supervisor")


def orphan_words(orphans: Sequence[Orphan]) -> str:
    """What a user is told and asked: a sentence, a line for each, what to do. Empty when there is none."""
    if not orphans:
        return ""
    one = len(orphans) == 1 and not orphans[0].children
    head = (
        say("A process of this run outlived OpenLoop and may still be changing files:")
        if one
        else say("Processes of this run outlived OpenLoop and may still be changing files:")
    )
    end = say("End it before the run goes on.") if one else say("End them before the run goes on.")
    return "\n".join([head, *(f"  {orphan_line(orphan)}" for orphan in orphans), end])


def orphan_line(orphan: Orphan) -> str:
    """One of them: whose it is, which process, and how many are below it."""
    label, command = visible(orphan.label), f" ({orphan.command})" if orphan.command else ""
    if not orphan.children:
        words = say("{label}: process {pid}", label=label, pid=orphan.pid)
    else:
        words = say_number(
            orphan.children,
            "{label}: process {pid} and 1 process below it",
            "{label}: process {pid} and {count} processes below it",
            label=label,
            pid=orphan.pid,
        )
    return f"{words}{command}"


# --- whose they are -----------------------------------------------------------------------------------------


def _recorded(events: Iterable[Event]) -> tuple[dict[int, tuple[float, str]], dict[str, str]]:
    """Start time and turn of every process of a journal, by pid, and the labels of turns, by id."""
    turns: dict[int, tuple[float, str]] = {}
    labels = {INIT_LABEL: INIT_LABEL}
    for event in events:
        match event:
            case GroupStarted():
                labels.update((ref.turn, ref.label) for ref in event.turns)
            case AttemptStarted() if event.pid > 0 and event.pid_started > 0:
                turns[event.pid] = event.pid_started, event.turn
            case InitScriptStarted() if event.pid > 0 and event.pid_started > 0:
                turns[event.pid] = event.pid_started, INIT_LABEL
            case _:
                pass
    return turns, labels


def _by_turn(
    found: Sequence[Relative], turns: Mapping[int, tuple[float, str]], labels: Mapping[str, str]
) -> list[Orphan]:
    """One orphan for each turn: its process, what is below it, and daemons that only have its mark."""
    by_pid = {entry.pid: entry for entry in found if not _is_supervisor(entry)}
    families: dict[str, list[Relative]] = {}
    for entry in sorted(found, key=lambda each: each.started):
        top, seen = entry, {entry.pid}
        while top.parent in by_pid and top.parent not in seen and not _is_supervisor(top):
            top = by_pid[top.parent]
            seen.add(top.pid)
        families.setdefault(_turn_of(top, turns), []).append(entry)
    return [_orphan(family, labels.get(turn, turn)) for turn, family in families.items()]


def _turn_of(top: Relative, turns: Mapping[int, tuple[float, str]]) -> str:
    """Its id as the mark has it (`token.turn#attempt`), or as the journal has it for this pid."""
    if _is_supervisor(top):
        return supervisor_label()
    turn = top.mark.partition(".")[2].partition("#")[0]
    return turn or turns.get(top.pid, (0.0, say("an agent")))[1]


def _orphan(family: Sequence[Relative], label: str) -> Orphan:
    first = family[0]
    command = visible_words(first.command())
    if len(command) > _LONGEST_COMMAND:
        command = command[: _LONGEST_COMMAND - 1] + "…"
    return Orphan(
        pid=first.pid,
        started=first.started,
        label=label,
        command=command,
        children=len(family) - 1,
        family=tuple((entry.pid, entry.started) for entry in family),
        marks=frozenset(entry.mark for entry in family if entry.mark),
    )


def _is_supervisor(entry: Relative) -> bool:
    return entry.mark.endswith(SUPERVISOR_MARK)
