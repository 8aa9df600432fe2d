"""A state update in one line, for a person."""

from __future__ import annotations

import re

from core.json_types import JsonValue
from core.state import StateUpdate
from core.transcript import FIELD_BREAKS
from core.visible_text import visible
from core.words import say, say_number


def summarize_update(update: StateUpdate) -> str:
    """An update in one line, such as `score 86 · feedback 2 items · not complete`."""
    parts = [_summary_of(_shown(key), value) for key, value in list((update.payload or {}).items())[:6]]
    more = len(update.payload or {}) - 6
    if more > 0:
        parts.append(say("{count} more", count=more))
    if update.is_complete is not None:
        parts.append(say("complete") if update.is_complete else say("not complete"))
    if update.termination_reason:
        parts.append(_shown(update.termination_reason, 200))
    return " · ".join(parts) or say("nothing changed")


_ESCAPE = re.compile(
    r"\x1b(?:\[[0-?]*[ -/]*[@-~]|[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\|\Z)|[ -/]*[0-~]?)|\x9b[0-?]*[ -/]*[@-~]"
)


def _shown(text: str, limit: int = 60) -> str:
    """What an agent wrote, inside a line of our own: it neither colours nor breaks nor turns it."""
    cut = text[:limit] + ("…" if len(text) > limit else "")
    return visible(_ESCAPE.sub("", cut).translate(FIELD_BREAKS))


def _summary_of(key: str, value: JsonValue) -> str:
    if isinstance(value, list):
        return say_number(len(value), "{key} 1 item", "{key} {count} items", key=key)
    if isinstance(value, dict):
        return say_number(len(value), "{key} 1 key", "{key} {count} keys", key=key)
    if isinstance(value, str):
        return f"{key} “{_shown(value)}”"
    if isinstance(value, bool):
        return say("{key} yes", key=key) if value else say("{key} no", key=key)
    return say("{key} none", key=key) if value is None else f"{key} {value}"
