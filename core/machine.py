"""What the machine gives to runs: cores and free memory, also inside a container with less of both."""

from __future__ import annotations

import os
from pathlib import Path

import psutil

_GROUPS = (
    # Limit and use of a container, by the two versions of Linux' control groups; elsewhere they do not exist.
    ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current", "/sys/fs/cgroup/memory.stat"),
    (
        "/sys/fs/cgroup/memory/memory.limit_in_bytes",
        "/sys/fs/cgroup/memory/memory.usage_in_bytes",
        "/sys/fs/cgroup/memory/memory.stat",
    ),
)


def core_count() -> int:
    """Processors that OpenLoop may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0)) or 1
    return os.cpu_count() or 1


def total_memory() -> int:
    """Bytes of memory, or of the container's share."""
    limits = (_number(Path(limit)) for limit, _, _ in _GROUPS)
    return min([psutil.virtual_memory().total, *(limit for limit in limits if limit is not None)])


def free_memory() -> int:
    """Bytes that programs may still take without something being thrown out or ended."""
    free = psutil.virtual_memory().available
    for limit_file, use_file, stat_file in _GROUPS:
        limit, use = _number(Path(limit_file)), _number(Path(use_file))
        if limit is not None and use is not None:
            free = min(free, max(0, limit - use + _cached(Path(stat_file))))
    return free


def _number(file: Path) -> int | None:
    """The number in a file of the kernel's; None where there is none (`max`: no limit)."""
    try:
        return int(file.read_text(encoding="ascii"))
    except (OSError, ValueError):
        return None


def _cached(stat: Path) -> int:
    """Bytes of files' contents that count as used, but are given back when somebody needs them."""
    try:
        lines = stat.read_text(encoding="ascii").splitlines()
    except (OSError, ValueError):
        return 0
    pairs = (line.partition(" ") for line in lines)
    return sum(int(value) for name, _, value in pairs if name == "inactive_file" and value.isdigit())
