"""What is said about numbers of a run."""

from __future__ import annotations

import pytest

from core.progress_words import dollar_words, duration_words, span_words


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0, "0:00"), (42.4, "0:42"), (42.9, "0:43"), (134, "2:14"), (8045, "2:14:05"), (-1, "0:00")],
)
def test_durations(seconds: float, words: str) -> None:
    assert duration_words(seconds) == words


@pytest.mark.parametrize(
    ("seconds", "words"), [(18.7, "18 s"), (89, "89 s"), (90, "1 min"), (240, "4 min"), (9000, "2 h")]
)
def test_spans(seconds: float, words: str) -> None:
    assert span_words(seconds) == words


@pytest.mark.parametrize(
    ("amount", "words"),
    [(0.42, "$0.42"), (0.0, "$0.00"), (0.0031, "< $0.01"), (0.005, "$0.01"), (1234.5, "$1,234.50")],
)
def test_dollars(amount: float, words: str) -> None:
    assert dollar_words(amount) == words
