"""What a backend is: the knowledge of one agent CLI, as a command to start and output to read.

A backend starts nothing and reads no file. A new agent CLI is one module beside this one and one line
in `core/backends/registry.py`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol, TypeAlias

from core.agent import AgentDefinition
from core.config import OpencodeDefaults
from core.health import Finding
from core.problems import Problem
from core.usage import Usage


@dataclass(frozen=True, slots=True)
class TurnOrder:
    """Everything a backend needs to know to build the command of one attempt."""

    agent: AgentDefinition
    title: str
    workdir: Path
    turn_folder: Path
    model: str | None = None
    session: str | None = None
    defaults: OpencodeDefaults = field(default_factory=OpencodeDefaults)


@dataclass(frozen=True, slots=True)
class Command:
    """A process to start. The prompt is its standard input; `env` is added to OpenLoop's own environment.

    `scratch` is a folder for what the CLI leaves lying about: made before the start, removed after the end.
    """

    argv: tuple[str, ...]
    env: Mapping[str, str] = field(default_factory=dict)
    scratch: Path | None = None


# --- what an agent does, in words that all CLIs share -------------------------------------------------


@dataclass(frozen=True, slots=True)
class SessionOpened:
    """The CLI named its session; corrections continue it."""

    session: str


@dataclass(frozen=True, slots=True)
class StepStarted:
    """One request to the model began to answer. `model` is empty where the CLI does not say."""

    model: str = ""


@dataclass(frozen=True, slots=True)
class TextSaid:
    """Text of the assistant. Only the last such text of an attempt may carry the update."""

    text: str


@dataclass(frozen=True, slots=True)
class ReasoningSaid:
    """Reasoning that the CLI shows; never searched for an update."""

    text: str


@dataclass(frozen=True, slots=True)
class ToolUsed:
    """A finished tool call. `seconds` None: not told."""

    tool: str
    title: str
    output: str = ""
    failed: bool = False
    seconds: float | None = None
    exit_code: int | None = None
    edited: tuple[str, ...] = ()
    """Files that the call changed, as the CLI names them; empty where it failed or does not tell."""


@dataclass(frozen=True, slots=True)
class StepFinished:
    """One request to the model ended, why (the CLI's word), and what it used."""

    reason: str
    usage: Usage = field(default_factory=Usage)


@dataclass(frozen=True, slots=True)
class ErrorReported:
    """The CLI reported an error. `transient`: worth a retry later (429, 5xx, overload, connection)."""

    message: str
    detail: str = ""
    transient: bool = False
    provider_wide: bool = False
    """Every other turn of this provider would fail alike: a quota, a usage limit, a lost login."""

    def __post_init__(self) -> None:
        _shorten(self)


@dataclass(frozen=True, slots=True)
class NoiseSeen:
    """Output that is not of the CLI's own format: one or many whole lines of raw bytes, newlines kept."""

    data: bytes


OutputEvent: TypeAlias = (
    SessionOpened
    | StepStarted
    | TextSaid
    | ReasoningSaid
    | ToolUsed
    | StepFinished
    | ErrorReported
    | NoiseSeen
)


# --- how an attempt ended -----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Failure:
    """Why an attempt failed, in a user's words.

    `transient`: the same attempt may succeed later and is retried as the workflow says. `before_work`: it
    died before its first request to a model (a start-up race), so a retry is free and always made.
    `provider_wide`: every other turn of this provider would fail alike (a quota, a usage limit, a lost
    login): nobody retries it, the run pauses.
    """

    message: str
    detail: str = ""
    transient: bool = False
    before_work: bool = False
    provider_wide: bool = False

    def __post_init__(self) -> None:
        _shorten(self)


MESSAGE_LIMIT, DETAIL_LIMIT = 4_000, 64_000
"""Characters of a message and of its detail: a CLI may say megabytes, and all of it is in its output."""


def _shorten(said: ErrorReported | Failure) -> None:
    """Cut what goes into journal, log and window to what a person may read."""
    for name, limit in (("message", MESSAGE_LIMIT), ("detail", DETAIL_LIMIT)):
        text = getattr(said, name)
        if len(text) > limit:
            object.__setattr__(said, name, text[: limit - 1] + "…")


@dataclass(frozen=True, slots=True)
class Verdict:
    """What an attempt came to: the last assistant text, or why it failed (then `text` is what there was)."""

    text: str = ""
    failure: Failure | None = None
    truncated: bool = False


class OutputReader(Protocol):
    """Turns the stdout of one attempt into events, then judges it. Bytes may be cut anywhere."""

    @property
    def runaway(self) -> Failure | None:
        """Set as soon as the output shows that the agent will never end by itself (a request storm)."""

    def feed(self, data: bytes) -> Sequence[OutputEvent]:
        """What these next bytes of stdout say."""

    def finish(self) -> Sequence[OutputEvent]:
        """What is left when stdout has ended (a last line without newline)."""

    def judge(self, exit_code: int | None, signal: int | None, stderr_tail: str) -> Verdict:
        """How the attempt ended. `exit_code` None: ended by `signal`. `stderr_tail`: at most 8 KiB."""


class Backend(Protocol):
    """One agent CLI."""

    @property
    def name(self) -> str:
        """The name in workflow files."""

    @property
    def start_cost(self) -> bool:
        """Whether a start burns CPU for seconds, so that concurrent starts are capped at the core count."""

    def check(self, orders: Sequence[TurnOrder]) -> list[Problem]:
        """What stands in the way of these turns (CLI missing, unknown agent or model); may run the CLI.

        Blocking, called on a worker before anything of the run starts.
        """

    def examine(self, workdir: Path) -> list[Finding]:
        """How this CLI stands on this machine: is it there, where, which version, does it answer, is it
        logged in where that can be told. Blocking; may run the CLI for some seconds, never raises for
        what the machine lacks."""

    def silence_reason(self, order: TurnOrder) -> str:
        """Why the running attempt of this order prints nothing, as far as the CLI's own log tells it: one
        sentence for a user; empty where nothing is known.

        `order.session` is the attempt's session once it is known. Reads the end of one file, so it may be
        asked every few seconds; never raises.
        """

    def hidden_failure(self, order: TurnOrder) -> Failure | None:
        """A failure that the CLI keeps to itself and would wait out for hours, such as a used-up quota: the
        running attempt is best ended with it. As cheap as `silence_reason`, and never raises."""

    def untold_output(self, order: TurnOrder, reader: OutputReader) -> Sequence[OutputEvent]:
        """What an attempt that has ended did not print, but the CLI keeps in its session: a lost end, what
        subagents used. `reader` has read the attempt to its end and takes this in, so judge it after.

        `order.session` is the attempt's session. Empty at once in the usual case; else blocking for some
        seconds, as it may run the CLI. Never raises for what the CLI does not tell.
        """

    def command(self, order: TurnOrder) -> Command:
        """The process of one attempt. Raises FileNotFoundError when the CLI is not installed."""

    def reader(self, order: TurnOrder) -> OutputReader:
        """A new reader for one attempt."""


class OutputTellsAll:
    """What a backend says of a CLI that keeps nothing to itself: all there is to know it prints."""

    def silence_reason(self, order: TurnOrder) -> str:
        """Unknown: there is no log that would tell."""
        return ""

    def hidden_failure(self, order: TurnOrder) -> Failure | None:
        """None: it reports its failures."""
        return None

    def untold_output(self, order: TurnOrder, reader: OutputReader) -> Sequence[OutputEvent]:
        """Nothing: it is all in the output."""
        return ()
