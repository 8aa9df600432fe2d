"""What opencode keeps of a session and does not print: a lost end of its output, and its subagents' usage."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import cast

import orjson

from core.backends.installed_cli import count_of, object_of, text_of
from core.json_types import JsonObject, JsonValue
from core.usage import Usage

EXPORT_SECONDS = 30.0
"""How long `opencode export` may take; usually two."""
_PRINTED_AS = {
    "step-start": "step_start",
    "text": "text",
    "reasoning": "reasoning",
    "tool": "tool_use",
    "step-finish": "step_finish",
}
"""The type of the line that `opencode run` prints for a part of a message."""
_SUBAGENTS = """
    with recursive family(id) as (
        select id from session where parent_id = ?
        union select session.id from session join family on session.parent_id = family.id)
    select id, cost, tokens_input, tokens_output, tokens_reasoning, tokens_cache_read, tokens_cache_write
    from session join family using (id)
"""


def answer_lines(
    program: str, session: str, workdir: Path, environment: Mapping[str, str]
) -> list[JsonObject]:
    """The last answer of a session, as the lines that `opencode run` prints; empty: it could not be had.

    Blocking; runs `opencode export`.
    """
    # Into a file: opencode loses what a pipe does not take at once. Its own scratch files go with the folder.
    with (
        tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as scratch,
        Path(scratch, "session.json").open("w+b") as out,
    ):
        try:
            subprocess.run(
                [program, "export", session],
                cwd=workdir,
                env={**os.environ, **environment, "BUN_TMPDIR": scratch},
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.DEVNULL,
                timeout=EXPORT_SECONDS,
                check=False,
                creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
            )
            out.seek(0)
            exported = cast("JsonValue", orjson.loads(out.read()))
        except (OSError, subprocess.TimeoutExpired, orjson.JSONDecodeError):
            # There is nothing better than what was printed, and the attempt is judged by that.
            return []
    return list(_lines(object_of(exported), session))


def _lines(exported: JsonObject, session: str) -> Iterator[JsonObject]:
    told = exported.get("messages")
    messages = [object_of(message) for message in told] if isinstance(told, list) else []
    asked = [
        number
        for number, message in enumerate(messages)
        if object_of(message.get("info")).get("role") == "user"
    ]
    for message in messages[asked[-1] + 1 if asked else 0 :]:
        info, parts = object_of(message.get("info")), message.get("parts")
        for value in parts if isinstance(parts, list) else []:
            part = object_of(value)
            kind = _PRINTED_AS.get(text_of(part.get("type")))
            status = object_of(part.get("state")).get("status")
            if kind is not None and (kind != "tool_use" or status in ("completed", "error")):
                yield {"type": kind, "sessionID": session, "part": part}
        if info.get("error"):
            yield {"type": "error", "sessionID": session, "error": info["error"]}


def database(environment: Mapping[str, str]) -> Path:
    """Where opencode keeps its sessions."""
    data = environment.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
    return Path(environment.get("OPENCODE_DB") or Path(data, "opencode", "opencode.db"))


def subagents_usage(file: Path, session: str) -> dict[str, Usage]:
    """What each subagent of a session used in all, by its own session; empty where it cannot be told."""
    if not file.is_file():
        return {}
    try:
        with contextlib.closing(
            sqlite3.connect(f"{file.absolute().as_uri()}?mode=ro", uri=True, timeout=1)
        ) as connection:
            rows = connection.execute(_SUBAGENTS, (session,)).fetchall()
    except sqlite3.Error:
        # Another version keeps its sessions in another way: what subagents use is not known then.
        return {}
    return {str(row[0]): _usage(row[1], *row[2:]) for row in rows}


def _usage(cost: object, *tokens: JsonValue) -> Usage:
    given, said, reasoning, read, written = map(count_of, tokens)
    # As everywhere in opencode, 0 is the cost of what has no known price.
    price = float(cost) if isinstance(cost, int | float) and cost > 0 else None
    return Usage(given, said, reasoning, read, written, price)
