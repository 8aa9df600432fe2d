"""What all agents of a run print, for a person, as one transcript: `overview.log`."""

from __future__ import annotations

import threading
from pathlib import Path

from core.transcript import (
    NAME_LIMIT,
    URGENT,
    AppendingFile,
    Block,
    Kind,
    Renderer,
    TurnTranscript,
    block_bytes,
    field,
    note_bytes,
)
from core.words import say, say_number


class OverviewWriter:
    """The transcript of a whole run, in which every line carries its agent's name.

    A flood does not bury the others: beyond `LINES_PER_SECOND` of one turn, lines are counted instead of
    shown. Results of tool calls are left to the turn's own transcript.
    """

    LINES_PER_SECOND = 200
    LINE_LIMIT = 2000
    """Bytes of a line of plain output that are shown."""
    COUNTED = 1024 * 1024
    """Bytes of one turn whose lines are counted when they are left out; more is told in megabytes."""

    def __init__(self, path: Path) -> None:
        self._file = AppendingFile(path)
        self._lock = threading.RLock()
        self._turns: list[_OverviewTurn] = []

    def for_turn(self, label: str) -> TurnTranscript:
        """Where the turn with this label writes."""
        with self._lock:
            turn = _OverviewTurn(self, field(label, NAME_LIMIT))
            self._turns.append(turn)
            return turn

    def note(self, text: str, now: float, kind: Kind = Kind.NOTE) -> None:
        """Something about the run as a whole."""
        with self._lock:
            self._file.write(block_bytes(Block(kind, note_bytes(text)), now, b""))

    def tick(self, now: float) -> None:
        """Tell of floods that ended; every write does it too."""
        with self._lock:
            for turn in self._turns:
                turn.tell_left_out(now)

    def close(self) -> None:
        """Close all turns and the file."""
        with self._lock:
            for turn in list(self._turns):
                turn.close()
            self._file.close()

    def _append(self, data: bytes) -> None:
        self._file.write(data)

    def _forget(self, turn: _OverviewTurn) -> None:
        self._turns.remove(turn)


class _OverviewTurn(Renderer):
    """One turn's part of the overview."""

    def __init__(self, overview: OverviewWriter, name: bytes) -> None:
        super().__init__()
        self._lock = overview._lock
        self._overview = overview
        self._name = name
        self._second = 0.0
        self._budget = overview.LINES_PER_SECOND
        self._left_out = self._left_out_bytes = 0
        self._open = True

    def _write_block(self, block: Block, now: float) -> None:
        if block.kind is Kind.ANSWER:
            return
        if block.results:
            block = Block(block.kind, block.text)
        if block.kind in URGENT:
            self.tell_left_out(now, at_once=True)
            self._append(block, now)
            return
        text = self._allowed(block.text + b"\n", now)
        if text:
            self._append(Block(block.kind, text[:-1]), now)

    def _write_output(self, data: bytes, now: float) -> None:
        text = self._allowed(data if data.endswith(b"\n") else data + b"\n", now)
        if text:
            self._append(Block(Kind.OUTPUT, text[:-1]), now)

    def _append(self, block: Block, now: float) -> None:
        self._overview._append(block_bytes(block, now, self._name))

    def _allowed(self, data: bytes, now: float) -> bytes:
        """The lines of `data` that fit into this second; counts the rest."""
        self._overview.tick(now)
        if abs(now - self._second) >= 1:
            self._second = now
            self._budget = self._overview.LINES_PER_SECOND
        lines: list[bytes] = []
        position = 0
        limit = self._overview.LINE_LIMIT
        while self._budget and position < len(data):
            end = data.index(b"\n", position)
            cut = "…".encode() if end - position > limit else b""
            lines.append(data[position : min(end, position + limit)] + cut)
            position = end + 1
            self._budget -= 1
        self._left_out_bytes += len(data) - position
        if self._left_out_bytes <= self._overview.COUNTED:
            self._left_out += data.count(b"\n", position)
        return b"\n".join(lines) + b"\n" if lines else b""

    def tell_left_out(self, now: float, *, at_once: bool = False) -> None:
        """Say how many lines were not shown, once their second is over."""
        if self._left_out_bytes and (at_once or abs(now - self._second) >= 1):
            name = self._name.decode("utf-8", "replace")
            if self._left_out_bytes > self._overview.COUNTED:
                size = self._left_out_bytes / 1e6
                words = say("… {size:,.0f} MB more, see the tab of {agent}", size=size, agent=name)
            else:
                words = say_number(
                    self._left_out,
                    "… 1 more line, see the tab of {agent}",
                    "… {count:,} more lines, see the tab of {agent}",
                    agent=name,
                )
            self._left_out = self._left_out_bytes = 0
            self._append(Block(Kind.NOTE, words.encode()), now)

    def close(self) -> None:
        with self._lock:
            if self._open:
                self._flush_stderr()
                self.tell_left_out(self._last_now, at_once=True)
                self._overview._forget(self)
                self._open = False
