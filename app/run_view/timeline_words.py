"""What is said about a bar, a row or a break of the timeline, for tool tips and screen readers."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

from core.events import AttemptKind, TurnStatus
from core.progress_words import cost_words, duration_words, phase_title, span_words, token_words, turn_words
from core.run_clock import Break, BreakKind, RunClock
from core.run_times import Band, Bar, Row, Savings
from core.turn_progress import Attempt

Translate = Callable[[str], str]
_LONGEST = 240
"""Characters of a reason; the log has all of it."""


def short_time(seconds: float) -> str:
    """A stretch of time; below ten seconds with a decimal: `3.2 s`, `0:42`."""
    return f"{seconds:.1f} s" if seconds < 9.95 else duration_words(seconds)


def status_words(bar: Bar, tr: Translate) -> str:
    """What a bar is doing or came to."""
    if bar.start_number < bar.starts and bar.status is TurnStatus.STOPPED:
        return tr("cut off, made again later")
    if bar.went_without:
        return tr("succeeded without a state update")
    return {
        TurnStatus.WAITING: tr("waiting for a slot"),
        TurnStatus.RUNNING: tr("running"),
        TurnStatus.SUCCEEDED: tr("succeeded"),
        TurnStatus.FAILED: tr("failed"),
        TurnStatus.STOPPED: tr("stopped"),
    }[bar.status]


def place_words(bar: Bar, tr: Translate) -> str:
    """Where in the run it is: `Loop, iteration 3, in parallel`."""
    words = [phase_title(bar.phase)]
    if bar.iteration:
        words.append(tr("iteration {0}").format(bar.iteration))
    words.append(tr("in parallel") if bar.parallel else tr("in sequence"))
    if bar.starts > 1:
        words.append(tr("start {0} of {1}").format(bar.start_number, bar.starts))
    return ", ".join(words)


def bar_lines(bar: Bar, now: float, tr: Translate) -> list[str]:
    """All about a bar, most important first."""
    lines = [f"{bar.title} · {status_words(bar, tr)}", place_words(bar, tr)]
    if bar.began is not None:
        begun = clock_words(bar.began)
        if bar.ended is None:
            times = tr("{0} since {1}").format(short_time(bar.until(now) - bar.began), begun)
        else:
            times = tr("{0}, from {1} to {2}").format(
                short_time(bar.until(now) - bar.began), begun, clock_words(bar.ended)
            )
        lines.append(times)
    waited = bar.first - bar.called if bar.began is not None else bar.until(now) - bar.called
    if waited >= 0.5:
        lines.append(tr("Waited {0} for a slot").format(short_time(waited)))
    asked = bar.waited_for_user(now)
    if asked:
        words = tr("At work for {0}, waited {1} for you")
        lines.append(words.format(short_time(bar.seconds(now)), short_time(asked)))
    if len(bar.attempts) > 1:
        lines += [attempt_line(bar, number, now, tr) for number in range(len(bar.attempts))]
    spent = [token_words(bar.spent.usage.total_tokens)] if bar.spent.usage.total_tokens else []
    cost = cost_words(bar.spent)
    if cost:
        spent.append(cost)
    if spent:
        lines.append(" · ".join(spent))
    if bar.message:
        lines.append(_short(bar.message))
    return lines


def attempt_line(bar: Bar, number: int, now: float, tr: Translate) -> str:
    """One attempt, why it was made, and how it ended: `2. retry, 0:12: overloaded`."""
    attempt = bar.attempts[number]
    following = bar.attempts[number + 1] if number + 1 < len(bar.attempts) else None
    kind = {
        AttemptKind.FIRST: tr("first attempt"),
        AttemptKind.RETRY: tr("retry"),
        AttemptKind.CORRECTION: tr("correction"),
    }[attempt.kind]
    ended = now if attempt.finished is None else attempt.finished
    words = f"{number + 1}. {kind}, {short_time(max(0.0, ended - attempt.started))}"
    trouble = _trouble(attempt, following)
    if trouble:
        words += f": {_short(trouble)}"
    rested, waited = bar.rest_after(number, now)
    if attempt.retry_in is not None and waited >= 0.5:
        words += " " + tr("(then waited {0}, and {1} more for a slot)").format(
            short_time(rested), short_time(waited)
        )
    elif attempt.retry_in is not None:
        words += " " + tr("(then waited {0})").format(short_time(rested))
    elif bar.lacks_update(number) and not trouble:
        words += ": " + tr("no state update")
    return words


def _trouble(attempt: Attempt, following: Attempt | None) -> str:
    # Why the next one was made tells what was wrong with this one where it did not fail itself.
    return attempt.problem or (following.reason if following is not None else "")


def bar_sentence(bar: Bar, now: float, tr: Translate) -> str:
    """A bar in one line, for a screen reader."""
    return ", ".join(line.rstrip(".") for line in bar_lines(bar, now, tr))


def row_lines(row: Row, now: float, tr: Translate) -> Iterator[str]:
    """All about a row."""
    yield row.label if row.label == row.agent else f"{row.label} ({row.agent})"
    turns = {bar.turn for bar in row.bars if bar.began is not None}
    if turns:
        total = short_time(sum(bar.seconds(now) for bar in row.bars))
        yield f"{phase_title(row.phase)} · {turn_words(len(turns))} · {total}"
    else:
        yield f"{phase_title(row.phase)} · {tr('not begun')}"


def band_words(band: Band, tr: Translate) -> tuple[str, str]:
    """The name of a band, and a short one."""
    if band.phase == "loop":
        return tr("Iteration {0}").format(band.iteration), str(band.iteration)
    return phase_title(band.phase), ""


def band_lines(band: Band, clock: RunClock, tr: Translate) -> Iterator[str]:
    """All about a phase or a pass of the loop."""
    yield band_words(band, tr)[0]
    took = clock.seconds(band.ended) - clock.seconds(band.began)
    yield tr("{0}, from {1} to {2}").format(
        short_time(took), clock_words(band.began), clock_words(band.ended)
    )


def break_words(cut: Break, tr: Translate) -> str:
    """Why time is left out here."""
    took = span_words(cut.ended - cut.began)
    if cut.kind is BreakKind.RESUMED:
        return tr("The run was resumed here, {0} after it had ended. That time is left out.").format(took)
    return tr("The run waited for you here for {0}. That time is left out.").format(took)


def savings_lines(savings: Savings, most: int, tr: Translate) -> list[str]:
    """How the savings are meant."""
    if savings.work <= 0:
        return []
    lines = [
        tr("All turns one after another: {0}").format(short_time(savings.work)),
        tr("The run took: {0}").format(short_time(savings.wall)),
        tr("It cannot take less than: {0}, the longest chain of turns that wait for each other").format(
            short_time(savings.critical_path)
        ),
    ]
    if most > 1:
        lines.append(tr("At most {0} agents worked at the same time").format(most))
    return lines


def clock_words(moment: float) -> str:
    """A time of day, as here."""
    return time.strftime("%H:%M:%S", time.localtime(moment))


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
