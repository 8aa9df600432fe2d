"""What the history has a worker do: read a run whole, compare two."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from core.run_whereabouts import Whereabouts, whereabouts

if TYPE_CHECKING:
    from app.runs.compare_rows import ShownComparison
    from app.runs.entry import RunEntry
    from app.runs.jobs import Tell, Work
    from core.recorded_run import RecordedRun


@dataclass(frozen=True, slots=True)
class Opened:
    """A run that was read, or why it could not be. `entry`: as the list has it, read anew.

    `where`: of one that goes on, what runs it.
    """

    entry: RunEntry
    run: RecordedRun | None = None
    where: Whereabouts | None = None
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Compared:
    """Two runs that were compared, or why they could not be."""

    shown: ShownComparison | None = None
    problem: str = ""


def open_work(entry: RunEntry) -> Work:
    """Read this run; tells an `Opened`."""

    def work(tell: Tell, stopped: Callable[[], bool]) -> None:
        from app.runs.entry import entry_of
        from core.recorded_run import RunUnreadable, read_run

        del stopped
        try:
            run = read_run(entry.folder)
            # What the view asks for first takes a while of a long run: not in the window's thread.
            run.measure()
            where = whereabouts(run.events) if run.going_on else None
            tell(Opened(entry_of(run), run, where))
        except RunUnreadable as error:
            tell(Opened(entry, problem=error.problem.message))

    return work


def compare_work(first: RunEntry, second: RunEntry) -> Work:
    """Compare these runs; tells a `Compared`."""

    def work(tell: Tell, stopped: Callable[[], bool]) -> None:
        from app.runs.compare_rows import shown
        from core.compare_runs import compare_runs
        from core.recorded_run import RunUnreadable, read_run
        from core.report_facts import report_of

        try:
            one = report_of(read_run(first.folder))
            if stopped():
                return
            other = report_of(read_run(second.folder))
            tell(Compared(shown(compare_runs(one, other))))
        except RunUnreadable as error:
            tell(Compared(problem=error.problem.message))

    return work
