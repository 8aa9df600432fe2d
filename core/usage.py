"""Tokens and money of agents' work."""

from __future__ import annotations

from dataclasses import dataclass

MOST_TOKENS, MOST_USD = 10**15, 1e12
"""More is no usage; it counts as this much."""
_COUNTS = ("input_tokens", "output_tokens", "reasoning_tokens", "cache_read_tokens", "cache_write_tokens")


@dataclass(frozen=True)
class Usage:
    """Tokens and cost in USD. `cost_usd` None: the backend did not tell a price (unknown, not free)."""

    input_tokens: int = 0
    output_tokens: int = 0
    reasoning_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    cost_usd: float | None = None

    def __post_init__(self) -> None:
        # What a CLI tells may be any number, and a journal holds none beyond 64 bits.
        # Runs have thousands of these, nearly all of them right.
        if (
            0 <= self.input_tokens <= MOST_TOKENS
            and 0 <= self.output_tokens <= MOST_TOKENS
            and 0 <= self.reasoning_tokens <= MOST_TOKENS
            and 0 <= self.cache_read_tokens <= MOST_TOKENS
            and 0 <= self.cache_write_tokens <= MOST_TOKENS
            and (self.cost_usd is None or 0 <= self.cost_usd <= MOST_USD)
        ):
            return
        for name in _COUNTS:
            count = getattr(self, name)
            if not 0 <= count <= MOST_TOKENS:
                object.__setattr__(self, name, min(max(0, count), MOST_TOKENS))
        if self.cost_usd is not None and not 0 <= self.cost_usd <= MOST_USD:
            object.__setattr__(self, "cost_usd", MOST_USD if self.cost_usd > 0 else 0.0)

    @property
    def total_tokens(self) -> int:
        """All tokens, whatever their price."""
        return (
            self.input_tokens
            + self.output_tokens
            + self.reasoning_tokens
            + self.cache_read_tokens
            + self.cache_write_tokens
        )

    def __add__(self, other: Usage) -> Usage:
        """The sum; a known cost plus an unknown one is the known part."""
        costs = [cost for cost in (self.cost_usd, other.cost_usd) if cost is not None]
        return Usage(
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            self.reasoning_tokens + other.reasoning_tokens,
            self.cache_read_tokens + other.cache_read_tokens,
            self.cache_write_tokens + other.cache_write_tokens,
            sum(costs) if costs else None,
        )


_NOTHING = Usage()


@dataclass(slots=True)
class Spent:
    """Tokens and money so far. `unpriced`: something in it has no known price."""

    usage: Usage = _NOTHING
    unpriced: bool = False

    def add(self, usage: Usage) -> None:
        """Count a further use."""
        self.usage += usage
        self.unpriced |= usage.cost_usd is None and usage.total_tokens > 0

    def plus(self, other: Spent) -> Spent:
        """The sum of both."""
        # Most of what is summed up is nothing, and views sum up often.
        if other.usage is _NOTHING:
            return Spent(self.usage, self.unpriced or other.unpriced)
        if self.usage is _NOTHING:
            return Spent(other.usage, self.unpriced or other.unpriced)
        return Spent(self.usage + other.usage, self.unpriced or other.unpriced)
