"""Headless runs, each in a process of its own that measures itself.

python benchmarks/runs.py WORKFLOW [--memory]    prints the figures of one run as JSON
"""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import dataclasses
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import psutil

from core.backends.registry import backend, backend_names
from core.engine import Engine
from core.events import Event, GroupStarted, Merged, TurnFinished
from core.executor import ThreadExecutor
from core.json_types import JsonObject
from core.planning import plan_run
from core.run_folders import library_of, workdir_of
from core.workflow_file import load_workflow

SPARE_THREADS = 4
"""As in app/headless.py."""
LOOK_AT_MEMORY_EVERY = 50
"""Turns."""


@dataclass(frozen=True, slots=True)
class RunFigures:
    """Seconds, bytes and counts of one run.

    `cpu`: of OpenLoop and its supervisor during the run, without the agents', to 10 ms; the start of the
    supervisor is part of it. `groups`: from the first group's begin to the last merge. `memory`: the most of
    OpenLoop and supervisor together, as the share that is theirs (PSS on Linux). `peak`: of OpenLoop alone,
    resident.
    """

    turns: int
    plan: float
    run: float
    groups: float
    cpu: float
    memory: int
    peak: int
    journal: int
    run_folder: int


def write_workflow(
    folder: Path,
    command: Sequence[str],
    count: int,
    *,
    at_once: int | None = None,
    agent_files: int = 1,
    payload: JsonObject | None = None,
) -> Path:
    """A workflow of one group: `count` turns of one agent, parallel if `at_once` is given."""
    agents = folder / "agents"
    agents.mkdir(parents=True)
    front = f"---\nbackend: command\ncommand: {json.dumps(list(command))}\n---\nDo your work.\n"
    for number in range(agent_files):
        (agents / f"worker{number}.md").write_text(front, encoding="utf-8")
    names = [f"worker{number % agent_files}" for number in range(count)]
    group = {"agents": names, "mode": "sequential" if at_once is None else "parallel"}
    workflow = {
        "name": "benchmark",
        "preparation_agents": [group],
        "max_parallel_agents": at_once or 1,
        "on_missing_state": "abort",
        "initial_payload": payload or {},
    }
    path = folder / "workflow.json"
    path.write_text(json.dumps(workflow), encoding="utf-8")
    return path


def kept_folder() -> Path:
    """A new folder that is removed when all benchmarks are done.

    Not at once: ext4 passes over what was deleted in the last seconds each time it makes a file, which then
    takes ten times as long, and the next run would pay for it.
    """
    folder = tempfile.TemporaryDirectory(prefix="openloop-benchmark-")
    atexit.register(folder.cleanup)
    return Path(folder.name)


def measured_run(workflow: Path, *, with_memory: bool = False) -> RunFigures:
    """Run a workflow in a process of its own; every turn must succeed.

    `with_memory`: also look at the memory, which takes time.
    """
    argv = [sys.executable, __file__, str(workflow), *(["--memory"] if with_memory else [])]
    done = subprocess.run(argv, stdout=subprocess.PIPE, text=True, cwd=workflow.parent, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"The run of {workflow} failed.")
    return RunFigures(**json.loads(done.stdout))


# --- inside that process -------------------------------------------------------------------------------


class _Watch:
    """Listens to a run, and looks at what it costs; a look must not be part of what it measures."""

    def __init__(self, turns: int, *, with_memory: bool) -> None:
        self.turns = 0
        self.memory = 0
        self.begun = 0.0
        self.merged = 0.0
        self.cpu_supervisor: float | None = None
        self._expected = turns
        self._with_memory = with_memory
        self._own = psutil.Process()
        self._supervisor: list[psutil.Process] = []

    def hear(self, events: Sequence[Event]) -> None:
        for event in events:
            if isinstance(event, GroupStarted) and self.begun == 0.0:
                self.begun = event.time
                self._supervisor = self._find_supervisor()
            elif isinstance(event, TurnFinished):
                self.turns += 1
                if self._with_memory and self.turns % LOOK_AT_MEMORY_EVERY == 0:
                    self._look_at_memory()
            elif isinstance(event, Merged):
                self.merged = event.time
                if self.turns == self._expected:
                    self.cpu_supervisor = sum(sum(child.cpu_times()[:2]) for child in self._living())

    def _find_supervisor(self) -> list[psutil.Process]:
        """The supervisor and its guard; also an agent that is just becoming one, which is soon gone."""
        found = []
        for child in self._own.children(recursive=True):
            with contextlib.suppress(psutil.NoSuchProcess):
                if "core.supervisor" in " ".join(child.cmdline()):
                    found.append(child)
        return found

    def _living(self) -> list[psutil.Process]:
        return [child for child in self._supervisor if child.is_running()]

    def _look_at_memory(self) -> None:
        self.memory = max(self.memory, sum(map(share_of_memory, [self._own, *self._living()])))


def share_of_memory(process: psutil.Process) -> int:
    """Bytes that a process takes from the machine: PSS, else what is its own."""
    info = process.memory_full_info()
    return int(getattr(info, "pss", 0) or info.uss)


def peak_memory() -> int:
    """The most resident memory of this process so far, in bytes.

    On Linux from /proc: `ru_maxrss` there includes the process that started this one.
    """
    if sys.platform == "linux":
        for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    if sys.platform == "win32":
        return int(psutil.Process().memory_info().peak_wset)
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


async def _run(path: Path, *, with_memory: bool) -> RunFigures:
    started = time.perf_counter()
    file = load_workflow(path)
    library = library_of(file, workdir_of(file))
    plan = plan_run(file, library, known_backends=backend_names())
    planned = time.perf_counter()
    executor = ThreadExecutor(plan.most_at_once + SPARE_THREADS)
    watch = _Watch(len(plan.turns), with_memory=with_memory)
    engine = Engine(plan, executor, backend, watch.hear)
    cpu = time.process_time()
    begun = time.perf_counter()
    finished = await engine.run()
    ended = time.perf_counter()
    cpu = time.process_time() - cpu
    executor.close()
    if finished.termination_reason != "completed":
        raise RuntimeError(finished.message)
    if watch.turns != len(plan.turns) or watch.cpu_supervisor is None or (with_memory and not watch.memory):
        raise RuntimeError("The run was not measured as a whole.")
    folder = engine.folder
    assert folder is not None  # it has run
    return RunFigures(
        turns=watch.turns,
        plan=planned - started,
        run=ended - begun,
        groups=watch.merged - watch.begun,
        cpu=cpu + watch.cpu_supervisor,
        memory=watch.memory,
        peak=peak_memory(),
        journal=(folder / "journal.jsonl").stat().st_size,
        run_folder=sum(file.stat().st_size for file in folder.rglob("*") if file.is_file()),
    )


def main() -> None:
    """One run, measured."""
    figures = asyncio.run(_run(Path(sys.argv[1]).absolute(), with_memory="--memory" in sys.argv))
    print(json.dumps(dataclasses.asdict(figures)))


if __name__ == "__main__":
    main()
