"""What a run does when all goes well: phases, order, state, merging, completion, and the run folder."""

from __future__ import annotations

from pathlib import Path

import orjson
import pytest

import resources
from core.agent import AgentLibrary
from core.engine import RunRefused
from core.events import (
    AttemptFinished,
    AttemptStarted,
    ConditionChecked,
    GroupStarted,
    IterationStarted,
    Merged,
    Noted,
    PhaseStarted,
    RunStatus,
    TurnStatus,
)
from core.planning import plan_run
from core.problems import UserFileError
from core.progress import RunProgress
from core.workflow_file import load_workflow
from tests.core.run_support import FinishedRun, Workshop, run_plan


@pytest.fixture
def shop(tmp_path: Path) -> Workshop:
    return Workshop(tmp_path)


def most_at_once(run: FinishedRun) -> int:
    """How many attempts were at work at the same time."""
    running = most = 0
    for event in run.events:
        if isinstance(event, AttemptStarted):
            running += 1
        elif isinstance(event, AttemptFinished):
            running -= 1
        most = max(most, running)
    return most


def test_every_shipped_example_completes(tmp_path: Path) -> None:
    for example in resources.example_workflows():
        plan = plan_run(
            load_workflow(example), AgentLibrary(resources.agents_folder()), default_workdir=tmp_path
        )
        run = run_plan(plan)
        assert run.reason == "completed", example.name
        assert run.finished.status is RunStatus.COMPLETED
        assert 2 <= run.finished.iterations <= 4
        assert run.finished.usage.total_tokens > 0
        assert run.finished.usage.cost_usd


def test_a_sequential_agent_gets_what_the_one_before_it_wrote(shop: Workshop) -> None:
    shop.agent("first", writes={"a": 1})
    shop.agent("second", writes={"b": 2})
    run = shop.run({"preparation_agents": ["first", "second"]})
    assert run.payload == {"a": 1, "b": 2}
    assert b'"a": 1' in (run.turn_folder("second") / "prompt.md").read_bytes()


def test_agents_of_a_parallel_group_get_the_same_state_and_not_what_the_others_write(shop: Workshop) -> None:
    for name in ("one", "two", "three"):
        shop.agent(name, writes={name: 1})
    shop.agent("before", writes={"base": 7})
    run = shop.run(
        {
            "preparation_agents": ["before"],
            "loop_agents": [{"mode": "parallel", "agents": ["one", "two", "three"]}],
            "end_state_condition": "len(payload) == 4",
        }
    )

    def state(title: str) -> bytes:
        text = (run.turn_folder(title) / "prompt.md").read_bytes()
        return text[text.rindex(b"<workflow_state>") : text.rindex(b"</workflow_state>")]

    assert state("one 1") == state("two 1") == state("three 1")
    assert b'"base": 7' in state("one 1")
    assert b'"two"' not in state("three 1")
    assert run.payload == {"base": 7, "one": 1, "two": 1, "three": 1}


def test_agents_of_a_parallel_group_are_at_work_at_the_same_time(shop: Workshop) -> None:
    # Each waits for the other's file, so that one after the other they would never end.
    script = (
        "import pathlib, sys, time; pathlib.Path(sys.argv[1]).touch()\n"
        "while not pathlib.Path(sys.argv[2]).exists(): time.sleep(0.01)\n"
        "print('<state_update>{}</state_update>')"
    )
    shop.command("ping", "python3", "-c", script, "a", "b", timeout=30)
    shop.command("pong", "python3", "-c", script, "b", "a", timeout=30)
    run = shop.run({"preparation_agents": [{"mode": "parallel", "agents": ["ping", "pong"]}]})
    assert run.reason == "completed"


def test_updates_are_merged_in_the_order_of_the_group_whoever_ends_first(shop: Workshop) -> None:
    shop.command("slow", "sh", "-c", 'sleep 0.4; echo \'<state_update>{"payload":{"x":1}}</state_update>\'')
    shop.command("fast", "sh", "-c", 'echo \'<state_update>{"payload":{"x":2}}</state_update>\'')
    run = shop.run({"preparation_agents": [{"mode": "parallel", "agents": ["fast", "slow"]}]})
    assert run.payload == {"x": 1}
    (merged,) = run.of(Merged)
    (conflict,) = merged.conflicts
    assert (conflict.path, conflict.first_writer, conflict.first_value) == ("payload.x", "fast", 2)
    assert (conflict.second_writer, conflict.second_value, conflict.outcome) == ("slow", 1, 1)
    assert merged in run.journal


def test_the_end_condition_is_checked_after_each_sequential_agent(shop: Workshop) -> None:
    shop.agent("first", writes={"done": True})
    shop.agent("second")
    run = shop.run({"loop_agents": ["first", "second"], "end_state_condition": "payload.get('done', False)"})
    assert run.reason == "completed"
    assert [turn.label for turn in run.progress.turns.values() if turn.is_over and turn.started] == ["first"]


def test_the_end_condition_is_checked_only_after_the_whole_parallel_group(shop: Workshop) -> None:
    shop.agent("first", writes={"done": True})
    shop.agent("second", writes={"done": False})
    run = shop.run(
        {
            "loop_agents": [{"mode": "parallel", "agents": ["first", "second"]}],
            "end_state_condition": "payload.get('done', False)",
            "max_loops": 1,
        }
    )
    assert [event.holds for event in run.of(ConditionChecked)] == [False]
    assert run.reason == "max_loops_reached"


def test_one_pass_over_all_groups_is_one_iteration(shop: Workshop) -> None:
    for name in ("a", "b", "c"):
        shop.agent(name)
    run = shop.run({"loop_agents": ["a", {"mode": "parallel", "agents": ["b", "c"]}], "max_loops": 3})
    assert [event.iteration for event in run.of(IterationStarted)] == [1, 2, 3]
    assert len(run.progress.turns) == 9
    assert run.finished.iterations == 3


def test_completion_ends_the_loop_and_finalization_still_runs(shop: Workshop) -> None:
    shop.agent("auditor", role="auditor", is_complete=True)
    shop.agent("after", writes={"report": "done"})
    run = shop.run({"loop_agents": ["auditor"], "finalization_agents": ["after"]})
    assert [event.phase for event in run.of(PhaseStarted)] == ["loop", "finalization"]
    assert run.reason == "completed"
    assert run.payload["report"] == "done"


def test_finalization_runs_at_max_loops_only_where_the_workflow_says_so(shop: Workshop) -> None:
    shop.agent("worker")
    shop.agent("after")
    workflow = {"loop_agents": ["worker"], "finalization_agents": ["after"], "max_loops": 2}
    run = shop.run({**workflow})
    assert run.reason == "max_loops_reached"
    assert run.finished.status is RunStatus.ENDED
    assert [event.phase for event in run.of(PhaseStarted)] == ["loop"]
    run = shop.run({**workflow, "finalize_on_abort": True})
    assert run.reason == "max_loops_reached"
    assert [event.phase for event in run.of(PhaseStarted)] == ["loop", "finalization"]


def test_completion_counts_only_from_agents_that_may_complete(shop: Workshop) -> None:
    shop.agent("author", role="author", is_complete=True)
    run = shop.run({"loop_agents": ["author"], "max_loops": 1})
    assert run.reason == "max_loops_reached"
    assert not run.state.is_complete
    assert any("author" in note.message for note in run.of(Noted))


def test_the_same_agent_may_stand_twice_in_a_group(shop: Workshop) -> None:
    shop.agent("vera", writes={"x": 1})
    run = shop.run({"preparation_agents": [{"mode": "parallel", "agents": ["vera", "vera"]}]})
    (group,) = run.of(GroupStarted)
    assert [ref.label for ref in group.turns] == ["vera", "vera 2"]
    assert len({ref.folder for ref in group.turns}) == 2


def test_no_more_agents_run_at_once_than_allowed(shop: Workshop) -> None:
    shop.command("w", "sh", "-c", "sleep 0.1; echo '<state_update>{}</state_update>'")
    group = {"mode": "parallel", "agents": ["w"] * 9}
    assert most_at_once(shop.run({"preparation_agents": [group], "max_parallel_agents": 3})) == 3
    group["max_parallel"] = 2
    assert most_at_once(shop.run({"preparation_agents": [group], "max_parallel_agents": 3})) == 2


def test_a_broken_end_condition_refuses_the_run_before_anything_starts(shop: Workshop) -> None:
    shop.agent("a")
    with pytest.raises(UserFileError, match="end_state_condition"):
        shop.run({"loop_agents": ["a"], "end_state_condition": "payload.get("})
    assert not (shop.folder / ".openloop").exists()


def test_a_condition_that_cannot_be_evaluated_does_not_hold_and_is_told(shop: Workshop) -> None:
    shop.agent("a", writes={"other": 1})
    run = shop.run({"loop_agents": ["a"], "end_state_condition": "payload['score'] > 3", "max_loops": 1})
    assert run.reason == "max_loops_reached"
    assert any(note.warning and "score" in note.message for note in run.of(Noted))


def test_a_missing_program_refuses_the_run_before_anything_starts(shop: Workshop) -> None:
    shop.command("gone", "no-such-program-anywhere")
    with pytest.raises(RunRefused, match="no-such-program-anywhere"):
        shop.run({"preparation_agents": ["gone"]})
    assert not (shop.folder / ".openloop").exists()


def test_the_run_folder_holds_everything_that_was_sent_and_said(shop: Workshop) -> None:
    shop.agent("vera", role="auditor", writes={"score": 9}, is_complete=True)
    run = shop.run({"name": "small", "loop_agents": ["vera"]})
    assert orjson.loads((run.folder / "workflow.json").read_bytes())["name"] == "small"
    folder = run.turn_folder("vera 1")
    assert folder.name == "001-vera"
    names = {path.name for path in folder.iterdir()}
    assert {"prompt.md", "stdout.log", "stderr.log", "update.json", "transcript.log"} <= names
    assert orjson.loads((folder / "update.json").read_bytes())["payload"] == {"score": 9}
    assert b"vera" in (run.folder / "overview.log").read_bytes()
    assert orjson.loads((run.folder / "state.json").read_bytes())["payload"] == {"score": 9}
    assert (shop.folder / ".openloop" / ".gitignore").read_text(encoding="utf-8") == "*\n"


def test_the_journal_tells_the_same_as_watching(shop: Workshop) -> None:
    shop.agent("a", writes={"x": 1})
    shop.agent("b", writes={"x": 2})
    run = shop.run({"loop_agents": [{"mode": "parallel", "agents": ["a", "b"]}], "max_loops": 2})
    replayed = RunProgress()
    replayed.apply_all(run.journal)
    assert replayed == run.progress
    assert [event for event in run.events if event.journaled] == run.journal


def test_the_journal_grows_by_the_update_and_not_by_the_state(shop: Workshop) -> None:
    shop.agent("a")
    big = "x" * 1_000_000
    run = shop.run({"loop_agents": ["a"], "max_loops": 5, "initial_payload": {"big": big}})
    assert big.encode() in (run.turn_folder("a 5") / "prompt.md").read_bytes()
    assert (run.folder / "journal.jsonl").stat().st_size < 100_000


def test_an_update_is_on_disk_before_it_is_merged(shop: Workshop) -> None:
    shop.agent("a", writes={"x": 1})
    run = shop.run({"preparation_agents": ["a"]})
    kinds = [event.type for event in run.journal]
    assert kinds.index("turn_finished") < kinds.index("merged")
    assert run.turn("a").status is TurnStatus.SUCCEEDED
