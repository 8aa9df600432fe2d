"""What every list and line calls the severities of problems, and the signs that stand for them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from PySide6.QtCore import QCoreApplication

from core.problems import Problem, Severity

SIGNS = {
    Severity.ERROR: ("circle-alert", "failed"),
    Severity.WARNING: ("triangle-alert", "failed"),
    Severity.HINT: ("info", "quiet"),
}
"""Icon and colour, by severity; no two share their shape."""


def tr(text: str) -> str:
    """A text of this module in the user's language."""
    return QCoreApplication.translate("severity", text)


def severity_name(severity: Severity) -> str:
    """What a problem is, such as `Warning`."""
    return {
        Severity.ERROR: tr("Error"),
        Severity.WARNING: tr("Warning"),
        Severity.HINT: tr("Hint"),
    }[severity]


def counted(problems: Iterable[Problem]) -> str:
    """How many problems there are of each severity, such as `1 error, 2 hints`; empty: none."""
    one = {
        Severity.ERROR: tr("{0} error"),
        Severity.WARNING: tr("{0} warning"),
        Severity.HINT: tr("{0} hint"),
    }
    many = {
        Severity.ERROR: tr("{0} errors"),
        Severity.WARNING: tr("{0} warnings"),
        Severity.HINT: tr("{0} hints"),
    }
    count = Counter(problem.severity for problem in problems)
    words = [
        (one if count[each] == 1 else many)[each].format(count[each]) for each in Severity if count[each]
    ]
    return ", ".join(words)
