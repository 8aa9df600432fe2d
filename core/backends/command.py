"""The command backend: any program that reads a prompt and prints an answer is an agent.

The agent's front matter names it: `command: [my-agent, --fast]`, or one string that is split into words at
spaces and quotes. No shell is ever involved. The prompt is the program's standard input, what it prints is
the assistant's text (of a long one the last 8 MiB), its exit code says whether it succeeded.
"""

from __future__ import annotations

import codecs
import os
import shlex
from collections import deque
from collections.abc import Sequence
from pathlib import Path

from core.agent import AgentDefinition
from core.backends.base import (
    Command,
    Failure,
    NoiseSeen,
    OutputEvent,
    OutputTellsAll,
    TurnOrder,
    Verdict,
)
from core.backends.ended_from_outside import ended_from_outside
from core.backends.provider_loss import loss_in_lines, notice_of_loss
from core.health import Finding
from core.parser import CLOSING, OPENING
from core.problems import Problem, UserFileError
from core.processes import ProgramNotFound, find_program
from core.utf8 import cut_at_character
from core.words import say

TEXT_LIMIT = 8 * 1024 * 1024
"""Bytes of output that are kept as the answer; of a longer output the last ones, where the update stands."""
LINE_LIMIT = 1024 * 1024
"""Bytes of a line that are held back until its end comes; a longer one is passed on in pieces."""

_END = 4096
"""Characters at the end of a failed program's output in which a reason is looked for."""


def _example() -> str:
    return say("Write the program and its arguments as a list: command: [my-agent, --fast].")


class _CommandError(ValueError):
    """`command` is not what it must be; the message is for a user."""


def command_words(agent: AgentDefinition) -> tuple[str, ...]:
    """The program and its arguments. Raises ValueError with words for a user.

    In a string, quotes hold words together. A backslash is an ordinary character, so that a path of Windows
    stays one and the same file means the same on every system.
    """
    value = (agent.model_extra or {}).get("command")
    if value is None:
        raise _CommandError(say("The agent {name} has no command.", name=agent.name))
    if isinstance(value, str):
        lexer = shlex.shlex(value, posix=True, punctuation_chars=False)
        lexer.whitespace_split = True
        lexer.commenters = lexer.escape = ""
        try:
            words = list(lexer)
        except ValueError as error:
            raise _CommandError(
                say("The command of the agent {name} has a quote that is not closed.", name=agent.name)
            ) from error
    elif isinstance(value, list):
        words = []
        for word in value:
            if not isinstance(word, str):
                raise _CommandError(
                    say(
                        "The command of the agent {name} contains {word!r}, which YAML does not take for "
                        'text. Put it into quotes: "{word}".',
                        name=agent.name,
                        word=word,
                    )
                )
            words.append(word)
    else:
        raise _CommandError(
            say("The command of the agent {name} is neither a list nor a text.", name=agent.name)
        )
    if not words or not words[0].strip():
        raise _CommandError(say("The command of the agent {name} is empty.", name=agent.name))
    if any("\0" in word for word in words):
        raise _CommandError(say("The command of the agent {name} contains a NUL character.", name=agent.name))
    return tuple(words)


class CommandReader:
    """Reads plain output: passes it on in whole lines, and keeps its end as the answer."""

    def __init__(self, program: str = "") -> None:
        self._program = program or say("The command")
        self._line: list[bytes] = []
        self._line_bytes = 0
        self._kept: deque[bytes] = deque()
        self._kept_bytes = 0
        self._cut = False

    @property
    def runaway(self) -> Failure | None:
        """Plain output never proves that a program will not end."""
        return None

    def feed(self, data: bytes) -> Sequence[OutputEvent]:
        """The whole lines that these bytes complete, in one piece."""
        if not data:
            return []
        self._keep(data)
        end = data.rfind(b"\n") + 1
        if end:
            lines = b"".join((*self._line, data[:end])) if self._line else data[:end]
            self._line, self._line_bytes = [], 0
            self._hold(data[end:])
            return [NoiseSeen(lines)]
        self._hold(data)
        return self._pass_on() if self._line_bytes > LINE_LIMIT else []

    def _pass_on(self) -> Sequence[OutputEvent]:
        """What is held of a line without end, but for the beginning of a character at its end."""
        whole, begun = cut_at_character(b"".join(self._line))
        self._line, self._line_bytes = [], 0
        self._hold(begun)
        return [NoiseSeen(whole)] if whole else []

    def finish(self) -> Sequence[OutputEvent]:
        """The last line, when it had no newline."""
        rest = b"".join(self._line)
        self._line, self._line_bytes = [], 0
        return [NoiseSeen(rest)] if rest else []

    def judge(self, exit_code: int | None, signal: int | None, stderr_tail: str) -> Verdict:
        """The exit code decides; the text is the whole output, or its last 8 MiB (`TEXT_LIMIT`)."""
        text = self._text()
        failure = _failure(exit_code, signal, stderr_tail.strip())
        if failure is None and self._cut and CLOSING in text and OPENING not in text:
            failure = Failure(
                say(
                    "Its state update is longer than {size} MiB, which is all of an answer that is "
                    "kept. Make it smaller, or write large data into a file and name that in the payload.",
                    size=TEXT_LIMIT // 2**20,
                )
            )
        return Verdict(text, self._loss(text, stderr_tail, failure) or failure)

    def _loss(self, text: str, stderr_tail: str, failure: Failure | None) -> Failure | None:
        """What an agent CLI inside the program says about its limit or login, in the place of an answer."""
        if failure is None:
            loss = notice_of_loss(text)
            notice = text.strip() if loss is not None else ""
        else:
            found = loss_in_lines(stderr_tail) or loss_in_lines(text[-_END:])
            loss, notice = found or (None, "")
        if loss is None:
            return None
        login = say("Log in again with the program that answers, or correct its key.")
        return Failure(loss.words(self._program, login, notice), stderr_tail.strip(), provider_wide=True)

    def _hold(self, data: bytes) -> None:
        if data:
            self._line.append(data)
            self._line_bytes += len(data)

    def _keep(self, data: bytes) -> None:
        # Bounded pieces, so that what is held never exceeds the limit by more than one of them.
        self._kept.append(data[-TEXT_LIMIT:])
        self._kept_bytes += len(self._kept[-1])
        self._cut = self._cut or len(data) > TEXT_LIMIT
        while self._kept_bytes - len(self._kept[0]) >= TEXT_LIMIT:
            self._kept_bytes -= len(self._kept.popleft())
            self._cut = True

    def _text(self) -> str:
        """The text, once: each piece is let go of when it is read, as all of them may be 8 MiB."""
        pieces, self._kept = self._kept, deque()
        if self._kept_bytes > TEXT_LIMIT:
            pieces[0] = pieces[0][self._kept_bytes - TEXT_LIMIT :]
            self._cut = True
        self._kept_bytes = 0
        # Begin with a whole character: at most three bytes of one may stand before it.
        most = 3 if self._cut else 0
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        texts: list[str] = []
        while pieces:
            piece = pieces.popleft()
            while most and piece and piece[0] & 0xC0 == 0x80:
                piece = piece[1:]
                most -= 1
            if piece:
                most = 0
            texts.append(decoder.decode(piece))
        texts.append(decoder.decode(b"", final=True))
        return "".join(texts)


def _failure(exit_code: int | None, signal: int | None, stderr_tail: str) -> Failure | None:
    if exit_code == 0:
        return None
    if exit_code is None:
        return ended_from_outside(say("The command"), signal, stderr_tail)
    return Failure(say("The command failed with exit code {code}.", code=exit_code), stderr_tail)


class CommandBackend(OutputTellsAll):
    """Runs the program that an agent's front matter names."""

    name = "command"
    start_cost = False

    def examine(self, workdir: Path) -> list[Finding]:
        """Nothing: every agent names a program of its own, and `check` looks for it."""
        return []

    def check(self, orders: Sequence[TurnOrder]) -> list[Problem]:
        """Agents without a usable command, and programs that are not found; each once."""
        problems: list[Problem] = []
        for order in orders:
            problem = self._problem(order)
            if problem is not None and problem not in problems:
                problems.append(problem)
        return problems

    def _problem(self, order: TurnOrder) -> Problem | None:
        try:
            words = command_words(order.agent)
            find_program(words[0], os.environ.get("PATH"), order.workdir)
        except _CommandError as error:
            return _as_problem(order.agent, error)
        except ProgramNotFound as error:
            name = order.agent.name
            if error.found_but is not None:
                return Problem(
                    say(
                        "The agent {name} runs {program}, which may not be executed.",
                        name=name,
                        program=error.found_but,
                    ),
                    "command",
                    say("Make it executable, or name the program that runs it first."),
                    file=order.agent.path,
                )
            return Problem(
                say(
                    "The agent {name} runs {program}, but there is no such program.",
                    name=name,
                    program=error.name,
                ),
                "command",
                say("Install it, add its folder to PATH, or write its full path."),
                file=order.agent.path,
            )
        return None

    def command(self, order: TurnOrder) -> Command:
        """The agent's command as it stands. Raises UserFileError when there is none that can be used."""
        try:
            return Command(command_words(order.agent))
        except _CommandError as error:
            raise UserFileError([_as_problem(order.agent, error)]) from error

    def reader(self, order: TurnOrder) -> CommandReader:
        """A new reader for one attempt."""
        try:
            return CommandReader(say("The command {name}", name=Path(command_words(order.agent)[0]).name))
        except _CommandError:
            return CommandReader()


def _as_problem(agent: AgentDefinition, error: _CommandError) -> Problem:
    return Problem(str(error), "command", _example(), file=agent.path)
