"""An agent's final text -> its state update, or what is wrong with it.

The update is the last valid `<state_update>{…}</state_update>` of the text, else the last valid JSON object
in a code fence that has one of the keys of an update. Nothing here raises on what an agent wrote, and the
time is linear in the text, however hostile: the search goes from the end, tries a bounded number of places,
and stops when its budget is used up.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from core.update_block import (
    FENCE,
    JSON_STRING,
    KNOWN_FIELDS,
    ParsedUpdate,
    UpdateProblem,
    UpdateProblemKind,
    read_block,
)
from core.words import Both, say, say_both

OPENING = "<state_update>"
CLOSING = "</state_update>"

_MAX_PLACES = 32
"""Places that may hold an update, tried from the end of the text."""
_MAX_FENCES = 2_000

_FENCED_OBJECT = re.compile(r"```[ \t]*(?:json[c5]?)?[ \t\r\n]*(?=\{)", re.IGNORECASE)
_INSIDE_TAG = re.compile(r"\s*(?:\{|```|\Z)")
_WRITTEN = re.compile(r"\b(?:wrote|written|saved?|created?|stored|updated?)\b", re.IGNORECASE)
_A_FILE = re.compile(r"\.json\b|\.md\b|\.txt\b|\bfile\b", re.IGNORECASE)


def parse_update(text: str) -> ParsedUpdate | UpdateProblem:
    """The update in an agent's final text, or why there is none. Never raises, whatever the text."""
    tagged = _last_tagged(text)
    if isinstance(tagged, ParsedUpdate):
        return tagged
    fenced = _last_fenced(text)
    if isinstance(fenced, ParsedUpdate):
        return fenced
    return tagged or fenced or _nothing_found(text)


def apply_authority(parsed: ParsedUpdate, may_complete: bool, who: str) -> ParsedUpdate:
    """The update as it counts: `is_complete: true` is taken out, with a note, where `who` may not say so.

    It then says nothing about completion, so that it has no vote under the merge rules `all` and `any`.
    """
    if parsed.update.is_complete is not True:
        return parsed
    if may_complete and not parsed.is_earlier:
        return parsed
    note = (
        say(
            "{agent} said that the work is complete, but a later part of its answer is broken or missing. "
            "The completion was ignored.",
            agent=who,
        )
        if may_complete
        else say(
            "{agent} said that the work is complete. This was ignored: only agents with `can_complete: "
            "true`, or with the role auditor, approver, finalizer or finalization, can complete a loop.",
            agent=who,
        )
    )
    return replace(parsed, update=replace(parsed.update, is_complete=None), notes=(*parsed.notes, note))


# --- where the update is ------------------------------------------------------------------------------


@dataclass(slots=True)
class _Budget:
    """What a search may still read, so that no text makes it more than linear."""

    characters: int
    strings: int

    @classmethod
    def for_text(cls, text: str) -> _Budget:
        return cls(characters=100_000 + 4 * len(text), strings=2_000 + len(text) // 4)

    @property
    def used_up(self) -> bool:
        return self.characters < 0 or self.strings < 0


def _last_tagged(text: str) -> ParsedUpdate | UpdateProblem | None:
    """The last valid tagged update; else what is wrong with the last tag; None: there is no tag."""
    last_close = text.rfind(CLOSING)
    problem = _unclosed(text, last_close)
    found: ParsedUpdate | None = None
    found_end = -1
    budget = _Budget.for_text(text)
    opened = last_close
    end = last_close
    for _ in range(_MAX_PLACES if last_close != -1 else 0):
        before = opened
        opened = text.rfind(OPENING, 0, before)
        if opened == -1 or budget.used_up:
            break
        start = opened + len(OPENING)
        nearest = text.find(CLOSING, start, before)
        end = end if nearest == -1 else nearest
        if found is None:
            read, read_end = _read_between(text, start, end, CLOSING, budget)
            if isinstance(read, ParsedUpdate):
                found, found_end = read, read_end
                if found_end == last_close:
                    break
            elif problem is None:
                problem = read
        else:
            # What was found may stand in a string of an update around it: the outer one is meant.
            outer_end = _end_outside_strings(text, start, CLOSING, budget)
            if outer_end > found_end:
                outer = read_block(text[start:outer_end])
                if isinstance(outer, ParsedUpdate):
                    found, found_end = outer, outer_end
    if found is not None and problem is not None:
        note = say(
            "A later state update could not be used, so the one before it counts. {problem}",
            problem=problem.message,
        )
        return replace(found, notes=(*found.notes, note), is_earlier=True)
    return found or problem


def _unclosed(text: str, last_close: int) -> UpdateProblem | None:
    """The problem of a tag that was opened after the last closing tag, unless it is only talked about."""
    opened = text.rfind(OPENING)
    if opened <= last_close or not _INSIDE_TAG.match(text, opened + len(OPENING)):
        return None
    return UpdateProblem(
        UpdateProblemKind.TRUNCATED,
        say("The state update was cut off: it begins, but its closing tag is missing."),
        f"Your answer began {OPENING} but never reached {CLOSING}: it was cut off. Send the state update "
        "again, complete and shorter. Send only what changes in the payload, and no other text.",
    )


def cut_off(problem: UpdateProblem) -> UpdateProblem:
    """What is wrong where the backend says that not all of the answer is there: the model was cut off at its
    output limit, or it said more than is kept."""
    if problem.kind not in (UpdateProblemKind.MISSING, UpdateProblemKind.BAD_JSON):
        return problem
    return UpdateProblem(
        UpdateProblemKind.TRUNCATED,
        say(
            "The answer was cut off at the model's output limit, or is too long: its state update is "
            "incomplete."
        ),
        "Your answer was cut off at an output limit before its state update was complete. Send the update "
        "alone and keep it short: only what changes in the payload, and no other text.",
    )


def _last_fenced(text: str) -> ParsedUpdate | UpdateProblem | None:
    """The last valid fenced update; else what is wrong with the last fenced object; None: there is none."""
    problem: UpdateProblem | None = None
    budget = _Budget.for_text(text)
    position = len(text)
    places = 0
    for _ in range(_MAX_FENCES):
        position = text.rfind(FENCE, 0, position)
        if position == -1 or places == _MAX_PLACES or budget.used_up:
            break
        fence = _FENCED_OBJECT.match(text, position)
        if not fence:
            continue
        places += 1
        end = text.find(FENCE, fence.end())
        if end == -1:
            problem = problem or _fence_problem(say_both("It was cut off before the end of the fence."))
            continue
        read, _ = _read_between(text, fence.end(), end, FENCE, budget, must_have_key=True)
        if isinstance(read, ParsedUpdate):
            note = say("The state update was in a code fence instead of {tag} tags.", tag=OPENING)
            return replace(read, notes=(*read.notes, note))
        problem = problem or _fence_problem(Both(read.english, read.message))
    return problem


def _fence_problem(what: Both) -> UpdateProblem:
    return UpdateProblem(
        UpdateProblemKind.FENCED,
        say("The agent wrote JSON in a code fence instead of a tagged state update. {what}", what=what.own),
        f"Your answer has JSON in a code fence, but no usable state update. {what.english} Put the update "
        f"between {OPENING} and {CLOSING}, without a code fence.",
    )


def _nothing_found(text: str) -> UpdateProblem:
    """Why there is not even a try: perhaps it is in a file, or bare."""
    tail = text[-20_000:]
    if "state" in tail.lower() and _WRITTEN.search(tail) and _A_FILE.search(tail):
        return UpdateProblem(
            UpdateProblemKind.WRITTEN_TO_FILE,
            say("There is no state update in the answer. The agent seems to have written it to a file."),
            "Your answer has no state update; it seems that you wrote it to a file. OpenLoop does not read "
            f"files. Repeat the update in your answer, between {OPENING} and {CLOSING}.",
        )
    if not text.strip():
        message = say("The agent answered with an empty text.")
        advice = "Your answer was empty."
    elif tail.rstrip().endswith("}") and any(f'"{key}"' in tail for key in KNOWN_FIELDS):
        message = say("The agent wrote JSON, but not between state update tags.")
        advice = "Your answer has JSON, but not between tags, so it does not count."
    else:
        message = say("There is no state update in the agent's answer.")
        advice = "Your answer has no state update."
    return UpdateProblem(
        UpdateProblemKind.MISSING,
        message,
        f"{advice} End your answer with one JSON object between {OPENING} and {CLOSING}.",
    )


def _read_between(
    text: str, start: int, end: int, terminator: str, budget: _Budget, *, must_have_key: bool = False
) -> tuple[ParsedUpdate | UpdateProblem, int]:
    """Read from `start` to `end`, else to where `terminator` stands outside of the JSON's strings."""
    budget.characters -= end - start
    read = read_block(text[start:end], must_have_key=must_have_key)
    if isinstance(read, ParsedUpdate) or text.find(terminator, end + 1) == -1:
        return read, end
    further = _end_outside_strings(text, start, terminator, budget)
    if further <= end:
        return read, end
    budget.characters -= further - start
    return read_block(text[start:further], must_have_key=must_have_key), further


def _end_outside_strings(text: str, start: int, terminator: str, budget: _Budget) -> int:
    """Where `terminator` first stands outside of JSON strings after `start`; -1: nowhere, or too costly."""
    end = text.find(terminator, start)
    budget.characters -= max(end - start, 0)
    for string in JSON_STRING.finditer(text, start):
        if end == -1 or string.start() > end:
            break
        budget.strings -= 1
        if budget.used_up or not string[1]:
            return -1
        if string.end() > end:
            budget.characters -= string.end() - end
            end = text.find(terminator, string.end())
    return end
