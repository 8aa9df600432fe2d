"""Whether Claude Code, Codex and the Gemini CLI are logged in, as far as that can be told without a request.

Claude Code and Codex say it themselves. The Gemini CLI has no such command: its own files and variables are
looked at. No key is read or shown.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import orjson

from core.backends.examination import (
    FoundProgram,
    ask,
    cannot_tell_login,
    find_version,
    logged_in,
    named_variables,
    not_logged_in,
    plain,
    said_by,
)
from core.backends.installed_cli import InstalledCli, object_of, text_of
from core.health import Finding
from core.json_types import JsonObject
from core.jsonc import parse_jsonc, read_text
from core.probing import NoAnswer
from core.problems import UserFileError
from core.words import say

LoginCheck: TypeAlias = Callable[[str, FoundProgram, Path], Finding]
"""Name of the backend, program, working folder -> what is known of the login."""

_GEMINI_VARIABLES = (
    "GEMINI_API_KEY",
    "GOOGLE_API_KEY",
    "GOOGLE_GENAI_USE_VERTEXAI",
    "GOOGLE_GENAI_USE_GCA",
)


def examine_cli(cli: InstalledCli, login: LoginCheck, workdir: Path) -> list[Finding]:
    """An installed CLI: its program, its version, its login. Blocking; raises ProbesCancelled only."""
    finding, program = find_version(cli.program, cli.find, cli.install, workdir)
    return [finding] if program is None else [finding, login(cli.program, program, workdir)]


def claude_login(subject: str, program: FoundProgram, workdir: Path) -> Finding:
    """By `claude auth status`, which answers in JSON; versions before 2.1 do not have it."""
    words = "claude auth status"
    try:
        answer = ask(program.path, ("auth", "status"), workdir, {"DISABLE_AUTOUPDATER": "1"})
        told = orjson.loads(answer.stdout)
    except NoAnswer as error:
        return cannot_tell_login(
            subject, say("`{command}` gave no answer: {error}", command=words, error=error)
        )
    except orjson.JSONDecodeError:
        keys = named_variables("ANTHROPIC_API_KEY", "CLAUDE_CODE_OAUTH_TOKEN", "ANTHROPIC_AUTH_TOKEN")
        if keys:
            return logged_in(subject, say("{variable} is set.", variable=keys[0]))
        return cannot_tell_login(subject, say("`{command}` gives no answer that can be read.", command=words))
    status: JsonObject = told if isinstance(told, dict) else {}
    if status.get("loggedIn") is True:
        method, source = text_of(status.get("authMethod")), text_of(status.get("apiKeySource"))
        words = _claude_words(method, text_of(status.get("apiProvider")))
        return logged_in(subject, f"{words.removesuffix('.')} ({source})." if source else words)
    if status.get("loggedIn") is False:
        return not_logged_in(
            subject,
            say("Not logged in."),
            say("Log in with `claude auth login`, or set ANTHROPIC_API_KEY."),
            sure=True,
        )
    return cannot_tell_login(subject, say("`{command}` gives no answer that can be read.", command=words))


def _claude_words(method: str, provider: str) -> str:
    match method:
        case "oauth_token":
            return say("Logged in with an OAuth token.")
        case "api_key":
            return say("Logged in with an API key.")
        case "claude.ai":
            return say("Logged in with a Claude account.")
        case "third_party" if provider:
            return say("Logged in through {provider}.", provider=provider)
        case "third_party":
            return say("Logged in through another provider.")
        case _:
            return say("Logged in.")


def codex_login(subject: str, program: FoundProgram, workdir: Path) -> Finding:
    """By `codex login status`: exit code 0 with a stored login, 1 without."""
    try:
        answer = ask(program.path, ("login", "status"), workdir)
    except NoAnswer as error:
        return cannot_tell_login(subject, say("`codex login status` gave no answer: {error}", error=error))
    said = plain(f"{answer.stdout}\n{answer.stderr}").lower()
    if answer.exit_code == 0:
        # What it says of a key shows a part of it.
        if "api key" in said:
            return logged_in(subject, say("Logged in with an API key."))
        if "chatgpt" in said:
            return logged_in(subject, say("Logged in with a ChatGPT account."))
        return logged_in(subject, say("Logged in."))
    if "not logged in" not in said:
        return cannot_tell_login(
            subject, say("`codex login status` failed. {said}", said=said_by(answer)).strip()
        )
    if named_variables("CODEX_API_KEY"):
        return logged_in(subject, say("CODEX_API_KEY is set."))
    return not_logged_in(
        subject,
        say("Not logged in."),
        say("Log in with `codex login`. A provider of your own in Codex's configuration may do without."),
        sure=False,
    )


def gemini_login(subject: str, program: FoundProgram, workdir: Path) -> Finding:
    """By the variables and files that hold its login; the Gemini CLI has no command that tells it."""
    del program
    keys = named_variables(*_GEMINI_VARIABLES)
    if keys:
        return logged_in(subject, say("{variable} is set.", variable=keys[0]))
    home = Path(os.environ.get("GEMINI_CLI_HOME") or Path.home())
    own = home / ".gemini"
    if (own / "oauth_creds.json").is_file():
        return logged_in(
            subject, say("Logged in with a Google account ({file}).", file=own / "oauth_creds.json")
        )
    # It reads the first .env file from the working folder upwards, in which .gemini/.env comes first.
    for folder in dict.fromkeys((workdir, *workdir.parents, home)):
        for file in (folder / ".gemini" / ".env", folder / ".env"):
            if _has_key(file):
                return logged_in(subject, say("{file} has a key.", file=file))
    chosen = _chosen_login(own / "settings.json")
    if chosen:
        return cannot_tell_login(
            subject, say("The way “{chosen}” is chosen in {file}.", chosen=chosen, file=own / "settings.json")
        )
    return not_logged_in(
        subject,
        say("No login was found."),
        say("Start `gemini` once and log in, or set GEMINI_API_KEY."),
        sure=False,
    )


def _has_key(file: Path) -> bool:
    try:
        lines = file.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return False
    names = ("GEMINI_API_KEY", "GOOGLE_API_KEY")
    found = (line.strip().removeprefix("export ").partition("=") for line in lines)
    return any(name.strip() in names and value.strip() for name, _, value in found)


def _chosen_login(settings: Path) -> str:
    """The kind of login that its settings name (`oauth-personal`, `vertex-ai`); empty: none."""
    try:
        value = parse_jsonc(read_text(settings)).value
    except UserFileError:
        return ""
    told = object_of(value)
    new = object_of(object_of(told.get("security")).get("auth")).get("selectedType")
    return text_of(new) or text_of(told.get("selectedAuthType"))
