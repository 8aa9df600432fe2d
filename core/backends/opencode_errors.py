"""What opencode's errors mean, in a user's words."""

from __future__ import annotations

import re
from typing import cast

import orjson

from core.backends.base import ErrorReported, Failure
from core.backends.provider_loss import (
    Lost,
    ProviderLoss,
    at_moment,
    in_span,
    notice_of_loss,
    provider_loss,
    shortened,
)
from core.json_types import JsonObject, JsonValue
from core.words import say

_TRANSIENT_STATUS = frozenset({408, 409, 425, 429})
_TRANSIENT_WORDS = re.compile(
    r"overload|rate.?limit|too many requests|server_error|internal.server.error|timed? ?out|temporar"
    r"|cannot connect|connection|socket|econn|epipe|network|unavailable|try again|json parsing failed",
    re.IGNORECASE,
)
_LONG_WAIT = 600
"""Seconds to wait from which on a rate limit is a usage limit; opencode waits them out without a word."""
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
    message = _inner_message(told.get("message")) or name or say("no reason was given")
    status = told.get("statusCode")
    status = status if isinstance(status, int) and not isinstance(status, bool) else None
    detail = _detail(error)
    loss = _loss(name, status, message, told)
    if loss is not None:
        return ErrorReported(loss.words(_who(model), _login(), message), detail, provider_wide=True)
    return ErrorReported(
        message=_words(name, status, shortened(message), detail, model),
        detail=detail,
        transient=_is_transient(status, told.get("isRetryable"), message),
    )


def failure_told(said: str, model: str | None) -> Failure | None:
    """The failure that a sentence of an error is, where it concerns all turns of the provider; else None."""
    return _as_failure(provider_loss(said), said, model)


def notice_failure(answer: str, model: str | None) -> Failure | None:
    """The failure that stands in the place of an answer: a notice that the limit or the login is gone."""
    return _as_failure(notice_of_loss(answer), answer.strip(), model)


def _as_failure(loss: ProviderLoss | None, said: str, model: str | None) -> Failure | None:
    if loss is None:
        return None
    return Failure(loss.words(_who(model), _login(), said), said, provider_wide=True)


def _login() -> str:
    return say("Log in with `opencode auth login`, or correct the key in opencode's configuration.")


def _who(model: str | None) -> str:
    """The provider, as far as the model's name tells it."""
    provider, slash, _ = (model or "").partition("/")
    return (
        say("The provider {provider} of opencode", provider=provider)
        if slash
        else say("The provider of opencode")
    )


def _loss(name: str, status: int | None, message: str, told: JsonObject) -> ProviderLoss | None:
    if name == "ContextOverflowError" or _TOO_LONG_WORDS.search(message):
        return None
    body = told.get("responseBody")
    loss = provider_loss(f"{name} {message}\n{body if isinstance(body, str) else ''}", status)
    if loss is not None or status != 429:
        return ProviderLoss(Lost.LOGIN) if loss is None and name == "ProviderAuthError" else loss
    headers = told.get("responseHeaders")
    header: JsonObject = headers if isinstance(headers, dict) else {}
    wait = _seconds(header.get("retry-after"))
    if header.get("anthropic-ratelimit-unified-status") == "rejected":
        # A subscription's used-up limit, in the words of a rate limit.
        moment = _seconds(header.get("anthropic-ratelimit-unified-reset"))
        return ProviderLoss(Lost.LIMIT, at_moment(moment) if moment else "")
    return ProviderLoss(Lost.LIMIT, in_span(wait)) if wait >= _LONG_WAIT else None


def _seconds(value: JsonValue) -> int:
    text = str(value or "").strip()
    return int(text) if text.isascii() and text.isdigit() and len(text) < 12 else 0


def _words(name: str, status: int | None, message: str, detail: str, model: str | None) -> str:
    asked = say("the model {model}", model=model) if model else say("the model")
    if name == "ContextOverflowError" or status == 413 or _TOO_LONG_WORDS.search(message):
        return say(
            "The prompt is too long for {model}. Make the payload smaller, or take a model that reads more.",
            model=asked,
        )
    if status == 404:
        return say(
            "The provider does not know {model}, or its address is wrong (404). `opencode models` "
            "lists the models that can be used. It said: {message}",
            model=asked,
            message=message,
        )
    if status == 429:
        return say(
            "The provider takes no more requests for now (429), a rate limit. It said: {message}",
            message=message,
        )
    if status is not None and status >= 500:
        return say(
            "The provider failed ({status}), also when asked again. It said: {message}",
            status=status,
            message=message,
        )
    if status is not None:
        return say("The provider refused the request ({status}): {message}", status=status, message=message)
    if "Unexpected server error" in message:
        return say(
            "opencode could not begin. Most often it does not know {model}: `opencode models` lists "
            "those it knows. Its log file has the cause.",
            model=asked,
        )
    if "ModelNotFound" in name or "ModelNotFound" in detail:
        return say("opencode does not know {model}. `opencode models` lists those it knows.", model=asked)
    if re.search(r"cannot connect|unable to connect|econnrefused", message, re.IGNORECASE):
        return say(
            "The provider cannot be reached. Check the network and the provider's address. ({message})",
            message=message,
        )
    if re.search(r"reset|timed? ?out|socket|econn", message, re.IGNORECASE):
        return say("The connection to the provider broke off: {message}", message=message)
    if name == "MessageAbortedError":
        return say("The agent's work was broken off inside opencode: {message}", message=message)
    return say("opencode reported an error: {message}", message=message)


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
