"""JSON lines between other output, however the bytes are cut."""

from __future__ import annotations

import itertools
import json

from hypothesis import given
from hypothesis import strategies as st

from core.backends.base import NoiseSeen
from core.backends.ndjson import JsonLines, LineItem


def _read(data: bytes, cuts: list[int], limit: int = 1 << 20) -> list[LineItem]:
    lines = JsonLines(limit)
    items: list[LineItem] = []
    edges = [0, *sorted(cut % (len(data) + 1) for cut in cuts), len(data)]
    for start, end in itertools.pairwise(edges):
        items += lines.feed(data[start:end])
    return items + lines.finish()


def _joined(items: list[LineItem]) -> list[object]:
    """Items with neighbouring noise as one: how noise is divided depends on the cuts."""
    joined: list[object] = []
    for item in items:
        if isinstance(item, NoiseSeen) and joined and isinstance(joined[-1], bytes):
            joined[-1] += item.data
        else:
            joined.append(item.data if isinstance(item, NoiseSeen) else item)
    return joined


_objects = st.dictionaries(st.text(max_size=4), st.text(max_size=8), max_size=3)
_noise = st.binary(max_size=12).map(lambda data: b"#" + data.replace(b"\n", b" "))
_line = st.one_of(_objects.map(lambda value: json.dumps(value).encode()), _noise, st.just(b""))


@given(st.lists(_line, max_size=8), st.lists(st.integers(0, 500), max_size=6), st.booleans())
def test_objects_and_noise_are_the_same_wherever_the_bytes_are_cut(
    lines: list[bytes], cuts: list[int], ended: bool
) -> None:
    data = b"\n".join(lines) + (b"\n" if ended else b"")
    expected: list[object] = []
    for line in _lines(data):
        if line.startswith(b"{"):
            expected.append(json.loads(line))
        elif expected and isinstance(expected[-1], bytes):
            expected[-1] += line
        else:
            expected.append(line)
    assert _joined(_read(data, cuts)) == expected


def _lines(data: bytes) -> list[bytes]:
    lines = [line + b"\n" for line in data.split(b"\n")]
    lines[-1] = lines[-1][:-1]
    return [line for line in lines if line]


def test_a_flood_of_other_output_is_one_item_for_each_chunk() -> None:
    chunk = b"a progress line of some build\n" * 2000
    lines = JsonLines()
    assert lines.feed(chunk) == [NoiseSeen(chunk)]
    assert lines.feed(chunk + b'{"type":"text"}\n' + chunk) == [
        NoiseSeen(chunk),
        {"type": "text"},
        NoiseSeen(chunk),
    ]


def test_what_looks_like_json_but_is_none_is_noise() -> None:
    data = b'{"cut": \n{not json}\n[1, 2]\n"text"\n{}trailing\n'
    assert _joined(_read(data, [])) == [data]


def test_half_an_emoji_does_not_lose_the_line() -> None:
    data = rb'{"half": "a\ud83d", "whole": "\ud83d\ude00", "escaped": "\\ud83d"}' + b"\n"
    assert _read(data, []) == [{"half": "a�", "whole": "😀", "escaped": r"\ud83d"}]
    assert _read(b'{"cut": "\xf0\x9f"}\n', []) == [{"cut": "�"}]


def test_a_line_without_end_is_passed_on_and_memory_stays_bounded() -> None:
    lines = JsonLines(limit=1000)
    passed = 0
    for _ in range(50):
        for item in lines.feed(b"x" * 100):
            assert isinstance(item, NoiseSeen)
            passed += len(item.data)
    assert passed > 3900
    after = lines.feed(b'rest\n{"type": "text"}\n')
    assert after == [NoiseSeen(b"rest\n"), {"type": "text"}]
