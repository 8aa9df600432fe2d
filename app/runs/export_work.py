"""What exporting has a worker do: one report to a file, or a report of each of several runs to a folder."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from app.runs.entry import RunEntry
from app.runs.jobs import Tell, Work
from app.runs.words import title_words
from core.plain_name import plain_name


class ExportKind(StrEnum):
    """What a run is written as; the values are the endings of the files."""

    HTML = "html"
    JSON = "json"


@dataclass(frozen=True, slots=True)
class Written:
    """A report was written, or why not."""

    path: Path
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Begun:
    """The report of this number is next."""

    at: int


@dataclass(frozen=True, slots=True)
class AllWritten:
    """Reports of several runs were written. `failed`: of which there is none, and why; `given_up`: so many
    were not tried."""

    folder: Path
    count: int
    failed: tuple[tuple[RunEntry, str], ...]
    given_up: int


def report_name(entry: RunEntry, kind: ExportKind) -> str:
    """The name of a report's file."""
    return f"{plain_name(title_words(entry)) or 'run'}-{plain_name(entry.run_id)}.{kind.value}"


def export_one(entry: RunEntry, path: Path, kind: ExportKind) -> Work:
    """Write a report to this file; tells a `Written`."""

    def work(tell: Tell, stopped: Callable[[], bool]) -> None:
        tell(Written(path, _write(entry, path, kind, stopped)))

    return work


def export_all(entries: Sequence[RunEntry], inside: Path, kind: ExportKind) -> Work:
    """Write the reports to a new folder inside this one; tells `Begun` of each, then `AllWritten`."""

    def work(tell: Tell, stopped: Callable[[], bool]) -> None:
        folder = _free_folder(inside)
        count, failed = 0, []
        for at, entry in enumerate(entries):
            if stopped():
                break
            tell(Begun(at))
            try:
                # Made with its first report: where nothing can be written, nothing is left.
                folder.mkdir(exist_ok=True)
                problem = _write(entry, folder / report_name(entry, kind), kind, stopped)
            except OSError as error:
                problem = f"{error.strerror or error}."
            if problem:
                failed.append((entry, problem))
            elif not stopped():
                count += 1
        tell(AllWritten(folder, count, tuple(failed), len(entries) - count - len(failed)))

    return work


def _free_folder(inside: Path) -> Path:
    """A name that nothing has yet: no report of an earlier time is written over."""
    name = f"openloop-runs-{time.strftime('%Y-%m-%d-%H%M%S')}"
    folder, number = inside / name, 2
    while folder.exists():
        folder, number = inside / f"{name}-{number}", number + 1
    return folder


def _write(entry: RunEntry, path: Path, kind: ExportKind, stopped: Callable[[], bool]) -> str:
    """Write one report. Gives why it could not be; empty: it is there, or nobody wants it any more."""
    # Not before it is wanted: a window can do without.
    from core.durable_files import replace_file
    from core.recorded_run import RunUnreadable, read_run
    from core.report import report_html, report_json

    try:
        run = read_run(entry.folder)
        data = report_html(run).encode() if kind is ExportKind.HTML else report_json(run)
        if not stopped():
            replace_file(path, data)
    except RunUnreadable as error:
        return error.problem.message
    except OSError as error:
        return f"{error.strerror or error}."
    return ""
