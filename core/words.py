"""Sentences for users, in their language where the application has a catalogue of it.

As with gettext, the English text itself is what a translation is looked up by. So it is a literal, whole, and
said where it is needed, never at import. What is filled in has a name in braces and is formatted after the
translation: `say("There is no agent called {name}.", name=name)`.

Not for what programs read or compare (keys, statuses, marks of files), nor for what agents are told.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

_translate: Callable[[str], str] | None = None
_language = "en"


def translate_with(translate: Callable[[str], str] | None, language: str = "en") -> None:
    """Have all words translated from now on; None: they are English. `translate` is called on any thread.

    It gets the text with its braces, and gives it as it is where it has no translation. `language`: as HTML
    names it, such as `de` or `pt-BR`.
    """
    global _translate, _language
    _translate, _language = translate, language


def language() -> str:
    """Which language the words are in, as HTML names it."""
    return _language


def say(text: str, /, **values: object) -> str:
    """The text in the user's language, with the values filled in. With no values, braces are only braces."""
    if _translate is not None:
        translation = _translate(text)
        try:
            return translation.format(**values) if values else translation
        except (LookupError, ValueError):
            # It names what is not there. A translator's slip must not end a run: the text itself is right.
            pass
    return text.format(**values) if values else text


def say_number(count: int, one: str, many: str, /, **values: object) -> str:
    """One of two texts: for exactly one, and for any other number, which is its value `count`."""
    return say(one if count == 1 else many, count=count, **values)


class Both(NamedTuple):
    """A text for an agent, in English, and for the user."""

    english: str
    own: str


def say_both(text: str, /, **values: object) -> Both:
    """A text that an agent and the user are told. Values that are `Both` are taken from the same side."""
    english = {name: value.english if isinstance(value, Both) else value for name, value in values.items()}
    own = {name: value.own if isinstance(value, Both) else value for name, value in values.items()}
    return Both(text.format(**english) if values else text, say(text, **own))
