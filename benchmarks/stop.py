"""Stopping: ten agents, each with four descendants that do not want to end, until nobody is left.

    python benchmarks/stop.py

The agent and everything it starts ignore SIGTERM. Its descendants are a plain child, a child in a session of
its own, a grandchild, and a daemon that was forked twice and has forgotten whose it is. Linux and macOS.
"""

from __future__ import annotations

import asyncio
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import psutil

from benchmarks.report import Row, Skipped, alone, milliseconds
from benchmarks.runs import SPARE_THREADS, write_workflow
from core.backends.registry import backend, backend_names
from core.engine import Engine
from core.events import StopKind
from core.executor import ThreadExecutor
from core.planning import plan_run
from core.run_folders import library_of, workdir_of
from core.turn_control import STOP_GRACE
from core.workflow_file import load_workflow

AGENTS = 10
TREE = 5
"""Processes of an agent, itself included."""
TIMES = 3
PATIENCE = 30.0
_STUBBORN = """
import os, signal, sys, time
folder = sys.argv[1]
for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
    signal.signal(number, signal.SIG_IGN)

def stay():
    path = os.path.join(folder, str(os.getpid()))
    os.close(os.open(path, os.O_WRONLY | os.O_CREAT))
    while True:
        time.sleep(60)

if os.fork() == 0:
    if os.fork() == 0:
        stay()
    stay()
if os.fork() == 0:
    os.setsid()
    stay()
if os.fork() == 0:
    os.setsid()
    os.environ.clear()
    if os.fork() != 0:
        os._exit(0)
    for descriptor in range(3):
        os.close(descriptor)
    stay()
else:
    os.wait()
stay()
"""


def rows() -> Iterator[Row]:
    """All rows."""
    if os.name != "posix":
        raise Skipped("The stubborn agents are programs for POSIX systems.")
    stops = [_measured(_stop_now) for _ in range(TIMES)]
    yield _row("Stop now, after the grace", stops, 0.1, STOP_GRACE)
    kills = [_measured(_kill) for _ in range(TIMES)]
    yield _row("OpenLoop gets SIGKILL", kills, 0.2, 0.0)


def _row(what: str, times: list[float], target: float, grace: float) -> Row:
    took = statistics.median(times) - grace
    everybody = f"{what}: {AGENTS} agents, {AGENTS * (TREE - 1)} descendants"
    return Row(
        everybody,
        milliseconds(took),
        f"grace {milliseconds(grace)}" if grace else "",
        None,
        f"<= {milliseconds(target)}",
        took <= target,
    )


def _measured(stop: Callable[[Path, Path], float]) -> float:
    with tempfile.TemporaryDirectory() as name:
        work, pids = Path(name, "work"), Path(name, "pids")
        pids.mkdir()
        command = [sys.executable, "-I", "-S", "-c", _STUBBORN, str(pids)]
        return stop(write_workflow(work, command, AGENTS, at_once=AGENTS), pids)


def _all_there(pids: Path) -> list[psutil.Process] | None:
    """Every process of the run, when all of them have said that they are there."""
    found = list(pids.iterdir())
    if len(found) < AGENTS * TREE:
        return None
    return [psutil.Process(int(path.name)) for path in found]


def _alive(process: psutil.Process) -> bool:
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def _until_nobody(processes: list[psutil.Process], begun: float) -> float:
    """Seconds until none is alive. Raises RuntimeError when some do not end."""
    left = processes
    while left := [process for process in left if _alive(process)]:
        if time.perf_counter() - begun > PATIENCE:
            raise RuntimeError(f"Still alive after {PATIENCE:g} s: {left}")
    return time.perf_counter() - begun


def _stop_now(workflow: Path, pids: Path) -> float:
    return asyncio.run(_run_and_stop(workflow, pids))


async def _run_and_stop(workflow: Path, pids: Path) -> float:
    file = load_workflow(workflow)
    library = library_of(file, workdir_of(file))
    plan = plan_run(file, library, known_backends=backend_names(), default_workdir=workflow.parent)
    executor = ThreadExecutor(plan.most_at_once + SPARE_THREADS)
    engine = Engine(plan, executor, backend, lambda _: None)
    run = asyncio.create_task(engine.run())
    while (processes := _all_there(pids)) is None:
        if run.done():
            raise RuntimeError(run.result().message)
        await asyncio.sleep(0.05)
    begun = time.perf_counter()
    engine.stop(StopKind.NOW)
    took = await asyncio.to_thread(_until_nobody, processes, begun)
    await run
    executor.close()
    return took


def _kill(workflow: Path, pids: Path) -> float:
    main = Path(__file__).resolve().parent.parent / "main.py"
    argv = [sys.executable, str(main), "run", str(workflow), "--trust"]
    with subprocess.Popen(argv, stdout=subprocess.DEVNULL, cwd=workflow.parent) as openloop:
        while (processes := _all_there(pids)) is None:
            if openloop.poll() is not None:
                raise RuntimeError("The run ended by itself.")
            time.sleep(0.05)
        begun = time.perf_counter()
        openloop.send_signal(signal.SIGKILL)
        return _until_nobody(processes, begun)


if __name__ == "__main__":
    alone(__doc__, rows)
