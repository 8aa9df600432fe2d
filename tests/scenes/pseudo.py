"""A language that nobody speaks: every text is 40 % longer and has accents on all letters.

What is cut off in it is cut off in German; what has no accents did not come through `tr`.
"""

from __future__ import annotations

import itertools
import re

from PySide6.QtCore import QTranslator

LONGER = 0.4
_PLAIN = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
_ACCENTED = "áƀçðéƒğħíĵķľɱñóþɋŕšţúṽŵẋýžÁƁÇÐÉƑĞĦÍĴĶĽṀÑÓÞɊŔŠŢÚṼŴẊÝŽ"
_ACCENTS = dict(zip(_PLAIN, _ACCENTED, strict=True))
_KEEP = re.compile(
    r"\{[^{}]*\}"  # what `format` fills in
    r"|<[^<>]+>"  # mark-up
    r"|&(?=\w)|&&"  # mnemonics
    r"|(?:(?:Ctrl|Shift|Alt|Meta)\+)+\S+?(?=[\s),;.]|$)|\bF\d{1,2}\b"  # keys
    r"|`[^`]*`|“[^”]*”"  # what is to be typed
)


def pseudo(text: str) -> str:
    """The text in that language."""
    parts, at = [], 0
    for match in _KEEP.finditer(text):
        parts += [_longer(text[at : match.start()]), match.group()]
        at = match.end()
    return "".join([*parts, _longer(text[at:])])


def _longer(text: str) -> str:
    return re.sub(r"[A-Za-z]+", lambda match: _longer_word(match.group()), text)


def _longer_word(word: str) -> str:
    more = round(len(word) * LONGER + 0.3)
    extra = "".join(itertools.islice(itertools.cycle(word[1:].lower() or word.lower()), more))
    return "".join(_ACCENTS[letter] for letter in word + extra)


def is_pseudo(letter: str) -> bool:
    """Whether a letter is one of that language only."""
    return letter in _ACCENTED


class PseudoTranslator(QTranslator):
    """Translates everything but the names of keys; remembers what it was asked."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: set[tuple[str, str]] = set()

    def isEmpty(self) -> bool:  # noqa: N802
        """It knows every text."""
        return False

    def translate(self, context: str, text: str, disambiguation: str | None = None, n: int = -1) -> str:
        """The text in that language."""
        del disambiguation, n
        self.asked.add((context, text))
        return text if context == "QShortcut" else pseudo(text)
