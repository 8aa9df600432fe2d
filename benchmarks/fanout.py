"""Many agents at once, against a C program that does nothing but start them and drain what they print.

python benchmarks/fanout.py
"""

from __future__ import annotations

import os
import statistics
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks import floor
from benchmarks.report import Row, alone, chain, milliseconds
from benchmarks.runs import RunFigures, kept_folder, measured_run, write_workflow
from core.runner import ProcessSpec, Supervisor

AGENT_SECONDS = 0.1
EMPTY_AGENTS = 500


def rows() -> Iterator[Row]:
    """All rows."""
    yield from chain(
        partial(_fan_out, 10, 10, 5),
        partial(_fan_out, 100, 10, 3),
        partial(_fan_out, 1000, 50, 3),
        _empty_agents,
        _supervisor_alone,
    )


def _measure(total: int, at_once: int, seconds: float, *, with_memory: bool = False) -> RunFigures:
    workflow = write_workflow(kept_folder() / "work", floor.agent(seconds), total, at_once=at_once)
    return measured_run(workflow, with_memory=with_memory)


def _fan_out(total: int, at_once: int, times: int) -> Iterator[Row]:
    floor.needed()
    pairs = [
        (
            _measure(total, at_once, AGENT_SECONDS),
            floor.run(total, at_once, floor.agent(AGENT_SECONDS)),
        )
        for _ in range(times)
    ]
    middle = statistics.median
    what = f"fan-out, {total:,} agents of {AGENT_SECONDS:g} s, {at_once} at once"
    ours = middle(run.groups for run, _ in pairs)
    ideal = AGENT_SECONDS * total / at_once
    lowest = middle(least.wall for _, least in pairs)
    if total == at_once:
        ratio, target = ours / ideal, 1.08
        other = f"ideal {ideal:.2f} s, C {lowest:.3f} s"
    else:
        ratio, target = middle(run.groups / least.wall for run, least in pairs), 1.03
        other = f"C {lowest:.2f} s"
    yield Row(what, f"{ours:.3f} s", other, ratio, f"<= {target}", ratio <= target)
    whole = middle(run.run for run, _ in pairs)
    yield Row("  the whole run: folder, supervisor, end", f"{whole:.3f} s")
    cpu = middle((run.cpu - least.cpu) / total for run, least in pairs)
    floor_cpu = middle(least.cpu / total for _, least in pairs)
    yield Row(
        "  CPU of OpenLoop and supervisor per agent above the floor",
        milliseconds(cpu),
        f"C {milliseconds(floor_cpu)}",
        None,
        "<= 0.6 ms" if total >= 100 else "",
        cpu <= 0.6e-3 if total >= 100 else None,
    )
    if total >= 1000:
        memory = _measure(total, at_once, AGENT_SECONDS, with_memory=True).memory / 1e6
        yield Row("  memory (PSS) without Qt", f"{memory:.0f} MB", "", None, "<= 40 MB", memory <= 40)
        yield Row("  planning it", milliseconds(middle(run.plan for run, _ in pairs)))
        yield Row("  journal", f"{middle(run.journal for run, _ in pairs) / total:.0f} B/agent")


def _empty_agents() -> Iterator[Row]:
    pairs = [
        (EMPTY_AGENTS / _measure(EMPTY_AGENTS, 10, 0).groups, _floor_rate(EMPTY_AGENTS)) for _ in range(5)
    ]
    yield _rate_row("empty agents, 10 at once, with journal and state", pairs, 0.5)


def _supervisor_alone() -> Iterator[Row]:
    pairs = [(_supervisor_rate(EMPTY_AGENTS), _floor_rate(EMPTY_AGENTS)) for _ in range(5)]
    yield _rate_row("  without: processes, supervisor, ten threads", pairs, 0.75)


def _floor_rate(total: int) -> float:
    return total / floor.run(total, 10, floor.agent()).wall


def _supervisor_rate(total: int) -> float:
    folder = kept_folder()
    with Supervisor() as supervisor:
        (folder / "prompt").write_bytes(b"")
        argv = tuple(floor.agent())

        def turn(number: int) -> None:
            spec = ProcessSpec(
                argv=argv,
                cwd=folder,
                env=os.environ,
                stdin=folder / "prompt",
                stdout=folder / f"out{number}",
                stderr=folder / f"err{number}",
                mark=str(number),
            )
            ending = supervisor.launch(spec).wait()
            assert ending is not None  # no timeout
            assert ending.exit_code == 0, ending

        with ThreadPoolExecutor(10) as pool:
            begun = time.perf_counter()
            list(pool.map(turn, range(total)))
            return total / (time.perf_counter() - begun)


def _rate_row(what: str, pairs: list[tuple[float, float]], target: float) -> Row:
    ratio = statistics.median(ours / least for ours, least in pairs)
    return Row(
        what,
        f"{statistics.median(ours for ours, _ in pairs):,.0f}/s",
        f"C {statistics.median(least for _, least in pairs):,.0f}/s",
        ratio,
        f">= {target}",
        ratio >= target,
    )


if __name__ == "__main__":
    alone(__doc__, rows)
