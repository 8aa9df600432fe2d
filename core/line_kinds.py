"""Which lines of a transcript are what: what was said, tools with their results, errors, OpenLoop itself.

Only lines that begin with a mark say it of themselves; the others follow from the marked line above them. A
scan that goes through a file chunk by chunk therefore hands a `KindState` from each chunk to the next.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Flag, auto

from core.transcript import FOLDING, Kind


class LineKind(Flag):
    """What a line may be; a failed tool is a tool and an error."""

    TEXT = auto()
    """What an agent says or a plain program prints."""
    TOOLS = auto()
    """Calls of tools, with their results."""
    ERRORS = auto()
    """stderr, errors, warnings, failed tools with what they printed."""
    OWN = auto()
    """Steps, state updates, notes, retries."""


EVERY_KIND = LineKind.TEXT | LineKind.TOOLS | LineKind.ERRORS | LineKind.OWN

_OF = {
    Kind.TEXT: LineKind.TEXT,
    Kind.REASONING: LineKind.TEXT,
    Kind.OUTPUT: LineKind.TEXT,
    Kind.TOOL: LineKind.TOOLS,
    Kind.ANSWER: LineKind.TOOLS,
    Kind.TOOL_FAILED: LineKind.TOOLS | LineKind.ERRORS,
    Kind.STDERR: LineKind.ERRORS,
    Kind.ERROR: LineKind.ERRORS,
    Kind.WARNING: LineKind.ERRORS | LineKind.OWN,
}
_BY_LETTER = {kind.value.encode(): _OF.get(kind, LineKind.OWN) for kind in Kind}
_FOLDING = frozenset(kind.value.encode() for kind in FOLDING)
_MARKED = re.compile(
    rb"(?m)^\x1e([a-z])[0-9]{0,20}(?:\x1f[^\t\n\x1e]{0,200})?\t(?:([0-9]{1,9})\t)?[^\n]*(?:\n|\Z)"
)
_BLANKED = bytes(10 if code == 10 else 0 for code in range(256))


@dataclass(frozen=True, slots=True)
class KindState:
    """What the beginning of a chunk belongs to: `results` more lines of `kind`, or the rest of a cut line."""

    results: int = 0
    kind: LineKind = LineKind.TEXT
    cut: LineKind | None = None


@dataclass(frozen=True, slots=True)
class Segment:
    """Bytes `start` to `end` of a chunk, whole lines of one kind."""

    start: int
    end: int
    kind: LineKind


def segments(data: bytes, state: KindState) -> tuple[list[Segment], KindState]:
    """The kinds of a chunk's lines in order, and what the next chunk begins with."""
    found: list[Segment] = []
    position, results, kind = 0, state.results, state.kind
    if state.cut is not None:
        position = data.find(b"\n") + 1
        if not position:
            return [Segment(0, len(data), state.cut)], state
        found.append(Segment(0, position, state.cut))
    for match in (*_MARKED.finditer(data, position), None) if b"\x1e" in data else (None,):
        limit = match.start() if match is not None else len(data)
        if results and position < limit:
            end, results = _after_lines(data, position, limit, results)
            found.append(Segment(position, end, kind))
            position = end
        if position < limit:
            found.append(Segment(position, limit, LineKind.TEXT))
        if match is not None:
            own = _BY_LETTER.get(match[1], LineKind.TEXT)
            if found and found[-1].kind is own and found[-1].end == limit:
                found[-1] = Segment(found[-1].start, match.end(), own)
            else:
                found.append(Segment(limit, match.end(), own))
            folds = match[1] in _FOLDING
            results, kind = (int(match[2] or 0), own) if folds else (0, LineKind.TEXT)
            position = match.end()
    cut = found[-1].kind if found and not data.endswith(b"\n") else None
    return found, KindState(results, kind, cut)


def _after_lines(data: bytes, start: int, limit: int, lines: int) -> tuple[int, int]:
    """Where so many lines end, and how many of them are still to come."""
    here = data.count(b"\n", start, limit)
    if here < lines:
        return limit, lines - here
    position = start - 1
    for _ in range(lines):
        position = data.find(b"\n", position + 1, limit)
    return position + 1, 0


def blank_others(data: bytes, found: list[Segment], wanted: LineKind) -> bytes:
    """The same bytes with every line of another kind blanked out; offsets and newlines stay."""
    if all(segment.kind & wanted for segment in found):
        return data
    parts: list[bytes] = []
    for segment in found:
        piece = data[segment.start : segment.end]
        parts.append(piece if segment.kind & wanted else piece.translate(_BLANKED))
    return b"".join(parts)
