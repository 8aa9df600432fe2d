"""How a run from the command line ends early: signals, kills, and outputs that go away."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from core.events import RunFinished, TurnStarted
from core.journal import JOURNAL_NAME, read_journal
from tests.app.cli_support import (
    GATED,
    PATIENCE,
    ROOT,
    environment,
    events_of,
    journal_of,
    openloop,
    running,
    until,
)
from tests.core.run_support import Workshop, alive_agents

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals and outputs of POSIX")


@pytest.fixture
def shop(tmp_path: Path) -> Workshop:
    return Workshop(tmp_path)


@pytest.fixture
def hanging(shop: Workshop) -> Path:
    """A run that ends only by force: its agents ignore SIGTERM, one has a daemon that does, too."""
    shop.agent("rude", hang=True, ignore_sigterm=True)
    shop.agent("daemon", hang=True, leave_child={"kind": "double_fork", "ignore_sigterm": True})
    return shop.file({"loop_agents": [{"mode": "parallel", "agents": ["rude", "daemon"], "max_parallel": 2}]})


def until_at_work(shop: Workshop) -> None:
    """Both agents of `hanging` and the daemon are there, and the journal knows of them."""

    def at_work() -> bool:
        journals = list((shop.folder / ".openloop").glob(f"*/{JOURNAL_NAME}"))
        started = [e for path in journals for e in read_journal(path) if isinstance(e, TurnStarted)]
        return len(started) >= 2 and len(alive_agents(shop.folder)) >= 3

    until(at_work, "the agents never came")


# --- signals --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP], ids=lambda n: n.name)
def test_an_interrupted_run_ends_with_130_and_leaves_nothing(
    hanging: Path, shop: Workshop, number: signal.Signals
) -> None:
    with running("run", hanging, cwd=shop.folder) as process:
        until_at_work(shop)
        process.send_signal(number)
        out, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130
    assert alive_agents(shop.folder) == []
    assert b"rude (iteration 1): stopped after 0:0" in out
    assert b" with the run.\n" in out
    assert b"The run was stopped." in out.splitlines()[-1]
    assert b"To go on: openloop resume " in err
    last = journal_of(shop.folder)[-1]
    assert isinstance(last, RunFinished)
    assert last.termination_reason == "stopped"


def test_json_ends_with_the_end_of_the_run_also_when_interrupted(hanging: Path, shop: Workshop) -> None:
    with running("run", hanging, "--json", cwd=shop.folder) as process:
        until_at_work(shop)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=PATIENCE)
    assert (process.returncode, err) == (130, b"")
    last = events_of(out.decode(), shop.folder)[-1]
    assert isinstance(last, RunFinished)
    assert last.termination_reason == "stopped"


def test_further_interrupts_change_nothing(hanging: Path, shop: Workshop) -> None:
    """Up to the very end of the process."""
    with running("run", hanging, cwd=shop.folder) as process:
        until_at_work(shop)
        while process.poll() is None:
            process.send_signal(signal.SIGINT)
            time.sleep(0.01)  # as fast as nobody can press
        out, err = process.communicate()
    assert process.returncode == 130
    assert err.count(b"\n") == 1
    assert b"To go on: openloop resume " in err
    assert alive_agents(shop.folder) == []
    assert b"The run was stopped." in out.splitlines()[-1]


def test_a_run_that_was_started_to_outlive_its_terminal_does(shop: Workshop) -> None:
    """`nohup` and `&` ignore signals on purpose."""
    shop.command("waits", "sh", "-c", GATED)
    path = shop.file({"preparation_agents": ["waits"]})
    with running("run", path, "--trust", cwd=shop.folder, prefix=("nohup",)) as process:
        until(lambda: len(alive_agents(shop.folder)) >= 1, "the agent never came")
        process.send_signal(signal.SIGHUP)
        (shop.folder / "go").touch()
        process.communicate(timeout=PATIENCE)
    assert not [event for event in journal_of(shop.folder) if event.type == "stop_requested"]
    assert process.returncode == 0


def test_a_killed_run_leaves_no_process_and_a_journal_that_can_be_read(hanging: Path, shop: Workshop) -> None:
    with running("run", hanging, cwd=shop.folder) as process:
        until_at_work(shop)
        process.kill()
        # The daemon holds our pipes for as long as it lives.
        out, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == -signal.SIGKILL
    until(lambda: alive_agents(shop.folder) == [], "agents survived")
    assert b"daemon (iteration 1): started" in out
    assert err == b""
    events = journal_of(shop.folder)
    assert [event.type for event in events].count("turn_started") == 2
    assert not any(isinstance(event, RunFinished) for event in events)


# --- outputs --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("words", [[], ["--json"]], ids=["plain", "json"])
def test_a_reader_that_goes_away_ends_the_run_without_a_traceback(words: list[str], shop: Workshop) -> None:
    """`openloop run … | head -1`: at the next line that nobody reads. The run has lines without end."""
    shop.agent("chatty", leave_child={"kind": "double_fork", "ignore_sigterm": True})
    path = shop.file({"loop_agents": ["chatty"], "max_loops": 10_000})
    with running("run", path, *words, cwd=shop.folder) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.readline()
        process.stdout.close()
        assert process.wait(PATIENCE) == 1
        assert process.stderr.read() == b""
    assert alive_agents(shop.folder) == []


def in_a_shell(command: str, shop: Workshop) -> subprocess.CompletedProcess[str]:
    """Run a command line in which `$OPENLOOP` is openloop."""
    return subprocess.run(
        ["sh", "-c", command.replace("$OPENLOOP", f"'{sys.executable}' '{ROOT / 'main.py'}'")],
        cwd=shop.folder,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )


def test_a_closed_output_is_as_good_as_none(shop: Workshop) -> None:
    shop.agent("a", writes={"x": 1})
    shop.file({"preparation_agents": ["a"]})
    for streams in (">&-", ">&- 2>&- <&-"):
        for words in ("run workflow.json", "run workflow.json --json", "schema"):
            done = in_a_shell(f"$OPENLOOP {words} {streams}", shop)
            assert (done.returncode, done.stdout, done.stderr) == (0, "", ""), (words, streams)
    journals = list((shop.folder / ".openloop").glob(f"*/{JOURNAL_NAME}"))
    assert len(journals) == 4
    for path in journals:  # nothing of the output went into what was opened in its place
        assert len(read_journal(path)) == len(path.read_bytes().splitlines())


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a full disk of Linux")
def test_a_full_disk_behind_the_output_is_told_without_a_traceback(shop: Workshop) -> None:
    shop.agent("a")
    shop.file({"preparation_agents": ["a"]})
    for words in ("run workflow.json", "run workflow.json --json", "agents", "schema", "--version"):
        done = in_a_shell(f"$OPENLOOP {words} >/dev/full", shop)
        assert done.returncode == 1, words
        assert done.stderr == "openloop: The output cannot be written: No space left on device.\n", words


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write anywhere")
def test_a_read_only_log_folder_is_told_before_anything_starts(shop: Workshop) -> None:
    shop.agent("a")
    path = shop.file({"preparation_agents": ["a"]})
    locked = shop.folder / "locked"
    locked.mkdir(mode=0o500)
    done = openloop("run", path, "--log-dir", locked, cwd=shop.folder)
    assert done.returncode == 2
    assert "The log folder cannot be written (Permission denied)" in done.stderr
    assert done.stderr.endswith("Nothing was started.\n")
