"""What sessions used anew, where a CLI tells only their sums."""

from __future__ import annotations

import threading

from core.usage import Usage


class SessionTotals:
    """The usage that each session has told so far, to know what a continued one used since. Thread-safe."""

    _MOST = 1000

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._totals: dict[str, Usage] = {}

    def new_usage(self, session: str, total: Usage) -> Usage:
        """What was used since the last time; all of it for a session that is not known or has no name."""
        if not session:
            return total
        with self._lock:
            before = self._totals.pop(session, Usage())
            self._totals[session] = total
            while len(self._totals) > self._MOST:
                del self._totals[next(iter(self._totals))]
        return Usage(
            max(0, total.input_tokens - before.input_tokens),
            max(0, total.output_tokens - before.output_tokens),
            max(0, total.reasoning_tokens - before.reasoning_tokens),
            max(0, total.cache_read_tokens - before.cache_read_tokens),
            max(0, total.cache_write_tokens - before.cache_write_tokens),
            None if total.cost_usd is None else max(0.0, total.cost_usd - (before.cost_usd or 0.0)),
        )
