"""How opencode stands on a machine: its version, and the providers that it may use."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from pathlib import Path

from core.backends.examination import (
    FoundProgram,
    ask,
    cannot_tell_login,
    find_version,
    logged_in,
    not_logged_in,
    plain,
    said_by,
)
from core.health import Finding, FindingStatus
from core.probing import NoAnswer
from core.words import say

INSTALL = "npm install -g opencode-ai"
KNOWN = (1, 18)
"""The versions that OpenLoop's reading of its output and exit codes was measured with: 1.18.x."""
NAME = "opencode"

_LOGIN = re.compile(r"^[●•*]\s+(?P<name>\S.*?)\s+(?P<kind>\S+)\s*$", re.MULTILINE)
_MODEL = re.compile(r"^(?P<provider>[^\s/]+)/\S+$", re.MULTILINE)
_QUIET = {"OPENCODE_DISABLE_AUTOUPDATE": "1", "NO_COLOR": "1"}


def examine_opencode(find: Callable[[Path], str], workdir: Path) -> list[Finding]:
    """Its program, its version, and its logins. Blocking; raises ProbesCancelled only."""
    finding, program = find_version(NAME, find, INSTALL, workdir)
    if program is None:
        return [finding]
    if program.number[:2] < KNOWN:
        finding = Finding(
            NAME,
            FindingStatus.WARNING,
            say(
                "{version}, {path}. This is older than {oldest}: it may end with exit code 0 after an "
                "error, and its output may be read wrongly.",
                version=program.version,
                path=program.path,
                oldest=_dotted(KNOWN),
            ),
            say("Update it with `opencode upgrade` or `npm install -g opencode-ai`."),
        )
    return [finding, _login(program, workdir)]


def _login(program: FoundProgram, workdir: Path) -> Finding:
    try:
        answer = ask(program.path, ("auth", "list"), workdir, _QUIET)
    except NoAnswer as error:
        return _no_list(say("`opencode auth list` gave no answer: {error}", error=error))
    if answer.exit_code != 0:
        return _no_list(
            say(
                "`opencode auth list` ended with exit code {code}. {said}",
                code=answer.exit_code,
                said=said_by(answer),
            )
        )
    logins, _, variables = plain(answer.stdout).partition("Environment")
    names = _unique(match["name"] for match in _LOGIN.finditer(logins))
    # In this part of the list the second column is the variable with the key.
    keys = _unique(
        say("{name} (by {kind})", name=match["name"], kind=match["kind"])
        for match in _LOGIN.finditer(variables)
    )
    if names or keys:
        return logged_in(NAME, say("Logged in to {names}.", names=", ".join([*names, *keys])))
    return _without_login(program, workdir)


def _without_login(program: FoundProgram, workdir: Path) -> Finding:
    """Models may be there all the same: free ones, and those of providers with a key in the configuration."""
    advice = say("Log in with `opencode auth login`, or set the variable with your provider's key.")
    try:
        answer = ask(program.path, ("models",), workdir, _QUIET)
    except NoAnswer:
        return not_logged_in(NAME, say("No login is stored and no key is set."), advice, sure=False)
    providers = _unique(match["provider"] for match in _MODEL.finditer(answer.stdout))
    if not providers:
        return not_logged_in(
            NAME, say("No login is stored, and it knows no model without."), advice, sure=True
        )
    # The provider of this name is opencode's own; without a login it has the free models only.
    if providers == ["opencode"]:
        return not_logged_in(
            NAME,
            say("No login is stored, so only opencode's own free models can be used."),
            advice,
            sure=False,
        )
    return logged_in(
        NAME,
        say(
            "No login is stored; models of {names} can be used as configured.",
            names=", ".join(providers),
        ),
    )


def _no_list(why: str) -> Finding:
    return cannot_tell_login(NAME, why.strip())


def _unique(names: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(names))


def _dotted(number: tuple[int, ...]) -> str:
    return ".".join(map(str, number))
