"""One agent that prints 200 MB: time against a chunked copy of its output into a file, and memory.

python benchmarks/flood.py
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks import floor
from benchmarks.report import Row, alone
from benchmarks.runs import RunFigures, measured_run, write_workflow

MEGABYTES = 200
TIMES = 3
CHUNK = 64 * 1024


def rows() -> Iterator[Row]:
    """All rows."""
    quiet = statistics.median(_ours(1).peak for _ in range(TIMES))
    pairs = [(_ours(MEGABYTES), _copy()) for _ in range(TIMES)]
    ratio = statistics.median(run.groups / copy for run, copy in pairs)
    ours = statistics.median(run.groups for run, _ in pairs)
    copy = statistics.median(copy for _, copy in pairs)
    yield Row(
        f"one agent printing {MEGABYTES} MB",
        f"{ours:.2f} s",
        f"chunked copy {copy:.2f} s",
        ratio,
        "<= 1.5",
        ratio <= 1.5,
    )
    above = (statistics.median(run.peak for run, _ in pairs) - quiet) / 1e6
    yield Row(
        "  memory above a run with 1 MB of output",
        f"{above:.1f} MB",
        f"base {quiet / 1e6:.0f} MB",
        None,
        "<= 8 MB",
        above <= 8,
    )
    folder = statistics.median(run.run_folder for run, _ in pairs) / 1e6
    yield Row("  the run folder afterwards", f"{folder:,.0f} MB")


def _ours(megabytes: int) -> RunFigures:
    with tempfile.TemporaryDirectory() as name:
        return measured_run(write_workflow(Path(name) / "work", floor.flood(megabytes), 1))


def _copy() -> float:
    with tempfile.TemporaryFile() as target:
        begun = time.perf_counter()
        with subprocess.Popen(floor.flood(MEGABYTES), stdout=subprocess.PIPE, bufsize=0) as agent:
            assert agent.stdout is not None  # a pipe
            while data := agent.stdout.read(CHUNK):
                target.write(data)
        return time.perf_counter() - begun


if __name__ == "__main__":
    alone(__doc__, rows)
