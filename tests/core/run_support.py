"""Runs for tests: an agents folder and a workflow made on the spot, the real engine, real demo agents."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

import psutil

from core.agent import AgentLibrary
from core.backends.base import Backend
from core.backends.registry import backend, backend_names
from core.engine import Engine
from core.events import Event, RunFinished, TurnFinished
from core.executor import ThreadExecutor
from core.journal import JOURNAL_NAME, read_journal
from core.json_types import JsonObject
from core.plan import RunPlan
from core.planning import RunOverrides, plan_run
from core.process_tree import MARK
from core.progress import RunProgress
from core.recorded_run import RecordedRun, read_run
from core.resuming import prepare_resume
from core.state import WorkflowState
from core.workflow_file import parse_workflow

T = TypeVar("T")
Watch = Callable[[Engine, Event], None]


@dataclass
class FinishedRun:
    """A run that is over: its events as they were delivered, its end, its folder, the last state."""

    finished: RunFinished
    folder: Path
    state: WorkflowState
    events: list[Event] = field(default_factory=list)

    @property
    def reason(self) -> str:
        return self.finished.termination_reason

    @property
    def payload(self) -> JsonObject:
        return self.state.payload

    @property
    def journal(self) -> list[Event]:
        return read_journal(self.folder / JOURNAL_NAME)

    @property
    def progress(self) -> RunProgress:
        progress = RunProgress()
        progress.apply_all(self.events)
        return progress

    def of(self, kind: type[T]) -> list[T]:
        return [event for event in self.events if isinstance(event, kind)]

    def turn(self, title: str) -> TurnFinished:
        """The end of the turn with this title (`vera 2`: of the second iteration)."""
        turns = {turn.id: turn.title for turn in self.progress.turns.values()}
        return next(
            event for event in self.events if isinstance(event, TurnFinished) and turns[event.turn] == title
        )

    def turn_folder(self, title: str) -> Path:
        turn = next(turn for turn in self.progress.turns.values() if turn.title == title)
        return self.folder / "turns" / turn.folder


class Workshop:
    """A folder with agents in which runs are made."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "agents").mkdir(parents=True, exist_ok=True)

    def agent(self, name: str, *, role: str = "", timeout: float | None = None, **demo: object) -> str:
        """Make a demo agent that does what `demo` says (keys: docs/writing-agents.md)."""
        matter: dict[str, object] = {"name": name, "backend": "demo", "demo": {"steps": 1, **demo}}
        if role:
            matter["role"] = role
        if timeout is not None:
            matter["timeout"] = timeout
        return self._write(name, matter)

    def command(self, name: str, *words: str, **matter: object) -> str:
        """Make an agent that is a program."""
        return self._write(name, {"name": name, "backend": "command", "command": list(words), **matter})

    def _write(self, name: str, matter: dict[str, object]) -> str:
        # JSON is YAML.
        text = f"---\n{json.dumps(matter)}\n---\nYou are {name}.\n"
        (self.folder / "agents" / f"{name}.md").write_text(text, encoding="utf-8")
        return name

    def file(self, workflow: JsonObject) -> Path:
        path = self.folder / "workflow.json"
        path.write_text(json.dumps(workflow), encoding="utf-8")
        return path

    def plan(self, workflow: JsonObject, overrides: RunOverrides | None = None) -> RunPlan:
        path = self.file({"on_missing_state": "abort", **workflow})
        file = parse_workflow(path.read_text(encoding="utf-8"), path)
        library = AgentLibrary(self.folder / "agents")
        return plan_run(file, library, overrides, known_backends=backend_names(), default_workdir=self.folder)

    def run(
        self,
        workflow: JsonObject,
        watch: Watch | None = None,
        *,
        overrides: RunOverrides | None = None,
        backend_of: Callable[[str], Backend] = backend,
    ) -> FinishedRun:
        """Run a workflow to its end. `watch` sees every event as it comes, and may steer the engine."""
        return run_plan(self.plan(workflow, overrides), watch, backend_of=backend_of)


def resume(folder: Path, watch: Watch | None = None, *, overrides: RunOverrides | None = None) -> FinishedRun:
    """Go on with a run, as it is in its folder."""
    recorded = read_run(folder)
    prepared = prepare_resume(recorded, overrides, known_backends=backend_names())
    return run_plan(prepared.plan, watch, recorded=recorded)


def run_plan(
    plan: RunPlan,
    watch: Watch | None = None,
    *,
    backend_of: Callable[[str], Backend] = backend,
    recorded: RecordedRun | None = None,
) -> FinishedRun:
    """Run a plan to its end."""
    events: list[Event] = []

    async def go() -> FinishedRun:
        executor = ThreadExecutor(plan.most_at_once + 4)

        def take(batch: Sequence[Event]) -> None:
            for event in batch:
                events.append(event)
                if watch is not None:
                    watch(engine, event)

        engine = Engine(plan, executor, backend_of, take, recorded=recorded)
        try:
            finished = await asyncio.wait_for(engine.run(), 60)
        finally:
            executor.close()
        assert engine.folder is not None
        return FinishedRun(finished, engine.folder, engine.state, events)

    return asyncio.run(go())


def alive_agents(workdir: Path) -> list[int]:
    """Every process of the machine that a supervisor marked as an agent's and that works in this folder."""
    found = []
    for process in psutil.process_iter():
        try:
            if (
                process.status() != psutil.STATUS_ZOMBIE
                and MARK in process.environ()
                and Path(process.cwd()).is_relative_to(workdir)
            ):
                found.append(process.pid)
        except (psutil.Error, OSError):
            continue
    return found
