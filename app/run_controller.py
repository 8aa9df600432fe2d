"""One run a window: plans it off the window's thread, starts the engine, passes on what happens."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Coroutine, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from PySide6.QtCore import QObject, Signal

from app.workers import QtExecutor
from core.backends.registry import backend, backend_names
from core.problems import Problem, UserFileError
from core.words import say

if TYPE_CHECKING:
    import asyncio

    from core.agent import AgentLibrary
    from core.config import WorkflowFile
    from core.engine import Answer, Engine
    from core.events import Event
    from core.planning import RunOverrides
    from core.preparing import PreparedRun
    from core.recorded_run import RecordedRun
    from core.statuses import StopKind

SPARE_THREADS = 4
READ_PAUSE = 0.005
"""Seconds of rest after each full read of an agent's output: measured, it keeps the window at 60 frames."""
NICE = 5
"""Agents give way to the window when all cores are busy."""


Preparation: TypeAlias = "Callable[[], tuple[PreparedRun, RecordedRun | None]]"
"""Reads and decides everything about a run, on a worker."""


class RunController(QObject):
    """Runs one workflow at a time.

    Signals, all in the window's thread: `events(object)`: list[Event] in order; `running_changed(bool)`;
    `refused(object)`: list[Problem] when a run could not begin; `planned(object, object)`: the RunPlan of a
    run that is about to begin, and the RecordedRun that it goes on with (None: it is new); `warned(object)`:
    list[Problem] that keep no run from going on; `trust_asked(object)`: the tuple[BroughtCommand, ...] of
    files that the user must `allow` before anything is started; `trust_answered(bool)`: it is settled;
    `settings_taken(object)`: the tuple[Setting, ...] that a new run has, before anything of it is asked;
    `orphans_asked(object)`: the list[Orphan] of a run that goes on, which the user must let `end_orphans`.
    `prepared(str)`: the name of the workflow whose run is to begin, before anything of it is asked.
    """

    events = Signal(object)
    running_changed = Signal(bool)
    refused = Signal(object)
    planned = Signal(object, object)
    warned = Signal(object)
    trust_asked = Signal(object)
    trust_answered = Signal(bool)
    settings_taken = Signal(object)
    orphans_asked = Signal(object)
    prepared = Signal(str)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._executor = QtExecutor(SPARE_THREADS, self)
        self._engine: Engine | None = None
        self._running = False
        self._stop_wish: StopKind | None = None
        self._folder: Path | None = None
        self._trust: asyncio.Future[bool] | None = None
        self.trust_workdir: Path | None = None
        """Where the commands would run that `trust_asked` is about."""
        self._ending: asyncio.Future[bool] | None = None
        # The loop keeps only weak references to tasks.
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def running(self) -> bool:
        """Whether a run is being prepared or goes on."""
        return self._running

    @property
    def run_folder(self) -> Path | None:
        """The folder of the present or last run."""
        return self._folder

    def start(self, file: WorkflowFile, library: AgentLibrary, default_workdir: Path | None = None) -> None:
        """Check and plan on a worker, then run. Nothing happens while another run goes on."""
        self._begin(partial(_prepare_start, file, library, default_workdir))

    def resume(self, folder: Path, overrides: RunOverrides) -> None:
        """Go on with the run in this folder. Nothing happens while another run goes on."""
        self._begin(partial(_prepare_resume, folder, overrides))

    def _begin(self, prepare: Preparation) -> None:
        if self._running:
            return
        self._running = True
        self._stop_wish = None
        self._folder = None
        self.running_changed.emit(True)
        self._spawn(self._run(prepare))

    def stop(self, kind: StopKind) -> None:
        """Stop after the running agents, or now."""
        self._stop_wish = kind
        self.allow(False)
        self.end_orphans(False)
        if self._engine is not None:
            self._engine.stop(kind)

    def stop_turn(self, turn: str) -> None:
        """Stop one agent."""
        if self._engine is not None:
            self._engine.stop_turn(turn)

    def retry_turn(self, turn: str) -> None:
        """Try one agent again; one that is at work is ended first."""
        if self._engine is not None:
            self._engine.retry_turn(turn)

    def can_retry(self, turn: str) -> bool:
        """Whether `retry_turn` would do something."""
        return self._engine is not None and self._engine.can_retry(turn)

    def proceed(self) -> None:
        """Go on with a run that is paused."""
        if self._engine is not None:
            self._engine.proceed()

    def answer(self, turn: str, answer: Answer) -> None:
        """Answer a QuestionAsked."""
        if self._engine is not None:
            self._engine.answer(turn, answer)

    def allow(self, allowed: bool) -> None:
        """Answer `trust_asked`; without a question nothing happens."""
        if self._trust is not None and not self._trust.done():
            self._trust.set_result(allowed)

    def end_orphans(self, end: bool) -> None:
        """Answer `orphans_asked`: end them and go on, or do neither."""
        if self._ending is not None and not self._ending.done():
            self._ending.set_result(end)

    def wait_for_workers(self) -> None:
        """Block until the pool is idle; for the end of the application, when no run goes on."""
        self._executor.wait()

    async def _run(self, prepare: Preparation) -> None:
        # Not before a run: the window opens without the engine, and sooner.
        from core.engine import Engine, RunRefused
        from core.recorded_run import RunUnreadable

        try:
            prepared, recorded = await self._executor.call(prepare)
            self.prepared.emit(prepared.plan.workflow_name)
            if prepared.settings:
                self.settings_taken.emit(prepared.settings)
            if recorded is not None and not await self._is_alone(recorded.folder):
                return
            if not await self._may_run(prepared):
                return
            plan = prepared.plan
            self._executor.ensure_threads(plan.most_at_once + SPARE_THREADS)
            self._engine = Engine(
                plan,
                self._executor,
                backend,
                self._pass_on,
                recorded=recorded,
                read_pause=READ_PAUSE,
                nice=NICE,
            )
            if self._stop_wish is not None:
                self._engine.stop(self._stop_wish)
            self.planned.emit(plan, recorded)
            await self._engine.run()
        except UserFileError as error:
            self._refuse(error.problems)
        except RunUnreadable as error:
            self._refuse([error.problem])
        except RunRefused as refusal:
            self._refuse(refusal.problems)
        finally:
            self._engine = None
            self._running = False
            self.running_changed.emit(False)

    async def _is_alone(self, folder: Path) -> bool:
        """Whether nothing of the run's earlier life is alive any more: two agents at one task would fight."""
        from core.orphans import end_orphans, find_orphans

        orphans = await self._executor.call(partial(find_orphans, folder))
        if not orphans:
            return True
        if self._stop_wish is not None:
            return False
        self._ending = _running_loop().create_future()
        try:
            self.orphans_asked.emit(orphans)
            end = await self._ending
        finally:
            self._ending = None
        left = await self._executor.call(partial(end_orphans, orphans)) if end else []
        if left:
            pids = ", ".join(str(pid) for pid in left)
            self._refuse(
                [
                    Problem(
                        say("Processes of the run could not be ended: {pids}.", pids=pids),
                        suggestion=say("End them with the system's own means, then resume the run."),
                    )
                ]
            )
        return end and not left

    async def _may_run(self, prepared: PreparedRun) -> bool:
        """Whether the user allows the commands that the run's files bring, now or before."""
        from core.trust_store import TrustStore

        store = TrustStore()
        if prepared.own_commands:
            own = partial(store.remember, prepared.own_commands, "your own words")
            self._warn(await self._executor.call(own))
        trust = await self._executor.call(partial(store.judge, prepared.commands))
        self._warn((*prepared.warnings, *trust.warnings))
        if not trust.unknown:
            return True
        if self._stop_wish is not None:
            return False
        self._trust = _running_loop().create_future()
        self.trust_workdir = prepared.plan.workdir
        try:
            self.trust_asked.emit(trust.unknown)
            allowed = await self._trust
        finally:
            self._trust = None
        self.trust_answered.emit(allowed)
        if allowed:
            self._warn(
                await self._executor.call(partial(store.remember, trust.unknown, prepared.plan.workflow_path))
            )
        return allowed

    def _warn(self, problems: Sequence[Problem]) -> None:
        if problems:
            self.warned.emit(list(problems))

    def _pass_on(self, events: Sequence[Event]) -> None:
        if self._folder is None and self._engine is not None:
            self._folder = self._engine.folder
        self.events.emit(list(events))

    def _refuse(self, problems: Sequence[Problem]) -> None:
        self.refused.emit(list(problems))

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        task = _running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        error = None if task.cancelled() else task.exception()
        if error is not None:
            self._refuse(
                [
                    Problem(
                        say("OpenLoop itself failed ({error}).", error=error),
                        suggestion=say("Save your work and start it again."),
                    )
                ]
            )
            _running_loop().call_exception_handler(
                {"message": "a run could not be managed", "exception": error}
            )


def _running_loop() -> asyncio.AbstractEventLoop:
    # Not above: the window is painted before there is a loop.
    import asyncio

    return asyncio.get_running_loop()


def _prepare_start(
    file: WorkflowFile, library: AgentLibrary, default_workdir: Path | None
) -> tuple[PreparedRun, None]:
    """A new run of this workflow. Raises UserFileError."""
    from core.agent_folders import is_shipped
    from core.preparing import prepare_run
    from core.run_folders import example_workdir

    own = default_workdir if file.path is None else None
    if file.path is not None and is_shipped(file.path):
        # Whoever tidies up may take it away while the example is open.
        own = example_workdir(file.path)
    if own is not None:
        with contextlib.suppress(OSError):
            # The check says what is not there.
            own.mkdir(parents=True, exist_ok=True)
    prepared = prepare_run(
        file,
        environ=os.environ,
        library=library,
        known_backends=backend_names(),
        default_workdir=default_workdir,
    )
    return prepared, None


def _prepare_resume(folder: Path, overrides: RunOverrides) -> tuple[PreparedRun, RecordedRun]:
    """A run that goes on. Raises UserFileError and RunUnreadable."""
    from core.recorded_run import read_run
    from core.resuming import prepare_resume

    run = read_run(folder)
    return prepare_resume(run, overrides, known_backends=backend_names()), run
