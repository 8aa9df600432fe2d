"""What is said about the progress of a run: numbers and short words, the same in every view."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from core.statuses import AttemptKind

if TYPE_CHECKING:
    from core.progress import RunProgress
    from core.state import Phase
    from core.turn_progress import TurnProgress
    from core.usage import Spent

QUIET_AFTER = 15.0
"""Seconds of silence that are nothing to speak of."""

PHASE_WORDS: dict[Phase, str] = {
    "preparation": "Preparation",
    "loop": "Loop",
    "finalization": "Finalization",
}


LOOPS_FIELD = "“Loops, at most”"
"""What messages call `max_loops`: as the window's field does. The command line says the name of the key."""


def duration_words(seconds: float) -> str:
    """A stretch of time as `0:42` or `2:14:05`, rounded to the second."""
    minutes, rest = divmod(max(0, int(seconds + 0.5)), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def span_words(seconds: float) -> str:
    """A stretch of time in the largest unit that says enough: `18 s`, `4 min`, `2 h`."""
    if seconds < 90:
        return f"{int(seconds)} s"
    return f"{int(seconds // 60)} min" if seconds < 5400 else f"{int(seconds // 3600)} h"


def quantity_words(count: int, one: str, many: str = "") -> str:
    """A number with its noun: `1 agent`, `48,210 tokens`. `many`: the plural where it is not `one` and s."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def dollar_words(amount: float) -> str:
    """US dollars as `$0.42`; what would look like nothing as `< $0.01`."""
    return "< $0.01" if 0 < amount < 0.005 else f"${amount:,.2f}"


def cost_words(spent: Spent) -> str:
    """What was spent: `$0.42`, `price unknown`, or both; empty while nothing was used."""
    cost = spent.usage.cost_usd
    if cost is None:
        return "price unknown" if spent.unpriced else ""
    return f"{dollar_words(cost)} + unknown" if spent.unpriced else dollar_words(cost)


def attempt_words(turn: TurnProgress, max_retries: int | None = None) -> str:
    """Which attempt this is: `attempt 2 of 3`, `correction 1 of 2`; empty for the first."""
    if turn.attempt_kind is AttemptKind.CORRECTION:
        # Plans know agents and much else; the other words here need none of it.
        from core.plan import MAX_CORRECTIONS

        return f"correction {turn.corrections} of {max(MAX_CORRECTIONS, turn.corrections)}"
    if turn.retries == 0:
        return ""
    number = turn.retries + 1
    return f"attempt {number} of {max(max_retries + 1, number)}" if max_retries else f"attempt {number}"


def activity_words(turn: TurnProgress, now: float, max_retries: int | None = None) -> Iterator[str]:
    """What is worth saying about a running turn beside its time, most important first."""
    if turn.question:
        yield "needs your answer"
    elif turn.retry_at is not None:
        yield f"again in {span_words(max(0.0, turn.retry_at - now) + 0.999)}"
    attempt = attempt_words(turn, max_retries)
    if attempt:
        yield attempt
    quiet = turn.quiet_seconds(now)
    if quiet > QUIET_AFTER:
        yield f"quiet {span_words(quiet)}"


def phase_words(progress: RunProgress) -> str:
    """Where the run is: `Loop · iteration 3 of 10`."""
    if progress.phase is None:
        return ""
    words = PHASE_WORDS[progress.phase]
    if progress.phase != "loop" or not progress.iteration:
        return words
    of = f" of {progress.max_loops}" if progress.max_loops else ""
    return f"{words} · iteration {progress.iteration}{of}"
