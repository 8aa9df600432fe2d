"""A copy of a file beside it, before the file loses something."""

from __future__ import annotations

import itertools
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
    names = (f"{path.name}.bak{number if number > 1 else ''}" for number in itertools.count(1))
    for target in (path.with_name(name) for name in names):
        try:
            with target.open("xb") as stream:
                stream.write(data)
        except FileExistsError:
            if target.is_file() and read_bytes(target) == data:
                return target
            continue
        except OSError as error:
            raise UserFileError(
                [
                    Problem(
                        say(
                            "The file has comments, and no copy of it can be made: {error}.",
                            error=error.strerror or error,
                        ),
                        suggestion=say("The file is as it was. Save it somewhere else."),
                        file=path,
                    )
                ]
            ) from error
        sync_folder(target.parent)
        return target
    raise AssertionError("numbers do not end")
