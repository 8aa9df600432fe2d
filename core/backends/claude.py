"""Claude Code: `claude -p` with JSON lines, the prompt on standard input.

The user's own settings, login and permissions stay in force. Files may be edited (`--permission-mode
acceptEdits`); commands run as the user's settings allow, everything else is denied and the agent goes on. An
agent's `extra_args` may say otherwise. Shapes: version 2.1.197.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from core.backends.answer_text import AnswerText
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
    tool_title,
)
from core.backends.logins import claude_login, examine_cli
from core.backends.ndjson import JsonLines, LineItem, LongLine, keep_newest
from core.backends.provider_loss import Lost, ProviderLoss, at_moment, failure_of
from core.health import Finding
from core.json_types import JsonObject, JsonValue
from core.problems import Problem
from core.usage import Usage
from core.words import say

CLI = InstalledCli(
    title="Claude Code",
    program="claude",
    variable="OPENLOOP_CLAUDE",
    install="npm install -g @anthropic-ai/claude-code",
    login=lambda: say("Log in with `claude auth login`, or correct ANTHROPIC_API_KEY."),
    claimed=frozenset(
        {
            *(
                "-p",
                "--print",
                "--output-format",
                "--input-format",
                "--verbose",
                "--include-partial-messages",
            ),
            *("-r", "--resume", "-c", "--continue", "--session-id", "--fork-session", "--from-pr"),
            *("--no-session-persistence", "--bg", "--background", "-n", "--name"),
        }
    ),
)
_MADE_UP = "<synthetic>"
"""The model of messages in which Claude Code itself speaks, such as the text of an error."""
_TITLE_KEYS = (
    "command",
    "file_path",
    "notebook_path",
    "pattern",
    "path",
    "url",
    "query",
    "description",
    "skill",
)
_EDITORS = ("Edit", "Write", "MultiEdit", "NotebookEdit")
"""Tools that change the file that their input names."""
_EXIT_CODE = re.compile(r"Exit code (\d+)\b")


def _ending_words(kind: str) -> str:
    """What an ending by a limit of its own means; empty: it is another one."""
    match kind:
        case "error_max_turns":
            return say("The agent used up the requests that --max-turns allows.")
        case "error_max_budget_usd":
            return say("The agent used up the money that --max-budget-usd allows.")
        case "error_max_structured_output_retries":
            return say("The agent's answer did not fit the schema of --json-schema.")
        case _:
            return ""


_KINDS_OF_ERROR = {
    "authentication_failed": 401,
    "billing_error": 402,
    "oauth_org_not_allowed": 403,
    "rate_limit": 429,
    "overloaded": 529,
}
"""HTTP status of errors that are told by a word only."""


@dataclass(frozen=True, slots=True)
class _Call:
    """A tool call whose result has not come yet. `edits`: files that it changes if it succeeds."""

    tool: str = "tool"
    title: str = ""
    edits: tuple[str, ...] = ()


class ClaudeReader:
    """The output of one attempt.

    The usage of a request is known when the next one begins, without what the model wrote; the last line has
    the sum and the cost, so the last step gets what is left.
    """

    def __init__(self, model: str | None = None) -> None:
        self._lines = JsonLines()
        self._model = model
        self._session = ""
        self._message = ""
        self._step_usage: Usage | None = None
        self._told = Usage()
        self._texts = AnswerText("\n")
        self._tools: dict[str, _Call] = {}
        self._error_kind = ""
        self._loss: ProviderLoss | None = None
        self._result: JsonObject | None = None

    @property
    def runaway(self) -> Failure | None:
        """Claude Code ends by itself: its retries are counted, and `--max-turns` caps its steps."""
        return None

    def feed(self, data: bytes) -> Sequence[OutputEvent]:
        """What these next bytes of stdout say."""
        return self._take(self._lines.feed(data))

    def finish(self) -> Sequence[OutputEvent]:
        """What a last line without newline says."""
        return self._take(self._lines.finish())

    def _take(self, items: list[LineItem]) -> list[OutputEvent]:
        events: list[OutputEvent] = []
        for item in items:
            if isinstance(item, LongLine):
                self._texts.lose()
            if isinstance(item, NoiseSeen):
                events.append(item)
            else:
                events += self._line(item)
        return events

    def _line(self, line: JsonObject) -> list[OutputEvent]:
        match line.get("type"):
            case "system":
                return self._system(line)
            case "assistant":
                return self._assistant(line)
            case "user":
                return self._tool_results(object_of(line.get("message")))
            case "rate_limit_event":
                self._limit(object_of(line.get("rate_limit_info")))
            case "result":
                return self._ended(line)
        return []

    def _limit(self, told: JsonObject) -> None:
        """The state of the account's limits; all but a rejection are for information."""
        rejected = told.get("status") == "rejected" or (
            told.get("isUsingOverage") is True and told.get("overageStatus") == "rejected"
        )
        self._loss = None
        if rejected:
            resets = count_of(told.get("resetsAt"))
            self._loss = ProviderLoss(Lost.LIMIT, at_moment(resets) if resets else "")

    def _system(self, line: JsonObject) -> list[OutputEvent]:
        if line.get("subtype") == "api_retry":
            status = status_of(line.get("error_status"))
            reason = (
                f"{text_of(line.get('error')) or say('no reason was given')}{f', {status}' if status else ''}"
            )
            attempt, most = count_of(line.get("attempt")), count_of(line.get("max_retries"))
            message = say(
                "The provider did not answer ({reason}); Claude Code asks again, {attempt} of {most}.",
                reason=reason,
                attempt=attempt,
                most=most,
            )
            return [ErrorReported(message, transient=True)]
        session = text_of(line.get("session_id"))
        if line.get("subtype") == "init" and session and session != self._session:
            self._session = session
            return [SessionOpened(session)]
        return []

    def _assistant(self, line: JsonObject) -> list[OutputEvent]:
        message = object_of(line.get("message"))
        of_subagent = line.get("parent_tool_use_id") is not None
        if message.get("model") == _MADE_UP:
            self._error_kind = text_of(line.get("error"))
            return []
        if not of_subagent:
            self._error_kind = ""
        events: list[OutputEvent] = []
        if not of_subagent and message.get("id") != self._message:
            self._message = text_of(message.get("id"))
            self._texts.clear()
            events += self._step_ended()
            events.append(StepStarted(text_of(message.get("model"))))
            self._step_usage = _usage(object_of(message.get("usage")), answered=False)
        content = message.get("content")
        for value in content if isinstance(content, list) else []:
            block = object_of(value)
            match block.get("type"):
                case "text" if not of_subagent:
                    said = text_of(block.get("text"))
                    self._texts.append(said)
                    events.append(TextSaid(said))
                case "thinking" if not of_subagent:
                    events.append(ReasoningSaid(text_of(block.get("thinking"))))
                case "tool_use":
                    self._texts.clear()
                    given = object_of(block.get("input"))
                    name = one_line(text_of(block.get("name"))) or "tool"
                    path = text_of(given.get("file_path")) or text_of(given.get("notebook_path"))
                    self._tools[text_of(block.get("id"))[:200]] = _Call(
                        name, tool_title(given, _TITLE_KEYS), (path,) if name in _EDITORS else ()
                    )
                    keep_newest(self._tools)
        return events

    def _tool_results(self, message: JsonObject) -> list[OutputEvent]:
        events: list[OutputEvent] = []
        content = message.get("content")
        for value in content if isinstance(content, list) else []:
            block = object_of(value)
            if block.get("type") != "tool_result":
                continue
            call = self._tools.pop(text_of(block.get("tool_use_id"))[:200], _Call())
            output = _plain_content(block.get("content"))
            failed = block.get("is_error") is True
            code = _EXIT_CODE.match(output) if failed and call.tool == "Bash" else None
            if code is not None:
                output = output[code.end() :].lstrip("\n")
            events.append(
                ToolUsed(
                    call.tool,
                    call.title,
                    output,
                    failed,
                    exit_code=int(code[1]) if code else None,
                    edited=() if failed else call.edits,
                )
            )
        return events

    def _step_ended(self) -> list[OutputEvent]:
        if self._step_usage is None:
            return []
        usage, self._step_usage = self._step_usage, None
        self._told += usage
        return [StepFinished("", usage)]

    def _ended(self, line: JsonObject) -> list[OutputEvent]:
        self._result = line
        self._step_usage = None
        all_of_it = _usage(object_of(line.get("usage")), answered=True)
        usage = _less(all_of_it, self._told)
        cost = line.get("total_cost_usd")
        free = not all_of_it.total_tokens and not self._told.total_tokens
        if isinstance(cost, int | float) and not isinstance(cost, bool) and (cost or free):
            # A price of 0 for tokens that were used is one that Claude Code does not know.
            usage += Usage(cost_usd=float(cost))
        return [StepFinished(text_of(line.get("stop_reason")) or text_of(line.get("subtype")), usage)]

    # --- how it ended --------------------------------------------------------------------------------

    def judge(self, exit_code: int | None, signal: int | None, stderr_tail: str) -> Verdict:
        """By the last line, `result`; without one by exit code and standard error."""
        stderr = plain_stderr(stderr_tail)
        text = self._texts.text
        result = self._result or {}
        if exit_code == 0 and result.get("subtype") == "success" and result.get("is_error") is not True:
            said = text_of(result.get("result")) or text
            failure = CLI.notice_failure(said)
            if failure is None and self._error_kind in _KINDS_OF_ERROR:
                # What the provider refused is told like an answer, with exit code 0.
                failure = self._told_failure(result, stderr)
            cut = result.get("stop_reason") == "max_tokens" or self._texts.cut
            return Verdict(said, failure, truncated=cut)
        if self._error_kind == "max_output_tokens":
            return Verdict(text, truncated=True)
        return Verdict(text, self._failure(exit_code, signal, stderr))

    def _failure(self, exit_code: int | None, signal: int | None, stderr: str) -> Failure:
        if exit_code is None:
            return ended_from_outside(CLI.title, signal, stderr)
        if self._result is not None:
            return self._told_failure(self._result, stderr)
        if exit_code:
            return CLI.ended_with_code(exit_code, stderr)
        return CLI.lost_end(stderr)

    def _told_failure(self, result: JsonObject, stderr: str) -> Failure:
        kind = text_of(result.get("subtype"))
        errors = result.get("errors")
        told = [text_of(error) for error in errors] if isinstance(errors, list) else []
        said = text_of(result.get("result")) or "; ".join(filter(None, told))
        ending = _ending_words(kind)
        if ending:
            return Failure(ending, said)
        if "No conversation found" in said:
            return Failure(say("Claude Code no longer knows the session that was to be continued."), said)
        status = status_of(result.get("api_error_status")) or _KINDS_OF_ERROR.get(self._error_kind)
        # An account's used-up limit has the status of a rate limit; a line of its own tells them apart.
        limited = status == 429 or (status is None and "limit" in said)
        loss = self._loss if limited else None
        error = CLI.provider_error(status, said or stderr or say("no reason was given"), self._model, loss)
        return failure_of(error, stderr)


def _plain_content(value: JsonValue) -> str:
    """What a tool gave back: a text, or blocks of which those with text count."""
    if isinstance(value, list):
        return "\n".join(text_of(object_of(block).get("text")) or say("[no text]") for block in value)
    return text_of(value)


def _usage(told: JsonObject, *, answered: bool) -> Usage:
    return Usage(
        input_tokens=count_of(told.get("input_tokens")),
        output_tokens=count_of(told.get("output_tokens")) if answered else 0,
        cache_read_tokens=count_of(told.get("cache_read_input_tokens")),
        cache_write_tokens=count_of(told.get("cache_creation_input_tokens")),
    )


def _less(all_of_it: Usage, told: Usage) -> Usage:
    return Usage(
        max(0, all_of_it.input_tokens - told.input_tokens),
        max(0, all_of_it.output_tokens - told.output_tokens),
        max(0, all_of_it.reasoning_tokens - told.reasoning_tokens),
        max(0, all_of_it.cache_read_tokens - told.cache_read_tokens),
        max(0, all_of_it.cache_write_tokens - told.cache_write_tokens),
    )


class ClaudeBackend(OutputTellsAll):
    """Runs agents with `claude -p`."""

    name = "claude"
    start_cost = True

    def examine(self, workdir: Path) -> list[Finding]:
        """Whether Claude Code is there and answers, its version, its login."""
        return examine_cli(CLI, claude_login, workdir)

    def check(self, orders: Sequence[TurnOrder]) -> list[Problem]:
        """Whether Claude Code is there, and whether the agents' `extra_args` can be used."""
        return CLI.check(orders)

    def command(self, order: TurnOrder) -> Command:
        """`claude -p` with the prompt on standard input. Raises FileNotFoundError."""
        extra = extra_arguments(order.agent)
        argv = [CLI.find(order.workdir), "-p", "--output-format=stream-json", "--verbose"]
        if not names_flag(extra, "--permission-mode", "--dangerously-skip-permissions"):
            argv.append("--permission-mode=acceptEdits")
        if order.session is not None:
            argv.append(f"--resume={order.session}")
        if order.model:
            argv.append(f"--model={order.model}")
        if order.agent.variant:
            argv.append(f"--effort={order.agent.variant}")
        return Command((*argv, *extra), {"DISABLE_AUTOUPDATER": "1"})

    def reader(self, order: TurnOrder) -> ClaudeReader:
        """A new reader for one attempt."""
        return ClaudeReader(order.model)
