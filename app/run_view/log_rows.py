"""From the bytes of a log line to what is painted: text, colours by name, fold state. Knows no widget."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from core.line_index import LogLine
from core.transcript import FOLDING, OWN, Entry, Kind, read_entry

RESULT_INDENT = "    "
_ESCAPE = re.compile(
    r"\x1b\[([0-9;:]*)m"  # colours and weight
    r"|\x1b\[[0-?]*[ -/]*[@-~]"  # other control sequences
    r"|\x1b[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\|\Z)"  # titles, links and the like
    r"|\x1b[ -/]*[0-~]?"
)
_SHOWN = {code: chr(0x2400 + code) for code in range(32) if code not in (7, 8, 9, 13, 27)}
_DROPPED = (7, 8, 13, 27, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A))
_CLEAN: dict[int, str | None] = {
    **_SHOWN,
    **dict.fromkeys(_DROPPED),
    0x7F: "␡",
    # Control sequences of eight bits: whoever pastes what was copied into a terminal must not send any.
    **dict.fromkeys(range(0x80, 0xA0), "\ufffd"),
    0x85: " ",
    0x2028: " ",
    0x2029: " ",
}


class Token(StrEnum):
    """Colours of `app.theme.Theme` that text is painted in."""

    TEXT = "text"
    QUIET = "quiet"
    ACCENT = "accent"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class Span:
    """Characters `start` to `end` of a row's text in one look."""

    start: int
    end: int
    token: Token = Token.TEXT
    bold: bool = False
    underline: bool = False


@dataclass(frozen=True, slots=True)
class Row:
    """One logical line as it is shown. `searchable`: the characters that come from the file itself.

    `folded` None: nothing to fold. `hanging`: characters by which the rest of a wrapped row is indented.
    """

    line: int
    text: str
    spans: tuple[Span, ...]
    kind: Kind | None = None
    time_ms: int | None = None
    name: str = ""
    folded: bool | None = None
    searchable: tuple[int, int] = (0, 0)
    hanging: int = 0
    separator: bool = False
    own_token: Token | None = None
    """The colour of the mark beside what OpenLoop itself says; None: others say it."""


_LABELS = {
    Kind.STDERR: ("stderr  ", Token.FAILED, Token.FAILED),
    Kind.ERROR: ("error  ", Token.FAILED, Token.FAILED),
    Kind.UPDATE: ("state update  ", Token.SUCCEEDED, Token.TEXT),
    Kind.WARNING: ("warning  ", Token.FAILED, Token.TEXT),
    Kind.REASONING: ("thinking  ", Token.OTHER, Token.OTHER),
    Kind.NOTE: ("", Token.QUIET, Token.QUIET),
    Kind.STEP: ("", Token.QUIET, Token.QUIET),
    Kind.CORRECTION: ("", Token.OTHER, Token.OTHER),
    Kind.RETRY: ("", Token.OTHER, Token.OTHER),
    Kind.TEXT: ("", Token.TEXT, Token.TEXT),
    Kind.OUTPUT: ("", Token.TEXT, Token.TEXT),
}
_SEPARATORS = frozenset({Kind.RETRY, Kind.CORRECTION})


def row_of(line: LogLine, *, structured: bool, is_result: bool = False, folded: bool | None = None) -> Row:
    """What a line looks like. `is_result`: it is a line of the tool result above it."""
    entry = read_entry(line.data) if structured else Entry(None, line.data)
    if entry.kind in FOLDING:
        return _tool_row(line, entry, folded)
    base = Token.QUIET if is_result else Token.TEXT
    label, label_token = "", base
    if entry.kind is not None:
        label, label_token, base = _LABELS[entry.kind]
    if entry.time_ms is None and label:
        label = " " * len(label)
    if is_result:
        label = RESULT_INDENT
    body, spans = ansi_spans(_after_carriage_return(entry.text), base, len(label))
    text = label + body
    if entry.kind in OWN:
        # Colours in it are those of an agent that it quotes.
        spans = [Span(len(label), len(text), base)] if body else []
    if label.strip():
        spans = [Span(0, len(label), label_token), *spans]
    end = len(text)
    if line.clipped:
        more = f"… {_size(line.clipped)} more"
        text += more
        spans.append(Span(end, len(text), Token.QUIET))
    return Row(
        line.number,
        text,
        tuple(spans),
        kind=entry.kind,
        time_ms=entry.time_ms,
        name=_decoded(entry.name),
        searchable=(len(label), end),
        hanging=len(label),
        separator=entry.kind in _SEPARATORS,
        own_token=label_token if entry.kind in OWN else None,
    )


def _tool_row(line: LogLine, entry: Entry, folded: bool | None) -> Row:
    fields = [ansi_spans(part, Token.TEXT, 0)[0] for part in entry.text.split(b"\t")]
    name, title, facts = (*fields, "", "", "")[:3]
    lines = f"{entry.results:,} line" + ("" if entry.results == 1 else "s")
    if entry.results and (folded or entry.kind is Kind.ANSWER):
        facts = f"{facts} · {lines}" if facts else lines
    triangle = "  " if folded is None else "▸ " if folded else "▾ "
    token = {Kind.TOOL_FAILED: Token.FAILED, Kind.ANSWER: Token.QUIET}.get(
        entry.kind or Kind.TOOL, Token.ACCENT
    )
    said = "  ".join(part for part in (name, title) if part)
    text = triangle + said
    spans = [Span(0, len(text), token)]
    if facts:
        start = len(text)
        text += "  " + facts
        spans.append(Span(start, len(text), token if entry.kind is Kind.TOOL_FAILED else Token.QUIET))
    return Row(
        line.number,
        text,
        tuple(spans),
        kind=entry.kind,
        time_ms=entry.time_ms,
        name=_decoded(entry.name),
        folded=folded,
        searchable=(len(triangle), len(text)),
        hanging=len(triangle),
    )


def _decoded(data: bytes) -> str:
    return data.decode("utf-8", "replace").translate(_CLEAN)


def _after_carriage_return(data: bytes) -> bytes:
    """What a terminal would still show of a progress bar."""
    return data.rstrip(b"\r").rpartition(b"\r")[2] if b"\r" in data else data


def _size(count: int) -> str:
    if count < 1000:
        return f"{count} bytes"
    value = count / 1000
    for unit in ("KB", "MB"):
        if value < 999.95:
            return f"{value:.1f} {unit}"
        value /= 1000
    return f"{value:.1f} GB"


# --- colours of terminal programs ---------------------------------------------------------------------

_BASIC = (
    Token.QUIET,
    Token.FAILED,
    Token.SUCCEEDED,
    Token.OTHER,
    Token.ACCENT,
    Token.OTHER,
    Token.ACCENT,
    Token.TEXT,
)


def ansi_spans(data: bytes, base: Token, shift: int) -> tuple[str, list[Span]]:
    """Decode text, take escape sequences out of it, and say what they meant. Spans are moved by `shift`."""
    raw = data.decode("utf-8", "replace")
    if "\x1b" not in raw:
        text = raw.translate(_CLEAN)
        return text, [Span(shift, shift + len(text), base)] if text else []
    parts: list[str] = []
    spans: list[Span] = []
    position, length = 0, shift
    look = (base, False, False)
    for match in _ESCAPE.finditer(raw):
        length = _add(parts, spans, raw[position : match.start()], length, look)
        position = match.end()
        if match[1] is not None:
            look = _sgr(match[1], look, base)
    _add(parts, spans, raw[position:], length, look)
    return "".join(parts), spans


def _add(parts: list[str], spans: list[Span], raw: str, at: int, look: tuple[Token, bool, bool]) -> int:
    piece = raw.translate(_CLEAN)
    if piece:
        parts.append(piece)
        spans.append(Span(at, at + len(piece), *look))
    return at + len(piece)


def _sgr(codes: str, look: tuple[Token, bool, bool], base: Token) -> tuple[Token, bool, bool]:
    token, bold, underline = look
    numbers = iter([int(code[:6]) if code else 0 for code in re.split("[;:]", codes)])
    for code in numbers:
        if code == 0:
            token, bold, underline = base, False, False
        elif code == 1:
            bold = True
        elif code == 2:
            token = Token.QUIET
        elif code == 22:
            bold = False
        elif code == 4:
            underline = True
        elif code == 24:
            underline = False
        elif code == 39:
            token = base
        elif 30 <= code <= 37:
            token = _BASIC[code - 30]
        elif 90 <= code <= 97:
            token = Token.QUIET if code == 90 else _BASIC[code - 90]
        elif code in (38, 48, 58):
            chosen = _extended(numbers)
            if code == 38 and chosen is not None:
                token = chosen
    return token, bold, underline


def _extended(numbers: Iterator[int]) -> Token | None:
    """The nearest token to a colour of the 256 or of 24 bits."""
    form = next(numbers, 0)
    if form == 5:
        index = next(numbers, 7)
        if index < 16:
            return Token.QUIET if index == 8 else _BASIC[index % 8]
        if index >= 232:
            return Token.QUIET if index < 250 else Token.TEXT
        index -= 16
        return _nearest(index // 36 * 51, index // 6 % 6 * 51, index % 6 * 51)
    if form == 2:
        return _nearest(next(numbers, 0), next(numbers, 0), next(numbers, 0))
    return None


def _nearest(red: int, green: int, blue: int) -> Token:
    high, low = max(red, green, blue), min(red, green, blue)
    if high - low < 48:
        return Token.TEXT if high > 200 else Token.QUIET
    if blue == high:
        return Token.OTHER if red > (high + low) // 2 and red > green else Token.ACCENT
    if green == high:
        return Token.OTHER if red > (high + low) // 2 else Token.SUCCEEDED
    return Token.OTHER if blue > (high + low) // 2 or green > (high + low) // 2 else Token.FAILED
