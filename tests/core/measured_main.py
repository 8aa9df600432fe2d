"""OpenLoop's command line; says on standard error at its end how much memory it needed, in bytes.

A program of its own, so that nothing else that a test run does counts. What its children need does not count.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent.parent))

from app.cli import main


def peak_memory() -> int:
    """The most memory that this process had at once, in bytes."""
    status = Path("/proc/self/status")
    if status.exists():
        # Not ru_maxrss: it begins with what the process had that started this one.
        line = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
        return int(line.split()[1]) * 1024
    if sys.platform == "win32":
        import psutil

        return int(psutil.Process().memory_info().peak_wset)
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


if __name__ == "__main__":
    code = main(sys.argv[1:])
    sys.stderr.write(f"\npeak {peak_memory()}\n")
    sys.exit(code)
