"""The opencode CLI: one `opencode run` for each attempt, headless, with nothing left to ask.

The user's own configuration, login and plugins stay in force; what is added here only keeps a run without a
person in front of it from waiting, publishing or updating itself.
"""

from __future__ import annotations

import contextlib
import os
import re
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import orjson

from core.backends.base import Command, Failure, OutputEvent, OutputReader, StepFinished, TurnOrder
from core.backends.opencode_checks import check_orders
from core.backends.opencode_errors import failure_told
from core.backends.opencode_health import examine_opencode
from core.backends.opencode_log import last_error, log_file
from core.backends.opencode_reader import OpencodeReader
from core.backends.opencode_session import answer_lines, database, subagents_usage
from core.backends.provider_loss import shortened
from core.backends.session_totals import SessionTotals
from core.health import Finding
from core.json_types import JsonObject
from core.jsonc import parse_jsonc
from core.problems import Problem, UserFileError
from core.processes import ProgramNotFound, find_program
from core.words import say

PROGRAM_VARIABLE = "OPENLOOP_OPENCODE"
"""Environment variable with the path of opencode, for one that is not in PATH."""

_CONFIG: JsonObject = {
    "autoupdate": False,
    "share": "disabled",
    # Snapshots cost seconds of CPU a run and fail when several runs share a repository.
    "snapshot": False,
    # What the user's configuration says to ask about is refused, and the agent is told so and goes on;
    # without this opencode ends there, with exit code 0.
    "experimental": {"continue_loop_on_deny": True},
}
_PERMISSION: JsonObject = {
    "external_directory": "deny",
    "doom_loop": "deny",
    "question": "deny",
    # The star makes these rules of their own, behind the user's: as `read` they would replace a user's
    # `"read": "deny"` and so allow what was denied.
    "read*": {"*.env": "deny", "*.env.*": "deny", "*.env.example": "allow"},
}
_STRICT_FLAGS = (
    "OPENCODE_DISABLE_LSP_DOWNLOAD",
    "OPENCODE_DISABLE_DEFAULT_PLUGINS",
    "OPENCODE_DISABLE_CLAUDE_CODE",
)
"""Variables that make opencode end at once when they are set to nothing."""
_MOST_TURNS = 10_000
"""Turns whose last start is remembered."""
_ODD_IN_TITLE = re.compile(r"[^\w .,:;/()#+-]+")


class OpencodeBackend:
    """Runs agents with `opencode run`."""

    name = "opencode"
    start_cost = True

    def __init__(self) -> None:
        # When the last attempt of each turn began: older lines of the log are of earlier ones.
        self._begun: dict[Path, float] = {}
        self._lock = threading.Lock()
        self._totals = SessionTotals()

    def examine(self, workdir: Path) -> list[Finding]:
        """Whether opencode is there and answers, its version, its logins."""
        return examine_opencode(find_opencode, workdir)

    def check(self, orders: Sequence[TurnOrder]) -> list[Problem]:
        """Whether opencode is there and knows the agents and models these turns name."""
        if not orders:
            return []
        try:
            program = find_opencode(orders[0].workdir)
        except FileNotFoundError as error:
            return [
                Problem(
                    str(error),
                    suggestion=say(
                        "Install it with `{command}`, or choose another backend.",
                        command="npm install -g opencode-ai",
                    ),
                )
            ]
        return check_orders(program, orders)

    def silence_reason(self, order: TurnOrder) -> str:
        """The error in opencode's log after which it asks the provider again by itself."""
        error = self._last_error(order)
        return error and say(
            'The provider refused, and opencode waits to ask again: "{error}"', error=shortened(error)
        )

    def hidden_failure(self, order: TurnOrder) -> Failure | None:
        """A used-up limit: opencode waits for it to reset, for hours and without a word."""
        return failure_told(self._last_error(order), order.model or order.defaults.model)

    def _begin(self, turn_folder: Path) -> None:
        with self._lock:
            self._begun.pop(turn_folder, None)
            self._begun[turn_folder] = time.time()
            if len(self._begun) > _MOST_TURNS:
                del self._begun[next(iter(self._begun))]

    def _last_error(self, order: TurnOrder) -> str:
        since = self._begun.get(order.turn_folder, 0.0)
        title = _plain_title(order.title)
        return last_error(log_file(os.environ), order.session, title, order.workdir, since)

    def untold_output(self, order: TurnOrder, reader: OutputReader) -> Sequence[OutputEvent]:
        """The end of an answer whose last events were not printed, and what subagents used."""
        if order.session is None or not isinstance(reader, OpencodeReader):
            return ()
        events: list[OutputEvent] = []
        if reader.end_is_lost:
            environment = headless_environment(order.workdir, os.environ)
            # Where opencode itself is gone by now, what was printed has to do.
            with contextlib.suppress(FileNotFoundError):
                program = find_opencode(order.workdir)
                events += reader.recover(answer_lines(program, order.session, order.workdir, environment))
        for child, total in subagents_usage(database(os.environ), order.session).items():
            usage = self._totals.new_usage(child, total)
            if usage.total_tokens:
                events.append(StepFinished("subagent", usage))
        return events

    def command(self, order: TurnOrder) -> Command:
        """`opencode run` with the prompt on standard input. Raises FileNotFoundError."""
        self._begin(order.turn_folder)
        defaults = order.defaults
        argv = [find_opencode(order.workdir), "run", "--format", "json", "--thinking"]
        # `--title` also saves the request that would make one up. With `=`, a value may begin with a dash.
        argv += [f"--title={_plain_title(order.title)}", f"--dir={order.workdir}"]
        if order.session is not None:
            argv.append(f"--session={order.session}")
        model = order.model or defaults.model
        variant = order.agent.variant or defaults.variant
        for flag, value in (
            ("model", model),
            ("agent", defaults.agent),
            ("variant", variant),
            ("log-level", defaults.log_level),
        ):
            if value:
                argv.append(f"--{flag}={value}")
        if defaults.pure:
            argv.append("--pure")
        # Each start unpacks a library of 5 MB into Bun's temporary folder and leaves it there (measured with
        # 1.18.33): a night of runs would fill the disk.
        scratch = order.turn_folder / "scratch"
        environment = {**headless_environment(order.workdir, os.environ), "BUN_TMPDIR": str(scratch)}
        return Command((*argv, *defaults.extra_args), environment, scratch)

    def reader(self, order: TurnOrder) -> OpencodeReader:
        """A new reader for one attempt."""
        return OpencodeReader(order.model or order.defaults.model, order.workdir)


def find_opencode(workdir: Path) -> str:
    """The opencode to start: the one that OPENLOOP_OPENCODE names, else the one in PATH.

    Where a desktop gives programs a short PATH, the folder of opencode's own installer is looked at as well.
    Raises FileNotFoundError with words for a user.
    """
    named = os.environ.get(PROGRAM_VARIABLE)
    installer = Path.home() / ".opencode" / "bin"
    path = os.pathsep.join(part for part in (os.environ.get("PATH"), str(installer)) if part)
    try:
        return _behind_shim(find_program(named or "opencode", path, workdir))
    except ProgramNotFound:
        if named:
            raise FileNotFoundError(
                say(
                    "{variable} names {file}, but no program can be run there.",
                    variable=PROGRAM_VARIABLE,
                    file=named,
                )
            ) from None
        raise FileNotFoundError(say("opencode is not installed, or not in PATH.")) from None


def _behind_shim(program: str) -> str:
    """The program that npm's `.cmd` shim starts: a shim goes through a shell, which reads arguments again."""
    shim = Path(program)
    if shim.suffix.lower() in (".cmd", ".bat"):
        behind = shim.parent / "node_modules" / "opencode-ai" / "bin" / "opencode.exe"
        if behind.is_file():
            return str(behind)
    return program


def headless_environment(workdir: Path, environment: Mapping[str, str]) -> dict[str, str]:
    """The variables that make opencode work without a person. `environment`: what it gets besides.

    Configuration that the user gives in variables is kept; its permissions win over the ones here.
    """
    added = {
        # opencode takes its directory from PWD, not from the process.
        "PWD": str(workdir),
        "OPENCODE_DISABLE_AUTOUPDATE": "1",
        "OPENCODE_CONFIG_CONTENT": _merged_json(environment.get("OPENCODE_CONFIG_CONTENT"), under=_CONFIG),
        "OPENCODE_PERMISSION": _merged_json(environment.get("OPENCODE_PERMISSION"), over=_PERMISSION),
    }
    for name in _STRICT_FLAGS:
        if environment.get(name) == "":
            added[name] = "false"
    return added


def _merged_json(
    given: str | None, *, over: JsonObject | None = None, under: JsonObject | None = None
) -> str:
    """The user's JSON text with ours put in: `under` wins over the user's keys, `over` gives way to them."""
    try:
        value = parse_jsonc(given).value if given else {}
    except UserFileError:
        # Left as it is: opencode says itself what is wrong with it.
        return given or ""
    if not isinstance(value, dict):
        return given or ""
    merged = _merge_deep(_merge_deep(over or {}, value), under or {})
    return orjson.dumps(merged).decode()


def _merge_deep(base: JsonObject, top: JsonObject) -> JsonObject:
    merged = dict(base)
    for key, value in top.items():
        old = merged.get(key)
        merged[key] = _merge_deep(old, value) if isinstance(old, dict) and isinstance(value, dict) else value
    return merged


def _plain_title(title: str) -> str:
    """A title without characters that a Windows shim's shell would read; opencode only shows it."""
    return " ".join(_ODD_IN_TITLE.sub(" ", title).split()) or "OpenLoop"
