"""What opencode keeps of a session: read from a made-up export and database, in the shapes of 1.18.33."""

from __future__ import annotations

import contextlib
import json
import sqlite3
import sys
from pathlib import Path

import pytest

from core.agent import AgentDefinition
from core.backends.base import SessionOpened, StepFinished, StepStarted, TextSaid, TurnOrder, Verdict
from core.backends.opencode import OpencodeBackend
from core.backends.opencode_session import answer_lines, database, subagents_usage
from core.usage import Usage

SESSION = "ses_1"
TOKENS = {"total": 133, "input": 111, "output": 22, "reasoning": 0, "cache": {"write": 0, "read": 0}}


def part(kind: str, number: int, **more: object) -> dict[str, object]:
    return {"type": kind, "id": f"prt_{number}", "messageID": "msg_2", "sessionID": SESSION, **more}


PARTS = [
    part("step-start", 1),
    part("tool", 2, tool="bash", state={"status": "completed", "input": {"command": "ls"}, "output": ""}),
    part("tool", 3, tool="bash", state={"status": "running", "input": {"command": "sleep"}}),
    part("text", 4, text="It is done."),
    part("step-finish", 5, reason="stop", tokens=TOKENS, cost=0.25),
    part("snapshot", 6),
]
SAID_BEFORE = [part("text", 0, text="an earlier answer")]
NAMES = {"step-start": "step_start", "text": "text", "tool": "tool_use", "step-finish": "step_finish"}


def printed(*numbers: int) -> bytes:
    lines = [{"type": NAMES.get(str(p["type"])), "sessionID": SESSION, "part": p} for p in PARTS]
    return b"".join(json.dumps(lines[number - 1]).encode() + b"\n" for number in numbers)


def exporting(folder: Path, program: str) -> None:
    """Let `python export ses_1` in this folder be the `opencode export ses_1` of the tests."""
    (folder / "export").write_text(f"import json, sys\n{program}\n", encoding="utf-8")


def export(folder: Path, *, error: object = None) -> None:
    messages = [
        {"info": {"role": "user"}, "parts": [part("text", 90, text="x")]},
        {"info": {"role": "assistant"}, "parts": SAID_BEFORE},
        {"info": {"role": "user"}, "parts": [part("text", 91, text="y")]},
        {"info": {"role": "assistant", **({"error": error} if error else {})}, "parts": PARTS},
    ]
    exporting(folder, f"assert sys.argv[1] == {SESSION!r}\nprint({json.dumps({'messages': messages})!r})")


@pytest.fixture
def order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> TurnOrder:
    monkeypatch.setenv("OPENLOOP_OPENCODE", sys.executable)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.delenv("OPENCODE_DB", raising=False)
    return TurnOrder(AgentDefinition(name="vera"), "vera", tmp_path, tmp_path / "turn", session=SESSION)


# --- the end of the output -----------------------------------------------------------------------------


def test_only_what_was_not_printed_is_taken_from_the_session(order: TurnOrder) -> None:
    """Pain 5: the answer is there, and each step counts once."""
    export(order.workdir)
    backend = OpencodeBackend()
    reader = backend.reader(order)
    events = [*reader.feed(printed(1, 2) + printed(4)[:40]), *reader.finish()]
    assert isinstance(events[0], SessionOpened)
    fetched = backend.untold_output(order, reader)
    assert list(fetched) == [
        TextSaid("It is done."),
        StepFinished("stop", Usage(111, 22, cost_usd=0.25)),
    ]
    assert reader.judge(0, None, "") == Verdict("It is done.")
    assert StepStarted() not in fetched
    # Nothing is missing any more, so nobody asks again.
    assert list(backend.untold_output(order, reader)) == []


def test_a_whole_output_is_not_looked_up(order: TurnOrder) -> None:
    exporting(order.workdir, "open('asked', 'w')")
    backend = OpencodeBackend()
    reader = backend.reader(order)
    reader.feed(printed(1, 4, 5))
    reader.finish()
    assert reader.judge(0, None, "").failure is None
    assert list(backend.untold_output(order, reader)) == []
    # What reports an error has no lost end either.
    failed = backend.reader(order)
    failed.feed(
        printed(1) + json.dumps({"type": "error", "sessionID": SESSION, "error": {}}).encode() + b"\n"
    )
    assert list(backend.untold_output(order, failed)) == []
    assert not (order.workdir / "asked").exists()


def test_an_error_that_was_not_printed_is_found(order: TurnOrder) -> None:
    """Pains 5, 22."""
    export(order.workdir, error={"name": "APIError", "data": {"message": "no", "statusCode": 401}})
    backend = OpencodeBackend()
    reader = backend.reader(order)
    reader.feed(printed(1))
    assert reader.judge(0, None, "").failure is not None
    backend.untold_output(order, reader)
    failure = reader.judge(0, None, "").failure
    assert failure is not None
    assert failure.provider_wide


@pytest.mark.parametrize(
    "program", ["sys.exit(1)", "print('{')", "print([])", "print('{\"messages\": [1]}')"]
)
def test_a_session_that_cannot_be_had_changes_nothing(order: TurnOrder, program: str) -> None:
    """Pain 5: then the attempt is judged by what was printed."""
    exporting(order.workdir, program)
    backend = OpencodeBackend()
    reader = backend.reader(order)
    reader.feed(printed(1))
    verdict = reader.judge(0, None, "")
    assert list(backend.untold_output(order, reader)) == []
    assert reader.judge(0, None, "") == verdict
    assert answer_lines(str(order.workdir / "gone"), SESSION, order.workdir, {}) == []


# --- what subagents used -------------------------------------------------------------------------------


def keep(file: Path, *sessions: tuple[object, ...]) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    columns = "id, parent_id, cost, tokens_input, tokens_output, tokens_reasoning, tokens_cache_read"
    with contextlib.closing(sqlite3.connect(file)) as connection, connection:
        connection.execute("pragma journal_mode = wal")
        connection.execute(f"create table if not exists session ({columns}, tokens_cache_write)")
        connection.execute("delete from session")
        connection.executemany("insert into session values (?, ?, ?, ?, ?, ?, ?, ?)", sessions)


def test_what_subagents_used_is_counted_once_down_to_the_last_of_them(order: TurnOrder) -> None:
    """Pain 24: opencode prints none of it."""
    file = order.workdir / "data" / "opencode" / "opencode.db"
    child = ("ses_2", SESSION, 0.5, 100, 10, 1, 20, 2)
    keep(
        file,
        (SESSION, None, 9, 9, 9, 9, 9, 9),
        child,
        ("ses_3", "ses_2", 0, 7, 0, 0, 0, 0),
        ("ses_4", "x", *[5] * 6),
    )
    backend = OpencodeBackend()
    assert list(backend.untold_output(order, backend.reader(order))) == [
        StepFinished("subagent", Usage(100, 10, 1, 20, 2, 0.5)),
        # Without a known price: not free.
        StepFinished("subagent", Usage(7, cost_usd=None)),
    ]
    assert list(backend.untold_output(order, backend.reader(order))) == []
    # A correction in the same session lets a subagent go on.
    keep(file, ("ses_2", SESSION, 0.75, 150, 10, 1, 20, 2))
    assert list(backend.untold_output(order, backend.reader(order))) == [
        StepFinished("subagent", Usage(50, cost_usd=0.25))
    ]


def test_a_database_of_another_shape_or_none_tells_nothing(tmp_path: Path) -> None:
    file = database({"XDG_DATA_HOME": str(tmp_path)})
    assert subagents_usage(file, SESSION) == {}
    file.parent.mkdir()
    file.write_bytes(b"no database at all, but long enough to look like one" * 100)
    assert subagents_usage(file, SESSION) == {}
    file.unlink()
    with contextlib.closing(sqlite3.connect(file)) as connection, connection:
        connection.execute("create table session (id)")
    assert subagents_usage(file, SESSION) == {}
    assert database({"OPENCODE_DB": "/x/y.db"}) == Path("/x/y.db")
