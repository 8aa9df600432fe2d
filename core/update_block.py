"""One block of text that may be a state update: read as JSON, checked, or told what is wrong with it."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

import jsonyx
from jsonyx.allow import COMMENTS, TRAILING_COMMA

from core.json_types import JsonObject, JsonValue
from core.state import StateUpdate
from core.words import Both, say, say_both

FENCE = "```"
MAX_DEPTH = 200
"""Objects and lists inside each other; deeper updates are refused."""
MAX_VALUES = 250_000
"""Values in one update. A value of two characters takes a hundred bytes and more once it is read."""
MAX_SPELLED = 32 * 1024 * 1024
"""Characters of the indents and paths of all values together. What is deep and wide at once becomes many
times as large where it is written with its indents, or with the path of each value in dispute."""

KNOWN_FIELDS = ("is_complete", "termination_reason", "payload")
"""What an update has."""
_PROTECTED = ("current_phase", "iteration", "meta")
_SHORT = 4_000
_LARGEST_INTEGER = 2**63 - 1

_OPENING_FENCE_LINE = re.compile(r"```[^\n`{]*")
JSON_STRING = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*("|\\?\Z)', re.DOTALL)
"""A JSON string; without a closing quote it reaches to the end of the text, so nothing is read twice."""
_SURROGATE = re.compile("[\ud800-\udfff]")


class UpdateProblemKind(StrEnum):
    """Why a text gives no update."""

    MISSING = "missing"
    FENCED = "fenced"
    TRUNCATED = "truncated"
    WRITTEN_TO_FILE = "written_to_file"
    BAD_JSON = "bad_json"
    NOT_AN_OBJECT = "not_an_object"
    TOO_DEEP = "too_deep"
    TOO_LARGE = "too_large"
    BAD_FIELD = "bad_field"


@dataclass(frozen=True, slots=True)
class UpdateProblem:
    """Why a text gives no update: `message` for a person, `advice` for the agent that is to correct it."""

    kind: UpdateProblemKind
    message: str
    advice: str
    english: str = ""
    """What was read, if there was something: the message as an agent may be told it."""


@dataclass(frozen=True, slots=True)
class ParsedUpdate:
    """An update, and what a person should know about how it was read, a sentence each."""

    update: StateUpdate
    notes: tuple[str, ...] = ()
    is_earlier: bool = False
    """A later update of the same text could not be used: this one may be an example, or out of date."""


class _RefusedJsonError(ValueError):
    """JSON that reads well but cannot be a state."""

    def __init__(self, what: Both) -> None:
        super().__init__(what.english)
        self.what = what


_GONE = object()


def _unique_keys(pairs: list[tuple[str, JsonValue]]) -> JsonObject:
    members = dict(pairs)
    if len(members) != len(pairs):
        # Each time a key comes, it is taken away: the one that is gone already came before.
        left = dict(members)
        twice = next(name for name, _ in pairs if left.pop(name, _GONE) is _GONE)
        raise _RefusedJsonError(
            say_both("The key {key} stands twice in one object.", key=_shortened(repr(twice)))
        )
    return members


def _finite(digits: str) -> float:
    number = float(digits)
    if not math.isfinite(number):
        raise _RefusedJsonError(say_both("The number {number} is too large.", number=_shortened(digits)))
    return number


def _whole(digits: str) -> int | float:
    """Whole numbers beyond 64 bits become floating point, as in most JSON readers."""
    if len(digits) < 19:
        return int(digits)
    if len(digits) > 400:
        raise _RefusedJsonError(say_both("The number {number} is too large.", number=_shortened(digits)))
    number = int(digits)
    return number if abs(number) <= _LARGEST_INTEGER else _finite(digits)


_HOOKS: dict[str, Callable[..., object]] = {"object": _unique_keys, "float": _finite, "int": _whole}
_STRICT = jsonyx.Decoder(hooks=_HOOKS)
_TOLERANT = jsonyx.Decoder(allow=COMMENTS | TRAILING_COMMA, hooks=_HOOKS)


def read_block(block: str, *, must_have_key: bool = False) -> ParsedUpdate | UpdateProblem:
    """The update that one block of text is."""
    notes: list[str] = []
    block = block.strip("\ufeff \t\r\n")
    if block.startswith(FENCE):
        inner = _OPENING_FENCE_LINE.sub("", block, count=1)
        block = inner.strip().removesuffix(FENCE).strip()
        notes.append(say("The state update had a code fence inside its tags."))
    if not block.isascii() and _SURROGATE.search(block):
        block = _SURROGATE.sub("\ufffd", block)
        notes.append(say("Characters that are not valid text were replaced in the state update."))
    if not block:
        return _bad_json(say_both("It is empty."))
    if _has_too_many_values(block):
        return _too_large(say_both("It holds more than {count:,} values.", count=MAX_VALUES))
    try:
        try:
            value: JsonValue = _STRICT.loads(block)
        except jsonyx.JSONSyntaxError:
            value = _TOLERANT.loads(block)
            notes.append(say("Comments or trailing commas in the state update were accepted."))
    except jsonyx.JSONSyntaxError as error:
        return _bad_json(_where(block, error))
    except _RefusedJsonError as error:
        return _bad_json(error.what)
    except RecursionError:
        return _too_deep()
    if not isinstance(value, dict):
        return _unusable(
            UpdateProblemKind.NOT_AN_OBJECT,
            say_both("The state update is {kind}, not a JSON object.", kind=_type_name(value)),
            f"Your state update is {_type_name(value).english}. It must be one JSON object, in curly braces.",
        )
    # In a short one there is no room for either.
    if block.count("{") + block.count("[") > MAX_DEPTH or len(block) > _SHORT:
        shape = _shape_problem(value)
        if shape is not None:
            return shape
    if must_have_key and not any(key in value for key in KNOWN_FIELDS):
        return _bad_field(say_both("It has none of the keys is_complete, termination_reason and payload."))
    return _envelope(value, notes)


def _envelope(value: JsonObject, notes: list[str]) -> ParsedUpdate | UpdateProblem:
    """Check the three fields; move unknown keys into the payload and leave out protected ones."""
    is_complete = value.get("is_complete")
    if is_complete is not None and not isinstance(is_complete, bool):
        return _bad_field(
            say_both(
                "is_complete must be true or false without quotes, but it is {kind}.",
                kind=_type_name(is_complete),
            )
        )
    reason = value.get("termination_reason")
    if reason is not None and not isinstance(reason, str):
        return _bad_field(
            say_both("termination_reason must be a text or null, but it is {kind}.", kind=_type_name(reason))
        )
    payload = value.get("payload")
    if payload is not None and not isinstance(payload, dict):
        return _bad_field(
            say_both("payload must be a JSON object, but it is {kind}.", kind=_type_name(payload))
        )
    ignored = [key for key in _PROTECTED if key in value]
    if ignored:
        notes.append(say("Agents cannot change {keys}: ignored.", keys=_listed(ignored)))
    unknown = {
        key: entry for key, entry in value.items() if key not in KNOWN_FIELDS and key not in _PROTECTED
    }
    if unknown:
        moved = [key for key in unknown if payload is None or key not in payload]
        doubled = [key for key in unknown if key not in moved]
        if moved:
            notes.append(
                say("Not a field of a state update, so moved into payload: {keys}.", keys=_listed(moved))
            )
        if doubled:
            notes.append(say("Ignored, because payload has the same key: {keys}.", keys=_listed(doubled)))
        payload = {**unknown, **(payload or {})}
    return ParsedUpdate(StateUpdate(is_complete, reason, payload), tuple(notes))


def _has_too_many_values(block: str) -> bool:
    """Whether the text holds more than `MAX_VALUES` values, as far as that shows before it is read."""
    if len(block) <= MAX_VALUES or _brackets_and_commas(block) < MAX_VALUES:
        return False
    return _brackets_and_commas(JSON_STRING.sub("", block)) >= MAX_VALUES


def _brackets_and_commas(text: str) -> int:
    return text.count(",") + text.count("{") + text.count("[")


def _shape_problem(value: JsonObject) -> UpdateProblem | None:
    """Too deep, or too large when it is spelled out; level by level, no recursion."""
    level: list[tuple[dict[str, JsonValue] | list[JsonValue], int]] = [(value, 0)]
    spelled = 0
    for depth in range(1, MAX_DEPTH + 1):
        below: list[tuple[dict[str, JsonValue] | list[JsonValue], int]] = []
        for outer, path in level:
            spelled += len(outer) * (path + 2 * depth)
            if isinstance(outer, dict):
                spelled += sum(map(len, outer))
                below += [
                    (inner, path + len(key) + 1)
                    for key, inner in outer.items()
                    if isinstance(inner, (dict, list))
                ]
            else:
                below += [(inner, path) for inner in outer if isinstance(inner, (dict, list))]
        if spelled > MAX_SPELLED:
            return _too_large(say_both("It is deep and wide at once."))
        level = below
        if not level:
            return None
    return _too_deep()


def _unusable(kind: UpdateProblemKind, message: Both, advice: str) -> UpdateProblem:
    return UpdateProblem(kind, message.own, advice, message.english)


def _too_large(what: Both) -> UpdateProblem:
    return _unusable(
        UpdateProblemKind.TOO_LARGE,
        say_both("The state update is too large. {what}", what=what),
        f"Your state update is too large. {what.english} Write large data into a file, and put the file's "
        "name into the payload.",
    )


def _too_deep() -> UpdateProblem:
    return _unusable(
        UpdateProblemKind.TOO_DEEP,
        say_both("The state update is nested more than {count} levels deep.", count=MAX_DEPTH),
        f"Your state update is nested too deeply. Use at most {MAX_DEPTH} levels of objects and lists.",
    )


def _bad_field(what: Both) -> UpdateProblem:
    return _unusable(
        UpdateProblemKind.BAD_FIELD,
        say_both("The state update has a wrong field: {what}", what=what),
        f"Your state update is JSON, but {what.english}",
    )


def _bad_json(what: Both) -> UpdateProblem:
    return _unusable(
        UpdateProblemKind.BAD_JSON,
        say_both("The state update is not valid JSON. {what}", what=what),
        f"Your state update is not valid JSON. {what.english} Write keys and texts in double quotes, line "
        r"breaks inside texts as \n, quotes inside texts as \", and no NaN or Infinity.",
    )


def _where(block: str, error: jsonyx.JSONSyntaxError) -> Both:
    """Line, column and a piece of the text around an error."""
    line, column = error.lineno or 1, error.colno
    start = 0
    for _ in range(line - 1):
        start = block.find("\n", start) + 1
    place = start + column - 1
    near = block[max(start, place - 20) : place + 20].split("\n")[0]
    if not near:
        return say_both("Line {line}, column {column}: {error}.", line=line, column=column, error=error.msg)
    return say_both(
        "Line {line}, column {column}: {error}, near {text!r}.",
        line=line,
        column=column,
        error=error.msg,
        text=near,
    )


def _type_name(value: JsonValue) -> Both:
    if isinstance(value, bool):
        return Both("true", "true") if value else Both("false", "false")
    if value is None:
        return Both("null", "null")
    if isinstance(value, str):
        return say_both("the text {text}", text=_shortened(repr(value)))
    if isinstance(value, (int, float)):
        return say_both("a number")
    return say_both("an object") if isinstance(value, dict) else say_both("a list")


def _listed(keys: list[str]) -> str:
    shown = ", ".join(f"`{_shortened(key)}`" for key in keys[:8])
    return shown if len(keys) <= 8 else say("{names} and {more} more", names=shown, more=len(keys) - 8)


def _shortened(text: str) -> str:
    return text if len(text) <= 40 else f"{text[:37]}…"
