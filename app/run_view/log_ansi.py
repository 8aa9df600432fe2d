"""Escape sequences of terminal programs: taken out of a line's text, and what they say about its looks."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from enum import StrEnum

from app.run_view.log_colors import DEFAULT_GROUND, DEFAULT_TEXT, RGB

_ESCAPE = re.compile(
    r"\x1b\[([0-9;:]*)m"  # colours and weight
    r"|\x1b\[[0-?]*[ -/]*[@-~]"  # other control sequences
    r"|\x1b[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\|\Z)"  # titles, links and the like
    r"|\x1b[ -/]*[0-~]?"
)
_LOOKS = re.compile(rb"\x1b\[[0-9;:]*m")
_MOST_LOOKS = 20
_SHOWN = {code: chr(0x2400 + code) for code in range(32) if code not in (7, 8, 9, 13, 27)}
_DROPPED = (7, 8, 13, 27, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A))
CLEAN: dict[int, str | None] = {
    **_SHOWN,
    **dict.fromkeys(_DROPPED),
    0x7F: "␡",
    # Control sequences of eight bits: whoever pastes what was copied into a terminal must not send any.
    **dict.fromkeys(range(0x80, 0xA0), "\ufffd"),
    0x85: " ",
    0x2028: " ",
    0x2029: " ",
}
"""For `str.translate`: signs that would steer, turn or hide text."""


class Token(StrEnum):
    """Colours of `app.theme.Theme` that text is painted in."""

    TEXT = "text"
    QUIET = "quiet"
    ACCENT = "accent"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class Look:
    """How text looks. `ink` and `ground`: colours that a program asked for (see `log_colors`), None: those of
    `token` and of the view."""

    token: Token = Token.TEXT
    ink: int | None = None
    ground: int | None = None
    bold: bool = False
    italic: bool = False
    underline: bool = False
    struck: bool = False

    @property
    def is_plain(self) -> bool:
        """Whether it differs from other text by its colour only."""
        return self.ground is None and not (self.bold or self.italic or self.underline or self.struck)


@dataclass(frozen=True, slots=True)
class Span:
    """Characters `start` to `end` of a row's text in one look."""

    start: int
    end: int
    look: Look = Look()

    @classmethod
    def of(cls, start: int, end: int, token: Token) -> Span:
        """Text in a colour of the theme."""
        return cls(start, end, _PLAIN[token])


_PLAIN = {token: Look(token) for token in Token}


def after_carriage_return(data: bytes) -> bytes:
    """What a terminal would still show of a progress bar; the colours that were on before stay on."""
    if b"\r" not in data:
        return data
    before, _, rest = data.rstrip(b"\r").rpartition(b"\r")
    if b"\x1b" not in before:
        return rest
    return b"".join(_LOOKS.findall(before)[-_MOST_LOOKS:]) + rest


def ansi_spans(data: bytes, base: Token, shift: int) -> tuple[str, list[Span]]:
    """Decode text, take escape sequences out of it, and say what they meant. Spans are moved by `shift`."""
    raw = data.decode("utf-8", "replace")
    if "\x1b" not in raw:
        # Nothing that is printable needs to be cleaned, and that is nearly every line.
        text = raw if raw.isprintable() else raw.translate(CLEAN)
        return text, [Span.of(shift, shift + len(text), base)] if text else []
    parts: list[str] = []
    spans: list[Span] = []
    position, length = 0, shift
    state = _State(Look(base))
    for match in _ESCAPE.finditer(raw):
        length = _add(parts, spans, raw[position : match.start()], length, state)
        position = match.end()
        if match[1] is not None:
            state = _told(match[1], state, base)
    _add(parts, spans, raw[position:], length, state)
    return "".join(parts), spans


@dataclass(frozen=True, slots=True)
class _State:
    look: Look
    reverse: bool = False

    def shown(self) -> Look:
        look = self.look
        if not self.reverse:
            return look
        ink = DEFAULT_GROUND if look.ground is None else look.ground
        return replace(look, ink=ink, ground=DEFAULT_TEXT if look.ink is None else look.ink)


def _add(parts: list[str], spans: list[Span], raw: str, at: int, state: _State) -> int:
    piece = raw.translate(CLEAN)
    if piece:
        parts.append(piece)
        spans.append(Span(at, at + len(piece), state.shown()))
    return at + len(piece)


_SWITCHES: dict[int, Callable[[Look], Look]] = {
    1: lambda look: replace(look, bold=True),
    3: lambda look: replace(look, italic=True),
    4: lambda look: replace(look, underline=True),
    9: lambda look: replace(look, struck=True),
    21: lambda look: replace(look, underline=True),
    22: lambda look: replace(look, bold=False),
    23: lambda look: replace(look, italic=False),
    24: lambda look: replace(look, underline=False),
    29: lambda look: replace(look, struck=False),
}


def _told(codes: str, state: _State, base: Token) -> _State:
    """The look after `ESC [ codes m`. Colons part what belongs to one code: `4:3` is a curly underline."""
    look, reverse = state.look, state.reverse
    numbers = iter(_numbers(codes))
    for code, details in numbers:
        if code == 0:
            look, reverse = Look(base), False
        elif code == 4 and details[:1] == [0]:
            look = replace(look, underline=False)
        elif code in _SWITCHES:
            look = _SWITCHES[code](look)
            if code == 22:
                look = replace(look, token=base)
        elif code == 2:
            look = replace(look, token=Token.QUIET)
        elif code in (7, 27):
            reverse = code == 7
        elif code == 39:
            look = replace(look, ink=None, token=base)
        elif code == 49:
            look = replace(look, ground=None)
        elif 30 <= code <= 37 or 90 <= code <= 97:
            look = replace(look, ink=code - 30 if code < 40 else code - 82)
        elif 40 <= code <= 47 or 100 <= code <= 107:
            look = replace(look, ground=code - 40 if code < 50 else code - 92)
        elif code in (38, 48, 58):
            chosen = _extended(details) if details else _extended([n for n, _ in _taken(numbers)])
            if code == 38 and chosen is not None:
                look = replace(look, ink=chosen)
            elif code == 48 and chosen is not None:
                look = replace(look, ground=chosen)
    return _State(look, reverse)


def _numbers(codes: str) -> list[tuple[int, list[int]]]:
    result: list[tuple[int, list[int]]] = []
    for group in codes.split(";"):
        head, *rest = (int(part[:6]) if part else 0 for part in group.split(":"))
        result.append((head, rest))
    return result


def _taken(numbers: Iterator[tuple[int, list[int]]]) -> Iterator[tuple[int, list[int]]]:
    """The numbers that belong to a colour: two for one of the 256, four for one of 24 bits."""
    form = next(numbers, None)
    if form is not None:
        yield form
        for _ in range({5: 1, 2: 3}.get(form[0], 0)):
            following = next(numbers, None)
            if following is not None:
                yield following


def _extended(details: list[int]) -> int | None:
    """A colour of the 256 or of 24 bits, as `log_colors` counts them."""
    if details[:1] == [5] and len(details) > 1:
        return min(details[1], 255)
    if details[:1] == [2] and len(details) >= 4:
        # With colons there may be a colour space before red, green and blue.
        red, green, blue = (min(part, 255) for part in details[-3:])
        return RGB | red << 16 | green << 8 | blue
    return None
