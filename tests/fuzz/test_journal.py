"""Any bytes as a journal: what can be read is read, and nothing but OSError is ever raised."""

from __future__ import annotations

import contextlib
from pathlib import Path

import orjson
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from core.events import GroupStarted, Noted, RunStarted, StateChanged, TurnFinished, TurnRef
from core.journal import JOURNAL_NAME, Journal, read_journal
from core.plan import Place
from core.progress import RunProgress
from core.recorded_run import RunUnreadable, read_run
from core.state import StateUpdate, WorkflowState
from tests.fuzz.fuzzing import fuzzed

REF = TurnRef("loop/1/0/0", Place("loop", 0, 0), "vera", "vera", "001-vera")
EVENTS = [
    RunStarted(time=1.0, run_id="r", workflow="w", folder="f", workdir="d", max_loops=3),
    GroupStarted(time=2.0, phase="loop", iteration=1, turns=(REF,)),
    TurnFinished(time=3.0, turn=REF.turn, update=StateUpdate(payload={"a": [1, {"b": None}]})),
    StateChanged(time=4.0, state=WorkflowState(payload={"a": 1})),
    Noted(time=5.0, message="é\u2028"),
]
LINES = [orjson.dumps(event) for event in EVENTS]
PIECES = st.sampled_from(
    [
        *LINES,
        *(b"\n", b"{", b"}", b"[" * 200, b'"', b"\x00", b"\xff", b'{"type":"turn_finished"}', b"null"),
        *(b"1e999",),
        *(b'{"type":"run_started","time":"x"}', b'{"type":"zzz"}', b'{"type":["run_started"]}', b"NaN"),
        *(b"\r",),
    ]
)  # fmt: skip


@fuzzed(3)
@given(st.binary(max_size=300) | st.lists(PIECES | st.binary(max_size=5), max_size=20).map(b"".join))
@example(b'{"type":"turn_finished","update":{"payload":{"x":' + b"[" * 100_000 + b"\n")
@example(b'{"type":"turn_finished","turn":"\\ud800"}\n')
@example(b'{"type":"usage_reported","usage":{"input_tokens":' + b"9" * 5_000 + b"}}\n")
@example(b'{"type":"usage_reported","usage":{"input_tokens":1e300,"cost_usd":NaN}}\n')
def test_any_bytes_as_a_journal(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    folder = tmp_path_factory.getbasetemp() / "any-run"
    folder.mkdir(exist_ok=True)
    path = folder / JOURNAL_NAME
    path.write_bytes(data)
    events = read_journal(path)
    RunProgress().apply_all(events)
    with contextlib.suppress(RunUnreadable):
        run = read_run(folder)
        assert run.run_id
        assert run.message
        assert isinstance(run.last_number, int)


@fuzzed(2)
@given(st.data())
def test_whatever_line_is_damaged_all_others_are_read(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    path = tmp_path_factory.getbasetemp() / "damaged.jsonl"
    hurt = data.draw(st.integers(0, len(LINES) - 1))
    start = data.draw(st.integers(0, len(LINES[hurt]) - 1))
    damage = data.draw(st.binary(max_size=8)).replace(b"\n", b"")
    lines = list(LINES)
    lines[hurt] = (
        lines[hurt][:start] + damage + lines[hurt][data.draw(st.integers(start, len(lines[hurt]))) :]
    )
    path.write_bytes(b"\n".join(lines) + b"\n")
    read = read_journal(path)
    others = [event for number, event in enumerate(EVENTS) if number != hurt]
    assert [event for event in read if event in others] == others
    assert len(read) <= len(EVENTS)


@fuzzed()
@given(st.binary(max_size=60))
def test_what_is_appended_after_a_torn_end_is_read(
    tmp_path_factory: pytest.TempPathFactory, torn: bytes
) -> None:
    path = tmp_path_factory.getbasetemp() / "torn.jsonl"
    path.write_bytes(torn)
    journal = Journal(path)
    for event in EVENTS:
        journal.append(event)
    journal.close()
    assert read_journal(path)[-len(EVENTS) :] == EVENTS


def test_only_a_file_that_cannot_be_read_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="journal"):
        read_journal(tmp_path / JOURNAL_NAME)
