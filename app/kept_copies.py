"""Copies of unsaved work on disk, each looked after by the process that wrote it; they outlive a crash."""

from __future__ import annotations

import contextlib
import os
import secrets
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel, ValidationError

from core.processes import is_running, start_time


class KeptText(BaseModel):
    """Text of a field that is no value of it yet, and so is in no file.

    `nodes`: of which groups or agents, by their places such as `loop_agents[0].agents[1]`; none: of the
    workflow. `field`: its label. `mistake`: why it is no value.
    """

    nodes: list[str]
    key: str
    field: str
    text: str
    mistake: str


class KeptCopy(BaseModel):
    """A copy on disk: what it is of, and which process is looking after it.

    `base`: a digest of the file that the work began with, where that is known. `fields`: what was typed and
    is not part of `text`.
    """

    path: Path | None
    title: str
    saved_at: float
    pid: int
    pid_started: float
    text: str
    base: str = ""
    fields: list[KeptText] = []


@dataclass(frozen=True, slots=True)
class FoundCopy:
    """A copy and the file that it was read from."""

    file: Path
    copy: KeptCopy


def new_copy_file(folder: Path) -> Path:
    """A file in this folder for a copy of this process."""
    return folder / f"{os.getpid()}-{secrets.token_hex(4)}.json"


def make_copy(
    path: Path | None, title: str, text: str, base: str = "", fields: Sequence[KeptText] = ()
) -> KeptCopy:
    """A copy of now, looked after by this process."""
    pid = os.getpid()
    return KeptCopy(
        path=path,
        title=title,
        saved_at=time.time(),
        pid=pid,
        pid_started=start_time(pid) or 0.0,
        text=text,
        base=base,
        fields=list(fields),
    )


def write_copy(file: Path, copy: KeptCopy) -> None:
    """Bring a copy to the disk, where that is possible: it must not disturb the work that it is a copy of."""
    with contextlib.suppress(OSError):
        file.parent.mkdir(parents=True, exist_ok=True)
        draft = file.with_suffix(".part")
        draft.write_text(copy.model_dump_json(), encoding="utf-8")
        draft.replace(file)


def remove_copy(file: Path) -> None:
    """Throw a copy away, if it is there."""
    with contextlib.suppress(OSError):
        file.unlink(missing_ok=True)


def left_behind(folder: Path) -> list[FoundCopy]:
    """The copies of processes that are gone, the oldest first."""
    found: list[FoundCopy] = []
    for file in folder.glob("*.json"):
        try:
            copy = KeptCopy.model_validate_json(file.read_bytes())
        except (OSError, ValidationError):
            continue
        if not is_running(copy.pid, copy.pid_started):
            found.append(FoundCopy(file, copy))
    return sorted(found, key=lambda each: each.copy.saved_at)
