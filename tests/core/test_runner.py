"""What `core.runner` promises about processes, with real and badly behaved ones."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from core.processes import ProgramNotFound, find_program, is_running, windows_program
from core.runner import FileTail, Process, ProcessExit, ProcessSpec, StartError, Supervisor, SupervisorLost

BAD_CHILDREN = Path(__file__).parent / "bad_children"
DEADLINE = 30.0
FAMILY = 5
"""A deaf leader and its four descendants."""

posix_only = pytest.mark.skipif(sys.platform == "win32", reason="signals, sessions and fork are POSIX")
linux_only = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc, or needs a child subreaper")


def until(condition: Callable[[], bool], what: str) -> None:
    """Wait for a condition; fail with `what` when it never comes."""
    end = time.monotonic() + DEADLINE
    while not condition():
        assert time.monotonic() < end, what
        time.sleep(0.002)


def signed(census: Path) -> set[int]:
    """The processes that have signed in a census folder."""
    return {int(path.name) for path in census.iterdir() if path.name.isdigit()}


def alive(pids: set[int]) -> set[int]:
    """Those of `pids` that still run; zombies do not."""
    found = set()
    for pid in pids:
        with contextlib.suppress(OSError):
            stat = Path(f"/proc/{pid}/stat").read_text()
            if stat.rpartition(")")[2].split()[0] not in "ZX":
                found.add(pid)
    return found


def children_of(pid: int) -> set[int]:
    """All children of a process, zombies too."""
    return {int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()}


@contextlib.contextmanager
def nobody_left(pids: set[int]) -> Iterator[None]:
    """Whatever the test finds, it leaves none of these behind."""
    try:
        yield
    finally:
        for pid in alive(pids):
            os.kill(pid, signal.SIGKILL)


def keeper(supervisor: Supervisor) -> int:
    """The process that the agents are children of, below the guard."""
    (child,) = children_of(supervisor.pid)
    return child


class Bench:
    """A supervisor and a folder; makes specs."""

    def __init__(self, supervisor: Supervisor, folder: Path) -> None:
        self.supervisor = supervisor
        self.folder = folder
        self.count = 0
        (folder / "prompt").write_bytes(b"")

    def spec(self, *argv: str, prompt: bytes | None = None, mark: str = "", **env: str) -> ProcessSpec:
        self.count += 1
        stdin = self.folder / "prompt"
        if prompt is not None:
            stdin = self.folder / f"{self.count}.in"
            stdin.write_bytes(prompt)
        return ProcessSpec(
            argv,
            self.folder,
            {**os.environ, **env},
            stdin,
            self.folder / f"{self.count}.out",
            self.folder / f"{self.count}.err",
            mark or f"turn-{self.count}",
        )

    def python(self, code: str, *arguments: str, prompt: bytes | None = None) -> ProcessSpec:
        return self.spec(sys.executable, "-I", "-S", "-c", code, *arguments, prompt=prompt)

    def bad(self, program: str, *arguments: str) -> ProcessSpec:
        return self.spec(sys.executable, "-I", "-S", str(BAD_CHILDREN / f"{program}.py"), *arguments)

    def census(self, name: str = "census") -> Path:
        folder = self.folder / name
        folder.mkdir()
        return folder

    def family(self, name: str, then: str) -> tuple[Process, Path]:
        """A started family, complete when it stays."""
        census = self.census(name)
        process = self.supervisor.launch(self.bad("family", str(census), then))
        if then == "stay":
            until(lambda: len(signed(census)) == FAMILY, "the family is not complete")
        return process, census


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    with Supervisor() as supervisor:
        yield Bench(supervisor, tmp_path)
    assert supervisor._popen.returncode is not None
    assert not any(thread.name == "supervisor-replies" for thread in threading.enumerate())


def ended(process: Process) -> ProcessExit:
    result = process.wait(DEADLINE)
    assert result is not None, "the process did not end"
    return result


# --- starting and ending normally -------------------------------------------------------------------


def test_output_goes_into_the_files_and_is_complete_when_the_end_is_told(bench: Bench) -> None:
    spec = bench.python("import sys; print('said'); print('warned', file=sys.stderr)")
    result = ended(bench.supervisor.launch(spec))
    assert (result.exit_code, result.signal, result.killed_by_us, result.left_behind) == (0, None, False, 0)
    assert spec.stdout.read_bytes().split() == [b"said"]
    assert spec.stderr.read_bytes().split() == [b"warned"]


def test_a_second_attempt_with_the_same_files_keeps_what_the_first_one_printed(bench: Bench) -> None:
    spec = bench.python("print('line')")
    for _ in range(2):
        ended(bench.supervisor.launch(spec))
    assert spec.stdout.read_text().split() == ["line", "line"]


@pytest.mark.parametrize("code", [0, 1, 3, 255])
def test_the_exit_code_is_told(bench: Bench, code: int) -> None:
    assert ended(bench.supervisor.launch(bench.python(f"raise SystemExit({code})"))).exit_code == code


@posix_only
def test_a_kill_by_the_system_is_told_apart_from_ours(bench: Bench) -> None:
    process = bench.supervisor.launch(bench.python("import time; time.sleep(60)"))
    os.kill(process.pid, signal.SIGKILL)
    result = ended(process)
    assert (result.exit_code, result.signal, result.killed_by_us) == (None, 9, False)
    ours = bench.supervisor.launch(bench.python("import time; time.sleep(60)")).stop(0.0)
    assert (ours.exit_code, ours.signal, ours.killed_by_us) == (None, 9, True)


def test_the_prompt_arrives_on_standard_input_and_ends(bench: Bench) -> None:
    prompt = 'Grüße,\n$(rm -rf /) `x` "quoted" \\ \0 end'.encode() * 20_000
    spec = bench.python("import sys; sys.stdout.buffer.write(sys.stdin.buffer.read())", prompt=prompt)
    assert ended(bench.supervisor.launch(spec)).exit_code == 0
    assert spec.stdout.read_bytes() == prompt


def test_fifty_megabytes_of_output_are_all_in_the_file(bench: Bench) -> None:
    spec = bench.bad("flood", "50")
    process = bench.supervisor.launch(spec)
    size, last = 0, b""
    with FileTail(spec.stdout) as tail:
        while (result := process.wait(0.01)) is None:
            while data := tail.read():
                size += len(data)
                last = (last + data)[-100:]
        while data := tail.read(1 << 20):
            size += len(data)
            last = (last + data)[-100:]
    assert result.exit_code == 0
    assert size == spec.stdout.stat().st_size == 50 * 1024 * 1024 + len(b"the last line\n")
    assert last.endswith(b"\nthe last line\n")


@posix_only
def test_the_start_time_names_the_process_for_ever(bench: Bench) -> None:
    process = bench.supervisor.launch(bench.python("import time; time.sleep(60)"))
    assert is_running(process.pid, process.pid_started)
    assert not is_running(process.pid, process.pid_started - 60)
    process.stop(0.0)
    assert not is_running(process.pid, process.pid_started)


@linux_only
def test_an_agent_gets_its_files_its_folder_and_nothing_else_of_ours(bench: Bench) -> None:
    bench.supervisor.launch(bench.python("import time; time.sleep(60)"))
    spec = bench.spec(
        sys.executable,
        "-I",
        str(BAD_CHILDREN / "descriptors.py"),
        "a b",
        "$HOME",
        "ü",
        prompt=b"hello",
        X="ä",
    )
    assert ended(bench.supervisor.launch(spec)).exit_code == 0
    told = json.loads(spec.stdout.read_text())
    assert told["descriptors"] == {"0": str(spec.stdin), "1": str(spec.stdout), "2": str(spec.stderr)}
    assert told["ignored"] == []
    assert told["blocked"] == []
    assert told["cwd"] == str(spec.cwd)
    assert told["argv"] == ["a b", "$HOME", "ü"]
    assert told["environment"]["X"] == "ä"
    assert told["environment"]["OPENLOOP_TURN"].endswith(f".{spec.mark}")
    assert told["stdin"] == "hello"
    assert told["session"], "an agent leads a session of its own"


@linux_only
def test_many_launches_from_many_threads_leave_no_zombie(bench: Bench) -> None:
    def run(number: int) -> tuple[int, int | None, str]:
        spec = bench.python(f"print({number}); raise SystemExit({number % 7})")
        result = ended(bench.supervisor.launch(spec))
        return number, result.exit_code, spec.stdout.read_text()

    bench_lock = threading.Lock()
    make = bench.spec

    def spec_in_turn(*argv: str, prompt: bytes | None = None, mark: str = "", **env: str) -> ProcessSpec:
        with bench_lock:
            return make(*argv, prompt=prompt, mark=mark, **env)

    bench.spec = spec_in_turn  # type: ignore[method-assign]
    with ThreadPoolExecutor(16) as pool:
        results = list(pool.map(run, range(80)))
    assert results == [(number, number % 7, f"{number}\n") for number in range(80)]
    until(lambda: not children_of(keeper(bench.supervisor)), "a zombie is left")


# --- what cannot be started -------------------------------------------------------------------------


def start_error(bench: Bench, spec: ProcessSpec) -> str:
    with pytest.raises(StartError) as caught:
        bench.supervisor.launch(spec)
    # The next one starts as if nothing had happened.
    assert ended(bench.supervisor.launch(bench.python(""))).exit_code == 0
    return str(caught.value)


def test_a_missing_program_is_named_with_what_to_do(bench: Bench) -> None:
    words = start_error(bench, bench.spec("no-such-agent", "run"))
    assert "“no-such-agent” was not found" in words
    assert "Install it" in words


def test_a_missing_working_directory_is_named(bench: Bench) -> None:
    spec = bench.python("")
    gone = bench.folder / "gone"
    spec = ProcessSpec(spec.argv, gone, spec.env, spec.stdin, spec.stdout, spec.stderr, spec.mark)
    words = start_error(bench, spec)
    assert f"“{gone}”" in words
    assert "Create it or choose another one" in words


def test_a_run_folder_that_cannot_be_written_is_named(bench: Bench) -> None:
    spec = bench.python("")
    lost = bench.folder / "no" / "folder" / "stdout.log"
    words = start_error(
        bench, ProcessSpec(spec.argv, spec.cwd, spec.env, spec.stdin, lost, spec.stderr, spec.mark)
    )
    assert f"“{lost}”" in words


@posix_only
def test_a_file_that_may_not_be_run_is_named(bench: Bench) -> None:
    script = bench.folder / "agent.sh"
    script.write_text("#!/bin/sh\n")
    assert f"“{script}” exists, but may not be run" in start_error(bench, bench.spec(str(script)))


@posix_only
def test_a_script_without_its_interpreter_and_one_without_any_are_told_apart(bench: Bench) -> None:
    script = bench.folder / "agent"
    script.write_text("#!/no/such/interpreter\n")
    script.chmod(0o755)
    assert "the interpreter that it names is missing" in start_error(bench, bench.spec(str(script)))
    script.write_text("just text\n")
    assert "is not a program that this system can run" in start_error(bench, bench.spec(str(script)))


@linux_only
def test_an_argument_that_is_too_long_is_told_with_its_size(bench: Bench) -> None:
    words = start_error(bench, bench.python("", "x" * 200_000))
    assert "too long" in words
    assert "200" in words


@posix_only
def test_a_program_is_found_with_the_agents_own_path_and_folder(tmp_path: Path) -> None:
    tool = tmp_path / "bin" / "agent"
    tool.parent.mkdir()
    tool.write_text("#!/bin/sh\n")
    tool.chmod(0o755)
    assert find_program("agent", str(tool.parent), tmp_path) == str(tool)
    assert find_program("bin/agent", "", tmp_path) == str(tool)
    with pytest.raises(ProgramNotFound):
        find_program("agent", "/usr/bin", tmp_path)


# --- ending what does not want to end ---------------------------------------------------------------


@posix_only
def test_a_polite_agent_may_say_goodbye_within_the_grace(bench: Bench) -> None:
    census = bench.census()
    spec = bench.bad("polite", str(census))
    process = bench.supervisor.launch(spec)
    until(lambda: bool(signed(census)), "it never started")
    result = process.stop(DEADLINE)
    assert (result.exit_code, result.killed_by_us) == (7, True)
    assert spec.stdout.read_text() == "goodbye"


@posix_only
def test_an_agent_that_ignores_sigterm_is_killed_after_the_grace(bench: Bench) -> None:
    census = bench.census()
    process = bench.supervisor.launch(bench.bad("deaf", str(census)))
    until(lambda: bool(signed(census)), "it never started")
    result = process.stop(0.05)
    assert (result.exit_code, result.signal, result.killed_by_us) == (None, 9, True)
    assert process.wait(0) == result
    assert process.stop(0.0) == result, "stopping twice gives the same answer"


@posix_only
def test_a_stopped_agent_is_ended_too(bench: Bench) -> None:
    census = bench.census()
    process = bench.supervisor.launch(bench.bad("polite", str(census)))
    until(lambda: bool(signed(census)), "it never started")
    os.kill(process.pid, signal.SIGSTOP)
    assert process.stop(DEADLINE).exit_code == 7, "it was woken up to say goodbye"


@linux_only
def test_stopping_one_agent_ends_its_whole_family_and_nobody_elses(bench: Bench) -> None:
    other, other_census = bench.family("other", "stay")
    process, census = bench.family("mine", "stay")
    process.stop(0.02)
    assert alive(signed(census)) == set()
    assert alive(signed(other_census)) == signed(other_census)
    assert other.wait(0) is None
    other.stop(0.0)
    until(lambda: not alive(signed(census) | signed(other_census)), "somebody is left")
    until(lambda: not children_of(keeper(bench.supervisor)), "a zombie is left")


@linux_only
def test_what_an_agent_leaves_behind_at_a_normal_end_is_ended_and_counted(bench: Bench) -> None:
    process, census = bench.family("family", "leave")
    result = ended(process)
    assert alive(signed(census)) == set()
    assert (result.exit_code, result.signal, result.killed_by_us) == (3, None, False)
    assert result.left_behind == FAMILY - 1


@linux_only
def test_a_server_left_behind_does_not_hold_up_other_agents(bench: Bench) -> None:
    """The grace of one turn is not waited for by the others."""
    census = bench.census()
    slow = bench.supervisor.launch(bench.bad("deaf", str(census)))
    until(lambda: bool(signed(census)), "it never started")
    slow.request_stop(3600.0)
    assert ended(bench.supervisor.launch(bench.python("raise SystemExit(5)"))).exit_code == 5
    assert slow.wait(0) is None
    assert slow.stop(0.0).signal == 9, "a second request makes it faster"


@linux_only
def test_a_daemon_that_hides_its_descent_is_ended_with_the_last_turn_that_could_own_it(bench: Bench) -> None:
    census = bench.census()
    bystander = bench.supervisor.launch(bench.python("import time; time.sleep(60)"))
    process = bench.supervisor.launch(bench.bad("hidden_daemon", str(census), "0", "nothing"))
    assert ended(process).exit_code == 0
    assert len(signed(census)) == 2
    bystander.stop(0.0)
    until(lambda: not alive(signed(census)), "the daemon is left")
    assert bench.supervisor.launch(bench.python("")).wait(DEADLINE) is not None


@linux_only
def test_a_chain_of_processes_that_fork_and_die_is_caught(bench: Bench) -> None:
    for attempt in range(10):
        census = bench.census(f"census-{attempt}")
        process = bench.supervisor.launch(bench.bad("runaway", str(census)))
        until(lambda census=census: bool(signed(census)), "it never started")  # type: ignore[misc]
        process.stop(0.0)
        assert alive(children_of(keeper(bench.supervisor))) == set()
    until(lambda: not children_of(keeper(bench.supervisor)), "a zombie is left")


@linux_only
def test_stop_all_leaves_nobody_of_ten_agents_with_forty_descendants(bench: Bench) -> None:
    families = [bench.family(f"family-{number}", "stay") for number in range(10)]
    everybody = set().union(*(signed(census) for _, census in families))
    assert len(alive(everybody)) == 10 * FAMILY
    bench.supervisor.stop_all(0.05)
    assert alive(everybody) == set()
    until(lambda: not children_of(keeper(bench.supervisor)), "a zombie is left")
    assert all(ended(process).signal == 9 for process, _ in families)


@linux_only
def test_closing_ends_everything_and_wakes_whoever_waits(tmp_path: Path) -> None:
    supervisor = Supervisor()
    process, census = Bench(supervisor, tmp_path).family("family", "stay")
    with ThreadPoolExecutor(2) as pool:
        waiting = pool.submit(process.wait, DEADLINE)
        closing = pool.submit(supervisor.close, 0.02)
        result = waiting.result(DEADLINE)
        closing.result(DEADLINE)
    supervisor.close()
    assert result is not None
    assert (result.signal, result.killed_by_us) == (9, True)
    assert alive(signed(census)) == set()
    with pytest.raises(SupervisorLost):
        supervisor.launch(Bench(supervisor, tmp_path).python(""))


@posix_only
def test_a_stop_from_another_thread_and_an_end_by_itself_at_the_same_moment_agree(bench: Bench) -> None:
    for _ in range(20):
        process = bench.supervisor.launch(bench.python(""))
        with ThreadPoolExecutor(3) as pool:
            answers = [
                pool.submit(process.stop, 0.0),
                pool.submit(ended, process),
                pool.submit(process.stop, 1.0),
            ]
        assert len({answer.result() for answer in answers}) == 1


# --- when one side dies -----------------------------------------------------------------------------


@linux_only
def test_when_openloop_is_killed_nobody_of_its_agents_lives_on(tmp_path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, str(BAD_CHILDREN / "openloop_side.py"), str(tmp_path), "10"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(BAD_CHILDREN.parents[2])},
    ) as openloop:
        assert openloop.stdout is not None
        word, supervisor = openloop.stdout.readline().split()
        assert word == "ready"
        everybody = set().union(*(signed(tmp_path / str(number)) for number in range(10)))
        everybody |= {int(supervisor), *children_of(int(supervisor))}
        assert len(alive(everybody)) == 10 * FAMILY + 2
        openloop.kill()
        with nobody_left(everybody):
            until(lambda: not alive(everybody), "somebody outlived OpenLoop")


@linux_only
@pytest.mark.parametrize("victim", ["supervisor", "guard"])
def test_when_the_supervisor_is_killed_nobody_lives_on_and_waiters_are_told(
    tmp_path: Path, victim: str
) -> None:
    supervisor = Supervisor()
    bench = Bench(supervisor, tmp_path)
    families = [bench.family(name, "stay") for name in ("one", "two")]
    everybody = set().union(*(signed(census) for _, census in families))
    os.kill(keeper(supervisor) if victim == "supervisor" else supervisor.pid, signal.SIGKILL)
    with nobody_left(everybody):
        for process, _ in families:
            with pytest.raises(SupervisorLost, match=r"ended unexpectedly \(by signal 9\)"):
                process.wait(DEADLINE)
        assert alive(everybody) == set()
    with pytest.raises(SupervisorLost, match="Resume the run"):
        supervisor.launch(bench.python(""))
    with pytest.raises(SupervisorLost):
        supervisor.stop_all(0.0)
    supervisor.close()


@linux_only
def test_when_guard_and_supervisor_are_killed_together_marked_processes_are_still_ended(
    tmp_path: Path,
) -> None:
    supervisor = Supervisor()
    bench = Bench(supervisor, tmp_path)
    process, census = bench.family("family", "stay")
    everybody = signed(census)
    # Only the daemon without a mark is beyond us then.
    unmarked = {pid for pid in everybody if not Path(f"/proc/{pid}/environ").read_bytes()}
    assert len(unmarked) == 1
    both = (keeper(supervisor), supervisor.pid)
    for pid in both:
        os.kill(pid, signal.SIGSTOP)
    for pid in both:
        os.kill(pid, signal.SIGKILL)
    with nobody_left(everybody):
        with pytest.raises(SupervisorLost):
            process.wait(DEADLINE)
        assert alive(everybody - unmarked) == set()
    supervisor.close()


@linux_only
def test_an_openloop_copied_by_a_bare_fork_does_not_keep_its_agents_alive(tmp_path: Path) -> None:
    """The copy holds the pipe open; the guard sees the death all the same."""
    code = (
        "import os, sys, time; sys.argv[1:] = [sys.argv[1], '1']\n"
        "import threading\n"
        f"sys.path.insert(0, {str(BAD_CHILDREN)!r}); import runpy\n"
        "class Forking:\n"
        "    def read(self):\n"
        "        copy = os.fork()\n"
        "        if copy == 0: time.sleep(600)\n"
        "        os.write(1, f'{copy}\\n'.encode()); time.sleep(600)\n"
        "sys.stdin = Forking()\n"
        f"runpy.run_path({str(BAD_CHILDREN / 'openloop_side.py')!r})\n"
    )
    with subprocess.Popen(
        [sys.executable, "-W", "ignore", "-c", code, str(tmp_path)],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(BAD_CHILDREN.parents[2])},
    ) as openloop:
        assert openloop.stdout is not None
        supervisor = int(openloop.stdout.readline().split()[1])
        copy = int(openloop.stdout.readline())
        everybody = signed(tmp_path / "0") | {supervisor, *children_of(supervisor)}
        openloop.kill()
        with nobody_left({copy, *everybody}):
            until(lambda: not alive(everybody), "somebody outlived OpenLoop")
            assert alive({copy}) == {copy}


@posix_only
def test_a_ctrl_c_or_a_hang_up_meant_for_openloop_does_not_end_the_supervisor(bench: Bench) -> None:
    ended(bench.supervisor.launch(bench.python("")))
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        os.killpg(bench.supervisor.pid, number)
    assert ended(bench.supervisor.launch(bench.python("raise SystemExit(4)"))).exit_code == 4
    assert os.getsid(bench.supervisor.pid) == bench.supervisor.pid


# --- tailing ----------------------------------------------------------------------------------------


def test_a_tail_reads_what_is_new_and_waits_for_a_file_to_appear(tmp_path: Path) -> None:
    path = tmp_path / "out.log"
    with FileTail(path) as tail:
        assert tail.read() == b""
        path.write_bytes(b"one")
        assert tail.read(2) == b"on"
        with path.open("ab") as file:
            file.write(b" two")
        assert tail.read() == b"e two"
        assert tail.read() == b""
        assert tail.offset == 7
        tail.close()
        with path.open("ab") as file:
            file.write(b"!")
        assert tail.read() == b"!"
    with FileTail(path, offset=4) as later:
        assert later.read() == b"two!"


def test_windows_programs_are_looked_for_in_path_alone_and_executables_before_shims(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Pain 11; and a project cannot bring an agent CLI of its own."""
    project, shims, programs = (tmp_path / name for name in ("project", "shims", "programs"))
    for folder in (project, shims, programs):
        folder.mkdir()
    (project / "agent.exe").touch()
    (shims / "agent.cmd").touch()
    monkeypatch.chdir(project)
    search = f'{shims};"{programs}";.;'
    endings = ".COM;.EXE;.BAT;.CMD"
    assert windows_program("agent", search, endings) == shims / "agent.cmd"
    (programs / "agent.exe").touch()
    assert windows_program("agent", search, endings) == programs / "agent.exe"
    assert windows_program("agent.cmd", search, endings) == shims / "agent.cmd"
    assert windows_program("other", search, endings) is None
