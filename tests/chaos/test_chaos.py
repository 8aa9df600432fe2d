"""Pains 9, 23: killed at any moment and resumed, a run ends as if nothing had happened.

A real headless OpenLoop runs a workflow whose every answer depends on all that came before. It gets SIGKILL
at a moment that a seed chooses, and is resumed until the run is complete. The same seed chooses the same
moments; where exactly they fall is up to the system.
"""

from __future__ import annotations

import json
import os
import random
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import psutil
import pytest

from core.events import AttemptStarted, RunFinished, RunStarted, TurnFinished, TurnStarted
from core.journal import JOURNAL_NAME, read_journal
from core.json_types import JsonObject
from core.orphans import find_orphans
from core.process_tree import MARK
from core.processes import run_token
from tests.chaos.lives import Copies, Order, born
from tests.core.run_support import Workshop

AT_ONCE = 2
"""Cases side by side, on the two processors that a machine has at least."""
LONGEST_LIFE = 120.0
"""Seconds after which a life counts as hanging, on a machine that has much else to do."""
CHANCES_OF_KILL = (1.0, 0.5, 0.3)
"""That the first life is killed, that the second one is, too, and the third."""

WORKFLOW: JsonObject = {
    "name": "chain",
    "preparation_agents": ["plan"],
    "loop_agents": [
        {"mode": "sequential", "agents": ["first", "second"]},
        {"mode": "parallel", "agents": ["left", "right", "demo"], "max_parallel": 3},
    ],
    "finalization_agents": ["last"],
    "end_state_condition": "iteration >= 2 and len(payload.get('steps', [])) == 11",
    "max_loops": 4,
    "merge": {"payload.steps": "append", "payload.most": "max"},
}
TURNS = 1 + 2 * (2 + 3) + 1


@dataclass(frozen=True, slots=True)
class Undisturbed:
    """What a run comes to that nobody kills."""

    state: JsonObject
    lines: int
    seconds: float


class Lab:
    """The workflow and its agents, used by every case."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        shop = Workshop(folder / "project")
        link = str(Path(__file__).with_name("link.py"))
        for name in ("plan", "first", "second", "left", "right", "last"):
            shop.command(name, sys.executable, "-I", "-S", link, name)
        shop.agent("demo", seconds=0, writes={"steps": ["demo"], "by.demo": "said"})
        self.workflow = shop.file(WORKFLOW)
        self.copies = Copies(AT_ONCE)


@dataclass
class Case:
    """One run with all its lives."""

    lab: Lab
    folder: Path
    kills: list[str] = field(default_factory=list)
    """In words, for whoever has to look into it."""
    ended_by_kill: bool = False
    """The last kill came when the end was on disk already: there is nothing to resume."""

    @property
    def journal(self) -> Path | None:
        """The journal of the latest run of this case."""
        return max(self.folder.glob(f".openloop/*/{JOURNAL_NAME}"), default=None)

    def lines(self) -> int:
        """Whole lines of the journal."""
        return self.journal.read_bytes().count(b"\n") if self.journal is not None else 0

    def live(self, moment: Moment | None, *, begins_with_python: bool = False) -> int | None:
        """One life of the run; gives its exit code, or None when it was killed at this moment."""
        begun_before = self.run_that_began()
        words = ["resume", str(begun_before)] if begun_before else ["run", str(self.lab.workflow)]
        order = Order(
            [*words, "--workdir", str(self.folder), "--trust"],
            {**os.environ, "OPENLOOP_HOME": str(self.folder / "home")},
            self.folder / "said.log",
        )
        process = born(order) if begins_with_python else self.lab.copies.live(order)
        started = time.monotonic()
        lines_before = self.lines()
        try:
            while process.poll() is None:
                seconds = time.monotonic() - started
                assert seconds < LONGEST_LIFE, "it hangs"
                if moment is not None and moment.has_come(seconds, self.lines() - lines_before):
                    time.sleep(moment.later)
                    process.kill()
                    break
                time.sleep(0.002)
        finally:
            process.kill()
            code = process.wait()
        return None if code == -9 else code

    def run_that_began(self) -> Path | None:
        """The run folder, once its journal tells of a run; before that there is nothing to go on with."""
        if self.journal is None or not self.lines():
            return None
        return self.journal.parent

    def marks(self) -> list[str]:
        """The folders that are marked as open runs."""
        marks = (self.folder / "home").glob("state/open-runs/*.json")
        return [json.loads(mark.read_bytes())["folder"] for mark in marks]

    def state(self) -> JsonObject:
        """The last state, without what differs from run to run."""
        assert self.journal is not None
        state: JsonObject = json.loads((self.journal.parent / "state.json").read_bytes())
        meta = state["meta"]
        assert isinstance(meta, dict)
        meta.pop("run_id")
        return state


@dataclass(frozen=True, slots=True)
class Moment:
    """When to kill: after so many seconds or, where `lines` is given, new lines of the journal, and a bit
    `later`."""

    seconds: float
    lines: int | None
    later: float

    @staticmethod
    def draw(dice: random.Random, whole: Undisturbed) -> Moment:
        """Mostly somewhere in its work; sometimes anywhere, starting and ending included."""
        later = dice.choice([0.0, dice.uniform(0.0, 0.02)])
        if dice.random() < 0.2:
            return Moment(dice.uniform(0.0, 1.1 * whole.seconds), None, later)
        return Moment(0.0, dice.randint(0, whole.lines), later)

    @property
    def may_be_at_start(self) -> bool:
        """Whether Python may not have read everything by then."""
        return self.lines is None

    def has_come(self, seconds: float, lines: int) -> bool:
        return lines >= self.lines if self.lines is not None else seconds >= self.seconds

    def __str__(self) -> str:
        at = f"{self.lines} lines" if self.lines is not None else f"{self.seconds:.3f} s"
        return f"after {at} and {self.later * 1000:.1f} ms"


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    lab = Lab(tmp_path_factory.mktemp("chaos"))
    yield lab
    lab.copies.close()


@pytest.fixture(scope="module")
def whole(lab: Lab) -> Undisturbed:
    """The run without any kill, timed when everything is compiled."""
    state, seconds = None, 0.0
    for name in ("first", "second"):
        case = make_case(lab, name)
        begun = time.monotonic()
        assert case.live(None, begins_with_python=True) == 0, (case.folder / "said.log").read_text()
        seconds = time.monotonic() - begun
        assert state in (None, case.state()), "two undisturbed runs differ"
        state = case.state()
    assert state is not None
    payload = state["payload"]
    assert isinstance(payload, dict)
    assert isinstance(payload["steps"], list)
    assert len(payload["steps"]) == TURNS
    return Undisturbed(state, case.lines(), seconds)


def make_case(lab: Lab, name: str) -> Case:
    folder = lab.folder / f"case-{name}"
    folder.mkdir()
    return Case(lab, folder)


def test_killed_at_any_moment_and_resumed_a_run_ends_as_if_nothing_had_happened(
    lab: Lab, whole: Undisturbed, seeds: Sequence[int]
) -> None:
    with ThreadPoolExecutor(AT_ONCE) as pool:
        faults = [fault for fault in pool.map(lambda seed: fault_of(lab, whole, seed), seeds) if fault]
    assert not faults, "\n\n".join(faults)


def fault_of(lab: Lab, whole: Undisturbed, seed: int) -> str:
    """What is wrong with the run of this seed, and how to repeat it; empty when nothing is."""
    case = make_case(lab, str(seed))
    try:
        suffer(case, whole, random.Random(seed))
        check(case, whole)
    except AssertionError as error:
        said = (case.folder / "said.log").read_text(encoding="utf-8", errors="replace")[-2000:]
        return (
            f"--chaos-seed {seed}: {error}\nkilled {'; then '.join(case.kills) or 'never'}; "
            f"everything is in {case.folder}\n{said}"
        )
    return ""


def suffer(case: Case, whole: Undisturbed, dice: random.Random) -> None:
    """Live until the run is complete, killed now and then."""
    for chance in (*CHANCES_OF_KILL, 0.0):
        moment = Moment.draw(dice, whole) if dice.random() < chance else None
        waits = dice.random() < 0.5
        code = case.live(moment, begins_with_python=moment is not None and moment.may_be_at_start)
        if code is not None:
            assert code == 0, f"it ended with exit code {code}"
            return
        case.kills.append(str(moment))
        run = case.run_that_began()
        if run is not None and not has_ended(run):
            assert case.marks() == [str(run)], "a run that was cut off is not found again"
        if run is not None and waits:
            assert find_orphans(run) == [], "a process outlived OpenLoop"
            assert processes_of(run) == []
        if run is not None and has_ended(run):
            case.ended_by_kill = True
            return
    raise AssertionError("a life that nobody killed did not end")


def has_ended(run: Path) -> bool:
    return any(isinstance(event, RunFinished) for event in read_journal(run / JOURNAL_NAME))


def processes_of(run: Path) -> list[int]:
    """Everything that was started for this run folder, the supervisors included, by mark."""
    found = []
    for process in psutil.process_iter():
        try:
            marked = process.environ().get(MARK, "").startswith(run_token(run))
            if marked and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process.pid)
        except (psutil.Error, OSError):
            continue
    return found


def check(case: Case, whole: Undisturbed) -> None:
    run = case.run_that_began()
    assert run is not None
    assert case.state() == whole.state, "the final state differs"
    events = read_journal(run / JOURNAL_NAME)

    answered: set[str] = set()
    open_turns: Counter[str] = Counter()
    for event in events:
        if isinstance(event, AttemptStarted):
            assert event.turn not in answered, f"{event.turn} ran again although its update is recorded"
        elif isinstance(event, TurnStarted):
            open_turns[event.turn] += 1
        elif isinstance(event, TurnFinished):
            open_turns[event.turn] -= 1
            if event.update is not None:
                answered.add(event.turn)
    assert len(answered) == TURNS, "not every turn has its update"
    assert set(open_turns.values()) == {0}, f"left marked running: {+open_turns}"

    assert isinstance(events[-1], RunFinished), "its end is not its last event"
    assert len({event.run_id for event in events if isinstance(event, RunStarted)}) == 1
    unreadable = (run / JOURNAL_NAME).read_bytes().count(b"\n") - len(events)
    assert unreadable <= len(case.kills), f"{unreadable} lines cannot be read"
    assert find_orphans(run) == [], "a process outlived OpenLoop"
    assert processes_of(run) == [], "a supervisor outlived OpenLoop"
    # Killed between its end and the end of its mark, it keeps the mark until somebody looks.
    # So does one that was killed before its first event.
    assert case.ended_by_kill or str(run) not in case.marks(), "a run that ended is still marked as open"
