"""Turns and groups on a report's page."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import zip_longest

from core.events import AttemptKind
from core.progress_words import agent_words, token_words
from core.report_model import AttemptReport, GroupReport, RunReport, TurnReport
from core.report_parts import (
    MOST_ANSWERS,
    MOST_DETAIL,
    MOST_LISTED,
    MOST_MESSAGE,
    MOST_TURNS,
    MOST_VALUE,
    STATUS_ICONS,
    AttemptRow,
    Fact,
    GroupRows,
    LeftOut,
    TurnRow,
    json_part,
    left_out,
    moment_words,
    place_words,
    status_word,
    time_words,
    usage_words,
)
from core.report_text import digest, fair_share, json_bytes, shown, size_words
from core.run_clock import RunClock
from core.run_files import TURNS_NAME, UPDATE_NAME
from core.words import say, say_number


def turn_rows(
    report: RunReport, anchors: dict[str, str], clock: RunClock
) -> tuple[dict[str, TurnRow], LeftOut]:
    """By turn id: its row. `anchors`: by turn id. Also, what all their answers together left out."""
    turns = report.turns[:MOST_TURNS]
    sizes = [len(json_bytes(turn.update.payload)) if turn.update is not None else 0 for turn in turns]
    share = fair_share(sizes, MOST_ANSWERS)
    rows = {turn.id: _turn(turn, clock, anchors[turn.id], share) for turn in turns}
    beyond = [size - share for size in sizes if size > share]
    why = say_number(len(beyond), "1 long answer is cut.", "{count:,} long answers are cut.")
    return rows, left_out(sum(beyond), size_words, why)


def _turn(turn: TurnReport, clock: RunClock, anchor: str, share: int) -> TurnRow:
    message = shown(turn.message, MOST_MESSAGE)
    answer = None
    if turn.update is not None:
        said = {key: value for key, value in vars(turn.update).items() if value is not None}
        path = f"{TURNS_NAME}/{shown(turn.folder, MOST_VALUE)}/{UPDATE_NAME}"
        where = say("All of it is in {path}.", path=path)
        answer = json_part(said, share + 200, where)
    return TurnRow(
        anchor=anchor,
        title=shown(turn.title, MOST_VALUE),
        label=shown(turn.label, MOST_VALUE),
        iteration=f"{turn.iteration:,}" if turn.iteration else "",
        kind=turn.status,
        word=status_word(turn.status),
        icon=STATUS_ICONS[turn.status],
        began=time_words(clock.seconds(turn.started)) if turn.started is not None else "–",
        time=time_words(turn.seconds),
        attempts_words=f"{len(turn.attempts):,}",
        tokens=f"{turn.usage.total_tokens:,}",
        cost=usage_words(turn.usage),
        digest=_digest(turn, message),
        digest_kind="failed" if turn.update is None and _problem(turn) else turn.status,
        message=message,
        detail=shown(turn.detail, MOST_DETAIL),
        answer=answer,
        attempts=tuple(_attempts(turn.attempts[:MOST_LISTED])),
        facts=tuple(_turn_facts(turn)),
    )


def _digest(turn: TurnReport, message: str) -> str:
    if turn.update is None:
        words = message.splitlines()[0] if message else say("No answer.")
        problem = _problem(turn)
        if problem and problem.strip() not in message:
            # How the turn ended may not be what went wrong: a run that lost its provider was stopped.
            words = f"{problem.strip().splitlines()[0]} · {words}"
    elif turn.update.payload:
        words = digest(turn.update.payload)
    else:
        words = say("Nothing for the payload.")
    if turn.update is not None and turn.update.is_complete:
        words = say("complete · {words}", words=words)
    return shown(words, MOST_VALUE)


def _problem(turn: TurnReport) -> str:
    """What was wrong with the last attempt that failed; empty: none did, or nobody said why."""
    return next((attempt.problem for attempt in reversed(turn.attempts) if attempt.problem.strip()), "")


def _turn_facts(turn: TurnReport) -> Iterable[Fact]:
    if turn.started is not None:
        yield Fact(say("Began"), moment_words(turn.started))
    yield Fact(say("Backend"), shown(turn.backend or "–", MOST_VALUE))
    if turn.model:
        yield Fact(say("Model"), shown(turn.model, MOST_VALUE))
    if turn.agent != turn.label:
        yield Fact(say("Agent"), shown(turn.agent, MOST_VALUE))
    if turn.prompt_bytes:
        yield Fact(say("Prompt"), size_words(turn.prompt_bytes))
    usage = turn.usage
    parts = (
        (usage.input_tokens, say("{count:,} in", count=usage.input_tokens)),
        (usage.output_tokens, say("{count:,} out", count=usage.output_tokens)),
        (usage.reasoning_tokens, say("{count:,} reasoning", count=usage.reasoning_tokens)),
        (usage.cache_read_tokens, say("{count:,} cache read", count=usage.cache_read_tokens)),
        (usage.cache_write_tokens, say("{count:,} cache write", count=usage.cache_write_tokens)),
    )
    tokens = [words for count, words in parts if count]
    if tokens:
        yield Fact(say("Tokens"), " · ".join(tokens))
    yield Fact(say("Folder"), shown(f"{TURNS_NAME}/{turn.folder}", MOST_VALUE))
    if turn.session:
        yield Fact(say("Session"), shown(turn.session, MOST_VALUE))


def _attempts(attempts: Sequence[AttemptReport]) -> Iterable[AttemptRow]:
    for attempt, after in zip_longest(attempts, attempts[1:]):
        # A process that ended well may have answered badly; the attempt after it says so.
        yield _attempt(attempt, attempt.problem or (after.reason if after is not None else ""))


def _kind_words(kind: AttemptKind) -> str:
    match kind:
        case AttemptKind.FIRST:
            return say("first attempt")
        case AttemptKind.RETRY:
            return say("retry")
        case AttemptKind.CORRECTION:
            return say("correction")


def _attempt(attempt: AttemptReport, problem: str) -> AttemptRow:
    words = [_kind_words(attempt.kind)]
    if attempt.finished is None:
        words.append(say("no end was recorded"))
    else:
        words.append(time_words(attempt.finished - attempt.started))
    if attempt.signal is not None:
        words.append(say("signal {number}", number=attempt.signal))
    elif attempt.exit_code is not None:
        words.append(say("exit code {code}", code=attempt.exit_code))
    if attempt.left_behind:
        words.append(
            say_number(attempt.left_behind, "left 1 process behind", "left {count:,} processes behind")
        )
    if attempt.late_bytes:
        words.append(say("{size} came too late", size=size_words(attempt.late_bytes)))
    kind = "failed" if problem else "succeeded"
    return AttemptRow(kind, " · ".join(words), shown(problem, MOST_MESSAGE))


def group_rows(group: GroupReport, rows: dict[str, TurnRow], several: bool) -> GroupRows:
    """A group with the rows of its turns. `several`: its phase has more than one group."""
    words = [say("in parallel") if group.mode == "parallel" else say("in sequence")]
    own = tuple(rows[turn] for turn in group.turns if turn in rows)
    if group.mode == "parallel":
        words.append(agent_words(len(own)))
    if len(own) > 1:
        words += [token_words(group.usage.total_tokens), usage_words(group.usage)]
    index = group.index if several else None
    place = place_words(group.phase, group.iteration, group.name, index)
    return GroupRows(group.mode, place, " · ".join(words), own)
