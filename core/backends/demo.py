"""The demo backend: the agent program that ships with OpenLoop (`resources/demo_agent.py`).

It needs no account and no network, so the examples run at once. What it says depends on the agent and the
state. An agent's front matter can tell it more under `demo:` (see `DemoOrders`), also how to misbehave.
"""

from __future__ import annotations

import functools
import json
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

import resources
from core.agent import AgentDefinition
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
from core.backends.ndjson import JsonLines, LineItem, LongLine
from core.findings import did_you_mean
from core.health import Finding, FindingStatus
from core.json_types import JsonObject, JsonValue
from core.problems import Problem, UserFileError
from core.usage import Usage
from core.words import say

MODEL = "demo"
TEMPORARY_FAILURE = 75
"""The exit code that means a failure that may pass (EX_TEMPFAIL of sysexits.h)."""
PROVIDER_WIDE_FAILURE = 77
"""The exit code that means that no agent may use the provider any more (EX_NOPERM)."""
LOST_START = 76
"""The exit code that means that it had not begun to work (EX_PROTOCOL)."""
_LONGEST_ARGUMENT = 24_000
"""Characters; a whole command line of Windows may have 32,767."""


# --- what an agent's front matter may order -----------------------------------------------------------


class _Orders(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class DemoUsage(_Orders):
    """Tokens of one attempt, spread over its steps."""

    input: int = Field(default=0, ge=0)
    output: int = Field(default=0, ge=0)
    reasoning: int = Field(default=0, ge=0)
    cache_read: int = Field(default=0, ge=0)
    cache_write: int = Field(default=0, ge=0)


class DemoFailure(_Orders):
    """End with an exit code, in the first step. `fail: 3` is short for `fail: {exit_code: 3}`."""

    exit_code: int = Field(default=1, ge=0, le=255)
    error: str | None = None
    """Text of an error event before the end; with `exit_code: 0` it alone is the failure."""
    transient: bool = False
    """Worth a retry. Without an error event the exit code is then 75."""
    provider_wide: bool = False
    """Every other agent would fail alike, as with a quota that is used up. Never transient. Without an error
    event the exit code is then 77."""
    first: int | None = Field(default=None, ge=0)
    """Only the first so many attempts of a turn fail."""
    silent: bool = False
    """Fail before any output."""
    before_work: bool = False
    """Fail before any output with exit code 76, as a start that lost a race: made again for free."""
    iteration: int | None = Field(default=None, ge=0)
    """Only in this iteration of the loop; 0: outside of it."""
    after_steps: int = Field(default=0, ge=0)
    """Fail only when so many steps have ended and told what they used; at the latest after the last one,
    which has the answer."""


class DemoSpending(_Orders):
    """Steps before the answer that use tokens and money, such as those of an agent that goes on and on."""

    steps: int | None = Field(default=None, ge=1)
    """How many; None: without end."""
    seconds: float = Field(default=0.05, ge=0)
    """How long one takes; OPENLOOP_DEMO_SPEED multiplies it. Without end, a step takes at least 20 ms."""
    tokens: int = Field(default=1000, ge=0)
    """Tokens that each reads."""
    cost_usd: float | None = Field(default=None, ge=0)
    """Cost of each; None: its price is not known."""


class DemoFlood(_Orders):
    """Output as fast as it can be written, in the first step. `flood: 5000000` is so many bytes of noise."""

    noise_bytes: int = Field(default=0, ge=0)
    text_lines: int = Field(default=0, ge=0)
    endless: bool = False


class DemoBadUpdate(_Orders):
    """An answer without a usable update. `bad_update: fenced` means all answers."""

    kind: Literal["missing", "bad_json", "truncated", "fenced", "file", "wrong_type"]
    first: int | None = Field(default=None, ge=0)
    """Only the first so many answers of a turn are bad, so that a correction succeeds."""
    iteration: int | None = Field(default=None, ge=0)
    """Only in this iteration of the loop; 0: outside of it."""


class DemoChild(_Orders):
    """A process that outlives the agent. Its pid is in `demo_child.pid` in the turn's folder."""

    kind: Literal["plain", "setsid", "double_fork"] = "plain"
    ignore_sigterm: bool = True
    seconds: float = Field(default=300, ge=0)


def _short_for(key: str, *kinds: type) -> BeforeValidator:
    """A plain value of these types stands for an object with only this key."""

    def expand(value: object) -> object:
        return {key: value} if type(value) in kinds else value

    return BeforeValidator(expand)


class DemoOrders(_Orders):
    """The `demo:` mapping of an agent's front matter."""

    seconds: float = Field(default=3, ge=0)
    """How long an answer takes; OPENLOOP_DEMO_SPEED multiplies it."""
    steps: int | None = Field(default=None, ge=1)
    """How many steps it reports; None: as many as the scene has."""
    text: str | None = None
    """What it says before the update, instead of its scene."""
    writes: dict[str, JsonValue] | None = None
    """The payload of its update, exactly: dotted paths below `payload`, such as `review.score: 40`."""
    is_complete: bool | None = None
    termination_reason: str | None = None
    usage: DemoUsage | None = None
    cost_usd: float | None = Field(default=None, ge=0)
    """Cost of one attempt, spread over its steps."""
    no_price: bool = False
    """Report tokens, but no cost."""
    spend: Annotated[DemoSpending | None, _short_for("steps", int)] = None
    stop_reason: str | None = None
    """Why the last step ended; `length` is a model that was cut off."""
    stderr: tuple[str, ...] = ()
    """Lines for standard error."""
    fail: Annotated[DemoFailure | None, _short_for("exit_code", int)] = None
    crash: bool = False
    """End with an uncaught exception after the first step."""
    hang: bool = False
    """Never end, after the first step's output."""
    hang_silent: bool = False
    """Never end, without any output but lines of `stderr`."""
    flood: Annotated[DemoFlood | None, _short_for("noise_bytes", int)] = None
    bad_update: Annotated[DemoBadUpdate | None, _short_for("kind", str)] = None
    ignore_sigterm: bool = False
    leave_child: Annotated[DemoChild | None, _short_for("kind", str)] = None
    invalid_utf8: bool = False
    """A line of bytes that are no UTF-8."""
    partial_last_line: bool = False
    """End in the middle of the last line, with exit code 0."""


def demo_orders(agent: AgentDefinition) -> DemoOrders:
    """What the agent's front matter orders. Raises pydantic's ValidationError."""
    mapping = (agent.model_extra or {}).get("demo")
    return DemoOrders.model_validate({} if mapping is None else mapping)


def _problems_of(agent: AgentDefinition) -> list[Problem]:
    try:
        demo_orders(agent)
    except ValidationError as error:
        return [
            _problem(agent, tuple(map(str, detail["loc"])), detail["type"], detail["msg"])
            for detail in error.errors(include_url=False, include_input=False)
        ]
    if len(_as_argument(agent, MODEL, "")) > _LONGEST_ARGUMENT:
        message = say("The orders for the demo agent are too long for a command line.")
        return [Problem(message, "demo", say("Shorten text and writes."), file=agent.path)]
    return []


def _as_argument(agent: AgentDefinition, model: str, turn_folder: str) -> str:
    """What the demo agent is told, as one word; ASCII, since not every locale's command line carries more."""
    told: JsonObject = {
        "name": agent.name,
        "role": agent.role,
        "may_complete": agent.may_complete,
        "model": model,
        "turn_folder": turn_folder,
        "demo": demo_orders(agent).model_dump(mode="json"),
    }
    return json.dumps(told)


def _problem(agent: AgentDefinition, keys: tuple[str, ...], kind: str, message: str) -> Problem:
    place = ".".join(("demo", *keys))
    if kind == "extra_forbidden":
        known = _keys_below(keys[:-1])
        suggestion = did_you_mean(keys[-1], known) or say(
            "There are: {names}.", names=", ".join(sorted(known))
        )
        return Problem(
            say("The demo agent knows no key {key}.", key=keys[-1]),
            place,
            suggestion=suggestion,
            file=agent.path,
        )
    if kind in ("model_type", "model_attributes_type"):
        return Problem(
            say("{place} must be keys and values.", place=place),
            place,
            suggestion=say("Write them indented below it, such as seconds: 3."),
            file=agent.path,
        )
    what = message[:1].lower() + message[1:]
    return Problem(say("{place} cannot be used: {what}.", place=place, what=what), place, file=agent.path)


_BELOW: Mapping[str, type[_Orders]] = {
    "usage": DemoUsage,
    "fail": DemoFailure,
    "spend": DemoSpending,
    "flood": DemoFlood,
    "bad_update": DemoBadUpdate,
    "leave_child": DemoChild,
}


def _keys_below(keys: tuple[str, ...]) -> tuple[str, ...]:
    model = _BELOW.get(keys[0], DemoOrders) if keys else DemoOrders
    return tuple(model.model_fields)


# --- its output ---------------------------------------------------------------------------------------


class DemoReader:
    """Reads the demo agent's JSON lines; other lines are noise."""

    def __init__(self) -> None:
        self._lines = JsonLines()
        self._text = ""
        self._cut = False
        self._stop_reason: str | None = None
        self._error: ErrorReported | None = None

    @property
    def runaway(self) -> Failure | None:
        """The demo agent may hang or flood, but says nothing that proves it."""
        return None

    def feed(self, data: bytes) -> Sequence[OutputEvent]:
        """What these next bytes of stdout say."""
        return self._events(self._lines.feed(data))

    def finish(self) -> Sequence[OutputEvent]:
        """What is left when stdout has ended."""
        return self._events(self._lines.finish())

    def judge(self, exit_code: int | None, signal: int | None, stderr_tail: str) -> Verdict:
        """The error that it reported, else its exit code, else whether its last step really ended."""
        failure = self._failure(exit_code, signal, stderr_tail.strip())
        return Verdict(self._text, failure, truncated=self._cut or self._stop_reason == "length")

    def _failure(self, exit_code: int | None, signal: int | None, stderr_tail: str) -> Failure | None:
        if self._error is not None:
            detail = "\n".join(filter(None, (self._error.detail, stderr_tail)))
            return Failure(
                self._error.message,
                detail,
                transient=self._error.transient,
                provider_wide=self._error.provider_wide,
            )
        if exit_code is None:
            return ended_from_outside(say("The demo agent"), signal, stderr_tail)
        if exit_code != 0:
            return Failure(
                say("The demo agent failed with exit code {code}.", code=exit_code),
                stderr_tail,
                transient=exit_code in (TEMPORARY_FAILURE, LOST_START),
                before_work=exit_code == LOST_START,
                provider_wide=exit_code == PROVIDER_WIDE_FAILURE,
            )
        if self._stop_reason in (None, "tool-calls"):
            return Failure(say("The demo agent's output ends in the middle of its work."), stderr_tail)
        return None

    def _events(self, items: Sequence[LineItem]) -> list[OutputEvent]:
        events: list[OutputEvent] = []
        for item in items:
            if isinstance(item, LongLine):
                self._text, self._cut = "", True
            events.append(item if isinstance(item, NoiseSeen) else self._event(item))
        return events

    def _event(self, line: JsonObject) -> OutputEvent:
        read = _READERS.get(str(line.get("type")))
        if read is None:
            return NoiseSeen(json.dumps(line).encode() + b"\n")
        event = read(line)
        match event:
            case TextSaid(text):
                self._text, self._cut = text, False
            case StepStarted():
                self._stop_reason = None
            case StepFinished(reason):
                self._stop_reason = reason
            case ErrorReported():
                self._error = event
        return event


def _tool(line: JsonObject) -> ToolUsed:
    seconds, code = line.get("seconds"), line.get("exit_code")
    failed = line.get("failed") is True
    edits = _text(line, "tool") in ("edit", "write") and not failed
    return ToolUsed(
        _text(line, "tool"),
        _text(line, "title"),
        _text(line, "output"),
        failed=failed,
        seconds=float(seconds) if isinstance(seconds, (int, float)) else None,
        exit_code=code if isinstance(code, int) else None,
        edited=(_text(line, "title"),) if edits else (),
    )


def _step_finished(line: JsonObject) -> StepFinished:
    tokens, cost = line.get("tokens"), line.get("cost")
    counts = tokens if isinstance(tokens, dict) else {}

    def count(key: str) -> int:
        number = counts.get(key)
        return number if isinstance(number, int) else 0

    usage = Usage(
        count("input"),
        count("output"),
        count("reasoning"),
        count("cache_read"),
        count("cache_write"),
        float(cost) if isinstance(cost, (int, float)) else None,
    )
    return StepFinished(_text(line, "reason"), usage)


def _error(line: JsonObject) -> ErrorReported:
    provider_wide = line.get("provider_wide") is True
    return ErrorReported(
        _text(line, "message"),
        _text(line, "detail"),
        transient=line.get("transient") is True and not provider_wide,
        provider_wide=provider_wide,
    )


def _text(line: JsonObject, key: str) -> str:
    value = line.get(key)
    return value if isinstance(value, str) else ""


_READERS: Mapping[str, Callable[[JsonObject], OutputEvent]] = {
    "session": lambda line: SessionOpened(_text(line, "session")),
    "step_start": lambda line: StepStarted(_text(line, "model")),
    "text": lambda line: TextSaid(_text(line, "text")),
    "reasoning": lambda line: ReasoningSaid(_text(line, "text")),
    "tool_use": _tool,
    "step_finish": _step_finished,
    "error": _error,
}


# --- the backend --------------------------------------------------------------------------------------


class DemoBackend(OutputTellsAll):
    """Runs the demo agent with OpenLoop's own Python."""

    name = "demo"
    start_cost = False

    def examine(self, workdir: Path) -> list[Finding]:
        """Whether the demo agent is where it belongs; it needs nothing but this Python."""
        if _program().is_file():
            return [
                Finding("demo", FindingStatus.OK, say("Demo agents need no account, no key and no network."))
            ]
        message = say("{program} is missing, so the examples cannot run.", program=_program())
        return [Finding("demo", FindingStatus.ERROR, message, say("Install OpenLoop again."), absent=True)]

    def check(self, orders: Sequence[TurnOrder]) -> list[Problem]:
        """Every wrong key or value under `demo:`, once for each agent."""
        agents = {(order.agent.path, order.agent.name): order.agent for order in orders}
        return [problem for agent in agents.values() for problem in _problems_of(agent)]

    def command(self, order: TurnOrder) -> Command:
        """The demo agent's process. Raises UserFileError when the `demo:` mapping is wrong."""
        problems = _problems_of(order.agent)
        if problems:
            raise UserFileError(problems)
        told = _as_argument(order.agent, order.model or MODEL, str(order.turn_folder.absolute()))
        words = [sys.executable, "-I", "-S", str(_program()), told]
        if order.session is not None:
            words += ["--session", order.session]
        return Command(tuple(words))

    def reader(self, order: TurnOrder) -> DemoReader:
        """A new reader for one attempt."""
        return DemoReader()


@functools.cache
def _program() -> Path:
    return resources.folder() / "demo_agent.py"
