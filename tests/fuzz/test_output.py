"""Any bytes as the output of an agent: events and a verdict, whatever the backend makes of them."""

from __future__ import annotations

import itertools
import json
from pathlib import Path

import orjson
import pytest
from hypothesis import given, note
from hypothesis import strategies as st

from core.agent import AgentDefinition
from core.backends.base import NoiseSeen, OutputEvent, StepFinished, TextSaid, TurnOrder, Verdict
from core.backends.registry import backend, backend_names
from core.json_types import JsonValue
from core.line_index import LineIndex
from core.line_search import LineSearch
from core.parser import cut_off, parse_update
from core.transcript import FOLD_HEADER, TranscriptWriter, read_entry
from core.update_block import ParsedUpdate, UpdateProblem
from core.update_summary import summarize_update
from core.usage import Usage
from tests.fuzz.fuzzing import fuzzed

WORDS = st.sampled_from(
    [
        *("type", "text", "part", "messageID", "sessionID", "id", "reason", "stop", "tokens", "input"),
        *("output",),
        *("cost", "error", "message", "data", "name", "step_start", "step_finish", "tool_use", "reasoning"),
        *("assistant", "user", "system", "init", "result", "success", "content", "tool_result"),
        *("tool_use_id",),
        *("session_id", "usage", "total_cost_usd", "item", "item.completed", "agent_message"),
        *("thread.started",),
        *("turn.completed", "turn.failed", "command_execution", "role", "stats", "status", "tool_id"),
        *("session",),
        *("stop_reason", "errors", "is_error", "subtype", "rate_limit_event", "resetsAt", "state"),
        *("time", "start"),
        *("api_retry", "error_status", "changes", "items", "exit_code", "model", "parent_tool_use_id"),
        *("level",),
        "<state_update>{}</state_update>",
    ]
)  # fmt: skip
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats(allow_nan=False, allow_infinity=False)
    | WORDS
    | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=5),
    max_leaves=15,
)
TYPES = st.sampled_from(
    [
        *("text", "step_start", "step_finish", "tool_use", "reasoning", "error", "session"),
        *("assistant", "user"),
        *("system", "result", "message", "init", "tool_result", "item.completed", "turn.completed"),
        *("turn.failed",),
        *("thread.started", "rate_limit_event", "turn.started"),
    ]
)  # fmt: skip
LINES = st.builds(
    lambda kind, rest: json.dumps({**rest, "type": kind}).encode(),
    TYPES,
    st.dictionaries(WORDS, VALUES, max_size=6),
)
NOISE = st.binary(max_size=20) | st.sampled_from(
    [b"\x1e", b"\r", b"\x1b[31m", b"\x00", b"{", b"}", b'{"a":' * 300, b"\xf0\x9f", b"", b"x" * 5_000]
)
OUTPUTS = st.lists(LINES | NOISE, max_size=12).map(b"\n".join)
CUTS = st.lists(st.integers(0, 4_000), max_size=6)


def read(name: str, data: bytes, cuts: list[int], folder: Path) -> tuple[list[OutputEvent], Verdict]:
    reader = backend(name).reader(TurnOrder(AgentDefinition(name="a", backend=name), "a", folder, folder))
    edges = [0, *sorted(min(cut, len(data)) for cut in cuts), len(data)]
    events: list[OutputEvent] = []
    for start, end in itertools.pairwise(edges):
        events += reader.feed(data[start:end])
    events += reader.finish()
    return events, reader.judge(0, None, "")


# All backends get the same outputs: to make one takes longer than to read it with each of them.
BACKENDS = sorted(backend_names())


@fuzzed(1)
@given(OUTPUTS, CUTS)
def test_any_output_gives_events_and_a_verdict(
    tmp_path_factory: pytest.TempPathFactory, data: bytes, cuts: list[int]
) -> None:
    """The same ones wherever the bytes are cut, and all of them can be written down."""
    for name in BACKENDS:
        note(name)
        check_reading(name, data, cuts, tmp_path_factory.getbasetemp())


def check_reading(name: str, data: bytes, cuts: list[int], folder: Path) -> None:
    events, verdict = read(name, data, cuts, folder)
    whole, again = read(name, data, [], folder)
    assert verdict == again
    assert [e for e in events if not isinstance(e, NoiseSeen)] == [
        e for e in whole if not isinstance(e, NoiseSeen)
    ]
    assert b"".join(e.data for e in events if isinstance(e, NoiseSeen)) == b"".join(
        e.data for e in whole if isinstance(e, NoiseSeen)
    )
    orjson.dumps(sum((e.usage for e in events if isinstance(e, StepFinished)), Usage()))
    said = [event.text for event in events if isinstance(event, TextSaid)]
    if verdict.failure is None and name not in ("claude", "command"):
        # Claude Code repeats its answer in its last line; a plain program's output is the answer.
        assert verdict.text == "" or any(text in verdict.text for text in said)
    assert len(verdict.failure.message if verdict.failure else "") <= 4_000


@fuzzed(0.5)
@given(OUTPUTS)
def test_any_output_makes_a_transcript_that_can_be_read(
    tmp_path_factory: pytest.TempPathFactory, data: bytes
) -> None:
    """Also by the index and the search of the log view; nothing printed passes for a line of OpenLoop's."""
    for name in BACKENDS:
        note(name)
        check_transcript(name, data, tmp_path_factory.getbasetemp())


def check_transcript(name: str, data: bytes, folder: Path) -> None:
    path = folder / f"{name}-transcript.log"
    path.unlink(missing_ok=True)
    writer = TranscriptWriter(path)
    events, _ = read(name, data, [100], folder)
    for event in events:
        writer.event(event, 1.0)
    writer.stderr(data, 1.0)
    writer.close()
    index = LineIndex(path, FOLD_HEADER)
    while index.advance():
        pass
    lines = index.read(0, 10_000)
    assert len(lines) == index.snapshot().lines
    for line in lines:
        read_entry(line.data)
    search = LineSearch(path, "state", structured=True)
    search.run()
    match = search.after(0)
    for _ in range(3):
        match = search.after(match.offset + 1) if match is not None else None
    assert search.finished


# --- the update in a text -----------------------------------------------------------------------------

PIECES = st.sampled_from(
    [
        *("<state_update>", "</state_update>", "<state_update", "```", "```json\n", "{", "}", "[", "]"),
        *('"', "\\"),
        *('"payload":', '"is_complete":', '"meta":', "true", "null", "1e999", "NaN", "Infinity", "//"),
        *("/*", "*/"),
        *("\n", "\r", "\x00", "\ud800", "\ufeff", "é", " ", ",", ":", '{"payload": {"a": 1}}'),
        *('{"is_complete": true}',),
        *('{"a": 1, "a": 2}', "[" * 300, "]" * 300, "9" * 500, "-", "0", "'", "{,}"),
        *('{"payload": {"a": [1,],},}',),
    ]
)  # fmt: skip


@fuzzed(5)
@given(st.lists(PIECES | st.text(max_size=5), max_size=40).map("".join))
def test_any_text_gives_an_update_that_can_be_written_or_a_problem_in_words(text: str) -> None:
    parsed = parse_update(text)
    if isinstance(parsed, UpdateProblem):
        assert parsed.message.endswith(".")
        assert len(parsed.message) < 1_000
        assert len(parsed.advice) < 2_000
        assert cut_off(parsed).advice
    else:
        orjson.dumps(parsed.update, option=orjson.OPT_INDENT_2)
        assert summarize_update(parsed.update)
        assert all(len(note) < 2_000 for note in parsed.notes)


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"]), max_size=10),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text(st.characters(exclude_categories=["Cs"]), max_size=4), inner, max_size=4)
    ),
    max_leaves=20,
)


@fuzzed(2)
@given(
    st.dictionaries(st.text(st.characters(exclude_categories=["Cs"]), max_size=4), JSON, max_size=5),
    st.text(max_size=30),
    st.booleans(),
    st.sampled_from([None, 1, "\t"]),
)
def test_what_an_agent_sends_is_what_is_read(
    payload: dict[str, JsonValue], before: str, ascii_only: bool, indent: int | str | None
) -> None:
    sent = json.dumps({"payload": payload}, ensure_ascii=ascii_only, indent=indent)
    parsed = parse_update(f"{before}<state_update>{sent}</state_update>")
    assert isinstance(parsed, ParsedUpdate)
    assert parsed.update.payload == payload
