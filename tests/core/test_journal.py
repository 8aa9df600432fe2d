"""The journal: what was appended is read back, whatever happened to the file's end or to the disk."""

from __future__ import annotations

import contextlib
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core import journal as journal_module
from core.events import (
    Event,
    Merged,
    Noted,
    StateChanged,
    StopKind,
    StopRequested,
    TurnFinished,
    TurnStatus,
)
from core.journal import JOURNAL_NAME, Journal, JournalError, read_journal
from core.json_types import JsonObject, JsonValue
from core.state import Conflict, MergeRule, StateUpdate
from core.usage import Usage

EVENTS: list[Event] = [kind() for kind in get_args(Event) if kind is not StateChanged]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / JOURNAL_NAME


def written(path: Path, *events: Event) -> bytes:
    journal = Journal(path)
    for event in events:
        journal.append(event)
    journal.close()
    return path.read_bytes()


@pytest.mark.parametrize("event", EVENTS, ids=lambda event: event.type)
def test_every_kind_of_event_is_read_back_as_it_was(path: Path, event: Event) -> None:
    assert written(path, event).count(b"\n") == 1
    assert read_journal(path) == [event]


json_values: st.SearchStrategy[JsonValue] = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(codec="utf-8")),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text(st.characters(codec="utf-8")), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(payload=st.dictionaries(st.text(st.characters(codec="utf-8")), json_values, max_size=4))
def test_an_update_of_any_shape_is_read_back_exactly(
    tmp_path_factory: pytest.TempPathFactory, payload: JsonObject
) -> None:
    event = TurnFinished(
        time=1.5,
        turn="loop/1/0/0",
        status=TurnStatus.SUCCEEDED,
        update=StateUpdate(is_complete=True, payload=payload),
        usage=Usage(1, 2, 3, 4, 5, None),
    )
    conflict = Conflict("payload.x", MergeRule.LAST, "a", payload, "b", None, payload)
    path = tmp_path_factory.mktemp("journal") / JOURNAL_NAME
    assert written(path, event, Merged(conflicts=(conflict,))).count(b"\n") == 2
    assert read_journal(path) == [event, Merged(conflicts=(conflict,))]


def test_a_kill_at_any_byte_costs_at_most_the_line_that_was_being_written(path: Path) -> None:
    """… and the next life of the run goes on behind it."""
    events: list[Event] = [StopRequested(time=1.0), Noted(message="ünï\ncode\u2028"), StopRequested(time=2.0)]
    whole = written(path, *events)
    ends = [index + 1 for index, byte in enumerate(whole) if byte == ord("\n")]
    for cut in range(len(whole) + 1):
        path.write_bytes(whole[:cut])
        # A line that lacks nothing but its newline is whole.
        complete = sum(end - 1 <= cut for end in ends)
        assert read_journal(path) == events[:complete], cut
        written(path, StopRequested(time=3.0))
        assert read_journal(path) == [*events[:complete], StopRequested(time=3.0)], cut


def test_lines_of_a_newer_version_are_passed_over_and_new_fields_are_ignored(path: Path) -> None:
    path.write_bytes(
        b'{"type": "stop_requested", "time": 1.0, "kind": "now", "by": "somebody"}\n'
        b'{"type": "coffee_made", "time": 2.0}\n'
        b"not JSON at all\n"
        b"\x00\xff\n"
        b"\n"
        b'{"type": "noted", "time": 3.0, "message": "on"}\n'
    )
    assert read_journal(path) == [
        StopRequested(time=1.0, kind=StopKind.NOW),
        Noted(time=3.0, message="on"),
    ]


def test_lines_of_many_threads_do_not_mix(path: Path) -> None:
    journal = Journal(path)

    def write(number: int) -> None:
        for count in range(200):
            journal.append(Noted(time=float(count), turn=str(number), message="x" * (number * 100)))

    threads = [threading.Thread(target=write, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    journal.close()
    events = [event for event in read_journal(path) if isinstance(event, Noted)]
    assert len(events) == path.read_bytes().count(b"\n") == 1200
    for number in range(6):
        assert [event.time for event in events if event.turn == str(number)] == list(map(float, range(200)))


def test_events_are_written_while_an_earlier_one_is_still_on_its_way_to_the_disk(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A slow disk must not hold up the window, which tells of events too."""
    syncing, go_on = threading.Event(), threading.Event()

    def slow(descriptor: int) -> None:
        del descriptor
        syncing.set()
        assert go_on.wait(30)

    monkeypatch.setattr(journal_module.os, "fsync", slow)
    journal = Journal(path)
    sync = threading.Thread(target=journal.sync)
    sync.start()
    assert syncing.wait(30)
    append = threading.Thread(target=journal.append, args=(StopRequested(time=1.0),))
    append.start()
    append.join(10)
    appended = not append.is_alive()
    go_on.set()
    append.join()
    sync.join()
    assert appended
    journal.close()
    assert read_journal(path) == [StopRequested(time=1.0)]


def test_turns_that_end_together_share_one_way_to_the_disk_and_none_returns_before_it(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes: list[int] = []
    syncing, go_on = threading.Event(), threading.Event()
    first = threading.current_thread()

    def slow(descriptor: int) -> None:
        del descriptor
        sizes.append(path.stat().st_size)
        if threading.current_thread() is first:
            syncing.set()
            assert go_on.wait(30)

    monkeypatch.setattr(journal_module.os, "fsync", slow)
    journal = Journal(path)
    returned: list[int] = []
    written = threading.Semaphore(0)

    def end_a_turn() -> None:
        journal.append(StopRequested(time=1.0))
        mine = path.stat().st_size
        written.release()
        journal.sync()
        assert sizes[-1] >= mine
        returned.append(mine)

    first = threading.Thread(target=journal.sync)
    first.start()
    assert syncing.wait(30)
    others = [threading.Thread(target=end_a_turn) for _ in range(5)]
    for other in others:
        other.start()
    for _ in others:
        assert written.acquire(timeout=30)
    early = list(returned)
    go_on.set()
    for thread in (first, *others):
        thread.join()
    journal.close()
    assert early == []  # what was on its way already does not count for what came later
    assert len(returned) == 5
    assert sizes == [0, path.stat().st_size]


def test_what_a_disk_once_lost_never_counts_as_kept(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A system tells of a write that failed only once; the next `fsync` succeeds and means nothing."""
    failures = [OSError(5, "Input/output error")]

    def failing_once(descriptor: int) -> None:
        del descriptor
        if failures:
            raise failures.pop()

    monkeypatch.setattr(journal_module.os, "fsync", failing_once)
    journal = Journal(path)
    journal.append(StopRequested(time=1.0))
    for _ in range(2):
        with pytest.raises(JournalError, match="Input/output error"):
            journal.sync()
    journal.close()


def test_it_may_be_closed_twice_but_not_written_afterwards(path: Path) -> None:
    journal = Journal(path)
    journal.close()
    journal.close()
    journal.sync()
    with pytest.raises(JournalError, match="closed already"):
        journal.append(StopRequested())


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk_is_told_in_words(tmp_path: Path) -> None:
    journal = Journal(Path("/dev/full"))
    with pytest.raises(JournalError, match=r"cannot be written \(No space left on device\).*Make room there"):
        journal.append(StopRequested())
    journal.close()


@contextlib.contextmanager
def room_for(size: int) -> Iterator[None]:
    """Files of this process may grow to so many bytes only; not for long, as what pytest prints counts."""
    import resource

    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.skipif(sys.platform == "win32", reason="limits of POSIX")
def test_a_disk_that_fills_in_the_middle_of_a_line_leaves_whole_lines(path: Path) -> None:
    room = 1000
    long = Noted(message="x" * (room // 3))
    with room_for(room):
        journal = Journal(path)
        journal.append(long)
        journal.append(long)
        with pytest.raises(JournalError):
            journal.append(long)
        assert read_journal(path) == [long, long]
        assert path.read_bytes().endswith(b"\n")
        journal.append(StopRequested(time=1.0))  # what fits still does
        journal.close()
    assert read_journal(path) == [long, long, StopRequested(time=1.0)]
    assert path.stat().st_size <= room
