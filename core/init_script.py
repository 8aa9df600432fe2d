"""The workflow's `init_script`: one command that prepares the working folder before the first agent.

It is run like an agent: by the supervisor, its output straight into files, and everything it starts ends
with it.
"""

from __future__ import annotations

import os
import time
from dataclasses import dataclass, field
from pathlib import Path

from core.backends.base import NoiseSeen
from core.events import InitScriptFinished, InitScriptStarted
from core.processes import shell_command
from core.runner import FileTail, ProcessExit, ProcessSpec, StartError
from core.turn_control import STOP_GRACE, TurnControl
from core.turn_services import TurnServices
from core.words import say

LABEL = "init_script"
"""Who speaks, in the overview."""
_POLL = 0.05
_CHUNK = 64 * 1024


@dataclass
class InitScript:
    """One run of it. `folder` is made for its output; `timeout` in seconds, 0: no limit.

    Call `run` once, from a worker thread; `control` ends it from any other.
    """

    command: str
    folder: Path
    timeout: float
    services: TurnServices
    control: TurnControl = field(default_factory=TurnControl)

    def run(self) -> str:
        """Run it to its end. Gives what went wrong, for a user; empty when nothing did.

        Raises OSError, SupervisorLost, JournalError.
        """
        self.folder.mkdir(parents=True, exist_ok=True)
        begun = time.time()
        try:
            ending, timed_out = self._run()
        except StartError as error:
            return str(error)
        problem = self._problem(ending, timed_out)
        self.services.publish(
            InitScriptFinished(
                time=time.time(), exit_code=ending.exit_code, seconds=time.time() - begun, problem=problem
            )
        )
        self.services.sync()
        return problem

    def _run(self) -> tuple[ProcessExit, bool]:
        spec = ProcessSpec(
            argv=shell_command(self.command),
            cwd=self.services.workdir,
            env={**os.environ, "PYTHONUTF8": "1", "PWD": str(self.services.workdir)},
            stdin=Path(os.devnull),
            stdout=self.folder / "stdout.log",
            stderr=self.folder / "stderr.log",
            mark=LABEL,
            nice=self.services.nice,
        )
        process = self.services.supervisor.launch(spec)
        self.control.hold(process)
        overview = self.services.overview(LABEL)
        timed_out = False
        try:
            self.services.publish(
                InitScriptStarted(
                    time=time.time(), command=self.command, pid=process.pid, pid_started=process.pid_started
                )
            )
            deadline = time.monotonic() + self.timeout if self.timeout else None
            with FileTail(spec.stdout) as out, FileTail(spec.stderr) as err:
                ending: ProcessExit | None = None
                while True:
                    ended, ending = ending, process.wait(0 if ending is not None else _POLL)
                    read = [data for data in (out.read(_CHUNK), err.read(_CHUNK)) if data]
                    for data in read:
                        overview.event(NoiseSeen(data), time.time())
                    if ended is not None and not read:
                        return ended, timed_out
                    if deadline is not None and not timed_out and time.monotonic() > deadline:
                        timed_out = True
                        process.request_stop(STOP_GRACE)
        except BaseException:
            process.stop(STOP_GRACE)
            raise
        finally:
            self.control.hold(None)
            overview.close()

    def _problem(self, ending: ProcessExit, timed_out: bool) -> str:
        log = say("What it printed is in {folder}.", folder=self.folder)
        if self.control.cause is not None and ending.killed_by_us:
            return say("The init_script was stopped.")
        if timed_out:
            return say(
                "The init_script was ended: it may take {seconds:g} s (agent_timeout), and they were "
                "over. {log}",
                seconds=self.timeout,
                log=log,
            )
        if ending.exit_code is None:
            return say(
                "The init_script was ended from outside (signal {signal}). {log}",
                signal=ending.signal,
                log=log,
            )
        if ending.exit_code != 0:
            return say(
                "The init_script ended with exit code {exit_code}, so no agent was started. {log}",
                exit_code=ending.exit_code,
                log=log,
            )
        return ""
