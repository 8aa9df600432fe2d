"""All benchmarks, or the named ones, as one table.

    python benchmarks/run.py
    python benchmarks/run.py fanout state
    python benchmarks/run.py --list

Ends with 1 if a target was missed. README.md says what each measures.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import psutil

from benchmarks import fanout, flood, journal, load, opening, sequential, start, state, stop
from benchmarks.report import Rows, print_head, print_rows

BENCHMARKS: dict[str, Rows] = {
    "fanout": fanout.rows,
    "sequential": sequential.rows,
    "flood": flood.rows,
    "state": state.rows,
    "stop": stop.rows,
    "journal": journal.rows,
    "load": load.rows,
    "start": start.rows,
    "opening": opening.rows,
}
LOG_VIEW = "log_view"
"""Has a table of its own, and needs 2 GB of temporary files: only when it is named."""


def main() -> int:
    """Measure what was asked for. Gives the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("names", nargs="*", help=f"of: {', '.join([*BENCHMARKS, LOG_VIEW])}")
    parser.add_argument("--list", action="store_true", help="say what there is")
    options = parser.parse_args()
    names: list[str] = options.names or list(BENCHMARKS)
    unknown = [name for name in names if name not in BENCHMARKS and name != LOG_VIEW]
    if unknown:
        parser.error(f"there is no {unknown[0]}; there are {', '.join([*BENCHMARKS, LOG_VIEW])}")
    if options.list:
        print("\n".join([*BENCHMARKS, LOG_VIEW]))
        return 0
    print(_machine())
    print_head()
    rows = [row for name in names if name in BENCHMARKS for row in print_rows(name, BENCHMARKS[name])]
    missed = [row.what.strip() for row in rows if row.met is False]
    met = sum(row.met is True for row in rows)
    print(f"\n{met} targets met, {len(missed)} missed")
    if LOG_VIEW in names:
        print()
        subprocess.run([sys.executable, Path(__file__).with_name("log_view.py")], check=True)
    return 1 if missed else 0


def _machine() -> str:
    load = f", load {os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else ""
    memory = psutil.virtual_memory().total / 2**30
    python = ".".join(map(str, sys.version_info[:3]))
    return f"{sys.platform}, {psutil.cpu_count()} processors{load}, {memory:.0f} GB, Python {python}\n"


if __name__ == "__main__":
    sys.exit(main())
