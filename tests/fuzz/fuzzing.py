"""How many cases a fuzzer tries, and how: the same few everywhere, or many at random when asked for.

`pytest tests/fuzz --fuzz-cases 20000` tries that many for each fuzzer, other ones each time; a failure is
kept in `.hypothesis` and comes first in the next call. Without the option the cases are always the same.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar

from hypothesis import HealthCheck, settings

CASES = 100
"""For each fuzzer without the option, so that all of them take seconds."""

_asked: list[int] = []
TestT = TypeVar("TestT", bound=Callable[..., Any])


def ask_for(cases: int) -> None:
    """Try so many. Counts for test modules that are imported afterwards."""
    _asked[:] = [cases]


@functools.cache
def _settings(cases: int | None, share: float) -> settings:
    common = settings(
        # How long a case takes says nothing on a machine that others use, too.
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    )
    if cases is None:
        return settings(common, max_examples=max(10, int(CASES * share)), derandomize=True, database=None)
    return settings(common, max_examples=cases, derandomize=False, print_blob=True)


def fuzzed(share: float = 1.0) -> Callable[[TestT], TestT]:
    """Decorates a test with `given`. `share`: of the usual number of cases."""
    return _settings(_asked[0] if _asked else None, share)
