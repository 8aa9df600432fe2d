"""The timeline of a report as it is drawn: rectangles and texts with their places."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from core.report_parts import LeftOut, status_word, time_words
from core.report_text import shown
from core.report_timeline import DrawnBar, Mark, Piece, Timeline
from core.words import say, say_number

_HEAD, _PITCH, _BAR, _GAP = 40, 26, 16, 10
_COMPACT_PITCH, _COMPACT_BAR = 14, 10
"""Pixels: of the timeline's head, a row, a bar, and above a phase. `style.css` has the same for labels."""
_COMPACT_FROM = 60
"""Rows from which on they are lower."""
_MOST_BARS = 10_000
_THINNEST = 0.15
"""Percent of the width; what is less is drawn as two pixels."""
_NAMED, _NAMED_ON_PHONES = 5.0, 25.0
"""Percent that a phase or iteration takes to have its name in it."""
_NUMBERED = 2.5
"""Percent that the number of a pass takes."""
_STEPS = (1, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000)
_HATCHED = frozenset({"failed", "lacking", "stopped", "running"})


@dataclass(frozen=True, slots=True)
class ChartPiece:
    """A rectangle of the timeline: `left` in percent, `width` as SVG takes it, the rest in pixels."""

    kind: str
    left: str
    width: str
    top: int
    height: int
    round: int
    hatch: bool
    sign: str


@dataclass(frozen=True, slots=True)
class ChartBar:
    """A bar, what is said about it, and the row of the table that it leads to."""

    anchor: str
    tip: str
    pieces: tuple[ChartPiece, ...]


@dataclass(frozen=True, slots=True)
class ChartRow:
    """A row with its label."""

    label: str
    parallel: bool
    first: bool
    bars: tuple[ChartBar, ...]


@dataclass(frozen=True, slots=True)
class ChartMark:
    """A mark of the timeline; in percent."""

    left: str
    width: str
    text: str
    minor: bool
    """On a phone there is no room for its text."""
    over: bool = False
    """Its text may stand over what is beside it."""


@dataclass(frozen=True, slots=True)
class LegendEntry:
    """What a kind of bar means."""

    kind: str
    words: str
    hatch: bool
    sign: str = ""


@dataclass(frozen=True, slots=True)
class Chart:
    """The timeline as it is drawn."""

    words: str
    compact: bool
    height: int
    rows: tuple[ChartRow, ...]
    ticks: tuple[ChartMark, ...]
    passes: tuple[ChartMark, ...]
    breaks: tuple[ChartMark, ...]
    legend: tuple[LegendEntry, ...]
    left: LeftOut


def chart_of(timeline: Timeline, anchors: dict[str, str], savings: str) -> Chart | None:
    """What is drawn. `anchors`: by turn id; `savings`: the sentence above it. None: there is nothing."""
    if not timeline.rows:
        return None
    compact = len(timeline.rows) >= _COMPACT_FROM
    pitch, height = (_COMPACT_PITCH, _COMPACT_BAR) if compact else (_PITCH, _BAR)
    top = _HEAD
    rows: list[ChartRow] = []
    bars = dropped = 0
    kinds: dict[str, None] = {}
    signs: dict[str, None] = {}
    for row in timeline.rows:
        top += _GAP if row.first else 0
        kept = row.bars[: max(0, _MOST_BARS - bars)]
        bars += len(kept)
        dropped += len(row.bars) - len(kept)
        drawn = tuple(_bar(each, top + (pitch - height) // 2, height, anchors) for each in kept)
        for bar in drawn:
            for piece in bar.pieces:
                kinds[piece.kind] = None
                signs[piece.sign] = None
        rows.append(ChartRow(shown(row.label, 200), row.parallel, row.first, drawn))
        top += pitch
    legend = [
        LegendEntry(kind, words, kind in _HATCHED) for kind, words in _legend().items() if kind in kinds
    ]
    legend += [
        LegendEntry("succeeded", words, False, sign)
        for sign, words in (("↻", say("tried again")), ("✎", say("corrected itself")))
        if sign in signs
    ]
    if timeline.breaks:
        legend.append(
            LegendEntry("break", say("time left out: the run was resumed, or waited for its user"), False)
        )
    return Chart(
        words=savings,
        compact=compact,
        height=top + 8,
        rows=tuple(rows),
        ticks=tuple(_mark(mark) for mark in timeline.ticks),
        passes=tuple(_passes(timeline.passes)),
        breaks=tuple(_mark(mark) for mark in timeline.breaks),
        legend=tuple(legend),
        left=LeftOut(say_number(dropped, "1 bar", "{count:,} bars"), say("All turns are in the table below."))
        if dropped
        else LeftOut(),
    )


def _passes(marks: tuple[Mark, ...]) -> Iterator[ChartMark]:
    """Phases and passes; of passes that are too narrow for their names every so-manieth has its number."""
    narrow = [mark for mark in marks if mark.number and mark.width < _NAMED]
    each = sum(mark.width for mark in narrow) / len(narrow) if narrow else 0.0
    step = next((step for step in _STEPS if each * step >= _NUMBERED), 0)
    after = 0.0
    """Where the last text that stands over its neighbours ends."""
    for mark in marks:
        numbered = mark.number and step and not mark.number % step and mark.left >= after
        if mark.width >= _NAMED or not numbered or mark.left + _NUMBERED > 100:
            yield _mark(mark, names_from=_NAMED)
            continue
        after = mark.left + _NUMBERED
        minor = mark.number % (5 * step) != 0
        yield ChartMark(f"{mark.left:.3f}", f"{mark.width:.3f}", str(mark.number), minor, over=True)


def _mark(mark: Mark, names_from: float = 0.0) -> ChartMark:
    text = mark.text if mark.width >= names_from else ""
    return ChartMark(f"{mark.left:.3f}", f"{mark.width:.3f}", text, mark.width < _NAMED_ON_PHONES)


def _legend() -> dict[str, str]:
    """What colours mean, in the order of the legend."""
    return {
        "succeeded": say("succeeded"),
        "failed": say("failed"),
        "lacking": say("answered without a state update"),
        "stopped": say("stopped or cut off"),
        "running": say("at work"),
        "wait": say("waiting"),
    }


def _bar(drawn: DrawnBar, top: int, height: int, anchors: dict[str, str]) -> ChartBar:
    bar = drawn.bar
    outcome = say("succeeded without a state update") if bar.went_without else status_word(bar.status)
    words = [bar.title, outcome, time_words(drawn.seconds)]
    if drawn.waited:
        words.append(say("{time} of it waiting for you", time=time_words(drawn.waited)))
    if bar.starts > 1:
        words.append(say("start {number} of {count}", number=bar.start_number, count=bar.starts))
    if len(bar.attempts) > 1:
        words.append(say("{count} attempts", count=len(bar.attempts)))
    if bar.message:
        words.append(bar.message)
    pieces = tuple(_piece(piece, top, height) for piece in drawn.pieces)
    return ChartBar(anchors.get(bar.turn, ""), shown(" · ".join(words), 400), pieces)


def _piece(piece: Piece, top: int, height: int) -> ChartPiece:
    thin = piece.width < _THINNEST
    width = "2" if thin else f"{piece.width:.3f}%"
    if piece.kind == "wait":
        return ChartPiece("wait", f"{piece.left:.3f}", width, top + height // 2 - 1, 2, 0, False, "")
    hatch = piece.kind in _HATCHED and not thin
    sign = piece.sign if piece.width > 1.2 and height >= _BAR else ""
    return ChartPiece(piece.kind, f"{piece.left:.3f}", width, top, height, 0 if thin else 3, hatch, sign)
