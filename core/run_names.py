"""Which folders are runs: by their name, or by what is in them."""

from __future__ import annotations

import re
from pathlib import Path

from core.journal import JOURNAL_NAME
from core.run_files import WORKFLOW_NAME

REMAINS = ".deleted-"
"""Begins the name of a folder that is being deleted: it is no run any more."""
_RUN_NAME = re.compile(r"\d{8}-\d{6}-\w+")


def is_run_folder(path: Path) -> bool:
    """Whether this is a folder of a run, also of one that cannot be read. Raises OSError."""
    if path.name.startswith(REMAINS) or not path.is_dir():
        return False
    files = (path / JOURNAL_NAME, path / WORKFLOW_NAME)
    return bool(_RUN_NAME.fullmatch(path.name)) or any(file.exists() for file in files)
