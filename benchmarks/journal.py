"""The journal: events a second against bare `os.write`, with and without sync, and a kill in the middle.

python benchmarks/journal.py
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.report import Row, alone, pairs
from core.events import Event, TurnFinished, TurnStatus
from core.journal import Journal, read_journal
from core.state import StateUpdate
from core.usage import Usage

EVENTS = 100_000
SYNCED = 300
_ACKNOWLEDGING = """
import os, sys
from pathlib import Path
from benchmarks.journal import events
from core.journal import Journal
journal = Journal(Path(sys.argv[1]))
for event in events(1_000_000):
    journal.append(event)
    os.write(1, b".")
"""


def events(count: int) -> list[Event]:
    """Ends of turns as they are in a run, all different."""
    update = StateUpdate(payload={"score": 87, "summary": "Two findings, both small, neither of them new."})
    return [
        TurnFinished(
            time=1e9 + number,
            turn=f"loop/{number}/0/0",
            status=TurnStatus.SUCCEEDED,
            update=update,
            seconds=12.5,
            usage=Usage(input_tokens=1200, output_tokens=300, cost_usd=0.01),
        )
        for number in range(count)
    ]


def rows() -> Iterator[Row]:
    """All rows."""
    yield _rate("journal: ends of turns", events(EVENTS), sync=False)
    yield _rate("  each on disk before the next", events(SYNCED), sync=True)
    yield _killed()


def _rate(what: str, written: Sequence[Event], *, sync: bool) -> Row:
    with tempfile.TemporaryDirectory(dir=Path.cwd()) as name:
        path = Path(name) / "journal.jsonl"
        _append(path, written, sync)
        lines = path.read_bytes().splitlines(keepends=True)
        ours, bare, ratio = pairs(
            partial(_append, path, written, sync), partial(_write, path, lines, sync), 5
        )
    count = len(written)
    return Row(
        what,
        f"{count / ours:,.0f}/s",
        f"os.write {count / bare:,.0f}/s",
        1 / ratio,
        ">= 0.5",
        1 / ratio >= 0.5,
    )


def _append(path: Path, written: Sequence[Event], sync: bool) -> float:
    path.unlink(missing_ok=True)
    journal = Journal(path)
    begun = time.perf_counter()
    for event in written:
        journal.append(event)
        if sync:
            journal.sync()
    took = time.perf_counter() - begun
    journal.close()
    return took


def _write(path: Path, lines: Sequence[bytes], sync: bool) -> float:
    path.unlink(missing_ok=True)
    descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    begun = time.perf_counter()
    for line in lines:
        os.write(descriptor, line)
        if sync:
            os.fsync(descriptor)
    took = time.perf_counter() - begun
    os.close(descriptor)
    return took


def _killed() -> Row:
    acknowledged = lost = 0
    root = Path(__file__).resolve().parent.parent
    with tempfile.TemporaryDirectory() as name:
        for number in range(3):
            path = Path(name) / f"journal{number}.jsonl"
            argv = [sys.executable, "-c", _ACKNOWLEDGING, str(path)]
            with subprocess.Popen(argv, stdout=subprocess.PIPE, cwd=root, bufsize=0) as writer:
                assert writer.stdout is not None  # a pipe
                heard = len(writer.stdout.read(1000))
                writer.send_signal(getattr(signal, "SIGKILL", signal.SIGTERM))
                while data := writer.stdout.read(1 << 16):
                    heard += len(data)
            acknowledged += heard
            lost += max(0, heard - len(read_journal(path)))
    what = f"  killed while it writes: lost of {acknowledged:,} acknowledged"
    return Row(what, str(lost), "", None, "0", lost == 0)


if __name__ == "__main__":
    alone(__doc__, rows)
