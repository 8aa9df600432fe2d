"""One turn on a worker thread: its processes, when they start and end, and what if we fail ourselves."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import psutil
import pytest

from core.agent import AgentDefinition
from core.backends.base import Backend, Command, TurnOrder
from core.backends.command import CommandBackend
from core.backends.demo import DemoBackend
from core.events import AttemptFinished, AttemptKind, AttemptStarted, Event, Noted, TurnActivity, TurnRef
from core.journal import JournalError
from core.overview import OverviewWriter
from core.plan import Place, PlannedTurn
from core.runner import Supervisor, SupervisorLost
from core.turn import Turn
from core.turn_control import TurnControl
from core.turn_outcome import Answered, Failed, NoState, StopCause, Stopped
from core.turn_services import TurnServices

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="agents here are POSIX shells")

ANSWER = "echo '<state_update>{}</state_update>'"
PATIENCE = 30.0


@pytest.fixture
def supervisor() -> Iterator[Supervisor]:
    with Supervisor() as supervisor:
        yield supervisor


@dataclass
class Bench:
    """Makes turns, and keeps what they tell. `on_event` may interfere, in the worker's thread."""

    folder: Path
    supervisor: Supervisor
    overview: OverviewWriter
    events: list[Event] = field(default_factory=list)
    on_event: Callable[[Event], None] = lambda event: None
    starts: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(1))

    def publish(self, event: Event) -> None:
        self.events.append(event)
        self.on_event(event)

    def turn(self, name: str, backend: Backend, timeout: float = 0.0, **matter: object) -> Turn:
        agent = AgentDefinition.model_validate({"name": name, "prompt": "Work.", **matter})
        place = Place("loop", 0, 0)
        turn = Turn(
            ref=TurnRef(f"loop/1/0/{name}", place, name, name, f"001-{name}"),
            planned=PlannedTurn(place, name, agent, backend.name, None, timeout),
            backend=backend,
            order=TurnOrder(agent, name, self.folder, self.folder / "turns" / f"001-{name}"),
            services=TurnServices(
                supervisor=self.supervisor,
                publish=self.publish,
                sync=lambda: None,
                overview=self.overview.for_turn,
                workdir=self.folder,
                starts=self.starts,
            ),
            state_json=b"{}",
            control=TurnControl(),
        )
        turn.open()
        return turn

    def shell(self, name: str, script: str, backend: Backend | None = None) -> Turn:
        return self.turn(name, backend or CommandBackend(), command=["sh", "-c", script])

    def of(self, kind: type[Event]) -> list[Event]:
        return [event for event in self.events if isinstance(event, kind)]


@pytest.fixture
def bench(tmp_path: Path, supervisor: Supervisor) -> Iterator[Bench]:
    bench = Bench(tmp_path, supervisor, OverviewWriter(tmp_path / "overview.log"))
    yield bench
    bench.overview.close()


class Costly(CommandBackend):
    """The command backend, but its starts are dear; and it asks for a scratch folder."""

    start_cost = True

    def __init__(self, scratch: Path | None = None) -> None:
        super().__init__()
        self._scratch = scratch

    def command(self, order: TurnOrder) -> Command:
        inner = super().command(order)
        return Command(inner.argv, inner.env, self._scratch)


def in_thread(turn: Turn) -> tuple[threading.Thread, list[object]]:
    """Work on a thread of its own; the list gets the outcome."""
    outcome: list[object] = []

    def work() -> None:
        try:
            outcome.append(turn.work(AttemptKind.FIRST, ""))
        finally:
            turn.close()

    thread = threading.Thread(target=work, name=turn.ref.label)
    thread.start()
    return thread, outcome


def work(turn: Turn) -> object:
    try:
        return turn.work(AttemptKind.FIRST, "")
    finally:
        turn.close()


# --- stopping -------------------------------------------------------------------------------------------


def test_a_turn_that_was_stopped_before_it_began_starts_nothing(bench: Bench) -> None:
    turn = bench.shell("a", ANSWER)
    turn.control.stop(StopCause.SIBLING)
    assert work(turn) == Stopped(StopCause.SIBLING)
    assert bench.of(AttemptStarted) == []


def test_the_first_cause_of_a_stop_stands(bench: Bench) -> None:
    turn = bench.shell("a", "sleep 600")

    def stop(event: Event) -> None:
        if isinstance(event, AttemptStarted):
            turn.control.stop(StopCause.GROUP_TIMEOUT)
            turn.control.stop(StopCause.RUN)

    bench.on_event = stop
    assert work(turn) == Stopped(StopCause.GROUP_TIMEOUT)
    (end,) = bench.of(AttemptFinished)
    assert isinstance(end, AttemptFinished)
    assert end.problem == "It was ended."


def test_a_stop_between_an_answer_and_its_correction_starts_no_correction(bench: Bench) -> None:
    turn = bench.turn("a", DemoBackend(), demo={"steps": 1, "bad_update": "missing"})

    def stop(event: Event) -> None:
        if isinstance(event, AttemptFinished):
            turn.control.stop(StopCause.RUN)

    bench.on_event = stop
    assert work(turn) == Stopped(StopCause.RUN)
    assert len(bench.of(AttemptStarted)) == 1


def test_an_answer_that_was_complete_before_the_stop_is_kept(bench: Bench) -> None:
    """Pain 15: it is paid for."""
    turn = bench.shell("a", ANSWER)

    def stop(event: Event) -> None:
        if isinstance(event, AttemptFinished):
            turn.control.stop(StopCause.SIBLING)

    bench.on_event = stop
    assert isinstance(work(turn), Answered)


def test_a_stop_that_comes_at_any_moment_leaves_nothing_alive(bench: Bench) -> None:
    """Swept over the whole life of a turn, so that each gap between two steps is hit some time."""
    for number in range(25):
        turn = bench.shell(f"a{number}", ANSWER)
        thread, outcome = in_thread(turn)
        time.sleep(number * 0.002)
        turn.control.stop(StopCause.RUN)
        thread.join(PATIENCE)
        assert not thread.is_alive()
        assert isinstance(outcome[0], Answered) or outcome == [Stopped(StopCause.RUN)]
    started = [event for event in bench.events if isinstance(event, AttemptStarted)]
    assert started
    assert not [event.pid for event in started if psutil.pid_exists(event.pid)]


def test_a_flood_that_was_stopped_is_over_at_once_and_stays_on_disk(bench: Bench) -> None:
    """It prints faster than anybody reads; the end of a stopped run must not wait until all is read."""
    turn = bench.turn("a", DemoBackend(), demo={"steps": 1, "flood": {"endless": True}})
    output = turn.order.turn_folder / "stdout.log"

    def stop(event: Event) -> None:
        if isinstance(event, TurnActivity) and turn.control.cause is None:
            until(lambda: output.stat().st_size > 30_000_000)
            turn.control.stop(StopCause.RUN)

    bench.on_event = stop
    assert work(turn) == Stopped(StopCause.RUN)
    assert (turn.order.turn_folder / "transcript.log").stat().st_size < 10_000_000
    assert any(isinstance(event, Noted) and "only in stdout.log" in event.message for event in bench.events)
    last = bench.of(TurnActivity)[-1]
    assert isinstance(last, TurnActivity)
    assert last.output_bytes == output.stat().st_size


# --- starts that are dear -------------------------------------------------------------------------------


def test_a_dear_start_waits_until_the_one_before_it_says_something(bench: Bench) -> None:
    go = bench.folder / "go"
    second = threading.Event()
    seen: list[int] = []

    def look(event: Event) -> None:
        if isinstance(event, AttemptStarted) and event.turn.endswith("second"):
            seen.append((bench.folder / "turns" / "001-first" / "stdout.log").stat().st_size)
            second.set()

    bench.on_event = look
    first, _ = in_thread(
        bench.shell("first", f"until [ -e '{go}' ]; do sleep 0.01; done; echo hello; {ANSWER}", Costly())
    )
    until(lambda: bool(bench.of(AttemptStarted)))
    other, outcome = in_thread(bench.shell("second", ANSWER, Costly()))
    # Without a cap it would start now, while the first one has said nothing.
    second.wait(0.5)
    go.touch()
    first.join(PATIENCE)
    other.join(PATIENCE)
    assert isinstance(outcome[0], Answered)
    assert seen[0] > 0
    assert bench.starts.acquire(blocking=False), "the place to start was not given back"


def test_a_turn_that_waits_for_its_dear_start_can_be_stopped(bench: Bench) -> None:
    assert bench.starts.acquire()
    turn = bench.shell("a", ANSWER, Costly())
    thread, outcome = in_thread(turn)
    turn.control.stop(StopCause.RUN)
    thread.join(PATIENCE)
    assert outcome == [Stopped(StopCause.RUN)]
    assert bench.of(AttemptStarted) == []
    assert not bench.starts.acquire(blocking=False), "a place was given back that it never had"


def test_a_dear_start_that_fails_gives_its_place_back(bench: Bench) -> None:
    turn = bench.turn("a", Costly(), command=["no-such-program-anywhere"])
    assert isinstance(work(turn), Failed)
    assert bench.starts.acquire(blocking=False)


def test_a_scratch_folder_is_there_while_the_agent_works_and_gone_afterwards(bench: Bench) -> None:
    scratch = bench.folder / "scratch"
    turn = bench.shell("a", f"test -d '{scratch}' && touch '{scratch}/litter' && {ANSWER}", Costly(scratch))
    assert isinstance(work(turn), Answered)
    assert not scratch.exists()


# --- when we fail ourselves -----------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [AttemptStarted, TurnActivity])
def test_no_process_outlives_a_failure_of_our_own(bench: Bench, kind: type[Event]) -> None:
    """Pain 10: it is dead before anybody hears of the failure, not some time later."""
    scratch = bench.folder / "scratch"
    turn = bench.shell("a", "echo hello; sleep 600", Costly(scratch))
    pids: list[int] = []

    def refuse(event: Event) -> None:
        if isinstance(event, AttemptStarted):
            pids.append(event.pid)
        if isinstance(event, kind):
            raise JournalError("The run folder cannot be written.")

    bench.on_event = refuse
    with pytest.raises(JournalError):
        work(turn)
    assert not psutil.pid_exists(pids[0])
    assert not scratch.exists()
    assert bench.starts.acquire(blocking=False)


def test_a_lost_supervisor_is_told_and_gives_the_place_back(bench: Bench) -> None:
    turn = bench.shell("a", "sleep 600", Costly())

    def kill(event: Event) -> None:
        if isinstance(event, AttemptStarted):
            psutil.Process(bench.supervisor.pid).kill()

    bench.on_event = kill
    with pytest.raises(SupervisorLost, match="ended unexpectedly"):
        work(turn)
    assert bench.starts.acquire(blocking=False)


# --- answers --------------------------------------------------------------------------------------------


def test_a_turn_without_a_session_is_not_corrected(bench: Bench) -> None:
    outcome = work(bench.shell("a", "echo I am done."))
    assert isinstance(outcome, NoState)
    assert outcome.corrections == 0
    assert len(bench.of(AttemptStarted)) == 1


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("missing", "no state update"),
        ("bad_json", "not valid JSON"),
        ("truncated", "cut off"),
        ("fenced", "fence"),
        ("file", "file"),
        ("wrong_type", "JSON object"),
    ],
)
def test_a_correction_names_what_was_wrong(bench: Bench, kind: str, words: str) -> None:
    turn = bench.turn(
        "a",
        DemoBackend(),
        demo={"steps": 1, "writes": {"x": 1}, "bad_update": {"kind": kind, "first": 1}},
    )
    assert isinstance(work(turn), Answered)
    first, correction = bench.of(AttemptStarted)
    assert isinstance(first, AttemptStarted)
    assert isinstance(correction, AttemptStarted)
    assert (first.kind, correction.kind) == (AttemptKind.FIRST, AttemptKind.CORRECTION)
    told = (turn.order.turn_folder / "correction-1.md").read_text(encoding="utf-8")
    assert words in told, told
    assert words in correction.reason, correction.reason


def test_an_answer_that_the_model_could_not_finish_is_asked_for_in_short(bench: Bench) -> None:
    """Not "there is no update": the agent would only repeat the long answer."""
    demo = {"steps": 1, "stop_reason": "length", "bad_update": {"kind": "missing", "first": 1}}
    assert isinstance(work(bench.turn("a", DemoBackend(), demo=demo)), Answered)
    (_, correction) = bench.of(AttemptStarted)
    assert isinstance(correction, AttemptStarted)
    assert "cut off at the model's output limit" in correction.reason


def test_everything_of_all_attempts_is_in_the_same_files(bench: Bench) -> None:
    turn = bench.turn(
        "a", DemoBackend(), demo={"steps": 1, "bad_update": {"kind": "missing", "first": 2}, "stderr": ["hm"]}
    )
    assert isinstance(work(turn), Answered)
    folder = turn.order.turn_folder
    assert (folder / "stdout.log").read_bytes().count(b'"type": "session"') == 3
    assert (folder / "stderr.log").read_bytes() == b"hm\nhm\nhm\n".replace(b"\n", os.linesep.encode())
    assert turn.number == 3


def until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)
