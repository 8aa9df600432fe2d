"""Text that a person has to judge before it takes effect: every character of it can be seen."""

from __future__ import annotations

import re
import shlex
import unicodedata
from collections.abc import Sequence

_OPEN, _CLOSE = "⟨", "⟩"
_NAMES = {"\0": "NUL", "\t": "tab", "\n": "newline", "\r": "return", "\x1b": "escape"}
_UNSEEN_KINDS = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zs", "Zl", "Zp"})
_BLANK = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u2800\u3164\uffa0")
"""Letters, signs and marks by name, but empty on every screen."""
_MARKS = frozenset({"Mn", "Me"})
_MOST_MARKS = 2
"""Marks on one letter that some language has; more of them paint over the lines above and below."""
_SPACES = re.compile(" {20,}")
_EMPTY_LINES = re.compile("\n{5,}")


def visible(text: str, *, keeps_lines: bool = False) -> str:
    """The text with what cannot be seen in words: `⟨escape⟩`, `⟨U+202E⟩`, `⟨300 spaces⟩`.

    Nothing is cut off, and no two texts look alike: a `⟨` of the text is written in words as well.
    `keeps_lines`: newlines stay, but for many in a row.
    """
    if keeps_lines:
        # What Windows writes at the end of a line ends it for everybody.
        text = text.replace("\r\n", "\n")
    # Most texts are plain, and need not be looked at character by character.
    plain = text.replace("\n", "") if keeps_lines else text
    shown = text if plain.isascii() and plain.isprintable() else _spelled(text, keeps_lines)
    # They would push what follows out of sight.
    told = _SPACES.sub(lambda found: f"{_OPEN}{len(found[0])} spaces{_CLOSE}", shown)
    return _EMPTY_LINES.sub(lambda found: f"\n{_OPEN}{len(found[0]) - 1} empty lines{_CLOSE}\n", told)


def _spelled(text: str, keeps_lines: bool) -> str:
    shown: list[str] = []
    marks = 0
    for character in text:
        kind = unicodedata.category(character)
        marks = marks + 1 if kind in _MARKS else 0
        if character == " " or (character == "\n" and keeps_lines):
            shown.append(character)
        elif (
            kind in _UNSEEN_KINDS
            or character in _OPEN + _CLOSE
            or _is_blank(character)
            or marks > _MOST_MARKS
        ):
            name = _NAMES.get(character, f"U+{ord(character):04X}")
            shown.append(f"{_OPEN}{name}{_CLOSE}")
        else:
            shown.append(character)
    return "".join(shown)


def visible_words(words: Sequence[str]) -> str:
    """The words of a command on one line; one with spaces or quotes is quoted as for a shell."""
    return " ".join(shlex.quote(visible(word)) for word in words)


def _is_blank(character: str) -> bool:
    # The variation selectors: nothing by themselves.
    return (
        character in _BLANK or "\ufe00" <= character <= "\ufe0f" or "\U000e0100" <= character <= "\U000e01ef"
    )
