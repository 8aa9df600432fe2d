"""The payload that a run begins with, as text that a person edits: read, with the place of a mistake, and
written. It is plain JSON: comments would be lost in the file.
"""

from __future__ import annotations

from dataclasses import dataclass

import orjson

from core.json_types import JsonObject
from core.jsonc import parse_jsonc
from core.problems import UserFileError
from core.words import say

_LONG = 100_000
"""Characters from which on only the place of a mistake is told: to say what it is takes half a second."""


@dataclass(frozen=True, slots=True)
class PayloadText:
    """A text and what it says. `payload` None: it is none, and `mistake` is a sentence that says why.

    `line` and `column` of the mistake, from 1; None where it has no place.
    """

    text: str
    payload: JsonObject | None
    mistake: str = ""
    line: int | None = None
    column: int | None = None


def read_payload(text: str) -> PayloadText:
    """What a text says. Never raises; a text of nothing but spaces is an empty payload."""
    if not text.strip():
        return PayloadText(text, {})
    if len(text) > _LONG:
        try:
            orjson.loads(text)
        except orjson.JSONDecodeError as error:
            return PayloadText(text, None, say("This is not JSON."), error.lineno, error.colno)
    try:
        document = parse_jsonc(text)
    except UserFileError as error:
        first = error.problems[0]
        words = f"{first.message} {first.suggestion}".strip()
        return PayloadText(text, None, words, first.line, first.column)
    if document.has_comments:
        return PayloadText(text, None, say("A payload has no comments: take them out."), *_comment(text))
    if not isinstance(document.value, dict):
        words = say("A payload has a name for each of its values: put it between { and }.")
        return PayloadText(text, None, words, 1, 1)
    return PayloadText(text, document.value)


def _comment(text: str) -> tuple[int | None, int | None]:
    """Line and column of the first comment."""
    inside = escaped = False
    for at, sign in enumerate(text):
        if inside:
            inside = escaped or sign != '"'
            escaped = sign == "\\" and not escaped
        elif sign == '"':
            inside = True
        elif sign == "/":
            return text.count("\n", 0, at) + 1, at - (text.rfind("\n", 0, at) + 1) + 1
    return None, None


def write_payload(payload: JsonObject) -> str:
    """A payload as workflow files have it, without a newline at its end; an empty one is no text."""
    # Here: the first paint of the window writes nothing.
    from core.workflow_writing import pretty_json

    return pretty_json(payload).rstrip("\n") if payload else ""
