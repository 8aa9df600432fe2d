"""Names of agents, and whatever else others choose, as names of folders."""

from __future__ import annotations

import re

LONGEST = 80
"""Characters; file systems take 255 bytes, and Windows 260 characters for a whole path."""
# No dot: `..` leads out, Windows drops one at the end, and macOS starts a folder called x.app when opened.
_NOT_PLAIN = re.compile(r"[^A-Za-z0-9_-]+")
_DEVICE = re.compile(r"(?:con|prn|aux|nul|com\d|lpt\d)", re.IGNORECASE)
"""Names that mean a device on Windows, in every folder."""


def plain_name(name: str) -> str:
    """One name of a folder that means the same on every system and leads nowhere else.

    A name that is plain already stays as it is; the empty one, too.
    """
    plain = _NOT_PLAIN.sub("_", name)[:LONGEST]
    return f"_{plain}" if _DEVICE.fullmatch(plain) else plain
