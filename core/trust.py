"""Commands that files bring along: what they are, and whether the user has allowed exactly these before."""

from __future__ import annotations

from dataclasses import dataclass

from core.plan import RunPlan


@dataclass(frozen=True, slots=True)
class BroughtCommand:
    """A command that a file makes OpenLoop run. `source`: who brings it, such as `agent lint`."""

    source: str
    command: str


def brought_commands(plan: RunPlan) -> tuple[BroughtCommand, ...]:
    """Every command that the plan would run because a file says so, in the order of the files."""
    return ()
