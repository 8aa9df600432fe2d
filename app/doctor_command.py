"""`openloop doctor`: what this machine has of what runs need, a line each as soon as it is known."""

from __future__ import annotations

import contextlib
import shutil
import sys
from pathlib import Path

import orjson
from rich.console import Console

from app.doctor_text import finding_lines, mark_of, summary
from core.doctor import Checkup
from core.health import Finding, FindingStatus
from core.planning import RunOverrides

EXIT_OK, EXIT_IN_THE_WAY = 0, 1

_COLOURS = {FindingStatus.OK: "32", FindingStatus.WARNING: "33", FindingStatus.ERROR: "1;31"}
_WIDEST = 120
"""Columns; longer lines are hard to read, however wide the terminal is."""
_CLEAR_LINE = "\r\x1b[K"


def print_findings(
    workflow: Path | None, workdir: Path | None, log_dir: Path | None, *, as_json: bool = False
) -> int:
    """Examine the machine for this workflow (None: for any) and print every finding as it comes.

    Gives 0 when nothing is in the way of runs, else 1.
    """
    checkup = Checkup(workflow, RunOverrides(workdir=workdir, log_dir=log_dir))
    counts = dict.fromkeys(FindingStatus, 0)
    page = _JsonPage() if as_json else _Page(checkup.topics)
    # Also when nobody reads any more, and at Ctrl+C: nothing that was asked lives on.
    with contextlib.closing(checkup.run()) as told:
        for news in told:
            if news.finding is None:
                page.finish(news.topic)
            else:
                counts[news.finding.status] += 1
                page.show(news.finding)
    page.end(summary(counts[FindingStatus.ERROR], counts[FindingStatus.WARNING]))
    return EXIT_IN_THE_WAY if counts[FindingStatus.ERROR] else EXIT_OK


class _JsonPage:
    """One object a line, and nothing else."""

    def show(self, finding: Finding) -> None:
        told = {
            "subject": finding.subject,
            "status": finding.status.value,
            "message": finding.message,
            "advice": finding.advice,
        }
        # A path that is no UTF-8 is shown with a sign for what cannot be written.
        text = {key: value.encode("utf-8", "replace").decode() for key, value in told.items()}
        sys.stdout.write(orjson.dumps(text).decode() + "\n")
        sys.stdout.flush()

    def finish(self, topic: str) -> None:
        """Nothing to say."""

    def end(self, words: str) -> None:
        """Nothing to say."""


class _Page:
    """Lines for people; on a terminal in colours, and with a last line that says what is still awaited."""

    def __init__(self, topics: tuple[str, ...]) -> None:
        self._awaited = list(topics)
        terminal = Console()
        self._live = terminal.is_terminal and not terminal.is_dumb_terminal and not terminal.legacy_windows
        self._coloured = self._live and not terminal.no_color
        self._plain = not _can_write("✓✗")

    def show(self, finding: Finding) -> None:
        width = min(shutil.get_terminal_size().columns, _WIDEST) if self._live else None
        text = finding_lines(finding, plain=self._plain, width=width)
        if self._coloured and not (finding.absent and finding.status is FindingStatus.OK):
            mark = mark_of(finding, plain=self._plain)
            text = f"\x1b[{_COLOURS[finding.status]}m{mark}\x1b[0m{text[len(mark) :]}"
        self._write(text)

    def finish(self, topic: str) -> None:
        self._awaited.remove(topic)
        self._write("")

    def end(self, words: str) -> None:
        self._write(f"\n{words}\n")

    def _write(self, text: str) -> None:
        if self._live:
            text = f"{_CLEAR_LINE}{text}{self._waiting()}"
        sys.stdout.write(text)
        sys.stdout.flush()

    def _waiting(self) -> str:
        words = f"Looking at {', '.join(self._awaited)}" if self._awaited else ""
        return words[: shutil.get_terminal_size().columns - 1]


def _can_write(text: str) -> bool:
    try:
        text.encode(sys.stdout.encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return False
    return True
