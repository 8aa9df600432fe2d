"""Any window of lines of a file, wherever its lines are long or short."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import pytest

from core.line_index import STRIDE, LineIndex


def _few_then_many(lines: int) -> list[bytes]:
    """Short lines only at the end of each stride: where they are is not where most of it is."""
    return ([b"x" * (STRIDE // 2)] * 2 + [b""] * 200) * (lines // 202 + 1)


def _many_then_few(lines: int) -> list[bytes]:
    return ([b""] * 200 + [b"y" * (STRIDE // 2)] * 2) * (lines // 202 + 1)


def _mixed(lines: int) -> list[bytes]:
    chance = random.Random(7)
    return [b"z" * chance.choice((0, 1, 3, 60, 700, 5_000)) for _ in range(lines)]


@pytest.mark.parametrize("make", [_few_then_many, _many_then_few, _mixed])
@pytest.mark.parametrize("end", [b"\n", b"\nhalf a line"])
def test_every_line_is_found_whatever_the_lengths_of_its_neighbours(
    tmp_path: Path, make: Callable[[int], list[bytes]], end: bytes
) -> None:
    path = tmp_path / "uneven.log"
    whole = b"\n".join(make(400)) + end
    path.write_bytes(whole)
    index = LineIndex(path)
    while index.advance():
        pass
    lines = whole.split(b"\n")
    if not lines[-1]:
        lines.pop()
    assert index.snapshot().lines == len(lines)

    offset = 0
    for number, line in enumerate(lines):
        (found,) = index.read(number, 1, clip=STRIDE)
        assert (found.number, found.offset, found.data) == (number, offset, line)
        offset += len(line) + 1
    beyond = index.read(len(lines) - 3, 50, clip=STRIDE)
    assert [line.data for line in beyond] == lines[-3:]
