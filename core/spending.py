"""What a run has spent against its budget: said early, and soon enough to stop it."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import dataclass, field

from core.config import Budget
from core.progress_words import cap_field, dollar_words
from core.usage import Usage
from core.words import say

_ROUNDING = 1e-9
"""Part of a cap by which a sum of many small costs may miss it, being a sum of floating-point numbers."""
WARN_AT = 0.8
"""Part of a cap from which on a warning is given."""


@dataclass(frozen=True, slots=True)
class Cap:
    """A cap of the budget with what has been spent of it. `name`: the budget's key."""

    name: str
    limit: float
    spent: float
    of_group: bool = False

    @property
    def reached(self) -> bool:
        """Whether nothing is left."""
        return self.spent >= self.limit * (1 - _ROUNDING)

    @property
    def near(self) -> bool:
        """Whether a warning is due."""
        return self.spent >= self.limit * WARN_AT

    @property
    def spent_words(self) -> str:
        """What has been spent, as a sentence without its full stop."""
        if self.name == "max_tokens":
            return say("The run has used {count:,.0f} tokens", count=self.spent)
        if self.of_group:
            return say("The group has cost {cost}", cost=dollar_words(self.spent))
        return say("The run has cost {cost}", cost=dollar_words(self.spent))

    @property
    def limit_words(self) -> str:
        """The limit with its unit."""
        return (
            say("{count:,.0f} tokens", count=self.limit)
            if self.name == "max_tokens"
            else dollar_words(self.limit)
        )


@dataclass
class Spending:
    """Everything that a run and its present group have spent; failed attempts count as all others.

    Thread-safe: costs are counted by whoever reads them, so that nothing more is started on what is gone.
    """

    budget: Budget
    run: Usage = Usage()
    group: Usage = Usage()
    unpriced: bool = False
    """Tokens were used whose price nobody told: the cost is more than what is known."""
    _warned: set[str] = field(default_factory=set)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def add(self, usage: Usage) -> None:
        """Count what one step of an agent used."""
        with self._lock:
            self.run += usage
            self.group += usage
            self.unpriced |= usage.cost_usd is None and usage.total_tokens > 0

    def begin_group(self, spent_before: Usage) -> None:
        """Another group begins; `spent_before`: what an earlier life of the run spent in it."""
        with self._lock:
            self.group = spent_before
        self._warned.discard("max_cost_usd_per_group")

    def caps(self) -> Iterator[Cap]:
        """The caps that the budget has."""
        budget = self.budget
        if budget.max_cost_usd is not None:
            yield Cap("max_cost_usd", budget.max_cost_usd, self.run.cost_usd or 0.0)
        if budget.max_cost_usd_per_group is not None:
            cost = self.group.cost_usd or 0.0
            yield Cap("max_cost_usd_per_group", budget.max_cost_usd_per_group, cost, of_group=True)
        if budget.max_tokens is not None:
            yield Cap("max_tokens", budget.max_tokens, self.run.total_tokens)

    def reached(self) -> Cap | None:
        """The first cap of which nothing is left."""
        return next((cap for cap in self.caps() if cap.reached), None)

    def warnings(self) -> list[str]:
        """What the user should know now and has not been told, in sentences."""
        words: list[str] = []
        for cap in self.caps():
            if cap.near and not cap.reached and cap.name not in self._warned:
                self._warned.add(cap.name)
                part = cap.spent / cap.limit if cap.limit else 1.0
                words.append(
                    say(
                        "{spent}: {part:.0%} of the {limit} that {field} allows.",
                        spent=cap.spent_words,
                        part=part,
                        limit=cap.limit_words,
                        field=cap_field(cap.name),
                    )
                )
        if self.unpriced and self.budget.max_cost_usd is not None and "unpriced" not in self._warned:
            self._warned.add("unpriced")
            words.append(
                say(
                    "Some of the tokens used have no known price. The run costs more than is shown, and "
                    "{budget} cannot count them; {tokens} can.",
                    budget=cap_field("max_cost_usd"),
                    tokens=cap_field("max_tokens"),
                )
            )
        return words
