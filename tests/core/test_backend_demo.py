"""The demo agent: a real process with files for streams, as a run starts it."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import psutil
import pytest

import resources
from core.agent import AgentDefinition, AgentLibrary
from core.backends.base import (
    ErrorReported,
    NoiseSeen,
    OutputEvent,
    SessionOpened,
    StepFinished,
    StepStarted,
    TextSaid,
    ToolUsed,
    TurnOrder,
    Verdict,
)
from core.backends.demo import DemoBackend, DemoReader
from core.condition import compile_condition
from core.config import AgentGroup
from core.json_types import JsonValue
from core.merge import merge_updates
from core.parser import ParsedUpdate, UpdateProblem, apply_authority, parse_update
from core.prompts import build_prompt, correction_prompt, shared_state
from core.state import Contribution, Phase, WorkflowState
from core.usage import Usage
from core.workflow_file import load_workflow

BACKEND = DemoBackend()
STATE = WorkflowState("loop", 2, payload={"score": 62})
posix_only = pytest.mark.skipif(os.name != "posix", reason="signals of POSIX systems")


@dataclass(frozen=True)
class Attempt:
    """One attempt that has ended, and what its reader made of it."""

    exit_code: int
    stdout: bytes
    stderr: str
    events: list[OutputEvent]
    verdict: Verdict

    def of(self, kind: type[OutputEvent]) -> list[OutputEvent]:
        return [event for event in self.events if isinstance(event, kind)]

    @property
    def update(self) -> ParsedUpdate:
        parsed = parse_update(self.verdict.text)
        assert isinstance(parsed, ParsedUpdate), parsed
        return parsed

    @property
    def problem(self) -> UpdateProblem:
        parsed = parse_update(self.verdict.text)
        assert isinstance(parsed, UpdateProblem), parsed
        return parsed

    @property
    def session(self) -> str:
        (opened,) = self.of(SessionOpened)
        assert isinstance(opened, SessionOpened)
        return opened.session


def agent(role: str = "author", name: str = "nobody", **demo: JsonValue) -> AgentDefinition:
    return AgentDefinition.model_validate({"name": name, "role": role, "prompt": "You work.", "demo": demo})


def order(who: AgentDefinition, folder: Path, session: str | None = None) -> TurnOrder:
    return TurnOrder(who, who.name, folder, folder, session=session)


def prompt_of(who: AgentDefinition, state: WorkflowState = STATE) -> bytes:
    pieces = build_prompt(
        who, shared_state(state.to_json()), may_complete=who.may_complete, label=who.name, beside=[]
    )
    return b"".join(pieces)


def start(
    who: AgentDefinition, folder: Path, prompt: bytes, session: str | None = None
) -> subprocess.Popen[bytes]:
    command = BACKEND.command(order(who, folder, session))
    (folder / "prompt.md").write_bytes(prompt)
    with (
        (folder / "prompt.md").open("rb") as stdin,
        (folder / "stdout.log").open("wb") as stdout,
        (folder / "stderr.log").open("wb") as stderr,
    ):
        return subprocess.Popen(
            command.argv,
            stdin=stdin,
            stdout=stdout,
            stderr=stderr,
            cwd=folder,
            env={**os.environ, "OPENLOOP_DEMO_SPEED": "0", **command.env},
        )


def read_all(data: bytes, piece: int = 1 << 16) -> tuple[list[OutputEvent], DemoReader]:
    reader = DemoReader()
    events: list[OutputEvent] = []
    for position in range(0, len(data), piece):
        events += reader.feed(data[position : position + piece])
    return [*events, *reader.finish()], reader


def run(
    who: AgentDefinition, folder: Path, prompt: bytes | None = None, session: str | None = None
) -> Attempt:
    process = start(who, folder, prompt_of(who) if prompt is None else prompt, session)
    code = process.wait(30)
    stdout = (folder / "stdout.log").read_bytes()
    stderr = (folder / "stderr.log").read_text("utf-8")
    events, reader = read_all(stdout)
    exit_code, ended_by = (code, None) if code >= 0 else (None, -code)
    return Attempt(code, stdout, stderr, events, reader.judge(exit_code, ended_by, stderr[-8192:]))


@contextlib.contextmanager
def running(who: AgentDefinition, folder: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A process that does not end by itself."""
    process = start(who, folder, prompt_of(who))
    try:
        yield process
    finally:
        process.kill()
        process.wait(10)


def wait_for(what: Path, has: bytes, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + 20
    while has not in (what.read_bytes() if what.exists() else b""):
        assert process.poll() is None, "it ended"
        assert time.monotonic() < deadline, f"{has!r} never came"
        time.sleep(0.005)


# --- a good agent -------------------------------------------------------------------------------------


def test_an_attempt_reports_its_session_steps_tools_tokens_cost_and_an_update(tmp_path: Path) -> None:
    attempt = run(agent(), tmp_path)
    assert attempt.exit_code == 0
    assert attempt.verdict.failure is None
    assert isinstance(attempt.events[0], SessionOpened)
    started, finished = attempt.of(StepStarted), attempt.of(StepFinished)
    assert started == [StepStarted("demo")] * len(finished)
    assert len(finished) >= 2
    assert attempt.of(ToolUsed)
    total = sum((event.usage for event in finished if isinstance(event, StepFinished)), Usage())
    assert total.total_tokens > 1000
    assert total.cost_usd
    assert attempt.update.update.payload is not None
    assert attempt.update.notes == ()
    assert not attempt.of(NoiseSeen)


def test_the_same_agent_with_the_same_state_says_the_same(tmp_path: Path) -> None:
    first, second = run(agent(), tmp_path), run(agent(), tmp_path)
    assert first.session != second.session
    assert first.events[1:] == second.events[1:]


def test_what_is_said_differs_by_role_and_by_iteration(tmp_path: Path) -> None:
    roles = ("analyst", "author", "auditor", "reviewer", "tester", "finalizer")
    texts = {run(agent(role), tmp_path).verdict.text for role in roles}
    assert len(texts) == len(roles)
    later = run(agent(), tmp_path, prompt_of(agent(), WorkflowState("loop", 3)))
    assert later.verdict.text not in texts


def test_only_the_last_state_of_the_prompt_counts(tmp_path: Path) -> None:
    third = prompt_of(agent(), WorkflowState("loop", 3))
    decoy = b'<workflow_state>{"iteration": 1}</workflow_state>\n'
    assert run(agent(), tmp_path, decoy + third).verdict == run(agent(), tmp_path, third).verdict


@pytest.mark.parametrize("prompt", [b"", b"\xff no state", b"<workflow_state>{oh</workflow_state>"])
def test_a_prompt_without_a_usable_state_still_gets_an_answer(tmp_path: Path, prompt: bytes) -> None:
    assert run(agent(), tmp_path, prompt).update.update.payload


def test_an_agent_without_authority_says_nothing_about_completion(tmp_path: Path) -> None:
    assert run(agent("author"), tmp_path).update.update.is_complete is None
    assert run(agent("auditor"), tmp_path).update.update.is_complete is False
    good = run(agent("auditor"), tmp_path, prompt_of(agent("auditor"), WorkflowState("loop", 3)))
    assert good.update.update.is_complete is True
    assert good.update.update.termination_reason


def test_output_cut_at_any_byte_gives_the_same_events_as_output_in_one_piece(tmp_path: Path) -> None:
    attempt = run(agent(invalid_utf8=True), tmp_path)
    for piece in (1, 2, 3, 7, 64):
        events, _ = read_all(attempt.stdout, piece)
        assert events == attempt.events
    for cut in range(len(attempt.stdout)):
        reader = DemoReader()
        events = [*reader.feed(attempt.stdout[:cut]), *reader.feed(attempt.stdout[cut:]), *reader.finish()]
        assert events == attempt.events


def test_output_that_ends_early_is_never_a_success(tmp_path: Path) -> None:
    attempt = run(agent(), tmp_path)
    for cut in range(0, len(attempt.stdout) - 2, 5):
        _, reader = read_all(attempt.stdout[:cut])
        assert reader.judge(0, None, "").failure is not None
    _, reader = read_all(attempt.stdout[:-1])
    assert reader.judge(0, None, "").failure is None


# --- the examples converge ----------------------------------------------------------------------------


@pytest.mark.parametrize("condition", [None, "is_complete == True"])
@pytest.mark.parametrize("workflow", resources.example_workflows(), ids=lambda path: path.stem)
def test_every_example_workflow_converges(tmp_path: Path, workflow: Path, condition: str | None) -> None:
    plan = load_workflow(workflow).workflow
    done = compile_condition(condition or plan.end_state_condition)
    library = AgentLibrary(resources.agents_folder())
    payload = dict(plan.initial_payload)
    state = WorkflowState(payload=payload)

    def phase(name: Phase, iteration: int, state: WorkflowState) -> WorkflowState:
        state = WorkflowState(
            name, iteration, state.is_complete, state.termination_reason, state.payload, state.meta
        )
        for group in plan.groups(name):
            assert isinstance(group, AgentGroup)
            entries = [[entry] for entry in group.agents] if group.mode == "sequential" else [group.agents]
            for together in entries:
                given: list[Contribution] = []
                for entry in together:
                    who = library.get(entry.agent)
                    assert who is not None
                    attempt = run(who, tmp_path, prompt_of(who, state))
                    assert attempt.verdict.failure is None
                    parsed = apply_authority(attempt.update, who.may_complete, who.name)
                    assert parsed.notes == ()
                    given.append(Contribution(who.name, parsed.update))
                merged = merge_updates(state, given, plan.merge)
                assert merged.conflicts == ()
                state = merged.state
                if name == "loop" and done.holds(state):
                    return state
        return state

    state = phase("preparation", 0, state)
    iteration = 0
    while not done.holds(state):
        iteration += 1
        assert iteration <= 4
        state = phase("loop", iteration, state)
    assert iteration == 3
    phase("finalization", iteration, state)


def test_an_author_alone_reaches_a_good_score(tmp_path: Path) -> None:
    scores = []
    for iteration in range(1, 6):
        state = WorkflowState("loop", iteration)
        payload = run(agent(), tmp_path, prompt_of(agent(), state)).update.update.payload
        assert payload is not None
        scores.append(payload["score"])
    assert scores == sorted(scores)
    assert scores[0] < 90 <= scores[-1]
