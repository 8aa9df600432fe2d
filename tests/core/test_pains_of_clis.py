"""What users of agent CLIs suffer, and what no backend may let happen; each CLI alike."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from core import turn_loop
from core.agent import AgentDefinition
from core.backends.base import Backend, Failure, NoiseSeen, StepFinished, TextSaid, TurnOrder
from core.backends.registry import backend, backend_names
from core.events import AttemptKind, AttemptStarted, RetryScheduled
from core.prompts import build_prompt, shared_state
from tests.core.run_support import Workshop, run_plan

INSTALLED = ("opencode", "claude", "codex", "gemini")
LIMIT = "You've hit your usage limit. Try again at 3:29 PM."
NO_LOGIN = "Invalid API key · Please run /login"


def line(**fields: object) -> bytes:
    return json.dumps(fields, ensure_ascii=False).encode() + b"\n"


def answer(name: str, text: str) -> bytes:
    """A whole output of this CLI in which the model says this text."""
    tokens = {"input": 9, "output": 1, "cache": {}}
    match name:
        case "opencode":
            part = {"messageID": "m", "type": "text", "text": text}
            end = {"messageID": "m", "type": "step-finish", "reason": "stop", "tokens": tokens, "cost": 0}
            return (
                line(type="step_start", sessionID="s", part={"messageID": "m"})
                + line(type="text", sessionID="s", part=part)
                + line(type="step_finish", sessionID="s", part=end)
            )
        case "claude":
            message = {"id": "m", "model": "x", "content": [{"type": "text", "text": text}]}
            used = {"input_tokens": 9, "output_tokens": 1}
            return line(type="assistant", message=message) + line(
                type="result", subtype="success", is_error=False, result=text, usage=used, total_cost_usd=0
            )
        case "codex":
            used = {"input_tokens": 9, "output_tokens": 1}
            return line(type="item.completed", item={"type": "agent_message", "text": text}) + line(
                type="turn.completed", usage=used
            )
        case "gemini":
            used = {"total_tokens": 10, "input_tokens": 9, "output_tokens": 1}
            return line(type="message", role="assistant", content=text) + line(
                type="result", status="success", stats=used
            )
    return text.encode()


@pytest.fixture
def order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> TurnOrder:
    """An order that every backend can make a command of; the programs are there, but never started."""
    program = tmp_path / ("agent.exe" if os.name == "nt" else "agent")
    program.touch(mode=0o755)
    for name in INSTALLED:
        monkeypatch.setenv(f"OPENLOOP_{name.upper()}", str(program))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "nothing"))
    agent = AgentDefinition.model_validate(
        {"name": "vera", "prompt": "A SECRET of the prompt.", "command": [sys.executable, "-c", "pass"]}
    )
    return TurnOrder(agent, "audit: vera", tmp_path, tmp_path / "turn")


def failure(
    name: str, order: TurnOrder, output: bytes, exit_code: int = 0, stderr: str = ""
) -> Failure | None:
    reader = backend(name).reader(order)
    reader.feed(output)
    reader.finish()
    return reader.judge(exit_code, None, stderr).failure


@pytest.mark.parametrize("name", backend_names())
def test_no_part_of_a_prompt_stands_in_a_command(name: str, order: TurnOrder) -> None:
    """Pains 1, 2: it comes on standard input, so nothing is cut and no argument is too long."""
    command = backend(name).command(order)
    assert not [word for word in command.argv if "SECRET" in word]
    assert sum(map(len, command.argv)) < 8000


@pytest.mark.parametrize("size", [0, 70_000, 5_000_000])
def test_a_prompt_arrives_whole_and_ends(tmp_path: Path, size: int) -> None:
    """Pains 1, 2, 12: a file is standard input, so its end is seen; also far beyond what a pipe holds."""
    agent = AgentDefinition(name="vera", prompt="Ünïcode 日本 🙂")
    state = shared_state(json.dumps({"payload": {"long": "é" * size}}, ensure_ascii=False).encode())
    prompt = b"".join(build_prompt(agent, state, may_complete=False, label="vera"))
    (tmp_path / "prompt.md").write_bytes(prompt)
    program = "import sys, hashlib; print(hashlib.sha256(sys.stdin.buffer.read()).hexdigest())"
    words = [sys.executable, "-I", "-S", "-c", program]
    with (tmp_path / "prompt.md").open("rb") as stdin:
        told = subprocess.run(words, stdin=stdin, capture_output=True, timeout=30, check=True).stdout
    assert told.decode().strip() == hashlib.sha256(prompt).hexdigest()
    assert state in prompt


@pytest.mark.parametrize("name", INSTALLED)
def test_a_session_is_only_continued_by_its_id(name: str, order: TurnOrder) -> None:
    """Pain 8: the last session may be somebody else's."""
    cli = backend(name)
    first, again = cli.command(order).argv, cli.command(replace(order, session="s-42")).argv
    more = " ".join(word for word in again if word not in first)
    assert "s-42" in more
    for words in (first, again):
        assert not {"-c", "--continue", "--last", "--resume=latest", "latest"} & set(_flags(words))


def _flags(words: Sequence[str]) -> list[str]:
    # Codex's `-c key=value` sets a value of its configuration.
    return [w for w, after in zip(words, (*words[1:], ""), strict=True) if not (w == "-c" and "=" in after)]


@pytest.mark.parametrize("name", INSTALLED)
def test_a_character_that_is_cut_in_two_is_read_whole(name: str, order: TurnOrder) -> None:
    """Pain 12: bytes come as they come, and the output of a console of another age breaks nothing."""
    said = "Grüße, 日本 🙂"
    reader = backend(name).reader(order)
    events = [
        event
        for byte in answer(name, said) + "caf\xe9\n".encode("cp1252")
        for event in reader.feed(bytes([byte]))
    ]
    events += reader.finish()
    assert TextSaid(said) in events
    assert NoiseSeen(b"caf\xe9\n") in events
    assert reader.judge(0, None, "").text == said


@pytest.mark.parametrize("name", INSTALLED)
def test_a_price_that_is_not_told_is_unknown(name: str, order: TurnOrder) -> None:
    """Pain 24: and never 0, which a budget would take for free."""
    reader = backend(name).reader(order)
    events = [*reader.feed(answer(name, "x")), *reader.finish()]
    used = [event.usage for event in events if isinstance(event, StepFinished)]
    assert sum(usage.total_tokens for usage in used) == 10
    assert {usage.cost_usd for usage in used} == {None}


@pytest.mark.parametrize("name", [*INSTALLED, "command"])
@pytest.mark.parametrize("notice", [LIMIT, NO_LOGIN])
def test_a_notice_that_looks_like_an_answer_is_no_answer(name: str, notice: str, order: TurnOrder) -> None:
    """Pains 22, 28: nobody corrects it, nobody tries again, everybody waits."""
    found = failure(name, order, answer(name, notice))
    assert found is not None
    assert found.provider_wide
    assert not found.transient
    assert notice in found.message


@pytest.mark.parametrize("name", [*INSTALLED, "command"])
@pytest.mark.parametrize(
    "said",
    [
        f'{LIMIT} <state_update>{{"payload": {{"text": "changed"}}}}</state_update>',
        f"The dialog now says: {LIMIT}",
        "I made the client stop at a usage limit. " * 20,
    ],
)
def test_an_agent_that_talks_about_limits_has_not_failed(name: str, said: str, order: TurnOrder) -> None:
    """Pain 28, the other way round."""
    assert failure(name, order, answer(name, said)) is None


@pytest.mark.parametrize("name", [*INSTALLED, "command"])
def test_a_notice_on_standard_error_stops_every_agent(name: str, order: TurnOrder) -> None:
    """Pain 22."""
    found = failure(name, order, b"", 1, f"2026-09-17 start\nError: {LIMIT}\n    at main (x.js:1)\n")
    assert found is not None
    assert found.provider_wide


@pytest.mark.parametrize("name", [*INSTALLED, "command"])
@pytest.mark.parametrize(
    "stderr",
    ["Error: 429 Too Many Requests", "Error: Overloaded", "Error: prompt is too long", "", "segfault"],
)
def test_other_reasons_stop_no_other_agent(name: str, stderr: str, order: TurnOrder) -> None:
    """Pain 22, the other way round."""
    found = failure(name, order, b"", 1, stderr)
    assert found is not None
    assert not found.provider_wide


@pytest.mark.parametrize("name", backend_names())
def test_a_silence_may_be_asked_about_at_any_time(name: str, order: TurnOrder) -> None:
    """Pain 3: also where no log is and nothing was started."""
    cli: Backend = backend(name)
    assert cli.silence_reason(order) == ""
    assert cli.hidden_failure(order) is None
    assert list(cli.untold_output(order, cli.reader(order))) == []
    assert list(cli.untold_output(replace(order, session="s"), cli.reader(order))) == []


@pytest.mark.parametrize(
    ("name", "stderr"),
    [
        ("opencode", "Error: Unexpected error\n\ndatabase is locked\n"),
        ("opencode", "Failed query: CREATE TABLE `workspace` (…)"),
        ("codex", "Error: failed to initialize state runtime: database is locked"),
    ],
)
def test_a_start_that_lost_the_database_costs_no_attempt(name: str, stderr: str, order: TurnOrder) -> None:
    """Pain 7: and only one that had printed nothing."""
    lost = failure(name, order, b"", 1, stderr)
    assert lost is not None
    assert lost.before_work
    assert not lost.provider_wide
    begun = failure(name, order, answer(name, "x")[:60], 1, stderr)
    assert begun is not None
    assert not begun.before_work


# --- in a run ------------------------------------------------------------------------------------------


def test_a_run_makes_a_lost_start_again_for_free_but_not_for_ever(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Pain 7: no `retries` are needed for it, and none are used up."""
    monkeypatch.setattr(turn_loop, "RESTART_PAUSE", 0.01)
    shop = Workshop(tmp_path)
    shop.agent("late", writes={"x": 1}, fail={"before_work": True, "first": 3})
    run = shop.run({"preparation_agents": ["late"], "retries": 0})
    assert run.reason == "completed"
    assert len(run.of(AttemptStarted)) == 4
    shop.agent("never", fail={"before_work": True})
    run = shop.run({"preparation_agents": ["never"], "retries": 0})
    assert run.reason == "agent_error:never"
    assert len(run.of(AttemptStarted)) == 4


@pytest.mark.parametrize("exit_code", [0, 1])
def test_a_run_neither_corrects_nor_retries_a_notice(tmp_path: Path, exit_code: int) -> None:
    """Pain 28: one attempt, whatever the workflow allows; the message says when the limit resets."""
    shop = Workshop(tmp_path)
    program = f"import sys; print({LIMIT!r}); sys.exit({exit_code})"
    shop.command("wrapper", sys.executable, "-I", "-S", "-c", program)
    plan = shop.plan({"preparation_agents": ["wrapper"], "retries": 3, "on_missing_state": "continue"})
    run = run_plan(replace(plan, pause_on_provider_failure=False))
    assert [event.kind for event in run.of(AttemptStarted)] == [AttemptKind.FIRST]
    assert run.of(RetryScheduled) == []
    assert "resets at 3:29 PM" in run.turn("wrapper").message
