"""Colours that a program leaves on go on in the next lines, wherever one begins to read."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from core.carried_looks import carried_looks
from core.line_index import STRIDE, LineIndex
from core.transcript import FOLD_HEADER


@pytest.mark.parametrize(
    ("printed", "on"),
    [
        (b"\x1b[31mred", b"31"),
        (b"\x1b[31mred\x1b[0m", b""),
        (b"\x1b[31mred\x1b[m", b""),
        (b"\x1b[31mred\x1b[39m", b""),
        (b"\x1b[1;31mbold\x1b[22m", b"31"),
        (b"\x1b[1m\x1b[2m\x1b[22m", b""),
        (b"\x1b[31m\x1b[32m\x1b[31m", b"31"),
        (b"\x1b[38;5;208morange\x1b[44m", b"38;5;208;44"),
        (b"\x1b[38;2;0;0;0;1mblack", b"38;2;0;0;0;1"),
        (b"\x1b[38:2::10:20:30mfine", b"38:2::10:20:30"),
        (b"\x1b[4:3mcurly\x1b[4:0m", b""),
        (b"\x1b[31;0;32mgreen", b"32"),
        (b"\x1b[2K\x1b[5;99mnothing of it", b""),
    ],
)
def test_what_is_on_afterwards(printed: bytes, on: bytes) -> None:
    assert carried_looks(b"", printed, structured=False) == on


def test_what_was_on_before_stays_on_until_it_is_changed() -> None:
    assert carried_looks(b"1;31", b"more", structured=False) == b"1;31"
    assert carried_looks(b"1;31", b"\x1b[32mgreen", structured=False) == b"1;32"
    assert carried_looks(b"1;31", b"\x1b[0m", structured=False) == b""


def test_a_block_of_the_transcript_begins_plain_and_output_goes_on() -> None:
    red = b"\x1b[31mred\n"
    assert carried_looks(b"", red + b"\x1ep1790000000000\tmore", structured=True) == b"31"
    assert carried_looks(b"", red + b"\x1en1790000000000\tOpenLoop says", structured=True) == b""
    # In the overview a line with a name may be of another agent.
    assert carried_looks(b"", red + b"\x1ep1790000000000\x1fvera\tmore", structured=True) == b""
    assert carried_looks(b"", red + b"\x1ep\x1fvera\tmore", structured=True) == b"31"


def _printed(chance: random.Random, *, structured: bool) -> list[bytes]:
    codes = [b"31", b"32", b"1", b"22", b"39", b"0", b"", b"38;5;9", b"44;7", b"1;4"]
    lines = []
    for number in range(3000):
        line = b"line %d " % number + b"x" * chance.randrange(40)
        if chance.random() < 0.05:
            line += b"\x1b[" + chance.choice(codes) + b"m" + b"y" * chance.randrange(60)
        if chance.random() < 0.002:
            line += b"\x1b[35m" + b"z" * 6000 + b"\x1b[" + chance.choice(codes) + b"m"
        if structured and chance.random() < 0.01:
            line = b"\x1e" + chance.choice([b"n", b"t", b"p", b"e"]) + b"1790000000000\t" + line
        lines.append(line)
    return lines


@pytest.mark.parametrize("structured", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_every_line_of_a_growing_file_knows_what_is_on(tmp_path: Path, structured: bool, seed: int) -> None:
    chance = random.Random(seed)
    lines = _printed(chance, structured=structured)
    whole = b"".join(line + b"\n" for line in lines)
    assert len(whole) > 5 * STRIDE
    path = tmp_path / "log"
    index = LineIndex(path, FOLD_HEADER if structured else None)
    written = 0
    while written < len(whole):
        size = chance.randrange(1, 40_000)
        with path.open("ab") as file:
            file.write(whole[written : written + size])
        written += size
        while index.advance():
            pass
    on = b""
    expected = []
    for line in lines:
        begins_anew = structured and line[:1] == b"\x1e" and line[1:2] not in b"pe"
        expected.append(b"" if begins_anew else on)
        on = carried_looks(on, line, structured=structured)
    assert any(expected)
    for first in (0, 1, 700, 1234, 2990):
        read = index.read(first, 60)
        assert [line.looks for line in read] == expected[first : first + 60]
    assert [index.read(number, 1)[0].looks for number in range(0, 3000, 7)] == expected[::7]


def test_a_file_that_is_made_anew_begins_plain(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_bytes(b"\x1b[31mred\nstill red\n")
    index = LineIndex(path)
    index.advance()
    assert index.read(1, 1)[0].looks == b"31"
    path.write_bytes(b"plain\nplain\n")
    index.advance()
    assert [line.looks for line in index.read(0, 2)] == [b"", b""]
