"""The journal of a run: one event a line, only ever appended, read back whatever happened to its end.

A line is written with one call, so a kill at any byte leaves whole lines and at most one torn one at the end.
What was acknowledged by `sync` is on disk.
"""

from __future__ import annotations

import contextlib
import os
import threading
from pathlib import Path
from typing import Annotated

import orjson
from pydantic import Field, TypeAdapter, ValidationError

from core.events import Event
from core.words import say

JOURNAL_NAME = "journal.jsonl"


class JournalError(Exception):
    """The journal could not be written; the message says why and what to do, for a user."""


class Journal:
    """The journal of one run, open for appending. Thread-safe. Raises JournalError when the disk refuses."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.Lock()
        self._syncing = threading.Lock()
        flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | getattr(os, "O_BINARY", 0)
        self._fd: int | None = os.open(path, flags, 0o644)
        self._end = os.fstat(self._fd).st_size
        self._synced = -1
        """Bytes that are known to be on disk; -1: not even that the file is there."""
        self._sync_error: OSError | None = None
        if self._end and not _ends_with_newline(path):
            # A torn line of an earlier life: closed, so that the next line does not become part of it.
            self._write(b"\n")

    def append(self, event: Event) -> None:
        """Write one event. It survives the end of this process, but not yet a power cut: see `sync`."""
        self._write(orjson.dumps(event, option=orjson.OPT_APPEND_NEWLINE))

    def sync(self) -> None:
        """Return when everything appended so far is on disk."""
        wanted = self._end
        # Others append meanwhile: a slow disk must not hold up whoever only tells of something.
        with self._syncing:
            # Of those who waited here, the first brought the others' lines to the disk with its own.
            if self._synced >= wanted or self._fd is None:
                return
            # A system tells of what it lost only once: whoever asks next must not take that for success.
            if self._sync_error is not None:
                raise self._refused(self._sync_error) from self._sync_error
            end = self._end
            try:
                os.fsync(self._fd)
            except OSError as error:
                self._sync_error = error
                raise self._refused(error) from error
            self._synced = end

    def close(self) -> None:
        """Close the file. May be called twice."""
        with self._syncing, self._lock:
            if self._fd is not None:
                os.close(self._fd)
                self._fd = None

    def _write(self, line: bytes) -> None:
        with self._lock:
            if self._fd is None:
                raise JournalError(say("The journal of this run is closed already."))
            try:
                written = os.write(self._fd, line)
                while written < len(line):
                    written += os.write(self._fd, line[written:])
                self._end += written
            except OSError as error:
                # Half a line must not stand before the next one.
                with contextlib.suppress(OSError):
                    os.ftruncate(self._fd, self._end)
                raise self._refused(error) from error

    def _refused(self, error: OSError) -> JournalError:
        return JournalError(
            say(
                "The run folder cannot be written ({error}): {file}. Make room there, then resume the run.",
                error=error.strerror,
                file=self.path,
            )
        )


def _ends_with_newline(path: Path) -> bool:
    with path.open("rb") as file:
        file.seek(-1, os.SEEK_END)
        return file.read() == b"\n"


_EVENT: TypeAdapter[Event] | None = None


def _adapter() -> TypeAdapter[Event]:
    global _EVENT  # built at the first reading: it costs 30 ms that a start should not pay
    if _EVENT is None:
        _EVENT = TypeAdapter(Annotated[Event, Field(discriminator="type")])
    return _EVENT


def event_of(line: bytes) -> Event | None:
    """The event of one line of a journal; None for a torn line and one of a newer version."""
    try:
        return _adapter().validate_json(line)
    except ValidationError:
        return None


def read_journal(path: Path) -> list[Event]:
    """The events of a journal, in order. Torn lines and lines of a newer version are passed over.

    Raises OSError when there is no such file.
    """
    return read_lines(path)[0]


def read_lines(path: Path) -> tuple[list[Event], int]:
    """The events of a journal, and how many of its lines cannot be read. Raises OSError."""
    adapter = _adapter()
    events: list[Event] = []
    unreadable = 0
    with path.open("rb") as file:
        for line in file:
            try:
                events.append(adapter.validate_json(line))
            except ValidationError:
                unreadable += 1
    return events, unreadable
