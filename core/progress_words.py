"""What is said about the progress of a run: numbers and short words, the same in every view."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from core.statuses import AttemptKind
from core.words import say, say_number

if TYPE_CHECKING:
    from core.progress import RunProgress
    from core.state import Phase
    from core.turn_progress import TurnProgress
    from core.usage import Spent

_CAPS = ("max_cost_usd", "max_cost_usd_per_group", "max_tokens")
QUIET_AFTER = 15.0
"""Seconds of silence that are nothing to speak of."""


def phase_title(phase: Phase) -> str:
    """The name of a phase."""
    match phase:
        case "preparation":
            return say("Preparation")
        case "loop":
            return say("Loop")
        case "finalization":
            return say("Finalization")


def loops_field() -> str:
    """What messages call `max_loops`: as the window's field does. On the command line it is the key."""
    return f"“{say('Loops, at most')}”"


def cap_field(cap: str) -> str:
    """What messages call a cap of the budget, in the same way."""
    fields = {"max_cost_usd": say("Budget"), "max_cost_usd_per_group": say("Budget of a group")}
    return f"“{fields.get(cap) or say('Tokens, at most')}”"


def with_keys(message: str, options: Mapping[str, str] | None = None) -> str:
    """A message with the keys of a file where it names fields of the window: for the command line.

    `options`: what sets a key there, to be named with it.
    """
    fields = {"max_loops": loops_field()} | {cap: cap_field(cap) for cap in _CAPS}
    for key, field in fields.items():
        option = options.get(key) if options is not None else None
        message = message.replace(field, f"{key} ({option})" if option else key)
    return message


def left_alone_words() -> str:
    """What happens to an agent that is silent for long. The window calls the key as its field does."""
    return say("It is left alone: no agent_idle_timeout is set.")


def whole_seconds(seconds: float) -> int:
    """A stretch of time as every view rounds it."""
    return max(0, int(seconds + 0.5))


def duration_words(seconds: float) -> str:
    """A stretch of time as `0:42` or `2:14:05`, rounded to the second."""
    minutes, rest = divmod(whole_seconds(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def span_words(seconds: float) -> str:
    """A stretch of time in the largest unit that says enough: `18 s`, `4 min`, `2 h`."""
    if seconds < 90:
        return say("{count} s", count=int(seconds))
    if seconds < 5400:
        return say("{count} min", count=int(seconds // 60))
    return say("{count} h", count=int(seconds // 3600))


def agent_words(count: int) -> str:
    """How many agents: `1 agent`, `4 agents`."""
    return say_number(count, "1 agent", "{count:,} agents")


def turn_words(count: int) -> str:
    """How many turns: `1 turn`, `1,204 turns`."""
    return say_number(count, "1 turn", "{count:,} turns")


def token_words(count: int) -> str:
    """How many tokens: `48,210 tokens`."""
    return say_number(count, "1 token", "{count:,} tokens")


def dollar_words(amount: float) -> str:
    """US dollars as `$0.42`; what would look like nothing as `< $0.01`."""
    return "< $0.01" if 0 < amount < 0.005 else f"${amount:,.2f}"


def cost_words(spent: Spent) -> str:
    """What was spent: `$0.42`, `price unknown`, or both; empty while nothing was used."""
    cost = spent.usage.cost_usd
    if cost is None:
        return say("price unknown") if spent.unpriced else ""
    return say("{cost} + unknown", cost=dollar_words(cost)) if spent.unpriced else dollar_words(cost)


def attempt_words(turn: TurnProgress, max_retries: int | None = None) -> str:
    """Which attempt this is: `attempt 2 of 3`, `correction 1 of 2`; empty for the first."""
    if turn.attempt_kind is AttemptKind.CORRECTION:
        # Plans know agents and much else; the other words here need none of it.
        from core.plan import MAX_CORRECTIONS

        most = max(MAX_CORRECTIONS, turn.corrections)
        return say("correction {number} of {most}", number=turn.corrections, most=most)
    if turn.retries == 0:
        return ""
    number = turn.retries + 1
    if not max_retries:
        return say("attempt {number}", number=number)
    return say("attempt {number} of {most}", number=number, most=max(max_retries + 1, number))


def activity_words(turn: TurnProgress, now: float, max_retries: int | None = None) -> Iterator[str]:
    """What is worth saying about a running turn beside its time, most important first."""
    if turn.question:
        yield say("needs your answer")
    elif turn.retry_at is not None:
        yield say("again in {time}", time=span_words(max(0.0, turn.retry_at - now) + 0.999))
    attempt = attempt_words(turn, max_retries)
    if attempt:
        yield attempt
    quiet = turn.quiet_seconds(now)
    if quiet > QUIET_AFTER:
        yield say("quiet {time}", time=span_words(quiet))


def phase_words(progress: RunProgress) -> str:
    """Where the run is: `Loop · iteration 3 of 10`."""
    if progress.phase is None:
        return ""
    words = phase_title(progress.phase)
    if progress.phase != "loop" or not progress.iteration:
        return words
    if not progress.max_loops:
        return say("{phase} · iteration {number}", phase=words, number=progress.iteration)
    return say(
        "{phase} · iteration {number} of {most}",
        phase=words,
        number=progress.iteration,
        most=progress.max_loops,
    )
