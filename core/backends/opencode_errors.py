"""What opencode's errors mean, in a user's words."""

from __future__ import annotations

import re
from typing import cast

import orjson

from core.backends.base import ErrorReported
from core.json_types import JsonObject, JsonValue

_TRANSIENT_STATUS = frozenset({408, 409, 425, 429})
_TRANSIENT_WORDS = re.compile(
    r"overload|rate.?limit|too many requests|server_error|internal.server.error|timed? ?out|temporar"
    r"|cannot connect|connection|socket|econn|epipe|network|unavailable|try again|json parsing failed",
    re.IGNORECASE,
)
_SPENT_WORDS = re.compile(r"insufficient_quota|insufficient.credit|billing|credit balance", re.IGNORECASE)
_TOO_LONG_WORDS = re.compile(
    r"context.?(length|window|overflow|limit)|prompt is too long|maximum context|too many tokens",
    re.IGNORECASE,
)


def error_reported(error: JsonValue, model: str | None) -> ErrorReported:
    """One `error` line of opencode as an event. `model`: the one asked for; None: opencode's choice."""
    fields = error if isinstance(error, dict) else {}
    name = str(fields.get("name") or "")
    data = fields.get("data")
    told: JsonObject = data if isinstance(data, dict) else {}
    message = _inner_message(told.get("message")) or name or "no reason was given"
    status = told.get("statusCode")
    status = status if isinstance(status, int) and not isinstance(status, bool) else None
    detail = _detail(error)
    spent = status == 402 or bool(_SPENT_WORDS.search(detail))
    return ErrorReported(
        message=_words(name, status, message, detail, model, spent=spent),
        detail=detail,
        transient=not spent and _is_transient(status, told.get("isRetryable"), message),
    )


def _words(
    name: str, status: int | None, message: str, detail: str, model: str | None, *, spent: bool
) -> str:
    asked = f"the model {model}" if model else "the model"
    if spent:
        return f"The provider says that the account has no credit or quota left: {message}"
    if name == "ContextOverflowError" or status == 413 or _TOO_LONG_WORDS.search(message):
        return (
            f"The prompt is too long for {asked}. Make the payload smaller, or take a model that reads more."
        )
    if status in (401, 403) or name == "ProviderAuthError":
        code = f" ({status})" if status else ""
        return (
            f"The provider refused the key{code}. Log in with `opencode auth login`, or correct the key in "
            f"opencode's configuration. It said: {message}"
        )
    if status == 404:
        return (
            f"The provider does not know {asked}, or its address is wrong (404). "
            f"`opencode models` lists the models that can be used. It said: {message}"
        )
    if status == 429:
        return (
            f"The provider takes no more requests for now (429): a rate limit or a quota. It said: {message}"
        )
    if status is not None and status >= 500:
        return f"The provider failed ({status}), also when asked again. It said: {message}"
    if status is not None:
        return f"The provider refused the request ({status}): {message}"
    if "Unexpected server error" in message:
        return (
            f"opencode could not begin. Most often it does not know {asked}: `opencode models` lists "
            "those it knows. Its log file has the cause."
        )
    if "ModelNotFound" in name or "ModelNotFound" in detail:
        return f"opencode does not know {asked}. `opencode models` lists those it knows."
    if re.search(r"cannot connect|unable to connect|econnrefused", message, re.IGNORECASE):
        return f"The provider cannot be reached. Check the network and the provider's address. ({message})"
    if re.search(r"reset|timed? ?out|socket|econn", message, re.IGNORECASE):
        return f"The connection to the provider broke off: {message}"
    if name == "MessageAbortedError":
        return f"The agent's work was broken off inside opencode: {message}"
    return f"opencode reported an error: {message}"


def _is_transient(status: int | None, retryable: JsonValue, message: str) -> bool:
    if status is not None and (status in _TRANSIENT_STATUS or status >= 500):
        return True
    if isinstance(retryable, bool):
        return retryable
    return status is None and bool(_TRANSIENT_WORDS.search(message))


def _inner_message(message: JsonValue) -> str:
    """The sentence in a message; providers' errors in mid-stream come as the JSON text of the whole error."""
    text = str(message or "").strip()
    if not text.startswith("{"):
        return text
    try:
        value = cast("JsonValue", orjson.loads(text))
    except orjson.JSONDecodeError:
        return text
    while isinstance(value, dict):
        value = value.get("error") or value.get("message")
    return value if isinstance(value, str) and value else text


def _detail(error: JsonValue) -> str:
    return orjson.dumps(error, option=orjson.OPT_INDENT_2).decode()
