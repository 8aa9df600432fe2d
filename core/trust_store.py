"""Which commands of files the user has allowed: one JSON file that a person can read, change and delete."""

from __future__ import annotations

import contextlib
import itertools
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from filelock import FileLock
from pydantic import BaseModel, ConfigDict, ValidationError

from core.durable_files import replace_file
from core.platform_paths import state_folder
from core.problems import Problem, Severity
from core.trust import BroughtCommand, command_hash
from core.words import say

FILE_NAME = "trusted-commands.json"
LOCK_SECONDS = 10.0
"""How long another OpenLoop may hold the file; it needs milliseconds."""
_ABOUT = (
    "Commands of workflows and agents that you allowed OpenLoop to run. "
    "Delete an entry, or this file, to be asked again."
)


class _Entry(BaseModel):
    """One allowed command. Only `hash` decides; the rest is for whoever reads the file."""

    model_config = ConfigDict(extra="allow")

    hash: str
    when: str = ""
    workflow: str = ""
    source: str = ""
    command: str = ""


class _File(BaseModel):
    model_config = ConfigDict(extra="allow")

    about: str = _ABOUT
    trusted: list[_Entry] = []


class _BrokenFileError(ValueError):
    """The file is there and is not what OpenLoop writes."""


@dataclass(frozen=True, slots=True)
class Trust:
    """What the file says about some commands. `unknown`: those that the user must be asked about."""

    unknown: tuple[BroughtCommand, ...] = ()
    warnings: tuple[Problem, ...] = ()


class TrustStore:
    """Reads and writes the file. Any number of processes may use it at once; nothing is kept in memory.

    `path` None: in the user's folder. Nothing here raises for what is wrong with the file: then nothing is
    trusted, and a warning says why.
    """

    def __init__(self, path: Path | None = None) -> None:
        self.path = path if path is not None else state_folder() / FILE_NAME

    def judge(self, commands: Sequence[BroughtCommand]) -> Trust:
        """Which of these commands were not allowed as they are now. Blocking: reads the disk."""
        if not commands:
            return Trust()
        warnings: list[Problem] = []
        known = {entry.hash for entry in self._read(warnings).trusted}
        hashes = [(command, command_hash(command)) for command in commands]
        unknown = tuple(replace(command, shown_hash=now) for command, now in hashes if now not in known)
        return Trust(unknown, tuple(warnings))

    def changed(self, commands: Sequence[BroughtCommand]) -> bool:
        """Whether one of them is not any more what the user was shown. Blocking: reads the scripts."""
        return any(command.shown_hash not in ("", command_hash(command)) for command in commands)

    def remember(
        self, commands: Sequence[BroughtCommand], workflow: Path | str | None
    ) -> tuple[Problem, ...]:
        """Allow these commands, as they were shown or else are now, from now on. Gives warnings. Blocking."""
        warnings: list[Problem] = []
        when = time.strftime("%Y-%m-%dT%H:%M:%S%z")
        entries = [
            _Entry(
                hash=command.shown_hash or command_hash(command),
                when=when,
                workflow=_text(str(workflow or "")),
                source=_text(command.source),
                command=_text(command.command),
            )
            for command in commands
        ]
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with self._lock():
                file = self._read(warnings, locked=True)
                known = {entry.hash for entry in file.trusted}
                file.trusted += [entry for entry in entries if entry.hash not in known]
                self._write(file)
        except OSError as error:
            warnings.append(
                self._warning(
                    say("What you allowed could not be noted ({error}).", error=error.strerror or error)
                )
            )
        return tuple(warnings)

    def _lock(self) -> FileLock:
        return FileLock(f"{self.path}.lock", timeout=LOCK_SECONDS)

    def _read(self, warnings: list[Problem], *, locked: bool = False) -> _File:
        """The file; an empty one where there is none. A broken one is moved out of the way."""
        try:
            return self._parse()
        except FileNotFoundError:
            return _File()
        except OSError as error:
            if locked:
                raise  # what cannot be read is not written over
            warnings.append(
                self._warning(
                    say(
                        "The commands that you allowed cannot be read ({error}).",
                        error=error.strerror or error,
                    )
                )
            )
            return _File()
        except _BrokenFileError:
            try:
                aside = self._set_aside(locked=locked)
            except OSError as error:
                if locked:
                    raise
                aside = None
                warnings.append(
                    self._warning(
                        say(
                            "The list of commands that you allowed is broken ({error}).",
                            error=error.strerror or error,
                        )
                    )
                )
            if aside is not None:
                warnings.append(
                    self._warning(
                        say(
                            "The list of commands that you allowed was broken. It is kept as {file}.",
                            file=aside,
                        )
                    )
                )
            return _File()

    def _set_aside(self, *, locked: bool) -> Path | None:
        """Move the broken file away, unless another process has just done so. Gives its new place."""
        with contextlib.nullcontext() if locked else self._lock():
            try:
                self._parse()
            except FileNotFoundError:
                return None
            except _BrokenFileError:
                names = (self.path.with_name(f"{self.path.name}.broken{n or ''}") for n in itertools.count())
                aside = next(name for name in names if not name.exists())
                self.path.replace(aside)
                return aside
            return None

    def _parse(self) -> _File:
        try:
            return _File.model_validate_json(self.path.read_bytes())
        except ValidationError as error:
            raise _BrokenFileError(str(error)) from error

    def _write(self, file: _File) -> None:
        replace_file(self.path, f"{file.model_dump_json(indent=2)}\n".encode())

    def _warning(self, message: str) -> Problem:
        return Problem(
            message,
            suggestion=say("You are asked again next time."),
            severity=Severity.WARNING,
            file=self.path,
        )


def _text(text: str) -> str:
    return text.encode("utf-8", "backslashreplace").decode()
