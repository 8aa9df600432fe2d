"""What turns and runs come to, and kinds of their steps; apart from events, for views that need no more."""

from __future__ import annotations

from enum import StrEnum


class TurnStatus(StrEnum):
    """What a turn is doing or came to."""

    WAITING = "waiting"
    RUNNING = "running"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    STOPPED = "stopped"


class RunStatus(StrEnum):
    """How a run ended, for the exit code and the colour of the banner."""

    COMPLETED = "completed"
    ENDED = "ended"
    STOPPED = "stopped"
    FAILED = "failed"


class AttemptKind(StrEnum):
    """Why an attempt is made."""

    FIRST = "first"
    RETRY = "retry"
    CORRECTION = "correction"


class StopKind(StrEnum):
    """The two steps of Stop."""

    AFTER_RUNNING = "after_running"
    NOW = "now"
