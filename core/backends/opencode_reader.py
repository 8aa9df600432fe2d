"""Reading `opencode run --format json`: its lines as events, and how an attempt ended.

opencode prints no last word: an attempt succeeded when the process exited with 0, no `error` line came, the
last step ended with `stop`, and there is a text. The exit code alone is 0 for a refused permission, an
unknown agent and an answer that was cut off, too.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from core.backends.answer_text import AnswerText
from core.backends.base import (
    ErrorReported,
    Failure,
    NoiseSeen,
    OutputEvent,
    ReasoningSaid,
    SessionOpened,
    StepFinished,
    StepStarted,
    TextSaid,
    ToolUsed,
    Verdict,
)
from core.backends.ended_from_outside import ended_from_outside
from core.backends.ndjson import JsonLines, LineItem, LongLine, keep_newest
from core.backends.opencode_errors import error_reported, notice_failure
from core.backends.provider_loss import failure_of, loss_in_lines
from core.edited_files import files_of_patch
from core.json_types import JsonObject, JsonValue
from core.usage import Usage
from core.words import say

MAX_UNKNOWN_STEPS = 3
"""Steps in a row that end with `unknown`: opencode then asks the provider again at once, for ever."""
MAX_STEPS = 500
"""Requests to the model in one attempt; `steps` in opencode's configuration is only a hint to the model."""

_TITLE_KEYS = ("command", "filePath", "path", "pattern", "url", "query", "description", "name")
_PATH_KEYS = ("filePath", "path")
_EDITORS = ("edit", "write", "multiedit")
"""Tools that change the file that their input names."""
_TITLE_LENGTH = 200
_FREE = (":free", "-free")
"""How names of models end that cost nothing."""
_ANSI = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]")
_START_RACE = ("database is locked", "Failed query")
_UNKNOWN_AGENT = re.compile(r'agent "(?P<name>[^"]*)" (?:not found|is a subagent)')
_REJECTED = re.compile(r"permission requested: (?P<what>.*?); auto-rejecting")


class OpencodeReader:
    """The output of one attempt.

    `model`: the one asked for, to name it in messages. `workdir`: files in it are named from there.
    """

    def __init__(
        self, model: str | None = None, workdir: Path | None = None, max_steps: int = MAX_STEPS
    ) -> None:
        self._lines = JsonLines()
        self._model = model
        self._workdir = workdir
        self._max_steps = max_steps
        self._session = ""
        self._steps = 0
        self._unknown_steps = 0
        self._reason: str | None = None
        self._error: ErrorReported | None = None
        self._tools = 0
        self._texts = AnswerText("\n")
        self._text_message = ""
        self._printed = False
        self._last_line_cut = False
        self._seen: dict[str, None] = {}
        self._runaway: Failure | None = None

    @property
    def runaway(self) -> Failure | None:
        """Set when opencode asks for answers in an endless circle."""
        return self._runaway

    @property
    def end_is_lost(self) -> bool:
        """Whether the output of a process that has ended breaks off without a reason."""
        if not self._session or self._error is not None or self._runaway is not None:
            return False
        return self._last_line_cut or self._reason in (None, "tool-calls")

    def recover(self, lines: Sequence[JsonObject]) -> list[OutputEvent]:
        """What lines that opencode did not print, but kept of its session, say: those not read before."""
        events: list[OutputEvent] = []
        for line in lines:
            part = _object(line.get("part"))
            if _text(part.get("id"))[:200] not in self._seen or line.get("type") == "error":
                events += self._line(line)
        if events:
            self._last_line_cut = False
        return events

    def feed(self, data: bytes) -> list[OutputEvent]:
        """What these next bytes of stdout say."""
        self._printed = self._printed or bool(data)
        return self._take(self._lines.feed(data))

    def finish(self) -> list[OutputEvent]:
        """What a last line without newline says; a piece of JSON there means that output was lost."""
        items = self._lines.finish()
        last = items[-1] if items else None
        self._last_line_cut = isinstance(last, NoiseSeen) and last.data.startswith(b"{")
        return self._take(items)

    # --- lines ---------------------------------------------------------------------------------------

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
        events: list[OutputEvent] = []
        session = line.get("sessionID")
        if isinstance(session, str) and session and session != self._session:
            self._session = session
            events.append(SessionOpened(session))
        part = _object(line.get("part"))
        self._seen[_text(part.get("id"))[:200]] = None
        keep_newest(self._seen)
        match line.get("type"):
            case "step_start":
                events.append(self._step_started())
            case "text":
                events.append(self._text(_text(part.get("text")), _text(part.get("messageID"))))
            case "reasoning":
                events.append(ReasoningSaid(_text(part.get("text"))))
            case "tool_use":
                self._tools += 1
                self._texts.clear()
                events.append(_tool(part, self._workdir))
            case "step_finish":
                events.append(self._step_finished(part))
            case "error":
                self._error = error_reported(line.get("error"), self._model)
                events.append(self._error)
        return events

    def _step_started(self) -> StepStarted:
        self._steps += 1
        if self._steps > self._max_steps and self._runaway is None:
            self._runaway = Failure(
                say(
                    "The agent asked the model more than {count} times in one turn and was ended. It "
                    "may repeat itself; look at its last tool calls.",
                    count=self._max_steps,
                )
            )
        return StepStarted()

    def _text(self, text: str, message: str) -> TextSaid:
        if message != self._text_message:
            self._text_message = message
            self._texts.clear()
        self._texts.append(text)
        return TextSaid(text)

    def _step_finished(self, part: JsonObject) -> StepFinished:
        self._reason = _text(part.get("reason")) or "unknown"
        self._unknown_steps = self._unknown_steps + 1 if self._reason == "unknown" else 0
        if self._unknown_steps >= MAX_UNKNOWN_STEPS and self._runaway is None:
            self._runaway = Failure(
                say(
                    "The provider broke off {count} answers in a row without saying why, and "
                    "opencode asks again without end. It was ended before that costs more.",
                    count=MAX_UNKNOWN_STEPS,
                ),
                transient=True,
            )
        if self._text_message != _text(part.get("messageID")):
            # A step that says nothing: what an earlier message said is not the answer.
            self._texts.clear()
        return StepFinished(self._reason, _usage(part, self._model))

    # --- how it ended --------------------------------------------------------------------------------

    def judge(self, exit_code: int | None, signal: int | None, stderr_tail: str) -> Verdict:
        """How the attempt ended; never by the exit code alone."""
        stderr = _ANSI.sub("", stderr_tail).strip()
        text = self._texts.text
        failure = self._failure(exit_code, signal, stderr, text)
        cut = self._reason == "length" or self._texts.cut
        return Verdict(text, failure, truncated=failure is None and cut)

    def _failure(self, exit_code: int | None, signal: int | None, stderr: str, text: str) -> Failure | None:
        if self._runaway is not None:
            return self._runaway
        if signal is not None or exit_code is None:
            return ended_from_outside("opencode", signal, stderr)
        if exit_code and not self._printed and any(words in stderr for words in _START_RACE):
            return Failure(
                say("opencode could not open its database while others started. It had not begun to work."),
                stderr,
                transient=True,
                before_work=True,
            )
        if self._error is not None:
            return failure_of(self._error)
        agent = _UNKNOWN_AGENT.search(stderr)
        if agent is not None:
            return Failure(
                say(
                    "opencode has no agent {name} that can run a turn and took its default one. `opencode "
                    "agent list` names those there are.",
                    name=agent["name"],
                ),
                stderr,
            )
        if exit_code:
            found = loss_in_lines(stderr)
            return notice_failure(found[1], self._model) if found else _ended_with_code(exit_code, stderr)
        return self._broken_end(stderr, text) or notice_failure(text, self._model)

    def _broken_end(self, stderr: str, text: str) -> Failure | None:
        """What is wrong with an attempt that says it went well."""
        rejected = _REJECTED.findall(stderr)
        if self._last_line_cut:
            return Failure(
                say("The last part of opencode's output is missing, so its answer is lost."), stderr
            )
        if self._reason in ("stop", "length"):
            if text or self._tools or self._texts.cut or self._reason == "length":
                # Work was done: a correction in the same session asks for the answer that is missing.
                return None
            return Failure(say("The model answered with nothing at all."), stderr, transient=True)
        if self._reason is None:
            return Failure(say("opencode ended without an answer of the model."), stderr, transient=True)
        if rejected:
            return Failure(
                say(
                    "The agent wanted something that opencode is to ask about ({what}). Nobody can "
                    "answer here, so opencode stopped. Allow or deny it in opencode's permissions.",
                    what=rejected[-1],
                ),
                stderr,
            )
        match self._reason:
            case "tool-calls":
                message = say("opencode stopped after a tool call, before the agent gave an answer.")
            case "content-filter":
                return Failure(say("The provider's content filter stopped the answer."), stderr)
            case "unknown":
                message = say("The provider broke off the answer without saying why.")
            case reason:
                message = say("The model's answer ended early ({reason}).", reason=reason)
        return Failure(message, stderr, transient=True)


# --- pieces of lines ----------------------------------------------------------------------------------


def _tool(part: JsonObject, workdir: Path | None) -> ToolUsed:
    state = _object(part.get("state"))
    metadata = _object(state.get("metadata"))
    failed = state.get("status") == "error"
    exit_code = metadata.get("exit")
    exit_code = exit_code if isinstance(exit_code, int) and not isinstance(exit_code, bool) else None
    tool = _text(part.get("tool")) or "tool"
    return ToolUsed(
        tool=tool,
        title=_tool_title(state, workdir),
        output=_text(state.get("error")) if failed else _text(state.get("output")),
        failed=failed or bool(exit_code),
        seconds=_seconds(_object(state.get("time"))),
        exit_code=exit_code,
        edited=() if failed else _edited(tool, _object(state.get("input"))),
    )


def _edited(tool: str, given: JsonObject) -> tuple[str, ...]:
    if tool in ("patch", "apply_patch"):
        return tuple(files_of_patch(_text(given.get("patchText"))))
    return (_text(given.get("filePath")),) if tool in _EDITORS else ()


def _tool_title(state: JsonObject, workdir: Path | None) -> str:
    """The input that says most, on one line: the command, the file, the pattern."""
    given = _object(state.get("input"))
    for key in _TITLE_KEYS:
        value = given.get(key)
        if isinstance(value, str) and value.strip():
            if key in _PATH_KEYS and workdir is not None and Path(value).is_relative_to(workdir):
                value = str(Path(value).relative_to(workdir))
            break
    else:
        value = _text(state.get("title"))
    line = " ".join(value.split())
    return line if len(line) <= _TITLE_LENGTH else f"{line[: _TITLE_LENGTH - 1]}…"


def _seconds(time: JsonObject) -> float | None:
    start, end = time.get("start"), time.get("end")
    if isinstance(start, int | float) and isinstance(end, int | float):
        return max(0.0, (end - start) / 1000)
    return None


def _usage(part: JsonObject, model: str | None) -> Usage:
    tokens = _object(part.get("tokens"))
    cache = _object(tokens.get("cache"))
    usage = Usage(
        input_tokens=_count(tokens.get("input")),
        output_tokens=_count(tokens.get("output")),
        reasoning_tokens=_count(tokens.get("reasoning")),
        cache_read_tokens=_count(cache.get("read")),
        cache_write_tokens=_count(cache.get("write")),
    )
    cost = part.get("cost")
    if not usage.total_tokens or not isinstance(cost, int | float) or isinstance(cost, bool):
        # The provider told no usage, so opencode's cost of 0 means nothing.
        return usage
    if cost <= 0 and not (model or "").endswith(_FREE):
        # opencode says 0 for every model without a price: one that its catalogue lacks, one that is paid by a
        # subscription, one that runs at home. Only a name can tell that it is free.
        return usage
    return usage + Usage(cost_usd=float(cost))


def _object(value: JsonValue) -> JsonObject:
    return value if isinstance(value, dict) else {}


def _text(value: JsonValue) -> str:
    return value if isinstance(value, str) else ""


def _count(value: JsonValue) -> int:
    return max(0, int(value)) if isinstance(value, int | float) else 0


# --- ends without an answer ---------------------------------------------------------------------------


def _ended_with_code(exit_code: int, stderr: str) -> Failure:
    if "Session not found" in stderr:
        return Failure(say("opencode no longer knows the session that was to be continued."), stderr)
    if "is not valid JSON" in stderr or "Configuration is invalid" in stderr:
        return Failure(say("opencode cannot read its configuration. Correct the file that it names."), stderr)
    if "Show help" in stderr or "show help" in stderr:
        return Failure(
            say("opencode does not take the arguments it was given. Check extra_args in opencode_defaults."),
            stderr,
        )
    lines = [line.strip() for line in stderr.splitlines() if line.strip()]
    said = say("It said: {line}", line=lines[-1]) if lines else say("It said nothing.")
    ended = say("{program} ended with exit code {code}.", program="opencode", code=exit_code)
    return Failure(f"{ended} {said}", stderr)
