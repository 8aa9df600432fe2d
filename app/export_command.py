"""`openloop export`: a run as one HTML file, or as JSON."""

from __future__ import annotations

import sys
from pathlib import Path

from app.headless_resume import find_run
from app.headless_text import one_line
from core.planning import RunOverrides
from core.problems import Problem, UserFileError
from core.recorded_run import RunUnreadable, read_run
from core.report import file_name, report_json, write_html, write_json

TO_STDOUT = Path("-")


def export_run(
    run: Path, overrides: RunOverrides, *, html: Path | None = None, json: Path | None = None
) -> int:
    """Write the reports of a run, named by its folder or its id, and say where. Gives the exit code
    (app.cli, EXIT_*).

    Without a file: HTML in the current folder, named after the workflow and the run. JSON to `-`: to
    standard output, and no other word there.
    """
    try:
        recorded = read_run(find_run(run, overrides))
        if html is None and json is None:
            html = Path(file_name(recorded, "html"))
        if html is not None:
            write_html(recorded, html)
            _say(html, aloud=json != TO_STDOUT)
        if json == TO_STDOUT:
            sys.stdout.buffer.write(report_json(recorded))
        elif json is not None:
            write_json(recorded, json)
            _say(json, aloud=True)
    except RunUnreadable as error:
        return _refuse([error.problem])
    except UserFileError as error:
        return _refuse(error.problems)
    return 0


def _say(path: Path, *, aloud: bool) -> None:
    if aloud:
        sys.stdout.write(f"{one_line(str(path))}\n")


def _refuse(problems: list[Problem]) -> int:
    for problem in problems:
        sys.stderr.write(f"{problem.severity.value}: {one_line(problem.text())}\n")
    return 2
