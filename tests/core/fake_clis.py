"""Programs that answer like the CLIs of agents: real files that are really started. Needs no pytest."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path

OF_THE_USER = (
    *("OPENLOOP_OPENCODE", "OPENLOOP_CLAUDE", "OPENLOOP_CODEX", "OPENLOOP_GEMINI"),
    *("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN", "CODEX_API_KEY"),
    *("GEMINI_API_KEY", "GOOGLE_API_KEY", "GOOGLE_GENAI_USE_VERTEXAI", "GOOGLE_GENAI_USE_GCA"),
    *("GEMINI_CLI_HOME", "OPENCODE_DB", "XDG_DATA_HOME", "XDG_CONFIG_HOME"),
)
"""Variables that lead a CLI to what is the user's."""

# What the real ones print, of the versions that were looked at.
OPENCODE_LOGINS = (
    "┌  Credentials \x1b[90m~/.local/share/opencode/auth.json\n│\n●  Anthropic \x1b[90mapi\n│\n"
    "●  GitHub Copilot \x1b[90moauth\n│\n└  2 credentials\n\n"
    "┌  Environment\n│\n●  OpenAI \x1b[90mOPENAI_API_KEY\n│\n└  1 environment variable\n\n"
)
OPENCODE_NO_LOGIN = "┌  Credentials \x1b[90m~/.local/share/opencode/auth.json\n│\n└  0 credentials\n\n"
OPENCODE = {
    "--version": "1.18.33\n",
    "auth list": OPENCODE_LOGINS,
    "models": "anthropic/claude-sonnet-4-5\nopenai/gpt-5\n",
    "agent list": "build (primary)\nplan (primary)\nexplore (subagent)\n",
}
CLAUDE_OUT = '{\n  "loggedIn": false,\n  "authMethod": "none",\n  "apiProvider": "firstParty"\n}\n'
CLAUDE_IN = (
    '{\n  "loggedIn": true,\n  "authMethod": "api_key",\n  "apiProvider": "firstParty",\n'
    '  "apiKeySource": "ANTHROPIC_API_KEY"\n}\n'
)


def write_program(folder: Path, name: str, source: str) -> Path:
    """A program of this name that is this Python source."""
    code = folder / f"{name}_program.py"
    code.write_text(source, encoding="utf-8")
    if sys.platform == "win32":
        shim = folder / f"{name}.cmd"
        shim.write_text(f'@"{sys.executable}" "{code}" %*\n', encoding="utf-8")
        return shim
    program = folder / name
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -S "{code}" "$@"\n', encoding="utf-8")
    program.chmod(0o755)
    return program


def write_cli(
    folder: Path, name: str, answers: Mapping[str, str], codes: Mapping[str, int] | None = None
) -> Path:
    """A program that prints a text for its arguments, and ends with the exit code for them (else 0)."""
    return write_program(
        folder,
        name,
        f"""import sys
words = " ".join(sys.argv[1:])
answers, codes = {dict(answers)!r}, {dict(codes or {})!r}
sys.stdout.buffer.write(answers.get(words, "").encode())
sys.exit(codes.get(words, 0 if words in answers else 64))
""",
    )
