"""Stretches of time: their union, and what is left of them without others."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from typing import TypeAlias

Span: TypeAlias = tuple[float, float]
"""Begin and end, in the same unit as each other."""


def union(spans: Iterable[Span]) -> list[Span]:
    """Sorted spans as spans that do not touch; empty ones are dropped."""
    found: list[Span] = []
    for began, ended in spans:
        if ended <= began:
            continue
        if found and began <= found[-1][1]:
            found[-1] = (found[-1][0], max(found[-1][1], ended))
        else:
            found.append((began, ended))
    return found


def without(spans: Sequence[Span], others: Sequence[Span]) -> list[Span]:
    """What is left of the spans where none of the others is; both as `union` gives them."""
    left: list[Span] = []
    for began, ended in spans:
        for start, end in others[max(0, bisect_right(others, (began,)) - 1) :]:
            if start >= ended:
                break
            if start > began:
                left.append((began, start))
            began = max(began, end)
        if began < ended:
            left.append((began, ended))
    return left


def within(spans: Sequence[Span], began: float, ended: float) -> list[Span]:
    """What of the spans, as `union` gives them, is between these times."""
    return union((max(began, start), min(ended, end)) for start, end in spans)
