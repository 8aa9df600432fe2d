"""The demo agent: a real process with files for streams, as a run starts it."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import psutil
import pytest

import resources
from core.agent import AgentDefinition, AgentLibrary, read_agent
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
from core.parser import apply_authority, parse_update
from core.problems import UserFileError
from core.prompts import build_prompt, correction_prompt, shared_state
from core.state import Contribution, Phase, WorkflowState
from core.update_block import ParsedUpdate, UpdateProblem
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


def total_usage(attempt: Attempt) -> Usage:
    finished = (event for event in attempt.events if isinstance(event, StepFinished))
    return sum((event.usage for event in finished), Usage())


def wait_for(what: Path, has: bytes, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + 60
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


@pytest.mark.parametrize("workflow", resources.example_workflows(), ids=lambda path: path.stem)
def test_every_example_workflow_converges_by_score_and_by_completion(tmp_path: Path, workflow: Path) -> None:
    plan = load_workflow(workflow).workflow
    done = compile_condition(plan.end_state_condition)
    said_so = compile_condition("is_complete == True")
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
                assert name == "finalization" or done.holds(state) is said_so.holds(state)
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


@pytest.mark.parametrize("iteration", [1, 2])
def test_orders_for_one_iteration_leave_the_others_alone(tmp_path: Path, iteration: int) -> None:
    state = WorkflowState("loop", iteration)
    failing = agent(fail={"exit_code": 3, "iteration": 2})
    silent = agent(bad_update={"kind": "missing", "iteration": 2})

    for number, who in enumerate((failing, silent)):
        (tmp_path / str(number)).mkdir()
        attempt = run(who, tmp_path / str(number), prompt_of(who, state))
        failed = attempt.verdict.failure is not None
        answered = isinstance(parse_update(attempt.verdict.text), ParsedUpdate)
        assert (failed if who is failing else not answered) is (iteration == 2)


def test_who_plays_its_own_part_is_scored_by_others(tmp_path: Path) -> None:
    payload = run(agent(name="builder"), tmp_path).update.update.payload
    assert payload is not None
    assert "done" in payload
    assert "score" not in payload


# --- a bad agent --------------------------------------------------------------------------------------


def test_a_failure_ends_with_its_exit_code_after_some_output(tmp_path: Path) -> None:
    attempt = run(agent(fail=3), tmp_path)
    assert attempt.exit_code == 3
    assert attempt.of(StepStarted)
    assert attempt.verdict.failure is not None
    assert "exit code 3" in attempt.verdict.failure.message
    assert not attempt.verdict.failure.transient


def test_a_failure_can_come_before_any_output(tmp_path: Path) -> None:
    attempt = run(agent(fail={"exit_code": 4, "silent": True}, stderr=["no such model"]), tmp_path)
    assert (attempt.exit_code, attempt.stdout) == (4, b"")
    assert attempt.verdict.failure is not None
    assert attempt.verdict.failure.detail == "no such model"


def test_a_start_that_lost_a_race_had_not_begun_to_work(tmp_path: Path) -> None:
    """Pain 7: what free restarts are tried with."""
    attempt = run(agent(fail={"before_work": True}), tmp_path)
    assert (attempt.exit_code, attempt.stdout) == (76, b"")
    assert attempt.verdict.failure is not None
    assert attempt.verdict.failure.before_work
    assert attempt.verdict.failure.transient


def test_an_error_event_is_a_failure_even_with_exit_code_0(tmp_path: Path) -> None:
    order_ = {"exit_code": 0, "error": "The provider is overloaded.", "transient": True}
    attempt = run(agent(fail=order_), tmp_path)
    assert attempt.exit_code == 0
    assert attempt.of(ErrorReported) == [ErrorReported("The provider is overloaded.", transient=True)]
    assert attempt.verdict.failure is not None
    assert attempt.verdict.failure.message == "The provider is overloaded."
    assert attempt.verdict.failure.transient


def test_a_transient_failure_without_an_error_event_shows_in_the_exit_code(tmp_path: Path) -> None:
    attempt = run(agent(fail={"transient": True}), tmp_path)
    assert attempt.exit_code == 75
    assert attempt.verdict.failure is not None
    assert attempt.verdict.failure.transient


def test_only_the_first_attempts_of_a_turn_fail(tmp_path: Path) -> None:
    who = agent(fail={"exit_code": 9, "first": 2})
    assert [run(who, tmp_path).exit_code for _ in range(4)] == [9, 9, 0, 0]


@pytest.mark.parametrize(
    ("orders", "code"),
    [({"exit_code": 0, "error": "The quota is used up."}, 0), ({"exit_code": 3}, 77), ({"silent": True}, 77)],
)
def test_a_provider_wide_failure_is_not_transient_and_passes_after_its_first_attempts(
    tmp_path: Path, orders: dict[str, JsonValue], code: int
) -> None:
    """Pain 22: what the pause of a run is tried with."""
    who = agent(fail={**orders, "provider_wide": True, "transient": True, "first": 1})
    attempt = run(who, tmp_path)
    assert attempt.exit_code == code
    assert attempt.verdict.failure is not None
    assert attempt.verdict.failure.provider_wide
    assert not attempt.verdict.failure.transient
    for event in attempt.of(ErrorReported):
        assert isinstance(event, ErrorReported)
        assert (event.message, event.provider_wide, event.transient) == (orders["error"], True, False)
    assert run(who, tmp_path).verdict.failure is None


@pytest.mark.parametrize(("after", "steps"), [(0, 0), (1, 1), (3, 3), (9, 4)])
def test_a_failed_attempt_has_told_what_its_steps_used(tmp_path: Path, after: int, steps: int) -> None:
    """Pain 24: failed attempts cost, too."""
    failing: JsonValue = {"exit_code": 3, "after_steps": after}
    attempt = run(agent(steps=4, cost_usd=0.4, fail=failing), tmp_path)
    assert attempt.exit_code == 3
    used = total_usage(attempt)
    assert used.cost_usd == (pytest.approx(0.1 * steps) if steps else None)
    assert len(attempt.of(StepFinished)) == steps


def test_spending_goes_on_step_by_step_before_the_answer(tmp_path: Path) -> None:
    """Pain 24: what budgets are tried with."""
    attempt = run(agent(spend={"steps": 10, "tokens": 50, "cost_usd": 0.25}, usage={}, cost_usd=0), tmp_path)
    used = total_usage(attempt)
    assert (used.total_tokens, used.cost_usd) == (500, 2.5)
    assert attempt.update


def test_spending_at_an_unknown_price_tells_tokens_only(tmp_path: Path) -> None:
    """Pain 24: unknown is not 0."""
    used = total_usage(run(agent(spend=3, no_price=True), tmp_path))
    assert used.total_tokens > 3000
    assert used.cost_usd is None


def test_an_agent_that_spends_without_end_goes_on_until_it_is_ended(tmp_path: Path) -> None:
    """Pain 24: an agent whose every step costs, and that never answers."""
    with running(agent(spend={"cost_usd": 0.01}), tmp_path) as process:
        wait_for(tmp_path / "stdout.log", b'"step_finish"', process)
        seen = (tmp_path / "stdout.log").stat().st_size
        deadline = time.monotonic() + 60
        while (tmp_path / "stdout.log").stat().st_size < seen + 2000:
            assert time.monotonic() < deadline
            time.sleep(0.005)
        assert process.poll() is None


def test_spending_can_end_in_a_hang(tmp_path: Path) -> None:
    """Pain 24: exactly so much is spent, then the turn is still there to be ended."""
    with running(agent(spend={"steps": 2, "cost_usd": 1}, hang=True), tmp_path) as process:
        wait_for(tmp_path / "stdout.log", b'"step_start", "timestamp"', process)
        deadline = time.monotonic() + 60
        while (tmp_path / "stdout.log").read_bytes().count(b'"step_start"') < 3:
            assert time.monotonic() < deadline
            time.sleep(0.005)
        events, _ = read_all((tmp_path / "stdout.log").read_bytes())
        assert sum(isinstance(event, StepFinished) for event in events) == 2
        assert process.poll() is None


def test_a_crash_leaves_a_traceback(tmp_path: Path) -> None:
    attempt = run(agent(crash=True), tmp_path)
    assert attempt.exit_code == 1
    assert "Traceback" in attempt.stderr
    assert attempt.verdict.failure is not None
    assert "told to crash" in attempt.verdict.failure.detail


@pytest.mark.parametrize(
    ("kind", "problem"),
    [
        ("missing", "missing"),
        ("bad_json", "bad_json"),
        ("truncated", "truncated"),
        ("fenced", "fenced"),
        ("file", "written_to_file"),
        ("wrong_type", "not_an_object"),
    ],
)
def test_a_bad_answer_is_made_good_by_a_correction_in_the_same_session(
    tmp_path: Path, kind: str, problem: str
) -> None:
    who = agent(bad_update={"kind": kind, "first": 2})
    first = run(who, tmp_path)
    assert first.exit_code == 0
    assert first.verdict.failure is None
    assert first.problem.kind == problem
    second = run(who, tmp_path, correction_prompt(first.problem, 1, 2), first.session)
    assert second.session == first.session
    third = run(who, tmp_path, correction_prompt(second.problem, 2, 2), first.session)
    good = run(agent(), tmp_path)
    assert third.update.update == good.update.update


def test_without_a_number_every_answer_is_bad(tmp_path: Path) -> None:
    who = agent(bad_update="fenced")
    first = run(who, tmp_path)
    again = run(who, tmp_path, correction_prompt(first.problem, 1, 2), first.session)
    assert again.problem.kind == "fenced"


def test_a_session_that_does_not_exist_is_refused(tmp_path: Path) -> None:
    attempt = run(agent(), tmp_path, b"", "demo_00000000")
    assert attempt.exit_code == 1
    assert attempt.stdout == b""
    assert "Session not found" in attempt.stderr


def test_a_flood_of_noise_and_of_text_arrives_whole(tmp_path: Path) -> None:
    attempt = run(agent(flood={"noise_bytes": 3_000_001, "text_lines": 2_500}), tmp_path)
    noise = attempt.of(NoiseSeen)
    data = b"".join(event.data for event in noise if isinstance(event, NoiseSeen))
    assert len(data) == 3_000_001
    assert data.endswith(b"\n")
    assert len(noise) < 200  # in bulk, not one for each of its 60,000 lines
    assert TextSaid("Flooded line 1.") in attempt.events
    assert TextSaid("Flooded line 2500.") in attempt.events
    assert attempt.update


def test_bytes_that_are_no_utf_8_do_not_disturb_the_rest(tmp_path: Path) -> None:
    attempt = run(agent(invalid_utf8=True), tmp_path)
    (noise,) = attempt.of(NoiseSeen)
    assert isinstance(noise, NoiseSeen)
    assert b"\xff\xfe" in noise.data
    assert TextSaid("half a sign: \ufffd") in attempt.events
    assert attempt.update


def test_a_last_line_that_is_cut_off_is_a_failure(tmp_path: Path) -> None:
    attempt = run(agent(partial_last_line=True), tmp_path)
    assert attempt.exit_code == 0
    assert not attempt.stdout.endswith(b"\n")
    assert attempt.verdict.failure is not None
    assert "in the middle" in attempt.verdict.failure.message


def test_a_model_that_was_cut_off_is_told_apart(tmp_path: Path) -> None:
    verdict = run(agent(stop_reason="length"), tmp_path).verdict
    assert verdict.truncated
    assert verdict.failure is None


def test_tokens_cost_steps_and_lines_of_standard_error_are_as_ordered(tmp_path: Path) -> None:
    who = agent(usage={"input": 1000, "output": 10}, cost_usd=0.5, steps=4, stderr=["one", "two"])
    attempt = run(who, tmp_path)
    finished = [event for event in attempt.of(StepFinished) if isinstance(event, StepFinished)]
    assert len(finished) == 4
    assert sum((event.usage for event in finished), Usage()) == Usage(1000, 10, cost_usd=0.5)
    assert attempt.stderr == "one\ntwo\n"


def test_more_steps_than_there_is_to_say_are_still_steps(tmp_path: Path) -> None:
    attempt = run(agent(steps=40), tmp_path)
    assert len(attempt.of(StepFinished)) == 40
    assert attempt.update


def test_an_unknown_price_is_not_a_price_of_zero(tmp_path: Path) -> None:
    attempt = run(agent(no_price=True), tmp_path)
    usages = [event.usage for event in attempt.of(StepFinished) if isinstance(event, StepFinished)]
    assert {usage.cost_usd for usage in usages} == {None}


def test_what_it_says_and_writes_can_be_ordered_exactly(tmp_path: Path) -> None:
    writes: JsonValue = {"score": 40, "payload.review.count": 2, "review.list": [1, None]}
    who = agent(text="Only this.", writes=writes, is_complete=True, termination_reason="because")
    attempt = run(who, tmp_path)
    assert attempt.verdict.text.startswith("Only this.\n")
    update = attempt.update.update
    assert update.payload == {"score": 40, "review": {"count": 2, "list": [1, None]}}
    assert (update.is_complete, update.termination_reason) == (True, "because")


def test_a_hanging_agent_has_said_something(tmp_path: Path) -> None:
    with running(agent(hang=True), tmp_path) as process:
        wait_for(tmp_path / "stdout.log", b'"step_start"', process)
        assert process.poll() is None


@posix_only
def test_a_silent_agent_that_ignores_sigterm_dies_by_sigkill_only(tmp_path: Path) -> None:
    with running(agent(hang_silent=True, ignore_sigterm=True, stderr=["ready"]), tmp_path) as process:
        wait_for(tmp_path / "stderr.log", b"ready", process)
        process.terminate()
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(0.3)
        process.kill()
        assert process.wait(10) == -signal.SIGKILL
    assert (tmp_path / "stdout.log").read_bytes() == b""


def test_an_endless_flood_goes_on_until_it_is_ended(tmp_path: Path) -> None:
    with running(agent(flood={"endless": True}), tmp_path) as process:
        deadline = time.monotonic() + 60
        while not (tmp_path / "stdout.log").exists() or (tmp_path / "stdout.log").stat().st_size < 2_000_000:
            assert time.monotonic() < deadline
            time.sleep(0.002)
        assert process.poll() is None


@pytest.mark.parametrize("kind", ["plain", "setsid", "double_fork"])
def test_a_child_that_is_left_behind_lives_on_until_it_is_ended(tmp_path: Path, kind: str) -> None:
    attempt = run(agent(leave_child=kind), tmp_path)
    assert attempt.exit_code == 0
    child = psutil.Process(int((tmp_path / "demo_child.pid").read_text()))
    try:
        assert child.is_running()
        if os.name == "posix":
            own_session = os.getsid(child.pid) == child.pid
            assert own_session is (kind != "plain")
            child.terminate()
            with pytest.raises(psutil.TimeoutExpired):
                child.wait(0.2)
    finally:
        child.kill()
        child.wait(10)


# --- the orders are checked ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("demo", "place", "says"),
    [
        ({"secnds": 3}, "demo.secnds", "Did you mean seconds?"),
        ({"fail": {"exitcode": 3}}, "demo.fail.exitcode", "Did you mean exit_code?"),
        ({"fail": True}, "demo.fail", "keys and values"),
        ({"spend": {"cost": 3}}, "demo.spend.cost", "cost_usd"),
        ({"bad_update": "fence"}, "demo.bad_update.kind", "'fenced'"),
        ({"seconds": -1}, "demo.seconds", "greater than or equal to 0"),
        ({"steps": "many"}, "demo.steps", "valid integer"),
        (3, "demo", "keys and values"),
        ({"text": "long " * 5000}, "demo", "too long for a command line"),
    ],
)
def test_wrong_orders_are_named_with_their_place(
    tmp_path: Path, demo: JsonValue, place: str, says: str
) -> None:
    who = AgentDefinition.model_validate({"name": "x", "demo": demo, "path": tmp_path / "x.md"})
    (problem,) = BACKEND.check([order(who, tmp_path)] * 2)
    assert problem.place == place
    assert says in problem.text()
    assert problem.file == tmp_path / "x.md"
    with pytest.raises(UserFileError):
        BACKEND.command(order(who, tmp_path))


def test_the_example_agents_have_no_problem(tmp_path: Path) -> None:
    library = AgentLibrary(resources.agents_folder())
    orders = [
        order(file.agent, tmp_path)
        for path in sorted(resources.agents_folder().rglob("*.md"))
        if (file := read_agent(path)).agent is not None
    ]
    assert len(orders) >= 13
    assert library.get("vera") is not None
    assert BACKEND.check(orders) == []
