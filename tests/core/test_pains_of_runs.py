"""What users of such tools suffer in runs, and what may not happen here; the other pains are tested where
the part that meets them is."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

import pytest

from core.engine import Engine
from core.events import AttemptStarted, Event, PhaseStarted, TurnFinished, TurnStarted
from tests.core.run_support import Workshop

GATED = """
import pathlib, time
while not pathlib.Path("gate").exists():
    time.sleep(0.02)
print('<state_update>{}</state_update>')
"""


@pytest.fixture
def shop(tmp_path: Path) -> Workshop:
    return Workshop(tmp_path)


def test_the_slowest_agent_does_not_hold_up_those_that_wait_for_a_place(shop: Workshop) -> None:
    """Pain 27: places are given on one by one, not in batches; the slow one is let go only when all others
    have ended."""
    shop.command("slow", sys.executable, "-c", GATED)
    shop.agent("quick", writes={"x": 1})
    group = {"mode": "parallel", "agents": ["slow", *["quick"] * 5], "max_parallel": 2}
    ended: list[str] = []

    def open_gate_at_last(_: Engine, event: Event) -> None:
        if isinstance(event, TurnFinished):
            ended.append(event.turn)
            if len(ended) == 5:
                (shop.folder / "gate").touch()

    run = shop.run({"preparation_agents": [group]}, open_gate_at_last)
    assert run.reason == "completed"
    assert ended[-1] == "preparation/0/0/0"


def test_completion_ends_the_loop_and_not_what_comes_after_it(shop: Workshop) -> None:
    """Pain 29."""
    shop.agent("judge", role="auditor", is_complete=True, writes={"judged": True})
    shop.agent("after", writes={"after": True})
    run = shop.run({"loop_agents": ["judge", "after"], "finalization_agents": ["after", "judge"]})
    assert run.reason == "completed"
    assert [event.phase for event in run.of(PhaseStarted)] == ["loop", "finalization"]
    assert [event.turn for event in run.of(TurnStarted)] == [
        "loop/1/0/0",
        "finalization/1/0/0",
        "finalization/1/0/1",
    ]


@pytest.mark.skipif(sys.platform == "win32", reason="a kill has no signal there")
def test_a_kill_that_was_not_ours_is_named_as_the_systems(shop: Workshop) -> None:
    """Pain 33: the system ends processes when memory runs out, without a word."""
    shop.agent("big", hang=True)

    def kill(_: Engine, event: Event) -> None:
        if isinstance(event, AttemptStarted):
            os.kill(event.pid, signal.SIGKILL)

    run = shop.run({"preparation_agents": ["big"]}, kill)
    assert run.reason == "agent_error:big"
    assert "memory" in run.finished.message
