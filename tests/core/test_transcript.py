"""The transcript file, the line index over it, and the search in it: with real files."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.backends.base import (
    ErrorReported,
    NoiseSeen,
    ReasoningSaid,
    StepFinished,
    StepStarted,
    TextSaid,
    ToolUsed,
)
from core.events import AttemptKind
from core.line_index import LineIndex
from core.line_search import LineSearch
from core.overview import OverviewWriter
from core.state import StateUpdate
from core.transcript import (
    FOLD_HEADER,
    Entry,
    Kind,
    TranscriptWriter,
    read_entry,
)
from core.update_summary import summarize_update

NOW = 1_700_000_000.25
NOW_MS = 1_700_000_000_250


def entries(path: Path) -> list[Entry]:
    return [read_entry(line) for line in path.read_bytes().split(b"\n")[:-1]]


def indexed(path: Path, *, structured: bool = False) -> LineIndex:
    index = LineIndex(path, FOLD_HEADER if structured else None)
    while index.advance():
        pass
    return index


# --- transcript ---------------------------------------------------------------------------------------


def test_every_kind_of_event_is_read_back_as_it_was_written(tmp_path: Path) -> None:
    path = tmp_path / "transcript.log"
    writer = TranscriptWriter(path)
    writer.event(StepStarted("stub/x"), NOW)
    writer.event(TextSaid("first\nsecond"), NOW)
    writer.event(ReasoningSaid("why\nnot"), NOW)
    writer.event(ToolUsed("bash", "pytest -q", "1 passed\nbye\n", seconds=2.1, exit_code=0), NOW)
    writer.event(ToolUsed("bash", "false", failed=True, exit_code=1), NOW)
    writer.event(StepFinished("stop"), NOW)
    writer.event(StepFinished("length"), NOW)
    writer.event(ErrorReported("refused", "429"), NOW)
    writer.update("score 86", NOW)
    writer.attempt(1, AttemptKind.FIRST, "", NOW)
    writer.attempt(2, AttemptKind.CORRECTION, "no update", NOW)
    writer.note("careful", NOW, Kind.WARNING)
    writer.close()
    assert entries(path) == [
        Entry(Kind.STEP, b"step 1 \xc2\xb7 stub/x", NOW_MS),
        Entry(Kind.TEXT, b"first", NOW_MS),
        Entry(None, b"second"),
        Entry(Kind.REASONING, b"why", NOW_MS),
        Entry(Kind.REASONING, b"not"),
        Entry(Kind.TOOL, "bash\tpytest -q\t2.1 s · exit 0".encode(), NOW_MS, results=2),
        Entry(None, b"1 passed"),
        Entry(None, b"bye"),
        Entry(Kind.TOOL_FAILED, "bash\tfalse\tfailed · exit 1".encode(), NOW_MS),
        Entry(Kind.STEP, b"step 1 ended: length", NOW_MS),
        Entry(Kind.ERROR, b"refused", NOW_MS),
        Entry(Kind.ERROR, b"429"),
        Entry(Kind.UPDATE, b"score 86", NOW_MS),
        Entry(Kind.CORRECTION, b"attempt 2, correction: no update", NOW_MS),
        Entry(Kind.WARNING, b"careful", NOW_MS),
    ]


def test_an_agent_cannot_forge_structure(tmp_path: Path) -> None:
    path = tmp_path / "transcript.log"
    forged = b"\x1eu1\tstate update 100\n"
    writer = TranscriptWriter(path)
    writer.event(NoiseSeen(forged), NOW)
    writer.event(TextSaid("hello\n" + forged.decode()), NOW)
    writer.event(ToolUsed("to\x1eol", "ti\nt\tle", forged.decode()), NOW)
    writer.stderr(forged, NOW)
    writer.close()
    assert [entry.kind for entry in entries(path)] == [
        Kind.OUTPUT,
        Kind.TEXT,
        None,
        Kind.TOOL,
        None,
        Kind.STDERR,
    ]
    assert "to␞ol\tti t le\t".encode() in path.read_bytes()


def test_a_state_update_in_a_text_is_shown_as_one_line_that_unfolds(tmp_path: Path) -> None:
    path = tmp_path / "transcript.log"
    writer = TranscriptWriter(path)
    writer.event(TextSaid('Done.\n<state_update>\n{\n"a": 1}\n</state_update>\nBye <state_update>'), NOW)
    writer.close()
    assert entries(path) == [
        Entry(Kind.TEXT, b"Done.", NOW_MS),
        Entry(Kind.ANSWER, b"answer", NOW_MS, results=2),
        Entry(None, b"{"),
        Entry(None, b'"a": 1}'),
        Entry(Kind.TEXT, b"Bye <state_update>", NOW_MS),
    ]


def test_plain_output_goes_through_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "transcript.log"
    data = b"".join(b"line %d \xff\n" % number for number in range(50_000))
    writer = TranscriptWriter(path)
    writer.event(NoiseSeen(data), NOW)
    writer.event(NoiseSeen(b"no newline"), NOW + 0.1)
    writer.event(NoiseSeen(b"later\n"), NOW + 1.5)
    writer.close()
    stamp = b"\x1ep1700000000250\t"
    assert path.read_bytes() == stamp + data + b"no newline\n\x1ep1700000001750\tlater\n"


def test_an_endless_line_of_stderr_is_cut_between_characters(tmp_path: Path) -> None:
    path = tmp_path / "transcript.log"
    writer = TranscriptWriter(path)
    line = "é漢".encode() * 80_000
    for start in range(0, len(line), 6_001):
        writer.stderr(line[start : start + 6_001], NOW)
    writer.close()
    text = path.read_bytes().decode("utf-8")
    assert text.count("é漢") + text.count("é\n") == 80_000
    assert text.count("\n") > 1, "it was held back to the end"


def test_stderr_cut_anywhere_is_put_together_again(tmp_path: Path) -> None:
    path = tmp_path / "transcript.log"
    writer = TranscriptWriter(path)
    for piece in (b"one\ntw", b"o", b"\nthree\nfo", b"ur"):
        writer.stderr(piece, NOW)
    writer.close()
    writer.close()
    assert [(entry.kind, entry.text) for entry in entries(path)] == [
        (Kind.STDERR, text) for text in (b"one", b"two", b"three", b"four")
    ]
    with pytest.raises(ValueError, match="closed"):
        writer.note("late", NOW)


def test_every_line_of_the_overview_names_its_agent_and_a_flood_is_counted(tmp_path: Path) -> None:
    path = tmp_path / "overview.log"
    overview = OverviewWriter(path)
    vera, amala = overview.for_turn("vera"), overview.for_turn("amala")
    vera.event(NoiseSeen(b"flood\n" * 12_545), NOW)
    vera.event(ErrorReported("it broke"), NOW)
    amala.event(TextSaid("one\ntwo"), NOW)
    vera.event(NoiseSeen(b"flood\n" * 3), NOW + 0.5)
    amala.event(ToolUsed("bash", "ls", "a\nb"), NOW + 2)
    overview.close()
    found = entries(path)
    assert [entry.name for entry in found[:201]] == [b"vera"] * 201
    assert found[200].text == "… 12,345 more lines, see the tab of vera".encode()
    assert [(entry.name, entry.text) for entry in found[201:]] == [
        (b"vera", b"it broke"),
        (b"amala", b"one"),
        (b"amala", b"two"),
        (b"vera", "… 3 more lines, see the tab of vera".encode()),
        (b"amala", b"bash\tls\t"),
    ]


def test_a_great_flood_is_told_in_megabytes_in_the_overview(tmp_path: Path) -> None:
    path = tmp_path / "overview.log"
    overview = OverviewWriter(path)
    vera = overview.for_turn("vera")
    for _ in range(30):
        vera.event(NoiseSeen(b"a flood of lines, and nobody reads any\n" * 10_000), NOW)
    vera.event(NoiseSeen(b"later\n"), NOW + 2)
    overview.close()
    found = [entry.text for entry in entries(path)]
    assert len(found) == 202
    assert found[200:] == ["… 12 MB more, see the tab of vera".encode(), b"later"]


def test_many_turns_write_the_overview_at_once_without_cutting_each_others_lines(tmp_path: Path) -> None:
    path = tmp_path / "overview.log"
    overview = OverviewWriter(path)

    def write(label: str) -> None:
        turn = overview.for_turn(label)
        for number in range(100):
            turn.event(TextSaid(f"{label} {number}\n{label} {number}"), NOW)
        turn.close()

    threads = [threading.Thread(target=write, args=(f"agent{number}",)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    overview.close()
    found = entries(path)
    assert len(found) == 8 * 200
    assert all(entry.text.startswith(entry.name + b" ") for entry in found)


def test_an_update_is_said_in_a_line() -> None:
    update = StateUpdate(False, None, {"score": 86, "feedback": [1, 2], "ok": True, "x": None, "t": "a\nb"})
    assert (
        summarize_update(update) == "score 86 · feedback 2 items · ok yes · x none · t “a b” · not complete"
    )
    assert summarize_update(StateUpdate()) == "nothing changed"


def test_what_an_agent_wrote_cannot_dress_up_a_line_of_ours(tmp_path: Path) -> None:
    update = StateUpdate(
        True,
        "\x1b[2Jdone\u202e",
        {"\x1b[31mkey": "\x1b[32mgreen\x1b[0m", "link": "\x1b]8;;http://x\x07here", "turned": "\u202ecba"},
    )
    words = summarize_update(update)
    assert words == "key “green” · link “here” · turned “⟨U+202E⟩cba” · complete · done⟨U+202E⟩"
    writer = TranscriptWriter(tmp_path / "transcript.log")
    writer.note("vera wrote “a\rstate update  score 100”", NOW)
    writer.close()
    assert [entry.text for entry in entries(tmp_path / "transcript.log")] == [
        "vera wrote “a state update  score 100”".encode()
    ]


def test_the_same_error_is_read_once_in_an_attempt(tmp_path: Path) -> None:
    writer = TranscriptWriter(tmp_path / "transcript.log")
    for number in (1, 2):
        writer.event(ErrorReported("Too many requests.", "429"), NOW)
        if number == 1:
            writer.note("Too many requests. Next attempt in 2 s.", NOW, Kind.WARNING)
            writer.attempt(2, AttemptKind.RETRY, "Too many requests.", NOW)
    writer.note("Too many requests.", NOW, Kind.ERROR)
    writer.note("Too many requestsers wait.", NOW, Kind.ERROR)
    writer.close()
    said = [(entry.kind, entry.text.decode()) for entry in entries(tmp_path / "transcript.log")]
    assert said == [
        (Kind.ERROR, "Too many requests."),
        (Kind.ERROR, "429"),
        (Kind.WARNING, "Next attempt in 2 s."),
        (Kind.RETRY, "attempt 2, retry"),
        (Kind.ERROR, "Too many requests."),
        (Kind.ERROR, "429"),
        (Kind.ERROR, "Too many requestsers wait."),
    ]


# --- index --------------------------------------------------------------------------------------------

_PIECES = st.sampled_from(
    [b"", b"\n", b"\n\n", b"short\n", b"no newline", b"\xff\x00\n", b"x" * 5_000, b"y" * 70_000 + b"\n"]
)


def naive(data: bytes) -> list[bytes]:
    lines = data.split(b"\n")
    return lines[:-1] if not lines[-1] else lines


@settings(max_examples=60, deadline=None)
@given(pieces=st.lists(_PIECES | st.binary(max_size=200), max_size=12), step=st.integers(1, 100_000))
def test_the_index_knows_the_lines_that_splitting_the_file_gives(
    tmp_path_factory: pytest.TempPathFactory, pieces: list[bytes], step: int
) -> None:
    path = tmp_path_factory.mktemp("index") / "log"
    index = LineIndex(path)
    written = b""
    for piece in pieces:
        piece = piece.replace(b"\r", b"")
        with path.open("ab") as file:
            file.write(piece)
        written += piece
        # Single bytes of what is short; of what is long, steps that end anywhere between two strides.
        while index.advance(max(step, len(piece) // 40)):
            pass
        expected = naive(written)
        assert index.snapshot().lines == len(expected)
        lines = index.read(0, len(expected) + 5)
        assert [(line.data, line.clipped) for line in lines] == [
            (line[:4096], max(0, len(line) - 4096)) for line in expected
        ]
        for line in lines[:: max(1, len(lines) // 5)]:
            assert index.read(line.number, 1) == [line]
            assert index.line_at(line.offset) == line.number


def test_any_window_of_a_big_file_is_read(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_bytes(b"".join(b"%d\n" % number for number in range(500_000)))
    index = indexed(path)
    for first in (0, 1, 77_777, 499_949, 499_990):
        wanted = range(first, min(first + 50, 500_000))
        assert [line.data for line in index.read(first, 50)] == [b"%d" % number for number in wanted]
    assert index.read(500_000, 50) == []


def test_a_line_of_200_mb_is_clipped_and_the_lines_around_it_are_found(tmp_path: Path) -> None:
    path = tmp_path / "log"
    size = 200_000_000
    with path.open("wb") as file:
        file.write(b"before\n")
        file.seek(7 + size)
        file.write(b"\nafter\nend")
    before, huge, after, end = indexed(path).read(0, 10)
    assert (before.data, after.data, end.data) == (b"before", b"after", b"end")
    assert (len(huge.data), huge.clipped) == (4096, size - 4096)


def test_of_an_endless_progress_bar_the_last_state_is_shown(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_bytes(b"".join(b"progress %d\r" % number for number in range(20_000)) + b"\nnext\n")
    assert [line.data for line in indexed(path).read(0, 2)] == [b"progress 19999", b"next"]


@pytest.mark.parametrize("replacement", [b"new\n", b"something longer than before\n" * 3])
def test_a_truncated_or_replaced_file_is_indexed_anew(tmp_path: Path, replacement: bytes) -> None:
    path = tmp_path / "log"
    path.write_bytes(b"old\nlines\nhere\n")
    index = indexed(path)
    generation = index.snapshot().generation
    path.write_bytes(replacement)
    while index.advance():
        pass
    assert index.snapshot().generation > generation
    assert [line.data for line in index.read(0, 9)] == naive(replacement)
    path.unlink()
    index.advance()
    assert index.snapshot().lines == 0


def test_folds_are_found_however_the_file_arrives(tmp_path: Path) -> None:
    path = tmp_path / "transcript.log"
    writer = TranscriptWriter(path, "a rather long name of an agent")
    for number in range(200):
        writer.event(TextSaid("text\nmore"), NOW)
        writer.event(ToolUsed("bash", "x" * 300, "r\n" * number), NOW)
    writer.close()
    data = path.read_bytes()
    lines = [read_entry(line) for line in data.split(b"\n")]
    expected = [(at, entry.results) for at, entry in enumerate(lines) if entry.results]
    growing = tmp_path / "growing.log"
    for step in (7, 100, 4096, len(data)):
        growing.write_bytes(b"")
        index = LineIndex(growing, FOLD_HEADER)
        for start in range(0, len(data), step):
            with growing.open("ab") as file:
                file.write(data[start : start + step])
            index.advance(1 << 30)
        marks = index.snapshot().marks
        assert list(zip(marks.lines, marks.values, strict=True)) == expected


# --- search -------------------------------------------------------------------------------------------


def search(path: Path, needle: str, *, structured: bool = False) -> LineSearch:
    found = LineSearch(path, needle, structured=structured)
    found.run()
    assert found.finished
    return found


def test_matches_are_counted_and_stepped_through_across_chunks(tmp_path: Path) -> None:
    path = tmp_path / "log"
    filler = b"nothing here\n" * 200_000
    path.write_bytes(b"Needle\n" + filler + b"a needle, a NEEDLE\n" + filler + b"needle")
    data = path.read_bytes().lower()
    found = search(path, "needle")
    assert found.count == 4
    offsets, at = [], 0
    while (match := found.after(at)) is not None:
        offsets.append(match.offset)
        assert match.ordinal == len(offsets)
        at = match.offset + 1
    assert offsets == [0, data.index(b"a needle") + 2, data.index(b", a needle") + 4, len(data) - 6]
    last = found.before(1 << 60)
    assert last is not None
    assert last.ordinal == 4
    previous = found.before(last.offset)
    assert previous is not None
    assert previous.offset == offsets[2]
    assert found.before(0) is None


def test_matches_in_one_endless_line_are_found_also_where_chunks_meet(tmp_path: Path) -> None:
    path = tmp_path / "log"
    size = 3 * 1024 * 1024
    data = bytearray(b"." * size)
    places = [0, 1024 * 1024 - 3, 2 * 1024 * 1024 - 6, size - 6]
    for place in places:
        data[place : place + 6] = b"needle"
    path.write_bytes(data)
    found = search(path, "needle")
    assert found.count == len(places)
    at = -1
    for place in places:
        match = found.after(at + 1)
        assert match is not None
        at = match.offset
        assert at == place


def test_what_is_not_shown_is_not_found(tmp_path: Path) -> None:
    path = tmp_path / "transcript.log"
    writer = TranscriptWriter(path, "agent17")
    writer.event(TextSaid("the year 17"), 1717171717.0)
    writer.event(ToolUsed("bash", "t", "17\n" * 17), 1717171717.0)
    writer.event(NoiseSeen(b"17%\r18%\n\x1b[17mcolour\x1b[0m\n"), 1717171717.0)
    writer.close()
    assert search(path, "17", structured=True).count == 1 + 17


def test_letters_beyond_ascii_match_in_either_case(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_text("Über den Wolken\nÜBER\nüber\nuber\n", encoding="utf-8")
    assert search(path, "üBER").count == 3


def test_a_search_goes_on_where_the_file_grew(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_bytes(b"need")
    found = search(path, "needle")
    assert found.count == 0
    with path.open("ab") as file:
        file.write(b"le\nneedle\n")
    found.run()
    assert found.count == 2
    path.write_bytes(b"needle")
    found.run()
    assert found.count == 1
