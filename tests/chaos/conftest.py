"""How many accidents are tried, and which: `pytest tests/chaos --chaos-cases 500`, `--chaos-seed 17`."""

from __future__ import annotations

import pytest

CASES = 50
"""Enough to meet every kind of moment, few enough for every change."""
BATCH = 10
"""Cases a test, so that progress is seen."""


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("chaos", "runs that are killed at random moments")
    group.addoption("--chaos-cases", type=int, default=CASES, help=f"how many runs (default: {CASES})")
    group.addoption("--chaos-seed", type=int, default=None, help="only this one, as a failure names it")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "seeds" not in metafunc.fixturenames:
        return
    # Without `tests/chaos` on the command line, pytest reads this file too late for its options.
    seed = metafunc.config.getoption("--chaos-seed", default=None)
    cases = metafunc.config.getoption("--chaos-cases", default=CASES)
    wanted = range(cases) if seed is None else range(seed, seed + 1)
    batches = [wanted[start : start + BATCH] for start in range(0, len(wanted), BATCH)]
    metafunc.parametrize("seeds", batches, ids=[f"{batch[0]}-{batch[-1]}" for batch in batches])
