"""opencode's own log, which alone says why a run prints nothing: `run` keeps quiet while it asks again.

One file for all runs, one line an event in `key=value` form, written as things happen (version 1.18.33).
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path

TAIL = 512 * 1024
"""Bytes at the end of the log that are read: more than a hundred starts, a few milliseconds."""

_CREATED = re.compile(rb"^.*\bmessage=created id=ses_\w+ .*$", re.MULTILINE)
_EVENT = re.compile(rb" message=(?P<what>loop|\"stream error\") .*?\bsession\.id=(?P<session>ses_\w+)")
_FIELD = r'(?:^|\s){}=("(?:[^"\\]|\\.)*"|\S*)'
_KIND_OF_ERROR = re.compile(r"^(?:AI_)?\w*(?:Error|Exception):\s*")


def log_file(environment: Mapping[str, str]) -> Path:
    """Where opencode writes its log: on every system below the same folder."""
    data = environment.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
    return Path(data, "opencode", "log", "opencode.log")


def last_error(log: Path, session: str | None, title: str, workdir: Path, since: float) -> str:
    """The error because of which a running session now waits, in the provider's words; empty: none is known.

    Without `session` it is the last one with this title and folder. Its subagents count as well: it waits for
    them. Only lines not older than `since` (seconds since 1970) count. Never raises.
    """
    try:
        tail = _tail(log)
    except OSError:
        return ""
    created = [line.decode("utf-8", "replace") for line in _created(tail)]
    session = session or _session_called(created, title, workdir, since)
    if not session:
        return ""
    family = {session}
    for line in created:
        if _field(line, "parentID") in family:
            family.add(_field(line, "id"))
    went_on: set[str] = set()
    for raw in _lines_backwards(tail):
        event = _EVENT.search(raw)
        if event is None or (speaker := event["session"].decode()) not in family:
            continue
        line = raw.decode("utf-8", "replace")
        if session in went_on or _time(line) < since:
            break
        if event["what"] == b"loop":
            # A step began after whatever had happened before.
            went_on.add(speaker)
        elif speaker not in went_on:
            return _KIND_OF_ERROR.sub("", _field(line, "error.error"))
    return ""


def _tail(log: Path) -> bytes:
    with log.open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - TAIL))
        return file.read(TAIL)


def _lines_backwards(tail: bytes) -> Iterator[bytes]:
    end = len(tail)
    while end > 0:
        start = tail.rfind(b"\n", 0, end) + 1
        yield tail[start:end]
        end = start - 1


def _created(tail: bytes) -> list[bytes]:
    return [found[0] for found in _CREATED.finditer(tail)]


def _session_called(created: list[str], title: str, workdir: Path, since: float) -> str:
    for line in reversed(created):
        if _time(line) < since:
            break
        if _field(line, "title") == title and Path(_field(line, "directory")) == workdir:
            return _field(line, "id")
    return ""


def _field(line: str, name: str) -> str:
    found = re.search(_FIELD.format(re.escape(name)), line)
    if found is None:
        return ""
    try:
        return str(json.loads(found[1])) if found[1].startswith('"') else found[1]
    except ValueError:
        return found[1].strip('"')


def _time(line: str) -> float:
    try:
        return datetime.fromisoformat(_field(line, "timestamp")).timestamp()
    except ValueError:
        return 0.0
