"""Following a journal that another process writes, and telling what runs a run."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from core.events import Event, IterationStarted, Noted, RunStarted
from core.journal import Journal
from core.journal_tail import JournalReplaced, JournalTail
from core.run_whereabouts import RunHome, Whereabouts, whereabouts


def note(text: str) -> Noted:
    return Noted(time=1.0, message=text)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "journal.jsonl"


def write(path: Path, *events: Event) -> None:
    journal = Journal(path)
    for event in events:
        journal.append(event)
    journal.close()


def test_only_what_is_new_is_read(path: Path) -> None:
    write(path, note("one"))
    tail = JournalTail(path)
    assert tail.read() == [note("one")]
    assert tail.read() == []
    write(path, note("two"), note("three"))
    assert tail.read() == [note("two"), note("three")]
    assert tail.read() == []


def test_what_was_known_before_is_passed_over(path: Path) -> None:
    write(path, note("one"), note("two"), note("three"))
    assert JournalTail(path, known=2).read() == [note("three")]


def test_a_line_is_read_when_its_end_is_there(path: Path) -> None:
    write(path, note("one"), IterationStarted(time=2.0, iteration=3))
    data = path.read_bytes()
    for cut in range(1, len(data)):
        path.write_bytes(data[:cut])
        tail = JournalTail(path)
        found = tail.read()
        with path.open("ab") as file:
            file.write(data[cut:])
        found += tail.read()
        assert found == [note("one"), IterationStarted(time=2.0, iteration=3)], cut


def test_lines_that_nobody_can_read_are_passed_over(path: Path) -> None:
    write(path, note("one"))
    with path.open("ab") as file:
        file.write(b'{"type": "of_a_newer_version"}\nnonsense\n')
    write(path, note("two"))
    assert JournalTail(path).read() == [note("one"), note("two")]


def test_a_journal_that_is_another_one_now_is_not_mixed_with_the_old_one(path: Path) -> None:
    write(path, note("one"), note("two"))
    tail = JournalTail(path)
    tail.read()
    path.unlink()
    write(path, note("other"))
    with pytest.raises(JournalReplaced):
        tail.read()


def test_a_journal_that_is_gone_is_said(path: Path) -> None:
    write(path, note("one"))
    tail = JournalTail(path)
    path.unlink()
    with pytest.raises(FileNotFoundError):
        tail.read()


def test_it_is_told_whether_a_terminal_or_a_window_runs_it() -> None:
    program = "import sys; print('there', flush=True); sys.stdin.read()"
    for words, home in ((["run", "audit.json"], RunHome.TERMINAL), (["audit.json"], RunHome.WINDOW)):
        with subprocess.Popen(
            [sys.executable, "-c", program, *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        ) as process:
            assert process.stdout is not None
            process.stdout.readline()
            started = RunStarted(time=time.time(), pid=process.pid)
            earlier = RunStarted(time=time.time(), pid=1)
            assert whereabouts([earlier, started]) == Whereabouts(home, process.pid)
            # The process is younger than the run: its number was another's.
            assert whereabouts([RunStarted(time=1.0, pid=process.pid)]) == Whereabouts()
            process.communicate()
    gone = RunStarted(time=time.time(), pid=process.pid)
    assert whereabouts([gone]) == Whereabouts()
    assert whereabouts([]) == Whereabouts()


def test_what_is_run_with_the_window_counts_as_one() -> None:
    assert whereabouts([RunStarted(time=time.time(), pid=os.getpid())]).pid == os.getpid()
