"""What views and the command line are told about a run, from its events."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.answer import Answer
from core.events import (
    AttemptFinished,
    AttemptKind,
    AttemptStarted,
    Event,
    GroupStarted,
    IterationStarted,
    Merged,
    Noted,
    PhaseStarted,
    QuestionAnswered,
    QuestionAsked,
    RetryScheduled,
    RunContinued,
    RunFinished,
    RunPaused,
    RunStarted,
    RunStatus,
    SessionKnown,
    StateChanged,
    StopKind,
    StopRequested,
    TurnActivity,
    TurnFinished,
    TurnRef,
    TurnStarted,
    TurnStatus,
    UsageReported,
)
from core.plan import Place
from core.progress import RunProgress
from core.progress_words import (
    activity_words,
    cost_words,
    phase_words,
    token_words,
)
from core.state import Conflict, MergeRule, Phase, WorkflowState
from core.usage import Spent, Usage

VERA, LINTER = "loop/1/0/0", "loop/1/0/1"


def group(*labels: str, phase: Phase = "loop", iteration: int = 1, time: float = 100.0) -> GroupStarted:
    turns = tuple(
        TurnRef(f"{phase}/{iteration}/0/{n}", Place(phase, 0, n), label, label, f"{n:03}-{label}")
        for n, label in enumerate(labels)
    )
    return GroupStarted(
        time=time, phase=phase, iteration=iteration, group=0, mode="parallel", turns=turns, state_bytes=20
    )


def begun(*more: Event) -> RunProgress:
    progress = RunProgress(max_retries=2)
    progress.apply_all(
        [
            RunStarted(time=100.0, run_id="r", folder="/runs/r", workflow="audit", max_loops=10),
            PhaseStarted(time=100.0, phase="loop"),
            IterationStarted(time=100.0, iteration=1),
            group("vera", "linter"),
            *more,
        ]
    )
    return progress


def test_turns_of_a_group_wait_until_they_start() -> None:
    progress = begun(TurnStarted(time=101.0, turn=VERA, backend="demo"))
    assert [(turn.title, turn.status) for turn in progress.turns.values()] == [
        ("vera 1", TurnStatus.RUNNING),
        ("linter 1", TurnStatus.WAITING),
    ]
    assert progress.running_turns == [progress.turns[VERA]]
    assert progress.turns[VERA].seconds(143.4) == pytest.approx(42.4)
    assert progress.turns[LINTER].seconds(143.4) is None
    assert phase_words(progress) == "Loop · iteration 1 of 10"


def test_a_title_outside_of_the_loop_has_no_iteration() -> None:
    progress = begun(group("proteus", phase="preparation", iteration=0))
    assert progress.turns["preparation/0/0/0"].title == "proteus"


def test_silence_counts_from_the_last_sign_of_life() -> None:
    progress = begun(
        TurnStarted(time=101.0, turn=VERA),
        AttemptStarted(time=101.0, turn=VERA, number=1),
        TurnActivity(time=110.0, turn=VERA, steps=1, output_bytes=9),
    )
    turn = progress.turns[VERA]
    assert list(activity_words(turn, 120.0)) == []
    assert list(activity_words(turn, 128.0)) == ["quiet 18 s"]
    progress.apply(QuestionAsked(time=129.0, turn=VERA, message="vera did not answer."))
    assert list(activity_words(turn, 300.0)) == ["needs your answer"]
    assert progress.questions == [turn]
    progress.apply(AttemptStarted(time=301.0, turn=VERA, number=2, kind=AttemptKind.CORRECTION))
    assert progress.questions == []
    assert not any(turn.waits_for_run for turn in progress.turns.values())
    assert list(activity_words(turn, 302.0)) == ["correction 1 of 2"]


def test_a_waiting_retry_says_when_it_goes_on_and_which_attempt_it_is() -> None:
    progress = begun(
        TurnStarted(time=101.0, turn=VERA),
        AttemptStarted(time=101.0, turn=VERA, number=1),
        AttemptFinished(time=105.0, turn=VERA, number=1, exit_code=1, problem="overloaded"),
        RetryScheduled(time=105.0, turn=VERA, seconds=8.0, reason="overloaded"),
    )
    turn = progress.turns[VERA]
    assert list(activity_words(turn, 105.0, 2)) == ["again in 8 s"]
    progress.apply(AttemptStarted(time=113.0, turn=VERA, number=2, kind=AttemptKind.RETRY))
    assert list(activity_words(turn, 113.0, 2)) == ["attempt 2 of 3"]
    assert list(activity_words(turn, 113.0)) == ["attempt 2"]


def test_cost_is_known_unknown_or_both_but_never_made_up() -> None:
    progress = begun(TurnStarted(time=101.0, turn=VERA), TurnStarted(time=101.0, turn=LINTER))
    assert cost_words(progress.spent) == ""
    progress.apply(UsageReported(time=102.0, turn=VERA, usage=Usage(input_tokens=48_000, cost_usd=None)))
    assert cost_words(progress.spent) == "price unknown"
    progress.apply(UsageReported(time=103.0, turn=LINTER, usage=Usage(output_tokens=210, cost_usd=0.42)))
    assert cost_words(progress.spent) == "$0.42 + unknown"
    assert token_words(progress.spent.usage.total_tokens) == "48,210 tokens"
    (only_group,) = progress.groups.values()
    assert progress.spent_by(only_group) == progress.spent


def test_the_sum_at_a_turns_end_counts_once() -> None:
    step = Usage(input_tokens=10, cost_usd=0.5)
    progress = begun(
        TurnStarted(time=101.0, turn=VERA),
        UsageReported(time=102.0, turn=VERA, usage=step),
        UsageReported(time=103.0, turn=VERA, usage=step),
        TurnFinished(time=104.0, turn=VERA, usage=Usage(input_tokens=20, cost_usd=1.0)),
    )
    assert progress.spent == Spent(Usage(input_tokens=20, cost_usd=1.0))
    assert progress.turns[VERA].steps == 2


def test_a_resumed_run_keeps_what_succeeded_and_pays_twice_for_what_was_cut_off() -> None:
    progress = begun(
        TurnStarted(time=101.0, turn=VERA),
        TurnStarted(time=101.0, turn=LINTER),
        UsageReported(time=102.0, turn=LINTER, usage=Usage(input_tokens=7)),
        TurnFinished(time=103.0, turn=VERA, usage=Usage(input_tokens=5)),
        RunStarted(time=900.0, run_id="r", folder="/runs/r", max_loops=10),
    )
    assert progress.turns[LINTER].status is TurnStatus.STOPPED
    progress.apply_all(
        [
            group("vera", "linter", time=901.0),
            TurnStarted(time=902.0, turn=LINTER),
            TurnFinished(time=903.0, turn=LINTER, usage=Usage(input_tokens=7)),
        ]
    )
    assert [turn.status for turn in progress.turns.values()] == [TurnStatus.SUCCEEDED] * 2
    assert progress.spent.usage.input_tokens == 5 + 7 + 7
    assert progress.turns[LINTER].seconds(5000.0) == 1.0


def test_after_the_end_no_turn_is_left_running_or_waiting() -> None:
    progress = begun(
        TurnStarted(time=101.0, turn=VERA),
        StopRequested(time=102.0, kind=StopKind.NOW),
        StopRequested(time=102.5, kind=StopKind.AFTER_RUNNING),
    )
    assert progress.stopping is StopKind.NOW
    progress.apply(RunFinished(time=103.0, status=RunStatus.STOPPED, message="You stopped the run."))
    assert {turn.status for turn in progress.turns.values()} == {TurnStatus.STOPPED}
    assert progress.turns[LINTER].seconds(200.0) is None
    assert not progress.running
    assert progress.seconds(500.0) == 3.0


def test_a_pause_holds_up_who_is_between_two_attempts_and_lets_others_finish() -> None:
    """Pain 22: while the run waits, it is plain who is still at work."""
    progress = begun(*(TurnStarted(time=101.0, turn=turn, backend="demo") for turn in (VERA, LINTER)))
    vera, linter = progress.turns[VERA], progress.turns[LINTER]
    progress.apply_all(AttemptStarted(time=101.0, turn=turn, number=1) for turn in (VERA, LINTER))
    progress.apply(AttemptFinished(time=102.0, turn=VERA))
    assert not vera.waits_for_run, "nothing is paused"
    progress.apply(RunPaused(time=103.0, message="The quota is gone."))
    assert vera.waits_for_run
    assert progress.turns_at_work == [linter]
    progress.apply(AttemptFinished(time=104.0, turn=LINTER))
    assert linter.waits_for_run, "what comes after its attempt waits too"
    progress.apply(QuestionAsked(time=105.0, turn=LINTER, message="What now?"))
    assert not linter.waits_for_run, "it waits for the user"
    progress.apply(TurnFinished(time=106.0, turn=LINTER, status=TurnStatus.SUCCEEDED))
    assert not linter.waits_for_run
    progress.apply(RunContinued(time=107.0))
    assert progress.turns_at_work == [vera]
    progress.apply(AttemptStarted(time=108.0, turn=VERA, number=2, kind=AttemptKind.RETRY))
    progress.apply(RunPaused(time=109.0, message="Again."))
    assert progress.turns_at_work == [vera], "it is in the middle of an attempt"


def test_a_question_stands_until_it_is_answered_whatever_was_printed_before() -> None:
    progress = begun(
        TurnStarted(time=100.0, turn=VERA), QuestionAsked(time=103.0, turn=VERA, message="vera?")
    )
    progress.apply(TurnActivity(time=102.5, turn=VERA, output_bytes=9))
    assert [turn.question for turn in progress.questions] == ["vera?"]
    assert progress.last_event == 103.0
    progress.apply(QuestionAnswered(time=104.0, turn=VERA, answer=Answer.CONTINUE))
    assert not progress.questions


def test_conflicts_remember_where_they_were() -> None:
    conflict = Conflict("payload.score", MergeRule.LAST, "vera", 1, "linter", 2, 2)
    progress = begun(Merged(time=110.0, phase="loop", iteration=1, group=0, conflicts=(conflict,)))
    assert [(entry.conflict, entry.iteration) for entry in progress.conflicts] == [(conflict, 1)]


def test_the_latest_turn_of_a_place_is_that_of_the_last_iteration() -> None:
    progress = begun(group("vera", "linter", iteration=2))
    assert progress.latest[Place("loop", 0, 0)] == "loop/2/0/0"
    assert len(progress.turns) == 4


TURNS = st.sampled_from([VERA, LINTER, "loop/2/0/0", "nobody/0/0/0"])
TIMES = st.floats(100.0, 200.0)
USAGES = st.builds(
    Usage, input_tokens=st.integers(0, 100), cost_usd=st.none() | st.floats(0, 10, allow_nan=False)
)
EVENTS = st.one_of(
    st.builds(RunStarted, time=TIMES, run_id=st.just("r"), max_loops=st.integers(1, 9)),
    st.builds(PhaseStarted, time=TIMES, phase=st.sampled_from(["preparation", "loop", "finalization"])),
    st.builds(IterationStarted, time=TIMES, iteration=st.integers(1, 3)),
    st.integers(1, 2).map(lambda iteration: group("vera", "linter", iteration=iteration)),
    st.builds(TurnStarted, time=TIMES, turn=TURNS),
    st.builds(AttemptStarted, time=TIMES, turn=TURNS, kind=st.sampled_from(AttemptKind)),
    st.builds(SessionKnown, time=TIMES, turn=TURNS, session=st.just("s")),
    st.builds(UsageReported, time=TIMES, turn=TURNS, usage=USAGES),
    st.builds(AttemptFinished, time=TIMES, turn=TURNS),
    st.builds(RetryScheduled, time=TIMES, turn=TURNS, seconds=st.floats(0, 10)),
    st.builds(
        TurnFinished,
        time=TIMES,
        turn=TURNS,
        usage=USAGES,
        status=st.sampled_from([TurnStatus.SUCCEEDED, TurnStatus.FAILED, TurnStatus.STOPPED]),
    ),
    st.builds(Noted, time=TIMES, message=st.just("a note")),
    st.builds(StopRequested, time=TIMES, kind=st.sampled_from(StopKind)),
    st.builds(RunPaused, time=TIMES, message=st.just("The quota is gone.")),
    st.builds(RunContinued, time=TIMES),
    st.builds(RunFinished, time=TIMES, status=st.sampled_from(RunStatus)),
    st.builds(StateChanged, time=TIMES, state=st.just(WorkflowState(iteration=1))),
    st.builds(QuestionAnswered, time=TIMES, turn=TURNS),
    st.builds(TurnActivity, time=TIMES, turn=TURNS, steps=st.integers(0, 5)),
    st.builds(QuestionAsked, time=TIMES, turn=TURNS, message=st.just("What now?")),
)


@given(st.lists(EVENTS, max_size=40))
def test_the_journal_tells_the_same_as_watching_live(events: Sequence[Event]) -> None:
    live, replayed = RunProgress(), RunProgress()
    live.apply_all(events)
    replayed.apply_all(event for event in events if event.journaled)
    assert replayed == live


@given(st.lists(EVENTS, max_size=40))
def test_whatever_happens_an_ended_run_has_no_open_turn_and_no_question(events: Sequence[Event]) -> None:
    progress = RunProgress()
    progress.apply_all([*events, RunFinished(time=300.0)])
    assert all(turn.is_over for turn in progress.turns.values())
    assert progress.questions == []
    assert not any(turn.waits_for_run for turn in progress.turns.values())
    assert progress.spent.usage.total_tokens >= 0
