"""Nobody runs a run twice at once, and a run that was cut off is found again."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest

from core import open_runs
from core.events import RunFinished, RunStarted, TurnFinished
from core.journal import JOURNAL_NAME, Journal
from core.open_runs import RunIsHeld, RunLock, cut_off_runs, is_held, mark_closed, mark_open
from core.platform_paths import state_folder


@pytest.fixture(autouse=True)
def _state_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENLOOP_HOME", str(tmp_path / "home"))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A run folder whose run began."""
    return run_folder(tmp_path, "run-1")


def run_folder(parent: Path, name: str, pid: int = 0) -> Path:
    folder = parent / name
    folder.mkdir()
    journal = Journal(folder / JOURNAL_NAME)
    journal.append(RunStarted(time=time.time(), run_id=name, pid=pid or os.getpid()))
    journal.close()
    return folder


def append(folder: Path, event: RunFinished | RunStarted | TurnFinished) -> None:
    journal = Journal(folder / JOURNAL_NAME)
    journal.append(event)
    journal.close()


HOLDER = (
    "import sys; from pathlib import Path; from core.open_runs import RunLock, mark_open\n"
    "folder = Path(sys.argv[1]); lock = RunLock(folder); lock.acquire(); mark_open(folder.name, folder)\n"
    "print('held', flush=True); sys.stdin.read()"
)


@contextmanager
def another_process_runs(folder: Path) -> Iterator[subprocess.Popen[str]]:
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(folder)],
        cwd=Path(__file__).parents[2],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "held\n"
            yield process
        finally:
            process.kill()


# --- the lock -----------------------------------------------------------------------------------------


def test_a_run_that_another_process_runs_is_held_and_said_to_be(folder: Path) -> None:
    with another_process_runs(folder):
        assert is_held(folder)
        with pytest.raises(RunIsHeld, match="going on already"):
            RunLock(folder).acquire()
        assert is_held(folder)


def test_a_process_that_is_killed_holds_nothing_any_more(folder: Path) -> None:
    with another_process_runs(folder) as process:
        process.kill()
        process.wait()
        assert not is_held(folder)
        lock = RunLock(folder)
        lock.acquire()
        lock.release()


def test_one_process_does_not_run_a_run_twice_either(folder: Path) -> None:
    lock = RunLock(folder)
    lock.acquire()
    assert is_held(folder)
    with pytest.raises(RunIsHeld):
        RunLock(folder).acquire()
    lock.release()
    lock.release()
    assert not is_held(folder)


def test_one_thread_takes_it_and_another_gives_it_back(folder: Path) -> None:
    lock = RunLock(folder)
    for step in (lock.acquire, lock.release):
        thread = threading.Thread(target=step)
        thread.start()
        thread.join()
    assert not is_held(folder)


def test_those_who_only_look_are_in_nobodys_way(folder: Path) -> None:
    """A list of runs is made again and again while somebody wants to go on with one of them."""
    over = threading.Event()

    def look() -> None:
        while not over.is_set():
            is_held(folder)

    with ThreadPoolExecutor(2) as pool:
        lookers = [pool.submit(look) for _ in range(2)]
        try:
            for _ in range(50):
                lock = RunLock(folder)
                lock.acquire()
                lock.release()
        finally:
            over.set()
    assert all(looker.exception() is None for looker in lookers)


def test_looking_leaves_a_folder_as_it_is(tmp_path: Path) -> None:
    folder = run_folder(tmp_path, "elsewhere")
    before = {path.name for path in folder.iterdir()}
    assert not is_held(folder)
    assert {path.name for path in folder.iterdir()} == before
    assert not is_held(tmp_path / "no such folder")


def test_a_folder_that_is_gone_is_an_error_of_the_disk(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="gone"):
        RunLock(tmp_path / "gone").acquire()


class TestWithoutLocks:
    """A network file system that knows none: who runs it is told by the pid and time in the journal."""

    @pytest.fixture(autouse=True, params=[errno.ENOLCK, errno.EOPNOTSUPP])
    def _no_locks(self, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
        def refuse(*_: object) -> None:
            raise OSError(request.param, os.strerror(request.param))

        monkeypatch.setattr(pytest.importorskip("fcntl"), "flock", refuse)

    @pytest.fixture
    def stranger(self) -> Iterator[subprocess.Popen[bytes]]:
        with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
            yield process
            process.kill()

    def test_the_run_of_a_live_process_is_held(
        self, tmp_path: Path, stranger: subprocess.Popen[bytes]
    ) -> None:
        folder = run_folder(tmp_path, "run", stranger.pid)
        (folder / "run.lock").touch()
        assert is_held(folder)
        with pytest.raises(RunIsHeld):
            RunLock(folder).acquire()
        stranger.kill()
        stranger.wait()
        assert not is_held(folder)

    def test_a_process_that_came_later_with_the_same_pid_holds_nothing(
        self, tmp_path: Path, stranger: subprocess.Popen[bytes]
    ) -> None:
        folder = tmp_path / "run"
        folder.mkdir()
        (folder / "run.lock").touch()
        append(folder, RunStarted(time=time.time() - 3600, pid=stranger.pid))
        assert not is_held(folder)

    def test_a_run_that_has_ended_is_held_by_nobody(
        self, tmp_path: Path, stranger: subprocess.Popen[bytes]
    ) -> None:
        """A window lives on after its run, and may run it again."""
        folder = run_folder(tmp_path, "run", stranger.pid)
        (folder / "run.lock").touch()
        append(folder, RunFinished(time=time.time()))
        assert not is_held(folder)
        append(folder, RunStarted(time=time.time(), pid=stranger.pid, resumed=True))
        assert is_held(folder)

    def test_our_own_run_is_held_as_long_as_we_hold_it(self, folder: Path) -> None:
        lock = RunLock(folder)
        lock.acquire()
        assert is_held(folder)
        with pytest.raises(RunIsHeld):
            RunLock(folder).acquire()
        lock.release()
        assert not is_held(folder)


# --- the marks ----------------------------------------------------------------------------------------


def test_a_run_that_was_killed_is_found_again_and_one_that_goes_on_is_not(folder: Path) -> None:
    with another_process_runs(folder) as process:
        assert cut_off_runs() == []
        process.kill()
        process.wait()
        assert cut_off_runs() == [folder]
        assert cut_off_runs() == [folder], "looking changes nothing"


def test_a_run_that_ended_leaves_no_mark(folder: Path) -> None:
    mark_open("run-1", folder)
    assert cut_off_runs() == [folder]
    mark_closed("run-1")
    assert cut_off_runs() == []
    assert list((state_folder() / "open-runs").iterdir()) == []
    mark_closed("run-1")


def test_a_run_whose_last_event_is_its_end_was_not_cut_off(folder: Path) -> None:
    """Its process died after the end was on disk, and before the mark was gone."""
    mark_open("run-1", folder)
    append(folder, RunFinished(time=time.time()))
    assert cut_off_runs() == []
    assert list((state_folder() / "open-runs").iterdir()) == []


def test_the_mark_of_a_run_that_is_resumed_while_it_is_looked_at_stays(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mark_open("run-1", folder)
    append(folder, RunFinished(time=time.time()))
    lock = RunLock(folder)

    def has_ended_and_is_resumed(_: Path) -> bool:
        lock.acquire()
        mark_open("run-1", folder)
        return True

    with monkeypatch.context() as patched:
        patched.setattr(open_runs, "_has_ended", has_ended_and_is_resumed)
        assert cut_off_runs() == []
    lock.release()
    append(folder, RunStarted(time=time.time(), resumed=True))
    assert cut_off_runs() == [folder]


def test_a_resumed_run_is_open_again_although_it_ended_once(folder: Path) -> None:
    append(folder, RunFinished(time=time.time()))
    append(folder, RunStarted(time=time.time(), resumed=True))
    mark_open("run-1", folder)
    assert cut_off_runs() == [folder]
    with (folder / JOURNAL_NAME).open("ab") as journal:
        journal.write(b'{"type":"run_finished","time":17')  # torn
    assert cut_off_runs() == [folder]


def test_the_mark_of_a_folder_that_is_gone_goes_too(tmp_path: Path) -> None:
    mark_open("run-1", tmp_path / "deleted")
    assert cut_off_runs() == []
    assert list((state_folder() / "open-runs").iterdir()) == []


def test_a_run_whose_journal_is_still_to_be_made_keeps_its_mark(tmp_path: Path) -> None:
    folder = tmp_path / "young"
    folder.mkdir()
    lock = RunLock(folder)
    lock.acquire()
    mark_open("young", folder)
    assert cut_off_runs() == []
    append(folder, RunStarted(run_id="young"))
    lock.release()
    assert cut_off_runs() == [folder]


def test_the_latest_comes_first(tmp_path: Path) -> None:
    folders = [run_folder(tmp_path, f"run-{number}") for number in (2, 1, 3)]
    for folder in folders:
        mark_open(folder.name, folder)
    assert cut_off_runs() == folders[::-1]


def test_of_two_copies_of_a_run_the_end_of_one_is_not_the_end_of_the_other(folder: Path) -> None:
    with another_process_runs(folder) as process:
        mark_closed("run-1")
        process.kill()
        process.wait()
        assert cut_off_runs() == [folder]


@pytest.mark.parametrize("content", [b"", b"\xff", b"[]", b'{"folder": 1}', b'{"folder": "/x"}'])
def test_marks_that_nobody_understands_hide_no_others(folder: Path, content: bytes) -> None:
    mark_open("run-1", folder)
    (state_folder() / "open-runs" / "a.json").write_bytes(content)
    assert cut_off_runs() == [folder]


def test_the_id_of_a_foreign_journal_writes_nowhere_else(folder: Path, tmp_path: Path) -> None:
    mark_open("../../escaped", folder)
    marks = list((state_folder() / "open-runs").iterdir())
    assert len(marks) == 1
    assert json.loads(marks[0].read_bytes())["folder"] == str(folder)
    assert not list(tmp_path.glob("escaped*"))
    mark_closed("../../escaped")
    assert cut_off_runs() == []


def test_a_state_folder_that_cannot_be_written_is_told_and_holds_no_runs(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("OPENLOOP_HOME", str(tmp_path / "file"))
    with pytest.raises(OSError, match="state"):
        mark_open("run-1", folder)
    assert cut_off_runs() == []


def test_a_run_that_was_killed_before_its_first_event_is_not_offered(tmp_path: Path) -> None:
    folder = tmp_path / "20260101-000000-abcdef"
    folder.mkdir()
    (folder / JOURNAL_NAME).touch()
    mark_open(folder.name, folder)
    assert cut_off_runs() == []
