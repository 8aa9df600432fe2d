"""Where the runs of the open workflow are."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from core.problems import UserFileError
from core.run_folders import log_dir_of, workdir_of

if TYPE_CHECKING:
    from core.config import WorkflowFile


class LogDir:
    """Finds the folder of the runs, on a worker: settings files may have a say."""

    def __init__(self, file: WorkflowFile, default_workdir: Path | None, wanted: Path | None) -> None:
        self._file = file
        self._default_workdir = default_workdir
        self._wanted = wanted

    def __call__(self) -> Path:
        if self._wanted is not None:
            return self._wanted.parent
        from core.settings import effective_workflow

        file = self._file
        project = workdir_of(file, self._default_workdir)
        try:
            file = effective_workflow(file, project, environ=os.environ).file
        except (UserFileError, OSError):
            # What is wrong with the settings is said where a run is to begin; here the workflow's own count.
            file = self._file
        return log_dir_of(file, workdir_of(file, self._default_workdir))
