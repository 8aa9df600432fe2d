"""Gemini CLI: `gemini -o stream-json`, the prompt on standard input.

The user's own settings and login stay in force. Files may be edited (`--approval-mode auto_edit`), shell
commands may not run; an agent's `extra_args` may say otherwise, such as `--approval-mode=yolo`. Gemini CLI
works only in folders that the user trusts. It tells no cost. Shapes: version 0.61.0.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from core.backends.answer_text import AnswerText
from core.backends.base import (
    Command,
    ErrorReported,
    Failure,
    NoiseSeen,
    OutputEvent,
    OutputTellsAll,
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
    text_of,
    tool_title,
)
from core.backends.logins import examine_cli, gemini_login
from core.backends.ndjson import JsonLines, LineItem, LongLine, keep_newest
from core.backends.provider_loss import Lost, ProviderLoss, failure_of, provider_loss
from core.health import Finding
from core.json_types import JsonObject
from core.problems import Problem
from core.usage import Usage
from core.words import say

CLI = InstalledCli(
    title="Gemini CLI",
    program="gemini",
    variable="OPENLOOP_GEMINI",
    install="npm install -g @google/gemini-cli",
    login=lambda: say("Start `gemini` once and log in, or correct GEMINI_API_KEY."),
    claimed=frozenset(
        {
            *("-o", "--output-format", "-p", "--prompt", "-i", "--prompt-interactive", "-w", "--worktree"),
            *("-r", "--resume", "--session-id", "--session-file", "--acp", "--experimental-acp"),
        }
    ),
)
_TITLE_KEYS = (
    "command",
    "file_path",
    "absolute_path",
    "path",
    "dir_path",
    "pattern",
    "query",
    "url",
    "prompt",
)
_EDITORS = ("write_file", "replace")
"""Tools that change the file that their parameters name."""
_STATUS = re.compile(r'"code":\s*(\d{3})\b|\bstatus:? (\d{3})\b')
_SAID = re.compile(r'"message":\s*"((?:[^"\\]|\\.)*)"')
_NOT_LOGGED_IN = 41


def _exit_words(code: int | None) -> str:
    """What an exit code of its own means; empty: it has no meaning of its own."""
    match code:
        case 52:
            return say("Gemini CLI cannot read its settings. Correct the file that it names.")
        case 53:
            return say("The agent used up the requests that maxSessionTurns of Gemini CLI's settings allows.")
        case 55:
            return say(
                "Gemini CLI does not trust the working directory. Start `gemini` in it once and trust it, or "
                'add "--skip-trust" to the agent\'s extra_args.'
            )
        case _:
            return ""


class GeminiReader:
    """The output of one attempt. Pieces of a text are put together before they are told."""

    def __init__(self, model: str | None = None) -> None:
        self._lines = JsonLines()
        self._model = model
        self._session = ""
        self._in_step = False
        self._pieces = AnswerText()
        self._text = ""
        self._cut = False
        self._tools: dict[str, tuple[str, str, tuple[str, ...]]] = {}
        """By id: tool, title, and the files that the call changes if it succeeds."""
        self._result: JsonObject | None = None

    @property
    def runaway(self) -> Failure | None:
        """Gemini CLI's retries are counted, and it looks for loops itself."""
        return None

    def feed(self, data: bytes) -> Sequence[OutputEvent]:
        """What these next bytes of stdout say."""
        return self._take(self._lines.feed(data))

    def finish(self) -> Sequence[OutputEvent]:
        """What a last line without newline says, and a text that nothing followed."""
        return [*self._take(self._lines.finish()), *self._said()]

    def _take(self, items: list[LineItem]) -> list[OutputEvent]:
        events: list[OutputEvent] = []
        for item in items:
            if isinstance(item, LongLine):
                events += self._said()
                self._text, self._cut = "", True
            if isinstance(item, NoiseSeen):
                events.append(item)
            else:
                events += self._line(item)
        return events

    def _line(self, line: JsonObject) -> list[OutputEvent]:
        kind = line.get("type")
        if kind == "message":
            if line.get("role") != "assistant":
                return []
            begun = self._step()
            self._pieces.append(text_of(line.get("content")))
            return begun
        events = self._said()
        match kind:
            case "init":
                self._session = text_of(line.get("session_id"))
                self._model = text_of(line.get("model")) or self._model
                events.append(SessionOpened(self._session))
            case "tool_use":
                events += self._step()
                given = object_of(line.get("parameters"))
                name = one_line(text_of(line.get("tool_name"))) or "tool"
                edits = (text_of(given.get("file_path")),) if name in _EDITORS else ()
                title = tool_title(given, _TITLE_KEYS)
                self._tools[text_of(line.get("tool_id"))[:200]] = (name, title, edits)
                keep_newest(self._tools)
                self._text = ""
            case "tool_result":
                events.append(self._tool_result(line))
                self._in_step = False
            case "error":
                passing = line.get("severity") != "error"
                events.append(ErrorReported(text_of(line.get("message")), transient=passing))
            case "result":
                self._result = line
                events.append(StepFinished(text_of(line.get("status")), _usage(object_of(line.get("stats")))))
        return events

    def _step(self) -> list[OutputEvent]:
        if self._in_step:
            return []
        self._in_step = True
        return [StepStarted(self._model or "")]

    def _said(self) -> list[OutputEvent]:
        if not self._pieces:
            return []
        self._text, self._cut = self._pieces.text, self._pieces.cut
        self._pieces.clear()
        return [TextSaid(self._text)]

    def _tool_result(self, line: JsonObject) -> ToolUsed:
        tool, title, edits = self._tools.pop(text_of(line.get("tool_id"))[:200], ("tool", "", ()))
        error = text_of(object_of(line.get("error")).get("message"))
        output = text_of(line.get("output")) or error
        failed = line.get("status") == "error"
        return ToolUsed(tool, title, output, failed, edited=() if failed else edits)

    # --- how it ended --------------------------------------------------------------------------------

    def judge(self, exit_code: int | None, signal: int | None, stderr_tail: str) -> Verdict:
        """By the last line, `result`; without one by exit code and standard error.

        An answer that was cut off looks like any other here; its update is then missing.
        """
        if exit_code == 0 and self._result is not None and self._result.get("status") == "success":
            return Verdict(self._text, CLI.notice_failure(self._text), truncated=self._cut)
        return Verdict(self._text, self._failure(exit_code, signal, plain_stderr(stderr_tail)))

    def _failure(self, exit_code: int | None, signal: int | None, stderr: str) -> Failure:
        if exit_code is None:
            return ended_from_outside(CLI.title, signal, stderr)
        if self._result is not None and self._result.get("status") != "success":
            message = text_of(object_of(self._result.get("error")).get("message")) or say(
                "no reason was given"
            )
            status = _STATUS.search(message)
            said = _SAID.search(message)
            code = int(status[1] or status[2]) if status else None
            # The whole message: which quota is used up stands behind the sentence.
            loss = provider_loss(message, code)
            error = CLI.provider_error(code, said[1] if said else message, self._model, loss)
            return failure_of(replace(error, detail=message), stderr)
        if exit_code == _NOT_LOGGED_IN:
            message = ProviderLoss(Lost.LOGIN).words(CLI.title, CLI.login(), stderr)
            return Failure(message, stderr, provider_wide=True)
        meaning = _exit_words(exit_code)
        if meaning:
            return Failure(meaning, stderr)
        if "Error resuming session" in stderr:
            return Failure(say("Gemini CLI no longer knows the session that was to be continued."), stderr)
        return CLI.ended_with_code(exit_code, stderr) if exit_code else CLI.lost_end(stderr)


def _usage(stats: JsonObject) -> Usage:
    """Gemini CLI counts cached tokens as input, too; thoughts are what is missing to the total."""
    given, answered = count_of(stats.get("input_tokens")), count_of(stats.get("output_tokens"))
    cached = count_of(stats.get("cached"))
    thoughts = max(0, count_of(stats.get("total_tokens")) - given - answered)
    return Usage(max(0, given - cached), answered, thoughts, cached)


class GeminiBackend(OutputTellsAll):
    """Runs agents with the Gemini CLI."""

    name = "gemini"
    start_cost = True

    def examine(self, workdir: Path) -> list[Finding]:
        """Whether the Gemini CLI is there and answers, its version, its login."""
        return examine_cli(CLI, gemini_login, workdir)

    def check(self, orders: Sequence[TurnOrder]) -> list[Problem]:
        """Whether the Gemini CLI is there, and whether the agents' `extra_args` can be used."""
        return CLI.check(orders)

    def command(self, order: TurnOrder) -> Command:
        """`gemini` with the prompt on standard input. Raises FileNotFoundError."""
        extra = extra_arguments(order.agent)
        argv = [CLI.find(order.workdir), "--output-format=stream-json"]
        if not names_flag(extra, "--approval-mode", "-y", "--yolo"):
            argv.append("--approval-mode=auto_edit")
        if order.session is not None:
            argv.append(f"--resume={order.session}")
        if order.model:
            argv.append(f"--model={order.model}")
        return Command((*argv, *extra))

    def reader(self, order: TurnOrder) -> GeminiReader:
        """A new reader for one attempt."""
        return GeminiReader(order.model)
