"""From the bytes of a log line to what is painted: text, colours by name, fold state. Knows no widget."""

from __future__ import annotations

from dataclasses import dataclass

from app.run_view.log_ansi import CLEAN, Span, Token, after_carriage_return, ansi_spans
from core.line_index import LogLine
from core.transcript import FOLDING, MARK, OWN, Entry, Kind, read_entry
from core.words import say, say_number

RESULT_INDENT = "    "


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
    decoration: int = 0
    """Characters at the beginning that only draw: a triangle, the indent of a result."""
    own_token: Token | None = None
    """The colour of the mark beside what OpenLoop itself says; None: others say it."""


_TOKENS = {
    Kind.STDERR: (Token.FAILED, Token.FAILED),
    Kind.ERROR: (Token.FAILED, Token.FAILED),
    Kind.UPDATE: (Token.SUCCEEDED, Token.TEXT),
    Kind.WARNING: (Token.FAILED, Token.TEXT),
    Kind.REASONING: (Token.OTHER, Token.OTHER),
    Kind.NOTE: (Token.QUIET, Token.QUIET),
    Kind.STEP: (Token.QUIET, Token.QUIET),
    Kind.CORRECTION: (Token.OTHER, Token.OTHER),
    Kind.RETRY: (Token.OTHER, Token.OTHER),
    Kind.TEXT: (Token.TEXT, Token.TEXT),
    Kind.OUTPUT: (Token.TEXT, Token.TEXT),
}
"""Of a line's label, and of its text."""
_SEPARATORS = frozenset({Kind.RETRY, Kind.CORRECTION})


def row_of(
    line: LogLine,
    *,
    structured: bool,
    is_result: bool = False,
    folded: bool | None = None,
    counts: bool = False,
) -> Row:
    """What a line looks like. `is_result`: it is a line of the tool result above it. `counts`: a header says
    how many lines its result has, also where nothing is folded."""
    if not is_result and not line.clipped and not line.looks and not (structured and line.data[:1] == MARK):
        # Nearly every line of a flood: thousands of them a second.
        printed = line.data.decode("utf-8", "replace")
        if printed.isprintable():
            whole = (Span.of(0, len(printed), Token.TEXT),) if printed else ()
            return Row(line.number, printed, whole, searchable=(0, len(printed)))
    entry = read_entry(line.data) if structured else Entry(None, line.data)
    if entry.kind in FOLDING:
        return _tool_row(line, entry, folded, counts)
    base = Token.QUIET if is_result else Token.TEXT
    label, label_token = "", base
    if entry.kind is not None:
        label_token, base = _TOKENS[entry.kind]
        label = _label(entry.kind)
    if entry.time_ms is None and label:
        label = " " * len(label)
    if is_result:
        label = RESULT_INDENT
    shown = after_carriage_return(entry.text)
    if line.looks:
        shown = b"\x1b[%bm%b" % (line.looks, shown)
    body, spans = ansi_spans(shown, base, len(label))
    text = label + body
    if entry.kind in OWN:
        # Colours in it are those of an agent that it quotes.
        spans = [Span.of(len(label), len(text), base)] if body else []
    if label.strip():
        spans = [Span.of(0, len(label), label_token), *spans]
    end = len(text)
    if line.clipped:
        more = say("… {size} more", size=_size(line.clipped))
        text += more
        spans.append(Span.of(end, len(text), Token.QUIET))
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
        decoration=0 if label.strip() else len(label),
        own_token=label_token if entry.kind in OWN else None,
    )


def _tool_row(line: LogLine, entry: Entry, folded: bool | None, counts: bool) -> Row:
    fields = [ansi_spans(part, Token.TEXT, 0)[0] for part in entry.text.split(b"\t")]
    name, title, facts = (*fields, "", "", "")[:3]
    lines = say_number(entry.results, "1 line", "{count:,} lines")
    if entry.results and (folded or counts or entry.kind is Kind.ANSWER):
        facts = f"{facts} · {lines}" if facts else lines
    triangle = "  " if folded is None else "▸ " if folded else "▾ "
    token = {Kind.TOOL_FAILED: Token.FAILED, Kind.ANSWER: Token.QUIET}.get(
        entry.kind or Kind.TOOL, Token.ACCENT
    )
    said = "  ".join(part for part in (name, title) if part)
    text = triangle + said
    spans = [Span.of(0, len(text), token)]
    if facts:
        start = len(text)
        text += "  " + facts
        spans.append(Span.of(start, len(text), token if entry.kind is Kind.TOOL_FAILED else Token.QUIET))
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
        decoration=len(triangle),
    )


def _label(kind: Kind) -> str:
    """What stands before the text of a line; two spaces part them."""
    match kind:
        case Kind.STDERR:
            return "stderr  "
        case Kind.ERROR:
            return f"{say('error')}  "
        case Kind.UPDATE:
            return f"{say('state update')}  "
        case Kind.WARNING:
            return f"{say('warning')}  "
        case Kind.REASONING:
            return f"{say('thinking')}  "
        case _:
            return ""


def _decoded(data: bytes) -> str:
    return data.decode("utf-8", "replace").translate(CLEAN)


def _size(count: int) -> str:
    if count < 1000:
        return say("{count} bytes", count=count)
    value = count / 1000
    for unit in ("KB", "MB"):
        if value < 999.95:
            return f"{value:.1f} {unit}"
        value /= 1000
    return f"{value:.1f} GB"
