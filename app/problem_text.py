"""Problems of files as lines for a person: where, what, what to do."""

from __future__ import annotations

import re
from collections.abc import Iterable

from core.plan import Place
from core.problems import Problem, Severity
from core.state import PHASES

_PLACE = re.compile(r"(\w+)_agents\[(\d+)\](?:\.agents\[(\d+)\])?")


def problem_line(problem: Problem) -> str:
    """One problem: `line 4, column 7, loop_agents[1].mode: Message. Suggestion.`"""
    where: list[str] = []
    if problem.line is not None:
        where.append(f"line {problem.line}")
        if problem.column is not None:
            where.append(f"column {problem.column}")
    if problem.place:
        where.append(problem.place)
    body = f"{problem.message} {problem.suggestion}".strip()
    return f"{', '.join(where)}: {body}" if where else body


def problem_lines(problems: Iterable[Problem]) -> tuple[str, ...]:
    """Some problems, one line each."""
    return tuple(problem_line(problem) for problem in problems)


def errors_of(problems: Iterable[Problem]) -> list[Problem]:
    """Only those that keep a workflow from running."""
    return [problem for problem in problems if problem.severity is Severity.ERROR]


def place_in(problem: Problem) -> Place | None:
    """The agent that a problem's place names, or the first of the group that it names."""
    found = _PLACE.match(problem.place)
    if found is None:
        return None
    for phase in PHASES:
        if found[1] == phase:
            return Place(phase, int(found[2]), int(found[3] or 0))
    return None
