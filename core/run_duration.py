"""How long a run took, and how much of that it waited for its user: the same in every view and report.

The duration is the time from the start to the end of each of the run's lives, without the time between them.
Waiting for the user is the part of it in which nobody worked and nobody waited for the time of a next
attempt: all that was open had asked the user, or the run was paused.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import zip_longest
from typing import TYPE_CHECKING

from core.progress_words import duration_words
from core.words import say

if TYPE_CHECKING:
    from core.progress import RunProgress
    from core.run_times import RunChart

_WORTH_SAYING = 1.0


@dataclass(frozen=True, slots=True)
class RunDuration:
    """Both in seconds; `waited` is part of `seconds`."""

    seconds: float = 0.0
    waited: float = 0.0


def run_duration(progress: RunProgress, now: float, chart: RunChart | None = None) -> RunDuration:
    """The duration of a run, up to `now` (seconds since the epoch) while it goes on. `chart`: that of the
    run, where somebody has it."""
    if not may_have_waited(progress, now):
        # Most runs never do, and a chart of a long run takes a while.
        return RunDuration(progress.seconds(now))
    if chart is None:
        # Times of a run that nobody has looked at yet are nothing that the first paint of a window needs.
        from core.run_times import RunChart

        chart = RunChart(progress)
    seconds = progress.seconds(now)
    return RunDuration(seconds, min(seconds, chart.clock(now).waited))


def may_have_waited(progress: RunProgress, now: float) -> bool:
    """Whether it was paused, or a turn did nothing for longer than attempts need to follow each other."""
    if progress.pauses:
        return True
    for turn in progress.turns.values():
        ended = now if turn.finished is None else turn.finished
        starts = [(start.attempts, start.finished) for start in turn.earlier]
        for attempts, end in (*starts, (turn.attempts_made, ended)):
            for attempt, following in zip_longest(attempts, attempts[1:]):
                if attempt.finished is None or attempt.retry_in is not None:
                    continue
                until = end if following is None else following.started
                if until - attempt.finished > _WORTH_SAYING:
                    return True
    return False


def run_duration_words(duration: RunDuration) -> str:
    """`0:49`, or `0:49, of it 0:46 waiting for you`."""
    took = duration_words(duration.seconds)
    if duration.waited < _WORTH_SAYING:
        return took
    return say("{time}, of it {waited} waiting for you", time=took, waited=duration_words(duration.waited))
