"""The run of this window in the list of runs: what the window knows of it counts, not what was read."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from app.runs.entry import RunEntry, Waits, waits_of
from app.runs.words import tr
from core.usage import Spent

if TYPE_CHECKING:
    from core.progress import RunProgress
    from core.run_times import RunChart


@dataclass(frozen=True, slots=True)
class LiveRun:
    """How the run of the window stands. Times in seconds."""

    folder: Path
    waits: Waits
    seconds: float
    waited: float
    spent: Spent
    done_turns: int
    iteration: int
    agents: tuple[str, ...]

    @classmethod
    def of(cls, progress: RunProgress, now: float, chart: RunChart) -> LiveRun:
        """The run with this progress, at `now` (seconds since the epoch). `chart`: its own."""
        from core.progress_words import whole_seconds
        from core.run_duration import run_duration
        from core.statuses import TurnStatus

        turns = progress.turns.values()
        duration = run_duration(progress, now, chart)
        return cls(
            Path(progress.folder),
            waits_of(progress),
            # Whole seconds: nobody sees more, and a row that looks the same is not painted again.
            float(whole_seconds(duration.seconds)),
            float(whole_seconds(duration.waited)),
            progress.spent,
            sum(turn.status is TurnStatus.SUCCEEDED for turn in turns),
            progress.iteration,
            tuple(dict.fromkeys(turn.agent for turn in turns)),
        )

    def shown_in(self, entry: RunEntry) -> RunEntry:
        """The entry of its folder as it is now."""
        words = tr("It is going on in this window.")
        more = {
            Waits.NOTHING: "",
            Waits.ANSWER: tr("An agent waits for your answer."),
            Waits.PAUSED: tr("It is paused and waits for you."),
        }[self.waits]
        return replace(
            entry,
            status=None,
            reason="",
            going_on=True,
            here=True,
            obstacle=words,
            message=f"{words} {more}".strip(),
            waits=self.waits,
            seconds=self.seconds,
            waited=self.waited,
            spent=self.spent,
            done_turns=self.done_turns,
            iteration=self.iteration,
            agents=self.agents,
        )
