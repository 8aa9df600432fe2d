"""The Codex backend, on lines that version 0.171.0 printed for a stub of its provider.

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
    ReasoningSaid,
    SessionOpened,
    StepFinished,
    StepStarted,
    TextSaid,
    ToolUsed,
    TurnOrder,
)
from core.backends.codex import CodexBackend, CodexReader
from core.usage import Usage

RECORDED = Path(__file__).with_name("recorded")
ANSWER = 'Done.\n<state_update>{"payload":{"score":1}}</state_update>'
TOOL = (RECORDED / "codex_tool.jsonl").read_bytes()


def read(data: bytes, model: str | None = None) -> tuple[CodexReader, list[OutputEvent]]:
    reader = CodexReader(model)
    return reader, [*reader.feed(data), *reader.finish()]


def recorded(name: str) -> tuple[CodexReader, list[OutputEvent]]:
    return read((RECORDED / f"{name}.jsonl").read_bytes())


def item(**fields: object) -> bytes:
    return json.dumps({"type": "item.completed", "item": {"id": "item_1", **fields}}).encode() + b"\n"


def test_a_turn_with_a_tool_call_is_told_in_order() -> None:
    reader, events = read(TOOL, "gpt-5")
    assert isinstance(events[0], SessionOpened)
    assert isinstance(events[1], ErrorReported)  # a warning about the model, which is not the end
    assert events[2:] == [
        StepStarted("gpt-5"),
        TextSaid("I will look."),
        ToolUsed("shell", "echo hi; exit 3", "hi\n", failed=True, exit_code=3),
        ReasoningSaid("**Thinking** about it"),
        TextSaid(ANSWER),
        StepFinished("completed", Usage(214, 34, 10, 80)),
    ]
    verdict = reader.judge(0, None, "")
    assert verdict.text == ANSWER
    assert verdict.failure is None
    assert reader.runaway is None


@given(st.lists(st.integers(0, len(TOOL)), max_size=6))
def test_bytes_may_be_cut_anywhere(cuts: list[int]) -> None:
    reader = CodexReader()
    places = [0, *sorted(cuts), len(TOOL)]
    events: list[OutputEvent] = []
    for start, end in itertools.pairwise(places):
        events += reader.feed(TOOL[start:end])
    assert [*events, *reader.finish()] == read(TOOL)[1]


def test_a_continued_thread_is_charged_only_for_what_is_new(tmp_path: Path) -> None:
    """Pain 24."""
    backend = CodexBackend()
    thread = b'{"type":"thread.started","thread_id":"t"}\n'
    used = []
    for tokens in (147, 294):
        usage = {"input_tokens": tokens, "cached_input_tokens": 40, "output_tokens": tokens // 7}
        end = json.dumps({"type": "turn.completed", "usage": usage}).encode()
        reader = backend.reader(order(tmp_path))
        events = [*reader.feed(thread + end), *reader.finish()]
        used += [event.usage for event in events if isinstance(event, StepFinished)]
    assert used == [Usage(107, 21, 0, 40), Usage(147, 21, 0, 0)]


@pytest.mark.parametrize(
    ("name", "words", "transient"),
    [
        ("codex_401", "Log in with `codex login`", False),
        ("codex_400", "refused the request (400): stub says 400", False),
        ("codex_429", "takes no more requests for now (429)", True),
    ],
)
def test_an_error_of_the_provider_is_said_in_words(name: str, words: str, *, transient: bool) -> None:
    reader, _ = recorded(name)
    failure = reader.judge(1, None, "").failure
    assert failure is not None
    assert words in failure.message
    assert failure.transient is transient
    assert failure.provider_wide is (name == "codex_401")


def failed(message: str) -> bytes:
    """The end of a turn as Codex tells it, twice."""
    return b"".join(
        json.dumps(told).encode() + b"\n"
        for told in (
            {"type": "error", "message": message},
            {"type": "turn.failed", "error": {"message": message}},
        )
    )


@pytest.mark.parametrize(
    ("message", "words"),
    [
        (
            "You've hit your usage limit. To get more access now, send a request to your admin or try again "
            "at 12:16 PM.",
            "It resets at 12:16 PM.",
        ),
        (
            "You've hit your usage limit. Upgrade to Pro (https://openai.com/chatgpt/pricing) or try again "
            "in 2 days 17 hours 14 minutes.",
            "It resets in 2 days 17 hours 14 minutes.",
        ),
        ("Quota exceeded. Check your plan and billing details.", "no credit left"),
        (
            "To use Codex with your ChatGPT plan, upgrade to Plus: https://chatgpt.com/explore/plus.",
            "usage limit of the account",
        ),
        (
            "Your access token could not be refreshed because your refresh token was revoked. Please log out "
            "and sign in again.",
            "`codex login`",
        ),
        ("exceeded retry limit, last status: 401 Unauthorized, request id: 994-OSL", "`codex login`"),
    ],
)
def test_what_stops_every_agent_of_the_provider_is_told_as_such(message: str, words: str) -> None:
    """Pain 22."""
    failure = read(failed(message))[0].judge(1, None, "").failure
    assert failure is not None
    assert failure.provider_wide
    assert not failure.transient
    assert words in failure.message
    assert failure.detail == message


@pytest.mark.parametrize(
    "message",
    ["Selected model is at capacity. Please try a different model.", "stream disconnected before completion"],
)
def test_what_passes_stops_no_other_agent(message: str) -> None:
    """Pain 22, the other way round."""
    failure = read(failed(message))[0].judge(1, None, "").failure
    assert failure is not None
    assert not failure.provider_wide


def test_a_notice_in_the_place_of_the_answer_is_a_failure_of_the_provider() -> None:
    """Pain 28."""
    notice = "You've hit your usage limit. Upgrade to Pro to continue or try again at 3:29 PM."
    end = b'{"type":"turn.completed","usage":{}}\n'
    failure = read(item(type="agent_message", text=notice) + end)[0].judge(0, None, "").failure
    assert failure is not None
    assert failure.provider_wide
    answer = f"The dialog says: {notice}\n{ANSWER}"
    assert read(item(type="agent_message", text=answer) + end)[0].judge(0, None, "").failure is None


def test_a_reason_at_the_end_of_standard_error_is_found() -> None:
    """Pain 22: it stands behind pages of start-up lines."""
    log = "\n".join(f"2026-09-17T13:45:{n:02d} codex_core: line {n}" for n in range(40))
    stderr = f"{log}\nERROR: You've hit your usage limit. Try again at Sep 20th, 2026 4:00 PM."
    failure = CodexReader().judge(1, None, stderr).failure
    assert failure is not None
    assert failure.provider_wide
    assert "It resets at Sep 20th, 2026 4:00 PM." in failure.message


def test_asking_again_is_told_while_it_happens() -> None:
    _, events = recorded("codex_401")
    assert any(isinstance(event, ErrorReported) and "asks again" in event.message for event in events)


def test_an_answer_that_was_cut_off_is_truncated_and_not_a_failure() -> None:
    reader, _ = recorded("codex_max_tokens")
    verdict = reader.judge(1, None, "")
    assert verdict.truncated
    assert verdict.failure is None


def test_a_missing_last_line_is_a_failure_whatever_the_exit_code() -> None:
    """Pains 4, 5."""
    reader, _ = read(TOOL[: TOOL.rindex(b'{"type":"turn.completed"') + 30])
    failure = reader.judge(0, None, "").failure
    assert failure is not None
    assert "output is missing" in failure.message


@pytest.mark.parametrize(
    ("stderr", "words", "before_work"),
    [
        (
            "Error: thread/resume failed: no rollout found for thread id x",
            "no longer knows the session",
            False,
        ),
        ("Error: failed to initialize state runtime: database is locked", "open its database", True),
        ("error: unexpected argument '--x' found", "exit code 2. It said: error: unexpected argument", False),
    ],
)
def test_a_failed_start_is_explained_by_stderr(stderr: str, words: str, *, before_work: bool) -> None:
    failure = CodexReader().judge(2, None, stderr).failure
    assert failure is not None
    assert words in failure.message
    assert failure.before_work is before_work


def test_a_kill_by_the_system_is_named_as_such() -> None:
    """Pain 33."""
    failure = CodexReader().judge(None, 9, "").failure
    assert failure is not None
    assert "lack of memory" in failure.message


@pytest.mark.parametrize(
    ("line", "event"),
    [
        (
            item(
                type="file_change",
                changes=[{"path": "/p/a.py", "kind": "add"}, {"path": "/p/b.py", "kind": "update"}],
                status="completed",
            ),
            ToolUsed(
                "edit",
                "/p/a.py, /p/b.py",
                "add /p/a.py\nupdate /p/b.py",
                edited=("/p/a.py", "/p/b.py"),
            ),
        ),
        (
            item(
                type="mcp_tool_call",
                server="docs",
                tool="find",
                arguments={"q": 1},
                error={"message": "down"},
                status="failed",
            ),
            ToolUsed("docs.find", '{"q":1}', "down", failed=True),
        ),
        (
            item(
                type="todo_list",
                items=[{"text": "one", "completed": True}, {"text": "two", "completed": False}],
            ),
            ToolUsed("todo", "1 of 2 done", "[x] one\n[ ] two"),
        ),
        (
            item(
                type="command_execution",
                command="/usr/bin/zsh -lc 'rm -rf \"x\"'",
                aggregated_output="",
                exit_code=None,
                status="declined",
            ),
            ToolUsed("shell", 'rm -rf "x"', "The command was declined.", failed=True),
        ),
        (
            item(type="web_search", query="bun sqlite"),
            ToolUsed("web_search", "bun sqlite", '{\n  "query": "bun sqlite"\n}'),
        ),
    ],
)
def test_each_kind_of_tool_is_shown_in_its_own_way(line: bytes, event: ToolUsed) -> None:
    assert read(line)[1] == [event]


def test_text_before_a_last_tool_call_is_not_the_answer() -> None:
    reader, _ = read(
        item(type="agent_message", text="I begin.")
        + item(type="web_search", query="x")
        + b'{"type":"turn.completed","usage":{}}\n'
    )
    assert reader.judge(0, None, "").text == ""


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    path = tmp_path / ("codex.exe" if os.name == "nt" else "codex")
    path.touch(mode=0o755)
    monkeypatch.setenv("OPENLOOP_CODEX", str(path))
    return str(path)


def order(folder: Path, session: str | None = None, model: str | None = None, **keys: object) -> TurnOrder:
    agent = AgentDefinition.model_validate({"name": "vera", **keys})
    return TurnOrder(agent, "audit: vera", folder, folder, model, session)


def test_the_command_stays_in_the_sandbox_and_continues_its_thread(program: str, tmp_path: Path) -> None:
    command = CodexBackend().command(order(tmp_path, "t-1", "gpt-5", variant="high"))
    assert command.argv == (
        *(program, "exec", "--json", "--color=never", "--skip-git-repo-check", f"--cd={tmp_path}"),
        *("--sandbox=workspace-write", "--model=gpt-5", "-c", "model_reasoning_effort=high"),
        *("resume", "t-1", "-"),
    )


@pytest.mark.usefixtures("program")
def test_an_agent_may_choose_its_sandbox(tmp_path: Path) -> None:
    argv = CodexBackend().command(order(tmp_path, extra_args=["-s", "read-only"])).argv
    assert argv[-3:] == ("-s", "read-only", "-")
    assert "--sandbox=workspace-write" not in argv
    assert CodexBackend().check([order(tmp_path)]) == []
