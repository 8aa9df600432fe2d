"""Finding and filtering lines of a log file: what a view of any size stands on, against plain Python."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from core.backends.base import ErrorReported, NoiseSeen, TextSaid, ToolUsed
from core.line_filter import LineFilter
from core.line_kinds import LineKind
from core.line_needle import Needle, NeedleError
from core.line_search import LineSearch, Match
from core.transcript import TranscriptWriter

NOW = 1_700_000_000.0


def filtered(path: Path, needle: Needle | str | None, **options: object) -> LineFilter:
    wanted = Needle(needle) if isinstance(needle, str) else needle
    kinds = options.get("kinds", ~LineKind(0))
    assert isinstance(kinds, LineKind)
    result = LineFilter(path, wanted, structured=bool(options.get("structured")), kinds=kinds)
    result.run()
    assert result.finished
    return result


def lines_of(found: LineFilter) -> list[int]:
    return [found.line_of(number) for number in range(found.count)]


def test_the_map_agrees_with_a_list_of_lines_over_many_chunks(tmp_path: Path) -> None:
    path = tmp_path / "log"
    dice = random.Random(7)
    words = ["alpha", "Beta", "gamma needle", "", "x" * 300]
    lines = [dice.choice(words[: 2 if at < 30_000 else 5]) for at in range(60_000)]
    lines[100] = "the Needle"
    path.write_text("\n".join(lines), encoding="utf-8")
    found = filtered(path, "needle")
    expected = [at for at, line in enumerate(lines) if "needle" in line.lower()]
    assert lines_of(found) == expected
    assert found.line_of(found.count) == len(lines) - 1
    for line in range(0, len(lines), 997):
        assert found.number_of(line) == sum(1 for known in expected if known < line)


def test_every_line_and_no_line_cost_nothing(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_bytes(b"a needle\n" * 200_000)
    found = filtered(path, "needle")
    assert (found.count, found.line_of(123_456), found.number_of(123_456)) == (200_000, 123_456, 123_456)
    assert sum(map(len, found._found)) < 100
    assert filtered(path, "nothing").count == 0


def test_of_an_endless_line_only_the_beginning_is_looked_at_and_the_rest_is_one_line(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_bytes(b"needle" + b"x" * 1_000_000 + b"needle\nneedle\n" + b"y" * 600_000)
    assert lines_of(filtered(path, "needle")) == [0, 1]
    assert lines_of(filtered(path, "y")) == [2]


def test_a_filter_goes_on_where_the_file_grew(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_bytes(b"need")
    found = filtered(path, "needle")
    assert found.count == 0
    with path.open("ab") as file:
        file.write(b"le\nhay\n" + b"hay\n" * 100_000 + b"needle")
    found.run()
    assert lines_of(found) == [0, 100_002]
    path.write_bytes(b"hay\nneedle")
    found.run()
    assert lines_of(found) == [1]


@pytest.mark.parametrize("kind", [LineFilter, LineSearch])
def test_what_was_found_counts_until_it_is_looked_for_again(
    tmp_path: Path, kind: type[LineFilter | LineSearch]
) -> None:
    path = tmp_path / "log"
    path.write_bytes(b"hay\nneedle\n" * 20_000)
    found = kind(path, Needle("needle"), structured=False)
    found.run()
    with path.open("ab") as file:
        file.write(b"needle\n" * 20_000)

    def known() -> tuple[int, int, int]:
        lines = found.line_count if isinstance(found, LineFilter) else 0
        return found.count, found.scanned, lines

    counts: list[tuple[int, int, int]] = []
    found.courtesy = lambda: counts.append(known())
    found.run()
    counts.append(known())
    assert counts[0][:2] == (20_000, 220_000)
    assert counts == sorted(counts)
    assert counts[-1][:2] == (40_000, 360_000)
    if kind is LineFilter:
        assert (counts[0][2], counts[-1][2]) == (40_000, 60_000)


def test_lines_are_filtered_by_kind_with_the_results_of_their_tools(tmp_path: Path) -> None:
    path = tmp_path / "transcript.log"
    writer = TranscriptWriter(path)
    writer.event(TextSaid("first\nsecond"), NOW)  # 0, 1
    writer.event(ToolUsed("read", "a.py", "one\n\nthree"), NOW)  # 2 to 5
    writer.event(NoiseSeen(b"printed\n"), NOW)  # 6
    writer.event(ToolUsed("bash", "x", "boom\nbang", failed=True), NOW)  # 7 to 9
    writer.stderr(b"e1\ne2\n", NOW)  # 10, 11
    writer.event(ErrorReported("broken", "why"), NOW)  # 12, 13
    writer.update("score 1", NOW)  # 14
    writer.close()

    def lines(kinds: LineKind, needle: str | None = None) -> list[int]:
        return lines_of(filtered(path, needle, structured=True, kinds=kinds))

    assert lines(LineKind.TEXT) == [0, 1, 6]
    assert lines(LineKind.TOOLS) == [2, 3, 4, 5, 7, 8, 9]
    assert lines(LineKind.ERRORS) == [7, 8, 9, 10, 11, 12, 13]
    assert lines(LineKind.OWN) == [14]
    assert lines(LineKind.TOOLS | LineKind.OWN) == [2, 3, 4, 5, 7, 8, 9, 14]
    assert lines(LineKind.TOOLS, "o") == [3, 8]
    search = LineSearch(path, "o", structured=True, kinds=LineKind.TOOLS)
    search.run()
    assert search.count == 3


def test_kinds_are_right_wherever_chunks_meet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "transcript.log"
    writer = TranscriptWriter(path)
    for number in range(60):
        writer.event(ToolUsed("read", f"{number}.py", "result\n" * (number % 7)), NOW)
        writer.event(TextSaid("said\nmore"), NOW)
        writer.stderr(b"wrong\n", NOW)
    writer.close()
    expected = lines_of(filtered(path, None, structured=True, kinds=LineKind.TOOLS))
    assert len(expected) == 60 + sum(number % 7 for number in range(60))
    for chunk in (64, 100, 257):
        monkeypatch.setattr(LineFilter, "CHUNK", chunk)
        assert lines_of(filtered(path, None, structured=True, kinds=LineKind.TOOLS)) == expected


def found_by(path: Path, needle: Needle, *, structured: bool = False) -> list[bytes]:
    search = LineSearch(path, needle, structured=structured)
    search.run()
    data, found, at = path.read_bytes(), [], 0
    while (match := search.after(at)) is not None:
        found.append(data[match.offset : match.offset + match.length])
        at = match.offset + 1
    assert len(found) == search.count
    return found


@pytest.mark.parametrize(
    ("needle", "expected"),
    [
        (Needle("error"), ["Error", "error", "ERROR"]),
        (Needle("error", case=True), ["error"]),
        (Needle("ERROR", case=True), ["ERROR"]),
        (Needle("Error", case=True, word=True), ["Error"]),
        (Needle("größe", word=True), ["Größe"]),
        (Needle(r"^\w+:", expression=True), ["Error:", "Größe:"]),
        (Needle(r"\d+$", expression=True), ["12", "7"]),
        (Needle(r"r\s+e", expression=True), ["r e"]),
        (Needle("x*", expression=True), []),
    ],
)
def test_a_needle_finds_what_it_says(tmp_path: Path, needle: Needle, expected: list[str]) -> None:
    path = tmp_path / "log"
    text = "Error: line 12\nvor error\ner\nGröße: groß\r\nGrößen \x1b[31mERRORs\x1b[0m 7\n"
    path.write_bytes(text.encode() + b"\xff\n")
    assert [found.decode() for found in found_by(path, needle)] == expected
    shown = re.sub(r"\x1b\[\d+m", "", text).splitlines()
    finder = needle.finder()
    assert lines_of(filtered(path, needle)) == [at for at, line in enumerate(shown) if finder.in_text(line)]


def test_a_word_ends_where_letters_of_any_language_do(tmp_path: Path) -> None:
    path = tmp_path / "log"
    lines = ["→maß←", "maßß", "_maß", "Maß", "Ümaß", "maß", "maßé", "maß1", "«maß»x", "maßmaß maß"]
    path.write_text("\n".join(lines), encoding="utf-8")
    needle = Needle("maß", word=True)
    finder = needle.finder()
    assert len(found_by(path, needle)) == sum(len(finder.in_text(line)) for line in lines) == 5
    assert lines_of(filtered(path, needle)) == [0, 3, 5, 8, 9]


def test_an_expression_begins_where_the_text_of_a_line_does(tmp_path: Path) -> None:
    path = tmp_path / "transcript.log"
    writer = TranscriptWriter(path, "vera")
    writer.event(TextSaid("ok then\nnot ok"), NOW)
    writer.event(NoiseSeen(b"5%\rok\n"), NOW)
    writer.close()
    assert found_by(path, Needle("^ok", expression=True), structured=True) == [b"ok", b"ok"]


def test_what_is_no_expression_says_why() -> None:
    with pytest.raises(NeedleError, match="This is no regular expression: missing"):
        Needle("(open", expression=True).finder()


def test_an_expression_without_end_gives_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("core.line_needle._PATIENCE", 0.05)
    path = tmp_path / "log"
    path.write_bytes((b"x" * 4000 + b"\n") * 50)
    search = LineSearch(
        path, Needle(r"(x+)*(x+)*(x+)*y?z\b|(.*)(.*)(.*)(.*)q\1", expression=True), structured=False
    )
    search.run()
    assert search.too_slow
    assert search.finished
    assert search._finder.in_text("x" * 4000) == []


def test_marked_lines_are_those_with_matches_and_few_of_many(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_bytes(b"hay\nneedle needle\nhay\nneedle\n")
    search = LineSearch(path, "needle", structured=False)
    search.run()
    assert list(search.marked_lines()) == [1, 3]
    with path.open("ab") as file:
        file.write(b"needle\n" * 500_000)
    search.run()
    marked = search.marked_lines()
    assert marked[0] == 1
    assert 1_000 < len(marked) < 5_000
    assert marked[-1] > 490_000
    assert list(marked) == sorted(marked)


def test_marks_far_apart_are_at_their_lines_also_when_the_file_grows_and_the_search_is_cancelled(
    tmp_path: Path,
) -> None:
    path = tmp_path / "log"
    expected: list[int] = []
    written = 0

    def write(hay: int, text: str) -> None:
        nonlocal written
        with path.open("a", encoding="utf-8", newline="") as file:
            file.write("some hay\n" * hay + text)
        written += hay + text.count("\n")

    write(50_000, "needle\n")
    expected.append(50_000)
    write(70_000, "needle")
    expected.append(written)
    search = LineSearch(path, "needle", structured=False)
    search.run()
    assert list(search.marked_lines()) == expected

    write(0, " more of the same line, needle\n")
    search.run()
    assert list(search.marked_lines()) == expected
    for _ in range(3):
        write(0, "hay\n")
        search.run()
        assert list(search.marked_lines()) == expected

    write(60_000, "needle\n")
    expected.append(written - 1)
    left = 0

    def cancel_soon() -> None:
        nonlocal left
        left -= 1
        if left == 0:
            search.cancel()

    search.courtesy = cancel_soon
    rounds = 0
    while rounds == 0 or not search.finished:
        # Once more each time, so that it is cancelled wherever it can be: while it looks, while it counts.
        rounds += 1
        left = rounds
        search.allow()
        search.run()
        assert rounds < 1_000
    assert list(search.marked_lines()) == expected
    assert search.count == 4

    path.write_text("hay\nneedle\n", encoding="utf-8")
    search.run()
    assert list(search.marked_lines()) == [1]


class _GoingOn(LineSearch):
    """A search that finds more in its file each time that somebody looks into what it found."""

    looked = 0

    def _matches(self, chunk: int) -> Iterator[Match]:
        self.looked += 1
        assert self.looked < 5, "who asks goes along with the search"
        with self.path.open("ab") as file:
            file.write(b"needle\n" * 30_000)
        self.run()
        return super()._matches(chunk)


def test_who_looks_for_a_match_does_not_go_along_with_a_search_that_goes_on(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_bytes(b"needle\n" * 30_000)
    search = _GoingOn(path, "needle", structured=False)
    search.run()
    assert search.after(1 << 40) is None
    found = search.after(100_000)
    assert found is not None
    assert found.offset == 100_002


def test_patterns_over_text_agree_with_those_over_the_file(tmp_path: Path) -> None:
    path = tmp_path / "log"
    lines = ["İstanbul straße STRASSE", "ſ long s", "a.b (c) [d]", "tab\there"]
    path.write_text("\n".join(lines), encoding="utf-8")
    for needle in ("straße", "s", "a.b", "(c)", "\t", "i"):
        finder = Needle(needle).finder()
        in_rows = sum(len(finder.in_text(line)) for line in lines)
        assert len(found_by(path, Needle(needle))) == in_rows, needle
