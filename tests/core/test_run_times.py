"""When a run's agents worked, and what it saved that they worked at the same time."""

from __future__ import annotations

import itertools
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.engine import Answer, Engine
from core.events import (
    AttemptKind,
    AttemptStarted,
    Event,
    GroupStarted,
    Merged,
    QuestionAsked,
    RunContinued,
    RunFinished,
    RunPaused,
    RunStarted,
    RunStatus,
    StopKind,
    TurnFinished,
    TurnStatus,
)
from core.json_types import JsonObject
from core.progress import RunProgress
from core.run_clock import Break, BreakKind, RunClock
from core.run_times import (
    Bar,
    RunChart,
    Savings,
    concurrency,
    most_at_once,
    run_chart,
    savings_of,
    savings_words,
)
from tests.core.run_story import START, Story
from tests.core.run_support import FinishedRun, Workshop, resume


def drawn(progress: RunProgress) -> dict[str, list[Bar]]:
    return {row.label: row.bars for row in run_chart(progress).rows}


# --- what was saved -----------------------------------------------------------------------------------


def test_what_overlaps_is_saved_and_the_longest_of_a_parallel_group_is_critical() -> None:
    story = Story()
    (amala,) = story.group(0, "amala", parallel=False)
    story.turn(amala, 0, 10)
    vera, linter, security = story.group(10, "vera", "linter", "security", index=1)
    story.turn(vera, 10, 30)
    story.turn(linter, 10, 20)
    story.turn(security, 10, 40)
    story.finish(40)
    savings = story.savings(99)
    assert savings.work == pytest.approx(10 + 20 + 10 + 30)
    assert savings.wall == pytest.approx(40)
    assert savings.critical_path == pytest.approx(10 + 30)
    assert savings.overlap == pytest.approx(30)
    assert savings.times_faster == pytest.approx(70 / 40)
    assert savings_words(savings) == "1:10 of work in 0:40 · 1.8 times faster than in sequence"


def test_a_cap_makes_a_run_longer_than_its_critical_path() -> None:
    story = Story()
    first, second, third = story.group(0, "a", "b", "c")
    story.turn(first, 0, 10)
    story.turn(second, 0, 10)
    story.turn(third, 10, 20)
    story.finish(20)
    savings = story.savings(20)
    assert (savings.wall, savings.critical_path, savings.work) == pytest.approx((20, 10, 30))
    waited = drawn(story.progress)["c"][0]
    assert (waited.called, waited.began) == (START, START + 10), "it waited for a slot, and did not work"


def test_one_agent_after_another_saves_nothing_and_says_so() -> None:
    story = Story()
    first, second = story.group(0, "a", "b", parallel=False)
    story.turn(first, 0, 10)
    story.turn(second, 10, 25)
    story.finish(25)
    savings = story.savings(25)
    assert savings.overlap == 0
    assert savings.times_faster == 1
    assert savings.critical_path == savings.work == pytest.approx(25)
    assert savings_words(savings) == "0:25 of work in 0:25 · one agent at a time"
    assert savings_words(Savings()) == "No agent has worked yet"
    assert "hardly any" in savings_words(Savings(100, 99, 99, 1))


def test_of_a_moment_only_its_length_is_said() -> None:
    # The bars on the screen, which hold what a process takes to begin, may well overlap.
    assert savings_words(Savings(0.24, 0.66, 0.16)) == "0.2 s of work in 0.7 s"


def test_a_running_run_is_counted_up_to_now() -> None:
    story = Story()
    vera, linter = story.group(0, "vera", "linter")
    story.begin(vera, 0)
    story.begin(linter, 0)
    story.end(linter, 4)
    assert story.savings(6).work == pytest.approx(10)
    assert story.savings(6).wall == pytest.approx(6)
    assert story.savings(60).critical_path == pytest.approx(60)


def test_the_rest_between_two_attempts_takes_time_of_the_run_but_is_no_work_of_an_agent() -> None:
    story = Story()
    (vera,) = story.group(0, "vera")
    story.begin(vera, 0)
    story.attempt_ends(vera, 3, "overloaded", retry_in=4)
    story.attempt(vera, 7, 2, AttemptKind.RETRY)
    story.end(vera, 10)
    story.finish(10)
    assert story.savings(10).work == pytest.approx(6)
    assert story.savings(10).wall == pytest.approx(10)
    (bar,) = drawn(story.progress)["vera"]
    assert [(a.kind, a.started - START, a.problem, a.retry_in) for a in bar.attempts] == [
        (AttemptKind.FIRST, 0, "overloaded", 4),
        (AttemptKind.RETRY, 7, "", None),
    ]
    assert list(bar.worked(0)) == [(START, START + 3), (START + 7, START + 10)]
    chart = run_chart(story.progress)
    assert [(step.time - START, step.agents) for step in concurrency(chart, START + 10)] == [
        (0, 1),
        (3, 0),
        (7, 1),
        (10, 0),
    ]


# --- time that does not count -------------------------------------------------------------------------


def test_the_time_between_two_lives_does_not_count_and_what_was_cut_off_stays_to_be_seen() -> None:
    story = Story()
    vera, linter = story.group(0, "vera", "linter")
    story.turn(vera, 0, 5)
    story.begin(linter, 0)
    story.add(AttemptStarted(time=START + 8, turn="loop/9/9/9"))  # the last that was heard of the first life
    a_day = 86_400.0
    story.add(TurnFinished(time=START + 8, turn=linter, status=TurnStatus.STOPPED, message="It was cut off."))
    story.add(RunStarted(time=START + a_day, run_id="r", resumed=True, max_loops=9))
    story.group(a_day + 1, "vera", "linter")
    story.begin(linter, a_day + 1)
    story.end(linter, a_day + 11)
    story.finish(a_day + 11)
    progress = story.progress
    chart = run_chart(progress)
    assert progress.seconds(START + a_day + 11) == pytest.approx(8 + 11)
    savings = chart.savings(START + 2 * a_day)
    assert savings.wall == pytest.approx(8 + 11)
    assert savings.work == pytest.approx(5 + 8 + 10)
    bars = drawn(progress)["linter"]
    assert [(bar.status, bar.start_number, bar.starts) for bar in bars] == [
        (TurnStatus.STOPPED, 1, 2),
        (TurnStatus.SUCCEEDED, 2, 2),
    ]
    clock = chart.clock(START + 2 * a_day)
    assert [cut.kind for cut in clock.breaks] == [BreakKind.RESUMED]
    assert clock.seconds(bars[0].first) == 0
    assert clock.seconds(bars[1].first) == pytest.approx(9)
    assert len(drawn(progress)["vera"]) == 1, "what succeeded was not made again"


def test_a_run_that_was_killed_ends_where_it_was_last_heard_of() -> None:
    story = Story()
    vera, linter = story.group(0, "vera", "linter")
    story.begin(vera, 0)
    story.begin(linter, 3)
    progress = story.progress
    progress.cut_off(START + 3)
    savings = savings_of(progress, START + 1e6)
    assert savings.wall == pytest.approx(3)
    assert savings.work == pytest.approx(3)
    assert {bar.status for bars in drawn(progress).values() for bar in bars} == {TurnStatus.STOPPED}


def test_a_pause_counts_only_while_somebody_is_still_at_work() -> None:
    story = Story()
    vera, linter = story.group(0, "vera", "linter")
    story.begin(vera, 0)
    story.begin(linter, 0)
    story.attempt_ends(vera, 10, "The quota is used up.")
    story.add(RunPaused(time=START + 10, turn=vera, message="The quota is used up."))
    story.end(linter, 15)
    assert story.savings(1000).wall == pytest.approx(15), "all wait for the user"
    story.add(RunContinued(time=START + 500))
    story.attempt(vera, 500, 2, AttemptKind.RETRY)
    story.end(vera, 505)
    story.finish(505)
    savings = story.savings(505)
    assert savings.wall == pytest.approx(15 + 5)
    assert savings.work == pytest.approx(10 + 15 + 5)
    (cut,) = run_chart(story.progress).clock(START + 505).breaks
    assert (cut.kind, cut.began, cut.ended) == (BreakKind.WAITED, START + 15, START + 500)


def test_a_question_that_nobody_answers_for_hours_is_no_time_of_the_run() -> None:
    story = Story()
    (vera,) = story.group(0, "vera")
    story.begin(vera, 0)
    story.attempt_ends(vera, 10)
    story.add(QuestionAsked(time=START + 10, turn=vera, message="What now?"))
    assert story.savings(7200).wall == pytest.approx(11)
    story.add(TurnFinished(time=START + 7200, turn=vera, status=TurnStatus.FAILED))
    story.finish(7200)
    assert story.savings(7200).wall == pytest.approx(11), "as the journal tells it, too"


def test_the_pause_before_a_retry_is_no_waiting_for_the_user_and_nor_is_one_before_a_correction() -> None:
    story = Story()
    (vera,) = story.group(0, "vera")
    story.begin(vera, 0)
    story.attempt_ends(vera, 10, "overloaded", retry_in=30)
    story.attempt(vera, 40, 2, AttemptKind.RETRY)
    story.attempt_ends(vera, 50)
    story.attempt(vera, 55, 3, AttemptKind.CORRECTION)
    story.end(vera, 60)
    story.finish(60)
    assert story.savings(60).wall == pytest.approx(60)


# --- rows, bars, bands --------------------------------------------------------------------------------


def test_rows_follow_the_workflow_and_the_same_name_in_two_phases_has_two() -> None:
    story = Story()
    (vera,) = story.group(0, "vera", parallel=False, phase="preparation", iteration=0)
    story.turn(vera, 0, 1)
    for iteration in (1, 2):
        at = 10.0 * iteration
        b, a = story.group(at, "b", "a", index=1, iteration=iteration)
        story.turn(a, at, at + 1)
        story.turn(b, at, at + 2)
        (last,) = story.group(at + 3, "vera", parallel=False, index=2, iteration=iteration)
        story.turn(last, at + 3, at + 4)
    chart = run_chart(story.progress)
    assert [row.key for row in chart.rows] == [
        ("preparation", "vera"),
        ("loop", "b"),
        ("loop", "a"),
        ("loop", "vera"),
    ]
    assert [bar.iteration for bar in chart.rows[1].bars] == [1, 2]
    assert [(band.phase, band.iteration, band.began - START) for band in chart.bands(START + 99)] == [
        ("preparation", 0, 0),
        ("loop", 1, 10),
        ("loop", 2, 20),
    ]


def test_who_waits_for_its_turn_in_sequence_has_no_bar_and_who_waits_for_a_slot_has_one() -> None:
    story = Story()
    first, _ = story.group(0, "a", "b", parallel=False)
    story.begin(first, 0)
    assert {label: len(bars) for label, bars in drawn(story.progress).items()} == {"a": 1, "b": 0}
    story = Story()
    first, _ = story.group(0, "a", "b")
    story.begin(first, 0)
    (waiting,) = drawn(story.progress)["b"]
    assert (waiting.status, waiting.began, waiting.seconds(START + 9)) == (TurnStatus.WAITING, None, 0)


def test_a_turn_that_the_user_had_made_again_shows_both() -> None:
    story = Story()
    vera, linter = story.group(0, "vera", "linter")
    story.begin(linter, 0)
    story.begin(vera, 0)
    story.end(vera, 5, TurnStatus.FAILED)
    story.turn(vera, 8, 12)
    bars = drawn(story.progress)["vera"]
    assert [(bar.status, bar.first - START) for bar in bars] == [
        (TurnStatus.FAILED, 0),
        (TurnStatus.SUCCEEDED, 8),
    ]
    assert story.savings(12).critical_path == pytest.approx(12)


# --- real runs ----------------------------------------------------------------------------------------


@pytest.fixture
def workshop(tmp_path: Path) -> Workshop:
    return Workshop(tmp_path)


def check(run: FinishedRun) -> RunChart:
    """What holds for every run, live and from its journal."""
    chart, now = run_chart(run.progress), run.finished.time
    replayed = RunProgress()
    replayed.apply_all(run.journal)
    assert [row.bars for row in run_chart(replayed).rows] == [row.bars for row in chart.rows]
    savings = chart.savings(now)
    assert run_chart(replayed).savings(now) == savings
    assert savings.critical_path <= savings.wall + 1e-6
    assert savings.overlap <= savings.work - savings.critical_path + 1e-6
    return chart


MEET = """
import pathlib, sys, time
me, *others = sys.argv[1:]
pathlib.Path(f"{me}.here").touch()
while not all(pathlib.Path(f"{other}.here").exists() for other in others):
    time.sleep(0.01)
print('<state_update>{"payload": {"met": true}}</state_update>')
"""
"""An agent that ends only when all others have begun."""


def test_agents_of_a_real_run_overlap(workshop: Workshop) -> None:
    names = ("a", "b", "c")
    for name in names:
        workshop.command(name, sys.executable, "-c", MEET, name, *names)
    workshop.agent("last", seconds=0.05, writes={"done": True})
    together: JsonObject = {"agents": [*names], "mode": "parallel"}
    run = workshop.run({"loop_agents": [together, "last"], "max_loops": 1, "max_parallel_agents": 3})
    chart, now = check(run), run.finished.time
    assert most_at_once(chart, now) == 3
    bars = [row.bars[0] for row in chart.rows[:3]]
    assert max(bar.first for bar in bars) < min(bar.until(now) for bar in bars)
    savings = chart.savings(now)
    assert savings.overlap > 0
    assert savings.critical_path < savings.work


def test_a_cap_of_a_real_run_makes_who_waits_for_a_slot_wait(workshop: Workshop) -> None:
    for name in ("a", "b", "c"):
        workshop.agent(name, seconds=0.05, writes={name: 1})
    group: JsonObject = {"agents": ["a", "b", "c"], "mode": "parallel", "max_parallel": 1}
    run = workshop.run({"loop_agents": [group], "max_loops": 1, "max_parallel_agents": 3})
    chart, now = check(run), run.finished.time
    assert most_at_once(chart, now) == 1
    bars = sorted((row.bars[0] for row in chart.rows), key=lambda bar: bar.first)
    assert len({bar.called for bar in bars}) == 1
    assert all(after.first >= before.until(now) for before, after in itertools.pairwise(bars))
    assert chart.savings(now).overlap == 0


def test_retries_and_corrections_of_a_real_run_are_attempts_of_their_bars(workshop: Workshop) -> None:
    workshop.agent("flaky", seconds=0.1, writes={"a": 1}, fail={"exit_code": 75, "first": 1, "silent": True})
    workshop.agent("sloppy", seconds=0.1, writes={"b": 1}, bad_update={"kind": "missing", "first": 1})
    run = workshop.run(
        {"loop_agents": [{"agents": ["flaky", "sloppy"], "mode": "parallel"}], "max_loops": 1, "retries": 1}
    )
    check(run)
    flaky, sloppy = (drawn(run.progress)[name][0] for name in ("flaky", "sloppy"))
    assert [attempt.kind for attempt in flaky.attempts] == [AttemptKind.FIRST, AttemptKind.RETRY]
    assert flaky.attempts[0].problem
    assert flaky.attempts[0].retry_in
    assert [attempt.kind for attempt in sloppy.attempts] == [AttemptKind.FIRST, AttemptKind.CORRECTION]
    assert sloppy.attempts[1].reason
    assert flaky.status is sloppy.status is TurnStatus.SUCCEEDED


def test_a_real_run_that_is_resumed_shows_both_lives(workshop: Workshop) -> None:
    workshop.agent("quick", seconds=0.05, writes={"a": 1})
    workshop.agent("slow", hang=True)

    def stop_when_one_is_done(engine: Engine, event: Event) -> None:
        if isinstance(event, TurnFinished) and event.status is TurnStatus.SUCCEEDED:
            engine.stop(StopKind.NOW)

    agents: JsonObject = {"loop_agents": [{"agents": ["quick", "slow"], "mode": "parallel"}], "max_loops": 1}
    first = workshop.run(agents, stop_when_one_is_done)
    assert first.finished.status is RunStatus.STOPPED
    kept = next((first.folder / "agents").rglob("slow.md"))
    kept.write_text(
        kept.read_text(encoding="utf-8").replace('"hang": true', '"seconds": 0.05'), encoding="utf-8"
    )
    workshop.agent("slow", seconds=0.05, writes={"b": 1})
    second = resume(first.folder)
    progress = RunProgress()
    progress.apply_all(second.journal)
    bars = drawn(progress)
    assert [bar.status for bar in bars["slow"]] == [TurnStatus.STOPPED, TurnStatus.SUCCEEDED]
    assert [bar.status for bar in bars["quick"]] == [TurnStatus.SUCCEEDED]
    now = time.time()
    chart = run_chart(progress)
    assert chart.savings(now).wall == pytest.approx(progress.seconds(now))
    assert chart.savings(now).critical_path <= chart.savings(now).wall + 1e-6
    (cut,) = chart.clock(now).breaks
    assert cut.kind is BreakKind.RESUMED


def test_a_question_of_a_real_run_waits_for_the_user(workshop: Workshop) -> None:
    workshop.agent("mute", seconds=0.05, bad_update="missing")
    asked: list[str] = []

    def answer(engine: Engine, event: Event) -> None:
        if isinstance(event, QuestionAsked):
            asked.append(event.turn)
            engine.answer(event.turn, Answer.CONTINUE)

    run = workshop.run({"loop_agents": ["mute"], "max_loops": 1, "on_missing_state": "ask"}, answer)
    assert asked
    (bar,) = drawn(run.progress)["mute"]
    assert [attempt.kind for attempt in bar.attempts].count(AttemptKind.CORRECTION) == 2
    check(run)


# --- properties ---------------------------------------------------------------------------------------

SECONDS = st.floats(0.1, 50).map(lambda value: round(value, 2))
GROUPS = st.lists(
    st.tuples(st.booleans(), st.integers(1, 3), st.lists(SECONDS, min_size=1, max_size=5)),
    min_size=1,
    max_size=5,
)


def told(groups: Sequence[tuple[bool, int, Sequence[float]]], *, gap: float = 0.0) -> tuple[Story, float]:
    """A run of groups (parallel, slots, seconds of its turns), as an engine makes it; and when it ended."""
    story, now = Story(), 0.0
    for index, (parallel, slots, durations) in enumerate(groups):
        turns = story.group(
            now, *(f"{index}-{n}" for n in range(len(durations))), parallel=parallel, index=index
        )
        free = [now] * (slots if parallel else 1)
        happened: list[tuple[float, int, str]] = []
        for turn, seconds in zip(turns, durations, strict=True):
            began = min(free)
            free[free.index(began)] = began + seconds
            happened += [(began, 1, turn), (began + seconds, 0, turn)]
        for at, begins, turn in sorted(happened):
            (story.begin if begins else story.end)(turn, at)
        now = max(free)
        story.add(Merged(time=START + now, phase="loop", iteration=1, group=index))
        now += gap
    story.finish(now)
    return story, now


@given(GROUPS)
def test_no_run_is_shorter_than_its_critical_path_or_longer_than_its_work(
    groups: Sequence[tuple[bool, int, Sequence[float]]],
) -> None:
    story, ended = told(groups)
    savings = story.savings(ended)
    assert savings.wall == pytest.approx(ended)
    assert savings.critical_path <= savings.wall + 1e-6
    assert savings.wall <= savings.work + 1e-6
    assert savings.work == pytest.approx(sum(sum(durations) for _, _, durations in groups))
    assert savings.times_faster == pytest.approx(savings.work / savings.wall), "nobody was idle"


@given(GROUPS)
def test_with_slots_for_all_a_run_takes_its_critical_path(
    groups: Sequence[tuple[bool, int, Sequence[float]]],
) -> None:
    story, ended = told([(parallel, 9, durations) for parallel, _, durations in groups])
    assert story.savings(ended).critical_path == pytest.approx(ended)


@given(GROUPS, st.floats(0, 200), st.floats(0, 200))
def test_as_time_goes_on_nothing_becomes_less(
    groups: Sequence[tuple[bool, int, Sequence[float]]], one: float, other: float
) -> None:
    story, _ = told(groups, gap=2.0)
    early, late = sorted((one, other))
    events = [event for event in story.events if event.time <= START + early]
    progress = RunProgress()
    progress.apply_all(events)
    before, after = savings_of(progress, START + early), savings_of(progress, START + late)
    assert before.wall <= after.wall + 1e-9
    assert before.work <= after.work + 1e-9
    assert before.critical_path <= after.critical_path + 1e-9


TURNS = st.sampled_from(["loop/1/0/0", "loop/1/0/1", "loop/1/0/2", "nobody/0/0/0"])
KINDS = st.sampled_from(
    ["start", "group", "turn", "attempt", "fails", "retry", "ends", "pause", "goes on", "finish", "again"]
)


def happens(kind: str, turn: str, at: float) -> list[Event]:
    """What may come next, whatever came before: a journal can have lost any line."""
    moment = START + at
    story = Story([])
    match kind:
        case "start":
            story.add(RunStarted(time=moment, run_id="r", max_loops=9))
        case "group":
            story.group(at, "a", "b", "c", parallel=turn.endswith("1"))
        case "turn":
            story.begin(turn, at)
        case "attempt":
            story.attempt(turn, at, 2, AttemptKind.CORRECTION)
        case "fails":
            story.attempt_ends(turn, at, "overloaded")
        case "retry":
            story.attempt_ends(turn, at, "overloaded", retry_in=3)
        case "ends":
            story.end(turn, at)
        case "pause":
            story.add(RunPaused(time=moment, turn=turn, message="The quota is used up."))
        case "goes on":
            story.add(RunContinued(time=moment))
        case "finish":
            story.finish(at)
        case _:
            story.end(turn, at, TurnStatus.FAILED)
            story.begin(turn, at)
    return story.events


@given(st.lists(st.tuples(KINDS, TURNS, st.floats(-1, 20)), max_size=30), st.booleans())
def test_a_chart_that_is_kept_up_to_date_shows_what_a_new_one_shows(
    steps: Sequence[tuple[str, str, float]], steady: bool
) -> None:
    progress = RunProgress()
    kept = RunChart(progress)
    at = 0.0
    for kind, turn, step in [("start", "", 0.0), ("group", "loop/1/0/1", 0.0), *steps]:
        if steady and kind != "start" and not progress.running:
            continue  # a run that has ended is silent
        # Clocks of computers go backwards sometimes.
        at = max(0.0, at + (abs(step) if steady else step))
        events = happens(kind, turn, at)
        progress.apply_all(events)
        all_changed = any(isinstance(event, RunStarted | RunFinished | GroupStarted) for event in events)
        kept.read(None if all_changed else [turn])
        fresh, now = run_chart(progress), START + at
        assert [(row.key, row.bars) for row in kept.rows] == [(row.key, row.bars) for row in fresh.rows]
        assert kept.savings(now) == fresh.savings(now)
        assert kept.bands(now) == fresh.bands(now)
        assert kept.clock(now).breaks == fresh.clock(now).breaks
        savings = kept.savings(now)
        assert savings.wall >= 0
        assert savings.overlap >= 0
        assert all(bar.until(now) >= bar.first for row in kept.rows for bar in row.bars)
        if steady:
            assert savings.critical_path <= savings.work + 1e-6
            assert savings.work - savings.overlap <= savings.wall + 1e-6, "nobody works outside of the run"


@given(
    st.lists(st.tuples(st.floats(0.5, 9), st.floats(0.5, 9)), max_size=5),
    st.lists(st.floats(0, 60), min_size=2, max_size=6),
)
def test_the_clock_of_a_run_never_goes_back_and_finds_its_way(
    pairs: Sequence[tuple[float, float]], moments: Sequence[float]
) -> None:
    breaks, at = [], START
    for before, length in pairs:
        breaks.append(Break(BreakKind.WAITED, at + before, at + before + length))
        at += before + length
    clock = RunClock(START, START + 60, breaks)
    seconds = [clock.seconds(START + moment) for moment in sorted(moments)]
    assert all(first <= second + 1e-9 for first, second in itertools.pairwise(seconds))
    for value in seconds:
        assert clock.seconds(clock.time(value)) == pytest.approx(value)
