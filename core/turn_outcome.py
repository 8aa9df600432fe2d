"""What a try of a turn came to."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from core.backends.base import Failure
from core.state import StateUpdate
from core.update_block import UpdateProblem


class StopCause(StrEnum):
    """Why a turn is ended from outside, or not tried again."""

    RUN = "run"
    TURN = "turn"
    SIBLING = "sibling"
    GROUP_TIMEOUT = "group_timeout"
    BUDGET = "budget"
    RETRY = "retry"


@dataclass(frozen=True, slots=True)
class Answered:
    """A valid update."""

    update: StateUpdate


@dataclass(frozen=True, slots=True)
class Failed:
    """It failed. `reason` is the termination reason if the run ends because of it."""

    failure: Failure
    reason: str


@dataclass(frozen=True, slots=True)
class NoState:
    """It ended well, but without a valid update, also after corrections."""

    problem: UpdateProblem
    corrections: int
    """In all tries of the turn so far."""


@dataclass(frozen=True, slots=True)
class Stopped:
    """It was ended from outside."""

    cause: StopCause


Outcome = Answered | Failed | NoState | Stopped
