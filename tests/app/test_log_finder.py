"""What a thread finds in a log while the window asks: the answers hold, whatever it finds meanwhile."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.run_view import log_finder
from app.run_view.log_finder import LogFinder, LogSieve
from app.run_view.log_source import LogSource
from core.line_kinds import EVERY_KIND
from core.line_needle import Needle
from core.line_search import LineSearch, Match

FIRST, LAST = 5, 39_000
"""Lines with the needle: in the first part of the file that is looked through, and in the last."""


class Held:
    """Lets a thread look through the first part of a file, and through the rest when `go_on` is set."""

    def __init__(self) -> None:
        self.first_done, self.go_on = threading.Event(), threading.Event()
        self._passed = False

    def wait(self) -> None:
        if self._passed:
            self.first_done.set()
            self.go_on.wait()
        self._passed = True

    def let_end(self, search: LogFinder | LogSieve) -> None:
        """Let the thread look through the rest, and wait until it has ended."""
        self.go_on.set()
        thread = search._job._thread
        assert thread is not None
        thread.join()


@pytest.fixture
def held(monkeypatch: pytest.MonkeyPatch) -> Iterator[Held]:
    held = Held()
    monkeypatch.setattr(log_finder, "COURTESY", held)
    yield held
    held.go_on.set()


@pytest.fixture
def log(tmp_path: Path) -> LogSource:
    path = tmp_path / "log"
    lines = [b"hay and hay\n"] * 40_000
    lines[FIRST] = lines[LAST] = b"the needle!\n"
    path.write_bytes(b"".join(lines))
    return LogSource(path, structured=False)


def place(line: int) -> int:
    """Where the needle of a line is, in bytes."""
    return 12 * line + 4


def test_a_search_goes_not_round_the_end_because_its_thread_ends_while_it_is_asked(
    held: Held, log: LogSource, monkeypatch: pytest.MonkeyPatch
) -> None:
    finder = LogFinder(log, Needle("needle"))
    held.first_done.wait()
    after = LineSearch.after

    def answer_and_end(search: LineSearch, offset: int) -> Match | None:
        found = after(search, offset)
        held.let_end(finder)
        return found

    monkeypatch.setattr(LineSearch, "after", answer_and_end)
    assert not finder.step(place(FIRST) + 1, 1)
    assert finder.poll(log.path.stat().st_size), "it is there by now"
    assert finder.current is not None
    assert finder.current.offset == place(LAST)


def test_a_search_backwards_waits_until_all_before_the_place_is_looked_through(
    held: Held, log: LogSource
) -> None:
    finder = LogFinder(log, Needle("needle"))
    size = log.path.stat().st_size
    held.first_done.wait()
    assert not finder.step(size, -1), "what was found so far need not be the last before the end"
    assert not finder.poll(size)
    held.let_end(finder)
    assert finder.poll(size)
    assert finder.current is not None
    assert finder.current.offset == place(LAST)


def test_a_filter_counts_as_whole_only_once_its_last_lines_are_shown(held: Held, log: LogSource) -> None:
    size = log.path.stat().st_size
    sieve = LogSieve(log, Needle("needle"), EVERY_KIND)
    held.first_done.wait()
    sieve.poll(size, 40_000)
    held.let_end(sieve)
    assert sieve.shown == 1
    assert not sieve.is_whole(size), "more was found since then"
    assert sieve.poll(size, 40_000)
    assert sieve.shown == 2
    assert sieve.is_whole(size)


@pytest.mark.parametrize("kind", [LogFinder, LogSieve])
def test_a_search_that_is_given_up_before_its_thread_begins_reads_nothing(
    kind: type[LogFinder | LogSieve], log: LogSource, monkeypatch: pytest.MonkeyPatch
) -> None:
    begin = threading.Event()
    run = threading.Thread.run

    def run_late(thread: threading.Thread) -> None:
        begin.wait()
        run(thread)

    monkeypatch.setattr(threading.Thread, "run", run_late)
    search = kind(log, Needle("needle"), EVERY_KIND)
    search.give_up()
    begin.set()
    thread = search._job._thread
    assert thread is not None
    thread.join()
    scan = search._search if isinstance(search, LogFinder) else search._filter
    assert scan.scanned == 0
    # Where it is wanted again, it begins again.
    search.poll(*((log.path.stat().st_size,) if isinstance(search, LogFinder) else (480_000, 40_000)))
    thread = search._job._thread
    assert thread is not None
    thread.join()
    assert scan.scanned == 480_000
