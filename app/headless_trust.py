"""Commands that files bring, without a window: shown, asked about where a person can answer, else refused."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TextIO

from app.headless_text import one_line
from core.preparing import PreparedRun
from core.problems import Problem
from core.trust import BroughtCommand, commands_text
from core.trust_store import TrustStore


def may_run(prepared: PreparedRun, *, trust: bool, workflow: str) -> bool:
    """Whether the commands that the run's files bring may run; when not, it was said why.

    `trust`: the user says so on the command line; it is remembered. `workflow`: which one, for whoever reads
    the file of what was allowed. Asks where standard input and output are a terminal. Nothing was started
    before, and the caller starts nothing after False and ends with 2.
    """
    store = TrustStore()
    # What the user says today on the command line needs no question when the run is resumed tomorrow.
    if prepared.own_commands:
        _warn(store.remember(prepared.own_commands, "your own words"))
    found = store.judge(prepared.commands)
    _warn(found.warnings)
    if not found.unknown:
        return True
    if not trust:
        may_ask = _is_terminal(sys.stdin) and _is_terminal(sys.stdout)
        # Where the person sees it, also when standard error goes into a file.
        out = sys.stdout if may_ask and not _is_terminal(sys.stderr) else sys.stderr
        sys.stdout.flush()
        _show(found.unknown, out)
        if not may_ask:
            sys.stderr.write(
                "Nothing was started. Read these commands; to run them, and to be asked again only when they "
                "change, give --trust.\n"
            )
            return False
        if not _asked(out):
            sys.stderr.write("Nothing was started.\n")
            return False
        if store.changed(found.unknown):
            sys.stderr.write("They changed while you were asked. Nothing was started; look again.\n")
            return False
    _warn(store.remember(found.unknown, prepared.plan.workflow_path or workflow))
    return True


def _show(commands: Sequence[BroughtCommand], out: TextIO) -> None:
    count = len(commands)
    what = "a command" if count == 1 else f"{count} commands"
    text = f"This run brings {what} that you have not allowed before:\n\n{commands_text(commands)}\n"
    # What the terminal cannot write is told by its number, never left out.
    encoding = out.encoding or "utf-8"
    out.write(text.encode(encoding, "backslashreplace").decode(encoding))
    out.flush()


def _asked(out: TextIO) -> bool:
    out.write("This runs with all of your rights. Run it? [y/N] ")
    out.flush()
    answer = sys.stdin.readline()
    if not answer.endswith("\n"):
        out.write("\n")
    return answer.strip().lower() in ("y", "yes")


def _is_terminal(stream: TextIO) -> bool:
    return not stream.closed and stream.isatty()


def _warn(problems: Sequence[Problem]) -> None:
    for problem in problems:
        sys.stderr.write(f"warning: {one_line(problem.text())}\n")
