"""A run without a window: the same engine on a plain asyncio loop with a pool of threads."""

from __future__ import annotations

import asyncio
import os
import shlex
import signal
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

from app.headless_text import one_line
from app.headless_trust import may_run
from core.backends.registry import backend, backend_names
from core.check import check_path
from core.engine import Engine, RunRefused
from core.events import Event, RunFinished, RunStatus, StopKind
from core.executor import ThreadExecutor
from core.open_runs import cut_off_runs
from core.orphans import find_orphans, orphan_words
from core.plan import RunPlan
from core.planning import RunOverrides
from core.preparing import PreparedRun, prepare_run
from core.problems import Problem, Severity, UserFileError
from core.progress_words import with_keys
from core.recorded_run import RecordedRun
from core.workflow_file import load_workflow

SPARE_THREADS = 4
"""Beside one for each agent: for state, merge and folders."""


class Display(Protocol):
    """Shows a run while it goes on."""

    def recall(self, events: Sequence[Event]) -> None:
        """Take in what happened before the run was resumed; that was shown then."""

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
        return refuse(known if errors_known else [*known, *error.problems])
    warn((*file.warnings, *prepared.warnings))
    _tell_orphans()
    return go(prepared, None, trust=trust, as_json=as_json)


def _tell_orphans() -> None:
    """Say what is alive of runs that were cut off: it may be changing the files that this run works on."""
    for folder in cut_off_runs():
        orphans = find_orphans(folder)
        for line in orphan_words(orphans).splitlines()[:-1]:
            sys.stderr.write(f"{one_line(line)}\n")
        if orphans:
            sys.stderr.write(f"  To end it: openloop resume --end-orphans {one_line(quoted(folder))}\n")


def quoted(folder: Path) -> str:
    """A folder as it is typed in a shell."""
    return shlex.quote(str(folder)) if sys.platform != "win32" else f'"{folder}"'


def go(prepared: PreparedRun, recorded: RecordedRun | None, *, trust: bool, as_json: bool) -> int:
    """Run what was prepared, to its end, if its commands are allowed. Gives the exit code."""
    if not may_run(prepared, trust=trust, workflow=prepared.plan.workflow_name):
        return 2
    # Nobody is there to be asked, or to press Resume.
    plan = replace(
        prepared.plan,
        on_missing_state="abort"
        if prepared.plan.on_missing_state == "ask"
        else prepared.plan.on_missing_state,
        pause_on_provider_failure=False,
    )
    display = _display(plan, as_json)
    try:
        ended = asyncio.run(_run(plan, display, recorded))
    except RunRefused as refusal:
        return refuse(refusal.problems)
    if ended.finished.status is not RunStatus.COMPLETED and not as_json and ended.folder.is_dir():
        sys.stderr.write(f"{one_line(resume_words(ended.folder, ended.finished))}\n")
    return _exit_code(ended.finished, ended.interrupted)


@dataclass(frozen=True, slots=True)
class _Ended:
    finished: RunFinished
    folder: Path
    interrupted: bool


def warn(warnings: Sequence[Problem]) -> None:
    """Say what is odd."""
    for warning in warnings:
        sys.stderr.write(f"warning: {one_line(warning.text())}\n")


def _display(plan: RunPlan, as_json: bool) -> Display:
    if as_json:
        from app.headless_display import JsonLines

        return JsonLines(sys.stdout.buffer)
    if sys.stdout.isatty():
        from app.headless_terminal import TerminalDisplay

        return TerminalDisplay(plan)
    from app.headless_display import PlainLines

    return PlainLines(sys.stdout)


_OPTIONS = {
    "max_loops": "--max-loops",
    "max_cost_usd": "--max-cost",
    "max_cost_usd_per_group": "--max-cost-per-group",
    "max_tokens": "--max-tokens",
}
"""What a limit of a run is set with."""


def refuse(problems: Sequence[Problem]) -> int:
    """Say why nothing was started. Gives the exit code."""
    for problem in problems:
        sys.stderr.write(f"{problem.severity.value}: {one_line(with_keys(problem.text(), _OPTIONS))}\n")
    sys.stderr.write("Nothing was started.\n")
    return 2


async def _run(plan: RunPlan, display: Display, recorded: RecordedRun | None) -> _Ended:
    executor = ThreadExecutor(plan.most_at_once + SPARE_THREADS)
    if recorded is not None:
        display.recall(recorded.events)
    engine = Engine(plan, executor, backend, display.show, recorded=recorded)
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
    assert engine.folder is not None  # it ran
    return _Ended(finished, engine.folder, interrupted)


def resume_words(folder: Path, finished: RunFinished) -> str:
    """How the run can go on: what to type."""
    kind, _, what = finished.termination_reason.partition(":")
    option = {
        "max_loops_reached": f" {_OPTIONS['max_loops']} N",
        "budget_exceeded": f" {_OPTIONS[what]} {'N' if what == 'max_tokens' else 'USD'}"
        if what in _OPTIONS
        else "",
        "merge_conflict": f" --merge {what}=RULE",
        "timeout": " --agent-timeout S",
        "group_timeout": " --group-timeout S",
    }.get(kind, "")
    return f"What is finished is kept. To go on: openloop resume{option} {quoted(folder)}"


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
