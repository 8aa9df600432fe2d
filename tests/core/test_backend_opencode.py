"""The opencode backend: its command, what its output means, how attempts end, and the real CLI."""

from __future__ import annotations

import itertools
import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.agent import AgentDefinition
from core.backends.base import (
    ErrorReported,
    Failure,
    NoiseSeen,
    OutputEvent,
    ReasoningSaid,
    SessionOpened,
    StepFinished,
    StepStarted,
    TextSaid,
    ToolUsed,
    TurnOrder,
    Verdict,
)
from core.backends.opencode import OpencodeBackend, headless_environment
from core.backends.opencode_reader import OpencodeReader
from core.config import OpencodeDefaults
from core.problems import Severity
from core.usage import Usage

SESSION = "ses_dd8c31f0affeQ2"
REJECTED = "\x1b[93m\x1b[1m! \x1b[0mpermission requested: bash (echo done); auto-rejecting\n"


# --- lines as opencode 1.18 prints them ----------------------------------------------------------------


def _line(kind: str, **more: object) -> bytes:
    line = {"type": kind, "timestamp": 1795954029936, "sessionID": SESSION, **more}
    return json.dumps(line, ensure_ascii=False).encode() + b"\n"


def _part(kind: str, part_type: str, message: str, **more: object) -> bytes:
    part = {"id": "prt_1", "messageID": message, "sessionID": SESSION, "type": part_type, **more}
    return _line(kind, part=part)


def step_start(message: str = "msg_1") -> bytes:
    return _part("step_start", "step-start", message)


def text(said: str, message: str = "msg_1") -> bytes:
    return _part("text", "text", message, text=said, time={"start": 1795954029897, "end": 1795954029906})


def reasoning(said: str, message: str = "msg_1") -> bytes:
    return _part("reasoning", "reasoning", message, text=said, time={"start": 1, "end": 2})


def tool_use(tool: str, state: Mapping[str, object], message: str = "msg_1") -> bytes:
    return _part("tool_use", "tool", message, tool=tool, callID="call_1", state=state)


def bash(command: str, output: str, exit_code: int = 0) -> bytes:
    return tool_use(
        "bash",
        {
            "status": "completed",
            "input": {"command": command, "description": "say it"},
            "output": output,
            "metadata": {"output": output, "exit": exit_code, "truncated": False},
            "title": command,
            "time": {"start": 1795954029000, "end": 1795954030500},
        },
    )


def step_finish(reason: str, message: str = "msg_1", **tokens: int) -> bytes:
    cache = {"write": tokens.pop("write", 0), "read": tokens.pop("read", 0)}
    told = {"total": 133, "input": 111, "output": 22, "reasoning": 0, **tokens, "cache": cache}
    return _part("step_finish", "step-finish", message, reason=reason, tokens=told, cost=0.000663)


def error(name: str, message: str, **data: object) -> bytes:
    return _line("error", error={"name": name, "data": {"message": message, **data}})


ANSWER = step_start() + text("It is done.") + step_finish("stop")


def _judge(
    output: bytes,
    exit_code: int | None = 0,
    *,
    signal: int | None = None,
    stderr: str = "",
    model: str = "p/m",
) -> Verdict:
    reader = OpencodeReader(model)
    reader.feed(output)
    reader.finish()
    return reader.judge(exit_code, signal, stderr)


def _failure(
    output: bytes, exit_code: int | None = 0, *, signal: int | None = None, stderr: str = ""
) -> Failure:
    failure = _judge(output, exit_code, signal=signal, stderr=stderr).failure
    assert failure is not None
    return failure


# --- reading -------------------------------------------------------------------------------------------

A_RUN = (
    step_start()
    + reasoning("let me think")
    + text("I look first. 🙂")
    + bash("echo hi\n  && false", "hi\n", 1)
    + step_finish("tool-calls", input=600, output=30, reasoning=20, read=400)
    + b"a plugin prints\nsomething\n"
    + step_start("msg_2")
    + tool_use(
        "read",
        {"status": "error", "input": {"filePath": "src/a.py"}, "error": "no such file", "time": {}},
        "msg_2",
    )
    + text('Done.\n<state_update>{"payload": {"é": "日本"}}</state_update>', "msg_2")
    + step_finish("stop", "msg_2")
)
A_RUN_EVENTS: list[OutputEvent] = [
    SessionOpened(SESSION),
    StepStarted(),
    ReasoningSaid("let me think"),
    TextSaid("I look first. 🙂"),
    ToolUsed("bash", "echo hi && false", "hi\n", failed=True, seconds=1.5, exit_code=1),
    StepFinished("tool-calls", Usage(600, 30, 20, 400, 0, 0.000663)),
    NoiseSeen(b"a plugin prints\nsomething\n"),
    StepStarted(),
    ToolUsed("read", "src/a.py", "no such file", failed=True),
    TextSaid('Done.\n<state_update>{"payload": {"é": "日本"}}</state_update>'),
    StepFinished("stop", Usage(111, 22, cost_usd=0.000663)),
]


def _events(chunks: Iterable[bytes]) -> list[OutputEvent]:
    reader = OpencodeReader()
    events: list[OutputEvent] = []
    for chunk in chunks:
        events += reader.feed(chunk)
    return [*events, *reader.finish()]


def _noise_joined(events: Sequence[OutputEvent]) -> list[OutputEvent]:
    joined: list[OutputEvent] = []
    for event in events:
        last = joined[-1] if joined else None
        if isinstance(event, NoiseSeen) and isinstance(last, NoiseSeen):
            joined[-1] = NoiseSeen(last.data + event.data)
        else:
            joined.append(event)
    return joined


@given(st.sets(st.integers(1, len(A_RUN) - 1), max_size=30))
def test_a_run_reads_the_same_wherever_its_bytes_are_cut(cuts: set[int]) -> None:
    edges = [0, *sorted(cuts), len(A_RUN)]
    chunks = [A_RUN[start:end] for start, end in itertools.pairwise(edges)]
    assert _noise_joined(_events(chunks)) == A_RUN_EVENTS


def test_a_run_reads_the_same_byte_by_byte() -> None:
    events = _events(A_RUN[index : index + 1] for index in range(len(A_RUN)))
    assert _noise_joined(events) == A_RUN_EVENTS


@pytest.mark.parametrize(
    ("given", "title"),
    [
        ({"filePath": "{workdir}/src/a.py", "content": "x"}, "src/a.py"),
        ({"filePath": "{workdir}-other/a.py"}, "{workdir}-other/a.py"),
        ({"command": "cat {workdir}/a.py", "description": "show it"}, "cat {workdir}/a.py"),
        ({"command": "x" * 300}, "x" * 199 + "…"),
        ({"todos": []}, "1 todo"),
    ],
)
def test_a_tool_call_is_named_by_what_it_works_on(
    given: dict[str, object], title: str, tmp_path: Path
) -> None:
    workdir = str(tmp_path)
    given = {k: v.replace("{workdir}", workdir) if isinstance(v, str) else v for k, v in given.items()}
    reader = OpencodeReader(workdir=tmp_path)
    state = {"status": "completed", "input": given, "output": "", "title": "1 todo"}
    used = reader.feed(tool_use("write", state))[-1]
    assert isinstance(used, ToolUsed)
    assert Path(used.title) == Path(title.replace("{workdir}", workdir))


@pytest.mark.parametrize(
    ("model", "cost"), [("p/m", None), (None, None), ("opencode/pickle-free", 0.0), ("p/m:free", 0.0)]
)
def test_a_cost_of_0_is_an_unknown_price_unless_the_model_is_called_free(
    model: str | None, cost: float | None
) -> None:
    """Pain 24: opencode says 0 for what it has no price for."""
    line = step_finish("stop").replace(b"0.000663", b"0")
    finished = OpencodeReader(model).feed(line)[-1]
    assert isinstance(finished, StepFinished)
    assert finished.usage.total_tokens == 133
    assert finished.usage.cost_usd == cost


def test_a_step_without_usage_costs_nobody_knows_what() -> None:
    """Pain 24."""
    finished = _events([step_finish("stop", input=0, output=0)])[-1]
    assert finished == StepFinished("stop", Usage(cost_usd=None))


def test_lines_of_shapes_never_seen_break_nothing() -> None:
    odd = b'{"type":"done","reason":"idle"}\n{"type":"text","part":7}\n{"type":"tool_use"}\n'
    odd += b'{"type":"error"}\n{}\n'
    events = _events([odd, b'{"type":"step_finish","part":{"tokens":{"input":"many"},"cost":true}}\n'])
    kinds = [type(event) for event in events]
    assert kinds == [TextSaid, ToolUsed, ErrorReported, StepFinished]
    assert events[-1] == StepFinished("unknown", Usage())


# --- what the answer is --------------------------------------------------------------------------------


def test_the_answer_is_every_text_of_the_last_message_after_its_last_tool_call() -> None:
    assert _judge(A_RUN).text == 'Done.\n<state_update>{"payload": {"é": "日本"}}</state_update>'
    output = (
        step_start()
        + text("before the tool")
        + bash("ls", "")
        + text("first part")
        + reasoning("<state_update>{}</state_update>")
        + text("second part")
        + step_finish("stop")
    )
    assert _judge(output) == Verdict("first part\nsecond part")


def test_a_text_before_the_last_tool_call_is_never_taken_for_the_answer() -> None:
    output = (
        step_start()
        + text("I will answer <state_update>{}</state_update>")
        + bash("ls", "")
        + step_finish("tool-calls")
        + step_start("msg_2")
        + step_finish("stop", "msg_2")
    )
    # Work was done, so this is no failure: a correction in the same session asks for the answer.
    assert _judge(output) == Verdict("")


def test_an_answer_cut_at_the_models_limit_is_marked_as_such() -> None:
    assert _judge(step_start() + text("It is d") + step_finish("length")) == Verdict(
        "It is d", truncated=True
    )


# --- how attempts end ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("output", "stderr", "words"),
    [
        (step_start() + step_finish("stop"), "", "nothing at all"),
        (step_start() + bash("ls", "") + step_finish("tool-calls"), REJECTED, "bash (echo done)"),
        (step_start() + bash("ls", "") + step_finish("tool-calls"), "", "after a tool call"),
        (ANSWER, '! agent "nobody" not found. Falling back to default agent', "no agent nobody"),
        (step_start() + text("a") + step_finish("content-filter"), "", "content filter"),
        (step_start() + text("a") + step_finish("unknown"), "", "broke off"),
        (step_start() + text("a"), "", "without an answer"),
        (b"", "", "without an answer"),
        (ANSWER + step_start("msg_2") + text("lost half", "msg_2")[:60], "", "missing"),
        (error("UnknownError", "odd") + ANSWER, "", "odd"),
    ],
)
def test_an_exit_code_of_0_is_not_believed(output: bytes, stderr: str, words: str) -> None:
    """Pain 4."""
    assert words in _failure(output, stderr=stderr).message


@pytest.mark.parametrize(
    ("line", "words", "transient"),
    [
        (error("APIError", "no", statusCode=400, isRetryable=False), "refused the request (400): no", False),
        (error("APIError", "what?", statusCode=404, isRetryable=False), "does not know the model p/m", False),
        (error("APIError", "slow down", statusCode=429, isRetryable=True), "(429)", True),
        (error("APIError", "oops", statusCode=503, isRetryable=True), "failed (503)", True),
        (error("APIError", "Cannot connect to API: Unable to connect"), "cannot be reached", True),
        (error("APIError", "Connection reset by server"), "connection to the provider broke off", True),
        (error("APIError", "Provider response headers timed out after 300000ms"), "broke off", True),
        (
            error("UnknownError", '{"error":{"message":"Overloaded","type":"overloaded_error"}}'),
            ": Overloaded",
            True,
        ),
        (error("UnknownError", "Unexpected server error. Check server logs for details."), "p/m", False),
        (
            error("ContextOverflowError", "prompt is too long: 9 tokens"),
            "prompt is too long for the model",
            False,
        ),
    ],
)
def test_a_reported_error_is_told_in_a_users_words(line: bytes, words: str, transient: bool) -> None:
    failure = _failure(line, 1)
    assert words in failure.message
    assert failure.transient is transient
    assert not failure.before_work
    assert not failure.provider_wide
    assert json.loads(failure.detail) == json.loads(line)["error"]


def _refused(status: int, message: str, body: str = "", **headers: str) -> bytes:
    return error(
        "APIError",
        message,
        statusCode=status,
        isRetryable=status == 429,
        responseHeaders={"content-type": "application/json", **headers},
        responseBody=body,
    )


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (_refused(401, "bad key"), "Log in with `opencode auth login`"),
        (error("ProviderAuthError", "no key"), "Log in with `opencode auth login`"),
        (_refused(402, "Insufficient Balance"), "no credit left"),
        (_refused(429, "x", '{"error":{"code":"insufficient_quota"}}'), "no credit left"),
        (
            _refused(429, "Rate limit exceeded. Please try again later.", '{"type":"FreeUsageLimitError"}'),
            "usage limit of the account is reached",
        ),
        (
            _refused(429, "Weekly usage limit reached. Resets in 19hr", '{"type":"GoUsageLimitError"}'),
            "It resets in 19hr.",
        ),
        (
            _refused(
                429,
                "This request would exceed your account's rate limit. Please try again later.",
                **{"anthropic-ratelimit-unified-status": "rejected"},
            ),
            "Wait until it resets",
        ),
        (_refused(429, "Too Many Requests", **{"retry-after": "7200"}), "It resets in 2 h 0 min."),
    ],
)
def test_what_stops_every_agent_of_the_provider_is_told_as_such(line: bytes, words: str) -> None:
    """Pain 22: it is neither retried nor left for the next agent to find out."""
    failure = _failure(line, 1)
    assert failure.provider_wide
    assert not failure.transient
    assert failure.message.startswith("The provider p of opencode: ")
    assert words in failure.message


@pytest.mark.parametrize(
    "line",
    [
        _refused(429, "Too Many Requests", **{"retry-after": "20"}),
        _refused(429, "slow down", **{"anthropic-ratelimit-unified-status": "allowed_warning"}),
        _refused(403, "Project `p` does not have access to model `m`"),
        _refused(401, "Model x is not supported", '{"type":"ModelError"}'),
    ],
)
def test_a_rate_limit_and_a_refused_model_stop_no_other_agent(line: bytes) -> None:
    """Pain 22, the other way round."""
    assert not _failure(line, 1).provider_wide


def test_a_notice_in_the_place_of_the_answer_is_a_failure_of_the_provider() -> None:
    """Pain 28: it is not corrected as an answer without an update."""
    notice = "You've hit your limit · resets 8pm (Australia/Sydney)"
    failure = _failure(step_start() + text(notice) + step_finish("stop"))
    assert failure.provider_wide
    assert "resets at 8pm (Australia/Sydney)" in failure.message
    answered = f'{notice} <state_update>{{"payload": {{}}}}</state_update>'
    assert _judge(step_start() + text(answered) + step_finish("stop")) == Verdict(answered)


def test_a_notice_on_standard_error_is_told_before_the_exit_code() -> None:
    """Pain 22."""
    failure = _failure(b"", 1, stderr="\x1b[91mError: \x1b[0mInvalid API key · Please run /login\n")
    assert failure.provider_wide
    assert "opencode auth login" in failure.message


@pytest.mark.parametrize(
    "stderr",
    ["Error: Unexpected error\n\ndatabase is locked\n", "Failed query: CREATE TABLE `workspace` (…)\n"],
)
def test_a_start_lost_to_the_database_is_free_to_be_made_again(stderr: str) -> None:
    """Pain 7."""
    failure = _failure(b"", 1, stderr=stderr)
    assert failure.before_work
    assert failure.transient
    # After a first event there may have been work, which a silent restart would pay for again.
    assert not _failure(step_start(), 1, stderr=stderr).before_work


@pytest.mark.parametrize(
    ("stderr", "words"),
    [
        ("\x1b[91mError: \x1b[0mSession not found\n", "no longer knows the session"),
        ("Error: Config file at /x/opencode.json is not valid JSON(C)\n", "configuration"),
        ("Options:\n  -h, --help  show help  [boolean]\n", "extra_args"),
        ("\x1b[91mError:\x1b[0m something new\n", "exit code 1. It said: Error: something new"),
        ("", "exit code 1. It said nothing."),
    ],
)
def test_an_end_without_a_reported_error_quotes_what_opencode_said(stderr: str, words: str) -> None:
    assert words in _failure(b"", 1, stderr=stderr).message


def test_a_kill_by_the_system_is_named_as_such() -> None:
    """Pain 33."""
    killed = _failure(step_start(), None, signal=9)
    assert "lack of memory" in killed.message
    assert killed.transient
    assert "SIGTERM" in _failure(ANSWER, None, signal=15).message


def test_three_broken_answers_in_a_row_are_a_runaway() -> None:
    """Pain 24."""
    reader = OpencodeReader()
    two = step_finish("unknown") * 2
    assert _runaway(reader, two + step_finish("tool-calls") + two) is None
    runaway = _runaway(reader, step_finish("unknown"))
    assert runaway is not None
    assert reader.judge(None, 15, "").failure == runaway


def test_an_agent_that_never_stops_asking_is_a_runaway() -> None:
    reader = OpencodeReader(max_steps=500)
    assert _runaway(reader, (step_start() + step_finish("tool-calls")) * 500) is None
    assert _runaway(reader, step_start()) is not None


def _runaway(reader: OpencodeReader, output: bytes) -> Failure | None:
    reader.feed(output)
    return reader.runaway


# --- the command ---------------------------------------------------------------------------------------


@pytest.fixture
def order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> TurnOrder:
    """An order in an empty folder, for an "opencode" that is there but never started."""
    monkeypatch.setenv("OPENLOOP_OPENCODE", sys.executable)
    return TurnOrder(AgentDefinition(name="vera"), "vera · loop 1", tmp_path, tmp_path / "turn")


def test_the_turns_own_model_and_variant_beat_the_defaults(order: TurnOrder) -> None:
    defaults = OpencodeDefaults(
        model="p/default",
        agent="plan",
        variant="low",
        pure=True,
        log_level="WARN",
        extra_args=["--file", "notes.md"],
    )
    backend = OpencodeBackend()
    argv = backend.command(replace(order, defaults=defaults)).argv
    assert argv[1:4] == ("run", "--format", "json")
    assert {"--model=p/default", "--agent=plan", "--variant=low", "--pure", "--log-level=WARN"} <= set(argv)
    assert argv[-2:] == ("--file", "notes.md")
    agent = AgentDefinition(name="vera", variant="max")
    own = replace(order, agent=agent, model="p/own", session=SESSION, defaults=defaults)
    argv = backend.command(own).argv
    assert {"--model=p/own", "--variant=max", f"--session={SESSION}", f"--dir={order.workdir}"} <= set(argv)
    assert "--model=p/default" not in argv


def test_a_pure_workflow_keeps_the_users_plugins_out_and_no_other(order: TurnOrder) -> None:
    """Pain 30."""
    for pure in (True, False, None):
        argv = OpencodeBackend().command(replace(order, defaults=OpencodeDefaults(pure=pure))).argv
        assert ("--pure" in argv) is (pure is True)


def test_a_session_is_only_ever_continued_by_its_id_in_its_own_folder(order: TurnOrder) -> None:
    """Pain 8."""
    first = OpencodeBackend().command(order).argv
    again = OpencodeBackend().command(replace(order, session=SESSION)).argv
    assert [word for word in first if word.startswith(("--session", "-s", "-c", "--continue"))] == []
    assert set(again) - set(first) == {f"--session={SESSION}"}
    assert f"--dir={order.workdir}" in first


def test_a_title_is_always_given_and_harmless(order: TurnOrder) -> None:
    """Pain 24: without one, opencode pays for a second request that makes one up."""
    for title, plain in (('x" & del %PATH%', "x del PATH"), ("-é 2", "-é 2"), ("\n", "OpenLoop")):
        assert f"--title={plain}" in OpencodeBackend().command(replace(order, title=title)).argv


def test_an_agent_never_asks_and_the_users_configuration_stays(tmp_path: Path) -> None:
    """Pain 6."""
    own = {
        "OPENCODE_CONFIG_CONTENT": '{"model": "p/m", "snapshot": true, "experimental": {"x": 1},} // mine',
        "OPENCODE_PERMISSION": '{"bash": "deny", "external_directory": "allow"}',
        "OPENCODE_DISABLE_LSP_DOWNLOAD": "",
    }
    added = headless_environment(tmp_path, own)
    config = json.loads(added["OPENCODE_CONFIG_CONTENT"])
    assert config["model"] == "p/m"
    assert config["snapshot"] is False
    assert config["experimental"] == {"x": 1, "continue_loop_on_deny": True}
    permission = json.loads(added["OPENCODE_PERMISSION"])
    assert permission["bash"] == "deny"
    assert permission["external_directory"] == "allow"
    assert permission["doom_loop"] == permission["question"] == "deny"
    assert added["PWD"] == str(tmp_path)
    assert added["OPENCODE_DISABLE_LSP_DOWNLOAD"] == "false"
    assert not {"HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME", "OPENCODE_MODELS_PATH"} & set(added)


def test_a_configuration_that_cannot_be_read_is_left_to_opencode(tmp_path: Path) -> None:
    broken = '{"model": '
    assert (
        headless_environment(tmp_path, {"OPENCODE_CONFIG_CONTENT": broken})["OPENCODE_CONFIG_CONTENT"]
        == broken
    )


# --- checks before a run -------------------------------------------------------------------------------


def test_a_missing_opencode_is_found_before_anything_starts(
    order: TurnOrder, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("OPENLOOP_OPENCODE")
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    (problem,) = OpencodeBackend().check([order])
    assert problem.severity is Severity.ERROR
    assert "not installed" in problem.message
    assert "npm install" in problem.suggestion
    with pytest.raises(FileNotFoundError, match="not installed"):
        OpencodeBackend().command(order)
    monkeypatch.setenv("OPENLOOP_OPENCODE", str(tmp_path / "gone"))
    with pytest.raises(FileNotFoundError, match="gone"):
        OpencodeBackend().command(order)


def test_a_shim_of_npm_is_passed_by(
    order: TurnOrder, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Pain 11."""
    shim = tmp_path / "opencode.cmd"
    behind = tmp_path / "node_modules" / "opencode-ai" / "bin" / "opencode.exe"
    behind.parent.mkdir(parents=True)
    for file in (shim, behind):
        file.touch(mode=0o755)
    monkeypatch.setenv("OPENLOOP_OPENCODE", str(shim))
    assert OpencodeBackend().command(order).argv[0] == str(behind)


def test_arguments_that_break_a_run_are_refused(order: TurnOrder) -> None:
    defaults = OpencodeDefaults(extra_args=["--attach=http://127.0.0.1:4096", "-c", "--print-logs"])
    problems = OpencodeBackend().check([replace(order, defaults=defaults)])
    assert [problem.message.partition(" ")[0] for problem in problems] == ["--attach", "-c"]


def test_a_model_that_cannot_be_looked_up_is_only_a_warning(order: TurnOrder) -> None:
    # The "opencode" of these orders is Python, which knows no `models`.
    (problem,) = OpencodeBackend().check([replace(order, model="p/m")])
    assert problem.severity is Severity.WARNING
    assert "opencode models" in problem.message


def test_what_opencode_unpacks_at_its_start_goes_into_a_folder_that_the_turn_removes(
    order: TurnOrder,
) -> None:
    command = OpencodeBackend().command(order)
    assert command.scratch is not None
    assert command.scratch.is_relative_to(order.turn_folder)
    assert command.env["BUN_TMPDIR"] == str(command.scratch)
