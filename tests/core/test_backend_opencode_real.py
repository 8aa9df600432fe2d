"""The real opencode CLI through its backend, against a model of the tests' own."""

from __future__ import annotations

import contextlib
import os
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from core.agent import AgentDefinition
from core.backends.base import (
    OutputEvent,
    OutputReader,
    ReasoningSaid,
    SessionOpened,
    StepFinished,
    ToolUsed,
    TurnOrder,
    Verdict,
)
from core.backends.opencode import OpencodeBackend
from core.config import OpencodeDefaults
from core.problems import Severity
from core.usage import Usage
from tests.opencode_support import ScratchOpencode, scratch_opencode
from tests.stub_llm import Reply, Rule, StubModel, Tokens, ToolCall

pytestmark = pytest.mark.opencode


@dataclass
class RealRun:
    """One attempt of the real opencode: its events and what it came to."""

    events: list[OutputEvent]
    verdict: Verdict

    @property
    def session(self) -> str:
        (opened,) = [event for event in self.events if isinstance(event, SessionOpened)]
        return opened.session


@pytest.fixture(scope="module")
def stub() -> Iterator[StubModel]:
    with StubModel() as model:
        yield model


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory, stub: StubModel) -> ScratchOpencode:
    return scratch_opencode(tmp_path_factory.mktemp("opencode"), stub.base_url)


@pytest.fixture
def real(tmp_path: Path, installed: ScratchOpencode, monkeypatch: pytest.MonkeyPatch) -> TurnOrder:
    """An order in an empty folder for an opencode that knows nothing of the user's."""
    installed.apply(monkeypatch)
    return TurnOrder(
        AgentDefinition(name="vera"), "vera · loop 1", tmp_path, tmp_path / "turn", model="stub/x"
    )


@contextlib.contextmanager
def _started(backend: OpencodeBackend, order: TurnOrder) -> Iterator[subprocess.Popen[bytes]]:
    """An attempt that does not end by itself."""
    command = backend.command(order)
    order.turn_folder.mkdir(exist_ok=True)
    if command.scratch is not None:
        command.scratch.mkdir(exist_ok=True)
    prompt = order.turn_folder / "prompt.md"
    prompt.write_text("Anything.", encoding="utf-8")
    with (
        prompt.open("rb") as stdin,
        (order.turn_folder / "stdout.log").open("wb") as stdout,
        (order.turn_folder / "stderr.log").open("wb") as stderr,
    ):
        process = subprocess.Popen(
            command.argv,
            stdin=stdin,
            stdout=stdout,
            stderr=stderr,
            cwd=order.workdir,
            env={**os.environ, **command.env},
        )
        try:
            yield process
        finally:
            process.kill()
            process.wait(10)


def _run(order: TurnOrder, prompt: str) -> RealRun:
    """One attempt as the runner makes it: the prompt is a file, and so is the output."""
    backend = OpencodeBackend()
    command = backend.command(order)
    order.turn_folder.mkdir(exist_ok=True)
    if command.scratch is not None:
        command.scratch.mkdir(exist_ok=True)
    files = [order.turn_folder / name for name in ("prompt.md", "stdout.log", "stderr.log")]
    files[0].write_text(prompt, encoding="utf-8")
    with files[0].open("rb") as stdin, files[1].open("wb") as stdout, files[2].open("wb") as stderr:
        process = subprocess.Popen(
            command.argv,
            stdin=stdin,
            stdout=stdout,
            stderr=stderr,
            cwd=order.workdir,
            env={**os.environ, **command.env},
        )
        reader: OutputReader = backend.reader(order)
        events: list[OutputEvent] = []
        killed = False
        with files[1].open("rb") as output:
            while True:
                ended = process.poll() is not None
                data = output.read()
                events += reader.feed(data)
                if reader.runaway is not None and not killed:
                    process.kill()
                    killed = True
                if ended and not data:
                    break
                if not data:
                    try:
                        process.wait(0.05)
                    except subprocess.TimeoutExpired:
                        continue
    events += reader.finish()
    code = process.returncode
    verdict = reader.judge(
        code if code >= 0 else None,
        -code if code < 0 else None,
        files[2].read_text(encoding="utf-8", errors="replace")[-8192:],
    )
    return RealRun(events, verdict)


def test_the_first_start_ever_is_made_before_agents_start_together(
    real: TurnOrder, stub: StubModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Pain 7."""
    scratch_opencode(tmp_path / "new", stub.base_url).apply(monkeypatch)
    orders = [replace(real, model=None)] * 2
    assert OpencodeBackend().check(orders) == []
    assert [file.name for file in (tmp_path / "new" / "data").glob("*/*.db")] == ["opencode.db"]


def test_the_real_opencode_answers_and_is_corrected_in_the_same_session(
    real: TurnOrder, stub: StubModel
) -> None:
    """Pains 2, 8, 24: the whole prompt arrives, by its id the same session goes on, no title is asked for."""
    prompt = 'A "quoted" prompt – with é, --dashes and\nlines.'
    replies = [
        Reply("first", reasoning="hm", tokens=Tokens(1000, 50, cached=400, reasoning=20)),
        Reply("second"),
    ]
    stub.script(Rule(replies))
    first = _run(real, prompt)
    assert first.verdict == Verdict("first")
    assert ReasoningSaid("hm") in first.events
    (finished,) = [event for event in first.events if isinstance(event, StepFinished)]
    assert finished.usage == Usage(600, 30, 20, 400, 0, finished.usage.cost_usd)
    assert finished.usage.cost_usd == pytest.approx(0.00267)
    second = _run(replace(real, session=first.session), "Do it again.")
    assert second.verdict == Verdict("second")
    assert second.session == first.session
    # One request each, so none for a title; the prompt arrives as it was written; the history is kept.
    asked, corrected = stub.requests
    assert asked.last_user == prompt
    assert corrected.roles[-3:] == ["user", "assistant", "user"]


def test_the_real_opencode_uses_tools_but_asks_nobody(
    real: TurnOrder, stub: StubModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Pain 6."""
    secret = real.workdir / ".env"
    secret.write_text("KEY=1", encoding="utf-8")
    outside = real.workdir.parent / "outside.txt"
    outside.write_text("out", encoding="utf-8")
    monkeypatch.setenv("OPENCODE_CONFIG_CONTENT", '{"permission": {"glob": "ask"}}')
    calls = [
        ToolCall("bash", {"command": "echo hi", "description": "say hi"}),
        ToolCall("read", {"filePath": str(secret)}),
        ToolCall("read", {"filePath": str(outside)}),
        ToolCall("glob", {"pattern": "*.none"}),
    ]
    stub.script(Rule([*(Reply(tools=[call]) for call in calls), Reply("done")]))
    run = _run(real, "Use your tools.")
    tools = [event for event in run.events if isinstance(event, ToolUsed)]
    assert [(tool.tool, tool.title, tool.failed) for tool in tools] == [
        ("bash", "echo hi", False),
        ("read", ".env", True),
        ("read", str(outside), True),
        ("glob", "*.none", True),
    ]
    assert (tools[0].output, tools[0].exit_code) == ("hi\n", 0)
    assert tools[0].seconds is not None
    assert run.verdict == Verdict("done")


def test_the_real_opencode_that_is_refused_for_hours_says_why_in_its_log_only(
    real: TurnOrder, stub: StubModel
) -> None:
    """Pains 3, 22: it would wait the two hours without a word."""
    body = "Weekly usage limit reached. Resets in 2hr"
    stub.script(Rule([Reply(status=429, error=body, headers={"Retry-After": "7200"})]))
    backend = OpencodeBackend()
    with _started(backend, real) as process:
        deadline = time.monotonic() + 60
        while not (reason := backend.silence_reason(real)):
            assert process.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.05)
        assert body in reason
        failure = backend.hidden_failure(real)
        assert (real.turn_folder / "stdout.log").read_bytes() == b""
    assert failure is not None
    assert failure.provider_wide
    assert "It resets in 2hr." in failure.message


def test_the_real_opencode_without_a_login_stops_every_agent(real: TurnOrder, stub: StubModel) -> None:
    """Pain 22."""
    stub.script(Rule([Reply(status=401, error="no")]))
    failure = _run(real, "Anything.").verdict.failure
    assert failure is not None
    assert failure.provider_wide
    assert not failure.transient
    assert "opencode auth login" in failure.message


def test_the_end_that_the_real_opencode_did_not_print_is_fetched_from_its_session(
    real: TurnOrder, stub: StubModel
) -> None:
    """Pain 5: the answer is paid for, so it is not asked for again."""
    stub.script(Rule([Reply("I look.", tools=[ToolCall("bash", {"command": "echo hi"})]), Reply("done")]))
    whole = _run(real, "Do it.")
    assert whole.verdict == Verdict("done")
    printed = (real.turn_folder / "stdout.log").read_bytes()
    lost = printed.rindex(b'{"type":"text"') + 30
    backend = OpencodeBackend()
    reader = backend.reader(real)
    events = [*reader.feed(printed[:lost]), *reader.finish()]
    assert reader.judge(0, None, "").failure is not None
    events += backend.untold_output(replace(real, session=whole.session), reader)
    assert reader.judge(0, None, "") == whole.verdict
    steps = [event for event in events if isinstance(event, StepFinished)]
    assert steps == [event for event in whole.events if isinstance(event, StepFinished)]
    assert len(stub.requests) == 2


def test_what_subagents_of_the_real_opencode_used_is_counted_once(real: TurnOrder, stub: StubModel) -> None:
    """Pain 24: opencode prints nothing of it."""
    order_ = {"description": "sub work", "prompt": "CHILD: do it", "subagent_type": "general"}
    stub.script(
        Rule([Reply("of the child", tokens=Tokens(1000, 50, cached=400, reasoning=20))], user="CHILD"),
        Rule([Reply(tools=[ToolCall("task", order_)]), Reply("done")]),
    )
    run = _run(real, "Let somebody do it.")
    assert run.verdict == Verdict("done")
    backend = OpencodeBackend()
    ended = replace(real, session=run.session)
    (told,) = backend.untold_output(ended, backend.reader(real))
    assert isinstance(told, StepFinished)
    assert told.usage == Usage(600, 30, 20, 400, 0, told.usage.cost_usd)
    assert told.usage.cost_usd == pytest.approx(0.00267)
    assert list(backend.untold_output(ended, backend.reader(real))) == []


def test_the_real_opencode_reports_a_refused_request(real: TurnOrder, stub: StubModel) -> None:
    stub.script(Rule([Reply(status=400, error="bad request here")]))
    failure = _run(real, "Anything.").verdict.failure
    assert failure is not None
    assert failure.message == "The provider refused the request (400): bad request here"
    assert not failure.transient


def test_the_real_opencode_storming_its_provider_is_noticed(real: TurnOrder, stub: StubModel) -> None:
    """Pain 24: each of its endless requests costs."""
    stub.script(Rule([Reply("part", cut=True)]))
    run = _run(real, "Anything.")
    assert run.verdict.failure is not None
    assert "broke off 3 answers" in run.verdict.failure.message


def test_models_and_agents_that_the_real_opencode_does_not_know_are_found_before_the_run(
    real: TurnOrder,
) -> None:
    """Pain 4: opencode would run its default agent instead, with exit code 0."""
    fine = replace(real, defaults=OpencodeDefaults(agent="build"))
    orders = [replace(real, model="stub/y"), replace(real, model="nobody/x"), replace(real, model="plain")]
    problems = OpencodeBackend().check([fine, *orders])
    assert {problem.severity for problem in problems} == {Severity.ERROR}
    texts = "\n".join(problem.text() for problem in problems)
    assert "does not know the model stub/y. Did you mean stub/x?" in texts
    assert "no provider called nobody" in texts
    assert "plain is not the full name" in texts
    assert len(problems) == 3
    assert OpencodeBackend().check([fine]) == []
