"""Stopping: in two steps, one agent, at every awkward moment; nothing that a run started survives it."""

from __future__ import annotations

import asyncio
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from core import run_context, turn_loop
from core.engine import Engine
from core.events import (
    AttemptStarted,
    Event,
    QuestionAsked,
    RetryScheduled,
    RunStatus,
    StopKind,
    StopRequested,
    TurnStarted,
    TurnStatus,
)
from core.executor import ThreadExecutor
from core.journal import JOURNAL_NAME, read_journal
from core.progress import RunProgress
from tests.core.run_support import Watch, Workshop, alive_agents

PATIENCE = 60.0


@pytest.fixture
def shop(tmp_path: Path) -> Workshop:
    return Workshop(tmp_path)


def stop_when(kind: type[Event], stop: StopKind, count: int = 1) -> Watch:
    """Stop at the `count`-th event of a kind."""
    seen = [0]

    def watch(engine: Engine, event: Event) -> None:
        if isinstance(event, kind):
            seen[0] += 1
            if seen[0] == count:
                engine.stop(stop)

    return watch


def test_stop_now_ends_everything_also_what_resists(shop: Workshop) -> None:
    """Pains 9, 31."""
    shop.agent("rude", hang=True, ignore_sigterm=True)
    shop.agent("daemon", hang=True, leave_child={"kind": "double_fork", "ignore_sigterm": True})
    shop.agent("session", hang=True, leave_child={"kind": "setsid", "ignore_sigterm": True})
    group = {"mode": "parallel", "agents": ["rude", "daemon", "session"], "max_parallel": 3}
    run = shop.run({"loop_agents": [group]}, stop_when(AttemptStarted, StopKind.NOW, 3))
    assert run.reason == "stopped"
    assert run.finished.status is RunStatus.STOPPED
    assert alive_agents(shop.folder) == []
    assert {turn.status for turn in run.progress.turns.values()} == {TurnStatus.STOPPED}


def test_stop_after_the_running_agents_lets_them_finish_and_starts_no_more(shop: Workshop) -> None:
    shop.command("w", "sh", "-c", 'sleep 0.4; echo \'<state_update>{"payload":{"x":1}}</state_update>\'')
    group = {"mode": "parallel", "agents": ["w"] * 4, "max_parallel": 2}
    run = shop.run({"loop_agents": [group]}, stop_when(AttemptStarted, StopKind.AFTER_RUNNING, 2))
    assert run.reason == "stopped"
    assert len(run.of(TurnStarted)) == 2
    done = [turn.status for turn in run.progress.turns.values() if turn.started is not None]
    assert done == [TurnStatus.SUCCEEDED] * 2


def test_a_sequential_agent_that_finished_before_the_stop_is_merged(shop: Workshop) -> None:
    shop.command("w", "sh", "-c", 'sleep 0.3; echo \'<state_update>{"payload":{"x":1}}</state_update>\'')
    run = shop.run({"preparation_agents": ["w", "w"]}, stop_when(AttemptStarted, StopKind.AFTER_RUNNING))
    assert run.reason == "stopped"
    assert run.payload == {"x": 1}


def test_stop_now_is_heard_after_stop_after_the_running_agents(shop: Workshop) -> None:
    shop.agent("hangs", hang=True)

    def watch(engine: Engine, event: Event) -> None:
        if isinstance(event, AttemptStarted):
            engine.stop(StopKind.AFTER_RUNNING)
            engine.stop(StopKind.AFTER_RUNNING)
        elif isinstance(event, StopRequested):
            engine.stop(StopKind.NOW)

    run = shop.run({"preparation_agents": ["hangs"]}, watch)
    assert run.reason == "stopped"
    assert [event.kind for event in run.of(StopRequested)] == [StopKind.AFTER_RUNNING, StopKind.NOW]


def test_one_agent_can_be_stopped_alone(shop: Workshop) -> None:
    shop.agent("hangs", hang=True)
    shop.agent("good", writes={"x": 1})
    group = {"mode": "parallel", "agents": ["hangs", "good"], "on_parallel_error": "continue"}

    def watch(engine: Engine, event: Event) -> None:
        if isinstance(event, AttemptStarted) and event.turn.endswith("/0"):
            engine.stop_turn(event.turn)

    run = shop.run({"preparation_agents": [group]}, watch)
    assert run.reason == "completed"
    assert run.turn("hangs").status is TurnStatus.STOPPED
    assert run.turn("hangs").reason == "stopped"
    assert run.payload["x"] == 1
    assert run.payload["_failures"] == [
        {"agent": "hangs", "iteration": 0, "reason": "stopped", "message": "You stopped hangs."}
    ]


def test_an_agent_that_ended_with_its_run_was_stopped_and_made_no_error(shop: Workshop) -> None:
    shop.agent("hangs", hang=True)

    def watch(engine: Engine, event: Event) -> None:
        if isinstance(event, AttemptStarted):
            engine.stop(StopKind.NOW)

    run = shop.run({"preparation_agents": ["hangs"]}, watch)
    ended = run.turn("hangs")
    assert (ended.status, ended.reason) == (TurnStatus.STOPPED, "stopped")
    assert ended in run.journal


def test_an_agent_that_was_stopped_for_the_budget_says_so(
    shop: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run_context, "BUDGET_GRACE", 0.0)
    shop.agent("dear", spend={"cost_usd": 0.1, "seconds": 0.02})
    run = shop.run({"preparation_agents": ["dear"], "budget": {"max_cost_usd": 0.5}})
    ended = run.turn("dear")
    assert (ended.status, ended.reason) == (TurnStatus.STOPPED, "budget_exceeded:max_cost_usd")


def test_a_run_can_be_stopped_before_its_first_turn(shop: Workshop) -> None:
    shop.agent("a")
    plan = shop.plan({"preparation_agents": ["a"]})
    events: list[Event] = []

    async def go() -> str:
        executor = ThreadExecutor(4)
        from core.backends.registry import backend

        engine = Engine(plan, executor, backend, events.extend)
        engine.stop(StopKind.NOW)
        try:
            return (await engine.run()).termination_reason
        finally:
            executor.close()

    assert asyncio.run(go()) == "stopped"
    assert not any(isinstance(event, TurnStarted) for event in events)


def test_a_run_can_be_stopped_while_an_agent_waits_for_its_retry(
    shop: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(turn_loop, "BACKOFF_FIRST", 600.0)
    shop.agent("flaky", fail={"exit_code": 1, "error": "The model is overloaded.", "transient": True})
    run = shop.run({"preparation_agents": ["flaky"], "retries": 3}, stop_when(RetryScheduled, StopKind.NOW))
    assert run.reason == "stopped"


@pytest.mark.parametrize("kind", list(StopKind))
def test_a_run_can_be_stopped_while_it_asks(shop: Workshop, kind: StopKind) -> None:
    shop.agent("never", bad_update="missing")
    run = shop.run(
        {"preparation_agents": ["never"], "on_missing_state": "ask"}, stop_when(QuestionAsked, kind)
    )
    assert run.reason == "stopped"


def test_a_lost_supervisor_ends_the_run_with_words_and_nothing_alive(shop: Workshop) -> None:
    shop.agent("hangs", hang=True)

    def watch(engine: Engine, event: Event) -> None:
        del engine
        if isinstance(event, AttemptStarted):
            parent = psutil.Process(event.pid).parent()
            assert parent is not None
            parent.kill()

    run = shop.run({"preparation_agents": ["hangs"]}, watch)
    assert run.finished.status is RunStatus.FAILED
    assert "ended unexpectedly" in run.finished.message
    assert alive_agents(shop.folder) == []


RUN = [sys.executable, "main.py", "run"]


def test_nothing_survives_when_openloop_is_killed_and_the_run_can_still_be_shown(
    shop: Workshop, project_root: Path
) -> None:
    """Pains 9, 23: SIGKILL in the middle of a parallel group."""
    shop.agent("rude", hang=True, ignore_sigterm=True)
    shop.agent("daemon", hang=True, leave_child={"kind": "double_fork", "ignore_sigterm": True})
    shop.agent("session", hang=True, leave_child={"kind": "setsid", "ignore_sigterm": True})
    shop.agent("first", writes={"x": 1})
    group = {"mode": "parallel", "agents": ["rude", "daemon", "session"], "max_parallel": 3}
    path = shop.file({"preparation_agents": ["first"], "loop_agents": [group]})
    process = subprocess.Popen(
        [*RUN, str(path), "--workdir", str(shop.folder)],
        cwd=project_root,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )

    def started() -> int:
        journals = list((shop.folder / ".openloop").glob(f"*/{JOURNAL_NAME}"))
        events = read_journal(journals[0]) if journals else []
        return sum(isinstance(event, AttemptStarted) for event in events)

    wait_for(lambda: started() == 4)
    wait_for(lambda: len(alive_agents(shop.folder)) >= 5)
    process.send_signal(signal.SIGKILL)
    process.wait()
    wait_for(lambda: alive_agents(shop.folder) == [])

    (journal,) = (shop.folder / ".openloop").glob(f"*/{JOURNAL_NAME}")
    progress = RunProgress()
    progress.apply_all(read_journal(journal))
    assert [turn.label for turn in progress.turns.values()] == ["first", "rude", "daemon", "session"]
    assert progress.turns["preparation/0/0/0"].status is TurnStatus.SUCCEEDED


def wait_for(condition: object) -> None:
    """Until it holds."""
    assert callable(condition)
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline, "it did not come true"
        time.sleep(0.02)


def test_a_full_disk_ends_the_run_with_words_and_nothing_alive(shop: Workshop, project_root: Path) -> None:
    """Files may not grow beyond 40 KB here, as on a disk that is full."""
    shop.agent("a", writes={"x": "y" * 9000})
    path = shop.file({"loop_agents": ["a"], "max_loops": 50})
    limited = (
        "import resource, signal, sys; signal.signal(signal.SIGXFSZ, signal.SIG_IGN);"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (40000, 40000));"
        "sys.argv = ['openloop', *sys.argv[1:]];"
        "from app.cli import main; sys.exit(main())"
    )
    done = subprocess.run(
        [sys.executable, "-c", limited, "run", str(path), "--workdir", str(shop.folder)],
        cwd=project_root,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 1, done.stderr
    assert "Traceback" not in done.stdout + done.stderr
    assert "cannot be written" in done.stdout or "could not be read or written" in done.stdout
    assert alive_agents(shop.folder) == []
