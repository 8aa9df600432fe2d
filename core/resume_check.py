"""Whether a recorded run can go on, as far as a glance at its folder tells: for lists of many runs."""

from __future__ import annotations

from dataclasses import dataclass

from core.config import Workflow
from core.problems import UserFileError
from core.recorded_run import RecordedRun
from core.run_files import WORKFLOW_NAME
from core.run_folders import workdir_of
from core.words import say
from core.workflow_file import load_workflow


@dataclass(frozen=True, slots=True)
class ResumeCheck:
    """Why a run cannot go on (empty: it can), and its workflow where that can be read."""

    obstacle: str = ""
    workflow: Workflow | None = None


def check_resume(run: RecordedRun) -> ResumeCheck:
    """Look at a run's own workflow and its working folder. Takes a millisecond or two.

    `core.resuming.prepare_resume` looks at everything; it may still refuse.
    """
    try:
        file = load_workflow(run.folder / WORKFLOW_NAME)
    except UserFileError as error:
        why = error.problems[0].message if error.problems else say("it is broken")
        return ResumeCheck(
            run.obstacle or say("Its {file} cannot be used: {why}", file=WORKFLOW_NAME, why=why)
        )
    obstacle = run.obstacle
    workdir = workdir_of(file)
    if not obstacle and not workdir.is_dir():
        obstacle = say(
            "The folder that its agents work in is gone: {folder}. Make it again, or name another "
            "one: openloop resume RUN --workdir FOLDER.",
            folder=workdir,
        )
    return ResumeCheck(obstacle, file.workflow)
