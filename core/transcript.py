"""A turn's output, rendered for a person, as a file that only grows: `transcript.log`.

The file is UTF-8 lines. A line that begins with U+001E is structured: the mark, one character of `Kind`,
milliseconds since the epoch (left out where the line continues the one above), optionally U+001F and the
agent's name, a tab, the text. Every other line is plain: the result of the tool call above it, further lines
of a text, or what a plain program printed. A header that folds (`FOLDING`) carries the number of result lines
below it as the first field of its text, so that a view finds its folds without reading the results.

Nothing an agent prints can pass for structure: U+001E in its bytes becomes U+241E. Whole chunks of plain
output go through without work per line.
"""

from __future__ import annotations

import os
import re
import threading
from collections import deque
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Protocol

from core.backends.base import (
    ErrorReported,
    NoiseSeen,
    OutputEvent,
    ReasoningSaid,
    SessionOpened,
    StepFinished,
    StepStarted,
    TextSaid,
    ToolUsed,
)
from core.events import AttemptKind
from core.utf8 import cut_at_character
from core.words import say

MARK = b"\x1e"
NAME_MARK = b"\x1f"
_MARK_SHOWN = "\u241e".encode()
NAME_LIMIT = 40

_HEAD = rb"[0-9]{0,20}(?:\x1f[^\t\n\x1e]{0,200})?\t"
"""Time and name; bounded, so that a file of nothing but beginnings takes no longer than any other."""
FOLD_HEADER = re.compile(rb"\x1e[oxj]" + _HEAD + rb"([0-9]{1,20})\t")
"""A header that folds; group 1 is the number of result lines below it."""
HEADER = re.compile(rb"\x1e(?:[oxj]" + _HEAD + rb"[0-9]{1,20}\t|[a-z]" + _HEAD + rb")")
"""What a reader does not see of a structured line."""


class Kind(StrEnum):
    """What a structured line is."""

    OUTPUT = "p"
    TEXT = "t"
    REASONING = "r"
    STEP = "s"
    TOOL = "o"
    TOOL_FAILED = "x"
    ANSWER = "j"
    """A `<state_update>` block of a text; the block itself is the result lines below."""
    STDERR = "e"
    ERROR = "f"
    UPDATE = "u"
    NOTE = "n"
    WARNING = "w"
    RETRY = "a"
    CORRECTION = "c"


OWN = frozenset({Kind.UPDATE, Kind.NOTE, Kind.WARNING, Kind.RETRY, Kind.CORRECTION})
"""What OpenLoop itself says; it may repeat words of an agent, but in its own looks."""
FOLDING = frozenset({Kind.TOOL, Kind.TOOL_FAILED, Kind.ANSWER})
_KINDS = {kind.value.encode(): kind for kind in Kind}

URGENT = frozenset({Kind.ERROR, Kind.UPDATE, Kind.WARNING, Kind.RETRY, Kind.CORRECTION})
"""What no flood may push out of the overview."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of a transcript, taken apart.

    `kind` None: a plain line. `time_ms` None: it continues the line above. `text` is undecoded, and for kinds
    of `FOLDING` without the count; the fields of a tool call (name, title, facts) are parted by tabs.
    """

    kind: Kind | None
    text: bytes
    time_ms: int | None = None
    name: bytes = b""
    results: int = 0


def read_entry(line: bytes) -> Entry:
    """Take a line (without its newline) apart. Never raises: what is not well formed is plain text."""
    if not line.startswith(MARK):
        return Entry(None, line)
    kind = _KINDS.get(line[1:2])
    head, tab, text = line[2:].partition(b"\t")
    digits, _, name = head.partition(NAME_MARK)
    if kind is None or not tab or (digits and not digits.isdigit()):
        return Entry(None, line)
    results = 0
    if kind in FOLDING:
        count, _, text = text.partition(b"\t")
        results = int(count) if count.isdigit() and len(count) < 10 else 0
    return Entry(kind, text, int(digits[:15]) if digits else None, name, results)


@dataclass(frozen=True, slots=True)
class Block:
    """What belongs together: a header line, lines of the same kind below it, and lines that fold."""

    kind: Kind
    text: bytes
    results: bytes = b""
    plain_rest: bool = False
    """Further lines of `text` need no mark of their own (they look like plain output)."""


def _clean(data: bytes) -> bytes:
    return data.replace(MARK, _MARK_SHOWN) if MARK in data else data


def _encode(text: str) -> bytes:
    return _clean(text.encode("utf-8", "replace")).strip(b"\r\n")


def note_bytes(text: str) -> bytes:
    """What we say ourselves: a return in what it repeats of an agent must not hide what stands before it."""
    return _encode(text.replace("\r\n", "\n").replace("\r", " "))


FIELD_BREAKS = str.maketrans({"\t": " ", "\n": " ", "\r": " ", "\x1e": "␞", "\x1f": "␟"})


def field(text: str, limit: int = 500) -> bytes:
    """Text as one field of a header: no breaks, not endless."""
    shown = text if len(text) <= limit else text[:limit] + "…"
    return shown.translate(FIELD_BREAKS).strip().encode("utf-8", "replace")


def _line_count(data: bytes) -> int:
    return data.count(b"\n") + 1 if data else 0


def block_bytes(block: Block, now: float, name: bytes) -> bytes:
    named = NAME_MARK + name if name else b""
    start = MARK + block.kind.value.encode()
    head = start + str(max(0, int(now * 1000))).encode() + named + b"\t"
    text = block.text
    if block.kind in FOLDING:
        head += str(_line_count(block.results)).encode() + b"\t"
    elif b"\n" in text and (name or not block.plain_rest):
        text = text.replace(b"\n", b"\n" + start + named + b"\t")
    rest = block.results + b"\n" if block.results else b""
    return head + text + b"\n" + rest


def _duration(seconds: float) -> str:
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(int(seconds), 60)
    return f"{minutes}:{rest:02}"


_OPEN, _CLOSE = "<state_update>", "</state_update>"
_MOST_ANSWERS = 100
"""Blocks of a text that fold; who writes more of them means to flood."""


def _text_blocks(text: str) -> list[Block]:
    """A text of the assistant, with its (first) state updates apart. Linear in the text's size."""
    blocks: list[Block] = []

    def add_text(piece: str) -> None:
        data = _encode(piece.strip())
        if data:
            blocks.append(Block(Kind.TEXT, data, plain_rest=True))

    position = 0
    while True:
        start = text.find(_OPEN, position) if len(blocks) < 2 * _MOST_ANSWERS else -1
        end = text.find(_CLOSE, start) if start >= 0 else -1
        if end < 0:
            add_text(text[position:])
            return blocks
        add_text(text[position:start])
        blocks.append(Block(Kind.ANSWER, b"answer", _encode(text[start + len(_OPEN) : end].strip())))
        position = end + len(_CLOSE)


def _tool_block(tool: ToolUsed) -> Block:
    facts = [say("failed")] if tool.failed else []
    if tool.seconds is not None:
        facts.append(_duration(tool.seconds))
    if tool.exit_code is not None:
        facts.append(say("exit {code}", code=tool.exit_code))
    fields = (field(tool.tool, 80), field(tool.title), " · ".join(facts).encode())
    kind = Kind.TOOL_FAILED if tool.failed else Kind.TOOL
    return Block(kind, b"\t".join(fields), _encode(tool.output))


_QUIET_ENDS = frozenset({"", "stop", "tool-calls", "tool_calls", "tool_use", "end_turn", "completed"})


class TurnTranscript(Protocol):
    """What a turn writes to: its own transcript or its part of the overview. `now`: epoch seconds."""

    def event(self, event: OutputEvent, now: float) -> None:
        """Render what the agent did."""

    def stderr(self, data: bytes, now: float) -> None:
        """Bytes of the agent's stderr, cut anywhere."""

    def note(self, text: str, now: float, kind: Kind = Kind.NOTE) -> None:
        """Something OpenLoop itself has to say."""

    def attempt(self, number: int, kind: AttemptKind, reason: str, now: float) -> None:
        """Another attempt begins; the first needs no line."""

    def update(self, summary: str, now: float) -> None:
        """The turn's update was accepted; see `summarize_update`."""

    def close(self) -> None:
        """Write what is held back. May be called twice; nothing may be written afterwards."""


class Renderer:
    """Turns calls into blocks; where these go is the subclass's business. Thread-safe."""

    _HELD = 64 * 1024

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._steps = 0
        self._stderr_rest = b""
        self._last_now = 0.0
        self._told: deque[str] = deque(maxlen=20)
        """What was said to be wrong in this attempt."""

    def _write_block(self, block: Block, now: float) -> None:
        raise NotImplementedError

    def _write_output(self, data: bytes, now: float) -> None:
        raise NotImplementedError

    def event(self, event: OutputEvent, now: float) -> None:
        with self._lock:
            self._last_now = now
            if isinstance(event, NoiseSeen):
                if event.data:
                    self._write_output(_clean(event.data), now)
                return
            for block in self._blocks(event):
                self._write_block(block, now)

    def _blocks(self, event: OutputEvent) -> list[Block]:
        match event:
            case TextSaid(text):
                return _text_blocks(text)
            case ReasoningSaid(text):
                data = _encode(text.strip())
                return [Block(Kind.REASONING, data)] if data else []
            case ToolUsed():
                return [_tool_block(event)]
            case StepStarted(model):
                self._steps += 1
                words = say("step {number}", number=self._steps)
                return [Block(Kind.STEP, field(words + (f" · {model}" if model else "")))]
            case StepFinished(reason):
                if reason in _QUIET_ENDS:
                    return []
                words = say("step {number} ended: {reason}", number=self._steps, reason=reason)
                return [Block(Kind.STEP, field(words))]
            case ErrorReported(message, detail):
                self._told.append(message.strip())
                return [Block(Kind.ERROR, _encode(f"{message}\n{detail}"))]
            case SessionOpened() | NoiseSeen():
                return []

    def stderr(self, data: bytes, now: float) -> None:
        with self._lock:
            self._last_now = now
            whole, newline, rest = data.rpartition(b"\n")
            if newline:
                whole, rest = self._stderr_rest + whole, rest
            else:
                whole, rest = b"", self._stderr_rest + rest
            if len(rest) > self._HELD:
                (whole, rest), newline = cut_at_character(rest), b"\n"
            self._stderr_rest = rest
            if newline:
                self._write_block(Block(Kind.STDERR, _clean(whole)), now)

    def note(self, text: str, now: float, kind: Kind = Kind.NOTE) -> None:
        with self._lock:
            news = text if kind is Kind.NOTE else self._news(text)
            if news:
                self._write_block(Block(kind, note_bytes(news)), now)

    def _news(self, text: str) -> str:
        """What is new in a warning or an error: the same message is read once in an attempt, not thrice."""
        text = text.strip()
        known = max((told for told in self._told if told and text.startswith(told)), key=len, default="")
        if text:
            self._told.append(text)
        rest = text[len(known) :]
        # Not in the middle of a word: then it is another message.
        return rest.strip() if not rest or not rest[0].isalnum() else text

    def attempt(self, number: int, kind: AttemptKind, reason: str, now: float) -> None:
        with self._lock:
            self._steps = 0
            if kind is AttemptKind.FIRST:
                return
            known = any(told.startswith(reason) for told in self._told)
            words = (
                say("attempt {number}, correction", number=number)
                if kind is AttemptKind.CORRECTION
                else say("attempt {number}, retry", number=number)
            )
            why = f": {reason}" if reason and not known else ""
            self._told.clear()
            shown = Kind.CORRECTION if kind is AttemptKind.CORRECTION else Kind.RETRY
            self._write_block(Block(shown, field(f"{words}{why}", 2000)), now)

    def update(self, summary: str, now: float) -> None:
        with self._lock:
            self._write_block(Block(Kind.UPDATE, field(summary, 2000)), now)

    def _flush_stderr(self) -> None:
        if self._stderr_rest:
            rest, self._stderr_rest = self._stderr_rest, b""
            self._write_block(Block(Kind.STDERR, _clean(rest)), self._last_now)


class AppendingFile:
    """A file opened for appending, unbuffered: every write is on its way before the call returns."""

    def __init__(self, path: Path) -> None:
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_BINARY", 0)
        self._fd: int | None = os.open(path, flags, 0o644)

    def write(self, data: bytes) -> None:
        if self._fd is None:
            raise ValueError("the transcript is closed")
        view = memoryview(data)
        while view:
            view = view[os.write(self._fd, view) :]

    @property
    def closed(self) -> bool:
        return self._fd is None

    def close(self) -> None:
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None


class TranscriptWriter(Renderer):
    """The transcript of one turn, appended to `path`; continues a file that is there.

    `prefix`: the agent's name on every structured line, for a file that shows several agents. Raises OSError
    when the disk refuses, ValueError after `close`.
    """

    def __init__(self, path: Path, prefix: str = "") -> None:
        super().__init__()
        self._file = AppendingFile(path)
        self._name = field(prefix, NAME_LIMIT)
        self._stamped = 0.0

    def _write_block(self, block: Block, now: float) -> None:
        self._file.write(block_bytes(block, now, self._name))

    def _write_output(self, data: bytes, now: float) -> None:
        """Plain output as it is; once a second its first line carries the time."""
        if abs(now - self._stamped) >= 1:
            self._stamped = now
            stamp = block_bytes(Block(Kind.OUTPUT, b""), now, self._name)
            self._file.write(stamp[:-1])
        self._file.write(data)
        if not data.endswith(b"\n"):
            self._file.write(b"\n")

    def close(self) -> None:
        with self._lock:
            if not self._file.closed:
                self._flush_stderr()
                self._file.close()
