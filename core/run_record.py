"""The run folder and everything that is open during a run: journal, overview, supervisor."""

from __future__ import annotations

import contextlib
import os
import shutil
import threading
import time
import traceback
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from core.bus import EventBus
from core.durable_files import replace_file, sync_folder
from core.events import (
    Event,
    RunFinished,
    RunStarted,
    RunStatus,
    TurnFinished,
    TurnStarted,
    TurnStatus,
    UsageReported,
)
from core.journal import JOURNAL_NAME, Journal, JournalError
from core.open_runs import RunLock, mark_closed, mark_open
from core.overview import OverviewWriter
from core.plan import RunPlan
from core.recorded_run import RecordedRun
from core.run_files import AGENTS_NAME, OVERVIEW_NAME, STATE_NAME, TURNS_NAME, WORKFLOW_NAME
from core.runner import Supervisor
from core.spending import Spending
from core.state import WorkflowState
from core.transcript import Kind, TurnTranscript
from core.turn_services import TurnServices
from core.version import own_version
from core.words import say


def new_run_id(now: float) -> str:
    """A name for a run folder that sorts by time, also within a second, and is not used twice."""
    moment = int(now % 1 * 0x10000)
    return time.strftime("%Y%m%d-%H%M%S", time.localtime(now)) + f"-{moment:04x}{uuid.uuid4().hex[:4]}"


@dataclass
class RunRecord:
    """What a run writes and starts. Blocking, but for `watch`, `publish` and `deliver`."""

    plan: RunPlan
    run_id: str
    folder: Path
    journal: Journal
    overview: OverviewWriter
    services: TurnServices
    lock: RunLock
    spending: Spending
    _bus: EventBus | None = None
    _open_turns: dict[str, float] = field(default_factory=dict)
    """Turns that began and have not ended, and when they began."""

    @classmethod
    def open(
        cls, plan: RunPlan, earlier: RecordedRun | None = None, *, read_pause: float, nice: int
    ) -> RunRecord:
        """Make the run folder, or go on in that of `earlier`, and start the supervisor.

        Raises OSError, StartError, and RunIsHeld where another process runs it.
        """
        run_id = new_run_id(time.time()) if earlier is None else earlier.run_id
        folder = plan.log_dir / run_id if earlier is None else earlier.folder
        with contextlib.ExitStack() as undo:
            supervisor = Supervisor(folder)
            undo.callback(supervisor.close)
            (folder / TURNS_NAME).mkdir(parents=True, exist_ok=earlier is not None)
            _keep_out_of_git(plan.log_dir)
            lock = RunLock(folder)
            lock.acquire()
            undo.callback(lock.release)
            replace_file(folder / WORKFLOW_NAME, plan.workflow_json)
            keep_agents(plan, folder)
            journal = Journal(folder / JOURNAL_NAME)
            undo.callback(journal.close)
            overview = OverviewWriter(folder / OVERVIEW_NAME)
            undo.callback(overview.close)
            sync_folder(folder)
            sync_folder(folder.parent)
            undo.pop_all()
        # Where the user's own folder cannot be written, only the offer to resume after a crash is lost.
        with contextlib.suppress(OSError):
            mark_open(run_id, folder)

        def publish(event: Event) -> None:
            record.publish(event)

        spending = Spending(plan.budget)
        if earlier is not None:
            spending.run, spending.unpriced = earlier.usage, earlier.spent.unpriced
        services = TurnServices(
            supervisor=supervisor,
            publish=publish,
            sync=journal.sync,
            overview=overview.for_turn,
            workdir=plan.workdir,
            starts=threading.Semaphore(max(1, os.cpu_count() or 1)),
            max_prompt_bytes=plan.max_prompt_bytes,
            is_spent=lambda: spending.reached() is not None,
            read_pause=read_pause,
            nice=nice,
        )
        record = cls(plan, run_id, folder, journal, overview, services, lock, spending)
        return record

    def watch(self, listener: Callable[[Sequence[Event]], None]) -> None:
        """Begin to pass events on, in the running loop's thread."""
        self._bus = EventBus(self.journal, listener)

    def publish(self, event: Event) -> None:
        """Journal an event and pass it on. From any thread; raises JournalError."""
        assert self._bus is not None  # `watch` comes first
        if isinstance(event, UsageReported):
            self.spending.add(event.usage)
        self._bus.publish(event)
        if isinstance(event, TurnStarted):
            self._open_turns[event.turn] = event.time
        elif isinstance(event, TurnFinished):
            self._open_turns.pop(event.turn, None)

    def deliver(self) -> None:
        """Pass on what is waiting. In the loop's thread."""
        if self._bus is not None:
            self._bus.deliver()

    def note(self, text: str, kind: Kind = Kind.NOTE) -> None:
        """A line about the run as a whole in the overview."""
        self.overview.note(text, time.time(), kind)

    def turn_transcript(self, label: str) -> TurnTranscript:
        """A turn's part of the overview."""
        return self.overview.for_turn(label)

    def close_cut_off(self, earlier: RecordedRun) -> None:
        """Note the end of turns that an earlier life of the run left open: nothing stays marked running."""
        for turn in earlier.open_turns:
            update = earlier.answers.get(turn)
            if update is not None:  # its end was lost, its update was not
                self.publish(TurnFinished(time=earlier.ended, turn=turn, update=update))
                continue
            begun = earlier.progress.turns[turn].started if turn in earlier.progress.turns else None
            self.publish(_cut_off(turn, begun or earlier.ended, earlier.ended, say("It was cut off.")))

    def started_event(self, *, resumed: bool = False) -> RunStarted:
        """The first event of the journal, and of every later life of the run."""
        return RunStarted(
            time=time.time(),
            run_id=self.run_id,
            workflow=self.plan.workflow_name,
            workflow_path=str(self.plan.workflow_path) if self.plan.workflow_path else None,
            folder=str(self.folder),
            workdir=str(self.plan.workdir),
            pid=os.getpid(),
            version=own_version(),
            max_loops=self.plan.max_loops,
            resumed=resumed,
        )

    def write_failure(self, error: BaseException) -> Path | None:
        """Keep a traceback of OpenLoop's own failure for who looks into it; None where it cannot be kept."""
        path = self.folder / "openloop-error.log"
        try:
            path.write_text("".join(traceback.format_exception(error)), encoding="utf-8")
        except OSError:
            return None
        return path

    def finish(self, finished: RunFinished, state: WorkflowState) -> None:
        """End everything that is alive, write the last event, and close all files."""
        self.services.supervisor.close(grace=0.5)
        kinds = {RunStatus.COMPLETED: Kind.NOTE, RunStatus.FAILED: Kind.ERROR}
        # Where the disk refuses, the ending says so already; what can still be written is.
        with contextlib.suppress(OSError):
            self.note(finished.message, kinds.get(finished.status, Kind.WARNING))
        # A state that is no JSON (numbers beyond 64 bits) must not cost the run its end.
        with contextlib.suppress(OSError, TypeError):
            replace_file(self.folder / STATE_NAME, state.to_json())
        with contextlib.suppress(JournalError):
            for turn, begun in list(self._open_turns.items()):
                words = say("It was cut off because OpenLoop failed.")
                self.publish(_cut_off(turn, begun, finished.time, words))
        try:
            self.publish(finished)
        except JournalError:
            # Who watches still has to learn of the end.
            if self._bus is not None:
                self._bus.pass_on(finished)
        with contextlib.suppress(JournalError):
            self.journal.sync()
        with contextlib.suppress(OSError):
            self.overview.close()
        with contextlib.suppress(OSError):
            self.journal.close()
        self.lock.release()
        with contextlib.suppress(OSError):
            mark_closed(self.run_id)


def _cut_off(turn: str, begun: float, ended: float, message: str) -> TurnFinished:
    return TurnFinished(
        time=ended, turn=turn, status=TurnStatus.STOPPED, message=message, seconds=max(0.0, ended - begun)
    )


def keep_agents(plan: RunPlan, folder: Path) -> None:
    """Keep the agents' files as they are now: a run can be resumed where they are gone. Raises OSError.

    What is kept from an earlier life of the run stays. Each file has a folder of its own, so that it keeps
    its name, which may be the agent's.
    """
    kept = folder / AGENTS_NAME
    if kept.exists():
        return
    kept.mkdir()
    agents = {turn.agent.name: turn.agent for turn in plan.turns}
    for number, agent in enumerate(agents.values(), 1):
        if agent.path is None:
            continue
        home = kept / f"{number:03}"
        home.mkdir()
        # Gone since it was read: the run has it in memory, and whoever resumes is told.
        with contextlib.suppress(FileNotFoundError):
            shutil.copyfile(agent.path, home / agent.path.name)


def _keep_out_of_git(log_dir: Path) -> None:
    """Run folders inside a project are nobody's source: keep them out of its commits."""
    ignore = log_dir / ".gitignore"
    if log_dir.name == ".openloop" and not ignore.exists():
        ignore.write_text("*\n", encoding="utf-8")
