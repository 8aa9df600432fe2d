"""What a user may answer to a turn that brought no state update. Light: views need nothing else of a run."""

from __future__ import annotations

from enum import StrEnum


class Answer(StrEnum):
    """What a user may answer when an agent gave no state update."""

    RETRY = "retry"
    CONTINUE = "continue"
    ABORT = "abort"
