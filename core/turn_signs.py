"""Signs of life of turns that another process makes: the journal does not tell that an agent prints."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from core.events import TurnActivity

_OUTPUTS = ("stdout.log", "stderr.log")
"""What the processes of a turn write to, in its folder."""


class TurnSigns:
    """Looks at the files that agents print into. Used by one thread at a time."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[float, int]] = {}
        """By turn id: when its files were written last, and their bytes."""

    def look(self, folders: Mapping[str, Path]) -> list[TurnActivity]:
        """What was printed since the last call. `folders`: by turn id, of those at work. Blocking."""
        found: list[TurnActivity] = []
        for turn, folder in folders.items():
            written, size = _outputs(folder)
            if size and self._known.get(turn) != (written, size):
                found.append(TurnActivity(time=written, turn=turn, output_bytes=size))
            self._known[turn] = written, size
        return found


def _outputs(folder: Path) -> tuple[float, int]:
    written, size = 0.0, 0
    for name in _OUTPUTS:
        try:
            stat = (folder / name).stat()
        except OSError:
            # Its process has not begun, or the folder is gone: no sign.
            continue
        if stat.st_size:
            written, size = max(written, stat.st_mtime), size + stat.st_size
    return written, size
