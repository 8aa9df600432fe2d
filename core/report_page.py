"""A report as one HTML page that needs nothing else: no network, no fonts, no scripts but its own.

Its Content-Security-Policy allows exactly the style and the script that it holds, by their hashes.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

import resources
from core.progress import RunProgress
from core.report_model import RunReport
from core.report_text import shown
from core.report_timeline import DrawnBar, Mark, Piece, Timeline, timeline_of
from core.report_tree import Node
from core.report_view import LeftOut, anchors_of, page_of, time_words

_ICONS = (
    "openloop",
    "search",
    "info",
    "triangle-alert",
    "circle-check",
    "circle-alert",
    "circle-stop",
    "circle-slash",
    "circle-x",
    "circle-dashed",
    "loader-circle",
)
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
_UNSAFE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
_LEGEND = {
    "succeeded": "succeeded",
    "failed": "failed",
    "corrected": "had to be corrected",
    "stopped": "stopped or cut off",
    "running": "at work",
    "wait": "waiting",
}
_HATCHED = frozenset({"failed", "corrected", "stopped", "running"})


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


def page_html(report: RunReport, progress: RunProgress) -> str:
    """The page. `progress`: the run that the report is about."""
    page = page_of(report)
    style, script = _resource("style.css"), _resource("script.js")
    environment = Environment(
        loader=FileSystemLoader(resources.folder() / "report"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_finalize,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template("page.html").render(
        page=page,
        chart=_chart(timeline_of(progress, report.ended), anchors_of(report), page.savings),
        tree=_tree_html(page.tree) if page.tree is not None else "",
        style=Markup(style),
        style_hash=_hash(style),
        script=Markup(script),
        script_hash=_hash(script),
        icons=[_symbol(name) for name in _ICONS],
    )


def _finalize(value: object) -> object:
    """The last net: nothing that steers the reader's eyes or is no character at all."""
    if isinstance(value, str) and _UNSAFE.search(value):
        clean = _UNSAFE.sub("\ufffd", value)
        return Markup(clean) if isinstance(value, Markup) else clean
    return value


def _resource(name: str) -> str:
    return (resources.folder() / "report" / name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode()


def _symbol(icon: str) -> tuple[str, str, Markup]:
    """An icon: its name, its view box, and what is inside of its svg element."""
    text = (resources.folder() / "icons" / f"{icon}.svg").read_text(encoding="utf-8")
    box = re.search(r'viewBox="([\d. ]+)"', text)
    inside = text[text.index(">", text.index("<svg")) + 1 : text.rindex("</svg>")].strip()
    return icon, box[1] if box else "0 0 24 24", Markup(inside)


# --- timeline -------------------------------------------------------------------------------------------


def _chart(timeline: Timeline, anchors: dict[str, str], savings: str) -> Chart | None:
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
    legend = [LegendEntry(kind, words, kind in _HATCHED) for kind, words in _LEGEND.items() if kind in kinds]
    legend += [
        LegendEntry("succeeded", words, False, sign)
        for sign, words in (("↻", "tried again"), ("✎", "corrected itself"))
        if sign in signs
    ]
    if timeline.breaks:
        legend.append(
            LegendEntry("break", "time left out: the run was resumed, or waited for its user", False)
        )
    return Chart(
        words=savings,
        compact=compact,
        height=top + 8,
        rows=tuple(rows),
        ticks=tuple(_mark(mark) for mark in timeline.ticks),
        passes=tuple(_mark(mark, names_from=_NAMED) for mark in timeline.passes),
        breaks=tuple(_mark(mark) for mark in timeline.breaks),
        legend=tuple(legend),
        left=LeftOut(f"{dropped:,} bars", "All turns are in the table below.") if dropped else LeftOut(),
    )


def _mark(mark: Mark, names_from: float = 0.0) -> ChartMark:
    text = mark.text if mark.width >= names_from else ""
    return ChartMark(f"{mark.left:.3f}", f"{mark.width:.3f}", text, mark.width < _NAMED_ON_PHONES)


def _bar(drawn: DrawnBar, top: int, height: int, anchors: dict[str, str]) -> ChartBar:
    bar = drawn.bar
    words = [bar.title, bar.status.value, time_words(drawn.seconds)]
    if bar.starts > 1:
        words.append(f"start {bar.start_number} of {bar.starts}")
    if len(bar.attempts) > 1:
        words.append(f"{len(bar.attempts)} attempts")
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


# --- state ----------------------------------------------------------------------------------------------


def _tree_html(root: Node) -> Markup:
    return Markup("").join(_tree_parts(root))


def _tree_parts(root: Node) -> Iterator[Markup]:
    """The tree as nested lists. By a stack of its own: it may be deep."""
    waiting: list[Node | Markup] = [Markup("</ul>"), *reversed(root.below), Markup("<ul>")]
    while waiting:
        node = waiting.pop()
        if isinstance(node, Markup):
            yield node
            continue
        mark = Markup('<a class="mark" href="#conflicts">conflict</a>') if node.conflict else ""
        key = Markup('<span class="key">{}</span>{}').format(node.key, mark)
        if not node.foldable:
            value = Markup('<span class="value {}">{}</span>').format(node.kind, node.text)
            yield Markup('<li class="leaf">{}{}</li>').format(key, value)
            continue
        opened = Markup(" open") if node.unfolded else Markup("")
        summary = Markup('<li><details class="{}"{}><summary>{}<span class="kind">{}</span></summary><ul>')
        yield summary.format(node.kind, opened, key, node.text)
        rest = Markup("</ul></details></li>")
        if node.left_out:
            words = f"{node.left_out:,} more are not shown here; all is in state.json of the run folder."
            rest = Markup('<li class="cut">{}</li>').format(words) + rest
        waiting.append(rest)
        waiting.extend(reversed(node.below))
