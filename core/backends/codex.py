"""Codex CLI: `codex exec --json`, the prompt on standard input.

The user's own configuration and login stay in force. Commands run in Codex's sandbox, which may write below
the working directory (`--sandbox=workspace-write`); an agent's `extra_args` may say otherwise. Nothing is
ever asked. Codex tells no cost, and its usage is the sum over the whole thread. Shapes: version 0.171.0.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import orjson

from core.backends.base import (
    Command,
    ErrorReported,
    Failure,
    NoiseSeen,
    OutputEvent,
    OutputTellsAll,
    ReasoningSaid,
    SessionOpened,
    StepFinished,
    StepStarted,
    TextSaid,
    ToolUsed,
    TurnOrder,
    Verdict,
)
from core.backends.ended_from_outside import ended_from_outside
from core.backends.installed_cli import (
    InstalledCli,
    count_of,
    extra_arguments,
    names_flag,
    object_of,
    one_line,
    plain_stderr,
    status_of,
    text_of,
)
from core.backends.logins import codex_login, examine_cli
from core.backends.ndjson import JsonLines, LineItem, LongLine
from core.backends.provider_loss import failure_of
from core.backends.session_totals import SessionTotals
from core.health import Finding
from core.json_types import JsonObject, JsonValue
from core.problems import Problem
from core.usage import Usage
from core.words import say

CLI = InstalledCli(
    title="Codex",
    program="codex",
    variable="OPENLOOP_CODEX",
    install="npm install -g @openai/codex",
    login=lambda: say("Log in with `codex login`, or correct the provider's key."),
    claimed=frozenset(
        {
            *("--json", "--color", "-C", "--cd", "--ephemeral", "--worktree", "-o", "--output-last-message"),
            *("--last", "--all", "--remote"),
        }
    ),
)
_SHELL = re.compile(r"\S*/(?:ba|z|da)?sh -l?c (?P<quote>['\"]?)(?P<command>.*)(?P=quote)", re.DOTALL)
_STATUS = re.compile(r"status:? (\d{3})\b")
_RECONNECTING = "Reconnecting..."
_TRUNCATED = "max_output_tokens"
_START_RACE = ("database is locked", "failed to initialize state")


class CodexReader:
    """The output of one attempt. One step is all that Codex does for a prompt: it tells no requests."""

    def __init__(self, model: str | None = None, totals: SessionTotals | None = None) -> None:
        self._lines = JsonLines()
        self._model = model
        self._totals = totals or SessionTotals()
        self._thread = ""
        self._text = ""
        self._cut = False
        self._completed = False
        self._printed = False
        self._error = ""

    @property
    def runaway(self) -> Failure | None:
        """Codex's retries are counted, so it ends by itself."""
        return None

    def feed(self, data: bytes) -> Sequence[OutputEvent]:
        """What these next bytes of stdout say."""
        self._printed = self._printed or bool(data)
        return self._take(self._lines.feed(data))

    def finish(self) -> Sequence[OutputEvent]:
        """What a last line without newline says."""
        return self._take(self._lines.finish())

    def _take(self, items: list[LineItem]) -> list[OutputEvent]:
        events: list[OutputEvent] = []
        for item in items:
            if isinstance(item, LongLine):
                self._text, self._cut = "", True
            event = item if isinstance(item, NoiseSeen) else self._line(item)
            if event is not None:
                events.append(event)
        return events

    def _line(self, line: JsonObject) -> OutputEvent | None:
        match line.get("type"):
            case "thread.started":
                self._thread = text_of(line.get("thread_id"))
                return SessionOpened(self._thread) if self._thread else None
            case "turn.started":
                return StepStarted(self._model or "")
            case "item.completed":
                return self._item(object_of(line.get("item")))
            case "turn.completed":
                self._completed = True
                usage = self._totals.new_usage(self._thread, _usage(object_of(line.get("usage"))))
                return StepFinished("completed", usage)
            case "turn.failed":
                self._error = text_of(object_of(line.get("error")).get("message")) or self._error
                return None
            case "error":
                return self._error_line(text_of(line.get("message")))
        return None

    def _item(self, item: JsonObject) -> OutputEvent | None:
        match item.get("type"):
            case "agent_message":
                self._text, self._cut = text_of(item.get("text")), False
                return TextSaid(self._text)
            case "reasoning" | "plan":
                return ReasoningSaid(text_of(item.get("text")))
            case "error":
                return ErrorReported(text_of(item.get("message")))
            case kind if isinstance(kind, str):
                self._text = ""
                return _TOOLS.get(kind, _other_tool)(item)
        return None

    def _error_line(self, message: str) -> ErrorReported | None:
        if message.startswith(_RECONNECTING):
            return ErrorReported(
                say("Codex lost its provider and asks again. {message}", message=message), transient=True
            )
        if message == self._error:
            return None
        self._error = message
        return None if _TRUNCATED in message else self._reported(message)

    def _reported(self, message: str) -> ErrorReported:
        said = _inner_message(message)
        status = _STATUS.search(said)
        code = int(status[1]) if status else 400 if message.startswith("{") else None
        error = CLI.provider_error(code, said, self._model)
        return replace(error, detail=message)

    # --- how it ended --------------------------------------------------------------------------------

    def judge(self, exit_code: int | None, signal: int | None, stderr_tail: str) -> Verdict:
        """By the last event of the turn; without one by exit code and standard error."""
        if self._completed and exit_code == 0:
            return Verdict(self._text, CLI.notice_failure(self._text), truncated=self._cut)
        if _TRUNCATED in self._error:
            return Verdict(self._text, truncated=True)
        return Verdict(self._text, self._failure(exit_code, signal, plain_stderr(stderr_tail)))

    def _failure(self, exit_code: int | None, signal: int | None, stderr: str) -> Failure:
        if exit_code is None:
            return ended_from_outside(CLI.title, signal, stderr)
        if self._error:
            return failure_of(self._reported(self._error))
        if exit_code and not self._printed and any(words in stderr for words in _START_RACE):
            return Failure(
                say("Codex could not open its database while others started. It had not begun to work."),
                stderr,
                transient=True,
                before_work=True,
            )
        if "no rollout found" in stderr:
            return Failure(say("Codex no longer knows the session that was to be continued."), stderr)
        return CLI.ended_with_code(exit_code, stderr) if exit_code else CLI.lost_end(stderr)


def _inner_message(message: str) -> str:
    """The sentence in a message; a provider's refusal comes as the JSON text of its whole answer."""
    if not message.startswith("{"):
        return message
    try:
        value: JsonValue = orjson.loads(message)
    except orjson.JSONDecodeError:
        return message
    while isinstance(value, dict):
        value = value.get("error") or value.get("message") or value.get("detail")
    return value if isinstance(value, str) and value else message


def _usage(told: JsonObject) -> Usage:
    """Codex counts cached tokens as input, too, and reasoning as output, too."""
    cached, written = (
        count_of(told.get("cached_input_tokens")),
        count_of(told.get("cache_write_input_tokens")),
    )
    reasoning = count_of(told.get("reasoning_output_tokens"))
    return Usage(
        max(0, count_of(told.get("input_tokens")) - cached - written),
        max(0, count_of(told.get("output_tokens")) - reasoning),
        reasoning,
        cached,
        written,
    )


# --- tools --------------------------------------------------------------------------------------------


def _command(item: JsonObject) -> ToolUsed:
    command = text_of(item.get("command"))
    shell = _SHELL.fullmatch(command)
    code = status_of(item.get("exit_code"))
    failed = item.get("status") != "completed" or bool(code)
    output = text_of(item.get("aggregated_output"))
    if item.get("status") == "declined":
        output = output or say("The command was declined.")
    return ToolUsed("shell", one_line(shell["command"] if shell else command), output, failed, exit_code=code)


def _file_change(item: JsonObject) -> ToolUsed:
    told = item.get("changes")
    changes = [object_of(change) for change in told] if isinstance(told, list) else []
    paths = [text_of(change.get("path")) for change in changes]
    lines = [f"{text_of(change.get('kind'))} {text_of(change.get('path'))}" for change in changes]
    failed = item.get("status") != "completed"
    edited = () if failed else tuple(paths)
    return ToolUsed("edit", one_line(", ".join(paths)), "\n".join(lines), failed, edited=edited)


def _mcp_call(item: JsonObject) -> ToolUsed:
    content = object_of(item.get("result")).get("content")
    blocks = [object_of(block) for block in content] if isinstance(content, list) else []
    error = text_of(object_of(item.get("error")).get("message"))
    output = error or "\n".join(text_of(block.get("text")) or say("[no text]") for block in blocks)
    arguments = one_line(orjson.dumps(item.get("arguments")).decode()) if item.get("arguments") else ""
    name = f"{text_of(item.get('server'))}.{text_of(item.get('tool'))}"
    return ToolUsed(name, arguments, output, item.get("status") != "completed")


def _todo_list(item: JsonObject) -> ToolUsed:
    told = item.get("items")
    entries = [object_of(entry) for entry in told] if isinstance(told, list) else []
    done = sum(entry.get("completed") is True for entry in entries)
    lines = [f"[{'x' if entry.get('completed') else ' '}] {text_of(entry.get('text'))}" for entry in entries]
    return ToolUsed("todo", say("{done} of {count} done", done=done, count=len(entries)), "\n".join(lines))


def _other_tool(item: JsonObject) -> ToolUsed:
    """A kind of item that has no form of its own here: what is known about it, as JSON."""
    name = text_of(item.get("tool")) or text_of(item.get("type"))
    shown = {key: value for key, value in item.items() if key not in ("id", "type") and value is not None}
    title = text_of(item.get("query")) or text_of(item.get("prompt"))
    output = orjson.dumps(shown, option=orjson.OPT_INDENT_2).decode()
    return ToolUsed(name, one_line(title), output, item.get("status") == "failed")


_TOOLS: dict[str, Callable[[JsonObject], ToolUsed]] = {
    "command_execution": _command,
    "file_change": _file_change,
    "mcp_tool_call": _mcp_call,
    "todo_list": _todo_list,
}


class CodexBackend(OutputTellsAll):
    """Runs agents with `codex exec`."""

    name = "codex"
    start_cost = False

    def __init__(self) -> None:
        self._totals = SessionTotals()

    def examine(self, workdir: Path) -> list[Finding]:
        """Whether Codex is there and answers, its version, its login."""
        return examine_cli(CLI, codex_login, workdir)

    def check(self, orders: Sequence[TurnOrder]) -> list[Problem]:
        """Whether Codex is there, and whether the agents' `extra_args` can be used."""
        return CLI.check(orders)

    def command(self, order: TurnOrder) -> Command:
        """`codex exec` with the prompt on standard input. Raises FileNotFoundError."""
        extra = extra_arguments(order.agent)
        argv = [CLI.find(order.workdir), "exec", "--json", "--color=never", "--skip-git-repo-check"]
        argv.append(f"--cd={order.workdir}")
        if not names_flag(
            extra, "-s", "--sandbox", "--dangerously-bypass-approvals-and-sandbox", "--approve-for-me"
        ):
            argv.append("--sandbox=workspace-write")
        if order.model:
            argv.append(f"--model={order.model}")
        if order.agent.variant:
            argv += ["-c", f"model_reasoning_effort={order.agent.variant}"]
        argv += extra
        if order.session is not None:
            argv += ["resume", order.session]
        return Command((*argv, "-"))

    def reader(self, order: TurnOrder) -> CodexReader:
        """A new reader for one attempt."""
        return CodexReader(order.model, self._totals)
