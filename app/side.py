"""What the right of the window can show."""

from __future__ import annotations

from enum import IntEnum


class Side(IntEnum):
    """One of the views that share the right of the window."""

    SETTINGS = 0
    RUN = 1
    """The present or last run."""
    RUNS = 2
    """All runs that are recorded."""
    AGENT = 3
    """The file of one agent, in its editor."""
    TRUST = 4
    """The question whether a run may start the commands that its files bring."""
