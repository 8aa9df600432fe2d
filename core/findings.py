"""Findings in a JSON file on their way to problems: paths first, positions once at the end."""

from __future__ import annotations

import difflib
import heapq
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import pairwise
from pathlib import Path

from core.fixes import Fix
from core.jsonc import JsonPath, Location, format_place, locate
from core.problems import Problem, Severity
from core.words import say, say_number


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
    fix: Fix | None = None
    other_fixes: tuple[Fix, ...] = ()


MOST_FINDINGS = 200
"""Findings of one file that are told. Nobody reads more before correcting the first."""


@dataclass(slots=True)
class FindingList:
    """The first findings of one file; those beyond `MOST_FINDINGS` are only counted."""

    _found: list[Finding] = field(default_factory=list)
    _errors_left_out: int = 0
    _warnings_left_out: int = 0

    @property
    def full(self) -> bool:
        """Whether a further finding would not be told, so that nothing need be found out about it."""
        return len(self._found) >= MOST_FINDINGS

    def add(self, finding: Finding) -> None:
        """Take in what was found."""
        if not self.full:
            self._found.append(finding)
        elif finding.severity is Severity.ERROR:
            self._errors_left_out += 1
        else:
            self._warnings_left_out += 1

    def all(self) -> list[Finding]:
        """The findings, and one for those that were too many: an error if one of them was."""
        more = self._errors_left_out + self._warnings_left_out
        if not more:
            return list(self._found)
        severity = Severity.ERROR if self._errors_left_out else Severity.WARNING
        words = say_number(
            more, "There is one more problem.", "There are {count:,} more problems like these."
        )
        return [*self._found, Finding((), words, say("Correct these first."), severity)]


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
        finding.fix,
        finding.other_fixes,
    )


def shown_key(key: str) -> str:
    """A key for a message: of an endless one the beginning."""
    return key if len(key) <= 60 else f"{key[:60]}…"


_LONGEST_WORD = 100
"""Characters; nobody mistypes a longer one, and comparing it takes long."""


_MOST_COMPARED = 24
"""Words that are compared closely, for 30 µs each; of more, those that share the most pairs of letters."""


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """A sentence that offers the nearest known word, or nothing."""
    near = nearest(word, known)
    return say("Did you mean {near}?", near=near) if near is not None else ""


def nearest(word: str, known: Iterable[str]) -> str | None:
    """The known word that was most likely meant; None: there is none like it."""
    return _nearest(word, tuple(known)) if len(word) <= _LONGEST_WORD else None


@lru_cache(maxsize=256)
def _nearest(word: str, known: tuple[str, ...]) -> str | None:
    """One mistake is often made many times, and looked at again at each edit of its file."""
    form = _plain_form(word)
    by_form = {_plain_form(name): name for name in known}
    forms = list(by_form)
    if len(forms) > _MOST_COMPARED:
        pairs = _letter_pairs(form)
        forms = heapq.nlargest(_MOST_COMPARED, forms, key=lambda other: len(pairs & _letter_pairs(other)))
    close = difflib.get_close_matches(form, forms, 1, 0.6)
    return by_form[close[0]] if close else None


@lru_cache(maxsize=2_048)
def _letter_pairs(word: str) -> frozenset[str]:
    return frozenset(first + second for first, second in pairwise(f" {word} "))


def _plain_form(word: str) -> str:
    """`maxLoops`, `max-loops` and `max_loops` are the same to a person."""
    return word.lower().replace("_", "").replace("-", "").replace(" ", "")
