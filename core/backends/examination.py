"""How the agent CLIs of a machine are examined: is it there, which version, does it answer, whose login.

Nothing here asks a model or a provider: it costs neither money nor, as far as the CLIs allow, network.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from core.health import Finding, FindingStatus
from core.probing import CannotStart, NoAnswer, ProbeAnswer, asking_place, probe
from core.words import say

_VERSION = re.compile(r"(?<![\w.])v?(\d+\.\d+(?:\.\d+)*(?:[-+][\w.+-]+)?)")
_ANSI = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]")
_LONGEST = 200
"""Characters of what a program said that are passed on."""


@dataclass(frozen=True, slots=True)
class FoundProgram:
    """A program that told its version. `number`: its leading numbers, to be compared."""

    path: str
    version: str

    @property
    def number(self) -> tuple[int, ...]:
        return tuple(int(part) for part in re.split(r"[-+]", self.version)[0].split("."))


def find_version(
    subject: str, find: Callable[[Path], str], install: str, workdir: Path
) -> tuple[Finding, FoundProgram | None]:
    """Find a CLI and ask for its version. `subject`: the name of its backend; `find` raises FileNotFoundError
    with words for a user; `install` is a command. The program is None where nothing more can be asked.
    """
    try:
        path = find(workdir)
    except FileNotFoundError as error:
        return Finding(
            subject,
            FindingStatus.ERROR,
            str(error),
            say("Install it with `{command}`.", command=install),
            absent=True,
        ), None
    name = Path(path).name
    try:
        answer = ask(path, ("--version",), workdir)
    except CannotStart as error:
        message = say("It cannot be started. {error}", error=error)
        return Finding(
            subject, FindingStatus.ERROR, message, say("Install it with `{command}` again.", command=install)
        ), None
    except NoAnswer as error:
        message = say("It does not answer ({path}). {error}", path=path, error=error)
        advice = say("Run `{name} --version` in a terminal to see what it waits for.", name=name)
        return Finding(subject, FindingStatus.ERROR, message, advice), None
    if answer.exit_code != 0:
        said = said_by(answer)
        message = say(
            "It does not work ({path}): it ended with exit code {code}. {said}",
            path=path,
            code=answer.exit_code,
            said=said,
        ).strip()
        return Finding(
            subject, FindingStatus.ERROR, message, say("Install it with `{command}` again.", command=install)
        ), None
    match = _VERSION.search(plain(answer.stdout)) or _VERSION.search(plain(answer.stderr))
    if match is None:
        message = say(
            "It does not tell its version ({path}), so it may be another program of this name.", path=path
        )
        return Finding(
            subject, FindingStatus.WARNING, message, say("Look what `{name} --version` says.", name=name)
        ), None
    program = FoundProgram(path, match[1])
    return Finding(subject, FindingStatus.OK, f"{program.version}, {path}"), program


def ask(path: str, words: Sequence[str], workdir: Path, env: Mapping[str, str] | None = None) -> ProbeAnswer:
    """Ask a CLI in the working folder, or elsewhere while there is none. Raises NoAnswer."""
    return probe((path, *words), asking_place(workdir), env=env)


def named_variables(*names: str) -> list[str]:
    """Those of these environment variables that have a value."""
    return [name for name in names if os.environ.get(name, "").strip()]


def said_by(answer: ProbeAnswer) -> str:
    """What a program said about its failure, as a sentence; empty where it said nothing."""
    lines = [line.strip() for line in plain(answer.stderr or answer.stdout).splitlines() if line.strip()]
    line = next((line for line in lines if line.lower().startswith("error")), lines[-1] if lines else "")
    return say("It said: {line}", line=line[:_LONGEST]) if line else ""


def plain(text: str) -> str:
    """Text without colours."""
    return _ANSI.sub("", text)


# --- logins -------------------------------------------------------------------------------------------


def logged_in(subject: str, how: str) -> Finding:
    """A login was found. `how` says which; never a key or a part of one."""
    return Finding(say("{program} login", program=subject), FindingStatus.OK, how)


def not_logged_in(subject: str, message: str, advice: str, *, sure: bool) -> Finding:
    """No login was found. `sure`: the CLI says so itself; else it may have one that cannot be seen."""
    status = FindingStatus.ERROR if sure else FindingStatus.WARNING
    return Finding(say("{program} login", program=subject), status, message, advice, absent=True)


def cannot_tell_login(subject: str, why: str) -> Finding:
    """Whether there is a login cannot be told; a turn shows it."""
    return Finding(
        say("{program} login", program=subject),
        FindingStatus.OK,
        say("Whether it is logged in cannot be told. {why}", why=why),
    )
