"""Going on with a run without a window: find it, look for what it left alive, and run it to its end."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from app.headless import go, refuse, warn
from app.headless_text import one_line
from core.backends.registry import backend_names
from core.config import Workflow, WorkflowFile
from core.journal import JOURNAL_NAME
from core.open_runs import cut_off_runs
from core.orphans import end_orphans, find_orphans, orphan_words
from core.planning import RunOverrides
from core.preparing import folders_in_force
from core.problems import UserFileError
from core.recorded_run import RunUnreadable, read_run
from core.resuming import prepare_resume


def resume_headless(
    run: Path,
    overrides: RunOverrides | None = None,
    *,
    trust: bool = False,
    ends_orphans: bool = False,
    as_json: bool = False,
) -> int:
    """Go on with a run, named by its folder or by its id. Gives the exit code (app.cli, EXIT_*).

    `ends_orphans`: what outlived OpenLoop is ended without asking.
    """
    overrides = overrides or RunOverrides()
    try:
        recorded = read_run(find_run(run, overrides))
        prepared = prepare_resume(recorded, overrides, known_backends=backend_names())
    except RunUnreadable as error:
        return refuse([error.problem])
    except UserFileError as error:
        return refuse(error.problems)
    if not _without_orphans(recorded.folder, ends_orphans):
        return 2
    warn(prepared.warnings)
    return go(prepared, recorded, trust=trust, as_json=as_json)


def find_run(run: Path, overrides: RunOverrides) -> Path:
    """The folder of a run: as it stands, else by its id in the log folder in force. Raises UserFileError."""
    if (run / JOURNAL_NAME).is_file() or run.name != str(run):
        return run
    file = WorkflowFile(workflow=Workflow())
    _, log_dir = folders_in_force(file, overrides, environ=os.environ)
    here = log_dir / run.name
    if here.is_dir():
        return here
    # A run that was cut off is known by name wherever its folder is.
    return next((folder for folder in cut_off_runs() if folder.name == run.name), here)


def _without_orphans(folder: Path, ends_them: bool) -> bool:
    """Whether nothing of the run's earlier life is alive any more; asks before it ends anything."""
    orphans = find_orphans(folder)
    if not orphans:
        return True
    sys.stdout.flush()
    for line in orphan_words(orphans).splitlines():
        sys.stderr.write(f"{one_line(line)}\n")
    if not ends_them:
        if not (sys.stdin.isatty() and sys.stdout.isatty()):
            sys.stderr.write("Nothing was started. To have them ended, give --end-orphans.\n")
            return False
        sys.stderr.write("End them now? [y/N] ")
        sys.stderr.flush()
        if sys.stdin.readline().strip().lower() not in ("y", "yes"):
            sys.stderr.write("Nothing was started.\n")
            return False
    alive = end_orphans(orphans)
    if alive:
        pids = ", ".join(str(pid) for pid in alive)
        sys.stderr.write(f"These processes could not be ended: {pids}. End them yourself, then try again.\n")
    return not alive
