"""The Gemini CLI backend, on lines that version 0.61.0 printed for a stub of its provider.

It has not been run against the real service.
"""

from __future__ import annotations

import itertools
import json
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.agent import AgentDefinition
from core.backends.base import (
    ErrorReported,
    OutputEvent,
    SessionOpened,
    StepFinished,
    StepStarted,
    TextSaid,
    ToolUsed,
    TurnOrder,
)
from core.backends.gemini import GeminiBackend, GeminiReader
from core.usage import Usage

RECORDED = Path(__file__).with_name("recorded")
ANSWER = 'Done.\n<state_update>{"payload":{"score":1}}</state_update>'
TOOL = (RECORDED / "gemini_tool.jsonl").read_bytes()


def read(data: bytes) -> tuple[GeminiReader, list[OutputEvent]]:
    reader = GeminiReader()
    return reader, [*reader.feed(data), *reader.finish()]


def line(**fields: object) -> bytes:
    return json.dumps(fields).encode() + b"\n"


def test_a_turn_with_a_tool_call_is_told_in_order_with_whole_texts() -> None:
    reader, events = read(TOOL)
    assert isinstance(events[0], SessionOpened)
    assert events[1:] == [
        StepStarted("gemini-2.5-pro"),
        TextSaid("I will look."),
        ToolUsed("run_shell_command", "echo hi; exit 3", "hi"),
        StepStarted("gemini-2.5-pro"),
        TextSaid(ANSWER),
        StepFinished("success", Usage(214, 44, 10, 80)),
    ]
    verdict = reader.judge(0, None, "")
    assert verdict.text == ANSWER
    assert verdict.failure is None
    assert reader.runaway is None


@given(st.lists(st.integers(0, len(TOOL)), max_size=6))
def test_bytes_may_be_cut_anywhere(cuts: list[int]) -> None:
    reader = GeminiReader()
    places = [0, *sorted(cuts), len(TOOL)]
    events: list[OutputEvent] = []
    for start, end in itertools.pairwise(places):
        events += reader.feed(TOOL[start:end])
    assert [*events, *reader.finish()] == read(TOOL)[1]


def test_an_error_of_the_provider_is_said_in_words() -> None:
    reader, _ = read((RECORDED / "gemini_401.jsonl").read_bytes())
    failure = reader.judge(145, None, "").failure
    assert failure is not None
    assert "refused the key or the login (401)" in failure.message
    assert failure.message.endswith("It said: stub says 401")
    assert not failure.transient


def test_an_overloaded_provider_is_worth_a_retry() -> None:
    message = '[API Error: {"error":{"code":503,"message":"busy","status":"UNAVAILABLE"}}]'
    reader, _ = read(line(type="result", status="error", error={"type": "unknown", "message": message}))
    failure = reader.judge(247, None, "").failure
    assert failure is not None
    assert failure.transient


def test_a_text_that_nothing_followed_is_told_and_the_end_is_missing() -> None:
    reader, events = read(line(type="message", role="assistant", content="half an ans", delta=True))
    assert events == [StepStarted(""), TextSaid("half an ans")]
    failure = reader.judge(0, None, "").failure
    assert failure is not None
    assert "output is missing" in failure.message


@pytest.mark.parametrize(
    ("exit_code", "stderr", "words"),
    [
        (41, "Invalid auth method selected.", "is not logged in"),
        (53, "", "maxSessionTurns"),
        (55, "Gemini CLI is not running in a trusted directory.", "does not trust the working directory"),
        (42, "Error resuming session: Invalid session identifier", "no longer knows the session"),
        (42, "\x1b[31mUnknown argument: x\x1b[0m", "exit code 42. It said: Unknown argument: x"),
    ],
)
def test_each_exit_code_has_its_meaning(exit_code: int, stderr: str, words: str) -> None:
    failure = GeminiReader().judge(exit_code, None, stderr).failure
    assert failure is not None
    assert words in failure.message


def test_a_kill_by_the_system_is_named_as_such() -> None:
    failure = GeminiReader().judge(None, 9, "").failure
    assert failure is not None
    assert "lack of memory" in failure.message


def test_a_refused_tool_and_a_warning_are_shown() -> None:
    _, events = read(
        line(type="tool_use", tool_name="write_file", tool_id="1", parameters={"file_path": "/p/a"})
        + line(type="tool_result", tool_id="1", status="error", error={"type": "x", "message": "denied"})
        + line(type="error", severity="warning", message="Loop detected")
    )
    assert events == [
        StepStarted(""),
        ToolUsed("write_file", "/p/a", "denied", failed=True),
        ErrorReported("Loop detected", transient=True),
    ]


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    path = tmp_path / ("gemini.exe" if os.name == "nt" else "gemini")
    path.touch(mode=0o755)
    monkeypatch.setenv("OPENLOOP_GEMINI", str(path))
    return str(path)


def order(folder: Path, session: str | None = None, model: str | None = None, **keys: object) -> TurnOrder:
    agent = AgentDefinition.model_validate({"name": "vera", **keys})
    return TurnOrder(agent, "audit: vera", folder, folder, model, session)


def test_the_command_edits_files_and_continues_its_session(program: str, tmp_path: Path) -> None:
    assert GeminiBackend().command(order(tmp_path, "s-1", "gemini-2.5-pro")).argv == (
        program,
        "--output-format=stream-json",
        "--approval-mode=auto_edit",
        "--resume=s-1",
        "--model=gemini-2.5-pro",
    )


def test_an_agent_may_choose_its_permissions(program: str, tmp_path: Path) -> None:
    argv = GeminiBackend().command(order(tmp_path, extra_args=["--yolo", "--skip-trust"])).argv
    assert argv == (program, "--output-format=stream-json", "--yolo", "--skip-trust")
    assert GeminiBackend().check([order(tmp_path)]) == []
