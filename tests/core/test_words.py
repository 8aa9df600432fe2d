"""Words of the core: English by themselves, and in a translator's order where there is a translation."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from core.words import say, say_both, say_number, translate_with


@pytest.fixture(autouse=True)
def english_again() -> Iterator[None]:
    yield
    translate_with(None)


def test_words_are_english_until_there_is_a_translation() -> None:
    assert say("The group has no agents.") == "The group has no agents."
    assert say("{count:,} of {path!r}", count=1234, path="a") == "1,234 of 'a'"


def test_values_are_filled_into_the_translation_in_its_order() -> None:
    known = {"There is no agent called {name}; {near} is.": "{near} gibt es, {name} nicht."}
    translate_with(lambda text: known.get(text, text))
    assert say("There is no agent called {name}; {near} is.", name="a", near="b") == "b gibt es, a nicht."
    assert say("Correct these first.") == "Correct these first."
    translate_with(None)
    assert say("There is no agent called {name}; {near} is.", name="a", near="b").startswith("There")


def test_braces_of_values_and_of_texts_without_values_are_left_alone() -> None:
    assert say('Write {"agents": ["name"]}.') == 'Write {"agents": ["name"]}.'
    assert say("The key {key} is not known.", key="{key}") == "The key {key} is not known."


@pytest.mark.parametrize("slip", ["Kein {nmae}.", "Kein {name.", "Kein {}.", "Kein {name:,d}."])
def test_a_slip_of_a_translator_costs_the_translation_and_nothing_else(slip: str) -> None:
    translate_with(lambda text: slip)
    assert say("There is no {name}.", name="vera") == "There is no vera."


def test_a_text_for_an_agent_stays_english_beside_the_users() -> None:
    translate_with({"It is {kind}.": "Es ist {kind}.", "a list": "eine Liste"}.__getitem__)
    both = say_both("It is {kind}.", kind=say_both("a list"))
    assert both == ("It is a list.", "Es ist eine Liste.")


def test_a_number_chooses_between_two_texts() -> None:
    def lines(count: int) -> str:
        return say_number(count, "1 line of {file}", "{count:,} lines of {file}", file="x")

    assert [lines(count) for count in (0, 1, 2_000)] == ["0 lines of x", "1 line of x", "2,000 lines of x"]
