"""The state at any point of a run: the one that the engine had there, however it is had again."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

import pytest

from core.config import Workflow, WorkflowFile
from core.engine import Engine
from core.events import (
    Event,
    GroupStarted,
    Merged,
    RunStarted,
    StateChanged,
    StopKind,
    TurnFinished,
    TurnRef,
    TurnStarted,
    TurnStatus,
)
from core.journal import JOURNAL_NAME, Journal
from core.json_types import JsonObject, JsonValue
from core.json_values import same_json
from core.merge import merge_updates
from core.plan import Place
from core.planning import RunOverrides
from core.recorded_run import read_run
from core.state import (
    Conflict,
    Contribution,
    MergeRule,
    StateUpdate,
    WorkflowState,
    first_state,
)
from core.state_changes import MOST_CHANGES, ChangeKind, StateChanges, find_changes
from core.state_history import StateHistory, StateUnknown
from core.state_points import PointFold
from core.workflow_file import dump_workflow
from tests.core.run_support import FinishedRun, Watch, Workshop, resume


@pytest.fixture
def shop(tmp_path: Path) -> Workshop:
    return Workshop(tmp_path)


def engine_states(*lives: FinishedRun) -> list[WorkflowState]:
    """The states after each merge, as the engine told them; in front, that of the start.

    A group that a later life made again counts as that life had it.
    """
    first = lives[0].of(StateChanged)[0].state
    found: list[tuple[tuple[str, int, int], WorkflowState]] = [(("", 0, -1), first)]
    for run in lives:
        place = ("", 0, -1)
        merged = False
        for event in run.events:
            if isinstance(event, GroupStarted):
                place = (event.phase, event.iteration, event.group)
                again = next((n for n, (known, _) in enumerate(found) if known == place), len(found))
                del found[again:]
            elif isinstance(event, Merged):
                merged = True
            elif isinstance(event, StateChanged) and merged:
                found.append((place, event.state))
                merged = False
    return [state for _, state in found]


def states_of(history: StateHistory) -> list[WorkflowState]:
    return [history.look(number).state for number in range(history.count)]


def assert_the_same_in_every_way(folder: Path, *lives: FinishedRun) -> list[WorkflowState]:
    """Live with all states in memory, live with none, and from the folder alone, in any order."""
    expected = engine_states(*lives)
    for room in (1 << 30, 0):
        live = StateHistory(folder, room=room)
        for run in lives:
            live.take(run.events)
        assert states_of(live) == expected
    recorded = StateHistory(folder, read_run(folder))
    assert states_of(recorded) == expected
    backwards = StateHistory(folder, read_run(folder), room=0)
    for number in reversed(range(backwards.count)):
        assert backwards.look(number).state == expected[number]
    return expected


EVERYTHING: JsonObject = {
    "preparation_agents": ["plan"],
    "loop_agents": [
        "author",
        {"mode": "parallel", "agents": ["left", "right", "broken"], "on_parallel_error": "continue"},
    ],
    "finalization_agents": [{"mode": "parallel", "agents": ["left", "right"], "merge": {"payload.n": "max"}}],
    "max_loops": 3,
    "end_state_condition": "len(payload.get('_failures', [])) == 2",
    "merge": {"payload.seen": "append", "payload.n": "sum"},
    "initial_payload": {"goal": "x", "seen": []},
}


def agents_of_everything(shop: Workshop) -> None:
    shop.agent("plan", writes={"plan": {"steps": [1, 2]}})
    shop.agent("author", writes={"text": {"by": "author"}, "n": 1})
    shop.agent("left", writes={"seen": ["left"], "n": 2, "score": 10, "text": {"left": True}})
    shop.agent("right", writes={"seen": ["right"], "n": 3, "score": 20, "text": {"right": True}})
    shop.agent("broken", fail={"exit_code": 1, "error": "No."})


# --- what the engine had ------------------------------------------------------------------------------


def test_every_state_of_a_run_is_had_again(shop: Workshop) -> None:
    agents_of_everything(shop)
    run = shop.run(EVERYTHING)
    assert run.reason == "completed"
    states = assert_the_same_in_every_way(run.folder, run)
    assert len(states) == 1 + 1 + 2 * 2 + 1
    assert len(states[-1].payload["_failures"]) == 2  # type: ignore[arg-type]
    assert states[-1].is_complete
    assert states[-1].termination_reason == "completed"


def test_a_used_up_loop_is_not_taken_for_a_complete_one(shop: Workshop) -> None:
    agents_of_everything(shop)
    run = shop.run({**EVERYTHING, "end_state_condition": "False", "finalize_on_abort": True, "max_loops": 1})
    states = assert_the_same_in_every_way(run.folder, run)
    assert states[-1].termination_reason == "max_loops_reached"
    assert not states[-1].is_complete


def test_a_workflow_without_a_loop_completes(shop: Workshop) -> None:
    agents_of_everything(shop)
    run = shop.run({"preparation_agents": ["plan", "author"], "finalization_agents": ["left"]})
    states = assert_the_same_in_every_way(run.folder, run)
    assert [state.is_complete for state in states] == [False, False, False, True]


def stop_at(turn_starts: int) -> Watch:
    seen = [0]

    def watch(engine: Engine, event: Event) -> None:
        if isinstance(event, TurnStarted):
            seen[0] += 1
            if seen[0] == turn_starts:
                engine.stop(StopKind.AFTER_RUNNING)

    return watch


@pytest.mark.parametrize("stop", range(1, 6))
def test_the_states_of_a_resumed_run_are_those_of_all_its_lives(shop: Workshop, stop: int) -> None:
    agents_of_everything(shop)
    first = shop.run(
        {
            **EVERYTHING,
            "loop_agents": [{"agents": ["author", "plan"]}, "left"],
            "end_state_condition": "iteration == 2",
        },
        stop_at(stop),
    )
    again = resume(first.folder)
    assert again.reason == "completed"
    assert_the_same_in_every_way(first.folder, first, again)


def test_a_run_that_goes_on_has_its_past_and_then_what_is_new(shop: Workshop) -> None:
    agents_of_everything(shop)
    first = shop.run({**EVERYTHING, "loop_agents": [{"agents": ["author", "plan", "left"]}]}, stop_at(3))
    past = read_run(first.folder)
    again = resume(first.folder)
    for room in (1 << 30, 0):
        history = StateHistory(first.folder, past, room=room)
        before = history.count
        assert before == len(engine_states(first))
        history.take(again.events)
        assert states_of(history) == engine_states(first, again)


def test_a_group_that_was_not_finished_is_told_once(shop: Workshop) -> None:
    shop.agent("a", writes={"n": 1})
    shop.agent("b", writes={"n": 2}, fail={"exit_code": 1, "error": "No.", "first": 1})
    first = shop.run({"preparation_agents": ["a", "b"]})
    again = resume(first.folder)
    states = assert_the_same_in_every_way(first.folder, first, again)
    assert [state.payload.get("n") for state in states] == [None, 1, 2]


def test_a_conflict_that_ended_the_run_has_its_state(shop: Workshop) -> None:
    shop.agent("a", writes={"x": 1})
    shop.agent("b", writes={"x": 2})
    group: JsonObject = {"mode": "parallel", "agents": ["a", "b"]}
    run = shop.run({"preparation_agents": [group], "merge": {"payload.x": "error"}})
    assert run.reason == "merge_conflict:payload.x"
    assert_the_same_in_every_way(run.folder, run)
    again = resume(run.folder, overrides=RunOverrides(merge={"payload.x": MergeRule.FIRST}))
    recorded = StateHistory(run.folder, read_run(run.folder))
    assert recorded.look(recorded.count - 1).state.payload == again.payload


def test_points_say_when_and_after_whom(shop: Workshop) -> None:
    agents_of_everything(shop)
    run = shop.run({**EVERYTHING, "end_state_condition": "True"})
    points = StateHistory(run.folder, read_run(run.folder)).points
    assert [(point.phase, point.iteration, point.writers) for point in points] == [
        ("preparation", 0, ()),
        ("preparation", 0, ("plan",)),
        ("loop", 1, ("author",)),
        ("finalization", 1, ("left", "right")),
    ]
    assert points[0].is_start
    assert points[2].group_name == "loop 1"
    assert points[0].time <= points[1].time <= points[2].time


def test_a_run_without_its_workflow_says_that_it_cannot_be_told(shop: Workshop) -> None:
    agents_of_everything(shop)
    run = shop.run({"preparation_agents": ["plan"]})
    (run.folder / "workflow.json").unlink()
    history = StateHistory(run.folder, read_run(run.folder))
    assert history.count == 2
    with pytest.raises(StateUnknown, match=r"workflow\.json"):
        history.look(1)


def test_an_answer_that_the_journal_lost_is_said(shop: Workshop) -> None:
    agents_of_everything(shop)
    run = shop.run({"preparation_agents": ["plan", "author"]})
    path = run.folder / JOURNAL_NAME
    kept = [line for line in path.read_bytes().splitlines(keepends=True) if b'"turn_finished"' not in line]
    path.write_bytes(b"".join(kept))
    for update in run.folder.glob("turns/*/update.json"):
        update.unlink()
    history = StateHistory(run.folder, read_run(run.folder))
    with pytest.raises(StateUnknown, match="lost what plan answered"):
        history.look(2)
    assert history.look(0).state.payload == {}


# --- how much is kept ---------------------------------------------------------------------------------


def test_a_thousand_points_of_a_wide_payload_are_not_kept_a_thousand_times(tmp_path: Path) -> None:
    """A copy of the object itself at each point would be gigabytes, although its values are shared."""
    points, wide = 1_000, 15_000
    payload: JsonObject = {f"key {number}": "x" for number in range(wide)}
    size = 40 * wide  # a generous guess would hide what is measured
    workflow = Workflow(name="wide", initial_payload=payload)
    (tmp_path / "workflow.json").write_text(dump_workflow(WorkflowFile(workflow=workflow)), encoding="utf-8")
    journal = Journal(tmp_path / JOURNAL_NAME)
    history = StateHistory(tmp_path, room=20 * size)
    state = first_state("r", "wide", workflow.max_loops, workflow.end_state_condition, payload)

    def tell(*events: Event) -> None:
        for event in events:
            if event.journaled:
                journal.append(event)
        history.take(events)

    tracemalloc.start()
    try:
        tell(RunStarted(time=0.0, run_id="r"), StateChanged(state=state))
        for number in range(points):
            turn = f"loop/{number}/0/0"
            ref = TurnRef(turn, Place("loop", 0, 0), "a", "a", "a")
            update = StateUpdate(payload={"n": number})
            state = WorkflowState("loop", number, False, None, state.payload, state.meta)
            state = merge_updates(state, [Contribution("a", update)], {}).state
            tell(
                GroupStarted(time=1.0, phase="loop", iteration=number, turns=(ref,), state_bytes=size),
                TurnFinished(time=2.0, turn=turn, update=update),
                Merged(time=3.0, phase="loop", iteration=number, writers=("a",)),
                StateChanged(time=3.0, state=state),
            )
        assert history.bytes_kept <= 20 * size
        assert tracemalloc.get_traced_memory()[0] < 60 * wide * 100  # a copy takes about 90 bytes a key
        assert history.look(points // 2).state.payload["n"] == points // 2 - 1
        assert history.look(points // 2).changes.at(("payload", "n")) is not None
        assert history.bytes_kept <= 20 * size
        assert history.look(points).state is state
    finally:
        tracemalloc.stop()
        journal.close()


# --- what changed, and who wrote it -------------------------------------------------------------------


def changed(
    before: JsonObject, *updates: tuple[str, JsonObject], rules: dict[str, MergeRule] | None = None
) -> StateChanges:
    """What a merge of these payloads changed, in a state with this payload."""
    state = WorkflowState(payload=before)
    contributions = [Contribution(name, StateUpdate(payload=payload)) for name, payload in updates]
    result = merge_updates(state, contributions, rules or {})
    return find_changes(state, result.state, {c.writer: c.update for c in contributions}, result.conflicts)


def words(changes: StateChanges) -> dict[str, tuple[str, tuple[str, ...]]]:
    return {".".join(path[1:]): (str(change.kind), change.writers) for path, change in changes.listed()}


def test_each_change_names_its_writer() -> None:
    changes = changed(
        {"a": 1, "deep": {"b": 1, "c": [1]}, "same": "x"},
        ("vera", {"deep": {"b": 2, "new": {"x": {"y": 1}}}, "same": "x"}),
        ("linter", {"deep": {"c": [1, 2]}, "a": None}),
    )
    assert words(changes) == {
        "a": ("changed", ("linter",)),
        "deep.b": ("changed", ("vera",)),
        "deep.c.[1]": ("added", ("linter",)),
        "deep.new": ("added", ("vera",)),
    }
    assert changes.count == 4
    before = changes.at(("payload", "deep", "b"))
    assert before is not None
    assert before.before == 1
    assert changes.at(("payload", "same")) is None


def test_where_two_wrote_the_one_is_named_whose_value_was_kept() -> None:
    both = (("vera", {"score": 86, "ok": True}), ("linter", {"score": 71, "ok": True}))
    assert words(changed({"score": 1}, *both)) == {
        "score": ("changed", ("linter",)),
        "ok": ("added", ("vera", "linter")),
    }
    first = changed({"score": 1}, *both, rules={"payload.score": MergeRule.FIRST})
    assert words(first)["score"] == ("changed", ("vera",))
    summed = changed({"score": 1}, *both, rules={"payload.score": MergeRule.SUM})
    assert words(summed)["score"] == ("changed", ("vera", "linter"))


def test_what_is_taken_out_of_a_list_leaves_the_rest_unmarked() -> None:
    changes = changed({"list": ["a", "b", "c", "d"]}, ("vera", {"list": ["a", "c", "d", "e"]}))
    kinds = [change.kind for _, change in changes.listed()]
    assert kinds.count(ChangeKind.CHANGED) == 3, "no end is the same, so that the places are compared"
    shorter = changed({"list": ["a", "b", "c"]}, ("vera", {"list": ["a", "c"]}))
    assert words(shorter) == {"list.[2]": ("removed", ("vera",))}
    removed = shorter.at(("payload", "list", "[2]"))
    assert removed is not None
    assert removed.before == "b"


def test_what_an_object_in_place_of_another_lost_is_removed() -> None:
    changes = changed({"x": {"old": 1}}, ("vera", {"x": "text"}), ("linter", {"x": {"new": 2}}))
    assert words(changes) == {"x.new": ("added", ("linter",)), "x.old": ("removed", ("linter",))}


def test_what_no_agent_wrote_is_openloops() -> None:
    before = WorkflowState()
    after = WorkflowState(is_complete=True, termination_reason="completed")
    assert [change.writers for _, change in find_changes(before, after, {}).listed()] == [
        ("OpenLoop",),
        ("OpenLoop",),
    ]


def test_a_conflict_at_a_key_with_dots_is_found() -> None:
    conflict = Conflict('payload["a.b"]', MergeRule.FIRST, "vera", 1, "linter", 2, 1)
    before, after = WorkflowState(), WorkflowState(payload={"a.b": 1})
    updates = {name: StateUpdate(payload={"a.b": n}) for n, name in enumerate(("vera", "linter"), 1)}
    changes = find_changes(before, after, updates, [conflict])
    assert words(changes) == {"a.b": ("added", ("vera",))}


def test_a_rewritten_list_of_a_million_numbers_is_told_in_part() -> None:
    changes = changed({"list": list(range(1_000_000))}, ("vera", {"list": list(range(1, 1_000_001))}))
    assert changes.more
    assert MOST_CHANGES <= changes.count < MOST_CHANGES + 10


def test_no_depth_is_too_deep() -> None:
    def nested(value: int) -> JsonObject:
        inner: JsonObject = {"end": value}
        for _ in range(20_000):
            inner = {"a": inner}
        return inner

    changes = changed(nested(1), ("vera", nested(2)))
    assert changes.count == 1


def test_a_failed_turn_of_a_group_that_went_on_is_told_by_openloop(shop: Workshop) -> None:
    agents_of_everything(shop)
    run = shop.run({**EVERYTHING, "preparation_agents": [], "max_loops": 1})
    assert run.of(TurnFinished)[-1].status in (TurnStatus.SUCCEEDED, TurnStatus.FAILED)
    history = StateHistory(run.folder, read_run(run.folder))
    failures = history.look(2).changes.at(("payload", "_failures"))
    assert failures is not None
    assert failures.writers == ("OpenLoop",)


def test_a_state_that_is_known_is_shown_also_where_nothing_is_recorded(tmp_path: Path) -> None:
    history = StateHistory(tmp_path)
    state = WorkflowState(payload={"a": 1})
    history.take([Merged(time=1.0, writers=("a",)), StateChanged(time=1.0, state=state)])
    look = history.look(1)
    assert look.state is state
    assert look.changes.count == 0
    with pytest.raises(StateUnknown):
        history.look(0)


def test_a_merge_with_thousands_of_conflicts_is_left_to_a_worker() -> None:
    """Whose value counts of each takes longer than a window may stand still."""
    history = StateHistory()
    state = first_state("r", "w", 3, "", {})
    many = tuple(Conflict(f"payload.n{n}", MergeRule.LAST, "one", 1, "two", 2, 2) for n in range(7_000))
    for number, conflicts in ((1, many[:1]), (2, many)):
        history.take(
            [
                StateChanged(time=1.0, state=state),
                GroupStarted(time=1.0, phase="loop", iteration=number),
                Merged(time=2.0, phase="loop", iteration=number, conflicts=conflicts),
                StateChanged(time=2.0, state=state),
            ]
        )
    assert history.count == 3
    assert history.quick_look(1) is not None
    assert history.quick_look(2) is None
    assert history.look(2).point.conflicts


def test_a_long_run_is_not_gone_through_at_each_of_its_groups() -> None:
    """What is over is not looked at again: thousands of iterations would take minutes."""

    class Untouchable:
        def __getattr__(self, name: str) -> object:
            raise AssertionError(f"{name} of a point that is over was asked for")

    fold = PointFold()
    for iteration in range(1, 50):
        fold.take(GroupStarted(phase="loop", iteration=iteration))
        fold.take(Merged(phase="loop", iteration=iteration))
    merges: list[object] = fold.merges  # type: ignore[assignment]
    merges[:40] = [Untouchable()] * 40
    assert fold.take(GroupStarted(phase="loop", iteration=50)) is None


def test_a_group_that_is_made_again_takes_back_what_came_after_it() -> None:
    fold = PointFold()
    for iteration in (1, 2, 3):
        fold.take(GroupStarted(phase="loop", iteration=iteration))
        fold.take(Merged(phase="loop", iteration=iteration))
    assert fold.take(GroupStarted(phase="loop", iteration=2)) == 2
    assert [merge.point.iteration for merge in fold.merges] == [0, 1]
    fold.take(Merged(phase="loop", iteration=2))
    assert fold.take(GroupStarted(phase="loop", iteration=3)) is None
    assert PointFold(fold.merges).take(GroupStarted(phase="loop", iteration=2)) == 2


def test_thousands_of_conflicts_about_one_path_are_gone_through_once(monkeypatch: pytest.MonkeyPatch) -> None:
    looks = 0

    def counted(one: JsonValue, other: JsonValue) -> bool:
        nonlocal looks
        looks += 1
        return same_json(one, other)

    monkeypatch.setattr("core.conflict_keepers.same_json", counted)
    count = 500
    updates = {f"vera {number}": StateUpdate(payload={"score": number}) for number in range(count)}
    before = first_state("r", "w", 1, "False", {})
    merged = merge_updates(before, [Contribution(*each) for each in updates.items()], {})
    changes = find_changes(before, merged.state, updates, merged.conflicts)
    change = changes.at(("payload", "score"))
    assert change is not None
    assert change.writers == (f"vera {count - 1}",)
    assert looks < 5 * count
