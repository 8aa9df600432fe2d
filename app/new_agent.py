"""A new agent file from a template."""

from __future__ import annotations

import itertools
from pathlib import Path

from core.problems import Problem, UserFileError

TEMPLATE = """---
name: {name}
role: author
description: What this agent is for, in one sentence.
---

You are {name}. Say here what you do, what you look at, and what a good result is.

When you are done, say what you found or changed, and report it in the state.
"""


def create_agent(folder: Path) -> Path:
    """Write a new agent into a folder (made where it is missing); gives the file. Raises UserFileError."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for number in itertools.count(1):
            name = "new_agent" if number == 1 else f"new_agent_{number}"
            path = folder / f"{name}.md"
            try:
                with path.open("x", encoding="utf-8", newline="\n") as stream:
                    stream.write(TEMPLATE.format(name=name))
            except FileExistsError:
                continue
            return path
    except OSError as error:
        reason = error.strerror or str(error)
        raise UserFileError(
            [Problem(f"The folder {folder} cannot be written: {reason}.", file=folder)]
        ) from error
    raise AssertionError("unreachable")
