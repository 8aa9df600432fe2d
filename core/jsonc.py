"""JSON with comments and trailing commas: parsing, and where in the text a value stands.

A *path* is the tuple of keys and indices that leads to a value, `("loop_agents", 1, "mode")`; as text it is
`loop_agents[1].mode`. Lines and columns count from 1; a column is a code point.
"""

from __future__ import annotations

import json
import math
import re
import stat
from bisect import bisect_right
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import jsonyx
from jsonyx.allow import COMMENTS, TRAILING_COMMA

from core.json_types import JsonObject, JsonValue
from core.problems import Problem, UserFileError
from core.words import say

JsonPath: TypeAlias = tuple[str | int, ...]

_LINE_BREAK = re.compile(r"\r\n?|\n")
_PLAIN_KEY = re.compile(r"[A-Za-z_$][\w$-]*")
_DECODER = json.JSONDecoder()
_TOKEN = re.compile(
    r'"[^"\\]*(?:\\.[^"\\]*)*"|//[^\r\n]*|/\*.*?\*/|[{}\[\],:]|[^\s{}\[\],:"/]+',
    re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class JsoncDocument:
    """A parsed text. `has_comments` because comments are lost when the value is written again."""

    value: JsonValue
    has_comments: bool


@dataclass(frozen=True, slots=True)
class Position:
    """Line and column, from 1."""

    line: int
    column: int


@dataclass(frozen=True, slots=True)
class Location:
    """Where a value begins, and where its key does (an item of a list has none: `key` is `value`)."""

    key: Position
    value: Position


# --- reading ------------------------------------------------------------------------------------------


MOST_BYTES = 16 * 2**20
"""A larger file is not read: it would hold up the window for seconds, and no workflow is that large."""
MOST_VALUES = 100_000
"""Values in one file, for the same reason: a group of ten characters takes kilobytes once it is read."""
MOST_PROBLEMS = 200
"""Problems of one kind that are told of one file. Nobody reads more before correcting the first."""
_SHOWN_OF_KEY = 100
_STRING = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"?', re.DOTALL)


def read_bytes(path: Path) -> bytes:
    """The bytes of a file that is not too large. Raises UserFileError."""
    try:
        status = path.stat()
        if stat.S_ISREG(status.st_mode) and status.st_size > MOST_BYTES:
            raise UserFileError([_too_large(path, status.st_size)])
        if stat.S_ISCHR(status.st_mode) or stat.S_ISFIFO(status.st_mode) or stat.S_ISSOCK(status.st_mode):
            raise UserFileError([Problem(say("This is a device, not a file."), file=path)])
        return path.read_bytes()
    except OSError as error:
        raise UserFileError([_unreadable(path, error)]) from error


def read_text(path: Path) -> str:
    """The text of a UTF-8 file, with or without a byte order mark. Raises UserFileError."""
    return decode(read_bytes(path), path).removeprefix("\ufeff")


def decode(data: bytes, path: Path) -> str:
    """The text of these bytes of a file, with its byte order mark if it has one. Raises UserFileError."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise UserFileError(
            [
                Problem(
                    say("The file is not UTF-8 text."),
                    suggestion=say("Save it as UTF-8 in an editor and try again."),
                    file=path,
                    line=line,
                )
            ]
        ) from error


def _too_large(path: Path, size: int) -> Problem:
    return Problem(
        say(
            "The file has {size:,.0f} MiB; a workflow has at most {most} MiB.",
            size=size / 2**20,
            most=MOST_BYTES // 2**20,
        ),
        suggestion=say("Keep large data in files of its own, and their names in the workflow."),
        file=path,
    )


def _unreadable(path: Path, error: OSError) -> Problem:
    if isinstance(error, FileNotFoundError):
        return Problem(say("There is no such file."), suggestion=say("Check its name and folder."), file=path)
    if isinstance(error, IsADirectoryError) or path.is_dir():
        return Problem(
            say("This is a folder, not a file."), suggestion=say("Name a file inside it."), file=path
        )
    if isinstance(error, PermissionError):
        return Problem(
            say("You are not allowed to read this file."),
            suggestion=say("Change its permissions."),
            file=path,
        )
    return Problem(say("The file cannot be read: {error}.", error=error.strerror or error), file=path)


def parse_jsonc(text: str, file: Path | None = None) -> JsoncDocument:
    """The value of a JSON text; comments and trailing commas are allowed, duplicate keys and NaN are not.

    Raises UserFileError with the line and column of the mistake (or of every duplicate key).
    """
    if not text.strip():
        raise UserFileError([Problem(say("The file is empty."), file=file, line=1, column=1)])
    if _has_too_many_values(text):
        message = say(
            "The file holds more than {count:,} values, which no workflow needs.",
            count=MOST_VALUES,
        )
        advice = say("Keep large data in files of its own, and their names in the workflow.")
        raise UserFileError([Problem(message, suggestion=advice, file=file, line=1, column=1)])
    # Comments are rare, so the strict grammar is tried first; it also tells whether there are any.
    return _parse_without_comments(text) or JsoncDocument(_parse(text, file), has_comments=True)


def _has_too_many_values(text: str) -> bool:
    """Whether the text holds more than `MOST_VALUES` values, as far as that shows before it is read."""
    if len(text) <= MOST_VALUES or _brackets_and_commas(text) < MOST_VALUES:
        return False
    return _brackets_and_commas(_STRING.sub("", text)) >= MOST_VALUES


def _brackets_and_commas(text: str) -> int:
    return text.count(",") + text.count("{") + text.count("[")


def _parse_without_comments(text: str) -> JsoncDocument | None:
    """The document, or None where anything at all is wrong."""
    oddities = _Oddities()
    try:
        value: JsonValue = jsonyx.loads(text, allow=TRAILING_COMMA, hooks=oddities.hooks)
    except (jsonyx.JSONSyntaxError, RecursionError, ValueError):
        return None
    return None if oddities.found else JsoncDocument(value, has_comments=False)


def _parse(text: str, file: Path | None) -> JsonValue:
    oddities = _Oddities()
    try:
        value: JsonValue = jsonyx.loads(text, allow=COMMENTS | TRAILING_COMMA, hooks=oddities.hooks)
    except jsonyx.JSONSyntaxError as error:
        raise UserFileError([_syntax_problem(error, text, file)]) from error
    except RecursionError as error:
        raise UserFileError([Problem(say("The file is nested too deeply to be read."), file=file)]) from error
    except ValueError as error:
        raise UserFileError(
            [Problem(say("The file has a number with too many digits."), file=file)]
        ) from error
    if oddities.found:
        raise UserFileError(_odd_problems(text, file))
    return value


class _Oddities:
    """Notices, while parsing, what jsonyx lets pass: duplicate keys and numbers that overflow."""

    def __init__(self) -> None:
        self.found = False
        self.hooks: dict[str, Callable[[Any], Any]] = {
            "object": self._object,
            "float": self._float,
            "int": self._int,
        }

    def _object(self, pairs: list[tuple[str, JsonValue]]) -> JsonObject:
        made = dict(pairs)
        if len(made) != len(pairs):
            self.found = True
        return made

    def _float(self, digits: str) -> float:
        number = float(digits)
        if math.isinf(number):
            self.found = True
        return number

    def _int(self, digits: str) -> int:
        if len(digits) > _MOST_DIGITS:
            self.found = True
            return 0
        return int(digits)


_MOST_DIGITS = 308
"""Of a whole number: as many as a float may have."""


def _odd_problems(text: str, file: Path | None) -> list[Problem]:
    """Every duplicate key and every overflowing number (or the first of them), with its position."""
    lines = _Lines(text)
    problems: list[Problem] = []
    seen: dict[JsonPath, int] = {}
    for path, key_start, value_start, token in _walk(text):
        if len(problems) == MOST_PROBLEMS:
            break
        if key_start is not None and path in seen:
            first = lines.position(seen[path]).line
            key = json.dumps(_shown_key(path[-1]), ensure_ascii=False)
            problems.append(
                _problem_at(
                    lines.position(key_start),
                    say(
                        "The key {key} stands twice in one object; the first is on line {first}.",
                        key=key,
                        first=first,
                    ),
                    say("Remove or rename one of them."),
                    format_place(path),
                    file,
                )
            )
        elif key_start is not None:
            seen[path] = key_start
        if token[0] in "-0123456789" and (math.isinf(float(token)) or _is_too_long(token)):
            problems.append(
                _problem_at(
                    lines.position(value_start),
                    say("The number {number} is too large.", number=token[:40]),
                    "",
                    format_place(path),
                    file,
                )
            )
    return problems


def _is_too_long(token: str) -> bool:
    return len(token) > _MOST_DIGITS and token.lstrip("-").isdigit()


def _shown_key(key: str | int) -> str:
    text = str(key)
    return text if len(text) <= _SHOWN_OF_KEY else f"{text[:_SHOWN_OF_KEY]}…"


def _problem_at(position: Position, message: str, suggestion: str, place: str, file: Path | None) -> Problem:
    return Problem(message, place, suggestion, file=file, line=position.line, column=position.column)


def _syntax_words(error: str) -> tuple[str, str]:
    """What an error of the JSON reader means, and what to do."""
    match error:
        case "Expecting value":
            return (
                say("A value is missing here, or it is not JSON."),
                say("Text must stand in double quotes."),
            )
        case "Missing commas are not allowed":
            return say("A comma is missing after this."), ""
        case "Expecting comma":
            return say("A comma or the end of the list or object was expected here."), ""
        case "Expecting colon":
            return say("A colon is missing after the key."), ""
        case "Expecting key":
            return say("A key was expected here."), say("Keys must stand in double quotes.")
        case "Unquoted keys are not allowed":
            return say("This key has no quotes."), say("Put it into double quotes.")
        case "Unterminated string":
            return say("This text has no closing quote."), say('Close it with " on the same line.')
        case "Unterminated array":
            return say("This list is not closed."), say("Add the missing ].")
        case "Unterminated object":
            return say("This object is not closed."), say("Add the missing }.")
        case "Unterminated comment":
            return say("This comment is not closed."), say("Add the missing */.")
        case "Surrogates are not allowed":
            return say("This is half of a character."), say("Write the character itself.")
        case "Invalid backslash escape":
            return (
                say("This backslash means nothing in JSON."),
                say("Write two backslashes for one, or use / in paths."),
            )
        case "Unescaped control character":
            return say("Text cannot hold a tab or another control character."), say("Write \\t.")
        case "Expecting end of file":
            return say("There is text after the end of the JSON document."), say("Remove it.")
        case _:
            return f"{error.rstrip('.')}.", ""


def _syntax_problem(error: jsonyx.JSONSyntaxError, text: str, file: Path | None) -> Problem:
    position = Position(error.lineno or 1, error.colno or 1)
    message, suggestion = _syntax_words(error.msg)
    if "'" in text[_Lines(text).offset(position) :][:1]:
        suggestion = say("JSON uses double quotes, not single ones.")
    return _problem_at(position, message, suggestion, "", file)


# --- places -------------------------------------------------------------------------------------------


def format_place(path: JsonPath) -> str:
    """A path as text: `loop_agents[1].mode`; a key that is no plain word: `merge["payload.score"]`.

    Of an endless key only the beginning is shown.
    """
    text = ""
    for part in path:
        if isinstance(part, int):
            text += f"[{part}]"
            continue
        part = _shown_key(part)
        if _PLAIN_KEY.fullmatch(part):
            text += f".{part}" if text else part
        else:
            text += f"[{json.dumps(part, ensure_ascii=False)}]"
    return text


def locate(text: str, paths: Collection[JsonPath]) -> dict[JsonPath, Location]:
    """Where values stand in a text that `parse_jsonc` accepted; a path that is not there is left out.

    One pass over the text, ended early: call it only when there is something to say.
    """
    wanted = set(paths)
    found: dict[JsonPath, Location] = {}
    if not wanted:
        return found
    lines = _Lines(text)
    inside = {path[:length] for path in wanted for length in range(len(path))}
    for path, key_start, value_start, _ in _walk(text, inside):
        if path in wanted:
            value = lines.position(value_start)
            found[path] = Location(value if key_start is None else lines.position(key_start), value)
            if len(found) == len(wanted):
                break
    return found


class _Lines:
    """Offsets of a text as lines and columns, and back."""

    def __init__(self, text: str) -> None:
        self._starts = [0, *(match.end() for match in _LINE_BREAK.finditer(text))]

    def position(self, offset: int) -> Position:
        line = bisect_right(self._starts, offset)
        return Position(line, offset - self._starts[line - 1] + 1)

    def offset(self, position: Position) -> int:
        return self._starts[min(position.line, len(self._starts)) - 1] + position.column - 1


def _walk(
    text: str, inside: Collection[JsonPath] | None = None
) -> Iterator[tuple[JsonPath, int | None, int, str]]:
    """Every value of a valid text: path, offset of its key (None in lists), its offset, its first token.

    `inside`: the only lists and objects that are looked into, by path; None: all.
    """
    path: list[str | int] = []
    in_object: list[bool] = []
    key_start: int | None = None
    key_next = False
    at = 0
    while (match := _TOKEN.search(text, at)) is not None:
        at = match.end()
        token = match[0]
        first = token[0]
        if first == "/" or first == ":":
            continue
        if first == ",":
            key_next = in_object[-1]
            index = path[-1]
            if isinstance(index, int):
                path[-1] = index + 1
        elif first == "}" or first == "]":
            path.pop()
            in_object.pop()
            key_next = False
        elif key_next:
            path[-1] = str(json.loads(token)) if "\\" in token else token[1:-1]
            key_start = match.start()
            key_next = False
        else:
            yield tuple(path), key_start, match.start(), token
            key_start = None
            if first == "{" or first == "[":
                end = _end_of(text, match.start()) if inside is not None and tuple(path) not in inside else 0
                if end:
                    at = end
                    continue
                key_next = first == "{"
                in_object.append(key_next)
                path.append("" if key_next else 0)


def _end_of(text: str, start: int) -> int:
    """Where the list or object ends that begins here; 0 where it is not plain JSON, and has to be walked."""
    try:
        return _DECODER.raw_decode(text, start)[1]
    except (ValueError, RecursionError):
        return 0
