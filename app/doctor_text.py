"""What a look at the machine found, as aligned lines of text: for terminals and the clipboard."""

from __future__ import annotations

import textwrap

from app.headless_text import one_line
from core.health import Finding, FindingStatus
from core.words import say, say_number

SUBJECT_COLUMNS = 15
"""Room for what was looked at: `opencode agents` fits."""
_MARKS = {FindingStatus.OK: "✓", FindingStatus.WARNING: "!", FindingStatus.ERROR: "✗"}
_PLAIN_MARKS = {FindingStatus.OK: "+", FindingStatus.WARNING: "!", FindingStatus.ERROR: "x"}
_ABSENT = "-"
_NARROWEST = 60


def mark_of(finding: Finding, *, plain: bool = False) -> str:
    """One character that says how it stands. `plain`: for terminals that can show nothing but ASCII."""
    if finding.absent and finding.status is FindingStatus.OK:
        return _ABSENT
    return (_PLAIN_MARKS if plain else _MARKS)[finding.status]


def finding_lines(finding: Finding, *, plain: bool = False, width: int | None = None) -> str:
    """One finding: mark, what was looked at, what was found, and below that what to do; ends with a newline.

    `width`: columns to wrap at; None: every line as long as it is.
    """
    head = f"{mark_of(finding, plain=plain)} {one_line(finding.subject):<{SUBJECT_COLUMNS}} "
    indent = " " * (SUBJECT_COLUMNS + 3)
    lines = _wrapped(one_line(finding.message), head, indent, width)
    if finding.advice:
        lines += _wrapped(one_line(finding.advice), indent, indent, width)
    return "".join(f"{line}\n" for line in lines)


def summary(errors: int, warnings: int) -> str:
    """The last line: whether anything is in the way."""
    if not errors:
        if not warnings:
            return say("Nothing is in the way of runs.")
        return say_number(
            warnings,
            "Nothing is in the way of runs; 1 thing is worth knowing.",
            "Nothing is in the way of runs; {count} things are worth knowing.",
        )
    if not warnings:
        return say_number(errors, "1 thing is in the way of runs.", "{count} things are in the way of runs.")
    if errors == 1:
        return say_number(
            warnings,
            "1 thing is in the way of runs; 1 more is worth knowing.",
            "1 thing is in the way of runs; {count} more are worth knowing.",
        )
    return say_number(
        warnings,
        "{errors} things are in the way of runs; 1 more is worth knowing.",
        "{errors} things are in the way of runs; {count} more are worth knowing.",
        errors=errors,
    )


def _wrapped(text: str, head: str, indent: str, width: int | None) -> list[str]:
    if width is None:
        return [head + text]
    # Paths and commands are copied: they stay whole.
    return textwrap.wrap(
        text,
        max(width, _NARROWEST),
        initial_indent=head,
        subsequent_indent=indent,
        break_long_words=False,
        break_on_hyphens=False,
    )
