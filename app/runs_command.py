"""`openloop runs`: the runs of a folder, and where each would go on."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import orjson

from app.headless_text import one_line
from core.config import Workflow, WorkflowFile
from core.open_runs import cut_off_runs
from core.planning import RunOverrides
from core.preparing import folders_in_force
from core.problems import UserFileError
from core.progress_words import cost_words, turn_words
from core.recorded_run import RecordedRun, list_runs, run_folders
from core.resume_check import check_resume
from core.run_duration import run_duration_words
from core.workflow_file import load_workflow


def print_runs(workflow: Path | None, workdir: Path | None, log_dir: Path | None, *, as_json: bool) -> int:
    """Print the runs of a log folder, the latest first. Gives the exit code (app.cli, EXIT_*)."""
    try:
        file = load_workflow(workflow) if workflow is not None else WorkflowFile(workflow=Workflow())
        _, folder = folders_in_force(file, RunOverrides(workdir=workdir, log_dir=log_dir), environ=os.environ)
    except UserFileError as error:
        for problem in error.problems:
            sys.stderr.write(f"{problem.severity.value}: {one_line(problem.text())}\n")
        return 2
    runs = list_runs(folder)
    if as_json:
        for run in runs:
            sys.stdout.buffer.write(orjson.dumps(_facts(run), option=orjson.OPT_APPEND_NEWLINE))
        return 0
    readable = {run.folder for run in runs}
    broken = [path for path in run_folders(folder) if path.absolute() not in readable]
    if not runs and not broken:
        sys.stdout.write(f"There are no runs in {one_line(str(folder))}.\n")
    for run in runs:
        sys.stdout.write(_lines(run))
    for path in broken:
        sys.stdout.write(f"{one_line(path.name)}  cannot be read: nothing in its journal tells of a run.\n")
    elsewhere = [path for path in cut_off_runs() if path.parent != folder]
    for path in elsewhere:
        sys.stdout.write(f"A run was cut off elsewhere: {one_line(str(path))}\n")
    if any(run.resumable for run in runs) or elsewhere:
        sys.stdout.write("To go on with one: openloop resume RUN\n")
    return 0


def _lines(run: RecordedRun) -> str:
    when = time.strftime("%Y-%m-%d %H:%M", time.localtime(run.started))
    how = "going on" if run.going_on else run.reason or "cut off"
    done = turn_words(run.done_turns) + " done"
    facts = [run_duration_words(run.duration), done, cost_words(run.spent)]
    head = f"{run.run_id}  {when}  {run.workflow}  {how}  ({', '.join(fact for fact in facts if fact)})"
    obstacle = check_resume(run).obstacle
    goes_on = obstacle or f"Goes on at: {run.next_place}"
    return f"{one_line(head)}\n    {one_line(goes_on)}\n"


def _facts(run: RecordedRun) -> dict[str, str | float | int | bool | None]:
    obstacle = check_resume(run).obstacle
    duration = run.duration
    return {
        "run_id": run.run_id,
        "folder": str(run.folder),
        "workflow": run.workflow,
        "started": run.started,
        "ended": run.ended,
        "duration_seconds": duration.seconds,
        "waited_seconds": duration.waited,
        "going_on": run.going_on,
        "termination_reason": run.reason,
        "message": run.message,
        "resumable": not obstacle,
        "obstacle": obstacle,
        "next_place": run.next_place,
        "done_turns": run.done_turns,
        "cost_usd": run.usage.cost_usd,
        "tokens": run.usage.total_tokens,
    }
