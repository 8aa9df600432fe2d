"""Files that are whole at any moment, and on the disk when the call returns."""

from __future__ import annotations

import contextlib
import os
import secrets
import stat
from pathlib import Path

from core.words import say


def replace_file(target: Path, data: bytes) -> None:
    """Write a file so that at any moment either the old or the new one is whole. Raises OSError."""
    if target.is_dir():
        raise IsADirectoryError(say("{file} is a folder", file=target))
    mode = _permissions_to_keep(target)
    # Not tempfile: its files belong to the owner alone, and the umask cannot be read without changing it.
    temporary = target.with_name(f".{target.name[:100]}.{secrets.token_hex(6)}.tmp")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o666)
    try:
        with os.fdopen(descriptor, "wb") as stream:
            if mode is not None:
                temporary.chmod(mode)
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        temporary.replace(target)
    except BaseException:
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise
    sync_folder(target.parent)


def _permissions_to_keep(target: Path) -> int | None:
    """Those of the old file; None: there is none. Raises PermissionError for a file that is read-only."""
    try:
        mode = stat.S_IMODE(target.stat().st_mode)
    except FileNotFoundError:
        return None
    if not os.access(target, os.W_OK):
        raise PermissionError(say("{file} is read-only", file=target))
    return mode


def sync_folder(folder: Path) -> None:
    """Bring the new name to the disk; where folders cannot be opened (Windows) the system does it."""
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
