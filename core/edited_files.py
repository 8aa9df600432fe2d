"""Which files an agent edited, as far as its CLI tells: for the journal, and for the check of workflows."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from pathlib import Path, PurePath

MOST_FILES = 200
"""Of one turn. Who edits more is not told file by file."""
LONGEST_PATH = 500
"""Characters; a longer one is passed over."""
_PATCHED = re.compile(r"^\*\*\* (?:(?:Add|Update|Delete) File|Move to): (.+)$", re.MULTILINE)
_LONGEST_PATCH = 1_000_000
"""Characters of a patch that are searched for names."""


class EditedFiles:
    """The files that one turn edited, each once, in the order of the first edit. Bounded.

    Files of the working folder are named from there, with forward slashes on every system; others in full.
    """

    def __init__(self, workdir: Path) -> None:
        self._workdir = os.path.abspath(workdir)  # noqa: PTH100 - Path.resolve would follow links
        self._files: dict[str, None] = {}

    def add(self, paths: Iterable[str]) -> None:
        """These were edited; relative names are of the working folder."""
        for path in paths:
            if len(self._files) >= MOST_FILES:
                return
            named = self._named(path)
            if named is not None:
                self._files[named] = None

    @property
    def names(self) -> tuple[str, ...]:
        """The files so far."""
        return tuple(self._files)

    def _named(self, path: str) -> str | None:
        if not path.strip() or len(path) > LONGEST_PATH or not path.isprintable():
            return None
        full = os.path.normpath(os.path.join(self._workdir, path))  # noqa: PTH118 - names only, no disk
        inside = PurePath(full)
        if inside.is_relative_to(self._workdir):
            inside = inside.relative_to(self._workdir)
        return inside.as_posix()


def files_of_patch(patch: str) -> Sequence[str]:
    """The files that a patch in the form of `apply_patch` adds, changes, moves or deletes."""
    return [name.strip() for name in _PATCHED.findall(patch[:_LONGEST_PATCH])]
