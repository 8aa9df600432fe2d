"""How long a run took: one meaning in lists, reports and on the command line."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from core.events import (
    AttemptKind,
    AttemptStarted,
    GroupStarted,
    QuestionAsked,
    RunContinued,
    RunPaused,
    TurnRef,
    TurnStarted,
    TurnStatus,
)
from core.plan import Place
from core.progress_words import duration_words
from core.recorded_run import read_run
from core.run_duration import RunDuration, run_duration, run_duration_words
from core.run_times import savings_of
from tests.core.report_support import JournalOf
from tests.core.run_story import START, Story


def paused_story() -> Story:
    """An agent works for 3 s, its provider is lost, the run waits for 45 s, then works for 1 s more."""
    story = Story()
    (vera,) = story.group(0, "vera", parallel=False)
    story.begin(vera, 0)
    story.attempt_ends(vera, 3, "out of quota")
    story.events.append(RunPaused(time=START + 3, message="The quota is used up."))
    story.events.append(RunContinued(time=START + 48))
    story.attempt(vera, 48, 2, AttemptKind.RETRY)
    story.end(vera, 49)
    story.finish(49)
    return story


def test_a_pause_is_part_of_the_duration_and_named_apart() -> None:
    progress = paused_story().progress
    duration = run_duration(progress, START + 49)
    assert duration.seconds == pytest.approx(49)
    assert duration.waited == pytest.approx(45)
    assert run_duration_words(duration) == "0:49, of it 0:45 waiting for you"
    assert run_duration_words(RunDuration(49, 0.4)) == "0:49"


def test_an_agents_time_is_its_work_and_that_of_all_is_their_sum() -> None:
    progress = paused_story().progress
    (turn,) = progress.turns.values()
    assert turn.seconds(START + 49) == pytest.approx(4)
    assert turn.all_seconds(START + 49) == pytest.approx(4)
    assert savings_of(progress, START + 49).work == pytest.approx(4)


def test_a_rest_before_a_retry_is_neither_work_nor_waiting_for_the_user() -> None:
    story = Story()
    (vera,) = story.group(0, "vera")
    story.begin(vera, 0)
    story.attempt_ends(vera, 3, "overloaded", retry_in=30)
    story.attempt(vera, 33, 2, AttemptKind.RETRY)
    story.end(vera, 40)
    story.finish(40)
    (turn,) = story.progress.turns.values()
    assert turn.seconds(START + 40) == pytest.approx(10)
    assert run_duration(story.progress, START + 40) == RunDuration(pytest.approx(40), 0)


def test_the_work_of_earlier_starts_counts_for_all_of_it() -> None:
    story = Story()
    (vera,) = story.group(0, "vera")
    story.begin(vera, 0)
    story.end(vera, 5, TurnStatus.FAILED)
    story.group(20, "vera")
    story.begin(vera, 20)
    story.end(vera, 22)
    story.finish(22)
    (turn,) = story.progress.turns.values()
    assert turn.seconds(START + 22) == pytest.approx(2)
    assert turn.all_seconds(START + 22) == pytest.approx(7)


def test_an_unanswered_question_is_waiting_also_where_the_run_was_never_paused() -> None:
    story = Story()
    (vera,) = story.group(0, "vera")
    story.begin(vera, 0)
    story.attempt_ends(vera, 3)
    story.events.append(QuestionAsked(time=START + 3, turn=vera, message="What now?"))
    assert run_duration(story.progress, START + 3.5).waited == 0
    waited = run_duration(story.progress, START + 20)
    assert (waited.seconds, waited.waited) == pytest.approx((20, 17), abs=1)


def test_a_waiting_run_that_goes_on_is_counted_up_to_now() -> None:
    story = Story()
    (vera,) = story.group(0, "vera")
    story.begin(vera, 0)
    story.attempt_ends(vera, 3, "out of quota")
    story.events.append(RunPaused(time=START + 3, message="The quota is used up."))
    (turn,) = story.progress.turns.values()
    assert turn.seconds(START + 60) == pytest.approx(3)
    assert run_duration(story.progress, START + 60) == RunDuration(pytest.approx(60), pytest.approx(57))


def cut_off_run(folder: Path) -> float:
    """A run that was killed while its agent printed; gives when it began."""
    began = float(int(time.time())) - 100
    journal = JournalOf(folder)
    journal.now = began
    journal.start()
    journal.events += [
        GroupStarted(
            time=began,
            phase="loop",
            iteration=1,
            group=0,
            name="loop group 1",
            mode="sequential",
            turns=(TurnRef("loop/1/0/0", Place("loop", 0, 0), "vera", "vera", "0001-vera"),),
        ),
        TurnStarted(time=began, turn="loop/1/0/0"),
        AttemptStarted(time=began, turn="loop/1/0/0", number=1, kind=AttemptKind.FIRST),
    ]
    journal.read()
    turn = folder / "turns" / "0001-vera"
    turn.mkdir(parents=True)
    (turn / "output.log").write_text("It goes well.")
    os.utime(turn / "output.log", (began + 4, began + 4))
    os.utime(folder / "journal.jsonl", (began, began))
    return began


def test_a_run_that_was_killed_lasted_until_the_last_that_is_known_of_it(tmp_path: Path) -> None:
    began = cut_off_run(tmp_path / "run")
    run = read_run(tmp_path / "run")
    assert run.ended == pytest.approx(began + 4)
    assert run.duration.seconds == pytest.approx(4)
    assert run.progress.turns["loop/1/0/0"].seconds(run.ended) == pytest.approx(4)


def test_the_times_of_copied_files_tell_nothing(tmp_path: Path) -> None:
    began = cut_off_run(tmp_path / "run")
    for file in (tmp_path / "run").rglob("*"):
        os.utime(file, (began + 90, began + 90))
    assert read_run(tmp_path / "run").duration.seconds == 0


@pytest.mark.parametrize(
    ("seconds", "words"), [(0, "0:00"), (25.9, "0:26"), (15.4, "0:15"), (59.6, "1:00"), (3599.7, "1:00:00")]
)
def test_times_are_rounded_not_cut(seconds: float, words: str) -> None:
    assert duration_words(seconds) == words
