"""The real opencode CLI, from the command line and from the window, with the tests' own model on loopback.

Every start of opencode costs seconds of CPU, so one run shows as much as it can.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from core.events import (
    AttemptFinished,
    AttemptKind,
    AttemptStarted,
    Event,
    GroupStarted,
    Merged,
    RunFinished,
    RunStarted,
    RunStatus,
    SessionKnown,
    TurnFinished,
    TurnStatus,
)
from core.journal import read_journal
from core.progress import RunProgress
from tests.e2e.desk import Desk, Project, marked_processes, parallel, texts_in
from tests.opencode_support import PROJECT, ScratchOpencode, opencode_program, scratch_opencode
from tests.stub_llm import Reply, Rule, StubModel, Tokens, ToolCall

pytestmark = [pytest.mark.opencode, pytest.mark.qt_log_ignore("This plugin does not support", extend=True)]

ServeModel = Callable[[Sequence[Rule]], StubModel]


@pytest.fixture(scope="module")
def opencode_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One home for all tests of this file: opencode makes its database only once. Skips without opencode."""
    opencode_program()
    return tmp_path_factory.mktemp("opencode")


@pytest.fixture
def serve(opencode_home: Path, monkeypatch: pytest.MonkeyPatch, mark: str) -> Iterator[ServeModel]:
    """Start a model that follows rules, and make the scratch opencode ask it."""
    stubs: list[StubModel] = []

    def start(rules: Sequence[Rule]) -> StubModel:
        stub = StubModel(rules)
        scratch: ScratchOpencode = scratch_opencode(opencode_home, stub.base_url)
        scratch.apply(monkeypatch)
        stub.start()
        stubs.append(stub)
        return stub

    yield start
    for stub in stubs:
        stub.close()


def update(**payload: object) -> str:
    """What a model says that ends with a state update."""
    return f"Done.\n<state_update>{json.dumps({'payload': payload})}</state_update>"


def persona(project: Project, name: str, role: str = "author") -> str:
    """Write an agent of opencode, which the stub knows by its name in the prompt."""
    path = project.folder / "agents" / f"{name}.md"
    path.write_text(
        f"---\nname: {name}\nrole: {role}\nbackend: opencode\nmodel: stub/x\n---\nYou are persona-{name}.\n",
        encoding="utf-8",
    )
    return name


def said_by(name: str, *replies: Reply) -> Rule:
    """The replies to an agent, one after another."""
    return Rule(replies, user=f"persona-{name}")


def run_command(path: Path, *words: str) -> tuple[int, list[dict[str, object]], str]:
    """`python main.py run --json` in the current folder; gives exit code, events and standard error."""
    done = subprocess.run(
        [sys.executable, str(PROJECT / "main.py"), "run", str(path), "--json", *words],
        capture_output=True,
        timeout=300,
        check=False,
    )
    events = [json.loads(line) for line in done.stdout.splitlines()]
    return done.returncode, events, done.stderr.decode("utf-8", "replace")


def journal_of(events: Sequence[dict[str, object]]) -> list[Event]:
    return read_journal(Path(str(events[0]["folder"])) / "journal.jsonl")


def told(events: Sequence[Event]) -> RunProgress:
    progress = RunProgress()
    progress.apply_all(events)
    return progress


def everything(project: Project) -> Path:
    """A sequential group and a parallel group of three, with a tool call and a correction in it."""
    for name in ("amala", "vera", "linter", "tester"):
        persona(project, name)
    return project.workflow(
        preparation_agents=[
            {"agents": ["amala"], "mode": "sequential"},
            parallel("vera", "linter", "tester"),
        ]
    )


def rules_for_everything() -> list[Rule]:
    return [
        said_by("amala", Reply(update(plan="A"), tokens=Tokens(1000, 50, 400, 20))),
        said_by("linter", Reply(update(plan="L", linter="read"))),
        Rule((Reply(update(tester="green")),), user="persona-tester", role="tool"),
        said_by(
            "tester",
            Reply(tools=[ToolCall("bash", {"command": "echo the tests are green", "description": "test"})]),
        ),
        said_by("vera", Reply("I have looked at it and like it.")),
        # The correction is the last user message then, and does not name the persona again.
        Rule((Reply(update(plan="V", vera="corrected")),)),
    ]


def check_correction(events: Sequence[Event], turn: str) -> None:
    attempts = [event.kind for event in events if isinstance(event, AttemptStarted) and event.turn == turn]
    assert attempts == [AttemptKind.FIRST, AttemptKind.CORRECTION]
    sessions = [event.session for event in events if isinstance(event, SessionKnown) and event.turn == turn]
    assert len(sessions) == 1, "the correction is in the same session"


def check_everything(events: Sequence[Event]) -> RunProgress:
    progress = told(events)
    assert isinstance(events[0], RunStarted)
    assert isinstance(events[-1], RunFinished)
    assert progress.status is RunStatus.COMPLETED, progress.message
    assert {turn.label: turn.status for turn in progress.turns.values()} == dict.fromkeys(
        ("amala", "vera", "linter", "tester"), TurnStatus.SUCCEEDED
    )
    groups = [event for event in events if isinstance(event, GroupStarted)]
    assert [group.mode for group in groups] == ["sequential", "parallel"]
    merged = [event for event in events if isinstance(event, Merged)]
    assert [event.writers for event in merged] == [("amala",), ("vera", "linter", "tester")]
    assert {conflict.path for conflict in merged[1].conflicts} == {"payload.plan"}
    turns = {turn.label: turn for turn in progress.turns.values()}
    check_correction(events, turns["vera"].id)
    assert turns["amala"].spent.usage.total_tokens > 1000
    assert turns["amala"].spent.usage.cost_usd
    updates = {
        event.turn: event.update.payload
        for event in events
        if isinstance(event, TurnFinished) and event.update is not None
    }
    assert updates[turns["tester"].id] == {"tester": "green"}
    assert updates[turns["vera"].id] == {"plan": "V", "vera": "corrected"}
    return progress


def test_a_sequential_and_a_parallel_group_run_from_the_command_line(
    project: Project, serve: ServeModel
) -> None:
    stub = serve(rules_for_everything())
    code, lines, stderr = run_command(everything(project))
    assert code == 0, stderr
    events = journal_of(lines)
    assert [line["type"] for line in lines if line["type"] != "turn_activity"] == [
        event.type for event in events
    ]
    progress = check_everything(events)
    state = json.loads((Path(progress.folder) / "state.json").read_text("utf-8"))
    assert state["payload"] == {"plan": "L", "vera": "corrected", "linter": "read", "tester": "green"}
    # The group's agents got the state that amala left, and all the same.
    firsts = [
        next(request.last_user for request in stub.requests if f"persona-{name}" in request.last_user)
        for name in ("vera", "linter", "tester")
    ]
    states = {text[text.index("<workflow_state>") : text.index("</workflow_state>")] for text in firsts}
    assert len(states) == 1
    assert '"plan":"A"' in states.pop().replace(" ", "")


def test_a_parallel_group_runs_from_the_window_and_is_read_by_a_person(desk: Desk, serve: ServeModel) -> None:
    serve(rules_for_everything())
    for name in ("vera", "tester"):
        persona(desk.project, name)
    desk.open(desk.project.workflow(preparation_agents=[parallel("vera", "tester")]))
    desk.click(desk.window.top_bar.run_button)
    # opencode's first start makes its database, and asks for its models before that.
    desk.until(lambda: desk.events, "the run never began", seconds=120)
    desk.until(lambda: not desk.controller.running, "the run never ended", seconds=300)
    progress = told(desk.journal())
    assert progress.status is RunStatus.COMPLETED, progress.message
    check_correction(desk.journal(), next(t.id for t in progress.turns.values() if t.label == "vera"))
    assert desk.badges() == {"vera": TurnStatus.SUCCEEDED, "tester": TurnStatus.SUCCEEDED}
    view = desk.open_tab("tester")
    desk.until_log_says(view, "echo the tests are green")
    assert not any('"type"' in line for line in view.visible_text()), "a person reads no JSON"
    desk.until_log_says(desk.open_tab("vera"), "I have looked at it and like it.")
    assert desk.run_view.banner.title.text() == desk.finished.message


def test_stop_now_in_the_middle_of_a_tool_call_leaves_nothing_alive(desk: Desk, serve: ServeModel) -> None:
    call = ToolCall("bash", {"command": "echo $$ > sleeper.pid; sleep 271", "description": "wait"})
    stub = serve([said_by("sleeper", Reply(tools=[call]))])
    persona(desk.project, "sleeper")
    desk.open_new(preparation_agents=["sleeper"])
    desk.click(desk.window.top_bar.run_button)

    def sleeps() -> bool:
        return any("sleep 271" in line for line in desk.alive())

    desk.until(sleeps, "the tool was never called", seconds=120)
    assert stub.requests
    desk.stop("Stop now")
    desk.until_ended()
    assert desk.alive() == []
    assert desk.finished.termination_reason == "stopped"
    assert desk.badges() == {"sleeper": TurnStatus.STOPPED}
    (finished,) = (event for event in desk.events if isinstance(event, AttemptFinished))
    assert finished.exit_code != 0


def test_a_refusal_of_the_provider_is_told_in_its_words(
    project: Project, serve: ServeModel, mark: str
) -> None:
    serve([said_by("amala", Reply(status=400, error="The context is too long for this model."))])
    persona(project, "amala")
    code, lines, stderr = run_command(project.workflow(preparation_agents=["amala"]))
    assert code == 1, stderr
    finished = journal_of(lines)[-1]
    assert isinstance(finished, RunFinished)
    assert finished.status is RunStatus.FAILED
    assert finished.termination_reason == "agent_error:amala"
    assert "amala failed" in finished.message
    assert "The context is too long for this model." in finished.message
    assert marked_processes(mark) == []


def test_an_unknown_model_is_told_before_anything_runs(desk: Desk, serve: ServeModel) -> None:
    stub = serve([])
    persona(desk.project, "amala")
    desk.open_new(preparation_agents=[{"agents": [{"agent": "amala", "model": "stub/y"}]}])
    desk.click(desk.window.top_bar.run_button)
    desk.until(lambda: desk.window.notices.bar("run") is not None, "nothing was said", seconds=120)
    bar = desk.window.notices.bar("run")
    assert bar is not None
    said = "\n".join(texts_in(bar))
    assert "opencode does not know the model stub/y." in said
    assert "stub/x" in said
    assert desk.events == []
    assert stub.requests == []
    assert not (desk.project.folder / ".openloop").exists()
    desk.until_nothing_alive()
