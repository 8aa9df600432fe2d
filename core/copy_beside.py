"""A copy of a file beside it, before the file loses something."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

from core.durable_files import sync_folder
from core.jsonc import read_bytes
from core.problems import Problem, UserFileError
from core.words import say


def keep_copy(path: Path) -> Path:
    """Copy a file to `NAME.bak` beside it, or `NAME.bak2` and so on: no other file is overwritten.

    Gives the copy; one that has the same bytes already is enough. Raises UserFileError.
    """
    data = read_bytes(path)
    number = 0
    while True:
        number += 1
        target = path.with_name(f"{path.name}.bak{number if number > 1 else ''}")
        try:
            _write_new(target, data)
        except FileExistsError:
            if target.is_file() and read_bytes(target) == data:
                return target
        except OSError as error:
            raise UserFileError([_no_copy(path, error)]) from error
        else:
            sync_folder(target.parent)
            return target


def _write_new(target: Path, data: bytes) -> None:
    """Write a file that is not there yet, all of it or nothing. Raises OSError."""
    with target.open("xb") as stream:
        try:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        except OSError:
            with contextlib.suppress(OSError):
                # It tries once more to write what is left.
                stream.close()
            target.unlink(missing_ok=True)
            raise


def _no_copy(path: Path, error: OSError) -> Problem:
    return Problem(
        say(
            "The file has comments, and no copy of it can be made: {error}.",
            error=error.strerror or error,
        ),
        suggestion=say("The file is as it was. Save it somewhere else."),
        file=path,
    )
