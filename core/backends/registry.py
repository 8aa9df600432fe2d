"""The backends there are, by the names that workflow files and agents use for them."""

from __future__ import annotations

import functools
import importlib
from typing import TYPE_CHECKING, cast

from core.words import say

if TYPE_CHECKING:
    from core.backends.base import Backend

_BACKENDS = {
    "opencode": "core.backends.opencode:OpencodeBackend",
    "demo": "core.backends.demo:DemoBackend",
    "claude": "core.backends.claude:ClaudeBackend",
    "codex": "core.backends.codex:CodexBackend",
    "gemini": "core.backends.gemini:GeminiBackend",
    "command": "core.backends.command:CommandBackend",
}
"""Module and class of each; the module is imported when a run first needs it."""


class UnknownBackendError(KeyError):
    """There is no backend of this name; the text says which are near, for a user."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name

    def __str__(self) -> str:
        from core.findings import did_you_mean

        near = did_you_mean(self.name, _BACKENDS) or say("There are: {names}.", names=", ".join(_BACKENDS))
        return say("There is no backend called {name}. {near}", name=self.name, near=near)


def backend_names() -> tuple[str, ...]:
    """The names of all backends, the default one first."""
    return tuple(_BACKENDS)


@functools.cache
def backend(name: str) -> Backend:
    """The backend of this name; always the same object. Raises UnknownBackendError."""
    try:
        module, _, class_name = _BACKENDS[name].partition(":")
    except KeyError:
        raise UnknownBackendError(name) from None
    return cast("Backend", getattr(importlib.import_module(module), class_name)())
