"""Findings in a JSON file on their way to problems: paths first, positions once at the end."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from core.jsonc import JsonPath, Location, format_place, locate
from core.problems import Problem, Severity


@dataclass(frozen=True, slots=True)
class Finding:
    """Something wrong at a path.

    `at_key`: the key is meant, not its value. `shift`: how many columns behind the value's beginning.
    """

    path: JsonPath
    message: str
    suggestion: str = ""
    severity: Severity = Severity.ERROR
    at_key: bool = False
    shift: int = 0


def to_problems(
    findings: Sequence[Finding],
    text: str | None,
    file: Path | None,
    path_in_text: Callable[[JsonPath], JsonPath] = lambda path: path,
) -> list[Problem]:
    """The findings with lines and columns, in their order.

    `text` None: there is no text that they could be found in. A path that the text does not have gets the
    position of the nearest value around it that it has; the whole document has none.
    """
    paths = [path_in_text(finding.path) for finding in findings]
    found: dict[JsonPath, Location] = {}
    if text is not None and findings:
        found = locate(text, {path[:length] for path in paths for length in range(1, len(path) + 1)})
    return [_problem(finding, path, found, file) for finding, path in zip(findings, paths, strict=True)]


def _problem(finding: Finding, path: JsonPath, found: dict[JsonPath, Location], file: Path | None) -> Problem:
    nearest = next((path[:length] for length in range(len(path), 0, -1) if path[:length] in found), None)
    line = column = None
    if nearest is not None:
        location = found[nearest]
        position = location.key if finding.at_key and nearest == path else location.value
        line = position.line
        column = position.column + (finding.shift if nearest == path else 0)
    return Problem(
        finding.message,
        format_place(finding.path),
        finding.suggestion,
        finding.severity,
        file,
        line,
        column,
    )


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """A sentence that offers the nearest known word, or nothing."""
    by_form = {_plain_form(name): name for name in known}
    close = difflib.get_close_matches(_plain_form(word), by_form, 1, 0.6)
    return f"Did you mean {by_form[close[0]]}?" if close else ""


def _plain_form(word: str) -> str:
    """`maxLoops`, `max-loops` and `max_loops` are the same to a person."""
    return word.lower().replace("_", "").replace("-", "").replace(" ", "")
