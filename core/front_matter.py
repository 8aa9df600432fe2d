"""The front matter of an agent file: where it stands in the text, and its YAML as nodes with their places."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import yaml
from frontmatter.default_handlers import YAMLHandler

from core.words import say

_BOUNDARY: re.Pattern[str] = YAMLHandler.FM_BOUNDARY
BYTE_ORDER_MARK = "\ufeff"

MOST_FRONT_MATTER = 256 * 1024
"""Characters of front matter; a value of two takes a kilobyte while YAML is read."""
_MOST_NODES = 20_000
"""Values in front matter, with those that aliases repeat."""
_MOST_DEPTH = 100
_MOST_DIGITS = 300
"""Characters of a number; YAML reads `1:2:3` as one of base 60, in a time that grows with its square."""
_NUMBER_TAGS = frozenset({"tag:yaml.org,2002:int", "tag:yaml.org,2002:float"})
NULL_TAG = "tag:yaml.org,2002:null"

_Loader: type[yaml.SafeLoader] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class FrontMatterError(Exception):
    """Front matter that cannot be used. `line` and `column` count from 0 inside it."""

    def __init__(self, message: str, suggestion: str = "", line: int = 0, column: int | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.suggestion = suggestion
        self.line = line
        self.column = column


@dataclass(frozen=True, slots=True)
class TextParts:
    """An agent file's text, cut into pieces that give the text again when they are put together.

    `matter` is what stands between the lines of dashes; None: the file has no front matter, and all of it
    is `body`. `unclosed`: it begins like front matter that never ends.
    """

    opening: str
    matter: str | None
    closing: str
    body: str
    unclosed: bool = False

    @property
    def text(self) -> str:
        """The whole text."""
        return f"{self.opening}{self.matter or ''}{self.closing}{self.body}"


def split_text(text: str) -> TextParts:
    """Cut an agent file's text, with or without a byte order mark, into its parts."""
    mark = BYTE_ORDER_MARK if text.startswith(BYTE_ORDER_MARK) else ""
    inner = text[len(mark) :]
    stripped = inner.lstrip()
    lead = mark + inner[: len(inner) - len(stripped)]
    stripped = stripped.rstrip()
    tail = text[len(lead) + len(stripped) :]
    first = _BOUNDARY.match(stripped)
    if first is None:
        return TextParts(mark, None, "", text[len(mark) :])
    second = _BOUNDARY.search(stripped, first.end())
    if second is None:
        return TextParts(mark, None, "", text[len(mark) :], unclosed=True)
    return TextParts(
        lead + stripped[: first.end()],
        stripped[first.end() : second.start()],
        stripped[second.start() : second.end()],
        stripped[second.end() :] + tail,
    )


def compose(matter: str) -> yaml.MappingNode | None:
    """The keys and values as nodes, whose marks count characters of `matter`; None: there are none.

    Raises FrontMatterError for what is not YAML, is no mapping, or would be endless once it is followed.
    """
    return _with_values(matter)[0]


def construct(matter: str) -> tuple[yaml.MappingNode | None, dict[str, Any]]:
    """The nodes, and the values by key as YAML takes them. Raises FrontMatterError."""
    return _with_values(matter, construct=True)


def _with_values(matter: str, *, construct: bool = False) -> tuple[yaml.MappingNode | None, dict[str, Any]]:
    if len(matter) > MOST_FRONT_MATTER:
        raise FrontMatterError(
            say(
                "The front matter has {count:,} characters; at most {most:,} are read.",
                count=len(matter),
                most=MOST_FRONT_MATTER,
            ),
            say("Move long texts below it: they are the prompt."),
        )
    try:
        loader = _Loader(matter)
        try:
            node = loader.get_single_node()
            _refuse_bombs(node)
            values = loader.construct_document(node) if node is not None and construct else {}
        finally:
            loader.dispose()
    except yaml.YAMLError as error:
        raise _yaml_error(error) from error
    except (ValueError, ArithmeticError, RecursionError) as error:
        raise FrontMatterError(say("The front matter cannot be read: {error}.", error=error)) from error
    if node is None or (isinstance(node, yaml.ScalarNode) and node.tag == NULL_TAG):
        return None, {}
    if not isinstance(node, yaml.MappingNode) or not isinstance(values, dict):
        raise FrontMatterError(
            say("The front matter is not a list of keys and values."),
            say("Write lines such as name: vera, or remove the lines of dashes."),
            node.start_mark.line,
        )
    return node, {str(key): value for key, value in values.items()}


@dataclass(frozen=True, slots=True)
class Span:
    """Where one entry stands, in characters of the front matter.

    `start`: its key; `colon`: behind the colon; `value_start` and `end`: its value, without what a comment
    or blank lines behind it take. `column`: of the key.
    """

    key: str
    start: int
    colon: int
    value_start: int
    end: int
    column: int
    has_anchor: bool
    is_block_list: bool


def spans(matter: str) -> list[Span]:
    """The entries of a block mapping that `compose` accepted, in their order."""
    found: list[Span] = []
    events = iter(yaml.parse(matter, Loader=_Loader))
    for event in events:
        if isinstance(event, yaml.MappingStartEvent):
            break
    for key in events:
        if isinstance(key, yaml.MappingEndEvent):
            break
        start, key_end = _start_of(key), _end_of(matter, key, events)
        value = next(events)
        end = _end_of(matter, value, events)
        colon = matter.find(":", key_end) + 1 or key_end
        found.append(
            Span(
                key.value if isinstance(key, yaml.ScalarEvent) else "",
                start,
                colon,
                _start_of(value),
                max(end, colon),
                getattr(key.start_mark, "column", 0),
                getattr(value, "anchor", None) is not None,
                isinstance(value, yaml.CollectionStartEvent) and not value.flow_style,
            )
        )
    return found


def _start_of(event: yaml.Event) -> int:
    assert event.start_mark is not None
    return int(event.start_mark.index)


def _end_of(matter: str, event: yaml.Event, events: Iterator[yaml.Event]) -> int:
    """Where the text of a value ends that begins with this event; its other events are taken."""
    end, depth = 0, 0
    while True:
        assert event.end_mark is not None
        here = int(event.end_mark.index)
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
            # The end of a block collection is where the next thing begins, behind comments and blank lines.
            if matter[_start_of(event) : here] in ("]", "}"):
                end = here
        elif isinstance(event, yaml.ScalarEvent) and event.style in ("|", ">"):
            end = max(_start_of(event) + 1, len(matter[:here].rstrip()))
        else:
            end = here
        if depth == 0:
            return end
        event = next(events)


def _refuse_bombs(root: yaml.Node | None) -> None:
    waiting: list[tuple[yaml.Node, int]] = [(root, 0)] if root is not None else []
    nodes = 0
    while waiting:
        node, depth = waiting.pop()
        nodes += 1
        what = ""
        if nodes > _MOST_NODES:
            what = say(
                "The front matter has more than {count:,} values, perhaps because an alias (*) is repeated.",
                count=_MOST_NODES,
            )
        elif depth > _MOST_DEPTH:
            what = say(
                "The front matter is nested more than {count} levels deep, or an alias (*) in it holds "
                "itself.",
                count=_MOST_DEPTH,
            )
        elif isinstance(node, yaml.ScalarNode):
            if node.tag in _NUMBER_TAGS and len(node.value) > _MOST_DIGITS:
                what = say("The front matter has a number with too many digits.")
        else:
            waiting.extend((part, depth + 1) for part in children(node))
        if what:
            raise FrontMatterError(what, line=node.start_mark.line)


def children(node: yaml.Node) -> Iterator[yaml.Node]:
    """Keys and values of a mapping, or the items of a list, in their order."""
    if isinstance(node, yaml.MappingNode):
        for pair in node.value:
            yield from pair
    elif isinstance(node, yaml.SequenceNode):
        yield from node.value


def _yaml_error(error: yaml.YAMLError) -> FrontMatterError:
    mark = getattr(error, "problem_mark", None)
    what = getattr(error, "problem", None) or say("it is not YAML")
    return FrontMatterError(
        say("The front matter cannot be read: {what}.", what=what),
        say('Put text with a colon or other signs into quotes: description: "a: b".'),
        mark.line if mark is not None else 0,
        mark.column if mark is not None else None,
    )
