"""What is wrong with an end condition that cannot be read, as a person would say it, and where.

Python's own words ("invalid decimal literal") are for those who know Python, and it places what is missing at
the end of a text at its beginning; so the text is looked at once more, sign by sign.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from core.words import say

_TOKEN = re.compile(
    r"""(?P<space>\s+)
      | (?P<text>(?:[rRuUbBfF]{1,2})?(?:'(?:[^'\\\n]|\\.)*' | "(?:[^"\\\n]|\\.)*"))
      | (?P<open_text>['"])
      | (?P<number>(?:\d[\d_]*\.?[\d_]*|\.\d[\d_]*)(?:[eE][+-]?\d+)?)(?P<tail>\w*)
      | (?P<name>[^\W\d]\w*)
      | (?P<sign>===|!==|=>|==|!=|<=|>=|<>|&&|\|\||\*\*|//|<<|>>|:=|[-+*/%<>=!&|^~@.,:()\[\]{}])
      | (?P<other>.)""",
    re.VERBOSE | re.DOTALL,
)
_JOINING = frozenset({"and", "or", "not", "in", "is", "if", "else", "for"})
"""Words that want something after them."""
_BETWEEN = _JOINING - {"not"}
"""Words that want something before them, too."""
_STATEMENTS = frozenset(
    {"while", "return", "lambda", "def", "import", "from", "with", "yield", "await", "async", "assert"}
)
_FOREIGN = frozenset({"=", "=>", "===", "!==", "<>", "&&", "||", ":"})
"""Signs that cannot stand there whatever is before them, or that need no value there."""
_CLOSING = {"(": ")", "[": "]", "{": "}"}
_BETTER = {
    "\u2018": "'", "\u2019": "'", "\u201c": '"', "\u201d": '"', "\u201e": '"', "\u00ab": '"', "\u00bb": '"',
    "\u2265": ">=", "\u2264": "<=", "\u2260": "!=", "\u00d7": "*", "\u2212": "-", "\u2013": "-", "`": "'",
}  # fmt: skip
"""What is meant by signs of typesetters."""
_LONGEST = 40


@dataclass(frozen=True, slots=True)
class Mistake:
    """A sentence, and the place in the text, counted from 0."""

    words: str
    at: int


@dataclass(frozen=True, slots=True)
class _Token:
    kind: str
    text: str
    at: int

    @property
    def is_value(self) -> bool:
        """Whether something ends or stands here that has a value."""
        if self.kind == "name":
            return self.text not in _JOINING and self.text not in _STATEMENTS
        return self.kind in ("text", "number")

    @property
    def shown(self) -> str:
        return self.text if len(self.text) <= _LONGEST else f"{self.text[:_LONGEST]}…"


def find_mistake(text: str, offset: int | None) -> Mistake:
    """What is wrong with `text`, which Python could not read. `offset`: where it says so, from 1."""
    tokens = _tokens(text)
    return (
        _of_signs(tokens)
        or _of_closing(tokens)
        or _of_the_end(text, tokens)
        or _of_opening(tokens)
        or _of_neighbours(tokens)
        or _at_the_place(tokens, offset)
    )


def _tokens(text: str) -> list[_Token]:
    found: list[_Token] = []
    for match in _TOKEN.finditer(text):
        kind = match.lastgroup or ""
        if kind == "space":
            continue
        if kind == "tail":
            kind = "number" if not match["tail"] and _is_number(match["number"]) else "odd_number"
        found.append(_Token(kind, match[0], match.start()))
        if kind == "open_text":
            break
    return found


def _is_number(text: str) -> bool:
    has_zeros = text.isdigit() and text.startswith("0") and text.strip("0") != ""
    return not has_zeros and "__" not in text and not text.endswith("_") and "_." not in text


def _of_signs(tokens: list[_Token]) -> Mistake | None:
    for token in tokens:
        if token.kind == "open_text":
            words = say("The text that begins here has no {quote} at its end.", quote=token.text)
        elif token.kind == "odd_number" and token.text.isdigit():
            words = say("A number does not begin with 0.")
        elif token.kind == "odd_number" and not re.fullmatch(r"0[xXoObB][0-9a-fA-F]+|\d+[jJ]", token.text):
            words = say("“{word}” is neither a number nor a name.", word=token.shown)
        elif token.kind == "other" and token.text in _BETTER:
            words = say("Write {better} instead of {sign}.", better=_BETTER[token.text], sign=token.text)
        elif token.kind == "name" and token.text in ("AND", "OR", "NOT", "And", "Or", "Not"):
            words = say("Write “{word}” in small letters.", word=token.text.lower())
        elif token.kind == "other":
            words = say("The sign {sign} cannot stand in an end condition.", sign=token.text)
        else:
            continue
        return Mistake(words, token.at)
    return None


def _of_closing(tokens: list[_Token]) -> Mistake | None:
    """A bracket that closes none, or another one."""
    opened: list[str] = []
    for number, token in enumerate(tokens):
        if token.kind != "sign":
            continue
        if token.text in _CLOSING:
            opened.append(token.text)
        elif token.text in _CLOSING.values():
            before = tokens[number - 1] if number else None
            if before is not None and _wants_more(before) and before.text != ",":
                return Mistake(_missing_after(before), token.at)
            if not opened:
                return Mistake(
                    say("Nothing is open that this {bracket} closes.", bracket=token.text), token.at
                )
            wanted = _CLOSING[opened.pop()]
            if wanted != token.text:
                words = say("Here a {wanted} is needed, not a {bracket}.", wanted=wanted, bracket=token.text)
                return Mistake(words, token.at)
    return None


def _of_the_end(text: str, tokens: list[_Token]) -> Mistake | None:
    """Something is missing at the end."""
    end = len(text.rstrip())
    if not tokens or not (_wants_more(tokens[-1]) or tokens[-1].text in _CLOSING):
        return None
    if tokens[-1].text == ":" and not any(token.text in ("[", "{") for token in tokens):
        return None
    return Mistake(_missing_after(tokens[-1]), end)


def _of_opening(tokens: list[_Token]) -> Mistake | None:
    """A bracket that is not closed: its place is known, that of the other one is not."""
    opened: list[_Token] = []
    for token in tokens:
        if token.kind == "sign" and token.text in _CLOSING:
            opened.append(token)
        elif token.kind == "sign" and token.text in _CLOSING.values() and opened:
            opened.pop()
    if not opened:
        return None
    last = opened[-1]
    words = say(
        "This {bracket} is not closed: a {wanted} is missing.", bracket=last.text, wanted=_CLOSING[last.text]
    )
    return Mistake(words, last.at)


def _of_neighbours(tokens: list[_Token]) -> Mistake | None:
    """Two things beside each other of which something is missing between, or before the first."""
    before: _Token | None = None
    for token in tokens:
        if token.kind == "name" and token.text in _STATEMENTS:
            return Mistake(say("“{word}” cannot stand in an end condition.", word=token.shown), token.at)
        if _wants_before(token):
            is_not_in = before is not None and before.text == "not" and token.text == "in"
            if before is None:
                return Mistake(say("Something is missing before “{word}”.", word=token.shown), token.at)
            if (_wants_more(before) or before.text in _CLOSING) and not is_not_in:
                return Mistake(_missing_between(before, token), token.at)
        if (token.is_value or token.text == "not") and before is not None:
            ends = before.is_value or before.text in _CLOSING.values()
            adjoining = before.kind == "text" and token.kind == "text"
            if ends and not adjoining and not (token.text == "not" and _is_not_in(tokens, token)):
                return Mistake(_missing_between(before, token), token.at)
        before = token
    return None


def _is_not_in(tokens: list[_Token], token: _Token) -> bool:
    following = tokens[tokens.index(token) + 1 :]
    return bool(following) and following[0].text == "in"


def _at_the_place(tokens: list[_Token], offset: int | None) -> Mistake:
    at = max((offset or 1) - 1, 0)
    token = next((token for token in tokens if token.at <= at < token.at + len(token.text)), None)
    if token is None:
        return Mistake(say("It is not a question that can be answered with yes or no."), at)
    if any(each.text == "if" for each in tokens) and not any(each.text == "else" for each in tokens):
        place = next(each.at for each in tokens if each.text == "if")
        return Mistake(say("“if” needs an “else”; “and” may be meant."), place)
    return Mistake(say("“{word}” cannot stand here.", word=token.shown), token.at)


def _wants_more(token: _Token) -> bool:
    if token.kind == "name":
        return token.text in _JOINING
    return token.kind == "sign" and token.text not in _CLOSING and token.text not in _CLOSING.values()


def _wants_before(token: _Token) -> bool:
    if token.kind == "name":
        return token.text in _BETWEEN
    return _wants_more(token) and token.text not in ("-", "+", "~", "!", ".", "*", "**", *_FOREIGN)


def _missing_after(token: _Token) -> str:
    return say("Something is missing after “{word}”.", word=token.shown)


def _missing_between(one: _Token, other: _Token) -> str:
    return say("Something is missing between “{one}” and “{other}”.", one=one.shown, other=other.shown)
