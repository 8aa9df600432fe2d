"""The Claude Code backend, on lines that version 2.1.197 printed for a stub of its provider.

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
    NoiseSeen,
    OutputEvent,
    ReasoningSaid,
    SessionOpened,
    StepFinished,
    StepStarted,
    TextSaid,
    ToolUsed,
    TurnOrder,
)
from core.backends.claude import ClaudeBackend, ClaudeReader
from core.usage import Usage

RECORDED = Path(__file__).with_name("recorded")
ANSWER = 'Done.\n<state_update>{"payload":{"score":1}}</state_update>'
TOOL = (RECORDED / "claude_tool.jsonl").read_bytes()


def read(data: bytes, model: str | None = None) -> tuple[ClaudeReader, list[OutputEvent]]:
    reader = ClaudeReader(model)
    return reader, [*reader.feed(data), *reader.finish()]


def recorded(name: str) -> tuple[ClaudeReader, list[OutputEvent]]:
    return read((RECORDED / f"{name}.jsonl").read_bytes())


def line(**fields: object) -> bytes:
    return json.dumps(fields).encode() + b"\n"


def test_a_turn_with_a_tool_call_is_told_in_order() -> None:
    reader, events = read(TOOL)
    assert events[1:] == [
        StepStarted("claude-opus-4-8"),
        TextSaid("I will look."),
        ToolUsed("Bash", "echo hi; exit 3", "hi", failed=True, exit_code=3),
        StepFinished("", Usage(100, 0, 0, 40, 7)),
        StepStarted("claude-opus-4-8"),
        TextSaid(ANSWER),
        StepFinished("end_turn", Usage(100, 44, 0, 40, 7, 0.0022275000000000003)),
    ]
    assert isinstance(events[0], SessionOpened)
    assert reader.runaway is None
    verdict = reader.judge(0, None, "")
    assert verdict.text == ANSWER
    assert verdict.failure is None


def test_the_steps_together_used_what_the_last_line_says() -> None:
    """Pain 24."""
    _, events = read(TOOL)
    used = sum((event.usage for event in events if isinstance(event, StepFinished)), Usage())
    assert used == Usage(200, 44, 0, 80, 14, 0.0022275000000000003)


@given(st.lists(st.integers(0, len(TOOL)), max_size=6))
def test_bytes_may_be_cut_anywhere(cuts: list[int]) -> None:
    reader = ClaudeReader()
    places = [0, *sorted(cuts), len(TOOL)]
    events: list[OutputEvent] = []
    for start, end in itertools.pairwise(places):
        events += reader.feed(TOOL[start:end])
    assert [*events, *reader.finish()] == read(TOOL)[1]


@pytest.mark.parametrize(
    ("name", "words", "transient"),
    [("claude_401", "Log in with `claude auth login`", False), ("claude_529", "failed (529)", True)],
)
def test_an_error_of_the_provider_is_said_in_words(name: str, words: str, *, transient: bool) -> None:
    reader, events = recorded(name)
    retries = [event for event in events if isinstance(event, ErrorReported)]
    assert len(retries) == 1
    assert "asks again, 1 of 1" in retries[0].message
    failure = reader.judge(1, None, "").failure
    assert failure is not None
    assert words in failure.message
    assert failure.transient is transient
    assert failure.provider_wide is not transient


def test_what_claude_code_says_itself_is_no_text_of_the_assistant() -> None:
    reader, events = recorded("claude_401")
    assert not any(isinstance(event, TextSaid | StepStarted) for event in events)
    assert reader.judge(1, None, "").text == ""


def test_an_answer_that_was_cut_off_is_truncated_and_not_a_failure() -> None:
    reader, _ = recorded("claude_max_tokens")
    verdict = reader.judge(1, None, "")
    assert verdict.truncated
    assert verdict.failure is None


def test_a_missing_last_line_is_a_failure_whatever_the_exit_code() -> None:
    """Pains 4, 5."""
    cut = TOOL[: TOOL.rindex(b'{"type":"result"') + 40]
    reader, events = read(cut)
    assert isinstance(events[-1], NoiseSeen)
    failure = reader.judge(0, None, "").failure
    assert failure is not None
    assert "output is missing" in failure.message


def test_a_limit_of_the_account_is_not_retried() -> None:
    said = "You've hit your session limit · resets 3pm"
    reader, _ = read(
        line(type="result", subtype="success", is_error=True, api_error_status=429, result=said, usage={})
    )
    failure = reader.judge(1, None, "").failure
    assert failure is not None
    assert not failure.transient
    assert failure.provider_wide
    assert "limit of the account" in failure.message
    assert "It resets at 3pm." in failure.message


LIMITED = {"status": "rejected", "resetsAt": 1778565600, "rateLimitType": "five_hour"}


@pytest.mark.parametrize(
    ("info", "wide"),
    [
        (LIMITED, True),
        ({"status": "allowed", "isUsingOverage": True, "overageStatus": "rejected"}, True),
        ({**LIMITED, "status": "allowed_warning"}, False),
        ({**LIMITED, "status": "allowed", "isUsingOverage": False, "overageStatus": "rejected"}, False),
    ],
)
def test_a_used_up_limit_with_the_words_of_a_rate_limit_is_told_by_its_own_line(
    info: dict[str, object], *, wide: bool
) -> None:
    """Pain 22: a 429 alone is a rate limit, which passes."""
    said = "API Error: Rate limit reached"
    reader, _ = read(
        line(type="rate_limit_event", rate_limit_info=info)
        + line(type="result", subtype="success", is_error=True, api_error_status=429, result=said, usage={})
    )
    failure = reader.judge(1, None, "").failure
    assert failure is not None
    assert (failure.provider_wide, failure.transient) == (wide, not wide)
    assert ("It resets at" in failure.message) is ("resetsAt" in info and wide)


def made_up(said: str, kind: str) -> bytes:
    """What Claude Code says itself in the place of the model."""
    content = [{"type": "text", "text": said}]
    return line(type="assistant", error=kind, message={"id": "m", "model": "<synthetic>", "content": content})


@pytest.mark.parametrize(
    ("said", "kind"),
    [
        ("You've hit your limit · resets 8pm (Australia/Sydney)", "rate_limit"),
        ("Claude AI usage limit reached|1755615600", ""),
        ("Credit balance is too low", "billing_error"),
        (
            "Your organization has disabled Claude subscription access for Claude Code",
            "oauth_org_not_allowed",
        ),
        ("Failed to authenticate: OAuth session expired and could not be refreshed", ""),
    ],
)
@pytest.mark.parametrize("is_error", [False, True])
@pytest.mark.parametrize("exit_code", [0, 1])
def test_a_notice_in_the_place_of_the_answer_is_a_failure_of_the_provider(
    said: str, kind: str, exit_code: int, *, is_error: bool
) -> None:
    """Pain 28: also with exit code 0 and `success`, as versions of Claude Code have told it."""
    end = line(type="result", subtype="success", is_error=is_error, result=said, usage={}, total_cost_usd=0)
    reader, events = read(made_up(said, kind) + end)
    failure = reader.judge(exit_code, None, "").failure
    assert failure is not None
    assert failure.provider_wide
    assert not failure.transient
    # Nothing was asked of the model: here 0 is known.
    assert [event.usage for event in events if isinstance(event, StepFinished)] == [Usage(cost_usd=0.0)]


def test_a_rate_limit_in_the_place_of_the_answer_is_retried_and_not_corrected() -> None:
    """Pain 28, for a limit that passes."""
    said = "API Error: Rate limit reached"
    end = line(type="result", subtype="success", is_error=False, result=said, usage={})
    failure = read(made_up(said, "rate_limit") + end)[0].judge(0, None, "").failure
    assert failure is not None
    assert failure.transient
    assert not failure.provider_wide


def test_an_answer_about_limits_is_an_answer() -> None:
    """Pain 28, the other way round: also after a refusal that Claude Code got over."""
    said = f"You've hit your limit is what the dialog says now. {ANSWER}"
    message = {"id": "m2", "model": "claude-opus-4-8", "content": [{"type": "text", "text": said}]}
    reader, _ = read(
        made_up("API Error: Rate limit reached", "rate_limit")
        + line(type="assistant", message=message)
        + line(type="result", subtype="success", is_error=False, result=said, usage={})
    )
    verdict = reader.judge(0, None, "")
    assert verdict.failure is None
    assert verdict.text == said


def test_a_cost_of_0_for_used_tokens_is_an_unknown_price() -> None:
    """Pain 24: also where all of them were told by the steps before."""
    used = {"input_tokens": 100}
    message = {"id": "m", "model": "local", "usage": used, "content": []}
    more = {"id": "n", "model": "local", "usage": {}, "content": []}
    _, events = read(
        line(type="assistant", message=message)
        + line(type="assistant", message=more)
        + line(type="result", subtype="success", result="", usage=used, total_cost_usd=0)
    )
    usages = [event.usage for event in events if isinstance(event, StepFinished)]
    assert sum(usages, Usage()) == Usage(100)


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"subtype": "error_max_turns"}, "--max-turns"),
        ({"subtype": "error_max_budget_usd"}, "--max-budget-usd"),
        (
            {"subtype": "error_during_execution", "errors": ["No conversation found with session ID: x"]},
            "no longer knows the session",
        ),
        (
            {"subtype": "success", "result": "Not logged in · Please run /login"},
            "login or key is not accepted",
        ),
    ],
)
def test_other_ends_have_words_of_their_own(fields: dict[str, object], words: str) -> None:
    reader, _ = read(line(type="result", is_error=True, usage={}, **fields))
    failure = reader.judge(1, None, "").failure
    assert failure is not None
    assert words in failure.message


def test_without_a_result_the_end_of_stderr_is_told() -> None:
    failure = ClaudeReader().judge(1, None, "error: unknown option '--nonsense'\n").failure
    assert failure is not None
    assert (
        failure.message == "Claude Code ended with exit code 1. It said: error: unknown option '--nonsense'"
    )


def test_a_kill_by_the_system_is_named_as_such() -> None:
    """Pain 33."""
    failure = ClaudeReader().judge(None, 9, "").failure
    assert failure is not None
    assert "lack of memory" in failure.message
    assert failure.transient


def test_subagents_say_nothing_that_counts_but_their_tools_are_shown() -> None:
    inside = {"parent_tool_use_id": "toolu_0"}
    reader, events = read(
        line(type="assistant", message={"id": "m1", "content": [{"type": "thinking", "thinking": "Hm."}]})
        + line(
            type="assistant",
            message={
                "id": "s1",
                "content": [
                    {"type": "text", "text": "from inside"},
                    {"type": "tool_use", "id": "t", "name": "Read", "input": {"file_path": "/project/a.py"}},
                ],
            },
            **inside,
        )
        + line(
            type="user",
            message={
                "content": [
                    {
                        "type": "tool_result",
                        "tool_use_id": "t",
                        "content": [{"type": "text", "text": "code"}, {"type": "image"}],
                    }
                ]
            },
            **inside,
        )
    )
    assert events == [
        StepStarted(""),
        ReasoningSaid("Hm."),
        ToolUsed("Read", "/project/a.py", "code\n[no text]"),
    ]
    assert reader.judge(0, None, "").text == ""


def test_lines_of_unexpected_shape_do_no_harm() -> None:
    odd = line(type="assistant", message=None) + line(type="user", message={"content": "text"})
    odd += line(type="result", usage=None, result=None) + line(type="news") + b'["list"]\n'
    reader, events = read(odd)
    assert NoiseSeen(b'["list"]\n') in events
    assert reader.judge(0, None, "").failure is not None


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    path = tmp_path / ("claude.exe" if os.name == "nt" else "claude")
    path.touch(mode=0o755)
    monkeypatch.setenv("OPENLOOP_CLAUDE", str(path))
    return str(path)


def order(folder: Path, session: str | None = None, model: str | None = None, **keys: object) -> TurnOrder:
    agent = AgentDefinition.model_validate({"name": "vera", **keys})
    return TurnOrder(agent, "audit: vera", folder, folder, model, session)


def test_the_command_edits_files_and_continues_its_session(program: str, tmp_path: Path) -> None:
    command = ClaudeBackend().command(order(tmp_path, "s-1", "opus", variant="high", extra_args=["--bare"]))
    assert command.argv == (
        program,
        "-p",
        "--output-format=stream-json",
        "--verbose",
        "--permission-mode=acceptEdits",
        "--resume=s-1",
        "--model=opus",
        "--effort=high",
        "--bare",
    )


def test_an_agent_may_choose_its_permissions(program: str, tmp_path: Path) -> None:
    argv = ClaudeBackend().command(order(tmp_path, extra_args=["--permission-mode=plan"])).argv
    assert argv == (program, "-p", "--output-format=stream-json", "--verbose", "--permission-mode=plan")


@pytest.mark.usefixtures("program")
@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--resume=x"], "--resume=x cannot be used by the agent vera"),
        ("--bare", "must be a list of texts"),
        (["--max-turns", 3], "must be a list of texts"),
    ],
)
def test_arguments_that_cannot_be_are_found_before_the_run(
    arguments: object, words: str, tmp_path: Path
) -> None:
    turn = order(tmp_path, extra_args=arguments)
    (problem,) = ClaudeBackend().check([turn, turn])
    assert words in problem.message


def test_a_missing_cli_is_said_with_how_to_install_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENLOOP_CLAUDE", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    (problem,) = ClaudeBackend().check([order(tmp_path)])
    assert problem.message == "Claude Code is not installed, or not in PATH."
    assert "npm install -g @anthropic-ai/claude-code" in problem.suggestion
    with pytest.raises(FileNotFoundError, match="not installed"):
        ClaudeBackend().command(order(tmp_path))
    assert ClaudeBackend().check([]) == []
