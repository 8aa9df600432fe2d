"""What outlived OpenLoop is found, told, and ended; nobody else is."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from core.events import AttemptStarted, RunStarted
from core.journal import JOURNAL_NAME, Journal, read_journal
from core.open_runs import RunLock
from core.orphans import Orphan, end_orphans, find_orphans, orphan_words, supervisor_label
from core.process_tree import MARK, SUPERVISOR_MARK
from core.processes import Relative, is_running, run_token, start_time
from tests.core.run_support import Workshop, alive_agents

linux_only = pytest.mark.skipif(sys.platform != "linux", reason="kills a guard and a supervisor by name")
PATIENCE = 60.0
ROOT = Path(__file__).parents[2]


def wait_for(condition: object, what: str) -> None:
    assert callable(condition)
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline, what
        time.sleep(0.01)


def wait_until_dead(processes: list[psutil.Process]) -> None:
    """A process that is dead counts, also while the init process has not yet asked how it ended."""
    started = {process.pid: process.create_time() for process in processes if process.is_running()}
    wait_for(
        lambda: not any(is_running(pid, at) for pid, at in started.items()),
        "a killed process lives on",
    )


@pytest.fixture
def shop(tmp_path: Path) -> Iterator[Workshop]:
    shop = Workshop(tmp_path)
    yield shop
    for pid in alive_agents(tmp_path):
        with contextlib.suppress(psutil.NoSuchProcess):
            psutil.Process(pid).kill()


class LiveRun:
    """A headless run that goes on, in a process of its own, with its supervisor and its guard."""

    def __init__(self, shop: Workshop, agents: int, processes: int) -> None:
        workflow = {"preparation_agents": [{"mode": "parallel", "agents": ["rude", "daemon"][:agents]}]}
        path = shop.file(workflow)  # type: ignore[arg-type]
        self.openloop = subprocess.Popen(
            [sys.executable, "main.py", "run", str(path), "--workdir", str(shop.folder)],
            cwd=ROOT,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        wait_for(lambda: self._started(shop) == agents, "the agents never started")
        wait_for(lambda: self._settled(shop, processes), "their children never started")
        (self.folder,) = (path.parent for path in (shop.folder / ".openloop").glob(f"*/{JOURNAL_NAME}"))
        self.helpers = [
            process
            for process in psutil.Process(self.openloop.pid).children(recursive=True)
            if process.environ().get(MARK, "").endswith(SUPERVISOR_MARK)
        ]
        assert len(self.helpers) == 2

    def _started(self, shop: Workshop) -> int:
        journals = list((shop.folder / ".openloop").glob(f"*/{JOURNAL_NAME}"))
        return (
            sum(isinstance(event, AttemptStarted) for event in read_journal(journals[0])) if journals else 0
        )

    def _settled(self, shop: Workshop, processes: int) -> bool:
        """Whether all are there, and not just the process between an agent and its daemon."""
        agents = alive_agents(shop.folder)
        try:
            parents = {psutil.Process(pid).ppid() for pid in agents}
        except psutil.NoSuchProcess:
            return False
        return len(agents) == processes and parents.isdisjoint(agents)

    def kill_all_at_once(self) -> None:
        """OpenLoop, its supervisor and the guard, so that none of them can do anything about it."""
        for process in self.helpers:
            process.suspend()
        self.openloop.kill()
        for process in self.helpers:
            process.kill()
        self.openloop.wait()
        # By now nobody is their parent but the init process.
        wait_until_dead(self.helpers)


def rude_agents(shop: Workshop) -> None:
    shop.agent("rude", hang=True, ignore_sigterm=True)
    shop.agent("daemon", hang=True, leave_child={"kind": "double_fork", "ignore_sigterm": True})


@linux_only
def test_agents_that_survive_everything_are_found_told_and_ended(shop: Workshop) -> None:
    """Pain 9."""
    rude_agents(shop)
    run = LiveRun(shop, agents=2, processes=3)
    assert find_orphans(run.folder) == [], "a run that goes on has no orphans"
    run.kill_all_at_once()
    survivors = alive_agents(shop.folder)
    assert len(survivors) == 3

    orphans = find_orphans(run.folder)
    assert sorted(orphan.label for orphan in orphans) == ["daemon", "rude"]
    by_label = {orphan.label: orphan for orphan in orphans}
    assert (by_label["rude"].children, by_label["daemon"].children) == (0, 1)
    assert sorted(pid for orphan in orphans for pid, _ in orphan.family) == sorted(survivors)
    assert "demo_agent.py" in by_label["rude"].command
    words = orphan_words(orphans)
    assert f"rude: process {by_label['rude'].pid} (" in words
    assert f"daemon: process {by_label['daemon'].pid} and 1 process below it (" in words
    assert words.endswith("End them before the run goes on.")

    assert end_orphans(orphans) == []
    assert alive_agents(shop.folder) == []
    assert find_orphans(run.folder) == []
    assert orphan_words([]) == ""


@linux_only
def test_a_daemon_whose_agent_has_ended_meanwhile_is_found_by_its_mark(shop: Workshop) -> None:
    rude_agents(shop)
    run = LiveRun(shop, agents=2, processes=3)
    run.kill_all_at_once()
    by_label = {orphan.label: orphan for orphan in find_orphans(run.folder)}
    agent = psutil.Process(by_label["daemon"].pid)
    agent.kill()
    wait_until_dead([agent])
    (daemon,) = (orphan for orphan in find_orphans(run.folder) if orphan.label == "daemon")
    assert daemon.pid != agent.pid
    assert daemon.children == 0
    assert end_orphans([daemon]) == []
    assert [orphan.label for orphan in find_orphans(run.folder)] == ["rude"], "only what was asked about"


@linux_only
def test_of_a_run_that_was_just_killed_nobody_is_an_orphan_its_supervisor_is_waited_for(
    shop: Workshop,
) -> None:
    """Whoever resumes at once must not start an agent while its earlier self is still being ended."""
    rude_agents(shop)
    run = LiveRun(shop, agents=2, processes=3)
    run.openloop.kill()
    run.openloop.wait()
    assert find_orphans(run.folder) == []
    assert alive_agents(shop.folder) == []
    assert [start_time(process.pid) for process in run.helpers] == [None, None]


@linux_only
def test_a_supervisor_that_something_froze_is_an_orphan_too(shop: Workshop) -> None:
    rude_agents(shop)
    run = LiveRun(shop, agents=2, processes=3)
    for process in run.helpers:
        process.suspend()
    run.openloop.kill()
    run.openloop.wait()
    orphans = find_orphans(run.folder)
    assert sorted(orphan.label for orphan in orphans) == sorted([supervisor_label(), "daemon", "rude"])
    assert end_orphans(orphans) == []
    assert alive_agents(shop.folder) == []
    assert [start_time(process.pid) for process in run.helpers] == [None, None]


def test_a_supervisor_that_is_at_work_is_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It ends its agent no sooner than somebody waits for it."""
    folder = recorded(tmp_path / "run", 0, 0.0)
    token = run_token(folder) + "0123456789ab"
    with subprocess.Popen(
        [sys.executable, "-c", "input()"],
        stdin=subprocess.PIPE,
        env={**os.environ, MARK: f"{token}.loop/1/0/0#1"},
    ) as agent:
        ending = "import os, sys; sys.stdin.read(); os.kill(int(sys.argv[1]), 9)"
        with subprocess.Popen(
            [sys.executable, "-c", ending, str(agent.pid)],
            stdin=subprocess.PIPE,
            env={**os.environ, MARK: token + SUPERVISOR_MARK},
        ) as supervisor:
            wait = Relative.wait_for_end

            def wait_for_it(entry: Relative, timeout: float) -> None:
                assert entry.pid == supervisor.pid
                assert supervisor.stdin is not None
                supervisor.stdin.close()
                wait(entry, timeout)

            monkeypatch.setattr(Relative, "wait_for_end", wait_for_it)
            assert find_orphans(folder) == []
            assert start_time(agent.pid) is None


# --- nobody else ----------------------------------------------------------------------------------------


@pytest.fixture
def bystander() -> Iterator[subprocess.Popen[bytes]]:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        yield process
        process.kill()


def recorded(folder: Path, pid: int, started: float) -> Path:
    """A run folder that says that an agent had this pid and start time."""
    folder.mkdir(exist_ok=True)
    journal = Journal(folder / JOURNAL_NAME)
    journal.append(RunStarted(time=time.time(), run_id="run", folder=str(folder)))
    journal.append(AttemptStarted(time=time.time(), turn="loop/1/0/0", pid=pid, pid_started=started))
    journal.close()
    return folder


def begun(process: subprocess.Popen[bytes]) -> float:
    started = start_time(process.pid)
    assert started is not None
    return started


def test_a_process_that_merely_has_the_pid_of_an_agent_is_left_alone(
    tmp_path: Path, bystander: subprocess.Popen[bytes]
) -> None:
    folder = recorded(tmp_path / "run", bystander.pid, begun(bystander) - 60)
    assert find_orphans(folder) == []
    same = recorded(tmp_path / "same", bystander.pid, begun(bystander))
    (orphan,) = find_orphans(same)
    earlier = replace(orphan, family=((bystander.pid, orphan.started - 60),), marks=frozenset())
    assert end_orphans([earlier]) == []
    assert bystander.poll() is None
    assert end_orphans([orphan]) == []
    assert start_time(bystander.pid) is None


def test_an_agent_of_another_run_with_the_same_pid_at_the_same_moment_is_left_alone(tmp_path: Path) -> None:
    environment = {**os.environ, MARK: "0123456789ab.loop/1/0/0#1"}
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE, env=environment) as agent:
        assert find_orphans(recorded(tmp_path / "run", agent.pid, begun(agent))) == []
        agent.kill()


def test_a_run_that_somebody_runs_has_no_orphans_nor_has_a_copy_of_its_folder(
    tmp_path: Path, bystander: subprocess.Popen[bytes]
) -> None:
    folder = recorded(tmp_path / "run", bystander.pid, begun(bystander))
    copy = tmp_path / "copy"
    copy.mkdir()
    (copy / JOURNAL_NAME).write_bytes((folder / JOURNAL_NAME).read_bytes())
    lock = RunLock(folder)
    lock.acquire()
    assert find_orphans(folder) == find_orphans(copy) == []
    lock.release()
    assert [orphan.pid for orphan in find_orphans(folder)] == [bystander.pid]
    assert [orphan.pid for orphan in find_orphans(copy)] == [bystander.pid]


def test_the_program_that_asks_is_never_an_orphan(tmp_path: Path) -> None:
    """It may run below an agent of the run: in the agent's shell."""
    own = psutil.Process()
    assert find_orphans(recorded(tmp_path / "run", own.pid, own.create_time())) == []
    parent = own.parent()
    assert parent is not None
    assert find_orphans(recorded(tmp_path / "above", parent.pid, parent.create_time())) == []


def test_a_folder_without_a_run_has_no_orphans(tmp_path: Path) -> None:
    assert find_orphans(tmp_path) == []
    assert find_orphans(tmp_path / "gone") == []
    assert end_orphans([]) == []


def test_words_cannot_steer_a_terminal() -> None:
    orphan = Orphan(7, 1.0, "a\x1b[2J\nb", "sh -c x", 0, ((7, 1.0),), frozenset())
    words = orphan_words([orphan])
    assert "\x1b" not in words
    assert len(words.splitlines()) == 3
    assert words.endswith("End it before the run goes on.")
