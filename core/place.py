"""Where an agent stands in a workflow."""

from __future__ import annotations

from dataclasses import dataclass

from core.state import Phase


@dataclass(frozen=True)
class Place:
    """Where a turn stands in the workflow file: phase, index of the group, index of the entry (from 0)."""

    phase: Phase
    group: int
    entry: int
