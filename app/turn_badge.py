"""What the slots of the builder show about a run: one badge per place."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from core.statuses import TurnStatus


@dataclass(frozen=True, slots=True)
class TurnBadge:
    """The state of the latest turn at a place; `seconds` it has taken so far or in all (None: not begun)."""

    status: TurnStatus
    seconds: float | None = None
    needs_you: bool = False
    """It waits for the user's answer."""

    @property
    def time_text(self) -> str:
        """The time as `m:ss` or `h:mm:ss`; empty where there is none."""
        if self.seconds is None:
            return ""
        minutes, seconds = divmod(int(self.seconds), 60)
        hours, minutes = divmod(minutes, 60)
        return f"{hours}:{minutes:02}:{seconds:02}" if hours else f"{minutes}:{seconds:02}"
