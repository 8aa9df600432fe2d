"""A run that ended before it was complete goes on where it was, and pays for nothing twice."""

from __future__ import annotations

import json
import os
import shutil
from collections import Counter
from pathlib import Path

import pytest

from core.engine import Engine, RunRefused
from core.events import (
    AttemptStarted,
    Event,
    InitScriptStarted,
    Merged,
    RunStarted,
    StopKind,
    TurnFinished,
    TurnStarted,
    TurnStatus,
)
from core.journal import JOURNAL_NAME, read_journal
from core.json_types import JsonObject
from core.open_runs import RunLock
from core.planning import RunOverrides
from core.problems import UserFileError
from core.recorded_run import RunUnreadable, list_runs, read_run
from core.resuming import prepare_resume
from core.run_record import new_run_id
from core.state import MergeRule
from tests.core.run_support import FinishedRun, Workshop, resume, run_plan


@pytest.fixture
def shop(tmp_path: Path) -> Workshop:
    return Workshop(tmp_path)


def labels_started(run: FinishedRun) -> list[str]:
    titles = {turn.id: turn.title for turn in run.progress.turns.values()}
    return sorted(titles[event.turn] for event in run.of(TurnStarted))


def attempts_after_an_answer(events: list[Event]) -> list[str]:
    """Turns that ran again although their update was recorded."""
    answered: set[str] = set()
    again = []
    for event in events:
        if isinstance(event, TurnFinished) and event.update is not None:
            answered.add(event.turn)
        elif isinstance(event, AttemptStarted) and event.turn in answered:
            again.append(event.turn)
    return again


def open_turns(events: list[Event]) -> list[str]:
    count: Counter[str] = Counter()
    for event in events:
        if isinstance(event, TurnStarted):
            count[event.turn] += 1
        elif isinstance(event, TurnFinished):
            count[event.turn] -= 1
    return [turn for turn, times in count.items() if times > 0]


def stop_when(kind: type[Event], count: int) -> object:
    seen = [0]

    def watch(engine: Engine, event: Event) -> None:
        if isinstance(event, kind):
            seen[0] += 1
            if seen[0] == count:
                engine.stop(StopKind.NOW)

    return watch


# --- what is done stays done --------------------------------------------------------------------------


def test_only_the_unfinished_agents_of_a_parallel_group_start_again(shop: Workshop) -> None:
    """Pain 23."""
    shop.agent("quick", writes={"quick": 1})
    shop.agent(
        "slow", writes={"slow": 1}, fail={"exit_code": 1, "error": "Gone.", "first": 1, "after_steps": 1}
    )
    group: JsonObject = {"mode": "parallel", "agents": ["quick", "slow"], "max_parallel": 1}
    first = shop.run({"preparation_agents": [group, "quick"]})
    assert first.reason == "agent_error:slow"
    again = resume(first.folder)
    assert again.reason == "completed"
    assert labels_started(again) == ["quick", "slow"]  # that of the second group, and the one that failed
    assert again.payload == {"quick": 1, "slow": 1}
    assert attempts_after_an_answer(again.journal) == []


def test_results_paid_before_an_abort_count_after_it(shop: Workshop) -> None:
    """Pain 15."""
    shop.agent("done", writes={"list": [1]}, cost_usd=0.5)
    shop.agent("bad", writes={"list": [2]}, fail={"exit_code": 1, "error": "No.", "first": 1})
    group: JsonObject = {
        "mode": "parallel",
        "agents": ["done", "bad"],
        "max_parallel": 1,
        "merge": {"payload.list": "append"},
    }
    first = shop.run({"preparation_agents": [group]})
    assert first.reason == "agent_error:bad"
    assert first.payload == {}
    again = resume(first.folder)
    assert again.payload == {"list": [1, 2]}
    assert labels_started(again) == ["bad"]
    assert again.finished.usage.cost_usd == pytest.approx(
        (first.finished.usage.cost_usd or 0) + (again.turn("bad").usage.cost_usd or 0)
    )


def test_a_failure_that_the_group_went_on_without_is_history(shop: Workshop) -> None:
    shop.agent("bad", fail={"exit_code": 1, "error": "No.", "first": 1})
    shop.agent("good", writes={"good": 1})
    shop.agent("last", writes={"last": 1}, fail={"exit_code": 1, "error": "Later.", "first": 1})
    group: JsonObject = {"mode": "parallel", "agents": ["bad", "good"], "on_parallel_error": "continue"}
    first = shop.run({"preparation_agents": [group, "last"]})
    assert first.reason == "agent_error:last"
    again = resume(first.folder)
    assert again.reason == "completed"
    assert labels_started(again) == ["last"]
    assert again.payload["_failures"] == first.payload["_failures"]


def test_wherever_the_journal_was_cut_the_end_is_the_same(shop: Workshop) -> None:
    """The journal of a whole run, cut at many bytes: each time the run goes on to the same state, no turn
    with a recorded update runs again, and no turn is left marked running."""
    shop.agent("plan", writes={"plan": "p"})
    shop.agent("left", writes={"seen": ["left"], "n": 1})
    shop.agent("right", writes={"seen": ["right"], "n": 2})
    shop.agent("judge", role="auditor", writes={"judged": True})
    workflow: JsonObject = {
        "preparation_agents": ["plan"],
        "loop_agents": [{"mode": "parallel", "agents": ["left", "right"]}, "judge"],
        "finalization_agents": ["plan"],
        "max_loops": 3,
        "end_state_condition": "payload.get('judged', False) and iteration == 2",
        "merge": {"payload.seen": "append", "payload.n": "sum"},
    }
    whole = shop.run(workflow)
    assert whole.reason == "completed"
    journal = (whole.folder / JOURNAL_NAME).read_bytes()
    starts = [0, *(place + 1 for place, byte in enumerate(journal) if byte == 10)]
    assert len(starts) > 40
    # After every third line, and in the middle of the line after it.
    cuts = [cut for place in range(1, len(starts) - 1, 3) for cut in (starts[place], starts[place] + 25)]
    for number, cut in enumerate(cuts):
        folder = whole.folder.parent / f"cut-{number}"
        shutil.copytree(whole.folder, folder, ignore=shutil.ignore_patterns("run.lock"))
        (folder / JOURNAL_NAME).write_bytes(journal[:cut])
        again = resume(folder)
        assert again.reason == "completed", cut
        assert again.payload == whole.payload, cut
        events = again.journal
        assert attempts_after_an_answer(events) == [], cut
        assert open_turns(events) == [], cut


def test_what_was_done_is_not_told_a_second_time(shop: Workshop) -> None:
    shop.agent("a", writes={"a": 1})
    shop.agent("b", writes={"b": 1}, fail={"exit_code": 1, "error": "No.", "first": 1})
    first = shop.run(
        {"preparation_agents": ["a"], "loop_agents": ["b"], "end_state_condition": "'b' in payload"}
    )
    again = resume(first.folder)
    assert len([event for event in again.journal if isinstance(event, Merged)]) == 2
    started = [event for event in again.journal if isinstance(event, RunStarted)]
    assert [event.resumed for event in started] == [False, True]
    assert len({event.run_id for event in started}) == 1


def test_a_stopped_run_goes_on(shop: Workshop) -> None:
    shop.agent("a", writes={"a": 1})
    shop.agent("b", writes={"b": 1}, hang=True)
    first = shop.run({"preparation_agents": ["a", "b"]}, stop_when(TurnStarted, 2))  # type: ignore[arg-type]
    assert first.reason == "stopped"
    shop.agent("b", writes={"b": 1})
    again = resume(first.folder)
    assert again.reason == "completed"
    assert again.payload == {"a": 1, "b": 1}
    assert labels_started(again) == ["b"]


def test_the_time_between_two_lives_of_a_run_is_not_its_time(shop: Workshop) -> None:
    shop.agent("a", fail={"exit_code": 1, "error": "No.", "first": 1})
    first = shop.run({"preparation_agents": ["a"]})
    path = first.folder / JOURNAL_NAME
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    for line in lines:
        line["time"] -= 86_400
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    again = resume(first.folder)
    progress = read_run(first.folder).progress
    assert progress.seconds(again.finished.time) < 3600
    assert again.finished.seconds < 3600
    assert progress.lives == 2


# --- what has to change before it can go on ------------------------------------------------------------


def refusal(folder: Path, overrides: RunOverrides | None = None) -> str:
    with pytest.raises(UserFileError) as caught:
        resume(folder, overrides=overrides)
    return caught.value.problems[0].text()


def test_more_loops_can_be_allowed(shop: Workshop) -> None:
    shop.agent("a", writes={"n": 1})
    workflow: JsonObject = {
        "loop_agents": ["a"],
        "max_loops": 2,
        "end_state_condition": "payload.get('n', 0) >= 4 or iteration == 4",
        "finalize_on_abort": True,
        "finalization_agents": ["a"],
    }
    first = shop.run(workflow)
    assert first.reason == "max_loops_reached"
    assert "“Loops, at most”" in refusal(first.folder)
    again = resume(first.folder, overrides=RunOverrides(max_loops=5))
    assert again.reason == "completed"
    assert labels_started(again) == ["a", "a 3", "a 4"]
    folders = [turn.folder for turn in again.progress.turns.values()]
    assert len(set(folders)) == len(folders)
    # Interrupted again, it would still know the new limit.
    assert json.loads((first.folder / "workflow.json").read_text(encoding="utf-8"))["max_loops"] == 5


def test_a_cap_can_be_raised(shop: Workshop) -> None:
    """Pain 23."""
    shop.agent("dear", writes={"n": 1}, cost_usd=0.5)
    first = shop.run(
        {"preparation_agents": ["dear", "dear", "dear"], "budget": {"max_cost_usd": 0.9}},
    )
    assert first.reason == "budget_exceeded:max_cost_usd"
    assert "$1.00" in refusal(first.folder)
    assert "max_cost_usd" in refusal(first.folder, RunOverrides(max_cost_usd=1.0))
    again = resume(first.folder, overrides=RunOverrides(max_cost_usd=5))
    assert again.reason == "completed"
    assert again.finished.usage.cost_usd == pytest.approx(1.5)
    assert len(again.of(TurnStarted)) == 1


def test_a_timeout_can_be_raised(shop: Workshop) -> None:
    shop.agent("a", timeout=0.2, hang=True)
    first = shop.run({"preparation_agents": ["a"]})
    assert first.reason == "timeout:a:0.2"
    shop.agent("a", timeout=0.2)
    again = resume(first.folder, overrides=RunOverrides(agent_timeout=30))
    assert again.reason == "completed"


def test_a_merge_conflict_needs_another_rule(shop: Workshop) -> None:
    shop.agent("one", writes={"x": 1})
    shop.agent("two", writes={"x": 2})
    group: JsonObject = {"mode": "parallel", "agents": ["one", "two"], "merge": {"payload.x": "error"}}
    first = shop.run({"preparation_agents": [group, "one"]})
    assert first.reason == "merge_conflict:payload.x"
    assert "--merge payload.x=last" in refusal(first.folder)
    again = resume(first.folder, overrides=RunOverrides(merge={"payload.x": MergeRule.MAX}))
    assert again.reason == "completed"
    assert len(again.of(TurnStarted)) == 1


@pytest.mark.parametrize(("path", "rule"), [("nonsense", "first"), ("is_complete", "sum")])
def test_a_merge_rule_that_makes_no_sense_is_refused(shop: Workshop, path: str, rule: str) -> None:
    shop.agent("a", fail={"exit_code": 1, "error": "No.", "first": 1})
    first = shop.run({"preparation_agents": ["a"]})
    assert path in refusal(first.folder, RunOverrides(merge={path: MergeRule(rule)}))


def test_no_rule_changes_what_was_merged_before(shop: Workshop) -> None:
    shop.agent("one", writes={"x": 1})
    shop.agent("bad", fail={"exit_code": 1, "error": "No.", "first": 1})
    first = shop.run({"preparation_agents": ["one", "bad"]})
    assert "what was merged stays" in refusal(first.folder, RunOverrides(merge={"payload.x": MergeRule.MAX}))


def test_a_cap_of_a_group_that_is_reached_has_to_be_raised(shop: Workshop) -> None:
    shop.agent("dear", cost_usd=0.5)
    group: JsonObject = {"mode": "parallel", "agents": ["dear", "dear"], "max_parallel": 1}
    first = shop.run({"preparation_agents": [group], "budget": {"max_cost_usd_per_group": 0.5}})
    assert "“Budget of a group”" in refusal(first.folder)
    overrides = RunOverrides(max_cost_usd_per_group=2)
    assert resume(first.folder, overrides=overrides).reason == "completed"


def test_a_complete_run_does_not_go_on(shop: Workshop) -> None:
    shop.agent("a")
    assert "complete" in refusal(shop.run({"preparation_agents": ["a"]}).folder)


def test_nobody_runs_a_run_twice_at_once(shop: Workshop) -> None:
    shop.agent("a", fail={"exit_code": 1, "error": "No.", "first": 1})
    first = shop.run({"preparation_agents": ["a"]})
    said: list[str] = []

    def meanwhile(engine: Engine, event: Event) -> None:
        if isinstance(event, TurnStarted):
            assert read_run(first.folder).going_on
            said.append(refusal(first.folder))

    again = resume(first.folder, meanwhile)
    assert again.reason == "completed"
    assert "going on" in said[0]
    assert not read_run(first.folder).going_on


def test_of_two_that_begin_at_the_same_moment_one_is_refused(shop: Workshop) -> None:
    shop.agent("a", fail={"exit_code": 1, "error": "No.", "first": 1})
    recorded = read_run(shop.run({"preparation_agents": ["a"]}).folder)
    plan = prepare_resume(recorded).plan
    before = read_journal(recorded.folder / JOURNAL_NAME)
    lock = RunLock(recorded.folder)
    lock.acquire()
    try:
        with pytest.raises(RunRefused):
            run_plan(plan, recorded=recorded)
    finally:
        lock.release()
    assert read_journal(recorded.folder / JOURNAL_NAME) == before


def test_a_run_that_has_written_its_end_is_over_though_its_folder_is_not_let_go_yet(shop: Workshop) -> None:
    shop.agent("a")
    folder = shop.run({"preparation_agents": ["a"]}).folder
    lock = RunLock(folder)
    lock.acquire()
    try:
        assert read_run(folder).obstacle == "It is complete."
    finally:
        lock.release()


# --- folders that suffered -----------------------------------------------------------------------------


def test_lines_that_cannot_be_read_cost_only_what_stood_in_them(shop: Workshop) -> None:
    shop.agent("a", writes={"a": 1})
    shop.agent("b", writes={"b": 1}, fail={"exit_code": 1, "error": "No.", "first": 1})
    first = shop.run({"preparation_agents": ["a", "b"]})
    path = first.folder / JOURNAL_NAME
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(
        b"\xff\x00garbage\n"
        + b"".join(lines[:3])
        + b'{"type": "of_tomorrow"}\n'
        + b"".join(lines[3:-1])
        + lines[-1][:20]
    )
    again = resume(first.folder)
    assert again.reason == "completed"
    assert again.payload == {"a": 1, "b": 1}
    assert labels_started(again) == ["b"]


def test_an_update_whose_line_is_lost_is_found_in_its_turns_folder_or_made_again(shop: Workshop) -> None:
    """Pain 15: a group that was merged with it must not go on without it."""
    shop.agent("a", writes={"a": 1})
    shop.agent("b", writes={"b": 1})
    shop.agent("c", writes={"c": 1}, fail={"exit_code": 1, "error": "No.", "first": 1})
    group: JsonObject = {"mode": "parallel", "agents": ["a", "b"], "on_parallel_error": "continue"}
    first = shop.run({"preparation_agents": [group, "c"]})
    path = first.folder / JOURNAL_NAME
    lines = path.read_bytes().splitlines(keepends=True)
    lost = next(n for n, line in enumerate(lines) if b'"turn_finished"' in line and b'"b":1' in line)
    lines[lost] = b"\x00" * 40 + b"\n"
    for keeps_update in (True, False):
        folder = first.folder.parent / f"copy-{keeps_update}"
        shutil.copytree(first.folder, folder, ignore=shutil.ignore_patterns("run.lock"))
        (folder / JOURNAL_NAME).write_bytes(b"".join(lines))
        if not keeps_update:
            (folder / "turns" / "002-b" / "update.json").unlink()
        warnings = prepare_resume(read_run(folder)).warnings
        assert "1 line of the run's journal cannot be read" in warnings[0].message
        again = resume(folder)
        assert again.payload == {"a": 1, "b": 1, "c": 1}
        assert labels_started(again) == (["c"] if keeps_update else ["b", "c"])
        assert open_turns(again.journal) == []


def test_a_lost_first_line_costs_nothing_else(shop: Workshop) -> None:
    shop.agent("a", writes={"a": 1})
    shop.agent("b", writes={"b": 1}, fail={"exit_code": 1, "error": "No.", "first": 1})
    first = shop.run({"preparation_agents": ["a", "b"]})
    path = first.folder / JOURNAL_NAME
    path.write_bytes(path.read_bytes().replace(b'"run_started"', b'"run_ztarted"', 1))
    assert [run.run_id for run in list_runs(first.folder.parent)] == [first.folder.name]
    again = resume(first.folder)
    assert again.payload == {"a": 1, "b": 1}
    assert labels_started(again) == ["b"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_journal_that_is_a_pipe_is_none(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / JOURNAL_NAME)
    with pytest.raises(RunUnreadable):
        read_run(tmp_path)


def test_an_agent_whose_file_is_broken_now_is_told_as_such(shop: Workshop) -> None:
    shop.agent("a", writes={"a": 1}, fail={"exit_code": 1, "error": "No.", "first": 1})
    first = shop.run({"preparation_agents": ["a"]})
    (shop.folder / "agents" / "a.md").write_text("---\nname: a: b: [\n---\n", encoding="utf-8")
    (warning,) = prepare_resume(read_run(first.folder)).warnings
    assert "cannot be used" in warning.message
    assert "a.md:2" in warning.message


def test_agents_that_are_gone_work_as_they_were(shop: Workshop) -> None:
    shop.agent("a", writes={"a": 1}, fail={"exit_code": 1, "error": "No.", "first": 1})
    first = shop.run({"preparation_agents": ["a"]})
    shutil.rmtree(shop.folder / "agents")
    again = resume(first.folder)
    assert again.payload == {"a": 1}


def test_a_folder_from_elsewhere_says_what_is_missing(
    shop: Workshop, tmp_path_factory: pytest.TempPathFactory
) -> None:
    shop.agent("a", writes={"a": 1}, fail={"exit_code": 1, "error": "No.", "first": 1})
    first = shop.run({"preparation_agents": ["a"]})
    other = tmp_path_factory.mktemp("elsewhere")
    moved = other / "runs" / first.folder.name
    shutil.copytree(first.folder, moved)
    shutil.rmtree(shop.folder)
    assert "--workdir" in refusal(moved)
    again = resume(moved, overrides=RunOverrides(workdir=other))
    assert again.payload == {"a": 1}
    assert again.folder == moved


@pytest.mark.parametrize("content", [None, b"", b"\xff\xfe\n", b"{}\n[]\n"])
def test_a_folder_without_a_run_is_said_to_be_none(tmp_path: Path, content: bytes | None) -> None:
    folder = tmp_path / "x"
    folder.mkdir()
    if content is not None:
        (folder / JOURNAL_NAME).write_bytes(content)
    with pytest.raises(RunUnreadable):
        read_run(folder)
    assert list_runs(tmp_path) == []


def test_a_run_without_its_workflow_cannot_go_on_and_says_so(shop: Workshop) -> None:
    shop.agent("a", fail=1)
    first = shop.run({"preparation_agents": ["a"]})
    (first.folder / "workflow.json").unlink()
    assert "workflow.json" in read_run(first.folder).obstacle


def test_runs_are_listed_with_where_they_would_go_on(shop: Workshop) -> None:
    shop.agent("good", writes={"x": 1})
    shop.agent("bad", fail=1)
    group: JsonObject = {"mode": "parallel", "agents": ["good", "bad"], "max_parallel": 1}
    first = shop.run({"loop_agents": [group]})
    (run,) = list_runs(first.folder.parent)
    assert run.next_place == "Loop, iteration 1: bad"
    assert run.done_turns == 1
    assert run.resumable
    assert run.reason == "agent_error:bad"


def test_a_run_whose_own_side_failed_leaves_no_turn_marked_running(
    shop: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    from core.turn import Turn

    def broken(*_: object) -> None:
        raise OSError("no such thing")

    shop.agent("a")
    monkeypatch.setattr(Turn, "work", broken)
    run = shop.run({"preparation_agents": ["a"]})
    assert run.reason == "agent_error:OpenLoop"
    ends = [event for event in run.journal if isinstance(event, TurnFinished)]
    assert [end.status for end in ends] == [TurnStatus.STOPPED]
    assert open_turns(run.journal) == []


# --- the command that prepares the folder ---------------------------------------------------------------


def test_the_init_script_runs_once_before_the_first_agent(shop: Workshop) -> None:
    shop.agent("a", writes={"a": 1}, fail={"exit_code": 1, "error": "No.", "first": 1})
    first = shop.run({"preparation_agents": ["a"], "init_script": "echo ready && echo once >> prepared.txt"})
    kinds = [type(event) for event in first.events if isinstance(event, InitScriptStarted | TurnStarted)]
    assert kinds == [InitScriptStarted, TurnStarted]
    again = resume(first.folder)
    assert again.reason == "completed"
    assert (shop.folder / "prepared.txt").read_text(encoding="utf-8").split() == ["once"]
    assert "ready" in (first.folder / "overview.log").read_text(encoding="utf-8")


def test_an_init_script_that_fails_ends_the_run_before_any_agent(shop: Workshop) -> None:
    shop.agent("a")
    run = shop.run({"preparation_agents": ["a"], "init_script": "echo oh no >&2; exit 3"})
    assert run.reason == "agent_error:init_script"
    assert "exit code 3" in run.finished.message
    assert run.of(TurnStarted) == []
    assert "oh no" in (run.folder / "init" / "stderr.log").read_text(encoding="utf-8")


def test_stop_now_ends_the_init_script(shop: Workshop) -> None:
    shop.agent("a")
    run = shop.run(
        {"preparation_agents": ["a"], "init_script": "trap '' TERM; sleep 300 & sleep 300"},
        stop_when(InitScriptStarted, 1),  # type: ignore[arg-type]
    )
    assert run.reason == "stopped"
    assert run.of(TurnStarted) == []


def test_names_of_runs_sort_by_time_also_within_a_second() -> None:
    moments = [1_800_000_000 + number / 1000 for number in range(1000)]
    names = [new_run_id(moment) for moment in moments]
    assert names == sorted(names)
    assert len({new_run_id(moments[0]) for _ in range(20)}) > 1


def test_a_rule_that_settled_a_groups_conflict_holds_in_every_later_life(shop: Workshop) -> None:
    shop.agent("a", writes={"x": 1})
    shop.agent("b", writes={"x": 2})
    shop.agent("c", writes={"c": 1}, fail={"exit_code": 1, "error": "No.", "first": 1})
    group: JsonObject = {"mode": "parallel", "agents": ["a", "b"], "merge": {"payload.x": "error"}}
    first = shop.run({"preparation_agents": [group, "c"]})
    assert first.reason == "merge_conflict:payload.x"
    second = resume(first.folder, overrides=RunOverrides(merge={"payload.x": MergeRule.FIRST}))
    assert second.reason == "agent_error:c"
    third = resume(first.folder)
    assert third.reason == "completed"
    assert third.payload == {"x": 1, "c": 1}
