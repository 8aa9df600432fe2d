"""A report as one HTML page that needs nothing else: no network, no fonts, no scripts but its own.

Its Content-Security-Policy allows exactly the style and the script that it holds, by their hashes.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterator

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

import resources
from core.progress import RunProgress
from core.report_chart import chart_of
from core.report_model import RunReport
from core.report_parts import anchors_of
from core.report_timeline import timeline_of
from core.report_tree import Node
from core.report_view import page_of
from core.run_times import RunChart
from core.words import language, say

_ICONS = (
    "openloop",
    "search",
    "info",
    "triangle-alert",
    "circle-check",
    "circle-alert",
    "circle-stop",
    "circle-slash",
    "circle-pause",
    "circle-dashed",
    "loader-circle",
)
_UNSAFE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def page_html(report: RunReport, progress: RunProgress) -> str:
    """The page. `progress`: the run that the report is about."""
    run = RunChart(progress)
    clock = run.clock(report.ended)
    page = page_of(report, clock)
    style, script = _resource("style.css"), _resource("script.js")
    environment = Environment(
        loader=FileSystemLoader(resources.folder() / "report"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_finalize,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals.update(say=say, language=language())
    return environment.get_template("page.html").render(
        page=page,
        chart=chart_of(timeline_of(run, clock, report.ended), anchors_of(report), page.savings),
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
        mark = (
            Markup('<a class="mark" href="#conflicts">{}</a>').format(say("conflict"))
            if node.conflict
            else ""
        )
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
            words = say(
                "{count:,} more are not shown here; all is in state.json of the run folder.",
                count=node.left_out,
            )
            rest = Markup('<li class="cut">{}</li>').format(words) + rest
        waiting.append(rest)
        waiting.extend(reversed(node.below))
