"""What a benchmark prints: rows of a table, each with what it was compared with and the target."""

from __future__ import annotations

import argparse
import statistics
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

WIDTHS = (58, 14, 30, 8, 18)


class Skipped(Exception):  # noqa: N818 - nothing went wrong: the row cannot be measured here
    """A row cannot be measured on this machine; the message says why."""


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table.

    `ours` and `other` are texts with their units, `other` begins with what it is. `ratio` is ours to the
    other. `met` None: there is no target, the row is for information.
    """

    what: str
    ours: str
    other: str = ""
    ratio: float | None = None
    target: str = ""
    met: bool | None = None


Rows = Callable[[], Iterable[Row]]
"""A benchmark: measures and gives its rows as they are ready. May raise Skipped."""


def print_head() -> None:
    """The head of the table."""
    _print(("what", "ours", "floor or peer", "ratio", "target"), "")
    print("-" * (sum(WIDTHS) + 3 * len(WIDTHS)), flush=True)


def print_rows(name: str, rows: Rows) -> list[Row]:
    """Measure and print one benchmark; gives its rows."""
    done: list[Row] = []
    try:
        for row in rows():
            done.append(row)
            ratio = "" if row.ratio is None else f"{row.ratio:.2f}"
            verdict = {None: "", True: "met", False: "MISSED"}[row.met]
            _print((row.what, row.ours, row.other, ratio, row.target), verdict)
    except Skipped as reason:
        print(f"{name}: left out. {reason}", flush=True)
    return done


def _print(cells: Sequence[str], verdict: str) -> None:
    print(
        "   ".join(f"{cell:<{width}}" for cell, width in zip(cells, WIDTHS, strict=True)), verdict, flush=True
    )


def alone(doc: str | None, rows: Rows) -> None:
    """Run one benchmark as a program of its own."""
    argparse.ArgumentParser(description=(doc or "").splitlines()[0]).parse_args()
    print_head()
    missed = any(row.met is False for row in print_rows("this row", rows))
    sys.exit(1 if missed else 0)


def median(values: Iterable[float]) -> float:
    """The median."""
    return statistics.median(values)


def pairs(ours: Callable[[], float], other: Callable[[], float], times: int) -> tuple[float, float, float]:
    """Measure both in turn, so that what disturbs the machine disturbs both.

    Gives the medians of ours, of the other, and of the ratios of the pairs.
    """
    measured = [(ours(), other()) for _ in range(times)]
    return (
        median(first for first, _ in measured),
        median(second for _, second in measured),
        median(first / second for first, second in measured),
    )


def milliseconds(seconds: float) -> str:
    """A time for the table."""
    value = seconds * 1e3
    if value < 0.1:
        return f"{value * 1e3:.1f} us"
    return f"{value:.2f} ms" if value < 10 else f"{value:,.0f} ms"


def chain(*parts: Callable[[], Iterator[Row]]) -> Iterator[Row]:
    """Rows of several parts; one that cannot be measured says so and does not keep the others from it."""
    for part in parts:
        try:
            yield from part()
        except Skipped as reason:
            print(f"left out: {reason}", flush=True)
