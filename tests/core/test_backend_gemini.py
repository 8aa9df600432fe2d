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
    assert "Start `gemini` once and log in" in failure.message
    assert failure.message.endswith('It said: "stub says 401"')
    assert not failure.transient
    assert failure.provider_wide


def test_an_overloaded_provider_is_worth_a_retry() -> None:
    message = '[API Error: {"error":{"code":503,"message":"busy","status":"UNAVAILABLE"}}]'
    reader, _ = read(line(type="result", status="error", error={"type": "unknown", "message": message}))
    failure = reader.judge(247, None, "").failure
    assert failure is not None
    assert failure.transient
    assert not failure.provider_wide


@pytest.mark.parametrize(
    ("message", "words"),
    [
        (
            "[API Error: You have exhausted your capacity on this model. "
            "Your quota will reset after 2h52m39s.]",
            "It resets after 2h52m39s.",
        ),
        ("[API Error: You have exhausted your daily quota on this model.]", "usage limit of the account"),
        (
            '[API Error: {"error":{"code":429,"message":"You exceeded your current quota","details":'
            '[{"quotaId":"GenerateRequestsPerDayPerProjectPerModel-FreeTier"}]}}]',
            "usage limit of the account",
        ),
    ],
)
def test_what_stops_every_agent_of_the_provider_is_told_as_such(message: str, words: str) -> None:
    """Pain 22."""
    reader, _ = read(line(type="result", status="error", error={"type": "x", "message": message}))
    failure = reader.judge(1, None, "").failure
    assert failure is not None
    assert failure.provider_wide
    assert not failure.transient
    assert words in failure.message


def test_a_quota_of_a_minute_is_retried() -> None:
    """Pain 22, the other way round."""
    message = (
        '[API Error: {"error":{"code":429,"message":"You exceeded your current quota. Please retry in '
        '22.3s.","details":[{"quotaId":"GenerateRequestsPerMinutePerProjectPerModel-FreeTier"}]}}]'
    )
    reader, _ = read(line(type="result", status="error", error={"type": "x", "message": message}))
    failure = reader.judge(1, None, "").failure
    assert failure is not None
    assert failure.transient
    assert not failure.provider_wide


def test_a_notice_in_the_place_of_the_answer_is_a_failure_of_the_provider() -> None:
    """Pain 28."""
    said = "You have exhausted your daily quota on this model."
    told = line(type="message", role="assistant", content=said, delta=True)
    failure = read(told + line(type="result", status="success", stats={}))[0].judge(0, None, "").failure
    assert failure is not None
    assert failure.provider_wide


def test_a_reason_at_the_end_of_standard_error_is_found() -> None:
    """Pain 22."""
    stderr = (
        "Error when talking to Gemini API Full report available at: /tmp/x.json TerminalQuotaError: You have "
        "exhausted your capacity on this model. Your quota will reset after 1h49m8s.\n"
        "    at classifyGoogleError (file:///x/googleQuotaErrors.js:252:28)\n"
    )
    failure = GeminiReader().judge(1, None, stderr).failure
    assert failure is not None
    assert failure.provider_wide
    assert "after 1h49m8s" in failure.message


def test_a_text_that_nothing_followed_is_told_and_the_end_is_missing() -> None:
    """Pains 4, 5."""
    reader, events = read(line(type="message", role="assistant", content="half an ans", delta=True))
    assert events == [StepStarted(""), TextSaid("half an ans")]
    failure = reader.judge(0, None, "").failure
    assert failure is not None
    assert "output is missing" in failure.message


@pytest.mark.parametrize(
    ("exit_code", "stderr", "words"),
    [
        (41, "Invalid auth method selected.", "login or key is not accepted"),
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
    """Pain 33."""
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
