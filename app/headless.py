"""A run without a window: the same engine on a plain asyncio loop with a pool of threads."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Protocol

from app.headless_text import one_line
from core.backends.registry import backend, backend_names
from core.check import check_path
from core.engine import Engine, RunRefused
from core.events import Event, RunFinished, RunStatus, StopKind
from core.executor import ThreadExecutor
from core.plan import RunPlan
from core.planning import RunOverrides
from core.preparing import prepare_run
from core.problems import Problem, Severity, UserFileError
from core.workflow_file import load_workflow

SPARE_THREADS = 4
"""Beside one for each agent: for state, merge and folders."""


class Display(Protocol):
    """Shows a run while it goes on."""

    def show(self, events: Sequence[Event]) -> None:
        """Take in what happened."""

    def close(self) -> None:
        """The run is over."""


def run_headless(
    path: Path,
    overrides: RunOverrides | None = None,
    *,
    given: Mapping[str, str] | None = None,
    trust: bool = False,
    as_json: bool = False,
) -> int:
    """Run a workflow file and show it on the terminal. Gives the exit code (app.cli, EXIT_*).

    `given`: settings of the command line, by key. `trust`: commands that the files bring along may run.
    """
    overrides = overrides or RunOverrides()
    try:
        file = load_workflow(path)
        prepared = prepare_run(
            file, overrides, environ=os.environ, given=given, known_backends=backend_names()
        )
    except UserFileError as error:
        # The first thing that is wrong was enough to give up; the user wants to know all of them.
        known = check_path(path, backend_names(), overrides.workdir)
        errors_known = any(problem.severity is Severity.ERROR for problem in known)
        return _refuse(known if errors_known else [*known, *error.problems])
    for warning in (*file.warnings, *prepared.warnings):
        sys.stderr.write(f"warning: {one_line(warning.text())}\n")
    plan = prepared.plan
    if plan.on_missing_state == "ask":
        # Nobody is there to be asked.
        plan = replace(plan, on_missing_state="abort")
    display = _display(plan, as_json)
    try:
        return asyncio.run(_run(plan, display))
    except RunRefused as refusal:
        return _refuse(refusal.problems)


def _display(plan: RunPlan, as_json: bool) -> Display:
    if as_json:
        from app.headless_display import JsonLines

        return JsonLines(sys.stdout.buffer)
    if sys.stdout.isatty():
        from app.headless_terminal import TerminalDisplay

        return TerminalDisplay(plan)
    from app.headless_display import PlainLines

    return PlainLines(sys.stdout)


def _refuse(problems: Sequence[Problem]) -> int:
    for problem in problems:
        sys.stderr.write(f"{problem.severity.value}: {one_line(problem.text())}\n")
    sys.stderr.write("Nothing was started.\n")
    return 2


async def _run(plan: RunPlan, display: Display) -> int:
    executor = ThreadExecutor(plan.most_at_once + SPARE_THREADS)
    engine = Engine(plan, executor, backend, display.show)
    interrupted = False

    def interrupt() -> None:
        nonlocal interrupted
        interrupted = True
        engine.stop(StopKind.NOW)

    restore = _on_interrupt(interrupt)
    try:
        finished = await engine.run()
    finally:
        restore(interrupted)
        executor.close()
        display.close()
    return _exit_code(finished, interrupted)


def _exit_code(finished: RunFinished, interrupted: bool) -> int:
    if finished.status is RunStatus.COMPLETED:
        return 0
    return 130 if interrupted else 1


def _on_interrupt(interrupt: Callable[[], None]) -> Callable[[bool], None]:
    """Have Ctrl+C and a polite kill end the run in order; gives what takes that back at the end."""
    loop = asyncio.get_running_loop()
    signals = [signal.SIGINT, signal.SIGTERM]
    if hasattr(signal, "SIGHUP"):
        signals.append(signal.SIGHUP)
    # What was ignored at our start, by `nohup` or `&`, is ignored on purpose.
    before = {
        number: handler for number in signals if (handler := signal.getsignal(number)) != signal.SIG_IGN
    }
    for number in before:
        signal.signal(number, lambda *_: loop.call_soon_threadsafe(interrupt))

    def restore(interrupted: bool) -> None:
        for number, handler in before.items():
            # Whoever interrupted once and was heard may press again before we are gone.
            signal.signal(number, signal.SIG_IGN if interrupted else handler)

    return restore
