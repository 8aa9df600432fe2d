"""What the payload says of agents that failed while their group went on without them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from core.json_types import JsonObject, JsonValue
from core.state import StateUpdate

FAILURES_KEY = "_failures"
"""Where the payload tells of them: a list that grows."""


OPENLOOP = "OpenLoop"
"""Who writes what no agent wrote."""


@dataclass(frozen=True, slots=True)
class GroupFailure:
    """One of them. `reason` and `message` empty: it was never started."""

    label: str
    reason: str
    message: str


def failures_update(payload: JsonObject, failed: Iterable[GroupFailure], iteration: int) -> StateUpdate:
    """The update that adds them to what `payload` has of earlier ones."""
    before = payload.get(FAILURES_KEY)
    failures: list[JsonValue] = list(before) if isinstance(before, list) else []
    for each in failed:
        entry: JsonObject = {
            "agent": each.label,
            "iteration": iteration,
            "reason": each.reason or "not_started",
            "message": each.message or f"{each.label} was not started.",
        }
        failures.append(entry)
    return StateUpdate(payload={FAILURES_KEY: failures})
