"""What a run has used, by agent, by group and by iteration: for views that show where the money went.

All attempts count, failed ones too. A price that nobody told is unknown, never nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, field
from enum import IntEnum, StrEnum

from core.events import TurnStatus
from core.progress import GroupProgress, RunProgress
from core.spending import Cap
from core.state import Phase
from core.turn_progress import TurnProgress
from core.usage import Spent


class CostOrder(IntEnum):
    """What a run's use is told by."""

    AGENT = 0
    GROUP = 1
    ITERATION = 2


class CostKind(StrEnum):
    """What a line is about."""

    RUN = "run"
    AGENT = "agent"
    GROUP = "group"
    ITERATION = "iteration"
    TURN = "turn"
    ATTEMPT = "attempt"


@dataclass(slots=True)
class CostLine:
    """One line, with the lines that it is the sum of.

    `name`: of the agent, of the group (empty: it has none), or the title of the turn; of an attempt what kind
    it is (`first`, `retry`, `correction`). `phase` None: what is above says it.
    """

    kind: CostKind
    name: str = ""
    phase: Phase | None = None
    iteration: int = 0
    group: int = 0
    turn: str = ""
    """The turn's id, of a line about one turn."""
    spent: Spent = field(default_factory=Spent)
    again: Spent = field(default_factory=Spent)
    """Of all that, what attempts after the first used."""
    turns: int = 0
    attempts: int = 0
    retries: int = 0
    corrections: int = 0
    number: int = 0
    """Of an attempt, counted from 1 over all that the turn made."""
    running: int = 0
    """Turns that are at work."""
    lines: list[CostLine] = field(default_factory=list)

    @property
    def key(self) -> Hashable:
        """Tells it apart from the other lines beside it."""
        if self.kind is CostKind.TURN:
            return self.kind, self.turn
        if self.kind is CostKind.ATTEMPT:
            return self.kind, self.turn, self.number
        if self.kind is CostKind.AGENT:
            return self.kind, self.name
        return self.kind, self.phase, self.iteration, self.group

    def add(self, turn: TurnProgress) -> None:
        """Count a turn."""
        self.spent = self.spent.plus(turn.all_spent)
        self.again = self.again.plus(turn.spent_again)
        self.turns += 1
        starts = (turn.attempts_made, *(start.attempts for start in turn.earlier))
        self.attempts += sum(map(len, starts))
        self.retries += sum(attempt.kind.value == "retry" for start in starts for attempt in start)
        self.corrections += sum(attempt.kind.value == "correction" for start in starts for attempt in start)
        self.running += turn.status is TurnStatus.RUNNING

    def include(self, line: CostLine) -> None:
        """Count what another line has counted."""
        self.spent = self.spent.plus(line.spent)
        self.again = self.again.plus(line.again)
        self.turns += line.turns
        self.attempts += line.attempts
        self.retries += line.retries
        self.corrections += line.corrections
        self.running += line.running

    def share_of(self, whole: CostLine) -> float:
        """Which part of the whole it is (1: all): of the cost where it is known, else of the tokens."""
        if whole.has_all_prices:
            return (self.spent.usage.cost_usd or 0.0) / (whole.spent.usage.cost_usd or 1.0)
        total = whole.spent.usage.total_tokens
        return self.spent.usage.total_tokens / total if total else 0.0

    @property
    def has_all_prices(self) -> bool:
        """Whether the cost is known, all of it, and is something."""
        return bool(self.spent.usage.cost_usd) and not self.spent.unpriced


_Step = Callable[[TurnProgress], CostLine]
"""Gives a new line of one level for a turn."""


def cost_lines(progress: RunProgress, order: CostOrder) -> CostLine:
    """The line of the run; below it, the others in the order in which they came up. Turns that never began
    are left out.
    """
    run = CostLine(CostKind.RUN)
    known: dict[Hashable, CostLine] = {}
    steps = _steps(progress, order)
    itself = steps[-1]
    for turn in progress.turns.values():
        if turn.started is None and not turn.earlier:
            continue
        own = itself(turn)
        own.add(turn)
        own.lines = _attempt_lines(turn)
        run.include(own)
        above = run
        place: tuple[Hashable, ...] = ()
        for step in steps[:-1]:
            line = step(turn)
            place = (*place, line.key)
            found = known.get(place)
            if found is None:
                found = known[place] = line
                above.lines.append(line)
            found.include(own)
            above = found
        above.lines.append(own)
    return run


def _attempt_lines(turn: TurnProgress) -> list[CostLine]:
    """A line for each attempt of a turn that made several; what nobody knows the attempt of is in none."""
    made = [attempt for start in turn.earlier for attempt in start.attempts] + turn.attempts_made
    if len(made) < 2:
        return []
    return [
        CostLine(
            CostKind.ATTEMPT,
            attempt.kind.value,
            turn=turn.id,
            spent=attempt.spent,
            attempts=1,
            number=number,
        )
        for number, attempt in enumerate(made, 1)
    ]


def _steps(progress: RunProgress, order: CostOrder) -> tuple[_Step, ...]:
    def agent(turn: TurnProgress) -> CostLine:
        return CostLine(CostKind.AGENT, turn.agent)

    def group(turn: TurnProgress) -> CostLine:
        place = turn.place
        found = progress.groups.get((place.phase, turn.iteration, place.group))
        # What a group without a name is called in the journal.
        own = found is not None and found.name != f"{place.phase} {place.group + 1}"
        name = found.name if found is not None and own else ""
        phase = place.phase if order is CostOrder.GROUP else None
        return CostLine(CostKind.GROUP, name, phase, 0, place.group)

    def iteration(turn: TurnProgress) -> CostLine:
        return CostLine(CostKind.ITERATION, "", turn.place.phase, turn.iteration)

    def itself(turn: TurnProgress) -> CostLine:
        return CostLine(CostKind.TURN, turn.title, turn.place.phase, turn.iteration, turn=turn.id)

    return {
        CostOrder.AGENT: (agent, itself),
        CostOrder.GROUP: (group, itself),
        CostOrder.ITERATION: (iteration, group, itself),
    }[order]


@dataclass(frozen=True, slots=True)
class BudgetUse:
    """How far a cap of the budget is used up. `unpriced`: more was used than could be counted against it.

    `group`: the group that it is about, where it is a cap of groups.
    """

    cap: Cap
    unpriced: bool = False
    group: GroupProgress | None = None

    @property
    def share(self) -> float:
        """What is used, 1 being all; may be more."""
        return self.cap.spent / self.cap.limit if self.cap.limit else 1.0

    @property
    def is_known(self) -> bool:
        """Whether anything is known about it: not so where all that was used has no price."""
        return not self.unpriced or self.cap.spent > 0


def budget_uses(progress: RunProgress) -> list[BudgetUse]:
    """The caps that the run's budget has. That of groups is about the present one, and after the run about
    the one that cost most.
    """
    budget, spent = progress.budget, progress.spent
    uses: list[BudgetUse] = []
    if budget.max_cost_usd is not None:
        cap = Cap("max_cost_usd", budget.max_cost_usd, spent.usage.cost_usd or 0.0)
        uses.append(BudgetUse(cap, spent.unpriced))
    if budget.max_cost_usd_per_group is not None and progress.groups:
        group, used = _group_to_tell(progress)
        cap = Cap(
            "max_cost_usd_per_group", budget.max_cost_usd_per_group, used.usage.cost_usd or 0.0, of_group=True
        )
        uses.append(BudgetUse(cap, used.unpriced, group))
    if budget.max_tokens is not None:
        uses.append(BudgetUse(Cap("max_tokens", budget.max_tokens, spent.usage.total_tokens)))
    return uses


def _group_to_tell(progress: RunProgress) -> tuple[GroupProgress, Spent]:
    groups: Iterable[GroupProgress] = progress.groups.values()
    if progress.running:
        latest = list(groups)[-1]
        return latest, progress.spent_by(latest)
    return max(
        ((group, progress.spent_by(group)) for group in groups),
        key=lambda each: each[1].usage.cost_usd or 0.0,
    )
