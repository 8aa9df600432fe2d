"""Stopping and killing with real and badly behaved agents: nobody is left, and nobody is alive twice."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from core import turn_loop
from core.engine import Engine
from core.events import (
    AttemptFinished,
    AttemptStarted,
    Event,
    RetryScheduled,
    RunStatus,
    StopKind,
    StopRequested,
    TurnFinished,
    TurnStarted,
    TurnStatus,
)
from core.journal import JOURNAL_NAME, read_journal
from core.json_types import JsonObject
from core.process_tree import MARK
from core.processes import run_token, start_time
from tests.core.run_support import Watch, Workshop, alive_agents, resume

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="forks, signals, and a child subreaper")

BAD_CHILDREN = Path(__file__).parent / "bad_children"
ROOT = Path(__file__).parents[2]
PATIENCE = 60.0


class BadShop(Workshop):
    """A workshop whose agents are badly behaved programs."""

    def bad(self, name: str, program: str, *arguments: str) -> str:
        path = str(BAD_CHILDREN / f"{program}.py")
        return self.command(name, sys.executable, "-I", "-S", path, *arguments)

    def census(self, name: str) -> Path:
        folder = self.folder / "census" / name
        folder.mkdir(parents=True)
        return folder


@pytest.fixture
def shop(tmp_path: Path) -> BadShop:
    return BadShop(tmp_path)


def signed(census: Path) -> set[int]:
    return {int(path.name) for path in census.iterdir() if path.name.isdigit()}


def alive(pids: set[int]) -> set[int]:
    return {pid for pid in pids if start_time(pid) is not None}


def when(condition: Callable[[], bool], then: Callable[[], None], tasks: list[asyncio.Task[None]]) -> None:
    """In the running loop: as soon as a condition holds, do something."""

    async def wait() -> None:
        deadline = time.monotonic() + PATIENCE
        while not condition() and time.monotonic() < deadline:
            await asyncio.sleep(0.01)
        then()

    tasks.append(asyncio.get_running_loop().create_task(wait()))


def stop_when(condition: Callable[[], bool], kind: StopKind = StopKind.NOW) -> Watch:
    """Stop the run when a condition holds; it is looked at from the first attempt on."""
    tasks: list[asyncio.Task[None]] = []

    def watch(engine: Engine, event: Event) -> None:
        if isinstance(event, AttemptStarted) and not tasks:
            when(condition, lambda: engine.stop(kind), tasks)

    return watch


def wait_for(condition: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline, what
        time.sleep(0.01)


# --- Stop now ---------------------------------------------------------------------------------------------


def test_stop_now_ends_whatever_agents_have_started_and_however_it_hides(shop: BadShop) -> None:
    """Pains 9, 10. Deaf, own sessions, double-forked, no environment, forking on and on, stopped, pipes."""
    families = {
        "family": (shop.bad("family", "family", str(shop.census("family")), "stay"), 5),
        "breeder": (shop.bad("breeder", "breeder", str(shop.census("breeder"))), 5),
        "frozen": (shop.bad("frozen", "frozen", str(shop.census("frozen"))), 2),
    }
    shop.command("pipes", "sh", "-c", "yes | sleep 1000 | cat")
    agents = [*families, "pipes"]
    census = shop.folder / "census"

    def complete() -> bool:
        return all(len(signed(census / name)) >= count for name, (_, count) in families.items())

    run = shop.run(
        {"loop_agents": [{"mode": "parallel", "agents": agents, "max_parallel": len(agents)}]},
        stop_when(complete),
    )
    assert run.finished.status is RunStatus.STOPPED
    assert complete(), "they never got as far"
    assert [name for name in families if alive(signed(census / name))] == []
    assert alive_agents(shop.folder) == []
    assert all(turn.status is TurnStatus.STOPPED for turn in run.progress.turns.values())


def test_an_answer_that_comes_after_the_stop_is_kept_and_marked_and_never_merged(shop: BadShop) -> None:
    """Pain 10. The agent ends by itself within the grace, with exit code 0 and a valid update."""
    census = shop.census("late")
    shop.bad("late", "last_words", str(census))
    run = shop.run({"preparation_agents": ["late"]}, stop_when(lambda: bool(signed(census))))
    assert run.reason == "stopped"
    assert run.payload == {}
    assert (run.turn("late").status, run.turn("late").update) == (TurnStatus.STOPPED, None)
    (attempt,) = run.of(AttemptFinished)
    assert attempt.exit_code == 0
    assert attempt.late_bytes > 0
    assert b'"late": true' in (run.turn_folder("late") / "stdout.log").read_bytes()
    assert not (run.turn_folder("late") / "update.json").exists()
    # Nor does it count on a later day.
    assert not any(isinstance(event, TurnFinished) and event.update for event in run.journal)


# --- nobody is alive twice --------------------------------------------------------------------------------


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def test_a_server_that_an_agent_left_behind_is_gone_before_the_next_turn_begins(shop: BadShop) -> None:
    """Pain 9. Each of the three needs the port that the one before it left taken."""
    shop.bad("server", "server", str(free_port()))
    workflow: JsonObject = {
        "preparation_agents": ["server", "server", "server"],
        "merge": {"payload.served": "append"},
    }
    run = shop.run(workflow)
    assert run.reason == "completed", run.finished.message
    assert run.payload == {"served": [1, 1, 1]}
    assert [event.left_behind for event in run.of(AttemptFinished)] == [1, 1, 1]


@pytest.mark.parametrize("keeps", ["nothing", "environment"])
def test_a_slot_is_used_again_only_when_everything_of_the_turn_before_is_dead(
    shop: BadShop, keeps: str
) -> None:
    """Pains 10, 26."""
    notes = shop.census("notes")
    shop.bad("alone", "jealous", str(notes), keeps, "answer")
    group: JsonObject = {
        "mode": "parallel",
        "agents": ["alone"] * 4,
        "max_parallel": 1,
        "merge": {"payload.alone": "append"},
    }
    run = shop.run({"preparation_agents": [group]})
    assert not (notes / "met another").exists()
    assert run.reason == "completed", run.finished.message
    assert run.payload == {"alone": [1, 1, 1, 1]}


@pytest.mark.parametrize("keeps", ["nothing", "environment"])
def test_beside_other_agents_a_slot_is_used_again_only_when_its_daemons_are_dead(
    shop: BadShop, keeps: str
) -> None:
    """Pains 10, 26. Another agent is at work all the time, so that not every stray may simply be ended."""
    notes = shop.census("notes")
    shop.bad("alone", "jealous", str(notes), keeps, "answer")
    bystander = shop.census("bystander")
    shop.bad("bystander", "last_words", str(bystander))
    group: JsonObject = {"mode": "parallel", "agents": ["bystander", *["alone"] * 3], "max_parallel": 2}
    answered = [0]

    def watch(engine: Engine, event: Event) -> None:
        if isinstance(event, TurnFinished):
            answered[0] += 1
            if answered[0] == 3:
                engine.stop(StopKind.NOW)

    run = shop.run({"preparation_agents": [group]}, watch)
    assert not (notes / "met another").exists()
    assert run.reason == "stopped"
    assert [turn.status for turn in run.of(TurnFinished)][:3] == [TurnStatus.SUCCEEDED] * 3
    assert alive(signed(bystander)) == set()


@pytest.mark.parametrize("keeps", ["nothing", "environment"])
def test_an_agent_that_the_user_retries_is_dead_before_its_retry_begins(shop: BadShop, keeps: str) -> None:
    """Pain 10."""
    notes = shop.census("notes")
    shop.bad("alone", "jealous", str(notes), keeps, "hang_once")
    tasks: list[asyncio.Task[None]] = []

    def watch(engine: Engine, event: Event) -> None:
        if isinstance(event, AttemptStarted) and not tasks:
            when((notes / "hangs").exists, lambda: engine.retry_turn(event.turn), tasks)

    run = shop.run({"preparation_agents": ["alone"]}, watch)
    assert not (notes / "met another").exists()
    assert run.reason == "completed", run.finished.message
    assert len(run.of(AttemptStarted)) == 2


def test_what_a_failed_attempt_left_behind_is_dead_before_a_retry_is_even_planned(
    shop: BadShop, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Pain 10."""
    monkeypatch.setattr(turn_loop, "BACKOFF_FIRST", 600.0)
    shop.agent(
        "flaky",
        writes={"x": 1},
        fail={"exit_code": 1, "error": "Overloaded.", "transient": True, "first": 2},
        leave_child={"kind": "double_fork", "ignore_sigterm": True},
    )
    left: list[list[int]] = []

    def watch(engine: Engine, event: Event) -> None:
        if isinstance(event, RetryScheduled):
            left.append(alive_agents(shop.folder))
            engine.retry_turn(event.turn)  # it would wait for ten minutes

    run = shop.run({"preparation_agents": ["flaky"], "retries": 2}, watch)
    assert run.reason == "completed"
    assert left == [[], []]
    assert [event.left_behind for event in run.of(AttemptFinished)] == [1, 1, 1]


def test_one_agent_that_is_stopped_is_dead_when_its_group_hears_of_it(shop: BadShop) -> None:
    census = shop.census("family")
    shop.bad("family", "family", str(census), "stay")
    shop.command("good", "sh", "-c", 'echo \'<state_update>{"payload":{"x":1}}</state_update>\'')
    group: JsonObject = {
        "mode": "parallel",
        "agents": ["family", "good"],
        "max_parallel": 1,
        "on_parallel_error": "continue",
    }
    alive_then: list[set[int]] = []
    tasks: list[asyncio.Task[None]] = []

    def watch(engine: Engine, event: Event) -> None:
        if isinstance(event, AttemptStarted) and not tasks:
            when(lambda: len(signed(census)) == 5, lambda: engine.stop_turn(event.turn), tasks)
        elif isinstance(event, TurnFinished) and event.status is TurnStatus.STOPPED:
            alive_then.append(alive(signed(census)))

    run = shop.run({"preparation_agents": [group]}, watch)
    assert run.reason == "completed"
    assert alive_then == [set()]


# --- the supervisor suffers ---------------------------------------------------------------------------------


def keeper_and_guard(agent: int) -> tuple[psutil.Process, psutil.Process]:
    """The supervisor that an agent is a child of, and the guard above it."""
    keeper = psutil.Process(agent).parent()
    assert keeper is not None
    guard = keeper.parent()
    assert guard is not None
    return keeper, guard


@pytest.mark.parametrize("victims", [(0,), (1,), (0, 1)], ids=["supervisor", "guard", "both"])
def test_when_the_supervisor_is_killed_the_run_ends_with_words_and_goes_on_later(
    shop: BadShop, victims: tuple[int, ...]
) -> None:
    """Nobody is left, what was finished is kept, and only the rest is done when the run is resumed."""
    shop.agent("done", writes={"done": 1})
    census = shop.census("family")
    shop.bad("family", "family", str(census), "stay")
    tasks: list[asyncio.Task[None]] = []
    killed: list[set[int]] = []

    def watch(engine: Engine, event: Event) -> None:
        if isinstance(event, AttemptStarted) and event.turn.startswith("loop/") and not tasks:

            def kill() -> None:
                # The daemon without any mark is beyond everybody when both are killed at once.
                marked = {pid for pid in signed(census) if psutil.Process(pid).environ().get(MARK)}
                killed.append(marked if len(victims) == 2 else signed(census))
                both = keeper_and_guard(event.pid)
                for victim in victims:
                    both[victim].suspend()
                for victim in victims:
                    both[victim].kill()

            when(lambda: len(signed(census)) == 5, kill, tasks)

    run = shop.run({"preparation_agents": ["done"], "loop_agents": ["family"]}, watch)
    try:
        assert run.finished.status is RunStatus.FAILED
        assert run.reason == "agent_error:OpenLoop"
        assert "ended unexpectedly (by signal 9). Its agents were ended too." in run.finished.message
        assert alive(killed[0]) == set()
        assert {turn.status for turn in run.progress.turns.values()} == {
            TurnStatus.SUCCEEDED,
            TurnStatus.STOPPED,
        }
    finally:
        for pid in alive(signed(census)):
            os.kill(pid, signal.SIGKILL)
    shop.agent("family", is_complete=True, role="auditor", writes={"rest": 1})
    again = resume(run.folder)
    assert again.payload["done"] == 1
    assert [event.turn for event in again.of(TurnStarted)] == ["loop/1/0/0"]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGSTOP])
@pytest.mark.parametrize("victims", [(0,), (1,)], ids=["supervisor", "guard"])
def test_other_signals_do_not_hurt_the_supervisor(
    shop: BadShop, victims: tuple[int, ...], number: signal.Signals
) -> None:
    shop.command("a", "sh", "-c", 'sleep 0.2; echo \'<state_update>{"payload":{"x":1}}</state_update>\'')
    struck: list[int] = []

    def watch(engine: Engine, event: Event) -> None:
        if isinstance(event, AttemptStarted) and not struck:
            both = keeper_and_guard(event.pid)
            for victim in victims:
                struck.append(both[victim].pid)
                both[victim].send_signal(number)

    run = shop.run({"preparation_agents": ["a", "a"]}, watch)
    assert run.reason == "completed", run.finished.message
    assert alive(set(struck)) == set()


def test_a_stop_is_heard_although_supervisor_and_guard_are_frozen(shop: BadShop) -> None:
    census = shop.census("family")
    shop.bad("family", "family", str(census), "stay")
    tasks: list[asyncio.Task[None]] = []
    struck: list[psutil.Process] = []

    def watch(engine: Engine, event: Event) -> None:
        if isinstance(event, AttemptStarted) and not tasks:

            def freeze() -> None:
                keeper, guard = keeper_and_guard(event.pid)
                struck.extend((guard, keeper))
                # The guard first: it would continue the other one.
                for process in struck:
                    process.suspend()
                engine.stop(StopKind.NOW)

            when(lambda: len(signed(census)) == 5, freeze, tasks)

    run = shop.run({"preparation_agents": ["family"]}, watch)
    assert len(run.of(StopRequested)) == 1
    assert run.reason == "stopped"
    assert alive(signed(census)) == set()
    assert alive({process.pid for process in struck}) == set()


# --- OpenLoop is killed ---------------------------------------------------------------------------------


@pytest.mark.parametrize("moment", ["run_started", "turn_started", "attempt_started", "turn_finished"])
def test_whenever_openloop_is_killed_nobody_outlives_it(shop: BadShop, moment: str) -> None:
    """Pain 9. Before the first agent, while one is started, while it works, and between two."""
    census = shop.census("family")
    shop.agent("quick", writes={"x": 1})
    shop.bad("family", "family", str(census), "stay")
    path = shop.file({"preparation_agents": ["quick"], "loop_agents": ["family"]})
    with subprocess.Popen(
        [sys.executable, "main.py", "run", str(path), "--workdir", str(shop.folder), "--trust"],
        cwd=ROOT,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as openloop:
        journals: list[Path] = []

        def has_come() -> bool:
            journals[:] = (shop.folder / ".openloop").glob(f"*/{JOURNAL_NAME}")
            return bool(journals) and f'"type":"{moment}"'.encode() in journals[0].read_bytes()

        wait_for(has_come, "it never got as far")
        openloop.kill()
    token = run_token(journals[0].parent)

    def relatives() -> list[int]:
        found = []
        for process in psutil.process_iter():
            try:
                if process.environ().get(MARK, "").startswith(token) and start_time(process.pid):
                    found.append(process.pid)
            except (psutil.Error, OSError):
                continue
        return found

    wait_for(lambda: not relatives(), "somebody outlived OpenLoop")
    assert alive(signed(census)) == set()
    assert read_journal(journals[0])
