"""The supervisor process itself, spoken to over its pipe."""

from __future__ import annotations

import contextlib
import os
import random
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from core import process_tree_linux
from core.supervisor_messages import Unpacker, pack

if TYPE_CHECKING:
    from core.supervisor_messages import Command, ExitedReply, Reply

pytestmark = pytest.mark.skipif(
    sys.platform != "linux", reason="reads /proc, and orphans need a child subreaper"
)

BAD_CHILDREN = Path(__file__).parent / "bad_children"
ROOT = Path(__file__).parents[2]
DEADLINE = 30.0


def until(condition: Callable[[], bool], what: str) -> None:
    """Wait for a condition; fail with `what` when it never comes."""
    end = time.monotonic() + DEADLINE
    while not condition():
        assert time.monotonic() < end, what
        time.sleep(0.002)


def is_alive(pid: int) -> bool:
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    return False


def signed(census: Path) -> set[int]:
    return {int(path.name) for path in census.iterdir() if path.name.isdigit()}


class Line:
    """The other end of a supervisor's pipe."""

    def __init__(self, process: subprocess.Popen[bytes], folder: Path) -> None:
        self.process = process
        self.folder = folder
        self.unpacker = Unpacker()
        self.heard: list[Reply] = []

    def say(self, command: Command) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(pack(command))

    def start(self, number: int, *argv: str) -> int:
        """Start a Python program of `bad_children` or other arguments for Python; gives its pid."""
        streams = (os.devnull, str(self.folder / f"{number}.out"), str(self.folder / f"{number}.err"))
        words = (sys.executable, "-I", "-S", *argv)
        env = {"OPENLOOP_TURN": f"mark-{number}"}
        self.say(
            ("start", number, sys.executable, words, str(self.folder), env, streams, f"mark-{number}", 0)
        )
        started = self.hear("started", number)
        assert started[0] == "started"
        return started[2]

    def hear(self, word: str, number: int) -> Reply:
        """The reply of this kind to this number."""
        assert self.process.stdout is not None
        while True:
            for reply in self.heard:
                if reply[0] == word and reply[1] == number:
                    return reply
            data = os.read(self.process.stdout.fileno(), 1 << 16)
            assert data, "the supervisor hung up"
            self.heard += self.unpacker.feed(data)

    def hear_trouble(self) -> str:
        """Everything up to the end of the replies, and then the fault that was reported."""
        assert self.process.stdout is not None
        while data := os.read(self.process.stdout.fileno(), 1 << 16):
            self.heard += self.unpacker.feed(data)
        for reply in self.heard:
            if reply[0] == "broken":
                return reply[1]
        raise AssertionError("no fault was reported")

    def ended(self, number: int) -> ExitedReply:
        reply = self.hear("exited", number)
        assert reply[0] == "exited"
        return reply


@contextlib.contextmanager
def supervisor_line(folder: Path, expected_code: int = 0) -> Iterator[Line]:
    code = f"import sys; sys.path.insert(0, {str(ROOT)!r}); from core.supervisor import main; main()"
    with subprocess.Popen(
        [sys.executable, "-I", "-S", "-c", code],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        bufsize=0,
        start_new_session=True,
    ) as process:
        yield Line(process, folder)
        assert process.stdin is not None
        process.stdin.close()
        assert process.wait(DEADLINE) == expected_code


@pytest.fixture
def line(tmp_path: Path) -> Iterator[Line]:
    with supervisor_line(tmp_path) as open_line:
        yield open_line


def bad(name: str) -> str:
    return str(BAD_CHILDREN / f"{name}.py")


def test_messages_survive_being_cut_anywhere() -> None:
    messages: list[Command] = [("stop", number, number / 7) for number in range(200)]
    messages.append(
        ("start", 1, "/x", ("a", "ü\udcff", "\n"), "/", {"K": "v" * 100_000}, ("i", "o", "e"), "m", 0)
    )
    stream = b"".join(pack(message) for message in messages)
    dice = random.Random(7)
    unpacker, heard = Unpacker(), []
    position = 0
    while position < len(stream):
        step = dice.randint(1, 3000)
        heard += unpacker.feed(stream[position : position + step])
        position += step
    assert heard == messages


def test_it_imports_nothing_that_makes_it_slow_to_start() -> None:
    code = (
        f"import sys; sys.path.insert(0, {str(ROOT)!r})\n"
        "import core.supervisor, core.process_tree_linux, ctypes, select\n"
        "sys.stdout.write(' '.join(sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", code], capture_output=True, text=True, check=True
    )
    slow = {
        "typing",
        "re",
        "enum",
        "json",
        "subprocess",
        "dataclasses",
        "threading",
        "pathlib",
        "pydantic",
        "psutil",
    }
    assert "core.supervisor" in done.stdout.split()
    assert slow & set(done.stdout.split()) == set()


def test_when_the_pipe_closes_everything_ends_at_once(line: Line) -> None:
    census = line.folder / "census"
    census.mkdir()
    for number in (1, 2):
        line.start(number, bad("family"), str(census), "stay")
    until(lambda: len(signed(census)) == 10, "the families are not complete")
    assert line.process.stdin is not None
    line.process.stdin.close()
    assert line.process.wait(DEADLINE) == 0
    assert not any(is_alive(pid) for pid in signed(census))


def test_nobody_but_openloop_holds_the_pipe(line: Line) -> None:
    pid = line.start(1, bad("deaf"), str(line.folder))
    until(lambda: bool(signed(line.folder)), "it never started")
    pipes = [link.readlink() for link in Path(f"/proc/{pid}/fd").iterdir()]
    assert sorted(str(pipe) for pipe in pipes) == sorted(
        [os.devnull, str(line.folder / "1.out"), str(line.folder / "1.err")]
    )


def test_a_daemon_that_was_seen_below_its_agent_is_ended_with_it_while_others_go_on(line: Line) -> None:
    """Without a mark, the agent's session, limits or output: only having been seen tells whose it is."""
    bystander = line.start(1, bad("deaf"), str(line.folder))
    # It must live until the supervisor has looked at the trees, which it does about every second.
    for attempt, seconds in enumerate((1.5, 5.0, 15.0)):
        census = line.folder / f"census-{attempt}"
        census.mkdir()
        line.start(10 + attempt, bad("hidden_daemon"), str(census), str(seconds), "nothing")
        exited = line.ended(10 + attempt)
        assert is_alive(bystander)
        if not any(is_alive(pid) for pid in signed(census)):
            break
    else:
        pytest.fail("the daemon was never recognised")
    assert exited[2] == 0
    assert exited[4] == 1, "it is counted as left behind"


@pytest.mark.parametrize("kept", ["environment", "output", "limits"])
def test_one_trace_is_enough_to_end_a_daemon_with_its_agent(line: Line, kept: str) -> None:
    bystander = line.start(1, bad("deaf"), str(line.folder))
    census = line.folder / "census"
    census.mkdir()
    line.start(2, bad("hidden_daemon"), str(census), "0", kept)
    assert line.ended(2)[4] == 1, "one process was left behind"
    assert not any(is_alive(pid) for pid in signed(census))
    assert is_alive(bystander)


def test_the_grace_of_one_turn_holds_up_nobody(line: Line) -> None:
    census = line.folder / "census"
    census.mkdir()
    line.start(1, bad("deaf"), str(census))
    until(lambda: bool(signed(census)), "it never started")
    line.say(("stop", 1, 3600.0))
    line.start(2, "-c", "raise SystemExit(6)")
    assert line.ended(2)[2] == 6
    assert not any(reply[0] == "exited" and reply[1] == 1 for reply in line.heard)
    line.say(("stop_all", 99, 0.0))
    line.hear("all_stopped", 99)
    assert line.ended(1)[3] == 9


def test_a_fault_of_the_supervisor_itself_leaves_nobody_and_is_reported(tmp_path: Path) -> None:
    with supervisor_line(tmp_path, expected_code=1) as line:
        census = tmp_path / "census"
        census.mkdir()
        line.start(1, bad("family"), str(census), "stay")
        until(lambda: len(signed(census)) == 5, "the family is not complete")
        line.say(("start", 2))  # type: ignore[arg-type]  # the fault
        assert line.hear_trouble().strip().splitlines()[-1].startswith("ValueError")
        assert not any(is_alive(pid) for pid in signed(census))
        assert not any(reply[0] == "exited" for reply in line.heard), "a loss is no order to end"


def test_stopping_what_is_not_there_is_answered_and_harmless(line: Line) -> None:
    line.say(("stop", 5, 0.0))
    line.say(("stop_all", 6, 0.0))
    line.hear("all_stopped", 6)
    line.start(7, "-c", "")
    assert line.ended(7)[2] == 0


def test_a_kernel_without_children_files_gives_the_same_tree(
    line: Line, monkeypatch: pytest.MonkeyPatch
) -> None:
    census = line.folder / "census"
    census.mkdir()
    line.start(1, bad("family"), str(census), "stay")
    until(lambda: len(signed(census)) == 5, "the family is not complete")
    quick = {entry.key for entry in process_tree_linux.linux_subtree(line.process.pid)}
    monkeypatch.setattr(process_tree_linux, "children_lister", process_tree_linux._children_from_scan)
    slow = {entry.key for entry in process_tree_linux.linux_subtree(line.process.pid)}
    assert quick == slow
    assert signed(census) <= {pid for pid, _ in quick}


def test_a_nice_value_reaches_the_agent(line: Line) -> None:
    streams = (os.devnull, str(line.folder / "out"), str(line.folder / "err"))
    argv = (sys.executable, "-I", "-S", bad("deaf"), str(line.folder))
    line.say(("start", 1, sys.executable, argv, "/", {}, streams, "mark", 7))
    started = line.hear("started", 1)
    assert started[0] == "started"
    assert os.getpriority(os.PRIO_PROCESS, started[2]) == 7


@pytest.mark.skipif(
    not Path("/proc/self/autogroup").exists(), reason="this kernel deals out no processors by session"
)
def test_nice_agents_leave_the_window_its_share_where_sessions_are_dealt_shares(line: Line) -> None:
    streams = (os.devnull, str(line.folder / "out"), str(line.folder / "err"))
    argv = (sys.executable, "-I", "-S", bad("deaf"), str(line.folder))
    pids = []
    for number in range(1, 4):
        line.say(("start", number, sys.executable, argv, "/", {}, streams, f"mark{number}", 5))
        pids.append(line.hear("started", number)[2])

    def all_lowered() -> bool:
        return all(Path(f"/proc/{pid}/autogroup").read_text().endswith("nice 5\n") for pid in pids)

    # Who is not root may change one in a tenth of a second; the supervisor wakes up once a second.
    until(all_lowered, "an agent has the share of a window")
