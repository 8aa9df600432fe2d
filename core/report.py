"""A run as a report that can be handed on: one HTML file that opens anywhere, or JSON for programs.

The JSON holds everything (`core.report_model`); the page as much as one can look at, and says what it left
out. Both tell what the run folder tells; a run that goes on gives what there is so far.
"""

from __future__ import annotations

from pathlib import Path

from core.durable_files import replace_file
from core.plain_name import plain_name
from core.problems import Problem, UserFileError
from core.recorded_run import RecordedRun
from core.report_facts import report_of
from core.report_text import json_bytes
from core.words import say

__all__ = ["file_name", "report_html", "report_json", "report_of", "write_html", "write_json"]


def file_name(run: RecordedRun, ending: str) -> str:
    """A name to propose for a report, such as `audit-20250131-093000-1a2b3c4d.html`; `ending`: `html`."""
    return f"{plain_name(run.workflow) or 'run'}-{plain_name(run.run_id)}.{ending}"


def report_html(run: RecordedRun) -> str:
    """The run as one HTML page: it loads nothing from anywhere, and what agents wrote is only text in it."""
    # The templates' library costs a start what only a report needs.
    from core.report_page import page_html

    return page_html(report_of(run), run.progress)


def report_json(run: RecordedRun) -> bytes:
    """The run as JSON, indented, in UTF-8; its form: `resources/report.schema.json`."""
    return json_bytes(report_of(run)) + b"\n"


def write_html(run: RecordedRun, path: Path) -> None:
    """Write `report_html`. At any moment the old file or the new one is whole. Raises UserFileError."""
    _write(path, report_html(run).encode("utf-8"))


def write_json(run: RecordedRun, path: Path) -> None:
    """Write `report_json`. At any moment the old file or the new one is whole. Raises UserFileError."""
    _write(path, report_json(run))


def _write(path: Path, data: bytes) -> None:
    try:
        replace_file(path, data)
    except OSError as error:
        words = say("The report could not be written: {error}.", error=error.strerror or error)
        raise UserFileError([Problem(words, suggestion=say("Choose another file."), file=path)]) from error
