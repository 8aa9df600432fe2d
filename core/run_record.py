"""The run folder and everything that is open during a run: journal, overview, supervisor."""

from __future__ import annotations

import contextlib
import os
import threading
import time
import traceback
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from core.bus import EventBus
from core.events import Event, RunFinished, RunStarted, RunStatus
from core.journal import JOURNAL_NAME, Journal, JournalError
from core.plan import RunPlan
from core.runner import Supervisor
from core.state import WorkflowState
from core.transcript import Kind, OverviewWriter, TurnTranscript
from core.turn import TurnServices
from core.version import own_version

WORKFLOW_NAME, STATE_NAME, OVERVIEW_NAME, TURNS_NAME = "workflow.json", "state.json", "overview.log", "turns"


def new_run_id(now: float) -> str:
    """A name for a run folder that sorts by time and is never used twice."""
    return time.strftime("%Y%m%d-%H%M%S", time.localtime(now)) + f"-{uuid.uuid4().hex[:6]}"


@dataclass
class RunRecord:
    """What a run writes and starts. Blocking, but for `watch`, `publish` and `deliver`."""

    plan: RunPlan
    run_id: str
    folder: Path
    journal: Journal
    overview: OverviewWriter
    services: TurnServices
    _bus: EventBus | None = None

    @classmethod
    def open(cls, plan: RunPlan, *, read_pause: float, nice: int) -> RunRecord:
        """Make the run folder and start the supervisor. Raises OSError and StartError."""
        run_id = new_run_id(time.time())
        folder = plan.log_dir / run_id
        with contextlib.ExitStack() as undo:
            supervisor = Supervisor()
            undo.callback(supervisor.close)
            (folder / TURNS_NAME).mkdir(parents=True)
            _keep_out_of_git(plan.log_dir)
            (folder / WORKFLOW_NAME).write_bytes(plan.workflow_json)
            journal = Journal(folder / JOURNAL_NAME)
            undo.callback(journal.close)
            overview = OverviewWriter(folder / OVERVIEW_NAME)
            undo.pop_all()

        def publish(event: Event) -> None:
            record.publish(event)

        services = TurnServices(
            supervisor=supervisor,
            publish=publish,
            sync=journal.sync,
            overview=overview.for_turn,
            workdir=plan.workdir,
            starts=threading.Semaphore(max(1, os.cpu_count() or 1)),
            max_prompt_bytes=plan.max_prompt_bytes,
            read_pause=read_pause,
            nice=nice,
        )
        record = cls(plan, run_id, folder, journal, overview, services)
        return record

    def watch(self, listener: Callable[[Sequence[Event]], None]) -> None:
        """Begin to pass events on, in the running loop's thread."""
        self._bus = EventBus(self.journal, listener)

    def publish(self, event: Event) -> None:
        """Journal an event and pass it on. From any thread; raises JournalError."""
        assert self._bus is not None  # `watch` comes first
        self._bus.publish(event)

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

    def started_event(self) -> RunStarted:
        """The first event of the journal."""
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
            (self.folder / STATE_NAME).write_bytes(state.to_json())
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


def _keep_out_of_git(log_dir: Path) -> None:
    """Run folders inside a project are nobody's source: keep them out of its commits."""
    ignore = log_dir / ".gitignore"
    if log_dir.name == ".openloop" and not ignore.exists():
        ignore.write_text("*\n", encoding="utf-8")
