"""Problems of files as lines for a person: where, what, what to do."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from core.problems import Problem, Severity
from core.state import PHASES, Phase
from core.words import say

_PLACE = re.compile(r"(\w+)_agents(?:\[(\d+)\](?:\.agents\[(\d+)\])?(?:\.(.+))?)?$")


@dataclass(frozen=True, slots=True)
class ProblemPlace:
    """What a problem of a workflow is about.

    `phase` None: the workflow's own settings; `group` None: the phase; `entry` None: the group. Indexes count
    from 0. `field`: the key of a setting of it, such as `budget.max_tokens`; may be empty.
    """

    phase: Phase | None = None
    group: int | None = None
    entry: int | None = None
    field: str = ""


def problem_line(problem: Problem, workflow: Path | None = None) -> str:
    """One problem: `line 4, column 7, loop_agents[1].mode: Message. Suggestion.`

    `workflow`: the file that it is about; of another one the name is told first.
    """
    where: list[str] = []
    if problem.file is not None and workflow is not None and problem.file.absolute() != workflow.absolute():
        where.append(str(problem.file))
    if problem.line is not None:
        where.append(say("line {number}", number=problem.line))
        if problem.column is not None:
            where.append(say("column {number}", number=problem.column))
    if problem.place:
        where.append(problem.place)
    body = f"{problem.message} {problem.suggestion}".strip()
    return f"{', '.join(where)}: {body}" if where else body


def problem_lines(problems: Iterable[Problem], workflow: Path | None = None) -> tuple[str, ...]:
    """Some problems, one line each."""
    return tuple(problem_line(problem, workflow) for problem in problems)


def errors_of(problems: Iterable[Problem]) -> list[Problem]:
    """Only those that keep a workflow from running."""
    return [problem for problem in problems if problem.severity is Severity.ERROR]


def place_of(problem: Problem) -> ProblemPlace:
    """What a problem of a workflow is about."""
    found = _PLACE.match(problem.place)
    phase = next((phase for phase in PHASES if found is not None and found[1] == phase), None)
    if found is None or phase is None:
        return ProblemPlace(field=problem.place)
    group, entry = (int(number) if number is not None else None for number in (found[2], found[3]))
    return ProblemPlace(phase, group, entry, found[4] or "")
