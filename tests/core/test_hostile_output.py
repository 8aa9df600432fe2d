"""Agents that print what no program should have to read: what counts, what is kept, and what it costs.

Each agent is a real program in a real run. How the bounds are meant: docs/run-semantics.md, "Hostile output".
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
import tracemalloc
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import orjson
import pytest

from core.agent import AgentDefinition
from core.backends.answer_text import TEXT_LIMIT
from core.backends.base import TurnOrder
from core.backends.ndjson import LINE_LIMIT
from core.backends.registry import backend
from core.events import Noted, TurnFinished, TurnStatus
from core.journal import JOURNAL_NAME, read_journal
from core.json_types import JsonObject
from core.line_index import LineIndex
from core.line_search import LineSearch
from core.transcript import FOLD_HEADER, read_entry
from core.update_block import MAX_VALUES
from tests.core.run_support import FinishedRun, Workshop, alive_agents

CHILDREN = Path(__file__).with_name("bad_children")
MAIN = Path(__file__).with_name("measured_main.py")
ROOT = Path(__file__).parent.parent.parent
MOST_MORE = 128 * 2**20
"""Bytes that an agent may make OpenLoop need more than a quiet one does (docs/run-semantics.md)."""


def tagged(content: str | bytes) -> bytes:
    content = content.encode() if isinstance(content, str) else content
    return b"<state_update>" + content + b"</state_update>"


def said(**payload: object) -> bytes:
    return tagged(json.dumps({"payload": payload}))


@dataclass(frozen=True)
class Case:
    """What an agent prints, and what becomes of it: a payload, or words of the problem.

    `piece`: bytes that are written at once. `echo`: it prints its prompt first.
    """

    printed: bytes
    payload: JsonObject | None = None
    problem: str = ""
    note: str = ""
    piece: int = 65_536
    echo: bool = False


DEEP = 100_000
ONE = said(x=1)
CASES = {
    # --- bytes
    "invalid UTF-8": Case(b"\xff\xfe\xc3(\n" + tagged(b'{"payload": {"x": "a\xffb"}}'), {"x": "a\ufffdb"}),
    "half a character at the end": Case(ONE + b"\nbye \xf0\x9f\x98", {"x": 1}),
    "characters cut by pieces": Case(b"." + tagged('{"payload": {"x": "é😀"}}'), {"x": "é😀"}, piece=1),
    "characters cut by reads": Case(
        b"." + tagged('{"payload": {"x": "' + "é😀" * 60_000 + '"}}'), {"x": "é😀" * 60_000}
    ),
    "halves of surrogates": Case(tagged(b'{"payload": {"x": "\xed\xa0\xbd"}}'), {"x": "\ufffd" * 3}),
    "half a surrogate as an escape": Case(tagged('{"payload": {"x": "\\ud83d"}}'), problem="Surrogates"),
    "UTF-16": Case(ONE.decode().encode("utf-16"), problem="no state update"),
    "byte order mark and CRLF": Case(
        b'\xef\xbb\xbfHi\r\n<state_update>\r\n{\r\n"payload": {"x": 1}\r\n}\r\n</state_update>\r\n', {"x": 1}
    ),
    "progress bars": Case(b"".join(b"\r%3d%%" % (n % 101) for n in range(20_000)) + b"\n" + ONE, {"x": 1}),
    "progress bars without a newline": Case(b"\r|/-" * 100_000 + ONE, {"x": 1}),
    "colours": Case(b"\x1b[2J\x1b[31mred\x1b[0m " + ONE + b"\x1b]0;title\x07\x1b[0m", {"x": 1}),
    "colours inside": Case(tagged(b'{\x1b[1m"payload": {}}'), problem="not valid JSON"),
    "NUL bytes": Case(b"\x00" * 100_000 + ONE + b"\x00", {"x": 1}),
    "NUL bytes inside": Case(tagged(b'{"payload": {"x": "\x00"}}'), problem="control character"),
    "control characters": Case(b"\x1e\x1f\x07\x08\x0c\x85\x1eu1\tfake\n" + ONE, {"x": 1}),
    "no newline at all": Case(b"x" * 3_000_000 + ONE, {"x": 1}),
    "only newlines": Case(b"\n" * 1_000_000 + ONE, {"x": 1}),
    "nothing": Case(b"", problem="empty text"),
    # --- which update counts
    "an example before": Case(b"Such as " + tagged('{"is_complete": true}') + b"\n" + ONE, {"x": 1}),
    "an example in a fence": Case(b"```\n" + said(x="no") + b"\n```\n" + ONE, {"x": 1}),
    "the prompt": Case(ONE, {"x": 1}, echo=True),
    "only the prompt": Case(b"", problem="not valid JSON", echo=True),
    "several": Case(b"".join(said(x=n) for n in range(2_000)) + b"\nbye", {"x": 1_999}),
    "thousands of openings": Case(b"<state_update>{" * 50_000 + ONE, {"x": 1}),
    "thousands of closings": Case(ONE + b"</state_update>" * 10_000, {"x": 1}),
    "nested": Case(b"<state_update>" + ONE + b"</state_update>", {"x": 1}),
    "a tag in a text": Case(said(x=ONE.decode()), {"x": ONE.decode()}),
    "a broken one last": Case(ONE + tagged("{broken}"), {"x": 1}, note="could not be used"),
    "much after it": Case(ONE + b"\n" + b"and so on\n" * 200_000, {"x": 1}),
    "cut off": Case(b'<state_update>{"payload": {"x": [1, 2', problem="cut off"),
    "cut off in the tag": Case(b'<state_update>{"payload": {}}</state_up', problem="cut off"),
    "only the end": Case(b'"x": 1}}</state_update>', problem="no state update"),
    "fenced": Case(b'```json\n{"payload": {"x": 1}}\n```\n', {"x": 1}, note="code fence"),
    "completion by who may not": Case(tagged('{"is_complete": true, "payload": {}}'), {}, note="ignored"),
    # --- JSON
    "comments": Case(tagged('{// why\n"payload": /* so */ {"x": 1}}'), {"x": 1}, note="Comments"),
    "trailing commas": Case(tagged('{"payload": {"x": [1, 2,],},}'), {"x": [1, 2]}, note="trailing commas"),
    "NaN": Case(tagged('{"payload": {"x": NaN}}'), problem="NaN is not allowed"),
    "Infinity": Case(tagged('{"payload": {"x": -Infinity}}'), problem="Infinity is not allowed"),
    "a number beyond all": Case(tagged('{"payload": {"x": 1e999}}'), problem="too large"),
    "a number of many digits": Case(tagged('{"payload": {"x": ' + "9" * 10**6 + "}}"), problem="too large"),
    "a key twice": Case(tagged('{"payload": {"x": 1, "x": 2}}'), problem="'x' stands twice"),
    "a key twice among many": Case(
        tagged('{"payload": {' + "".join(f'"{n}": 1, ' for n in range(100_000)) + '"99999": 2}}'),
        problem="'99999' stands twice",
    ),
    "the payload twice": Case(tagged('{"payload": {"x": 1}, "payload": {}}'), problem="stands twice"),
    "single quotes": Case(tagged("{'payload': {}}"), problem="not valid JSON"),
    "lists inside each other": Case(tagged("[" * DEEP + "]" * DEEP), problem="deep"),
    "objects inside each other": Case(tagged('{"payload":' * DEEP + "1" + "}" * DEEP), problem="deep"),
    "lists that never end": Case(tagged('{"payload": {"x": ' + "[" * DEEP), problem="deep"),
    "too many values": Case(
        tagged('{"payload": {"x": [' + "{}," * MAX_VALUES + "1]}}"), problem="more than 250,000 values"
    ),
    "deep and wide": Case(
        tagged('{"payload": {"x": ' + "[" * 150 + "[]," * 120_000 + "1" + "]" * 150 + "}}"),
        problem="deep and wide",
    ),
    "a long key around many": Case(
        tagged('{"payload": {"' + "k" * 10_000 + '": {' + ",".join(f'"{n}":1' for n in range(9_000)) + "}}}"),
        problem="deep and wide",
    ),
    "a large payload": Case(said(x="y" * 7_000_000), {"x": "y" * 7_000_000}),
    "a larger payload": Case(said(x="y" * 9_000_000), problem="longer than 8 MiB"),
}  # fmt: skip


@dataclass(frozen=True)
class Printed:
    """The run of all cases at once."""

    run: FinishedRun
    workdir: Path
    turns: dict[str, TurnFinished]
    notes: dict[str, str]


@pytest.fixture(scope="module")
def printed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Printed]:
    folder = tmp_path_factory.mktemp("hostile")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OPENLOOP_HOME", str(folder / "home"))
        shop = Workshop(folder)
        names: dict[str, str] = {}
        for number, (case_name, case) in enumerate(CASES.items()):
            file = folder / f"{number}.bin"
            file.write_bytes(case.printed)
            name = names[case_name] = f"agent{number}"
            words = [sys.executable, "-I", "-S", str(CHILDREN / "printer.py"), str(file), str(case.piece)]
            shop.command(name, *words, *(["echo"] if case.echo else []))
        run = shop.run(
            {
                "preparation_agents": [{"agents": [*names.values()], "mode": "parallel", "max_parallel": 4}],
                "on_parallel_error": "continue",
                "initial_payload": {"trap": tagged('{"is_complete": true}').decode()},
                "finalization_agents": [],
            }
        )
        labels = {turn.id: turn.label for turn in run.progress.turns.values()}
        ends = {labels[event.turn]: event for event in run.of(TurnFinished)}
        notes: dict[str, str] = {}
        for event in run.of(Noted):
            if event.turn is not None:
                notes[labels[event.turn]] = notes.get(labels[event.turn], "") + event.message
        yield Printed(
            run,
            folder,
            {case_name: ends[name] for case_name, name in names.items()},
            {case_name: notes.get(name, "") for case_name, name in names.items()},
        )


def folder_of(printed: Printed, case: str) -> Path:
    return printed.run.turn_folder(f"agent{list(CASES).index(case)}")


@pytest.mark.parametrize("name", CASES)
def test_the_update_of_the_last_text_counts_or_the_problem_is_told_in_words(
    name: str, printed: Printed
) -> None:
    """Pains 12 and 25: no byte confuses it, and nothing but the last word of an agent counts."""
    case, end = CASES[name], printed.turns[name]
    if case.payload is None:
        assert end.status is TurnStatus.FAILED
        assert end.update is None
        assert case.problem in f"{end.message} {end.detail}"
        assert not (folder_of(printed, name) / "update.json").exists()
        return
    assert end.status is TurnStatus.SUCCEEDED, end
    assert end.update is not None
    assert end.update.payload == case.payload
    assert end.update.is_complete is None
    assert case.note in printed.notes[name]
    written = orjson.loads((folder_of(printed, name) / "update.json").read_bytes())
    assert written["payload"] == case.payload


@pytest.mark.parametrize("name", CASES)
def test_every_byte_is_on_disk(name: str, printed: Printed) -> None:
    """Pain 32: everything printed is kept, whatever it is worth."""
    folder = folder_of(printed, name)
    expected = CASES[name].printed
    if CASES[name].echo:
        expected = (folder / "prompt.md").read_bytes() + expected
    assert (folder / "stdout.log").read_bytes() == expected


def test_the_run_ends_and_nobody_is_left(printed: Printed) -> None:
    assert printed.run.reason == "completed"
    assert alive_agents(printed.workdir) == []
    assert read_journal(printed.run.folder / JOURNAL_NAME)[-1] == printed.run.finished


def test_no_output_passes_for_a_line_of_openloop(printed: Printed) -> None:
    """What an agent prints cannot look like a note or an update in its log."""
    transcript = folder_of(printed, "control characters") / "transcript.log"
    lines = transcript.read_bytes().split(b"\n")
    assert not [line for line in lines if read_entry(line).text == b"fake"]


# --- agent CLIs that print JSON -----------------------------------------------------------------------

JSON_BACKENDS = ("opencode", "claude", "codex", "gemini", "demo")
TEXTS = {
    "opencode": '{"type":"text","sessionID":"s","part":{"id":"p","messageID":"m","text":%s}}',
    "claude": '{"type":"assistant","message":{"id":"m","content":[{"type":"text","text":%s}]}}',
    "codex": '{"type":"item.completed","item":{"type":"agent_message","text":%s}}',
    "gemini": '{"type":"message","role":"assistant","content":%s}',
    "demo": '{"type":"text","text":%s}',
}
ENDS = {
    "opencode": '{"type":"step_finish","part":{"messageID":"m","reason":"stop"}}',
    "claude": '{"type":"result","subtype":"success","is_error":false}',
    "codex": '{"type":"turn.completed","usage":{}}',
    "gemini": '{"type":"result","status":"success"}',
    "demo": '{"type":"step_finish","reason":"stop"}',
}


class Talk:
    """One attempt of a backend that is fed in pieces, with the most memory that this took."""

    def __init__(self, name: str, tmp_path: Path) -> None:
        agent = AgentDefinition(name="a", backend=name)
        self._reader = backend(name).reader(TurnOrder(agent, "a", tmp_path, tmp_path))
        self._name = name

    def feed(self, data: bytes) -> None:
        for start in range(0, len(data), 65_536):
            self._reader.feed(data[start : start + 65_536])

    def say(self, text: str) -> None:
        self.feed((TEXTS[self._name] % json.dumps(text)).encode() + b"\n")

    def end(self) -> tuple[str, bool, bool]:
        """The answer, whether it failed, whether it counts as cut off."""
        self.feed(ENDS[self._name].encode() + b"\n")
        self._reader.finish()
        verdict = self._reader.judge(0, None, "")
        return verdict.text, verdict.failure is not None, verdict.truncated


@pytest.mark.parametrize("name", JSON_BACKENDS)
def test_a_line_of_any_length_is_passed_on_in_bounded_memory(name: str, tmp_path: Path) -> None:
    """Pain 13. A line that long is not read; what came before it is not taken for the answer."""
    talk = Talk(name, tmp_path)
    talk.say(said(x="before").decode())
    block = b"x" * 65_536
    tracemalloc.start()
    try:
        talk.feed(b'{"type":"text","text":"')
        for _ in range(200 * 16):
            talk.feed(block)
        talk.feed(b'"}\n')
        answer, failed, cut = talk.end()
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 3 * LINE_LIMIT
    assert "before" not in answer
    assert failed or cut


@pytest.mark.parametrize("name", JSON_BACKENDS)
def test_an_answer_after_a_line_that_is_too_long_counts(name: str, tmp_path: Path) -> None:
    talk = Talk(name, tmp_path)
    talk.say(said(x="before").decode())
    talk.feed(b'{"type":"tool_use","output":"' + b"x" * (LINE_LIMIT + 1) + b'"}\n')
    talk.say(said(x="after").decode())
    answer, failed, cut = talk.end()
    assert answer.endswith(said(x="after").decode())
    assert not failed
    assert not cut


@pytest.mark.parametrize("name", JSON_BACKENDS)
@pytest.mark.parametrize(
    "line",
    [
        b'{"a":' * DEEP + b"1" + b"}" * DEEP,
        b'{"a":' + b"[" * DEEP + b"]" * DEEP + b"}",
        b"{" * DEEP,
        b'{"type":"text","part":{"text":' + b"[" * DEEP + b"}",
        b'{"a":[' + b"[]," * 1_000_000 + b"1]}",
        b'{"a":1e999}',
        b'{"type":"\xff"}',
    ],
    ids=range(7),
)
def test_a_line_that_is_a_bomb_is_noise(name: str, line: bytes, tmp_path: Path) -> None:
    """Nothing is read that is deeper than any CLI prints, or has more values than fit into memory."""
    talk = Talk(name, tmp_path)
    tracemalloc.start()
    try:
        talk.feed(line + b"\n")
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 5 * LINE_LIMIT
    talk.say(ONE.decode())
    assert talk.end() == (ONE.decode(), False, False)


@pytest.mark.parametrize("name", ["opencode", "claude", "gemini"])
def test_an_answer_in_endless_pieces_is_kept_from_its_end(name: str, tmp_path: Path) -> None:
    talk = Talk(name, tmp_path)
    tracemalloc.start()
    try:
        piece = "y" * 1_000_000
        for _ in range(40):
            talk.say(piece)
        talk.say(ONE.decode())
        answer, failed, _ = talk.end()
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 6 * TEXT_LIMIT
    assert len(answer) <= TEXT_LIMIT
    assert answer.endswith(ONE.decode())
    assert not failed


@pytest.mark.parametrize("name", ["claude", "gemini", "opencode"])
def test_tool_calls_that_never_end_do_not_add_up(name: str, tmp_path: Path) -> None:
    calls = {
        "opencode": '{{"type":"reasoning","part":{{"id":"{0}","text":""}}}}\n',
        "claude": '{{"type":"assistant","message":{{"content":[{{"type":"tool_use","id":"{0}"}}]}}}}\n',
        "gemini": '{{"type":"tool_use","tool_id":"{0}","tool_name":"t"}}\n',
    }  # fmt: skip
    talk = Talk(name, tmp_path)
    block = b"".join(calls[name].format(number).encode() for number in range(25_000))
    tracemalloc.start()
    try:
        talk.feed(block)
        now, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert now < 4_000_000


@pytest.mark.parametrize("name", JSON_BACKENDS)
def test_usage_beyond_all_numbers_can_still_be_written_down(name: str, tmp_path: Path) -> None:
    """A count that no journal can hold must not cost the run its end."""
    usages = {
        "opencode": '{"type":"step_finish","part":{"messageID":"m","reason":"stop","cost":1e308,'
        '"tokens":{"input":1e300,"output":-1e300,"cache":{"read":18446744073709551615}}}}',
        "claude": '{"type":"result","subtype":"success","total_cost_usd":1e308,'
        '"usage":{"input_tokens":1e300,"output_tokens":123456789012345678901234567890}}',
        "codex": '{"type":"turn.completed","usage":{"input_tokens":1e300,"output_tokens":1e300}}',
        "gemini": '{"type":"result","status":"success","stats":{"input_tokens":1e300,"total_tokens":1e301}}',
        "demo": '{"type":"step_finish","reason":"stop","tokens":{"input":18446744073709551615},"cost":1e308}',
    }
    agent = AgentDefinition(name="a", backend=name)
    reader = backend(name).reader(TurnOrder(agent, "a", tmp_path, tmp_path))
    events = reader.feed(usages[name].encode() + b"\n")
    assert events
    # Twice: sums of what can be written must be such numbers, too.
    orjson.dumps([*events, *(event.usage + event.usage for event in events if hasattr(event, "usage"))])


@pytest.mark.skipif(sys.platform == "win32", reason="the stand-in for the CLI is a script")
def test_a_turn_of_an_agent_cli_survives_all_that_in_a_real_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shop = Workshop(tmp_path)
    output = tmp_path / "output.bin"
    lines = [
        b'{"type":"system","subtype":"init","session_id":"s1"}',
        (TEXTS["claude"] % json.dumps(said(x="before").decode())).encode(),
        b"\xff\x00\x1b[31m not json \r\r\r",
        b'{"a":' * DEEP,
        b'{"type":"user","x":"' + b"x" * (LINE_LIMIT + 5) + b'"}',
        (TEXTS["claude"] % json.dumps(ONE.decode())).encode(),
        b'{"type":"result","subtype":"success","usage":{"input_tokens":1e300},"total_cost_usd":0.5}',
    ]
    output.write_bytes(b"\n".join(lines))
    program = tmp_path / "claude"
    printer = CHILDREN / "printer.py"
    program.write_text(f"#!/bin/sh\nexec '{sys.executable}' -I -S '{printer}' '{output}' 65536\n")
    program.chmod(0o755)
    monkeypatch.setenv("OPENLOOP_CLAUDE", str(program))
    (shop.folder / "agents" / "a.md").write_text("---\nname: a\nbackend: claude\n---\nWork.\n")
    run = shop.run({"preparation_agents": ["a"]})
    assert run.reason == "completed"
    assert run.payload == {"x": 1}
    assert (run.turn_folder("a") / "stdout.log").read_bytes() == output.read_bytes()
    assert alive_agents(tmp_path) == []


def test_demo_agents_that_misbehave_come_to_a_defined_end(tmp_path: Path) -> None:
    """Pain 28: an answer that was cut off at the output limit is asked for again, but shorter."""
    shop = Workshop(tmp_path)
    shop.agent("cut", bad_update={"kind": "truncated", "first": 1}, stop_reason="length", writes={"cut": 1})
    shop.agent("bytes", invalid_utf8=True, writes={"bytes": 1})
    shop.agent("flood", flood={"noise_bytes": 3_000_000, "text_lines": 20_000}, writes={"flood": 1})
    shop.agent("torn", partial_last_line=True, writes={"torn": 1})
    names = ["cut", "bytes", "flood", "torn"]
    run = shop.run(
        {
            "preparation_agents": [{"agents": names, "mode": "parallel", "max_parallel": 4}],
            "on_parallel_error": "continue",
        }
    )
    assert run.reason == "completed"
    assert {key: value for key, value in run.payload.items() if key in names} == {
        "cut": 1,
        "bytes": 1,
        "flood": 1,
    }
    assert run.turn("torn").status is TurnStatus.FAILED
    asked = (run.turn_folder("cut") / "correction-1.md").read_text()
    assert "cut off" in asked
    assert (run.turn_folder("flood") / "stdout.log").stat().st_size > 3_000_000
    assert alive_agents(tmp_path) == []


# --- what the log view reads ---

LOGS = {
    "one line": b"x" * 2**20,
    "progress bars": b"\r10%" * 2**18,
    "colours": b"\x1b[0m" * 2**18,
    "a colour that never ends": b"\x1b[" + b"0" * 2**20,
    "newlines": b"\n" * 2**20,
    "beginnings of headers": b"\x1eo1\x1f" * 2**18,
    "a header that never ends": b"\x1eo1\x1f" + b"y" * 2**20,
    "folds": b"\x1eo1\t5\tx\n" * 2**16,
    "NUL bytes": b"\x00" * 2**20,
    "half characters": b"\xc3" * 2**20,
}


@pytest.mark.parametrize("name", LOGS)
def test_a_log_of_anything_is_indexed_and_searched_in_linear_time(name: str, tmp_path: Path) -> None:
    """Pain 13. Some of these took hours, or a gigabyte for a step to the next match."""
    path = tmp_path / "some.log"
    path.write_bytes(LOGS[name] * 2)
    begun = time.process_time()
    index = LineIndex(path, FOLD_HEADER)
    while index.advance():
        pass
    lines = index.snapshot().lines
    assert lines == (LOGS[name] * 2).count(b"\n") + (not LOGS[name].endswith(b"\n"))
    shown = [*index.read(0, 50), *index.read(max(0, lines - 50), 50)]
    assert all(len(line.data) <= 8_192 for line in shown)
    for needle in ("0", "nothing", "ä"):
        search = LineSearch(path, needle, structured=True)
        search.run()
        assert search.finished
        match = search.after(0)
        for number in range(5):
            if match is None:
                break
            assert match.ordinal == number + 1
            match = search.after(match.offset + 1)
        last = search.before(2**40)
        assert (last.ordinal if last is not None else 0) == search.count
    # A second is usual: more than this is a hang.
    assert time.process_time() - begun < 60


# --- memory of the whole program ----------------------------------------------------------------------


def peak_of_a_run(folder: Path, kind: str, mebibytes: int) -> tuple[int, int, Path]:
    """Run a workflow with one torrent on the command line: exit code, peak memory in bytes, run folder."""
    shop = Workshop(folder)
    shop.command("a", sys.executable, "-I", "-S", str(CHILDREN / "torrent.py"), kind, str(mebibytes))
    file = shop.file({"preparation_agents": ["a"], "on_missing_state": "abort"})
    done = subprocess.run(
        [sys.executable, str(MAIN), "run", str(file), "--trust", "--workdir", str(folder)],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        timeout=300,
    )
    told = re.search(r"^peak (\d+)$", done.stderr, re.MULTILINE)
    assert told is not None, done.stderr
    peak = int(told[1])
    (turn,) = (folder / ".openloop").glob("*/turns/*")
    return done.returncode, peak, turn


@pytest.fixture(scope="module")
def quiet_peak(tmp_path_factory: pytest.TempPathFactory) -> int:
    folder = tmp_path_factory.mktemp("quiet")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OPENLOOP_HOME", str(folder / "home"))
        code, peak, _ = peak_of_a_run(folder, "line", 0)
    assert code == 0
    return peak


@pytest.mark.parametrize(
    ("kind", "mebibytes", "size", "code"),
    [
        ("line", 200, 200 * 2**20, 0),
        ("lines", 200, 200 * 2**20, 0),
        ("payload", 50, 50 * 2**20, 1),
        ("json", 200, 200 * 2**20, 1),
        ("objects", 7, 7 * 2**20, 1),
        ("indents", 7, 7 * 2**20, 1),
    ],
    ids=[
        "a line of 200 MB",
        "10 million lines",
        "a payload of 50 MB",
        "a line of JSON of 200 MB",
        "millions of objects",
        "gigabytes of indents",
    ],
)
def test_the_memory_of_openloop_stays_bounded(
    kind: str, mebibytes: int, size: int, code: int, tmp_path: Path, quiet_peak: int
) -> None:
    """Pain 13: measured at the whole program, against a run with a quiet agent."""
    ended, peak, turn = peak_of_a_run(tmp_path, kind, mebibytes)
    assert ended == code
    assert peak - quiet_peak < MOST_MORE, f"{(peak - quiet_peak) / 2**20:.0f} MiB more than a quiet agent"
    assert (turn / "stdout.log").stat().st_size >= size
    if kind == "lines":
        with (turn / "stdout.log").open("rb") as file:
            assert sum(block.count(b"\n") for block in iter(lambda: file.read(1 << 20), b"")) >= 10_000_000
    (turn / "stdout.log").unlink()
    (turn / "transcript.log").unlink()
