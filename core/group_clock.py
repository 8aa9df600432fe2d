"""The time limit of a group: it ends the group's turns, and stands still while the run is paused."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence

from core.events import RunStatus
from core.plan import PlannedGroup
from core.run_context import LiveTurn, RunContext, RunEnds
from core.turn_outcome import StopCause
from core.words import say


class GroupClock:
    """Runs from now on until `cancel`; `over` when the group's time is used up."""

    def __init__(self, context: RunContext, group: PlannedGroup) -> None:
        self.over = False
        self._context = context
        self._group = group
        self._lives: list[LiveTurn] = []
        self._timer: asyncio.TimerHandle | None = None
        self._left = group.timeout or 0.0
        self._since = 0.0
        context.clock = self
        if not context.paused:
            self.go_on()

    def look_after(self, lives: Sequence[LiveTurn]) -> None:
        """The turns to end."""
        self._lives = list(lives)
        if self.over:  # while the state for these turns was being written
            self._end()

    def stand_still(self) -> None:
        """The run is paused: whoever has to wait for the user must not run out of time by it."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
            self._left = max(0.0, self._left - (time.monotonic() - self._since))

    def go_on(self) -> None:
        """The run goes on, and the time with it."""
        if self._group.timeout and not self.over and self._timer is None:
            self._since = time.monotonic()
            self._timer = asyncio.get_running_loop().call_later(self._left, self._end)

    def cancel(self) -> None:
        """The group is done."""
        if self._timer is not None:
            self._timer.cancel()
        self._context.clock = None

    def ending(self) -> RunEnds:
        """How the run ends by this."""
        seconds = f"{self._group.timeout or 0:g}"
        return RunEnds(
            RunStatus.FAILED,
            f"group_timeout:{self._group.name}:{seconds}",
            say(
                "The group “{group}” was ended: it may take {seconds} s, and they were over. What its "
                "agents finished is kept.",
                group=self._group.name,
                seconds=seconds,
            ),
        )

    def _end(self) -> None:
        self.over = True
        for live in self._lives:
            live.stop(StopCause.GROUP_TIMEOUT)
