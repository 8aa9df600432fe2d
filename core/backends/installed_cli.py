"""What agent CLIs that the user installs have in common: finding them, extra arguments, failures."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from core.agent import AgentDefinition
from core.backends.base import ErrorReported, Failure, TurnOrder
from core.backends.provider_loss import ProviderLoss, loss_in_lines, notice_of_loss, provider_loss, shortened
from core.json_types import JsonObject, JsonValue
from core.problems import Problem
from core.processes import ProgramNotFound, find_program
from core.words import say

EXTRA_ARGUMENTS = "extra_args"
"""The key of an agent's front matter with more arguments for its CLI, as a list of texts."""
TITLE_LENGTH = 200

_ANSI = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]")
_TOO_LONG = re.compile(
    r"context.?(length|window)|prompt is too long|maximum context|too many tokens", re.IGNORECASE
)
_PASSING = re.compile(
    r"overload|high demand|rate.?limit|too many requests|temporar|timed? ?out|try again|unavailable"
    r"|connection|disconnected|stream (?:error|closed)|socket|econn|network",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class InstalledCli:
    """One such CLI: its name for people, its program, and what to do when it or its login is missing.

    `variable` is the environment variable with its path, for one that is not in PATH. `claimed` are flags
    that OpenLoop gives itself; agents may not give them, too.
    """

    title: str
    program: str
    variable: str
    install: str
    """The command that installs it."""
    login: Callable[[], str]
    """A sentence that says how to log in."""
    claimed: frozenset[str] = frozenset()

    def find(self, workdir: Path) -> str:
        """The file to start. Raises FileNotFoundError with words for a user."""
        named = os.environ.get(self.variable)
        try:
            return find_program(named or self.program, os.environ.get("PATH"), workdir)
        except ProgramNotFound:
            if named:
                raise FileNotFoundError(
                    say(
                        "{variable} names {file}, but no program can be run there.",
                        variable=self.variable,
                        file=named,
                    )
                ) from None
            raise FileNotFoundError(
                say("{program} is not installed, or not in PATH.", program=self.title)
            ) from None

    def check(self, orders: Sequence[TurnOrder]) -> list[Problem]:
        """What stands in the way of these turns, as far as it can be told without running the CLI."""
        if not orders:
            return []
        problems: list[Problem] = []
        try:
            self.find(orders[0].workdir)
        except FileNotFoundError as error:
            problems.append(
                Problem(
                    str(error),
                    suggestion=say(
                        "Install it with `{command}`, or choose another backend for these agents.",
                        command=self.install,
                    ),
                )
            )
        for order in orders:
            problem = self._arguments_problem(order.agent)
            if problem is not None and problem not in problems:
                problems.append(problem)
        return problems

    def _arguments_problem(self, agent: AgentDefinition) -> Problem | None:
        value = (agent.model_extra or {}).get(EXTRA_ARGUMENTS)
        if value is not None and len(extra_arguments(agent)) != (
            len(value) if isinstance(value, list) else -1
        ):
            return Problem(
                say(
                    "{key} of the agent {name} must be a list of texts.",
                    key=EXTRA_ARGUMENTS,
                    name=agent.name,
                ),
                EXTRA_ARGUMENTS,
                say(
                    'Write them as a list: {key}: ["--flag", "value"].',
                    key=EXTRA_ARGUMENTS,
                ),
                file=agent.path,
            )
        claimed = [word for word in extra_arguments(agent) if word.partition("=")[0] in self.claimed]
        if claimed:
            return Problem(
                say(
                    "{flag} cannot be used by the agent {name}: OpenLoop gives it itself.",
                    flag=claimed[0],
                    name=agent.name,
                ),
                EXTRA_ARGUMENTS,
                say("Take it out."),
                file=agent.path,
            )
        return None

    # --- failures -------------------------------------------------------------------------------------

    def provider_error(
        self, status: int | None, said: str, model: str | None, loss: ProviderLoss | None = None
    ) -> ErrorReported:
        """An error of the provider in a user's words. `status`: the HTTP status, where the CLI told one.

        `loss` is what the CLI told in another way than by `said`; without it, `said` is asked.
        """
        loss = loss or provider_loss(said, status)
        if loss is not None:
            return ErrorReported(loss.words(self.title, self.login(), said), said, provider_wide=True)
        passing = status in (408, 409, 425, 429) or (status is not None and status >= 500)
        if status is None:
            passing = bool(_PASSING.search(said))
        return ErrorReported(self._words(status, shortened(said), model), said, passing)

    def notice_failure(self, answer: str) -> Failure | None:
        """The failure that stands in the place of an answer: a notice that the limit or the login is gone."""
        loss = notice_of_loss(answer)
        if loss is None:
            return None
        return Failure(loss.words(self.title, self.login(), answer.strip()), answer, provider_wide=True)

    def _words(self, status: int | None, said: str, model: str | None) -> str:
        asked = say("the model {model}", model=model) if model else say("the model")
        if status == 413 or _TOO_LONG.search(said):
            return say(
                "The prompt is too long for {model}. Make the payload smaller, or use a model with a "
                "larger context.",
                model=asked,
            )
        if status == 404:
            return say(
                "The provider does not know {model}, or its address is wrong (404). It said: {said}",
                model=asked,
                said=said,
            )
        if status == 429:
            return say(
                "The provider takes no more requests for now (429), a rate limit. It said: {said}", said=said
            )
        if status is not None and status >= 500:
            return say(
                "The provider failed ({status}), also when asked again. It said: {said}",
                status=status,
                said=said,
            )
        if status is not None:
            return say("The provider refused the request ({status}): {said}", status=status, said=said)
        return say("{program} reported an error: {said}", program=self.title, said=said)

    def ended_with_code(self, exit_code: int, stderr: str) -> Failure:
        """The failure of a process that ended with an exit code and no explanation on standard output."""
        found = loss_in_lines(stderr)
        if found is not None:
            loss, notice = found
            return Failure(loss.words(self.title, self.login(), notice), stderr, provider_wide=True)
        lines = [line.strip() for line in stderr.splitlines() if line.strip()]
        said = say("It said: {line}", line=lines[-1]) if lines else say("It said nothing.")
        ended = say("{program} ended with exit code {code}.", program=self.title, code=exit_code)
        return Failure(f"{ended} {said}", stderr)

    def lost_end(self, stderr: str) -> Failure:
        """The failure of a process that ended well, but whose last line is missing."""
        return Failure(
            say("The last part of {program}'s output is missing, so its answer is lost.", program=self.title),
            stderr,
        )


def extra_arguments(agent: AgentDefinition) -> tuple[str, ...]:
    """The texts of the agent's `extra_args`; what is none is left out, and `check` reports it."""
    value = (agent.model_extra or {}).get(EXTRA_ARGUMENTS)
    return tuple(word for word in value if isinstance(word, str)) if isinstance(value, list) else ()


def names_flag(arguments: Sequence[str], *flags: str) -> bool:
    """Whether one of these flags is among the arguments, as `--flag` or `--flag=value`."""
    return any(word.partition("=")[0] in flags for word in arguments)


# --- pieces of lines ----------------------------------------------------------------------------------


def plain_stderr(tail: str) -> str:
    """The end of standard error without colours."""
    return _ANSI.sub("", tail).strip()


def object_of(value: JsonValue) -> JsonObject:
    """The value, if it is an object; else an empty one."""
    return value if isinstance(value, dict) else {}


def text_of(value: JsonValue) -> str:
    """The value, if it is text; else none."""
    return value if isinstance(value, str) else ""


def count_of(value: JsonValue) -> int:
    """The value, if it is a number, as a count of something; else 0."""
    return max(0, int(value)) if isinstance(value, int | float) else 0


def status_of(value: JsonValue) -> int | None:
    """The value, if it is a whole number such as an HTTP status or an exit code."""
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def tool_title(given: JsonObject, keys: Sequence[str], show: Callable[[str], str] = str) -> str:
    """The first of these inputs of a tool call that is a text, on one line and not endless."""
    for key in keys:
        value = given.get(key)
        if isinstance(value, str) and value.strip():
            return one_line(show(value))
    return ""


def one_line(text: str) -> str:
    """Text for a title: one line, not endless."""
    line = " ".join(text.split())
    return line if len(line) <= TITLE_LENGTH else f"{line[: TITLE_LENGTH - 1]}…"
