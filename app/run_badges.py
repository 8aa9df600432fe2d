"""What the slots of the builder show about a run."""

from __future__ import annotations

from app.outline import Outline
from app.turn_badge import TurnBadge
from core.events import TurnStatus
from core.plan import Place
from core.progress import RunProgress


def turn_badges(progress: RunProgress, outline: Outline, now: float) -> dict[Place, TurnBadge]:
    """A badge for every place: of its latest turn, else that it waits as long as the run goes on.

    Seconds are whole, so that equal badges mean that nothing needs painting.
    """
    badges: dict[Place, TurnBadge] = {}
    if progress.running:
        for place, group, node in outline.all_agents():
            if node.entry.enabled and group.settings.enabled:
                badges[place] = TurnBadge(TurnStatus.WAITING)
    for place, turn_id in progress.latest.items():
        turn = progress.turns[turn_id]
        seconds = turn.seconds(now)
        status = TurnStatus.WAITING if turn.waits_for_run else turn.status
        badges[place] = TurnBadge(
            status, None if seconds is None else float(int(seconds)), bool(turn.question)
        )
    return badges
