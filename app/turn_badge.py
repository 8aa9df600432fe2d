"""What the slots of the builder show about a run: one badge per place."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from core.progress_words import duration_words

if TYPE_CHECKING:
    from core.statuses import TurnStatus


@dataclass(frozen=True, slots=True)
class TurnBadge:
    """The state of the latest turn at a place; `seconds` it has worked so far or in all (None: not begun)."""

    status: TurnStatus
    seconds: float | None = None
    needs_you: bool = False
    """It waits for the user's answer."""

    @property
    def time_text(self) -> str:
        """The time as `m:ss` or `h:mm:ss`; empty where there is none."""
        if self.seconds is None:
            return ""
        return duration_words(self.seconds)
