"""The answer of an agent, as its CLI tells it piece by piece, without ever keeping more than its end."""

from __future__ import annotations

from collections import deque

TEXT_LIMIT = 8 * 1024 * 1024
"""Characters of an answer that are kept; of a longer one the last ones, where the update stands."""
_TOGETHER = 4096
"""Pieces that are put into one: many small ones take more memory than what they say."""


class AnswerText:
    """What the assistant said last. `joint` stands between two pieces."""

    def __init__(self, joint: str = "") -> None:
        self._joint = joint
        self._blocks: deque[str] = deque()
        self._blocks_length = 0
        self._pieces: list[str] = []
        self._lost = self._too_long = False

    @property
    def cut(self) -> bool:
        """Whether some of it is lost: it is longer than is kept, or stood in a line that was not read."""
        return self._lost or self._too_long

    @property
    def text(self) -> str:
        """The answer as far as it is kept."""
        return self._joint.join((*self._blocks, *self._pieces))[-TEXT_LIMIT:]

    def __bool__(self) -> bool:
        return bool(self._pieces or self._blocks)

    def clear(self) -> None:
        """What was said so far is not the answer."""
        self._blocks.clear()
        self._blocks_length = 0
        self._pieces.clear()
        self._lost = self._too_long = False

    def lose(self) -> None:
        """Something came that could not be read and may be the answer."""
        self.clear()
        self._lost = True

    def append(self, piece: str) -> None:
        """The next piece of it."""
        self._lost = self._lost and not piece.strip()
        self._pieces.append(piece)
        if len(self._pieces) >= _TOGETHER or len(piece) >= _TOGETHER:
            self._store()

    def _store(self) -> None:
        block = self._joint.join(self._pieces)
        self._pieces.clear()
        self._too_long = self._too_long or self._blocks_length + len(block) > TEXT_LIMIT
        self._blocks.append(block[-TEXT_LIMIT:])
        self._blocks_length += len(self._blocks[-1])
        while self._blocks_length - len(self._blocks[0]) >= TEXT_LIMIT:
            self._blocks_length -= len(self._blocks.popleft())
