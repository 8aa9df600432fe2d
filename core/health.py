"""What an examination of the machine found: one fact each, and what to do about it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class FindingStatus(StrEnum):
    """How a fact bears on runs: fine, worth knowing, in the way."""

    OK = "ok"
    WARNING = "warning"
    ERROR = "error"


@dataclass(frozen=True, slots=True)
class Finding:
    """One fact. `subject`: what was looked at (`git`, `log folder`); `advice`: what to do, or empty.

    `absent`: what was looked for (a program, a login) is not there. That stands only in the way of those who
    need it, so whoever knows the need may judge it more mildly than `status` does.
    """

    subject: str
    status: FindingStatus
    message: str
    advice: str = ""
    absent: bool = False
